//! `arbiterd backup`: a consistent copy of a journal, also while the daemon writes it; once, or kept up
//! to date for a second machine.

use std::{path::PathBuf, time::Duration};

use anyhow::bail;
use clap::Parser;

use super::run::{Stop, runtime};
use crate::journal::{Journal, JournalError};

/// How often a copy that follows looks for something new.
const EVERY: Duration = Duration::from_millis(500);

/// Inputs appended to the copy at once.
const GROUP: usize = 4096;

/// Arguments of `arbiterd backup`.
#[derive(Debug, Parser)]
#[command(
    after_help = "Example:\n  arbiterd backup --journal arbiterd.sqlite /mnt/stick/round-5.sqlite\n  arbiterd backup --journal arbiterd.sqlite --follow /mnt/second/arbiterd.sqlite\n\nThe copy is a journal like any other: start a second machine on it, and it has every game. With --follow it is \
a warm standby, at most a second behind: when the first machine fails, end this command, plug the boards into the second \
machine and start `arbiterd run` there on the copy."
)]
pub(super) struct Args {
    /// The journal. It is only read, and may be in use.
    #[arg(long, value_name = "FILE")]
    journal: PathBuf,
    /// Go on copying what is new, until Ctrl-C or SIGTERM. The copy may be there already.
    #[arg(long)]
    follow: bool,
    /// The copy. Without --follow it must not be there yet; it appears only when it is whole.
    to: PathBuf,
}

/// Runs it. Exit code 0.
pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    if args.follow {
        return runtime()?.block_on(follow(args));
    }
    if args.to.exists() {
        bail!("{} is there already; name a new file", args.to.display());
    }
    Journal::open_read_only(&args.journal)?.backup(&args.to)?;
    Ok(0)
}

async fn follow(args: &Args) -> anyhow::Result<u8> {
    let mut stop = Stop::install()?;
    let mut copy = begin(args)?;
    tracing::info!(inputs = copy.len()?, to = %args.to.display(), "the copy is up to date and follows");
    let mut source: Option<Journal> = None;
    let mut failing = false;
    loop {
        // Both may fail and come back: a disk that is full, a drive that was pulled, a daemon that
        // starts anew.
        match catch_up(args, &mut source, &mut copy) {
            Ok(()) => {
                if std::mem::take(&mut failing) {
                    tracing::info!("the copy follows again");
                }
            }
            Err(error) => {
                source = None;
                if !std::mem::replace(&mut failing, true) {
                    tracing::error!(%error, "the copy does not follow; trying again");
                }
            }
        }
        tokio::select! {
            () = stop.wait() => return Ok(0),
            () = tokio::time::sleep(EVERY) => {}
        }
    }
}

/// The copy, made if it is not there; refused if it is of another journal.
fn begin(args: &Args) -> anyhow::Result<Journal> {
    let source = Journal::open_read_only(&args.journal)?;
    if !args.to.exists() {
        source.backup(&args.to)?;
    }
    let copy = Journal::open(&args.to)?;
    let last = copy.len()?;
    if last > 0 && source.text(last)? != copy.text(last)? {
        bail!(
            "{} is not a copy of {}: input {last} differs; name another file",
            args.to.display(),
            args.journal.display()
        );
    }
    Ok(copy)
}

fn catch_up(args: &Args, source: &mut Option<Journal>, copy: &mut Journal) -> Result<(), JournalError> {
    let source = match source {
        Some(source) => source,
        none => none.insert(Journal::open_read_only(&args.journal)?),
    };
    let mut group: Vec<String> = Vec::new();
    source.read_after(copy.len()?, |entry| {
        group.push(entry.text);
        if group.len() >= GROUP {
            copy.append(group.iter().map(String::as_str))?;
            group.clear();
        }
        Ok::<_, JournalError>(())
    })?;
    if group.is_empty() { Ok(()) } else { copy.append(group.iter().map(String::as_str)) }
}
