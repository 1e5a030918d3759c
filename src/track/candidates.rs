//! The plies that a beginning of a line may go on with: moves that were read to be made.
//!
//! A ply's man was read off its square, and then: on the other; or the other was covered there before
//! the scan came round; or it went on, or was taken in passing, within one scan. What a line of them costs
//! is for `tally`, which beginnings go on for `lattice`.

use shakmaty::{Bitboard, Move, Piece, Role, Square, attacks};

use super::{
    account::puts,
    align::{COVERED, PASSED},
    ledger::{Ledger, STALE},
    movable::moves_of,
    moves::origin,
};
use crate::record::{Position, Timestamp};

/// Two plies are not made closer together, in ms.
const SPACING: i64 = 80;
/// The next hand takes a man so long after he stood, in a hurry, in ms.
const TAKEN: i64 = 200;
/// Arrivals of one man on one square that are tried.
const ARRIVALS: usize = 3;

/// A move that was read to be made.
pub(super) struct Candidate {
    pub(super) m: Move,
    /// When it was read by.
    pub(super) read: Timestamp,
    /// When it can have stood at the earliest.
    pub(super) cursor: Timestamp,
    /// What it costs that its man was not read where it stood.
    pub(super) unread: u32,
}

/// Where to find them.
pub(super) struct Candidates<'a, 'b> {
    ledger: &'a Ledger<'b>,
}

impl<'a, 'b> Candidates<'a, 'b> {
    pub(super) fn new(ledger: &'a Ledger<'b>) -> Self {
        Self { ledger }
    }

    /// Moves that were read to be made, not before `cursor`.
    pub(super) fn find(&self, position: &Position, cursor: Timestamp, found: &mut Vec<Candidate>) {
        let turn = position.turn();
        let board = position.board();
        let next = cursor.plus(SPACING);
        let mut last: Option<(Square, Option<Timestamp>)> = None;
        for m in moves_of(position, self.ledger.left(board)).iter().copied() {
            if m.is_castle() {
                let mut at: Option<Timestamp> = None;
                let whole = puts(m, turn).all(|(square, piece)| {
                    let seen = self.arrivals(square, piece, cursor).next();
                    at = at.max(seen);
                    seen.is_some()
                });
                if let Some(at) = at.filter(|_| whole) {
                    found.push(Candidate { m, read: at, cursor: next.max(at.plus(-STALE)), unread: 0 });
                }
                continue;
            }
            let Some((to, piece)) = puts(m, turn).next() else { continue };
            let mut read = false;
            for at in self.arrivals(to, piece, cursor).take(ARRIVALS) {
                found.push(Candidate { m, read: at, cursor: next.max(at.plus(-STALE)), unread: 0 });
                read = true;
            }
            let from = origin(m);
            let lifted = match last {
                Some((square, lifted)) if square == from => lifted,
                _ => board.piece_at(from).and_then(|man| self.gone_at(from, man, cursor)),
            };
            last = Some((from, lifted));
            let cursor_after = lifted.map_or(next, |lifted| next.max(lifted.plus(SPACING - STALE)));
            if self.ledger.landed().contains(to) {
                // Another man stands there already.
                let covered = self
                    .ledger
                    .arrivals(to)
                    .find(|seen| seen.piece != piece && possible(seen.at, seen.dumped, cursor_after));
                if let Some(covered) = covered {
                    let read = covered.at.min(cursor_after.plus(STALE + TAKEN));
                    found.push(Candidate { m, read, cursor: cursor_after, unread: 0 });
                    continue;
                }
            }
            if let Some(lifted) = lifted.filter(|_| !read && self.ledger.brisk)
                && let Some((read, unread)) = self.went_on(position, m, piece, lifted, cursor_after)
            {
                let read = read.min(cursor_after.plus(STALE));
                found.push(Candidate { m, read, cursor: cursor_after, unread });
            }
        }
    }

    /// The man is not read where this move takes it: it may have gone on from there, or been taken in
    /// passing, or by one like the man it took. When that was read, and what it costs.
    fn went_on(
        &self,
        position: &Position,
        m: Move,
        piece: Piece,
        left: Timestamp,
        cursor: Timestamp,
    ) -> Option<(Timestamp, u32)> {
        let (from, to) = (origin(m), m.to());
        if piece.role == Role::Pawn && from.distance(to) == 2 {
            // Taken in passing.
            let passed = Square::from_coords(to.file(), attacks::between(from, to).first()?.rank());
            let taker = Piece { color: !piece.color, role: Role::Pawn };
            if let Some(at) = self.arrivals(passed, taker, cursor).next() {
                return Some((at, COVERED + 2));
            }
        }
        if let Some(victim) = position.board().piece_at(to)
            && self.ledger.reads(to) == Some(victim)
            && !self.ledger.landed().contains(to)
        {
            // Taken by one like the man it took, within a scan.
            let occupied = position.board().occupied() | Bitboard::from(to);
            let takers = attackers(to, victim, occupied) & position.board().by_piece(victim);
            let taken = takers.into_iter().find_map(|square| self.gone_at(square, victim, cursor));
            return taken.map(|at| (at.max(left), 2 * COVERED));
        }
        // It went on: it is read elsewhere next.
        if m.is_promotion() {
            return None;
        }
        let landed = self.ledger.landed_by(piece) & !Bitboard::from(to);
        if landed.is_empty() {
            return None;
        }
        let on = attacks::attacks(to, piece, position.board().occupied() ^ Bitboard::from(from));
        let on = if piece.role == Role::Pawn { on | pawn_pushes(to, piece) } else { on };
        let next = (on & landed).into_iter();
        let read =
            next.filter_map(|square| self.arrivals(square, piece, cursor.plus(SPACING)).next()).min()?;
        Some((read, PASSED))
    }

    /// When the man was read to be off its square, after `cursor`.
    fn gone_at(&self, square: Square, man: Piece, cursor: Timestamp) -> Option<Timestamp> {
        let lane = self.ledger.lane(square)?;
        let mut was = lane.first;
        for reading in &lane.readings {
            if was == Some(man) && reading.content != was && possible(reading.at, reading.dumped, cursor) {
                return Some(reading.at);
            }
            was = reading.content;
        }
        None
    }

    fn arrivals(&self, square: Square, piece: Piece, cursor: Timestamp) -> impl Iterator<Item = Timestamp> {
        let landed = self.ledger.landed_by(piece).contains(square);
        let lane = self.ledger.lane(square).filter(|_| landed);
        let readings = lane.map_or(&[][..], |lane| &lane.readings);
        readings
            .iter()
            .filter(move |seen| seen.content == Some(piece) && possible(seen.at, seen.dumped, cursor))
            .map(|seen| seen.at)
    }
}

/// What was read then can have been made after `cursor`, by and large.
fn possible(at: Timestamp, dumped: bool, cursor: Timestamp) -> bool {
    dumped || at.plus(60) >= cursor
}

/// Squares from which a man like this attacks the square.
fn attackers(square: Square, man: Piece, occupied: Bitboard) -> Bitboard {
    let back = if man.role == Role::Pawn { Piece { color: !man.color, ..man } } else { man };
    attacks::attacks(square, back, occupied)
}

/// Where a pawn may be pushed to.
fn pawn_pushes(square: Square, pawn: Piece) -> Bitboard {
    let step = pawn.color.fold_wb(8, -8);
    square.offset(step).into_iter().collect()
}
