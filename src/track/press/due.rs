//! Which ply a press belongs to, and when it can be settled or judged.

use shakmaty::Color;

use super::{CALM, LANDED, LATE, LET_GO, Press, SCAN, SCRAMBLE, SETTLE, SKEW, STOOD, TWO_SCANS, Target};
use crate::{
    record::{Position, Timestamp},
    track::{Irregular, Track, irregular::classify, line::Step},
};

impl Track {
    /// The side that played ply `index`, if it is an open or the last confirmed one.
    pub(super) fn player(&self, index: usize) -> Option<Color> {
        if index + 1 == self.line.count {
            return self.line.before.as_ref().map(Position::turn);
        }
        let open = index.checked_sub(self.line.count)?;
        let before = if open == 0 { &self.line.base } else { &self.threads[0].open.get(open - 1)?.after };
        (open < self.threads[0].open.len()).then(|| before.turn())
    }

    pub(super) fn target(&self, press: &Press) -> Target {
        let by = if self.presses.wrong >= 2 { !press.by } else { press.by };
        let end = self.line.count + self.threads[0].open.len();
        let first = self.presses.upto.max(self.line.count.saturating_sub(1));
        // The clock may be up to 1 s late, and a press in a hurry, too: of several plies made since
        // then it is the first one's.
        let recent = |index: &usize| {
            let open = index.checked_sub(self.line.count).and_then(|open| self.threads[0].open.get(open));
            open.is_some_and(|open| press.at.since(open.made.made_at) < LATE)
        };
        let his = || (first..end).filter(|index| self.player(*index) == Some(by));
        if let Some(index) = his().find(recent).or_else(|| his().next_back()) {
            return Target::Ply(index);
        }
        if self.held.is_empty() && first < end && end > self.line.count {
            return Target::Ply(end - 1);
        }
        let stood = match self.held.last() {
            Some(held) => self.eyes.diff(held.after.board()).is_empty(),
            None => self.diff().is_empty(),
        };
        if stood { Target::Unchanged } else { Target::Unexplained }
    }

    /// When a press that belongs to ply `index` is settled.
    pub(super) fn settled_at(&self, press: &Press, index: usize) -> Timestamp {
        let Some(ply) = index.checked_sub(self.line.count).and_then(|open| self.threads[0].open.get(open))
        else {
            return press.at;
        };
        if self.half_castled(index) {
            return press.at.plus(SETTLE);
        }
        let replied = index + 1 < self.line.count + self.threads[0].open.len();
        if crate::track::tracker::over(&ply.after) {
            return press.at;
        }
        if replied || self.presses.waiting.len() > 1 {
            // In a scramble the squares may yet tell another story: two scans, and while what
            // they tell does not add up, longer.
            let due = press.at.max(ply.made.made_at.plus(TWO_SCANS));
            let calm = self.unexplained() <= CALM;
            let patient = due.max(self.last_change.plus(TWO_SCANS)).min(press.at.plus(SCRAMBLE));
            return if calm { due } else { patient.max(due) };
        }
        let made = ply.made.made_at;
        let due = if made <= press.at {
            press.at.plus(SCAN).max(press.at.plus(SKEW).min(made.plus(LET_GO)))
        } else {
            press.at.plus(SKEW).max(made.plus(LANDED))
        };
        // A man of the mover in the air: the hand may be going on.
        if (self.diff() & self.tip().board().by_color(!self.tip().turn()) & self.eyes.empty()).any() {
            return due.max(press.at.plus(SETTLE));
        }
        due
    }

    /// What the line leaves unexplained.
    pub(super) fn unexplained(&self) -> u32 {
        self.threads[0].unexplained(&self.line.base, self.line.base_at, &self.eyes)
    }

    /// Ply `index` is a rook's or king's move that may be the first half of castling, and the other
    /// man is off its square.
    fn half_castled(&self, index: usize) -> bool {
        let Some(open) = index.checked_sub(self.line.count) else { return false };
        let before = if open == 0 { &self.line.base } else { &self.threads[0].open[open - 1].after };
        let Some(Step::Move(m)) = self.threads[0].open.get(open).map(|ply| &ply.made.step) else {
            return false;
        };
        crate::track::moves::castling_partners(before, *m)
            .is_some_and(|partners| (self.diff() & partners & self.eyes.empty()).any())
    }

    /// When a press that nothing explains is judged.
    pub(super) fn judged_at(&self, press: &Press) -> Timestamp {
        let arrived = self.diff() & !self.eyes.empty();
        if Color::ALL.iter().all(|side| (arrived & self.eyes.board.by_color(*side)).any()) {
            // Both hands are at work, faster than the scan.
            return press.at.plus(SETTLE).max(self.last_change.plus(SKEW).min(press.at.plus(SCRAMBLE)));
        }
        if self.steady() && self.last_change.plus(SCAN) <= press.at {
            return press.at.plus(STOOD);
        }
        press.at.plus(SETTLE)
    }

    /// Every man of the mover that left a square stands on another.
    pub(super) fn steady(&self) -> bool {
        let position = self.held.last().map_or_else(|| self.tip(), |held| &held.after);
        let diff = self.threads[0].view(&self.eyes).diff(position.board());
        let mover = position.turn();
        let left = diff & position.board().by_color(mover);
        let arrived = diff & self.eyes.board.by_color(mover);
        left.any() && left.count() == arrived.count()
    }

    /// A pawn has gone to promote, and its square reads empty.
    pub(super) fn promotion_unread(&self) -> bool {
        let view = self.threads[0].view(&self.eyes);
        let what = classify(self.tip(), view, self.old_differences());
        matches!(what, Some(Irregular::PromotionSquareEmpty { .. }))
    }
}
