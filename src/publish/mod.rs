//! Outputs that go out by themselves: archive tree, Lichess push, webhooks; the delay queue.
//!
//! | file | what it does |
//! | --- | --- |
//! | `delay` | the one queue all public output passes |
//! | `hold` | which plies a channel shows already |

pub mod delay;
pub mod hold;
