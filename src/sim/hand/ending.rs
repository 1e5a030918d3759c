//! How a game ends on the board: the kings' signal, mate left standing, analysis, setting up anew.

use shakmaty::{Board, Color, Piece, Role, Square};

use super::Hands;
use crate::{
    record::{GameResult, Position},
    sim::Action,
};

const LIGHT: [Square; 2] = [Square::E4, Square::D5];
const DARK: [Square; 2] = [Square::D4, Square::E5];

impl Hands {
    /// From the last move to the result standing on the board; when that is.
    pub(super) fn finish(&mut self, last: &Position, result: Option<GameResult>) -> u64 {
        let over = last.chess().is_some_and(shakmaty::Position::is_game_over);
        let mated = last.chess().is_some_and(|chess| shakmaty::Position::legal_moves(chess).is_empty());
        let made = self.now;
        self.wait(800, 6_000);
        let stop_first = self.chance(850);
        if stop_first || result.is_none() {
            self.log(Action::Stop);
            self.wait(500, 5_000);
        }
        let mut ended = if mated { made } else { self.now };
        let signals = match result {
            None => false,
            Some(_) if mated => self.level.human() && self.chance(400),
            Some(_) => true,
        };
        if signals && let Some(result) = result {
            if self.sometimes(0, 10) {
                // On the wrong squares first, noticed a moment later.
                let wrong = if result == GameResult::WhiteWins { Color::Black } else { Color::White };
                self.kings(GameResult::win(wrong));
                self.wait(1_500, 6_000);
            }
            self.kings(result);
            if !mated {
                ended = self.now;
            }
        }
        if !stop_first && result.is_some() {
            self.wait(500, 3_000);
            self.log(Action::Stop);
        }
        self.wait(3_000, 8_000);
        if self.level.human() && !over && self.chance(150) {
            self.analyse(last);
        }
        ended
    }

    /// The kings go to the centre: both on light squares, White won; both on dark ones, Black won;
    /// one each, a draw.
    fn kings(&mut self, result: GameResult) {
        let pick = |hands: &mut Self, pair: [Square; 2]| pair[hands.rng.usize(0..2)];
        let (white_to, black_to) = match result {
            GameResult::WhiteWins | GameResult::BlackWins => {
                let pair = if result == GameResult::WhiteWins { LIGHT } else { DARK };
                let white = pick(self, pair);
                (white, if white == pair[0] { pair[1] } else { pair[0] })
            }
            _ => {
                let (light, dark) = (pick(self, LIGHT), pick(self, DARK));
                if self.chance(500) { (light, dark) } else { (dark, light) }
            }
        };
        let mut order = [(Color::White, white_to), (Color::Black, black_to)];
        if self.chance(500) {
            order.reverse();
        }
        let lift_both = self.sometimes(300, 400);
        let mut in_hand = [None, None];
        if lift_both {
            for (index, (color, _)) in order.iter().enumerate() {
                if let Some(square) = self.board.king_of(*color) {
                    in_hand[index] = self.lift(square);
                    self.reach();
                }
            }
        }
        for (index, (color, to)) in order.into_iter().enumerate() {
            let king = Piece { color, role: Role::King };
            if self.board.piece_at(to) == Some(king) {
                continue;
            }
            // What stands there makes room: taken off, or pushed to a free square near by.
            if let Some(other) = self.board.piece_at(to) {
                self.lift(to);
                if other.role == Role::King || self.sometimes(0, 400) {
                    self.wait(200, 600);
                    if let Some(aside) = self.free_neighbour(to) {
                        self.put(aside, other);
                    }
                }
                self.wait(200, 900);
            }
            if in_hand[index].is_none() {
                let Some(square) = self.board.king_of(color) else { continue };
                let single_step = square.distance(to) == 1;
                self.lift(square);
                if !single_step {
                    self.reach();
                }
            }
            self.reach();
            self.put(to, king);
            self.wait(300, 3_000);
        }
    }

    /// Back a few moves, and what might have been; the clock stands still.
    fn analyse(&mut self, last: &Position) {
        self.become_board(last.board());
        self.wait(2_000, 10_000);
        let mut position = last.clone();
        for _ in 0..self.rng.usize(2..=8) {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let m = moves[self.rng.usize(0..moves.len())];
            position = position.play(m);
            self.become_board(position.board());
            self.wait(1_000, 6_000);
        }
    }

    /// Sets up the pieces for this start, by two people, in no order.
    pub(super) fn set_up(&mut self, start: &Board) {
        self.become_board(start);
    }

    /// Moves pieces until the board stands so: wrong ones are taken off, missing ones put, in a
    /// random order in which no square is filled before it is cleared.
    fn become_board(&mut self, target: &Board) {
        let mut open: Vec<Square> = Square::ALL
            .into_iter()
            .filter(|square| self.board.piece_at(*square) != target.piece_at(*square))
            .collect();
        self.rng.shuffle(&mut open);
        let mut again = Vec::new();
        for square in open {
            if self.board.piece_at(square).is_some() {
                self.lift(square);
                self.wait(60, 450);
                if target.piece_at(square).is_some() && self.chance(600) {
                    again.push(square);
                    continue;
                }
            }
            if let Some(piece) = target.piece_at(square) {
                self.wait(60, 500);
                self.put(square, piece);
            }
        }
        for square in again {
            if let Some(piece) = target.piece_at(square) {
                self.wait(60, 500);
                self.put(square, piece);
            }
        }
    }
}
