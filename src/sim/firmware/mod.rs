//! What a DGT board's processor does with what the board notices and what it is asked: the serial
//! protocol from the board's side, in virtual time.
//!
//! | file | holds |
//! | --- | --- |
//! | `single` | commands and messages of a board alone on its line |
//! | `bus` | the addressed protocol of a tournament chain |
//! | `eeprom` | the board's own log |
//!
//! Written from published facts about the protocol. It is no DGT product: the text it sends for a
//! trade-mark request is neutral. Where the sources are silent, so is the board: it ignores
//! unknown bytes, commands with a wrong checksum, and requests of newer or other models.

mod bus;
mod eeprom;
mod single;

use std::collections::BTreeMap;

use super::{Action, Device, DeviceSetup, Noticed};
use crate::wire::{
    BoardSquare, ClockReading, Content, Squares,
    dgt::{Battery, CommandDecoder, Event, Message, Received, bus::Address},
};
use eeprom::Eeprom;

/// How long a restart takes, in milliseconds.
const RESTART_MS: u64 = 2_500;

/// What a board is. Defaults are an ordinary board on a USB or serial cable.
#[derive(Clone, Debug)]
pub struct BoardConfig {
    /// Serial number, 1 to 99999; up to 16383 it is the bus address, too.
    pub serial: u32,
    /// Firmware, main and minor.
    pub version: (u8, u8),
    /// Hardware, on newer boards.
    pub hardware: Option<(u8, u8)>,
    /// Bluetooth boards have a battery.
    pub battery: Option<Battery>,
    /// Answers the ten-digit request.
    pub long_serial: bool,
    /// Marks field updates that come within 250 ms of the last (newer firmware).
    pub marks_quick: bool,
    /// The clock is in the mode in which a program may set it.
    pub clock_pc_mode: bool,
    /// Faults of some Bluetooth firmware: a clock reading of zeros after a clock command, each
    /// acknowledgement twice.
    pub clock_faults: bool,
    /// Field updates that get lost on the way, per thousand.
    pub lost_permille: u32,
    /// Bytes take their time on the line, 9600 baud; if not, messages leave at once.
    pub paced: bool,
    /// Orientation, clock, pieces, seed.
    pub setup: DeviceSetup,
}

impl Default for BoardConfig {
    fn default() -> Self {
        Self {
            serial: 1025,
            version: (1, 8),
            hardware: None,
            battery: None,
            long_serial: true,
            marks_quick: false,
            clock_pc_mode: false,
            clock_faults: false,
            lost_permille: 0,
            paced: true,
            setup: DeviceSetup::default(),
        }
    }
}

/// In which way a board speaks (DGT protocol, "modes"; a board wakes up in bus mode).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Speaks when spoken to by its address.
    Bus,
    /// Alone on the line, nothing spontaneous.
    Idle,
    /// Changes of squares, and the clock once a second.
    Update,
    /// Changes of squares only.
    UpdateBoard,
    /// Changes of squares, and the clock when it changed.
    UpdateNice,
}

/// A DGT board in virtual time: bytes in, bytes out, hands in between.
#[derive(Clone, Debug)]
pub struct Firmware {
    config: BoardConfig,
    address: Address,
    device: Device,
    mode: Mode,
    decoder: CommandDecoder,
    eeprom: Eeprom,
    /// Messages that are ready at a moment: (ready, order) to bytes.
    ready: BTreeMap<(u64, u64), Vec<u8>>,
    order: u64,
    /// The line carries the last message until then, in microseconds.
    line_free_us: u64,
    /// Nothing is heard or said before.
    restarting_until: Option<u64>,
    next_update_clock: Option<u64>,
    /// Bus: the last reply to "changes", and whether the next is an even one.
    last_changes: Vec<u8>,
    ignore_next_ping: bool,
    /// Bus: somebody has fetched changes.
    polled: bool,
    /// Bus: the reply to the last command leaves at this moment; until then nothing is heard.
    replying_until: u64,
    rng: fastrand::Rng,
}

impl Firmware {
    /// Just powered up.
    #[must_use]
    pub fn new(config: BoardConfig) -> Self {
        let device = Device::new(&config.setup);
        let mut eeprom = Eeprom::new();
        eeprom.power_up(device.squares());
        Self {
            address: Address::new((config.serial & 0x3fff) as u16).unwrap_or(Address::ALL),
            device,
            mode: Mode::Bus,
            decoder: CommandDecoder::new(),
            eeprom,
            ready: BTreeMap::new(),
            order: 0,
            line_free_us: 0,
            restarting_until: None,
            next_update_clock: None,
            last_changes: Vec::new(),
            ignore_next_ping: false,
            polled: false,
            replying_until: 0,
            rng: fastrand::Rng::with_seed(config.setup.seed ^ 0xf1b3),
            config,
        }
    }

    /// Hands do something at this moment; moments must not fall.
    pub fn act(&mut self, at_ms: u64, action: Action) {
        self.device.act(at_ms, action);
    }

    /// The way it speaks at present.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Changes have been fetched on the bus.
    #[must_use]
    pub fn was_polled(&self) -> bool {
        self.polled
    }

    /// What it has noticed of its squares.
    #[must_use]
    pub fn squares(&self) -> &Squares {
        self.device.squares()
    }

    /// What it knows of its clock.
    #[must_use]
    pub fn clock(&self) -> Option<ClockReading> {
        self.device.clock()
    }

