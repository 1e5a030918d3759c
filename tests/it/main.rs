//! The one integration test binary.

mod architecture;
mod attack;
mod broadcast;
mod browser;
mod cases;
mod config;
mod crash;
mod crowd;
mod damaged_hall;
mod delayed;
mod desk_day;
mod durability;
mod end_to_end;
mod event;
mod hall;
mod hall_simulation;
mod laws;
mod laws_alarms;
#[cfg(feature = "upload")]
mod lichess;
mod lila;
mod link;
mod livechess;
mod mate;
#[cfg(feature = "nats")]
mod nats;
mod operation;
mod publish;
mod readers;
mod readers_live;
mod readme;
mod record;
mod rounds;
mod serve;
mod sim;
mod sim_lines;
mod support;
#[cfg(feature = "tls")]
mod tls;
mod tournament;
mod track;
mod wire;
