//! The search for the lines of plies that the readings bear out, from a position whose plies are
//! known on.
//!
//! Every ply must have been read somewhere: its man left its square, and arrived on the other, or
//! a reply covered it there before the scan came round. A line is judged whole (`ledger`); the
//! cheapest lines are kept, so that one can see how much worse the next best story is.

use shakmaty::{Bitboard, Move, Piece};

use super::{
    account::puts,
    ledger::{Ledger, PLY, STALE, Tried},
    moves::origin,
};
use crate::record::{Position, Timestamp};

/// Plies in one line, the known ones included.
const DEPTH: usize = 20;
/// Positions that are looked at.
const NODES: u32 = 100;
/// What a ply costs at least whose man was not read on its square: the reply covered it.
const COVERED: u32 = 3;
/// Lines that are kept.
const KEPT: usize = 12;
/// What was read so much earlier than a ply can have been made may still follow it, in ms.
const SLACK: i64 = 80;

/// A line and what it costs.
#[derive(Clone, Debug)]
pub(super) struct Story {
    pub(super) line: Vec<Tried>,
    pub(super) cost: u32,
}

/// What a search found: stories that differ in the plies in question, the cheapest first.
#[derive(Debug, Default)]
pub(super) struct Stories {
    pub(super) all: Vec<Story>,
    /// Not everything was looked at.
    pub(super) cut: bool,
}

impl Stories {
    /// How much more the next best story costs that has something else for the plies in question;
    /// `None`: none was found within the margin.
    pub(super) fn lead(&self) -> Option<u32> {
        let [best, next, ..] = &self.all[..] else { return None };
        Some(next.cost - best.cost)
    }
}

/// What is asked.
pub(super) struct Question<'a> {
    pub(super) root: &'a Position,
    /// Plies from the root that stand.
    pub(super) known: Vec<Tried>,
    /// When the last of them can have stood at the earliest.
    pub(super) cursor: Timestamp,
    /// The line as it is taken now, from the root.
    pub(super) present: Vec<Tried>,
    /// Stories are told apart by so many plies from the root.
    pub(super) decide: usize,
    /// Stories that cost so much more than the best are of no interest.
    pub(super) margin: u32,
}

/// The search.
pub(super) fn search(ledger: &Ledger<'_>, question: Question<'_>) -> Stories {
    let Question { root, known, cursor, present, decide, margin } = question;
    let stories = Stories::default();
    let mut search = Search { ledger, root, landed: ledger.landed(), stories, nodes: NODES, decide, margin };
    let cost = ledger.cost(root, &present);
    search.keep(&present, cost);
    search.run(known, cursor);
    search.stories
}

struct Search<'a, 'b> {
    ledger: &'a Ledger<'b>,
    root: &'a Position,
    landed: Bitboard,
    stories: Stories,
    nodes: u32,
    decide: usize,
    margin: u32,
}

/// A move that was read to be made.
struct Candidate {
    m: Move,
    /// When it was read by.
    read: Timestamp,
    /// When its own man was read to arrive, if it was.
    at: Option<Timestamp>,
    /// What it costs that it was not.
    unread: u32,
}

/// The beginning of a line.
struct Node {
    /// What it costs, or what it was taken from, beside its plies: the cleanest is looked at first.
    key: u32,
    /// When its last ply was read.
    read: Timestamp,
    line: Vec<Tried>,
    cursor: Timestamp,
    /// What plies cost that were not read.
    unread: u32,
}

impl Search<'_, '_> {
    /// The cleanest beginning first, until none can lead to a line that would be kept.
    fn run(&mut self, known: Vec<Tried>, cursor: Timestamp) {
        let mut open = vec![Node { key: 0, read: cursor, line: known, cursor, unread: 0 }];
        while let Some(index) = (0..open.len()).min_by_key(|index| {
            let node = &open[*index];
            (node.key, std::cmp::Reverse(node.line.len()), node.read)
        }) {
            let node = open.swap_remove(index);
            if self.nodes == 0 {
                self.stories.cut = true;
                return;
            }
            self.nodes -= 1;
            let least = node.unread + self.ledger.least(node.cursor.plus(-SLACK), self.root, &node.line);
            if least > self.limit() {
                continue;
            }
            let cost = self.ledger.cost(self.root, &node.line);
            self.keep(&node.line, cost);
            if node.line.len() >= DEPTH {
                continue;
            }
            let key = least - (PLY * node.line.len() as u32).min(least);
            let position = node.line.last().map_or(self.root, |last| &last.after);
            for Candidate { m, read, at, unread } in self.candidates(position, node.cursor) {
                let mut line = Vec::with_capacity(node.line.len() + 1);
                line.extend(node.line.iter().cloned());
                line.push(Tried { m, after: position.play(m), at: read });
                let cursor = at.map_or(node.cursor, |at| node.cursor.max(at.plus(-STALE)));
                open.push(Node { key: key + unread, read, line, cursor, unread: node.unread + unread });
            }
        }
    }

    fn limit(&self) -> u32 {
        self.stories.all.first().map_or(u32::MAX, |best| best.cost + self.margin)
    }

    fn keep(&mut self, path: &[Tried], cost: u32) {
        let decide = self.decide;
        let all = &mut self.stories.all;
        if all.first().is_some_and(|best| cost > best.cost + self.margin) {
            return;
        }
        let begins = |story: &Story| {
            story.line.len().min(decide) == path.len().min(decide)
                && story.line.iter().zip(path).take(decide).all(|(a, b)| a.m == b.m)
        };
        if let Some(index) = all.iter().position(begins) {
            if all[index].cost <= cost {
                return;
            }
            all.remove(index);
        }
        let place = all.partition_point(|story| story.cost <= cost);
        if place < KEPT {
            all.truncate(KEPT - 1);
            all.insert(place, Story { line: path.to_vec(), cost });
        }
    }

    /// Moves that were read to be made, not before `cursor`.
    fn candidates(&self, position: &Position, cursor: Timestamp) -> Vec<Candidate> {
        let turn = position.turn();
        let board = position.board();
        let mut found = Vec::new();
        for m in position.legal_moves() {
            let from = origin(m);
            if !m.is_castle() && !self.landed.contains(m.to())
                || !self.ledger.left(from, board.piece_at(from))
            {
                continue;
            }
            let mut at: Option<Timestamp> = None;
            let mut whole = true;
            for (square, piece) in puts(m, turn) {
                match self.arrival(square, piece, cursor) {
                    Some(seen) => at = at.max(Some(seen)),
                    None => whole = false,
                }
            }
            if whole {
                found.extend(at.map(|at| Candidate { m, read: at, at: Some(at), unread: 0 }));
                continue;
            }
            if m.is_castle() {
                continue;
            }
            // The reply stands there already.
            let covered = self
                .ledger
                .arrivals(m.to())
                .find(|seen| seen.piece.color != turn && self.possible(seen.at, seen.dumped, cursor));
            if let Some(covered) = covered {
                found.push(Candidate { m, read: covered.at, at: None, unread: COVERED });
            }
        }
        found
    }

    fn arrival(&self, square: shakmaty::Square, piece: Piece, cursor: Timestamp) -> Option<Timestamp> {
        self.ledger
            .arrivals(square)
            .find(|seen| seen.piece == piece && self.possible(seen.at, seen.dumped, cursor))
            .map(|seen| seen.at)
    }

    /// What was read then can have been made after `cursor`, by and large.
    #[expect(clippy::unused_self, reason = "it belongs to the search")]
    fn possible(&self, at: Timestamp, dumped: bool, cursor: Timestamp) -> bool {
        dumped || at.plus(60) >= cursor
    }
}
