//! Which legal moves the squares show: the geometry of a move on the sensed board.
//!
//! A move is *complete* when every square it changes reads as it should afterwards. What else
//! differs is the *residual*; whether that may be, depends on hands and sensors (see `mod.rs`).

use shakmaty::{Bitboard, Board, CastlingSide, Color, Move, Piece, Role, Square};

use super::{
    eyes::{Eyes, differing},
    movable::moves_of,
};
use crate::record::{Position, Timestamp};

/// A reading assumed to be wrong by one thread: an update that was lost, a piece without a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stale {
    pub(super) square: Square,
    pub(super) reading: Option<Piece>,
}

/// The sensed board as one thread sees it.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) eyes: &'a Eyes,
    pub(super) stale: &'a [Stale],
}

impl View<'_> {
    /// Squares whose reading tells nothing.
    pub(super) fn blind(&self) -> Bitboard {
        let mut blind = self.eyes.blind();
        for stale in self.stale {
            if self.eyes.board.piece_at(stale.square) == stale.reading {
                blind.add(stale.square);
            }
        }
        blind
    }

    /// Squares on which sensed and `expected` differ.
    pub(super) fn diff(&self, expected: &Board) -> Bitboard {
        let diff = self.eyes.diff(expected);
        if self.stale.is_empty() { diff } else { diff & !self.blind() }
    }
}

/// The squares a move changes.
pub(super) fn squares(m: Move, turn: Color) -> Bitboard {
    match m {
        Move::Normal { from, to, .. } => Bitboard::from(from) | Bitboard::from(to),
        Move::EnPassant { from, to } => {
            Bitboard::from(from)
                | Bitboard::from(to)
                | Bitboard::from(Square::from_coords(to.file(), from.rank()))
        }
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_king_side(king < rook);
            Bitboard::from(king)
                | Bitboard::from(rook)
                | Bitboard::from(side.king_to(turn))
                | Bitboard::from(side.rook_to(turn))
        }
        Move::Put { to, .. } => Bitboard::from(to),
    }
}

/// The square the moved man comes from (the king's, when castling).
pub(super) fn origin(m: Move) -> Square {
    match m {
        Move::Normal { from, .. } | Move::EnPassant { from, .. } => from,
        Move::Castle { king, .. } => king,
        Move::Put { to, .. } => to,
    }
}

/// A move that the squares show complete.
#[derive(Clone, Debug)]
pub(super) struct Complete {
    pub(super) m: Move,
    pub(super) after: Position,
    /// What else differs.
    pub(super) residual: Bitboard,
    /// When the last of its squares came to read so.
    pub(super) made_at: Timestamp,
}

/// All legal moves of `position` that the squares show complete.
pub(super) fn complete(position: &Position, view: View<'_>) -> Vec<Complete> {
    let board = position.board();
    let diff = view.diff(board);
    if diff.count() < 2 && view.blind().is_empty() {
        return Vec::new();
    }
    let turn = position.turn();
    let blind = view.blind();
    let own = board.by_color(turn);
    let left = (diff | blind) & own;
    let seen = view.eyes.board.by_color(turn) | !(view.eyes.empty() | view.eyes.board.occupied());
    let arrived = diff & seen;
    if left.is_empty() || arrived.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    // A rook may have left its square first, to castle.
    for m in moves_of(position, left | board.kings()).iter().copied() {
        let touched = squares(m, turn);
        let shown = match m {
            Move::Normal { from, to, .. } | Move::EnPassant { from, to } => {
                left.contains(from) && arrived.contains(to)
            }
            Move::Castle { .. } => (left & touched).any() && (arrived & touched).any(),
            Move::Put { .. } => false,
        };
        if !shown {
            continue;
        }
        let after = position.play(m);
        let rest = view.diff(after.board());
        if (rest & touched).any() {
            continue;
        }
        let changed = differing(board, after.board());
        found.push(Complete { m, after, residual: rest, made_at: view.eyes.latest(changed) });
    }
    found
}

