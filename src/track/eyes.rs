//! What the squares show: the raw reading of all 64, as a chess board turned the right way, with
//! the moment of each square's last change and the squares known to be faulty.
//!
//! It compares boards and blinds faulty squares; what a difference means is for the readings.

use std::collections::VecDeque;

use shakmaty::{Bitboard, Board, Piece, Square};

use super::{
    SquareDiff,
    faults::Faults,
    scan::{Comb, Scan},
};
use crate::{
    record::Timestamp,
    wire::{BoardSquare, Content, Squares},
};

/// The place of a game square in the board's scan.
fn place(square: Square, rotated: bool) -> u8 {
    BoardSquare::from_chess(square, rotated).index() as u8
}

/// Squares on which two boards differ.
pub(super) fn differing(a: &Board, b: &Board) -> Bitboard {
    let mut diff = (a.white() ^ b.white()) | (a.black() ^ b.black());
    diff |= a.pawns() ^ b.pawns();
    diff |= a.knights() ^ b.knights();
    diff |= a.bishops() ^ b.bishops();
    diff |= a.rooks() ^ b.rooks();
    diff |= a.queens() ^ b.queens();
    diff | (a.kings() ^ b.kings())
}

/// One square's change, in game squares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) square: Square,
    pub(super) was: Option<Piece>,
    pub(super) now: Option<Piece>,
}

/// The sensed side of a table.
#[derive(Clone, Debug)]
pub(super) struct Eyes {
    /// As the device numbers them.
    raw: Squares,
    /// The board lies turned by 180 degrees.
    pub(super) rotated: bool,
    /// The known pieces, in game squares.
    pub(super) board: Board,
    /// Squares that hold something the board cannot name.
    unknown: Bitboard,
    /// A result piece, if one stands somewhere.
    pub(super) result_piece: Option<Content>,
    /// When each square last changed.
    pub(super) since: [Timestamp; 64],
    /// Faulty squares.
    pub(super) faults: Faults,
    /// Faulty squares whose present reading tells nothing.
    blind: Bitboard,
    /// The last changes.
    trace: VecDeque<Seen>,
    /// What is being taken is a dump.
    pub(super) dumping: bool,
    /// The rhythm of the board's scan.
    scan: Scan,
}

/// A square was seen to change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) at: Timestamp,
    pub(super) square: Square,
    pub(super) was: Option<Piece>,
    pub(super) now: Option<Piece>,
    /// A dump told of it: its own update was lost, and it is older than a scan.
    pub(super) dumped: bool,
}

/// Changes that are remembered: more than fast hands make while a press waits, and in the plies before that
/// are looked at with it.
const TRACE: usize = 192;

impl Eyes {
    /// Before anything is heard the board is taken to show `start`.
    pub(super) fn new(start: &Board) -> Self {
        Self {
            raw: Squares::from_board(start, false),
            rotated: false,
            board: start.clone(),
            unknown: Bitboard::EMPTY,
            result_piece: None,
            since: [Timestamp::from_millis(i64::MIN / 2); 64],
            faults: Faults::default(),
            blind: Bitboard::EMPTY,
            trace: VecDeque::new(),
            dumping: false,
            scan: Scan::default(),
        }
    }

    /// What was seen before, and what changed while nobody looked, is no evidence of an order any more.
    pub(super) fn forget(&mut self) {
        self.trace.clear();
        self.since = [Timestamp::from_millis(i64::MIN / 2); 64];
    }

    /// A ply that is known otherwise is taken to have been seen then.
    pub(super) fn believe(&mut self, at: Timestamp, before: &Board, after: &Board) {
        for square in differing(before, after) {
            let (was, now) = (before.piece_at(square), after.piece_at(square));
            self.note(Seen { at, square, was, now, dumped: true });
        }
    }

    fn note(&mut self, seen: Seen) {
        self.since[usize::from(seen.square)] = seen.at;
        if self.trace.len() == TRACE {
            self.trace.pop_front();
        }
        self.trace.push_back(seen);
        if !seen.dumped {
            let rotated = self.rotated;
            self.scan.note(self.trace.iter(), |seen| place(seen.square, rotated));
        }
    }

    /// When the board looks at its squares, if that is known.
    pub(super) fn comb(&self, now: Timestamp) -> Option<Comb> {
        self.scan.comb(now)
    }

    /// The square's place in the board's scan.
    pub(super) fn place(&self, square: Square) -> u8 {
        place(square, self.rotated)
    }

    /// The game square of a device's square.
    pub(super) fn square(&self, square: BoardSquare) -> Square {
        square.to_chess(self.rotated)
    }

