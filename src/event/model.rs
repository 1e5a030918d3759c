//! What an event is made of: sections, rounds, pairings, players, teams.

use serde::{Deserialize, Serialize};

use super::{Player, TimeControl};
use crate::record::{GameResult, Position, Timestamp};

/// A chess event: one hall, one or more sections.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Event {
    /// Short name in addresses (`/get/{id}/…`): letters, digits, hyphens.
    pub id: String,
    /// Full name, PGN's Event.
    pub name: String,
    /// Town or venue, PGN's Site.
    pub site: String,
    /// Three-letter FIDE code or two-letter ISO code of the country.
    pub country: Option<String>,
    /// Address of the event's page.
    pub website: Option<String>,
    /// First day, `YYYY-MM-DD`.
    pub start: Option<String>,
    /// Last day, `YYYY-MM-DD`.
    pub end: Option<String>,
    /// Name of the chief arbiter, for protocols.
    pub chief_arbiter: Option<String>,
    /// The sections in one hall.
    pub sections: Vec<Section>,
}

/// A tournament of its own within the event.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Section {
    /// Short name, unique in the event; empty when there is only one.
    pub id: String,
    /// As it stands in lists; added to the event's name in PGN.
    pub name: String,
    /// Time control of its games.
    pub time_control: Option<TimeControl>,
    /// Profile of the Laws, such as `fide-2023/classical`.
    pub profile: Option<String>,
    /// Its boards 1, 2, … stand at the tables from this number on (0 and 1: at their own).
    pub first_table: u32,
    /// Teams, if it is a team event.
    pub teams: Vec<Team>,
    /// Rounds in order.
    pub rounds: Vec<Round>,
}

/// A round of a section.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Round {
    /// From 1.
    pub number: u32,
    /// Day of play, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// When it is to start.
    pub starts_at: Option<Timestamp>,
    /// Default time in minutes (Laws 6.7); the event's or profile's when not given.
    pub default_minutes: Option<u32>,
    /// Where it differs from the section's.
    pub time_control: Option<TimeControl>,
    /// The boards in order.
    pub pairings: Vec<Pairing>,
    /// Players without a game.
    pub byes: Vec<Bye>,
}

/// A game to be played.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pairing {
    /// Its number in the round, from 1: order of play lists, files and feeds.
    pub board: u32,
    /// Table in the hall, where it is not the one that follows from the board.
    pub table: Option<u32>,
    /// Has the white pieces.
    pub white: Player,
    /// Has the black pieces.
    pub black: Player,
    /// Stays the same whatever else is corrected, so that receivers know the game again.
    pub game_id: String,
    /// In a team event the number of the match in the round, from 1.
    pub match_number: Option<u32>,
    /// Entered or imported result.
    pub result: Option<GameResult>,
    /// Start position, where it is not the standard one.
    pub start: Option<Position>,
}

/// A team and its list of players, in board order.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Team {
    /// Its name.
    pub name: String,
    /// Its captain, for protocols.
    pub captain: Option<String>,
    /// Start ranks of its players.
    pub members: Vec<u32>,
}

/// A player without a game in a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bye {
    /// Who.
    pub player: Player,
    /// What it is worth.
    pub kind: ByeKind,
}

/// What a bye is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ByeKind {
    /// Given by the pairing program for want of an opponent.
    Allocated,
    /// A full point.
    Full,
    /// Half a point, asked for.
    Half,
    /// Nothing: absent.
    Zero,
}

impl Round {
    /// Gives each game that has none an id that stays when boards, names or the event's name are
    /// corrected: receivers know a game by it. `prefix` tells events and sections apart.
    pub fn assign_game_ids(&mut self, prefix: &str) {
        let taken: Vec<String> = self.pairings.iter().map(|pairing| pairing.game_id.clone()).collect();
        let mut number = 0;
        for pairing in &mut self.pairings {
            while pairing.game_id.is_empty() {
                number = (number + 1).max(if number == 0 { pairing.board } else { 0 });
                let id = format!("{prefix}-r{}-g{number}", self.number);
                if !taken.contains(&id) {
                    pairing.game_id = id;
                }
            }
        }
    }
}

impl Section {
    /// The table where a board of this section stands.
    #[must_use]
    pub fn table_of(&self, pairing: &Pairing) -> u32 {
        pairing.table.unwrap_or_else(|| self.first_table.max(1) - 1 + pairing.board)
    }

    /// The time control of a round.
    #[must_use]
    pub fn time_control_of<'a>(&'a self, round: &'a Round) -> Option<&'a TimeControl> {
        round.time_control.as_ref().or(self.time_control.as_ref())
    }
}

impl Event {
    /// The PGN tags of a game, in the order they are written. `section` and `round` are the ones the
    /// pairing stands in.
    #[must_use]
    pub fn tags(&self, section: &Section, round: &Round, pairing: &Pairing) -> crate::record::Tags {
        let mut tags = crate::record::Tags::default();
        let event = match (self.name.as_str(), section.name.as_str()) {
            (name, "") | ("", name) => name.to_owned(),
            (event, section) => format!("{event} - {section}"),
        };
        let site = match (&self.site, &self.country) {
            (site, Some(country)) if !site.is_empty() && !site.ends_with(country.as_str()) => {
                format!("{site} {country}")
            }
            (site, _) => site.clone(),
        };
        tags.set("Event", event);
        tags.set("Site", site);
        tags.set("Date", round.date.as_deref().map_or_else(String::new, |date| date.replace('-', ".")));
        tags.set("Round", format!("{}.{}", round.number, pairing.board));
        tags.set("White", pairing.white.name.as_str());
        tags.set("Black", pairing.black.name.as_str());
        if let Some(tc) = section.time_control_of(round) {
            tags.set("TimeControl", tc.to_pgn());
        }
        for (side, player) in [("White", &pairing.white), ("Black", &pairing.black)] {
            let numbers = [("Elo", player.rating), ("FideId", player.fide_id)];
            let words = [("Title", &player.title), ("Team", &player.team)];
            for (name, value) in words {
                if let Some(value) = value {
                    tags.set(&format!("{side}{name}"), value.as_str());
                }
            }
            for (name, value) in numbers {
                if let Some(value) = value {
                    tags.set(&format!("{side}{name}"), value.to_string());
                }
            }
        }
        tags.set("Board", pairing.board.to_string());
        if !pairing.game_id.is_empty() {
            tags.set("GameId", pairing.game_id.as_str());
        }
        tags
    }
}

/// Whether a text may be an identity that stands in addresses and game ids: 1 to 64 ASCII letters, digits,
/// `-` and `_`.
#[must_use]
pub fn is_word(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_counts_its_tables_from_its_first() {
        let section = Section { first_table: 11, ..Section::default() };
        let third = Pairing { board: 3, ..Pairing::default() };
        assert_eq!(section.table_of(&third), 13);
        assert_eq!(Section::default().table_of(&third), 3);
        assert_eq!(section.table_of(&Pairing { table: Some(40), ..third }), 40);
    }
}
