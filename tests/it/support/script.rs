//! Updates as the hall makes them, from moves written down: for tests of what goes out.

use std::sync::Arc;

use arbiterd::{
    event::Player,
    hall::{ClockView, Seq, TableId, TableInfo, TableStatus, Update, UpdateBody},
    record::{
        GameResult, Ply, PlySource, PlyState, Position, ResultReason, ResultState, Seconds, Tags, Timestamp,
    },
};
use serde_json::json;
use shakmaty::{ByColor, Color, uci::UciMove};

/// When the scripts begin.
pub(crate) const BEGIN: i64 = 1_777_645_800_000;

/// Writes the updates of a hall.
pub(crate) struct Script {
    seq: u64,
    /// The present moment.
    pub(crate) now: i64,
    /// The last position of each table, and its plies.
    games: std::collections::BTreeMap<u32, (Position, usize)>,
    next_game: u64,
}

impl Script {
    pub(crate) fn new() -> Self {
        Self { seq: 0, now: BEGIN, games: std::collections::BTreeMap::new(), next_game: 1 }
    }

    /// So many milliseconds pass.
    pub(crate) fn pass(&mut self, millis: i64) {
        self.now += millis;
    }

    pub(crate) fn update(&mut self, table: Option<u32>, body: UpdateBody) -> Update {
        self.seq += 1;
        let at = Timestamp::from_millis(self.now);
        Update { seq: Seq(self.seq), at, table: table.map(TableId), body }
    }

    /// The event, its round and the delay.
    pub(crate) fn round(&mut self, number: u32, delay_seconds: u32) -> Update {
        self.update(
            None,
            UpdateBody::Round(json!({
                "event": {"id": "open", "name": "Open", "site": "Town", "rounds": 9, "time_control": "5400+30"},
                "number": number, "date": "2026-05-01", "delay_seconds": delay_seconds, "live": true,
            })),
        )
    }

    pub(crate) fn info(&self, round: u32, table: u32) -> TableInfo {
        let mut tags = Tags::default();
        for (name, value) in [("Event", "Open"), ("Site", "Town"), ("Date", "2026.05.01")] {
            tags.set(name, value);
        }
        tags.set("Round", format!("{round}.{table}"));
        tags.set("White", format!("White{table}, Anna"));
        tags.set("Black", format!("Black{table}, Bela"));
        tags.set("GameId", format!("open-r{round}-b{table}"));
        let mut info = TableInfo {
            round,
            game: self.next_game,
            white: Player { fide_id: Some(1000 + table), ..Player::named(format!("White{table}, Anna")) },
            black: Player::named(format!("Black{table}, Bela")),
            tags,
            time_control: "5400+30".to_owned(),
            status: TableStatus::Playing,
            ..TableInfo::default()
        };
        info.link.board = Some(arbiterd::hall::BoardKey(format!("{}", 20000 + table)));
        info.link.online = true;
        info
    }

    /// A new game at a table.
    pub(crate) fn game(&mut self, round: u32, table: u32) -> Update {
        self.next_game += 1;
        let info = self.info(round, table);
        self.games.insert(table, (Position::default(), 0));
        self.update(Some(table), UpdateBody::Table(Arc::new(info)))
    }

    /// Where a table's game stands.
    pub(crate) fn position(&self, table: u32) -> &Position {
        &self.games.get(&table).expect("a game").0
    }

    /// How many plies it has.
    pub(crate) fn plies(&self, table: u32) -> usize {
        self.games.get(&table).expect("a game").1
    }

    /// A table's game has so many plies after a correction, and stands here.
    pub(crate) fn undone(&mut self, table: u32, plies: usize, position: Position) {
        self.games.insert(table, (position, plies));
    }

    /// A move of this state.
    pub(crate) fn ply(&mut self, table: u32, uci: &str, state: PlyState) -> Update {
        let (position, index) = self.games.get(&table).cloned().expect("a game");
        let (after, ply) = self.make(&position, uci, state, index);
        self.games.insert(table, (after, index + 1));
        self.update(Some(table), UpdateBody::Ply { index, ply: Arc::new(ply), replaces: false })
    }

    /// A confirmed move.
    pub(crate) fn moved(&mut self, table: u32, uci: &str) -> Update {
        self.ply(table, uci, PlyState::Confirmed)
    }

    pub(crate) fn make(
        &self,
        before: &Position,
        uci: &str,
        state: PlyState,
        index: usize,
    ) -> (Position, Ply) {
        let uci: UciMove = uci.parse().expect("a move");
        let m = before.find_uci(uci).expect("a legal move");
        let mut clock = ByColor::default();
        *clock.get_mut(before.turn()) = Some(Seconds(5400 - index as u32));
        let after = before.play(m);
        let ply = Ply {
            uci,
            san: before.san(m),
            after: after.clone(),
            irregular: false,
            origin: None,
            state,
            source: PlySource::Board,
            made_at: Timestamp::from_millis(self.now),
            pressed_at: None,
            clock,
            elapsed: Some(Seconds(3)),
        };
        (after, ply)
    }

    pub(crate) fn clock(&mut self, table: u32, white: u32, black: u32, running: Option<Color>) -> Update {
        let at = Timestamp::from_millis(self.now);
        let clock = ClockView { white: Some(Seconds(white)), black: Some(Seconds(black)), running, at };
        self.update(Some(table), UpdateBody::Clock(clock))
    }

    pub(crate) fn result(&mut self, table: u32, result: GameResult) -> Update {
        let result = (result, ResultReason::Entered, ResultState::Final);
        self.update(Some(table), UpdateBody::Result(Some(result)))
    }

    pub(crate) fn sensed(&mut self, table: u32) -> Update {
        self.update(Some(table), UpdateBody::Sensed { placement: "8/8/8/8/8/8/8/8".to_owned(), change: None })
    }
}
