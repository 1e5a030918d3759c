//! A position that stands in a game: nearly always legal, sometimes not.
//!
//! An illegal move may stand (Laws 7.5.1, 13.4.2), and then the game goes on from a position that
//! no chess library accepts, such as one whose side *not* on move is in check. [`Position`] keeps
//! both kinds behind one interface, so that nothing further on needs to care.

use std::{fmt, hash::Hash, str::FromStr};

use serde::{Deserialize, Serialize};
use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, EnPassantMode, FromSetup, Move, MoveList, Piece,
    Position as _, Rank, Role, Setup, Square, attacks, fen::Fen, san::San, san::SanPlus, uci::UciMove,
};

/// A position with side to move, castling rights, en passant square and counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    kind: Kind,
    mode: CastlingMode,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Legal(Chess),
    /// What shakmaty refuses: a king missing or two, the side not on move in check, a pawn on the
    /// first or last rank.
    Irregular(Box<Setup>),
}

/// What makes two positions the same for repetition (Laws 9.2.3; 9.2.2 before 2023): placement,
/// side to move, castling rights, and en passant only if a legal capture exists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PositionKey(KeyKind);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum KeyKind {
    // shakmaty's equality of `Chess` is exactly the Laws' sameness.
    Legal(Chess),
    Irregular(Board, Color, Bitboard),
}

/// A FEN that no position can be made of, not even an irregular one.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot read the FEN {fen:?}: {why}; expected placement, side to move, castling, en passant, counters"
)]
pub struct FenError {
    /// The text as it came.
    pub fen: String,
    /// What is wrong.
    pub why: String,
}

impl Default for Position {
    fn default() -> Self {
        Self { kind: Kind::Legal(Chess::default()), mode: CastlingMode::Standard }
    }
}

impl From<Chess> for Position {
    fn from(chess: Chess) -> Self {
        let mode = chess.castles().mode();
        Self { kind: Kind::Legal(chess), mode }
    }
}

impl Position {
    /// Reads a FEN; positions that are not legal chess are taken as they are.
    ///
    /// # Errors
    /// When the text is no FEN at all.
    pub fn from_fen(fen: &str, mode: CastlingMode) -> Result<Self, FenError> {
        let parsed =
            Fen::from_str(fen).map_err(|error| FenError { fen: fen.to_owned(), why: error.to_string() })?;
        Ok(Self::from_setup(parsed.into_setup(), mode))
    }

    /// Takes a set-up: legal if shakmaty accepts it (a right without its rook or an impossible en
    /// passant square is dropped), irregular otherwise.
    #[must_use]
    pub fn from_setup(setup: Setup, mode: CastlingMode) -> Self {
        let legal = Chess::from_setup(setup.clone(), mode)
            .or_else(shakmaty::PositionError::ignore_invalid_castling_rights)
            .or_else(shakmaty::PositionError::ignore_invalid_ep_square)
            .or_else(shakmaty::PositionError::ignore_too_much_material)
            .or_else(shakmaty::PositionError::ignore_impossible_check);
        let kind = match legal {
            Ok(chess) => Kind::Legal(chess),
            Err(_) => Kind::Irregular(Box::new(setup)),
        };
        Self { kind, mode }
    }

    /// The start position with this Chess960 number, 0 to 959 (518 is the standard array).
    #[must_use]
    pub fn chess960(number: u32) -> Self {
        let setup = Setup {
            board: Board::chess960(number.min(959)),
            castling_rights: Board::chess960(number.min(959)).rooks(),
            ..Setup::initial()
        };
        Self::from_setup(setup, CastlingMode::Chess960)
    }

    /// The legal position, unless it is irregular.
    #[must_use]
    pub fn chess(&self) -> Option<&Chess> {
        match &self.kind {
            Kind::Legal(chess) => Some(chess),
            Kind::Irregular(_) => None,
        }
    }

    /// Standard chess, or Chess960 (castling is written king takes rook).
    #[must_use]
    pub fn mode(&self) -> CastlingMode {
        self.mode
    }

    /// The pieces.
    #[must_use]
    pub fn board(&self) -> &Board {
        match &self.kind {
            Kind::Legal(chess) => chess.board(),
            Kind::Irregular(setup) => &setup.board,
        }
    }

