//! Millennium ChessLink: printable characters, odd parity in the top bit (the line is opened with
//! eight bits), and at the end of each message two hex digits: the XOR of all its characters.

use super::{
    BoardSquare, Content, Squares,
    dgt::{Dropped, Event},
};

/// What a PC asks. Registers can be read; writing them changes the board's own memory, and no
/// driver here does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `S`: all squares.
    Status,
    /// `V`: firmware version.
    Version,
    /// `X`: LEDs off.
    LedsOff,
    /// `T`: restart, three seconds.
    Reset,
    /// `R`: a register.
    ReadRegister(u8),
    /// `L`: slot time (units of 4.096 ms) and the blink pattern of the 81 corners.
    Leds {
        /// How long one slot of a pattern takes.
        slot: u8,
        /// Eight slots a corner, one bit each.
        patterns: Box<[u8; 81]>,
    },
}

impl Command {
    /// Appends the command's bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut text = Vec::new();
        match self {
            Self::Status => text.push(b'S'),
            Self::Version => text.push(b'V'),
            Self::LedsOff => text.push(b'X'),
            Self::Reset => text.push(b'T'),
            Self::ReadRegister(address) => {
                text.push(b'R');
                text.extend(hex(*address));
            }
            Self::Leds { slot, patterns } => {
                text.push(b'L');
                text.extend(hex(*slot));
                text.extend(patterns.iter().flat_map(|pattern| hex(*pattern)));
            }
        }
        seal(text, out);
    }
}

/// What the board says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// `s`: all squares, a8 first.
    Status(Squares),
    /// `v`: firmware, main and minor.
    Version(u8, u8),
    /// `r`: a register's value.
    Register {
        /// Which one.
        address: u8,
        /// What it holds.
        value: u8,
    },
    /// `w`, `l`, `x`: a command was carried out.
    Done(char),
}

/// How long a message is, check digits included.
fn length(first: u8) -> Option<usize> {
    Some(match first {
        b's' => 67,
        b'v' | b'r' | b'w' => 7,
        b'l' | b'x' => 3,
        _ => return None,
    })
}

impl Message {
    /// Appends the message's bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut text = Vec::new();
        match self {
            Self::Status(squares) => {
                text.push(b's');
                text.extend(BoardSquare::all().map(|square| squares.get(square).letter() as u8));
            }
            Self::Version(main, minor) => {
                text.push(b'v');
                text.extend(hex(*main));
                text.extend(hex(*minor));
            }
            Self::Register { address, value } => {
                text.push(b'r');
                text.extend(hex(*address));
                text.extend(hex(*value));
            }
            Self::Done('w') => text.extend(b"w0000"),
            Self::Done(letter) => text.push(*letter as u8),
        }
        seal(text, out);
    }

    /// Reads a whole message without parity and check digits.
    fn decode(text: &[u8]) -> Option<Self> {
        let number = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        Some(match text {
            [b's', letters @ ..] => {
                let letters: &[u8; 64] = letters.try_into().ok()?;
                let mut squares = Squares::default();
                for (square, &letter) in BoardSquare::all().zip(letters) {
                    let content = match letter {
                        b'.' => Content::Empty,
                        _ => Content::Piece(shakmaty::Piece::from_char(char::from(letter))?),
                    };
                    squares.set(square, content);
                }
                Self::Status(squares)
            }
            [b'v', digits @ ..] if digits.len() == 4 => {
                Self::Version(number(&digits[..2])?, number(&digits[2..])?)
            }
            [b'r', digits @ ..] if digits.len() == 4 => {
                Self::Register { address: number(&digits[..2])?, value: number(&digits[2..])? }
            }
            [letter @ (b'w' | b'l' | b'x'), ..] => Self::Done(char::from(*letter)),
            _ => return None,
        })
    }
}

fn hex(byte: u8) -> [u8; 2] {
    let digit = |value: u8| b"0123456789ABCDEF"[usize::from(value & 0x0f)];
    [digit(byte >> 4), digit(byte)]
}

fn check(text: &[u8]) -> [u8; 2] {
    hex(text.iter().fold(0, |sum, byte| sum ^ byte))
}

/// Adds check digits and parity.
fn seal(mut text: Vec<u8>, out: &mut Vec<u8>) {
    let digits = check(&text);
    text.extend(digits);
    out.extend(text.into_iter().map(odd_parity));
}

/// The byte with its top bit set so that the number of ones is odd.
fn odd_parity(byte: u8) -> u8 {
    let byte = byte & 0x7f;
    if byte.count_ones().is_multiple_of(2) { byte | 0x80 } else { byte }
}

/// Turns bytes into messages. No character is kept for headers, so after a fault every later
/// character is tried as a message's first. Every byte is delivered, counted as dropped, or pending.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    garbage: u32,
}

impl Decoder {
    /// A decoder that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in one byte. Parity is not judged (some adapters strip it): the check digits are.
    /// One byte can complete several short messages after a fault: the rest comes with the next.
    pub fn push(&mut self, byte: u8) -> Option<Event<Message>> {
        self.buffer.push(byte & 0x7f);
        self.take()
    }

    fn take(&mut self) -> Option<Event<Message>> {
        loop {
            let first = *self.buffer.first()?;
            let Some(length) = length(first) else {
                self.drop_first();
                continue;
            };
            if self.buffer.len() < length {
                return None;
            }
            let (text, digits) = self.buffer[..length].split_at(length - 2);
            let sound = digits.eq_ignore_ascii_case(&check(text));
            let Some(message) = Message::decode(text).filter(|_| sound) else {
                self.drop_first();
                continue;
            };
            if self.garbage > 0 {
                // Told first; the message stays in the buffer and comes with the next byte.
                return Some(Event::Dropped(Dropped::Garbage(std::mem::take(&mut self.garbage))));
            }
            self.buffer.drain(..length);
            return Some(Event::Message(message));
        }
    }

    /// Takes what the last byte completed besides what it returned; call until `None`.
    pub fn more(&mut self) -> Option<Event<Message>> {
        self.take()
    }

    fn drop_first(&mut self) {
        self.buffer.remove(0);
        self.garbage += 1;
    }

    /// Gives up on what is half received.
    pub fn give_up(&mut self) -> Option<Dropped> {
        let count = self.buffer.len() as u32 + std::mem::take(&mut self.garbage);
        self.buffer.clear();
        (count > 0).then_some(Dropped::Garbage(count))
    }

    /// Bytes taken in that are neither delivered nor reported as dropped yet.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.buffer.len() + self.garbage as usize
    }
}
