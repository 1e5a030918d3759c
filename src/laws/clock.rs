//! The clock as a witness: readings against the time control and against each other.
//!
//! A reading is believed until it contradicts what the last one predicts (the running side loses one
//! second a second). What such a contradiction means is told from when it comes: at a press it is an
//! increment, near zero the next period, while stopped an adjustment, else a jump.

use serde_json::json;
use shakmaty::{ByColor, Color};

use super::{
    Code, Severity,
    desk::{Notice, Scene},
    referee::{ClockTimes, Referee},
    texts::Arg,
    timers::Timer,
    watch::{ClockTurn, Pressed, seconds},
};
use crate::{
    record::{Seconds, Timestamp},
    track::AtPress,
};

/// A clock that stands the wrong way round is found within so many plies, mostly.
const OPENING: usize = 12;
/// Readings come once a second and may be a second late. Seconds.
pub(super) const SKEW: i64 = 3;
/// What a press may add where no increment is known. Seconds.
const UNKNOWN: i64 = 60;
/// A stopped clock is worth a note after so long, and a question about the result after more. Milliseconds.
const PAUSED: i64 = 5_000;
const NO_RESULT: i64 = 300_000;
/// A clock at zero without a flag is taken for a fallen flag after so long. Milliseconds.
const ZERO: i64 = 2_000;
/// An increment must be on the clock so long after the press. Milliseconds.
const INCREMENT: i64 = 2_000;
/// A running clock that shows the same for so long stands still. Milliseconds.
const FROZEN: i64 = 10_000;
/// The clock should run so long after the round started. Milliseconds.
pub(super) const START: i64 = 60_000;

impl Referee {
    /// Adds both times to a notice.
    pub(super) fn with_times(notice: Notice, left: ByColor<Option<u32>>) -> Notice {
        notice
            .arg("white_clock", Arg::Clock(left.white))
            .arg("black_clock", Arg::Clock(left.black))
            .detail("clock", json!({"white": left.white, "black": left.black}))
    }

    /// A reading of the clock.
    pub(super) fn clock_reads(&mut self, scene: &mut Scene<'_>, times: Option<ClockTimes>) {
        let Some(mut times) = times else { return self.clock_lost(scene) };
        let before = self.watch.last;
        // All zeros without a flag in the middle of a game is no reading (a board's answer to a command).
        if seconds(&times, Color::White) == Some(0)
            && seconds(&times, Color::Black) == Some(0)
            && !times.flag.white
            && !times.flag.black
            && Color::ALL.into_iter().all(|side| self.watch.left[side].is_some_and(|left| left > 5))
        {
            times.left = self.watch.left.map(|left| left.map(Seconds));
        }
        if std::mem::take(&mut self.watch.lost) {
            self.desk.clear(scene, &[Code::ClockLost]);
            let left = ByColor { white: seconds(&times, Color::White), black: seconds(&times, Color::Black) };
            let notice = Self::with_times(Notice::new(Code::ClockBack).key(scene.at.millis()), left);
            self.raise(scene, notice);
        }
        let was_running = before.and_then(|(_, times)| times.running);
        // What the clock did while nobody saw it cannot be foretold.
        let unseen = std::mem::take(&mut self.watch.unseen);
        if let Some((then, old)) = before
            && !unseen
        {
            self.compare(scene, then, &old, &times);
        }
        for side in Color::ALL {
            if let Some(left) = seconds(&times, side) {
                self.watch.left[side] = Some(left);
            }
        }
        self.watch.last = Some((scene.at, times));
        self.lever(scene, was_running, &times);
        self.start_time(scene, was_running, &times);
        for side in Color::ALL {
            if times.flag[side] && self.flags[side].is_none() && self.plausible_flag(side) {
                self.cancel(Timer::Zero(side));
                self.flag_fell(scene, side, false);
            }
            let zero =
                seconds(&times, side) == Some(0) && times.running == Some(side) && self.flags[side].is_none();
            if zero && self.over.is_none() {
                if !self.is_timed(Timer::Zero(side)) {
                    self.set_timer(Timer::Zero(side), scene.at.plus(ZERO));
                }
            } else {
                self.cancel(Timer::Zero(side));
            }
        }
        if let (Some(from), Some(to)) = (was_running, times.running)
            && from != to
        {
            self.pressed_after_flag(scene, from);
        }
        self.recording(scene);
    }

