//! Flags (Laws 6.8, 6.9): noticed or not, moves completed against moves due, and whether the opponent
//! can mate at all. What happened on the board before a flag was noticed stands.

use serde_json::{Value, json};
use shakmaty::Color;

use super::{
    AlertState, Code, Severity,
    desk::{Notice, Scene},
    gate::{Ask, CanMate, can_mate},
    referee::{Referee, Ruling},
};
use crate::record::{GameResult, ResultReason, ResultState, Timestamp};

/// What a flag means at this moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FlagVerdict {
    /// The moves of the control were completed.
    Control { completed: u32, due: u32 },
    /// Lost, or drawn because the opponent cannot mate; with the line or the reason.
    Result(GameResult, CanMate),
    /// It cannot be told whether the opponent can mate.
    Open,
}

/// A flag that showed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag {
    pub(super) at: Timestamp,
    pub(super) plies: usize,
    /// The arbiter or a claim has said so.
    pub(super) noticed: bool,
}

impl Referee {
    /// A flag shows for the first time.
    pub(super) fn flag_fell(&mut self, scene: &mut Scene<'_>, side: Color, probable: bool) {
        // What stands on the board was made before the flag was seen (precedence 1 and 2).
        self.settle_to(scene, scene.game.plies.len());
        let flag = Flag { at: scene.at, plies: scene.game.plies.len(), noticed: false };
        self.flags[side] = Some(flag);
        let both = self.flags[!side];
        let completed = self.watch.completed[side];
        if let Some(over) = self.over {
            let notice = Notice::new(Code::FlagFall)
                .side(side)
                .severity(Severity::Log)
                .variant("after-end")
                .arg("completed", completed);
            self.raise(scene, notice);
            if let Some(other) = both
                && over.reason == ResultReason::FlagFall
            {
                self.both_flags(scene, side, other);
            }
            return;
        }
        let mut notice = Notice::new(Code::FlagFall)
            .side(side)
            .key("flag")
            .arg("completed", completed)
            .detail("completed", completed)
            .detail("noticed", false);
        if probable {
            notice = notice.probable();
        }
        if self.offences.iter().any(|offence| offence.open && offence.side != side) {
            self.raise(scene, notice.variant("illegal-first").article("7.5.5"));
            return;
        }
        if let Some(other) = both {
            self.raise(scene, notice.arg("result", "?".to_owned()));
            self.both_flags(scene, side, other);
            return;
        }
        let verdict = self.flag_verdict(scene, side);
        let notice = self.describe(notice, &verdict, side);
        self.raise(scene, notice);
        match verdict {
            FlagVerdict::Control { .. } => {}
            FlagVerdict::Result(result, can) => {
                if let CanMate::No(reason) = can {
                    let notice = Notice::new(Code::FlagButCannotMate)
                        .side(side)
                        .detail("reason", reason)
                        .advise(|advice| advice.result = Some(result.word().to_owned()));
                    self.raise(scene, notice);
                }
                self.propose(scene, result, ResultReason::FlagFall);
            }
            FlagVerdict::Open => {
                let fen = scene.game.position().fen();
                self.asked.push((fen.clone(), !side, Ask::Flag(side)));
                scene.out.push(Ruling::AskMate { fen, side: !side });
            }
        }
    }

    fn describe(&self, notice: Notice, verdict: &FlagVerdict, side: Color) -> Notice {
        let due = self.due(side);
        match verdict {
            FlagVerdict::Control { completed, due } => notice
                .variant("control")
                .severity(Severity::Look)
                .article("6.4")
                .arg("due", *due)
                .detail("due", *due)
                .detail("control", *completed),
            FlagVerdict::Result(result, can) => {
                let notice = notice
                    .arg("result", result.word().to_owned())
                    .advise(|advice| advice.result = Some(result.word().to_owned()));
                match can {
                    CanMate::Yes(line) => {
                        let line = line.clone();
                        let notice = notice.advise(|advice| advice.line = line);
                        match due {
                            Some(due) => notice.variant("due").arg("due", due).detail("due", due),
                            None => notice,
                        }
                    }
                    _ => notice.variant("cannot-mate"),
                }
            }
            FlagVerdict::Open => notice.variant("unknown"),
        }
    }

    /// The moves due in the period whose flag this is, if it is not the last.
    pub(super) fn due(&self, side: Color) -> Option<u32> {
        let control = self.options.time_control.as_ref().filter(|_| !self.options.last_period)?;
        control.moves_due(self.period(side))
    }

