//! Piece codes: what a square's number means (order R, N, B, K, Q: the king before the queen).

use shakmaty::{Color, Piece, Role};

use crate::wire::{BoardSquare, Content, Squares};

/// White's pieces have codes 1 to 6 in this order, Black's 7 to 12.
const ORDER: [Role; 6] = [Role::Pawn, Role::Rook, Role::Knight, Role::Bishop, Role::King, Role::Queen];

/// What a code of 0 to 15 means; only the low four bits count.
#[must_use]
pub fn content_from_code(code: u8) -> Content {
    let piece = |color, index: u8| Content::Piece(Piece { color, role: ORDER[usize::from(index)] });
    match code & 0x0f {
        0x00 => Content::Empty,
        low @ 0x01..=0x06 => piece(Color::White, low - 1),
        low @ 0x07..=0x0c => piece(Color::Black, low - 7),
        0x0d => Content::ResultPiece(None),
        0x0e => Content::ResultPiece(Some(Color::White)),
        _ => Content::ResultPiece(Some(Color::Black)),
    }
}

/// The code of what stands on a square, 0 to 15. Something unknown goes out as a white pawn, the
/// code with which boards that feel only occupancy say "something".
#[must_use]
pub fn piece_code(content: Content) -> u8 {
    match content {
        Content::Empty => 0x00,
        Content::Piece(piece) => {
            let index = match piece.role {
                Role::Pawn => 1,
                Role::Rook => 2,
                Role::Knight => 3,
                Role::Bishop => 4,
                Role::King => 5,
                Role::Queen => 6,
            };
            if piece.color == Color::White { index } else { index + 6 }
        }
        Content::Occupied => 0x01,
        Content::ResultPiece(None) => 0x0d,
        Content::ResultPiece(Some(Color::White)) => 0x0e,
        Content::ResultPiece(Some(Color::Black)) => 0x0f,
    }
}

/// 64 piece codes in the board's order; `None` when there are not 64 or one is no piece code.
/// Bit 4 (a quick change) may be set and is dropped.
pub(super) fn squares_from_codes(codes: &[u8]) -> Option<Squares> {
    let codes: &[u8; 64] = codes.try_into().ok()?;
    let mut squares = Squares::default();
    for (square, &code) in BoardSquare::all().zip(codes) {
        if code > 0x1f {
            return None;
        }
        squares.set(square, content_from_code(code));
    }
    Some(squares)
}

pub(super) fn push_codes(squares: &Squares, out: &mut Vec<u8>) {
    out.extend(BoardSquare::all().map(|square| piece_code(squares.get(square))));
}
