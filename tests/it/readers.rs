//! What we write, read by programs that others wrote: python-chess, pgn-extract, chess.js. They must see
//! the moves, clocks and names that were written. Ignored by default: `tests/clients/setup.sh` installs them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use arbiterd::record::{
    Game, GameResult, Ply, PlySource, PlyState, Position, ResultReason, ResultState, Seconds, Timestamp,
    pgn::{read_games, write_game},
};
use serde_json::Value;
use shakmaty::{ByColor, CastlingMode, uci::UciMove};

/// A game of random legal moves with clocks; the seed says which.
fn random_game(seed: u64) -> Game {
    let mut random = fastrand::Rng::with_seed(seed);
    let start = match seed % 4 {
        1 => Position::from_fen("8/P6k/8/8/8/8/p6K/8 b - - 10 40", CastlingMode::Standard).expect("a FEN"),
        _ => Position::default(),
    };
    let mut game = Game::new(start);
    for (name, value) in [
        ("Event", "Open \"A\" 2026"),
        ("Site", "Зал\\1"),
        ("Date", "2026.05.01"),
        ("White", "Müller, Zoë"),
        ("Black", "Ли, Ян"),
        ("White_Elo2", "2500"),
        ("TimeControl", "40/5400+30:1800+30"),
    ] {
        game.tags.set(name, value);
    }
    game.tags.set("Round", format!("1.{seed}"));
    game.tags.set("GameId", format!("open-r1-g{seed}"));
    let mut left = ByColor { white: 5400u32, black: 5400 };
    let plies = random.usize(0..160);
    for index in 0..plies {
        let before = game.position().clone();
        let moves = before.legal_moves();
        let Some(m) = random.choice(&moves).copied() else { break };
        let mover = before.turn();
        let spent = random.u32(0..60);
        *left.get_mut(mover) = left.get(mover).saturating_sub(spent);
        let mut clock = ByColor::default();
        // Some clocks are missing, as on real boards.
        if random.u8(0..20) > 0 {
            *clock.get_mut(mover) = Some(Seconds(*left.get(mover)));
        }
        game.plies.push(ply(
            before.uci(m),
            before.san(m),
            before.play(m),
            false,
            clock,
            Some(Seconds(spent)),
        ));
        if random.u8(0..30) == 0 {
            game.notes.insert(index + 1, "(=)".to_owned());
        }
    }
    let result = [GameResult::WhiteWins, GameResult::Draw, GameResult::BlackForfeit, GameResult::BothLose];
    game.result = random.choice(result).map(|result| (result, ResultReason::Entered, ResultState::Final));
    game
}

fn ply(
    uci: UciMove,
    san: String,
    after: Position,
    irregular: bool,
    clock: ByColor<Option<Seconds>>,
    elapsed: Option<Seconds>,
) -> Arc<Ply> {
    Arc::new(Ply {
        uci,
        san,
        after,
        irregular,
        origin: None,
        state: PlyState::Confirmed,
        source: PlySource::Board,
        made_at: Timestamp::default(),
        pressed_at: None,
        clock,
        elapsed,
    })
}

/// A king that walks through a check, and play goes on: two segments.
fn with_illegal_move() -> Game {
    let mut game = Game::new(
        Position::from_fen("4k3/8/8/8/7q/8/P5P1/4K3 w - - 0 1", CastlingMode::Standard).expect("a FEN"),
    );
    for (name, value) in [("Event", "Segments"), ("White", "A, A"), ("Black", "B, B"), ("GameId", "seg")] {
        game.tags.set(name, value);
    }
    let before = game.position().clone();
    let mut board = before.board().clone();
    let pawn = board.remove_piece_at(shakmaty::Square::A2).expect("a pawn");
    board.set_piece_at(shakmaty::Square::A3, pawn);
    let uci = "a2a3".parse().expect("a move");
    let after = before.after_irregular(board);
    game.plies.push(ply(uci, "a2-a3?".to_owned(), after, true, ByColor::default(), None));
    for text in ["e8d7", "g2g3"] {
        let before = game.position().clone();
        let uci: UciMove = text.parse().expect("a move");
        let m = before.find_uci(uci).expect("legal");
        game.plies.push(ply(uci, before.san(m), before.play(m), false, ByColor::default(), None));
    }
    game
}

pub(crate) fn clients() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/setup.sh");
    let status = Command::new("sh").arg(script).arg(&folder).status().expect("sh runs");
    assert!(status.success(), "the readers are installed");
    folder
}

