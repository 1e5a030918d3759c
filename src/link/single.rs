//! A DGT board that speaks by itself (single-board mode).
//!
//! Updates are hints, a dump is the truth: one is asked after every press, shortly after the last
//! change, after every fault of the line, on a timer and on request. The protocol has no checksum,
//! so a dump that corrects something is asked twice before it is believed, and on a line that has
//! lost bytes lately so is a press.

use std::{sync::Arc, time::Duration};

use crate::wire::{
    BoardSquare, ClockReading, ClockState, Content, Observation, RecoveredEvent, Squares,
    dgt::{self, Command, Event, Message},
};

use super::{
    config::{PortConfig, Timing},
    driver::{Ask, Driver, Io},
};

/// How long a line is mistrusted after it lost bytes.
const MISTRUST: Duration = Duration::from_mins(1);
/// A dump or clock reading that was asked for comes within this, or is asked again.
const ANSWER: Duration = Duration::from_millis(1200);
/// The log takes 8 s of line time, longer over Bluetooth.
const LOG: Duration = Duration::from_secs(14);
/// The battery is asked this often.
const BATTERY: Duration = Duration::from_mins(1);

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

/// What is known of a board that has said who it is.
struct Up {
    serial: Arc<str>,
    /// What was told of the squares so far; `None` before the first dump.
    squares: Option<Squares>,
    /// A dump that differs from what was told; it counts when a second one agrees.
    doubted: Option<Squares>,
    doubts: u32,
    /// When to ask for a dump.
    dump_at: Duration,
    dump_asked: Option<Duration>,
    /// The next dump is told even if it says nothing new.
    dump_wanted: bool,
    clock: Option<ClockState>,
    /// A reading that changes much, on a mistrusted line: asked again.
    doubted_clock: Option<ClockReading>,
    /// The log is being read until then; the first dump waits for it.
    log: Option<LogRead>,
    battery_at: Option<Duration>,
}

struct LogRead {
    until: Duration,
    tries: u32,
    now: Squares,
    before: Option<Squares>,
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
        let (timing, recover) = (self.timing, self.recover);
        let Some(up) = &mut self.board else { return Ok(()) };
        io.heard(&up.serial);
        match message {
            Message::Field { square, content, .. } => up.field(square, content, timing, io),
            Message::Board(squares) => up.dump(squares, timing, recover, io),
            Message::Clock(clock) => {
                if let Some(state) = clock.state() {
                    up.clock(state, mistrust, io);
                }
            }
            Message::Battery(battery) => io.battery(&up.serial, battery.reading()),
            Message::Log(stream) => up.log_read(&stream, io),
            _ => {}
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
            _ => "DGT",
        };
        let identity = io.identity(&serial, model, self.version);
        "DGT, single board".clone_into(&mut io.health.kind);
        io.up(&serial, identity);
        send(&Command::SendUpdateNice, io);
        send(&Command::SendBoard, io);
        send(&Command::SendClock, io);
        // Asked only of generations that are known to have a battery.
        let battery = self.version.is_some_and(|(main, _)| main == 3) || io.health.port.contains("rfcomm");
        self.board = Some(Up {
            serial,
            squares: None,
            doubted: None,
            doubts: 0,
            dump_at: io.now + self.timing.dump,
            dump_asked: Some(io.now),
            dump_wanted: true,
            clock: None,
            doubted_clock: None,
            log: None,
            battery_at: battery.then_some(io.now),
        });
        Ok(())
    }

    fn fault(&mut self, dropped: dgt::Dropped, io: &mut Io<'_>) {
        self.noise += u64::from(dropped.bytes());
        if self.board.is_some() {
            self.mistrust_until = io.now + MISTRUST;
        }
        io.dropped(self.board.as_ref().map(|up| &up.serial), dropped);
        if let Some(up) = &mut self.board {
            up.dump_wanted = true;
            up.want_dump(io.now);
            if matches!(dropped, dgt::Dropped::Cut(count) if count > 64) {
                up.log_cut(io);
            }
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
        // What is half received and not continued will not be.
        if self.decoder.pending() > 0
            && io.now >= self.quiet_since + Duration::from_millis(500)
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
            self.last_poll = io.now;
            send(&Command::ReturnSerial, io);
        }
        up.tick(self.timing, io);
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
                    up.read_log(now, None, 1, io);
                }
            }
            Ask::StartGame => {}
        }
    }

    fn boards(&self) -> Vec<Arc<str>> {
        self.board.iter().map(|up| Arc::clone(&up.serial)).collect()
    }
}

impl Up {
    fn want_dump(&mut self, now: Duration) {
        self.dump_at = self.dump_at.min(now);
    }

    fn field(&mut self, square: BoardSquare, content: Content, timing: Timing, io: &mut Io<'_>) {
        for squares in [&mut self.squares, &mut self.doubted].into_iter().flatten() {
            squares.set(square, content);
        }
        if let Some(read) = &mut self.log {
            read.now.set(square, content);
        }
        // Before the first dump a change tells nothing that the dump will not.
        if self.squares.is_some() {
            io.tell(Some(&self.serial), Observation::Square(square, content));
            self.remember(io);
        }
        if self.dump_asked.is_none() {
            self.dump_at = io.now + timing.settle;
        }
    }

    fn dump(&mut self, squares: Squares, timing: Timing, recover: bool, io: &mut Io<'_>) {
        self.dump_asked = None;
        self.dump_at = io.now + timing.dump;
        if self.log.is_some() {
            return;
        }
        let agreed = self.squares == Some(squares) || self.doubted == Some(squares);
        if !agreed && self.doubts < 4 {
            self.doubted = Some(squares);
            self.doubts += 1;
            self.want_dump(io.now);
            return;
        }
        self.doubted = None;
        self.doubts = 0;
        let first = self.squares.is_none();
        if first && recover && self.recover_first(squares, io) {
            return;
        }
        self.tell_dump(squares, io);
    }

