//! Everything that reaches the hall, as it is written to the journal.

use std::fmt;

use serde::{Deserialize, Serialize};
use shakmaty::Color;

use crate::{
    event::Player,
    laws::{Code, DrawAgreement, ElectronicObservation, Entry},
    record::{Position, Tags, Timestamp},
    track::Correction,
    wire::Observation,
};

/// A table's number in the hall, from 1. It is the game's number in the round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TableId(pub u32);

impl fmt::Display for TableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a board is known by: its serial number, or the path of its port where it is bound by that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BoardKey(pub String);

impl fmt::Display for BoardKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One input: what happened, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// When it reached the daemon. Never earlier than the input before it.
    pub at: Timestamp,
    /// What it is.
    #[serde(flatten)]
    pub body: InputBody,
}

/// The kinds of input.
#[expect(clippy::large_enum_variant, reason = "inputs are read, applied and dropped one by one")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputBody {
    /// A board said something.
    Board(BoardKey, Observation),
    /// Somebody entered something. `by` is the name of the token.
    Command {
        /// Who.
        by: String,
        /// What.
        #[serde(flatten)]
        command: Command,
    },
    /// The daemon started (again) on this journal.
    Started {
        /// Its version.
        version: String,
    },
    /// The daemon stopped in order. Whatever fell due by then has been said.
    Stopped,
    /// The answer to a long mate question, worked out beside the hall.
    Mate {
        /// Which table asked.
        table: TableId,
        /// The position asked about.
        fen: String,
        /// Who would have to mate.
        #[serde(with = "crate::laws::side_word")]
        side: Color,
        /// The verdict, as `laws::mate` words it.
        verdict: serde_json::Value,
    },
}

/// What arbiters and operators can order.
#[expect(clippy::large_enum_variant, reason = "orders are rare and short-lived")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the fields repeat the command's own words")]
pub enum Command {
    /// The event's data. Replaces what was known; running games go on.
    Event { event: EventSetup },
    /// Opens a round with its tables. Games of an earlier round are closed as they stand. A table
    /// that names no board keeps the one that stands there. If it is the round that is being played,
    /// its games go on, and only what is said of them changes.
    Round { round: RoundSetup },
    /// Opens a round of one section of the event; the tables of the other sections go on.
    SectionRound { section: String, round: RoundSetup },
    /// Changes one table's data during play: players, board, profile. The game goes on.
    Table { table: TableSetup },
    /// Corrects the players of a table and nothing else; who is left out stays.
    Players {
        table: TableId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        white: Option<Player>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        black: Option<Player>,
    },
    /// The game of a table is played anew from its start position; what was played stays in the journal.
    NewGame { table: TableId },
    /// Binds a board to a table.
    Bind { table: TableId, board: BoardKey },
    /// Takes the board away from a table: it belongs to no table then.
    Unbind { table: TableId },
    /// The boards of two tables were exchanged: their evidence and games change places.
    SwapBoards { a: TableId, b: TableId },
    /// Goes on with an adjourned game: the table's own, or another at this table. `sealed` is the move in
    /// the envelope, in SAN (English or Russian) or UCI. Moves count once the board shows the position.
    Resume {
        table: TableId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        game: Option<GameRef>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sealed: Option<String>,
    },
    /// An arbiter's entry about a game.
    Entry { table: TableId, entry: Entry },
    /// An operator's correction of a game.
    Correct { table: TableId, correction: Correction },
    /// No alerts of this kind for this table any more (or again).
    Mute { table: TableId, code: Code, muted: bool },
    /// The public delay from now on, in seconds (0 to 3600).
    Delay { seconds: u32 },
    /// The round begins: default time counts from here.
    StartRound,
    /// The round is over; what is missing is listed.
    CloseRound,
    /// The round of one section begins.
    StartSection { section: String },
    /// The round of one section is over.
    CloseSection { section: String },
}

/// A game of a round that may be over.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GameRef {
    /// Its section; empty in an event of one.
    #[serde(default)]
    pub section: String,
    /// Its round.
    pub round: u32,
    /// Its number in the round.
    pub board: u32,
}

