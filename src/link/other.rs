//! Boards that stream their squares and say no number: Certabo and Millennium `ChessLink`. They are
//! known by their port.

use std::{path::PathBuf, sync::Arc, time::Duration};

use crate::wire::{
    BoardSquare, Content, Observation, Squares,
    certabo::{self, Calibration},
    dgt::{Dropped, Event},
    millennium,
};

use super::{
    config::{PortConfig, Timing},
    driver::{Ask, Driver, Io},
};

/// What every board without a number needs: a name, and telling differences.
struct Shown {
    timing: Timing,
    serial: Option<Arc<str>>,
    /// The firmware that was told.
    firmware: Option<(u8, u8)>,
    told: Option<Squares>,
    wanted: bool,
    opened: Duration,
    last_message: Duration,
    noise: bool,
}

impl Shown {
    fn new(config: &PortConfig) -> Self {
        Self {
            timing: config.timing,
            serial: None,
            firmware: None,
            told: None,
            wanted: false,
            opened: Duration::ZERO,
            last_message: Duration::ZERO,
            noise: false,
        }
    }

    fn opened(&mut self, io: &Io<'_>) {
        (self.serial, self.firmware, self.told) = (None, None, None);
        (self.wanted, self.noise) = (false, false);
        (self.opened, self.last_message) = (io.now, io.now);
    }

    /// The board answers; told again when its firmware is known.
    fn up(&mut self, model: &str, firmware: Option<(u8, u8)>, io: &mut Io<'_>) -> Result<(), String> {
        if let Some(serial) = &self.serial {
            if self.firmware != firmware {
                self.firmware = firmware;
                io.up(serial, io.identity(serial, model, firmware));
            }
            return Ok(());
        }
        let serial: Arc<str> = io.health.port.as_str().into();
        io.registry.claim(&serial, &io.health.port)?;
        model.clone_into(&mut io.health.kind);
        let identity = io.identity(&serial, model, firmware);
        io.up(&serial, identity);
        self.serial = Some(serial);
        self.firmware = firmware;
        self.wanted = true;
        Ok(())
    }

    /// Tells what changed: what was lifted first, then what was put down.
    fn show(&mut self, squares: &Squares, io: &mut Io<'_>) {
        let Some(serial) = &self.serial else { return };
        io.heard(serial);
        match self.told {
            Some(told) if !self.wanted => {
                let changed = |lifted: bool| {
                    BoardSquare::all().filter(move |square| {
                        let now = squares.get(*square);
                        now != told.get(*square) && (now == Content::Empty) == lifted
                    })
                };
                for square in changed(true).chain(changed(false)) {
                    io.tell(Some(serial), Observation::Square(square, squares.get(square)));
                }
            }
            _ => io.tell(Some(serial), Observation::Dump(*squares)),
        }
        self.wanted = false;
        self.told = Some(*squares);
    }

    fn fault(&mut self, dropped: Dropped, io: &mut Io<'_>) {
        self.noise = true;
        io.dropped(self.serial.as_ref(), dropped);
    }

    fn message(&mut self, io: &mut Io<'_>) {
        self.last_message = io.now;
        io.health.messages += 1;
    }

    fn tick(&self, make: &str, io: &Io<'_>) -> Result<(), String> {
        let port = &io.health.port;
        if self.serial.is_some() {
            if io.now >= self.last_message + self.timing.dead {
                return Err(format!("the {make} board on {port} has fallen silent: its cable or its power"));
            }
        } else if io.now >= self.opened + self.timing.identify {
            return Err(if self.noise {
                format!(
                    "something on {port} sends what no {make} board sends: another device or another make?"
                )
            } else {
                format!("no {make} board answers on {port}: is it switched on, is this its cable?")
            });
        }
        Ok(())
    }
}

/// A Certabo board, or a Sentio.
pub(super) struct Certabo {
    shown: Shown,
    decoder: certabo::Decoder,
    majority: certabo::Majority,
    calibration: Option<Calibration>,
    file: Option<PathBuf>,
    /// The file is there and cannot be used; why.
    file_fault: Option<String>,
}

impl Certabo {
    pub(super) fn new(config: &PortConfig) -> Self {
        Self {
            shown: Shown::new(config),
            decoder: certabo::Decoder::new(),
            majority: certabo::Majority::default(),
            calibration: None,
            file: config.calibration.clone(),
            file_fault: None,
        }
    }

    fn load(&mut self) {
        self.file_fault = None;
        let Some(file) = self.file.as_ref().filter(|file| file.exists()) else { return };
        let read = std::fs::read_to_string(file).map_err(|error| error.to_string());
        match read.and_then(|text| Calibration::from_text(&text)) {
            Ok(calibration) => self.calibration = Some(calibration),
            Err(fault) => {
                self.file_fault = Some(format!(
                    "the calibration {} cannot be used ({fault}): correct it, or delete it and learn again",
                    file.display()
                ));
            }
        }
    }

    /// A newly learnt set is kept: written beside and renamed, so that it is whole or not there.
    fn save(&self, calibration: &Calibration) {
        let Some(file) = &self.file else { return };
        let new = file.with_extension("new");
        if let Err(error) =
            std::fs::write(&new, calibration.to_text()).and_then(|()| std::fs::rename(&new, file))
        {
            tracing::warn!(file = %file.display(), %error, "the calibration could not be kept");
        }
    }

