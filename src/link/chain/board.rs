//! One board of a chain: how far the acquaintance has come, what was told of it, what of its answers
//! is told when.

use std::{sync::Arc, time::Duration};

use crate::wire::{
    ClockState, LinkEvent, Observation, RecoveredEvent, Squares,
    dgt::{
        self,
        bus::{self, Address, Body, Request},
    },
};

use super::super::{config::Timing, driver::Io, single::under_way};

/// One board of the chain.
pub(super) struct Board {
    pub(super) serial: Arc<str>,
    pub(super) state: State,
    pub(super) translator: bus::Translator,
    pub(super) firmware: Option<(u8, u8)>,
    /// What was told of its squares.
    pub(super) told: Option<Squares>,
    /// What it said it shows, until the changes that were not fetched then are here.
    pub(super) shown: Option<Squares>,
    /// The last stream of changes taken, to know a repeat of it.
    pub(super) last_changes: Option<(bool, Vec<u8>)>,
    pub(super) last_heard: Duration,
    pub(super) dump_at: Duration,
    pub(super) dump_wanted: bool,
    /// The start tag is written for the game on the board.
    pub(super) started: bool,
    /// Events of the first answer to "changes" after a gap.
    pub(super) missed: Vec<RecoveredEvent>,
    /// Changes were fetched and never arrived: only the log has them.
    pub(super) lost_changes: bool,
    /// What it showed when it was greeted.
    pub(super) greeted_with: Squares,
    /// It was told that this board is there.
    pub(super) greeted: bool,
    pub(super) clock_told: Option<ClockState>,
    /// When its clock was last asked.
    pub(super) clock_asked: Duration,
    /// A press that waits for the next answer.
    pub(super) held_press: Option<Observation>,
}

/// How far the acquaintance with a board has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It answered a ping; version, board, changes and clock are asked in this order.
    Greeting,
    /// It is polled.
    Up,
    /// Changes were lost: its board is read, and its log if they differ.
    Repairing,
    /// It does not answer.
    Down,
}

impl Board {
    pub(super) fn new(address: Address, now: Duration) -> Self {
        Self {
            serial: address.to_string().into(),
            state: State::Down,
            translator: bus::Translator::default(),
            firmware: None,
            told: None,
            shown: None,
            last_changes: None,
            last_heard: now,
            dump_at: now,
            dump_wanted: false,
            started: false,
            missed: Vec::new(),
            lost_changes: false,
            greeted_with: Squares::default(),
            greeted: false,
            clock_told: None,
            clock_asked: Duration::ZERO,
            held_press: None,
        }
    }
}

impl Board {
    pub(super) fn tell(&mut self, observations: Vec<Observation>, timing: Timing, io: &mut Io<'_>) {
        for observation in observations {
            match &observation {
                Observation::Square(square, content) => {
                    if let Some(told) = &mut self.told {
                        told.set(*square, *content);
                    }
                    self.dump_at = io.now + timing.settle;
                }
                // A burst of tags after power-up or a start tag.
                Observation::Dump(squares) if self.told == Some(*squares) => continue,
                Observation::Dump(squares) => self.told = Some(*squares),
                _ => {}
            }
            self.tell_clock(observation, io);
        }
        self.remember(io);
    }

    pub(super) fn remember(&self, io: &Io<'_>) {
        if let Some(told) = self.told {
            io.registry.remember_squares(&self.serial, told, io.now);
        }
    }

    pub(super) fn dump(&mut self, squares: Squares, timing: Timing, io: &mut Io<'_>) {
        if let (Some(told), Some(board)) = (self.told, io.health.boards.get_mut(&self.serial)) {
            for (index, (told, now)) in told.0.iter().zip(&squares.0).enumerate() {
                if told != now {
                    board.square_healed[index] += 1;
                }
            }
        }
        if self.dump_wanted || self.told != Some(squares) {
            io.tell(Some(&self.serial), Observation::Dump(squares));
        }
        self.told = Some(squares);
        self.dump_wanted = false;
        self.dump_at = io.now + timing.dump;
        self.remember(io);
    }

