//! `laws::mate` beside the crate `chasolver` 3.0.0, in one process.
//!
//! * `dev FILE.tsv [--alone] [--once] [--every N] [--family F]`: every question of a table of proved verdicts; wrong, unknown, times, ratios.
//! * `games [--alone] [--every N] FILE.pgn…`: both sides of positions of real games; times.
//! * `differ COUNT FILE.pgn…` and `differ-closed COUNT FILE.tsv SEED [--caged] [--seconds S]`: contradictions only. The
//!   closed positions come in lots of 1,000, one a seed, from SEED on: a long run is done in pieces.
//! * `sample < FENS`: rows for a table of positions on which both agree.

#[path = "../../../src/laws/mate/mod.rs"]
#[allow(dead_code, unreachable_pub)]
mod mate;

mod dev;
mod differ;
mod games;
mod reference;
mod stats;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("dev") => dev::run(&args[1..]),
        Some("games") => games::run(&args[1..]),
        Some("differ") => differ::games(&args[1..]),
        Some("sample") => differ::sample(),
        Some("differ-closed") => differ::closed(&args[1..]),
        _ => eprintln!("dev FILE.tsv [--alone] | games [--alone] [--every N] FILE.pgn… | differ N FILE.pgn… | differ-closed N FILE.tsv SEED [--caged] [--seconds S] | sample < FENS"),
    }
}
