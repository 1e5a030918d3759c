//! A simulated hall: boards that behave as real ones, moved by hands that behave as people's do.
//!
//! | part | what it is |
//! | --- | --- |
//! | [`SimGame`] | the games to be played, read from PGN |
//! | [`hand`] | games to timed physical acts; the levels of play |
//! | [`Sensor`], [`ChessClock`], [`Device`] | what a board notices of the acts, in its own time |
//! | [`Firmware`] | a DGT board's processor: the serial protocol from the board's side |
//! | [`Line`] | what hangs on one serial line |
//! | [`Chain`], [`Certabo`], [`Millennium`] | several boards on one line; two other makes |
//! | [`Pty`], [`SimHall`] | lines on real pseudo-terminals, in real time or faster |
//! | [`play_virtual`], [`play_all`] | straight to observations, for benches |
//!
//! All but the terminals runs in virtual time and draws its chances from seeds, so that a run can be repeated.
//! It is written from the protocol's facts and knows nothing of how boards are read.

mod action;
mod certabo;
mod chain;
mod clock;
mod device;
mod famous;
mod firmware;
mod game;
pub mod hand;
mod line;
mod millennium;
mod pty;
mod sensor;
mod sim_hall;
mod virtual_play;

pub use action::{Action, PlayedGame, PlayedPly, Script, TimedAction};
pub use certabo::Certabo;
pub use chain::Chain;
pub use clock::ChessClock;
pub use device::{Device, DeviceSetup, Noticed};
pub use famous::famous_games;
pub use firmware::{BoardConfig, Firmware, Mode};
pub use game::{Control, GameError, Period, SimGame};
pub use hand::{HandOptions, Incident, IncidentKind, Level, Pace};
pub use line::Line;
pub use millennium::Millennium;
pub use pty::Pty;
pub use sensor::Sensor;
pub use sim_hall::{HallOptions, Progress, SimHall, SimPort, default_dir, port_name};
pub use virtual_play::{VirtualBoard, VirtualOptions, observe, play_all, play_virtual, script_of};
