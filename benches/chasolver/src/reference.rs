//! Asking chasolver.

use std::str::FromStr;

use chasolver::Winnability;
use shakmaty::Color;

/// chasolver's answer to one question; `None` if undetermined.
pub fn full(board: &chess::Board, side: Color) -> Option<bool> {
    chasolver::winnability(board, colour(side)).map(|answer| matches!(answer, Winnability::Winnable { .. }))
}

/// The board of the reference, if it accepts the position.
pub fn board(fen: &str) -> Option<chess::Board> {
    chess::Board::from_str(fen).ok()
}

fn colour(side: Color) -> chess::Color {
    if side == Color::White { chess::Color::White } else { chess::Color::Black }
}
