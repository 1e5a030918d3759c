//! `arbiterd boards` on lines of every kind: who answers is listed with what is known of him, who does
//! not is named with the remedy.

use arbiterd::{
    sim::{
        self, BoardConfig, Certabo, DeviceSetup, Firmware, HallOptions, Line, Millennium, Script as Acts,
        SimHall, SimPort,
    },
    wire::dgt::Battery,
};

use super::*;

fn simulated(name: &str, line: Box<dyn Line>, boards: usize) -> SimPort {
    SimPort { name: name.to_owned(), line, scripts: vec![Acts::default(); boards] }
}

/// Five lines: a Bluetooth board with a battery and no clock, a chain, Certabo with its spare queens
/// (so that the set is learnt) and without, Millennium.
fn lines(folder: &Path) -> SimHall {
    let setup = |seed| DeviceSetup { seed, ..DeviceSetup::default() };
    let battery = Battery { percent: 73, left: Some((6, 30)), on: (1, 0), standby: (0, 0, 0), status: 2 };
    let bluetooth = BoardConfig {
        serial: 23_456,
        version: (3, 10),
        battery: Some(battery),
        setup: DeviceSetup { clock: None, ..setup(1) },
        ..BoardConfig::default()
    };
    let chain = (0..3).map(|index| {
        let config =
            BoardConfig { serial: 1025 + index, setup: setup(u64::from(index)), ..BoardConfig::default() };
        Firmware::new(config)
    });
    let unknown = DeviceSetup { board: shakmaty::Board::empty(), ..setup(5) };
    let ports = vec![
        simulated("bluetooth", Box::new(Firmware::new(bluetooth)), 1),
        simulated("chain", Box::new(sim::Chain::new(chain.collect())), 3),
        simulated("certabo", Box::new(Certabo::new(&setup(3), true)), 1),
        simulated("unknown", Box::new(Certabo::new(&unknown, false)), 1),
        simulated("chesslink", Box::new(Millennium::new(&setup(4))), 1),
    ];
    let options = HallOptions { wait_for_reader: false, ..HallOptions::new(folder) };
    SimHall::start(ports, &options).unwrap()
}

#[test]
fn every_line_is_listed_with_its_boards_or_named_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let hall = lines(folder.path());
    let place = |name: &str| folder.path().join(name);
    // What is no board, or not to be had.
    let silent = Board::plug(&place("silent"), Script { mute: true, ..Script::new("00001") });
    let modem = Board::plug(&place("modem"), Script { modem: true, ..Script::new("00001") });
    let twins = ["twin-a", "twin-b"].map(|name| Board::plug(&place(name), Script::new("00777")));
    let _held = Board::plug(&place("held"), Script::new("00002"));
    let holder = serialport::new(place("held").to_str().unwrap(), 9600).open().unwrap();

    let ran = std::process::Command::new(env!("CARGO_BIN_EXE_arbiterd"))
        .arg("boards")
        .args(
            [
                "bluetooth",
                "chain",
                "certabo",
                "unknown",
                "chesslink",
                "silent",
                "modem",
                "twin-a",
                "twin-b",
                "held",
                "nowhere",
            ]
            .map(place),
        )
        .output()
        .unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(ran.status.code(), Some(0), "{said}");
    let row = |name: &str| -> Vec<&str> {
        let port = place(name);
        let port = port.to_str().unwrap();
        said.lines().filter(|line| line.starts_with(port)).collect()
    };
    let has = |name: &str, words: &[&str]| {
        let rows = row(name);
        assert!(
            rows.iter().any(|row| words.iter().all(|word| row.contains(word))),
            "{name}: {words:?} in {said}"
        );
    };
    has("bluetooth", &["23456", "DGT Bluetooth", "3.10", "73 %", "none"]);
    for serial in ["01025", "01026", "01027"] {
        has("chain", &[serial, "DGT on a chain", "1.8", "yes"]);
    }
    has("certabo", &["Certabo"]);
    has("chesslink", &["Millennium ChessLink", "1.6"]);
    // The rest is told in words, each with what to do.
    let told = |words: &[&str]| {
        assert!(
            said.lines().any(|line| line.starts_with("  ") && words.iter().all(|word| line.contains(word))),
            "{words:?} in {said}"
        );
    };
    told(&["unknown", "set up the initial position"]);
    told(&["silent", "is it switched on"]);
    told(&["modem", "a modem, another device"]);
    told(&["00777", "two boards with one number", "Unplug one"]);
    told(&["held", "in use by another program", "close it"]);
    told(&["nowhere", "plug the board in"]);
    drop((silent, modem, twins, holder));
    hall.stop();
}
