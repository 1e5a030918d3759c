//! The watched folder: a pairing program writes its files there, and each new or changed one becomes an
//! import that waits for a person at the desk, or is taken at once where the settings say so. An import
//! taken at once never touches a round in which somebody has moved.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, SystemTime},
};

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::{
    event::import::{FILE_MAX, FileKind, ImportOptions, PairList, kind_of, read_pair_list},
    serve::{
        CommandRequest, Feed,
        imports::{ImportState, Imports, PendingImport, current_round, read_round},
    },
    wall,
};

/// How often the folder is looked at. A file counts when two looks find it the same: a program that is
/// still writing it is left alone.
const EVERY: Duration = Duration::from_millis(500);
/// The most files that are looked at.
const FILES: usize = 1000;
/// Names under which pairings come.
const ENDINGS: [&str; 5] = ["pgn", "trf", "trfx", "txt", "pairs"];

/// Which folder, and what becomes of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchConfig {
    /// The folder; it may not be there yet.
    pub folder: PathBuf,
    /// A person confirms every import. If not, a round that follows the running one opens at once.
    pub confirm: bool,
    /// The section the files are for; empty in an event of one.
    pub section: String,
}

/// What the watcher works with.
pub(super) struct Watcher {
    pub(super) config: WatchConfig,
    pub(super) feed: Arc<Feed>,
    pub(super) imports: Arc<Imports>,
    pub(super) orders: mpsc::Sender<CommandRequest>,
    pub(super) stop: CancellationToken,
}

/// Size and time of a file: when they differ, it has changed.
type Stamp = (u64, Option<SystemTime>);

#[derive(Default)]
struct Seen {
    last: Option<Stamp>,
    read: Option<Stamp>,
}

impl Watcher {
    /// Watches in a thread of its own until told to stop.
    pub(super) fn start(self) -> std::io::Result<()> {
        thread::Builder::new().name("imports".to_owned()).spawn(move || {
            let mut seen: BTreeMap<PathBuf, Seen> = BTreeMap::new();
            let mut complained = false;
            while !self.stop.is_cancelled() {
                match files(&self.config.folder) {
                    Ok(files) => {
                        complained = false;
                        self.look(files, &mut seen);
                    }
                    Err(error) if !complained => {
                        complained = true;
                        tracing::warn!(%error, folder = %self.config.folder.display(), "the watched folder cannot be read");
                    }
                    Err(_) => {}
                }
                thread::sleep(EVERY);
            }
        })?;
        Ok(())
    }

    fn look(&self, files: Vec<(PathBuf, Stamp)>, seen: &mut BTreeMap<PathBuf, Seen>) {
        seen.retain(|path, _| files.iter().any(|(there, _)| there == path));
        for (path, stamp) in files {
            let known = seen.entry(path.clone()).or_default();
            let rests = known.last.replace(stamp) == Some(stamp);
            if rests && known.read != Some(stamp) {
                known.read = Some(stamp);
                self.read(&path);
            }
        }
    }

    fn read(&self, path: &Path) {
        let Ok(bytes) = fs::read(path) else {
            tracing::warn!(path = %path.display(), "a file of pairings cannot be read");
            return;
        };
        // A list of pairs belongs to the tournament file beside it; a tournament file, to its list.
        let (path, bytes, pair_list) = match kind_of(&bytes) {
            Some(FileKind::PairList) => match (read_pair_list(&bytes), beside(path, FileKind::Trf)) {
                (Ok(list), Some((path, bytes))) => (path, bytes, Some(list)),
                _ => (path.to_owned(), bytes, None),
            },
            Some(FileKind::Trf) => (path.to_owned(), bytes, list_of(path)),
            _ => (path.to_owned(), bytes, None),
        };
        let options = ImportOptions { round: None, pair_list };
        let section = &self.config.section;
        let mut read = read_round(&self.feed, &bytes, &options, section);
        // A file of several rounds: the one after the running one, if it has that.
        if read.is_err() {
            let next = self.feed.look(|view| current_round(&view.round, section)) + 1;
            let options = ImportOptions { round: Some(next), ..options };
            if let Ok(found) = read_round(&self.feed, &bytes, &options, section) {
                read = Ok(found);
            }
        }
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let import = self.imports.add(&file, section, wall::now(), read);
        match import.state {
            ImportState::Refused => {
                let why = import.notes.first().map(ToString::to_string).unwrap_or_default();
                tracing::warn!(file, why, "no round could be read from a file of pairings");
            }
            _ => {
                tracing::info!(file, notes = import.notes.len(), "a round waits to be confirmed at the desk");
            }
        }
        if !self.config.confirm {
            self.take(&import);
        }
    }

    /// Opens the round, if that harms no game.
    fn take(&self, import: &PendingImport) {
        let (Some(command), Some(round)) = (import.command(), &import.round) else { return };
        let section = &self.config.section;
        let (running, begun) = self.feed.look(|view| {
            let running = current_round(&view.round, section);
            let own = view
                .tables
                .values()
                .filter(|table| table.info.round == running && table.info.section == *section);
            let mut begun = false;
            let mut open = false;
            for table in own {
                begun |= !table.game.plies.is_empty();
                open |= !table.game.plies.is_empty() && table.game.result.is_none();
            }
            // A round may follow when no game of the running one is open.
            (running, if round.number == running { begun } else { open })
        });
        if round.number < running || begun {
            tracing::info!(
                file = import.file,
                round = round.number,
                "a person has to confirm this round: games are being played"
            );
            return;
        }
        let by = "watched folder".to_owned();
        let (reply, answer) = oneshot::channel();
        let request = CommandRequest { by: by.clone(), command, reply };
        if self.orders.blocking_send(request).is_ok() && matches!(answer.blocking_recv(), Ok(Ok(_))) {
            self.imports.settle(import.id, ImportState::Taken, &by);
        }
    }
}

/// The files of a folder that may hold pairings, in the order of their names.
fn files(folder: &Path) -> std::io::Result<Vec<(PathBuf, Stamp)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)?.take(FILES * 10) {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ending =
            path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
        if name.starts_with('.') || !ENDINGS.contains(&ending.as_str()) {
            continue;
        }
        if let Ok(about) = fs::metadata(&path)
            && about.is_file()
            && about.len() > 0
            && about.len() <= FILE_MAX as u64
            && files.len() < FILES
        {
            files.push((path, (about.len(), about.modified().ok())));
        }
    }
    files.sort();
    Ok(files)
}

/// A file of this kind with the same stem, else the only one of its kind in the folder.
fn beside(path: &Path, kind: FileKind) -> Option<(PathBuf, Vec<u8>)> {
    let folder = path.parent()?;
    let mut found: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for (other, _) in files(folder).ok()? {
        if other == *path {
            continue;
        }
        let bytes = fs::read(&other).ok()?;
        if kind_of(&bytes) == Some(kind) {
            if other.file_stem() == path.file_stem() {
                return Some((other, bytes));
            }
            found.push((other, bytes));
        }
    }
    if found.len() == 1 { found.pop() } else { None }
}

/// The list of pairs with the same stem as a tournament file.
fn list_of(path: &Path) -> Option<PairList> {
    let (list, bytes) = beside(path, FileKind::PairList)?;
    if list.file_stem() == path.file_stem() { read_pair_list(&bytes).ok() } else { None }
}