/// Legal moves that may have been made and already overlaid by the reply: the man has left its
/// square, and where it went now stands it, or a man of the other side.
pub(super) fn overlaid(position: &Position, view: View<'_>, since: Timestamp) -> Vec<(Move, Position)> {
    let board = position.board();
    let turn = position.turn();
    let diff = view.diff(board);
    let left = diff & board.by_color(turn);
    if left.is_empty() {
        return Vec::new();
    }
    let theirs = view.eyes.board.by_color(!turn);
    let mut found = Vec::new();
    for m in moves_of(position, left | board.kings()).iter().copied() {
        let (from, to, capture) = match m {
            Move::Normal { from, to, capture, .. } => (from, to, capture.is_some()),
            Move::EnPassant { from, to } => (from, to, false),
            Move::Castle { .. } => {
                if (squares(m, turn) & diff).any() {
                    found.push((m, position.play(m)));
                }
                continue;
            }
            Move::Put { .. } => continue,
        };
        if !left.contains(from) {
            continue;
        }
        let shown = if diff.contains(to) {
            let now = view.eyes.board.piece_at(to);
            theirs.contains(to)
                || now.is_some_and(|piece| piece.color == turn && Some(piece.role) == arriving(m))
        } else {
            // Taken back by a man of the same kind: the square was seen to change meanwhile.
            capture && view.eyes.since[usize::from(to)] > since
        };
        if shown {
            found.push((m, position.play(m)));
        }
    }
    found
}

/// What a move puts on its square.
pub(super) fn arriving(m: Move) -> Option<Role> {
    match m {
        Move::Normal { role, promotion, .. } => Some(promotion.unwrap_or(role)),
        Move::EnPassant { .. } => Some(Role::Pawn),
        Move::Castle { .. } => None,
        Move::Put { role, .. } => Some(role),
    }
}

/// Whether the rest may stand beside a complete move: men in a hand (the reply being lifted, a man
/// adjusted), or what was so before the man was lifted (a sensor's fault, a knocked man). Not the
/// other half of castling, and not a swept board.
pub(super) fn tolerable(position: &Position, found: &Complete, eyes: &Eyes) -> bool {
    tolerable_since(position, found, eyes, eyes.since[usize::from(origin(found.m))])
}

/// The same, where the hands began at `lifted` (with an earlier ply of the same reading).
pub(super) fn tolerable_since(position: &Position, found: &Complete, eyes: &Eyes, lifted: Timestamp) -> bool {
    let rest = found.residual;
    if rest.is_empty() {
        return true;
    }
    if rest.count() > 3 {
        return false;
    }
    if let Some(partners) = castling_partners(position, found.m)
        && (rest & partners).any()
    {
        return false;
    }
    let empty = eyes.empty();
    rest.into_iter().all(|square| {
        empty.contains(square)
            || eyes.since[usize::from(square)] < lifted
            || set_aside(position, found.m, square, eyes)
    })
}

/// The man that `m` captures stands on this square, next to where it was taken: pushed aside by
/// the capturing man, and to be taken off presently.
pub(super) fn set_aside(before: &Position, m: Move, square: Square, eyes: &Eyes) -> bool {
    let Move::Normal { to, capture: Some(role), .. } = m else { return false };
    square.distance(to) == 1
        && before.board().piece_at(square).is_none()
        && eyes.board.piece_at(square) == Some(Piece { color: !before.turn(), role })
}

/// The men that would move too if this king or rook move were the first half of castling.
pub(super) fn castling_partners(position: &Position, m: Move) -> Option<Bitboard> {
    let chess = position.chess()?;
    let turn = position.turn();
    let Move::Normal { role, from, .. } = m else { return None };
    let rooks = shakmaty::Position::castles(chess).castling_rights() & position.board().by_color(turn);
    match role {
        Role::King => Some(rooks),
        Role::Rook if rooks.contains(from) => position.board().king_of(turn).map(Bitboard::from),
        _ => None,
    }
}
