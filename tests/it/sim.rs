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
/// Thousands of real games, Chess960 among them: the hands leave every one as it ends.
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
        for game in &games {
            count += 1;
            let level = Level::ALL[count % 4];
            let (observations, script) =
                play_all(std::slice::from_ref(game), &VirtualOptions::new(level, count as u64));
            assert_eq!(script.games[0].plies.len(), game.moves.len());
            assert!(observations.len() > game.moves.len());
        }
    }
    eprintln!("{count} games");
    assert!(count > 2000);
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
    assert!(checked > 45, "{checked} commands checked");
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
