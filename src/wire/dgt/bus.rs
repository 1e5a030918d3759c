//! Bus mode: many boards on one pair of wires, each speaking only when it is asked by its address,
//! commands and replies with a checksum.
//!
//! No single-board command may ever be sent on such a line: every board would leave bus mode.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use crate::wire::{ClockReading, ClockSide, ClockState, Content, Observation, Squares};

use super::{
    clock::ClockMessage,
    frame::{Dropped, Event, Framer, LOG_LENGTH, Step},
    log::{Tag, Tags},
    piece::{push_codes, squares_from_codes},
};

/// A board's address, 14 bits: its serial number in binary. 0 speaks to every board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(u16);

impl Address {
    /// All boards of the line. Only pings, "end of bus mode" and reset make sense with it.
    pub const ALL: Self = Self(0);

    /// The address with this number, 0 to 16383.
    #[must_use]
    pub fn new(number: u16) -> Option<Self> {
        (number < 1 << 14).then_some(Self(number))
    }

    /// 0 to 16383.
    #[must_use]
    pub fn number(self) -> u16 {
        self.0
    }

    fn from_bytes(high: u8, low: u8) -> Self {
        Self(u16::from(high & 0x7f) << 7 | u16::from(low & 0x7f))
    }

    fn to_bytes(self) -> [u8; 2] {
        [(self.0 >> 7) as u8, self.0 as u8 & 0x7f]
    }
}

/// As serial numbers are written: five digits.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:05}", self.0)
    }
}

impl FromStr for Address {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        text.trim()
            .parse()
            .ok()
            .and_then(Self::new)
            .filter(|address| *address != Self::ALL)
            .ok_or_else(|| format!("{text:?} is no bus address: 1 to 16383 expected"))
    }
}

/// What a board on the bus can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// 81: the clock.
    Clock,
    /// 82: the whole board.
    Board,
    /// 83: what happened since the last 83, which the board then forgets.
    Changes,
    /// 84: the last reply to 83 once more.
    Repeat,
    /// 85: write the start tag and a tag for every piece into the log.
    StartGame,
    /// 86: the log from the start tag up to what the last 83 delivered.
    FromStart,
    /// 87: who is there; a board asked by address answers at once, all others at a random moment
    /// within 1100 ms.
    Ping,
    /// 88: leave bus mode.
    End,
    /// 89: restart.
    Reset,
    /// 8a: answers like a ping, and does not answer the next ping to all.
    IgnoreNextPing,
    /// 8b: firmware version.
    Version,
    /// 8c: draughts squares.
    Draughts,
    /// 8d: changes, clock and board, one after the other.
    All,
    /// 91: the serial number (newer firmware).
    Serial,
    /// 92: ping with a random delay (newer firmware).
    RandomPing,
    /// 97: lines of text (newer firmware).
    Trademark,
    /// 98: the battery (newer firmware).
    Battery,
    /// 9b: hardware version (newer firmware).
    HardwareVersion,
}

impl Request {
    const CODES: [(Self, u8); 18] = [
        (Self::Clock, 0x81),
        (Self::Board, 0x82),
        (Self::Changes, 0x83),
        (Self::Repeat, 0x84),
        (Self::StartGame, 0x85),
        (Self::FromStart, 0x86),
        (Self::Ping, 0x87),
        (Self::End, 0x88),
        (Self::Reset, 0x89),
        (Self::IgnoreNextPing, 0x8a),
        (Self::Version, 0x8b),
        (Self::Draughts, 0x8c),
        (Self::All, 0x8d),
        (Self::Serial, 0x91),
        (Self::RandomPing, 0x92),
        (Self::Trademark, 0x97),
        (Self::Battery, 0x98),
        (Self::HardwareVersion, 0x9b),
    ];

    /// The command byte.
    #[must_use]
    pub fn code(self) -> u8 {
        Self::CODES.iter().find(|(request, _)| *request == self).map_or(0x87, |(_, code)| *code)
    }

    /// The request with this command byte.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::CODES.iter().find(|(_, known)| *known == code).map(|(request, _)| *request)
    }
}

/// One command on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Command {
    /// What is asked.
    pub request: Request,
    /// Of whom.
    pub address: Address,
}

impl Command {
    /// The four bytes.
    #[must_use]
    pub fn encode(self) -> [u8; 4] {
        let [high, low] = self.address.to_bytes();
        let code = self.request.code();
        [code, high, low, checksum(&[code, high, low])]
    }

