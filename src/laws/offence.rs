//! The tally of 7.5.5: what an illegal move costs, and what becomes of one that nobody puts right.

use serde_json::json;
use shakmaty::{Color, Square};

use super::{
    AddSeconds, Advice, AlertId, AlertState, Code, CorrectionWindow, ElectronicObservation, Extra, Severity,
    desk::{Notice, Scene},
    gate::{Ask, CanMate, can_mate},
    referee::{Referee, Ruling},
    texts::Arg,
    touch,
};
use crate::{
    record::{GameResult, Position, ResultReason, Timestamp},
    track::Cause,
};

/// A completed illegal move that has not been put right.
#[derive(Clone, Debug)]
pub(super) struct Offence {
    pub(super) ply: usize,
    pub(super) side: Color,
    pub(super) alert: AlertId,
    pub(super) counted: bool,
    /// The position before it.
    pub(super) before: Position,
    pub(super) shown: String,
    /// Still to be put right.
    pub(super) open: bool,
    /// Play went on from it.
    pub(super) stood: bool,
}

/// A fault of 7.5.5 at the moment at which it is completed.
pub(super) struct Fault {
    /// When the clock was pressed.
    pub(super) at: Timestamp,
    pub(super) by: Color,
    /// [`Code::IllegalMoveCompleted`], [`Code::PressWithoutMove`] or [`Code::TwoHands`].
    pub(super) code: Code,
    /// The word of the language files for what was done.
    pub(super) kind: &'static str,
    /// The move, as people read it.
    pub(super) shown: String,
    /// The position in which it was done.
    pub(super) before: Position,
}

impl Referee {
    /// The penalty of 7.5.5 in seconds, 0 for none.
    pub(super) fn penalty_s(&self) -> u32 {
        let rules = &self.profile.rules;
        if rules.illegal_penalty_s == 0 {
            0
        } else {
            self.options.penalty_s.unwrap_or(rules.illegal_penalty_s)
        }
    }

    /// What both clocks should show after adding time to one side.
    pub(super) fn with_added(&self, to: Color, seconds: u32) -> Option<super::alert::ClockAdvice> {
        let mut left = self.watch.left();
        left[to] = left[to].map(|own| own + seconds);
        (left.white.is_some() || left.black.is_some())
            .then_some(super::alert::ClockAdvice { white: left.white, black: left.black })
    }

    /// Advice to add a penalty.
    pub(super) fn advise_penalty(&self, advice: &mut Advice, to: Color, seconds: u32) {
        if seconds > 0 {
            advice.add_seconds = Some(AddSeconds { to, seconds });
            advice.resulting_clock = self.with_added(to, seconds);
        }
    }

    /// A move that is not legal was completed; the man that made it moves, if it can (4.3, 7.5.1).
    pub(super) fn illegal_move(&mut self, scene: &mut Scene<'_>, fault: Fault, man: Option<Square>) {
        let man = man.filter(|man| touch::can_move(&fault.before, *man));
        self.offend(scene, fault, |advice| {
            advice.must_move_from = man.map(|man| man.to_string()).into_iter().collect();
        });
    }

