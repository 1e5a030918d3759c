//! The archive an organizer hands in, as the tree LiveChess users know: `tournament.json`,
//! `round-N/index.json`, `round-N/game-M.pgn`, `round-N/games.pgn`.
//!
//! It is folded from the hall's updates, so the same journal gives the same bytes, live or exported.
//! Files appear whole or not at all, and only those that changed are written. In a round's folder
//! no other file ends in `.pgn`: upload programs take all that do.

mod documents;
mod files;

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::PathBuf,
};

use serde_json::Value;

use crate::{
    hall::{TableId, TableStatus, TableView, Update, UpdateBody, View},
    record::pgn::write_game,
};

pub use documents::{index_document, tournament_document};
pub use files::replace;

/// The archive as an output: takes updates, then writes what changed.
pub struct Archive {
    folder: PathBuf,
    view: View,
    /// Tables whose game is not rendered as it stands now.
    stale: BTreeSet<TableId>,
    rounds: BTreeMap<u32, RoundTexts>,
    /// Rounds that are not on disk as they are here.
    unwritten: BTreeSet<u32>,
    /// What is on disk, by path under the folder.
    on_disk: BTreeMap<String, Vec<u8>>,
    /// Only this round is written.
    only: Option<u32>,
}

/// A round as it goes to disk.
#[derive(Default)]
struct RoundTexts {
    /// By table.
    games: BTreeMap<TableId, GameText>,
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
            if matches!(update.body, UpdateBody::Round(_)) {
                self.unwritten.extend(self.rounds.keys().next_back());
            }
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
            let wanted = self.only.is_none_or(|only| only == round);
            match if wanted { self.write_round(round) } else { Ok(()) } {
                Ok(()) => {
                    self.unwritten.remove(&round);
                }
                Err(error) => first_fault = first_fault.or(Some(error)),
            }
        }
        if !self.rounds.is_empty() {
            let document = self.tournament();
            if let Err(error) = self.put("tournament.json", document) {
                first_fault = first_fault.or(Some(error));
            }
        }
        first_fault.map_or(Ok(()), Err)
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
        // A game moved to another round leaves the one it was in.
        for (number, round) in &mut self.rounds {
            let moved = *number != view.info.round
                && round.games.get(&table).is_some_and(|old| same_game(&old.pgn, &text.pgn));
            if moved {
                round.games.remove(&table);
                self.unwritten.insert(*number);
            }
        }
        let round = self.rounds.entry(view.info.round).or_default();
        round.games.insert(table, text);
        self.unwritten.insert(view.info.round);
    }

    fn write_round(&mut self, number: u32) -> io::Result<()> {
        let Some(round) = self.rounds.get(&number) else { return Ok(()) };
        let folder = format!("round-{number}");
        let mut all = String::new();
        let mut out = Vec::new();
        for (table, game) in &round.games {
            all.push_str(&game.pgn);
            out.push((format!("{folder}/game-{table}.pgn"), game.pgn.clone().into_bytes()));
        }
        let date = round.games.values().find_map(|game| game.date.as_deref());
        let index = index_document(date, round.games.values().map(|game| game.entry.clone()));
        out.push((format!("{folder}/games.pgn"), all.into_bytes()));
        out.push((format!("{folder}/index.json"), documents::bytes(&index)));
        for (path, bytes) in out {
            self.put(&path, bytes)?;
        }
        Ok(())
    }

    fn tournament(&self) -> Vec<u8> {
        let last = self.rounds.keys().next_back().copied().unwrap_or(0);
        let rounds: Vec<(usize, usize)> = (1..=last)
            .map(|number| {
                let games = self.rounds.get(&number).map(|round| &round.games);
                let live = games.map_or(0, |games| games.values().filter(|game| game.live).count());
                (games.map_or(0, BTreeMap::len), live)
            })
            .collect();
        let boards: Vec<&str> = self
            .rounds
            .get(&last)
            .map(|round| round.games.values().map(|game| game.board.as_str()).collect())
            .unwrap_or_default();
        documents::bytes(&tournament_document(&self.view.round["event"], &rounds, &boards))
    }

    fn put(&mut self, path: &str, bytes: Vec<u8>) -> io::Result<()> {
        if self.on_disk.get(path) == Some(&bytes) {
            return Ok(());
        }
        let full = self.folder.join(path);
        // After a restart the disk is ahead of this memory.
        let same = !self.on_disk.contains_key(path) && std::fs::read(&full).is_ok_and(|old| old == bytes);
        if !same {
            replace(&full, &bytes)?;
        }
        self.on_disk.insert(path.to_owned(), bytes);
        Ok(())
    }
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
    use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

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
            self.push(None, UpdateBody::Round(json!({"event": event, "number": number})));
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
            self.push(Some(table), UpdateBody::Table(Box::new(info)));
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
                state: PlyState::Confirmed,
                source: PlySource::Board,
                made_at: Timestamp::default(),
                pressed_at: None,
                clock: shakmaty::ByColor { white: Some(Seconds(5400)), black: Some(Seconds(5400)) },
                elapsed: None,
            };
            self.positions.insert(table, (index + 1, after));
            self.push(Some(table), UpdateBody::Ply { index, ply: Box::new(ply), replaces: false });
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
        assert!(part.keys().all(|name| name.starts_with("round-1/") || name == "tournament.json"));
        assert!(part.iter().all(|(name, bytes)| whole[name] == *bytes));
        assert!(part.contains_key("round-1/games.pgn"));
    }
}
