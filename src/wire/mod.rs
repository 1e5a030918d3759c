//! The boards' languages: bytes to messages and back, one submodule a make.
//!
//! [`Observation`] is what any board can say, whatever its make. A driver in `link` reads bytes,
//! a decoder here turns them into the make's own messages, and those into observations. Rooms
//! further down never see a byte. This room knows no ports, no time-outs and no chess rules.
//!
//! # What a new make needs
//! 1. **Here, a submodule** with its messages as an enum, `encode` for both directions (somebody
//!    will want to simulate the board), and a `Decoder` fed byte by byte. The decoder must find its
//!    place again after noise, bound every length, and account for every byte: delivered, counted in
//!    a [`dgt::Dropped`], or pending. Nothing may panic, whatever comes: add a target under `fuzz/`.
//! 2. **Squares** as [`Squares`] in the board's own numbering, 0 = a8 when the cable is at White's
//!    left; a make that counts otherwise is renumbered here. What is felt but not known is
//!    [`Content::Occupied`]. Orientation is not decided here.
//! 3. **In `link`, a driver**: a state machine that is told bytes and the time and answers with
//!    bytes to send and observations. It says `Up` once it is sure who answers, tells changes as
//!    they come and a dump first, and gives up with a reason in words when the board falls silent.
//!    A make without serial numbers is known by its port. It sends nothing that writes to the
//!    board's memory and no command another model could misunderstand.
//! 4. **In `sim`, a simulated board**, written from the facts and not from the driver; the driver is
//!    tested against scripted bytes, so that one mistake cannot hide in both.
//! 5. A name in the configuration's `make`, the line settings in `link`, and the worked bytes in
//!    `tests/data/`.

pub mod certabo;
pub mod dgt;
pub mod millennium;
mod observation;

pub use observation::{
    BatteryReading, BoardIdentity, BoardSquare, ClockReading, ClockSide, ClockState, Content, LinkEvent,
    Observation, RecoveredEvent, Squares,
};
