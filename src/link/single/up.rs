//! One board that has said who it is: what it was told to show, when it is asked again, and what of
//! its words is believed at once. The log is in `memory`, the line itself in the module above.

use std::{sync::Arc, time::Duration};

use crate::wire::{
    BoardSquare, ClockReading, ClockState, Content, Observation, Squares,
    dgt::{Command, Message},
};

use super::{
    super::{config::Timing, driver::Io},
    memory::LogRead,
    send,
};

/// A dump or clock reading that was asked for comes within this, or is asked again.
const ANSWER: Duration = Duration::from_millis(1200);
/// No press adds more than this, in seconds.
const MOST_GAIN: u32 = 120;
/// A clock runs so many seconds at most from one reading to the next.
const RAN: u32 = 3;
/// A press on a mistrusted line waits at most so long for the dump that was asked after it.
const HELD: Duration = Duration::from_millis(800);
/// A running clock that was not heard for so long is asked.
const CLOCK: Duration = Duration::from_millis(2300);
/// A running clock that was not heard for so long speaks of the past when it is heard again.
const SILENT: Duration = Duration::from_millis(3500);
/// The battery is asked this often.
const BATTERY: Duration = Duration::from_mins(1);

/// What is known of a board that has said who it is.
pub(super) struct Up {
    pub(super) serial: Arc<str>,
    /// What was told of the squares so far; `None` before the first dump.
    pub(super) squares: Option<Squares>,
    /// A dump that differs from what was told; it counts when a second one agrees.
    doubted: Option<Squares>,
    doubts: u32,
    /// When to ask for a dump.
    dump_at: Duration,
    dump_asked: Option<Duration>,
    /// Something happened since the dump was asked that it may not show yet.
    dump_again: bool,
    /// The next dump is told even if it says nothing new.
    pub(super) dump_wanted: bool,
    clock: Option<ClockState>,
    clock_heard: Duration,
    /// When a reading last came.
    clock_came: Duration,
    /// A reading that changes much, on a mistrusted line: asked again.
    doubted_clock: Option<ClockState>,
    /// Clock readings from a press on, since then: they wait for the dump that was asked after it.
    held: Option<(Duration, Vec<ClockState>)>,
    /// What the clock says comes late: of what is held only the last is told.
    late: bool,
    /// The log is being read; what the squares show waits for it.
    pub(super) log: Option<LogRead>,
    battery_at: Option<Duration>,
    /// The board may have been put into another mode by a damaged command.
    mode_doubted: bool,
}

impl Up {
    /// The board was greeted: a dump was asked.
    pub(super) fn new(serial: Arc<str>, battery: bool, timing: Timing, now: Duration) -> Self {
        Self {
            serial,
            squares: None,
            doubted: None,
            doubts: 0,
            dump_at: now + timing.dump,
            dump_asked: Some(now),
            dump_again: false,
            dump_wanted: true,
            clock: None,
            clock_heard: now,
            clock_came: now,
            doubted_clock: None,
            held: None,
            late: false,
            log: None,
            battery_at: battery.then_some(now),
            mode_doubted: false,
        }
    }

    /// A message came. `mistrust`: the line has lost bytes lately.
    pub(super) fn message(
        &mut self,
        message: Message,
        mistrust: bool,
        timing: Timing,
        recover: bool,
        io: &mut Io<'_>,
    ) {
        io.heard(&self.serial);
        match message {
            Message::Field { square, content, .. } => self.field(square, content, mistrust, timing, io),
            Message::Board(squares) => self.dump(squares, timing, recover, io),
            Message::Clock(clock) => {
                if let Some(state) = clock.state() {
                    self.clock(state, mistrust, io);
                }
            }
            Message::Battery(battery) => io.battery(&self.serial, battery.reading()),
            Message::Log(stream) => self.log_came(&stream, !mistrust, io),
            _ => {}
        }
    }

    /// Something is to be done soon, whether or not anything comes.
    pub(super) fn is_waiting(&self) -> bool {
        self.log.is_some() || self.held.is_some() || self.squares.is_none() || self.dump_again
    }

