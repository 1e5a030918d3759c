//! What the arbiter enters, one act at a time: rulings on touches, two hands, flags he noticed, absence,
//! reports of wrong colours or settings, questions. Claims are answered in `claim`, results in `result`.
//! Nothing is applied that was not entered.

use shakmaty::Color;

use super::{
    AlertState, ClaimKind, Code, Entry, TouchRuling,
    answer::{Answer, word},
    counts::sides,
    desk::{Notice, Scene},
    flag::FlagVerdict,
    referee::{Referee, Ruling},
    texts::{self, Arg},
    timers::Timer,
};
use crate::record::GameResult;

/// How often a time-control sheet is due. Milliseconds.
pub(super) const SHEET: i64 = 30 * 60_000;

/// After so long (ms) without a word from the clock nobody plays on: no player thinks for four hours.
const ABANDONED: i64 = 4 * 3_600_000;

impl Referee {
    /// An arbiter's entry.
    pub(super) fn enter(&mut self, scene: &mut Scene<'_>, by: &str, entry: &Entry) {
        match entry {
            Entry::Claim { side, kind, intended } => {
                self.pause_explained = true;
                self.desk.clear(scene, &[Code::ClockPaused]);
                match kind {
                    ClaimKind::Threefold | ClaimKind::FiftyMove => {
                        self.claim_draw(scene, *side, *kind, intended.as_deref());
                    }
                    ClaimKind::IllegalMove => self.claim_illegal(scene, *side),
                    ClaimKind::Flag => self.claim_flag(scene, *side),
                    ClaimKind::QuickplayIncrement | ClaimKind::QuickplayFinish => {
                        self.claim_quickplay(scene, *side, *kind);
                    }
                }
            }
            Entry::WithdrawClaim { .. } => {
                Answer::new("withdraw-claim")
                    .with("allowed", false)
                    .text(&texts::answer("withdraw", &[]))
                    .send(scene);
            }
            Entry::Resign { side } => self.resigned(scene, *side),
            Entry::DrawOffer { side } => {
                if self.over.is_none() {
                    self.offer = Some((*side, scene.at));
                }
                Self::noted(scene, "draw-offer");
            }
            Entry::DrawAccept { side, condition } => {
                let void = condition.as_ref().is_some_and(|condition| !condition.is_empty());
                self.draw_agreed(scene, Some(*side), void);
            }
            Entry::DrawReject { .. } => {
                self.offer = None;
                Self::noted(scene, "draw-reject");
            }
            Entry::DrawAgreed => self.draw_agreed(scene, None, false),
            Entry::TouchRuling { ruling } => self.touch_ruling(scene, by, *ruling),
            Entry::TwoHands { side } => self.two_hands(scene, *side),
            Entry::AckFlag { side } => self.ack_flag(scene, *side),
            Entry::Absent { side } => self.absent(scene, *side),
            Entry::ReportReversedColours => self.reversed_colours(scene),
            Entry::ReportIllegalFound { .. } => {
                let position = self.gap.clone().unwrap_or_else(|| {
                    self.offences
                        .iter()
                        .find(|offence| offence.open)
                        .map_or_else(|| scene.game.position().clone(), |offence| offence.before.clone())
                });
                Answer::new("report-illegal-found")
                    .with("restore_fen", position.fen())
                    .text(&texts::answer("illegal-found", &[]))
                    .send(scene);
            }
            Entry::ReportClockSetting { .. } => self.clock_setting(scene),
            Entry::QueryMoveCount { side } => self.move_count(scene, *side),
            Entry::ScoresheetsSigned { result } => self.signed(scene, *result),
            Entry::Result { result } => self.entered_result(scene, *result),
            Entry::Reopen => {
                self.over = None;
                self.proposal = None;
                self.signal = None;
                scene.out.push(Ruling::NoResult);
            }
            Entry::Pause { reason } => {
                self.pause_explained = true;
                self.desk.clear(scene, &[Code::ClockPaused, Code::ResultMissing]);
                let args = [("why", Arg::Plain(reason.clone()))];
                Answer::new("pause").text(&texts::answer("pause-noted", &args)).send(scene);
            }
            Entry::Adjourn => self.adjourn(scene),
            Entry::Acknowledge { alert } => {
                let flag = self
                    .desk
                    .get_mut(*alert)
                    .filter(|alert| alert.code == Code::FlagFall && alert.state == AlertState::Open)
                    .and_then(|alert| alert.side);
                self.mark(scene, *alert, AlertState::Acknowledged, by, None);
                // Somebody with the right to say so has seen the flag (6.8).
                if let Some(side) = flag.filter(|_| self.over.is_none()) {
                    self.flag_noticed(scene, side);
                }
            }
            Entry::Resolve { alert, note } => {
                self.mark(scene, *alert, AlertState::Resolved, by, Some(note));
                let done = *alert;
                for offence in self.offences.iter_mut().filter(|offence| offence.alert == done) {
                    offence.open = false;
                }
            }
            Entry::Incident { .. } => Self::noted(scene, "incident"),
        }
    }

