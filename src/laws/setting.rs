//! The clock against the time control: the class it makes (13.1), start times, increments and periods
//! (6.10.2), who may stop recording (8.4).

use shakmaty::{ByColor, Color};

use super::{
    Code, Discipline, Extra, Severity,
    clock::{SKEW, START},
    desk::{Notice, Scene},
    referee::{ClockTimes, Referee},
    texts::Arg,
    timers::Timer,
    watch::seconds,
};

/// The least that a further period brings, in seconds.
const CREDIT: i64 = 300;

impl Referee {
    /// Set-up checks, before anything moves.
    pub(super) fn check_event(&mut self, scene: &mut Scene<'_>) {
        if let Some(control) = &self.options.time_control {
            let class = self.profile.class_of(control.sixty_moves());
            let declared = self.profile.discipline();
            if class != declared && control.has_base() && !self.options.last_period {
                let notice = Notice::new(Code::TimeControlClassMismatch)
                    .arg("class", Arg::Word(class_word(class)))
                    .arg("declared", Arg::Word(class_word(declared)));
                self.raise(scene, notice);
            }
        }
        // 13.3, 14.3: three games at most in rapid, one in blitz.
        let most = match self.profile.discipline() {
            Discipline::Classical => None,
            Discipline::Rapid => Some(3),
            Discipline::Blitz => Some(1),
        };
        if self.profile.supervised()
            && let (Some(games), Some(most)) = (self.options.games_per_arbiter, most)
            && games > most
        {
            self.raise(scene, Notice::new(Code::SupervisionNotMet).arg("games", games));
        }
        self.watch.must_record =
            ByColor { white: self.profile.rules.recording, black: self.profile.rules.recording };
        self.watch.last_completed = self.watch.completed;
        self.watch_start(scene);
        // Bonuses given before the referee took over are those of periods passed some moves ago.
        if let Some(control) = &self.options.time_control {
            for side in Color::ALL {
                let completed = self.watch.completed[side];
                self.watch.bonuses[side] = (0..control.periods().len())
                    .filter(|period| control.moves_due(*period).is_some_and(|due| completed > due))
                    .count();
            }
        }
    }

    /// 6.6: somebody should start the clock within a minute of the round's beginning.
    pub(super) fn watch_start(&mut self, scene: &Scene<'_>) {
        if let Some(started) = self.options.started_at.filter(|_| !self.watch.ran) {
            self.set_timer(Timer::NotStarted, started.plus(START).max(scene.at));
        }
    }

    /// 6.4: a clock that does not count moves gives the next period's time at zero, whether the moves were made
    /// or not.
    pub(super) fn ran_out(&mut self, scene: &mut Scene<'_>, side: Color, predicted: i64, delta: i64) {
        let short = self.due(side).is_some_and(|due| self.watch.completed[side] < due);
        if short && predicted <= SKEW && delta >= CREDIT && self.flags[side].is_none() {
            self.flag_fell(scene, side, false);
        }
    }

    /// 6.3.1: the time of the next period came on the clock: for one side at its move, or for both when
    /// one clock reached zero.
    pub(super) fn next_period(
        &mut self,
        scene: &mut Scene<'_>,
        deltas: &ByColor<Option<(u32, i64, i64)>>,
    ) -> bool {
        let mut found = false;
        for side in Color::ALL {
            let Some((_, predicted, delta)) = deltas[side] else { continue };
            let other = deltas[!side].map_or(0, |(_, _, delta)| delta);
            let at_zero = predicted <= SKEW && delta >= CREDIT;
            let both = at_zero && (other - delta).abs() <= SKEW;
            let expected = self.options.time_control.as_ref().and_then(|control| {
                let next = self.watch.bonuses[side] + 1;
                let due = control.moves_due(next - 1)?;
                let reached = self.watch.completed[side] + 1 >= due || at_zero;
                reached.then(|| (i64::from(control.period_at(next).seconds), control.increment_at(due)))
            });
            let fits = match expected {
                Some((bonus, increment)) => {
                    let exact = (delta - bonus).abs() <= SKEW + i64::from(increment);
                    if !exact && delta >= 60 && (at_zero || delta >= bonus / 2) {
                        let notice = Notice::new(Code::PeriodBonusWrong)
                            .side(side)
                            .key(self.watch.bonuses[side])
                            .arg("seen", Arg::Clock(Some(delta.max(0) as u32)))
                            .arg("expected", Arg::Clock(Some(bonus as u32)));
                        self.raise(scene, notice);
                        self.watch.bonuses[side] += 1;
                        found = true;
                    }
                    exact && delta >= 60
                }
                None => self.options.time_control.is_none() && both,
            };
            if fits {
                found = true;
                let short = self.flags[side].is_some()
                    && self.due(side).is_some_and(|due| self.watch.completed[side] < due);
                let sides: &[Color] = if both { &Color::ALL } else { &[side] };
                for one in sides {
                    self.watch.bonuses[*one] += 1;
                }
                if !short {
                    let notice = Notice::new(Code::ControlPassed)
                        .side(side)
                        .variant("bonus")
                        .key(format!("bonus{}", self.watch.bonuses[side]))
                        .arg("completed", self.watch.completed[side])
                        .detail("seconds", delta);
                    self.raise(scene, notice);
                }
                if both {
                    break;
                }
            }
        }
        if found {
            self.watch.forget_turns();
        }
        found
    }

