//! Why a move is not legal, in the words of the catalogue.

use shakmaty::{Bitboard, Color, File, Move, Piece, Role, Square, attacks};

use crate::{
    record::Position,
    track::{Irregular, SquareDiff},
};

/// Why a move of one man is not legal; a word of the language files.
pub(super) fn kind(position: &Position, what: &Irregular) -> &'static str {
    match what {
        Irregular::PieceMoved { from, to, piece, captured, became } => {
            piece_moved(position, *from, *to, *piece, *captured, *became)
        }
        Irregular::Castled { rook, .. } => castled(position, *rook),
        Irregular::RookHome { .. } => "kind-castling",
        Irregular::PawnOnLastRank { .. } => "kind-pawn-on-last-rank",
        _ => "kind-other",
    }
}

fn piece_moved(
    position: &Position,
    from: Square,
    to: Square,
    piece: Piece,
    captured: Option<Piece>,
    became: Option<Piece>,
) -> &'static str {
    let board = position.board();
    let mover = piece.color;
    match captured {
        Some(Piece { role: Role::King, .. }) => return "kind-king-captured",
        Some(taken) if taken.color == mover => return "kind-own-capture",
        _ => {}
    }
    if became.is_some_and(|now| now.color != mover || matches!(now.role, Role::Pawn | Role::King)) {
        return "kind-promotion";
    }
    let by_rule = if piece.role == Role::Pawn {
        pawn_reaches(position, from, to, mover)
    } else {
        attacks::attacks(from, piece, board.occupied()).contains(to)
    };
    if by_rule {
        return if piece.role == Role::King { "kind-into-check" } else { "kind-in-check" };
    }
    if piece.role == Role::Pawn {
        let diagonal = attacks::pawn_attacks(mover, from).contains(to);
        return if diagonal && captured.is_none() { "kind-en-passant" } else { "kind-geometry" };
    }
    if attacks::attacks(from, piece, Bitboard::EMPTY).contains(to) { "kind-jump" } else { "kind-geometry" }
}

fn pawn_reaches(position: &Position, from: Square, to: Square, mover: Color) -> bool {
    let board = position.board();
    if attacks::pawn_attacks(mover, from).contains(to) {
        return board.piece_at(to).is_some_and(|piece| piece.color != mover)
            || position.to_setup().ep_square == Some(to);
    }
    let step = mover.fold_wb(8, -8);
    let one = from.offset(step).filter(|square| board.piece_at(*square).is_none());
    let home = mover.fold_wb(shakmaty::Rank::Second, shakmaty::Rank::Seventh);
    let two = one
        .filter(|_| from.rank() == home)
        .and_then(|square| square.offset(step))
        .filter(|square| board.piece_at(*square).is_none());
    one == Some(to) || two == Some(to)
}

fn castled(position: &Position, rook: Square) -> &'static str {
    let rights = position.to_setup().castling_rights;
    if rights.contains(rook) { "kind-castling-through-attack" } else { "kind-castling-right-lost" }
}

/// What the tracker has no name for, but is one man moved: onto his own side's man, or a pawn that took
/// another beside it where that is not allowed.
pub(super) fn one_man_moved(by: Color, squares: &[SquareDiff]) -> Option<Irregular> {
    let own = |piece: &Piece| piece.color == by;
    let mut arrived = squares.iter().filter(|diff| diff.sensed.as_ref().is_some_and(own));
    let (to, None) = (arrived.next()?, arrived.next()) else { return None };
    let piece = to.sensed?;
    let mut left = squares.iter().filter(|diff| diff.expected == Some(piece) && diff.sensed.is_none());
    let (from, None) = (left.next()?, left.next()) else { return None };
    let mut rest = squares.iter().filter(|diff| diff.square != from.square && diff.square != to.square);
    let fits = match (rest.next(), rest.next()) {
        (None, _) => to.expected.as_ref().is_some_and(own),
        (Some(victim), None) => {
            let beside = Square::from_coords(to.square.file(), from.square.rank());
            let enemy = Piece { color: !by, role: Role::Pawn };
            piece.role == Role::Pawn
                && victim.square == beside
                && victim.expected == Some(enemy)
                && victim.sensed.is_none()
                && to.expected.is_none()
                && attacks::pawn_attacks(by, from.square).contains(to.square)
        }
        _ => false,
    };
    fits.then_some(Irregular::PieceMoved {
        from: from.square,
        to: to.square,
        piece,
        captured: to.expected,
        became: None,
    })
}

