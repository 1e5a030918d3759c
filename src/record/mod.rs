//! The game: tags, plies with their times, result; PGN in and out; notation (also Russian).
//!
//! What stands here is what was *played*, not how it was found: this room knows nothing of boards.

mod game;
pub mod pgn;
mod position;
mod time;

pub use game::{Game, GameResult, Ply, PlySource, PlyState, ResultReason, ResultState, Tags};
pub use position::{Position, PositionKey};
pub use time::{Seconds, Timestamp};
