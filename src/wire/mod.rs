//! The boards' languages: bytes to messages and back, one submodule a make.
//!
//! [`Observation`] is what any board can say, whatever its make. A driver in `link` reads bytes,
//! a decoder here turns them into the make's own messages, and those into observations. Rooms
//! further down never see a byte. This room knows no ports, no time-outs and no chess rules.

pub mod dgt;
mod observation;

pub use observation::{
    BatteryReading, BoardIdentity, BoardSquare, ClockReading, ClockSide, ClockState, Content, LinkEvent,
    Observation, RecoveredEvent, Squares,
};
