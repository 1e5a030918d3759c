//! The archive an organizer hands in, as the tree LiveChess users know: `tournament.json`,
//! `round-N/index.json`, `round-N/game-M.pgn`, `round-N/games.pgn`; of an event with sections, one tree each.
//! Beside a round's folder, and for the arbiters' eyes only (mode 0600), stand its incident report
//! (`round-N.incidents.html`, `.md`, `.csv`) and, for appeals, its raw evidence (`round-N.evidence.sqlite`), both
//! written when the round is closed.
//!
//! It is folded from the hall's updates, so the same journal gives the same bytes, live or exported.
//! Files appear whole or not at all, and only those that changed are written. In a round's folder
//! no other file ends in `.pgn`: upload programs take all that do.

mod documents;
mod evidence;
mod files;
mod log;
pub mod report;

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::PathBuf,
};

use serde_json::Value;

use crate::{
    hall::{IncidentLog, TableId, TableStatus, TableView, Update, UpdateBody, View},
    journal::{Journal, JournalError},
    record::pgn::write_game,
};
use evidence::RoundKey;
use log::Log;
use report::ReportHead;

pub use documents::{index_document, tournament_document};
pub use files::replace;

/// The archive as an output: takes updates, then writes what changed.
pub struct Archive {
    folder: PathBuf,
    view: View,
    /// Tables whose game is not rendered as it stands now.
    stale: BTreeSet<TableId>,
    rounds: BTreeMap<RoundKey, RoundTexts>,
    /// Rounds that are not on disk as they are here.
    unwritten: BTreeSet<RoundKey>,
    /// Which rounds are played, and their logs. Behind the public delay no incident comes here: the journal
    /// has them.
    log: Log,
    /// Rounds whose report and evidence are to be written.
    due: BTreeSet<RoundKey>,
    /// Where the evidence comes from.
    journal: Option<PathBuf>,
    /// Report and evidence were written before in this run.
    reported: bool,
    /// What is on disk, by path under the folder.
    on_disk: BTreeMap<String, Vec<u8>>,
    /// Only this round is written.
    only: Option<u32>,
}

/// A round as it goes to disk.
#[derive(Default)]
struct RoundTexts {
    /// By their number in the round.
    games: BTreeMap<u32, GameText>,
}

struct GameText {
    pgn: String,
    /// `YYYY-MM-DD`
    date: Option<String>,
    /// The entry of `index.json`.
    entry: Value,
    live: bool,
    /// Serial number of the board.
    board: String,
}

