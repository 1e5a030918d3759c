//! Claims: three-fold, 50 moves, an illegal move, a flag, a quickplay finish (Laws 9.2 to 9.5, 13.4.2, 6.8,
//! Guidelines III). Each is answered at once: valid or not, why, what it costs and what must be played.

use serde_json::{Value, json};
use shakmaty::Color;

use super::{
    ClaimKind, Text,
    answer::{Answer, letter, word},
    desk::Scene,
    ends::move_numbers,
    flag::FlagVerdict,
    gate::CanMate,
    referee::Referee,
    texts::{self, Arg},
    touch,
};
use crate::record::{GameResult, ResultReason, ResultState};

/// Two minutes: the bound of the quickplay-finish guidelines.
pub(super) const QUICKPLAY_S: u32 = 120;

impl Referee {
    /// Guidelines III.4 (five seconds more for both) and III.5 (a draw, because the opponent cannot win by
    /// normal means, or does not try): only whether the request is admissible, and what it costs; the
    /// decision is the arbiter's.
    pub(super) fn claim_quickplay(&mut self, scene: &mut Scene<'_>, side: Color, kind: ClaimKind) {
        let increments = kind == ClaimKind::QuickplayIncrement;
        let answer = Answer::new("claim")
            .with("kind", json!(kind))
            .with("side", word(side))
            .with("article", self.profile.article(if increments { "18.4" } else { "18.5" }));
        let opponent = !side;
        if let Some(why) = self.no_quickplay(scene, side) {
            return Self::not_admissible(scene, answer, side, why, None);
        }
        let two_minutes = json!({"to": letter(opponent), "add_s": QUICKPLAY_S});
        let clock = self.with_added(opponent, QUICKPLAY_S);
        let answer = answer.with("valid", Value::Null).with("admissible", true);
        let answer = match clock {
            Some(clock) => answer.with("clock_after", json!({"w": clock.white, "b": clock.black})),
            None => answer,
        };
        let (answer, key) = if increments {
            // The request is an offer of a draw as well.
            self.offer = Some((side, scene.at));
            let granted = json!({"increment_s": 5, "to": letter(opponent), "add_s": QUICKPLAY_S});
            (answer.with("draw_offer", true).with("if_granted", granted), "quickplay-increment")
        } else {
            let postponed = two_minutes.clone();
            (answer.with("if_rejected", two_minutes).with("if_postponed", postponed), "quickplay-ok")
        };
        let args = [("side", side.into()), ("opponent", opponent.into())];
        answer.text(&texts::answer(key, &args)).send(scene);
    }

    /// Why a request in a quickplay finish is not admissible, if it is not.
    fn no_quickplay(&self, scene: &Scene<'_>, side: Color) -> Option<&'static str> {
        let control = self.options.time_control.as_ref();
        if self.over.is_some() {
            Some("why-over")
        } else if self.profile.rules.quickplay == super::Quickplay::Never || !self.options.quickplay {
            Some("why-not-announced")
        } else if control.is_some_and(super::TimeControl::has_increment) {
            Some("why-increment")
        } else if !self.options.last_period
            && control.is_some_and(|c| c.moves_due(c.period_index(self.watch.completed[side])).is_some())
        {
            Some("why-not-last-period")
        } else if scene.game.position().turn() != side {
            Some("why-not-on-move")
        } else if self.flags[side].is_some() {
            Some("why-flag")
        } else if self.watch.left()[side].is_none_or(|left| left >= QUICKPLAY_S) {
            Some("why-too-much-time")
        } else {
            None
        }
    }

    /// 9.2 to 9.5.
    pub(super) fn claim_draw(
        &mut self,
        scene: &mut Scene<'_>,
        side: Color,
        kind: ClaimKind,
        intended: Option<&str>,
    ) {
        self.settle_for_claim(scene);
        let len = scene.game.plies.len();
        let position = scene.game.position();
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
                let fen = if *count > len { after.fen() } else { scene.game.position_after(*count).fen() };
                json!({"ply": count, "fen": fen, "move": move_numbers(scene.game, &[*count])})
            })
            .collect();
        let mut answer = answer.with("valid", valid).with("halfmoves", halfmoves);
        if threefold {
            answer = answer.with("occurrences", json!(occurrences)).with("positions", shown);
        }
        let opponent = !side;
        if valid {
            let moves = move_numbers(scene.game, &occurrences);
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
    pub(super) fn settle_for_claim(&mut self, scene: &mut Scene<'_>) {
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
    pub(super) fn claim_illegal(&mut self, scene: &mut Scene<'_>, side: Color) {
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
    pub(super) fn claim_flag(&mut self, scene: &mut Scene<'_>, side: Color) {
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
