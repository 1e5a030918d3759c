//! Journal and archive: the folders can be written, there is room, and the journal reads through.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::Finding;
use crate::{
    daemon::Settings,
    hall::Input,
    journal::{Journal, JournalError},
};

/// A nine-round event of a hundred boards takes about 50 MB; below this a round is at risk.
const LEAST: u64 = 100 << 20;
/// Below this somebody should make room before the event.
const COMFORTABLE: u64 = 1 << 30;

pub(super) fn examine(settings: &Settings, findings: &mut Vec<Finding>) {
    let folder = folder_of(&settings.journal);
    room(&folder, "the journal", findings);
    journal(&settings.journal, findings);
    match &settings.archive {
        Some(archive) => room(archive, "the archive", findings),
        None => findings.push(Finding::warn(
            "archive",
            "no archive folder is configured: no PGN is written by itself",
            "set `folder` in [archive]; `arbiterd export` writes the same from the journal later",
        )),
    }
}

fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The folder, or the nearest one above it that is there: the daemon makes what is missing.
fn existing(folder: &Path) -> &Path {
    let mut folder = folder;
    while !folder.exists() {
        match folder.parent() {
            Some(above) if !above.as_os_str().is_empty() => folder = above,
            _ => return Path::new("."),
        }
    }
    folder
}

fn room(folder: &Path, whose: &str, findings: &mut Vec<Finding>) {
    let place = existing(folder);
    let shown = place.display();
    // Writing is the only sure way to know: permissions, quotas, a disk mounted read-only.
    let probe = place.join(format!(".arbiterd-doctor-{}", std::process::id()));
    let written = fs::write(&probe, [0; 4096]).and_then(|()| fs::File::open(&probe)?.sync_all());
    // What was not written need not be removed.
    drop(fs::remove_file(&probe));
    if let Err(error) = written {
        findings.push(Finding::fail(
            "disk",
            format!("{shown}, where {whose} goes, cannot be written: {error}"),
            "give this user the folder (chown, chmod), free space, or name another folder in the configuration",
        ));
        return;
    }
    let free = match rustix::fs::statvfs(place) {
        Ok(volume) => volume.f_bavail.saturating_mul(volume.f_frsize),
        Err(error) => {
            findings.push(Finding::warn(
                "disk",
                format!("{shown}: free space is not known: {error}"),
                "look with df",
            ));
            return;
        }
    };
    let says = format!("{shown}, where {whose} goes, can be written; {} MB are free", free >> 20);
    findings.push(if free < LEAST {
        Finding::fail(
            "disk",
            says,
            "make room: a nine-round event of a hundred boards takes about 50 MB, its archive some more",
        )
    } else if free < COMFORTABLE {
        Finding::warn("disk", says, "make room before the event")
    } else {
        Finding::ok("disk", says)
    });
}

fn journal(path: &Path, findings: &mut Vec<Finding>) {
    let shown = path.display();
    if !path.exists() {
        findings.push(Finding::ok("journal", format!("{shown} is not there yet; the daemon makes it")));
        return;
    }
    let read = Journal::open_read_only(path).and_then(|journal| {
        let mut inputs = 0_u64;
        journal.read(|entry| {
            serde_json::from_str::<Input>(&entry.text).map_err(|error| JournalError::Damaged {
                path: path.to_owned(),
                why: format!("input {} cannot be read: {error}", entry.number),
            })?;
            inputs += 1;
            Ok::<_, JournalError>(())
        })?;
        Ok(inputs)
    });
    findings.push(match read {
        Ok(inputs) => Finding::ok("journal", format!("{shown} is whole: {inputs} inputs")),
        Err(error @ (JournalError::InUse { .. } | JournalError::Open { .. })) => Finding::warn(
            "journal",
            format!("{shown} could not be looked at: {error}"),
            "run this as the user the daemon runs as",
        ),
        Err(error) => Finding::fail(
            "journal",
            error.to_string(),
            "keep a copy of the file as it is, then restore a backup (`arbiterd backup` makes them)",
        ),
    });
}