impl Archive {
    /// An archive under this folder; the tree begins with `tournament.json` in it.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            view: View::new(false),
            stale: BTreeSet::new(),
            rounds: BTreeMap::new(),
            unwritten: BTreeSet::new(),
            log: Log::default(),
            due: BTreeSet::new(),
            journal: None,
            reported: false,
            on_disk: BTreeMap::new(),
            only: None,
        }
    }

    /// Writes only this round.
    #[must_use]
    pub fn only_round(mut self, round: Option<u32>) -> Self {
        self.only = round;
        self
    }

    /// Takes the rounds' evidence from this journal.
    #[must_use]
    pub fn with_journal(mut self, journal: PathBuf) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Takes updates in order.
    pub fn take(&mut self, updates: &[Update]) {
        for update in updates {
            if let (Some(table), UpdateBody::Table(info)) = (update.table, &update.body) {
                // A new game takes the table: what stood there is rendered for the last time.
                let leaves = self.view.tables.get(&table).is_some_and(|view| view.info.game != info.game);
                if leaves && self.stale.remove(&table) {
                    self.render(table);
                }
            }
            self.view.apply(update);
            let changes = matches!(
                update.body,
                UpdateBody::Ply { .. }
                    | UpdateBody::Undo { .. }
                    | UpdateBody::Result(_)
                    | UpdateBody::Table(_)
            );
            if let Some(table) = update.table.filter(|_| changes) {
                self.stale.insert(table);
            }
            self.due.extend(self.log.take(update));
            match &update.body {
                UpdateBody::Round(_) => self.unwritten.extend(self.rounds.keys().next_back().cloned()),
                UpdateBody::Ply { .. } | UpdateBody::Undo { .. } | UpdateBody::Result(_) => {
                    self.corrected_late(update.table);
                }
                _ => {}
            }
        }
    }

    /// A game of a round that is over was changed: its report is to be written again.
    fn corrected_late(&mut self, table: Option<TableId>) {
        let Some(info) = table.and_then(|table| self.view.tables.get(&table)).map(|view| &view.info) else {
            return;
        };
        let key = (info.section.clone(), info.round);
        if !self.log.is_open(&key) && self.rounds.contains_key(&key) {
            self.due.insert(key);
        }
    }

    /// Renders what changed and writes what differs from the disk.
    ///
    /// # Errors
    /// The first fault of the disk; what could not be written is tried again next time.
    pub fn write(&mut self) -> io::Result<()> {
        for table in std::mem::take(&mut self.stale) {
            self.render(table);
        }
        let mut first_fault = None;
        for round in self.unwritten.clone() {
            match if self.wants(&round) { self.write_round(&round) } else { Ok(()) } {
                Ok(()) => {
                    self.unwritten.remove(&round);
                }
                Err(error) => first_fault = first_fault.or(Some(error)),
            }
        }
        let sections: BTreeSet<String> = self.rounds.keys().map(|(section, _)| section.clone()).collect();
        for section in sections {
            let document = self.tournament(&section);
            if let Err(error) = self.put(&under(&section, "tournament.json"), document, None) {
                first_fault = first_fault.or(Some(error));
            }
        }
        if let Err(error) = self.write_reports() {
            first_fault = first_fault.or(Some(error));
        }
        first_fault.map_or(Ok(()), Err)
    }

    /// Writes everything, also the reports and the evidence of rounds that are not over.
    ///
    /// # Errors
    /// The first fault of the disk.
    pub fn finish(&mut self) -> io::Result<()> {
        self.due.extend(self.log.running.iter().map(|(section, (number, _))| (section.clone(), *number)));
        self.due.extend(self.rounds.keys().filter(|_| !self.reported).cloned());
        self.write()
    }

    fn wants(&self, (_, round): &RoundKey) -> bool {
        self.only.is_none_or(|only| only == *round)
    }

    /// The report and the evidence of rounds that ended or were corrected since.
    fn write_reports(&mut self) -> io::Result<()> {
        let mut due = std::mem::take(&mut self.due);
        due.retain(|round| self.wants(round) && self.rounds.contains_key(round));
        if due.is_empty() {
            return Ok(());
        }
        // After a restart all earlier rounds are told of again; their report and evidence are on the disk.
        if !self.reported {
            due.retain(|key| {
                self.log.running.get(&key.0).is_some_and(|now| now.0 == key.1)
                    || !self.folder.join(evidence::path_of(key)).exists()
            });
        }
        let written = self.write_reports_of(&due);
        self.reported = true;
        if written.is_err() {
            self.due = due;
        }
        written
    }

    fn write_reports_of(&mut self, due: &BTreeSet<RoundKey>) -> io::Result<()> {
        let mut incidents = None;
        if let Some(journal) = &self.journal {
            let told = !self.log.incidents.is_empty();
            let written = Journal::open_read_only(journal)
                .and_then(|journal| evidence::write(&journal, &self.folder, due, !told));
            incidents = written.map_err(|error| match error {
                JournalError::Open { source, .. } => source,
                other => io::Error::other(other),
            })?;
        }
        for key in due {
            let (section, number) = key;
            let name = |kind: &str| under(section, &format!("round-{number}.incidents.{kind}"));
            let log = incidents
                .as_ref()
                .unwrap_or(&self.log.incidents)
                .get(key)
                .map(IncidentLog::values)
                .unwrap_or_default();
            let round = self.rounds.get(key);
            let date = round.and_then(|round| round.games.values().find_map(|game| game.date.clone()));
            let event = self.view.round["event"]["name"].as_str().unwrap_or_default();
            let event = if section.is_empty() { event.to_owned() } else { format!("{event} ({section})") };
            let language = self.view.round["language"].as_str().unwrap_or("en").to_owned();
            let head = ReportHead { event, round: *number, date, language };
            let files = [
                ("csv", report::csv(&head, &log)),
                ("md", report::markdown(&head, &log)),
                ("html", report::html(&head, &log)),
            ];
            for (kind, bytes) in files {
                self.put(&name(kind), bytes, Some(0o600))?;
            }
        }
        Ok(())
    }

    fn render(&mut self, table: TableId) {
        let Some(view) = self.view.tables.get(&table) else { return };
        if view.info.round == 0 {
            return;
        }
        let mut pgn = String::new();
        write_game(&view.game, &mut pgn);
        let live = is_live(view);
        let date = view.game.tags.get("Date").filter(|date| !date.contains('?'));
        let text = GameText {
            pgn,
            date: date.map(|date| date.replace('.', "-")),
            entry: documents::pairing(&view.info.white, &view.info.black, &view.game, live),
            live,
            board: view.info.link.board.as_ref().map_or_else(String::new, |board| board.0.clone()),
        };
        let key = (view.info.section.clone(), view.info.round);
        let board = if view.info.board == 0 { table.0 } else { view.info.board };
        // A game moved to another round leaves the one it was in.
        for (other, round) in &mut self.rounds {
            let moved =
                *other != key && round.games.get(&board).is_some_and(|old| same_game(&old.pgn, &text.pgn));
            if moved {
                round.games.remove(&board);
                self.unwritten.insert(other.clone());
            }
        }
        let round = self.rounds.entry(key.clone()).or_default();
        round.games.insert(board, text);
        self.unwritten.insert(key);
    }

    fn write_round(&mut self, key: &RoundKey) -> io::Result<()> {
        let Some(round) = self.rounds.get(key) else { return Ok(()) };
        let folder = under(&key.0, &format!("round-{}", key.1));
        let mut all = String::new();
        let mut out = Vec::new();
        for (board, game) in &round.games {
            all.push_str(&game.pgn);
            out.push((format!("{folder}/game-{board}.pgn"), game.pgn.clone().into_bytes()));
        }
        let date = round.games.values().find_map(|game| game.date.as_deref());
        let index = index_document(date, round.games.values().map(|game| game.entry.clone()));
        out.push((format!("{folder}/games.pgn"), all.into_bytes()));
        out.push((format!("{folder}/index.json"), documents::bytes(&index)));
        for (path, bytes) in out {
            self.put(&path, bytes, None)?;
        }
        Ok(())
    }

    fn tournament(&self, section: &str) -> Vec<u8> {
        let of = |number: u32| self.rounds.get(&(section.to_owned(), number)).map(|round| &round.games);
        let own = self.rounds.keys().filter(|(id, _)| id == section);
        let last = own.map(|(_, number)| *number).max().unwrap_or(0);
        let rounds: Vec<(usize, usize)> = (1..=last)
            .map(|number| {
                let games = of(number);
                let live = games.map_or(0, |games| games.values().filter(|game| game.live).count());
                (games.map_or(0, BTreeMap::len), live)
            })
            .collect();
        let boards: Vec<&str> = of(last)
            .map(|games| games.values().map(|game| game.board.as_str()).collect())
            .unwrap_or_default();
        let mut event = self.view.round["event"].clone();
        let sections = event["sections"].as_array().cloned().unwrap_or_default();
        if let Some(known) = sections.iter().find(|known| known["id"] == section) {
            let name = [&event["name"], &known["name"]].map(|name| name.as_str().unwrap_or_default());
            event["name"] = name.join(" - ").trim_matches([' ', '-']).into();
            let id = event["id"].as_str().unwrap_or_default();
            event["id"] = format!("{id}-{section}").trim_matches('-').into();
            if known["time_control"].is_string() {
                event["time_control"] = known["time_control"].clone();
            }
        }
        documents::bytes(&tournament_document(&event, &rounds, &boards))
    }

    fn put(&mut self, path: &str, bytes: Vec<u8>, mode: Option<u32>) -> io::Result<()> {
        if self.on_disk.get(path) == Some(&bytes) {
            return Ok(());
        }
        let full = self.folder.join(path);
        // After a restart the disk is ahead of this memory.
        let same = !self.on_disk.contains_key(path) && std::fs::read(&full).is_ok_and(|old| old == bytes);
        if !same {
            files::replace_for(&full, &bytes, mode)?;
        }
        self.on_disk.insert(path.to_owned(), bytes);
        Ok(())
    }
}

