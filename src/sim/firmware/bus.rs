//! A board on a chain: it speaks only when asked by its address, keeps what happened until it is
//! fetched, and answers a call to all at a random moment.

use super::{Firmware, Mode, RESTART_MS};
use crate::wire::dgt::bus::{Body, Command, Reply, Request};

impl Firmware {
    pub(super) fn bus_command(&mut self, now: u64, command: Command) {
        let to_all = command.address.number() == 0;
        if !to_all && command.address != self.address {
            return;
        }
        // The input buffer holds one command: while a reply is on its way nothing is heard.
        if now < self.replying_until {
            return;
        }
        // Normally a few milliseconds, more while the EEPROM is written.
        let at = now + self.rng.u64(2..=8);
        match command.request {
            Request::Ping | Request::RandomPing if to_all => {
                if std::mem::take(&mut self.ignore_next_ping) {
                    return;
                }
                let at = now + self.rng.u64(5..=1100);
                self.reply(at, Body::Ping);
            }
            Request::End => self.set_mode(now, Mode::Idle),
            Request::Reset => self.restart(now, RESTART_MS),
            // Nothing else makes sense for all.
            _ if to_all => {}
            Request::Ping => self.reply(at, Body::Ping),
            Request::RandomPing => {
                let at = now + self.rng.u64(5..=1100);
                self.reply(at, Body::Ping);
            }
            Request::IgnoreNextPing => {
                self.ignore_next_ping = true;
                self.reply(at, Body::Ping);
            }
            Request::Clock => {
                let clock = self.clock_message();
                self.reply(at, Body::Clock(clock));
            }
            Request::Board => {
                let squares = *self.squares();
                self.reply(at, Body::Board(squares));
            }
            Request::Changes => self.reply_changes(at),
            Request::Repeat => {
                let stream = self.last_changes.clone();
                self.reply(at, Body::Changes { even: false, stream });
            }
            Request::StartGame => {
                let squares = *self.squares();
                self.eeprom.start_game(&squares);
                // Thirty-three tags take their time to be written.
                self.reply(now + 70, Body::StartWritten);
            }
            Request::FromStart => {
                let stream = self.eeprom.since_start();
                self.reply(at, Body::FromStart(stream));
            }
            Request::Version => {
                let version = self.config.version;
                self.reply(at, Body::Version(Some(version)));
            }
            Request::All => {
                self.reply_changes(at);
                let clock = self.clock_message();
                self.reply(at, Body::Clock(clock));
                let squares = *self.squares();
                self.reply(at, Body::Board(squares));
            }
            // Draughts, and requests of newer firmware whose replies are not published.
            Request::Draughts
            | Request::Serial
            | Request::Trademark
            | Request::Battery
            | Request::HardwareVersion => {}
        }
    }

    fn reply_changes(&mut self, at: u64) {
        self.polled = true;
        self.last_changes = self.eeprom.take_changes();
        let stream = self.last_changes.clone();
        self.reply(at, Body::Changes { even: false, stream });
    }

    fn reply(&mut self, at: u64, body: Body) {
        let mut bytes = Vec::new();
        Reply { address: self.address, body }.encode(&mut bytes);
        self.replying_until = self.replying_until.max(at);
        self.send_bytes(at, bytes);
    }
}
