//! What the referee wants to say later without new evidence, and when.

use shakmaty::{Color, Square};

use super::{
    desk::Scene,
    referee::{Referee, Ruling},
};
use crate::record::{Game, Timestamp};

/// What the referee wants to say later without new evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// The last ply has stood long enough to count as released.
    Settle,
    /// The last ply is made and nobody pressed.
    NotPressed,
    /// The man lifted now counts as touched.
    Touched,
    /// The clock has been stopped for a while.
    Paused,
    /// It has been stopped for long, and there is no result.
    ResultMissing,
    /// A clock has stood at zero without showing a flag.
    Zero(Color),
    /// The increment after a press should be on the clock by now.
    Increment(Color),
    /// A player's default time is over.
    DefaultTime(Color),
    /// The clock should have been started by now.
    NotStarted,
    /// The next time-control sheet is due.
    Sheet,
    /// What was found unexplained is still so.
    Mismatch,
    /// A man of the side not on move has stood where he was put for a while.
    OutOfTurn,
    /// A square under the hand that goes on flickering has a fault of its own.
    Flicker(Square),
}

impl Referee {
    /// Serves every deadline up to and including `now`, each at its own time.
    pub fn advance(&mut self, now: Timestamp, game: &Game, out: &mut Vec<Ruling>) {
        self.begin(&mut Scene { at: now, game, out });
        while let Some(due) = self.next_deadline().filter(|due| *due <= now) {
            let Some(index) = self.timers.iter().position(|(at, _)| *at == due) else { break };
            let (_, timer) = self.timers.remove(index);
            let mut scene = Scene { at: due, game, out: &mut *out };
            self.serve(&mut scene, timer);
        }
    }

    /// The next moment at which something will be said without new evidence.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.timers.iter().map(|(at, _)| *at).min()
    }

    pub(super) fn serve(&mut self, scene: &mut Scene<'_>, timer: Timer) {
        match timer {
            Timer::Settle => self.settle_to(scene, scene.game.plies.len()),
            Timer::NotPressed => self.not_pressed(scene),
            Timer::Touched => self.touch_counts(scene),
            Timer::Paused => self.paused_long(scene),
            Timer::ResultMissing => self.result_missing(scene),
            Timer::Zero(side) => self.zero_stands(scene, side),
            Timer::Increment(side) => self.measure_increment(scene, side),
            Timer::DefaultTime(side) => self.default_time_over(scene, side),
            Timer::NotStarted => self.clock_not_started(scene),
            Timer::Sheet => self.time_sheet(scene),
            Timer::Mismatch => self.mismatch_stands(scene),
            Timer::OutOfTurn => self.out_of_turn_stands(scene),
            Timer::Flicker(square) => self.flickers_on(scene, square),
        }
    }

    /// Sets a timer, replacing an earlier one of its kind.
    pub(super) fn set_timer(&mut self, timer: Timer, at: Timestamp) {
        self.cancel(timer);
        self.timers.push((at, timer));
    }

    pub(super) fn is_timed(&self, timer: Timer) -> bool {
        self.timers.iter().any(|(_, other)| *other == timer)
    }

    pub(super) fn cancel(&mut self, timer: Timer) {
        self.timers.retain(|(_, other)| *other != timer);
    }
}
