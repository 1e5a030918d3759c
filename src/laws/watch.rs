//! What the clock of a table has shown so far, and what follows for the next reading. What the referee
//! finds in it stands in `clock`.

use shakmaty::{ByColor, Color};

use super::referee::ClockTimes;
use crate::record::{Seconds, Timestamp};

/// A player's turn on the clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClockTurn {
    pub(super) began: Timestamp,
    pub(super) left: u32,
}

/// A press whose increment is not measured yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pressed {
    pub(super) left: u32,
    pub(super) ran: i64,
}

/// What the clock has shown so far.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    pub(super) last: Option<(Timestamp, ClockTimes)>,
    pub(super) lost: bool,
    /// The board was away, or bytes were lost: the next reading is compared with nothing.
    pub(super) unseen: bool,
    /// The clock has run in this game.
    pub(super) ran: bool,
    pub(super) left: ByColor<Option<u32>>,
    /// Before a reset: the last times that can be believed.
    pub(super) good: ByColor<Option<u32>>,
    pub(super) at_press: ByColor<Option<Timestamp>>,
    pub(super) before_press: ByColor<Option<Timestamp>>,
    pub(super) turns: ByColor<Option<ClockTurn>>,
    pub(super) presses: ByColor<Option<Pressed>>,
    /// What the last press of each side was seen to add.
    pub(super) gained: ByColor<u32>,
    /// (measured, expected) of the last presses.
    pub(super) gains: Vec<(i64, i64)>,
    pub(super) frozen_since: Option<(Timestamp, Color, u32)>,
    /// Presses in a row after which only the other side had moved.
    pub(super) swapped: u32,
    /// Bonuses of later periods that were seen to come.
    pub(super) bonuses: ByColor<usize>,
    pub(super) made: ByColor<u32>,
    pub(super) completed: ByColor<u32>,
    pub(super) last_completed: ByColor<u32>,
    pub(super) must_record: ByColor<bool>,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            last: None,
            lost: false,
            unseen: false,
            ran: false,
            left: ByColor::default(),
            good: ByColor::default(),
            at_press: ByColor::default(),
            before_press: ByColor::default(),
            turns: ByColor::default(),
            presses: ByColor::default(),
            gained: ByColor::default(),
            gains: Vec::new(),
            frozen_since: None,
            swapped: 0,
            bonuses: ByColor::default(),
            made: ByColor::default(),
            completed: ByColor::default(),
            last_completed: ByColor::default(),
            must_record: ByColor { white: true, black: true },
        }
    }
}

impl Watch {
    /// When the clock was read last.
    pub(super) fn read_at(&self) -> Option<Timestamp> {
        self.last.map(|(at, _)| at)
    }

    /// The last times that can be believed, in seconds.
    pub(super) fn left(&self) -> ByColor<Option<u32>> {
        ByColor { white: self.good.white.or(self.left.white), black: self.good.black.or(self.left.black) }
    }

    /// Whose clock runs; `None` while it is stopped, lost or unknown.
    pub(super) fn running(&self) -> Option<Color> {
        self.last.filter(|_| !self.lost).and_then(|(_, times)| times.running)
    }

    /// When this side's clock will stand at zero, if it runs and goes on running.
    pub(super) fn runs_out(&self, side: Color) -> Option<Timestamp> {
        let (at, times) = self.last.filter(|(_, times)| !self.lost && times.running == Some(side))?;
        Some(at.plus(i64::from(seconds(&times, side)?) * 1000))
    }

    /// Has there been a clock at all?
    pub(super) fn seen(&self) -> bool {
        self.last.is_some() && !self.lost
    }

    /// The lever moved at this moment or later.
    pub(super) fn pressed_since(&self, at: Timestamp) -> bool {
        Color::ALL.into_iter().any(|side| self.at_press[side].is_some_and(|press| press >= at))
    }

    /// This side pressed after `from` and before `until`.
    pub(super) fn pressed_before(&self, side: Color, from: Timestamp, until: Timestamp) -> bool {
        [self.at_press[side], self.before_press[side]]
            .into_iter()
            .flatten()
            .any(|press| press > from && press < until)
    }

    /// The last press before this one, of either side.
    pub(super) fn last_press_before(&self, at: Timestamp) -> Option<Timestamp> {
        Color::ALL
            .into_iter()
            .flat_map(|side| [self.at_press[side], self.before_press[side]])
            .flatten()
            .filter(|press| *press < at)
            .max()
    }

    /// Seconds of increment that stand on this side's clock since its last press.
    pub(super) fn gained_at_press(&self, side: Color, increment: u32) -> u32 {
        let Some(pressed) = self.presses[side] else { return self.gained[side].min(increment) };
        let expected = i64::from(pressed.left) - pressed.ran / 1000;
        let gained = self.left[side].map_or(0, |left| i64::from(left) - expected);
        if gained >= 2 { increment.min(gained as u32 + 1) } else { 0 }
    }

    /// Times across a gap prove nothing.
    pub(super) fn forget_turns(&mut self) {
        for side in Color::ALL {
            if self.presses[side].is_some() {
                self.gained[side] = self.gained_at_press(side, u32::MAX);
            }
        }
        self.turns = ByColor::default();
        self.presses = ByColor::default();
        self.frozen_since = None;
    }

    /// The clock stands the wrong way round: what was read of one side was the other's.
    pub(super) fn exchange_sides(&mut self) {
        std::mem::swap(&mut self.left.white, &mut self.left.black);
        if let Some((_, times)) = &mut self.last {
            std::mem::swap(&mut times.left.white, &mut times.left.black);
            std::mem::swap(&mut times.flag.white, &mut times.flag.black);
            times.running = times.running.map(|side| !side);
        }
        std::mem::swap(&mut self.at_press.white, &mut self.at_press.black);
        std::mem::swap(&mut self.before_press.white, &mut self.before_press.black);
        self.forget_turns();
    }
}

/// What is left to this side, in seconds.
pub(super) fn seconds(times: &ClockTimes, side: Color) -> Option<u32> {
    times.left[side].map(|Seconds(seconds)| seconds)
}