    /// Asks for a dump as soon as may be.
    pub(super) fn want_dump(&mut self, now: Duration) {
        self.dump_at = self.dump_at.min(now);
        self.dump_again = self.dump_asked.is_some();
    }

    /// Bytes were lost: what had been asked may be among them, and a command may have been damaged
    /// on its way, too.
    pub(super) fn fault(&mut self, now: Duration) {
        self.dump_asked = None;
        self.dump_wanted = true;
        self.mode_doubted = true;
        self.want_dump(now);
    }

    fn field(
        &mut self,
        square: BoardSquare,
        content: Content,
        mistrust: bool,
        timing: Timing,
        io: &mut Io<'_>,
    ) {
        for squares in [&mut self.squares, &mut self.doubted].into_iter().flatten() {
            squares.set(square, content);
        }
        if let Some(read) = &mut self.log {
            read.field(square, content);
        }
        // Before the first dump a change tells nothing that the dump will not.
        if self.squares.is_some() {
            io.tell(Some(&self.serial), Observation::Square(square, content));
            self.remember(io);
        }
        if self.dump_asked.is_none() {
            // On a bad line the change itself may be damaged.
            let settle = if mistrust { timing.settle / 2 } else { timing.settle };
            self.dump_at = io.now + settle;
        }
    }

    fn dump(&mut self, squares: Squares, timing: Timing, recover: bool, io: &mut Io<'_>) {
        let asked = self.dump_asked.take();
        self.dump_at = if std::mem::take(&mut self.dump_again) { io.now } else { io.now + timing.dump };
        if self.log.is_some() {
            return self.log_dump(squares, io);
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
        if self.squares.is_none() && recover && self.recover_first(squares, io) {
            return;
        }
        self.mode_doubted |= self.squares.is_some_and(|told| told != squares);
        let first = self.squares.is_none();
        self.tell_dump(squares, io);
        let since = self.held.as_ref().map(|(since, _)| *since);
        if first || since.is_some_and(|since| asked.is_none_or(|asked| asked >= since)) {
            self.let_go(io);
        }
    }

    pub(super) fn tell_dump(&mut self, squares: Squares, io: &mut Io<'_>) {
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
            io.registry.remember_squares(&self.serial, squares, io.now);
        }
    }

    fn clock(&mut self, state: ClockState, mistrust: bool, io: &mut Io<'_>) {
        self.clock_heard = io.now;
        // A running clock speaks every second. After a silence, as when the board sent its log unasked, what
        // it said meanwhile comes late and all at once.
        let silent = io.now.saturating_sub(std::mem::replace(&mut self.clock_came, io.now));
        if silent >= SILENT && self.runs() && self.squares.is_some() && self.held.is_none() {
            self.hold_late_clock(io.now);
            self.want_dump(io.now);
        }
        if self.clock == Some(state) {
            self.doubted_clock = None;
            return;
        }
        // What was said first, or cannot well be, is believed when it is said twice; on a bad line so
        // is all that was not to be expected.
        let strange = self.clock.is_none_or(|before| strange(&before, &state));
        if mistrust || strange {
            let expected = self.clock.is_some_and(|before| follows(&before, &state));
            let confirmed = self.doubted_clock.is_some_and(|doubted| follows(&doubted, &state));
            if !(expected || confirmed) {
                self.doubted_clock = Some(state);
                send(&Command::SendClock, io);
                return;
            }
        }
        self.doubted_clock = None;
        let lever = |state| match state {
            Some(ClockState::Reading(ClockReading { left_to_move, .. })) => Some(left_to_move),
            _ => None,
        };
        let pressed = lever(self.clock).is_some_and(|before| lever(Some(state)) == Some(!before));
        self.clock = Some(state);
        if pressed && let (Some(read), ClockState::Reading(reading)) = (&mut self.log, state) {
            read.pressed(reading);
        }
        if pressed && self.squares.is_some() && !self.late {
            self.want_dump(io.now);
            self.let_go(io);
            if mistrust {
                // A change of the move itself may have been lost: the dump comes first.
                self.held = Some((io.now, vec![state]));
                return;
            }
        }
        match &mut self.held {
            // What was played meanwhile is told before the clock that shows its end.
            _ if self.squares.is_none() => self.held = Some((io.now, vec![state])),
            Some((_, states)) if self.late => *states = vec![state],
            Some((_, states)) => states.push(state),
            None => io.tell(Some(&self.serial), Observation::Clock(state)),
        }
    }

