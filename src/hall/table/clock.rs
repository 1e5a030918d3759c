//! What the clock says: whose side is whose, presses with their readings, the times of plies.

use shakmaty::{ByColor, Color};

use super::{ClockView, Table, UpdateBody};
use crate::{
    laws::ClockTimes,
    record::{Position, Seconds, Timestamp},
    track::{ClockSense, Evidence},
    wire::{ClockReading, ClockSide, ClockState},
};

/// Presses whose readings are kept until the tracker has settled what they belong to.
const PRESSES: usize = 16;

/// A reading at the moment a lever moved.
#[derive(Clone, Copy, Debug)]
pub(super) struct PressReading {
    at: Timestamp,
    left: ByColor<Option<Seconds>>,
}

/// A reading whose parts may be unknown.
#[derive(Clone, Copy, Debug)]
struct Sides {
    left: Option<ClockSide>,
    right: Option<ClockSide>,
    running: bool,
    left_to_move: bool,
}

impl Sides {
    fn of(state: ClockState) -> Self {
        match state {
            ClockState::Reading(ClockReading { left, right, running, left_to_move, .. }) => {
                Self { left: Some(left), right: Some(right), running, left_to_move }
            }
            ClockState::Partial { left, right, running, left_to_move } => {
                Self { left, right, running, left_to_move }
            }
            ClockState::Absent | ClockState::Garbage => {
                Self { left: None, right: None, running: false, left_to_move: true }
            }
        }
    }
}

impl Table {
    pub(super) fn clock_state(&mut self, at: Timestamp, state: ClockState) {
        let sides = match state {
            ClockState::Reading(_) | ClockState::Partial { .. } => Sides::of(state),
            ClockState::Absent => {
                self.clock = Some(state);
                self.info.link.clock = false;
                self.rule(at, |referee, game, out| referee.clock(at, None, game, out));
                self.track_evidence(at, &Evidence::Clock(ClockSense::Absent));
                self.shown.running = None;
                self.out.push(UpdateBody::Clock(self.shown));
                self.announce();
                return;
            }
            ClockState::Garbage => {
                self.rule(at, |referee, game, out| referee.clock_garbage(at, game, out));
                return;
            }
        };
        if let ClockState::Reading(reading) = &state
            && self.implausible(reading)
        {
            return;
        }
        let was = self.running();
        let first = !self.info.link.clock;
        let low = |state: &ClockState| matches!(state, ClockState::Reading(reading) if reading.battery_low);
        if low(&state) != self.clock.as_ref().is_some_and(low) {
            self.rule(at, |referee, game, out| referee.clock_battery(at, low(&state), game, out));
        }
        self.clock = Some(state);
        self.info.link.clock = true;
        if first {
            self.announce();
        }
        let times = self.times(&sides);
        self.shown =
            ClockView { white: times.left.white, black: times.left.black, running: times.running, at };
        self.out.push(UpdateBody::Clock(self.shown));
        let press = match (was, times.running) {
            (Some(before), Some(after)) if before != after => Some(before),
            _ => None,
        };
        if press.is_some() {
            self.presses.push_back(PressReading { at, left: times.left });
            if self.presses.len() > PRESSES {
                self.presses.pop_front();
            }
        }
        self.rule(at, |referee, game, out| referee.clock(at, Some(times), game, out));
        if let Some(by) = press {
            self.wants_dump = true;
            self.track_evidence(at, &Evidence::Press { by });
        }
        if was != times.running || first {
            let sense = times.running.map_or(ClockSense::Stopped, ClockSense::Running);
            self.track_evidence(at, &Evidence::Clock(sense));
        }
    }

    /// A reading of all zeros after a command (Bluetooth boards, DGT protocol, "quirks"): both
    /// sides jumped to 0:00 at once without a flag and without running.
    fn implausible(&self, reading: &ClockReading) -> bool {
        let zero = |r: &ClockReading| r.left.seconds == 0 && r.right.seconds == 0;
        let flags = reading.left.flag || reading.right.flag;
        let before = match self.clock {
            Some(ClockState::Reading(before)) => before.left.seconds > 2 || before.right.seconds > 2,
            _ => false,
        };
        zero(reading) && !flags && !reading.running && before
    }

