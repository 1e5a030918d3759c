//! Tests only: one line from the hands to the record, in virtual time. Simulated boards, a line that
//! damages bytes and whose cable is pulled, the driver, the hall.

#[path = "../../tests/it/support/acceptance.rs"]
mod acceptance;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use crate::{
    event::Player,
    hall::{
        BoardKey, Command, EventSetup, Hall, Input, InputBody, OptionsSetup, RoundSetup, TableId, TableSetup,
        Update, UpdateBody,
    },
    laws::{Alert, AlertId},
    record::{PlySource, Position, Tags, Timestamp},
    sim::{
        self, BoardConfig, DeviceSetup, Firmware, HandOptions, Level, Pace, Script, SimGame, famous_games,
        hand,
    },
    wire::{LinkEvent, Observation},
};

use acceptance::{difference, needed};

use super::{
    config::PortConfig,
    driver::{Ask, Driver, Io},
    health::LineHealth,
    line::Line,
    registry::Registry,
};

/// A thousandth of all bytes, both ways.
const DAMAGED_PPM: u32 = 1000;
/// How long a game takes, more or less, in ms.
const GAME_MS: u64 = 150_000;
/// Bytes that are handed over together.
const PIECE: usize = 80;
/// The cable is away for so long, in ms.
const AWAY: u64 = 60_000;
/// The first serial number.
const FIRST: u32 = 1025;

/// A line with its boards, and a hall with a table for each.
struct Trial {
    driver: Line,
    far: Box<dyn sim::Line>,
    scripts: Vec<Option<Script>>,
    games: Vec<SimGame>,
    truth: Vec<Vec<u64>>,
    begun: Vec<u64>,
    end: u64,
    health: LineHealth,
    registry: Registry,
    hall: Hall,
    rng: fastrand::Rng,
    now: u64,
    outbox: VecDeque<(u64, Vec<u8>)>,
    plugged: bool,
    open: bool,
    reopen_at: u64,
    alerts: BTreeMap<(TableId, AlertId), Alert>,
}

impl Trial {
    /// These games, each on its board of one line.
    fn new(games: Vec<SimGame>, seed: u64) -> Self {
        let (mut boards, mut scripts) = (Vec::new(), Vec::new());
        for (index, game) in games.iter().enumerate() {
            let seed = seed * 1000 + index as u64;
            let mean = (GAME_MS / game.moves.len() as u64).saturating_sub(1_400).max(400);
            let options = HandOptions {
                pace: Pace::Mean(mean),
                reset_after_last: false,
                wait_ms: 20_000,
                ..HandOptions::new(Level::Human, seed)
            };
            let script = hand::script(std::slice::from_ref(game), &options);
            let setup = DeviceSetup {
                clock: Some(game.control.clone()),
                board: script.board.clone(),
                seed,
                ..DeviceSetup::default()
            };
            let serial = FIRST + index as u32;
            boards.push(Firmware::new(BoardConfig { serial, setup, ..BoardConfig::default() }));
            scripts.push(script);
        }
        let truth =
            scripts.iter().map(|s| s.games[0].plies.iter().map(|ply| ply.made_ms).collect()).collect();
        let end = scripts.iter().map(|script| script.end_ms).max().unwrap_or(0);
        let far: Box<dyn sim::Line> = match boards.len() {
            1 => Box::new(boards.remove(0)),
            _ => Box::new(sim::Chain::new(boards)),
        };
        let mut trial = Self {
            driver: Line::new(&PortConfig::new("/dev/none")),
            far,
            begun: vec![u64::MAX; games.len()],
            scripts: scripts.into_iter().map(Some).collect(),
            truth,
            end,
            health: LineHealth::default(),
            registry: Registry::default(),
            hall: Hall::new(),
            rng: fastrand::Rng::with_seed(seed),
            now: 0,
            outbox: VecDeque::new(),
            plugged: true,
            open: false,
            reopen_at: 0,
            alerts: BTreeMap::new(),
            games,
        };
        trial.set_up();
        trial
    }

    fn set_up(&mut self) {
        let event = EventSetup { id: "test".to_owned(), rounds: 1, ..EventSetup::default() };
        self.order(Command::Event { event });
        let tables = self.games.iter().enumerate().map(|(index, game)| {
            let period = &game.control.periods[0];
            TableSetup {
                table: TableId(index as u32 + 1),
                board: Some(key(index)),
                white: Player::named(format!("White {index}")),
                black: Player::named(format!("Black {index}")),
                start: Position::default(),
                profile: None,
                time_control: Some(format!("{}+{}", period.seconds, period.increment)),
                tags: Tags::default(),
                options: OptionsSetup::default(),
            }
        });
        let round = RoundSetup { number: 1, date: None, tables: tables.collect() };
        self.order(Command::Round { round });
    }

