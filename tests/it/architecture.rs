//! The arrows between the rooms go one way, and the pure rooms stay pure.

use std::{fs, path::Path};

/// The rooms in the order in which data walks; a room imports only rooms before it.
const ROOMS: [&str; 14] = [
    "wire", "record", "track", "laws", "event", "hall", "wall", "journal", "link", "sim", "publish", "serve",
    "daemon", "cli",
];

/// These know no tokio, files, sockets, threads or clock.
const PURE: usize = 6;

const IMPURE: [&str; 8] = [
    "tokio",
    "std::fs",
    "std::net",
    "std::thread",
    "Instant::now",
    "SystemTime",
    "serialport",
    "crate::wall",
];

#[test]
fn rooms_import_only_rooms_above_them() {
    let mut faults = Vec::new();
    for (index, room) in ROOMS.iter().enumerate() {
        for_each_source(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(room), &mut |path, text| {
            // Compiled for tests only.
            if path.ends_with("tests.rs") {
                return;
            }
            let code = without_tests_and_comments(text);
            for (later, name) in ROOMS.iter().enumerate().skip(index + 1) {
                let used = [format!("crate::{name}::"), format!("crate::{name};"), format!("crate::{name},")]
                    .iter()
                    .any(|import| code.contains(import.as_str()));
                if used && later > index {
                    faults.push(format!("{} imports {name}, which is further down", path.display()));
                }
            }
            // `use crate::{record::…, hall::…}` lists its rooms on following lines.
            for group in code.split("use crate::{").skip(1) {
                let inside = group.split("};").next().unwrap_or_default();
                for name in ROOMS.iter().skip(index + 1) {
                    let named = inside
                        .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
                        .any(|word| word == *name || word.starts_with(&format!("{name}::")));
                    if named {
                        faults.push(format!("{} imports {name}, which is further down", path.display()));
                    }
                }
            }
            if index < PURE {
                for word in IMPURE {
                    if code.contains(word) {
                        faults.push(format!("{} is in a pure room and names {word}", path.display()));
                    }
                }
            }
        });
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_file_says_what_it_is_for() {
    let mut faults = Vec::new();
    for_each_source(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut |path, text| {
        if !text.starts_with("//!") {
            faults.push(path.display().to_string());
        }
    });
    assert!(faults.is_empty(), "no first comment in {}", faults.join(", "));
}

fn for_each_source(folder: &Path, visit: &mut dyn FnMut(&Path, &str)) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            for_each_source(&path, visit);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            visit(&path, &fs::read_to_string(&path).expect("a readable source"));
        }
    }
}

fn without_tests_and_comments(text: &str) -> String {
    let code = text.split("\n#[cfg(test)]").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}
