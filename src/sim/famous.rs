//! Games everyone knows, as published, for the demo and the tests.

use super::SimGame;

const PGN: &str = include_str!("games.pgn");

/// Twelve historical games, in the order in which the demo gives them to its boards.
///
/// # Panics
/// Never: a test reads them all.
#[must_use]
pub fn famous_games() -> Vec<SimGame> {
    SimGame::from_pgn(PGN).expect("the games in the source are legal, and a test reads them")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::GameResult;

    #[test]
    fn all_are_legal_and_end_as_published() {
        let games = famous_games();
        assert_eq!(games.len(), 12);
        let plies: Vec<usize> = games.iter().map(|game| game.moves.len()).collect();
        assert_eq!(plies, [45, 47, 33, 36, 49, 50, 71, 82, 67, 21, 35, 87]);
        for game in &games {
            let end = game.end();
            let mate = end.chess().is_some_and(shakmaty::Position::is_checkmate);
            if mate {
                let winner = GameResult::win(!end.turn());
                assert_eq!(game.result, Some(winner), "{:?}", game.tags.get("White"));
            }
        }
        let mates =
            games.iter().filter(|game| game.end().chess().is_some_and(shakmaty::Position::is_checkmate));
        assert_eq!(mates.count(), 6);
    }
}
