//! A hall on bad lines, in real time: ten boards on one chain and eight on lines of their own play
//! while a thousandth of all bytes is damaged and three cables are pulled for a minute.
//!
//! What must come out: every game right, and the plies played in the dark marked. What stands on the
//! arbiters' and operators' lists that they need not see is counted and printed.

use std::{collections::BTreeMap, fmt::Write as _, path::Path, thread, time::Duration};

use arbiterd::{
    sim::{
        BoardConfig, Chain, DeviceSetup, Firmware, HallOptions, HandOptions, Level, Pace, Script, SimGame,
        SimHall, SimPort, famous_games, hand, port_name,
    },
    wall,
};
use serde_json::Value;

use crate::support::{
    acceptance::{difference, needed},
    daemon::{Daemon, http_get, moves},
};

const ON_THE_CHAIN: usize = 10;
const ALONE: usize = 8;
/// Damaged or lost: a thousandth of all bytes, both ways.
const DAMAGED_PPM: u32 = 1000;
/// How long each game takes, more or less.
const GAME_MS: u64 = 150_000;
/// A cable is away for so long.
const AWAY: Duration = Duration::from_mins(1);

/// A different run for each: `ARBITERD_SEED=7 cargo test … --ignored damaged_hall`.
fn seed() -> u64 {
    std::env::var("ARBITERD_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1)
}

/// Eighteen games of 33 to 71 plies; shorter ones would be over before a cable is pulled.
fn games() -> Vec<SimGame> {
    let games: Vec<SimGame> =
        famous_games().into_iter().filter(|game| (33..=71).contains(&game.moves.len())).collect();
    games.into_iter().cycle().take(ON_THE_CHAIN + ALONE).collect()
}

fn script(game: &SimGame, seed: u64) -> Script {
    let mean = (GAME_MS / game.moves.len() as u64).saturating_sub(1_400).max(400);
    let options = HandOptions {
        pace: Pace::Mean(mean),
        reset_after_last: false,
        // The boards are up before the round begins.
        wait_ms: 20_000,
        ..HandOptions::new(Level::Human, seed)
    };
    hand::script(std::slice::from_ref(game), &options)
}

fn board(serial: u32, game: &SimGame, script: &Script, seed: u64) -> BoardConfig {
    let setup = DeviceSetup {
        clock: Some(game.control.clone()),
        board: script.board.clone(),
        seed,
        ..DeviceSetup::default()
    };
    BoardConfig { serial, setup, ..BoardConfig::default() }
}

/// Port 0 is the chain, its boards in the order of the first ten games; then the single boards.
fn hall(folder: &Path, games: &[SimGame]) -> SimHall {
    let mut chain = (Vec::new(), Vec::new());
    let mut ports = Vec::new();
    for (index, game) in games.iter().enumerate() {
        let seed = seed() * 1000 + index as u64;
        let script = script(game, seed);
        let config = board(serial(index), game, &script, seed);
        if index < ON_THE_CHAIN {
            chain.0.push(Firmware::new(config));
            chain.1.push(script);
        } else {
            ports.push(SimPort::board(port_name(index), config, script));
        }
    }
    let (boards, scripts) = chain;
    ports.insert(0, SimPort { name: "chain".to_owned(), line: Box::new(Chain::new(boards)), scripts });
    let options =
        HallOptions { damaged_ppm: DAMAGED_PPM, seed: seed(), ..HallOptions::new(folder.join("boards")) };
    SimHall::start(ports, &options).expect("pseudo-terminals")
}

/// Small enough for addresses on a chain.
fn serial(index: usize) -> u32 {
    1025 + index as u32
}

/// The port of a table and the board's place on it.
fn place(table: usize) -> (usize, usize) {
    if table < ON_THE_CHAIN { (0, table) } else { (table - ON_THE_CHAIN + 1, 0) }
}

fn config(folder: &Path, hall: &SimHall, games: &[SimGame]) -> std::path::PathBuf {
    let mut text = String::from(
        "[event]\nid = \"test\"\nname = \"Test\"\n[round]\nnumber = 1\n[archive]\nfolder = \"archive\"\n\
         [desk]\nlisten = \"127.0.0.1:0\"\n[public]\nlisten = \"127.0.0.1:0\"\n",
    );
    for (index, game) in games.iter().enumerate() {
        let period = &game.control.periods[0];
        writeln!(
            text,
            "[[table]]\nnumber = {}\nboard = \"{:05}\"\nwhite = \"White {index}\"\nblack = \"Black {index}\"\n\
             time_control = \"{}+{}\"",
            index + 1,
            serial(index),
            period.seconds,
            period.increment,
        )
        .expect("a string takes all");
    }
    for port in hall.ports() {
        writeln!(text, "[[port]]\npath = {:?}", port.to_str().expect("UTF-8")).expect("a string takes all");
    }
    let path = folder.join("arbiterd.toml");
    std::fs::write(&path, text).expect("a writable folder");
    path
}

/// Which plies of a table were made while its cable was away: first and one past the last.
type Dark = BTreeMap<usize, (usize, usize)>;

/// Pulls the cable of a port for a minute. What is on record already was seen, though the hand may be on
/// the piece still.
fn pull(hall: &SimHall, daemon: &Daemon, port: usize, tables: &[usize], dark: &mut Dark) {
    let made = |table: &usize| {
        let (port, board) = place(*table);
        hall.progress(port, board).plies
    };
    let known = daemon.tables();
    let before: Vec<usize> =
        tables.iter().map(|table| made(table).max(moves(&known[*table]).len())).collect();
    hall.unplug(port, false);
    thread::sleep(AWAY);
    for (table, before) in tables.iter().zip(before) {
        dark.insert(*table, (before, made(table)));
    }
    hall.plug(port);
}

#[test]
#[ignore = "plays for four minutes in real time"]
fn eighteen_games_are_right_on_damaged_lines_with_three_cables_pulled() {
    let folder = tempfile::tempdir().expect("a folder");
    let games = games();
    let hall = hall(folder.path(), &games);
    let daemon = Daemon::run(&config(folder.path(), &hall, &games));
    daemon.until("all games to begin", |tables| tables.iter().all(|table| !moves(table).is_empty()));

    let mut dark = Dark::new();
    thread::scope(|scope| {
        let chain: Vec<usize> = (0..ON_THE_CHAIN).collect();
        let (one, other) = ([ON_THE_CHAIN + 1], [ON_THE_CHAIN + 6]);
        let (hall, daemon) = (&hall, &daemon);
        let pulls =
            [(place(one[0]).0, one.to_vec(), 5), (0, chain, 15), (place(other[0]).0, other.to_vec(), 30)]
                .map(|(port, tables, after)| {
                    scope.spawn(move || {
                        thread::sleep(Duration::from_secs(after));
                        let mut dark = Dark::new();
                        pull(hall, daemon, port, &tables, &mut dark);
                        dark
                    })
                });
        for pull in pulls {
            dark.extend(pull.join().expect("a cable is pulled and plugged"));
        }
    });

    // Until everything is played and the boards' last words are in.
    let give_up = wall::uptime() + Duration::from_mins(6);
    while !hall.finished() && wall::uptime() < give_up {
        thread::sleep(Duration::from_millis(200));
    }
    assert!(hall.finished(), "the hands are done");
    thread::sleep(Duration::from_secs(15));

    let tables = daemon.tables();
    let alerts: Value = serde_json::from_str(&http_get(&daemon.desk, "/api/v1/alerts")).expect("JSON");
    let (mut faults, mut needless) = (Vec::new(), Vec::new());
    for (index, (table, game)) in tables.iter().zip(&games).enumerate() {
        check_game(index, table, game, dark.get(&index).copied(), &mut faults);
    }
    let mut counts = BTreeMap::<&str, usize>::new();
    for alert in alerts.as_array().expect("a list") {
        let code = alert["code"].as_str().expect("a code");
        *counts.entry(code).or_default() += 1;
        let index = alert["table"].as_u64().expect("a table") as usize - 1;
        let known = alert["severity"] == "log"
            || needed(code, alert["state"] == "cleared", dark.contains_key(&index));
        if !known {
            needless.push(format!(
                "table {}: not needed: {code} ({}, {}, {}) at ply {}: {} {}",
                index + 1,
                alert["severity"],
                alert["audience"],
                alert["state"],
                alert["ply"],
                alert["at"],
                alert["text"]["en"],
            ));
        }
    }
    let links: BTreeMap<_, _> = dark.iter().map(|(table, (from, to))| (table + 1, to - from)).collect();
    eprintln!("plies in the dark by table: {links:?}\nalerts by code: {counts:?}");
    eprintln!("{} alerts that nobody needs:\n{}", needless.len(), needless.join("\n"));
    if !faults.is_empty() && std::env::var_os("ARBITERD_KEEP").is_some() {
        eprintln!("kept: {}", folder.keep().display());
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert_eq!(daemon.terminate(), Some(0));
    hall.stop();
}

fn check_game(
    index: usize,
    table: &Value,
    game: &SimGame,
    dark: Option<(usize, usize)>,
    faults: &mut Vec<String>,
) {
    let number = index + 1;
    if let Some(how) = difference(&moves(table), &game.uci()) {
        faults.push(format!("table {number}: {how}; in the dark: {dark:?}"));
    }
    if game.result.is_some()
        && table["result"]["value"] != game.result.map(arbiterd::record::GameResult::word).unwrap_or_default()
    {
        faults.push(format!("table {number}: result {} instead of {:?}", table["result"], game.result));
    }
    let (from, to) = dark.unwrap_or_default();
    for (ply, made) in table["plies"].as_array().expect("plies").iter().enumerate() {
        let source = made["source"].as_str().unwrap_or_default();
        if (from..to).contains(&ply) && !matches!(source, "recovered" | "bridged") {
            faults.push(format!("table {number}: ply {ply} was played in the dark and is {source:?}"));
        }
    }
}
