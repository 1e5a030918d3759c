//! `arbiterd replay`: scenario files, raw captures and journals through the live code.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use clap::Parser;
use serde_json::{Value, json};

use super::scenario;
use crate::{
    hall::{
        BoardKey, Command, EventSetup, Hall, Input, InputBody, OptionsSetup, RoundSetup, TableId, TableSetup,
        UpdateBody,
    },
    journal::{Journal, JournalError},
    record::{GameResult, Timestamp},
    wire::{BoardIdentity, LinkEvent, Observation, dgt::any::Decoder},
};

/// The longest line of a scenario file, in bytes.
const MAX_LINE: u64 = 4 << 20;
/// The largest capture, in bytes: a week of one board.
const MAX_CAPTURE: u64 = 256 << 20;

/// Arguments of `arbiterd replay`.
#[derive(Debug, Parser)]
#[command(
    after_help = "Examples:\n  arbiterd replay cases.jsonl\n  arbiterd replay board-7.bin\n  arbiterd replay hall.sqlite"
)]
pub(super) struct Args {
    /// A scenario file (`.jsonl`), a raw capture (`.bin`) or a journal (`.sqlite`).
    file: PathBuf,
}

/// Runs it. Exit code 0, or 2 when something could not be read.
pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut out = std::io::stdout().lock();
    let mut start = [0; 16];
    let mut file = File::open(&args.file)
        .with_context(|| format!("cannot open {}; name a file that exists", args.file.display()))?;
    let length = read_up_to(&mut file, &mut start)?;
    if start[..length].starts_with(b"SQLite format 3") {
        return journal(&args.file, &mut out);
    }
    match args.file.extension().and_then(|extension| extension.to_str()) {
        Some("bin") => capture(&args.file, &mut out),
        Some("jsonl" | "json") => scenarios(&args.file, &mut out),
        _ if start[..length].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{') => {
            scenarios(&args.file, &mut out)
        }
        _ => bail!(
            "{} is neither a scenario file (.jsonl), a capture (.bin) nor a journal",
            args.file.display()
        ),
    }
}

fn read_up_to(file: &mut File, buffer: &mut [u8]) -> anyhow::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read(&mut buffer[length..])? {
            0 => break,
            n => length += n,
        }
    }
    Ok(length)
}

fn scenarios(path: &Path, out: &mut impl Write) -> anyhow::Result<u8> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut code = 0;
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        match scenario::run(text.trim()) {
            Ok(outcome) => {
                for what in outcome["unheard"].as_array().into_iter().flatten() {
                    eprintln!("arbiterd: {} line {number}: not understood: {what}", path.display());
                }
                writeln!(out, "{outcome}")?;
            }
            Err(error) => {
                eprintln!("arbiterd: {} line {number}: {error:#}", path.display());
                let id =
                    serde_json::from_str::<Value>(text.trim()).ok().and_then(|line| line.get("id").cloned());
                writeln!(out, "{}", json!({"id": id, "line": number, "error": format!("{error:#}")}))?;
                code = 2;
            }
        }
    }
    Ok(code)
}

/// A capture has bytes without times: each observation counts as 100 ms after the one before,
/// as a board's own pace allows.
fn capture(path: &Path, out: &mut impl Write) -> anyhow::Result<u8> {
    const STEP: i64 = 100;
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_CAPTURE).read_to_end(&mut bytes)?;
    let mut hall = Hall::new();
    let board = BoardKey(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    let table = TableSetup {
        table: TableId(1),
        board: Some(board.clone()),
        white: crate::event::Player::default(),
        black: crate::event::Player::default(),
        start: crate::record::Position::default(),
        profile: None,
        time_control: None,
        tags: crate::record::Tags::default(),
        options: OptionsSetup::default(),
    };
    let mut alerts = Alerts::default();
    let mut at = Timestamp::from_millis(0);
    let mut feed = |at: Timestamp, body: InputBody, alerts: &mut Alerts| {
        for update in hall.apply(&Input { at, body }) {
            alerts.note(update.table, &update.body);
        }
    };
    let by = || "replay".to_owned();
    feed(
        at,
        InputBody::Command { by: by(), command: Command::Event { event: EventSetup::default() } },
        &mut alerts,
    );
    let round = RoundSetup { number: 1, date: None, tables: vec![table] };
    feed(at, InputBody::Command { by: by(), command: Command::Round { round } }, &mut alerts);
    let identity = BoardIdentity { serial: board.0.clone(), ..BoardIdentity::default() };
    feed(at, InputBody::Board(board.clone(), Observation::Link(LinkEvent::Up(identity))), &mut alerts);
    let mut decoder = Decoder::new();
    let mut observations = Vec::new();
    for byte in bytes {
        decoder.feed(&[byte], &mut observations);
        for observation in observations.drain(..) {
            at = at.plus(STEP);
            feed(at, InputBody::Board(board.clone(), observation), &mut alerts);
        }
    }
    decoder.finish(&mut observations);
    for observation in observations {
        feed(at, InputBody::Board(board.clone(), observation), &mut alerts);
    }
    for update in hall.advance(at.plus(5000)) {
        alerts.note(update.table, &update.body);
    }
    report(&hall, &mut alerts, out)?;
    Ok(0)
}

fn journal(path: &Path, out: &mut impl Write) -> anyhow::Result<u8> {
    let journal = Journal::open_read_only(path)?;
    let mut hall = Hall::new();
    let mut alerts = Alerts::default();
    journal.read(|entry| {
        let input: Input = serde_json::from_str(&entry.text).map_err(|error| JournalError::Damaged {
            path: path.to_owned(),
            why: format!("input {}: {error}", entry.number),
        })?;
        for update in hall.apply(&input) {
            alerts.note(update.table, &update.body);
        }
        Ok::<_, JournalError>(())
    })?;
    report(&hall, &mut alerts, out)?;
    Ok(0)
}

/// Alerts by table and number, as they stood last.
#[derive(Debug, Default)]
struct Alerts(std::collections::BTreeMap<TableId, std::collections::BTreeMap<u32, Value>>);

impl Alerts {
    fn note(&mut self, table: Option<TableId>, body: &UpdateBody) {
        if let (Some(table), UpdateBody::Alert(alert)) = (table, body) {
            self.0.entry(table).or_default().insert(alert.id.0, json!(alert));
        }
    }
}

fn report(hall: &Hall, alerts: &mut Alerts, out: &mut impl Write) -> anyhow::Result<()> {
    for id in hall.table_ids() {
        let Some(game) = hall.game(id) else { continue };
        let moves: Vec<String> = game.plies.iter().map(|ply| ply.uci.to_string()).collect();
        let raised: Vec<Value> = alerts.0.remove(&id).unwrap_or_default().into_values().collect();
        let result = game.result.map_or("*", |(result, ..): (GameResult, _, _)| result.word());
        writeln!(out, "{}", json!({"table": id, "moves": moves, "result": result, "alerts": raised}))?;
    }
    Ok(())
}
