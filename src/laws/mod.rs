//! Moves, presses, touches and clocks to alerts and rulings, under a profile.
//!
//! A [`Referee`] watches one game. It is told what the tracker found, what the clock reads and what
//! the arbiter entered, and answers with [`Ruling`]s. It decides nothing that is the arbiter's: it
//! ends a game only where the Laws do so by themselves (5.1.1, 5.2.1, 5.2.2, 9.6). Knows nothing of
//! ports, files and sockets; texts people read are in `config/lang/`.

pub mod mate;

mod alert;
mod answer;
mod board;
mod catalogue;
mod claim;
mod clock;
mod counts;
mod desk;
mod ends;
mod enter;
mod entry;
mod flag;
mod gate;
mod hands;
mod legality;
mod offence;
mod options;
mod press;
mod profile;
mod referee;
mod result;
mod review;
mod setting;
mod standing;
mod texts;
mod time_control;
mod timers;
mod touch;
mod turn;
mod watch;

pub(crate) use alert::side_word;
pub use alert::{
    AddSeconds, Advice, Alert, AlertId, AlertState, Audience, Certainty, Code, Severity, Text, TouchEvidence,
};
pub use counts::Counts;
pub use entry::{ClaimKind, Entry, TouchRuling};
pub use options::{DrawAgreement, ElectronicObservation, GameOptions};
pub use profile::{
    BothFlags, ColoursCount, CorrectionWindow, Discipline, Editions, Profile, ProfileError, Quickplay, Rules,
};
pub use referee::{ClockTimes, Referee, Ruling};
pub use review::{Events, Review};
pub use texts::report_word;
pub use time_control::{Extra, Period, TimeControl, TimeControlError};
