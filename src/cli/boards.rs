//! `arbiterd boards`: which ports there are, and what answers on each.
//!
//! Every port is first taken for a DGT line. Where no DGT board answers, the other makes are tried, as
//! far as that can be done by listening and by asking what harms nothing.

use std::{collections::BTreeMap, io::Write, time::Duration};

use tokio::sync::mpsc;

use crate::{
    link::{LineHealth, LineState, Links, Make, PortConfig},
    wall,
};

/// How long a port may take: opening, finding out the mode, identifying.
const PATIENCE: Duration = Duration::from_secs(40);
/// Clock and battery come a moment after the board has said who it is, and so do the other boards
/// of a chain.
const DETAILS: Duration = Duration::from_millis(2500);

/// What to look at.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  arbiterd boards\n  arbiterd boards '/dev/ttyUSB*' /dev/rfcomm0")]
pub(super) struct Args {
    /// Ports or patterns; all serial ports of this machine when none are given.
    ports: Vec<String>,
}

/// Exit code 0; 1 when no board answers.
pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    Ok(u8::from(!look(&args.ports, &mut std::io::stdout().lock())?))
}

/// Writes a table of what answers; true if at least one board does.
fn look(ports: &[String], out: &mut dyn Write) -> anyhow::Result<bool> {
    let ports = if ports.is_empty() { system_ports() } else { ports.to_vec() };
    if ports.is_empty() {
        writeln!(
            out,
            "No serial port is there. Plug a board in; Bluetooth boards need `rfcomm bind` first."
        )?;
        return Ok(false);
    }
    let mut lines = probe(ports.iter().map(PortConfig::new).collect())?;
    for make in [Make::Certabo, Make::Millennium] {
        let silent: Vec<PortConfig> = lines
            .iter()
            .filter(|line| may_be_another_make(line))
            .map(|line| PortConfig::new(&line.port).make(make))
            .collect();
        if silent.is_empty() {
            break;
        }
        for found in probe(silent)? {
            let known = found.trouble.as_ref().is_some_and(|reason| reason.contains(UNKNOWN_PIECES));
            if let Some(line) = lines.iter_mut().find(|line| line.port == found.port)
                && (found.state == LineState::Up || known)
            {
                *line = found;
            }
        }
    }
    write_table(&lines, out)
}

/// A Certabo board says so: it is there, and has a set that was not learnt yet.
const UNKNOWN_PIECES: &str = "pieces it does not know";

/// The port could be opened, and no DGT board is on it.
fn may_be_another_make(line: &LineHealth) -> bool {
    let Some(reason) = &line.trouble else { return false };
    let opened = reason.contains("answers on") || reason.contains("what no DGT board sends");
    opened && line.boards.is_empty()
}

/// Looks at these ports until nothing new comes.
fn probe(ports: Vec<PortConfig>) -> anyhow::Result<Vec<LineHealth>> {
    let count = ports.len();
    let (sender, mut sightings) = mpsc::channel(256);
    let links = Links::start(ports, sender)?;
    let begin = wall::uptime();
    let (mut settled, mut known) = (None, 0);
    let lines = loop {
        // Only the state is of interest here, but the drivers wait while nobody takes what they see.
        while sightings.try_recv().is_ok() {}
        let lines = links.health();
        let now = wall::uptime();
        let done = lines.len() >= count && lines.iter().all(is_settled);
        let boards: usize = lines.iter().map(|line| line.boards.len()).sum();
        if !done || boards != known {
            (settled, known) = (None, boards);
        } else if settled.is_none() {
            settled = Some(now);
        }
        if now > begin + PATIENCE || settled.is_some_and(|since| now > since + DETAILS) {
            break lines;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    sightings.close();
    links.stop();
    Ok(lines)
}

fn is_settled(line: &LineHealth) -> bool {
    match line.state {
        // Tried again, as it will be for ever.
        LineState::Probing => line.reopenings > 0 && line.trouble.is_some(),
        // A line that never answered may not have been asked in all ways yet.
        LineState::Down(_) => line.reopenings > 0 || line.kind.is_empty() && line.last_byte.is_none(),
        // The other makes have no clock.
        LineState::Up => {
            !line.kind.starts_with("DGT") || line.boards.values().all(|board| board.clock.is_some())
        }
    }
}

/// The system's serial ports and bound Bluetooth channels.
fn system_ports() -> Vec<String> {
    let mut ports: Vec<String> = Vec::new();
    // Asked without that folder, the serial library panics.
    if std::path::Path::new("/sys/class/tty").exists()
        && let Ok(found) = serialport::available_ports()
    {
        ports.extend(found.into_iter().map(|port| port.port_name));
    }
    ports.push("/dev/rfcomm*".to_owned());
    ports.retain(|port| port.contains('*') || std::path::Path::new(port).exists());
    if ports.len() == 1 && !(0..8).any(|n| std::path::Path::new(&format!("/dev/rfcomm{n}")).exists()) {
        ports.clear();
    }
    ports
}

fn write_table(lines: &[LineHealth], out: &mut dyn Write) -> anyhow::Result<bool> {
    let mut rows = vec![["PORT", "BOARD", "MODEL", "FIRMWARE", "BATTERY", "CLOCK"].map(str::to_owned)];
    let mut silent = BTreeMap::new();
    for line in lines {
        for board in line.boards.values().filter(|board| board.up) {
            let firmware = board.identity.firmware.map_or_else(
                || "-".to_owned(),
                // Sources differ on how the minor number is written: as it is on the line.
                |(main, minor)| format!("{main}.{minor}"),
            );
            let battery = board.battery.map_or_else(
                || "-".to_owned(),
                |battery| {
                    format!("{} %{}", battery.percent, if battery.charging { ", charging" } else { "" })
                },
            );
            let clock = match board.clock {
                Some(true) => "yes",
                Some(false) => "none",
                None => "?",
            };
            rows.push([
                line.port.clone(),
                board.identity.serial.clone(),
                board.identity.model.clone(),
                firmware,
                battery,
                clock.to_owned(),
            ]);
        }
        match &line.state {
            LineState::Down(_) | LineState::Probing => {
                let reason = line.trouble.clone().unwrap_or_else(|| format!("{}: no answer yet", line.port));
                silent.insert(line.port.clone(), reason);
            }
            LineState::Up if !line.settings.is_empty() => {
                silent.insert(line.port.clone(), format!("{} runs with {}", line.port, line.settings));
            }
            LineState::Up => {}
        }
    }
    let found = rows.len() > 1;
    if found {
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..6).map(width).collect();
        for row in &rows {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
            writeln!(out, "{}", cells.join("  ").trim_end())?;
        }
    } else {
        writeln!(out, "No board answers.")?;
    }
    for reason in silent.values() {
        writeln!(out, "  {reason}")?;
    }
    Ok(found)
}