    /// 6.10.2: the time at the start of the game.
    pub(super) fn start_time(&mut self, scene: &mut Scene<'_>, was: Option<Color>, times: &ClockTimes) {
        let first = was.is_none() && times.running.is_some() && scene.game.plies.is_empty();
        if !first || scene.game.start.move_number() > 1 || self.options.last_period {
            return;
        }
        let Some(control) = &self.options.time_control else { return };
        if control.period_at(0).seconds == 0 {
            return;
        }
        let (base, start) = (control.period_at(0).seconds, control.start_seconds());
        // A first increment is on the clock or comes with the first press; both are in use.
        let right = |left: u32| left.abs_diff(base) <= 2 || left.abs_diff(start) <= 2;
        for side in Color::ALL {
            if let Some(left) = seconds(times, side)
                && !right(left)
                && self.watch.completed[side] == 0
            {
                let notice = Notice::new(Code::StartTimeWrong)
                    .side(side)
                    .arg("seen", Arg::Clock(Some(left)))
                    .arg("expected", Arg::Clock(Some(start)));
                self.raise(scene, notice);
            }
        }
    }

    /// 6.10.2: what a press added, once the clock has had time to show it.
    pub(super) fn measure_increment(&mut self, scene: &mut Scene<'_>, side: Color) {
        self.watch.gained[side] = self.watch.gained_at_press(side, u32::MAX);
        let Some(pressed) = self.watch.presses[side].take() else { return };
        self.cancel(Timer::Increment(side));
        let (Some(control), Some(left)) = (&self.options.time_control, self.watch.left[side]) else { return };
        let increment = i64::from(control.increment_at(self.watch.completed[side].max(1)));
        let ran = pressed.ran / 1000;
        let expected = match control.extra(self.watch.completed[side].saturating_sub(1)) {
            Extra::Increment(_) => increment,
            // What the move took is given back, or does not count: at most so much.
            Extra::Bronstein(_) | Extra::Delay(_) => increment.min(ran),
            Extra::None | Extra::Hourglass => 0,
        };
        // Nothing is due: only a reading that has moved since the turn began shows what a press adds.
        let bare = control.extra(self.watch.completed[side].saturating_sub(1)) == Extra::None;
        if expected == 0 && (!bare || left == pressed.left) || self.over.is_some() {
            return;
        }
        let gained = i64::from(left) - (i64::from(pressed.left) - ran);
        let enough = match increment {
            0 => 4,
            1..10 => 6,
            _ => 2,
        };
        let gains = &mut self.watch.gains;
        gains.push((gained, expected));
        if gains.len() > enough {
            gains.remove(0);
        }
        if gains.len() < enough {
            return;
        }
        let count = gains.len() as f64;
        let seen = gains.iter().map(|(gained, _)| *gained as f64).sum::<f64>() / count;
        let due = gains.iter().map(|(_, expected)| *expected as f64).sum::<f64>() / count;
        let spread = gains.iter().map(|(gained, _)| *gained).max().unwrap_or(0)
            - gains.iter().map(|(gained, _)| *gained).min().unwrap_or(0);
        let tolerance = if (1..10).contains(&increment) { 1.0 } else { 2.0 };
        if (seen - due).abs() <= tolerance {
            self.desk.clear(scene, &[Code::IncrementMissing, Code::IncrementWrong]);
            return;
        }
        if spread > 3 || bare && seen < due {
            return; // the readings do not agree with each other: nothing is proved
        }
        let code = if seen.abs() <= tolerance { Code::IncrementMissing } else { Code::IncrementWrong };
        let frozen = self.profile.rules.clock_setting_frozen_after;
        let late = frozen > 0 && Color::ALL.into_iter().all(|side| self.watch.completed[side] >= frozen);
        let notice = Self::with_times(Notice::new(code), self.watch.left())
            .severity(if late { Severity::Note } else { Severity::GoNow })
            .article(if late { "13.4.1" } else { "6.10.2" })
            .arg("increment", increment as u32)
            .arg("seen", seen.round().max(0.0) as u32);
        self.raise(scene, notice);
    }

    /// 8.4: who need not record any more.
    pub(super) fn recording(&mut self, scene: &mut Scene<'_>) {
        let rules = &self.profile.rules;
        if !rules.recording || self.over.is_some() {
            return;
        }
        let (below, needed) = (rules.recording_free_below_s, rules.recording_needs_increment_s);
        let Some(control) = &self.options.time_control else { return };
        let mut freed = Vec::new();
        for side in Color::ALL {
            let increment = control.increment_at(self.watch.completed[side] + 1);
            let Some(left) = self.watch.left[side] else { continue };
            if increment >= needed {
                continue;
            }
            if left < below && self.watch.must_record[side] {
                self.watch.must_record[side] = false;
                freed.push(side);
            } else if left > below + 60 && !self.watch.must_record[side] {
                // A new period: the duty is back.
                self.watch.must_record[side] = true;
            }
        }
        for side in freed {
            let notice = Notice::new(Code::RecordingOptional).side(side).arg("minutes", below / 60);
            self.raise(scene, notice);
        }
        if !self.watch.must_record.white && !self.watch.must_record.black {
            self.raise(scene, Notice::new(Code::KeepScoreNeeded));
        } else {
            self.desk.clear(scene, &[Code::KeepScoreNeeded]);
        }
    }
}

fn class_word(class: Discipline) -> &'static str {
    match class {
        Discipline::Classical => "classical",
        Discipline::Rapid => "rapid",
        Discipline::Blitz => "blitz",
    }
}
