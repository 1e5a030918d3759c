//! What goes into the tracker of one table.

use serde::{Deserialize, Serialize};
use shakmaty::{Color, Role, uci::UciMove};

use crate::{
    record::Position,
    wire::{BoardSquare, Content, RecoveredEvent, Squares},
};

/// What the clock says of the game, with its sides already given to colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClockSense {
    /// There is no clock, or it is lost: nothing can be told from it.
    Absent,
    /// A clock is there and stands still.
    Stopped,
    /// This side's clock runs.
    Running(Color),
}

/// One piece of evidence for one table. Squares are in the board's own numbering; which chess
/// squares they are, the tracker finds out from the start position.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// A square changed: a hint, since updates can be lost.
    Square(BoardSquare, Content),
    /// The whole board: the truth.
    Dump(Squares),
    /// The lever moved. By whom, if the sides of the clock are known. The board may lag behind by
    /// a scan (0.25 s) and the clock's own data by up to 1 s, in either order.
    Press {
        /// Whose clock stopped.
        by: Color,
    },
    /// The clock started, stopped, was lost or came back. (A press comes as `Press`, followed by
    /// this with the other side running.)
    Clock(ClockSense),
    /// The board is gone.
    LinkDown,
    /// The board is back; a dump follows.
    LinkUp,
    /// The board's own memory of what happened while it could not be heard.
    Recovered(Vec<RecoveredEvent>),
    /// The game has ended by an entry (result, resignation, agreement): the record is closed.
    Closed,
    /// The game was reopened by an entry.
    Reopened,
    /// An operator's correction.
    Correction(Correction),
}

/// What an operator can put right. `index` counts plies from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Correction {
    /// Ply `index` was another move; later plies stay if they are still legal, else they go.
    ReplacePly {
        /// Which ply.
        index: usize,
        /// The move it really was.
        #[serde(with = "uci_text")]
        uci: UciMove,
    },
    /// A ply was missed before `index`.
    InsertPly {
        /// Where it belongs.
        index: usize,
        /// The missed move.
        #[serde(with = "uci_text")]
        uci: UciMove,
    },
    /// Ply `index` was never played; later plies stay if they are still legal.
    DeletePly {
        /// Which ply.
        index: usize,
    },
    /// These plies follow the last confirmed one.
    Append {
        /// The moves in order, in UCI.
        plies: Vec<String>,
    },
    /// One of the lines of a [`Choice`](super::Choice): it takes the place of `replaces` plies from
    /// `index` on. Later plies stay if they are still legal.
    Choose {
        /// The plies before it.
        index: usize,
        /// How many plies it replaces.
        replaces: usize,
        /// The moves in order, in UCI.
        plies: Vec<String>,
    },
    /// The whole game from its start, typed from a score sheet, in UCI. Plies that stand already keep
    /// what is known of them; the others are marked as typed.
    Typed {
        /// The moves in order.
        plies: Vec<String>,
    },
    /// The game stands here now and goes on from here; what was recorded stays before it.
    SetPosition {
        /// The position, with the side to move.
        position: Position,
    },
    /// The piece a pawn was promoted to, where the board could not read it.
    PromotionPiece {
        /// Which piece.
        #[serde(with = "role_letter")]
        role: Role,
    },
    /// The board is (not) turned by 180 degrees.
    Rotated {
        /// Turned?
        rotated: bool,
    },
    /// Takes the last correction back.
    Undo,
}

/// A UCI move as text.
mod uci_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use shakmaty::uci::UciMove;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(uci: &UciMove, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(uci)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<UciMove, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| D::Error::custom(format!("{text:?} is no move; expected UCI such as e2e4")))
    }
}

/// A role as its letter: q, r, b, n.
mod role_letter {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use shakmaty::Role;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(role: &Role, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_char(role.char())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Role, D::Error> {
        let letter = char::deserialize(deserializer)?;
        Role::from_char(letter.to_ascii_lowercase())
            .ok_or_else(|| D::Error::custom(format!("{letter:?} is no piece; expected q, r, b or n")))
    }
}
