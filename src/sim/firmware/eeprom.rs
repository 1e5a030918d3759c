//! The board's own log: 8 kB of EEPROM written round and round, which survives the power.
//!
//! DGT protocol, "moves in EEPROM": one write pointer, the oldest tags are overwritten; a change
//! less than about 250 ms after the one before is marked; a square that flickers overwrites its
//! own last tag; the tags for the initial position and the empty board are not written again
//! before more than two men have moved.

use std::collections::VecDeque;

use crate::wire::{
    BoardSquare, Content, Squares,
    dgt::{Tag, content_from_code},
};

/// Usable cells.
const CELLS: usize = 0x1f00;

/// The ring, and what has been read from it.
#[derive(Clone, Debug)]
pub(super) struct Eeprom {
    /// Written bytes, oldest first.
    bytes: VecDeque<u8>,
    /// How many bytes were ever overwritten: the position of the first one in `bytes`.
    gone: u64,
    /// Up to here the bus has fetched.
    fetched: u64,
    /// Where the last start tag stands.
    start: Option<u64>,
    last_change_ms: Option<u64>,
    /// The last tags written, if changes of squares: square and position of the last, and whether
    /// the one before was of the same square.
    last_field: Option<(BoardSquare, u64, bool)>,
    /// The position tagged last, until more than two men have left it.
    tagged: Option<Squares>,
}

impl Eeprom {
    /// As delivered: erased.
    pub(super) fn new() -> Self {
        Self {
            bytes: VecDeque::new(),
            gone: 0,
            fetched: 0,
            start: None,
            last_change_ms: None,
            last_field: None,
            tagged: None,
        }
    }

    fn end(&self) -> u64 {
        self.gone + self.bytes.len() as u64
    }

    fn write(&mut self, tag: Tag) {
        let mut bytes = Vec::with_capacity(3);
        tag.encode(&mut bytes);
        self.bytes.extend(bytes);
        // The last cell is kept for the end mark of a download.
        while self.bytes.len() > CELLS - 1 {
            self.bytes.pop_front();
            self.gone += 1;
        }
        self.fetched = self.fetched.max(self.gone);
        self.last_field = None;
    }

    /// Switched on, or restarted: what stands on the board follows.
    pub(super) fn power_up(&mut self, squares: &Squares) {
        for tag in [Tag::Nop(0x7f), Tag::Nop(0x7f), Tag::Nop(0x7f), Tag::PowerUp] {
            self.write(tag);
        }
        self.write_pieces(squares);
        self.tagged = None;
        self.last_change_ms = None;
    }

    /// A game is started on the bus.
    pub(super) fn start_game(&mut self, squares: &Squares) {
        self.start = Some(self.end());
        self.write(Tag::Start);
        self.write_pieces(squares);
    }

    fn write_pieces(&mut self, squares: &Squares) {
        for square in BoardSquare::all() {
            let content = squares.get(square);
            if content != Content::Empty {
                self.write(Tag::Field { square, content, quick: false });
            }
        }
    }

    /// A square changed; `squares` is the board after it. True when it came quickly after the last.
    pub(super) fn field(
        &mut self,
        at: u64,
        square: BoardSquare,
        content: Content,
        squares: &Squares,
    ) -> bool {
        let quick = self.last_change_ms.is_some_and(|last| at.saturating_sub(last) < 250);
        self.last_change_ms = Some(at);
        let before = self.last_field;
        if let Some((last, position, true)) = before
            && last == square
            && position >= self.fetched
            && position >= self.gone
        {
            self.bytes.truncate((position - self.gone) as usize);
        }
        let position = self.end();
        self.write(Tag::Field { square, content, quick });
        self.last_field = Some((square, position, before.is_some_and(|(last, ..)| last == square)));
        self.tag_position(squares);
        quick
    }

    /// The lever moved: the time of the side that was halted.
    pub(super) fn halted(&mut self, left: bool, seconds: u32) {
        self.write(Tag::Time { left, seconds });
    }

    fn tag_position(&mut self, squares: &Squares) {
        let differing = |other: &Squares| {
            // A man who left: his square no longer reads him.
            BoardSquare::all()
                .filter(|square| {
                    other.get(*square) != Content::Empty && other.get(*square) != squares.get(*square)
                })
                .count()
        };
        let men = squares.0.iter().filter(|content| **content != Content::Empty).count();
        if let Some(tagged) = &self.tagged {
            let empty_before = tagged.0.iter().all(|content| *content == Content::Empty);
            let left = if empty_before { men } else { differing(tagged) };
            if left <= 2 {
                return;
            }
            self.tagged = None;
        }
        let tag = if men == 0 {
            Tag::EmptyBoard
        } else if *squares == initial(false) {
            Tag::Begin { rotated: false }
        } else if *squares == initial(true) {
            Tag::Begin { rotated: true }
        } else if men == 32 && four_rows(squares) {
            Tag::FourRows
        } else {
            return;
        };
        self.write(tag);
        self.tagged = Some(*squares);
    }

