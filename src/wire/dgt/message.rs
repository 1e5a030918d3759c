//! What a board says in single-board mode, and the decoder of that stream.

use std::ops::RangeInclusive;

use crate::wire::{BatteryReading, BoardSquare, Content, Observation, RecoveredEvent, Squares};

use super::{
    clock::ClockMessage,
    frame::{Dropped, Event, Framer, LOG_LENGTH, Step, push_header},
    log::Tags,
    piece::{content_from_code, piece_code, push_codes, squares_from_codes},
};

/// One message from the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// 86: all squares.
    Board(Squares),
    /// 8d: the clock, or an acknowledgement.
    Clock(ClockMessage),
    /// 8e: one square changed.
    Field {
        /// Which one.
        square: BoardSquare,
        /// What it reads now.
        content: Content,
        /// Within 250 ms of the change before (newer firmware tells).
        quick: bool,
    },
    /// 8f: the board's log, as a stream for [`Tags`].
    Log(Vec<u8>),
    /// 90: the address on a bus, 14 bits.
    BusAddress(u16),
    /// 91: the serial number, five digits.
    Serial(String),
    /// 92: lines of text.
    Trademark(String),
    /// 93: firmware, main and minor, raw: sources differ on how the minor is written.
    Version(u8, u8),
    /// 96: hardware, main and minor.
    HardwareVersion(u8, u8),
    /// a0: the board's battery.
    Battery(Battery),
    /// a2: the serial number, ten digits.
    LongSerial(String),
    /// 94, 95 (draughts), a3 (I2C clock), a4, a5 (Pegasus): carried, not understood.
    Other {
        /// The message code.
        id: u8,
        /// Its data.
        data: Vec<u8>,
    },
}

/// The nine bytes of the battery message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Battery {
    /// Charge left, percent.
    pub percent: u8,
    /// Hours and minutes left; `None` when the board does not know (7f).
    pub left: Option<(u8, u8)>,
    /// Hours and minutes switched on.
    pub on: (u8, u8),
    /// Days, hours and minutes on standby.
    pub standby: (u8, u8, u8),
    /// Bit 0 charging, bit 1 discharging.
    pub status: u8,
}

impl Battery {
    /// The same for any make.
    #[must_use]
    pub fn reading(&self) -> BatteryReading {
        BatteryReading {
            percent: self.percent.min(100),
            minutes_left: self.left.map(|(hours, minutes)| u16::from(hours) * 60 + u16::from(minutes)),
            charging: self.status & 1 != 0,
        }
    }
}

/// The lengths each message can have, header included.
pub(super) fn lengths(id: u8) -> Option<RangeInclusive<u16>> {
    Some(match id {
        0x86 => 67..=67,
        0x8d => 10..=10,
        0x8e | 0x90 | 0x93 | 0x96 => 5..=5,
        0x8f => 4..=LOG_LENGTH as u16,
        // Eight today; twelve in 1998.
        0x91 => 4..=16,
        0x92 => 4..=0x103,
        0x94 | 0x95 => 53..=53,
        0xa0 => 12..=12,
        0xa2 => 4..=19,
        0xa3..=0xa5 => 4..=67,
        _ => return None,
    })
}

impl Message {
    /// Reads one whole frame, header included. `None` when its contents cannot be.
    #[must_use]
    pub fn decode(frame: &[u8]) -> Option<Self> {
        let [id, _, _, data @ ..] = frame else { return None };
        if !lengths(*id)?.contains(&(frame.len() as u16)) {
            return None;
        }
        Some(match (*id, data) {
            (0x86, codes) => Self::Board(squares_from_codes(codes)?),
            (0x8d, data) => Self::Clock(ClockMessage(data.try_into().ok()?)),
            (0x8e, &[square, code]) if code <= 0x1f => Self::Field {
                square: BoardSquare::new(square)?,
                content: content_from_code(code),
                quick: code & 0x10 != 0,
            },
            (0x8f, stream) => Self::Log(stream.to_vec()),
            (0x90, &[high, low]) => Self::BusAddress(u16::from(high) << 7 | u16::from(low)),
            (0x91, text) => Self::Serial(printable(text)?),
            (0x92, text) => Self::Trademark(text.iter().map(|&byte| char::from(byte)).collect()),
            (0x93, &[main, minor]) => Self::Version(main, minor),
            (0x96, &[main, minor]) => Self::HardwareVersion(main, minor),
            (0xa0, &[percent, h, m, on_h, on_m, days, standby_h, standby_m, status]) => {
                Self::Battery(Battery {
                    percent,
                    left: (h != 0x7f && m != 0x7f).then_some((h, m)),
                    on: (on_h, on_m),
                    standby: (days, standby_h, standby_m),
                    status,
                })
            }
            (0xa2, text) => Self::LongSerial(printable(text)?),
            (id @ (0x94 | 0x95 | 0xa3..=0xa5), data) => Self::Other { id, data: data.to_vec() },
            _ => return None,
        })
    }

