//! Rounds from pairing programs: PGN with empty games, TRF, pairing lists. An import is a draft: it
//! says what it mended, and nothing of it counts before a person has seen that.

mod note;
mod pairs;
mod pgn;
mod trf;
mod trf_round;

pub use note::{ImportIssue, ImportNote, Refused};
pub use pairs::{PairList, read_pair_list};
pub use pgn::number_matches;
pub use trf::{TrfGame, TrfOutcome, TrfPlayer, TrfTournament, read_trf};

use serde::{Deserialize, Serialize};

use super::{Bye, Pairing, Team, TimeControl};

/// The largest file that is read, in bytes.
pub const FILE_MAX: usize = 32 << 20;

/// A round as a file gives it.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RoundDraft {
    /// Name of the event.
    pub event: Option<String>,
    /// Town or venue.
    pub site: Option<String>,
    /// Number of the round.
    pub round: Option<u32>,
    /// Day of play, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Time control, where it could be read.
    pub time_control: Option<TimeControl>,
    /// Boards in order, numbered.
    pub pairings: Vec<Pairing>,
    /// Players without a game.
    pub byes: Vec<Bye>,
    /// Teams, if any.
    pub teams: Vec<Team>,
}

/// A draft and what a person must see before it counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// The round.
    pub draft: RoundDraft,
    /// What was mended or left out, in the order of the file.
    pub notes: Vec<ImportNote>,
}

/// What the file cannot say itself.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Which round, where a file holds several.
    pub round: Option<u32>,
    /// Board order for a TRF, which has none.
    pub pair_list: Option<PairList>,
}

/// The kinds of file, told by their first letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// PGN.
    Pgn,
    /// TRF16, `TRFx` or TRF-2026.
    Trf,
    /// Numbers by pairs.
    PairList,
}

/// Tells what kind of file this is; `None` if none of them.
#[must_use]
pub fn kind_of(bytes: &[u8]) -> Option<FileKind> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Some(FileKind::Pgn); // only PGN comes in UTF-16
    }
    let mut lines =
        bytes.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii).filter(|l| !l.is_empty());
    let first = lines.next()?;
    match first {
        [b'[', ..] => Some(FileKind::Pgn),
        _ if is_din(first) => Some(FileKind::Trf),
        _ if first.iter().all(u8::is_ascii_digit) => Some(FileKind::PairList),
        // Text before the first tag.
        _ => lines.any(|line| line.starts_with(b"[") && line.ends_with(b"]")).then_some(FileKind::Pgn),
    }
}

fn is_din(line: &[u8]) -> bool {
    let known = matches!(line.get(..3), Some([a, b, c]) if a.is_ascii_digit() && b.is_ascii_digit() && c.is_ascii_digit())
        || line.starts_with(b"XX")
        || line.starts_with(b"BB")
        || line.starts_with(b"###");
    known
        && matches!(line.get(3), None | Some(b' '))
        && !(line.len() == 3
            && line.iter().all(u8::is_ascii_digit)
            && !matches!(line, b"112" | b"122" | b"132"))
}

/// Reads a round from a file of any known kind.
///
/// # Errors
/// When no round can be made of it: each reason with its line.
pub fn import_round(bytes: &[u8], options: &ImportOptions) -> Result<Imported, Refused> {
    if bytes.len() > FILE_MAX {
        return Err(Refused::one(1, ImportIssue::TooLarge { limit: FILE_MAX }));
    }
    match kind_of(bytes) {
        Some(FileKind::Pgn) => pgn::import_pgn(bytes, options),
        Some(FileKind::Trf) => trf_round::import_trf(bytes, options),
        Some(FileKind::PairList) => Err(Refused::one(1, ImportIssue::PairListAlone)),
        None => Err(Refused::one(1, ImportIssue::UnknownKind)),
    }
}

/// A name that means that there is no opponent.
#[must_use]
pub fn is_bye_name(name: &str) -> bool {
    matches!(
        name.trim().trim_matches(['(', ')', '<', '>', '.', '-']).trim().to_lowercase().as_str(),
        "" | "?"
            | "bye"
            | "spielfrei"
            | "not paired"
            | "no opponent"
            | "n.n"
            | "nn"
            | "свободен"
            | "свободна"
            | "нет пары"
            | "exempt"
            | "descansa"
    )
}
