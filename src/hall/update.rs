//! What comes out of the hall: one numbered stream, in the shape the world sees.
//!
//! `docs` of the wire form: `interfaces.md`'s twin in the README. One encoder: [`Update::to_json`].

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shakmaty::{Color, Piece, Square};

use super::{BoardKey, TableId};
use crate::{
    event::Player,
    laws::{Alert, Code, Counts},
    record::{GameResult, Ply, PlyState, Position, ResultReason, ResultState, Seconds, Tags, Timestamp},
    wire::BatteryReading,
};

/// The number of an update, from 1, without gaps, for the life of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// One update.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// Its number.
    pub seq: Seq,
    /// The time of the input (or deadline) that caused it.
    pub at: Timestamp,
    /// The table it is about; `None` for the event and the round.
    pub table: Option<TableId>,
    /// What changed.
    pub body: UpdateBody,
}

/// What an update says.
#[derive(Clone, Debug, PartialEq)]
pub enum UpdateBody {
    /// A ply was made, revised or confirmed.
    Ply {
        /// Its index from 0 (the stream counts from 1).
        index: usize,
        /// The ply.
        ply: Arc<Ply>,
        /// It takes the place of another move.
        replaces: bool,
    },
    /// Plies from this index (0-based) on are gone.
    Undo {
        /// The first that is gone.
        from: usize,
    },
    /// The clock.
    Clock(ClockView),
    /// The result, or none any more.
    Result(Option<(GameResult, ResultReason, ResultState)>),
    /// The table's data: players, status, link. Also opens a new game (see `game`).
    Table(Arc<TableInfo>),
    /// Desk only: squares that changed, or the whole board.
    Sensed {
        /// Placement of what is sensed, in game squares.
        placement: String,
        /// The one square that changed, with what left and what came; `None` after a dump.
        change: Option<(Square, Option<Piece>, Option<Piece>)>,
    },
    /// Desk only: an alert, new or changed.
    Alert(Arc<Alert>),
    /// Desk only: the answer to a claim or another entry.
    Answer(Value),
    /// The event or the round changed: `{"event":…,"round":…,"delay_seconds":…,"live":…}`.
    Round(Value),
    /// Desk only: an entry into the incident log.
    Incident(Value),
    /// Desk only: a board of the hall, at a table or not.
    Board(BoardView),
    /// Desk only: all adjourned games that are at no table any more.
    Adjourned(Value),
}

/// A board of the hall, whether a table has it or not.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BoardView {
    /// What it is known by.
    pub board: BoardKey,
    /// It answers.
    pub online: bool,
    /// Model and firmware in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The table it belongs to.
    pub table: Option<TableId>,
}

/// A clock as shown. Clients extrapolate from `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ClockView {
    /// Seconds left, where known.
    pub white: Option<Seconds>,
    /// Seconds left, where known.
    pub black: Option<Seconds>,
    /// Whose clock runs.
    pub running: Option<Color>,
    /// When this was read.
    pub at: Timestamp,
}

/// Where a table stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableStatus {
    /// No board, or not yet the start position.
    #[default]
    Waiting,
    /// The start position stands: the game may begin.
    Armed,
    /// It is being played.
    Playing,
    /// It has ended.
    Ended,
}

/// The state of a table's board and line.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LinkView {
    /// The board bound to the table.
    pub board: Option<BoardKey>,
    /// It answers.
    pub online: bool,
    /// Why not, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Model and firmware in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Battery, where the board has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub battery: Option<BatteryReading>,
    /// The board lies turned by 180 degrees.
    pub rotated: bool,
    /// A clock is connected.
    pub clock: bool,
}

/// A table's data.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TableInfo {
    /// Round, from 1.
    pub round: u32,
    /// The section, where the event has several.
    pub section: String,
    /// Number of the game in its round, from 1; the table's, but for sections that begin at a later one.
    pub board: u32,
    /// Number of the game in this journal; a new one means a new game with no plies.
    pub game: u64,
    /// White.
    pub white: Player,
    /// Black.
    pub black: Player,
    /// Where the game starts.
    pub start: Position,
    /// A position that a person set after so many plies, where the game stands until another is made.
    pub set: Option<(usize, Position)>,
    /// PGN tags for the archive (the seven, names, ratings, `GameId`…), without the result.
    pub tags: Tags,
    /// The rules profile.
    pub profile: String,
    /// The time control as text.
    pub time_control: String,
    /// Where it stands.
    pub status: TableStatus,
    /// The board's line.
    pub link: LinkView,
    /// Desk only: the tallies kept by the referee (made, completed, illegal, obligations…).
    pub counts: Option<Arc<Counts>>,
    /// Desk only: kinds of alerts that are muted at this table.
    pub muted: Vec<Code>,
    /// Desk only: where the game was adjourned, until it goes on:
    /// `{"at","fen","turn","move_number","white","black","plies","resuming","sealed"}`, times in seconds; else null.
    pub adjourned: Value,
    /// Desk only: the players have signed their score sheets.
    pub signed: bool,
}

