//! Certabo boards: a stream of text lines with the tag under every square, and the learning of
//! which tag is which piece. Also the occupancy lines of Tabutronic's Sentio, which look alike.
//!
//! A line is `:`, then 320 decimal numbers (64 squares from a8, five bytes a tag; five zeros is an
//! empty square) or 8 (one a rank, bit 7 is file a), then the line's end; stray line feeds occur.

use std::{collections::BTreeMap, fmt::Write as _};

use shakmaty::{Color, Piece, Role};

use super::{
    BoardSquare, Content, Squares,
    dgt::{Dropped, Event},
};

/// The number of a piece's tag.
pub type Tag = [u8; 5];

const EMPTY: Tag = [0; 5];
/// 320 numbers of three digits and their spaces, and some air.
const LONGEST_LINE: usize = 2000;

/// What the board sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// The tag under each square, in the board's order.
    Tags(Box<[Tag; 64]>),
    /// Whether something stands on each square; rank 8 first, bit 7 is file a.
    Occupancy([u8; 8]),
    /// The answer to a LED command: `L`, or `D` from a board with coloured LEDs.
    LedsDone(char),
}

impl Message {
    /// Appends the message as the board sends it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let numbers: &[u8] = match self {
            Self::Tags(tags) => tags.as_flattened(),
            Self::Occupancy(ranks) => ranks,
            Self::LedsDone(letter) => return out.push(*letter as u8 & 0x7f),
        };
        let mut text = String::from(":");
        for (index, number) in numbers.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(text, "{space}{number}").expect("a string takes all that is written");
        }
        text.push_str("\r\n");
        out.extend(text.bytes());
    }

    fn from_line(line: &[u8]) -> Option<Self> {
        let mut numbers = Vec::with_capacity(320);
        for word in line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()) {
            let text = std::str::from_utf8(word).ok()?;
            numbers.push(text.parse::<u8>().ok()?);
        }
        if let Ok(ranks) = <[u8; 8]>::try_from(numbers.as_slice()) {
            return Some(Self::Occupancy(ranks));
        }
        let (tags, rest) = numbers.as_chunks::<5>();
        let tags: Box<[Tag; 64]> = Box::new(tags.try_into().ok()?);
        rest.is_empty().then_some(Self::Tags(tags))
    }

    /// The squares, with the pieces the calibration knows; other tags and mere occupancy are
    /// [`Content::Occupied`].
    #[must_use]
    pub fn squares(&self, calibration: &Calibration) -> Option<Squares> {
        let mut squares = Squares::default();
        match self {
            Self::Tags(tags) => {
                for (square, tag) in BoardSquare::all().zip(tags.iter()) {
                    squares.set(square, calibration.content(*tag));
                }
            }
            Self::Occupancy(ranks) => {
                for square in BoardSquare::all() {
                    let (rank, file) = (square.index() / 8, square.index() % 8);
                    if ranks[rank] & (0x80 >> file) != 0 {
                        squares.set(square, Content::Occupied);
                    }
                }
            }
            Self::LedsDone(_) => return None,
        }
        Some(squares)
    }
}

/// The LEDs of these squares lit: one byte a rank from rank 8, one bit a file, bit 0 is file a.
#[must_use]
pub fn leds(lit: &[BoardSquare]) -> [u8; 8] {
    let mut ranks = [0; 8];
    for square in lit {
        ranks[square.index() / 8] |= 1 << (square.index() % 8);
    }
    ranks
}

/// Turns bytes into messages. Every byte is delivered, counted as dropped, or pending.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    /// After the colon.
    line: Vec<u8>,
    in_line: bool,
    garbage: u32,
}

impl Decoder {
    /// A decoder that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in one byte.
    pub fn push(&mut self, byte: u8) -> Option<Event<Message>> {
        match byte {
            b':' => {
                let cut = self.line.len() as u32 + u32::from(self.in_line);
                self.line.clear();
                let (garbage, was_in_line) = (std::mem::take(&mut self.garbage), self.in_line);
                self.in_line = true;
                match (was_in_line, garbage) {
                    (true, garbage) => Some(Event::Dropped(Dropped::Cut(cut + garbage))),
                    (false, 0) => None,
                    (false, garbage) => Some(Event::Dropped(Dropped::Garbage(garbage))),
                }
            }
            b'\r' if self.in_line => {
                let message = Message::from_line(&self.line);
                let count = self.line.len() as u32 + 2;
                self.line.clear();
                self.in_line = false;
                Some(message.map_or(Event::Dropped(Dropped::Garbage(count)), Event::Message))
            }
            // Line ends, and strays, mean nothing.
            b'\r' | b'\n' => None,
            b'L' | b'D' if !self.in_line => Some(Event::Message(Message::LedsDone(char::from(byte)))),
            b'0'..=b'9' | b' ' if self.in_line && self.line.len() < LONGEST_LINE => {
                self.line.push(byte);
                None
            }
            _ => {
                self.garbage += self.line.len() as u32 + u32::from(self.in_line) + 1;
                self.line.clear();
                self.in_line = false;
                None
            }
        }
    }

