//! The answer for both sides as `check --fen` prints it. Formatting only; deciding is next door.

use serde::Serialize;
use shakmaty::{CastlingMode, Chess, fen::Fen};

use super::{Answer, Budget, Verdict, both};

/// One position, both sides: one line of JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The position as it was given.
    pub fen: String,
    /// Can White mate?
    pub white: SideReport,
    /// Can Black mate?
    pub black: SideReport,
    /// Neither can (5.2.2); null if undecided.
    pub dead: Option<bool>,
}

/// One side of a [`Report`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SideReport {
    /// `yes`, `no` or `unknown`.
    pub can_mate: &'static str,
    /// A legal line to the mate, in UCI; empty unless `yes` (and where the mate is on the board).
    pub line: Vec<String>,
    /// The argument, or what was tried; null for `yes`.
    pub reason: Option<String>,
    /// Positions expanded.
    pub nodes: u64,
}

/// Why a FEN gives no answer.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The text is no FEN.
    #[error("not a FEN: {0}")]
    Fen(#[from] shakmaty::fen::ParseFenError),
    /// The set-up cannot arise or breaks the Laws (two kings, opposite check, pawns on a first rank…).
    #[error("not a playable position: {0}")]
    Position(String),
}

/// Answers for a FEN at the given budget; `mode` says how castling rights are to be read.
pub fn report(fen: &str, mode: CastlingMode, budget: &Budget) -> Result<Report, ReportError> {
    let parsed: Fen = fen.parse()?;
    let position: Chess =
        parsed.into_position(mode).map_err(|error| ReportError::Position(error.to_string()))?;
    let answer = both(&position, budget);
    Ok(Report {
        fen: fen.to_owned(),
        dead: answer.dead(),
        white: side(answer.white),
        black: side(answer.black),
    })
}

fn side(answer: Answer) -> SideReport {
    let nodes = answer.nodes;
    match answer.verdict {
        Verdict::Yes(line) => SideReport {
            can_mate: "yes",
            line: line.iter().map(ToString::to_string).collect(),
            reason: None,
            nodes,
        },
        Verdict::No(reason) => {
            SideReport { can_mate: "no", line: Vec::new(), reason: Some(reason.to_string()), nodes }
        }
        Verdict::Unknown(tried) => {
            SideReport { can_mate: "unknown", line: Vec::new(), reason: Some(tried.to_string()), nodes }
        }
    }
}