    /// What it showed when it was asked, and what happened up to a moment later: if the changes lead
    /// there, nothing was lost and their order is right; else what it showed is told first.
    fn compare(&mut self, observations: &[Observation], timing: Timing, io: &mut Io<'_>) {
        let (Some(shown), Some(told)) = (self.shown.take(), self.told) else { return };
        let mut squares = told;
        let mut agreed = squares == shown;
        for observation in observations {
            match observation {
                Observation::Square(square, content) => squares.set(*square, *content),
                Observation::Dump(dump) => squares = *dump,
                _ => {}
            }
            agreed |= squares == shown;
        }
        self.dump_at = io.now + timing.dump;
        if !agreed {
            self.dump(shown, timing, io);
        }
    }

    /// The board has come to an initial position: the log needs its start tag.
    pub(super) fn wants_start_tag(&mut self) -> bool {
        let start = shakmaty::Board::new();
        let initial = [false, true].map(|rotated| Squares::from_board(&start, rotated));
        let initial = self.state == State::Up && self.told.is_some_and(|told| initial.contains(&told));
        if !initial {
            self.started = false;
        }
        initial && !self.started
    }

    /// Changes that nobody waits for any more.
    pub(super) fn belated(&mut self, body: Body, timing: Timing, io: &mut Io<'_>) {
        self.last_heard = io.now;
        io.heard(&self.serial);
        if let Body::Changes { even, stream } = body {
            self.changes(Request::Repeat, even, stream, timing, io);
        }
    }

    /// Takes changes in; true if they are a mere repeat.
    pub(super) fn changes(
        &mut self,
        asked: Request,
        even: bool,
        stream: Vec<u8>,
        timing: Timing,
        io: &mut Io<'_>,
    ) -> bool {
        // The same again may also be an answer that came late.
        let repeated = matches!(asked, Request::Repeat | Request::Changes)
            && !stream.is_empty()
            && self.last_changes.as_ref().is_some_and(|(was_even, was)| *was_even == even && *was == stream);
        // That the last answer was empty may be long ago: the question itself may not have arrived.
        if repeated || (asked == Request::Repeat && stream.is_empty()) {
            return true;
        }
        if self.state == State::Greeting {
            // The greeting may have been broken off after an earlier answer.
            self.missed.extend(dgt::Tags::new(&stream).filter_map(dgt::Tag::to_recovered));
        } else {
            if dgt::Tags::new(&stream).any(|tag| matches!(tag, dgt::Tag::PowerUp | dgt::Tag::Watchdog)) {
                self.dump_wanted = true;
                self.started = false;
            }
            let mut observations: Vec<Observation> = self.held_press.take().into_iter().collect();
            self.translator.observe(&Body::Changes { even, stream: stream.clone() }, &mut observations);
            // The lever is noted at once, the squares up to a scan later: what was put down before
            // the press may come after it, in the next answer. So a press at the end waits for that
            // one, or it would seem to be far earlier than the rest of its move.
            let compared = self.shown.is_some();
            self.compare(&observations, timing, io);
            if !stream.is_empty() {
                self.held_press = observations.pop_if(|last| matches!(last, Observation::Clock(_)));
            }
            self.tell(observations, timing, io);
            if compared
                && std::mem::take(&mut self.dump_wanted)
                && let Some(told) = self.told
            {
                io.tell(Some(&self.serial), Observation::Dump(told));
            }
        }
        self.last_changes = Some((even, stream));
        false
    }

    pub(super) fn clock(&mut self, body: &Body, io: &mut Io<'_>) {
        let mut observations = Vec::new();
        self.translator.observe(body, &mut observations);
        if self.held_press.is_some() {
            return;
        }
        for observation in observations {
            self.tell_clock(observation, io);
        }
    }

