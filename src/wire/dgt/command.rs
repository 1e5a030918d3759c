//! What a PC says to a board in single-board mode, and how a board makes commands out of the bytes
//! it receives, bus commands included.
//!
//! The commands that start the boot loader (4e) or change the scan mode stored in the board (51,
//! 53, 54) cannot be expressed here, so that no program built on this can send them.

use super::{
    bus,
    clock::ClockCommand,
    frame::{Dropped, Event},
};

/// One command in single-board mode.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// 40: stop sending by itself.
    Reset,
    /// 41: one clock reading.
    SendClock,
    /// 42: the whole board.
    SendBoard,
    /// 43: send changes, and the clock at least once a second.
    SendUpdate,
    /// 44: send changes of squares only.
    SendUpdateBoard,
    /// 45: the serial number.
    ReturnSerial,
    /// 46: the bus address.
    ReturnBusAddress,
    /// 47: lines of text.
    SendTrademark,
    /// 48: hardware version (newer boards).
    HardwareVersion,
    /// 49: the whole log, up to 8 s of line time.
    SendLog,
    /// 4a: to bus mode.
    ToBusMode,
    /// 4b: send changes, and the clock when it changed.
    SendUpdateNice,
    /// 4c: the battery (Bluetooth boards).
    SendBattery,
    /// 4d: firmware version.
    SendVersion,
    /// 50 and 52: fifty squares of a draughts board, the black or the white ones.
    SendDraughts {
        /// The white squares.
        white: bool,
    },
    /// 55: the long serial number.
    ReturnLongSerial,
    /// 56: one reading of an I2C clock.
    SendI2cClock,
    /// 57, 58: changes with I2C clock data; which of the two is which is unresolved.
    UpdateI2c {
        /// 58 rather than 57.
        nice: bool,
    },
    /// 59, 5a: the lock and the developer key of a Pegasus.
    PegasusState {
        /// 5a rather than 59.
        key: bool,
    },
    /// 63: the developer key of a Pegasus.
    PegasusKey(Vec<u8>),
    /// 60: LEDs; what follows the size byte, which differs from model to model.
    Leds(Vec<u8>),
    /// 2b: a message to the clock.
    Clock(ClockCommand),
}

impl Command {
    /// Appends the command's bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let byte = match self {
            Self::Reset => 0x40,
            Self::SendClock => 0x41,
            Self::SendBoard => 0x42,
            Self::SendUpdate => 0x43,
            Self::SendUpdateBoard => 0x44,
            Self::ReturnSerial => 0x45,
            Self::ReturnBusAddress => 0x46,
            Self::SendTrademark => 0x47,
            Self::HardwareVersion => 0x48,
            Self::SendLog => 0x49,
            Self::ToBusMode => 0x4a,
            Self::SendUpdateNice => 0x4b,
            Self::SendBattery => 0x4c,
            Self::SendVersion => 0x4d,
            Self::SendDraughts { white: false } => 0x50,
            Self::SendDraughts { white: true } => 0x52,
            Self::ReturnLongSerial => 0x55,
            Self::SendI2cClock => 0x56,
            Self::UpdateI2c { nice: false } => 0x57,
            Self::UpdateI2c { nice: true } => 0x58,
            Self::PegasusState { key: false } => 0x59,
            Self::PegasusState { key: true } => 0x5a,
            Self::PegasusKey(body) => return push_sized(0x63, body, out),
            Self::Leds(body) => return push_sized(0x60, body, out),
            Self::Clock(command) => return command.encode(out),
        };
        out.push(byte);
    }

    fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0x40 => Self::Reset,
            0x41 => Self::SendClock,
            0x42 => Self::SendBoard,
            0x43 => Self::SendUpdate,
            0x44 => Self::SendUpdateBoard,
            0x45 => Self::ReturnSerial,
            0x46 => Self::ReturnBusAddress,
            0x47 => Self::SendTrademark,
            0x48 => Self::HardwareVersion,
            0x49 => Self::SendLog,
            0x4a => Self::ToBusMode,
            0x4b => Self::SendUpdateNice,
            0x4c => Self::SendBattery,
            0x4d => Self::SendVersion,
            0x50 => Self::SendDraughts { white: false },
            0x52 => Self::SendDraughts { white: true },
            0x55 => Self::ReturnLongSerial,
            0x56 => Self::SendI2cClock,
            0x57 => Self::UpdateI2c { nice: false },
            0x58 => Self::UpdateI2c { nice: true },
            0x59 => Self::PegasusState { key: false },
            0x5a => Self::PegasusState { key: true },
            _ => return None,
        })
    }
}

