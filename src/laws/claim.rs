//! What the arbiter enters: claims, offers, resignations, rulings, results. A claim is answered at once:
//! valid or not, why, what it costs and what must be played. Nothing is applied that was not entered.

use serde_json::{Map, Value, json};
use shakmaty::Color;

use super::{
    AlertState, ClaimKind, Code, Entry, Text, TouchRuling,
    desk::{Notice, Scene},
    flag::FlagVerdict,
    press::{CanMate, can_mate},
    referee::{Ask, Referee, Ruling, Timer},
    texts::{self, Arg},
    touch,
};
use crate::record::{GameResult, ResultReason, ResultState};

/// How often a time-control sheet is due. Milliseconds.
pub(super) const SHEET: i64 = 30 * 60_000;
/// Two minutes: the bound of the quickplay-finish guidelines.
const QUICKPLAY_S: u32 = 120;

/// An answer being put together.
struct Answer(Map<String, Value>);

impl Answer {
    fn new(act: &str) -> Self {
        let mut map = Map::new();
        map.insert("act".into(), json!(act));
        Self(map)
    }

    fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.into(), value.into());
        self
    }

    fn text(self, text: &Text) -> Self {
        self.with("text", json!(text))
    }

    fn send(self, scene: &mut Scene<'_>) {
        scene.out.push(Ruling::Answer(Value::Object(self.0)));
    }
}

