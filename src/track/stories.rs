//! The stories that a search keeps: the cheapest line of each kind, and what a beginning may cost to lead to another
//! one.
//!
//! How lines are found is in `lattice`.

use shakmaty::Move;

use super::{
    ledger::{PLY, Tried},
    moves::origin,
};

/// Lines that are kept.
const KEPT: usize = 12;

/// A line and what it costs.
#[derive(Clone, Debug)]
pub(super) struct Story {
    pub(super) line: Vec<Tried>,
    pub(super) cost: u32,
    kind: Kind,
}

/// Lines are of one kind if they have the same plies in question: how many, and a sum of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    plies: usize,
    sum: u64,
}

/// What a search found: stories that differ in the plies in question, the cheapest first.
#[derive(Debug, Default)]
pub(super) struct Stories {
    pub(super) all: Vec<Story>,
    /// Stories are told apart by so many plies from the root.
    decide: usize,
    /// Stories that cost so much more than the best are of no interest.
    margin: u32,
}

impl Stories {
    /// None yet.
    pub(super) fn new(decide: usize, margin: u32) -> Self {
        Self { all: Vec::new(), decide, margin }
    }

    /// How much more the next best story costs that has something else for the plies in question;
    /// `None`: none was found within the margin.
    pub(super) fn lead(&self) -> Option<u32> {
        let [best, next, ..] = &self.all[..] else { return None };
        Some(next.cost - best.cost)
    }

    /// What a beginning may cost beside its plies and still matter: it must be better than the story
    /// that begins like it, if there is one, or come near to the best. (Stories of the same readings
    /// have as many plies, or one more or less.)
    pub(super) fn limit(&self, length: usize, kind: Kind) -> u32 {
        let beside = |story: &Story| story.cost - (PLY * story.line.len() as u32).min(story.cost);
        // A line never gets shorter: where it has as many plies already, or more, these cost as well.
        let dearer = |story: &Story| PLY * length.saturating_sub(story.line.len()) as u32;
        let known = if length < self.decide { None } else { self.alike(kind) };
        match (known, self.all.first()) {
            (Some(index), _) => {
                let story = &self.all[index];
                beside(story).saturating_sub(dearer(story))
            }
            (None, Some(best)) => {
                let shorter = if length < best.line.len() { PLY } else { 0 };
                (beside(best) + self.margin + shorter).saturating_sub(dearer(best))
            }
            (None, None) => u32::MAX,
        }
    }

    /// The story that has the same plies in question.
    fn alike(&self, kind: Kind) -> Option<usize> {
        self.all.iter().position(|story| story.kind == kind)
    }

    pub(super) fn keep(&mut self, kind: Kind, cost: u32, line: impl FnOnce() -> Vec<Tried>) {
        let alike = self.alike(kind);
        let all = &mut self.all;
        if all.first().is_some_and(|best| cost > best.cost + self.margin) {
            return;
        }
        if let Some(index) = alike {
            if all[index].cost <= cost {
                return;
            }
            all.remove(index);
        }
        let place = all.partition_point(|story| story.cost <= cost);
        if place < KEPT {
            all.truncate(KEPT - 1);
            all.insert(place, Story { line: line(), cost, kind });
        }
    }
}

impl Kind {
    /// The kind of the lines of so many plies that stand.
    pub(super) fn known(plies: usize, decide: usize) -> Self {
        Self { plies: plies.min(decide), sum: 0 }
    }

    /// The kind of a line of `length` plies with one ply more.
    pub(super) fn longer(self, length: usize, decide: usize, m: Move) -> Self {
        if length < decide { Self { plies: length + 1, sum: add(self.sum, m) } } else { self }
    }
}

/// The kind of a line of which so many plies stand.
pub(super) fn kind(known: usize, decide: usize, line: &[Tried]) -> Kind {
    let plies = line.len().min(decide);
    let sum = line[..plies].iter().skip(known).fold(0, |sum, tried| add(sum, tried.m));
    Kind { plies, sum }
}

/// A sum of moves in their order.
pub(super) fn add(sum: u64, m: Move) -> u64 {
    let squares = u64::from(u8::from(origin(m))) * 64 + u64::from(u8::from(m.to()));
    let role = m.promotion().map_or(0, |role| role as u64);
    sum.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(squares * 8 + role + 1)
}
