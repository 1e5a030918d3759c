//! A DGT board that speaks by itself (single-board mode).
//!
//! Updates are hints, a dump is the truth: one is asked after every press, shortly after the last
//! change, after every fault of the line, on a timer and on request. The protocol has no checksum,
//! so a dump that corrects something is asked twice before it is believed. On a line that has lost
//! bytes lately so is a clock reading that says something new, and a press is told after the dump
//! that was asked for it.
//!
//! Here is the line: who answers, faults, signs of life. `up` is the board, `memory` its log.

mod memory;
mod up;

use std::{sync::Arc, time::Duration};

use crate::wire::dgt::{self, Command, Event, Message};

use super::{
    config::{PortConfig, Timing},
    driver::{Ask, Driver, Io},
};
pub(super) use memory::under_way;
use up::Up;

/// How long a line is mistrusted after it lost bytes.
const MISTRUST: Duration = Duration::from_mins(1);
/// Bytes that a command begun by damage can swallow: one on the bus has four.
const LONGEST_SWALLOWED: usize = 4;
/// What is half received and not continued for so long will not be.
const QUIET: Duration = Duration::from_millis(200);

/// The driver of one board.
pub(super) struct Single {
    timing: Timing,
    recover: bool,
    decoder: dgt::Decoder,
    opened: Duration,
    last_heard: Duration,
    last_poll: Duration,
    version: Option<(u8, u8)>,
    /// The serial number heard once; it counts when it is heard twice.
    candidate: Option<String>,
    board: Option<Up>,
    /// Bytes that made no message, for the text when no board is found.
    noise: u64,
    mistrust_until: Duration,
    /// Another number was heard on the line of this board, and when. Damaged ones are forgotten.
    stranger: Option<(String, Duration)>,
    /// And since then this board's own.
    own_since_stranger: bool,
    chain_suspected: bool,
    /// Messages that arrived before the board said who it is are not told.
    quiet_since: Duration,
}

fn send(command: &Command, io: &mut Io<'_>) {
    command.encode(&mut io.send);
}

impl Single {
    pub(super) fn new(config: &PortConfig) -> Self {
        Self {
            timing: config.timing,
            recover: config.recover,
            decoder: dgt::Decoder::new(),
            opened: Duration::ZERO,
            last_heard: Duration::ZERO,
            last_poll: Duration::ZERO,
            version: None,
            candidate: None,
            board: None,
            noise: 0,
            mistrust_until: Duration::ZERO,
            stranger: None,
            own_since_stranger: false,
            chain_suspected: false,
            quiet_since: Duration::ZERO,
        }
    }

    /// Two boards answered on this line: it is a chain, and must be spoken to as one.
    pub(super) fn chain_suspected(&self) -> bool {
        self.chain_suspected
    }

    fn message(&mut self, message: Message, io: &mut Io<'_>) -> Result<(), String> {
        io.health.messages += 1;
        if let Message::Serial(serial) = &message {
            return self.serial(serial, io);
        }
        if let Message::Version(main, minor) = message {
            self.version = Some((main, minor));
        }
        let mistrust = io.now < self.mistrust_until;
        if let Some(up) = &mut self.board {
            up.message(message, mistrust, self.timing, self.recover, io);
        }
        Ok(())
    }

    /// A serial number came. It is believed when it comes twice in a row: a table is bound by it,
    /// and nothing else protects it from a flipped bit.
    fn serial(&mut self, serial: &str, io: &mut Io<'_>) -> Result<(), String> {
        if let Some(up) = &self.board {
            if *serial == *up.serial {
                io.heard(&up.serial);
                self.own_since_stranger = true;
                return Ok(());
            }
            let known = self
                .stranger
                .as_ref()
                .is_some_and(|(stranger, heard)| stranger == serial && io.now < *heard + MISTRUST);
            let both = known && self.own_since_stranger;
            self.own_since_stranger = false;
            if !known {
                self.stranger = Some((serial.to_owned(), io.now));
                send(&Command::ReturnSerial, io);
                return Ok(());
            }
            let (before, port) = (&up.serial, &io.health.port);
            if both {
                self.chain_suspected = true;
                return Err(format!(
                    "boards {before} and {serial} both answer on {port}: this line is a chain"
                ));
            }
            return Err(format!(
                "board {serial} answers on {port} where {before} was: another was plugged in"
            ));
        }
        if self.candidate.as_deref() != Some(serial) {
            self.candidate = Some(serial.to_owned());
            send(&Command::ReturnSerial, io);
            return Ok(());
        }
        let serial: Arc<str> = serial.into();
        io.registry.claim(&serial, &io.health.port)?;
        let model = match self.version {
            Some((main, _)) if main >= 4 => "DGT Smart Board",
            Some((3, _)) => "DGT Bluetooth",
            _ => "DGT serial or USB",
        };
        let identity = io.identity(&serial, model, self.version);
        "DGT, single board".clone_into(&mut io.health.kind);
        io.up(&serial, identity);
        send(&Command::SendUpdateNice, io);
        send(&Command::SendClock, io);
        send(&Command::SendBoard, io);
        // Asked only of generations that are known to have a battery.
        let battery = self.version.is_some_and(|(main, _)| main == 3) || io.health.port.contains("rfcomm");
        self.board = Some(Up::new(serial, battery, self.timing, io.now));
        Ok(())
    }

