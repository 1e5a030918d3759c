//! `arbiterd doctor`: looks at what a round needs of the machine and says what is wrong and what to
//! do about it. Changes nothing; may run beside the daemon.
//!
//! | file | what it looks at |
//! | --- | --- |
//! | `disk` | journal, archive: writable, room, whole |
//! | `machine` | clock, limits of the system |
//! | `network` | listeners: addresses, tokens, TLS |
//! | `ports` | serial ports: there, allowed, not taken |

mod disk;
mod machine;
mod network;
mod ports;

use std::path::{Path, PathBuf};

use clap::Parser;
use serde::Serialize;

use super::config;
use crate::daemon::Settings;

/// Exit code where something would keep a round from being followed.
const FINDINGS: u8 = 1;
/// Exit code for a bad configuration (`EX_CONFIG`).
const BAD_CONFIGURATION: u8 = 78;

/// Arguments of `arbiterd doctor`.
#[derive(Debug, Parser)]
#[command(
    after_help = "Example:\n  arbiterd doctor --config arbiterd.toml\n\nExit code 0: all well, or only warnings; 1: something would keep a round from being followed; \
78: bad configuration. Run it as the user the daemon runs as: what root may do says little."
)]
pub(super) struct Args {
    /// The configuration file. Without one: what `arbiterd run` would do without one.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// One JSON object a line: `{"check","state","says","remedy"}`.
    #[arg(long)]
    json: bool,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    /// As it should be.
    Ok,
    /// A round can be followed, but somebody should know.
    Warn,
    /// A round cannot be followed, or its record is at risk.
    Fail,
}

/// What one look found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// What was looked at: `disk`, `journal`, `ports`…
    pub(super) check: &'static str,
    pub(super) state: State,
    /// What is so.
    pub(super) says: String,
    /// What to do; empty where nothing has to be done.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) remedy: String,
}

impl Finding {
    pub(super) fn ok(check: &'static str, says: impl Into<String>) -> Self {
        Self { check, state: State::Ok, says: says.into(), remedy: String::new() }
    }

    pub(super) fn warn(check: &'static str, says: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, state: State::Warn, says: says.into(), remedy: remedy.into() }
    }

    pub(super) fn fail(check: &'static str, says: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, state: State::Fail, says: says.into(), remedy: remedy.into() }
    }
}

/// Runs it. Exit code 0, 1 for findings, 78 for a bad configuration.
pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let settings = match &args.config {
        Some(path) => match config::load(path) {
            Ok(settings) => settings,
            Err(error) => {
                eprintln!("{error}");
                return Ok(BAD_CONFIGURATION);
            }
        },
        None => Settings { journal: Path::new("arbiterd.sqlite").to_owned(), ..Settings::default() },
    };
    let findings = examine(&settings);
    print(&findings, args.json)?;
    Ok(if findings.iter().any(|finding| finding.state == State::Fail) { FINDINGS } else { 0 })
}

/// Everything, in the order in which a round would need it.
fn examine(settings: &Settings) -> Vec<Finding> {
    let mut findings = Vec::new();
    disk::examine(settings, &mut findings);
    ports::examine(settings, &mut findings);
    network::examine(&settings.serve, &mut findings);
    machine::examine(settings, &mut findings);
    findings
}

#[expect(clippy::print_stdout, reason = "the findings are this command's output")]
fn print(findings: &[Finding], json: bool) -> anyhow::Result<()> {
    for finding in findings {
        if json {
            println!("{}", serde_json::to_string(finding)?);
            continue;
        }
        let state = match finding.state {
            State::Ok => "ok",
            State::Warn => "warn",
            State::Fail => "FAIL",
        };
        println!("{state:<5} {:<8} {}", finding.check, finding.says);
        if !finding.remedy.is_empty() {
            println!("{:<14} {}", "", finding.remedy);
        }
    }
    Ok(())
}