    fn tell_dump(&mut self, squares: Squares, io: &mut Io<'_>) {
        if let (Some(told), Some(board)) = (self.squares, io.health.boards.get_mut(&self.serial)) {
            for square in BoardSquare::all().filter(|square| told.get(*square) != squares.get(*square)) {
                board.square_healed[square.index()] += 1;
            }
        }
        if self.squares != Some(squares) || self.dump_wanted {
            io.tell(Some(&self.serial), Observation::Dump(squares));
        }
        self.squares = Some(squares);
        self.dump_wanted = false;
        self.remember(io);
    }

    fn remember(&self, io: &Io<'_>) {
        if let Some(squares) = self.squares {
            io.registry.remember_squares(&self.serial, squares);
        }
    }

    /// After a gap: if the board shows more than one move's difference to what it showed before
    /// (or, when this program has just started, a game under way), its own log is read first.
    fn recover_first(&mut self, now: Squares, io: &mut Io<'_>) -> bool {
        let before = io.registry.squares(&self.serial);
        let useful = match before {
            Some(before) => now.0.iter().zip(&before.0).filter(|(now, before)| now != before).count() > 2,
            None => under_way(&now),
        };
        if useful {
            self.read_log(now, before, 2, io);
        }
        useful
    }

    fn read_log(&mut self, now: Squares, before: Option<Squares>, tries: u32, io: &mut Io<'_>) {
        send(&Command::SendLog, io);
        self.log = Some(LogRead { until: io.now + LOG, tries, now, before });
    }

    fn log_read(&mut self, stream: &[u8], io: &mut Io<'_>) {
        // A log nobody asked for (noise made the command): live decoding goes on from a dump.
        let Some(read) = self.log.take() else {
            self.dump_wanted = true;
            self.want_dump(io.now);
            return;
        };
        let events: Vec<RecoveredEvent> = dgt::Tags::new(stream).filter_map(dgt::Tag::to_recovered).collect();
        let news = match &read.before {
            Some(before) => dgt::events_since(&events, before, &read.now),
            None => None,
        };
        let news = news.unwrap_or_else(|| dgt::events_of_last_game(&events));
        if !news.is_empty() {
            io.tell(Some(&self.serial), Observation::Recovered(news.to_vec()));
        }
        self.tell_dump(read.now, io);
        self.dump_wanted = true;
        self.want_dump(io.now);
    }

    /// The log was cut by noise: once more, or do without.
    fn log_cut(&mut self, io: &mut Io<'_>) {
        let Some(read) = self.log.take() else { return };
        if read.tries > 1 {
            self.read_log(read.now, read.before, read.tries - 1, io);
        } else {
            self.tell_dump(read.now, io);
        }
    }

    fn clock(&mut self, state: ClockState, mistrust: bool, io: &mut Io<'_>) {
        if self.clock == Some(state) {
            self.doubted_clock = None;
            return;
        }
        let before = match self.clock {
            Some(ClockState::Reading(reading)) => Some(reading),
            _ => None,
        };
        if let ClockState::Reading(reading) = state {
            let surprising = before.is_some_and(|before| !follows(&before, &reading));
            let confirmed = self.doubted_clock.is_some_and(|doubted| follows(&doubted, &reading));
            if mistrust && surprising && !confirmed {
                self.doubted_clock = Some(reading);
                send(&Command::SendClock, io);
                return;
            }
            if before.is_some_and(|before| before.left_to_move != reading.left_to_move) {
                self.want_dump(io.now);
            }
        }
        self.doubted_clock = None;
        self.clock = Some(state);
        io.tell(Some(&self.serial), Observation::Clock(state));
    }

    fn tick(&mut self, timing: Timing, io: &mut Io<'_>) {
        if let Some(read) = &self.log {
            if io.now < read.until {
                return;
            }
            let now = read.now;
            self.log = None;
            self.tell_dump(now, io);
        }
        if self.dump_asked.is_some_and(|asked| io.now >= asked + ANSWER) {
            self.dump_asked = None;
            self.want_dump(io.now);
        }
        if self.dump_asked.is_none() && io.now >= self.dump_at {
            self.dump_asked = Some(io.now);
            self.dump_at = io.now + timing.dump;
            send(&Command::SendBoard, io);
            send(&Command::SendClock, io);
        }
        if self.battery_at.is_some_and(|at| io.now >= at) {
            self.battery_at = Some(io.now + BATTERY);
            send(&Command::SendBattery, io);
        }
    }
}

/// A game is under way: neither an initial position nor a nearly empty board.
pub(super) fn under_way(squares: &Squares) -> bool {
    let start = shakmaty::Board::new();
    let pieces = squares.0.iter().filter(|content| content.piece().is_some()).count();
    pieces > 2
        && *squares != Squares::from_board(&start, false)
        && *squares != Squares::from_board(&start, true)
}

/// The second reading is one that the first lets expect: same lever, same state, times that went
/// down by no more than a few seconds.
fn follows(before: &ClockReading, after: &ClockReading) -> bool {
    let near = |before: u32, after: u32| after <= before && before - after <= 3;
    before.left_to_move == after.left_to_move
        && before.running == after.running
        && near(before.left.seconds, after.left.seconds)
        && near(before.right.seconds, after.right.seconds)
        && before.left.flag == after.left.flag
        && before.right.flag == after.right.flag
}
