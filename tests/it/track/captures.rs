//! What real boards sent: both captures give exactly their games.

use arbiterd::{
    record::Position,
    track::{ClockSense, Evidence, Finding},
    wire::{ClockState, Observation, Squares, dgt::any::Decoder},
};
use shakmaty::Color;

use super::Table;
use crate::support::shared;

/// The bytes in pieces of `size` through decoder and tracker; field updates that are `lost`, by their numbers
/// from 1, are left out. Whether the board `answers` the tracker's wish for a dump is said, too. The captures
/// hold no times: a message is taken to come every 100 ms.
fn moves(bytes: &[u8], size: usize, lost: impl Fn(usize) -> bool, answers: bool) -> Vec<String> {
    // What the board itself knows, and tells when it is asked, and how far the wishes were heard.
    let (mut board, mut heard_to) = (Squares::from_board(Position::default().board(), false), 0);
    let mut table = Table::new(&Position::default());
    let mut decoder = Decoder::new();
    let mut running = None;
    let (mut at, mut updates) = (0, 0);
    for piece in bytes.chunks(size) {
        let mut heard = Vec::new();
        decoder.feed(piece, &mut heard);
        for observation in heard {
            at += 100;
            match observation {
                Observation::Square(square, content) => {
                    updates += 1;
                    board.set(square, content);
                    if !lost(updates) {
                        table.observe(at, &Evidence::Square(square, content));
                    }
                }
                Observation::Dump(squares) => {
                    board = squares;
                    table.observe(at, &Evidence::Dump(squares));
                }
                Observation::Clock(ClockState::Reading(reading)) => {
                    let white = reading.left_to_move != table.track.rotated();
                    let side = if white { Color::White } else { Color::Black };
                    let now = reading.running.then_some(side);
                    if let (Some(before), Some(_)) = (running, now)
                        && running != now
                    {
                        table.observe(at, &Evidence::Press { by: before });
                    }
                    if running != now {
                        let sense = now.map_or(ClockSense::Stopped, ClockSense::Running);
                        table.observe(at, &Evidence::Clock(sense));
                    }
                    running = now;
                }
                _ => {}
            }
            let wished = table.found[heard_to..].iter().any(|(_, found)| matches!(found, Finding::WantsDump));
            heard_to = table.found.len();
            if wished && answers {
                table.observe(at + 50, &Evidence::Dump(board));
            }
        }
    }
    table.end()
}

fn capture(game: u8) -> Option<(Vec<u8>, Vec<String>)> {
    let bytes = std::fs::read(shared(&format!("captures/game-{game}.bin"))?).unwrap();
    let text = std::fs::read_to_string(shared(&format!("captures/game-{game}.uci"))?).unwrap();
    let moves = text
        .split_whitespace()
        .filter(|word| !word.ends_with('.') && *word != "*")
        .map(ToOwned::to_owned)
        .collect();
    Some((bytes, moves))
}

#[test]
fn real_boards_games_are_followed_exactly() {
    for game in [1, 2] {
        let Some((bytes, expected)) = capture(game) else { return };
        for size in [1, 2, 7, bytes.len()] {
            assert_eq!(moves(&bytes, size, |_| false, false), expected, "game {game} in pieces of {size}");
        }
    }
}

/// How often a capture gives its game though one field update in a hundred is lost: `cargo test --test it
/// update_in_a_hundred -- --ignored --nocapture`. The board answers the tracker's wish for a dump.
#[test]
#[ignore = "a figure for benches/README.md"]
fn one_update_in_a_hundred_is_lost_from_the_captures() {
    for game in [1, 2] {
        let Some((bytes, expected)) = capture(game) else { return };
        let mut exact = 0;
        for seed in 0..100 {
            let mut dice = fastrand::Rng::with_seed(seed);
            let drop: Vec<bool> = (0..10_000).map(|_| dice.u32(..100) == 0).collect();
            exact += usize::from(moves(&bytes, bytes.len(), |update| drop[update], true) == expected);
        }
        eprintln!("game {game}: {exact} of 100 exact");
        assert!(exact >= 80, "game {game}: {exact} of 100 exact");
    }
}
