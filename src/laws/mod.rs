//! Moves, presses, touches and clocks to alerts and rulings, under a profile.

pub mod mate;