    /// Reads four bytes; `None` when the checksum is wrong or the code unknown.
    #[must_use]
    pub fn decode(bytes: [u8; 4]) -> Option<Self> {
        let [code, high, low, sum] = bytes;
        if sum != checksum(&bytes[..3]) {
            return None;
        }
        Some(Self { request: Request::from_code(code)?, address: Address::from_bytes(high, low) })
    }
}

/// What a board on the bus answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Who answers.
    pub address: Address,
    /// What it says.
    pub body: Body,
}

/// The contents of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// 83: all squares.
    Board(Squares),
    /// 84: the clock.
    Clock(ClockMessage),
    /// 85, or 8b (newer firmware uses both in turn): the stream of what happened, for [`Tags`].
    Changes {
        /// 8b rather than 85.
        even: bool,
        /// May be empty.
        stream: Vec<u8>,
    },
    /// 86: the stream since the start tag.
    FromStart(Vec<u8>),
    /// 87: here I am.
    Ping,
    /// 88: the start tag is written.
    StartWritten,
    /// 89: firmware, main and minor; old firmware (up to 1.2) sends none.
    Version(Option<(u8, u8)>),
    /// 8a, 8c, b0 to b5: carried, not understood.
    Other {
        /// The reply's code.
        id: u8,
        /// Its data.
        data: Vec<u8>,
    },
}

/// Header, address and checksum around the data.
const FRAME: usize = 6;

/// The lengths each reply can have, all bytes counted.
pub(super) fn lengths(id: u8) -> Option<RangeInclusive<u16>> {
    let longest = LOG_LENGTH as u16 + 3;
    Some(match id {
        0x83 => 70..=70,
        0x84 => 13..=13,
        0x85 | 0x86 | 0x8b => 6..=longest,
        0x87 | 0x88 => 6..=6,
        0x89 => 6..=8,
        0x8a | 0x8c | 0xb0..=0xb5 => 6..=0x106,
        _ => return None,
    })
}

fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte)) & 0x7f
}

impl Reply {
    /// Reads one whole frame.
    ///
    /// # Errors
    /// How many bytes are lost, and whether to a wrong checksum or to contents that cannot be.
    pub fn decode(frame: &[u8]) -> Result<Self, Dropped> {
        let count = frame.len() as u32;
        let garbage = Dropped::Garbage(count);
        let [id, _, _, high, low, data @ .., sum] = frame else { return Err(garbage) };
        if *sum != checksum(&frame[..frame.len() - 1]) {
            return Err(Dropped::Checksum(count));
        }
        let body = match (*id, data) {
            (0x83, codes) => Body::Board(squares_from_codes(codes).ok_or(garbage)?),
            (0x84, data) => Body::Clock(ClockMessage(data.try_into().map_err(|_| garbage)?)),
            (0x85 | 0x8b, stream) => Body::Changes { even: *id == 0x8b, stream: stream.to_vec() },
            (0x86, stream) => Body::FromStart(stream.to_vec()),
            (0x87, []) => Body::Ping,
            (0x88, []) => Body::StartWritten,
            (0x89, []) => Body::Version(None),
            (0x89, &[main, minor]) => Body::Version(Some((main, minor))),
            (id @ (0x8a | 0x8c | 0xb0..=0xb5), data) => Body::Other { id, data: data.to_vec() },
            _ => return Err(garbage),
        };
        Ok(Self { address: Address::from_bytes(*high, *low), body })
    }

    /// Appends the whole frame.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut data = Vec::with_capacity(64);
        let id = match &self.body {
            Body::Board(squares) => {
                push_codes(squares, &mut data);
                0x83
            }
            Body::Clock(clock) => {
                data.extend(clock.0);
                0x84
            }
            Body::Changes { even, stream } => {
                data.extend(stream.iter().take(LOG_LENGTH - 3));
                if *even { 0x8b } else { 0x85 }
            }
            Body::FromStart(stream) => {
                data.extend(stream.iter().take(LOG_LENGTH - 3));
                0x86
            }
            Body::Ping => 0x87,
            Body::StartWritten => 0x88,
            Body::Version(version) => {
                data.extend(version.iter().flat_map(|(main, minor)| [*main, *minor]));
                0x89
            }
            Body::Other { id, data: other } => {
                data.extend(other.iter().take(0x100));
                *id | 0x80
            }
        };
        let start = out.len();
        let length = data.len() + FRAME;
        out.extend([id, (length >> 7) as u8 & 0x7f, length as u8 & 0x7f]);
        out.extend(self.address.to_bytes());
        out.extend(data.iter().map(|byte| byte & 0x7f));
        out.push(checksum(&out[start..]));
    }
}

