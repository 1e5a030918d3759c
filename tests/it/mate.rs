//! `laws::mate`: can this side still mate by any series of legal moves?

use std::fs;

use arbiterd::laws::mate::{Answer, Budget, Death, Verdict, both, can_mate, is_dead, report};
use proptest::prelude::*;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Position, Setup, fen::Fen, uci::UciMove};

fn position(fen: &str, mode: &str) -> Chess {
    let mode = if mode == "chess960" { CastlingMode::Chess960 } else { CastlingMode::Standard };
    fen.parse::<Fen>().expect("a FEN").into_position(mode).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

/// Whether the line is legal throughout and ends in a mate by `side`.
fn replays(position: &Chess, side: Color, line: &[UciMove]) -> bool {
    let mut position = position.clone();
    for uci in line {
        let Ok(step) = uci.to_move(&position) else { return false };
        position.play_unchecked(step);
    }
    position.is_checkmate() && position.turn() != side
}

/// The plain answer; a line that does not replay is a failure.
fn answer(position: &Chess, side: Color, verdict: &Verdict) -> Option<bool> {
    match verdict {
        Verdict::Yes(line) => {
            let fen = Fen::from_position(position, EnPassantMode::Legal);
            assert!(replays(position, side, line), "{fen} {side:?}: the line does not mate: {line:?}");
            Some(true)
        }
        Verdict::No(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}

fn ask(position: &Chess, side: Color, budget: &Budget) -> Option<bool> {
    answer(position, side, &can_mate(position, side, budget))
}

fn check_table(text: &str, budget: &Budget, every: usize) -> (usize, usize, Vec<String>) {
    let (mut asked, mut unknown, mut wrong) = (0, 0, Vec::new());
    for row in text.lines().skip(1).step_by(every) {
        let cells: Vec<&str> = row.split('\t').collect();
        let mode = if cells[1] == "chess960" { "chess960" } else { "standard" };
        let (white, black) = if matches!(cells[1], "yes" | "no") { (1, 2) } else { (2, 3) };
        let position = position(cells[0], mode);
        for (side, cell) in [(Color::White, cells[white]), (Color::Black, cells[black])] {
            asked += 1;
            match ask(&position, side, budget) {
                None => unknown += 1,
                Some(found) if found != (cell == "yes") => {
                    wrong.push(format!("{} {side:?}: {found}", cells[0]));
                }
                Some(_) => {}
            }
        }
    }
    (asked, unknown, wrong)
}

#[test]
fn own_positions_of_every_layer_are_decided_rightly() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mate/positions.tsv");
    let text = fs::read_to_string(path).expect("own data");
    let (asked, unknown, wrong) = check_table(&text, &Budget::default(), 1);
    assert!(asked >= 300, "{asked}");
    assert_eq!(unknown, 0);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The whole shared set at the default budget: `cargo test --release --test it mate:: -- --ignored`.
#[test]
#[ignore = "minutes without optimisation"]
fn every_shared_position_is_decided_rightly() {
    let Some(path) = crate::support::shared("winnable/dev.tsv") else { return };
    let text = fs::read_to_string(path).expect("readable");
    let (asked, unknown, wrong) = check_table(&text, &Budget::default(), 1);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unknown <= 2, "{unknown} of {asked} undecided");
}

/// Every fourth position of the shared set, and a smaller budget than the default: this profile is several
/// times slower.
#[test]
fn shared_positions_are_never_decided_wrongly() {
    let Some(path) = crate::support::shared("winnable/dev.tsv") else { return };
    let text = fs::read_to_string(path).expect("readable");
    let budget = Budget { nodes: 20_000, states: 80_000 };
    let (asked, unknown, wrong) = check_table(&text, &budget, 4);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unknown * 50 < asked, "{unknown} of {asked} undecided");
}

#[test]
fn the_quick_question_is_bounded_and_right() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mate/positions.tsv");
    let text = fs::read_to_string(path).expect("own data");
    for row in text.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let position = position(cells[0], cells[1]);
        let (white, black) = (cells[2] == "yes", cells[3] == "yes");
        match is_dead(&position, &Budget::quick()) {
            Death::Dead { .. } => assert!(!white && !black, "{}", cells[0]),
            Death::Alive(Color::White) => assert!(white, "{}", cells[0]),
            Death::Alive(Color::Black) => assert!(black, "{}", cells[0]),
            Death::Unknown => {}
        }
        let Answer { nodes, .. } = both(&position, &Budget::quick()).white;
        assert!(nodes <= Budget::quick().nodes + 1, "{}: {nodes} nodes", cells[0]);
    }
}

#[test]
fn a_locked_wall_is_found_dead_by_the_quick_question() {
    let wall = position("4k3/8/8/p1p1p1p1/PpPpPpPp/1P1P1P1P/8/4K3 w - - 0 1", "standard");
    assert!(is_dead(&wall, &Budget::quick()).is_dead());
    let start = Chess::default();
    assert!(!is_dead(&start, &Budget::quick()).is_dead());
}

/// A lone minor piece mates nobody who has only a queen beside the king: the pawn has to become less.
#[test]
fn promotion_to_less_than_a_queen_is_found_where_it_is_needed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mate/positions.tsv");
    let text = fs::read_to_string(path).expect("own data");
    let mut seen = 0;
    for row in text.lines().filter(|row| row.ends_with("\tunder-promotion")) {
        let position = position(row.split('\t').next().unwrap_or_default(), "standard");
        let board = position.board();
        let pawn_side = board.color_at(board.pawns().first().expect("a pawn")).expect("a man");
        let Verdict::Yes(line) = can_mate(&position, pawn_side.other(), &Budget::default()) else {
            panic!("{row}: no line");
        };
        let less = |uci: &UciMove| matches!(uci, UciMove::Normal { promotion: Some(role), .. } if *role != shakmaty::Role::Queen);
        assert!(line.iter().any(less), "{row}: {line:?}");
        seen += 1;
    }
    assert_eq!(seen, 10);
}

