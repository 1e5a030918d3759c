//! Outputs that go out by themselves: archive tree, Lichess push, webhooks; the delay queue.
//!
//! | file | what it does |
//! | --- | --- |
//! | `archive` | the tree of `tournament.json`, `index.json` and PGN files |
//! | `delay` | the one queue all public output passes |
//! | `hold` | which plies a channel shows already |
//! | `lichess`, `lichess_thread` | pushes games to a Lichess broadcast |
//! | `hook` | tells a command or an address of alerts, results and games |

pub mod archive;
pub mod delay;
pub mod hold;
pub mod hook;
pub mod lichess;
#[cfg(feature = "upload")]
pub mod lichess_thread;