    pub(super) fn tell_clock(&mut self, observation: Observation, io: &mut Io<'_>) {
        if let Observation::Clock(state) = observation {
            if self.clock_told == Some(state) {
                return;
            }
            self.clock_told = Some(state);
        }
        io.tell(Some(&self.serial), observation);
    }

    pub(super) fn greet(&mut self, address: Address, io: &mut Io<'_>) -> Result<(), String> {
        io.registry.claim(&self.serial, &io.health.port)?;
        self.greeted = true;
        // What it showed before the gap is not what it shows now.
        (self.clock_told, self.held_press, self.shown) = (None, None, None);
        self.dump_wanted = true;
        let identity = io.identity(&address.to_string(), "DGT on a chain", self.firmware);
        io.up(&self.serial, identity);
        Ok(())
    }

    /// After a gap the board's own store has lost nothing, and what it kept is told as recovered.
    /// If it does not reach back to what was last known, the whole game is read. What was played
    /// before this program started counts if a game is under way.
    pub(super) fn after_greeting(&mut self, recover: bool, io: &mut Io<'_>) -> Request {
        let missed = std::mem::take(&mut self.missed);
        let broken = self.lost_changes
            || missed.iter().any(|event| matches!(event, RecoveredEvent::PowerUp))
            || !self.explained(&missed);
        let log = match self.told {
            Some(_) => broken,
            None => under_way(&self.greeted_with),
        };
        if log && recover {
            return Request::FromStart;
        }
        if self.told.is_some() && !missed.is_empty() {
            io.tell(Some(&self.serial), Observation::Recovered(missed));
        }
        Request::Board
    }

    /// These events lead from what was known to what it showed when it was greeted, a moment before.
    fn explained(&self, events: &[RecoveredEvent]) -> bool {
        let Some(mut squares) = self.told else { return true };
        let mut explained = squares == self.greeted_with;
        for event in events {
            if let RecoveredEvent::Square { square, content, .. } = event {
                squares.set(*square, *content);
                explained |= squares == self.greeted_with;
            }
        }
        explained
    }

    /// It has been silent for too long.
    pub(super) fn lost(&mut self, io: &mut Io<'_>) {
        let told = self.greeted;
        self.state = State::Down;
        self.greeted = false;
        if let Some(health) = io.health.boards.get_mut(&self.serial) {
            health.up = false;
        }
        if told {
            io.registry.release(&self.serial, &io.health.port);
            let reason = format!(
                "board {} does not answer on the chain at {}: its plug, its power, or the cable before it",
                self.serial, io.health.port
            );
            io.tell(Some(&self.serial), Observation::Link(LinkEvent::Down(reason)));
        }
    }

    pub(super) fn take_log(&mut self, stream: &[u8], io: &mut Io<'_>) {
        let events: Vec<RecoveredEvent> = dgt::Tags::new(stream).filter_map(dgt::Tag::to_recovered).collect();
        let now = replayed(&events);
        let news = match (self.told, now) {
            (Some(told), Some(now)) => {
                dgt::events_since(&events, &told, &now).unwrap_or_else(|| dgt::events_of_last_game(&events))
            }
            _ => dgt::events_of_last_game(&events),
        };
        // An untouched initial position is no news.
        let played = news.iter().any(|event| matches!(event, RecoveredEvent::Halted { .. }))
            || news.len() > 33
            || self.told.is_some();
        if !news.is_empty() && played {
            io.tell(Some(&self.serial), Observation::Recovered(news.to_vec()));
        }
        self.lost_changes = false;
        self.dump_wanted = true;
    }
}

/// The squares after these events, if they begin with a burst of all pieces.
fn replayed(events: &[RecoveredEvent]) -> Option<Squares> {
    let mut squares = None;
    for event in events {
        match event {
            RecoveredEvent::StartTag | RecoveredEvent::PowerUp => squares = Some(Squares::default()),
            RecoveredEvent::Square { square, content, .. } => {
                if let Some(squares) = &mut squares {
                    squares.set(*square, *content);
                }
            }
            _ => {}
        }
    }
    squares
}
