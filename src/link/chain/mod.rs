//! A chain of DGT boards on one line (bus mode): nobody speaks unless asked by address.
//!
//! One question at a time, and its answer or the time-out before the next. Changes are asked of
//! every board in turn; a damaged answer is asked for again with "repeat", because asking for
//! changes anew would throw the old ones away; after a loss the log is read from the game's start.
//! No single-board command is ever sent.

mod board;
mod discovery;
mod poll;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use crate::wire::dgt::{
    Dropped, Event,
    bus::{self, Address, Body, Request},
};

use super::{
    config::{PortConfig, Timing},
    driver::{Ask, Driver, Io},
};
use board::{Board, State};
use discovery::Discovery;

/// A log is asked for again so often.
const MOST_LOGS: u32 = 7;
/// A long answer that has begun goes on within this.
const PAUSE: Duration = Duration::from_millis(250);
/// A long answer begins within this.
const LONG_ANSWER: Duration = Duration::from_millis(250);

/// The driver of a chain.
pub(super) struct Chain {
    timing: Timing,
    recover: bool,
    expected: Vec<Address>,
    /// Who is on the line is known: from the configuration, or from a discovery that went to its end.
    complete: bool,
    decoder: bus::Decoder,
    boards: BTreeMap<Address, Board>,
    pending: Option<Pending>,
    /// Questions to be asked before the next round of polling.
    queue: VecDeque<Question>,
    /// Logs to be read again, after the other boards were heard: each takes a second of the line.
    postponed: Vec<Question>,
    discovery: Option<Discovery>,
    last_byte: Duration,
    last_cycle: Duration,
    last_call: Duration,
    last_retry: Duration,
    /// Whose clock is asked next, and whose board.
    turn: usize,
}

/// Something to be asked of one board.
#[derive(Clone, Copy, Debug)]
struct Question {
    address: Address,
    request: Request,
    /// How often it has failed already.
    failures: u32,
}

impl Question {
    fn new(address: Address, request: Request) -> Self {
        Self { address, request, failures: 0 }
    }
}

/// The question that waits for its answer, and since when.
struct Pending {
    question: Question,
    sent: Duration,
}

impl Chain {
    pub(super) fn new(config: &PortConfig) -> Self {
        Self {
            timing: config.timing,
            recover: config.recover,
            expected: config.expected.iter().filter_map(|&number| Address::new(number)).collect(),
            complete: !config.expected.is_empty(),
            decoder: bus::Decoder::new(),
            boards: BTreeMap::new(),
            pending: None,
            queue: VecDeque::new(),
            postponed: Vec::new(),
            discovery: None,
            last_byte: Duration::ZERO,
            last_cycle: Duration::ZERO,
            last_call: Duration::ZERO,
            last_retry: Duration::ZERO,
            turn: 0,
        }
    }

    /// Boards that answered while the line's mode was being found out.
    pub(super) fn expect(&mut self, addresses: &BTreeSet<Address>) {
        self.expected.extend(addresses);
    }

    /// Some board has answered as boards on a chain do.
    pub(super) fn has_met_anybody(&self) -> bool {
        !self.boards.is_empty() || !self.expected.is_empty()
    }

    fn send(&mut self, question: Question, io: &mut Io<'_>) {
        let Question { address, request, .. } = question;
        io.send.extend(bus::Command { request, address }.encode());
        if address != Address::ALL {
            self.pending = Some(Pending { question, sent: io.now });
        }
    }

    /// How long the answer may take on the line. It may come all at once at the end of that: radio
    /// links and adapters hand over what they have collected.
    fn line_time(&self, question: Question) -> Duration {
        let greeting = self.boards.get(&question.address).is_some_and(|board| board.state == State::Greeting);
        match question.request {
            Request::Board | Request::All => Duration::from_millis(75),
            // A whole game, or what has gathered during a gap, comes for as long as bytes keep coming.
            Request::FromStart => LONG_ANSWER,
            Request::Changes | Request::Repeat if greeting => LONG_ANSWER,
            Request::Changes | Request::Repeat => Duration::from_millis(80),
            _ => Duration::ZERO,
        }
    }

    fn next(&mut self, address: Address, request: Request) {
        self.queue.push_front(Question::new(address, request));
    }

    fn later(&mut self, address: Address, request: Request) {
        self.queue.push_back(Question::new(address, request));
    }

    /// Changes that nobody waits for any more: their answer took too long. They are told only once by
    /// the board, so they must not be lost.
    fn belated(&self, reply: &bus::Reply) -> bool {
        let waited = self.pending.as_ref().is_some_and(|pending| {
            pending.question.address == reply.address
                && matches!(pending.question.request, Request::Changes | Request::Repeat)
        });
        let known = self.boards.get(&reply.address).is_some_and(|board| board.state != State::Down);
        matches!(reply.body, Body::Changes { .. }) && !waited && known && self.discovery.is_none()
    }

