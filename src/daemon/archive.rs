//! The archive as an output: remembers which games changed, and has them written.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::{publisher::Output, recovery::recover};
use crate::{
    hall::{TableId, Update, UpdateBody, View},
    journal::{Journal, JournalError},
};

/// Writes the round's folder behind the hall.
pub(super) struct ArchiveOutput {
    folder: PathBuf,
    view: View,
    changed: BTreeSet<TableId>,
    /// Only this round is written.
    only: Option<u32>,
}

impl ArchiveOutput {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, view: View::new(false), changed: BTreeSet::new(), only: None }
    }
}

impl Output for ArchiveOutput {
    fn take(&mut self, updates: &[Update]) {
        for update in updates {
            self.view.apply(update);
            if let Some(table) = update.table.filter(|_| !update.desk_only()) {
                self.changed.insert(table);
            }
        }
    }

    fn write(&mut self) {
        for table in std::mem::take(&mut self.changed) {
            let Some(view) = self.view.tables.get(&table) else { continue };
            if self.only.is_some_and(|only| only != view.info.round) {
                continue;
            }
            let round = self.folder.join(format!("round-{}", view.info.round));
            let mut text = String::new();
            crate::record::pgn::write_game(&view.game, &mut text);
            let written = std::fs::create_dir_all(&round)
                .and_then(|()| replace(&round.join(format!("game-{table}.pgn")), text.as_bytes()));
            if let Err(error) = written {
                tracing::error!(%error, folder = %round.display(), "the archive cannot be written");
                self.changed.insert(table);
            }
        }
    }
}

/// Writes the archive tree from a journal alone, one round or all.
///
/// # Errors
/// The journal is damaged or cannot be read.
pub fn export(journal: &Journal, round: Option<u32>, folder: &Path) -> Result<(), JournalError> {
    let mut output = ArchiveOutput::new(folder.to_owned());
    output.only = round;
    recover(journal, |updates| {
        for update in updates {
            // A new round takes the place of the one before: write that first.
            if matches!(update.body, UpdateBody::Round(_)) {
                output.write();
            }
            output.take(std::slice::from_ref(update));
        }
    })?;
    output.write();
    Ok(())
}

fn replace(path: &std::path::Path, bytes: &[u8]) -> std::io::Result<()> {
    let part = path.with_extension("part");
    std::fs::write(&part, bytes)?;
    std::fs::rename(&part, path)
}
