//! The machine: is its clock right, does the system allow enough open files.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use rustix::process::{Resource, getrlimit};

use super::Finding;
use crate::{daemon::Settings, record::Timestamp, wall};

/// No event is followed before this program was written: 2026-01-01.
const EARLIEST: i64 = 1_767_225_600_000;

/// Files beside connections and ports: journal, archive, pages of the runtime.
const SPARE: u64 = 64;

pub(super) fn examine(settings: &Settings, findings: &mut Vec<Finding>) {
    findings.push(clock());
    findings.push(open_files(settings));
}

fn clock() -> Finding {
    let now = wall::now();
    let says = |what: &str| format!("the clock says {} UTC{what}", now.to_rfc3339());
    let remedy = "set it (timedatectl set-time), and let the system keep it: timedatectl set-ntp true";
    if now < Timestamp::from_millis(EARLIEST) {
        return Finding::fail("clock", says(", which is long ago"), remedy);
    }
    match synchronized() {
        Some(true) => Finding::ok("clock", says(" and is kept by a time server")),
        Some(false) => Finding::warn("clock", says(" and is not kept by a time server"), remedy),
        None => Finding::warn(
            "clock",
            says("; whether a time server keeps it is not known"),
            "compare it with a watch: alerts, PGN and the incident log carry its times",
        ),
    }
}

/// Whether a time server keeps the clock, where the system tells.
fn synchronized() -> Option<bool> {
    if Path::new("/run/systemd/timesync/synchronized").exists() {
        return Some(true);
    }
    let asked = Command::new("timedatectl")
        .args(["show", "--property=NTPSynchronized", "--value"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    match String::from_utf8_lossy(&asked.stdout).trim() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn open_files(settings: &Settings) -> Finding {
    let serve = &settings.serve;
    let connections: u64 = [&serve.desk, &serve.public, &serve.livechess]
        .into_iter()
        .flatten()
        .map(|listener| listener.limits.connections as u64)
        .sum();
    let wanted = connections + SPARE;
    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < 1024 => Finding::fail(
            "limits",
            format!("only {limit} files may be open at once: viewers would be turned away"),
            "raise it: `ulimit -n 32768`, or LimitNOFILE=32768 in the unit",
        ),
        Some(limit) if limit < wanted => Finding::warn(
            "limits",
            format!("{limit} files may be open at once; all listeners full would take {wanted}"),
            "enough for a hall and about as many viewers; for more: LimitNOFILE=32768 in the unit",
        ),
        _ => Finding::ok("limits", "enough files may be open at once"),
    }
}
