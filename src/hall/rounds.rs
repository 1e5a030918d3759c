//! Rounds: opened with their tables, started, closed; one at a time for each section of the event.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    BoardKey, EventSetup, Hall, MAX_TABLES, OptionsSetup, RoundSetup, TableId, TableSetup, Update,
    UpdateBody, setup::Context, sheet::close_lines, table::Table,
};
use crate::record::Timestamp;

/// A section's round.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct RoundHead {
    /// From 1.
    pub(super) number: u32,
    /// `YYYY-MM-DD`.
    pub(super) date: Option<String>,
    /// It is not over.
    pub(super) live: bool,
    /// When it was started.
    #[serde(skip)]
    pub(super) started_at: Option<Timestamp>,
}

impl Hall {
    /// Opens a round: the section's tables of before go, those of this round come. A table that names no
    /// board keeps the one that stood there. Games of this very round that have begun go on.
    pub(super) fn open_round(
        &mut self,
        at: Timestamp,
        section: &str,
        round: &RoundSetup,
        updates: &mut Vec<Update>,
    ) {
        let before = self.rounds.get(section).cloned().unwrap_or_default();
        let again = before.number == round.number;
        let head = RoundHead {
            number: round.number,
            date: round.date.clone(),
            live: true,
            started_at: before.started_at.filter(|_| again),
        };
        if section.is_empty() {
            self.rounds.clear();
        } else {
            self.rounds.remove("");
        }
        self.rounds.insert(section.to_owned(), head);
        self.push_round(at, updates);
        let goes_on: BTreeSet<TableId> = self
            .tables
            .iter()
            .filter(|(_, table)| again && table.section() == section && table.begun())
            .map(|(id, _)| *id)
            .collect();
        let mut gone: BTreeSet<TableId> = round.tables.iter().map(|table| table.table).collect();
        let own =
            |table: &Table| section.is_empty() || table.section() == section || table.section().is_empty();
        gone.extend(self.tables.iter().filter(|(_, table)| own(table)).map(|(id, _)| *id));
        let gone: BTreeSet<TableId> = gone.difference(&goes_on).copied().collect();
        let adjourned = self.adjourned.len();
        let stood = self.clear_tables(&gone);
        if self.adjourned.len() != adjourned {
            self.push_adjourned(at, updates);
        }
        let named: BTreeSet<&BoardKey> =
            round.tables.iter().filter_map(|table| table.board.as_ref()).collect();
        for table in &round.tables {
            if goes_on.contains(&table.table) {
                self.change_setup(at, table, updates);
            } else if self.tables.len() < MAX_TABLES {
                let keeps = stood.get(&table.table).filter(|key| !named.contains(key));
                let board = table.board.clone().or_else(|| keeps.cloned());
                self.new_table(at, section, &TableSetup { board, ..table.clone() }, updates);
            }
        }
        for key in stood.into_values() {
            self.tell_board(at, &key, updates);
        }
        self.bind_free_boards(at, updates);
    }

    /// Takes these tables away; gives the boards that stood there.
    pub(super) fn clear_tables(&mut self, gone: &BTreeSet<TableId>) -> BTreeMap<TableId, BoardKey> {
        let mut stood: BTreeMap<TableId, BoardKey> = BTreeMap::new();
        for (key, board) in &mut self.boards {
            if let Some(id) = board.table.filter(|id| gone.contains(id)) {
                stood.insert(id, key.clone());
                board.table = None;
            }
        }
        for id in gone {
            if let Some(table) = self.tables.remove(id)
                && table.adjournment().is_some()
            {
                self.adjourned.push(table);
            }
            if let Some(due) = self.deadline_of.remove(id) {
                self.deadlines.remove(&(due, *id));
            }
        }
        stood
    }

    /// A table's data change while its game goes on; its board stays unless another is named.
    pub(super) fn change_setup(&mut self, at: Timestamp, table: &TableSetup, updates: &mut Vec<Update>) {
        let stands = self.tables.get(&table.table).and_then(|known| known.setup.board.clone());
        let setup = TableSetup { board: table.board.clone().or(stands), ..table.clone() };
        self.change_table(at, &setup, updates);
        if let Some(board) = &table.board {
            self.bind(at, table.table, board, updates);
        }
    }

    /// The game of a table is played anew; its board stays.
    pub(super) fn new_game(&mut self, at: Timestamp, id: TableId, updates: &mut Vec<Update>) {
        let Some(table) = self.tables.get(&id) else { return };
        let (section, setup) = (table.section().to_owned(), table.setup.clone());
        let stood = self.clear_tables(&BTreeSet::from([id]));
        let board = stood.get(&id).cloned().or_else(|| setup.board.clone());
        self.new_table(at, &section, &TableSetup { board, ..setup }, updates);
        for key in stood.into_values() {
            self.tell_board(at, &key, updates);
        }
    }

