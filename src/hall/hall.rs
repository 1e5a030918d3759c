//! The hall: all tables, all boards, one numbered stream of updates.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use shakmaty::Color;

use super::{
    BoardKey, Command, EventSetup, Input, InputBody, OptionsSetup, RoundSetup, Seq, TableId, TableSetup,
    Update, UpdateBody,
    news::News,
    setup::Context,
    table::{MateQuestion, Table},
};
use crate::{
    laws::Editions,
    record::{Game, Timestamp},
    wire::{BoardIdentity, LinkEvent, Observation, Squares},
};

/// The most tables a round may have.
pub const MAX_TABLES: usize = 5000;

/// What is known of a board, whether a table has it or not.
#[derive(Clone, Debug, Default)]
struct Board {
    identity: Option<BoardIdentity>,
    online: bool,
    squares: Option<Squares>,
    table: Option<TableId>,
    news: News,
}

/// The one owner of all state.
#[derive(Clone, Debug, Default)]
pub struct Hall {
    seq: Seq,
    now: Timestamp,
    event: EventSetup,
    round: u32,
    date: Option<String>,
    live: bool,
    delay_seconds: u32,
    games: u64,
    tables: BTreeMap<TableId, Table>,
    boards: BTreeMap<BoardKey, Board>,
    /// When each table next has something to say by itself; mirrors `Table::next_deadline`.
    deadlines: BTreeSet<(Timestamp, TableId)>,
    deadline_of: BTreeMap<TableId, Timestamp>,
    wants_dump: BTreeSet<BoardKey>,
    questions: Vec<MateQuestion>,
}

impl Hall {
    /// An empty hall.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Folds one input. Deadlines that fell due before it are served first, so that the updates
    /// are the same whether [`Hall::advance`] was called in between or not.
    pub fn apply(&mut self, input: &Input) -> Vec<Update> {
        let mut updates = self.advance(input.at);
        let at = self.now;
        match &input.body {
            InputBody::Board(board, observation) => self.board(at, board, observation, &mut updates),
            InputBody::Command { by, command } => self.command(at, by, command, &mut updates),
            InputBody::Started { .. } => {
                for id in self.table_ids() {
                    self.with_table(at, id, &mut updates, |table| table.restarted(at));
                }
                for board in self.boards.values_mut() {
                    board.online = false;
                    board.news = News::default();
                }
            }
            InputBody::Mate { table, fen, side, verdict } => {
                let side: Color = *side;
                self.with_table(at, *table, &mut updates, |table| table.mate_answer(at, fen, side, verdict));
            }
        }
        updates
    }

    /// Serves every deadline up to and including `now`, in the order of their times.
    pub fn advance(&mut self, now: Timestamp) -> Vec<Update> {
        let mut updates = Vec::new();
        while let Some((due, id)) = self.deadlines.first().copied().filter(|(due, _)| *due <= now) {
            self.now = self.now.max(due);
            self.with_table(self.now, id, &mut updates, |table| table.advance(due));
            if self.deadline_of.get(&id) == Some(&due) {
                // A deadline that does not go away must not stop the hall.
                self.deadlines.remove(&(due, id));
                self.deadline_of.remove(&id);
            }
        }
        self.now = self.now.max(now);
        updates
    }

