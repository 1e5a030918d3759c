//! How long the daemon takes to be there again on the journal of a whole event:
//! `cargo bench --bench startup -- rounds=9 boards=100`.
//!
//! Games of human hands are played in virtual time through the hall, round after round; what is news
//! goes into a journal as the daemon would write it. Then the journal is read back in this process
//! (`recover`), and the real program is started on it until it prints its addresses.

#![expect(clippy::print_stdout, reason = "the figures are this bench's output")]

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use arbiterd::{
    daemon::recover,
    event::Player,
    hall::{
        BoardKey, Command as Order, EventSetup, Hall, Input, InputBody, OptionsSetup, RoundSetup, TableId,
        TableSetup,
    },
    journal::Journal,
    record::{Position, Tags, Timestamp},
    sim::{Level, VirtualOptions, famous_games, play_all},
    wall,
    wire::{BoardIdentity, LinkEvent, Observation},
};

/// 2026-05-01.
const BEGIN: i64 = 1_777_645_800_000;
const DAY: i64 = 24 * 3600 * 1000;

fn main() {
    let full = std::env::args().any(|argument| argument == "--bench");
    let (mut rounds, mut boards) = if full { (9_u32, 100_u32) } else { (1, 2) };
    for word in std::env::args() {
        match word.split_once('=') {
            Some(("rounds", value)) => rounds = value.parse().unwrap_or(rounds),
            Some(("boards", value)) => boards = value.parse().unwrap_or(boards),
            _ => {}
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("arbiterd.sqlite");
    let began = wall::uptime();
    let (inputs, updates) = write(&path, rounds, boards);
    let size = fs::metadata(&path).map_or(0, |file| file.len());
    println!(
        "{rounds} rounds of {boards} boards: {inputs} inputs, {updates} updates, {:.1} MB, played in {:.1} s",
        size as f64 / 1e6,
        wall::uptime().saturating_sub(began).as_secs_f64()
    );
    for _ in 0..3 {
        let began = wall::uptime();
        let journal = Journal::open(&path).expect("the journal");
        let opened = wall::uptime();
        let mut count = 0;
        let hall = recover(&journal, |updates| count += updates.len()).expect("readable");
        println!(
            "opened and checked in {:.3} s, read and folded in {:.3} s ({} tables, {count} updates)",
            opened.saturating_sub(began).as_secs_f64(),
            wall::uptime().saturating_sub(opened).as_secs_f64(),
            hall.table_ids().len()
        );
    }
    let config = folder.path().join("arbiterd.toml");
    fs::write(&config, "[archive]\nfolder = \"archive\"\n[desk]\nlisten = \"127.0.0.1:0\"\n[public]\nlisten = \"127.0.0.1:0\"\n")
        .expect("a file");
    for _ in 0..3 {
        let began = wall::uptime();
        let mut child = Command::new(env!("CARGO_BIN_EXE_arbiterd"))
            .args(["run", "--config"])
            .arg(&config)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        lines.map_while(Result::ok).find(|line| line.starts_with("public")).expect("an address");
        println!("the program serves after {:.3} s", wall::uptime().saturating_sub(began).as_secs_f64());
        child.kill().expect("it was running");
        child.wait().expect("it has ended");
    }
}

/// Plays the event and journals it: inputs and updates.
fn write(path: &std::path::Path, rounds: u32, boards: u32) -> (usize, usize) {
    let mut journal = Journal::open(path).expect("a new journal");
    let mut hall = Hall::new();
    let (mut inputs, mut updates) = (0, 0);
    let games = famous_games();
    for round in 1..=rounds {
        let begin = BEGIN + i64::from(round) * DAY;
        let mut seen: Vec<(i64, BoardKey, Observation)> = Vec::new();
        let key = |board: u32| BoardKey(format!("{}", 20_001 + board));
        for board in 0..boards {
            let seed = u64::from(round * 1000 + board);
            let game = games[(seed % games.len() as u64) as usize].clone();
            let options =
                VirtualOptions { clock_news_only: false, ..VirtualOptions::new(Level::Human, seed) };
            let (observations, _) = play_all(&[game], &options);
            let identity = BoardIdentity { serial: key(board).0, ..BoardIdentity::default() };
            seen.push((begin, key(board), Observation::Link(LinkEvent::Up(identity))));
            seen.extend(observations.into_iter().map(|(at, seen)| (begin + at, key(board), seen)));
        }
        seen.sort_by_key(|(at, ..)| *at);
        let mut lines = Vec::new();
        let mut take = |input: Input, hall: &mut Hall| {
            lines.push(serde_json::to_string(&input).expect("JSON"));
            updates += hall.apply(&input).len();
            inputs += 1;
        };
        let order = |command| Input {
            at: Timestamp::from_millis(begin),
            body: InputBody::Command { by: "configuration".to_owned(), command },
        };
        if round == 1 {
            let event = EventSetup { id: "event".to_owned(), rounds, ..EventSetup::default() };
            take(order(Order::Event { event }), &mut hall);
        }
        let tables = (0..boards).map(|board| TableSetup {
            table: TableId(board + 1),
            board: Some(key(board)),
            white: Player::named(format!("White {board}")),
            black: Player::named(format!("Black {board}")),
            start: Position::default(),
            profile: None,
            time_control: Some("5400+30".to_owned()),
            tags: Tags::default(),
            options: OptionsSetup::default(),
        });
        let setup = RoundSetup { number: round, date: None, tables: tables.collect() };
        take(order(Order::Round { round: setup }), &mut hall);
        for (at, key, observation) in seen {
            let at = Timestamp::from_millis(at);
            if hall.is_news(at, &key, &observation) {
                take(Input { at, body: InputBody::Board(key, observation) }, &mut hall);
            }
        }
        journal.append(lines.iter().map(String::as_str)).expect("room");
    }
    (inputs, updates)
}