    /// A flag at a moment when the side had a lot of time left is a clock's fault, not a fallen flag.
    fn plausible_flag(&self, side: Color) -> bool {
        self.watch.left[side].is_none_or(|left| left <= 5)
            || self.watch.bonuses[side] > 0
            || self.options.time_control.as_ref().is_none_or(|control| control.periods().len() > 1)
    }

    fn clock_lost(&mut self, scene: &mut Scene<'_>) {
        if self.watch.last.is_none() || std::mem::replace(&mut self.watch.lost, true) {
            return;
        }
        self.watch.forget_turns();
        for timer in [Timer::Paused, Timer::ResultMissing, Timer::NotPressed] {
            self.cancel(timer);
        }
        if self.over.is_none() {
            let notice = Self::with_times(Notice::new(Code::ClockLost), self.watch.left());
            self.raise(scene, notice);
        }
    }

    /// The lever: presses, starts and stops.
    fn lever(&mut self, scene: &mut Scene<'_>, was: Option<Color>, times: &ClockTimes) {
        if was == times.running {
            return;
        }
        let at = scene.at;
        self.refresh_deadlines(scene);
        if let Some(from) = was {
            let turn = self.watch.turns[from].take();
            if times.running.is_some() {
                self.watch_sides(scene, from);
                self.watch.before_press[from] = self.watch.at_press[from];
                self.watch.at_press[from] = Some(at);
                self.watch.gained[from] = 0;
                if let Some(turn) = turn {
                    self.watch.presses[from] = Some(Pressed { left: turn.left, ran: at.since(turn.began) });
                    self.set_timer(Timer::Increment(from), at.plus(INCREMENT));
                }
            }
        }
        if let Some(to) = times.running {
            self.measure_increment(scene, to);
            self.watch.ran = true;
            if !self.is_timed(Timer::Sheet) {
                self.set_timer(Timer::Sheet, at.plus(super::enter::SHEET));
            }
            self.watch.turns[to] = self.watch.left[to].map(|left| ClockTurn { began: at, left });
            self.cancel(Timer::Paused);
            self.cancel(Timer::ResultMissing);
            self.cancel(Timer::NotStarted);
            self.pause_explained = false;
            self.desk.clear(
                scene,
                &[Code::ClockPaused, Code::ResultMissing, Code::ClockNotStarted, Code::ActivityWhilePaused],
            );
        } else {
            self.watch.forget_turns();
            self.settle_to(scene, scene.game.plies.len());
            if self.over.is_none() && self.watch.ran {
                self.refresh_penalties(scene);
                self.set_timer(Timer::Paused, at.plus(PAUSED));
                self.set_timer(Timer::ResultMissing, at.plus(NO_RESULT));
            }
        }
    }

