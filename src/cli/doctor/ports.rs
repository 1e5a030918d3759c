//! Serial ports: are they there, may this user open them, does somebody else hold them. What board
//! answers is `arbiterd boards`.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use rustix::fs::{Access, access};

use super::Finding;
use crate::{
    daemon::Settings,
    link::{PortConfig, ports_of},
};

pub(super) fn examine(settings: &Settings, findings: &mut Vec<Finding>) {
    if settings.ports.is_empty() {
        findings.push(Finding::warn(
            "ports",
            "no [[port]] is configured: no board will be read",
            "add one, such as path = \"/dev/ttyUSB*\"",
        ));
        return;
    }
    for port in &settings.ports {
        port_of(port, findings);
    }
    if let Some(manager) = running("ModemManager") {
        findings.push(Finding::warn(
            "ports",
            format!("ModemManager runs (process {manager}); it sends commands of its own to serial ports"),
            "install the udev rules (systemd/70-arbiterd.rules), or stop it: systemctl disable --now ModemManager",
        ));
    }
}

fn port_of(port: &PortConfig, findings: &mut Vec<Finding>) {
    let found = ports_of(port);
    if found.is_empty() {
        findings.push(Finding::warn(
            "ports",
            format!("nothing is at {}", port.path),
            "plug the board in and switch it on; Bluetooth boards need `rfcomm bind` first; `dmesg` names what was plugged in",
        ));
        return;
    }
    for path in found {
        findings.push(one(&path, port.exclusive));
    }
}

fn one(path: &str, exclusive: bool) -> Finding {
    if let Err(error) = access(path, Access::READ_OK | Access::WRITE_OK) {
        let group = fs::metadata(path).ok().map(|file| group_name(file.gid())).unwrap_or_default();
        return Finding::fail(
            "ports",
            format!("{path} may not be opened by this user: {error}"),
            format!("add the user to its group and sign in again: usermod -aG {group} USER"),
        );
    }
    match holder(path) {
        Some((process, name)) if exclusive && name != "arbiterd" => Finding::fail(
            "ports",
            format!("{path} is held by {name} (process {process})"),
            "stop that program: two readers of one board take each other's bytes",
        ),
        Some((process, name)) => {
            Finding::ok("ports", format!("{path} is there, and read by {name} (process {process})"))
        }
        None => Finding::ok("ports", format!("{path} is there and may be opened")),
    }
}

/// The group's name, or its number where it has none.
fn group_name(number: u32) -> String {
    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    groups
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(':');
            Some((fields.next()?, fields.nth(1)?))
        })
        .find(|(_, group)| group.parse() == Ok(number))
        .map_or_else(|| number.to_string(), |(name, _)| name.to_owned())
}

/// Processes by number, as far as this user may see them.
fn processes() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn name_of(process: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/{process}/comm")).ok().map(|name| name.trim().to_owned())
}

fn running(wanted: &str) -> Option<u32> {
    processes().find(|process| name_of(*process).as_deref() == Some(wanted))
}

/// Who has this device open, as far as this user may see.
fn holder(path: &str) -> Option<(u32, String)> {
    let device = fs::canonicalize(path).ok()?;
    processes().filter(|process| *process != std::process::id()).find_map(|process| {
        let open = fs::read_dir(format!("/proc/{process}/fd")).ok()?;
        let holds = open
            .filter_map(Result::ok)
            .filter_map(|entry| fs::read_link(entry.path()).ok())
            .any(|target: std::path::PathBuf| target.as_path() == Path::new(&device));
        holds.then(|| (process, name_of(process).unwrap_or_else(|| "another program".to_owned())))
    })
}
