//! Evidence to moves: what the sensors showed, which ply explains it, how sure that is.
//!
//! [`Evidence`] goes in, [`Finding`]s come out. This room knows no articles and no penalties.

mod account;
mod bridge;
mod correct;
mod ending;
mod evidence;
mod eyes;
mod faults;
mod finding;
mod gap;
mod irregular;
mod line;
mod memory;
mod moves;
mod press;
mod setup;
mod threads;
mod tracker;
mod trouble;
mod weave;

pub use evidence::{ClockSense, Correction, Evidence};
pub use finding::{AtPress, Cause, Finding, Irregular, SquareDiff, SquareFault, TrackedPly};
pub use tracker::Track;