    /// Side to move.
    #[must_use]
    pub fn turn(&self) -> Color {
        match &self.kind {
            Kind::Legal(chess) => chess.turn(),
            Kind::Irregular(setup) => setup.turn,
        }
    }

    /// Half-moves since the last capture or pawn move.
    #[must_use]
    pub fn halfmoves(&self) -> u32 {
        match &self.kind {
            Kind::Legal(chess) => chess.halfmoves(),
            Kind::Irregular(setup) => setup.halfmoves,
        }
    }

    /// The number of the move to be played, from 1.
    #[must_use]
    pub fn move_number(&self) -> u32 {
        match &self.kind {
            Kind::Legal(chess) => chess.fullmoves().get(),
            Kind::Irregular(setup) => setup.fullmoves.get(),
        }
    }

    /// The whole set-up; en passant square only where a legal capture exists.
    #[must_use]
    pub fn to_setup(&self) -> Setup {
        match &self.kind {
            Kind::Legal(chess) => chess.to_setup(EnPassantMode::Legal),
            Kind::Irregular(setup) => (**setup).clone(),
        }
    }

    /// FEN; en passant square only where a legal capture exists.
    #[must_use]
    pub fn fen(&self) -> String {
        match Fen::try_from_setup(self.to_setup()) {
            Ok(fen) => fen.to_string(),
            Err(lossy) => lossy.ignore().to_string(),
        }
    }

    /// The placement field of the FEN.
    #[must_use]
    pub fn placement(&self) -> String {
        self.board().board_fen().to_string()
    }

    /// The side on move is in check.
    #[must_use]
    pub fn is_check(&self) -> bool {
        self.is_attacked(self.turn())
    }

    /// This side's king stands attacked. False without a king.
    #[must_use]
    pub fn is_attacked(&self, side: Color) -> bool {
        king_attacked(self.board(), side)
    }

    /// Mate on the board: only a legal position can be mate.
    #[must_use]
    pub fn is_checkmate(&self) -> bool {
        self.chess().is_some_and(shakmaty::Position::is_checkmate)
    }

    /// Stalemate on the board: only a legal position can be stalemate.
    #[must_use]
    pub fn is_stalemate(&self) -> bool {
        self.chess().is_some_and(shakmaty::Position::is_stalemate)
    }

    /// All legal moves. In an irregular position: every move by the pieces' rules that leaves the
    /// mover's own king (if there is one) unattacked and takes no king; no castling.
    #[must_use]
    pub fn legal_moves(&self) -> Vec<Move> {
        match &self.kind {
            Kind::Legal(chess) => chess.legal_moves().to_vec(),
            Kind::Irregular(setup) => irregular_moves(setup),
        }
    }

    /// The legal move with this UCI text (either castling form), if it is one.
    #[must_use]
    pub fn find_uci(&self, uci: UciMove) -> Option<Move> {
        match &self.kind {
            Kind::Legal(chess) => uci.to_move(chess).ok(),
            Kind::Irregular(setup) => irregular_moves(setup).into_iter().find(|m| m.to_uci(self.mode) == uci),
        }
    }

    /// How a move is written outside: `e1g1` in standard chess, king takes rook in Chess960.
    #[must_use]
    pub fn uci(&self, m: Move) -> UciMove {
        m.to_uci(self.mode)
    }

    /// Standard algebraic notation of a legal move with check or mate sign. In an irregular
    /// position the same form, with `+` where the other king then stands attacked.
    #[must_use]
    pub fn san(&self, m: Move) -> String {
        match &self.kind {
            Kind::Legal(chess) => SanPlus::from_move(chess.clone(), m).to_string(),
            Kind::Irregular(setup) => {
                let mut rivals = MoveList::new();
                for other in irregular_moves(setup) {
                    if other.role() == m.role() && other.to() == m.to() && rivals.try_push(other).is_err() {
                        break;
                    }
                }
                let check = if self.play(m).is_check() { "+" } else { "" };
                format!("{}{check}", San::disambiguate(m, &rivals))
            }
        }
    }