    /// Takes one square's reading. `None` if it is what was known already.
    pub(super) fn set(&mut self, at: Timestamp, square: BoardSquare, content: Content) -> Option<Change> {
        if self.raw.get(square) == content {
            return None;
        }
        self.raw.set(square, content);
        let game = self.square(square);
        let was = self.board.piece_at(game);
        let now = content.piece();
        match now {
            Some(piece) => self.board.set_piece_at(game, piece),
            None => self.board.discard_piece_at(game),
        }
        self.unknown.set(game, content == Content::Occupied);
        if matches!(content, Content::ResultPiece(_)) {
            self.result_piece = Some(content);
        }
        self.note(Seen { at, square: game, was, now, dumped: self.dumping });
        self.refresh(game);
        Some(Change { square: game, was, now })
    }

    /// All squares as the device numbers them.
    pub(super) fn raw(&self) -> &Squares {
        &self.raw
    }

    /// Turns the board's numbering round.
    pub(super) fn turn(&mut self, rotated: bool) {
        if self.rotated == rotated {
            return;
        }
        self.rotated = rotated;
        self.board = self.raw.to_board(rotated);
        self.unknown = Bitboard::EMPTY;
        for square in BoardSquare::all() {
            if self.raw.get(square) == Content::Occupied {
                self.unknown.add(square.to_chess(rotated));
            }
        }
        self.since.reverse();
        self.trace.clear();
        self.faults.turn();
        for square in Square::ALL {
            self.refresh(square);
        }
    }

    /// Squares on which the sensed board differs from `expected`, faulty readings left out.
    pub(super) fn diff(&self, expected: &Board) -> Bitboard {
        let diff = differing(&self.board, expected) & !self.blind;
        if self.unknown.is_empty() { diff } else { diff & !(self.unknown & expected.occupied()) }
    }

    /// Squares that tell nothing just now.
    pub(super) fn blind(&self) -> Bitboard {
        self.blind
    }

    /// The first moment after `since` at which this man was seen to arrive on a square.
    pub(super) fn arrival(&self, square: Square, piece: Piece, since: Timestamp) -> Option<Timestamp> {
        let mut seen = self.trace.iter().filter(|seen| seen.at > since);
        seen.find(|seen| seen.square == square && seen.now == Some(piece)).map(|seen| seen.at)
    }

    /// When this man last left a square on which it had stood for `rested` ms or longer; it stands
    /// on `now`. `None`: it has not been seen to.
    pub(super) fn left_rest(&self, piece: Piece, now: Square, rested: i64) -> Option<Timestamp> {
        for (index, left) in self.trace.iter().enumerate().rev() {
            if left.was != Some(piece) || left.square == now {
                continue;
            }
            let came = self.trace.iter().take(index).rev().find(|seen| seen.square == left.square);
            if came.is_none_or(|came| left.at.since(came.at) >= rested) {
                return Some(left.at);
            }
        }
        None
    }

    /// When the last change was seen.
    pub(super) fn now(&self) -> Timestamp {
        self.trace.back().map_or(Timestamp::from_millis(i64::MIN / 2), |seen| seen.at)
    }

    /// Bytes held by the trace.
    pub(super) fn trace_bytes(&self) -> usize {
        self.trace.capacity() * size_of::<Seen>()
    }

    /// The last change was a man's arrival.
    pub(super) fn landed_last(&self) -> bool {
        self.trace.back().is_some_and(|seen| seen.now.is_some())
    }

    /// The changes since then, oldest first.
    pub(super) fn changes(&self, since: Timestamp) -> impl Iterator<Item = &Seen> {
        let from = self.trace.partition_point(|seen| seen.at <= since);
        self.trace.range(from..)
    }

    /// Squares that read empty.
    pub(super) fn empty(&self) -> Bitboard {
        !(self.board.occupied() | self.unknown)
    }

    /// The latest change on any of these squares.
    pub(super) fn latest(&self, squares: Bitboard) -> Timestamp {
        squares
            .into_iter()
            .map(|square| self.since[usize::from(square)])
            .max()
            .unwrap_or(Timestamp::from_millis(i64::MIN / 2))
    }

    /// Works out anew whether a square is blind, after a change of its reading or of its fault.
    pub(super) fn refresh(&mut self, square: Square) {
        let blind = self.faults.blinds(square, self.board.piece_at(square));
        self.blind.set(square, blind);
    }

    /// The differences, named.
    pub(super) fn name(&self, squares: Bitboard, expected: &Board) -> Vec<SquareDiff> {
        squares
            .into_iter()
            .map(|square| SquareDiff {
                square,
                expected: expected.piece_at(square),
                sensed: self.board.piece_at(square),
            })
            .collect()
    }
}