/// The event.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EventSetup {
    /// A short word for addresses and files: letters, digits, `-`.
    pub id: String,
    /// PGN's Event.
    pub name: String,
    /// PGN's Site.
    pub site: String,
    /// Rules profile for all tables that name none.
    pub profile: String,
    /// Time control, such as `40/5400+30:1800+30`.
    pub time_control: String,
    /// How many rounds are planned; 0 if not known.
    pub rounds: u32,
    /// The public delay in seconds.
    pub delay_seconds: u32,
    /// Options for all tables that say nothing else.
    #[serde(skip_serializing_if = "OptionsSetup::is_default")]
    pub options: OptionsSetup,
    /// The event's own editions of the Laws, each the text of a file as in `config/laws/`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub editions: Vec<String>,
    /// A board that belongs to no table goes to the first table without one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub auto_bind: bool,
    /// Names are written in Latin letters in PGN, where a transcription is known; everywhere else they stay.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub latin_tags: bool,
    /// The language of what is printed for the event, `en` or `ru`; empty: that of its rules.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub language: String,
    /// Tournaments of their own in the same hall; what one leaves out is the event's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<SectionSetup>,
}

impl EventSetup {
    /// `en` or `ru`: what was chosen; else Russian under the Russian rules, and English.
    #[must_use]
    pub fn language(&self) -> &'static str {
        match self.language.as_str() {
            "ru" => "ru",
            "" if self.profile.starts_with("ru-") => "ru",
            _ => "en",
        }
    }
}

/// A tournament of its own within the event, with its own rounds.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SectionSetup {
    /// A short word, unique in the event: letters, digits, `-`, `_`.
    pub id: String,
    /// As it stands in lists; PGN's Event is the event's name and this one.
    pub name: String,
    /// Its profile, if not the event's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Its time control, if not the event's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_control: Option<String>,
    /// Its board 1 stands at this table (0 and 1: at table 1).
    pub first_table: u32,
}

/// A round.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoundSetup {
    /// Its number, from 1.
    pub number: u32,
    /// Its date, `YYYY-MM-DD`, for PGN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Its tables.
    pub tables: Vec<TableSetup>,
}

/// A table of a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSetup {
    /// Its number.
    pub table: TableId,
    /// The board that stands there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<BoardKey>,
    /// White.
    #[serde(default)]
    pub white: Player,
    /// Black.
    #[serde(default)]
    pub black: Player,
    /// The position the game starts from.
    #[serde(default)]
    pub start: Position,
    /// Its profile, if not the event's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Its time control, if not the event's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_control: Option<String>,
    /// More PGN tags.
    #[serde(default, skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    /// Where the referee takes the game over, and the event's options.
    #[serde(default, skip_serializing_if = "OptionsSetup::is_default")]
    pub options: OptionsSetup,
}

/// Options of one game: what the event adds to its profile, and where the game stands.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OptionsSetup {
    /// Moves completed by White and Black before.
    #[serde(skip_serializing_if = "is_zero")]
    pub completed: [u32; 2],
    /// Illegal moves counted against White and Black before.
    #[serde(skip_serializing_if = "is_zero")]
    pub illegal: [u32; 2],
    /// The game is in its last period.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub last_period: bool,
    /// The event's rule on agreed draws.
    pub draw_agreement: DrawAgreement,
    /// Whether an alert on a screen counts as the arbiter's observation (13.4.2).
    pub electronic_observation: ElectronicObservation,
    /// The event's own penalty for an illegal move, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penalty_seconds: Option<u32>,
    /// Default time, in seconds (6.7.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_time_seconds: Option<u32>,
    /// Quickplay-finish guidelines were announced.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub quickplay: bool,
    /// Games that one arbiter supervises, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub games_per_arbiter: Option<u32>,
    /// An assistant moves a player's pieces (4.9).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub assistant: bool,
}

impl OptionsSetup {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// These options; where they say nothing, the event's.
    #[must_use]
    pub fn or(&self, event: &Self) -> Self {
        let (own, default) = (self.clone(), Self::default());
        Self {
            draw_agreement: if own.draw_agreement == default.draw_agreement {
                event.draw_agreement
            } else {
                own.draw_agreement
            },
            electronic_observation: if own.electronic_observation == default.electronic_observation {
                event.electronic_observation
            } else {
                own.electronic_observation
            },
            penalty_seconds: own.penalty_seconds.or(event.penalty_seconds),
            default_time_seconds: own.default_time_seconds.or(event.default_time_seconds),
            quickplay: own.quickplay || event.quickplay,
            games_per_arbiter: own.games_per_arbiter.or(event.games_per_arbiter),
            ..own
        }
    }
}

fn is_zero(pair: &[u32; 2]) -> bool {
    *pair == [0, 0]
}
