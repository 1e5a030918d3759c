//! Rounds that were read from a file and wait for a person: from the watched folder or the desk. Nothing of
//! them counts before somebody has seen what was mended and takes them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::Feed;
use crate::{
    event::import::{ImportNote, ImportOptions, Imported, Refused, import_round},
    hall::{Command, EventSetup, RoundSetup, round_of_draft},
    record::Timestamp,
};

/// The most imports that are kept; the oldest that are settled go first.
const KEPT: usize = 40;

/// Where an import stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImportState {
    /// It waits for a person.
    Pending,
    /// Its round was ordered.
    Taken,
    /// A person did not want it.
    Dismissed,
    /// No round could be read; see `notes`.
    Refused,
    /// The file has changed; a later import has what it says now.
    Superseded,
}

/// A round as it was read from a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PendingImport {
    /// Its number.
    pub id: u64,
    /// Name of the file, without its folder.
    pub file: String,
    /// When it was read.
    pub at: Timestamp,
    /// The section it is for; empty in an event of one.
    pub section: String,
    /// Where it stands.
    pub state: ImportState,
    /// What was mended or left out, or why nothing could be read, with lines.
    pub notes: Vec<ImportNote>,
    /// The round it gives.
    pub round: Option<RoundSetup>,
    /// Players without a game.
    pub byes: Vec<crate::event::Bye>,
    /// Who took or dismissed it.
    pub by: Option<String>,
}

impl PendingImport {
    /// The order that opens its round.
    #[must_use]
    pub fn command(&self) -> Option<Command> {
        let round = self.round.clone()?;
        Some(if self.section.is_empty() {
            Command::Round { round }
        } else {
            Command::SectionRound { section: self.section.clone(), round }
        })
    }
}

#[derive(Debug, Default)]
struct List {
    last: u64,
    imports: Vec<PendingImport>,
}

/// All imports of this run of the daemon.
#[derive(Debug, Default)]
pub struct Imports(Mutex<List>);

impl Imports {
    fn list(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what was read of a file; an earlier import of the same file that still waits is superseded.
    pub fn add(
        &self,
        file: &str,
        section: &str,
        at: Timestamp,
        read: Result<(Imported, RoundSetup), Refused>,
    ) -> PendingImport {
        let mut list = self.list();
        list.last += 1;
        for old in &mut list.imports {
            if old.file == file && old.section == section && old.state == ImportState::Pending {
                old.state = ImportState::Superseded;
            }
        }
        let (state, notes, round, byes) = match read {
            Ok((imported, round)) => (ImportState::Pending, imported.notes, Some(round), imported.draft.byes),
            Err(refused) => (ImportState::Refused, refused.reasons, None, Vec::new()),
        };
        let import = PendingImport {
            id: list.last,
            file: file.to_owned(),
            at,
            section: section.to_owned(),
            state,
            notes,
            round,
            byes,
            by: None,
        };
        list.imports.push(import.clone());
        while list.imports.len() > KEPT {
            let settled = list.imports.iter().position(|import| import.state != ImportState::Pending);
            list.imports.remove(settled.unwrap_or(0));
        }
        import
    }

    /// All of them, the latest first.
    #[must_use]
    pub fn all(&self) -> Vec<PendingImport> {
        self.list().imports.iter().rev().cloned().collect()
    }

    /// One of them.
    #[must_use]
    pub fn find(&self, id: u64) -> Option<PendingImport> {
        self.list().imports.iter().find(|import| import.id == id).cloned()
    }

    /// Settles one that waits; false when it does not wait any more.
    pub fn settle(&self, id: u64, state: ImportState, by: &str) -> bool {
        let mut list = self.list();
        let waits = |import: &&mut PendingImport| import.id == id && import.state == ImportState::Pending;
        let Some(import) = list.imports.iter_mut().find(waits) else { return false };
        import.state = state;
        import.by = Some(by.to_owned());
        true
    }
}

/// Reads a round for this hall: what the file says, and the round that can be ordered.
///
/// # Errors
/// When no round can be made of it: each reason with its line.
pub fn read_round(
    feed: &Feed,
    bytes: &[u8],
    options: &ImportOptions,
    section: &str,
) -> Result<(Imported, RoundSetup), Refused> {
    let imported = import_round(bytes, options)?;
    let (event, round) = feed.look(|view| (view.round["event"].clone(), current_round(&view.round, section)));
    let event: EventSetup = serde_json::from_value(event).unwrap_or_default();
    let round = round_of_draft(&imported.draft, &event, section, round + 1);
    Ok((imported, round))
}

/// The number of a section's running round, from the stream's `round`.
#[must_use]
pub fn current_round(round: &serde_json::Value, section: &str) -> u32 {
    let sections = round["sections"].as_array().into_iter().flatten();
    let own = sections.filter(|known| known["id"] == section).map(|known| &known["number"]).next();
    let number = own.unwrap_or(&round["number"]).as_u64();
    number.and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}
