//! A player as the pairings name one.

use serde::{Deserialize, Serialize};

/// A player of a pairing. Everything but the name may be unknown.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Player {
    /// The name as PGN writes it: `Last, First`. Letters of any script.
    pub name: String,
    /// FIDE or national title, such as `GM`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Rating.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<u32>,
    /// Federation, three letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub federation: Option<String>,
    /// FIDE identity number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fide_id: Option<u32>,
    /// Team, in team events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// `m` or `w`, as TRF has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gender: Option<char>,
}

impl Player {
    /// A player of whom only the name is known.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}
