//! Whether a line of plies accounts for what was seen: each arrival of a man is some ply's, or it
//! costs; each ply has its arrival, or it costs; and their order is that of the plies, within what
//! the scan allows.

use shakmaty::{CastlingSide, Color, Move, Piece, Role, Square};

use super::{eyes::Eyes, moves::arriving, press::SCAN};
use crate::record::{Position, Timestamp};

/// Arrivals that are looked at.
const ARRIVALS: usize = 48;
/// A ply whose man was not seen to arrive: the reply overlaid it within one scan.
const UNSEEN: u32 = 8;
/// A ply whose man was not seen to arrive, and no reply overlaid it.
const NEVER_SEEN: u32 = 20;
/// A man put back where it stood.
const PUT_BACK: u32 = 2;
/// A man on its way to where some ply takes it.
const PASSING: u32 = 3;
/// A man that was seen somewhere and is gone from there.
const STRAY: u32 = 8;
/// The same, and a man of the other side came in its place: it was captured there.
const CAPTURED: u32 = 15;
/// Milliseconds of wrong order that cost one.
const ORDER: i64 = 20;

/// A man seen to arrive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) at: Timestamp,
    pub(super) square: Square,
    pub(super) piece: Piece,
}

/// What was seen since the last confirmed ply.
pub(super) struct Account<'a> {
    eyes: &'a Eyes,
    base: &'a Position,
    pub(super) arrivals: Vec<Arrival>,
}

impl<'a> Account<'a> {
    /// Of all that was seen since `since`, when the position was `base`.
    pub(super) fn new(base: &'a Position, since: Timestamp, eyes: &'a Eyes) -> Self {
        let mut arrivals: Vec<Arrival> = eyes
            .changes(since.plus(-SCAN))
            .filter_map(|seen| Some(Arrival { at: seen.at, square: seen.square, piece: seen.now? }))
            // The man of the last ply itself.
            .filter(|seen| seen.at > since || base.board().piece_at(seen.square) != Some(seen.piece))
            .collect();
        if arrivals.len() > ARRIVALS {
            arrivals.drain(..arrivals.len() - ARRIVALS);
        }
        Self { eyes, base, arrivals }
    }

    /// What this line from the base costs. `tip` is the position it leads to.
    pub(super) fn cost(&self, line: impl Iterator<Item = Move>, tip: &Position) -> u32 {
        let mut used: u64 = 0;
        let mut cost = 0;
        let mut last = Timestamp::from_millis(i64::MIN / 2);
        let mut turn = self.base.turn();
        let mut movers: Vec<(Piece, Timestamp)> = Vec::new();
        for m in line {
            for (square, piece) in puts(m, turn) {
                let found = self.find(used, square, |seen| seen.piece == piece);
                let mut made_at = last;
                match found {
                    Some(index) => {
                        used |= 1 << index;
                        let at = self.arrivals[index].at;
                        cost += (last.since(at).clamp(0, 4_000) / ORDER) as u32;
                        last = last.max(at);
                        made_at = at;
                    }
                    None if self.find(used, square, |seen| seen.piece.color != turn).is_some() => {
                        cost += UNSEEN;
                    }
                    None => cost += NEVER_SEEN,
                }
                movers.push((piece, made_at));
                if m.is_promotion() {
                    movers.push((Piece { color: turn, role: Role::Pawn }, made_at));
                }
            }
            turn = !turn;
        }
        let board = tip.board();
        let rest: u32 = (0..self.arrivals.len())
            .filter(|index| used & (1 << index) == 0)
            .map(|index| {
                let Arrival { square, piece, .. } = self.arrivals[index];
                let now = self.eyes.board.piece_at(square);
                let later = &self.arrivals[index + 1..];
                if now == Some(piece) && board.piece_at(square) != now {
                    0 // it counts as what still differs
                } else if self.base.board().piece_at(square) == Some(piece)
                    || board.piece_at(square) == Some(piece)
                {
                    PUT_BACK
                } else if self.passes(index, &movers) {
                    PASSING
                } else if later.iter().any(|seen| seen.square == square && seen.piece.color != piece.color) {
                    CAPTURED
                } else {
                    STRAY
                }
            })
            .sum();
        cost + rest
    }

    /// The man was on its way to where a ply takes it: it had left again by then.
    fn passes(&self, index: usize, movers: &[(Piece, Timestamp)]) -> bool {
        let Arrival { at, square, piece } = self.arrivals[index];
        let left = self.eyes.changes(at).find(|seen| seen.square == square && seen.was == Some(piece));
        left.is_some_and(|left| {
            movers.iter().any(|(mover, made_at)| *mover == piece && left.at.since(*made_at) <= SCAN)
        })
    }

    fn find(&self, used: u64, square: Square, fits: impl Fn(&Arrival) -> bool) -> Option<usize> {
        (0..self.arrivals.len()).find(|index| {
            used & (1 << index) == 0 && self.arrivals[*index].square == square && fits(&self.arrivals[*index])
        })
    }
}

/// The men a move sets down, and where.
pub(super) fn puts(m: Move, turn: Color) -> impl Iterator<Item = (Square, Piece)> {
    let (first, second) = match m {
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_king_side(king < rook);
            let put = |square, role| Some((square, Piece { color: turn, role }));
            let moved = |from, to| if from == to { None } else { Some(to) };
            (
                moved(king, side.king_to(turn)).and_then(|to| put(to, Role::King)),
                moved(rook, side.rook_to(turn)).and_then(|to| put(to, Role::Rook)),
            )
        }
        other => (arriving(other).map(|role| (other.to(), Piece { color: turn, role })), None),
    };
    first.into_iter().chain(second)
}
