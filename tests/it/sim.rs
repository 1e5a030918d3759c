//! The simulated hall: hands, boards and their bytes, apart from any driver.

use arbiterd::{
    sim::{self, Level, Noticed, VirtualOptions, famous_games, play_all},
    wire::{Content, Observation},
};

/// After every game the last dump shows what the hands left, and the truth holds all plies in order.
#[test]
fn every_level_plays_every_game_to_its_end_on_the_board() {
    for level in Level::ALL {
        for (seed, game) in famous_games().into_iter().enumerate() {
            let mut options = VirtualOptions::new(level, seed as u64);
            options.rotated = seed % 2 == 1;
            let (observations, script) = play_all(std::slice::from_ref(&game), &options);
            let played = &script.games[0];
            let uci: Vec<String> = played.plies.iter().map(|ply| ply.uci.to_string()).collect();
            assert_eq!(uci, game.uci());
            assert!(played.plies.is_sorted_by_key(|ply| ply.made_ms));
            assert!(observations.is_sorted_by_key(|(at, _)| *at));
            let mut dumps = observations.iter().filter_map(|(_, observation)| match observation {
                Observation::Dump(squares) => Some(squares.to_board(options.rotated)),
                _ => None,
            });
            assert_eq!(dumps.next_back(), Some(shakmaty::Board::default()), "set up anew");
        }
    }
}

#[test]
fn the_same_seed_plays_the_same() {
    let games = famous_games();
    let options = VirtualOptions::new(Level::Rough, 7);
    assert_eq!(play_all(&games[..2], &options).0, play_all(&games[..2], &options).0);
    assert_ne!(sim::play_virtual(&games[0], Level::Human, 1), sim::play_virtual(&games[0], Level::Human, 2));
}

/// Tidy hands press after every ply, and lose nothing.
#[test]
fn tidy_hands_press_every_time() {
    for game in famous_games() {
        let (_, script) = play_all(std::slice::from_ref(&game), &VirtualOptions::new(Level::Tidy, 3));
        let plies = &script.games[0].plies;
        let last = plies.len() - 1;
        assert!(plies[..last].iter().all(|ply| ply.pressed_ms.is_some_and(|at| at > ply.made_ms)));
    }
}

/// What real boards show (counted in captures of three games, 57 to 98 presses each): captures by direct replacement several times a game, slides, pieces on two squares.
#[test]
fn phenomena_of_real_boards_occur() {
    let games = famous_games();
    let (mut captures, mut replaced, mut doubled, mut plies) = (0, 0, 0, 0);
    for (seed, game) in games.iter().enumerate() {
        let (observations, script) =
            play_all(std::slice::from_ref(game), &VirtualOptions::new(Level::Human, seed as u64));
        let end = script.games[0].ended_ms as i64;
        plies += game.moves.len();
        captures += game.moves.iter().filter(|m| m.is_capture()).count();
        let mut squares = None;
        for (_, observation) in observations.iter().take_while(|(at, _)| *at < end) {
            match (observation, &mut squares) {
                (Observation::Dump(dump), known) => *known = Some(*dump),
                (Observation::Square(square, content), Some(known)) => {
                    let before = known.get(*square);
                    if before.piece().is_some() && content.piece().is_some() {
                        replaced += 1;
                    }
                    if let Content::Piece(piece) = content
                        && matches!(piece.role, shakmaty::Role::King | shakmaty::Role::Queen)
                        && known.0.contains(content)
                    {
                        doubled += 1;
                    }
                    known.set(*square, *content);
                }
                _ => {}
            }
        }
    }
    eprintln!(
        "{plies} plies, {captures} captures, {replaced} replaced directly, {doubled} kings and queens seen twice"
    );
    let share = replaced * 100 / captures;
    assert!((15..=70).contains(&share), "{share} % of {captures} captures were direct replacements");
    assert!(doubled > 0, "a piece seen on two squares in {plies} plies");
}

/// Which level shows which kind of trouble.
#[test]
fn only_rough_boards_lose_updates() {
    let game = &famous_games()[11];
    let count = |level| {
        let (observations, script) = play_all(std::slice::from_ref(game), &VirtualOptions::new(level, 5));
        let mut device = sim::Device::new(&sim::DeviceSetup { seed: 5, ..sim::DeviceSetup::default() });
        for (at, action) in script.actions {
            device.act(at, action);
        }
        let mut noticed = 0usize;
        while let Some((_, what)) = device.step(script.end_ms + 5_000) {
            noticed += usize::from(matches!(what, Noticed::Square(..)));
        }
        let arrived = observations.iter().filter(|(_, what)| matches!(what, Observation::Square(..)));
        noticed - arrived.count()
    };
    assert_eq!(count(Level::Human), 0);
    assert!(count(Level::Rough) > 0);
}
/// Hundreds of real games, Chess960 among them: the hands leave every one as it ends.
#[test]
fn real_games_are_played_to_their_last_position() {
    let Some(folder) = crate::support::shared("games") else { return };
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("a readable folder").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "pgn") {
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("a readable file")).into_owned();
        let games =
            sim::SimGame::from_pgn(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for game in games.iter().step_by(3) {
            count += 1;
            let level = Level::ALL[count % 4];
            let (observations, script) =
                play_all(std::slice::from_ref(game), &VirtualOptions::new(level, count as u64));
            assert_eq!(script.games[0].plies.len(), game.moves.len());
            assert!(observations.len() > game.moves.len());
        }
    }
    eprintln!("{count} games");
    assert!(count > 700);
}

