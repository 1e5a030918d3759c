//! Inputs on disk (SQLite), read back in order; knows nothing of what they mean.
//!
//! One file, one writer. Inputs are appended in groups: a group is durable (WAL,
//! `synchronous=FULL`) before [`Journal::append`] returns, and only then may its updates be shown.
//! A failed append is an error the caller must show; nothing is retried in silence.

mod error;
mod evidence;

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, OptionalExtension, backup, config::DbConfig, params};

pub use error::JournalError;
pub use evidence::{CutRow, write_cut};

/// The layout this program writes, in SQLite's `user_version`.
pub const VERSION: i64 = 1;

/// Marks the file as ours, in SQLite's `application_id`: "ARBD".
const APPLICATION_ID: i64 = 0x4152_4244;

/// The largest input that is kept, in bytes of its text.
pub const MAX_INPUT: usize = 1 << 20;

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    connection: Connection,
    /// Keeps a second daemon out. Others may read while we write (WAL). Dropped after the
    /// connection: closing any handle of the file would end the locks SQLite holds on it.
    lock: Option<fs::File>,
}

/// A stored input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 1 without gaps.
    pub number: u64,
    /// Its text.
    pub text: String,
}

impl Journal {
    /// Opens a journal for writing, creating it if there is none. A file that is not ours, is
    /// newer, or is damaged is refused and left untouched.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let existed = path.exists();
        if existed {
            inspect(path)?;
        } else if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)
                .map_err(|source| JournalError::Open { path: path.to_owned(), source })?;
        }
        let lock = lock(path)?;
        let connection = Connection::open(path).map_err(|error| open_error(path, error))?;
        let journal = Self { path: path.to_owned(), connection, lock: Some(lock) };
        journal.prepare(existed).map_err(|error| open_error(path, error))?;
        if !existed {
            sync_folder(path);
        }
        Ok(journal)
    }

    /// Opens a journal to read it only, for replay, export and backup. It may be in use.
    pub fn open_read_only(path: &Path) -> Result<Self, JournalError> {
        inspect(path)?;
        let connection = read_only(path)?;
        Ok(Self { path: path.to_owned(), connection, lock: None })
    }

    fn prepare(&self, existed: bool) -> rusqlite::Result<()> {
        let db = &self.connection;
        db.busy_timeout(Duration::from_millis(200))?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "FULL")?;
        db.pragma_update(None, "wal_autocheckpoint", 1000)?;
        if !existed {
            db.pragma_update(None, "application_id", APPLICATION_ID)?;
            db.pragma_update(None, "user_version", VERSION)?;
        }
        db.execute_batch(
            "BEGIN IMMEDIATE;
             CREATE TABLE IF NOT EXISTS input (number INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
             COMMIT;",
        )
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many inputs it holds.
    pub fn len(&self) -> Result<u64, JournalError> {
        self.connection
            .query_row("SELECT coalesce(max(number), 0) FROM input", [], |row| row.get::<_, i64>(0))
            .map(i64::unsigned_abs)
            .map_err(|error| self.damaged(error))
    }

    /// It holds nothing.
    pub fn is_empty(&self) -> Result<bool, JournalError> {
        Ok(self.len()? == 0)
    }

    /// Appends a group of inputs. When this returns, they are on the disk, all or none.
    pub fn append<'a>(&mut self, texts: impl IntoIterator<Item = &'a str>) -> Result<(), JournalError> {
        self.in_place()?;
        let write = |source| JournalError::Write { path: self.path.clone(), source };
        let transaction = self.connection.transaction().map_err(write)?;
        {
            let mut insert =
                transaction.prepare_cached("INSERT INTO input (text) VALUES (?1)").map_err(write)?;
            for text in texts {
                if text.len() > MAX_INPUT {
                    return Err(JournalError::TooLarge(text.len()));
                }
                insert.execute(params![text]).map_err(write)?;
            }
        }
        transaction.commit().map_err(write)
    }

    /// Reads every input in order. Stops at the first error of `visit`.
    pub fn read<E: From<JournalError>>(&self, visit: impl FnMut(Entry) -> Result<(), E>) -> Result<(), E> {
        self.read_after(0, visit)
    }

    /// Reads the inputs behind number `after` in order. Stops at the first error of `visit`.
    pub fn read_after<E: From<JournalError>>(
        &self,
        after: u64,
        mut visit: impl FnMut(Entry) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut select = self
            .connection
            .prepare_cached("SELECT number, text FROM input WHERE number > ?1 ORDER BY number")
            .map_err(|error| self.damaged(error))?;
        let mut rows = select.query([after.cast_signed()]).map_err(|error| self.damaged(error))?;
        let mut expected = after + 1;
        while let Some(row) = rows.next().map_err(|error| self.damaged(error))? {
            let number = row.get::<_, i64>(0).map_err(|error| self.damaged(error))?.unsigned_abs();
            if number != expected {
                return Err(E::from(JournalError::Damaged {
                    path: self.path.clone(),
                    why: format!("input {expected} is missing"),
                }));
            }
            expected += 1;
            let text = row.get::<_, String>(1).map_err(|error| self.damaged(error))?;
            visit(Entry { number, text })?;
        }
        Ok(())
    }

    /// Writes a consistent copy while the journal is in use. The copy appears under its name only
    /// when it is whole.
    pub fn backup(&self, to: &Path) -> Result<(), JournalError> {
        let part = to.with_extension("part");
        let write = |source| JournalError::Write { path: to.to_owned(), source };
        {
            let mut copy = Connection::open(&part).map_err(write)?;
            let backup = backup::Backup::new(&self.connection, &mut copy).map_err(write)?;
            backup.run_to_completion(1000, Duration::ZERO, None).map_err(write)?;
        }
        fs::rename(&part, to).map_err(|source| JournalError::Open { path: to.to_owned(), source })?;
        sync_folder(to);
        Ok(())
    }

    /// The file under the journal's name is the one that is open. One that was removed, or whose
    /// drive has gone, would still take all that is written and keep nothing.
    fn in_place(&self) -> Result<(), JournalError> {
        let Some(lock) = &self.lock else { return Ok(()) };
        let gone = |why| JournalError::Gone { path: self.path.clone(), why };
        let there = fs::metadata(&self.path).map_err(|_| gone("no file has its name"))?;
        let ours = lock.metadata().map_err(|_| gone("its drive does not answer"))?;
        let same = (there.dev(), there.ino()) == (ours.dev(), ours.ino());
        if same { Ok(()) } else { Err(gone("another file has its name")) }
    }

    /// Opens the journal anew after it was [`Gone`](JournalError::Gone): on the file under its name
    /// if that holds exactly what was acknowledged here, or, where no file has the name but the old
    /// one can still be read, on a copy of it.
    ///
    /// # Errors
    /// Neither is so. The journal stays as it was.
    pub fn reopen(&mut self) -> Result<(), JournalError> {
        if self.in_place().is_ok() {
            return Ok(());
        }
        if !self.path.exists() {
            if !self.path.parent().is_some_and(|folder| folder.as_os_str().is_empty() || folder.is_dir()) {
                return self.in_place();
            }
            // What is left beside it belongs to the old file, which is still open.
            for end in ["-wal", "-shm"] {
                let mut name = self.path.clone().into_os_string();
                name.push(end);
                // Mostly there is none.
                drop(fs::remove_file(name));
            }
            self.backup(&self.path)?;
        }
        let mine = self.last()?;
        // Closing the old one must not tidy up files that have the new one's name.
        self.connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .map_err(|error| self.damaged(error))?;
        let other = Self::open(&self.path)?;
        if other.last()? != mine {
            return Err(JournalError::Gone { path: self.path.clone(), why: "another journal has its name" });
        }
        *self = other;
        Ok(())
    }

    /// The text of one input, if it is there.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn text(&self, number: u64) -> Result<Option<String>, JournalError> {
        self.connection
            .query_row("SELECT text FROM input WHERE number = ?1", [number.cast_signed()], |row| row.get(0))
            .optional()
            .map_err(|error| self.damaged(error))
    }

    /// The number and the text of the last input.
    fn last(&self) -> Result<Option<(i64, String)>, JournalError> {
        self.connection
            .query_row("SELECT number, text FROM input ORDER BY number DESC LIMIT 1", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()
            .map_err(|error| self.damaged(error))
    }

    fn damaged(&self, error: impl std::fmt::Display) -> JournalError {
        JournalError::Damaged { path: self.path.clone(), why: error.to_string() }
    }
}