    fn at(&self) -> Timestamp {
        Timestamp::from_millis(1_777_645_800_000).plus(self.now as i64)
    }

    fn order(&mut self, command: Command) {
        self.apply(InputBody::Command { by: "operator".to_owned(), command });
    }

    fn apply(&mut self, body: InputBody) {
        let updates = self.hall.apply(&Input { at: self.at(), body });
        self.note(updates);
    }

    fn note(&mut self, updates: Vec<Update>) {
        for update in updates {
            if let (Some(table), UpdateBody::Alert(alert)) = (update.table, update.body) {
                self.alerts.insert((table, alert.id), Alert::clone(&alert));
            }
        }
    }

    fn tell(&mut self, serial: Option<Arc<str>>, observation: Observation) {
        if let Some(serial) = serial {
            let key = BoardKey(serial.to_string());
            if self.hall.is_news(self.at(), &key, &observation) {
                self.apply(InputBody::Board(key, observation));
            }
        }
    }

    /// One step of the driver, as the port's thread makes it.
    fn step(&mut self, act: impl FnOnce(&mut Line, &mut Io<'_>) -> Result<(), String>) {
        let mut io = Io {
            now: Duration::from_millis(self.now),
            at: Timestamp::from_millis(1_777_645_800_000).plus(self.now as i64),
            send: Vec::new(),
            tell: Vec::new(),
            health: &mut self.health,
            registry: &self.registry,
        };
        let result = act(&mut self.driver, &mut io);
        let (mut send, tell) = (io.send, io.tell);
        for (serial, observation) in tell {
            self.tell(serial, observation);
        }
        if let Err(reason) = result {
            return self.lost(&reason);
        }
        if self.plugged && !send.is_empty() {
            self.damage(&mut send);
            self.far.receive(self.now, &send);
        }
    }

    fn lost(&mut self, reason: &str) {
        self.open = false;
        self.reopen_at = self.now + 250 + self.rng.u64(0..if self.plugged { 250 } else { 4_750 });
        for serial in self.driver.boards() {
            self.registry.release(&serial, "");
            self.tell(Some(serial), Observation::Link(LinkEvent::Down(reason.to_owned())));
        }
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        let rng = &mut self.rng;
        bytes.retain_mut(|byte| {
            if rng.u32(0..1_000_000) >= DAMAGED_PPM {
                return true;
            }
            let flip = rng.bool();
            if flip {
                *byte ^= 1 << rng.u32(0..8);
            }
            flip
        });
    }

    fn unplug(&mut self) {
        self.plugged = false;
        self.outbox.clear();
        if self.open {
            self.lost("pulled");
        }
    }

    fn plug(&mut self) {
        self.plugged = true;
        self.reopen_at = self.now + self.rng.u64(0..5_000);
    }

    fn until(&mut self, end: u64) {
        while self.now < end {
            self.now += 5;
            self.go_on();
        }
    }

    fn go_on(&mut self) {
        let mut out = Vec::new();
        self.far.advance(self.now, &mut out);
        for (at, bytes) in out {
            let whole = bytes.len() as u64;
            for (index, piece) in bytes.chunks(PIECE).enumerate() {
                let sent = (index * PIECE + piece.len()) as u64;
                self.outbox.push_back((at.saturating_sub((whole - sent) * 10_000 / 9_600), piece.to_vec()));
            }
        }
        let mut bytes = Vec::new();
        while let Some((_, mut piece)) = self.outbox.pop_front_if(|(at, _)| *at <= self.now) {
            self.damage(&mut piece);
            bytes.append(&mut piece);
        }
        for (board, script) in self.scripts.iter_mut().enumerate() {
            if script.is_some() && self.far.followed(board) {
                self.begun[board] = self.now;
                for (at, action) in script.take().into_iter().flat_map(|script| script.actions) {
                    self.far.act(board, self.now + at, action);
                }
            }
        }
        let updates = self.hall.advance(self.at());
        self.note(updates);
        if !self.open {
            if !self.plugged || self.now < self.reopen_at {
                return;
            }
            self.open = true;
            self.step(|driver, io| {
                driver.opened(io);
                Ok(())
            });
        }
        let asks = self.hall.take_wants_dump();
        self.hall.take_questions();
        self.step(|driver, io| {
            if !bytes.is_empty() {
                driver.received(&bytes, io)?;
            }
            for board in asks {
                driver.ask(Some(&board.0), Ask::Dump, io);
            }
            driver.tick(io)
        });
    }

    /// Plies made so far on a board.
    fn made(&self, board: usize) -> usize {
        let passed = self.now.saturating_sub(self.begun[board].min(self.now));
        self.truth[board].iter().filter(|made| **made <= passed).count()
    }

    /// Plays to the end; the cable is pulled for a minute at this moment after the boards' start.
    /// Answers what is wrong.
    fn play(&mut self, pulled_at: Option<u64>) -> Vec<String> {
        let mut dark = vec![(0, 0); self.games.len()];
        while self.begun.iter().any(|begun| *begun > self.now) && self.now < 60_000 {
            self.now += 5;
            self.go_on();
        }
        let begun = self.now;
        if let Some(at) = pulled_at {
            self.until(begun + at);
            for (board, dark) in dark.iter_mut().enumerate() {
                // What is on record already was seen, though the hand may be on the piece still.
                let known = self.hall.game(TableId(board as u32 + 1)).map_or(0, |game| game.plies.len());
                dark.0 = self.made(board).max(known);
            }
            self.unplug();
            self.until(begun + at + AWAY);
            for (board, dark) in dark.iter_mut().enumerate() {
                dark.1 = self.made(board);
            }
            self.plug();
        }
        self.until(begun + self.end + 15_000);
        let mut faults = Vec::new();
        for (index, game) in self.games.iter().enumerate() {
            self.check(index, game, dark[index], &mut faults);
        }
        for ((table, _), alert) in &self.alerts {
            let cleared = alert.state == crate::laws::AlertState::Cleared;
            let known = alert.severity == crate::laws::Severity::Log
                || needed(alert.code.word(), cleared, pulled_at.is_some());
            if !known {
                faults.push(format!(
                    "table {}: not needed: {} ({:?}) at ply {}, {} ms: {}",
                    table.0,
                    alert.code.word(),
                    alert.state,
                    alert.ply,
                    alert.at.since(Timestamp::from_millis(1_777_645_800_000)),
                    alert.text.en
                ));
            }
        }
        faults
    }

    fn check(&self, index: usize, game: &SimGame, dark: (usize, usize), faults: &mut Vec<String>) {
        let number = index + 1;
        let Some(record) = self.hall.game(TableId(number as u32)) else { return };
        let found: Vec<String> = record.plies.iter().map(|ply| ply.uci.to_string()).collect();
        if let Some(how) = difference(&found, &game.uci()) {
            faults.push(format!("table {number}: {how}; in the dark: {dark:?}"));
        }
        let result = record.result.map(|(result, ..)| result);
        if game.result.is_some() && result != game.result {
            faults.push(format!("table {number}: result {result:?} instead of {:?}", game.result));
        }
        for (ply, made) in record.plies.iter().enumerate() {
            if (dark.0..dark.1).contains(&ply)
                && !matches!(made.source, PlySource::Recovered | PlySource::Bridged)
            {
                faults.push(format!("table {number}: ply {ply} was played in the dark: {:?}", made.source));
            }
        }
    }
}

fn key(index: usize) -> BoardKey {
    BoardKey(format!("{:05}", FIRST as usize + index))
}

/// Games long enough for a cable to be pulled in them.
fn long_games() -> Vec<SimGame> {
    famous_games().into_iter().filter(|game| (33..=71).contains(&game.moves.len())).collect()
}

/// The seeds to be tried: `ARBITERD_TRIALS=1..50`, or a few.
fn seeds() -> std::ops::Range<u64> {
    let asked = std::env::var("ARBITERD_TRIALS").ok();
    let asked = asked.as_deref().and_then(|asked| asked.split_once(".."));
    match asked.map(|(from, to)| (from.parse(), to.parse())) {
        Some((Ok(from), Ok(to))) => from..to,
        _ => 1..2,
    }
}

#[test]
fn a_chain_of_ten_is_right_on_a_damaged_line_that_is_pulled() {
    let mut faults = Vec::new();
    for seed in seeds() {
        let games: Vec<SimGame> = long_games().into_iter().cycle().take(10).collect();
        let pulled = 15_000 + seed % 8 * 7_000;
        let mut trial = Trial::new(games, seed);
        faults.extend(trial.play(Some(pulled)).into_iter().map(|fault| format!("seed {seed}, {fault}")));
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_board_alone_is_right_on_a_damaged_line_that_is_pulled() {
    let mut faults = Vec::new();
    for seed in seeds() {
        for (index, game) in long_games().into_iter().enumerate() {
            let seed = seed * 100 + index as u64;
            // Half of them with the cable left alone.
            let pulled = seed.is_multiple_of(2).then_some(12_000 + seed % 7 * 9_000);
            let mut trial = Trial::new(vec![game], seed);
            faults.extend(trial.play(pulled).into_iter().map(|fault| format!("seed {seed}, {fault}")));
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
