//! The one owner of all state: tables by number, `apply(Input)` to updates.
//!
//! Nothing else changes a game. Applying is pure: the same inputs give the same updates, byte for
//! byte, on any machine, and calling [`Hall::advance`] often or seldom makes no difference.

mod adjourn;
mod boards;
#[expect(clippy::module_inception, reason = "the hall is what this room is named after")]
mod hall;
mod incident;
mod incidents;
mod input;
mod news;
mod orders;
mod pairings;
mod rounds;
mod setup;
mod sheet;
mod table;
mod update;
mod view;

pub use adjourn::sealed_move;
pub use hall::{Hall, MAX_TABLES};
pub use incidents::{IncidentLog, IncidentRow, incident_rows};
pub use input::{
    BoardKey, Command, EventSetup, GameRef, Input, InputBody, OptionsSetup, RoundSetup, SectionSetup,
    TableId, TableSetup,
};
pub use orders::CONFIGURATION;
pub use pairings::round_of_draft;
pub use sheet::{CheckLine, CheckState, CloseLine, check_sheet, close_sheet, differing_squares};
pub use table::MateQuestion;
pub use update::{BoardView, ClockView, LinkView, Seq, TableInfo, TableStatus, Update, UpdateBody};
pub use view::{TableView, View};
