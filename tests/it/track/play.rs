//! Play as people play it, in short scenarios.

use arbiterd::{
    record::{GameResult, Position},
    track::{Cause, Correction, Evidence, Finding},
    wire::{BoardSquare, Content, RecoveredEvent},
};

use shakmaty::CastlingMode;

use super::Table;

#[test]
fn a_move_is_provisional_until_the_press() {
    let mut table = Table::fen("");
    table.play("0 run w; 500 e2 -; 700 e4 P");
    assert_eq!(table.moves(), ["e2e4"]);
    assert_eq!(table.confirmed, 0);
    table.play("1000 run b");
    table.advance(2500);
    assert_eq!(table.confirmed, 1);
    assert_eq!(table.presses(), ["move"]);
    assert!(table.quiet());
}

#[test]
fn a_slide_is_one_ply() {
    let mut table = Table::fen("5rk1/5ppp/8/8/8/8/5PPP/R5K1 b - - 0 1");
    table.play("0 run b; 500 f8 -; 720 c8 r; 1400 c8 -; 1510 b8 r; 1900 run w");
    assert_eq!(table.end(), ["f8b8"]);
    assert!(table.quiet());
    assert_eq!(table.count(|f| matches!(f, Finding::Line { cause: Cause::Revised, .. })), 1);
}

#[test]
fn without_a_clock_the_reply_confirms() {
    let mut table = Table::fen("");
    table.play("0 run none; 500 e2 -; 700 e4 P; 5000 e7 -; 5200 e5 p");
    assert_eq!(table.moves(), ["e2e4", "e7e5"]);
    table.advance(7000);
    assert_eq!(table.confirmed, 1);
    assert!(table.quiet());
}

#[test]
fn castling_in_every_order_is_one_ply() {
    let fen = "r3k2r/pppq1ppp/2npbn2/4p3/4P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 0 8";
    for script in [
        "100 e1 -; 260 g1 K; 3300 h1 -; 3500 f1 R; 4000 run b",
        "100 h1 -; 260 f1 R; 900 e1 -; 1100 g1 K; 1500 run b",
        "100 h1 -; 120 e1 -; 900 f1 R; 1100 g1 K; 1500 run b",
        "100 g1 K; 260 e1 -; 900 f1 R; 1100 h1 -; 1500 run b",
        "100 e1 -; 260 f1 K; 660 f1 -; 800 g1 K; 1200 h1 -; 1400 f1 R; 1900 run b",
        "100 h1 -; 260 f1 R; 500 run b; 700 e1 -; 900 g1 K",
    ] {
        let mut table = Table::fen(fen);
        table.play("0 run w").play(script);
        assert_eq!(table.end(), ["e1g1"], "{script}");
        assert_eq!(table.confirmed, 1, "{script}");
        assert!(table.quiet(), "{script}: {:?}", table.found);
    }
}

#[test]
fn captures_in_every_order() {
    for script in [
        "100 e4 -; 260 d5 -; 400 d5 P; 900 run b",
        "100 d5 -; 260 e4 -; 400 d5 P; 900 run b",
        "200 d5 P; 420 e4 -; 900 run b",
        "100 e4 -; 300 d5 P; 900 run b",
    ] {
        let mut table = Table::fen("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1");
        table.play("0 run w").play(script);
        assert_eq!(table.end(), ["e4d5"], "{script}");
        assert!(table.quiet(), "{script}");
    }
    // The captured man is pushed aside and taken off later; its step is no ply.
    let mut table = Table::fen("4k3/8/4r3/8/8/8/8/4RK2 w - - 0 1");
    table.play("0 run w; 100 e1 -; 300 e5 R; 500 e5 -; 520 d6 r; 540 e6 R; 1200 d6 -; 1800 run b");
    assert_eq!(table.end(), ["e1e6"]);
    assert!(table.quiet());
}

#[test]
fn an_illegal_move_is_named_held_and_restored_or_stands() {
    let fen = "4k3/8/8/8/7q/8/P5P1/4K3 w - - 0 1";
    let mut table = Table::fen(fen);
    table.play("0 run w; 500 a2 -; 700 a3 P; 1000 run b; 3000 run -; 5000 a3 -; 5300 a2 P; 15000 run w");
    table.play("16000 g2 -; 16300 g3 P; 16800 run b");
    assert_eq!(table.end(), ["g2g3"]);
    assert_eq!(table.presses(), ["piece-moved", "move"]);
    assert_eq!(table.count(|f| matches!(f, Finding::Restored)), 1);

    let mut table = Table::fen(fen);
    table.play("0 run w; 500 a2 -; 700 a3 P; 1000 run b; 3000 e8 -; 3300 d7 k; 3600 run w");
    assert_eq!(table.end(), ["a2a3", "e8d7"]);
    assert!(table.line[0].irregular && !table.line[1].irregular);
    assert_eq!(table.count(|f| matches!(f, Finding::Line { cause: Cause::IrregularStands, .. })), 1);
}

