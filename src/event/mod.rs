//! Event, rounds, pairings, teams, time control; imports (PGN without moves, TRF).
//!
//! | file | what it holds |
//! | --- | --- |
//! | `berger` | round robins |
//! | `import` | rounds from pairing programs |
//! | `latin` | names in Latin letters |
//! | `model` | event, section, round, pairing, team |
//! | `order` | boards and games by the number in their names |
//! | `player` | a player and his name |
//! | `team` | team matches and their protocols |

mod berger;
pub mod import;
mod latin;
mod model;
mod order;
mod player;
mod team;

pub use crate::laws::{Extra, Period, TimeControl, TimeControlError};
pub use berger::{BergerGame, BergerRound, berger, double_berger};
pub use latin::{is_latin, latin_name};
pub use model::{Bye, ByeKind, Event, Pairing, Round, Section, Team, is_word};
pub use order::natural_order;
pub use player::{NameParts, Player};
pub use team::{MatchProtocol, ProtocolBoard, first_team_colour, half_points, match_protocols, points_text};
