//! What an event adds to a profile, and where a game stands when the referee takes it over.

use serde::{Deserialize, Serialize};
use shakmaty::ByColor;

use super::TimeControl;
use crate::record::Timestamp;

/// The event's rule on agreed draws (Laws 9.1.1). What the profile itself asks (a move by each)
/// holds besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DrawAgreement {
    /// Players agree when they like.
    #[default]
    Free,
    /// Not before this move of Black's has been made.
    MinMoves(u32),
    /// Only with the arbiter's consent.
    ArbiterConsent,
    /// Never.
    Forbidden,
}

/// Whether an alert on the desk counts as "the arbiter observes" (Laws 13.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ElectronicObservation {
    /// Once the arbiter acknowledges it.
    #[default]
    ArbiterConfirms,
    /// At once.
    Counts,
    /// Never: only a player's claim counts.
    Ignore,
}

/// Options of one game.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GameOptions {
    /// The time control, if it is known. Without it no clock setting can be judged.
    pub time_control: Option<TimeControl>,
    /// The game is in its last period although moves are not counted from its beginning.
    pub last_period: bool,
    /// Moves completed before the referee took over.
    #[serde(with = "by_color")]
    pub completed: ByColor<u32>,
    /// Illegal moves counted before the referee took over.
    #[serde(with = "by_color")]
    pub illegal: ByColor<u32>,
    /// Draws by agreement.
    pub draw_agreement: DrawAgreement,
    /// Does a screen count as observing?
    pub electronic_observation: ElectronicObservation,
    /// The event's own penalty for an illegal move, in seconds.
    pub penalty_s: Option<u32>,
    /// Default time in seconds (6.7.1); the profile's where `None`.
    pub default_time_s: Option<u32>,
    /// Quickplay-finish guidelines were announced (III.1).
    pub quickplay: bool,
    /// When the round really started; `None` while it has not.
    pub started_at: Option<Timestamp>,
    /// Games that one arbiter supervises, where known (13.3, 14.3).
    pub games_per_arbiter: Option<u32>,
    /// The pieces of a player are moved by an assistant (4.9): nothing is read from hands and times.
    pub assistant: bool,
}

/// `{"white": 1, "black": 0}`.
mod by_color {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use shakmaty::ByColor;

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sides {
        #[serde(default)]
        white: u32,
        #[serde(default)]
        black: u32,
    }

    pub(super) fn serialize<S: Serializer>(sides: &ByColor<u32>, serializer: S) -> Result<S::Ok, S::Error> {
        Sides { white: sides.white, black: sides.black }.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ByColor<u32>, D::Error> {
        let Sides { white, black } = Sides::deserialize(deserializer)?;
        Ok(ByColor { white, black })
    }
}
