//! What hands did during one turn, read from the squares: which men were lifted and put back, where a
//! man rested on its way. What that obliges to is judged in `hands`.

use shakmaty::{Color, Piece, Role, Square};

use super::TouchEvidence;
use crate::record::{Position, Timestamp};

/// A square changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) at: Timestamp,
    pub(super) square: Square,
    pub(super) was: Option<Piece>,
    pub(super) now: Option<Piece>,
}

/// A man was off its square for a while and came back, or is still off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handled {
    /// Where it belongs.
    pub(super) square: Square,
    pub(super) piece: Piece,
    /// When it was lifted first.
    pub(super) lifted: Timestamp,
    /// When it was put back on its square; `None` while it is off.
    pub(super) back: Option<Timestamp>,
    /// It stood on another square in between.
    pub(super) wandered: bool,
}

/// A man stood on a square that was not its own, and was lifted again (or still stands there).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rest {
    /// Where it came from in this turn.
    pub(super) origin: Square,
    pub(super) piece: Piece,
    pub(super) square: Square,
    pub(super) from: Timestamp,
    pub(super) until: Option<Timestamp>,
    /// How long it was off the board before it stood again, in milliseconds.
    pub(super) hop: Option<i64>,
}

impl Rest {
    /// How long it stood, in milliseconds; `None` while it stands.
    pub(super) fn millis(&self) -> Option<i64> {
        self.until.map(|until| until.since(self.from))
    }
}

/// A turn read from its touches.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    /// In the order of lifting.
    pub(super) handled: Vec<Handled>,
    /// In the order of putting down.
    pub(super) rests: Vec<Rest>,
}

impl Reading {
    /// When this man was lifted first, if it was.
    pub(super) fn lifted(&self, square: Square) -> Option<Timestamp> {
        self.handled.iter().find(|handled| handled.square == square).map(|handled| handled.lifted)
    }
}

/// Reads touches in their order. A man that leaves and comes to the same square again was handled;
/// the same kind of man that appears elsewhere while one is off is taken for that one.
pub(super) fn read(touches: &[Touch]) -> Reading {
    let mut reading = Reading::default();
    // Men off the board: index into `handled`.
    let mut air: Vec<usize> = Vec::new();
    for touch in touches {
        if let Some(piece) = touch.was.filter(|was| touch.now != Some(*was)) {
            let standing = reading
                .rests
                .iter_mut()
                .rev()
                .find(|rest| rest.square == touch.square && rest.piece == piece && rest.until.is_none());
            let origin = match standing {
                Some(rest) => {
                    rest.until = Some(touch.at);
                    rest.origin
                }
                None => touch.square,
            };
            let same = reading
                .handled
                .iter()
                .rposition(|h| h.square == origin && h.piece == piece && h.wandered && h.back.is_none());
            let index = same.unwrap_or_else(|| {
                reading.handled.push(Handled {
                    square: origin,
                    piece,
                    lifted: touch.at,
                    back: None,
                    wandered: false,
                });
                reading.handled.len() - 1
            });
            if !air.contains(&index) {
                air.push(index);
            }
        }
        if let Some(piece) = touch.now.filter(|now| touch.was != Some(*now)) {
            let home = air.iter().position(|i| {
                reading.handled[*i].square == touch.square && reading.handled[*i].piece == piece
            });
            let slot = home.or_else(|| air.iter().rposition(|i| reading.handled[*i].piece == piece));
            // Without a slot it was seen on the new square before the old one emptied: nothing is known of
            // where it rested.
            if let Some(slot) = slot {
                let index = air.remove(slot);
                let handled = &mut reading.handled[index];
                let left = reading
                    .rests
                    .iter_mut()
                    .rfind(|rest| rest.origin == handled.square && rest.hop.is_none());
                if let Some(rest) = left {
                    rest.hop = rest.until.map(|until| touch.at.since(until));
                }
                if handled.square == touch.square {
                    handled.back = Some(touch.at);
                } else {
                    handled.wandered = true;
                    let (origin, square, from) = (handled.square, touch.square, touch.at);
                    reading.rests.push(Rest { origin, piece, square, from, until: None, hop: None });
                }
            }
        }
    }
    reading
}

/// The touches as evidence of an alert, at most the last 24.
pub(super) fn evidence(touches: &[Touch]) -> Vec<TouchEvidence> {
    let skip = touches.len().saturating_sub(24);
    touches
        .iter()
        .enumerate()
        .skip(skip)
        .map(|(index, touch)| {
            let earlier = touches[..index].iter().rev().find(|before| before.square == touch.square);
            TouchEvidence {
                at: touch.at,
                square: touch.square,
                from: touch.was.map(Piece::char),
                to: touch.now.map(Piece::char),
                rested_ms: earlier.map(|before| touch.at.since(before.at)),
            }
        })
        .collect()
}

/// Has this man a legal move?
pub(super) fn can_move(position: &Position, square: Square) -> bool {
    position.legal_moves().iter().any(|m| m.from() == Some(square))
}

/// Can this man be taken?
pub(super) fn can_be_taken(position: &Position, square: Square) -> bool {
    position.legal_moves().iter().any(|m| taken(*m) == Some(square))
}

/// Where the man stands that a move takes.
pub(super) fn taken(m: shakmaty::Move) -> Option<Square> {
    match m {
        shakmaty::Move::Normal { capture: Some(_), to, .. } => Some(to),
        shakmaty::Move::EnPassant { from, to } => Some(Square::from_coords(to.file(), from.rank())),
        _ => None,
    }
}

/// The king's and the rook's square, if this is castling.
pub(super) fn castling(m: shakmaty::Move) -> Option<(Square, Square)> {
    match m {
        shakmaty::Move::Castle { king, rook } => Some((king, rook)),
        _ => None,
    }
}

/// Both a king and a rook of this side.
pub(super) fn king_of(side: Color) -> Piece {
    Piece { color: side, role: Role::King }
}
