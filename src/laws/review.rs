//! A finished game against the Laws: which rule events its positions show, move by move.
//!
//! The same definitions as in live play, on positions alone: what was claimed, agreed or resigned is
//! not known here. Fast, because files of millions of games go through it.

use serde::Serialize;
use shakmaty::{Chess, Position as _};

use super::mate::{self, Budget};

/// First plies (half-moves from the start of the game, from 0 = the start position) at which the
/// position on the board has a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Events {
    /// The same position for the third time (9.2).
    pub threefold: Option<u32>,
    /// For the fifth time (9.6.1).
    pub fivefold: Option<u32>,
    /// Fifty moves each without capture or pawn move, with a legal move left (9.3).
    pub fifty: Option<u32>,
    /// Seventy-five, likewise (9.6.2).
    pub seventyfive: Option<u32>,
    /// Material with which nobody can ever mate: lone kings, a lone minor piece, bishops of one colour.
    pub insufficient: Option<u32>,
    /// Dead for this or any other reason (5.2.2), as far as a short search proves it.
    pub dead: Option<u32>,
    /// Mate on the board.
    pub mate: Option<u32>,
    /// Stalemate on the board.
    pub stalemate: Option<u32>,
}

/// Follows one game.
#[derive(Clone, Debug, Default)]
pub struct Review {
    /// Positions since the last capture, pawn move or loss of a right, the newest last.
    since: Vec<Chess>,
    events: Events,
    plies: u32,
    consecutive: bool,
}

impl Review {
    /// For games under a profile where five-fold must be on consecutive alternate moves (2014).
    #[must_use]
    pub fn new(consecutive: bool) -> Self {
        Self { consecutive, ..Self::default() }
    }

    /// Begins a game.
    pub fn start(&mut self, position: &Chess) {
        self.since.clear();
        self.since.push(position.clone());
        self.events = Events::default();
        self.plies = 0;
        self.rare(position);
    }

    /// The position after the next ply.
    pub fn ply(&mut self, position: &Chess) {
        self.plies += 1;
        let halfmoves = position.halfmoves();
        if halfmoves == 0 {
            self.since.clear();
            self.since.push(position.clone());
            self.rare(position);
            return;
        }
        self.repetition(position, halfmoves as usize);
        self.since.push(position.clone());
        if halfmoves >= 100 {
            self.counters(position, halfmoves);
        }
    }

    fn repetition(&mut self, position: &Chess, halfmoves: usize) {
        let seen = self.since.len();
        // The same side is to move in every second position; the nearest that can be equal is 4 plies back.
        let (mut count, mut streak) = (1, 1);
        let mut back = 4;
        while back <= halfmoves.min(seen) {
            let earlier = &self.since[seen - back];
            if earlier.board() == position.board() && earlier == position {
                count += 1;
                if back == 4 * streak {
                    streak += 1;
                }
            }
            back += 2;
        }
        if count >= 3 {
            self.events.threefold.get_or_insert(self.plies);
        }
        if if self.consecutive { streak >= 5 } else { count >= 5 } {
            self.events.fivefold.get_or_insert(self.plies);
        }
    }

    fn counters(&mut self, position: &Chess, halfmoves: u32) {
        if self.events.fifty.is_some() && (halfmoves < 150 || self.events.seventyfive.is_some()) {
            return;
        }
        // Mate on the very move wins; stalemate draws by itself.
        if position.legal_moves().is_empty() {
            return;
        }
        self.events.fifty.get_or_insert(self.plies);
        if halfmoves >= 150 {
            self.events.seventyfive.get_or_insert(self.plies);
        }
    }

    /// What can change only with a capture or a pawn move.
    fn rare(&mut self, position: &Chess) {
        let board = position.board();
        if board.occupied().count() > 12 || self.events.insufficient.is_some() {
            return;
        }
        if position.is_insufficient_material() {
            self.events.insufficient.get_or_insert(self.plies);
            self.events.dead.get_or_insert(self.plies);
            return;
        }
        let bare_heavy = (board.queens() | board.rooks()).is_empty();
        if self.events.dead.is_some() {
            return;
        }
        if (bare_heavy || board.occupied().count() <= 4)
            && mate::is_dead(position, &Budget::quick()).is_dead()
        {
            self.events.dead.get_or_insert(self.plies);
        }
    }

    /// Ends the game with its last position.
    pub fn finish(&mut self, position: &Chess) -> Events {
        if position.legal_moves().is_empty() {
            if position.is_check() {
                self.events.mate = Some(self.plies);
            } else {
                self.events.stalemate = Some(self.plies);
            }
        }
        self.events
    }

    /// Number of plies so far.
    #[must_use]
    pub fn plies(&self) -> u32 {
        self.plies
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, fen::Fen, uci::UciMove};

    use super::*;

    fn review(fen: Option<&str>, moves: &str, consecutive: bool) -> Events {
        let mut position: Chess = match fen {
            Some(fen) => fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap(),
            None => Chess::default(),
        };
        let mut review = Review::new(consecutive);
        review.start(&position);
        for text in moves.split_whitespace() {
            let m = text.parse::<UciMove>().unwrap().to_move(&position).unwrap();
            position.play_unchecked(m);
            review.ply(&position);
        }
        review.finish(&position)
    }

    const ROUND: &str = "g1f3 g8f6 f3g1 f6g8 ";

    #[test]
    fn repetition_is_of_positions() {
        let events = review(None, &ROUND.repeat(2), false);
        assert_eq!((events.threefold, events.fivefold), (Some(8), None));
        let events = review(None, &ROUND.repeat(4), false);
        assert_eq!((events.threefold, events.fivefold), (Some(8), Some(16)));
        // With a detour between, the fifth occurrence is not on consecutive alternate moves.
        let detour = format!("{}b1c3 b8c6 c3b1 c6b8 {}", ROUND.repeat(2), "");
        let moves = format!("{detour}g1f3 g8f6 b1c3 b8c6 f3g1 f6g8 c3b1 c6b8");
        assert_eq!(review(None, &moves, true).fivefold, None);
    }

    #[test]
    fn a_legal_en_passant_makes_another_position() {
        let twin = "c2c4 a1b1 e2d2 b1a1 d2e2 a1b1 e2d2 b1a1 d2e2";
        assert_eq!(review(Some("8/8/8/8/3p4/8/2P1K3/k7 w - - 0 1"), twin, false).threefold, None);
        let free = "c2c4 a1b1 e2d2 b1a1 d2e2 a1b1 e2d2 b1a1 d2e2";
        assert_eq!(review(Some("8/8/8/8/5p2/8/2P1K3/k7 w - - 0 1"), free, false).threefold, Some(9));
    }

    #[test]
    fn mate_goes_before_the_counters() {
        let events = review(Some("6k1/8/6K1/8/8/8/8/R7 w - - 149 120"), "a1a8", false);
        assert_eq!((events.mate, events.seventyfive), (Some(1), None));
        let events = review(Some("6k1/8/6K1/8/8/8/8/R7 w - - 149 120"), "a1a7", false);
        assert_eq!((events.mate, events.seventyfive), (None, Some(1)));
    }

    #[test]
    fn dead_positions_are_found_at_the_move() {
        let events = review(Some("8/8/8/3k4/8/4r3/3NK3/8 w - - 0 60"), "e2e3", false);
        assert_eq!((events.insufficient, events.dead), (Some(1), Some(1)));
        assert_eq!(review(Some("6k1/8/8/8/8/8/8/K6R w - - 0 1"), "h1h2", false).dead, None);
    }
}