/// A man of the side that is not on move went where such a man can go, and nothing else differs.
pub(super) fn moved_out_of_turn(
    position: &Position,
    squares: &[SquareDiff],
) -> Option<(Square, Square, Piece)> {
    let [one, other] = squares else { return None };
    let (from, to) = if one.sensed.is_none() { (one, other) } else { (other, one) };
    let piece = from.expected.filter(|piece| piece.color != position.turn() && from.sensed.is_none())?;
    let free = to.expected.is_none_or(|there| there.color != piece.color);
    let reaches = if piece.role == Role::Pawn {
        pawn_reaches(position, from.square, to.square, piece.color)
    } else {
        attacks::attacks(from.square, piece, position.board().occupied()).contains(to.square)
    };
    (to.sensed == Some(piece) && free && reaches).then_some((from.square, to.square, piece))
}

/// How an irregular move is written: squares, language-neutral.
pub(super) fn shown(what: &Irregular) -> String {
    match what {
        Irregular::PieceMoved { from, to, piece, captured, .. } => {
            let letter =
                if piece.role == Role::Pawn { String::new() } else { piece.role.upper_char().to_string() };
            format!("{letter}{from}{}{to}", if captured.is_some() { "x" } else { "-" })
        }
        Irregular::Castled { king, rook } => {
            if king.file() < rook.file() {
                "0-0".to_owned()
            } else {
                "0-0-0".to_owned()
            }
        }
        Irregular::RookHome { castling, .. } => castle_word(*castling),
        Irregular::VictimLeft { capture, .. } => format!("{capture}"),
        Irregular::CaptureHalf { victim } => format!("x{victim}"),
        Irregular::PawnOnLastRank { from, to } | Irregular::OutOfTurn { from, to, .. } => {
            format!("{from}-{to}")
        }
        Irregular::PromotionSquareEmpty { candidates } => {
            candidates.first().map_or_else(String::new, |m| m.to().to_string())
        }
        Irregular::InAir { square, .. } => square.to_string(),
        Irregular::MovePlus { played } => format!("{played}"),
        Irregular::Other => "?".to_owned(),
    }
}

fn castle_word(m: Move) -> String {
    match m {
        Move::Castle { king, rook } if king.file() < rook.file() => "0-0".to_owned(),
        Move::Castle { .. } => "0-0-0".to_owned(),
        other => other.to_string(),
    }
}

/// What makes a position impossible (3.10.3), if something does; in words for the alert.
pub(super) fn impossible(position: &Position) -> Option<String> {
    let board = position.board();
    for side in Color::ALL {
        let kings = (board.kings() & board.by_color(side)).count();
        if kings != 1 {
            return Some(format!("{} × {}", kings, side.fold_wb('K', 'k')));
        }
    }
    let pawns =
        board.pawns() & (Bitboard::from(shakmaty::Rank::First) | Bitboard::from(shakmaty::Rank::Eighth));
    pawns.first().map(|square| {
        let letter = if board.white().contains(square) { 'P' } else { 'p' };
        format!("{letter}{square}")
    })
}

/// Do both kings stand in check?
pub(super) fn both_in_check(position: &Position) -> bool {
    position.is_attacked(Color::White) && position.is_attacked(Color::Black)
}

/// The king's square after castling with a rook from this file.
pub(super) fn castled_king(king: Square, rook: Square) -> Square {
    let file = if king.file() < rook.file() { File::G } else { File::C };
    Square::from_coords(file, king.rank())
}