    /// Every half hour the arbiter should have both times and the moves on record (Manual 6.10.1).
    pub(super) fn time_sheet(&mut self, scene: &mut Scene<'_>) {
        if self.over.is_none() {
            Answer::new("time-control-sheet").with("sheet", self.sheet()).send(scene);
            // A game left without a result fills no log for the days until somebody closes it.
            if self.watch.read_at().is_some_and(|read| scene.at.since(read) < ABANDONED) {
                self.set_timer(Timer::Sheet, scene.at.plus(SHEET));
            }
        }
    }

    /// The arbiter saw, or asked: the touches of this turn count or do not.
    pub(super) fn touch_ruling(&mut self, scene: &mut Scene<'_>, by: &str, ruling: TouchRuling) {
        if ruling == TouchRuling::Deliberate {
            self.desk.update(
                scene,
                |alert, _| matches!(alert.code, Code::TouchMoveViolation | Code::TouchObligation),
                |alert| {
                    alert.state = AlertState::Acknowledged;
                    alert.by = Some(by.to_owned());
                },
            );
        } else {
            let ply = self.turn(scene.game).ply;
            self.touches_excused = Some(ply);
            self.turn(scene.game).touches.clear();
            self.cancel(Timer::Touched);
            self.desk.clear(
                scene,
                &[
                    Code::TouchMoveViolation,
                    Code::TouchObligation,
                    Code::ReleasedPieceMoved,
                    Code::ClaimRightLost,
                ],
            );
        }
        Self::noted(scene, "touch-ruling");
    }

    /// 7.5.4: with the press, as an illegal move; an illegal move with two hands is one offence.
    pub(super) fn two_hands(&mut self, scene: &mut Scene<'_>, side: Color) {
        let counts = self.profile.rules.two_hands_count;
        let len = scene.game.plies.len();
        let turn = self.turn(scene.game).clone();
        // The move meant is the one being made, or the last one of this side.
        let ply = if turn.position.turn() == side { turn.ply } else { turn.ply.saturating_sub(1) };
        let already =
            self.offences.iter().any(|offence| offence.side == side && offence.ply == ply && offence.counted);
        if !counts || self.over.is_some() {
            let notice = Notice::new(Code::TwoHands).side(side).needs_arbiter().variant("no-time").key(ply);
            self.raise(scene, notice);
            return;
        }
        let pressed = turn.ply > ply || scene.game.plies.get(ply).is_some_and(|ply| ply.pressed_at.is_some());
        if already {
            let notice = Notice::new(Code::TwoHands).side(side).needs_arbiter().variant("same").key(ply);
            self.raise(scene, notice);
        } else if pressed && len > 0 {
            self.two_hands_completed(scene, scene.at, side, ply);
        } else {
            // Nothing is owed before the press.
            self.two_hands_waiting = Some((side, ply));
            Self::noted(scene, "two-hands");
        }
    }

    pub(super) fn ack_flag(&mut self, scene: &mut Scene<'_>, side: Color) {
        let answer = Answer::new("ack-flag").with("side", word(side));
        if self.over.is_some() {
            return answer.with("valid", false).text(&texts::answer("claim-flag-over", &[])).send(scene);
        }
        if self.flags[side].is_none() {
            // Seen by a person where the clock did not say so.
            self.flag_fell(scene, side, false);
        }
        match self.flag_noticed(scene, side) {
            FlagVerdict::Result(result, _) => answer.with("result", result.word()).send(scene),
            FlagVerdict::Control { completed, due } => {
                answer.with("completed", completed).with("due", due).send(scene);
            }
            FlagVerdict::Open => answer.send(scene),
        }
    }

