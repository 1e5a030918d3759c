//! How a game ends: what every ending and every proposal does, and the endings by what people say (resignation,
//! agreement, signed sheets, an entered result, adjournment; Laws 5.1.2, 5.2.3, 8.7, Guidelines I).

use shakmaty::Color;

use super::{
    Code,
    answer::{Answer, word},
    desk::{Notice, Scene},
    gate::{Ask, CanMate, can_mate},
    referee::{Referee, Ruling},
    texts::{self, Arg},
    timers::Timer,
};
use crate::record::{GameResult, ResultReason, ResultState, Timestamp};

/// How the game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Over {
    pub(super) result: GameResult,
    pub(super) reason: ResultReason,
    pub(super) at: Timestamp,
    /// The number of plies it ended after, if the position itself ended it.
    pub(super) board: Option<usize>,
}

impl Referee {
    /// The Laws, or an arbiter's entry, end the game.
    pub(super) fn finish(
        &mut self,
        scene: &mut Scene<'_>,
        result: GameResult,
        reason: ResultReason,
        state: ResultState,
        board: Option<usize>,
    ) {
        self.over = Some(Over { result, reason, at: scene.at, board });
        self.proposal = None;
        scene.out.push(Ruling::Result { result, reason, state });
        for timer in [Timer::NotPressed, Timer::Paused, Timer::ResultMissing, Timer::Touched, Timer::Sheet] {
            self.cancel(timer);
        }
        self.desk.clear(
            scene,
            &[
                Code::ThreefoldClaimable,
                Code::ThreefoldClaimableByMove,
                Code::FiftyClaimable,
                Code::FiftyClaimableByMove,
                Code::ClaimRightLost,
                Code::ClockNotPressed,
                Code::ClockPaused,
                Code::ResultMissing,
                Code::IllegalMovePending,
                Code::TouchObligation,
                Code::DefaultTimeExceeded,
                Code::RecordingOptional,
                Code::KeepScoreNeeded,
            ],
        );
    }

    /// A result for the arbiter to confirm.
    pub(super) fn propose(&mut self, scene: &mut Scene<'_>, result: GameResult, reason: ResultReason) {
        if self.over.is_none() && self.proposal != Some((result, reason)) {
            self.proposal = Some((result, reason));
            scene.out.push(Ruling::Result { result, reason, state: ResultState::Proposed });
        }
    }

    /// The proposal does not hold any more.
    pub(super) fn withdraw(&mut self, scene: &mut Scene<'_>) {
        if self.proposal.take().is_some() && self.over.is_none() {
            scene.out.push(Ruling::NoResult);
        }
    }

    /// 5.1.2: since 2023 a draw if the opponent cannot mate.
    pub(super) fn resigned(&mut self, scene: &mut Scene<'_>, side: Color) {
        self.settle_to(scene, scene.game.plies.len());
        let answer = Answer::new("resign").with("side", word(side));
        if let Some(over) = self.over {
            let args = [("result", Arg::Plain(over.result.word().to_owned()))];
            return answer.with("result", over.result.word()).text(&texts::answer("over", &args)).send(scene);
        }
        let mut result = GameResult::win(!side);
        if self.profile.rules.gate_resignation {
            let position = scene.game.position();
            match can_mate(position, !side) {
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
    pub(super) fn draw_agreed(
        &mut self,
        scene: &mut Scene<'_>,
        accepting: Option<Color>,
        void_condition: bool,
    ) {
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

    /// 8.7: what was signed against what the board said.
    pub(super) fn signed(&mut self, scene: &mut Scene<'_>, result: Option<GameResult>) {
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

    pub(super) fn conflict(&mut self, scene: &mut Scene<'_>, shown: GameResult, result: GameResult) {
        let notice = Notice::new(Code::ResultConflict)
            .key(format!("{}/{}", shown.word(), result.word()))
            .arg("shown", shown.word().to_owned())
            .arg("result", result.word().to_owned());
        self.raise(scene, notice);
    }

    pub(super) fn entered_result(&mut self, scene: &mut Scene<'_>, result: GameResult) {
        if let Some(over) = self.over
            && over.board.is_some()
            && over.result != result
        {
            self.conflict(scene, result, over.result);
        }
        self.finish(scene, result, ResultReason::Entered, ResultState::Final, None);
    }

    pub(super) fn adjourn(&mut self, scene: &mut Scene<'_>) {
        let left = self.watch.left();
        let number = scene.game.position().move_number();
        let args = [
            ("number", number.into()),
            ("white_clock", Arg::Clock(left.white)),
            ("black_clock", Arg::Clock(left.black)),
        ];
        Answer::new("adjourn")
            .with("fen", scene.game.position().fen())
            .with("sheet", self.sheet())
            .with("draw_offer", self.offer.map(|(side, _)| word(side)))
            .text(&texts::answer("adjourned", &args))
            .send(scene);
        self.finish(scene, GameResult::Adjourned, ResultReason::Adjournment, ResultState::Final, None);
    }
}
