//! A chess clock in virtual time: periods, increments, lever, flags.
//!
//! It knows two players by colour. Which of them sits at the left of the clock, and when the board
//! hears of a change, belongs to the device.

use shakmaty::{ByColor, Color};

use super::{Control, Period};
use crate::wire::{ClockReading, ClockSide};

/// How long the flag of an ended period stays visible while the next one runs, in milliseconds.
const FLAG_SHOWN_MS: i64 = 180_000;

/// The clock.
#[derive(Clone, Debug)]
pub struct ChessClock {
    control: Control,
    sides: ByColor<Side>,
    running: bool,
    turn: Color,
    /// Up to this moment the sides' times are worked out.
    now: u64,
}

#[derive(Clone, Debug)]
struct Side {
    /// Time left in milliseconds.
    left_ms: i64,
    period: usize,
    /// Moves made in the period.
    moves: u32,
    /// At zero for good.
    blocked: bool,
    /// The flag of an ended period is shown for so long yet, in milliseconds of this side's time.
    shown_ms: i64,
}

impl Side {
    fn new(control: &Control) -> Self {
        let first =
            control.periods.first().copied().unwrap_or(Period { moves: None, seconds: 0, increment: 0 });
        // A Fischer clock shows the first move's increment from the beginning.
        let left_ms = i64::from(first.seconds + first.increment) * 1000;
        Self { left_ms, period: 0, moves: 0, blocked: false, shown_ms: 0 }
    }

    /// Whole seconds as displayed: a second is shown until it is used up.
    fn seconds(&self) -> u32 {
        ((self.left_ms + 999) / 1000).max(0) as u32
    }
}

impl ChessClock {
    /// Set and standing still, White to move.
    #[must_use]
    pub fn new(control: Control) -> Self {
        let sides = ByColor::new_with(|_| Side::new(&control));
        Self { control, sides, running: false, turn: Color::White, now: 0 }
    }

    /// Sets it anew.
    pub fn set(&mut self, at: u64, control: Control) {
        *self = Self { now: at, ..Self::new(control) };
    }

    /// The player presses; false when the lever lies that way already.
    pub fn press(&mut self, at: u64, side: Color) -> bool {
        self.run_to(at);
        if self.turn != side {
            return false;
        }
        self.turn = !side;
        if self.running && !self.sides[side].blocked {
            self.complete_move(side);
        }
        true
    }

    /// Start/stop button.
    pub fn run(&mut self, at: u64, running: bool) {
        self.run_to(at);
        self.running = running && !self.sides[self.turn].blocked;
    }

    /// An arbiter changes this player's time.
    pub fn add(&mut self, at: u64, side: Color, millis: i64) {
        self.run_to(at);
        let side = &mut self.sides[side];
        side.left_ms = (side.left_ms + millis).max(0);
    }

    /// The present period adds time with every move.
    #[must_use]
    pub fn adds_per_move(&self) -> bool {
        let period = self.sides[self.turn].period;
        self.control.periods.get(period).is_some_and(|period| period.increment > 0)
    }

    /// Set as a program sets it: seconds for White and Black, and who runs (`None` = stopped).
    pub fn set_times(&mut self, at: u64, white: u32, black: u32, runs: Option<Color>) {
        self.run_to(at);
        self.sides.white.left_ms = i64::from(white) * 1000;
        self.sides.black.left_ms = i64::from(black) * 1000;
        for side in self.sides.as_mut() {
            side.blocked = false;
        }
        self.running = runs.is_some();
        self.turn = runs.unwrap_or(self.turn);
    }

    fn complete_move(&mut self, color: Color) {
        let control = &self.control;
        let side = &mut self.sides[color];
        let Some(period) = control.periods.get(side.period) else { return };
        side.moves += 1;
        side.left_ms += i64::from(period.increment) * 1000;
        if control.counts_moves && period.moves.is_some_and(|moves| side.moves >= moves) {
            side.next_period(control);
        }
    }

