//! The squares of many lines, each aligned once.
//!
//! What a line puts on one square is a *history*; lines that do the same to a square at the same plies
//! and moments share it with its alignment, so a beginning one ply longer aligns at most the squares
//! that this ply touches. What the alignments cost together is for `tally`.

use std::cell::Cell;

use shakmaty::{Bitboard, CastlingSide, Color, Move, Piece, Role, Square};

use super::{
    align::{Aligned, Brought, CONTENTS, Mark, align},
    ledger::{Ledger, Tried},
    moves::{arriving, squares},
    spare,
};
use crate::record::{Position, Timestamp};

/// No history.
const NONE: u16 = u16::MAX;
/// Histories of a search are numbered in 16 bits; so many are left for the plies that one beginning goes on
/// with, and for the variations of the best story, when it ends.
const LEFT: usize = 8_192;
/// Histories after which a search ends: a bound on its time and memory, a few ms and MB.
const MOST: usize = NONE as usize - LEFT;

/// Squares that a ply touches at the most: castling.
const TOUCHED: usize = 4;

/// A ply of a line, without the position that it leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ply {
    pub(super) m: Move,
    /// When it was read.
    pub(super) at: Timestamp,
    /// Who made it.
    pub(super) by: Color,
}

impl From<&Tried> for Ply {
    fn from(tried: &Tried) -> Self {
        Self { m: tried.m, at: tried.at, by: !tried.after.turn() }
    }
}

/// The histories of a line's squares, by their numbers in [`Sheets`].
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    of: [u16; 64],
    /// Squares that tell of some ply.
    pub(super) telling: Bitboard,
    /// Squares whose readings, the first of them at least, cost something.
    pub(super) early: Bitboard,
    /// Squares that cost something, all readings and the last content taken together.
    pub(super) costly: Bitboard,
    /// Squares on which a man was read that the line never puts there.
    pub(super) strays: Bitboard,
}

/// The histories that a ply gives the squares that it touches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Longer {
    all: [(Square, u16); TOUCHED],
    count: u8,
}

impl Default for Longer {
    fn default() -> Self {
        Self { all: [(Square::A1, NONE); TOUCHED], count: 0 }
    }
}

impl Longer {
    /// The squares that change, in their order.
    pub(super) fn changed(self) -> impl Iterator<Item = (Square, u16)> {
        self.all.into_iter().take(usize::from(self.count))
    }
}

/// What a ply leaves on a square that it touches.
fn left_on(square: Square, ply: Ply) -> Option<Piece> {
    let piece = |role: Role| Some(role.of(ply.by));
    match ply.m {
        Move::Castle { king, rook } => {
            let side = CastlingSide::from_king_side(king < rook);
            match square {
                _ if square == side.king_to(ply.by) => piece(Role::King),
                _ if square == side.rook_to(ply.by) => piece(Role::Rook),
                _ => None,
            }
        }
        m if m.to() == square => arriving(m).and_then(piece),
        _ => None,
    }
}

/// What a line puts on one square, up to its last content.
struct History {
    aligned: Aligned,
    last: Brought,
    /// The history before that content.
    before: u16,
    contents: u8,
    /// The first history that goes on from this one, and the next one that goes on from the same.
    longer: u16,
    next: u16,
}

thread_local! {
    static HISTORIES: Cell<Vec<History>> = const { Cell::new(Vec::new()) };
    static MARKS: Cell<Vec<Mark>> = const { Cell::new(Vec::new()) };
}

impl Drop for Sheets<'_, '_> {
    fn drop(&mut self) {
        HISTORIES.with(|place| spare::leave(place, &mut self.all));
        MARKS.with(|place| spare::leave(place, &mut self.marks));
    }
}

/// All histories of a search.
pub(super) struct Sheets<'a, 'b> {
    ledger: &'a Ledger<'b>,
    root: &'a Position,
    all: Vec<History>,
    marks: Vec<Mark>,
    /// The history of each square as it is at the root.
    bare: [u16; 64],
}

impl<'a, 'b> Sheets<'a, 'b> {
    /// For lines from this position; with the sheet of the line that has no plies.
    pub(super) fn new(ledger: &'a Ledger<'b>, root: &'a Position) -> (Self, Sheet) {
        let mut sheets = Self {
            ledger,
            root,
            all: Vec::with_capacity(512),
            marks: Vec::with_capacity(512),
            bare: [NONE; 64],
        };
        let none = Bitboard::EMPTY;
        let mut sheet = Sheet { of: [NONE; 64], telling: none, early: none, costly: none, strays: none };
        for square in ledger.active(root) {
            let history = sheets.bare(square);
            sheets.put(&mut sheet, square, history);
        }
        (sheets, sheet)
    }

