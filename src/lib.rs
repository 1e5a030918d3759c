//! **arbiterd**: one daemon that reads electronic chess boards and clocks, follows every game,
//! holds each move against the Laws of Chess, alerts the arbiters, streams the games and archives
//! the round.
//!
//! Evidence goes in; the record and the alerts come out; the state is a fold over a journal of
//! inputs. Data walks down this list, and a room imports only rooms above it
//! (`tests/it/architecture.rs` holds that):
//!
//! | room | what it is |
//! | --- | --- |
//! | [`wire`] | the boards' languages: bytes to messages and back |
//! | [`record`] | the game: position, plies with their times, result, PGN |
//! | [`track`] | evidence to moves: which ply explains what the squares showed |
//! | [`laws`] | moves, presses, touches and clocks to alerts and rulings, under a profile |
//! | [`event`] | event, rounds, pairings, teams, time control; imports |
//! | [`hall`] | the one owner of all state: `apply(Input)` to updates |
//! | [`wall`] | the only place that reads a clock |
//! | [`journal`] | inputs on disk, read back in order |
//! | [`link`] | one driver a port |
//! | [`sim`] | simulated boards, moved by simulated hands |
//! | [`publish`] | outputs that go out by themselves |
//! | [`serve`] | listeners and pages |
//! | [`daemon`] | the one loop |
//! | [`cli`] | one file a subcommand |
//!
//! The first six are pure: no tokio, no files, sockets, threads or clock; time comes in with the
//! input.

// In the order in which data walks; blank lines keep it so.

pub mod wire;

pub mod record;

pub mod track;

pub mod laws;

pub mod event;

pub mod hall;

pub mod wall;

pub mod journal;

pub mod link;

pub mod sim;

pub mod publish;

pub mod serve;

pub mod daemon;

pub mod cli;