impl Update {
    /// Only the desk may have it: sensed squares, alerts, answers, incidents.
    #[must_use]
    pub fn desk_only(&self) -> bool {
        matches!(
            self.body,
            UpdateBody::Sensed { .. }
                | UpdateBody::Alert(_)
                | UpdateBody::Answer(_)
                | UpdateBody::Incident(_)
                | UpdateBody::Board(_)
                | UpdateBody::Adjourned(_)
        )
    }

    /// The message of the stream. `desk` adds what only the desk may see.
    #[must_use]
    pub fn to_json(&self, desk: bool) -> Value {
        let mut message = match &self.body {
            UpdateBody::Ply { index, ply, replaces } => {
                json!({"type": "ply", "ply": ply_json(*index, ply, *replaces)})
            }
            UpdateBody::Undo { from } => json!({"type": "undo", "from": from + 1}),
            UpdateBody::Clock(clock) => json!({"type": "clock", "clock": clock.to_json()}),
            UpdateBody::Result(result) => json!({"type": "result", "result": result_json(*result)}),
            UpdateBody::Table(info) => {
                let mut message = info.to_json(desk);
                message["type"] = json!("table");
                message
            }
            UpdateBody::Sensed { placement, change } => json!({
                "type": "sensed",
                "board": placement,
                "change": change.map(|(square, was, now)| json!({
                    "square": square.to_string(), "from": was.map(Piece::char), "to": now.map(Piece::char),
                })),
            }),
            UpdateBody::Alert(alert) => json!({"type": "alert", "alert": alert}),
            UpdateBody::Answer(answer) => json!({"type": "answer", "answer": answer}),
            UpdateBody::Round(round) => json!({"type": "round", "round": round}),
            UpdateBody::Incident(incident) => json!({"type": "incident", "incident": incident}),
            UpdateBody::Board(board) => json!({"type": "board", "board": board}),
            UpdateBody::Adjourned(games) => json!({"type": "adjourned", "games": games}),
        };
        message["seq"] = json!(self.seq);
        message["at"] = json!(self.at.millis());
        if let Some(table) = self.table {
            message["table"] = json!(table);
        }
        message
    }
}

/// A ply as the stream writes it.
#[must_use]
pub(super) fn ply_json(index: usize, ply: &Ply, replaces: bool) -> Value {
    let n = index + 1;
    let mut message = json!({
        "n": n,
        "uci": ply.uci.to_string(),
        "san": ply.san,
        "fen": ply.after.fen(),
        "state": match ply.state { PlyState::Provisional => "provisional", PlyState::Confirmed => "confirmed" },
        "replaces": replaces.then_some(n),
        "clock": {"white": ply.clock.white, "black": ply.clock.black},
        "elapsed": ply.elapsed,
        "illegal": ply.irregular,
        "source": ply.source,
    });
    if let Some(origin) = &ply.origin {
        message["origin"] = json!(origin.fen());
    }
    message
}

/// A result as the stream writes it.
#[must_use]
pub(super) fn result_json(result: Option<(GameResult, ResultReason, ResultState)>) -> Value {
    result.map_or(
        Value::Null,
        |(value, reason, state)| json!({"value": value.word(), "reason": reason, "state": state}),
    )
}

impl ClockView {
    /// The clock as the stream writes it: seconds, and `at` in milliseconds since 1970 UTC.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "white": self.white,
            "black": self.black,
            "running": self.running.map(|side| side.fold_wb("white", "black")),
            "at": self.at.millis(),
        })
    }
}

impl TableInfo {
    /// The table as the stream writes it.
    #[must_use]
    pub fn to_json(&self, desk: bool) -> Value {
        let mut message = json!({
            "round": self.round,
            "game": self.game,
            "players": {"white": self.white, "black": self.black},
            "status": self.status,
            "start": self.start.fen(),
            "set": self.set.as_ref().map(|(plies, position)| json!({"after": plies, "fen": position.fen()})),
            "chess960": self.start.mode().is_chess960(),
            "time_control": self.time_control,
        });
        if !self.section.is_empty() {
            message["section"] = json!(self.section);
        }
        message["board"] = json!(self.board);
        if desk {
            message["signed"] = json!(self.signed);
            message["adjourned"] = self.adjourned.clone();
            message["link"] = json!(self.link);
            message["profile"] = json!(self.profile);
            message["counts"] = json!(self.counts.as_ref().map(|counts| counts.to_json()));
            message["muted"] = json!(self.muted);
        } else {
            message["link"] = json!({"online": self.link.online});
        }
        message
    }

    /// Whether the public is told the same of both: what [`TableInfo::to_json`] has for it.
    #[must_use]
    pub fn is_same_to_the_public(&self, other: &Self) -> bool {
        let of = |info: &Self| (info.round, info.game, info.board, info.status, info.link.online);
        of(self) == of(other)
            && (&self.section, &self.time_control) == (&other.section, &other.time_control)
            && (&self.white, &self.black, &self.start) == (&other.white, &other.black, &other.start)
    }
}