/// A path in the tree of a section. Its id is a word of letters and digits; whatever else it is, it leads
/// nowhere.
fn under(section: &str, path: &str) -> String {
    let word: String = section
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' })
        .collect();
    if word.is_empty() { path.to_owned() } else { format!("{word}/{path}") }
}

/// It is being played and its board speaks.
fn is_live(view: &TableView) -> bool {
    view.info.status == TableStatus::Playing && view.info.link.online
}

/// Two texts of one game, by its `GameId`.
fn same_game(one: &str, other: &str) -> bool {
    let id = |text: &str| text.lines().find(|line| line.starts_with("[GameId ")).map(str::to_owned);
    let (one, other) = (id(one), id(other));
    one.is_some() && one == other
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::MetadataExt as _, path::Path, sync::Arc};

    use serde_json::json;

    use super::*;
    use crate::{
        event::Player,
        hall::{Seq, TableInfo},
        record::{
            GameResult, Ply, PlySource, PlyState, Position, ResultReason, ResultState, Seconds, Timestamp,
        },
    };

    #[derive(Default)]
    struct Script {
        updates: Vec<Update>,
        positions: BTreeMap<u32, (usize, Position)>,
    }

    impl Script {
        fn push(&mut self, table: Option<u32>, body: UpdateBody) {
            let seq = Seq(self.updates.len() as u64 + 1);
            self.updates.push(Update { seq, at: Timestamp::default(), table: table.map(TableId), body });
        }

        fn round(&mut self, number: u32) {
            let event = json!({"id": "open", "name": "Open", "site": "Hall", "time_control": "90'+30\""});
            self.push(None, UpdateBody::Round(json!({"event": event, "number": number, "live": true})));
        }

        fn load(&mut self, table: u32, round: u32, game: u64, white: &str, black: &str) {
            let mut tags = crate::record::Tags::default();
            tags.set("Event", "Open");
            tags.set("Date", format!("2026.05.0{round}"));
            tags.set("Round", format!("{round}.{table}"));
            tags.set("White", white);
            tags.set("Black", black);
            tags.set("GameId", format!("open-r{round}-g{table}"));
            let info = TableInfo {
                round,
                game,
                white: Player::named(white),
                black: Player::named(black),
                tags,
                ..TableInfo::default()
            };
            self.positions.insert(table, (0, Position::default()));
            self.push(Some(table), UpdateBody::Table(Arc::new(info)));
        }

        fn ply(&mut self, table: u32, uci: &str) {
            let (index, before) = self.positions[&table].clone();
            let uci = uci.parse().unwrap();
            let m = before.find_uci(uci).unwrap();
            let after = before.play(m);
            let ply = Ply {
                uci,
                san: before.san(m),
                after: after.clone(),
                irregular: false,
                origin: None,
                state: PlyState::Confirmed,
                source: PlySource::Board,
                made_at: Timestamp::default(),
                pressed_at: None,
                clock: shakmaty::ByColor { white: Some(Seconds(5400)), black: Some(Seconds(5400)) },
                elapsed: None,
            };
            self.positions.insert(table, (index + 1, after));
            self.push(Some(table), UpdateBody::Ply { index, ply: Arc::new(ply), replaces: false });
        }

        fn result(&mut self, table: u32, result: GameResult) {
            let result = Some((result, ResultReason::Entered, ResultState::Final));
            self.push(Some(table), UpdateBody::Result(result));
        }
    }

    /// Two rounds at two tables.
    fn script() -> Script {
        let mut script = Script::default();
        script.round(1);
        script.load(1, 1, 1, "Alpha, Anna", "Beta, Bea");
        script.load(2, 1, 2, "Gamma", "Женя");
        script.ply(1, "e2e4");
        script.ply(2, "d2d4");
        script.ply(1, "e7e5");
        script.result(1, GameResult::Draw);
        script.result(2, GameResult::BlackForfeit);
        script.round(2);
        script.load(1, 2, 3, "Beta, Bea", "Gamma");
        script.ply(1, "c2c4");
        script
    }

    fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(folder).unwrap().display().to_string();
                    files.insert(name, fs::read(&path).unwrap());
                }
            }
        }
        files
    }

    #[test]
    fn the_same_updates_make_the_same_tree_in_any_portions() {
        let updates = script().updates;
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut at_once = Archive::new(one.path().to_owned());
        at_once.take(&updates);
        at_once.write().unwrap();
        let mut live = Archive::new(other.path().to_owned());
        for update in &updates {
            live.take(std::slice::from_ref(update));
            live.write().unwrap();
        }
        let files = tree(one.path());
        assert_eq!(files, tree(other.path()));
        assert_eq!(
            files.keys().map(String::as_str).collect::<Vec<_>>(),
            [
                "round-1.incidents.csv",
                "round-1.incidents.html",
                "round-1.incidents.md",
                "round-1/game-1.pgn",
                "round-1/game-2.pgn",
                "round-1/games.pgn",
                "round-1/index.json",
                "round-2/game-1.pgn",
                "round-2/games.pgn",
                "round-2/index.json",
                "tournament.json"
            ]
        );
        let all = [files["round-1/game-1.pgn"].clone(), files["round-1/game-2.pgn"].clone()].concat();
        assert_eq!(files["round-1/games.pgn"], all);
        let index: Value = serde_json::from_slice(&files["round-1/index.json"]).unwrap();
        assert_eq!(index["date"], "2026-05-01");
        assert_eq!(index["pairings"][1]["black"]["lname"], "Женя");
        assert_eq!(index["pairings"][1]["result"], "0-1");
        let tournament: Value = serde_json::from_slice(&files["tournament.json"]).unwrap();
        assert_eq!(tournament["rounds"], json!([{"count": 2, "live": 0}, {"count": 1, "live": 0}]));
    }

    #[test]
    fn only_what_changed_is_written_also_after_a_restart() {
        let mut script = script();
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::new(folder.path().to_owned());
        archive.take(&script.updates);
        archive.write().unwrap();
        let inode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().ino();
        let old = ["round-1/games.pgn", "round-2/game-1.pgn", "tournament.json"].map(inode);
        script.ply(1, "c7c5");
        let mut again = Archive::new(folder.path().to_owned());
        again.take(&script.updates);
        again.write().unwrap();
        let new = ["round-1/games.pgn", "round-2/game-1.pgn", "tournament.json"].map(inode);
        assert_eq!((old[0], old[2]), (new[0], new[2]));
        assert_ne!(old[1], new[1]);
    }

    #[test]
    fn one_round_alone_has_the_bytes_of_the_whole() {
        let updates = script().updates;
        let (one, all) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (folder, only) in [(&one, Some(1)), (&all, None)] {
            let mut archive = Archive::new(folder.path().to_owned()).only_round(only);
            archive.take(&updates);
            archive.write().unwrap();
        }
        let whole = tree(all.path());
        let part = tree(one.path());
        assert!(part.keys().all(|name| name.starts_with("round-1") || name == "tournament.json"));
        assert!(part.iter().all(|(name, bytes)| whole[name] == *bytes));
        assert!(part.contains_key("round-1/games.pgn"));
    }
}
