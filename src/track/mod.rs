//! Evidence to moves: what the sensors showed, which ply explains it, how sure that is.
//!
//! [`Evidence`] goes in, [`Finding`]s come out. This room knows no articles and no penalties.

mod evidence;
mod finding;
mod tracker;

pub use evidence::{ClockSense, Correction, Evidence};
pub use finding::{AtPress, Cause, Finding, Irregular, SquareDiff, SquareFault, TrackedPly};
pub use tracker::Track;