    /// The clock runs, by its last word.
    fn runs(&self) -> bool {
        matches!(self.clock, Some(ClockState::Reading(reading)) if reading.running)
    }

    /// Until the dump that is asked now, what the clock says is old.
    pub(super) fn hold_late_clock(&mut self, now: Duration) {
        self.held = Some((now, Vec::new()));
        self.late = true;
    }

    /// Tells the clock readings that waited.
    pub(super) fn let_go(&mut self, io: &mut Io<'_>) {
        self.late = false;
        for state in self.held.take().into_iter().flat_map(|(_, states)| states) {
            io.tell(Some(&self.serial), Observation::Clock(state));
        }
    }

    /// How old the clock reading is that waits to be told.
    pub(super) fn clock_age(&self, now: Duration) -> Option<Duration> {
        self.held.as_ref().map(|(since, _)| now.saturating_sub(*since))
    }

    /// Forgets a clock reading that is too old to be told.
    pub(super) fn drop_clock(&mut self) {
        (self.held, self.clock, self.doubted_clock) = (None, None, None);
    }

    pub(super) fn tick(&mut self, timing: Timing, silent: Duration, io: &mut Io<'_>) {
        let waits = self.held.as_ref().is_some_and(|(since, _)| io.now < *since + HELD);
        if !waits && self.squares.is_some() {
            self.let_go(io);
        }
        if self.log_tick(silent, io) {
            return;
        }
        // A running clock speaks every second, unless a damaged command has put the board into
        // another mode.
        if self.runs() && self.dump_asked.is_none() && io.now >= self.clock_heard + CLOCK {
            self.clock_heard = io.now;
            self.mode_doubted = true;
            self.want_dump(io.now);
        }
        if self.dump_asked.is_some_and(|asked| io.now >= asked + ANSWER) {
            self.dump_asked = None;
            self.mode_doubted = true;
            self.want_dump(io.now);
        }
        if self.dump_asked.is_none() && io.now >= self.dump_at {
            self.dump_asked = Some(io.now);
            self.dump_again = false;
            self.dump_at = io.now + timing.dump;
            // Both are answered with the clock.
            let clock = if std::mem::take(&mut self.mode_doubted) {
                Command::SendUpdateNice
            } else {
                Command::SendClock
            };
            send(&clock, io);
            send(&Command::SendBoard, io);
        }
        if self.battery_at.is_some_and(|at| io.now >= at) {
            self.battery_at = Some(io.now + BATTERY);
            send(&Command::SendBattery, io);
        }
    }
}

/// The second reading says what no press, start or stop explains: times that jump. A clock that was
/// set anew is strange, too, and so is one that was not heard for long: both say it twice.
fn strange(before: &ClockState, after: &ClockState) -> bool {
    let (ClockState::Reading(before), ClockState::Reading(after)) = (before, after) else {
        return *after == ClockState::Garbage;
    };
    let pressed = before.left_to_move != after.left_to_move;
    let jumps = |before: u32, after: u32, halted: bool| {
        let gain = if pressed && halted { MOST_GAIN } else { 0 };
        after > before + gain || before > after + RAN
    };
    jumps(before.left.seconds, after.left.seconds, before.left_to_move)
        || jumps(before.right.seconds, after.right.seconds, !before.left_to_move)
        || (before.left.flag, before.right.flag) != (after.left.flag, after.right.flag)
}

/// The second state is one that the first lets expect: the same kind, the same lever, times that
/// went down by no more than a few seconds.
fn follows(before: &ClockState, after: &ClockState) -> bool {
    let (ClockState::Reading(before), ClockState::Reading(after)) = (before, after) else {
        return before == after;
    };
    let near = |before: u32, after: u32| after <= before && before - after <= RAN;
    before.left_to_move == after.left_to_move
        && before.running == after.running
        && near(before.left.seconds, after.left.seconds)
        && near(before.right.seconds, after.right.seconds)
        && before.left.flag == after.left.flag
        && before.right.flag == after.right.flag
}
