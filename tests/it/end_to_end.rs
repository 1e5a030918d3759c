//! The whole: simulated boards on real pseudo-terminals, the real program, its journal, its
//! listeners and its archive.

use std::{fs, path::Path, time::Duration};

use arbiterd::{
    record::pgn,
    sim::{
        BoardConfig, DeviceSetup, HallOptions, HandOptions, Level, Pace, SimGame, SimHall, SimPort,
        famous_games, hand, port_name,
    },
};
use serde_json::Value;

use crate::support::daemon::{Daemon, http_get, moves, write_config};

/// Boards that play the first `count` famous games at `speed` times the speed of life.
pub(crate) fn boards(folder: &Path, count: usize, speed: f64) -> (SimHall, Vec<SimGame>, Vec<u32>) {
    let games: Vec<SimGame> = famous_games().into_iter().take(count).collect();
    let serials: Vec<u32> = (0..count as u32).map(|index| 30_001 + index).collect();
    let ports = games.iter().zip(&serials).enumerate().map(|(index, (game, serial))| {
        let options = HandOptions {
            pace: Pace::Mean(4_000),
            reset_after_last: false,
            ..HandOptions::new(Level::Human, index as u64 + 7)
        };
        let script = hand::script(std::slice::from_ref(game), &options);
        let setup =
            DeviceSetup { clock: Some(game.control.clone()), seed: index as u64, ..DeviceSetup::default() };
        let config = BoardConfig { serial: *serial, setup, ..BoardConfig::default() };
        SimPort::board(port_name(index), config, script)
    });
    let options = HallOptions { speed, ..HallOptions::new(folder.join("boards")) };
    let hall = SimHall::start(ports.collect(), &options).expect("pseudo-terminals");
    (hall, games, serials)
}

pub(crate) fn config(folder: &Path, hall: &SimHall, serials: &[u32]) -> std::path::PathBuf {
    let boards: Vec<_> = serials.iter().copied().zip(hall.ports().iter().cloned()).collect();
    write_config(folder, &boards)
}

/// Every table has its whole game, and the archive says the same.
fn assert_all_right(daemon: &Daemon, folder: &Path, games: &[SimGame]) {
    let tables = daemon.until("all games to end", |tables| {
        tables.iter().zip(games).all(|(table, game)| {
            moves(table).len() == game.moves.len()
                && table["plies"]
                    .as_array()
                    .is_some_and(|plies| plies.iter().all(|ply| ply["state"] == "confirmed"))
        })
    });
    for (table, game) in tables.iter().zip(games) {
        assert_eq!(moves(table), game.uci(), "table {}", table["table"]);
    }
    for (index, game) in games.iter().enumerate() {
        let wanted = game.uci();
        // The archive follows within a second; the test waits until it does.
        let path = folder.join(format!("archive/round-1/game-{}.pgn", index + 1));
        let archived = || -> Vec<String> {
            let Ok(bytes) = fs::read(&path) else { return Vec::new() };
            let game = pgn::read_games(&bytes).next().expect("one game").expect("a readable game").0;
            game.plies.iter().map(|ply| ply.uci.to_string()).collect()
        };
        let give_up = arbiterd::wall::uptime() + Duration::from_secs(30);
        while archived() != wanted && arbiterd::wall::uptime() < give_up {
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(archived(), wanted, "{}", path.display());
    }
}

#[test]
fn killed_in_the_middle_the_games_go_on_where_they_were() {
    let folder = tempfile::tempdir().expect("a folder");
    let (hall, games, serials) = boards(folder.path(), 2, 4.0);
    let config = config(folder.path(), &hall, &serials);

    let daemon = Daemon::run(&config);
    let before = daemon.until("some moves", |tables| tables.iter().all(|table| moves(table).len() >= 10));
    daemon.kill();

    let daemon = Daemon::run(&config);
    let after = daemon.tables();
    for (before, after) in before.iter().zip(&after) {
        let confirmed = |table: &Value| -> Vec<Value> {
            let plies = table["plies"].as_array().expect("plies");
            plies.iter().filter(|ply| ply["state"] == "confirmed").map(|ply| ply["uci"].clone()).collect()
        };
        let (before, after) = (confirmed(before), confirmed(after));
        assert_eq!(before, after[..before.len()], "what was shown is there again");
    }
    assert_all_right(&daemon, folder.path(), &games);
    assert_eq!(daemon.terminate(), Some(0));
    hall.stop();
}

#[test]
fn a_board_pulled_and_plugged_in_again_is_known_and_its_game_is_right() {
    let folder = tempfile::tempdir().expect("a folder");
    let (hall, games, serials) = boards(folder.path(), 1, 2.0);
    let config = config(folder.path(), &hall, &serials);
    let daemon = Daemon::run(&config);
    daemon.until("some moves", |tables| moves(&tables[0]).len() >= 6);
    hall.unplug(0, false);
    let gone = daemon.until("the table to say so", |tables| tables[0]["link"]["online"] == false);
    assert!(gone[0]["link"]["reason"].is_string(), "with a reason: {}", gone[0]["link"]);
    std::thread::sleep(Duration::from_secs(3));
    hall.plug(0);
    daemon.until("the board to be back", |tables| tables[0]["link"]["online"] == true);
    assert_all_right(&daemon, folder.path(), &games);
    assert_eq!(daemon.terminate(), Some(0));
    hall.stop();
}

#[test]
fn the_demo_plays_all_its_games_and_archives_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("demo");
    let daemon = Daemon::start(&["demo", "--speed", "15", "--exit", "--dir", dir.to_str().expect("UTF-8")]);
    daemon
        .until("the first moves", |tables| tables.len() == 8 && tables.iter().any(|t| !moves(t).is_empty()));
    assert!(http_get(&daemon.public, "/").contains("<!doctype html>"));
    assert_eq!(daemon.wait(), Some(0));
    for (index, game) in famous_games().iter().take(8).enumerate() {
        let bytes = fs::read(dir.join(format!("archive/round-1/game-{}.pgn", index + 1))).expect("archived");
        let (read, repairs) = pgn::read_games(&bytes).next().expect("one game").expect("readable");
        assert!(repairs.is_empty(), "game {}: {repairs:?}", index + 1);
        let moves: Vec<String> = read.plies.iter().map(|ply| ply.uci.to_string()).collect();
        assert_eq!(moves, game.uci(), "game {}", index + 1);
        assert_eq!(read.result.map(|(result, ..)| result), game.result, "game {}", index + 1);
        let clocks = read.plies.iter().filter(|ply| ply.clock.white.is_some() || ply.clock.black.is_some());
        // The fifth board has no clock.
        assert_eq!(clocks.count(), if index == 4 { 0 } else { game.moves.len() }, "game {}", index + 1);
    }
    // The journal alone gives the same archive, byte for byte.
    let exported = folder.path().join("exported");
    let journal = dir.join("hall.sqlite");
    assert_cmd::Command::cargo_bin("arbiterd")
        .expect("built")
        .arg("export")
        .arg("--journal")
        .arg(&journal)
        .arg(&exported)
        .assert()
        .success();
    for name in ["tournament.json", "round-1/index.json", "round-1/games.pgn", "round-1/game-1.pgn"] {
        let live = fs::read(dir.join("archive").join(name)).expect("archived");
        assert!(live == fs::read(exported.join(name)).expect("exported"), "{name} is not the same");
    }
}
