//! What can go wrong with a journal, and what to do about it.

use std::{io, path::PathBuf};

use super::{MAX_INPUT, VERSION};

/// What can go wrong with a journal. Every text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file is something else.
    #[error("{path} is no journal of arbiterd; nothing was changed: name another file")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Written by a newer program.
    #[error(
        "{path} was written by a newer arbiterd (journal version {found}, this one knows {VERSION}); \
         nothing was changed: use the newer program"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// It cannot be read through.
    #[error(
        "{path} is damaged ({why}); nothing was changed: restore a backup, or move it away to begin a new one"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite or the reader says.
        why: String,
    },
    /// Another arbiterd has it.
    #[error("{path} is in use by another arbiterd; stop that one first")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be opened or created.
    #[error("cannot open {path}: {source}; check the folder and its permissions")]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It could not be written.
    #[error(
        "cannot write {path}: {source}; free space or repair the disk: play is followed in memory until then"
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// Its file is not there any more, or another stands in its place.
    #[error(
        "{path} is gone ({why}); play is followed in memory: put the drive or the file back, and the journal \
         goes on by itself"
    )]
    Gone {
        /// The file.
        path: PathBuf,
        /// What is there instead.
        why: &'static str,
    },
    /// An input is too large to be real.
    #[error("an input of {0} bytes is larger than {MAX_INPUT}; it was refused")]
    TooLarge(usize),
}
