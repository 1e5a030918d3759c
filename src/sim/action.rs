//! What hands do at a board, as a timed list.
//!
//! Purely physical: pieces, lever and buttons, in chess squares. Which device square that is, when
//! the board notices and what it then says belongs to the device (`sim::device`).

use shakmaty::{Color, Piece, Square, uci::UciMove};

use crate::{
    record::{GameResult, Position},
    sim::Control,
    wire::Content,
};

/// One physical act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Whatever stands on this square leaves it.
    Lift(Square),
    /// A piece is set on this square; what stood there is gone.
    Put(Square, Piece),
    /// This player presses the clock. Without effect if the lever already lies that way.
    Press(Color),
    /// The start/stop button: the clock runs.
    Start,
    /// The start/stop button: the clock stands still.
    Stop,
    /// The clock is set anew, stopped, with the lever so that White is to move.
    SetClock(Control),
    /// An arbiter adds (or takes) so many milliseconds on this player's side.
    AddTime(Color, i64),
    /// The sensor of this square reads this whatever stands there (a ghost, a weak piece, a dead
    /// square); `None` ends it.
    Disturb(Square, Option<Content>),
}

/// An act and its moment, in milliseconds since the script began.
pub type TimedAction = (u64, Action);

/// One ply as it was truly played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedPly {
    /// The move, castling as `e1g1` in standard chess.
    pub uci: UciMove,
    /// When the last piece of it came to stand, in milliseconds since the script began.
    pub made_ms: u64,
    /// When the lever really went over for it; `None` when the press was forgotten or came to nothing.
    pub pressed_ms: Option<u64>,
}

/// One game as it was truly played: what a follower must find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedGame {
    /// The position it started from.
    pub start: Position,
    /// When its clock was started.
    pub started_ms: u64,
    /// Its plies.
    pub plies: Vec<PlayedPly>,
    /// Its result, if it has one.
    pub result: Option<GameResult>,
    /// When the result could be seen: kings on their squares, or the mating move made.
    pub ended_ms: u64,
    /// When the hands are done with it, the board cleared for the next game.
    pub over_ms: u64,
}

/// All that happens at one board, in time order, and the truth about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The pieces on the board before the first act.
    pub board: shakmaty::Board,
    /// The acts, times never falling.
    pub actions: Vec<TimedAction>,
    /// The games played, in order.
    pub games: Vec<PlayedGame>,
    /// When the last act is done.
    pub end_ms: u64,
}