    /// Works out the times up to this moment. Earlier moments change nothing.
    fn run_to(&mut self, at: u64) {
        let passed = at.saturating_sub(self.now) as i64;
        self.now = self.now.max(at);
        if !self.running {
            return;
        }
        let turn = self.turn;
        self.sides[turn].left_ms -= passed;
        self.sides[turn].shown_ms = (self.sides[turn].shown_ms - passed).max(0);
        if self.sides[turn].left_ms > 0 {
            return;
        }
        let more = !self.control.counts_moves && self.control.periods.len() > self.sides[turn].period + 1;
        if more {
            // Without a move counter the clock credits the next period to both players.
            for color in Color::ALL {
                if self.sides[color].period == self.sides[turn].period && color != turn {
                    self.sides[color].next_period(&self.control);
                }
            }
            self.sides[turn].next_period(&self.control);
            self.sides[turn].shown_ms = FLAG_SHOWN_MS;
        } else {
            self.sides[turn].left_ms = 0;
            self.sides[turn].blocked = true;
            self.running = false;
        }
    }

    /// When the display next changes by itself, if it will.
    #[must_use]
    pub fn next_tick(&self) -> Option<u64> {
        let side = &self.sides[self.turn];
        if !self.running {
            return None;
        }
        // To the next whole second of time left, at least a millisecond on.
        let into = side.left_ms.rem_euclid(1000);
        Some(self.now + if into == 0 { 1000 } else { into as u64 })
    }

    /// What it shows at this moment; `white_left` = White sits at its left side.
    #[must_use]
    pub fn reading(&mut self, at: u64, white_left: bool) -> ClockReading {
        self.run_to(at);
        let side = |color: Color| {
            let side = &self.sides[color];
            ClockSide {
                seconds: side.seconds().min(35_999),
                flag: side.blocked || side.shown_ms > 0,
                blocked: side.blocked,
            }
        };
        let (left, right) = if white_left {
            (side(Color::White), side(Color::Black))
        } else {
            (side(Color::Black), side(Color::White))
        };
        ClockReading {
            left,
            right,
            running: self.running,
            left_to_move: (self.turn == Color::White) == white_left,
            battery_low: false,
        }
    }
}

impl Side {
    fn next_period(&mut self, control: &Control) {
        if let Some(next) = control.periods.get(self.period + 1) {
            self.period += 1;
            self.moves = 0;
            let own_increment_first = control.periods[self.period - 1].increment == 0;
            let preset = if own_increment_first { next.increment } else { 0 };
            self.left_ms = self.left_ms.max(0) + i64::from(next.seconds + preset) * 1000;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_as_the_capture_of_a_three_plus_two_game() {
        // Readings of a real clock: 3:02 each, 3:02 at the start, 2:59 before the press, 3:01 after.
        let mut clock = ChessClock::new(Control::sudden(180, 2));
        assert_eq!(clock.reading(0, true).left.seconds, 182);
        clock.run(0, true);
        assert_eq!(clock.reading(2_500, true).left.seconds, 180);
        assert_eq!(clock.reading(3_000, true).left.seconds, 179);
        assert!(clock.press(3_200, Color::White));
        let reading = clock.reading(3_200, true);
        assert_eq!((reading.left.seconds, reading.left_to_move), (181, false));
        assert!(!clock.press(3_300, Color::White), "the lever lies that way");
    }

    #[test]
    fn a_flag_blocks_the_last_period() {
        let mut clock = ChessClock::new(Control::sudden(5, 0));
        clock.run(0, true);
        let reading = clock.reading(6_000, false);
        assert!(reading.right.blocked && reading.right.flag && !reading.running && !reading.left_to_move);
        assert_eq!(reading.right.seconds, 0);
    }

    #[test]
    fn periods_with_and_without_a_move_counter() {
        let periods = vec![
            Period { moves: Some(1), seconds: 60, increment: 0 },
            Period { moves: None, seconds: 30, increment: 0 },
        ];
        let mut counting = ChessClock::new(Control { periods: periods.clone(), counts_moves: true });
        counting.run(0, true);
        counting.press(10_000, Color::White);
        assert_eq!(counting.reading(10_000, true).left.seconds, 80);

        let mut at_zero = ChessClock::new(Control { periods, counts_moves: false });
        at_zero.run(0, true);
        let reading = at_zero.reading(60_000, true);
        assert!(reading.left.flag && !reading.left.blocked && reading.running);
        assert_eq!((reading.left.seconds, reading.right.seconds), (30, 90), "both are credited");
    }
}
