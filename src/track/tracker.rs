//! The tracker of one table.

use shakmaty::Board;

use super::{Evidence, Finding};
use crate::record::{Position, Timestamp};

/// Follows one game on one board.
#[derive(Clone, Debug)]
pub struct Track {
    sensed: Board,
    rotated: bool,
}

impl Track {
    /// A tracker for a game that starts from `start`. Nothing is sensed yet.
    #[must_use]
    pub fn new(start: &Position) -> Self {
        Self { sensed: start.board().clone(), rotated: false }
    }

    /// Takes one piece of evidence; findings are appended in order. Deadlines that fell due
    /// before `at` must have been served by [`Track::advance`] first.
    pub fn observe(&mut self, at: Timestamp, evidence: &Evidence, out: &mut Vec<Finding>) {
        let _ = (at, evidence, out);
    }

    /// Serves every deadline up to and including `now`, each at its own time.
    pub fn advance(&mut self, now: Timestamp, out: &mut Vec<Finding>) {
        let _ = (now, out);
    }

    /// The next moment at which something will be found without new evidence.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Timestamp> {
        None
    }

    /// What the squares show, in game squares.
    #[must_use]
    pub fn sensed(&self) -> &Board {
        &self.sensed
    }

    /// The board lies turned by 180 degrees.
    #[must_use]
    pub fn rotated(&self) -> bool {
        self.rotated
    }
}