#[test]
fn the_same_question_has_the_same_answer() {
    let position = position("8/8/8/8/8/4n3/8/k3K2R b - - 0 1", "standard");
    for side in Color::ALL {
        let first = both(&position, &Budget::default());
        let again = both(&position, &Budget::default());
        assert_eq!(first.side(side), again.side(side));
        assert_eq!(first.side(side).verdict, can_mate(&position, side, &Budget::default()));
    }
}

#[test]
fn a_spent_budget_says_so_and_stays_within_it() {
    // A pawn and a king each, blocked: takes a few hundred positions.
    let position = position("8/5k2/8/4p3/4P3/8/2K5/8 w - - 0 1", "standard");
    let budget = Budget { nodes: 3, states: 10 };
    match can_mate(&position, Color::White, &budget) {
        Verdict::Unknown(tried) => assert!(tried.nodes <= 8, "{tried}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn castling_is_written_in_the_manner_of_the_game() {
    // White can only castle or move a rook; the line is replayed either way.
    for (fen, mode) in [
        ("k7/p7/P7/8/8/4p3/3pP3/3RKR2 w KQ - 0 1", "chess960"),
        ("k7/p7/P7/8/8/8/8/R3K2R w KQ - 0 1", "standard"),
    ] {
        let position = position(fen, mode);
        assert_eq!(ask(&position, Color::White, &Budget::default()), Some(true), "{fen}");
    }
}

#[test]
fn a_report_has_the_documented_shape() {
    let fen = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1";
    let json =
        serde_json::to_value(report(fen, CastlingMode::Standard, &Budget::default()).expect("a position"))
            .expect("plain data");
    assert_eq!(json["fen"], fen);
    assert_eq!(json["white"]["can_mate"], "no");
    assert_eq!(json["white"]["reason"], "terminal: the game is over on the board");
    assert_eq!(json["dead"], true);
    assert!(json["black"]["nodes"].is_u64() && json["black"]["line"].is_array());
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let json =
        serde_json::to_value(report(start, CastlingMode::Standard, &Budget::default()).expect("a position"))
            .expect("plain data");
    assert_eq!((&json["white"]["can_mate"], &json["dead"]), (&"yes".into(), &false.into()));
    assert!(!json["white"]["line"].as_array().expect("a list").is_empty());
    assert!(report("nonsense", CastlingMode::Standard, &Budget::default()).is_err());
    assert!(report("8/8/8/8/8/8/8/K7 w - - 0 1", CastlingMode::Standard, &Budget::default()).is_err());
}

/// A position reached by random legal moves from one of our own.
fn walk(start: usize, choices: &[usize]) -> Chess {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mate/positions.tsv");
    let text = fs::read_to_string(path).expect("own data");
    let rows: Vec<&str> = text.lines().skip(1).filter(|row| row.contains("\tstandard\t")).collect();
    let row = rows[start % rows.len()];
    let mut position = position(row.split('\t').next().unwrap_or_default(), "standard");
    for &choice in choices {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        position.play_unchecked(moves[choice % moves.len()]);
    }
    position
}

fn mirrored_files(setup: &Setup) -> Setup {
    let mut mirrored = setup.clone();
    mirrored.board.flip_horizontal();
    mirrored.ep_square = setup.ep_square.map(shakmaty::Square::flip_horizontal);
    mirrored
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn colours_and_files_can_be_exchanged(start in 0usize..1000, choices in prop::collection::vec(0usize..200, 0..12)) {
        let budget = Budget { nodes: 5_000, states: 20_000 };
        let walked = walk(start, &choices);
        let setup = walked.to_setup(EnPassantMode::Legal);
        let flipped = setup.clone().into_mirrored();
        let flipped: Chess = flipped.position(CastlingMode::Standard).expect("as legal as before");
        for side in Color::ALL {
            let plain = ask(&walked, side, &budget);
            prop_assert_eq!(plain, ask(&flipped, side.other(), &budget));
            if walked.castles().is_empty() {
                let mirrored: Chess =
                    mirrored_files(&setup).position(CastlingMode::Standard).expect("as legal as before");
                // The searches may differ in what they find first, never in what is true.
                if let (Some(a), Some(b)) = (plain, ask(&mirrored, side, &budget)) {
                    prop_assert_eq!(a, b);
                }
            }
        }
    }

    #[test]
    fn a_position_is_worth_what_its_moves_are(start in 0usize..1000, choices in prop::collection::vec(0usize..200, 0..16)) {
        let budget = Budget { nodes: 3_000, states: 12_000 };
        let walked = walk(start, &choices);
        let moves = walked.legal_moves();
        for side in Color::ALL {
            let Some(whole) = ask(&walked, side, &budget) else { continue };
            let after: Vec<Option<bool>> = moves
                .iter()
                .map(|&step| ask(&walked.clone().play(step).expect("legal"), side, &budget))
                .collect();
            if after.contains(&Some(true)) {
                prop_assert!(whole, "a move leads to yes");
            }
            if !moves.is_empty() && after.iter().all(|each| *each == Some(false)) {
                prop_assert!(!whole, "all moves lead to no");
            }
        }
    }
}
