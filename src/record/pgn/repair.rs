//! What a reader had to mend, and what it could not take: each with the line, so that a person can
//! look it up, and nothing changed in silence.

use std::fmt;

use serde::Serialize;

use crate::record::GameResult;

/// Something in a file that was not as it should be, and was taken all the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// Line in the file, from 1.
    pub line: u64,
    /// Number of half-moves before the place, where it is in the moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ply: Option<u32>,
    /// What was wrong.
    #[serde(flatten)]
    pub kind: RepairKind,
}

/// What was wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields are named by what they hold")]
pub enum RepairKind {
    /// The file was not UTF-8.
    Encoding { from: &'static str },
    /// It began with a byte-order mark.
    ByteOrderMark,
    /// No closing result; the tag's, if any, was taken.
    MissingResult,
    /// Tag and closing result say different things; none was taken.
    ResultConflict { tag: String, token: String },
    /// One of the two says nothing; the other was taken.
    ResultFilled { taken: &'static str },
    /// A spelling of the result that is not PGN's.
    ResultSpelling { found: String, taken: &'static str },
    /// A result that is none.
    ResultUnreadable { found: String },
    /// The move is not legal here; the game is cut before it.
    IllegalMove { found: String },
    /// More than one piece can do it; the game is cut before it.
    AmbiguousMove { found: String },
    /// No move at all; the game is cut before it.
    UnreadableMove { found: String },
    /// A null move, which chess does not have; the game is cut before it.
    NullMove { found: String },
    /// A move written in another way than PGN's.
    LooseMove { found: String, taken: String },
    /// More than twelve thousand half-moves; the rest was left out.
    TooManyPlies,
    /// More than 4 MiB; the rest was left out.
    TooLong,
    /// Moves or results after the closing result, left out.
    AfterResult { found: String },
    /// A comment that is never closed.
    OpenComment,
    /// A sign or word without meaning, left out.
    Stray { found: String },
    /// A variation that is never closed, or closed twice.
    Variation,
    /// A tag without quotes or bracket.
    BadTag { name: String },
    /// A tag that stands twice with different values; the first counts.
    DuplicateTag { name: String },
    /// A clock time that makes no sense, left out.
    ClockUnreadable,
    /// Chess960 was not said, but the castling rights can mean nothing else.
    Chess960Guessed,
    /// Chess960 was said, but no start position.
    Chess960WithoutPosition,
    /// Two segments around an illegal move that stood were put together.
    SegmentsJoined { played: String },
    /// Two segments before and after a position that a person set were put together.
    PositionSet { fen: String },
    /// A segment that does not go on where the game before it ended; kept as a game of its own.
    SegmentAlone,
}

impl Repair {
    /// The alert that goes with it, for those that have one.
    #[must_use]
    pub fn alert_code(&self) -> Option<&'static str> {
        use RepairKind as K;
        match self.kind {
            K::Encoding { .. } => Some("encoding-repaired"),
            K::ResultConflict { .. } => Some("pgn-result-conflict"),
            K::IllegalMove { .. }
            | K::AmbiguousMove { .. }
            | K::UnreadableMove { .. }
            | K::NullMove { .. } => Some("pgn-illegal-move"),
            K::SegmentsJoined { .. } => Some("illegal-move-stands"),
            _ => None,
        }
    }

    /// Part of the game is not there.
    #[must_use]
    pub fn loses_moves(&self) -> bool {
        use RepairKind as K;
        matches!(
            self.kind,
            K::IllegalMove { .. }
                | K::AmbiguousMove { .. }
                | K::UnreadableMove { .. }
                | K::NullMove { .. }
                | K::TooManyPlies
                | K::TooLong
                | K::AfterResult { .. }
        )
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        if let Some(ply) = self.ply {
            let dots = if ply.is_multiple_of(2) { "." } else { "..." };
            write!(f, "at {}{dots} ", ply / 2 + 1)?;
        }
        self.kind.fmt(f)
    }
}

impl fmt::Display for RepairKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encoding { from } => write!(f, "not UTF-8: read as {from}"),
            Self::ByteOrderMark => f.write_str("a byte-order mark was dropped"),
            Self::MissingResult => f.write_str("no closing result"),
            Self::ResultConflict { tag, token } => {
                write!(f, "the tag says {tag}, the moves end with {token}: no result taken")
            }
            Self::ResultFilled { taken } => {
                write!(f, "only one of tag and closing result says {taken}: taken")
            }
            Self::ResultSpelling { found, taken } => write!(f, "result {found:?} read as {taken}"),
            Self::ResultUnreadable { found } => write!(f, "{found:?} is no result"),
            Self::IllegalMove { found } => write!(f, "{found} is not legal here: the game is cut before it"),
            Self::AmbiguousMove { found } => {
                write!(f, "{found} can be played by more than one piece: the game is cut before it")
            }
            Self::UnreadableMove { found } => write!(f, "{found:?} is no move: the game is cut before it"),
            Self::NullMove { found } => write!(f, "null move {found}: the game is cut before it"),
            Self::LooseMove { found, taken } => write!(f, "{found} read as {taken}"),
            Self::TooManyPlies => f.write_str("too many moves: the rest is left out"),
            Self::TooLong => f.write_str("more than 4 MiB for one game: the rest is left out"),
            Self::AfterResult { found } => write!(f, "{found:?} after the end of the game was left out"),
            Self::OpenComment => f.write_str("a comment is never closed"),
            Self::Stray { found } => write!(f, "a stray {found:?} was left out"),
            Self::Variation => f.write_str("the parentheses of a variation do not match"),
            Self::BadTag { name } => write!(f, "tag {name} lacks its quotes or bracket"),
            Self::DuplicateTag { name } => write!(f, "tag {name} stands twice: the first counts"),
            Self::ClockUnreadable => f.write_str("a clock time makes no sense: left out"),
            Self::Chess960Guessed => f.write_str("the castling rights say Chess960, no Variant tag does"),
            Self::Chess960WithoutPosition => f.write_str("Chess960 without a start position"),
            Self::SegmentsJoined { played } => {
                write!(f, "two segments put together around the illegal move {played} that stood")
            }
            Self::PositionSet { fen } => {
                write!(f, "two segments put together; between them the position {fen} was set")
            }
            Self::SegmentAlone => f.write_str("this segment does not follow the game before it"),
        }
    }
}

/// A game that could not be taken at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: game {}: {kind}", index + 1)]
pub struct Refusal {
    /// Line in the file, from 1.
    pub line: u64,
    /// Which game of the file, from 0.
    pub index: u64,
    /// Why.
    pub kind: RefusalKind,
}

/// Why a game was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the fields are named by what they hold")]
pub enum RefusalKind {
    /// Another game than chess.
    #[error("the variant {name:?} is not played here; expected standard chess or Chess960")]
    Variant { name: String },
    /// Its start position cannot be read.
    #[error("its start position cannot be used: {why}")]
    Position { why: String },
    /// Neither tags nor moves.
    #[error("{found:?} is no PGN: expected tags such as [White \"…\"] or moves")]
    NotPgn { found: String },
}

/// A result's word for messages.
pub(super) fn word(result: Option<GameResult>) -> &'static str {
    result.map_or("*", GameResult::word)
}
