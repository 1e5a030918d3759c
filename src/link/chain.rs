//! A chain of DGT boards on one line (bus mode): nobody speaks unless asked by address.
//!
//! One question at a time, and its answer or the time-out before the next. Changes are asked of
//! every board in turn; a damaged answer is asked for again with "repeat", because asking for
//! changes anew would throw the old ones away; after a loss the log is read from the game's start.
//! No single-board command is ever sent.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use crate::wire::{
    ClockState, LinkEvent, Observation, RecoveredEvent, Squares,
    dgt::{
        self, Dropped, Event,
        bus::{self, Address, Body, Request},
    },
};

use super::{
    config::{PortConfig, Timing},
    driver::{Ask, Driver, Io},
};

/// After so many rounds of discovery the chain is taken as it is; a round that finds nothing new
/// ends it sooner.
const MOST_ROUNDS: u32 = 12;
/// No line holds more boards than this.
const MOST_BOARDS: usize = 64;
/// Newcomers are called this often.
const CALL: Duration = Duration::from_secs(15);
/// A board that fell silent is asked this often whether it is back.
const RETRY: Duration = Duration::from_secs(2);

/// Some three thousand bytes of log.
const LONG_ANSWER: Duration = Duration::from_secs(3);

/// The driver of a chain.
pub(super) struct Chain {
    timing: Timing,
    recover: bool,
    expected: Vec<Address>,
    decoder: bus::Decoder,
    boards: BTreeMap<Address, Board>,
    pending: Option<Pending>,
    /// Questions to be asked before the next round of polling.
    queue: VecDeque<Question>,
    discovery: Option<Discovery>,
    last_byte: Duration,
    last_cycle: Duration,
    last_call: Duration,
    last_retry: Duration,
    /// Whose clock is asked next, and whose board.
    turn: usize,
}

struct Discovery {
    round: u32,
    /// Listening to the answers to a ping to all until then.
    listen_until: Option<Duration>,
    found_in_round: bool,
    collisions: bool,
    /// Asked by address first. If all of them answer, newcomers are left to the later calls.
    known: BTreeSet<Address>,
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

/// One board of the chain.
struct Board {
    serial: Arc<str>,
    state: State,
    translator: bus::Translator,
    firmware: Option<(u8, u8)>,
    /// What was told of its squares.
    told: Option<Squares>,
    /// The last stream of changes taken, to know a repeat of it.
    last_changes: Option<(bool, Vec<u8>)>,
    last_heard: Duration,
    dump_at: Duration,
    dump_wanted: bool,
    /// The start tag is written for the game on the board.
    started: bool,
    /// Events of the first answer to "changes" after a gap.
    missed: Vec<RecoveredEvent>,
    /// Changes were fetched and never arrived: only the log has them.
    lost_changes: bool,
    /// What it showed when it was greeted.
    greeted_with: Squares,
    /// It was told that this board is there.
    greeted: bool,
    clock_told: Option<ClockState>,
    /// A press that waits for the next answer.
    held_press: Option<Observation>,
}

/// How far the acquaintance with a board has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
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
    fn new(address: Address, now: Duration) -> Self {
        Self {
            serial: address.to_string().into(),
            state: State::Down,
            translator: bus::Translator::default(),
            firmware: None,
            told: None,
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
            held_press: None,
        }
    }
}

