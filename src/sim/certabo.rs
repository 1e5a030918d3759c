//! A Certabo board: it streams the tag numbers of all squares, without being asked.
//!
//! Facts: 38400 8N1; lines `:` and 320 decimal bytes (64 squares of five-byte tags, a8 first, row
//! by row), `\r\n` at the end, now and then a stray `\n`; an empty square is five zeros, and a
//! reader sometimes misses a tag; every piece has its own tag, so that a set is learnt from the
//! initial position with spare queens on d6 and d3; LEDs by eight bytes, answered with `L`. No clock.

use std::fmt::Write as _;

use shakmaty::{Color, Piece, Role};

use super::{Action, Device, DeviceSetup, Line, Noticed};
use crate::wire::{BoardSquare, Content};

/// One reading of all squares, in milliseconds: about what a line takes at 38400 baud.
const READING_MS: u64 = 320;

/// A Certabo board in virtual time.
#[derive(Clone, Debug)]
pub struct Certabo {
    device: Device,
    /// The tag on each square.
    tags: [[u8; 5]; 64],
    /// Tags lying beside the board, the one used last in front.
    beside: Vec<([u8; 5], Piece)>,
    /// Spare queens stand on d6 and d3 for learning the set.
    learning: bool,
    next_reading: u64,
    powered: bool,
    opened: bool,
    /// Bytes of a LED command received.
    led_bytes: usize,
    pending: Vec<(u64, Vec<u8>)>,
    rng: fastrand::Rng,
}

/// d6 and d3 in the board's numbering.
const SPARE_QUEENS: [(usize, Color); 2] = [(19, Color::Black), (43, Color::White)];

impl Certabo {
    /// Switched on. With `learning`, spare queens stand on d6 and d3 until the first act.
    #[must_use]
    pub fn new(setup: &DeviceSetup, learning: bool) -> Self {
        let device = Device::new(&DeviceSetup { clock: None, ..setup.clone() });
        let mut board = Self {
            tags: [[0; 5]; 64],
            beside: Vec::new(),
            learning,
            next_reading: READING_MS,
            powered: true,
            opened: false,
            led_bytes: 0,
            pending: Vec::new(),
            rng: fastrand::Rng::with_seed(setup.seed ^ 0xce47),
            device,
        };
        let squares = *board.device.squares();
        for square in BoardSquare::all() {
            if let Content::Piece(piece) = squares.get(square) {
                board.tags[square.index()] = board.new_tag(piece);
            }
        }
        // A box holds spare queens.
        for color in Color::ALL {
            let queen = Piece { color, role: Role::Queen };
            let tag = board.new_tag(queen);
            board.beside.push((tag, queen));
        }
        board
    }

    /// A tag no other piece has; the first byte is the same for a whole production, say.
    fn new_tag(&mut self, piece: Piece) -> [u8; 5] {
        let kind = piece.role as u8 + if piece.color.is_white() { 0 } else { 8 };
        [110, kind, self.rng.u8(..), self.rng.u8(..), self.rng.u8(1..)]
    }

    fn noticed(&mut self, square: BoardSquare, content: Content) {
        let index = square.index();
        let old = self.tags[index];
        if old != [0; 5] {
            // The kind is the second byte of our tags.
            let color = if old[1] >= 8 { Color::Black } else { Color::White };
            let role = Role::ALL.into_iter().find(|role| *role as u8 == old[1] & 7).unwrap_or(Role::Pawn);
            self.beside.insert(0, (old, Piece { color, role }));
            self.tags[index] = [0; 5];
        }
        if let Content::Piece(piece) = content {
            let found = self.beside.iter().position(|(_, kind)| *kind == piece);
            self.tags[index] = match found {
                Some(position) => self.beside.remove(position).0,
                None => self.new_tag(piece),
            };
        }
    }

    fn line(&mut self) -> Vec<u8> {
        let mut text = String::with_capacity(1300);
        if self.rng.u32(0..20) == 0 {
            text.push('\n');
        }
        text.push(':');
        for index in 0..64 {
            let spare = SPARE_QUEENS.iter().find(|(at, _)| self.learning && *at == index);
            let tag = match spare {
                Some((_, color)) => self
                    .beside
                    .iter()
                    .find(|(_, piece)| *piece == Piece { color: *color, role: Role::Queen })
                    .map_or([0; 5], |(tag, _)| *tag),
                // The reader misses a tag now and then.
                None if self.rng.u32(0..2000) == 0 => [0; 5],
                None => self.tags[index],
            };
            for byte in tag {
                let result = write!(text, "{byte} ");
                debug_assert!(result.is_ok(), "writing to a string");
            }
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push_str("\r\n");
        text.into_bytes()
    }
}

impl Line for Certabo {
    fn act(&mut self, _board: usize, at_ms: u64, action: Action) {
        self.device.act(at_ms, action);
    }

    fn receive(&mut self, now_ms: u64, bytes: &[u8]) {
        self.opened = true;
        self.led_bytes += bytes.len();
        while self.led_bytes >= 8 {
            self.led_bytes -= 8;
            self.pending.push((now_ms + 3, b"L".to_vec()));
        }
    }

    fn next_due(&self) -> Option<u64> {
        let pending = self.pending.first().map(|(at, _)| *at);
        [Some(self.next_reading), pending, self.device.next_due()].into_iter().flatten().min()
    }

    fn advance(&mut self, now_ms: u64, out: &mut Vec<(u64, Vec<u8>)>) {
        while self.next_due().is_some_and(|due| due <= now_ms) {
            let due = self.next_due().unwrap_or(now_ms);
            while let Some((_, noticed)) = self.device.step(due) {
                if let Noticed::Square(square, content) = noticed {
                    self.learning = false;
                    self.noticed(square, content);
                }
            }
            while self.pending.first().is_some_and(|(at, _)| *at <= due) {
                out.push(self.pending.remove(0));
            }
            if self.next_reading <= due {
                if self.powered {
                    let line = self.line();
                    out.push((due, line));
                }
                self.next_reading = due + READING_MS;
            }
        }
    }

    fn power(&mut self, _now_ms: u64, on: bool) {
        self.powered = on;
        self.led_bytes = 0;
    }

    /// Nobody asks a board that streams by itself: whoever has opened it may have read it.
    fn followed(&self, _board: usize) -> bool {
        self.opened || self.next_reading > 10 * READING_MS
    }
}