    fn reply(&mut self, reply: bus::Reply, io: &mut Io<'_>) -> Result<(), String> {
        io.health.messages += 1;
        let address = reply.address;
        if self.belated(&reply) {
            if let Some(board) = self.boards.get_mut(&address) {
                board.belated(reply.body, self.timing, io);
            }
            return Ok(());
        }
        let asked = match &self.pending {
            Some(pending) if pending.question.address == address => {
                self.pending.take().map(|pending| pending.question)
            }
            _ => None,
        };
        let ping = asked.is_none_or(|asked| matches!(asked.request, Request::Ping | Request::IgnoreNextPing));
        if ping && reply.body == Body::Ping {
            self.found(address, io);
            return Ok(());
        }
        let (Some(board), Some(asked)) = (self.boards.get_mut(&address), asked) else { return Ok(()) };
        board.last_heard = io.now;
        io.heard(&board.serial);
        match (asked.request, reply.body) {
            (Request::Version, Body::Version(firmware)) => {
                board.firmware = firmware;
                self.next(address, Request::Board);
            }
            (Request::Board, Body::Board(squares)) => match board.state {
                State::Greeting if !board.greeted => {
                    board.greeted_with = squares;
                    board.told = io.registry.squares(&board.serial).map(|(squares, _)| squares);
                    self.next(address, Request::Changes);
                }
                State::Repairing if board.told != Some(squares) && self.recover => {
                    self.next(address, Request::FromStart);
                }
                // It may show what was not fetched yet: that comes first, in its order.
                State::Up if board.told.is_some() => {
                    board.shown = Some(squares);
                    self.next(address, Request::Changes);
                }
                state => {
                    board.state = State::Up;
                    board.lost_changes = false;
                    board.dump(squares, self.timing, io);
                    if board.wants_start_tag() {
                        self.next(address, Request::StartGame);
                    } else if state == State::Greeting {
                        self.next(address, Request::Clock);
                    }
                }
            },
            (Request::Changes | Request::Repeat, Body::Changes { even, stream }) => {
                let active = !stream.is_empty();
                if board.changes(asked.request, even, stream, self.timing, io) {
                    // A repeat of what is known: the question itself had been lost.
                    self.next(address, Request::Changes);
                } else if board.wants_start_tag() {
                    self.next(address, Request::StartGame);
                } else if board.state == State::Greeting || (active && board.held_press.is_none()) {
                    // Where something happens the clock may have been stopped or started.
                    self.next(address, Request::Clock);
                }
            }
            (Request::Clock, body @ Body::Clock(_)) => {
                let greeting = board.state == State::Greeting && !board.greeted;
                // What was played during a gap is told before the clock that shows its end.
                if greeting {
                    board.greet(address, io)?;
                    let request = board.after_greeting(self.recover, io);
                    self.next(address, request);
                } else {
                    board.clock(&body, io);
                }
            }
            (Request::FromStart, Body::FromStart(stream)) => {
                // What it shows now is told whatever the log said: it is read once for a loss.
                if board.state == State::Repairing {
                    board.state = State::Up;
                }
                board.take_log(&stream, io);
                self.next(address, Request::Board);
            }
            (Request::StartGame, Body::StartWritten) => {
                board.started = true;
                self.next(address, Request::Clock);
                self.next(address, Request::Changes);
            }
            _ => self.failed(asked, io),
        }
        Ok(())
    }

    /// A question was not answered, or not legibly.
    fn failed(&mut self, question: Question, io: &mut Io<'_>) {
        if self.discovery.is_some() {
            return;
        }
        let Question { address, request, failures } = question;
        let Some(board) = self.boards.get_mut(&address) else { return };
        let request = match request {
            Request::Ping | Request::IgnoreNextPing => return,
            // The reply to "changes" may be lost, and with it the changes: repeat them.
            Request::Changes => Request::Repeat,
            other => other,
        };
        // A whole game is long, so that a bad line seldom brings it whole.
        let most = if request == Request::FromStart { MOST_LOGS } else { 2 };
        if failures < most {
            let again = Question { address, request, failures: failures + 1 };
            match request {
                Request::FromStart => self.postponed.push(again),
                _ => self.queue.push_front(again),
            }
            return;
        }
        match (request, board.state) {
            (Request::Repeat, State::Up) => {
                board.lost_changes = true;
                board.state = State::Repairing;
            }
            (Request::Repeat, _) => board.lost_changes = true,
            // The log is not to be had: the board itself must do.
            (Request::FromStart, State::Greeting | State::Repairing) => {
                board.state = State::Up;
                board.dump_wanted = true;
            }
            _ => {}
        }
        if board.state != State::Down && io.now >= board.last_heard + self.timing.dead {
            self.queue.retain(|queued| queued.address != address);
            self.postponed.retain(|log| log.address != address);
            board.lost(io);
        }
    }

