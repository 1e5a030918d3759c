//! The clock: its time message, the acknowledgements that share the time message's code, and the
//! messages a PC sends to it.
//!
//! Sides are as seen from the clock's front and do not turn with the board. The turn bits 3 and 4
//! of the status byte are told both ways by the sources and by no source needed: the lever (bit 1)
//! and the running bit (bit 0) say it all.

use crate::wire::{ClockReading, ClockSide, ClockState};

/// A clock tells at most 9:59:59.
pub const LONGEST_SECONDS: u32 = 9 * 3600 + 59 * 60 + 59;

const RUNNING: u8 = 0x01;
const RIGHT_HIGH: u8 = 0x02;
const BATTERY_LOW: u8 = 0x04;
const LEFTS_TURN: u8 = 0x08;
const RIGHTS_TURN: u8 = 0x10;
const NO_CLOCK: u8 = 0x20;

const FLAG_BLOCKED: u8 = 0x10;
const PER_MOVE: u8 = 0x20;
const FLAG_SHOWN: u8 = 0x40;

/// The seven data bytes of a time message: right hours with flags, minutes, seconds; the same for
/// the left; status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClockMessage(pub [u8; 7]);

/// What a time message turns out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClockTime {
    /// What the clock shows (or that there is none, or that it makes no sense).
    State(ClockState),
    /// An answer of the clock, or a button.
    Ack(Ack),
}

/// The four bytes of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ack(pub [u8; 4]);

/// What an acknowledgement says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AckKind {
    /// The command with this code (01 display … 0c ASCII) was carried out, or refused.
    Answer {
        /// The clock command that is answered.
        command: u8,
        /// False when the clock could not do it, such as set-and-run outside its PC mode.
        fine: bool,
    },
    /// The clock's firmware version: main, minor (each 0 to 15).
    Version(u8, u8),
    /// The clock is ready for the next command.
    Ready,
    /// A button, or two at once.
    Buttons(Button),
    /// The clock's mode changed to this number.
    Mode(u8),
    /// The clock is not in the mode in which a PC may set it.
    NotInPcMode,
    /// Something no source explains.
    Other,
}

/// Which buttons are down, as a mask of the codes below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Button(pub u8);

impl Button {
    /// The leftmost key.
    pub const BACK: u8 = 0x04;
    /// The fourth key.
    pub const PLUS: u8 = 0x08;
    /// The middle key, start and stop.
    pub const RUN: u8 = 0x10;
    /// The second key.
    pub const MINUS: u8 = 0x20;
    /// The rightmost key.
    pub const OK: u8 = 0x40;
}

impl ClockMessage {
    /// What a board without a clock sends.
    pub const ABSENT: Self = Self([0, 0, 0, 0, 0, 0, NO_CLOCK]);

    /// The message for a reading. `per_move` sets both sides' sign for time per move (Fischer,
    /// Bronstein). Times above [`LONGEST_SECONDS`] are shown as that.
    #[must_use]
    pub fn from_reading(reading: &ClockReading, per_move: bool) -> Self {
        let side = |side: &ClockSide| {
            let [hours, minutes, seconds] = to_bcd(side.seconds);
            let flag = match (side.flag, side.blocked) {
                (true, true) => FLAG_BLOCKED,
                (true, false) => FLAG_SHOWN,
                (false, _) => 0,
            };
            [hours | flag | if per_move { PER_MOVE } else { 0 }, minutes, seconds]
        };
        let [right_hours, right_minutes, right_seconds] = side(&reading.right);
        let [left_hours, left_minutes, left_seconds] = side(&reading.left);
        let status = if reading.left_to_move { LEFTS_TURN } else { RIGHTS_TURN | RIGHT_HIGH }
            | if reading.running { RUNNING } else { 0 }
            | if reading.battery_low { BATTERY_LOW } else { 0 };
        Self([right_hours, right_minutes, right_seconds, left_hours, left_minutes, left_seconds, status])
    }

