//! An alert: what happened, under which article, how sure that is, and what to do.

use serde::{Deserialize, Serialize};
use shakmaty::{Color, Square};

use crate::record::Timestamp;

/// The number of an alert, counted from 1 within one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AlertId(pub u32);

/// How soon someone is needed, most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The game is over or will be decided now.
    Decides,
    /// Go to the board now.
    GoNow,
    /// Look when possible.
    Look,
    /// For the screen only.
    Note,
    /// For the log only.
    Log,
}

/// How sure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Follows from healthy sensors by logic alone.
    Certain,
    /// Depends on dwell times, intent, or the order inside one scan.
    Probable,
    /// A hint at most: the arbiter has to judge.
    NeedsArbiter,
}

/// Who may see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Audience {
    /// The arbiter.
    Arbiter,
    /// The arbiter, who may not act on it or tell anyone (Laws 11.12, 12.6).
    ArbiterSilent,
    /// The operator of the boards.
    Operator,
    /// Anyone, after the delay.
    Public,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlertState {
    /// Someone should look.
    Open,
    /// Someone has seen it.
    Acknowledged,
    /// Dealt with, by a person.
    Resolved,
    /// The board itself put it right.
    Cleared,
}

/// One sentence in every language the desk speaks.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Text {
    /// English.
    pub en: String,
    /// Russian.
    pub ru: String,
}

/// Time to be added to a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddSeconds {
    /// To whom.
    #[serde(with = "side_word")]
    pub to: Color,
    /// How much.
    pub seconds: u32,
}

/// What the arbiter may want to do. Nothing here is done by the program.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Advice {
    /// The position to restore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore_fen: Option<String>,
    /// A penalty in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add_seconds: Option<AddSeconds>,
    /// What the clocks should show afterwards, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resulting_clock: Option<ClockAdvice>,
    /// Squares of the men of which one must be moved (touch-move), such as `e1`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub must_move_from: Vec<String>,
    /// Squares of men that must be captured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub must_capture: Vec<String>,
    /// A move that must be completed or played, in UCI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub must_play: Option<String>,
    /// Squares to look at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub squares: Vec<String>,
    /// A line of moves in UCI: the help-mate of a flag decision, or a gap's candidate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub line: Vec<String>,
    /// The result that follows if the arbiter agrees, as a PGN result word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// What two clocks should be set to, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockAdvice {
    /// White's.
    pub white: Option<u32>,
    /// Black's.
    pub black: Option<u32>,
}

/// One touch of the trace that proves an alert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchEvidence {
    /// When it was reported.
    pub at: Timestamp,
    /// Which square of the game.
    #[serde(with = "square_name")]
    pub square: Square,
    /// The piece letter that left, if one did.
    pub from: Option<char>,
    /// The piece letter that came, if one did.
    pub to: Option<char>,
    /// How long the square had rested before, in milliseconds.
    pub rested_ms: Option<i64>,
}

/// An alert of one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    /// Its number within the table.
    pub id: AlertId,
    /// Which fault of the catalogue.
    pub code: Code,
    /// Whose, if it is one side's.
    #[serde(with = "side_word_option")]
    pub side: Option<Color>,
    /// How soon someone is needed.
    pub severity: Severity,
    /// How sure it is.
    pub certainty: Certainty,
    /// Who may see it.
    pub audience: Audience,
    /// The article in the numbering of the profile's edition; empty for matters of the operator.
    pub article: String,
    /// The profile, such as `fide-2023/classical`.
    pub profile: String,
    /// When it was raised.
    #[serde(with = "rfc3339")]
    pub at: Timestamp,
    /// The number of plies on the record when it was raised.
    pub ply: usize,
    /// What happened and what to do, for people.
    pub text: Text,
    /// What happened, for programs: kind, count, numbers of the text.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub detail: serde_json::Map<String, serde_json::Value>,
    /// What the arbiter may do.
    pub advice: Advice,
    /// Until when it can be acted on, if that ends (unsupervised play), or `null`.
    #[serde(with = "rfc3339_option")]
    pub deadline: Option<Timestamp>,
    /// The touch trace that proves it.
    pub evidence: Vec<TouchEvidence>,
    /// What became of it.
    pub state: AlertState,
    /// The note of the person who resolved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Who acknowledged or resolved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

