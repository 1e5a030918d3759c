//! Reading the log of a board after a gap, again and again until a reading can be believed
//! ([`Readings`]), or too often: then what the board shows has to do.
//!
//! A log takes eight seconds of the line. What the board wanted to say meanwhile waits behind it, and
//! comes all at once: that is of the past, too, so it is told as recovered with the log's events, up to
//! the answer to what is asked when the log is here.

use std::time::Duration;

use crate::wire::{
    BoardSquare, ClockReading, Content, LinkEvent, Observation, RecoveredEvent, Squares, dgt::Command,
};

use super::{
    super::{driver::Io, readings::Readings},
    send,
    up::Up,
};

/// The log takes 8 s of line time, longer over Bluetooth.
const LOG: Duration = Duration::from_secs(14);
/// What may be left of the last reading has come when nothing came for so long.
const OVER: Duration = Duration::from_millis(150);
/// A log that was asked for begins, and goes on, within this.
const SETTLED: Duration = Duration::from_millis(1300);
/// So many readings are taken.
const MOST_READINGS: u32 = 8;
/// The pause after the first reading that cannot be believed; it doubles each time, to two
/// seconds.
const PAUSE: Duration = Duration::from_millis(250);
/// What waited behind the log is through within this, or is asked for again.
const BEHIND: Duration = Duration::from_millis(1500);
/// It is asked for so often.
const MOST_ASKED: u32 = 5;
/// A clock reading this old is not told any more.
const FRESH: Duration = Duration::from_millis(400);
/// After a gap this long the log is read even if the board shows nothing much: men may have gone and
/// come back.
const LONG_GAP: Duration = Duration::from_secs(10);

/// A log that is being read.
pub(super) struct LogRead {
    /// The reading has to be here by then; or, between readings, the next one is asked then.
    until: Duration,
    /// A reading is on its way, asked at this moment.
    asked: bool,
    since: Duration,
    failed: u32,
    /// What the board shows at the end of this reading.
    now: Squares,
    /// What it showed before the gap.
    before: Option<Squares>,
    readings: Readings,
    /// The events of a log that is believed; what waited behind it is still to come.
    found: Option<Vec<RecoveredEvent>>,
    /// How often the board was asked since.
    asks: u32,
    /// What it showed then, if that does not follow from what it told.
    doubted: Option<Squares>,
}

impl LogRead {
    /// The lever moved behind the log.
    pub(super) fn pressed(&mut self, reading: ClockReading) {
        if let Some(found) = &mut self.found {
            // The high side is to move: the other one was halted.
            let left = !reading.left_to_move;
            let side = if left { reading.left } else { reading.right };
            found.push(RecoveredEvent::Halted { left, seconds: side.seconds });
        }
    }

    pub(super) fn field(&mut self, square: BoardSquare, content: Content) {
        self.now.set(square, content);
        if let Some(found) = &mut self.found {
            found.push(RecoveredEvent::Square { square, content, quick: false });
        }
    }

    /// The log is believed, and what waited behind it comes.
    fn behind(&self) -> bool {
        self.found.is_some()
    }
}

impl Up {
    /// After a gap: if the board shows more than one move's difference to what it showed before
    /// (or the gap was long, or this program has just started, and a game is under way), its own log
    /// is read first.
    pub(super) fn recover_first(&mut self, now: Squares, io: &mut Io<'_>) -> bool {
        let before = io.registry.squares(&self.serial);
        let useful = match before {
            Some((before, since)) => {
                now.0.iter().zip(&before.0).filter(|(now, before)| now != before).count() > 2
                    || (io.now >= since + LONG_GAP && under_way(&now))
            }
            None => under_way(&now),
        };
        if useful {
            self.read_log(now, before.map(|(before, _)| before), io);
        }
        useful
    }

    pub(super) fn read_log(&mut self, now: Squares, before: Option<Squares>, io: &mut Io<'_>) {
        send(&Command::SendLog, io);
        self.log = Some(LogRead {
            until: io.now + LOG,
            asked: true,
            since: io.now,
            failed: 0,
            now,
            before,
            readings: Readings::default(),
            found: None,
            asks: 0,
            doubted: None,
        });
    }

