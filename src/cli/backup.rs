//! `arbiterd backup`: a consistent copy of a journal, also while the daemon writes it.

use std::path::PathBuf;

use anyhow::bail;
use clap::Parser;

use crate::journal::Journal;

/// Arguments of `arbiterd backup`.
#[derive(Debug, Parser)]
#[command(
    after_help = "Example:\n  arbiterd backup --journal arbiterd.sqlite /mnt/stick/round-5.sqlite\n\nThe copy is a journal like any other: start a second machine on it, and it has every game."
)]
pub(super) struct Args {
    /// The journal. It is only read, and may be in use.
    #[arg(long, value_name = "FILE")]
    journal: PathBuf,
    /// The copy. It must not be there yet, and appears only when it is whole.
    to: PathBuf,
}

/// Runs it. Exit code 0.
pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    if args.to.exists() {
        bail!("{} is there already; name a new file", args.to.display());
    }
    Journal::open_read_only(&args.journal)?.backup(&args.to)?;
    Ok(0)
}
