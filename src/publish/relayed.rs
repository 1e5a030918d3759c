//! A public update as a hall hands it to a relay: JSON from which the same update is made again. The
//! stream that viewers get says less (`hall::Update::to_json`); what a PGN needs is all here. What only
//! the desk may see has no form here and cannot leave a hall this way.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use shakmaty::{ByColor, Color};

use crate::{
    event::Player,
    hall::{ClockView, LinkView, Seq, TableId, TableInfo, TableStatus, Update, UpdateBody},
    record::{
        GameResult, Ply, PlySource, PlyState, Position, ResultReason, ResultState, Seconds, Tags, Timestamp,
    },
};

/// Updates of one hall in order, as one message.
#[derive(Debug, Serialize, Deserialize)]
pub struct Batch {
    /// Version of this form: 1.
    pub version: u32,
    /// The number of the first; each further one has the next.
    pub first: u64,
    /// The updates.
    updates: Vec<Relayed>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Relayed {
    at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<TableId>,
    #[serde(flatten)]
    body: Body,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Body {
    Ply { index: usize, ply: Box<PlyForm>, replaces: bool },
    Undo { from: usize },
    Clock(ClockForm),
    Result(Option<(GameResult, ResultReason, ResultState)>),
    Table(Box<TableForm>),
    Round(Value),
}

#[derive(Debug, Serialize, Deserialize)]
struct PlyForm {
    uci: String,
    san: String,
    after: Position,
    irregular: bool,
    state: PlyState,
    source: PlySource,
    made_at: Timestamp,
    pressed_at: Option<Timestamp>,
    white: Option<Seconds>,
    black: Option<Seconds>,
    elapsed: Option<Seconds>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ClockForm {
    white: Option<Seconds>,
    black: Option<Seconds>,
    /// White's clock runs; none if neither does.
    white_runs: Option<bool>,
    at: Timestamp,
}

#[derive(Debug, Serialize, Deserialize)]
struct TableForm {
    round: u32,
    game: u64,
    white: Player,
    black: Player,
    start: Position,
    tags: Tags,
    time_control: String,
    status: TableStatus,
    online: bool,
}

/// A message that is not of this form.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// Not JSON, or other fields.
    #[error("a hall's message cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// A later program's.
    #[error("a hall speaks version {0}, this program 1; update the older of the two")]
    Version(u32),
    /// A move that is none.
    #[error("a hall's message holds {0:?} as a move")]
    Move(String),
}

impl Batch {
    /// These updates, the first of which has the number `first`; those for the desk are left out by
    /// whoever numbers them. Tables are counted up by `offset`, so that several halls can share an event.
    #[must_use]
    pub fn new<'a>(first: u64, offset: u32, updates: impl IntoIterator<Item = &'a Update>) -> Self {
        let updates = updates.into_iter().filter_map(|update| Relayed::of(update, offset)).collect();
        Self { version: 1, first, updates }
    }

    /// The number of the last.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.first + self.updates.len() as u64 - u64::from(!self.updates.is_empty())
    }

    /// The message.
    ///
    /// # Errors
    /// None is known: all of it is plain data.
    pub fn to_json(&self) -> Result<String, RelayError> {
        Ok(serde_json::to_string(self)?)
    }

    /// Reads a message: numbers and updates.
    ///
    /// # Errors
    /// Not of this form.
    pub fn read(bytes: &[u8]) -> Result<Vec<(u64, Update)>, RelayError> {
        let batch: Self = serde_json::from_slice(bytes)?;
        if batch.version != 1 {
            return Err(RelayError::Version(batch.version));
        }
        let numbers = batch.first..;
        numbers.zip(batch.updates).map(|(number, form)| Ok((number, form.update(number)?))).collect()
    }
}

impl Relayed {
    fn of(update: &Update, offset: u32) -> Option<Self> {
        let body = match &update.body {
            UpdateBody::Ply { index, ply, replaces } => {
                Body::Ply { index: *index, ply: Box::new(PlyForm::of(ply)), replaces: *replaces }
            }
            UpdateBody::Undo { from } => Body::Undo { from: *from },
            UpdateBody::Clock(clock) => Body::Clock(ClockForm {
                white: clock.white,
                black: clock.black,
                white_runs: clock.running.map(Color::is_white),
                at: clock.at,
            }),
            UpdateBody::Result(result) => Body::Result(*result),
            UpdateBody::Table(info) => Body::Table(Box::new(TableForm {
                round: info.round,
                game: info.game,
                white: info.white.clone(),
                black: info.black.clone(),
                start: info.start.clone(),
                tags: info.tags.clone(),
                time_control: info.time_control.clone(),
                status: info.status,
                online: info.link.online,
            })),
            UpdateBody::Round(round) => Body::Round(round.clone()),
            UpdateBody::Sensed { .. }
            | UpdateBody::Alert(_)
            | UpdateBody::Answer(_)
            | UpdateBody::Incident(_)
            | UpdateBody::Board(_)
            | UpdateBody::Adjourned(_) => return None,
        };
        let table = update.table.map(|table| TableId(table.0.saturating_add(offset)));
        Some(Self { at: update.at, table, body })
    }

    fn update(self, number: u64) -> Result<Update, RelayError> {
        let body = match self.body {
            Body::Ply { index, ply, replaces } => {
                UpdateBody::Ply { index, ply: Box::new(ply.ply()?), replaces }
            }
            Body::Undo { from } => UpdateBody::Undo { from },
            Body::Clock(clock) => UpdateBody::Clock(ClockView {
                white: clock.white,
                black: clock.black,
                running: clock.white_runs.map(Color::from_white),
                at: clock.at,
            }),
            Body::Result(result) => UpdateBody::Result(result),
            Body::Table(form) => UpdateBody::Table(Box::new(TableInfo {
                round: form.round,
                game: form.game,
                white: form.white,
                black: form.black,
                start: form.start,
                tags: form.tags,
                time_control: form.time_control,
                status: form.status,
                link: LinkView { online: form.online, ..LinkView::default() },
                ..TableInfo::default()
            })),
            Body::Round(round) => UpdateBody::Round(round),
        };
        Ok(Update { seq: Seq(number), at: self.at, table: self.table, body })
    }
}

impl PlyForm {
    fn of(ply: &Ply) -> Self {
        Self {
            uci: ply.uci.to_string(),
            san: ply.san.clone(),
            after: ply.after.clone(),
            irregular: ply.irregular,
            state: ply.state,
            source: ply.source,
            made_at: ply.made_at,
            pressed_at: ply.pressed_at,
            white: ply.clock.white,
            black: ply.clock.black,
            elapsed: ply.elapsed,
        }
    }

    fn ply(self) -> Result<Ply, RelayError> {
        let uci = self.uci.parse().map_err(|_| RelayError::Move(self.uci.clone()))?;
        Ok(Ply {
            uci,
            san: self.san,
            after: self.after,
            irregular: self.irregular,
            state: self.state,
            source: self.source,
            made_at: self.made_at,
            pressed_at: self.pressed_at,
            clock: ByColor { white: self.white, black: self.black },
            elapsed: self.elapsed,
        })
    }
}
