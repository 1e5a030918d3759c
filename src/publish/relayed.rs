//! A public update as a hall hands it to a relay: JSON from which the same update is made again. The
//! stream that viewers get says less (`hall::Update::to_json`); what a PGN needs is all here. What only
//! the desk may see has no form here and cannot leave a hall this way.

use std::sync::Arc;

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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Batch {
    /// Version of this form: 1.
    pub version: u32,
    /// The number of the first; each further one has the next.
    pub first: u64,
    /// What tells this journal from others: when its first update went out.
    pub since: Timestamp,
    /// The updates.
    updates: Vec<Relayed>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Relayed {
    at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    table: Option<TableId>,
    body: Body,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Body {
    Ply { index: usize, ply: Box<PlyForm>, replaces: bool },
    Undo { from: usize },
    Clock(ClockForm),
    Result(Option<(GameResult, ResultReason, ResultState)>),
    Table(Box<TableForm>),
    Round(Value),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlyForm {
    uci: String,
    san: String,
    after: Position,
    irregular: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Box<Position>>,
    state: PlyState,
    source: PlySource,
    made_at: Timestamp,
    pressed_at: Option<Timestamp>,
    white: Option<Seconds>,
    black: Option<Seconds>,
    elapsed: Option<Seconds>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct ClockForm {
    white: Option<Seconds>,
    black: Option<Seconds>,
    /// White's clock runs; none if neither does.
    white_runs: Option<bool>,
    at: Timestamp,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct TableForm {
    round: u32,
    #[serde(default)]
    section: String,
    #[serde(default)]
    board: u32,
    game: u64,
    white: Player,
    black: Player,
    start: Position,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    set: Option<(usize, Position)>,
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
    pub fn new<'a>(
        first: u64,
        since: Timestamp,
        offset: u32,
        updates: impl IntoIterator<Item = &'a Update>,
    ) -> Self {
        let updates = updates.into_iter().filter_map(|update| Relayed::of(update, offset)).collect();
        Self { version: 1, first, since, updates }
    }

    /// The first half of it, where there is more than one.
    #[must_use]
    pub fn half(&self) -> Option<Self> {
        let half = self.updates.len() / 2;
        let updates = self.updates[..half].to_vec();
        (half > 0).then_some(Self { updates, ..*self })
    }

    /// What the last update is about, but for times: the same hall says the same under the same number.
    #[must_use]
    pub fn last_about(&self) -> Option<String> {
        self.updates.last().map(Relayed::about)
    }

    /// The number of the last; of the one before the first, where there is none.
    #[must_use]
    pub fn last(&self) -> u64 {
        (self.first + self.updates.len() as u64).saturating_sub(1)
    }

    /// The message.
    ///
    /// # Errors
    /// None is known: all of it is plain data.
    pub fn to_json(&self) -> Result<String, RelayError> {
        Ok(serde_json::to_string(self)?)
    }

    /// Reads a message.
    ///
    /// # Errors
    /// Not of this form.
    pub fn from_json(bytes: &[u8]) -> Result<Self, RelayError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        // The version first: the form of another is not known here.
        match serde_json::from_slice(bytes)? {
            Versioned { version: 1 } => Ok(serde_json::from_slice(bytes)?),
            Versioned { version } => Err(RelayError::Version(version)),
        }
    }

    /// Reads a message: numbers and updates.
    ///
    /// # Errors
    /// Not of this form.
    pub fn read(bytes: &[u8]) -> Result<Vec<(u64, Update)>, RelayError> {
        let batch = Self::from_json(bytes)?;
        let numbers = batch.first..;
        numbers.zip(batch.updates).map(|(number, form)| Ok((number, form.update(number)?))).collect()
    }
}

impl Relayed {
    fn about(&self) -> String {
        let what = match &self.body {
            Body::Ply { index, ply, .. } => format!("ply {index} {} {:?}", ply.uci, ply.state),
            Body::Undo { from } => format!("undo {from}"),
            Body::Clock(clock) => format!("clock {:?} {:?}", clock.white, clock.black),
            Body::Result(result) => format!("result {result:?}"),
            Body::Table(table) => format!("table {} {}", table.round, table.game),
            Body::Round(_) => "round".to_owned(),
        };
        format!("{:?} {what}", self.table)
    }

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
                section: info.section.clone(),
                board: info.board,
                game: info.game,
                white: info.white.clone(),
                black: info.black.clone(),
                start: info.start.clone(),
                set: info.set.clone(),
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
                UpdateBody::Ply { index, ply: Arc::new(ply.ply()?), replaces }
            }
            Body::Undo { from } => UpdateBody::Undo { from },
            Body::Clock(clock) => UpdateBody::Clock(ClockView {
                white: clock.white,
                black: clock.black,
                running: clock.white_runs.map(Color::from_white),
                at: clock.at,
            }),
            Body::Result(result) => UpdateBody::Result(result),
            Body::Table(form) => UpdateBody::Table(Arc::new(TableInfo {
                round: form.round,
                section: form.section,
                board: form.board,
                game: form.game,
                white: form.white,
                black: form.black,
                start: form.start,
                set: form.set,
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
            origin: ply.origin.clone(),
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
            origin: self.origin,
            state: self.state,
            source: self.source,
            made_at: self.made_at,
            pressed_at: self.pressed_at,
            clock: ByColor { white: self.white, black: self.black },
            elapsed: self.elapsed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hall::BoardKey;

    fn update(table: Option<u32>, body: UpdateBody) -> Update {
        Update { seq: Seq(0), at: Timestamp::from_millis(1_777_645_800_123), table: table.map(TableId), body }
    }

    /// One of each kind the public may see.
    fn all() -> Vec<Update> {
        let before = Position::chess960(77);
        let m = before.legal_moves()[3];
        let ply = Ply {
            uci: before.uci(m),
            san: before.san(m),
            after: before.play(m),
            irregular: true,
            origin: Some(Box::new(Position::chess960(518))),
            state: PlyState::Provisional,
            source: PlySource::Board,
            made_at: Timestamp::from_millis(1_777_645_800_100),
            pressed_at: Some(Timestamp::from_millis(1_777_645_800_120)),
            clock: ByColor { white: Some(Seconds(5400)), black: None },
            elapsed: Some(Seconds(3)),
        };
        let mut info = TableInfo {
            round: 3,
            section: "b".to_owned(),
            board: 4,
            game: 7,
            white: Player { fide_id: Some(1), ..Player::named("Другая, Анна") },
            start: before,
            time_control: "40/5400+30:1800+30".to_owned(),
            status: TableStatus::Playing,
            ..TableInfo::default()
        };
        info.tags.set("GameId", "open-r3-b1");
        info.link.online = true;
        let clock = ClockView {
            white: Some(Seconds(0)),
            black: None,
            running: Some(Color::Black),
            at: Timestamp::from_millis(5),
        };
        let result = (GameResult::Draw, ResultReason::KingsSignal, ResultState::Proposed);
        vec![
            update(None, UpdateBody::Round(serde_json::json!({"number": 3, "event": {"id": "open"}}))),
            update(Some(1), UpdateBody::Table(Arc::new(info))),
            update(Some(1), UpdateBody::Ply { index: 0, ply: Arc::new(ply), replaces: true }),
            update(Some(1), UpdateBody::Clock(clock)),
            update(Some(1), UpdateBody::Result(Some(result))),
            update(Some(1), UpdateBody::Result(None)),
            update(Some(1), UpdateBody::Undo { from: 0 }),
        ]
    }

    #[test]
    fn what_a_hall_says_is_what_a_relay_reads() {
        let mut updates = all();
        // What the desk alone knows of a board stays there.
        let mut secret = updates[1].clone();
        if let UpdateBody::Table(info) = &mut secret.body {
            Arc::make_mut(info).link.board = Some(BoardKey("23946".to_owned()));
        }
        let batch = Batch::new(5, Timestamp::from_millis(9), 100, updates[..1].iter().chain([&secret]));
        assert_eq!((batch.last(), batch.to_json().unwrap().contains("23946")), (6, false));
        let batch = Batch::new(5, Timestamp::from_millis(9), 100, &updates);
        let read = Batch::read(batch.to_json().unwrap().as_bytes()).unwrap();
        for (update, number) in updates.iter_mut().zip(5..) {
            update.seq = Seq(number);
            update.table = update.table.map(|table| TableId(table.0 + 100));
        }
        assert_eq!(read, (5..).zip(updates).collect::<Vec<_>>());
    }

    /// The words behind a FEN for Chess960 and a move's number are not mixed up.
    #[test]
    fn positions_at_any_move_come_back_as_they_are() {
        for (fen, mode) in [
            ("8/8/8/6K1/1k6/8/8/8 w - - 995 960", shakmaty::CastlingMode::Standard),
            ("8/8/8/6K1/1k6/8/8/8 w - - 995 960", shakmaty::CastlingMode::Chess960),
            ("8/8/8/6K1/1k6/8/8/8 w - - 960 1", shakmaty::CastlingMode::Standard),
        ] {
            let position = Position::from_fen(fen, mode).unwrap();
            let text = serde_json::to_string(&position).unwrap();
            let read: Position = serde_json::from_str(&text).unwrap();
            assert_eq!((read.fen().as_str(), read.mode()), (fen, mode));
        }
    }

    #[test]
    fn another_version_and_noise_are_refused_and_halves_stay_in_order() {
        let batch = Batch::new(1, Timestamp::default(), 0, &all());
        let text = batch.to_json().unwrap();
        let newer = text.replacen("\"version\":1", "\"version\":2,\"also\":[]", 1);
        assert!(matches!(Batch::read(newer.as_bytes()), Err(RelayError::Version(2))));
        assert!(matches!(Batch::read(b"[]"), Err(RelayError::Json(_))));
        let nonsense = text.replacen("\"uci\":\"", "\"uci\":\"z", 1);
        assert!(matches!(Batch::read(nonsense.as_bytes()), Err(RelayError::Move(_))));
        let half = batch.half().unwrap();
        assert_eq!((half.first, half.last()), (1, 3));
        assert_eq!(Batch::new(1, Timestamp::default(), 0, &all()[..1]).half().map(|half| half.last()), None);
    }
}