fn word(side: Color) -> &'static str {
    side.fold_wb("white", "black")
}

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
                    ClaimKind::QuickplayFinish => self.claim_quickplay(scene, *side),
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
                        .map_or_else(|| self.position(scene.game), |offence| offence.before.clone())
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

    fn noted(scene: &mut Scene<'_>, act: &str) {
        Answer::new(act).text(&texts::answer("noted", &[])).send(scene);
    }

    /// 9.2 to 9.5.
    fn claim_draw(&mut self, scene: &mut Scene<'_>, side: Color, kind: ClaimKind, intended: Option<&str>) {
        self.settle_for_claim(scene);
        let len = scene.game.plies.len();
        let position = self.position(scene.game);
        let threefold = kind == ClaimKind::Threefold;
        let answer = Answer::new("claim").with("kind", json!(kind)).with("side", word(side)).with(
            "article",
            self.profile.article(match (threefold, intended.is_some()) {
                (true, true) => "9.2.1.1",
                (true, false) => "9.2.1.2",
                (false, true) => "9.3.1",
                (false, false) => "9.3.2",
            }),
        );
        if let Some(over) = self.over {
            return Self::not_admissible(scene, answer, side, "why-over", Some(over.result));
        }
        // The claimant has the move, has made none, and has touched nothing (9.4).
        if position.turn() != side {
            return Self::not_admissible(scene, answer, side, "why-not-on-move", None);
        }
        let turn = self.turn(scene.game).clone();
        let reading = touch::read(&turn.touches);
        if turn.ply == len
            && self.touches_excused != Some(len)
            && self.counted_touch(&reading, side, scene.at).is_some()
        {
            return Self::not_admissible(scene, answer, side, "why-touched", None);
        }
        let mv = match intended {
            None => None,
            Some(text) => match text.parse().ok().and_then(|uci| position.find_uci(uci)) {
                Some(m) => Some(m),
                None => return Self::not_admissible(scene, answer, side, "why-illegal-intended", None),
            },
        };
        let after = mv.map_or_else(|| position.clone(), |m| position.play(m));
        let key = after.key();
        let mut occurrences: Vec<usize> = (0..=len).filter(|n| self.keys.get(*n) == Some(&key)).collect();
        if mv.is_some() {
            occurrences.push(len + 1);
        }
        let halfmoves = after.halfmoves();
        let valid = if threefold { occurrences.len() >= 3 } else { halfmoves >= 100 };
        let shown: Vec<Value> = occurrences
            .iter()
            .map(|count| {
                let fen = if *count > len { after.fen() } else { self.position_at(scene.game, *count).fen() };
                json!({"ply": count, "fen": fen, "move": self.move_numbers(scene.game, &[*count])})
            })
            .collect();
        let mut answer = answer.with("valid", valid).with("halfmoves", halfmoves);
        if threefold {
            answer = answer.with("occurrences", json!(occurrences)).with("positions", shown);
        }
        let opponent = !side;
        if valid {
            let moves = self.move_numbers(scene.game, &occurrences);
            let args = [("side", side.into()), ("moves", Arg::Plain(moves))];
            answer
                .with("result", GameResult::Draw.word())
                .text(&texts::answer("claim-valid", &args))
                .send(scene);
            let reason = if threefold { ResultReason::ThreefoldClaim } else { ResultReason::FiftyMoveClaim };
            self.finish(scene, GameResult::Draw, reason, ResultState::Proposed, None);
            return;
        }
        let penalty = self.profile.rules.wrong_claim_penalty_s;
        let why = if threefold {
            texts::answer("why-not-three", &[("count", (occurrences.len() as u32).into())])
        } else {
            texts::answer("why-not-fifty", &[("count", (halfmoves / 2).into())])
        };
        let text = with_why("claim-wrong", side, &why, penalty);
        let mut answer =
            answer.text(&text).with("penalty", json!({"to": letter(opponent), "add_s": penalty}));
        if let Some(clock) = self.with_added(opponent, penalty) {
            answer = answer.with("clock_after", json!({"w": clock.white, "b": clock.black}));
        }
        if let Some(m) = mv {
            answer = answer.with("must_play", position.uci(m).to_string());
        }
        answer.send(scene);
    }

    /// Nothing is provisional any more when a claim stops the clock.
    fn settle_for_claim(&mut self, scene: &mut Scene<'_>) {
        self.settle_to(scene, scene.game.plies.len());
    }

    fn not_admissible(
        scene: &mut Scene<'_>,
        answer: Answer,
        side: Color,
        why: &str,
        result: Option<GameResult>,
    ) {
        let reason = texts::answer(why, &[]);
        let text = with_why("quickplay-no", side, &reason, 0);
        let mut answer = answer.with("valid", false).with("why", why.trim_start_matches("why-")).text(&text);
        if let Some(result) = result {
            answer = answer.with("result", result.word());
        }
        answer.send(scene);
    }

    /// 7.5, 13.4.2: the opponent completed an illegal move.
    fn claim_illegal(&mut self, scene: &mut Scene<'_>, side: Color) {
        let offender = !side;
        let answer = Answer::new("claim").with("kind", "illegal-move").with("side", word(side));
        let found = self.offences.iter().rev().find(|offence| offence.open).cloned();
        match found {
            Some(offence) if offence.side == offender => {
                let loses = self.illegal[offender] >= self.profile.rules.illegal_moves_to_lose;
                let penalty = if loses { 0 } else { self.penalty_s() };
                let args = [
                    ("side", side.into()),
                    ("move", Arg::Plain(offence.shown.clone())),
                    ("penalty", penalty.into()),
                ];
                let mut answer = answer
                    .with("valid", true)
                    .with("article", self.profile.article("7.5.1"))
                    .with("restore_fen", offence.before.fen())
                    .text(&texts::answer("claim-illegal-valid", &args));
                if penalty > 0 {
                    answer = answer.with("penalty", json!({"to": letter(side), "add_s": penalty}));
                    if let Some(clock) = self.with_added(side, penalty) {
                        answer = answer.with("clock_after", json!({"w": clock.white, "b": clock.black}));
                    }
                }
                if let Some((result, _)) = self.proposal {
                    answer = answer.with("result", result.word());
                }
                answer.send(scene);
            }
            _ => {
                let stood = self.offences.iter().any(|offence| offence.stood);
                let key = if stood { "claim-illegal-late" } else { "claim-illegal-none" };
                answer.with("valid", false).text(&texts::answer(key, &[("side", side.into())])).send(scene);
            }
        }
    }

    /// 6.8.
    fn claim_flag(&mut self, scene: &mut Scene<'_>, side: Color) {
        let opponent = !side;
        let answer = Answer::new("claim")
            .with("kind", "flag")
            .with("side", word(side))
            .with("article", self.profile.article("6.8"));
        let args = |result: &str| {
            [("side", side.into()), ("opponent", opponent.into()), ("result", Arg::Plain(result.to_owned()))]
        };
        if let Some(over) = self.over {
            let word = over.result.word();
            let text = texts::answer("claim-flag-over", &args(word));
            return answer.with("valid", false).with("result", word).text(&text).send(scene);
        }
        if self.flags[opponent].is_none() {
            let text = texts::answer("claim-flag-none", &args("*"));
            return answer.with("valid", false).text(&text).send(scene);
        }
        // 2014, unsupervised rapid and blitz: the claimant stops the clocks, and his own flag is up (A.4c).
        let stopped = self.watch.running().is_none() && self.flags[side].is_none();
        if self.profile.rules.flag_claim_must_stop && !stopped {
            let text = texts::answer("claim-flag-must-stop", &args("*"));
            return answer.with("valid", false).text(&text).send(scene);
        }
        match self.flag_noticed(scene, opponent) {
            FlagVerdict::Control { completed, due } => answer
                .with("valid", false)
                .with("completed", completed)
                .with("due", due)
                .text(&texts::answer("claim-flag-control", &args("*")))
                .send(scene),
            FlagVerdict::Result(result, can) => {
                let answer = answer
                    .with("valid", true)
                    .with("result", result.word())
                    .text(&texts::answer("claim-flag-valid", &args(result.word())));
                match can {
                    CanMate::Yes(line) => answer.with("line", json!(line)).send(scene),
                    CanMate::No(reason) => answer.with("reason", reason).send(scene),
                    CanMate::Unknown => answer.send(scene),
                }
            }
            FlagVerdict::Open => {
                answer.with("valid", true).text(&texts::answer("claim-flag-open", &args("*"))).send(scene);
            }
        }
    }

    /// Every half hour the arbiter should have both times and the moves on record (Manual 6.10.1).
    pub(super) fn time_sheet(&mut self, scene: &mut Scene<'_>) {
        if self.over.is_none() {
            Answer::new("time-control-sheet").with("sheet", self.sheet()).send(scene);
            self.set_timer(Timer::Sheet, scene.at.plus(SHEET));
        }
    }

    /// Guidelines III.4, III.5: only whether the request is admissible; the decision is the arbiter's.
    fn claim_quickplay(&mut self, scene: &mut Scene<'_>, side: Color) {
        let answer = Answer::new("claim")
            .with("kind", "quickplay-finish")
            .with("side", word(side))
            .with("article", self.profile.article("18.4"));
        let never = self.profile.rules.quickplay == super::Quickplay::Never;
        let increment = self.options.time_control.as_ref().is_some_and(super::TimeControl::has_increment);
        let why = if self.over.is_some() {
            Some("why-over")
        } else if never || !self.options.quickplay {
            Some("why-not-announced")
        } else if increment {
            Some("why-increment")
        } else if self.position(scene.game).turn() != side {
            Some("why-not-on-move")
        } else if self.watch.left()[side].is_none_or(|left| left >= QUICKPLAY_S) {
            Some("why-too-much-time")
        } else {
            None
        };
        match why {
            Some(why) => Self::not_admissible(scene, answer, side, why, None),
            None => answer
                .with("valid", Value::Null)
                .with("admissible", true)
                .with("if_rejected", json!({"to": letter(!side), "add_s": QUICKPLAY_S}))
                .text(&texts::answer("quickplay-ok", &[("side", side.into())]))
                .send(scene),
        }
    }

    /// 5.1.2: since 2023 a draw if the opponent cannot mate.
    fn resigned(&mut self, scene: &mut Scene<'_>, side: Color) {
        self.settle_to(scene, scene.game.plies.len());
        let answer = Answer::new("resign").with("side", word(side));
        if let Some(over) = self.over {
            let args = [("result", Arg::Plain(over.result.word().to_owned()))];
            return answer.with("result", over.result.word()).text(&texts::answer("over", &args)).send(scene);
        }
        let mut result = GameResult::win(!side);
        if self.profile.rules.gate_resignation {
            let position = self.position(scene.game);
            match can_mate(&position, !side) {
                CanMate::No(_) => result = GameResult::Draw,
                CanMate::Yes(_) => {}
                CanMate::Unknown => {
                    let fen = position.fen();
                    self.asked.push((fen.clone(), !side, Ask::Resigned(side)));
                    scene.out.push(Ruling::AskMate { fen, side: !side });
                }
            }
        }
        let key = if result == GameResult::Draw { "resign-draw" } else { "resign-win" };
        let args = [
            ("side", side.into()),
            ("opponent", (!side).into()),
            ("result", Arg::Plain(result.word().to_owned())),
        ];
        answer.with("result", result.word()).text(&texts::answer(key, &args)).send(scene);
        self.finish(scene, result, ResultReason::Resignation, ResultState::Final, None);
    }

    /// 5.2.3, 9.1.
    fn draw_agreed(&mut self, scene: &mut Scene<'_>, accepting: Option<Color>, void_condition: bool) {
        self.settle_to(scene, scene.game.plies.len());
        let answer = Answer::new("draw-agreed");
        if let Some(over) = self.over {
            let args = [("result", Arg::Plain(over.result.word().to_owned()))];
            return answer.with("result", over.result.word()).text(&texts::answer("over", &args)).send(scene);
        }
        // An acceptance needs an offer of the other side that has not lapsed.
        if let Some(side) = accepting
            && self.offer.is_none_or(|(offering, _)| offering == side)
        {
            return Self::noted(scene, "draw-accept");
        }
        if self.agreement_invalid(scene, false) {
            return answer.with("valid", false).text(&texts::answer("noted", &[])).send(scene);
        }
        let key = if void_condition { "condition-void" } else { "draw-agreed" };
        answer.with("result", GameResult::Draw.word()).text(&texts::answer(key, &[])).send(scene);
        self.offer = None;
        self.finish(scene, GameResult::Draw, ResultReason::DrawAgreed, ResultState::Final, None);
    }

    /// The arbiter saw, or asked: the touches of this turn count or do not.
    fn touch_ruling(&mut self, scene: &mut Scene<'_>, by: &str, ruling: TouchRuling) {
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
    fn two_hands(&mut self, scene: &mut Scene<'_>, side: Color) {
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
            let before = self.position_at(scene.game, ply);
            let at = scene.at;
            let shown = scene.game.plies.get(ply).map(|ply| ply.san.clone()).unwrap_or_default();
            self.offend(scene, at, side, Code::TwoHands, "kind-two-hands", shown, before, |_| {});
            if let Some(offence) = self.offences.last_mut() {
                offence.ply = ply;
            }
        } else {
            // Nothing is owed before the press.
            self.two_hands_waiting = Some((side, ply));
            Self::noted(scene, "two-hands");
        }
    }

    fn ack_flag(&mut self, scene: &mut Scene<'_>, side: Color) {
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

    /// 6.7.
    fn absent(&mut self, scene: &mut Scene<'_>, side: Color) {
        let rules = self.profile.rules.default_time_s;
        let seconds = self.options.default_time_s.map_or(rules, i64::from);
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
        let rules = self.profile.rules.default_time_s.max(0);
        let seconds = self.options.default_time_s.map_or(rules, i64::from);
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
    fn reversed_colours(&mut self, scene: &mut Scene<'_>) {
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
    fn clock_setting(&mut self, scene: &mut Scene<'_>) {
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
    fn move_count(&self, scene: &mut Scene<'_>, side: Option<Color>) {
        let flag = self.flags.white.is_some() || self.flags.black.is_some();
        let side = side.unwrap_or(Color::White);
        let key = if flag { "query-move-count" } else { "query-move-count-silent" };
        let (completed, made) = (self.watch.completed[side], self.watch.made[side]);
        let args = [("side", side.into()), ("completed", completed.into()), ("made", made.into())];
        Answer::new("query-move-count")
            .with("completed", json!({"w": self.watch.completed.white, "b": self.watch.completed.black}))
            .with("made", json!({"w": self.watch.made.white, "b": self.watch.made.black}))
            .with("tell_players", flag)
            .text(&texts::answer(key, &args))
            .send(scene);
    }

    /// 8.7: what was signed against what the board said.
    fn signed(&mut self, scene: &mut Scene<'_>, result: Option<GameResult>) {
        if let (Some(result), Some(over)) = (result, self.over)
            && result != over.result
        {
            self.conflict(scene, result, over.result);
        } else if let (Some(result), Some(signal)) = (result, self.signal)
            && result != signal
        {
            self.conflict(scene, signal, result);
        }
        Self::noted(scene, "scoresheets-signed");
    }

    fn conflict(&mut self, scene: &mut Scene<'_>, shown: GameResult, result: GameResult) {
        let notice = Notice::new(Code::ResultConflict)
            .key(format!("{}/{}", shown.word(), result.word()))
            .arg("shown", shown.word().to_owned())
            .arg("result", result.word().to_owned());
        self.raise(scene, notice);
    }

    fn entered_result(&mut self, scene: &mut Scene<'_>, result: GameResult) {
        if let Some(over) = self.over
            && over.board.is_some()
            && over.result != result
        {
            self.conflict(scene, result, over.result);
        }
        self.finish(scene, result, ResultReason::Entered, ResultState::Final, None);
    }

    fn adjourn(&mut self, scene: &mut Scene<'_>) {
        let left = self.watch.left();
        let number = self.position(scene.game).move_number();
        let args = [
            ("number", number.into()),
            ("white_clock", Arg::Clock(left.white)),
            ("black_clock", Arg::Clock(left.black)),
        ];
        Answer::new("adjourn")
            .with("fen", self.position(scene.game).fen())
            .with("sheet", self.sheet())
            .with("draw_offer", self.offer.map(|(side, _)| word(side)))
            .text(&texts::answer("adjourned", &args))
            .send(scene);
        self.finish(scene, GameResult::Adjourned, ResultReason::Adjournment, ResultState::Final, None);
    }

    /// The long search answered.
    pub(super) fn mate_answered(&mut self, scene: &mut Scene<'_>, fen: &str, side: Color, verdict: &Value) {
        let Some(index) = self.asked.iter().position(|(asked, of, _)| asked == fen && *of == side) else {
            return;
        };
        let (_, _, ask) = self.asked.remove(index);
        let result = match verdict.get("can_mate").and_then(Value::as_str) {
            Some("yes") => Some(GameResult::win(side)),
            Some("no") => Some(GameResult::Draw),
            _ => None,
        };
        let line: Vec<String> = verdict
            .get("line")
            .and_then(Value::as_array)
            .map(|moves| moves.iter().filter_map(|m| m.as_str().map(str::to_owned)).collect())
            .unwrap_or_default();
        let Some(result) = result else { return };
        let word = result.word().to_owned();
        match ask {
            Ask::Flag(flagged) => {
                if self.over.is_some() {
                    return;
                }
                let noticed = self.flags[flagged].is_some_and(|flag| flag.noticed);
                let (variant, completed) = (
                    if result == GameResult::Draw { "cannot-mate" } else { "" },
                    self.watch.completed[flagged],
                );
                let notice = Notice::new(Code::FlagFall)
                    .side(flagged)
                    .key("flag")
                    .variant(variant)
                    .arg("completed", completed)
                    .arg("result", word.clone())
                    .detail("completed", completed)
                    .detail("noticed", noticed)
                    .advise(|advice| {
                        advice.result = Some(word.clone());
                        advice.line = line;
                    });
                self.raise(scene, notice);
                if result == GameResult::Draw {
                    let notice = Notice::new(Code::FlagButCannotMate)
                        .side(flagged)
                        .advise(|advice| advice.result = Some(word));
                    self.raise(scene, notice);
                }
                let unchanged = self.flags[flagged].is_some_and(|flag| flag.plies == scene.game.plies.len());
                if noticed {
                    self.finish(scene, result, ResultReason::FlagFall, ResultState::Proposed, None);
                } else if unchanged {
                    self.propose(scene, result, ResultReason::FlagFall);
                }
            }
            Ask::Illegal(alert) => {
                self.desk.update(
                    scene,
                    |own, _| own.id == alert,
                    |own| {
                        own.advice.result = Some(word.clone());
                        own.advice.line.clone_from(&line);
                    },
                );
                self.propose(scene, result, ResultReason::IllegalMoves);
            }
            Ask::Resigned(_) => {
                if self
                    .over
                    .is_some_and(|over| over.reason == ResultReason::Resignation && over.result != result)
                {
                    self.finish(scene, result, ResultReason::Resignation, ResultState::Final, None);
                }
            }
        }
    }
}

fn letter(side: Color) -> &'static str {
    side.fold_wb("w", "b")
}

/// A text with a reason that itself differs by language.
fn with_why(key: &str, side: Color, why: &Text, penalty: u32) -> Text {
    let one = |reason: &str| {
        texts::answer(
            key,
            &[
                ("side", side.into()),
                ("opponent", (!side).into()),
                ("why", Arg::Plain(reason.to_owned())),
                ("penalty", penalty.into()),
            ],
        )
    };
    Text { en: one(&why.en).en, ru: one(&why.ru).ru }
}
