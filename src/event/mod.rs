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
//! | `time_control` | periods, increments, the forms people write them in, rapid and blitz |

mod berger;
pub mod import;
mod latin;
mod model;
mod order;
mod player;
mod team;
mod time_control;

pub use berger::{BergerGame, BergerRound, berger, double_berger};
pub use latin::{is_latin, latin_name};
pub use model::{Bye, ByeKind, Event, Pairing, Round, Section, Team};
pub use order::natural_order;
pub use player::{NameParts, Player};
pub use team::{MatchProtocol, ProtocolBoard, first_team_colour, half_points, match_protocols, points_text};
pub use time_control::{Class, Extra, Period, TimeControl, TimeControlError};
