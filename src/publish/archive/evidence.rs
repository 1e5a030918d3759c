//! Cuts the evidence of each round out of the journal: what was ordered and what the boards said from the
//! round's opening to the next one's, and before it what is needed to replay it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::log::Log;
use crate::{
    hall::{BoardKey, Command, Hall, IncidentLog, Input, InputBody},
    journal::{CutRow, Journal, JournalError, write_cut},
    wire::Observation,
};

/// A section and the number of its round.
pub(super) type RoundKey = (String, u32);

/// The evidence of one round.
struct Cut {
    key: RoundKey,
    rows: Vec<CutRow>,
    over: bool,
}

/// What a board said last, by kind.
#[derive(Default)]
struct BoardState {
    link: Option<CutRow>,
    /// The last dump and the squares that changed since.
    squares: Vec<CutRow>,
    clock: Option<CutRow>,
}

/// Reads a journal and cuts it.
struct Cutter<'a> {
    /// Only these rounds.
    wanted: &'a BTreeSet<RoundKey>,
    /// Orders that set the hall up.
    orders: Vec<CutRow>,
    boards: BTreeMap<BoardKey, BoardState>,
    running: BTreeMap<String, u32>,
    cuts: Vec<Cut>,
}

impl Cutter<'_> {
    fn take(&mut self, number: u64, text: String, input: &Input) {
        let row = CutRow { number, before: false, text };
        let opened = match &input.body {
            InputBody::Command { command: Command::Round { round }, .. } => Some(("", round.number)),
            InputBody::Command { command: Command::SectionRound { section, round }, .. } => {
                Some((section.as_str(), round.number))
            }
            _ => None,
        };
        if let Some((section, round)) = opened {
            self.open(section, round);
        }
        for cut in self.cuts.iter_mut().filter(|cut| !cut.over) {
            cut.rows.push(row.clone());
        }
        let before = CutRow { before: true, ..row };
        match &input.body {
            InputBody::Started { .. } => self.orders.push(before),
            InputBody::Command { command, .. } => {
                let sets_up = !matches!(
                    command,
                    Command::Entry { .. }
                        | Command::Correct { .. }
                        | Command::Mute { .. }
                        | Command::Resume { .. }
                );
                if sets_up {
                    self.orders.push(before);
                }
            }
            InputBody::Board(key, observation) => {
                let board = self.boards.entry(key.clone()).or_default();
                match observation {
                    Observation::Link(_) => board.link = Some(before),
                    Observation::Dump(_) => board.squares = vec![before],
                    Observation::Square(..) => board.squares.push(before),
                    Observation::Clock(_) => board.clock = Some(before),
                    Observation::Battery(_) | Observation::Recovered(_) => {}
                }
            }
            InputBody::Mate { .. } | InputBody::Stopped => {}
        }
    }

    /// A round opens: those it ends are over.
    fn open(&mut self, section: &str, round: u32) {
        if self.running.get(section) == Some(&round) {
            return; // given again: its games go on
        }
        let all = section.is_empty();
        for cut in self.cuts.iter_mut().filter(|cut| all || cut.key.0 == section || cut.key.0.is_empty()) {
            cut.over = true;
        }
        if all {
            self.running.clear();
        } else {
            self.running.remove("");
        }
        self.running.insert(section.to_owned(), round);
        let key = (section.to_owned(), round);
        if !self.wanted.contains(&key) {
            return;
        }
        let of_boards = self
            .boards
            .values()
            .flat_map(|board| board.link.iter().chain(&board.squares).chain(&board.clock));
        let mut rows: Vec<CutRow> = self.orders.iter().chain(of_boards).cloned().collect();
        rows.sort_by_key(|row| row.number);
        // A round that is opened once more after another one: the evidence of both times.
        match self.cuts.iter_mut().find(|cut| cut.key == key) {
            Some(cut) => {
                let known = cut.rows.last().map_or(0, |row| row.number);
                cut.rows.extend(rows.into_iter().filter(|row| row.number > known));
                cut.over = false;
            }
            None => self.cuts.push(Cut { key, rows, over: false }),
        }
    }
}

/// Where the evidence of a round is, under the archive's folder.
pub(super) fn path_of((section, round): &RoundKey) -> String {
    super::under(section, &format!("round-{round}.evidence.sqlite"))
}

/// Writes the evidence of these rounds into the archive. With `fold`, the journal is also played through the
/// hall again, and the incident logs of all rounds come back.
///
/// # Errors
/// The journal is damaged, or the disk is full.
pub(super) fn write(
    journal: &Journal,
    folder: &Path,
    wanted: &BTreeSet<RoundKey>,
    fold: bool,
) -> Result<Option<BTreeMap<RoundKey, IncidentLog>>, JournalError> {
    let mut cutter = Cutter {
        wanted,
        orders: Vec::new(),
        boards: BTreeMap::new(),
        running: BTreeMap::new(),
        cuts: Vec::new(),
    };
    let mut hall = fold.then(|| (Hall::new(), Log::default()));
    journal.read(|entry| {
        let input: Input = serde_json::from_str(&entry.text).map_err(|error| JournalError::Damaged {
            path: journal.path().to_owned(),
            why: format!("input {} cannot be read: {error}", entry.number),
        })?;
        cutter.take(entry.number, entry.text, &input);
        if let Some((hall, log)) = &mut hall {
            for update in hall.apply(&input) {
                log.take(&update);
            }
            hall.take_questions();
        }
        Ok::<_, JournalError>(())
    })?;
    for cut in &cutter.cuts {
        let first = cut.rows.iter().find(|row| !row.before).map_or(0, |row| row.number);
        let last = cut.rows.last().map_or(0, |row| row.number);
        let about = [
            ("section", cut.key.0.clone()),
            ("round", cut.key.1.to_string()),
            ("first", first.to_string()),
            ("last", last.to_string()),
            ("inputs", cut.rows.iter().filter(|row| !row.before).count().to_string()),
        ];
        write_cut(&folder.join(path_of(&cut.key)), &about, &cut.rows)?;
    }
    Ok(hall.map(|(_, log)| log.incidents))
}