    fn message(&mut self, message: certabo::Message, io: &mut Io<'_>) -> Result<(), String> {
        self.shown.message(io);
        let voted = match message {
            certabo::Message::Tags(tags) => match self.majority.vote(&tags) {
                Some(voted) => voted,
                None => return Ok(()),
            },
            certabo::Message::Occupancy(_) => {
                self.shown.up("Tabutronic Sentio", None, io)?;
                if let Some(squares) = message.squares(&Calibration::default()) {
                    self.shown.show(&squares, io);
                }
                return Ok(());
            }
            certabo::Message::LedsDone(_) => return Ok(()),
        };
        if self.calibration.is_none() && self.file_fault.is_none() {
            self.calibration = Calibration::learn(&voted);
            if let Some(calibration) = &self.calibration {
                self.save(calibration);
            }
        }
        if let Some(calibration) = &self.calibration {
            let message = certabo::Message::Tags(voted);
            self.shown.up("Certabo", None, io)?;
            if let Some(squares) = message.squares(calibration) {
                self.shown.show(&squares, io);
            }
        }
        Ok(())
    }
}

impl Driver for Certabo {
    fn opened(&mut self, io: &mut Io<'_>) {
        self.decoder = certabo::Decoder::new();
        self.majority = certabo::Majority::default();
        self.load();
        self.shown.opened(io);
    }

    fn received(&mut self, bytes: &[u8], io: &mut Io<'_>) -> Result<(), String> {
        for &byte in bytes {
            match self.decoder.push(byte) {
                None => {}
                Some(Event::Message(message)) => self.message(message, io)?,
                Some(Event::Dropped(dropped)) => self.shown.fault(dropped, io),
            }
        }
        Ok(())
    }

    fn tick(&mut self, io: &mut Io<'_>) -> Result<(), String> {
        let streams = self.shown.last_message > self.shown.opened;
        if self.shown.serial.is_none() && streams && io.now >= self.shown.opened + self.shown.timing.identify
        {
            return Err(self.file_fault.clone().unwrap_or_else(|| {
                format!(
                    "the Certabo board on {} has pieces it does not know: set up the initial position, the cable at \
                     White's left, with the spare queens on d6 and d3",
                    io.health.port
                )
            }));
        }
        self.shown.tick("Certabo", io)
    }

    fn ask(&mut self, _serial: Option<&str>, ask: Ask, _io: &mut Io<'_>) {
        self.shown.wanted |= ask == Ask::Dump;
    }

    fn boards(&self) -> Vec<Arc<str>> {
        self.shown.serial.iter().cloned().collect()
    }
}

/// A board that reports its squares may do so before it answers, and what was asked may be lost: its version is asked
/// for again after so long …
const VERSION_AGAIN: Duration = Duration::from_secs(1);
/// … and so many times in all.
const VERSION_ASKED: u32 = 5;

/// A Millennium `ChessLink`.
pub(super) struct Millennium {
    shown: Shown,
    decoder: millennium::Decoder,
    version: Option<(u8, u8)>,
    /// How often the version was asked for, and when last.
    version_asked: (u32, Duration),
    last_asked: Duration,
}

impl Millennium {
    pub(super) fn new(config: &PortConfig) -> Self {
        Self {
            shown: Shown::new(config),
            decoder: millennium::Decoder::new(),
            version: None,
            version_asked: (0, Duration::ZERO),
            last_asked: Duration::ZERO,
        }
    }

    fn ask_version(&mut self, io: &mut Io<'_>) {
        self.version_asked = (self.version_asked.0 + 1, io.now);
        millennium::Command::Version.encode(&mut io.send);
    }

    fn event(&mut self, event: Event<millennium::Message>, io: &mut Io<'_>) -> Result<(), String> {
        match event {
            Event::Dropped(dropped) => self.shown.fault(dropped, io),
            Event::Message(message) => {
                self.shown.message(io);
                match message {
                    millennium::Message::Version(main, minor) => self.version = Some((main, minor)),
                    millennium::Message::Status(squares) => {
                        self.shown.up("Millennium ChessLink", self.version, io)?;
                        self.shown.show(&squares, io);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

impl Driver for Millennium {
    fn opened(&mut self, io: &mut Io<'_>) {
        self.decoder = millennium::Decoder::new();
        self.shown.opened(io);
        self.last_asked = io.now;
        (self.version, self.version_asked) = (None, (0, io.now));
        self.ask_version(io);
    }

    fn received(&mut self, bytes: &[u8], io: &mut Io<'_>) -> Result<(), String> {
        for &byte in bytes {
            let mut event = self.decoder.push(byte);
            while let Some(found) = event {
                self.event(found, io)?;
                event = self.decoder.more();
            }
        }
        Ok(())
    }

    fn tick(&mut self, io: &mut Io<'_>) -> Result<(), String> {
        // Most boards report every scan by themselves; one that was set not to is asked.
        let quiet = self.shown.last_message.max(self.last_asked);
        if io.now >= quiet + Duration::from_millis(200) {
            self.last_asked = io.now;
            millennium::Command::Status.encode(&mut io.send);
        }
        let (times, when) = self.version_asked;
        if self.version.is_none() && times < VERSION_ASKED && io.now >= when + VERSION_AGAIN {
            self.ask_version(io);
        }
        self.shown.tick("Millennium", io)
    }

    fn ask(&mut self, _serial: Option<&str>, ask: Ask, _io: &mut Io<'_>) {
        self.shown.wanted |= ask == Ask::Dump;
    }

    fn boards(&self) -> Vec<Arc<str>> {
        self.shown.serial.iter().cloned().collect()
    }
}