    /// The one legal move that this notation names, read strictly: a capture must say so, an
    /// ambiguous text names nothing.
    #[must_use]
    pub fn find_san(&self, san: San) -> Option<Move> {
        let setup = match &self.kind {
            Kind::Legal(chess) => return san.to_move(chess).ok(),
            Kind::Irregular(setup) => setup,
        };
        let San::Normal { role, file, rank, capture, to, promotion } = san else {
            return None;
        };
        let mut fitting = irregular_moves(setup).into_iter().filter(|m| {
            let from = m.from();
            m.role() == role
                && m.to() == to
                && m.is_capture() == capture
                && m.promotion() == promotion
                && file.is_none_or(|file| from.is_some_and(|from| from.file() == file))
                && rank.is_none_or(|rank| from.is_some_and(|from| from.rank() == rank))
                // A pawn's capture names its file.
                && (role != Role::Pawn || !capture || file.is_some())
        });
        let found = fitting.next()?;
        fitting.next().is_none().then_some(found)
    }

    /// The FEN as Chess960 programs want it: castling rights by the rooks' files (`HAha`).
    /// In standard chess the same as [`Position::fen`].
    #[must_use]
    pub fn shredder_fen(&self) -> String {
        let fen = self.fen();
        if !self.mode.is_chess960() {
            return fen;
        }
        let setup = self.to_setup();
        let mut rights = String::new();
        for color in Color::ALL {
            for rook in (setup.castling_rights & setup.board.by_color(color)).into_iter().rev() {
                rights.push(color.fold_wb(rook.file().upper_char(), rook.file().char()));
            }
        }
        let mut fields: Vec<&str> = fen.split(' ').collect();
        if let (Some(field), false) = (fields.get_mut(2), rights.is_empty()) {
            *field = &rights;
        }
        fields.join(" ")
    }

    /// The position after a legal move.
    ///
    /// The move must come from [`Position::legal_moves`] or [`Position::find_uci`] of this position.
    #[must_use]
    pub fn play(&self, m: Move) -> Self {
        match &self.kind {
            Kind::Legal(chess) => {
                let mut next = chess.clone();
                next.play_unchecked(m);
                // A move of another line that takes a king: what stands then is no legal position.
                if Color::ALL.iter().any(|side| next.board().king_of(*side).is_none()) {
                    return Self::from_setup(play_on_setup(&self.to_setup(), m), self.mode);
                }
                Self { kind: Kind::Legal(next), mode: self.mode }
            }
            Kind::Irregular(setup) => Self::from_setup(play_on_setup(setup, m), self.mode),
        }
    }

    /// The position when the side on move has left this board behind, legally or not: rights
    /// whose king or rook is no longer at home are gone, the turn passes, the counter of moves
    /// without progress restarts if a man is missing or a pawn moved.
    #[must_use]
    pub fn after_irregular(&self, board: Board) -> Self {
        let mut setup = self.to_setup();
        let progress = board.occupied().count() != setup.board.occupied().count()
            || board.pawns() != setup.board.pawns();
        let rooks = setup.castling_rights;
        let mut rights = Bitboard::EMPTY;
        for color in Color::ALL {
            let king = Piece { color, role: Role::King };
            if board.by_piece(king) == setup.board.by_piece(king) {
                rights |=
                    rooks & setup.board.by_color(color) & board.by_piece(Piece { color, role: Role::Rook });
            }
        }
        setup.castling_rights = rights;
        setup.board = board;
        setup.ep_square = None;
        setup.halfmoves = if progress { 0 } else { setup.halfmoves + 1 };
        pass_turn(&mut setup);
        Self::from_setup(setup, self.mode)
    }

    /// The same board with the other side to move, for "whose turn" questions. No en passant.
    #[must_use]
    pub fn with_turn(&self, turn: Color) -> Self {
        let mut setup = self.to_setup();
        if setup.turn != turn {
            setup.turn = turn;
            setup.ep_square = None;
        }
        Self::from_setup(setup, self.mode)
    }

    /// What makes it the same position as another.
    #[must_use]
    pub fn key(&self) -> PositionKey {
        PositionKey(match &self.kind {
            Kind::Legal(chess) => KeyKind::Legal(chess.clone()),
            Kind::Irregular(setup) => {
                KeyKind::Irregular(setup.board.clone(), setup.turn, setup.castling_rights)
            }
        })
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fen())
    }
}

