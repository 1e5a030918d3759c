//! The serial protocol of DGT boards, both directions, written from published facts.
//!
//! | file | holds |
//! | --- | --- |
//! | `frame` | which bytes belong together; resynchronising; every byte accounted for |
//! | `piece` | piece codes and squares |
//! | `clock` | the time message, the acknowledgements disguised as one, messages to the clock |
//! | `command` | PC to board, single-board mode, and the stream a board receives |
//! | `message` | board to PC, single-board mode |
//! | `log` | the board's own log of changes, also carried inside bus replies |
//! | `bus` | the addressed frames of a chain, with checksums |
//! | `any` | a raw recording in either mode to observations |
//!
//! Nothing here waits or asks again: that is the driver's.

pub mod any;
pub mod bus;
pub mod clock;
pub mod command;
pub mod frame;
pub mod log;
pub mod message;
mod piece;

pub use clock::{Ack, AckKind, Button, ClockCommand, ClockMessage, ClockTime};
pub use command::{Command, CommandDecoder, Received};
pub use frame::{Dropped, Event};
pub use log::{Tag, Tags, events_of_last_game, events_since};
pub use message::{Battery, Decoder, Message};
pub use piece::{content_from_code, piece_code};
