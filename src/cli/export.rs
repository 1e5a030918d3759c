//! `arbiterd export`: the archive tree of a round from a journal alone.

use std::path::PathBuf;

use clap::Parser;

use crate::{daemon, journal::Journal};

/// Arguments of `arbiterd export`.
#[derive(Debug, Parser)]
#[command(after_help = "Example:\n  arbiterd export --journal arbiterd.sqlite --round 3 round-3")]
pub(super) struct Args {
    /// The journal. It is only read, and may be in use.
    #[arg(long, value_name = "FILE")]
    journal: PathBuf,
    /// Only this round.
    #[arg(long, value_name = "N")]
    round: Option<u32>,
    /// Where the tree is written.
    dir: PathBuf,
}

/// Runs it. Exit code 0.
pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let journal = Journal::open_read_only(&args.journal)?;
    daemon::export(&journal, args.round, &args.dir)?;
    Ok(0)
}
