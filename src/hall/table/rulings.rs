//! The referee's word and what it does: alerts, results, and questions that take long.

use std::sync::Arc;

use serde_json::{Value, json};
use shakmaty::Color;

use super::{Table, TableId, TableStatus, UpdateBody, setup};
use crate::{
    laws::{AlertState, Code, Referee, Ruling, mate},
    record::{Game, GameResult, ResultReason, ResultState, Timestamp},
    track::Evidence,
};

/// A question that takes too long to answer while a move waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MateQuestion {
    /// Which table asks.
    pub table: TableId,
    /// The position.
    pub fen: String,
    /// Chess960 castling.
    pub chess960: bool,
    /// Who would have to mate.
    pub side: Color,
}

impl MateQuestion {
    /// Answers it with the full budget, in the form the journal keeps:
    /// `{"can_mate":"yes"|"no"|"unknown","line":[UCI…],"reason":…,"nodes":…}`. May take seconds.
    #[must_use]
    pub fn answer(&self) -> Value {
        let mode = shakmaty::CastlingMode::from_chess960(self.chess960);
        match mate::report(&self.fen, mode, &mate::Budget::default()) {
            Ok(report) => json!(report)[self.side.fold_wb("white", "black")].clone(),
            Err(error) => {
                json!({"can_mate": "unknown", "line": [], "reason": error.to_string(), "nodes": 0})
            }
        }
    }
}

impl Table {
    /// Lets the referee speak, and does what it says.
    pub(in crate::hall) fn rule(
        &mut self,
        at: Timestamp,
        ask: impl FnOnce(&mut Referee, &Game, &mut Vec<Ruling>),
    ) {
        let mut rulings = Vec::new();
        ask(&mut self.referee, &self.game, &mut rulings);
        for ruling in rulings {
            self.apply_ruling(at, ruling);
        }
        let counts = self.referee.counts();
        if self.info.counts.as_deref() != Some(&counts) {
            self.info.counts = Some(Arc::new(counts));
            self.announce();
        }
    }

    fn apply_ruling(&mut self, at: Timestamp, ruling: Ruling) {
        match ruling {
            Ruling::Alert(mut alert) => {
                if self.muted.contains(&alert.code) && alert.state == AlertState::Open {
                    alert.state = AlertState::Acknowledged;
                }
                if alert.code == Code::ResultConflict {
                    if matches!(alert.state, AlertState::Open | AlertState::Acknowledged) {
                        self.conflicts.insert(alert.id);
                    } else {
                        self.conflicts.remove(&alert.id);
                    }
                }
                let incident = setup::alert_incident(&alert, &self.game, &self.placement(), &self.shown);
                self.out.push(UpdateBody::Alert(Arc::from(alert)));
                self.incident(at, incident);
            }
            Ruling::Result { result, reason, state } => self.set_result(at, Some((result, reason, state))),
            Ruling::NoResult => self.set_result(at, None),
            Ruling::ExchangeClockSides => self.exchange_clock_sides(at),
            Ruling::Answer(answer) => {
                // The half-hourly sheet belongs into the log whether anybody looks or not.
                if answer["act"] == "time-control-sheet" {
                    self.incident(at, json!({"kind": "sheet", "sheet": answer["sheet"]}));
                }
                self.out.push(UpdateBody::Answer(answer));
            }
            Ruling::AskMate { fen, side } => self.questions.push(MateQuestion {
                table: self.id,
                fen,
                chess960: self.setup.start.mode().is_chess960(),
                side,
            }),
        }
    }

    fn set_result(&mut self, at: Timestamp, result: Option<(GameResult, ResultReason, ResultState)>) {
        if self.game.result == result {
            return;
        }
        let was_closed = self.game.result.is_some_and(closes);
        let is_closed = result.is_some_and(closes);
        self.game.result = result;
        self.out.push(UpdateBody::Result(result));
        if is_closed {
            self.clock_of_last_ply();
            if !was_closed {
                // The record is closed: what the board shows from now on is evidence, not moves.
                self.track_evidence(at, &Evidence::Closed);
                self.shown.running = None;
                self.out.push(UpdateBody::Clock(self.shown));
            }
            self.set_status(TableStatus::Ended);
        } else if was_closed {
            self.info.status = TableStatus::Playing;
            self.track_evidence(at, &Evidence::Reopened);
            self.announce();
        }
    }
}

/// Nothing played after this result belongs to the game. A flag or a second illegal move that only
/// the program has seen does not end it yet: both count once the arbiter has noticed (Laws 6.8, 7.5).
pub(super) fn closes((_, reason, state): (GameResult, ResultReason, ResultState)) -> bool {
    state == ResultState::Final
        || matches!(
            reason,
            ResultReason::KingsSignal | ResultReason::ThreefoldClaim | ResultReason::FiftyMoveClaim
        )
}