    /// Gives up on what is half received.
    pub fn give_up(&mut self) -> Option<Dropped> {
        let cut = self.line.len() as u32 + u32::from(self.in_line);
        let garbage = std::mem::take(&mut self.garbage);
        self.line.clear();
        self.in_line = false;
        match (cut, garbage) {
            (0, 0) => None,
            (0, garbage) => Some(Dropped::Garbage(garbage)),
            (cut, garbage) => Some(Dropped::Cut(cut + garbage)),
        }
    }
}

/// Which tag is which piece. Every set has its own numbers, so they are learnt from the initial
/// position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calibration {
    pieces: BTreeMap<Tag, Piece>,
}

/// The spare queens stand on d6 (Black's) and d3 (White's) while a set is learnt.
const SPARE_QUEENS: [(usize, Color); 2] = [(19, Color::Black), (43, Color::White)];

impl Calibration {
    /// Learns a set from the initial position, with or without spare queens on d6 and d3. `None`
    /// when this is not that position, or two pieces show one tag.
    #[must_use]
    pub fn learn(tags: &[Tag; 64]) -> Option<Self> {
        let start = shakmaty::Board::new();
        let mut pieces = BTreeMap::new();
        for (square, &tag) in BoardSquare::all().zip(tags) {
            let spare = SPARE_QUEENS.iter().find(|(index, _)| *index == square.index());
            let piece = match (start.piece_at(square.to_chess(false)), spare, tag) {
                (Some(_), _, EMPTY) => return None,
                (Some(piece), _, _) => piece,
                (None, _, EMPTY) => continue,
                (None, Some((_, color)), _) => Piece { color: *color, role: Role::Queen },
                (None, None, _) => return None,
            };
            if pieces.insert(tag, piece).is_some() {
                return None;
            }
        }
        Some(Self { pieces })
    }

    /// What a tag means.
    #[must_use]
    pub fn content(&self, tag: Tag) -> Content {
        match (tag, self.pieces.get(&tag)) {
            (EMPTY, _) => Content::Empty,
            (_, Some(piece)) => Content::Piece(*piece),
            (_, None) => Content::Occupied,
        }
    }

    /// The calibration as a text file: a piece letter and its tag a line.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::from("# piece and tag of every man of this set\n");
        for (tag, piece) in &self.pieces {
            let [a, b, c, d, e] = tag;
            writeln!(text, "{} {a} {b} {c} {d} {e}", piece.char())
                .expect("a string takes all that is written");
        }
        text
    }

    /// Reads such a file.
    ///
    /// # Errors
    /// The first line that is not understood, in words.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let mut pieces = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fault = || format!("line {}: a piece letter and five numbers 0 to 255 expected", index + 1);
            let (letter, numbers) = line.split_once(' ').ok_or_else(fault)?;
            let mut letters = letter.chars();
            let (Some(piece), None) = (letters.next().and_then(Piece::from_char), letters.next()) else {
                return Err(fault());
            };
            let numbers: Vec<u8> =
                numbers.split_whitespace().map(str::parse).collect::<Result<_, _>>().map_err(|_| fault())?;
            let tag: Tag = numbers.try_into().map_err(|_| fault())?;
            pieces.insert(tag, piece);
        }
        Ok(Self { pieces })
    }
}

/// The reader misses a tag now and then: a square reads what two of the last three lines say.
#[derive(Clone, Debug, Default)]
pub struct Majority {
    last: Vec<[Tag; 64]>,
}

impl Majority {
    /// Takes in a line; the squares on which two of three agree, once there are two. A square on
    /// which all three differ keeps the newest.
    pub fn vote(&mut self, tags: &[Tag; 64]) -> Option<Box<[Tag; 64]>> {
        self.last.push(*tags);
        if self.last.len() > 3 {
            self.last.remove(0);
        }
        match &self.last[..] {
            [a, b, c] => {
                let mut voted = Box::new(*c);
                for (index, tag) in voted.iter_mut().enumerate() {
                    if a[index] == b[index] && *tag != a[index] {
                        *tag = a[index];
                    }
                }
                Some(voted)
            }
            _ => None,
        }
    }
}
