//! What the hall is ordered: whether it can be done, and how it is done. Everything but a look is in the
//! incident log, with who ordered it.

use std::collections::BTreeSet;

use serde_json::json;

use super::{
    Command, EventSetup, Hall, MAX_TABLES, RoundSetup, TableId, TableSetup, Update, incident::changes,
};
use crate::{
    laws::{Editions, TimeControl},
    record::Timestamp,
};

/// Who orders what the configuration says.
pub const CONFIGURATION: &str = "configuration";

/// The longest public delay, in seconds.
const DELAY_MAX: u32 = 3600;

/// The profile is one of the shipped editions or of the event's own.
fn profile(event: &EventSetup, name: Option<&str>) -> Result<(), String> {
    let editions = Editions::with(&event.editions).map_err(|error| error.to_string())?;
    match name {
        None | Some("") => Ok(()),
        Some(name) => editions.profile(name).map(drop).map_err(|error| error.to_string()),
    }
}

fn time_control(text: &str) -> Result<(), String> {
    if text.is_empty() || text.parse::<TimeControl>().is_ok() {
        return Ok(());
    }
    Err(format!("{text:?} is no time control; expected such as 5400+30 or 90+30"))
}

fn setup(event: &EventSetup, setup: &TableSetup) -> Result<(), String> {
    if setup.profile.is_some() {
        profile(event, setup.profile.as_deref())?;
    }
    time_control(setup.time_control.as_deref().unwrap_or_default())
}

fn round(event: &EventSetup, round: &RoundSetup) -> Result<(), String> {
    if round.tables.len() > MAX_TABLES {
        return Err(format!("a round has at most {MAX_TABLES} tables"));
    }
    let mut seen = BTreeSet::new();
    for given in &round.tables {
        setup(event, given)?;
        if !seen.insert(given.table) {
            return Err(format!("table {} is there twice", given.table));
        }
    }
    Ok(())
}

impl Hall {
    /// Whether a command can be carried out. Refused commands never reach the journal.
    ///
    /// # Errors
    /// Why not, and what to do.
    pub fn check(&self, command: &Command) -> Result<(), String> {
        let table = |id: &TableId| {
            let known = self.tables.contains_key(id);
            if known { Ok(()) } else { Err(format!("there is no table {id} in this round")) }
        };
        let delay = |seconds: u32| {
            let fits = seconds <= DELAY_MAX;
            if fits { Ok(()) } else { Err(format!("a delay is at most {DELAY_MAX} seconds")) }
        };
        let section = |id: &str| {
            let known = self.event.sections.iter().any(|section| section.id == id);
            if known { Ok(()) } else { Err(format!("there is no section {id:?} in this event")) }
        };
        match command {
            Command::Event { event } => {
                profile(event, Some(&event.profile))?;
                time_control(&event.time_control)?;
                let mut seen = BTreeSet::new();
                for section in &event.sections {
                    profile(event, section.profile.as_deref())?;
                    time_control(section.time_control.as_deref().unwrap_or_default())?;
                    if !crate::event::is_word(&section.id) {
                        return Err(format!(
                            "a section's id is a short word of letters and digits, not {:?}",
                            section.id
                        ));
                    }
                    if !seen.insert(&section.id) {
                        return Err(format!("section {} is there twice", section.id));
                    }
                }
                delay(event.delay_seconds)
            }
            Command::Round { round: given } => round(&self.event, given),
            Command::SectionRound { section: id, round: given } => {
                section(id)?;
                round(&self.event, given)?;
                let taken = given.tables.iter().find(|table| {
                    let there = self.tables.get(&table.table);
                    there.is_some_and(|there| !there.section().is_empty() && there.section() != id)
                });
                match taken {
                    Some(table) => Err(format!("table {} belongs to another section", table.table)),
                    None => Ok(()),
                }
            }
            Command::StartSection { section: id } | Command::CloseSection { section: id } => section(id),
            Command::Table { table } => setup(&self.event, table),
            Command::Bind { table: id, .. }
            | Command::Unbind { table: id }
            | Command::NewGame { table: id }
            | Command::Players { table: id, .. }
            | Command::Entry { table: id, .. }
            | Command::Correct { table: id, .. }
            | Command::Mute { table: id, .. } => table(id),
            Command::Resume { table, game, sealed } => {
                self.check_resume(*table, game.as_ref(), sealed.as_deref())
            }
            Command::SwapBoards { a, b } => table(a).and_then(|()| table(b)),
            Command::Delay { seconds } => delay(*seconds),
            Command::StartRound | Command::CloseRound => Ok(()),
        }
    }

