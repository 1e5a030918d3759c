//! The one integration test binary.

mod architecture;
mod cases;
mod end_to_end;
mod event;
mod link;
mod livechess;
mod publish;
mod record;
mod serve;
mod sim;
mod sim_lines;
mod support;
mod track;
mod wire;
