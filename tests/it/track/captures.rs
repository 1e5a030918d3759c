//! What real boards sent: both captures give exactly their games.

use arbiterd::{
    record::Position,
    track::{ClockSense, Evidence},
    wire::{ClockState, Observation, dgt::any::Decoder},
};
use shakmaty::Color;

use super::Table;
use crate::support::shared;

/// The bytes in pieces of `size` through decoder and tracker; every `lost`-th field update is left
/// out. The captures hold no times: a message is taken to come every 100 ms.
fn moves(bytes: &[u8], size: usize, lost: impl Fn(usize) -> bool) -> Vec<String> {
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
                    if !lost(updates) {
                        table.observe(at, &Evidence::Square(square, content));
                    }
                }
                Observation::Dump(squares) => table.observe(at, &Evidence::Dump(squares)),
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
            assert_eq!(moves(&bytes, size, |_| false), expected, "game {game} in pieces of {size}");
        }
    }
}
