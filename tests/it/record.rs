//! PGN and notation against real files, and round trips of what is written.

use std::{collections::BTreeMap, fs, ops::ControlFlow};

use arbiterd::record::{
    Game,
    pgn::{Repair, RepairKind, read_games, visit, write_game},
};

use crate::support::shared;

fn uci(game: &Game) -> String {
    game.plies.iter().map(|ply| ply.uci.to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn clean_games_are_read_to_their_last_move_and_clock() {
    let Some(folder) = shared("games") else { return };
    let events = fs::read_to_string(folder.join("events.jsonl")).expect("readable events");
    let mut by_file: BTreeMap<String, Vec<serde_json::Value>> = BTreeMap::new();
    for line in events.lines() {
        let event: serde_json::Value = serde_json::from_str(line).expect("a JSON line");
        by_file.entry(event["file"].as_str().expect("a file").to_owned()).or_default().push(event);
    }
    let mut faults = Vec::new();
    let mut count = 0;
    for (file, events) in by_file {
        let bytes = fs::read(folder.join(&file)).expect("a readable file");
        let games: Vec<_> = read_games(&bytes).collect();
        if games.len() != events.len() {
            faults.push(format!("{file}: {} games instead of {}", games.len(), events.len()));
            continue;
        }
        for (event, game) in events.iter().zip(games) {
            count += 1;
            let id = format!("{file} #{}", event["idx"]);
            let (game, repairs) = match game {
                Ok(read) => read,
                Err(refusal) => {
                    faults.push(format!("{id}: {refusal}"));
                    continue;
                }
            };
            // Truth writes Chess960 castling as king takes rook, as this reader does.
            if uci(&game) != event["uci"].as_str().unwrap_or_default() {
                faults.push(format!("{id}: other moves; {repairs:?}"));
            }
            let clocks =
                game.plies.iter().filter(|ply| ply.clock.white.or(ply.clock.black).is_some()).count();
            if clocks as u64 != event["clk"].as_u64().unwrap_or_default() {
                faults.push(format!("{id}: {clocks} clocks instead of {}", event["clk"]));
            }
            if let Some(lost) = repairs.iter().find(|repair| repair.loses_moves()) {
                faults.push(format!("{id}: {lost}"));
            }
            round_trip(&id, &game, &mut faults);
        }
    }
    assert!(faults.is_empty(), "{} faults in {count} games:\n{}", faults.len(), faults.join("\n"));
}

/// What is written is read back the same, without a repair, and written the same again.
fn round_trip(id: &str, game: &Game, faults: &mut Vec<String>) {
    let mut text = String::new();
    write_game(game, &mut text);
    let read: Vec<_> = read_games(text.as_bytes()).collect();
    let [Ok((again, repairs))] = read.as_slice() else {
        faults.push(format!("{id}: written as {} games", read.len()));
        return;
    };
    if !repairs.iter().all(|repair| matches!(repair.kind, RepairKind::SegmentsJoined { .. })) {
        faults.push(format!("{id}: needs {repairs:?}"));
    }
    if uci(again) != uci(game) || again.result.map(|r| r.0) != game.result.map(|r| r.0) {
        faults.push(format!("{id}: comes back other"));
    }
    let mut second = String::new();
    write_game(again, &mut second);
    if second != text {
        faults.push(format!("{id}: is not written the same twice"));
    }
    for line in text.lines().filter(|line| !line.starts_with('[')) {
        if line.chars().count() >= 80 || line.starts_with(['%', ';']) {
            faults.push(format!("{id}: line {line:?}"));
        }
    }
}

#[test]
fn broken_files_are_read_as_far_as_they_go_and_every_fault_has_its_line() {
    let Some(folder) = shared("games/broken") else { return };
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let mut faults = Vec::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "pgn")) {
        let bytes = fs::read(path).expect("a readable file");
        let lines = bytes.split(|byte| matches!(byte, b'\n' | b'\r')).count() as u64;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut count = 0;
        for game in read_games(&bytes) {
            count += 1;
            match game {
                Ok((game, repairs)) => {
                    for Repair { line, .. } in &repairs {
                        if *line == 0 || *line > lines {
                            faults.push(format!("{name}: line {line} of {lines}"));
                        }
                    }
                    round_trip(&name, &game, &mut faults);
                }
                Err(refusal) => assert!(refusal.line >= 1 && refusal.line <= lines, "{name}: {refusal}"),
            }
        }
        if count == 0 {
            faults.push(format!("{name}: nothing found"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn streaming_and_reading_at_once_see_the_same_games() {
    let Some(folder) = shared("games") else { return };
    let bytes = fs::read(folder.join("otb_twic1599.pgn")).expect("a readable file");
    let mut streamed = 0;
    let visited = visit(bytes.as_slice(), |_| {
        streamed += 1;
        ControlFlow::Continue(())
    })
    .expect("memory does not fail");
    assert_eq!((visited.games, visited.bytes), (streamed, bytes.len() as u64));
    assert_eq!(read_games(&bytes).count() as u64, streamed);
}

fn codes(repairs: &[Repair]) -> Vec<&'static str> {
    repairs.iter().filter_map(Repair::alert_code).collect()
}

fn one(bytes: &[u8]) -> (Game, Vec<Repair>) {
    let mut games = read_games(bytes);
    let game = games.next().expect("a game").expect("a game that is taken");
    assert!(games.next().is_none(), "one game");
    game
}

#[test]
fn a_western_code_page_is_read_and_said() {
    let (game, repairs) =
        one(b"[Event \"The \\\"A\\\" Open\"]\n[White \"O'Neil, Zo\xeb\"]\n[Black \"M\xfcller\"]\n[Result \"*\"]\n\n1. e4 *\n");
    assert_eq!(game.tags.get("Event"), Some("The \"A\" Open"));
    assert_eq!(game.tags.get("White"), Some("O'Neil, Zoë"));
    assert_eq!(game.tags.get("Black"), Some("Müller"));
    assert_eq!(codes(&repairs), ["encoding-repaired"]);
}

#[test]
fn a_conflict_of_results_is_never_decided_in_silence() {
    let (game, repairs) = one(b"[Event \"x\"]\n[Result \"1-0\"]\n\n1. e4 e5 0-1\n");
    assert_eq!((game.plies.len(), game.result), (2, None));
    assert_eq!(codes(&repairs), ["pgn-result-conflict"]);
    assert_eq!(repairs[0].line, 4);
}

#[test]
fn an_illegal_move_cuts_the_game_and_names_its_line_and_ply() {
    let (game, repairs) = one(b"[White \"A\"]\n\n1. e4 e5\n2. Ke3 Nf6 3. d4 1-0\n");
    assert_eq!(game.plies.len(), 2);
    assert_eq!(codes(&repairs), ["pgn-illegal-move"]);
    assert_eq!((repairs[0].line, repairs[0].ply), (4, Some(2)));
    assert_eq!(repairs[0].to_string(), "line 4: at 2. Ke3 is not legal here: the game is cut before it");
}

#[test]
fn segments_around_an_illegal_move_that_stood_are_one_game() {
    let text = "[Event \"Test\"]\n[White \"White Player\"]\n[Black \"Black Player\"]\n[Result \"0-1\"]\n[SetUp \"1\"]\n\
        [FEN \"4k3/8/8/8/7q/8/P5P1/4K3 w - - 0 1\"]\n\n\
        { White played a2-a3 here, an illegal move that stood; continuation follows as segment 2 } 0-1\n\n\
        [Event \"Test\"]\n[White \"White Player\"]\n[Black \"Black Player\"]\n[Result \"0-1\"]\n[Segment \"2\"]\n\
        [SetUp \"1\"]\n[FEN \"4k3/8/8/8/7q/P7/6P1/4K3 b - - 0 1\"]\n\n1... Kd7 2. g3 0-1\n";
    let (game, repairs) = one(text.as_bytes());
    assert_eq!(uci(&game), "a2a3 e8d7 g2g3");
    assert_eq!(game.plies.iter().map(|ply| ply.irregular).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(codes(&repairs), ["illegal-move-stands"]);
    assert!(game.notes.is_empty(), "{:?}", game.notes);
    let mut faults = Vec::new();
    round_trip("segments", &game, &mut faults);
    assert!(faults.is_empty(), "{faults:?}");
}

proptest::proptest! {
    /// Whatever the bytes, the reader ends, tells lines that exist, and what it took can be written and
    /// read again.
    #[test]
    fn no_bytes_break_the_reader(bytes in pgn_like()) {
        let lines = bytes.split(|byte| matches!(byte, b'\n' | b'\r')).count() as u64;
        let mut faults = Vec::new();
        for read in read_games(&bytes) {
            match read {
                Ok((game, repairs)) => {
                    proptest::prop_assert!(repairs.iter().all(|repair| (1..=lines).contains(&repair.line)));
                    round_trip("random", &game, &mut faults);
                }
                Err(refusal) => proptest::prop_assert!((1..=lines).contains(&refusal.line)),
            }
        }
        proptest::prop_assert!(faults.is_empty(), "{faults:?}");
    }
}

/// Pieces of PGN, broken, in any order, and now and then any bytes at all.
fn pgn_like() -> impl proptest::strategy::Strategy<Value = Vec<u8>> {
    use proptest::prelude::*;
    let pieces: Vec<&[u8]> = vec![
        b"[Event \"x\"]\n",
        b"[White \"M\xfcller\"]\n",
        b"[Black \"\xd0\xaf\"]",
        b"[FEN \"8/8/8/8/8/k7/p7/K7 w - - 0 1\"]\n",
        b"[FEN \"rk6/8/8/8/8/8/8/RK6 w Aa - 0 1\"]\n",
        b"[Result \"0-0\"]\n",
        b"[Result \"1-0\"]",
        b"[Variant \"Chess960\"]\n",
        b"[Segment \"2\"]\n",
        b"\n",
        b"\r\n",
        b"\r",
        b"1. e4 ",
        b"e5 ",
        b"2.Nf3 ",
        b"Nc6 ",
        b"O-O ",
        b"0-0",
        b"e.p. ",
        b"exd6 ",
        b"{[%clk 1:00:00] [%emt 0:00:01]} ",
        b"{",
        b"}",
        b"(",
        b")",
        b"; rest",
        b"%",
        b"$5",
        b"!?",
        b"1-0",
        b"0-1 ",
        b"1/2-1/2\n",
        b"*",
        b"--",
        b"[",
        b"]",
        b"\"",
        b"\\",
        b"\xff",
        b"\xef\xbb\xbf",
        "К".as_bytes(),
        "½-½".as_bytes(),
        b"a8=Q",
        b"\0",
    ];
    let piece = prop_oneof![
        9 => proptest::sample::select(pieces).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..12),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}