    fn fault(&mut self, dropped: Dropped, io: &mut Io<'_>) {
        if let Some(discovery) = &mut self.discovery {
            discovery.collisions = true;
            io.dropped(None, dropped);
            return;
        }
        let blamed = self
            .pending
            .as_ref()
            .and_then(|pending| self.boards.get(&pending.question.address))
            .filter(|board| board.state == State::Up)
            .map(|board| Arc::clone(&board.serial));
        io.dropped(blamed.as_ref(), dropped);
    }

    fn give_up_pending(&mut self, io: &mut Io<'_>) {
        if let Some(dropped) = self.decoder.give_up() {
            self.fault(dropped, io);
        }
        if let Some(pending) = self.pending.take() {
            self.failed(pending.question, io);
        }
    }
}

impl Driver for Chain {
    fn opened(&mut self, io: &mut Io<'_>) {
        self.decoder = bus::Decoder::new();
        self.queue.clear();
        self.postponed.clear();
        self.last_byte = io.now;
        for board in self.boards.values_mut() {
            board.state = State::Down;
            board.greeted = false;
        }
        // Changes that were on their way when the line went are gone.
        if let Some(board) =
            self.pending.take().and_then(|pending| self.boards.get_mut(&pending.question.address))
        {
            board.lost_changes = true;
        }
        self.discover(io);
    }

    fn received(&mut self, bytes: &[u8], io: &mut Io<'_>) -> Result<(), String> {
        self.last_byte = io.now;
        for &byte in bytes {
            match self.decoder.push(byte) {
                None => {}
                Some(Event::Message(reply)) => self.reply(reply, io)?,
                Some(Event::Dropped(dropped)) => {
                    self.fault(dropped, io);
                    // A whole frame came, damaged: no need to wait any longer. (After one that was cut the
                    // rest may still be on its way.)
                    if matches!(dropped, Dropped::Checksum(_))
                        && self.discovery.is_none()
                        && let Some(pending) = self.pending.take()
                    {
                        self.failed(pending.question, io);
                    }
                }
            }
        }
        Ok(())
    }

    fn tick(&mut self, io: &mut Io<'_>) -> Result<(), String> {
        if let Some(pending) = &self.pending {
            // Long replies are on their way as long as bytes keep coming.
            let line_time = self.line_time(pending.question);
            let begun = self.decoder.pending() > 0 && self.last_byte > pending.sent;
            let patience = self.timing.reply + if begun { line_time.min(PAUSE) } else { line_time };
            if io.now < self.last_byte.max(pending.sent) + patience {
                return Ok(());
            }
            self.give_up_pending(io);
        }
        // Several questions may go unanswered by design (ping to all), so go on until one waits.
        for _ in 0..4 {
            if self.pending.is_none() && io.send.is_empty() {
                self.next_question(io);
            }
        }
        if self.discovery.is_none() {
            let speaking = self.boards.values().any(|board| board.state != State::Down);
            if !speaking {
                return Err(format!(
                    "no board answers on the chain at {}: is it powered, are its plugs in?",
                    io.health.port
                ));
            }
            if io.health.kind.is_empty() || !io.health.kind.starts_with("DGT, chain") {
                "DGT, chain".clone_into(&mut io.health.kind);
            }
        }
        Ok(())
    }

    fn ask(&mut self, serial: Option<&str>, ask: Ask, _io: &mut Io<'_>) {
        let mut questions = Vec::new();
        for (address, board) in &mut self.boards {
            if serial.is_some_and(|serial| *serial != *board.serial) || board.state != State::Up {
                continue;
            }
            match ask {
                Ask::Dump => board.dump_wanted = true,
                Ask::Log => questions.push((*address, Request::FromStart)),
                // What happened before the start belongs to no game: fetched first.
                Ask::StartGame => {
                    questions.extend([(*address, Request::Changes), (*address, Request::StartGame)]);
                }
            }
        }
        for (address, request) in questions {
            self.later(address, request);
        }
    }

    fn boards(&self) -> Vec<Arc<str>> {
        self.boards.values().filter(|board| board.greeted).map(|board| Arc::clone(&board.serial)).collect()
    }

    fn patience(&self) -> Duration {
        if self.pending.is_some() { Duration::from_millis(10) } else { Duration::from_millis(20) }
    }
}

#[cfg(test)]
mod tests;
