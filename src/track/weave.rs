//! Several plies woven into one another: when hands are faster than the scan, no moment shows a
//! whole position, and only the order in which men arrived tells what was played.
//!
//! A line is searched in which every ply is borne out by a man seen to arrive on its square (or
//! overlaid there by the reply before the scan came round), each taken once, in an order that the
//! scan's 0.25 s allows. What a line costs, `account` and `threads` say; the cheapest wins.

use shakmaty::Move;

use super::{
    account::{Account, puts},
    eyes::Eyes,
    line::{Made, Step},
    moves::{View, origin},
    press::SCAN,
    threads::{Open, Weigh},
};
use crate::record::{PlySource, Position, Timestamp};

/// Plies that are woven at most.
const DEPTH: usize = 10;
/// Positions that are looked at.
const NODES: u32 = 400;

/// The search.
pub(super) struct Weave<'a> {
    pub(super) eyes: &'a Eyes,
    pub(super) view: View<'a>,
    pub(super) weigh: &'a Weigh<'a>,
    pub(super) account: &'a Account<'a>,
    /// Open plies that stay before the woven ones.
    pub(super) before: &'a [Open],
    /// When the last of them was made.
    pub(super) began: Timestamp,
}

/// The best line so far.
struct Found {
    cost: u32,
    line: Vec<(Move, Timestamp)>,
}

impl Weave<'_> {
    /// The cheapest line from `start`, with its whole cost, if it costs less than `limit`.
    pub(super) fn search(&self, start: &Position, limit: u32) -> Option<(u32, Vec<Open>)> {
        let used = self
            .account
            .arrivals
            .iter()
            .enumerate()
            .filter(|(_, seen)| seen.at <= self.began.plus(-SCAN))
            .fold(0, |used, (index, _)| used | 1 << index);
        let mut found = Found { cost: limit, line: Vec::new() };
        let mut nodes = NODES;
        self.step(start, used, self.began, &mut Vec::new(), &mut found, &mut nodes);
        if found.line.is_empty() {
            return None;
        }
        let mut position = start.clone();
        let line = found
            .line
            .into_iter()
            .map(|(m, made_at)| {
                position = position.play(m);
                Open {
                    made: Made { step: Step::Move(m), made_at, source: PlySource::Board },
                    after: position.clone(),
                }
            })
            .collect();
        Some((found.cost, line))
    }

    /// `used` marks the arrivals that plies have taken, or that are too old.
    fn step(
        &self,
        position: &Position,
        used: u64,
        last: Timestamp,
        path: &mut Vec<(Move, Timestamp)>,
        found: &mut Found,
        nodes: &mut u32,
    ) {
        let plies = self.weigh.plies(self.before.len() + path.len());
        if plies >= found.cost || *nodes == 0 {
            return;
        }
        *nodes -= 1;
        if let Some((m, _)) = path.last() {
            let rest = self.view.diff(position.board());
            let line = self.before.iter().filter_map(Open::step).chain(path.iter().map(|(m, _)| *m));
            let began = self.began;
            let cost = plies + self.weigh.rest(position, rest, began, Some((position, *m)));
            if cost < found.cost {
                let cost = cost + self.account.cost(line, position);
                if cost < found.cost {
                    *found = Found { cost, line: path.clone() };
                }
            }
        }
        if path.len() == DEPTH {
            return;
        }
        let turn = position.turn();
        let arrivals = &self.account.arrivals;
        let free = |index: &usize| used & (1 << index) == 0;
        let mut squares = shakmaty::Bitboard::EMPTY;
        for index in (0..arrivals.len()).filter(free) {
            squares.add(arrivals[index].square);
        }
        if squares.is_empty() {
            return;
        }
        for m in position.legal_moves() {
            let from = origin(m);
            let man = position.board().piece_at(from);
            if !m.is_castle() && !squares.contains(m.to()) {
                continue;
            }
            // The man has left its square: it reads something else, or did meanwhile.
            if self.eyes.board.piece_at(from) == man
                && !self.view.blind().contains(from)
                && !self.eyes.changes(self.began).any(|seen| seen.square == from && seen.was == man)
            {
                continue;
            }
            let (mut taken, mut at, mut whole) = (0, None, true);
            for (square, piece) in puts(m, turn) {
                match (0..arrivals.len())
                    .filter(free)
                    .find(|index| arrivals[*index].square == square && arrivals[*index].piece == piece)
                {
                    Some(index) => {
                        taken |= 1 << index;
                        at = at.max(Some(arrivals[index].at));
                    }
                    None => whole = false,
                }
            }
            if !whole {
                if m.is_castle() {
                    continue;
                }
                // The reply stands there already.
                at = (0..arrivals.len())
                    .filter(free)
                    .find(|index| arrivals[*index].square == m.to() && arrivals[*index].piece.color != turn)
                    .map(|index| arrivals[index].at);
            }
            let Some(at) = at.filter(|at| last.since(*at) <= SCAN) else { continue };
            path.push((m, at));
            self.step(&position.play(m), used | taken, last.max(at), path, found, nodes);
            path.pop();
        }
    }
}
