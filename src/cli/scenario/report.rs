//! The line that is printed for a scenario: what was read, what was raised, what was answered.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Run, TABLE, form::Scenario, letter};
use crate::{
    hall::TableId,
    laws::{Alert, Code},
    record::GameResult,
};

impl Run {
    pub(super) fn report(mut self, scenario: &Scenario) -> Value {
        self.read_pgn();
        let game = self.hall.game(TABLE).cloned().unwrap_or_default();
        let moves: Vec<String> = match &self.typed {
            Some(typed) => typed.clone(),
            None => game.plies.iter().map(|ply| ply.uci.to_string()).collect(),
        };
        let result = self.typed_result.or(game.result.map(|(result, ..)| result));
        let mut alerts: Vec<Value> =
            self.outcome.alerts.values().map(|(at, alert)| alert_line(*at, alert)).collect();
        alerts.append(&mut self.outcome.notes);
        let last_advice = |pick: fn(&Alert) -> Option<Value>| {
            self.outcome.alerts.values().rev().find_map(|(_, alert)| pick(alert))
        };
        let penalty = last_advice(|alert| {
            let add = alert.advice.add_seconds?;
            Some(json!({"to": letter(add.to), "add_s": add.seconds}))
        });
        let answered =
            |key: &str| self.outcome.answers.iter().rev().find_map(|answer| answer.get(key).cloned());
        let irregular: Vec<usize> =
            game.plies.iter().enumerate().filter(|(_, ply)| ply.irregular).map(|(index, _)| index).collect();
        let counts = self.hall.counts(TABLE).unwrap_or_default();
        let mut line = json!({
            "id": scenario.id,
            "moves": moves,
            // An adjourned game has none yet.
            "result": result.filter(|result| *result != GameResult::Adjourned).map_or("*", GameResult::word),
            "alerts": alerts,
            "claim": self.outcome.answers.iter().rev().find(|answer| answer.get("valid").is_some()),
            "penalty": answered("penalty").or(penalty),
            "clock_after": answered("clock_after").or_else(|| last_advice(|alert| {
                let clock = alert.advice.resulting_clock?;
                Some(json!({"w": clock.white, "b": clock.black}))
            })),
            "restore_fen": last_advice(|alert| alert.advice.restore_fen.clone().map(Value::from)),
            "must_move_from": last_advice(|alert| {
                let squares = &alert.advice.must_move_from;
                (!squares.is_empty()).then(|| json!(squares))
            }),
            "must_play": answered("must_play")
                .or_else(|| last_advice(|alert| alert.advice.must_play.clone().map(Value::from))),
            "illegal_count": counts.get("illegal"),
            "record_obligatory": counts.get("record_obligatory"),
            "illegal_plies": irregular,
            "clock": {"w": self.clock.white, "b": self.clock.black, "run": self.clock.running.map(letter)},
            "position": game.position().fen(),
            "sensed": self.squares.to_board(false).board_fen().to_string(),
            "counts": counts,
            "tell_players": self.tell_players(),
            "round_state": self.round_state(),
        });
        if let Some(pending) = last_advice(|alert| {
            (alert.code == Code::PromotionPieceMissing)
                .then(|| alert.detail.get("candidates").cloned())
                .flatten()
        }) {
            line["pending"] = pending;
        }
        if let Some((first, then)) = self.hall.open_plies(TABLE).filter(|(first, _)| !first.is_empty()) {
            line["pending"] = json!(first);
            line["then"] = json!(then);
        }
        if !self.outcome.unheard.is_empty() {
            line["unheard"] = json!(self.outcome.unheard);
        }
        for (key, value) in self.outcome.extra {
            line[key] = value;
        }
        line
    }

    /// False when nothing of what was raised may be told to the players.
    fn tell_players(&self) -> bool {
        self.outcome.alerts.values().any(|(_, alert)| alert.audience != crate::laws::Audience::ArbiterSilent)
    }

    fn round_state(&self) -> &'static str {
        let running: BTreeSet<TableId> = self
            .hall
            .table_ids()
            .into_iter()
            .filter(|id| self.hall.game(*id).is_some_and(|game| game.result.is_none()))
            .collect();
        if running.is_empty() { "finished" } else { "live" }
    }
}

fn alert_line(at: i64, alert: &Alert) -> Value {
    let mut line = json!(alert);
    line["side"] = json!(alert.side.map(letter));
    line["t"] = json!(at);
    line
}