/// Takes the journal for this process, creating an empty file if there is none.
fn lock(path: &Path) -> Result<fs::File, JournalError> {
    let open = |source| JournalError::Open { path: path.to_owned(), source };
    let file = fs::OpenOptions::new().read(true).append(true).create(true).open(path).map_err(open)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(JournalError::InUse { path: path.to_owned() }),
        Err(fs::TryLockError::Error(source)) => Err(open(source)),
    }
}

/// Looks at a file without changing it: is it ours, of a version we know, and whole?
fn inspect(path: &Path) -> Result<(), JournalError> {
    let foreign = || JournalError::Foreign { path: path.to_owned() };
    let damaged = |why: String| JournalError::Damaged { path: path.to_owned(), why };
    let length =
        fs::metadata(path).map_err(|source| JournalError::Open { path: path.to_owned(), source })?.len();
    if length == 0 {
        return Err(damaged("the file is empty".to_owned()));
    }
    let db = read_only(path)?;
    let pragma = |name: &str| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let application = pragma("application_id").map_err(|error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => foreign(),
        Some(rusqlite::ErrorCode::DatabaseBusy) => JournalError::InUse { path: path.to_owned() },
        _ => damaged(error.to_string()),
    })?;
    if application != APPLICATION_ID {
        return Err(foreign());
    }
    let version = pragma("user_version").map_err(|error| damaged(error.to_string()))?;
    if version > VERSION {
        return Err(JournalError::Newer { path: path.to_owned(), found: version });
    }
    let verdict = db
        .query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
        .map_err(|error| damaged(error.to_string()))?;
    if verdict == "ok" { Ok(()) } else { Err(damaged(verdict)) }
}