    /// The next moment at which [`Hall::advance`] will have something to say.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.deadlines.first().map(|(due, _)| *due)
    }

    /// Whether a command can be carried out. Refused commands never reach the journal.
    ///
    /// # Errors
    /// Why not, and what to do.
    pub fn check(&self, command: &Command) -> Result<(), String> {
        let table = |id: TableId| {
            let known = self.tables.contains_key(&id);
            if known { Ok(()) } else { Err(format!("there is no table {id} in this round")) }
        };
        let profile = |event: &EventSetup, name: &str| {
            let editions = Editions::with(&event.editions).map_err(|error| error.to_string())?;
            let wanted = if name.is_empty() { Ok(()) } else { editions.profile(name).map(drop) };
            wanted.map_err(|error| error.to_string())
        };
        let setup = |setup: &TableSetup| {
            if let Some(name) = &setup.profile {
                profile(&self.event, name)?;
            }
            let control = setup.time_control.as_deref().unwrap_or_default();
            if !control.is_empty() && control.parse::<crate::laws::TimeControl>().is_err() {
                return Err(format!("{control:?} is no time control; expected such as 5400+30 or 90+30"));
            }
            Ok(())
        };
        match command {
            Command::Event { event } => {
                profile(event, &event.profile)?;
                if event.delay_seconds > 3600 {
                    return Err("a delay is at most 3600 seconds".to_owned());
                }
                Ok(())
            }
            Command::Round { round } => {
                if round.tables.len() > MAX_TABLES {
                    return Err(format!("a round has at most {MAX_TABLES} tables"));
                }
                let mut seen = BTreeSet::new();
                for given in &round.tables {
                    setup(given)?;
                    if !seen.insert(given.table) {
                        return Err(format!("table {} is there twice", given.table));
                    }
                }
                Ok(())
            }
            Command::Table { table } => setup(table),
            Command::Bind { table: id, .. }
            | Command::Entry { table: id, .. }
            | Command::Correct { table: id, .. }
            | Command::Mute { table: id, .. } => table(*id),
            Command::SwapBoards { a, b } => table(*a).and_then(|()| table(*b)),
            Command::Delay { seconds } if *seconds > 3600 => {
                Err("a delay is at most 3600 seconds".to_owned())
            }
            Command::Delay { .. } | Command::StartRound | Command::CloseRound => Ok(()),
        }
    }

    /// Whether an observation tells anything new and so belongs into the journal (design,
    /// decision 9). A clock reading that says what the last one predicts, or a dump that shows
    /// what is known, does not.
    pub fn is_news(&mut self, at: Timestamp, key: &BoardKey, observation: &Observation) -> bool {
        match self.boards.get_mut(key) {
            Some(board) => board.news.is_news(at, observation),
            None => true,
        }
    }

    /// Boards of which a full dump is wanted, since the last call.
    pub fn take_wants_dump(&mut self) -> BTreeSet<BoardKey> {
        std::mem::take(&mut self.wants_dump)
    }

    /// Questions that take long, since the last call: to be answered by [`InputBody::Mate`].
    pub fn take_questions(&mut self) -> Vec<MateQuestion> {
        std::mem::take(&mut self.questions)
    }

    /// The number of the last update.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// The round, 0 before the first.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The public delay in seconds.
    #[must_use]
    pub fn delay_seconds(&self) -> u32 {
        self.delay_seconds
    }

    /// The event's data.
    #[must_use]
    pub fn event(&self) -> &EventSetup {
        &self.event
    }

    /// The time of the last input or deadline.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// What a table was last set up as.
    #[must_use]
    pub fn table_setup(&self, id: TableId) -> Option<&TableSetup> {
        self.tables.get(&id).map(|table| &table.setup)
    }

    /// The tables in order.
    #[must_use]
    pub fn table_ids(&self) -> Vec<TableId> {
        self.tables.keys().copied().collect()
    }

    /// How many tables there are.
    #[must_use]
    pub fn table_count(&self) -> usize {
        self.tables.len()
    }

    /// The game of a table.
    #[must_use]
    pub fn game(&self, id: TableId) -> Option<&Game> {
        self.tables.get(&id).map(Table::game)
    }

    /// What a table's board shows, in game squares.
    #[must_use]
    pub fn sensed(&self, id: TableId) -> Option<&shakmaty::Board> {
        self.tables.get(&id).map(Table::sensed)
    }

    /// What a table's last ply could be while its squares cannot tell, and what has followed it in
    /// every case, in UCI.
    #[must_use]
    pub fn open_plies(&self, id: TableId) -> Option<(Vec<String>, Vec<String>)> {
        self.tables.get(&id).map(Table::open_plies)
    }

    /// The referee's tallies of a table.
    #[must_use]
    pub fn counts(&self, id: TableId) -> Option<serde_json::Value> {
        self.tables.get(&id).map(Table::counts)
    }

    fn board(&mut self, at: Timestamp, key: &BoardKey, observation: &Observation, updates: &mut Vec<Update>) {
        let board = self.boards.entry(key.clone()).or_default();
        board.news.note(at, observation);
        match observation {
            Observation::Link(LinkEvent::Up(identity)) => {
                board.online = true;
                board.identity = Some(identity.clone());
            }
            Observation::Link(LinkEvent::Down(_)) => board.online = false,
            Observation::Dump(squares) => board.squares = Some(*squares),
            Observation::Square(square, content) => {
                if let Some(squares) = &mut board.squares {
                    squares.set(*square, *content);
                }
            }
            _ => {}
        }
        if let Some(id) = board.table {
            self.with_table(at, id, updates, |table| table.observe(at, observation));
        }
    }

    fn command(&mut self, at: Timestamp, by: &str, command: &Command, updates: &mut Vec<Update>) {
        match command {
            Command::Event { event } => {
                self.event = event.clone();
                self.delay_seconds = event.delay_seconds;
                self.push_round(at, updates);
                for id in self.table_ids() {
                    let Some(setup) = self.tables.get(&id).map(|table| table.setup.clone()) else { continue };
                    self.change_table(at, &setup, updates);
                }
            }
            Command::Round { round } => self.open_round(at, round, updates),
            Command::Table { table } => {
                if self.tables.contains_key(&table.table) {
                    let board = table.board.clone();
                    self.change_table(at, table, updates);
                    if let Some(board) = board {
                        self.bind(at, table.table, &board, updates);
                    }
                } else if self.tables.len() < MAX_TABLES {
                    self.new_table(at, table, updates);
                }
            }
            Command::Bind { table, board } => self.bind(at, *table, board, updates),
            Command::SwapBoards { a, b } => self.swap_boards(at, *a, *b, updates),
            Command::Entry { table, entry } => {
                self.with_table(at, *table, updates, |table| table.enter(at, by, entry));
            }
            Command::Correct { table, correction } => {
                self.with_table(at, *table, updates, |table| table.correct(at, by, correction));
            }
            Command::Mute { table, code, muted } => {
                self.with_table(at, *table, updates, |table| table.mute(*code, *muted));
            }
            Command::Delay { seconds } => {
                self.delay_seconds = (*seconds).min(3600);
                self.push_round(at, updates);
            }
            Command::StartRound | Command::CloseRound => {
                self.live = matches!(command, Command::StartRound);
                self.push_round(at, updates);
                if self.live {
                    for id in self.table_ids() {
                        self.with_table(at, id, updates, |table| table.round_started(at));
                    }
                }
            }
        }
    }

    fn open_round(&mut self, at: Timestamp, round: &RoundSetup, updates: &mut Vec<Update>) {
        self.round = round.number;
        self.date.clone_from(&round.date);
        self.live = true;
        self.push_round(at, updates);
        self.tables.clear();
        self.deadlines.clear();
        self.deadline_of.clear();
        for board in self.boards.values_mut() {
            board.table = None;
        }
        for table in round.tables.iter().take(MAX_TABLES) {
            self.new_table(at, table, updates);
        }
    }

    fn new_table(&mut self, at: Timestamp, setup: &TableSetup, updates: &mut Vec<Update>) {
        self.games += 1;
        let table = Table::new(setup.clone(), &self.context(), self.games, at);
        self.tables.insert(setup.table, table);
        self.with_table(at, setup.table, updates, |_| {});
        if let Some(board) = &setup.board {
            self.bind(at, setup.table, board, updates);
        }
    }

    fn change_table(&mut self, at: Timestamp, setup: &TableSetup, updates: &mut Vec<Update>) {
        let (event, date) = (self.event.clone(), self.date.clone());
        let context = Context { event: &event, round: self.round, date: date.as_deref() };
        self.with_table(at, setup.table, updates, |table| table.change(setup.clone(), &context, at));
    }

    /// Gives a board to a table. The table learns what the board shows now.
    fn bind(&mut self, at: Timestamp, id: TableId, key: &BoardKey, updates: &mut Vec<Update>) {
        if !self.tables.contains_key(&id) {
            return;
        }
        let known = self.boards.get(key);
        if known.and_then(|board| board.table) == Some(id) {
            return;
        }
        if let Some(other) = known.and_then(|board| board.table) {
            self.with_table(at, other, updates, |table| table.bind(None));
        }
        for board in self.boards.values_mut().filter(|board| board.table == Some(id)) {
            board.table = None;
        }
        let board = self.boards.entry(key.clone()).or_default();
        board.table = Some(id);
        let up = board.identity.clone().filter(|_| board.online);
        let squares = board.squares;
        let clock = board.news.clock();
        self.wants_dump.insert(key.clone());
        self.with_table(at, id, updates, |table| {
            if table.board() != Some(key) {
                table.bind(Some(key.clone()));
            }
            if let Some(identity) = up {
                table.observe(at, &Observation::Link(LinkEvent::Up(identity)));
            }
            if let Some(squares) = squares {
                table.observe(at, &Observation::Dump(squares));
            }
            if let Some(state) = clock {
                table.observe(at, &Observation::Clock(state));
            }
        });
    }

    fn swap_boards(&mut self, at: Timestamp, a: TableId, b: TableId, updates: &mut Vec<Update>) {
        if a == b || !self.tables.contains_key(&b) {
            return;
        }
        let Some(mut first) = self.tables.remove(&a) else { return };
        if let Some(second) = self.tables.get_mut(&b) {
            first.exchange_evidence(second, [self.games + 1, self.games + 2], at);
            self.games += 2;
        }
        self.tables.insert(a, first);
        for board in self.boards.values_mut() {
            board.table = match board.table {
                Some(id) if id == a => Some(b),
                Some(id) if id == b => Some(a),
                other => other,
            };
        }
        self.with_table(at, a, updates, |_| {});
        self.with_table(at, b, updates, |_| {});
    }

    fn context(&self) -> Context<'_> {
        Context { event: &self.event, round: self.round, date: self.date.as_deref() }
    }

    fn push_round(&mut self, at: Timestamp, updates: &mut Vec<Update>) {
        // The arbiters' rules are nobody else's business, and viewers need none of them.
        let event =
            EventSetup { options: OptionsSetup::default(), editions: Vec::new(), ..self.event.clone() };
        let body = UpdateBody::Round(json!({
            "event": event,
            "number": self.round,
            "date": self.date,
            "delay_seconds": self.delay_seconds,
            "live": self.live,
        }));
        self.number(at, None, body, updates);
    }

    fn number(&mut self, at: Timestamp, table: Option<TableId>, body: UpdateBody, updates: &mut Vec<Update>) {
        self.seq.0 += 1;
        updates.push(Update { seq: self.seq, at, table, body });
    }

    /// Lets a table do something, then numbers what it said and notes its next deadline.
    fn with_table(
        &mut self,
        at: Timestamp,
        id: TableId,
        updates: &mut Vec<Update>,
        act: impl FnOnce(&mut Table),
    ) {
        let Some(table) = self.tables.get_mut(&id) else { return };
        act(table);
        let bodies = table.take_updates();
        self.questions.append(&mut table.take_questions());
        if table.take_wants_dump()
            && let Some(board) = table.board()
        {
            self.wants_dump.insert(board.clone());
        }
        let deadline = table.next_deadline();
        if self.deadline_of.get(&id).copied() != deadline {
            if let Some(old) = self.deadline_of.remove(&id) {
                self.deadlines.remove(&(old, id));
            }
            if let Some(due) = deadline {
                self.deadlines.insert((due, id));
                self.deadline_of.insert(id, due);
            }
        }
        for body in bodies {
            self.number(at, Some(id), body, updates);
        }
    }
}
