//! The decoder by scenario: a line of evidence in, the line of moves and what was found out.

#![expect(clippy::unwrap_used, reason = "a test may fail by it")]

mod bench_table;
mod captures;
mod cases;
mod play;
mod scramble;
mod streams;

pub(crate) use bench_table::Table;