    /// The message that carries an acknowledgement.
    #[must_use]
    pub fn from_ack(ack: Ack) -> Self {
        let [ack0, ack1, ack2, ack3] = ack.0;
        let top = |byte: u8, shift: u32| (byte & 0x80) >> shift;
        Self([
            0x0a | top(ack2, 3) | top(ack3, 2),
            ack0 & 0x7f,
            ack1 & 0x7f,
            0x0a | top(ack0, 3) | top(ack1, 2),
            ack2 & 0x7f,
            ack3 & 0x7f,
            0,
        ])
    }

    /// Reads the message. An hours nibble of ten marks an acknowledgement: no clock shows ten hours.
    #[must_use]
    pub fn read(self) -> ClockTime {
        let [b3, b4, b5, b6, b7, b8, status] = self.0;
        if b3 & 0x0f == 0x0a || b6 & 0x0f == 0x0a {
            return ClockTime::Ack(Ack([
                b4 & 0x7f | b6 << 3 & 0x80,
                b5 & 0x7f | b6 << 2 & 0x80,
                b7 & 0x7f | b3 << 3 & 0x80,
                b8 & 0x7f | b3 << 2 & 0x80,
            ]));
        }
        if status & NO_CLOCK != 0 {
            return ClockTime::State(ClockState::Absent);
        }
        let (Some(right), Some(left)) = (read_side([b3, b4, b5]), read_side([b6, b7, b8])) else {
            return ClockTime::State(ClockState::Garbage);
        };
        ClockTime::State(ClockState::Reading(ClockReading {
            left,
            right,
            running: status & RUNNING != 0,
            left_to_move: status & RIGHT_HIGH == 0,
            battery_low: status & BATTERY_LOW != 0,
        }))
    }

    /// What the clock shows; `None` when this is an acknowledgement.
    #[must_use]
    pub fn state(self) -> Option<ClockState> {
        match self.read() {
            ClockTime::State(state) => Some(state),
            ClockTime::Ack(_) => None,
        }
    }
}

impl Ack {
    /// A clock command carried out.
    #[must_use]
    pub fn fine(command: u8) -> Self {
        Self([0x10, command, 0, 0])
    }

    /// A clock command refused.
    #[must_use]
    pub fn refused(command: u8) -> Self {
        Self([0x40, command, 0, 0])
    }

    /// What it says. Both bytes of a button press are told differently by the sources, but for
    /// its mask.
    #[must_use]
    pub fn kind(self) -> AckKind {
        let [ack0, ack1, ack2, ack3] = self.0;
        match ack1 {
            0x09 if ack0 == 0x10 => AckKind::Version(ack2 >> 4, ack2 & 0x0f),
            0x01..=0x7f => AckKind::Answer { command: ack1, fine: ack0 == 0x10 },
            0x81 => AckKind::Ready,
            0x88 => AckKind::Buttons(Button(ack2 & 0x7c)),
            0x8a => AckKind::Mode(ack3),
            0x90 => AckKind::NotInPcMode,
            _ => AckKind::Other,
        }
    }
}

fn read_side([hours, minutes, seconds]: [u8; 3]) -> Option<ClockSide> {
    let hour = u32::from(hours & 0x0f);
    if hour > 9 {
        return None;
    }
    let seconds = hour * 3600 + bcd(minutes)? * 60 + bcd(seconds)?;
    let blocked = hours & FLAG_BLOCKED != 0;
    Some(ClockSide { seconds, flag: blocked || hours & FLAG_SHOWN != 0, blocked })
}

/// Two decimal digits, 00 to 59.
pub(super) fn bcd(byte: u8) -> Option<u32> {
    let (tens, units) = (byte >> 4, byte & 0x0f);
    (tens <= 5 && units <= 9).then(|| u32::from(tens) * 10 + u32::from(units))
}

/// Hours (plain), minutes and seconds (two decimal digits each).
pub(super) fn to_bcd(seconds: u32) -> [u8; 3] {
    let seconds = seconds.min(LONGEST_SECONDS);
    let two = |value: u32| (value / 10 * 16 + value % 10) as u8;
    [(seconds / 3600) as u8, two(seconds / 60 % 60), two(seconds % 60)]
}