/// Turns the bytes of a chain into replies, one byte at a time.
#[derive(Clone, Debug)]
pub struct Decoder {
    framer: Framer,
}

impl Default for Decoder {
    fn default() -> Self {
        Self { framer: Framer::new(lengths) }
    }
}

impl Decoder {
    /// A decoder that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in one byte.
    pub fn push(&mut self, byte: u8) -> Option<Event<Reply>> {
        match self.framer.push(byte) {
            Step::Nothing => None,
            Step::Dropped(dropped) => Some(Event::Dropped(dropped)),
            Step::Frame(frame) => Some(match Reply::decode(frame) {
                Ok(reply) => Event::Message(reply),
                Err(dropped) => Event::Dropped(dropped),
            }),
        }
    }

    /// Gives up on what is half received: for when a reply did not come whole in its time.
    pub fn give_up(&mut self) -> Option<Dropped> {
        self.framer.give_up()
    }

    /// Bytes taken in that are neither delivered nor reported as dropped yet.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.framer.pending()
    }
}

/// What one board of a chain says, as observations. Remembers the last clock reading, because a
/// press shows in the stream of changes only as the time of the side that was halted.
#[derive(Clone, Debug, Default)]
pub struct Translator {
    clock: Option<ClockReading>,
    /// Since a power-up tag: the squares named so far, which make a board and not moves.
    dump: Option<Box<Squares>>,
}

impl Translator {
    /// The last clock reading, if a clock is known.
    #[must_use]
    pub fn clock(&self) -> Option<ClockReading> {
        self.clock
    }

    /// Appends what the reply says. A reply to "from start" is history: see
    /// [`Tag::to_recovered`].
    pub fn observe(&mut self, body: &Body, out: &mut Vec<Observation>) {
        match body {
            Body::Board(squares) => out.push(Observation::Dump(*squares)),
            Body::Clock(clock) => {
                if let Some(state) = clock.state() {
                    match state {
                        ClockState::Reading(reading) => self.clock = Some(reading),
                        ClockState::Absent => self.clock = None,
                        ClockState::Garbage | ClockState::Partial { .. } => {}
                    }
                    out.push(Observation::Clock(state));
                }
            }
            Body::Changes { stream, .. } => self.observe_changes(stream, out),
            Body::FromStart(stream) => {
                let events: Vec<_> = Tags::new(stream).filter_map(Tag::to_recovered).collect();
                if !events.is_empty() {
                    out.push(Observation::Recovered(events));
                }
            }
            Body::Ping | Body::StartWritten | Body::Version(_) | Body::Other { .. } => {}
        }
    }

    fn observe_changes(&mut self, stream: &[u8], out: &mut Vec<Observation>) {
        for tag in Tags::new(stream) {
            match tag {
                Tag::PowerUp | Tag::Watchdog | Tag::Start => {
                    self.end_dump(out);
                    self.dump = Some(Box::default());
                }
                Tag::Field { square, content, .. } => match &mut self.dump {
                    // The burst names every piece once; an empty or repeated square is a change.
                    Some(squares) if content != Content::Empty && squares.get(square) == Content::Empty => {
                        squares.set(square, content);
                    }
                    _ => {
                        self.end_dump(out);
                        out.push(Observation::Square(square, content));
                    }
                },
                Tag::Time { left, seconds } => {
                    self.end_dump(out);
                    out.push(Observation::Clock(self.pressed(left, seconds)));
                }
                _ => {}
            }
        }
        self.end_dump(out);
    }

    /// A burst of tags after power-up makes one dump.
    fn end_dump(&mut self, out: &mut Vec<Observation>) {
        if let Some(squares) = self.dump.take()
            && *squares != Squares::default()
        {
            out.push(Observation::Dump(*squares));
        }
    }

    /// What a press by this side says; the other side's time may not be known yet.
    fn pressed(&mut self, left: bool, seconds: u32) -> ClockState {
        let Some(reading) = self.clock.as_mut() else {
            let side = Some(ClockSide { seconds, ..ClockSide::default() });
            let (left_side, right_side) = if left { (side, None) } else { (None, side) };
            return ClockState::Partial {
                left: left_side,
                right: right_side,
                running: true,
                left_to_move: !left,
            };
        };
        let side = if left { &mut reading.left } else { &mut reading.right };
        side.seconds = seconds;
        reading.left_to_move = !left;
        reading.running = true;
        ClockState::Reading(*reading)
    }
}