fn board(state: &str) -> sim::Firmware {
    let clock = (state != "no-clock").then(|| sim::Control::sudden(180, 2));
    let setup = sim::DeviceSetup { rotated: state == "turned", clock, ..sim::DeviceSetup::default() };
    sim::Firmware::new(sim::BoardConfig { setup, ..sim::BoardConfig::default() })
}

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("hex")).collect()
}

/// The published table of commands and replies.
#[test]
fn commands_are_answered_as_published() {
    let table = include_str!("../data/dgt-replies.txt");
    let mut firmware = board("fresh");
    let (mut now, mut checked) = (0, 0);
    let mut lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).peekable();
    while let Some(line) = lines.next() {
        if let Some(state) = line.strip_prefix("@ ") {
            firmware = board(state);
            now = 0;
            continue;
        }
        let command = line.strip_prefix("> ").unwrap_or_else(|| panic!("a command, not {line}"));
        let mut expected = Vec::new();
        while let Some(reply) = lines.next_if(|line| !line.starts_with(['>', '@'])) {
            expected.push(hex(reply));
        }
        let mut out = Vec::new();
        firmware.advance(now, &mut out);
        firmware.receive(now, &hex(command));
        // A clock answers up to a second late; in mode UPDATE it speaks every second.
        now += 990;
        firmware.advance(now, &mut out);
        let replies: Vec<Vec<u8>> = out.into_iter().map(|(_, bytes)| bytes).collect();
        assert_eq!(replies, expected, "after {command}");
        checked += 1;
    }
    assert_eq!(checked, 45, "the whole table");
}

/// DGT protocol, worked bytes: e2-e4 and a press on the bus, changes and from the start.
#[test]
fn the_bus_delivers_a_move_as_published() {
    let mut firmware = board("fresh");
    let mut ask = |now: u64, command: &str| {
        let mut out = Vec::new();
        firmware.advance(now, &mut out);
        firmware.receive(now, &hex(command));
        firmware.advance(now + 200, &mut out);
        out.pop().map(|(_, bytes)| bytes).unwrap_or_default()
    };
    ask(0, "83 08 01 0c");
    ask(200, "85 08 01 0e");
    let start = ask(400, "83 08 01 0c");
    assert_eq!(start.len(), 6 + 65, "the start tag and 32 pieces");
    let pawn = shakmaty::Piece { color: shakmaty::Color::White, role: shakmaty::Role::Pawn };
    for (at, action) in [
        (1_000, sim::Action::Start),
        (1_500, sim::Action::Lift(shakmaty::Square::E2)),
        (2_200, sim::Action::Put(shakmaty::Square::E4, pawn)),
        (3_000, sim::Action::Press(shakmaty::Color::White)),
    ] {
        firmware.act(at, action);
    }
    let mut out = Vec::new();
    firmware.advance(5_000, &mut out);
    assert!(out.is_empty(), "no board on a bus speaks by itself");
    let mut ask = |now: u64, command: &str| {
        firmware.advance(now, &mut out);
        firmware.receive(now, &hex(command));
        firmware.advance(now + 200, &mut out);
        out.pop().map(|(_, bytes)| bytes).unwrap_or_default()
    };
    // e2 empty, e4 a white pawn, left halted at 3:00 and 2 seconds more.
    assert_eq!(ask(5_000, "83 08 01 0c"), hex("85 00 0d 08 01 40 34 41 24 70 03 02 69"));
    assert_eq!(ask(5_200, "84 08 01 0d"), hex("85 00 0d 08 01 40 34 41 24 70 03 02 69"));
    let from_start = ask(5_400, "86 08 01 0f");
    assert_eq!(from_start.len(), 78, "as in the published example");
    assert_eq!(from_start[5..8], [0x7b, 0x48, 0x00]);
    assert_eq!(from_start[70..77], [0x40, 0x34, 0x41, 0x24, 0x70, 0x03, 0x02]);
}

mod terminal {
    //! On a real pseudo-terminal, through a serial library.

    use std::{io::Read, time::Duration};

