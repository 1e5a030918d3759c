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
    /// Start rank in the pairing program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
}

impl Player {
    /// A player of whom only the name is known.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// The name in the three parts the LiveChess formats have. Without a comma it stays whole as the
    /// family name, since nothing says which part is which.
    #[must_use]
    pub fn parts(&self) -> NameParts<'_> {
        let name = self.name.trim();
        match name.split_once(',') {
            Some((family, given)) if !family.trim().is_empty() => {
                let mut given = given.trim().splitn(2, ' ');
                NameParts {
                    family: Some(family.trim()),
                    given: given.next().filter(|part| !part.is_empty()),
                    middle: given.next().map(str::trim).filter(|part| !part.is_empty()),
                }
            }
            _ => NameParts { family: (!name.is_empty()).then_some(name), ..NameParts::default() },
        }
    }

    /// The same person, as far as that can be told: by FIDE id where both have one, else by name.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self.fide_id, other.fide_id) {
            (Some(a), Some(b)) if a != 0 && b != 0 => a == b,
            _ => self.name == other.name && !self.name.is_empty(),
        }
    }
}

/// A name in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct NameParts<'a> {
    /// Before the comma.
    pub family: Option<&'a str>,
    /// First word after it.
    pub given: Option<&'a str>,
    /// The other words.
    pub middle: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_apart_at_the_comma() {
        let player = Player::named("Nunn, John D M");
        let parts = player.parts();
        assert_eq!((parts.family, parts.given, parts.middle), (Some("Nunn"), Some("John"), Some("D M")));
        assert_eq!(Player::named("Ding Liren").parts().family, Some("Ding Liren"));
        assert_eq!(Player::default().parts(), NameParts::default());
    }

    #[test]
    fn an_identity_number_counts_for_more_than_the_spelling() {
        let a = Player { fide_id: Some(7), ..Player::named("Müller") };
        let b = Player { fide_id: Some(7), ..Player::named("Mueller") };
        assert!(a.is_same(&b));
        assert!(!Player::default().is_same(&Player::default()));
    }
}