    /// The board shows this while its log is awaited. Behind the log it is the end of what waited there,
    /// if it follows from it; if not, and it is no damage, something of it was damaged: the log is read
    /// once more.
    pub(super) fn log_dump(&mut self, squares: Squares, io: &mut Io<'_>) {
        let Some(read) = &mut self.log else { return };
        let follows = read.now == squares;
        if !read.behind() {
            read.now = squares;
        } else if follows {
            if let Some(mut read) = self.log.take() {
                let events = read.found.take().unwrap_or_default();
                self.log_done(&read, events, io);
            }
        } else if read.doubted == Some(squares) {
            (read.now, read.found, read.doubted) = (squares, None, None);
            self.log_failed(io);
        } else {
            read.doubted = Some(squares);
            self.ask_behind(io);
        }
    }

    /// Asks what is answered behind all that waited. The clock first, so that it is known at the end.
    fn ask_behind(&mut self, io: &mut Io<'_>) {
        let Some(read) = &mut self.log else { return };
        read.until = io.now + BEHIND;
        read.asks += 1;
        if read.asks > MOST_ASKED {
            (read.found, read.doubted) = (None, None);
            return self.log_failed(io);
        }
        send(&Command::SendClock, io);
        send(&Command::SendBoard, io);
    }

    /// A log came whole, or what is left of one.
    pub(super) fn log_came(&mut self, stream: &[u8], clean: bool, io: &mut Io<'_>) {
        let Some(mut read) = self.log.take() else {
            // Nobody asked for it (noise made the command): live decoding goes on from a dump. What the
            // clock said meanwhile comes late and all at once, so only what it says then is told.
            io.tell(Some(&self.serial), Observation::Link(LinkEvent::Resync(stream.len() as u32)));
            self.hold_late_clock(io.now);
            self.dump_wanted = true;
            self.want_dump(io.now);
            return;
        };
        if let Some(events) = read.readings.take(stream, clean, read.before.as_ref(), &read.now) {
            if self.squares.is_some() {
                return self.log_done(&read, events, io);
            }
            (read.found, read.asks) = (Some(events), 0);
            self.log = Some(read);
            self.ask_behind(io);
        } else {
            self.log = Some(read);
            self.log_failed(io);
        }
    }

    /// Bytes were lost while a log is awaited; these are left of it, if any.
    pub(super) fn log_fault(&mut self, dropped: u32, remains: &[u8], io: &mut Io<'_>) {
        if !self.log.as_ref().is_some_and(|read| read.asked && !read.behind()) {
            return;
        }
        if !remains.is_empty() {
            self.log_came(remains, false, io);
        } else if dropped > 256 {
            // Its header was damaged, so all of it was noise.
            self.log_failed(io);
        }
    }

    fn log_failed(&mut self, io: &mut Io<'_>) {
        let Some(read) = &mut self.log else { return };
        read.failed += 1;
        if read.failed < MOST_READINGS {
            read.asked = false;
            read.until = io.now + PAUSE * (1 << read.failed.min(3));
        } else if let Some(read) = self.log.take() {
            tracing::warn!(board = &*self.serial, "its log could not be read; what it shows has to do");
            self.log_done(&read, Vec::new(), io);
        }
    }

    fn log_done(&mut self, read: &LogRead, events: Vec<RecoveredEvent>, io: &mut Io<'_>) {
        if !events.is_empty() {
            io.tell(Some(&self.serial), Observation::Recovered(events));
        }
        self.tell_dump(read.now, io);
        if self.clock_age(io.now).is_some_and(|age| age > FRESH) {
            self.drop_clock();
            send(&Command::SendClock, io);
        }
        self.let_go(io);
        self.dump_wanted = true;
        self.want_dump(io.now);
    }

    /// True while a log is being read. `silent`: since the last byte.
    pub(super) fn log_tick(&mut self, silent: Duration, io: &mut Io<'_>) -> bool {
        let Some(read) = &mut self.log else { return false };
        if read.behind() {
            if io.now >= read.until {
                self.ask_behind(io);
            }
        } else if io.now >= read.until || read.asked && silent >= SETTLED && io.now >= read.since + SETTLED {
            if read.asked {
                self.log_failed(io);
            } else if silent >= OVER {
                (read.asked, read.since, read.until) = (true, io.now, io.now + LOG);
                // What it shows at the end of the log that follows.
                send(&Command::SendBoard, io);
                send(&Command::SendLog, io);
            }
        }
        self.log.is_some()
    }
}

/// A game is under way: neither an initial position nor a nearly empty board.
pub(in crate::link) fn under_way(squares: &Squares) -> bool {
    let start = shakmaty::Board::new();
    let pieces = squares.0.iter().filter(|content| content.piece().is_some()).count();
    pieces > 2
        && *squares != Squares::from_board(&start, false)
        && *squares != Squares::from_board(&start, true)
}
