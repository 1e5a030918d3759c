//! Event, rounds, pairings, teams, time control; imports (PGN without moves, TRF).

mod player;

pub use player::Player;