impl Chain {
    pub(super) fn new(config: &PortConfig) -> Self {
        Self {
            timing: config.timing,
            recover: config.recover,
            expected: config.expected.iter().filter_map(|&number| Address::new(number)).collect(),
            decoder: bus::Decoder::new(),
            boards: BTreeMap::new(),
            pending: None,
            queue: VecDeque::new(),
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
            // A whole game, or what has gathered during a gap: a byte takes a millisecond.
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

    // Discovery.

    fn discover(&mut self, io: &mut Io<'_>) {
        let known: BTreeSet<Address> = self.expected.iter().chain(self.boards.keys()).copied().collect();
        self.discovery = Some(Discovery {
            round: 0,
            listen_until: None,
            found_in_round: false,
            collisions: false,
            known: known.clone(),
        });
        self.queue = known.into_iter().map(|address| Question::new(address, Request::Ping)).collect();
        self.discovery_step(io);
    }

    fn listen(&mut self, io: &mut Io<'_>) {
        if let Some(discovery) = &mut self.discovery {
            discovery.listen_until = Some(io.now + self.timing.ping);
        }
    }

    /// The next step of discovery, when nothing is pending.
    fn discovery_step(&mut self, io: &mut Io<'_>) {
        let Some(discovery) = &mut self.discovery else { return };
        if discovery.listen_until.is_some_and(|until| io.now < until) {
            return;
        }
        if discovery.listen_until.take().is_some() {
            discovery.round += 1;
            let more = discovery.found_in_round || discovery.collisions || discovery.round < 2;
            if !more || discovery.round >= MOST_ROUNDS {
                self.discovery = None;
                self.queue.clear();
                self.last_call = io.now;
                return;
            }
            (discovery.found_in_round, discovery.collisions) = (false, false);
            self.queue.extend(
                self.boards
                    .iter()
                    .filter(|(_, board)| board.state != State::Down)
                    .map(|(address, _)| Question::new(*address, Request::IgnoreNextPing)),
            );
        }
        if let Some(question) = self.queue.pop_front() {
            return self.send(question, io);
        }
        let all_here = !discovery.known.is_empty()
            && discovery
                .known
                .iter()
                .all(|address| self.boards.get(address).is_some_and(|board| board.state != State::Down));
        if all_here && discovery.round == 0 {
            self.discovery = None;
            self.last_call = io.now;
            return;
        }
        self.send(Question::new(Address::ALL, Request::Ping), io);
        self.listen(io);
    }

    fn found(&mut self, address: Address, io: &Io<'_>) {
        if address == Address::ALL
            || (self.boards.len() >= MOST_BOARDS && !self.boards.contains_key(&address))
        {
            return;
        }
        let board = self.boards.entry(address).or_insert_with(|| Board::new(address, io.now));
        board.last_heard = io.now;
        if board.state == State::Down {
            board.state = State::Greeting;
            board.missed.clear();
            if let Some(discovery) = &mut self.discovery {
                discovery.found_in_round = true;
            }
        }
    }

    // Polling.

    /// The next question, when nothing is pending.
    fn next_question(&mut self, io: &mut Io<'_>) {
        if self.discovery.is_some() {
            return self.discovery_step(io);
        }
        if let Some(question) = self.queue.pop_front() {
            return self.send(question, io);
        }
        if io.now < self.last_cycle + self.timing.cycle {
            return;
        }
        self.last_cycle = io.now;
        self.plan_cycle(io);
        if let Some(question) = self.queue.pop_front() {
            self.send(question, io);
        }
    }

    /// Every board's changes, and one thing more: a greeting, a dump that is due, a clock.
    fn plan_cycle(&mut self, io: &mut Io<'_>) {
        self.queue.extend(self.boards.iter().filter_map(|(address, board)| {
            let request = match board.state {
                State::Up => Request::Changes,
                State::Greeting => Request::Version,
                State::Repairing => Request::Board,
                State::Down => return None,
            };
            Some(Question::new(*address, request))
        }));
        let up: Vec<Address> =
            self.boards.iter().filter(|(_, board)| board.state == State::Up).map(|(a, _)| *a).collect();
        // The dump that is most overdue, so that none waits for ever.
        let due = up
            .iter()
            .filter_map(|address| self.boards.get(address).map(|board| (address, board)))
            .filter(|(_, board)| board.dump_wanted || io.now >= board.dump_at)
            .min_by_key(|(_, board)| board.dump_at);
        if let Some((&address, _)) = due {
            self.later(address, Request::Board);
        }
        // A clock that is stopped by its button says so only when it is asked.
        if !up.is_empty() {
            self.turn = (self.turn + 1) % up.len();
            self.later(up[self.turn], Request::Clock);
        }
        if io.now >= self.last_retry + RETRY {
            self.last_retry = io.now;
            let missing: Vec<Address> = self
                .expected
                .iter()
                .chain(self.boards.keys())
                .filter(|address| self.boards.get(*address).is_none_or(|board| board.state == State::Down))
                .copied()
                .collect();
            // One at a time: each costs a time-out.
            if let Some(&address) = missing.get(self.turn % missing.len().max(1)) {
                self.later(address, Request::Ping);
            }
        }
        if io.now >= self.last_call + CALL {
            // Newcomers may answer into somebody else's reply; that is then repeated.
            self.last_call = io.now;
            self.queue.extend(up.iter().map(|address| Question::new(*address, Request::IgnoreNextPing)));
            self.later(Address::ALL, Request::Ping);
        }
    }

    fn reply(&mut self, reply: bus::Reply, io: &mut Io<'_>) -> Result<(), String> {
        io.health.messages += 1;
        let address = reply.address;
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
                    board.told = io.registry.squares(&board.serial);
                    self.next(address, Request::Changes);
                }
                State::Repairing if board.told != Some(squares) && self.recover => {
                    self.next(address, Request::FromStart);
                }
                state => {
                    board.state = State::Up;
                    board.lost_changes = false;
                    board.dump(squares, self.timing, io);
                    if board.wants_start_tag(&squares) {
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
        if failures < 2 {
            self.queue.push_front(Question { address, request, failures: failures + 1 });
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

impl Board {
    fn tell(&mut self, observations: Vec<Observation>, timing: Timing, io: &mut Io<'_>) {
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

    fn remember(&self, io: &Io<'_>) {
        if let Some(told) = self.told {
            io.registry.remember_squares(&self.serial, told);
        }
    }

    fn dump(&mut self, squares: Squares, timing: Timing, io: &mut Io<'_>) {
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

    /// The board has come to an initial position: the log needs its start tag.
    fn wants_start_tag(&mut self, squares: &Squares) -> bool {
        let start = shakmaty::Board::new();
        let initial =
            *squares == Squares::from_board(&start, false) || *squares == Squares::from_board(&start, true);
        if !initial {
            self.started = false;
        }
        initial && !self.started
    }

    /// Takes changes in; true if they are a mere repeat.
    fn changes(
        &mut self,
        asked: Request,
        even: bool,
        stream: Vec<u8>,
        timing: Timing,
        io: &mut Io<'_>,
    ) -> bool {
        let repeated = asked == Request::Repeat
            && !stream.is_empty()
            && self.last_changes.as_ref().is_some_and(|(was_even, was)| *was_even == even && *was == stream);
        if repeated {
            return true;
        }
        if self.state == State::Greeting {
            self.missed = dgt::Tags::new(&stream).filter_map(dgt::Tag::to_recovered).collect();
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
            if !stream.is_empty() {
                self.held_press = observations.pop_if(|last| matches!(last, Observation::Clock(_)));
            }
            self.tell(observations, timing, io);
        }
        self.last_changes = Some((even, stream));
        false
    }

    fn clock(&mut self, body: &Body, io: &mut Io<'_>) {
        let mut observations = Vec::new();
        self.translator.observe(body, &mut observations);
        if self.held_press.is_some() {
            return;
        }
        for observation in observations {
            self.tell_clock(observation, io);
        }
    }

    fn tell_clock(&mut self, observation: Observation, io: &mut Io<'_>) {
        if let Observation::Clock(state) = observation {
            if self.clock_told == Some(state) {
                return;
            }
            self.clock_told = Some(state);
        }
        io.tell(Some(&self.serial), observation);
    }

    fn greet(&mut self, address: Address, io: &mut Io<'_>) -> Result<(), String> {
        io.registry.claim(&self.serial, &io.health.port)?;
        self.greeted = true;
        (self.clock_told, self.held_press) = (None, None);
        self.dump_wanted = true;
        let identity = io.identity(&address.to_string(), "DGT on a chain", self.firmware);
        io.up(&self.serial, identity);
        Ok(())
    }

    /// After a gap the board's own store has lost nothing, and what it kept is told as recovered.
    /// If it does not reach back to what was last known, the whole game is read. What was played
    /// before this program started counts if a game is under way.
    fn after_greeting(&mut self, recover: bool, io: &mut Io<'_>) -> Request {
        let missed = std::mem::take(&mut self.missed);
        let broken = self.lost_changes || missed.iter().any(|event| matches!(event, RecoveredEvent::PowerUp));
        let log = match self.told {
            Some(_) => broken,
            None => super::single::under_way(&self.greeted_with),
        };
        if log && recover {
            return Request::FromStart;
        }
        if self.told.is_some() && !missed.is_empty() {
            io.tell(Some(&self.serial), Observation::Recovered(missed));
        }
        Request::Board
    }

    /// It has been silent for too long.
    fn lost(&mut self, io: &mut Io<'_>) {
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

    fn take_log(&mut self, stream: &[u8], io: &mut Io<'_>) {
        let events: Vec<RecoveredEvent> = dgt::Tags::new(stream).filter_map(dgt::Tag::to_recovered).collect();
        let now = replayed(&events);
        let news = match (self.told, now) {
            (Some(told), Some(now)) => dgt::events_since(&events, &told, &now).unwrap_or(&events),
            _ => &events,
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

/// The squares after these events, which begin with a start tag and all pieces.
fn replayed(events: &[RecoveredEvent]) -> Option<Squares> {
    let begins = events.iter().any(|event| matches!(event, RecoveredEvent::StartTag));
    let mut squares = Squares::default();
    for event in events {
        if let RecoveredEvent::Square { square, content, .. } = event {
            squares.set(*square, *content);
        }
    }
    begins.then_some(squares)
}

impl Driver for Chain {
    fn opened(&mut self, io: &mut Io<'_>) {
        self.decoder = bus::Decoder::new();
        self.queue.clear();
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
                    // A whole frame came, damaged: no need to wait any longer.
                    if let (Dropped::Checksum(_), None, Some(pending)) =
                        (dropped, &self.discovery, self.pending.take())
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
            let patience = self.timing.reply + self.line_time(pending.question);
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