    /// Appends the whole frame. Texts are cut to what their message can carry, their top bits to
    /// seven bits: a header byte inside a message would end it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut data = Vec::with_capacity(64);
        let id = match self {
            Self::Board(squares) => {
                push_codes(squares, &mut data);
                0x86
            }
            Self::Clock(clock) => {
                data.extend(clock.0);
                0x8d
            }
            Self::Field { square, content, quick } => {
                data.extend([u8::from(*square), piece_code(*content) | if *quick { 0x10 } else { 0 }]);
                0x8e
            }
            Self::Log(stream) => {
                data.extend(stream.iter().take(LOG_LENGTH - 3));
                0x8f
            }
            Self::BusAddress(address) => {
                data.extend([(address >> 7) as u8, *address as u8]);
                0x90
            }
            Self::Serial(text) => {
                data.extend(text.bytes().take(13));
                0x91
            }
            Self::Trademark(text) => {
                data.extend(text.bytes().take(0x100));
                0x92
            }
            Self::Version(main, minor) => {
                data.extend([*main, *minor]);
                0x93
            }
            Self::HardwareVersion(main, minor) => {
                data.extend([*main, *minor]);
                0x96
            }
            Self::Battery(battery) => {
                let (h, m) = battery.left.unwrap_or((0x7f, 0x7f));
                let ((on_h, on_m), (days, standby_h, standby_m)) = (battery.on, battery.standby);
                data.extend([battery.percent, h, m, on_h, on_m, days, standby_h, standby_m, battery.status]);
                0xa0
            }
            Self::LongSerial(text) => {
                data.extend(text.bytes().take(16));
                0xa2
            }
            Self::Other { id, data: other } => {
                data.extend(other.iter().take(64));
                *id | 0x80
            }
        };
        push_header(id, data.len(), out);
        out.extend(data.iter().map(|byte| byte & 0x7f));
    }

    /// What it says of the board and its clock; `None` for what only identifies the board, for
    /// acknowledgements, and for a log without events.
    #[must_use]
    pub fn observation(&self) -> Option<Observation> {
        match self {
            Self::Board(squares) => Some(Observation::Dump(*squares)),
            Self::Field { square, content, .. } => Some(Observation::Square(*square, *content)),
            Self::Clock(clock) => clock.state().map(Observation::Clock),
            Self::Battery(battery) => Some(Observation::Battery(battery.reading())),
            Self::Log(stream) => {
                let events: Vec<RecoveredEvent> =
                    Tags::new(stream).filter_map(super::Tag::to_recovered).collect();
                (!events.is_empty()).then_some(Observation::Recovered(events))
            }
            _ => None,
        }
    }
}

fn printable(text: &[u8]) -> Option<String> {
    text.iter()
        .all(|byte| (0x20..0x7f).contains(byte))
        .then(|| text.iter().map(|&byte| char::from(byte)).collect::<String>().trim().to_owned())
}

/// Turns the bytes of a line in single-board mode into messages, one byte at a time.
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
    pub fn push(&mut self, byte: u8) -> Option<Event<Message>> {
        match self.framer.push(byte) {
            Step::Nothing => None,
            Step::Dropped(dropped) => Some(Event::Dropped(dropped)),
            Step::Frame(frame) => Some(match Message::decode(frame) {
                Some(message) => Event::Message(message),
                None => Event::Dropped(Dropped::Garbage(frame.len() as u32)),
            }),
        }
    }

    /// Gives up on what is half received: for when the line was quiet for long or has ended.
    pub fn give_up(&mut self) -> Option<Dropped> {
        self.framer.give_up()
    }

    /// Takes what came of a log that was reported as cut: the stream so far as it came, without
    /// lost bytes and with damaged ones. Empty when there was none since the last call.
    pub fn take_remains(&mut self) -> Vec<u8> {
        self.framer.take_remains()
    }

    /// Bytes taken in that are neither delivered nor reported as dropped yet.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.framer.pending()
    }
}
