//! The hall: all tables, all boards, one numbered stream of updates. What it is ordered stands in `orders`, its
//! rounds in `rounds`, which board stands where in `boards`.

use std::collections::{BTreeMap, BTreeSet};

use shakmaty::Color;

use super::{
    BoardKey, EventSetup, Input, InputBody, Seq, TableId, TableSetup, Update, UpdateBody,
    boards::Board,
    news::News,
    rounds::RoundHead,
    table::{MateQuestion, Table},
};
use crate::{
    record::{Game, Timestamp},
    wire::{LinkEvent, Observation},
};

/// The most tables a round may have.
pub const MAX_TABLES: usize = 5000;

/// The one owner of all state.
#[derive(Clone, Debug, Default)]
pub struct Hall {
    pub(super) seq: Seq,
    now: Timestamp,
    pub(super) event: EventSetup,
    /// What the configuration last said: at a start only what a person changed there is ordered again.
    pub(super) configured: (Option<EventSetup>, BTreeMap<TableId, TableSetup>),
    /// By section; the only one has an empty name.
    pub(super) rounds: BTreeMap<String, RoundHead>,
    pub(super) delay_seconds: u32,
    /// Games begun so far.
    pub(super) games: u64,
    pub(super) tables: BTreeMap<TableId, Table>,
    pub(super) boards: BTreeMap<BoardKey, Board>,
    /// Adjourned games whose tables were taken by a later round.
    pub(super) adjourned: Vec<Table>,
    /// When each table next has something to say by itself; mirrors `Table::next_deadline`.
    pub(super) deadlines: BTreeSet<(Timestamp, TableId)>,
    pub(super) deadline_of: BTreeMap<TableId, Timestamp>,
    pub(super) wants_dump: BTreeSet<BoardKey>,
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
            InputBody::Stopped => {}
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

    /// The round, 0 before the first; of several sections, the one that is furthest.
    #[must_use]
    pub fn round(&self) -> u32 {
        let furthest = self.rounds.values().map(|round| round.number).max().unwrap_or(0);
        self.rounds.get("").map_or(furthest, |round| round.number)
    }

    /// The number of a section's round; 0 before its first.
    #[must_use]
    pub fn round_of(&self, section: &str) -> u32 {
        self.rounds.get(section).map_or(0, |round| round.number)
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

    /// The event as the configuration last gave it.
    #[must_use]
    pub fn configured_event(&self) -> Option<&EventSetup> {
        self.configured.0.as_ref()
    }

    /// A table of the running round as the configuration last gave it.
    #[must_use]
    pub fn configured_table(&self, id: TableId) -> Option<&TableSetup> {
        self.configured.1.get(&id)
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
        let table = board.table;
        if matches!(observation, Observation::Link(LinkEvent::Up(_) | LinkEvent::Down(_))) {
            self.tell_board(at, key, updates);
            if table.is_none() {
                self.bind_free_boards(at, updates);
                // Binding has shown the table what the board last said.
                return;
            }
        }
        if let Some(id) = table {
            self.with_table(at, id, updates, |table| table.observe(at, observation));
        }
    }

    pub(super) fn number(
        &mut self,
        at: Timestamp,
        table: Option<TableId>,
        body: UpdateBody,
        updates: &mut Vec<Update>,
    ) {
        self.seq.0 += 1;
        updates.push(Update { seq: self.seq, at, table, body });
    }

    /// Lets a table do something, then numbers what it said and notes its next deadline.
    pub(super) fn with_table(
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