macro_rules! codes {
    ($($variant:ident $word:literal,)*) => {
        /// The alert codes of the catalogue. Their words are a contract.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[expect(missing_docs, reason = "each is its own word; the catalogue in the README says when it is raised")]
        pub enum Code {
            $(#[serde(rename = $word)] $variant,)*
        }

        impl Code {
            /// All of them, in the order of the catalogue.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word others rely on.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

codes! {
    Checkmate "checkmate",
    Stalemate "stalemate",
    DeadPosition "dead-position",
    FivefoldRepetition "fivefold-repetition",
    SeventyfiveMove "seventyfive-move",
    FlagFall "flag-fall",
    BothFlags "both-flags",
    FlagButCannotMate "flag-but-cannot-mate",
    MateAfterFlag "mate-after-flag",
    PressAfterFlag "press-after-flag",
    IllegalMovePending "illegal-move-pending",
    IllegalMoveCompleted "illegal-move-completed",
    IllegalMoveStands "illegal-move-stands",
    PawnOnLastRank "pawn-on-last-rank",
    PressWithoutMove "press-without-move",
    PressBeforeRelease "press-before-release",
    CaptureIncomplete "capture-incomplete",
    CastlingIncomplete "castling-incomplete",
    PromotionPieceMissing "promotion-piece-missing",
    IllegalPosition "illegal-position",
    BothKingsInCheck "both-kings-in-check",
    IllegalPositionPersists "illegal-position-persists",
    TouchObligation "touch-obligation",
    TouchMoveViolation "touch-move-violation",
    CastlingRookFirst "castling-rook-first",
    ReleasedPieceMoved "released-piece-moved",
    PromotionPieceSwapped "promotion-piece-swapped",
    TwoHandsSuspected "two-hands-suspected",
    TwoHands "two-hands",
    MovedOutOfTurn "moved-out-of-turn",
    MoveTakenBack "move-taken-back",
    PiecesDisplaced "pieces-displaced",
    PiecesRearranged "pieces-rearranged",
    PositionMismatch "position-mismatch",
    PositionGap "position-gap",
    WrongInitialPosition "wrong-initial-position",
    BoardSideways "board-sideways",
    ReversedColours "reversed-colours",
    SetupClaimsClosed "setup-claims-closed",
    ThreefoldClaimable "threefold-claimable",
    ThreefoldClaimableByMove "threefold-claimable-by-move",
    FiftyClaimable "fifty-claimable",
    FiftyClaimableByMove "fifty-claimable-by-move",
    ClaimRightLost "claim-right-lost",
    ClockNotPressed "clock-not-pressed",
    RecordingOptional "recording-optional",
    KeepScoreNeeded "keep-score-needed",
    DrawAgreementInvalid "draw-agreement-invalid",
    DrawOfferLapsed "draw-offer-lapsed",
    DefaultTimeExceeded "default-time-exceeded",
    ClockNotStarted "clock-not-started",
    TimeControlClassMismatch "time-control-class-mismatch",
    SupervisionNotMet "supervision-not-met",
    IncrementMissing "increment-missing",
    IncrementWrong "increment-wrong",
    StartTimeWrong "start-time-wrong",
    PeriodBonusWrong "period-bonus-wrong",
    ClockLost "clock-lost",
    ClockBack "clock-back",
    ClockReset "clock-reset",
    ClockFrozen "clock-frozen",
    ClockJump "clock-jump",
    ClockAdjusted "clock-adjusted",
    ClockGarbage "clock-garbage",
    ClockSidesSwapped "clock-sides-swapped",
    ClockPaused "clock-paused",
    ControlPassed "control-passed",
    ResultSignal "result-signal",
    ResultChanged "result-changed",
    ResultConflict "result-conflict",
    ResultMissing "result-missing",
    ActivityWhilePaused "activity-while-paused",
    ActivityAfterEnd "activity-after-end",
    BoardOffline "board-offline",
    GapRecovered "gap-recovered",
    LinkGarbage "link-garbage",
    LinkResync "link-resync",
    LinkChecksum "link-checksum",
    BatteryLow "battery-low",
    PieceMissing "piece-missing",
    SquareFlicker "square-flicker",
    BoardRotated "board-rotated",
    WaitingForStartPosition "waiting-for-start-position",
    NewGameReady "new-game-ready",
    MoveRevised "move-revised",
    Restarted "restarted",
    PgnIllegalMove "pgn-illegal-move",
    PgnResultConflict "pgn-result-conflict",
    EncodingRepaired "encoding-repaired",
}

/// `white` or `black`.
pub(crate) mod side_word {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use shakmaty::Color;

    pub(crate) fn serialize<S: Serializer>(side: &Color, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(side.fold_wb("white", "black"))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Color, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "white" | "w" => Ok(Color::White),
            "black" | "b" => Ok(Color::Black),
            other => Err(D::Error::custom(format!("{other:?} is no side; expected white or black"))),
        }
    }
}

/// `white`, `black` or `null`.
pub(crate) mod side_word_option {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use shakmaty::Color;

    pub(crate) fn serialize<S: Serializer>(side: &Option<Color>, serializer: S) -> Result<S::Ok, S::Error> {
        match side {
            Some(side) => serializer.serialize_some(side.fold_wb("white", "black")),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Color>, D::Error> {
        match Option::<String>::deserialize(deserializer)?.as_deref() {
            None => Ok(None),
            Some("white" | "w") => Ok(Some(Color::White)),
            Some("black" | "b") => Ok(Some(Color::Black)),
            Some(other) => Err(D::Error::custom(format!("{other:?} is no side; expected white or black"))),
        }
    }
}

mod square_name {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use shakmaty::Square;

    pub(super) fn serialize<S: Serializer>(square: &Square, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(square)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Square, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(|_| D::Error::custom(format!("{name:?} is no square")))
    }
}

mod rfc3339 {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::record::Timestamp;

    pub(super) fn serialize<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(at)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        let moment: jiff::Timestamp = text.parse().map_err(D::Error::custom)?;
        Ok(Timestamp::from_millis(moment.as_millisecond()))
    }
}

mod rfc3339_option {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::record::Timestamp;

    #[expect(clippy::ref_option, reason = "the shape serde asks for")]
    pub(super) fn serialize<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
        match at {
            Some(at) => serializer.collect_str(at),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
        let moment: jiff::Timestamp = text.parse().map_err(D::Error::custom)?;
        Ok(Some(Timestamp::from_millis(moment.as_millisecond())))
    }
}
