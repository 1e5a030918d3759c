//! What an import mended, and why it refused: with line, in words a pairing officer knows.

use std::fmt;

use serde::Serialize;

use crate::record::pgn::{Refusal, Repair};

/// One thing to see before an import counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportNote {
    /// Line in the file, from 1.
    pub line: u64,
    /// What it is.
    #[serde(flatten)]
    pub issue: ImportIssue,
}

/// What was mended, or why a file was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "issue", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are named by what they hold")]
pub enum ImportIssue {
    /// A repair of the PGN reader.
    Pgn { repair: String, alert: Option<&'static str> },
    /// The file was not UTF-8.
    Encoding { from: &'static str },
    /// A game that is refused.
    Game { why: String },
    /// Moves in a file of pairings: left out.
    MovesLeftOut { board: u32, plies: usize },
    /// A value that stands for "not known".
    Unknown { field: String, found: String },
    /// A value that makes no sense, left out.
    BadValue { field: String, found: String },
    /// No opponent: no board.
    Bye { player: String },
    /// Neither side has a name: left out.
    NoNames,
    /// The same game again: left out.
    Duplicate { white: String, black: String },
    /// A player sits at two boards.
    PlaysTwice { player: String, boards: [u32; 2] },
    /// Board numbers contradict the order in the file; the order counts.
    BoardNumbers,
    /// Board order was not in the file and was taken from scores and ranks.
    BoardOrderGuessed,
    /// The time control could not be read.
    TimeControl { found: String },
    /// Several rounds in one file, and none was chosen.
    SeveralRounds { rounds: Vec<u32> },
    /// The round that was asked for is not there.
    RoundMissing { round: u32 },
    /// Nothing to play.
    Empty,
    /// A line of a kind that is not known, passed over.
    UnknownLine { din: String },
    /// A line that cannot be read, left out.
    BadLine { why: String },
    /// Two players with one number; the first counts.
    SameNumber { number: u32 },
    /// A pairing names a number that no player has.
    NoSuchPlayer { number: u32, by: u32 },
    /// The two players' lines do not agree about their game; the first counts.
    OneSided { white: u32, black: u32, round: u32 },
    /// A pair of the list that the tournament file does not have.
    PairNotInFile { white: u32, black: u32 },
    /// A pairing list has numbers only; it needs the tournament file.
    PairListAlone,
    /// None of the known kinds.
    UnknownKind,
    /// Too large.
    TooLarge { limit: usize },
}

/// A file that gave no round, with the reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Why, with lines.
    pub reasons: Vec<ImportNote>,
}

impl Refused {
    pub(super) fn one(line: u64, issue: ImportIssue) -> Self {
        Self { reasons: vec![ImportNote { line, issue }] }
    }
}

impl std::error::Error for Refused {}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no round could be read")?;
        for reason in &self.reasons {
            write!(f, "\n{reason}")?;
        }
        Ok(())
    }
}

impl ImportNote {
    /// The alert that goes with it, for those that have one.
    #[must_use]
    pub fn alert_code(&self) -> Option<&'static str> {
        match &self.issue {
            ImportIssue::Pgn { alert, .. } => *alert,
            ImportIssue::Encoding { .. } => Some("encoding-repaired"),
            _ => None,
        }
    }
}

impl From<&Repair> for ImportNote {
    fn from(repair: &Repair) -> Self {
        let issue = match &repair.kind {
            crate::record::pgn::RepairKind::Encoding { from } => ImportIssue::Encoding { from },
            kind => ImportIssue::Pgn { repair: kind.to_string(), alert: repair.alert_code() },
        };
        Self { line: repair.line, issue }
    }
}

impl From<&Refusal> for ImportNote {
    fn from(refusal: &Refusal) -> Self {
        Self { line: refusal.line, issue: ImportIssue::Game { why: refusal.kind.to_string() } }
    }
}

impl fmt::Display for ImportNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ImportIssue as I;
        write!(f, "line {}: ", self.line)?;
        match &self.issue {
            I::Pgn { repair, .. } => f.write_str(repair),
            I::Encoding { from } => write!(f, "not UTF-8: read as {from}; check the names"),
            I::Game { why } => write!(f, "game refused: {why}"),
            I::MovesLeftOut { board, plies } => write!(f, "board {board} has {plies} half-moves: left out"),
            I::Unknown { field, found } => write!(f, "{field} {found:?} taken as not known"),
            I::BadValue { field, found } => write!(f, "{field} {found:?} makes no sense: left out"),
            I::Bye { player } => write!(f, "{player} has no opponent: no board"),
            I::NoNames => f.write_str("a game without names: left out"),
            I::Duplicate { white, black } => write!(f, "{white} - {black} stands twice: once left out"),
            I::PlaysTwice { player, boards: [a, b] } => write!(f, "{player} sits at boards {a} and {b}"),
            I::BoardNumbers => f.write_str("the board numbers repeat or are missing: the order of the file counts"),
            I::BoardOrderGuessed => {
                f.write_str("the file has no board order: taken from scores and start ranks; check it, or add the list of pairs")
            }
            I::TimeControl { found } => write!(f, "time control {found:?} could not be read"),
            I::SeveralRounds { rounds } => {
                let rounds: Vec<String> = rounds.iter().map(u32::to_string).collect();
                write!(f, "several rounds in one file ({}): say which", rounds.join(", "))
            }
            I::RoundMissing { round } => write!(f, "round {round} is not in the file"),
            I::Empty => f.write_str("no games to play in it"),
            I::UnknownLine { din } => write!(f, "lines of kind {din:?} are not known: passed over"),
            I::BadLine { why } => write!(f, "line left out: {why}"),
            I::SameNumber { number } => write!(f, "two players have the number {number}: the first counts"),
            I::NoSuchPlayer { number, by } => write!(f, "player {by} is paired with {number}, whom the file does not have"),
            I::OneSided { white, black, round } => {
                write!(f, "round {round}: the lines of {white} and {black} do not agree about their game")
            }
            I::PairNotInFile { white, black } => write!(f, "the pair {white} {black} is not in the tournament file"),
            I::PairListAlone => f.write_str("a list of pairs has only numbers: give the tournament's TRF with it"),
            I::UnknownKind => {
                f.write_str("neither PGN (tags such as [White \"…\"]) nor TRF (lines such as 001 …) nor a list of pairs")
            }
            I::TooLarge { limit } => write!(f, "larger than {} MiB", limit >> 20),
        }
    }
}