    /// An offence of 7.5.5 was completed: count it and say what follows.
    pub(super) fn offend(&mut self, scene: &mut Scene<'_>, fault: Fault, advise: impl FnOnce(&mut Advice)) {
        let Fault { at, by, code, kind, shown, before } = fault;
        let rules = self.profile.rules.clone();
        let len = scene.game.plies.len();
        let count = self.illegal[by] + 1;
        self.illegal[by] = count;
        let loses = count >= rules.illegal_moves_to_lose;
        let opponent = !by;
        let penalty = if loses { 0 } else { self.penalty_s() };
        // What is restored is the position before the first fault that was not put right.
        let restore = self
            .offences
            .iter()
            .find(|offence| offence.open && rules.correction_window == CorrectionWindow::WholeGame)
            .map_or_else(|| before.clone(), |offence| offence.before.clone());
        let window = rules.correction_window == CorrectionWindow::UntilNextMove;
        let ignored = window && self.options.electronic_observation == ElectronicObservation::Ignore;
        let mut notice = Notice::new(code)
            .side(by)
            .key(format!("{len}/{}", at.millis()))
            .certainty(if code == Code::TwoHands { super::Certainty::NeedsArbiter } else { self.certain() })
            .arg("move", shown.clone())
            .arg("kind", Arg::Word(kind))
            .arg("count", count)
            .arg("penalty", penalty)
            .detail("kind", kind.trim_start_matches("kind-"))
            .detail("count", count)
            .evidence(self.turn.as_ref().map(|turn| touch::evidence(&turn.touches)).unwrap_or_default());
        notice = notice.advise(|advice| advice.restore_fen = Some(restore.fen())).advise(advise);
        if window {
            notice = notice
                .detail("window", "until-next-move")
                .detail("observation", json!(self.options.electronic_observation))
                .deadline(self.window_ends(by));
        }
        if ignored {
            notice = notice.severity(Severity::Note);
        }
        let mut ask = None;
        if loses {
            notice = notice.severity(Severity::Decides).article("7.5.5");
            let verdict = can_mate(&before, opponent);
            let result = match &verdict {
                CanMate::Yes(_) => Some(GameResult::win(opponent)),
                CanMate::No(_) => Some(GameResult::Draw),
                CanMate::Unknown => None,
            };
            notice = match result {
                Some(result) => notice
                    .variant("loses")
                    .arg("result", result.word().to_owned())
                    .advise(|advice| advice.result = Some(result.word().to_owned())),
                None => notice.variant("open"),
            };
            if let CanMate::Yes(line) = verdict {
                notice = notice.advise(|advice| advice.line = line);
            }
            match result {
                Some(result) if !ignored => self.propose(scene, result, ResultReason::IllegalMoves),
                Some(_) => {}
                None => ask = Some((before.fen(), opponent)),
            }
        } else if penalty > 0 {
            let mut advice = Advice::default();
            self.advise_penalty(&mut advice, opponent, penalty);
            self.take_back_increment(&mut advice, by);
            notice = notice.advise(|own| {
                own.add_seconds = advice.add_seconds;
                own.resulting_clock = advice.resulting_clock;
            });
            if window && code == Code::IllegalMoveCompleted {
                notice = notice.variant("confirm");
            }
        } else {
            notice = notice.variant("no-time");
        }
        let alert = self.raise(scene, notice);
        if let Some((fen, side)) = ask {
            self.asked.push((fen.clone(), side, Ask::Illegal(alert)));
            scene.out.push(Ruling::AskMate { fen, side });
        }
        let pending = code == Code::IllegalMoveCompleted;
        self.offences.push(Offence {
            ply: len,
            side: by,
            alert,
            counted: true,
            before,
            shown,
            open: pending,
            stood: false,
        });
    }

    /// 13.4.2: it can be put right until the opponent has made his next move. That is no time of day, but
    /// he must make it before his flag falls: the moment of that is the latest. `None` while his clock
    /// does not run or nobody knows what it shows.
    fn window_ends(&self, offender: Color) -> Option<Timestamp> {
        let opponent = !offender;
        let ends = self.watch.runs_out(opponent)?;
        let delay = self.options.time_control.as_ref().map_or(0, |control| {
            match control.extra(self.watch.completed[opponent]) {
                Extra::Delay(seconds) => seconds,
                _ => 0,
            }
        });
        Some(ends.plus(i64::from(delay) * 1000))
    }

    /// A clock was started, stopped or set: the windows that are open end at another time.
    pub(super) fn refresh_deadlines(&mut self, scene: &mut Scene<'_>) {
        if self.profile.rules.correction_window != CorrectionWindow::UntilNextMove {
            return;
        }
        let open: Vec<(AlertId, Option<Timestamp>)> = self
            .offences
            .iter()
            .filter(|offence| offence.open)
            .map(|offence| (offence.alert, self.window_ends(offence.side)))
            .collect();
        for (id, deadline) in open {
            self.desk.update(scene, |alert, _| alert.id == id, |alert| alert.deadline = deadline);
        }
    }

    /// The increment gained by pressing after an illegal move is taken off again.
    pub(super) fn take_back_increment(&self, advice: &mut Advice, by: Color) {
        let Some(control) = &self.options.time_control else { return };
        let gained = self.watch.gained_at_press(by, control.increment_at(self.watch.completed[by] + 1));
        if let Some(clock) = &mut advice.resulting_clock {
            let own = match by {
                Color::White => &mut clock.white,
                Color::Black => &mut clock.black,
            };
            *own = own.map(|seconds| seconds.saturating_sub(gained));
        }
    }

