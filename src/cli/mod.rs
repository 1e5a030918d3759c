//! The command line: one file a subcommand.
//!
//! Exit codes: 0 done; 1 findings, or nothing found; 2 unreadable input or bad arguments; 78 bad
//! configuration.

mod backup;
mod boards;
pub mod check;
pub mod config;
mod demo;
mod doctor;
mod export;
mod qr;
#[cfg(feature = "nats")]
mod relay;
mod replay;
mod run;
mod scenario;
mod simulate;
mod token;

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

/// One daemon for chess events: follows electronic boards, holds every move against the Laws of
/// Chess, alerts the arbiters, broadcasts and archives the games.
#[derive(Debug, Parser)]
#[command(name = "arbiterd", version, propagate_version = true)]
struct Cli {
    /// Say more (twice: everything).
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// How logs are written to standard error.
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs the daemon; prints the addresses it serves. Ctrl-C and SIGTERM stop it.
    Run(run::Args),
    /// A simulated hall: boards, hands and clocks, no hardware and no configuration needed.
    Demo(demo::Args),
    /// Finished games against the Laws; or whether each side can still mate in a position.
    Check(check::Args),
    /// Runs recorded evidence through the code that runs live; JSON lines out.
    Replay(replay::Args),
    /// Simulated boards only, on pseudo-terminals, for any program that reads boards.
    Simulate(simulate::Args),
    /// Serial ports, and which board answers on each.
    Boards(boards::Args),
    /// Writes the archive tree of a round from a journal.
    Export(export::Args),
    /// A consistent copy of a journal, also while the daemon writes it.
    Backup(backup::Args),
    /// Looks at ports, permissions, disk, clock, network and journal, and says what is wrong.
    Doctor(doctor::Args),
    /// Makes a token to sign in at the desk with.
    Token(token::Args),
    /// Serves the public side of an event from what its halls publish to NATS JetStream.
    #[cfg(feature = "nats")]
    Relay(relay::Args),
}

/// Runs the program with the command line it was given.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    start_log(&cli);
    let code = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Boards(args) => boards::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Backup(args) => backup::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Token(args) => token::run(&args),
        #[cfg(feature = "nats")]
        Command::Relay(args) => relay::run(&args),
    };
    match code {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("arbiterd: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn start_log(cli: &Cli) {
    use tracing_subscriber::EnvFilter;
    let default = match cli.verbose {
        0 => "arbiterd=info",
        1 => "arbiterd=debug",
        _ => "arbiterd=trace",
    };
    let filter = EnvFilter::try_from_env("ARBITERD_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match cli.log_format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
}