    use arbiterd::{
        sim::{
            BoardConfig, HallOptions, HandOptions, Level, Pace, SimHall, SimPort, famous_games, hand,
            port_name,
        },
        wire::{
            Observation,
            dgt::{Decoder, Event, Message},
        },
    };
    use serialport::SerialPort;

    fn hall(speed: f64, count: usize) -> (tempfile::TempDir, SimHall) {
        let dir = tempfile::tempdir().expect("a folder");
        let ports = famous_games()
            .into_iter()
            .take(count)
            .enumerate()
            .map(|(index, game)| {
                let options =
                    HandOptions { pace: Pace::Mean(500), ..HandOptions::new(Level::Tidy, index as u64) };
                let script = hand::script(&[game], &options);
                let config = BoardConfig { serial: 2000 + index as u32, ..BoardConfig::default() };
                SimPort::board(port_name(index + 1), config, script)
            })
            .collect();
        let options = HallOptions { speed, ..HallOptions::new(dir.path()) };
        (dir, SimHall::start(ports, &options).expect("a hall"))
    }

    fn open(path: &std::path::Path) -> Box<dyn SerialPort> {
        serialport::new(path.to_string_lossy(), 9600)
            .timeout(Duration::from_secs(5))
            .open()
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn messages(port: &mut dyn SerialPort, until: impl Fn(&[Message]) -> bool) -> Vec<Message> {
        let (mut decoder, mut found, mut buffer) = (Decoder::new(), Vec::new(), [0; 256]);
        while !until(&found) {
            let count = port.read(&mut buffer).expect("the board speaks within five seconds");
            for byte in &buffer[..count] {
                if let Some(Event::Message(message)) = decoder.push(*byte) {
                    found.push(message);
                }
            }
        }
        found
    }

    #[test]
    fn commands_are_answered_and_a_replug_keeps_the_name() {
        let (_dir, hall) = hall(10.0, 1);
        let path = hall.ports()[0].clone();
        let mut port = open(&path);
        port.write_all(&[0x45, 0x42]).expect("written");
        let found = messages(&mut *port, |found| found.len() == 2);
        assert_eq!(found[0], Message::Serial("02000".to_owned()));
        assert!(matches!(found[1], Message::Board(_)));

        hall.unplug(0, true);
        let mut buffer = [0; 64];
        // A hang-up shows as no bytes or as an error.
        while port.read(&mut buffer).is_ok_and(|count| count > 0) {}
        assert!(!path.exists(), "the name is gone with the cable");
        drop(port);
        hall.plug(0);
        while !path.exists() {
            std::thread::yield_now();
        }
        let mut port = open(&path);
        port.write_all(&[0x45]).expect("written");
        let found = messages(&mut *port, |found| !found.is_empty());
        assert_eq!(found[0], Message::Serial("02000".to_owned()));
        drop(port);
        // Closed and opened again, without a cable being touched.
        // (An open in the very moment of the change is hung up: then once more.)
        let answer = std::iter::repeat_with(|| {
            let mut port =
                serialport::new(path.to_string_lossy(), 9600).timeout(Duration::from_secs(5)).open().ok()?;
            port.write_all(&[0x46]).ok()?;
            let mut reply = [0; 5];
            port.read_exact(&mut reply).ok()?;
            Some(reply)
        })
        .take(50)
        .find_map(|answer| answer);
        assert_eq!(answer, Some([0x90, 0x00, 0x05, 0x0f, 0x50]));
        hall.stop();
        assert!(!path.exists(), "no link is left behind");
    }

    #[test]
    fn a_whole_game_comes_over_the_line() {
        let (_dir, hall) = hall(100.0, 2);
        let mut ports: Vec<_> = hall.ports().iter().map(|path| open(path)).collect();
        for port in &mut ports {
            port.write_all(&[0x42, 0x4b]).expect("written");
        }
        for (index, port) in ports.iter_mut().enumerate() {
            let mut squares = None;
            let mut changes = 0;
            let truth = &hall.games(index, 0)[0];
            // Until the mating piece stands: these two games end so.
            let end = famous_games()[index].end().board().clone();
            let found = messages(&mut **port, |found| {
                let mut shown = None;
                for message in found {
                    match message.observation() {
                        Some(Observation::Dump(dump)) => shown = Some(dump),
                        Some(Observation::Square(square, content)) => {
                            if let Some(shown) = &mut shown {
                                shown.set(square, content);
                            }
                        }
                        _ => {}
                    }
                }
                shown.is_some_and(|shown| shown.to_board(false) == end)
            });
            for message in found {
                match message.observation() {
                    Some(Observation::Dump(dump)) => squares = Some(dump),
                    Some(Observation::Square(..)) => changes += 1,
                    _ => {}
                }
            }
            assert!(squares.is_some() && changes >= 2 * truth.plies.len());
            assert!(hall.progress(index, 0).begun);
        }
    }
}