    /// The period whose time has run out: the one after the bonuses the clock is known to have given.
    fn period(&self, side: Color) -> usize {
        let Some(control) = &self.options.time_control else { return 0 };
        let by_moves = control.period_index(self.watch.completed[side]);
        let given = self.watch.bonuses[side];
        // Nobody saw the bonus come: the moves alone do not prove that it was given.
        given.min(by_moves).min(control.periods().len().saturating_sub(1))
    }

    pub(super) fn flag_verdict(&self, scene: &Scene<'_>, side: Color) -> FlagVerdict {
        let completed = self.watch.completed[side];
        if let Some(due) = self.due(side)
            && completed >= due
        {
            return FlagVerdict::Control { completed, due };
        }
        let position = scene.game.position();
        match can_mate(position, !side) {
            can @ CanMate::Yes(_) => FlagVerdict::Result(GameResult::win(!side), can),
            can @ CanMate::No(_) => FlagVerdict::Result(GameResult::Draw, can),
            CanMate::Unknown => FlagVerdict::Open,
        }
    }

    fn both_flags(&mut self, scene: &mut Scene<'_>, second: Color, first: Flag) {
        let seconds = scene.at.since(first.at) / 1000;
        let notice = Notice::new(Code::BothFlags)
            .arg("first", !second)
            .arg("seconds", super::texts::Arg::Number(seconds))
            .detail("first", (!second).fold_wb("white", "black"))
            .detail("seconds", seconds)
            .detail("rule", json!(self.profile.rules.both_flags));
        self.raise(scene, notice);
        self.withdraw(scene);
    }

    /// Play goes on after a flag that nobody noticed: what it would have meant is open again.
    pub(super) fn played_after_flag(&mut self, scene: &mut Scene<'_>, from: usize) {
        let ran_on = Color::ALL.into_iter().any(|side| {
            self.flags[side]
                .is_some_and(|flag| !flag.noticed && from >= flag.plies && scene.game.plies.len() > from)
        });
        if ran_on && self.proposal.is_some_and(|(_, reason)| reason == ResultReason::FlagFall) {
            self.withdraw(scene);
        }
    }

    /// The game ended on the board although a flag had shown. Returns true when the arbiter has to
    /// say which came first.
    pub(super) fn mate_after_flag(
        &mut self,
        scene: &mut Scene<'_>,
        result: GameResult,
        reason: ResultReason,
    ) -> bool {
        let Some((side, flag)) =
            Color::ALL.into_iter().find_map(|side| self.flags[side].map(|flag| (side, flag)))
        else {
            return false;
        };
        if self.last_made().is_none_or(|made| made <= flag.at) {
            return false;
        }
        if reason == ResultReason::Checkmate {
            let seconds = self.last_made().map_or(0, |made| made.since(flag.at) / 1000);
            let notice = Notice::new(Code::MateAfterFlag)
                .side(side)
                .needs_arbiter()
                .arg("seconds", super::texts::Arg::Number(seconds))
                .detail("noticed", flag.noticed);
            self.raise(scene, notice);
        }
        // 6.8: a flag counts from when it is noticed. Nobody has said so yet; but where the flag would
        // lose the game that the mate wins, each side has its own story, and the arbiter rules.
        let position = scene.game.position_after(flag.plies);
        let opposite =
            result == GameResult::win(side) && matches!(can_mate(position, !side), CanMate::Yes(_));
        flag.noticed || opposite
    }

    /// A press came after a flag.
    pub(super) fn pressed_after_flag(&mut self, scene: &mut Scene<'_>, side: Color) {
        let Some(flag) = self.flags[side].filter(|_| self.over.is_none()) else { return };
        if self.desk.ever(Code::PressAfterFlag) || self.desk.live(Code::FlagFall).is_none() {
            return;
        }
        let notice = Notice::new(Code::PressAfterFlag)
            .side(side)
            .arg("seconds", super::texts::Arg::Number(scene.at.since(flag.at) / 1000));
        self.raise(scene, notice);
    }

    /// The flag was noticed by the arbiter or claimed: the game is over unless the control was reached.
    pub(super) fn flag_noticed(&mut self, scene: &mut Scene<'_>, side: Color) -> FlagVerdict {
        let verdict = self.flag_verdict(scene, side);
        if let Some(flag) = &mut self.flags[side] {
            flag.noticed = true;
        }
        self.desk.update(
            scene,
            |alert, _| alert.code == Code::FlagFall && alert.side == Some(side),
            |alert| {
                alert.detail.insert("noticed".into(), Value::Bool(true));
                alert.state = AlertState::Acknowledged;
            },
        );
        if let FlagVerdict::Result(result, _) = verdict {
            self.finish(scene, result, ResultReason::FlagFall, ResultState::Proposed, None);
        }
        verdict
    }
}