    fn fault(&mut self, dropped: dgt::Dropped, io: &mut Io<'_>) {
        self.noise += u64::from(dropped.bytes());
        if self.board.is_some() {
            self.mistrust_until = io.now + MISTRUST;
        }
        io.dropped(self.board.as_ref().map(|up| &up.serial), dropped);
        let remains = self.decoder.take_remains();
        if let Some(up) = &mut self.board {
            up.fault(io.now);
            up.log_fault(dropped.bytes(), &remains, io);
        }
    }

    fn nobody(&self, io: &Io<'_>) -> String {
        let port = &io.health.port;
        if self.noise > 0 || self.decoder.pending() > 0 {
            format!(
                "something on {port} sends what no DGT board sends: a modem, another device or another make of \
                 board? Check the cable and the port's make"
            )
        } else {
            format!("no board answers on {port}: is it switched on, is this its cable?")
        }
    }
}

impl Driver for Single {
    fn opened(&mut self, io: &mut Io<'_>) {
        self.opened = io.now;
        self.last_heard = io.now;
        self.last_poll = io.now;
        send(&Command::SendVersion, io);
        send(&Command::ReturnSerial, io);
    }

    fn received(&mut self, bytes: &[u8], io: &mut Io<'_>) -> Result<(), String> {
        self.last_heard = io.now;
        self.quiet_since = io.now;
        for &byte in bytes {
            match self.decoder.push(byte) {
                None => {}
                Some(Event::Message(message)) => self.message(message, io)?,
                Some(Event::Dropped(dropped)) => self.fault(dropped, io),
            }
        }
        Ok(())
    }

    fn tick(&mut self, io: &mut Io<'_>) -> Result<(), String> {
        if self.decoder.pending() > 0
            && io.now >= self.quiet_since + QUIET
            && let Some(dropped) = self.decoder.give_up()
        {
            self.fault(dropped, io);
        }
        let Some(up) = &mut self.board else {
            if io.now >= self.opened + self.timing.identify {
                return Err(self.nobody(io));
            }
            // The first bytes after power-up may be lost.
            if io.now >= self.last_poll + self.timing.identify / 5 {
                self.last_poll = io.now;
                send(&Command::SendVersion, io);
                send(&Command::ReturnSerial, io);
            }
            return Ok(());
        };
        if io.now >= self.last_heard + self.timing.dead {
            return Err(format!(
                "board {} on {} has been silent for {} s: its cable or its power",
                up.serial,
                io.health.port,
                self.timing.dead.as_secs_f32()
            ));
        }
        if io.now >= self.last_heard.max(self.last_poll) + self.timing.poll {
            // A damaged byte may have begun a longer command, which swallows what follows: the second
            // time so many are sent that it is over.
            let times = if io.now >= self.last_heard + self.timing.poll * 2 { LONGEST_SWALLOWED } else { 1 };
            self.last_poll = io.now;
            for _ in 0..times {
                send(&Command::ReturnSerial, io);
            }
        }
        up.tick(self.timing, io.now.saturating_sub(self.quiet_since), io);
        Ok(())
    }

    fn ask(&mut self, serial: Option<&str>, ask: Ask, io: &mut Io<'_>) {
        let Some(up) = &mut self.board else { return };
        if serial.is_some_and(|serial| *serial != *up.serial) {
            return;
        }
        match ask {
            Ask::Dump => {
                up.dump_wanted = true;
                up.want_dump(io.now);
            }
            Ask::Log => {
                if let (None, Some(now)) = (&up.log, up.squares) {
                    up.read_log(now, None, io);
                }
            }
            Ask::StartGame => {}
        }
    }

    fn boards(&self) -> Vec<Arc<str>> {
        self.board.iter().map(|up| Arc::clone(&up.serial)).collect()
    }

    fn patience(&self) -> Duration {
        let busy = self.decoder.pending() > 0 || self.board.as_ref().is_none_or(Up::is_waiting);
        // What comes wakes it; hundreds of quiet boards must cost nothing.
        Duration::from_millis(if busy { 50 } else { 200 })
    }
}
