//! The archive as an output of the loop, and its export from a journal alone.

use std::path::{Path, PathBuf};

use super::{publisher::Output, recovery::recover};
use crate::{
    hall::Update,
    journal::{Journal, JournalError},
    publish::archive::Archive,
};

/// Writes the archive behind the hall.
pub(super) struct ArchiveOutput {
    folder: PathBuf,
    archive: Archive,
    /// The last attempt failed.
    failing: bool,
}

impl ArchiveOutput {
    pub(super) fn new(folder: PathBuf, journal: PathBuf) -> Self {
        Self { archive: Archive::new(folder.clone()).with_journal(journal), folder, failing: false }
    }

    fn tell(&mut self, written: std::io::Result<()>) -> bool {
        match written {
            Ok(()) => {
                if std::mem::take(&mut self.failing) {
                    tracing::info!(folder = %self.folder.display(), "the archive can be written again");
                }
                true
            }
            Err(error) => {
                // Tried every few seconds: said once.
                if !std::mem::replace(&mut self.failing, true) {
                    tracing::error!(%error, folder = %self.folder.display(), "the archive cannot be written");
                }
                false
            }
        }
    }
}

impl Output for ArchiveOutput {
    fn take(&mut self, updates: &[Update]) {
        self.archive.take(updates);
    }

    fn write(&mut self) -> bool {
        let written = self.archive.write();
        self.tell(written)
    }

    fn finish(&mut self) {
        let written = self.archive.finish();
        self.tell(written);
    }
}

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The disk.
    #[error("cannot write the archive into {folder}: {source}")]
    Disk {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Writes the archive tree from a journal alone, one round or all: the same bytes as the daemon wrote.
///
/// # Errors
/// The journal is damaged or cannot be read; the tree cannot be written.
pub fn export(journal: &Journal, round: Option<u32>, folder: &Path) -> Result<(), ExportError> {
    let archive = Archive::new(folder.to_owned()).only_round(round);
    let mut archive = archive.with_journal(journal.path().to_owned());
    recover(journal, |updates| archive.take(updates))?;
    archive.finish().map_err(|source| ExportError::Disk { folder: folder.to_owned(), source })
}