    /// The clocks were stopped: the advice of open offences follows what they show now.
    pub(super) fn refresh_penalties(&mut self, scene: &mut Scene<'_>) {
        let open: Vec<AlertId> =
            self.offences.iter().filter(|o| o.open || o.counted).map(|o| o.alert).collect();
        for id in open {
            let Some(alert) = self.desk.get_mut(id) else { continue };
            if !matches!(alert.state, AlertState::Open | AlertState::Acknowledged) {
                continue;
            }
            let Some(add) = alert.advice.add_seconds else { continue };
            let side = alert.side;
            let mut advice = Advice::default();
            self.advise_penalty(&mut advice, add.to, add.seconds);
            if let Some(side) = side {
                self.take_back_increment(&mut advice, side);
            }
            self.desk.update(
                scene,
                |alert, _| alert.id == id,
                |alert| alert.advice.resulting_clock = advice.resulting_clock,
            );
        }
    }

    /// After an irregular press the position before it stands again.
    pub(super) fn restored(&mut self, scene: &mut Scene<'_>) {
        let closed: Vec<AlertId> =
            self.offences.iter_mut().filter_map(|o| std::mem::take(&mut o.open).then_some(o.alert)).collect();
        // A second offence is decided by the arbiter, not by the board.
        self.desk.update(
            scene,
            |alert, _| closed.contains(&alert.id) && alert.severity != Severity::Decides,
            |alert| alert.state = AlertState::Cleared,
        );
        self.both_in_check = None;
        self.desk.clear(
            scene,
            &[
                Code::CaptureIncomplete,
                Code::CastlingIncomplete,
                Code::PromotionPieceMissing,
                Code::PiecesRearranged,
                Code::BothKingsInCheck,
                Code::IllegalPosition,
                Code::PawnOnLastRank,
                Code::MovedOutOfTurn,
            ],
        );
        self.turn = None;
    }

    /// An irregular ply stands, because play went on from it.
    pub(super) fn stands(&mut self, scene: &mut Scene<'_>, from: usize, cause: Cause) {
        if cause != Cause::IrregularStands && !scene.game.plies.iter().skip(from).any(|ply| ply.irregular) {
            // A legal ply in place of the faulty turn: the board was put right on the way.
            if scene.game.plies.get(from).is_some_and(|ply| !ply.irregular) {
                let done: Vec<AlertId> = self
                    .offences
                    .iter_mut()
                    .filter(|offence| offence.open && offence.ply == from && !offence.stood)
                    .map(|offence| {
                        offence.open = false;
                        offence.alert
                    })
                    .collect();
                self.desk.update(
                    scene,
                    |alert, _| done.contains(&alert.id) && alert.severity != Severity::Decides,
                    |alert| alert.state = AlertState::Cleared,
                );
            }
            return;
        }
        let window = self.profile.rules.correction_window == CorrectionWindow::UntilNextMove;
        let standing: Vec<usize> = self
            .offences
            .iter()
            .enumerate()
            .filter(|(_, offence)| offence.open && !offence.stood && offence.ply >= from)
            .map(|(index, _)| index)
            .collect();
        for index in standing {
            let offence = &mut self.offences[index];
            offence.stood = true;
            let (side, alert, shown, ply) = (offence.side, offence.alert, offence.shown.clone(), offence.ply);
            if window {
                offence.open = false;
                if std::mem::take(&mut offence.counted) {
                    self.illegal[side] = self.illegal[side].saturating_sub(1);
                }
                self.desk.update(
                    scene,
                    |own, _| own.id == alert,
                    |own| {
                        own.advice = Advice::default();
                        own.deadline = None;
                        own.state = AlertState::Cleared;
                    },
                );
                if self.proposal.is_some_and(|(_, reason)| reason == ResultReason::IllegalMoves) {
                    self.withdraw(scene);
                }
            }
            let notice = Notice::new(Code::IllegalMoveStands).side(side).key(ply).arg("move", shown);
            let notice = if window { notice } else { notice.variant("open").article("7.5.1") };
            self.raise(scene, notice);
        }
    }
}
