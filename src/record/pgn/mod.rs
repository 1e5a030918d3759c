//! PGN out and in: a writer that every reader takes, and a reader that takes nearly every file.
//!
//! | file | what it does |
//! | --- | --- |
//! | `write` | a [`Game`](super::Game) to text |
//! | `tags` | what may stand in a tag, and the words of results |

mod tags;
mod write;

pub use tags::{clean_tag_name, clean_tag_value, result_token, result_words};
pub use write::{ResultPolicy, RunningClock, WriteOptions, write_game, write_game_with};