#[test]
fn a_promotion_that_is_not_read_stays_open_and_the_game_goes_on() {
    let mut table = Table::fen("8/P6k/8/8/8/8/7K/8 w - - 0 1");
    table.play("0 run w; 100 a7 -; 1500 run b; 2500 h7 -; 2800 g7 k; 3100 run w");
    assert_eq!(table.end(), Vec::<String>::new());
    assert_eq!(table.presses(), ["promotion-square-empty"]);
    let (first, then) = table.track.candidates();
    let text = |moves: Vec<shakmaty::uci::UciMove>| moves.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(text(first), ["a7a8q", "a7a8r", "a7a8b", "a7a8n"]);
    assert_eq!(text(then), ["h7g7"]);
    table.observe(90_000, &Evidence::Correction(Correction::PromotionPiece { role: shakmaty::Role::Rook }));
    assert_eq!(table.moves(), ["a7a8r", "h7g7"]);
}

#[test]
fn kings_in_the_centre_are_a_result_and_no_moves() {
    // The first hop would be a legal move, the second never is.
    let mut table = Table::fen("8/8/2k5/8/8/3K4/5r2/8 w - - 0 41");
    table.play("0 run w; 1000 d3 -; 1300 d4 K; 1800 c6 -; 2200 e5 k");
    assert_eq!(table.end(), Vec::<String>::new());
    assert_eq!(table.count(|f| matches!(f, Finding::KingsSignal(GameResult::BlackWins))), 1);
    // Made in a game and pressed, a king's move to the centre stays.
    let mut table = Table::fen("8/8/2k5/8/8/3K4/5r2/8 w - - 0 41");
    table.play("0 run w; 1000 d3 -; 1300 d4 K; 1800 run b; 9000 run -; 12000 c6 -; 12200 e5 k");
    assert_eq!(table.end(), ["d3d4"]);
    assert_eq!(table.count(|f| matches!(f, Finding::KingsSignal(GameResult::BlackWins))), 1);
}

#[test]
fn a_gap_is_bridged_only_by_the_one_line_that_explains_it() {
    let start = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    let mut table = Table::fen(start);
    table.play("0 run b; 1000 down; 41000 up; 41200 dump rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R");
    assert_eq!(table.end(), ["e7e5", "g1f3"]);
    assert_eq!(table.count(|f| matches!(f, Finding::Line { cause: Cause::Bridged, .. })), 1);

    let mut table = Table::fen(start);
    let two_orders = "rnbqkb1r/pppp1ppp/5n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R";
    table.play(&format!("0 run b; 1000 down; 41000 up; 41200 dump {two_orders}"));
    assert_eq!(table.end(), Vec::<String>::new());
    let candidates = table.found.iter().find_map(|(_, finding)| match finding {
        Finding::Gap(choice) => Some(choice.clone()),
        _ => None,
    });
    let choice = candidates.expect("a gap is told");
    assert!(choice.candidates.len() > 1);
    let plies = choice.candidates[1].iter().map(ToString::to_string).collect::<Vec<_>>();
    let (index, replaces) = (choice.index, choice.replaces);
    table.observe(
        120_000,
        &Evidence::Correction(Correction::Choose { index, replaces, plies: plies.clone() }),
    );
    table.advance(121_000);
    assert_eq!(table.moves(), plies);
    assert_eq!(table.count(|f| matches!(f, Finding::Agree)), 1, "the gap is taken back");
}

#[test]
fn a_gap_of_two_orders_is_not_guessed_at_the_press() {
    // e5, Nf3 and Nc6 were played unseen, Black's moves in one order or the other; the lever says that White is
    // to move.
    let mut table = Table::fen("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    table.play(
        "0 run b; 1000 down; 41000 up; 41200 dump r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R; 41300 run w",
    );
    assert_eq!(table.end(), [""; 0]);
    let told: Vec<Vec<String>> = table
        .found
        .iter()
        .filter_map(|(_, found)| match found {
            Finding::Gap(choice) => {
                let line = |line: &Vec<_>| line.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
                Some(choice.candidates.iter().map(line).collect())
            }
            _ => None,
        })
        .collect();
    assert_eq!(told, [["e7e5 g1f3 b8c6", "b8c6 g1f3 e7e5"]]);
}