/// What a PC tells the clock, inside command 2b. A broadcast needs none of these; they are here
/// because a simulated board has to understand them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClockCommand {
    /// 01: seven-segment patterns in the clock's own order, icons, and 03 to beep or 01 not to.
    Display {
        /// Segments in the order C, B, A, F, E, D of "1A:BC 1D:EF".
        segments: [u8; 6],
        /// Dots, colons and the leading ones.
        icons: u8,
        /// 01 silent, 03 beep.
        beep: u8,
    },
    /// 02: the icons.
    Icons([u8; 8]),
    /// 03: back to the time.
    End,
    /// 08: ask for buttons.
    Buttons,
    /// 09: ask for the clock's version.
    Version,
    /// 0a: set both times and run.
    SetAndRun {
        /// Hours, minutes, seconds, plain binary (16 more hours: count up).
        left: [u8; 3],
        /// The same for the right side.
        right: [u8; 3],
        /// 01 left runs, 02 right runs, 04 pause, 08 the lever changes the running side.
        flags: u8,
    },
    /// 0b: beep, in units of 64 ms.
    Beep(u8),
    /// 0c: eight characters.
    Ascii {
        /// The characters.
        text: [u8; 8],
        /// 0 silent.
        beep: u8,
    },
    /// 0d: eleven characters (Revelation II).
    LongAscii {
        /// The characters.
        text: [u8; 11],
        /// 0 silent.
        beep: u8,
    },
}

impl ClockCommand {
    /// The code that its acknowledgement will name.
    #[must_use]
    pub fn code(&self) -> u8 {
        match self {
            Self::Display { .. } => 0x01,
            Self::Icons(_) => 0x02,
            Self::End => 0x03,
            Self::Buttons => 0x08,
            Self::Version => 0x09,
            Self::SetAndRun { .. } => 0x0a,
            Self::Beep(_) => 0x0b,
            Self::Ascii { .. } => 0x0c,
            Self::LongAscii { .. } => 0x0d,
        }
    }

    /// Appends `2b size 03 code … 00`; the size counts what follows it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = vec![0x03, self.code()];
        match self {
            Self::Display { segments, icons, beep } => {
                body.extend(segments);
                body.extend([*icons, *beep]);
            }
            Self::Icons(icons) => body.extend(icons),
            Self::End | Self::Buttons | Self::Version => {}
            Self::SetAndRun { left, right, flags } => {
                body.extend(left);
                body.extend(right);
                body.push(*flags);
            }
            Self::Beep(units) => body.push(*units),
            Self::Ascii { text, beep } => {
                body.extend(text);
                body.push(*beep);
            }
            Self::LongAscii { text, beep } => {
                body.extend(text);
                body.push(*beep);
            }
        }
        body.push(0x00);
        out.extend([0x2b, body.len() as u8]);
        out.extend(body);
    }

    /// Reads what follows the size byte: `03 code … 00`.
    #[must_use]
    pub fn decode(body: &[u8]) -> Option<Self> {
        let [0x03, code, inner @ .., 0x00] = body else { return None };
        Some(match (code, inner) {
            (0x01, &[a, b, c, d, e, f, icons, beep]) => {
                Self::Display { segments: [a, b, c, d, e, f], icons, beep }
            }
            (0x02, icons) => Self::Icons(icons.try_into().ok()?),
            (0x03, []) => Self::End,
            (0x08, []) => Self::Buttons,
            (0x09, []) => Self::Version,
            (0x0a, &[lh, lm, ls, rh, rm, rs, flags]) => {
                Self::SetAndRun { left: [lh, lm, ls], right: [rh, rm, rs], flags }
            }
            (0x0b, &[units]) => Self::Beep(units),
            (0x0c, [text @ .., beep]) => Self::Ascii { text: text.try_into().ok()?, beep: *beep },
            (0x0d, [text @ .., beep]) => Self::LongAscii { text: text.try_into().ok()?, beep: *beep },
            _ => return None,
        })
    }

    /// How many bytes follow the size byte of a command with this code.
    pub(super) fn size(code: u8) -> Option<u8> {
        Some(match code {
            0x01 | 0x02 => 0x0b,
            0x03 | 0x08 | 0x09 => 0x03,
            0x0a => 0x0a,
            0x0b => 0x04,
            0x0c => 0x0c,
            0x0d => 0x0f,
            _ => return None,
        })
    }
}
