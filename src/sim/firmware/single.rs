//! A board alone on its line: commands and their replies.

use super::{Firmware, Mode};
use crate::wire::dgt::{Ack, ClockCommand, ClockMessage, Command, Message};

/// What stands in place of the maker's own text.
const TRADEMARK: &str = "SIMULATED ELECTRONIC CHESS BOARD\nNO PRODUCT OF ANY BOARD MAKER";

impl Firmware {
    pub(super) fn single_command(&mut self, now: u64, command: &Command) {
        // A few milliseconds to think.
        let at = now + 2;
        match command {
            Command::Reset => self.set_mode(now, Mode::Idle),
            Command::SendClock => self.send_clock(at),
            Command::SendBoard => {
                let squares = *self.squares();
                self.send(at, &Message::Board(squares));
            }
            Command::SendUpdate => {
                self.set_mode(now, Mode::Update);
                self.send_clock(at);
            }
            Command::SendUpdateBoard => self.set_mode(now, Mode::UpdateBoard),
            Command::SendUpdateNice => {
                self.set_mode(now, Mode::UpdateNice);
                self.send_clock(at);
            }
            Command::ReturnSerial => {
                let serial = format!("{:05}", self.config.serial % 100_000);
                self.send(at, &Message::Serial(serial));
            }
            Command::ReturnLongSerial => {
                if self.config.long_serial {
                    let serial = format!("{:010}", self.config.serial);
                    self.send(at, &Message::LongSerial(serial));
                }
            }
            Command::ReturnBusAddress => {
                let address = self.address.number();
                self.send(at, &Message::BusAddress(address));
            }
            Command::SendTrademark => {
                let (main, minor) = self.config.version;
                let serial = self.config.serial % 100_000;
                let text = format!("{TRADEMARK}\nVERSION {main}.{minor:02}\nSERIAL NR. {serial:05}");
                self.send(at, &Message::Trademark(text));
            }
            Command::SendVersion => {
                let (main, minor) = self.config.version;
                self.send(at, &Message::Version(main, minor));
            }
            Command::HardwareVersion => {
                if let Some((main, minor)) = self.config.hardware {
                    self.send(at, &Message::HardwareVersion(main, minor));
                }
            }
            Command::SendBattery => {
                if let Some(battery) = self.config.battery {
                    self.send(at, &Message::Battery(battery));
                }
            }
            Command::SendLog => {
                let stream = self.eeprom.download();
                self.send(at, &Message::Log(stream));
            }
            Command::ToBusMode => self.set_mode(now, Mode::Bus),
            Command::Clock(command) => self.clock_command(now, command),
            // Draughts, I2C clocks, LEDs and keys of other models: no answer.
            Command::SendDraughts { .. }
            | Command::SendI2cClock
            | Command::UpdateI2c { .. }
            | Command::PegasusState { .. }
            | Command::PegasusKey(_)
            | Command::Leds(_) => {}
        }
    }

    pub(super) fn clock_message(&self) -> ClockMessage {
        self.device.clock().map_or(ClockMessage::ABSENT, |reading| {
            ClockMessage::from_reading(&reading, self.device.counts_per_move())
        })
    }

    pub(super) fn send_clock(&mut self, at: u64) {
        let message = self.clock_message();
        self.send(at, &Message::Clock(message));
    }

    /// Answers come in the two modes with clock messages only, up to a second late.
    fn clock_command(&mut self, now: u64, command: &ClockCommand) {
        if self.device.clock().is_none() || !matches!(self.mode, Mode::Update | Mode::UpdateNice) {
            return;
        }
        let ack = match command {
            ClockCommand::SetAndRun { left, right, flags } => {
                if self.config.clock_pc_mode {
                    let seconds = |time: &[u8; 3]| {
                        u32::from(time[0] & 0x0f) * 3600 + u32::from(time[1]) * 60 + u32::from(time[2])
                    };
                    self.device.set_clock(now, seconds(left), seconds(right), *flags);
                    Ack::fine(0x0a)
                } else {
                    Ack::refused(0x0a)
                }
            }
            ClockCommand::Version => Ack([0x10, 0x09, 0x22, 0x00]),
            other => Ack::fine(other.code()),
        };
        let at = now + self.rng.u64(60..=900);
        self.send(at, &Message::Clock(ClockMessage::from_ack(ack)));
        if self.config.clock_faults {
            self.send(at + 40, &Message::Clock(ClockMessage([0; 7])));
            let again = at + self.rng.u64(200..=900);
            self.send(again, &Message::Clock(ClockMessage::from_ack(ack)));
        }
    }
}
