//! The stories that the last look at a ply could not tell from the best.
//!
//! A search (`lattice`) keeps only so many beginnings, so it can lose a story that it found a moment
//! ago. What was found is therefore kept until a ply contradicts it or a later look finds it refuted: its
//! beginning goes on in the next search whatever else there is, and a ply that was in doubt is not told for
//! sure merely because the line that stands explains the readings.

use std::collections::VecDeque;

use shakmaty::Move;

/// Stories that are kept.
const KEPT: usize = 6;

/// Stories by their open plies.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubt {
    lines: Vec<VecDeque<Move>>,
}

impl Doubt {
    /// The last look found these, the best first; of one alone there is no doubt.
    pub(super) fn keep(&mut self, stories: impl ExactSizeIterator<Item = VecDeque<Move>>) {
        self.lines.clear();
        if stories.len() > 1 {
            self.lines.extend(stories.take(KEPT));
        }
    }

    pub(super) fn forget(&mut self) {
        self.lines.clear();
    }

    /// A ply stands: the stories that have another one are of the past.
    pub(super) fn confirmed(&mut self, m: Option<Move>) {
        self.lines.retain_mut(|line| m.is_some() && line.pop_front() == m);
        if self.lines.len() == 1 {
            self.lines.clear();
        }
    }

    /// The stories, by their open plies.
    pub(super) fn lines(&self) -> impl Iterator<Item = &VecDeque<Move>> {
        self.lines.iter()
    }

    /// Some story has another ply among the first ones than this line.
    pub(super) fn of(&self, plies: usize, line: impl Iterator<Item = Move>) -> bool {
        let line: Vec<Move> = if self.lines.is_empty() { Vec::new() } else { line.take(plies).collect() };
        self.lines.iter().any(|story| !story.iter().take(plies).eq(&line))
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.lines.capacity() * size_of::<VecDeque<Move>>()
            + self.lines.iter().map(|line| line.capacity() * size_of::<Move>()).sum::<usize>()
    }
}