#[test]
fn a_choice_takes_the_place_of_what_was_read_and_later_plies_stay() {
    let mut table = Table::fen("");
    table.play(
        "0 run w; 500 e2 -; 700 e4 P; 1000 run b; 3000 e7 -; 3200 e5 p; 3500 run w; 5000 g1 -; 5200 f3 N; \
         5500 run b; 8000 b8 -; 8200 c6 n; 8500 run w",
    );
    table.advance(12_000);
    let plies = ["d2d4", "e7e5", "g1f3"].map(str::to_owned).to_vec();
    table.observe(13_000, &Evidence::Correction(Correction::Choose { index: 0, replaces: 3, plies }));
    assert_eq!(table.moves(), ["d2d4", "e7e5", "g1f3", "b8c6"]);
    table.observe(14_000, &Evidence::Correction(Correction::Undo));
    assert_eq!(table.moves(), ["e2e4", "e7e5", "g1f3", "b8c6"]);
    // The line that stands can be chosen as well, and whoever asked is told.
    let plies = ["e2e4", "e7e5"].map(str::to_owned).to_vec();
    table.observe(15_000, &Evidence::Correction(Correction::Choose { index: 0, replaces: 2, plies }));
    assert_eq!(table.moves(), ["e2e4", "e7e5", "g1f3", "b8c6"]);
    assert_eq!(table.count(|f| matches!(f, Finding::Chosen { index: 0 })), 2);
}

#[test]
fn a_line_that_changes_on_a_board_at_rest_leaves_no_deadline_in_the_past() {
    let mut table = Table::fen("");
    table.play("0 run w; 500 e2 -; 700 e4 P; 1000 run b");
    table.advance(9_000);
    let plies = vec!["e7e5".to_owned()];
    table.observe(12_000, &Evidence::Correction(Correction::Append { plies }));
    assert_eq!(table.moves(), ["e2e4", "e7e5"]);
    assert!(
        table.count(|f| matches!(f, Finding::Differ(_))) > 0,
        "the board does not show it, and has not for long"
    );
    assert!(table.track.next_deadline().is_none_or(|due| due.millis() > 12_000));
}

#[test]
fn a_deleted_ply_that_the_board_goes_on_to_show_is_told() {
    let mut table = Table::fen("");
    table.play("0 run w; 500 e2 -; 700 e4 P; 1000 run b; 3000 e7 -; 3200 e5 p; 3500 run w");
    table.advance(9_000);
    table.observe(12_000, &Evidence::Correction(Correction::DeletePly { index: 1 }));
    table.advance(60_000);
    assert_eq!(table.moves(), ["e2e4"]);
    assert!(table.count(|f| matches!(f, Finding::Differ(_) | Finding::OutOfTurn { .. })) > 0);
}

#[test]
fn corrections_can_be_taken_back() {
    let mut table = Table::fen("");
    table.play("0 run w; 500 e2 -; 700 e4 P; 1000 run b; 3000 e7 -; 3200 e5 p; 3500 run w");
    table.advance(9_000);
    let replace = Correction::ReplacePly { index: 0, uci: "d2d4".parse().unwrap() };
    table.observe(10_000, &Evidence::Correction(replace));
    assert_eq!(table.moves(), ["d2d4", "e7e5"]);
    table.observe(11_000, &Evidence::Correction(Correction::Undo));
    assert_eq!(table.moves(), ["e2e4", "e7e5"]);
    table.observe(12_000, &Evidence::Correction(Correction::DeletePly { index: 1 }));
    assert_eq!(table.moves(), ["e2e4"]);
}

#[test]
fn a_position_set_that_is_mate_takes_back_what_differed() {
    let mut table = Table::fen("");
    table.play("0 run w; 500 dump 3k4/3Q4/8/1B6/8/8/8/6K1; 60000 run w");
    table.advance(80_000);
    assert!(table.count(|f| matches!(f, Finding::Differ(_))) > 0);
    let mate = Position::from_fen("3k4/3Q4/8/1B6/8/8/8/6K1 b - - 0 30", CastlingMode::Standard).unwrap();
    let set = Correction::SetPosition { position: mate };
    table.observe(90_000, &Evidence::Correction(set));
    assert_eq!(table.count(|f| matches!(f, Finding::Agree)), 1);
}

