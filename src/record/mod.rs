//! The game: tags, plies with their times, result; PGN in and out; notation (also Russian).
//!
//! What stands here is what was *played*, not how it was found: this room knows nothing of boards.

mod game;
mod moves;
pub mod pgn;
mod position;
mod russian;
mod score;
mod time;

pub use game::{Game, GameResult, Ply, PlySource, PlyState, ResultReason, ResultState, Tags};
pub use moves::{MoveFault, read_move, read_russian_move};
pub use position::{FenError, Position, PositionKey};
pub use russian::{from_english, russian_san};
pub use score::{Notation, ScoreFault, ScoreRead, read_score, score_text};
pub use time::{Seconds, Timestamp};
