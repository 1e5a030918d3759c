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