pub(crate) fn lines(command: &mut Command) -> Vec<Value> {
    let output = command.output().expect("the reader runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

pub(crate) fn moves(value: &Value) -> Vec<String> {
    value["moves"]
        .as_array()
        .expect("moves")
        .iter()
        .map(|m| m.as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
#[ignore = "installs python-chess and chess.js, and needs pgn-extract"]
fn foreign_readers_see_what_was_written() {
    let clients = clients();
    let games: Vec<Game> = (0..80).map(random_game).collect();
    let mut text = String::new();
    for game in &games {
        write_game(game, &mut text);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("games.pgn");
    fs::write(&file, &text).expect("written");
    let script = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name);

    let python = lines(Command::new(clients.join("venv/bin/python")).arg(script("read_pgn.py")).arg(&file));
    let js = lines(Command::new("node").arg(script("read_pgn.mjs")).arg(&file).current_dir(&clients));
    let own: Vec<Game> = read_games(text.as_bytes()).map(|read| read.expect("taken").0).collect();
    let extract = pgn_extract(&file);
    assert_eq!([python.len(), js.len(), own.len(), extract.len()], [games.len(); 4]);
    for (index, game) in games.iter().enumerate() {
        let uci: Vec<String> = game.plies.iter().map(|ply| ply.uci.to_string()).collect();
        let mover = |at: usize| game.position_before(at).map(Position::turn).expect("a position");
        let clocks: Vec<Value> = game
            .plies
            .iter()
            .enumerate()
            .map(|(at, ply)| ply.clock.get(mover(at)).map(|s| s.0).into())
            .collect();
        for (reader, seen) in [("python-chess", &python[index]), ("chess.js", &js[index])] {
            assert_eq!(seen["errors"], serde_json::json!([]), "{reader}, game {index}");
            assert_eq!(moves(seen), uci, "{reader}, game {index}");
            assert_eq!(seen["clocks"], Value::Array(clocks.clone()), "{reader}, game {index}");
            assert_eq!(seen["tags"]["White"], "Müller, Zoë", "{reader}");
            assert_eq!(seen["tags"]["Event"], "Open 'A' 2026", "{reader}");
            assert_eq!(seen["tags"]["WhiteElo"], "2500", "{reader}");
        }
        assert_eq!(extract[index], uci, "pgn-extract, game {index}");
        let ours: Vec<String> = own[index].plies.iter().map(|ply| ply.uci.to_string()).collect();
        assert_eq!(ours, uci, "own reader, game {index}");
        assert_eq!(own[index].result.map(|r| r.0), game.result.map(|r| r.0), "own reader, game {index}");
    }
}

#[test]
#[ignore = "installs python-chess and chess.js, and needs pgn-extract"]
fn a_game_cut_at_an_illegal_move_is_read_in_both_parts() {
    let clients = clients();
    let mut text = String::new();
    write_game(&with_illegal_move(), &mut text);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("games.pgn");
    fs::write(&file, &text).expect("written");
    let script = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name);
    let python = lines(Command::new(clients.join("venv/bin/python")).arg(script("read_pgn.py")).arg(&file));
    let js = lines(Command::new("node").arg(script("read_pgn.mjs")).arg(&file).current_dir(&clients));
    let rest = ["e8d7", "g2g3"].map(str::to_owned).to_vec();
    assert_eq!(pgn_extract(&file), [vec![], rest.clone()]);
    for seen in [python, js] {
        assert_eq!(seen.iter().map(moves).collect::<Vec<_>>(), [vec![], rest.clone()]);
        assert!(seen.iter().all(|game| game["errors"] == serde_json::json!([])), "{seen:?}");
    }
}

pub(crate) fn pgn_extract(file: &Path) -> Vec<Vec<String>> {
    let program =
        if Path::new("/usr/games/pgn-extract").exists() { "/usr/games/pgn-extract" } else { "pgn-extract" };
    let output = Command::new(program)
        .args(["-Wuci", "-C", "-N", "-V", "--nomovenumbers", "--noresults", "-w9999", "--quiet"])
        .arg(file)
        .output()
        .expect("pgn-extract runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut games: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        if line.starts_with("[Event ") {
            games.push(Vec::new());
        } else if !line.starts_with('[') {
            let words =
                line.split_whitespace().filter(|word| !matches!(*word, "*" | "1-0" | "0-1" | "1/2-1/2"));
            if let Some(game) = games.last_mut() {
                // It writes a promotion's piece large.
                game.extend(words.map(str::to_ascii_lowercase));
            }
        }
    }
    games
}