fn push_sized(first: u8, body: &[u8], out: &mut Vec<u8>) {
    let body = &body[..body.len().min(LONGEST_BODY)];
    out.extend([first, body.len() as u8]);
    out.extend(body);
}

/// What a board receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// A single-board command.
    Command(Command),
    /// A bus command with a right checksum.
    Bus(bus::Command),
    /// Four bytes that look like a bus command, with a wrong checksum or an unknown code. In
    /// single-board mode they switch to bus mode all the same.
    BusUnknown([u8; 4]),
    /// A byte that is no command a board would act upon here; among them those that no program
    /// should send.
    Unknown(u8),
}

/// No sized command is longer: the LEDs of 64 squares and their frame.
const LONGEST_BODY: usize = 80;

/// Turns the bytes a PC sends into commands, as a board would. Every byte is either part of what
/// comes out or counted as dropped.
#[derive(Clone, Debug, Default)]
pub struct CommandDecoder {
    bytes: Vec<u8>,
    /// How many bytes the command being received has; 0 while not known.
    expected: usize,
}

impl CommandDecoder {
    /// A decoder that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in one byte.
    pub fn push(&mut self, byte: u8) -> Option<Event<Received>> {
        // Only a developer key may hold bytes with the top bit set.
        let in_key = self.bytes.first() == Some(&0x63) && self.bytes.len() >= 2;
        if byte >= 0x80 && !in_key {
            let cut = self.give_up();
            self.start(byte, 4);
            return cut.map(Event::Dropped);
        }
        if self.bytes.is_empty() {
            return match byte {
                0x2b | 0x60 | 0x63 => {
                    self.start(byte, 0);
                    None
                }
                _ => Some(Event::Message(
                    Command::from_byte(byte).map_or(Received::Unknown(byte), Received::Command),
                )),
            };
        }
        self.bytes.push(byte);
        if self.expected == 0 {
            self.find_size();
            if self.expected == 0 && self.bytes.len() >= 4 {
                return self.give_up().map(|dropped| Event::Dropped(Dropped::Garbage(dropped.bytes())));
            }
        }
        if self.bytes.len() == self.expected { Some(self.finish()) } else { None }
    }

    /// Gives up on a half received command.
    pub fn give_up(&mut self) -> Option<Dropped> {
        let count = self.bytes.len() as u32;
        self.bytes.clear();
        self.expected = 0;
        (count > 0).then_some(Dropped::Cut(count))
    }

    /// Bytes of a half received command.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.bytes.len()
    }

    fn start(&mut self, byte: u8, expected: usize) {
        self.bytes.clear();
        self.bytes.push(byte);
        self.expected = expected;
    }

    fn find_size(&mut self) {
        let size = |byte: u8| usize::from(byte) + 2;
        self.expected = match self.bytes[..] {
            // Some clients count the command and size bytes too: the clock command tells.
            [0x2b, counted, 0x03, code] => match ClockCommand::size(code) {
                Some(needed) if counted == needed || counted == needed + 2 => size(needed),
                _ => 0,
            },
            [0x60 | 0x63, counted] if (1..=LONGEST_BODY).contains(&usize::from(counted)) => size(counted),
            _ => 0,
        };
    }

    fn finish(&mut self) -> Event<Received> {
        let bytes = std::mem::take(&mut self.bytes);
        self.expected = 0;
        let received = match bytes[..] {
            [0x2b, _, ref body @ ..] => {
                ClockCommand::decode(body).map(|command| Received::Command(Command::Clock(command)))
            }
            [0x60, _, ref body @ ..] => Some(Received::Command(Command::Leds(body.to_vec()))),
            [0x63, _, ref body @ ..] => Some(Received::Command(Command::PegasusKey(body.to_vec()))),
            [a, b, c, d] => Some(
                bus::Command::decode([a, b, c, d]).map_or(Received::BusUnknown([a, b, c, d]), Received::Bus),
            ),
            _ => None,
        };
        match received {
            Some(received) => Event::Message(received),
            None => Event::Dropped(Dropped::Garbage(bytes.len() as u32)),
        }
    }
}