    fn left_is_white(&self) -> bool {
        self.track.rotated() == self.exchanged
    }

    fn times(&self, sides: &Sides) -> ClockTimes {
        let (white, black) =
            if self.left_is_white() { (sides.left, sides.right) } else { (sides.right, sides.left) };
        let to_move = if sides.left_to_move == self.left_is_white() { Color::White } else { Color::Black };
        ClockTimes {
            left: ByColor {
                white: white.map(|side| Seconds(side.seconds)),
                black: black.map(|side| Seconds(side.seconds)),
            },
            flag: ByColor {
                white: white.is_some_and(|side| side.flag),
                black: black.is_some_and(|side| side.flag),
            },
            running: sides.running.then_some(to_move),
        }
    }

    /// What the clock read last, with its sides given to colours.
    pub(super) fn last_times(&self) -> Option<ClockTimes> {
        match self.clock {
            Some(state @ (ClockState::Reading(_) | ClockState::Partial { .. })) => {
                Some(self.times(&Sides::of(state)))
            }
            _ => None,
        }
    }

    fn running(&self) -> Option<Color> {
        self.last_times().and_then(|times| times.running)
    }

    /// What the clock says now, if there is one.
    pub(in crate::hall) fn clock_sense(&self) -> Option<ClockSense> {
        let times = self.last_times()?;
        Some(times.running.map_or(ClockSense::Stopped, ClockSense::Running))
    }

    /// Shows the last reading anew, after its sides were given to other colours.
    pub(super) fn show_clock(&mut self, at: Timestamp) -> Option<ClockTimes> {
        let times = self.last_times()?;
        self.shown =
            ClockView { white: times.left.white, black: times.left.black, running: times.running, at };
        self.out.push(UpdateBody::Clock(self.shown));
        Some(times)
    }

    /// Gives a ply the readings of the press that completed it.
    pub(super) fn pressed(&mut self, at: Timestamp, index: usize) {
        let Some(press) = self.presses.iter().rev().find(|press| press.at == at).copied() else { return };
        let Some(mover) = self.game.position_before(index).map(Position::turn) else { return };
        let before = index.checked_sub(2).and_then(|index| self.game.plies.get(index));
        let pressed_before =
            index.checked_sub(1).and_then(|index| self.game.plies.get(index)).and_then(|ply| ply.pressed_at);
        let used = match (before.and_then(|ply| ply.clock[mover]), press.left[mover], self.increment) {
            (Some(then), Some(now), Some(increment)) => (then.0 + increment).checked_sub(now.0).map(Seconds),
            _ => None,
        }
        .or_else(|| pressed_before.map(|before| Seconds((at.since(before).max(0) / 1000) as u32)));
        self.edit_ply(index, |ply| {
            ply.pressed_at = Some(at);
            ply.clock = press.left;
            ply.elapsed = used;
        });
    }

    /// A move that ends the game needs no press: its times are what the clock showed.
    pub(super) fn clock_of_last_ply(&mut self) {
        let Some(last) = self.game.plies.len().checked_sub(1) else { return };
        let left = ByColor { white: self.shown.white, black: self.shown.black };
        self.edit_ply(last, |ply| {
            if ply.pressed_at.is_none() && ply.clock == ByColor::default() {
                ply.clock = left;
            }
        });
    }

    /// From now on the clock's sides count the other way, and so they do in what was recorded.
    pub(super) fn exchange_clock_sides(&mut self, at: Timestamp) {
        self.exchanged = !self.exchanged;
        for press in &mut self.presses {
            std::mem::swap(&mut press.left.white, &mut press.left.black);
        }
        for index in 0..self.game.plies.len() {
            self.edit_ply(index, |ply| {
                let ByColor { white, black } = &mut ply.clock;
                std::mem::swap(white, black);
            });
        }
        if let Some(times) = self.show_clock(at) {
            let sense = times.running.map_or(ClockSense::Stopped, ClockSense::Running);
            self.track_evidence(at, &Evidence::Clock(sense));
        }
    }
}
