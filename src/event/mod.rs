//! Event, rounds, pairings, teams, time control; imports (PGN without moves, TRF).
//!
//! | file | what it holds |
//! | --- | --- |
//! | `import` | rounds from pairing programs |
//! | `model` | event, section, round, pairing, team |
//! | `player` | a player and his name |
//! | `time_control` | periods, increments, the forms people write them in, rapid and blitz |

pub mod import;
mod model;
mod order;
mod player;
mod time_control;

pub use model::{Bye, ByeKind, Event, Pairing, Round, Section, Team};
pub use order::natural_order;
pub use player::{NameParts, Player};
pub use time_control::{Class, Extra, Period, TimeControl, TimeControlError};