    /// Acts of the hands not done yet.
    #[must_use]
    pub fn acts_left(&self) -> usize {
        self.device.acts_left()
    }

    /// The power is cut: RAM is lost, the log is not. Nothing is noticed until it is back.
    pub fn power_off(&mut self, now_ms: u64) {
        self.restart(now_ms, 0);
        self.restarting_until = Some(u64::MAX);
    }

    /// The power is back.
    pub fn power_on(&mut self, now_ms: u64) {
        self.restarting_until = Some(now_ms);
    }

    /// Takes in what a PC sent. Call [`Firmware::advance`] to the same moment first.
    pub fn receive(&mut self, now_ms: u64, bytes: &[u8]) {
        for &byte in bytes {
            let Some(Event::Message(received)) = self.decoder.push(byte) else { continue };
            if self.restarting_until.is_some_and(|until| now_ms < until) {
                continue;
            }
            match (received, self.mode) {
                (Received::Command(command), _) => {
                    // The first single-board byte ends bus mode, and is obeyed.
                    if self.mode == Mode::Bus {
                        self.set_mode(now_ms, Mode::Idle);
                    }
                    self.single_command(now_ms, &command);
                }
                (Received::Unknown(_), Mode::Bus) => self.set_mode(now_ms, Mode::Idle),
                (Received::Bus(command), Mode::Bus) => self.bus_command(now_ms, command),
                // The bus command that ends single mode is swallowed.
                (Received::Bus(_) | Received::BusUnknown(_), _) => self.set_mode(now_ms, Mode::Bus),
                (Received::Unknown(_), _) => {}
            }
        }
    }

    /// When something may next happen by itself.
    #[must_use]
    pub fn next_due(&self) -> Option<u64> {
        let ready = self.ready.keys().next().map(|(at, _)| *at);
        [self.device.next_due(), ready, self.next_update_clock, self.restarting_until]
            .into_iter()
            .flatten()
            .min()
    }

    /// Goes on to this moment. What leaves the board until then is appended, each message with the
    /// moment in which its last byte is on the line.
    pub fn advance(&mut self, now_ms: u64, out: &mut Vec<(u64, Vec<u8>)>) {
        while let Some(due) = self.next_due().filter(|due| *due <= now_ms) {
            if self.restarting_until.is_some_and(|until| until <= due) {
                self.restarting_until = None;
                let squares = *self.device.squares();
                self.eeprom.power_up(&squares);
            }
            if self.next_update_clock.is_some_and(|at| at <= due) {
                self.next_update_clock = Some(due + 1000);
                self.send_clock(due);
            }
            if let Some((at, noticed)) = self.device.step(due) {
                self.noticed(at, noticed);
                continue;
            }
            if let Some(entry) = self.ready.first_entry()
                && entry.key().0 <= due
            {
                let ((at, _), bytes) = entry.remove_entry();
                let begins_us = (at * 1000).max(self.line_free_us);
                let takes_us = if self.config.paced { bytes.len() as u64 * 10_000_000 / 9_600 } else { 0 };
                self.line_free_us = begins_us + takes_us;
                out.push((self.line_free_us.div_ceil(1000), bytes));
            }
        }
    }

    fn noticed(&mut self, at: u64, noticed: Noticed) {
        if self.restarting_until.is_some() {
            return;
        }
        match noticed {
            Noticed::Square(square, content) => self.square_changed(at, square, content),
            Noticed::Clock(reading, lever) => {
                if lever {
                    // The high side is to move: the other one was halted.
                    let left = !reading.left_to_move;
                    let seconds = if left { reading.left.seconds } else { reading.right.seconds };
                    self.eeprom.halted(left, seconds);
                }
                match self.mode {
                    Mode::UpdateNice => self.send_clock(at),
                    Mode::Update => {
                        self.next_update_clock = Some(at + 1000);
                        self.send_clock(at);
                    }
                    Mode::Bus | Mode::Idle | Mode::UpdateBoard => {}
                }
            }
        }
    }

    fn square_changed(&mut self, at: u64, square: BoardSquare, content: Content) {
        let squares = *self.device.squares();
        let quick = self.eeprom.field(at, square, content, &squares);
        if matches!(self.mode, Mode::Update | Mode::UpdateBoard | Mode::UpdateNice) {
            if self.rng.u32(0..1000) < self.config.lost_permille {
                return;
            }
            self.send(at, &Message::Field { square, content, quick: quick && self.config.marks_quick });
        }
    }

    fn set_mode(&mut self, now: u64, mode: Mode) {
        self.mode = mode;
        self.next_update_clock = (mode == Mode::Update).then_some(now + 1000);
    }

    /// RAM is lost; after `after_ms` the board is there again, in bus mode.
    fn restart(&mut self, now: u64, after_ms: u64) {
        self.set_mode(now, Mode::Bus);
        self.decoder = CommandDecoder::new();
        self.ready.clear();
        self.last_changes.clear();
        self.ignore_next_ping = false;
        self.restarting_until = Some(now + after_ms);
    }

    fn send(&mut self, at: u64, message: &Message) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.send_bytes(at, bytes);
    }

    fn send_bytes(&mut self, at: u64, bytes: Vec<u8>) {
        self.order += 1;
        self.ready.insert((at, self.order), bytes);
    }
}