    /// The whole log for a download: oldest first, erased cells in front, an end mark behind.
    pub(super) fn download(&mut self) -> Vec<u8> {
        let mut stream = vec![0x7f; CELLS - 1 - self.bytes.len()];
        stream.extend(&self.bytes);
        stream.push(0x6b);
        self.write(Tag::Downloaded);
        stream
    }

    /// What the bus has not fetched yet; it is fetched with this.
    pub(super) fn take_changes(&mut self) -> Vec<u8> {
        let from = self.fetched.saturating_sub(self.gone) as usize;
        self.fetched = self.end();
        self.last_field = None;
        self.bytes.iter().skip(from).copied().collect()
    }

    /// From the start tag to what was fetched last.
    pub(super) fn since_start(&self) -> Vec<u8> {
        let from = self.start.map_or(self.gone, |start| start.max(self.gone)) - self.gone;
        let to = self.fetched.saturating_sub(self.gone);
        self.bytes.iter().take(to as usize).skip(from as usize).copied().collect()
    }
}

fn initial(rotated: bool) -> Squares {
    Squares::from_board(&shakmaty::Board::default(), rotated)
}

fn four_rows(squares: &Squares) -> bool {
    squares.0[16..48].iter().all(|content| *content == content_from_code(0))
}

#[cfg(test)]
mod tests {
    use shakmaty::{Color, Piece, Role, Square};

    use super::*;
    use crate::wire::dgt::Tags;

    fn tags(stream: &[u8]) -> Vec<Tag> {
        Tags::new(stream).filter(|tag| !matches!(tag, Tag::Nop(_))).collect()
    }

    fn square(square: Square) -> BoardSquare {
        BoardSquare::from_chess(square, false)
    }

    /// Changes the board and writes it down.
    fn change(log: &mut Eeprom, squares: &mut Squares, at: u64, on: Square, piece: Option<Piece>) -> bool {
        squares.set(square(on), piece.into());
        log.field(at, square(on), piece.into(), squares)
    }

    #[test]
    fn a_flickering_piece_overwrites_its_own_last_tag() {
        let (mut log, mut squares) = (Eeprom::new(), initial(false));
        let pawn = Piece { color: Color::White, role: Role::Pawn };
        squares.set(square(Square::A2), Content::Empty);
        for round in 0..10 {
            change(&mut log, &mut squares, round * 2_000, Square::E2, None);
            change(&mut log, &mut squares, round * 2_000 + 100, Square::E2, Some(pawn));
        }
        let fields = tags(&log.take_changes());
        let written = fields.iter().filter(|tag| matches!(tag, Tag::Field { .. })).count();
        assert_eq!(written, 2, "{fields:?}");
        assert!(fields.contains(&Tag::Field {
            square: square(Square::E2),
            content: Content::Piece(pawn),
            quick: true
        }));
    }

    #[test]
    fn the_start_position_is_tagged_once_until_three_men_have_left() {
        let (mut log, mut squares) = (Eeprom::new(), initial(true));
        let pawn = Piece { color: Color::White, role: Role::Pawn };
        let files = [Square::A2, Square::B2, Square::C2];
        let mut at = 0;
        let mut lift_and_return = |log: &mut Eeprom, men: usize| {
            for turn in 0..2 {
                for on in &files[..men] {
                    at += 1_000;
                    let on = BoardSquare::from_chess(*on, true);
                    squares.set(on, (turn == 1).then_some(pawn).into());
                    log.field(at, on, squares.get(on), &squares);
                }
            }
            let found = tags(&log.take_changes());
            found.iter().filter(|tag| **tag == Tag::Begin { rotated: true }).count()
        };
        assert_eq!(lift_and_return(&mut log, 1), 1);
        assert_eq!(lift_and_return(&mut log, 2), 0, "not again");
        assert_eq!(lift_and_return(&mut log, 3), 1);
    }

    #[test]
    fn the_ring_keeps_the_newest_and_ends_with_its_mark() {
        let (mut log, mut squares) = (Eeprom::new(), initial(false));
        log.power_up(&squares);
        for round in 0..5_000u32 {
            let on = Square::new(16 + round % 32);
            let knight = Piece { color: Color::White, role: Role::Knight };
            let piece = (round / 32 % 2 == 0).then_some(knight);
            change(&mut log, &mut squares, u64::from(round) * 1_000, on, piece);
        }
        let download = log.download();
        assert_eq!(download.len(), CELLS);
        assert_eq!(download.last(), Some(&0x6b));
        let found = tags(&download);
        assert!(!found.contains(&Tag::PowerUp), "overwritten");
        assert!(found.len() > 3_000, "{}", found.len());
        assert!(tags(&log.download()).contains(&Tag::Downloaded));
    }
}
