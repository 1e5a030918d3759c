//! What people type of a score sheet, in English and Russian letters, and the comments of PGN.
#![no_main]

use arbiterd::record::{Notation, Position, pgn, read_score, score_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = pgn::clock_times(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let start = Position::default();
    let read = read_score(&start, text);
    // What could be read is written in either notation so that it reads the same again.
    for notation in [Notation::English, Notation::Russian] {
        let again = read_score(&start, &score_text(&read.game, notation));
        let moves = |game: &arbiterd::record::Game| game.plies.iter().map(|ply| ply.uci).collect::<Vec<_>>();
        assert_eq!(moves(&again.game), moves(&read.game), "{}", score_text(&read.game, notation));
    }
});