    pub(super) fn command(&mut self, at: Timestamp, by: &str, command: &Command, updates: &mut Vec<Update>) {
        self.note_configured(by, command);
        match command {
            Command::Event { event } => {
                let changed = changes(&json!(self.event), &json!(event));
                self.event = event.clone();
                self.delay_seconds = event.delay_seconds;
                self.push_round(at, updates);
                for id in self.table_ids() {
                    let Some(setup) = self.tables.get(&id).map(|table| table.setup.clone()) else { continue };
                    self.change_table(at, &setup, updates);
                }
                self.bind_free_boards(at, updates);
                self.log(at, by, json!({"kind": "event-changed", "changes": changed}), updates);
            }
            Command::Round { round } => self.order_round(at, by, "", round, updates),
            Command::SectionRound { section, round } => self.order_round(at, by, section, round, updates),
            Command::Table { table } => self.order_table(at, by, table, updates),
            Command::Players { table, white, black } => {
                let Some(mut setup) = self.tables.get(table).map(|table| table.setup.clone()) else { return };
                if let Some(white) = white {
                    setup.white = white.clone();
                }
                if let Some(black) = black {
                    setup.black = black.clone();
                }
                self.order_table(at, by, &setup, updates);
            }
            Command::NewGame { table } => {
                self.log_table(at, by, *table, json!({"kind": "new-game"}), updates);
                self.new_game(at, *table, updates);
            }
            Command::Bind { table, board } => {
                self.bind(at, *table, board, updates);
                self.log_table(at, by, *table, json!({"kind": "board-bound", "board": board}), updates);
            }
            Command::Unbind { table } => {
                self.unbind(at, *table, updates);
                self.log_table(at, by, *table, json!({"kind": "board-unbound"}), updates);
            }
            Command::SwapBoards { a, b } => {
                self.swap_boards(at, *a, *b, updates);
                for (id, other) in [(a, b), (b, a)] {
                    self.log_table(
                        at,
                        by,
                        *id,
                        json!({"kind": "boards-swapped", "with_table": other}),
                        updates,
                    );
                }
            }
            Command::Resume { table, game, sealed } => {
                self.resume(at, by, (*table, game.as_ref()), sealed.as_deref(), updates);
                if game.is_some() {
                    self.push_adjourned(at, updates);
                }
            }
            Command::Entry { table, entry } => {
                self.with_table(at, *table, updates, |table| table.enter(at, by, entry));
            }
            Command::Correct { table, correction } => {
                self.with_table(at, *table, updates, |table| table.correct(at, by, correction));
            }
            Command::Mute { table, code, muted } => {
                self.with_table(at, *table, updates, |table| table.mute(*code, *muted));
                self.log_table(
                    at,
                    by,
                    *table,
                    json!({"kind": "muted", "code": code, "muted": muted}),
                    updates,
                );
            }
            Command::Delay { seconds } => {
                let before = self.delay_seconds;
                self.delay_seconds = (*seconds).min(DELAY_MAX);
                self.push_round(at, updates);
                let changed = json!({"delay_seconds": [before, self.delay_seconds]});
                self.log(at, by, json!({"kind": "delay-changed", "changes": changed}), updates);
            }
            Command::StartRound => {
                self.start_round(at, None, updates);
                self.log(at, by, json!({"kind": "round-started"}), updates);
            }
            Command::StartSection { section } => {
                self.start_round(at, Some(section), updates);
                self.log(at, by, json!({"kind": "round-started", "section": section}), updates);
            }
            Command::CloseRound => self.close_round(at, by, None, updates),
            Command::CloseSection { section } => self.close_round(at, by, Some(section), updates),
        }
    }

    fn note_configured(&mut self, by: &str, command: &Command) {
        let own = by == CONFIGURATION;
        match command {
            Command::Event { event } if own => self.configured.0 = Some(event.clone()),
            Command::Round { round } => {
                self.configured.1.clear();
                if own {
                    self.configured.1.extend(round.tables.iter().map(|table| (table.table, table.clone())));
                }
            }
            Command::Table { table } if own => {
                self.configured.1.insert(table.table, table.clone());
            }
            _ => {}
        }
    }

    fn order_round(
        &mut self,
        at: Timestamp,
        by: &str,
        section: &str,
        round: &RoundSetup,
        updates: &mut Vec<Update>,
    ) {
        self.open_round(at, section, round, updates);
        let mut entry = json!({"kind": "round-opened", "tables": round.tables.len()});
        if !section.is_empty() {
            entry["section"] = json!(section);
        }
        self.log(at, by, entry, updates);
    }

    fn order_table(&mut self, at: Timestamp, by: &str, table: &TableSetup, updates: &mut Vec<Update>) {
        let before = self.tables.get(&table.table).map(|table| json!(table.setup));
        if before.is_some() {
            self.change_setup(at, table, updates);
        } else if self.tables.len() < MAX_TABLES {
            let section = self.section_at(table.table);
            self.new_table(at, &section, table, updates);
            self.bind_free_boards(at, updates);
        } else {
            return;
        }
        let after = self.tables.get(&table.table).map(|table| json!(table.setup)).unwrap_or_default();
        let changed = changes(&before.unwrap_or_default(), &after);
        self.log_table(at, by, table.table, json!({"kind": "table-changed", "changes": changed}), updates);
    }
}