#[test]
fn a_board_turned_round_sideways_or_set_up_wrongly() {
    let mut table = Table::fen("");
    table.play(
        "0 dump RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr; 500 run w; 1000 d7 -; 1300 d5 P; 1800 run b",
    );
    assert_eq!(table.end(), ["e2e4"]);
    assert_eq!(table.count(|f| matches!(f, Finding::Orientation { rotated: true })), 1);

    let mut table = Table::fen("");
    table.play("0 dump RP4pr/NP4pn/BP4pb/QP4pq/KP4pk/BP4pb/NP4pn/RP4pr");
    assert_eq!(table.count(|f| matches!(f, Finding::Sideways)), 1);

    let mut table = Table::fen("");
    table.play("0 dump rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBKQBNR; 10000 run w; 11000 e2 -; 11200 e4 P; 12000 run b");
    assert_eq!(table.end(), ["e2e4"]);
    assert_eq!(table.count(|f| matches!(f, Finding::WrongStart(squares) if squares.len() == 2)), 1);
}

#[test]
fn guests_move_before_the_clock_runs() {
    let mut table = Table::fen("");
    table.play(
        "0 run -; 1000 e2 -; 1400 e4 P; 6000 d2 -; 6500 d4 P; 15000 e4 -; 15300 e2 P; 16000 d4 -; 16400 d2 P",
    );
    table.play("30000 run w; 34000 c2 -; 34400 c4 P; 36000 run b");
    assert_eq!(table.end(), ["c2c4"]);
    assert!(table.quiet());
}

#[test]
fn how_often_deadlines_are_served_makes_no_difference() {
    let script = "0 run w; 500 e2 -; 700 e4 P; 1000 run b; 3000 e7 -; 3200 e6 p; 3900 e6 -; 4000 e5 p; 4300 run w; \
                  5000 g1 -; 5200 g3 N; 6000 run b; 9000 g3 -; 9300 f3 N; 20000 b8 -; 20200 c6 n; 20500 run w";
    let mut seldom = Table::fen("");
    seldom.play(script).end();
    let mut often = Table::fen("");
    let mut now = 0;
    for event in script.split(';') {
        let at: i64 = event.split_whitespace().next().unwrap().parse().unwrap();
        while now < at {
            often.advance(now);
            now += 7;
        }
        often.play(event);
    }
    while now < 90_000 {
        often.advance(now);
        now += 7;
    }
    let findings = |table: &Table| table.found.iter().map(|(_, finding)| finding.clone()).collect::<Vec<_>>();
    assert_eq!(findings(&seldom), findings(&often));
}

#[test]
fn the_boards_own_memory_tells_what_was_played_in_a_gap() {
    let square = |name: &str, letter: &str, quick| RecoveredEvent::Square {
        square: BoardSquare::from_chess(name.parse().unwrap(), false),
        content: if letter == "-" {
            Content::Empty
        } else {
            Content::from_letter(letter.chars().next().unwrap()).unwrap()
        },
        quick,
    };
    let halted = |left| RecoveredEvent::Halted { left, seconds: 100 };
    let mut table = Table::fen("");
    table.play("0 run w; 500 e2 -; 700 e4 P; 1000 run b; 5000 down; 60000 up");
    // Two orders of these moves lead to the same board; the memory knows which was played.
    table.play("60100 dump rnbqkb1r/pppp1ppp/5n2/4p3/2B1P3/2N5/PPPP1PPP/R1BQK1NR");
    assert_eq!(table.moves(), ["e2e4"]);
    let memory = vec![
        square("e2", "-", false),
        square("e4", "P", true),
        halted(true),
        square("e7", "-", false),
        square("e5", "p", true),
        halted(false),
        square("f1", "-", false),
        square("c4", "B", false),
        halted(true),
        square("g8", "-", false),
        square("f6", "n", true),
        halted(false),
        square("b1", "-", false),
        square("c3", "N", false),
        halted(true),
    ];
    table.observe(62_000, &Evidence::Recovered(memory));
    assert_eq!(table.end(), ["e2e4", "e7e5", "f1c4", "g8f6", "b1c3"]);
    assert_eq!(table.count(|f| matches!(f, Finding::Line { cause: Cause::Recovered, .. })), 1);
}
