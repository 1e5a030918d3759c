//! A game: its tags, its plies, its result.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use shakmaty::{ByColor, Color, uci::UciMove};

use super::{Position, Seconds, Timestamp};

/// How far a ply can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlyState {
    /// Seen on the board, but the hand may go on: it may still be revised.
    Provisional,
    /// A press, the opponent's move or an end of the game confirmed it.
    Confirmed,
}

/// Where a ply came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlySource {
    /// Followed live on a board.
    #[default]
    Board,
    /// Bridged over a gap, because one legal sequence alone explained the position after it.
    Bridged,
    /// Read from the board's own memory.
    Recovered,
    /// Entered or corrected by a person.
    Entered,
    /// Typed in from a score sheet.
    Typed,
}

/// One half-move as it stands in the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ply {
    /// The move. Castling is `e1g1` in standard chess, king takes rook in Chess960.
    pub uci: UciMove,
    /// Standard algebraic notation; for an irregular ply the squares, such as `Ra2xb8?`.
    pub san: String,
    /// The position it led to.
    pub after: Position,
    /// It was not legal but stood (Laws 7.5, 13.4.2).
    pub irregular: bool,
    /// The position a person set before it was made, where that is not what the ply before led to.
    pub origin: Option<Box<Position>>,
    /// Provisional or confirmed.
    pub state: PlyState,
    /// Where it came from.
    pub source: PlySource,
    /// When it was made: the piece stood on its square.
    pub made_at: Timestamp,
    /// When the clock was pressed, if it was.
    pub pressed_at: Option<Timestamp>,
    /// What both clocks showed after the press (the mover's is PGN's `%clk`).
    pub clock: ByColor<Option<Seconds>>,
    /// Thinking time for PGN's `%emt`, when known.
    pub elapsed: Option<Seconds>,
}

impl Ply {
    /// A move as a text has it: it stands, and no times are known of it.
    #[must_use]
    pub fn written(uci: UciMove, san: String, after: Position, source: PlySource) -> Self {
        Self {
            uci,
            san,
            after,
            irregular: false,
            origin: None,
            state: PlyState::Confirmed,
            source,
            made_at: Timestamp::default(),
            pressed_at: None,
            clock: ByColor::default(),
            elapsed: None,
        }
    }

    /// No legal move from where the ply before led to: PGN cannot say it in one movetext.
    #[must_use]
    pub fn breaks(&self) -> bool {
        self.irregular || self.origin.is_some()
    }
}

/// A result of a game. Wider than PGN's four words (Laws 11.8, 12.9 and the glossary).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GameResult {
    /// White won.
    #[serde(rename = "1-0")]
    WhiteWins,
    /// Black won.
    #[serde(rename = "0-1")]
    BlackWins,
    /// Drawn.
    #[serde(rename = "1/2-1/2")]
    Draw,
    /// White won, Black did not play.
    #[serde(rename = "+:-")]
    WhiteForfeit,
    /// Black won, White did not play.
    #[serde(rename = "-:+")]
    BlackForfeit,
    /// Neither played.
    #[serde(rename = "-:-")]
    BothForfeit,
    /// Half a point to White, none to Black.
    #[serde(rename = "1/2-0")]
    HalfZero,
    /// No point to White, half a point to Black.
    #[serde(rename = "0-1/2")]
    ZeroHalf,
    /// Both lost.
    #[serde(rename = "0-0")]
    BothLose,
    /// Adjourned, to be resumed (Guidelines I).
    #[serde(rename = "adj")]
    Adjourned,
}

impl GameResult {
    /// The word of the stream and of the PGN Result tag.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::WhiteWins => "1-0",
            Self::BlackWins => "0-1",
            Self::Draw => "1/2-1/2",
            Self::WhiteForfeit => "+:-",
            Self::BlackForfeit => "-:+",
            Self::BothForfeit => "-:-",
            Self::HalfZero => "1/2-0",
            Self::ZeroHalf => "0-1/2",
            Self::BothLose => "0-0",
            Self::Adjourned => "adj",
        }
    }

    /// A win for this side.
    #[must_use]
    pub fn win(side: Color) -> Self {
        side.fold_wb(Self::WhiteWins, Self::BlackWins)
    }
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each is the Laws' own word")]
pub enum ResultReason {
    Checkmate,
    Stalemate,
    DeadPosition,
    FivefoldRepetition,
    SeventyfiveMove,
    Resignation,
    DrawAgreed,
    ThreefoldClaim,
    FiftyMoveClaim,
    FlagFall,
    IllegalMoves,
    KingsSignal,
    Forfeit,
    Adjournment,
    Entered,
}

/// A result the program proposes, or one an arbiter (or a fact of 5.1.1, 5.2.1, 5.2.2, 9.6) fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResultState {
    /// Shown, to be confirmed by the arbiter.
    Proposed,
    /// Fixed.
    Final,
}

/// PGN tags in the order they are written. Names hold letters only.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tags(pub Vec<(String, String)>);

impl Tags {
    /// There are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a tag.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Sets a tag, replacing an earlier value.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value.into(),
            None => self.0.push((name.to_owned(), value.into())),
        }
    }
}

/// A game as it stands in the record.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Game {
    /// PGN tags.
    pub tags: Tags,
    /// The position it starts from.
    pub start: Position,
    /// Its plies in order. Shared, since the record, every audience's view and the archive have them.
    pub plies: Vec<Arc<Ply>>,
    /// A position that a person set after so many plies: the game stands there until another is made.
    pub set: Option<(usize, Position)>,
    /// Words for the score sheet after ply n (1 = the first; 0 = before it), such as `(=)` for a
    /// draw offer. They become part of that ply's one PGN comment.
    pub notes: BTreeMap<usize, String>,
    /// Its result, once there is one.
    pub result: Option<(GameResult, ResultReason, ResultState)>,
}

impl Game {
    /// A game that starts here.
    #[must_use]
    pub fn new(start: Position) -> Self {
        Self { start, ..Self::default() }
    }

    /// The position after the last ply, or the one that was set since.
    #[must_use]
    pub fn position(&self) -> &Position {
        self.position_before(self.plies.len()).unwrap_or(&self.start)
    }

    /// The position to which the last ply led, whatever was set since.
    #[must_use]
    pub fn led_to(&self) -> &Position {
        self.plies.last().map_or(&self.start, |ply| &ply.after)
    }

    /// The position after so many plies; the last one where there are fewer.
    #[must_use]
    pub fn position_after(&self, plies: usize) -> &Position {
        self.position_before(plies).unwrap_or_else(|| self.position())
    }

    /// The position before ply `index` (0 = the start position), also of the ply that is still to come.
    #[must_use]
    pub fn position_before(&self, index: usize) -> Option<&Position> {
        if let Some(origin) = self.plies.get(index).and_then(|ply| ply.origin.as_deref()) {
            return Some(origin);
        }
        match (index, &self.set) {
            (_, Some((plies, position))) if *plies == index => Some(position),
            (0, _) => Some(&self.start),
            _ => self.plies.get(index - 1).map(|ply| &ply.after),
        }
    }
}