    /// Compares a reading with what the one before predicts.
    fn compare(&mut self, scene: &mut Scene<'_>, then: Timestamp, old: &ClockTimes, new: &ClockTimes) {
        let at = scene.at;
        let mut deltas = ByColor { white: None, black: None };
        for side in Color::ALL {
            let (Some(before), Some(now)) = (seconds(old, side), seconds(new, side)) else { continue };
            let ran = if old.running == Some(side) { at.since(then) / 1000 } else { 0 };
            let predicted = (i64::from(before) - ran).max(0);
            deltas[side] = Some((before, predicted, i64::from(now) - predicted));
        }
        self.frozen(scene, old, new);
        let delta = |side: Color| deltas[side].map_or(0, |(_, _, delta): (u32, i64, i64)| delta);
        let begun = self.watch.ran && self.over.is_none();
        if !begun {
            return;
        }
        let same = seconds(new, Color::White) == seconds(new, Color::Black);
        if new.running.is_none() && same && delta(Color::White) > 60 && delta(Color::Black) > 60 {
            return self.clock_reset(scene, &deltas);
        }
        if let Some(side) = old.running.filter(|side| new.running == Some(*side))
            && let Some((_, predicted, delta)) = deltas[side]
        {
            self.ran_out(scene, side, predicted, delta);
        }
        if self.next_period(scene, &deltas) {
            return;
        }
        // Where nothing is due a wrong setting may add something all the same; that is measured press by press.
        let most = match &self.options.time_control {
            Some(control) => {
                control.periods().iter().map(|period| i64::from(period.extra.seconds())).max().unwrap_or(0)
            }
            None => 0,
        };
        let most = if most == 0 { UNKNOWN } else { most };
        // Two presses between two readings, as when one of them was lost on the line.
        let unheard = most > SKEW
            && old.running.is_some()
            && old.running == new.running
            && Color::ALL.into_iter().all(|side| (delta(side) - most).abs() <= SKEW);
        if unheard {
            return self.watch.forget_turns();
        }
        for side in Color::ALL {
            let Some((before, predicted, delta)) = deltas[side] else { continue };
            let seen = seconds(new, side).unwrap_or(0);
            if old.running.is_none() {
                if delta != 0 {
                    self.adjusted(scene, side, before, seen);
                }
                continue;
            }
            let press = old.running == Some(side) && new.running == Some(!side)
                || self.watch.at_press[side].is_some_and(|press| at.since(press) <= INCREMENT + 1000);
            // A clock that is not looked at: the reading repeats what it said when the turn began.
            let stale = delta > 0 && seen == before;
            let fine = delta.abs() <= SKEW
                || stale
                || press && (-SKEW..=most + SKEW).contains(&delta)
                || press && delta < 0 && delta.abs() <= 10;
            if fine {
                continue;
            }
            let severity = if self.options.time_control.is_some() { Severity::Look } else { Severity::Note };
            let notice = Notice::new(Code::ClockJump)
                .side(side)
                .severity(severity)
                .key(at.millis())
                .arg("before", Arg::Clock(Some(predicted as u32)))
                .arg("seen", Arg::Clock(Some(seen)))
                .detail("seconds", delta);
            self.raise(scene, notice);
            self.watch.forget_turns();
        }
    }

    /// 6.10.1: the clock restarted itself and stands at its preset.
    fn clock_reset(&mut self, scene: &mut Scene<'_>, deltas: &ByColor<Option<(u32, i64, i64)>>) {
        let good = deltas.map(|side| side.map(|(_, predicted, _)| predicted as u32));
        self.watch.good = good;
        self.watch.forget_turns();
        let mover = scene.game.position().turn();
        let notice =
            Self::with_times(Notice::new(Code::ClockReset), good).arg("side", mover).advise(|advice| {
                advice.resulting_clock =
                    Some(super::alert::ClockAdvice { white: good.white, black: good.black });
            });
        self.raise(scene, notice);
    }

    /// A change while the clock stood.
    fn adjusted(&mut self, scene: &mut Scene<'_>, side: Color, before: u32, seen: u32) {
        let old = self.watch.good[side].unwrap_or(before);
        let notice = Notice::new(Code::ClockAdjusted)
            .side(side)
            .key(scene.at.millis())
            .arg("before", Arg::Clock(Some(old)))
            .arg("seen", Arg::Clock(Some(seen)))
            .detail("before", before)
            .detail("after", seen);
        self.raise(scene, notice);
        self.watch.good = ByColor::default();
        self.watch.gains.clear();
        self.desk.clear(
            scene,
            &[
                Code::ClockReset,
                Code::IncrementMissing,
                Code::IncrementWrong,
                Code::StartTimeWrong,
                Code::PeriodBonusWrong,
                Code::ClockJump,
            ],
        );
    }

    /// A clock that runs but does not lose time.
    fn frozen(&mut self, scene: &mut Scene<'_>, old: &ClockTimes, new: &ClockTimes) {
        let Some(side) = old.running.filter(|side| new.running == Some(*side)) else {
            self.watch.frozen_since = None;
            self.desk.clear(scene, &[Code::ClockFrozen]);
            return;
        };
        let Some(now) = seconds(new, side) else { return };
        match self.watch.frozen_since {
            Some((since, of, left)) if of == side && left == now && now > 0 => {
                if scene.at.since(since) >= FROZEN && self.over.is_none() {
                    let notice = Notice::new(Code::ClockFrozen).side(side).arg("seen", Arg::Clock(Some(now)));
                    self.raise(scene, notice);
                }
            }
            _ => {
                self.watch.frozen_since = Some((scene.at, side, now));
                self.desk.clear(scene, &[Code::ClockFrozen]);
            }
        }
    }