    pub(super) fn of(&self, sheet: &Sheet, square: Square) -> &Aligned {
        &self.all[usize::from(sheet.of[usize::from(square)])].aligned
    }

    /// What a square of this sheet tells of plies.
    pub(super) fn marks(&self, sheet: &Sheet, square: Square) -> &[Mark] {
        self.marks_at(sheet.of[usize::from(square)])
    }

    /// What a history tells of plies, if there is one.
    pub(super) fn marks_at(&self, history: u16) -> &[Mark] {
        self.all.get(usize::from(history)).map_or(&[], |history| history.aligned.marks(&self.marks))
    }

    /// So much was looked at that the search ends.
    pub(super) fn full(&self) -> bool {
        self.all.len() >= MOST
    }

    /// What a ply more, number `index` of the line, changes of its sheet.
    pub(super) fn extend(&mut self, sheet: &Sheet, index: usize, ply: Ply) -> Longer {
        let mut longer = Longer::default();
        for square in squares(ply.m, ply.by) & !self.ledger.eyes.blind() {
            let before = match sheet.of[usize::from(square)] {
                NONE => self.bare(square),
                known => known,
            };
            let content = left_on(square, ply);
            // By which move a man left his square does not matter: ways to several squares share the history.
            let m = Some(ply.m).filter(|m| content.is_some() || m.is_en_passant());
            let brought = Brought { content, ply: index as u8, m, at: ply.at };
            let history = self.longer(square, before, brought);
            let place = usize::from(longer.count);
            longer.all[place] = (square, history);
            longer.count += 1;
        }
        longer
    }

    /// Makes the sheet that of the line one ply longer.
    pub(super) fn grow(&self, sheet: &mut Sheet, longer: Longer) {
        for (square, history) in longer.changed() {
            self.put(sheet, square, history);
        }
    }

    fn put(&self, sheet: &mut Sheet, square: Square, history: u16) {
        sheet.of[usize::from(square)] = history;
        let aligned = &self.all[usize::from(history)].aligned;
        sheet.telling.set(square, aligned.telling());
        sheet.early.set(square, aligned.early());
        sheet.costly.set(square, aligned.stood.min(aligned.unread) > 0 || !aligned.agrees);
        sheet.strays.set(square, aligned.strays | aligned.untimely != 0);
    }

    /// The sheet of a whole line.
    pub(super) fn whole(&mut self, bare: &Sheet, line: &[Tried]) -> Sheet {
        let mut sheet = bare.clone();
        for (index, tried) in line.iter().enumerate() {
            let longer = self.extend(&sheet, index, tried.into());
            self.grow(&mut sheet, longer);
        }
        sheet
    }

    fn bare(&mut self, square: Square) -> u16 {
        let known = self.bare[usize::from(square)];
        if known != NONE {
            return known;
        }
        let root = Brought::root(self.root.board().piece_at(square));
        let aligned = align(self.ledger, square, &[root], &mut self.marks);
        let index =
            self.add(History { aligned, last: root, before: NONE, contents: 1, longer: NONE, next: NONE });
        self.bare[usize::from(square)] = index;
        index
    }

    /// The history that goes on with this content.
    fn longer(&mut self, square: Square, before: u16, brought: Brought) -> u16 {
        let history = &self.all[usize::from(before)];
        if history.last.content == brought.content || usize::from(history.contents) == CONTENTS {
            return before;
        }
        let (first, contents) = (history.longer, history.contents + 1);
        let mut other = first;
        while let Some(known) = self.all.get(usize::from(other)) {
            if known.last == brought {
                return other;
            }
            other = known.next;
        }
        let mut all = [brought; CONTENTS];
        let mut from = before;
        for place in all[..usize::from(contents) - 1].iter_mut().rev() {
            let history = &self.all[usize::from(from)];
            *place = history.last;
            from = history.before;
        }
        let aligned = align(self.ledger, square, &all[..usize::from(contents)], &mut self.marks);
        let index = self.add(History { aligned, last: brought, before, contents, longer: NONE, next: first });
        self.all[usize::from(before)].longer = index;
        index
    }

    fn add(&mut self, history: History) -> u16 {
        let index = self.all.len() as u16;
        self.all.push(history);
        index
    }
}
