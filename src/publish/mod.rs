//! Outputs that go out by themselves: archive tree, Lichess push, webhooks; the delay queue.
//!
//! | file | what it does |
//! | --- | --- |
//! | `archive` | the tree of `tournament.json`, `index.json` and PGN files |
//! | `delay` | the one queue all public output passes |
//! | `hold` | which plies a channel shows already |

pub mod archive;
pub mod delay;
pub mod hold;