fn read_only(path: &Path) -> Result<Connection, JournalError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(|error| open_error(path, error))?;
    db.busy_timeout(Duration::from_millis(200)).map_err(|error| open_error(path, error))?;
    Ok(db)
}

fn open_error(path: &Path, error: rusqlite::Error) -> JournalError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
            JournalError::InUse { path }
        }
        Some(rusqlite::ErrorCode::NotADatabase) => JournalError::Foreign { path },
        Some(rusqlite::ErrorCode::DatabaseCorrupt) => JournalError::Damaged { path, why: error.to_string() },
        _ => JournalError::Open { path, source: io::Error::other(error) },
    }
}

/// Makes a new or renamed file's name durable. Best effort: not every file system can.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(folder) = fs::File::open(folder) {
        drop(folder.sync_all());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(journal: &Journal) -> Vec<String> {
        let mut texts = Vec::new();
        journal
            .read(|entry| {
                texts.push(entry.text);
                Ok::<_, JournalError>(())
            })
            .expect("a readable journal");
        texts
    }

    #[test]
    fn what_was_appended_is_read_back_in_order_after_reopening() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hall.sqlite");
        let mut journal = Journal::open(&path).expect("a new journal");
        journal.append(["one", "two"]).expect("room");
        journal.append(["three"]).expect("room");
        drop(journal);
        let journal = Journal::open(&path).expect("the same journal");
        assert_eq!(texts(&journal), ["one", "two", "three"]);
        assert_eq!(journal.len().expect("a length"), 3);
    }

    #[test]
    fn others_may_read_and_copy_while_it_is_in_use() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hall.sqlite");
        let mut journal = Journal::open(&path).expect("a new journal");
        journal.append(["one"]).expect("room");
        let reader = Journal::open_read_only(&path).expect("readable");
        journal.append(["two"]).expect("room");
        assert_eq!(texts(&reader), ["one", "two"]);
        let copy = folder.path().join("copy.sqlite");
        reader.backup(&copy).expect("a copy");
        drop(reader);
        journal.append(["three"]).expect("room");
        assert_eq!(texts(&Journal::open(&copy).expect("the copy")), ["one", "two"]);
        assert!(matches!(Journal::open(&path), Err(JournalError::InUse { .. })));
    }

    #[test]
    fn a_second_daemon_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hall.sqlite");
        let mut first = Journal::open(&path).expect("a new journal");
        first.append(["one"]).expect("room");
        let error = Journal::open(&path).expect_err("in use");
        assert!(matches!(error, JournalError::InUse { .. }), "{error}");
        assert!(error.to_string().contains("hall.sqlite"), "{error}");
    }

    #[test]
    fn foreign_newer_and_damaged_files_are_refused_and_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hall.sqlite");

        fs::write(&path, b"this is a letter to the organizer, not a database").expect("a file");
        let before = fs::read(&path).expect("bytes");
        assert!(matches!(Journal::open(&path), Err(JournalError::Foreign { .. })));
        assert_eq!(fs::read(&path).expect("bytes"), before);

        fs::remove_file(&path).expect("a file");
        let mut journal = Journal::open(&path).expect("a new journal");
        journal.append((0..2000).map(|_| "a line of some length to fill pages")).expect("room");
        journal.connection.pragma_update(None, "user_version", VERSION + 1).expect("a version");
        drop(journal);
        let before = fs::read(&path).expect("bytes");
        assert!(
            matches!(Journal::open(&path), Err(JournalError::Newer { found, .. }) if found == VERSION + 1)
        );
        assert_eq!(fs::read(&path).expect("bytes"), before);

        let mut torn = before.clone();
        torn[4096..8192].fill(0xa5);
        fs::write(&path, &torn).expect("a file");
        Connection::open(&path).and_then(|db| db.pragma_update(None, "user_version", VERSION)).ok();
        let before = fs::read(&path).expect("bytes");
        let error = Journal::open(&path).expect_err("damaged");
        assert!(error.to_string().contains("nothing was changed"), "{error}");
        assert_eq!(fs::read(&path).expect("bytes"), before);
    }

    #[test]
    fn a_file_that_was_taken_away_takes_nothing_more_and_goes_on_when_it_is_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("drive/hall.sqlite");
        let mut journal = Journal::open(&path).expect("a new journal");
        journal.append(["one"]).expect("room");
        // The drive goes away, and comes back as it was.
        let away = folder.path().join("away");
        fs::rename(folder.path().join("drive"), &away).expect("a folder");
        let error = journal.append(["two"]).expect_err("nothing is there");
        assert!(matches!(error, JournalError::Gone { .. }), "{error}");
        assert!(journal.reopen().is_err());
        fs::rename(&away, folder.path().join("drive")).expect("a folder");
        journal.append(["two"]).expect("it is back");
        // Somebody removes the file: what it held is not lost.
        for name in ["hall.sqlite", "hall.sqlite-wal", "hall.sqlite-shm"] {
            drop(fs::remove_file(folder.path().join("drive").join(name)));
        }
        assert!(journal.append(["three"]).is_err());
        journal.reopen().expect("a copy of what is still open");
        journal.append(["three"]).expect("room");
        assert_eq!(texts(&journal), ["one", "two", "three"]);
        drop(journal);
        assert_eq!(texts(&Journal::open(&path).expect("the same journal")), ["one", "two", "three"]);
        // Another journal under the name is not taken for ours.
        let mut journal = Journal::open(&path).expect("the same journal");
        fs::rename(folder.path().join("drive"), &away).expect("a folder");
        drop(Journal::open(&path).expect("a new, empty journal"));
        assert!(journal.append(["four"]).is_err());
        assert!(matches!(journal.reopen(), Err(JournalError::Gone { .. })));
    }

    #[test]
    fn a_backup_holds_what_was_committed() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut journal = Journal::open(&folder.path().join("hall.sqlite")).expect("a new journal");
        journal.append(["one"]).expect("room");
        let copy = folder.path().join("copy.sqlite");
        journal.backup(&copy).expect("a copy");
        assert_eq!(texts(&Journal::open(&copy).expect("the copy")), ["one"]);
    }
}
