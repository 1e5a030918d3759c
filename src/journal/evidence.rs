//! A part of a journal as a file of its own: raw evidence for an appeal. It has the journal's own form, so
//! what reads a journal reads it, and the same inputs give the same bytes.

use std::{fs, io, os::unix::fs::PermissionsExt as _, path::Path};

use rusqlite::{Connection, params};

use super::{APPLICATION_ID, JournalError, VERSION, sync_folder};

/// An input of the part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutRow {
    /// Its number in the whole journal.
    pub number: u64,
    /// It was before what the part is about, and is needed to understand it.
    pub before: bool,
    /// Its text.
    pub text: String,
}

/// Writes the part; it appears under its name only when it is whole, and only its owner may read it. A file
/// that is the same already is left alone.
///
/// Table `input` is the journal's, numbered anew; `origin` tells each one's number in the whole journal and
/// whether it came before; `about` says what the part is.
///
/// # Errors
/// Those of the disk.
pub fn write_cut(to: &Path, about: &[(&str, String)], rows: &[CutRow]) -> Result<(), JournalError> {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let building = to.with_file_name(format!(".{name}.build"));
    let part = to.with_file_name(format!(".{name}.part"));
    let open = |source: io::Error| JournalError::Open { path: to.to_owned(), source };
    if let Some(folder) = to.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(open)?;
    }
    for left in [&building, &part] {
        // From an attempt that was cut short.
        drop(fs::remove_file(left));
    }
    let written = fill(&building, &part, about, rows)
        .map_err(|source| JournalError::Write { path: to.to_owned(), source })
        .and_then(|()| take(&part, to).map_err(open));
    drop(fs::remove_file(&building));
    if written.is_err() {
        drop(fs::remove_file(&part));
    }
    written
}

fn fill(building: &Path, part: &Path, about: &[(&str, String)], rows: &[CutRow]) -> rusqlite::Result<()> {
    let mut db = Connection::open(building)?;
    db.pragma_update(None, "page_size", 4096)?;
    db.pragma_update(None, "journal_mode", "OFF")?;
    db.pragma_update(None, "synchronous", "OFF")?;
    db.pragma_update(None, "application_id", APPLICATION_ID)?;
    db.pragma_update(None, "user_version", VERSION)?;
    let transaction = db.transaction()?;
    transaction.execute_batch(
        "CREATE TABLE input (number INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
         CREATE TABLE origin (number INTEGER PRIMARY KEY, journal INTEGER NOT NULL, before INTEGER NOT NULL) STRICT;
         CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;",
    )?;
    {
        let mut input = transaction.prepare("INSERT INTO input VALUES (?1, ?2)")?;
        let mut origin = transaction.prepare("INSERT INTO origin VALUES (?1, ?2, ?3)")?;
        for (number, row) in (1i64..).zip(rows) {
            input.execute(params![number, row.text])?;
            origin.execute(params![number, row.number.cast_signed(), row.before])?;
        }
        let mut fact = transaction.prepare("INSERT INTO about VALUES (?1, ?2)")?;
        for (name, value) in about {
            fact.execute(params![name, value])?;
        }
    }
    transaction.commit()?;
    // One layout, whatever was done before.
    db.execute("VACUUM INTO ?1", params![part.to_string_lossy()])?;
    Ok(())
}

fn take(part: &Path, to: &Path) -> io::Result<()> {
    let bytes = fs::read(part)?;
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return fs::remove_file(part);
    }
    fs::set_permissions(part, fs::Permissions::from_mode(0o600))?;
    fs::File::open(part)?.sync_all()?;
    fs::rename(part, to)?;
    sync_folder(to);
    Ok(())
}