    /// 6.5: men that always move while the other side's clock runs mean a clock the wrong way round.
    fn watch_sides(&mut self, scene: &mut Scene<'_>, from: Color) {
        let since = self.watch.last_press_before(scene.at);
        let mut makers = scene
            .game
            .plies
            .iter()
            .rev()
            .take_while(|ply| since.is_none_or(|since| ply.made_at > since))
            .map(|ply| !ply.after.turn())
            .peekable();
        if makers.peek().is_none() {
            return;
        }
        if makers.any(|maker| maker == from) {
            self.watch.swapped = 0;
            return;
        }
        self.watch.swapped += 1;
        // Players who press late, again and again, look like it; but a clock is seldom turned in mid-game.
        let enough = if scene.game.plies.len() <= OPENING { 3 } else { 6 };
        if self.watch.swapped == enough {
            self.watch.swapped = 0;
            self.raise(scene, Notice::new(Code::ClockSidesSwapped).key(scene.at.millis()));
            scene.out.push(super::Ruling::ExchangeClockSides);
            self.exchange_sides();
        }
    }

    /// The press came from a side that had not moved, after the other one had: the clock stands the
    /// wrong way round, or somebody else pressed. Nothing is owed for it.
    pub(super) fn not_own_press(&self, scene: &Scene<'_>, at: Timestamp, by: Color, board: &AtPress) -> bool {
        let index = match board {
            AtPress::Move { index, .. } => Some(*index),
            AtPress::Unchanged => scene.game.plies.len().checked_sub(1),
            AtPress::Irregular { .. } => None,
        };
        let Some(ply) = index.and_then(|index| scene.game.plies.get(index)) else { return false };
        let since = self.watch.last_press_before(at);
        by == ply.after.turn() && since.is_none_or(|since| ply.made_at > since)
    }

    fn exchange_sides(&mut self) {
        self.watch.exchange_sides();
        std::mem::swap(&mut self.flags.white, &mut self.flags.black);
    }

    /// 6.11: stopped for some time, and nobody said why.
    pub(super) fn paused_long(&mut self, scene: &mut Scene<'_>) {
        let explained = self.pause_explained
            || self.offences.iter().any(|offence| offence.open)
            || Color::ALL.into_iter().any(|side| self.flags[side].is_some())
            || self.signal.is_some()
            || self.proposal.is_some();
        if self.over.is_none() && !explained && self.watch.running().is_none() {
            let mover = scene.game.position().turn();
            self.raise(scene, Notice::new(Code::ClockPaused).side(mover));
        }
    }

    /// Stopped for long without a result.
    pub(super) fn result_missing(&mut self, scene: &mut Scene<'_>) {
        if self.over.is_none()
            && self.proposal.is_none()
            && self.watch.running().is_none()
            && !self.pause_explained
        {
            let minutes = (NO_RESULT / 60_000) as u32;
            self.raise(scene, Notice::new(Code::ResultMissing).arg("minutes", minutes));
        }
    }

    /// A clock has stood at zero for two seconds, and shows no flag of its own.
    pub(super) fn zero_stands(&mut self, scene: &mut Scene<'_>, side: Color) {
        let zero = self.watch.left[side] == Some(0) && self.watch.running() == Some(side);
        if zero && self.flags[side].is_none() {
            self.flag_fell(scene, side, true);
        }
    }

    /// 6.6: the round began, and no clock runs.
    pub(super) fn clock_not_started(&mut self, scene: &mut Scene<'_>) {
        if self.watch.ran || self.over.is_some() || !scene.game.plies.is_empty() {
            return;
        }
        let mover = scene.game.position().turn();
        let notice = Notice::new(Code::ClockNotStarted).side(mover).arg("seconds", Arg::Number(START / 1000));
        self.raise(scene, notice);
    }
}
