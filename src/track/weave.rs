//! Several plies woven into one another: when hands are faster than the scan, no moment shows a
//! whole position, and only the order in which men arrived tells what was played.
//!
//! A line is searched in which every ply is borne out by a man seen to arrive on its square (or
//! overlaid there by the reply before the scan came round), each taken once, in an order that the
//! scan's 0.25 s allows. What is left over, and what still differs, costs; the cheapest line wins.

use shakmaty::{CastlingSide, Move, Piece, Role, Square};

use super::{
    eyes::Eyes,
    line::{Made, Step},
    moves::{View, arriving, origin},
    press::SCAN,
    threads::{Open, Weigh},
};
use crate::record::{PlySource, Position, Timestamp};

/// Plies that are woven at most.
const DEPTH: usize = 10;
/// Arrivals that are looked at.
const ARRIVALS: usize = 24;
/// Positions that are looked at.
const NODES: u32 = 400;
/// A ply whose man was overlaid before it was seen.
const UNSEEN: u32 = 8;
/// A man that was seen on a square and did not stay.
const PASSING: u32 = 3;
/// The same, and the other side's man came in its place.
const TAKEN: u32 = 15;
/// Milliseconds of wrong order that cost one.
const ORDER: i64 = 20;

/// A man seen to arrive.
#[derive(Clone, Copy)]
struct Arrival {
    at: Timestamp,
    square: Square,
    piece: Piece,
}

/// The search.
struct Weave<'a> {
    eyes: &'a Eyes,
    view: View<'a>,
    weigh: &'a Weigh<'a>,
    began: Timestamp,
    arrivals: Vec<Arrival>,
    /// Plies that stand before these.
    before: usize,
    nodes: u32,
    best: Option<(u32, Vec<(Move, Timestamp)>)>,
}

/// The cheapest line from `start`, with its whole cost, if it costs less than `limit`. `before`
/// plies stand before it, the last of them made at `began`.
pub(super) fn weave(
    start: &Position,
    view: View<'_>,
    weigh: &Weigh<'_>,
    before: usize,
    began: Timestamp,
    limit: u32,
) -> Option<(u32, Vec<Open>)> {
    let eyes = view.eyes;
    let mut arrivals: Vec<Arrival> = eyes
        .changes(began.plus(-SCAN))
        .filter_map(|seen| Some(Arrival { at: seen.at, square: seen.square, piece: seen.now? }))
        // What stood there before the first ply is no arrival of these.
        .filter(|seen| seen.at > began || start.board().piece_at(seen.square) != Some(seen.piece))
        .collect();
    if arrivals.len() > ARRIVALS {
        return None;
    }
    arrivals.sort_by_key(|seen| seen.at);
    let mut weaving = Weave { eyes, view, weigh, began, arrivals, before, nodes: NODES, best: None };
    let mut path = Vec::new();
    weaving.search(start, 0, 0, began, limit, &mut path);
    let (cost, line) = weaving.best?;
    let mut position = start.clone();
    let line = line
        .into_iter()
        .map(|(m, made_at)| {
            position = position.play(m);
            Open {
                made: Made { step: Step::Move(m), made_at, source: PlySource::Board },
                after: position.clone(),
            }
        })
        .collect();
    Some((cost, line))
}

impl Weave<'_> {
    /// `used` marks the arrivals that plies have taken.
    fn search(
        &mut self,
        position: &Position,
        used: u32,
        cost: u32,
        last: Timestamp,
        limit: u32,
        path: &mut Vec<(Move, Timestamp)>,
    ) {
        let limit = self.best.as_ref().map_or(limit, |best| best.0.min(limit));
        if cost >= limit || self.nodes == 0 {
            return;
        }
        self.nodes -= 1;
        let rest = self.view.diff(position.board());
        let began = path.last().map_or(self.began, |(_, at)| *at);
        let left: u32 = (0..self.arrivals.len())
            .filter(|index| used & (1 << index) == 0 && !rest.contains(self.arrivals[*index].square))
            .map(|index| self.passing(index))
            .sum();
        let whole = cost + left + self.weigh.rest(position, rest, self.began.min(began), None);
        if whole < limit && !path.is_empty() {
            self.best = Some((whole, path.clone()));
        }
        if path.len() == DEPTH || used.count_ones() as usize == self.arrivals.len() {
            return;
        }
        let ply = self.weigh.plies(self.before + path.len() + 1) - self.weigh.plies(self.before + path.len());
        // Each side's plies need men of it that no ply has taken yet, or a reply that overlays one.
        if (0..self.arrivals.len()).all(|index| used & (1 << index) != 0) {
            return;
        }
        for (m, taken, seen, extra) in self.steps(position, used) {
            let Some(at) = seen else { continue };
            let late = last.since(at);
            if late > SCAN {
                continue;
            }
            let order = (late.max(0) / ORDER) as u32;
            let next = position.play(m);
            path.push((m, at));
            self.search(&next, used | taken, cost + ply + extra + order, last.max(at), limit, path);
            path.pop();
        }
    }

    /// What it costs that no ply has taken this arrival.
    fn passing(&self, index: usize) -> u32 {
        let Arrival { square, piece, .. } = self.arrivals[index];
        let later = &self.arrivals[index + 1..];
        if later.iter().any(|seen| seen.square == square && seen.piece.color != piece.color) {
            TAKEN // it was captured there
        } else {
            PASSING
        }
    }

    /// Moves borne out by an arrival: with the arrivals they take, when, and what they cost beside.
    fn steps(&self, position: &Position, used: u32) -> Vec<(Move, u32, Option<Timestamp>, u32)> {
        let turn = position.turn();
        let mut steps = Vec::new();
        for m in position.legal_moves() {
            if let Move::Castle { king, rook } = m {
                let side = CastlingSide::from_king_side(king < rook);
                let king = self.take(used, side.king_to(turn), Piece { color: turn, role: Role::King });
                let rook = self.take(used, side.rook_to(turn), Piece { color: turn, role: Role::Rook });
                let taken = king.map_or(0, |index| 1 << index) | rook.map_or(0, |index| 1 << index);
                let at = king.into_iter().chain(rook).map(|index| self.arrivals[index].at).max();
                if king.is_some() && rook.is_some() {
                    steps.push((m, taken, at, 0));
                }
                continue;
            }
            let Some(role) = arriving(m) else { continue };
            let piece = Piece { color: turn, role };
            let (from, to) = (origin(m), m.to());
            // The man has left its square: it reads something else, or did meanwhile.
            let man = position.board().piece_at(from);
            if self.eyes.board.piece_at(from) == man
                && !self.view.blind().contains(from)
                && !self.eyes.changes(self.began).any(|seen| seen.square == from && seen.was == man)
            {
                continue;
            }
            if let Some(index) = self.take(used, to, piece) {
                steps.push((m, 1 << index, Some(self.arrivals[index].at), 0));
            } else if let Some(index) = (0..self.arrivals.len()).find(|index| {
                used & (1 << index) == 0
                    && self.arrivals[*index].square == to
                    && self.arrivals[*index].piece.color != turn
            }) {
                // The reply stands there already.
                steps.push((m, 0, Some(self.arrivals[index].at), UNSEEN));
            }
        }
        steps
    }

    /// The first arrival of this man on this square that no ply has taken; the last one of a row in
    /// which it came back.
    fn take(&self, used: u32, square: Square, piece: Piece) -> Option<usize> {
        (0..self.arrivals.len()).find(|index| {
            used & (1 << index) == 0
                && self.arrivals[*index].square == square
                && self.arrivals[*index].piece == piece
        })
    }
}
