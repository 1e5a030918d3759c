//! What falls due without new evidence, and the clock's going and stopping, which decides whether anything
//! does.
//!
//! When a press is settled stands in `press`; what the deadlines of the end, the set-up and a gap do, in
//! `ending`, `setup` and `gap`.

use super::{
    ClockSense, Finding, Track,
    tracker::{QUIET, RELEASED, Said, over},
};
use crate::record::Timestamp;

/// A reply that stood so long confirms the ply before it though its press was not seen, in ms.
const FORGOTTEN: i64 = 10_000;
/// So long unexplained is worth a word to the operator, in ms …
const LONG: i64 = 3_000;
/// … or so long even while hands are on it, in ms.
const VERY_LONG: i64 = 15_000;
/// A stop of the clock counts from then, so that the last scan before it still counts, in ms.
const STOP_GRACE: i64 = 300;

impl Track {
    /// When a reply that stands confirms the ply before it, or a last move ends the game.
    pub(super) fn reply_due(&self) -> Option<Timestamp> {
        let last = self.threads[0].open.get(self.shown.len().checked_sub(1)?)?;
        // Only while it stands: a lifted man may go on. Asked first, since whether a game is over costs more.
        if !self.diff().is_empty() {
            return None;
        }
        if self.shown.len() < 2 && !over(&last.after) {
            return None;
        }
        // Where a clock runs the press decides; one may have been forgotten.
        let patience = match self.clock {
            ClockSense::Running(_) if self.shown.len() < 4 && !over(&last.after) => FORGOTTEN,
            _ => RELEASED,
        };
        let due = last.made.made_at.plus(patience).max(self.last_change.plus(1));
        Some(self.presses.patience().map_or(due, |patience| due.max(patience)))
    }

    pub(super) fn serve(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        if self.stop_at.is_some_and(|due| due <= at) {
            self.stop(at, out);
        }
        for square in self.eyes.faults.wells(at) {
            self.eyes.refresh(square);
            out.push(Finding::SquareWell { square });
        }
        self.serve_ending(at, out);
        self.serve_setup(at, out);
        self.serve_gap(at, out);
        if !self.playing() {
            return;
        }
        if self.reply_due().is_some_and(|due| due <= at) {
            let all = self.threads[0].open.get(self.shown.len() - 1).is_some_and(|last| over(&last.after));
            let plies = if all { self.shown.len() } else { self.shown.len() - 1 };
            if all {
                self.confirm_now(plies, at, out);
            } else if !self.too_soon(plies, at) && self.sure(plies, at, out) == Some(true) {
                let end = self.line.count + plies;
                self.settle_with(end, out);
                self.confirm(end.saturating_sub(self.line.count), out);
            } else {
                self.presses.wait(at);
            }
        }
        if self.playing() {
            self.serve_difference(at, out);
            self.serve_presses(at, out);
        }
    }

    /// When a board that differs since then has differed for long: nobody's hand is on it any more.
    pub(super) fn long_at(&self, since: Timestamp) -> Timestamp {
        if self.eyes.board.occupied().count() < self.tip().board().occupied().count() {
            return self.last_change.plus(VERY_LONG); // a man is in a hand
        }
        self.last_change.plus(LONG).min(since.plus(VERY_LONG).max(self.last_change.plus(RELEASED)))
    }

    fn serve_difference(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        if self.differs_since.is_none() {
            return;
        }
        if !self.said.searched && self.last_change.plus(QUIET) <= at {
            self.said.searched = true;
            self.search_deeply(at, out);
        }
        let Some(since) = self.differs_since else { return };
        if !self.said.released && self.last_change.plus(RELEASED) <= at {
            self.said.released = true;
            self.name_released(out);
        }
        if !self.said.differ && self.long_at(since) <= at {
            self.differs_long(out);
        }
    }

    /// The clock's word.
    pub(super) fn clock(&mut self, at: Timestamp, sense: ClockSense, out: &mut Vec<Finding>) {
        let before = std::mem::replace(&mut self.clock, sense);
        match sense {
            ClockSense::Stopped => {
                self.ending.stopped_at = Some(at);
                if self.started || self.line.count > 0 {
                    if !self.stopped && self.stop_at.is_none() {
                        self.stop_at = Some(at.plus(STOP_GRACE));
                    }
                } else {
                    self.stopped = true;
                }
            }
            ClockSense::Absent => self.go_on(at, out),
            ClockSense::Running(side) => {
                self.ending.stopped_at = None;
                self.started = true;
                self.go_on(at, out);
                if before != sense && !self.presses.follows(at) {
                    self.set_going(at, side, out);
                }
            }
        }
    }

    /// The clock stands, and its grace is over.
    fn stop(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        self.stop_at = None;
        if self.playing() {
            self.weigh_at_last(at, out);
            self.settle_presses(at, out);
            if self.shown.len() >= 2 {
                self.confirm_now(self.shown.len() - 1, at, out);
            }
            if self.threads[0].open.last().is_some_and(|last| over(&last.after)) {
                self.confirm_now(self.shown.len(), at, out);
            }
        }
        self.stopped = true;
        self.said.stopped = false;
    }

    fn go_on(&mut self, at: Timestamp, out: &mut Vec<Finding>) {
        self.stop_at = None;
        if std::mem::take(&mut self.stopped) {
            self.differs_since = None;
            self.said = Said { undone: self.said.undone, differ: self.said.differ, ..Said::default() };
        }
        self.look(at, out);
    }
}
