//! PGN: what was read is written so that it reads the same again.
#![no_main]

use arbiterd::record::pgn::{read_games, write_game};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for (game, _) in read_games(bytes).flatten() {
        let mut text = String::new();
        write_game(&game, &mut text);
        let moves = |game: &arbiterd::record::Game| game.plies.iter().map(|ply| ply.uci).collect::<Vec<_>>();
        let again: Vec<_> = read_games(text.as_bytes()).collect();
        let [Ok((again, _))] = again.as_slice() else { panic!("one game, not {again:?}, in:\n{text}") };
        assert_eq!(moves(&game), moves(again), "{text}");
    }
});
