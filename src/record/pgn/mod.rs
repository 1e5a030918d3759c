//! PGN out and in: a writer that every reader takes, and a reader that takes nearly every file.
//!
//! | file | what it does |
//! | --- | --- |
//! | `write` | a [`Game`](super::Game) to text |
//! | `tags` | what may stand in a tag, and the words of results |
//! | `split` | a stream of any size to games |
//! | `lex` | a game to words |
//! | `read` | words to a validated [`Game`](super::Game) |
//! | `segments` | games that no one movetext can hold, taken apart and put together |
//! | `repair` | what had to be mended, and what was refused |
//! | `encoding` | bytes to text |
//! | `clock` | times in comments |

mod clock;
mod encoding;
mod lex;
mod read;
mod repair;
mod segments;
mod split;
mod tags;
mod write;

pub use clock::{ClockTimes, clock_time, clock_times, comment_words};
pub use encoding::{Decoded, decode};
pub use lex::{Lexer, Token};
pub(crate) use read::needs_chess960;
pub use read::{Games, INPUT_MAX, ReadResult, first_tags, read_all, read_game, read_games};
pub use repair::{Refusal, RefusalKind, Repair, RepairKind};
pub use split::{RawGame, Visited, visit};
pub use tags::{
    clean_tag_name, clean_tag_value, result_from_tag, result_from_text, result_token, result_words,
};
pub use write::{ResultPolicy, RunningClock, WriteOptions, write_game, write_game_with};