    pub(super) fn new_table(
        &mut self,
        at: Timestamp,
        section: &str,
        setup: &TableSetup,
        updates: &mut Vec<Update>,
    ) {
        self.games += 1;
        let mut table = Table::new(setup.clone(), &self.context(section), self.games, at);
        if let Some(started) = self.rounds.get(section).and_then(|round| round.started_at) {
            table.round_started(started);
        }
        self.tables.insert(setup.table, table);
        self.with_table(at, setup.table, updates, |_| {});
        if let Some(board) = &setup.board {
            self.bind(at, setup.table, board, updates);
        }
    }

    pub(super) fn change_table(&mut self, at: Timestamp, setup: &TableSetup, updates: &mut Vec<Update>) {
        let section =
            self.tables.get(&setup.table).map(|table| table.section().to_owned()).unwrap_or_default();
        let event = self.event.clone();
        let head = self.rounds.get(&section).cloned().unwrap_or_default();
        let context = Context::new(&event, &section, &head);
        self.with_table(at, setup.table, updates, |table| table.change(setup.clone(), &context, at));
    }

    /// Starts the rounds of one section or of all: default time counts from here.
    pub(super) fn start_round(&mut self, at: Timestamp, section: Option<&str>, updates: &mut Vec<Update>) {
        for (_, round) in
            self.rounds.iter_mut().filter(|(id, _)| section.is_none_or(|section| section == *id))
        {
            round.live = true;
            round.started_at = Some(at);
        }
        self.push_round(at, updates);
        for id in self.tables_of(section) {
            self.with_table(at, id, updates, |table| table.round_started(at));
        }
    }

    /// Closes the rounds of one section or of all, and lists what is missing.
    pub(super) fn close_round(
        &mut self,
        at: Timestamp,
        by: &str,
        section: Option<&str>,
        updates: &mut Vec<Update>,
    ) {
        for (_, round) in
            self.rounds.iter_mut().filter(|(id, _)| section.is_none_or(|section| section == *id))
        {
            round.live = false;
        }
        self.push_round(at, updates);
        let tables = self.tables_of(section);
        let lines = close_lines(tables.iter().filter_map(|id| Some((*id, self.tables.get(id)?.closing()))));
        self.log(at, by, json!({"kind": "round-closed", "section": section, "open": lines}), updates);
    }

    fn tables_of(&self, section: Option<&str>) -> Vec<TableId> {
        let of = |table: &Table| section.is_none_or(|section| table.section() == section);
        self.tables.iter().filter(|(_, table)| of(table)).map(|(id, _)| *id).collect()
    }

    pub(super) fn context<'a>(&'a self, section: &'a str) -> Context<'a> {
        const NONE: &RoundHead = &RoundHead { number: 0, date: None, live: false, started_at: None };
        Context::new(&self.event, section, self.rounds.get(section).unwrap_or(NONE))
    }

    /// The section to which a table with this number belongs: the last that begins at or before it.
    pub(super) fn section_at(&self, id: TableId) -> String {
        let begun = self.event.sections.iter().filter(|section| self.rounds.contains_key(&section.id));
        begun
            .filter(|section| section.first_table.max(1) <= id.0)
            .max_by_key(|section| section.first_table)
            .map(|section| section.id.clone())
            .unwrap_or_default()
    }

    pub(super) fn push_round(&mut self, at: Timestamp, updates: &mut Vec<Update>) {
        let none = RoundHead::default();
        let main = self.rounds.get("").or_else(|| self.rounds.values().max_by_key(|round| round.number));
        let main = main.unwrap_or(&none);
        let moment = |round: &RoundHead| round.started_at.map(Timestamp::millis);
        // The arbiters' rules are nobody else's business, and viewers need none of them.
        let event =
            EventSetup { options: OptionsSetup::default(), editions: Vec::new(), ..self.event.clone() };
        let mut body = json!({
            "event": event,
            "language": self.event.language(),
            "number": self.round(),
            "date": main.date,
            "delay_seconds": self.delay_seconds,
            "live": self.rounds.values().any(|round| round.live),
            "started_at": moment(main),
        });
        if !self.event.sections.is_empty() {
            let sections = self.event.sections.iter().map(|section| {
                let round = self.rounds.get(&section.id).unwrap_or(&none);
                json!({
                    "id": section.id, "name": section.name, "number": round.number, "date": round.date,
                    "live": round.live, "started_at": moment(round),
                })
            });
            body["sections"] = sections.collect::<Vec<Value>>().into();
        }
        self.number(at, None, UpdateBody::Round(body), updates);
    }
}
