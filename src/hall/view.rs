//! A read model: the hall as one audience knows it, folded from the updates it was given.
//!
//! The desk has one, fed at once; the public has another, fed by the delay queue. A snapshot for a
//! client that joins is made from here, never from the hall itself.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use serde_json::{Value, json};
use shakmaty::{Color, Piece, Square};

use super::{
    BoardKey, BoardView, ClockView, IncidentLog, Seq, TableId, TableInfo, Update, UpdateBody,
    update::{ply_json, result_json},
};
use crate::{
    laws::{Alert, AlertId, AlertState},
    record::{Game, Timestamp},
};

/// How long touches are kept for the trace, in milliseconds.
const TRACE_MILLIS: i64 = 10 * 60 * 1000;
/// The most touches kept for one table.
const TRACE_TOUCHES: usize = 2000;
/// The most alerts kept for one table beyond the open ones.
const ALERTS: usize = 500;

/// One table as an audience knows it.
#[derive(Clone, Debug, Default)]
pub struct TableView {
    /// Players, status, link.
    pub info: Arc<TableInfo>,
    /// The game with its plies and result.
    pub game: Game,
    /// The clock.
    pub clock: ClockView,
    /// Desk only: placement of what is sensed.
    pub sensed: String,
    /// Desk only: alerts by number.
    pub alerts: BTreeMap<AlertId, Arc<Alert>>,
    /// Desk only: touches of the last ten minutes, oldest first.
    pub trace: VecDeque<(Timestamp, Square, Option<Piece>, Option<Piece>)>,
    /// Desk only: since when whose clock ran, for as long as touches are kept.
    pub turns: VecDeque<(Timestamp, Option<Color>)>,
}

/// The hall as an audience knows it.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Desk or public.
    pub desk: bool,
    /// The last update folded in.
    pub seq: Seq,
    /// Tables by number.
    pub tables: BTreeMap<TableId, TableView>,
    /// Event and round.
    pub round: Value,
    /// Desk only: the incident log, oldest first.
    pub incidents: IncidentLog,
    /// Desk only: the boards of the hall.
    pub boards: BTreeMap<BoardKey, BoardView>,
    /// Desk only: adjourned games that are at no table any more.
    pub adjourned: Value,
}

impl View {
    /// An empty view.
    #[must_use]
    pub fn new(desk: bool) -> Self {
        Self { desk, ..Self::default() }
    }

    /// Folds one update in. Desk-only updates only count their number in a public view.
    pub fn apply(&mut self, update: &Update) {
        self.seq = update.seq;
        if update.desk_only() && !self.desk {
            return;
        }
        let Some(table) = update.table else {
            match &update.body {
                UpdateBody::Round(round) => self.round = round.clone(),
                UpdateBody::Incident(incident) => self.incidents.push(incident),
                UpdateBody::Board(board) => {
                    self.boards.insert(board.board.clone(), board.clone());
                }
                UpdateBody::Adjourned(games) => self.adjourned = games.clone(),
                _ => {}
            }
            return;
        };
        let view = self.tables.entry(table).or_default();
        match &update.body {
            UpdateBody::Ply { index, ply, replaces } => {
                if *replaces {
                    view.game.plies.truncate(*index);
                }
                match view.game.plies.get_mut(*index) {
                    Some(old) => old.clone_from(ply),
                    None => view.game.plies.push(Arc::clone(ply)),
                }
            }
            UpdateBody::Undo { from } => view.game.plies.truncate(*from),
            UpdateBody::Clock(clock) => {
                if self.desk && view.turns.back().is_none_or(|(_, running)| *running != clock.running) {
                    view.turns.push_back((clock.at, clock.running));
                    // The turn that ran at the beginning of the trace began before it.
                    while view.turns.len() > TRACE_TOUCHES
                        || view.turns.get(1).is_some_and(|(at, _)| clock.at.since(*at) > TRACE_MILLIS)
                    {
                        view.turns.pop_front();
                    }
                }
                view.clock = *clock;
            }
            UpdateBody::Result(result) => view.game.result = *result,
            UpdateBody::Table(info) => {
                if info.game != view.info.game {
                    view.game = Game::new(info.start.clone());
                    view.alerts.clear();
                }
                if view.game.start != info.start {
                    view.game.start = info.start.clone();
                }
                view.game.set.clone_from(&info.set);
                if view.game.tags != info.tags {
                    view.game.tags.clone_from(&info.tags);
                }
                view.info = Arc::clone(info);
            }
            UpdateBody::Sensed { placement, change } => {
                view.sensed.clone_from(placement);
                if let Some((square, was, now)) = change {
                    view.trace.push_back((update.at, *square, *was, *now));
                    while view.trace.len() > TRACE_TOUCHES
                        || view.trace.front().is_some_and(|(at, ..)| update.at.since(*at) > TRACE_MILLIS)
                    {
                        view.trace.pop_front();
                    }
                }
            }
            UpdateBody::Alert(alert) => {
                view.alerts.insert(alert.id, Arc::clone(alert));
                if view.alerts.len() > ALERTS {
                    let closed = view
                        .alerts
                        .iter()
                        .find(|(_, alert)| matches!(alert.state, AlertState::Resolved | AlertState::Cleared));
                    if let Some(id) = closed.map(|(id, _)| *id) {
                        view.alerts.remove(&id);
                    }
                }
            }
            UpdateBody::Incident(incident) => self.incidents.push(incident),
            UpdateBody::Answer(_)
            | UpdateBody::Round(_)
            | UpdateBody::Board(_)
            | UpdateBody::Adjourned(_) => {}
        }
    }

    /// The `tables` of a snapshot, all or only these.
    #[must_use]
    pub fn tables_json(&self, only: Option<&[TableId]>) -> Value {
        self.tables
            .iter()
            .filter(|(id, _)| only.is_none_or(|only| only.contains(id)))
            .map(|(id, table)| table.to_json(*id, self.desk))
            .collect()
    }

    /// The snapshot message of the stream.
    #[must_use]
    pub fn snapshot(&self, only: Option<&[TableId]>) -> Value {
        json!({"type": "snapshot", "seq": self.seq, "round": self.round, "tables": self.tables_json(only)})
    }
}

impl TableView {
    /// The table with its whole game.
    #[must_use]
    pub fn to_json(&self, id: TableId, desk: bool) -> Value {
        let mut table = self.info.to_json(desk);
        table["table"] = json!(id);
        table["fen"] = json!(self.game.position().fen());
        table["plies"] =
            self.game.plies.iter().enumerate().map(|(index, ply)| ply_json(index, ply, false)).collect();
        table["clock"] = self.clock.to_json();
        table["result"] = result_json(self.game.result);
        if desk {
            table["sensed"] = json!(self.sensed);
            table["alerts"] = self
                .alerts
                .values()
                .filter(|alert| matches!(alert.state, AlertState::Open | AlertState::Acknowledged))
                .map(|alert| json!(alert))
                .collect();
        }
        table
    }
}
