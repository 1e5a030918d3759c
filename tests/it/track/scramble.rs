//! Hands faster than the scan: what was read comes mixed, and the wrong story must not stand.

use arbiterd::{
    sim::{Level, VirtualOptions, famous_games, play_all},
    track::{AtPress, Evidence, Finding},
    wire::{ClockState, Observation},
};

use super::Table;

#[test]
fn presses_stay_with_their_plies_all_through_a_scramble() {
    // Where plies stand without waiting for their presses (the hands rest), these must not pass to later plies:
    // once out of step they stay so, and every later ply seems to be pressed before it is made.
    let (mut early, mut all) = (0, 0);
    for (game, seed) in famous_games().iter().flat_map(|game| [25, 38].map(move |seed| (game, seed))) {
        let (observations, script) =
            play_all(std::slice::from_ref(game), &VirtualOptions::new(Level::Blitz, seed));
        let truth = &script.games[0];
        let mut table = Table::new(&truth.start);
        for (at, observation) in &observations {
            match observation {
                Observation::Square(square, content) => {
                    table.observe(*at, &Evidence::Square(*square, *content));
                }
                Observation::Dump(squares) => table.observe(*at, &Evidence::Dump(*squares)),
                Observation::Clock(ClockState::Reading(reading)) => {
                    let side = match (reading.running, reading.left_to_move) {
                        (false, _) => "-",
                        (true, true) => "w",
                        (true, false) => "b",
                    };
                    table.run(*at, side);
                }
                _ => {}
            }
        }
        for (_, finding) in &table.found {
            if let Finding::Press { at, board: AtPress::Move { index, .. }, .. } = finding
                && let Some(ply) = truth.plies.get(*index)
            {
                all += 1;
                early += usize::from(at.millis() + 200 < ply.made_ms as i64);
            }
        }
    }
    assert!(all > 500, "{all} presses");
    assert!(early * 100 <= all, "{early} of {all} presses came before their plies");
}

#[test]
fn a_clock_whose_start_is_told_late_presses_nothing() {
    // Two plies stand before the clock's start is heard, and its presses come behind it, each half
    // a second late. The pawn was dragged over c6.
    let mut table = Table::fen("");
    table.play(
        "391 e2 -; 461 c7 -; 487 c6 p; 544 e4 P; 691 c6 -; 716 c5 p; 777 f3 N; 831 g1 -; 848 run w; 858 run b; \
         1029 run w; 1044 b8 -; 1098 c6 n; 1203 d2 -; 1311 run b; 1408 run w; 1414 d4 P; 1700 run b",
    );
    assert_eq!(table.end(), ["e2e4", "c7c5", "g1f3", "b8c6", "d2d4"]);
}

#[test]
fn a_queen_dragged_over_a_square_is_not_two_plies_of_hers() {
    // She is read on c6 and on a6, and the knight's move within a scan of both: in time it could
    // lie between them, but no hand is so quick.
    let mut table = Table::fen("6k1/8/7q/8/8/5N2/8/6K1 b - - 0 1");
    table.play(
        "0 run b; 845 h6 -; 1026 c6 q; 1259 a6 q; 1265 c6 -; 1336 f3 -; 1521 d4 N; 1604 run w; 1697 a6 -; \
         1850 d3 q; 2045 run b; 2300 run w; 4000 g1 -; 4200 h1 K; 4400 run b",
    );
    assert_eq!(table.end(), ["h6a6", "f3d4", "a6d3", "g1h1"]);
}

#[test]
fn a_man_taken_before_the_scan_came_round_is_pushed_aside() {
    // Rf7 is never read on f7: White takes it there at once and pushes it to f6. Read on its own,
    // f6 looks like the rook's square.
    let mut table = Table::fen("5k2/R7/8/5r2/6K1/8/8/8 b - - 0 1");
    table.play(
        "0 run b; 1350 f5 -; 1502 a7 -; 1549 f6 r; 1761 run w; 1767 f7 R; 1845 f6 -; 1947 f8 -; 1975 f7 k; \
         2300 run b; 2500 run w; 5000 g4 -; 5200 g5 K; 5500 run b",
    );
    let moves = table.end();
    let truth = ["f5f7", "a7f7", "f8f7", "g4g5"];
    // A story that comes so near is named before it stands; nothing else is an excuse.
    let named = table.count(|found| match found {
        Finding::Gap(choice) | Finding::Rivals(choice) => choice.candidates.iter().any(|line| {
            let told = moves.iter().take(choice.index).cloned();
            let line: Vec<String> = told.chain(line.iter().map(ToString::to_string)).collect();
            truth.iter().zip(&line).all(|(a, b)| a == b) && line.len() > choice.index
        }),
        _ => false,
    });
    assert!(moves == truth || named > 0, "{moves:?}");
}

#[test]
fn a_dump_corrects_a_castling_whose_king_was_not_told() {
    // Both updates of the king are lost; the rook's move alone is legal, too. The dump that follows
    // the press comes before the reply is confirmed.
    let mut table = Table::fen("r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R b KQkq - 0 1");
    table.play(
        "0 run b; 1000 h8 -; 1200 f8 r; 1400 run w; 1500 e2 -; \
         1550 dump r4rk1/pppppppp/8/8/8/8/PPPP1PPP/R3K2R; 1700 e4 P; 1900 run b",
    );
    assert_eq!(table.end(), ["e8g8", "e2e4"]);
}

#[test]
fn a_pawn_taken_in_passing_and_left_standing_is_no_fault_of_its_square() {
    let mut table = Table::fen("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2");
    table.play("0 run w; 100 e5 -; 250 d6 P; 800 run b; 6000 d5 -");
    assert_eq!(table.end(), ["e5d6"]);
    assert_eq!(table.presses(), ["victim-left"]);
    assert_eq!(table.count(|found| matches!(found, Finding::SquareFault { .. })), 0);
}
