//! What an arbiter enters about a game. Tags and fields are the ones of the desk's API and of the
//! scenario files.

use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::alert::{AlertId, side_word, side_word_option};
use crate::record::GameResult;

/// What a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimKind {
    /// 9.2.
    Threefold,
    /// 9.3.
    #[serde(rename = "50-move", alias = "fifty-move")]
    FiftyMove,
    /// 7.5.1 (unsupervised play).
    IllegalMove,
    /// 6.8.
    Flag,
    /// Guidelines III.4 (18.4): five seconds more for each move of both.
    QuickplayIncrement,
    /// Guidelines III.5 (18.5): a draw, the opponent "cannot win by normal means".
    QuickplayFinish,
}

/// How the arbiter judged a touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TouchRuling {
    /// Not meant: no obligation.
    Accidental,
    /// Announced as adjusting (4.2).
    Adjusted,
    /// The touch counts.
    #[serde(alias = "upheld")]
    Deliberate,
}

/// An arbiter's entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields repeat the act's own words")]
pub enum Entry {
    /// A player claims; `intended` is the written move in UCI.
    Claim {
        #[serde(with = "side_word")]
        side: Color,
        kind: ClaimKind,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        intended: Option<String>,
    },
    /// A player takes a claim back (it cannot be taken back: 9.5).
    WithdrawClaim {
        #[serde(default, with = "side_word_option")]
        side: Option<Color>,
    },
    /// A player resigned.
    Resign {
        #[serde(with = "side_word")]
        side: Color,
    },
    DrawOffer {
        #[serde(with = "side_word")]
        side: Color,
    },
    /// `condition`: anything tied to the acceptance; it is void (Laws 9.1.2).
    DrawAccept {
        #[serde(with = "side_word")]
        side: Color,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        condition: Option<String>,
    },
    DrawReject {
        #[serde(with = "side_word")]
        side: Color,
    },
    DrawAgreed,
    TouchRuling {
        ruling: TouchRuling,
    },
    /// The arbiter saw a move made with two hands.
    TwoHands {
        #[serde(with = "side_word")]
        side: Color,
    },
    /// The flag was noticed by the arbiter.
    AckFlag {
        #[serde(with = "side_word")]
        side: Color,
    },
    /// A player is not there.
    Absent {
        #[serde(with = "side_word")]
        side: Color,
    },
    ReportReversedColours,
    /// The arbiter saw an illegal move, or found that one was played (`during`: such as `offline`).
    ReportIllegalFound {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        during: Option<String>,
        #[serde(default, with = "side_word_option")]
        side: Option<Color>,
    },
    /// The clock was found set wrongly, for this side.
    ReportClockSetting {
        #[serde(default, with = "side_word_option")]
        side: Option<Color>,
    },
    QueryMoveCount {
        #[serde(default, with = "side_word_option")]
        side: Option<Color>,
    },
    ScoresheetsSigned {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<GameResult>,
    },
    /// The result, fixed by the arbiter.
    Result {
        result: GameResult,
    },
    /// The game goes on after all.
    Reopen,
    /// The arbiter stopped the clocks, with the reason.
    Pause {
        #[serde(default)]
        reason: String,
    },
    /// Adjourned (Guidelines I); the sealed move stays in the envelope.
    Adjourn,
    /// Somebody has seen the alert.
    Acknowledge {
        alert: AlertId,
    },
    /// Dealt with; the note goes into the incident log.
    Resolve {
        alert: AlertId,
        #[serde(default)]
        note: String,
    },
    /// A free entry for the incident log.
    Incident {
        note: String,
    },
}