/// Written as a FEN, with ` 960` behind it in Chess960.
impl Serialize for Position {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let suffix = if self.mode.is_chess960() { " 960" } else { "" };
        serializer.collect_str(&format_args!("{self}{suffix}"))
    }
}

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // Behind the six fields of a FEN, the last of which is 960 at move 960.
        let (fen, mode) = match text.strip_suffix(" 960") {
            Some(fen) if fen.split(' ').count() == 6 => (fen, CastlingMode::Chess960),
            _ => (text.as_str(), CastlingMode::Standard),
        };
        Self::from_fen(fen, mode).map_err(serde::de::Error::custom)
    }
}

fn king_attacked(board: &Board, side: Color) -> bool {
    board.king_of(side).is_some_and(|king| board.attacks_to(king, !side, board.occupied()).any())
}

fn pass_turn(setup: &mut Setup) {
    if setup.turn == Color::Black {
        setup.fullmoves = setup.fullmoves.saturating_add(1);
    }
    setup.turn = !setup.turn;
}

fn play_on_setup(setup: &Setup, m: Move) -> Setup {
    let mut next = setup.clone();
    next.ep_square = None;
    next.halfmoves += 1;
    let mover = setup.turn;
    match m {
        Move::Normal { role, from, capture, to, promotion } => {
            next.board.discard_piece_at(from);
            next.board.set_piece_at(to, Piece { color: mover, role: promotion.unwrap_or(role) });
            if role == Role::Pawn || capture.is_some() {
                next.halfmoves = 0;
            }
            if role == Role::Pawn && from.file() == to.file() && from.distance(to) == 2 {
                next.ep_square = from.offset(mover.fold_wb(8, -8));
            }
            next.castling_rights.discard(from);
            next.castling_rights.discard(to);
            if role == Role::King {
                next.castling_rights &= !setup.board.by_color(mover);
            }
        }
        Move::EnPassant { from, to } => {
            next.board.discard_piece_at(from);
            next.board.discard_piece_at(Square::from_coords(to.file(), from.rank()));
            next.board.set_piece_at(to, Piece { color: mover, role: Role::Pawn });
            next.halfmoves = 0;
        }
        Move::Castle { .. } | Move::Put { .. } => {} // never generated for an irregular position
    }
    pass_turn(&mut next);
    next
}

/// The moves of an irregular position, by the pieces' rules. See [`Position::legal_moves`].
fn irregular_moves(setup: &Setup) -> Vec<Move> {
    let board = &setup.board;
    let us = setup.turn;
    let own = board.by_color(us);
    let enemy_kings = board.by_piece(Piece { color: !us, role: Role::King });
    let mut moves = Vec::new();
    for (from, piece) in board {
        if piece.color != us {
            continue;
        }
        if piece.role == Role::Pawn {
            pawn_moves(setup, from, &mut moves);
            continue;
        }
        for to in attacks::attacks(from, piece, board.occupied()) & !own & !enemy_kings {
            let capture = board.role_at(to);
            moves.push(Move::Normal { role: piece.role, from, capture, to, promotion: None });
        }
    }
    moves.retain(|m| !king_attacked(&play_on_setup(setup, *m).board, us));
    moves
}

fn pawn_moves(setup: &Setup, from: Square, moves: &mut Vec<Move>) {
    let (board, us) = (&setup.board, setup.turn);
    let forward = us.fold_wb(8, -8);
    let mut push = |to: Square, capture: Option<Role>| {
        let last = us.fold_wb(Rank::Eighth, Rank::First);
        if to.rank() == last {
            for role in [Role::Queen, Role::Rook, Role::Bishop, Role::Knight] {
                moves.push(Move::Normal { role: Role::Pawn, from, capture, to, promotion: Some(role) });
            }
        } else {
            moves.push(Move::Normal { role: Role::Pawn, from, capture, to, promotion: None });
        }
    };
    if let Some(one) = from.offset(forward).filter(|to| board.piece_at(*to).is_none()) {
        push(one, None);
        let home = us.fold_wb(Rank::Second, Rank::Seventh);
        if from.rank() == home
            && let Some(two) = one.offset(forward).filter(|to| board.piece_at(*to).is_none())
        {
            push(two, None);
        }
    }
    let mut en_passant = None;
    for to in attacks::pawn_attacks(us, from) {
        match board.piece_at(to) {
            Some(target) if target.color != us && target.role != Role::King => push(to, Some(target.role)),
            None if setup.ep_square == Some(to) => en_passant = Some(Move::EnPassant { from, to }),
            _ => {}
        }
    }
    moves.extend(en_passant);
}