    /// The default time of the event, else of the profile; negative where there is none.
    fn default_time_s(&self) -> i64 {
        self.options.default_time_s.map_or(self.profile.rules.default_time_s, i64::from)
    }

    /// 6.7.
    pub(super) fn absent(&mut self, scene: &mut Scene<'_>, side: Color) {
        let seconds = self.default_time_s();
        if seconds >= 0 {
            let from = self.options.started_at.unwrap_or(scene.at);
            let due = from.plus(seconds * 1000);
            if due <= scene.at {
                self.default_time_over(scene, side);
            } else {
                self.set_timer(Timer::DefaultTime(side), due);
            }
        }
        Self::noted(scene, "absent");
    }

    pub(super) fn default_time_over(&mut self, scene: &mut Scene<'_>, side: Color) {
        let moved = scene.game.plies.iter().any(|ply| ply.after.turn() != side);
        if self.over.is_some() || moved {
            return;
        }
        let seconds = self.default_time_s().max(0);
        let notice = Notice::new(Code::DefaultTimeExceeded)
            .side(side)
            .needs_arbiter()
            .arg("minutes", Arg::Number(seconds / 60))
            .advise(|advice| {
                let result = match side {
                    Color::White => GameResult::BlackForfeit,
                    Color::Black => GameResult::WhiteForfeit,
                };
                advice.result = Some(result.word().to_owned());
            });
        self.raise(scene, notice);
    }

    /// 7.3.
    pub(super) fn reversed_colours(&mut self, scene: &mut Scene<'_>) {
        let rules = &self.profile.rules;
        let limit = rules.colours_limit;
        let (counted, variant) = match rules.colours_count {
            super::ColoursCount::Made => {
                let made = self.watch.made;
                // Made by both: the limit is reached when Black has made his tenth.
                let both = made.white.min(made.black);
                (both, if both >= limit { "late" } else { "" })
            }
            super::ColoursCount::Completed => {
                let completed = self.watch.completed;
                let both = completed.white.min(completed.black);
                (both, if both >= limit { "late" } else { "" })
            }
            super::ColoursCount::Arbiter => (self.watch.made.black, "judge"),
        };
        let variant = if self.over.is_some() { "over" } else { variant };
        let notice = Notice::new(Code::ReversedColours)
            .needs_arbiter()
            .variant(variant)
            .arg("made", counted)
            .arg("limit", limit)
            .detail("moves", counted);
        self.raise(scene, notice);
    }

    /// 6.10.2: what the clock should show.
    pub(super) fn clock_setting(&mut self, scene: &mut Scene<'_>) {
        let expected = self.options.time_control.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string);
        let frozen = self.profile.rules.clock_setting_frozen_after;
        let late = frozen > 0 && Color::ALL.into_iter().all(|side| self.watch.completed[side] >= frozen);
        let key = if late { "clock-setting-frozen" } else { "clock-setting" };
        let args = [("expected", Arg::Plain(expected))];
        Answer::new("report-clock-setting")
            .with("correct_now", !late)
            .with("sheet", self.sheet())
            .text(&texts::answer(key, &args))
            .send(scene);
    }

    /// Counts are for the arbiter; before a flag is down nobody may be told (12.6).
    pub(super) fn move_count(&self, scene: &mut Scene<'_>, side: Option<Color>) {
        let flag = self.flags.white.is_some() || self.flags.black.is_some();
        let side = side.unwrap_or(Color::White);
        let key = if flag { "query-move-count" } else { "query-move-count-silent" };
        let (completed, made) = (self.watch.completed[side], self.watch.made[side]);
        let args = [("side", side.into()), ("completed", completed.into()), ("made", made.into())];
        Answer::new("query-move-count")
            .with("completed", sides(&self.watch.completed))
            .with("made", sides(&self.watch.made))
            .with("tell_players", flag)
            .text(&texts::answer(key, &args))
            .send(scene);
    }
}
