//! The one owner of all state: tables by number, `apply(Input)` to updates.
//!
//! Nothing else changes a game. Applying is pure: the same inputs give the same updates, byte for
//! byte, on any machine, and calling [`Hall::advance`] often or seldom makes no difference.

#[expect(clippy::module_inception, reason = "the hall is what this room is named after")]
mod hall;
mod incidents;
mod input;
mod news;
mod setup;
mod table;
mod update;
mod view;

pub use hall::{Hall, MAX_TABLES};
pub use incidents::{IncidentRow, incident_rows};
pub use input::{
    BoardKey, Command, EventSetup, Input, InputBody, OptionsSetup, RoundSetup, TableId, TableSetup,
};
pub use table::MateQuestion;
pub use update::{ClockView, LinkView, Seq, TableInfo, TableStatus, Update, UpdateBody};
pub use view::{TableView, View};
