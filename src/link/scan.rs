//! Patterns of device paths: `*` and `?` in any part of the path.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// No pattern may find more ports than this.
pub(super) const MOST_PORTS: usize = 1024;

/// The path holds a pattern.
#[must_use]
pub(super) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?'])
}

/// The paths that exist and match, in order. Nothing is an error here: what is not there yet may
/// come.
#[must_use]
pub(super) fn find(pattern: &str) -> Vec<String> {
    let mut found = vec![PathBuf::from(if pattern.starts_with('/') { "/" } else { "." })];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        for folder in &found {
            if is_pattern(part) {
                next.extend(matching_entries(folder, part));
            } else {
                let path = folder.join(part);
                if path.exists() {
                    next.push(path);
                }
            }
        }
        next.truncate(MOST_PORTS);
        found = next;
    }
    let mut paths: Vec<String> =
        found.into_iter().filter_map(|path| path.into_os_string().into_string().ok()).collect();
    paths.sort();
    paths
}

fn matching_entries(folder: &Path, part: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries
        .filter_map(Result::ok)
        .filter(|entry| {
            entry.file_name().to_str().is_some_and(|name| matches(part.as_bytes(), name.as_bytes()))
        })
        .map(|entry| entry.path())
        .collect()
}

fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], name) => (0..=name.len()).any(|skip| matches(rest, &name[skip..])),
        ([b'?', pattern @ ..], [_, name @ ..]) => matches(pattern, name),
        ([wanted, pattern @ ..], [byte, name @ ..]) => wanted == byte && matches(pattern, name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_a_shell_would() {
        let yes =
            |pattern: &str, name: &str| assert!(matches(pattern.as_bytes(), name.as_bytes()), "{pattern}");
        yes("ttyUSB*", "ttyUSB0");
        yes("ttyUSB*", "ttyUSB");
        yes("tty?SB*1", "ttyUSB11");
        yes("*", "x");
        assert!(!matches(b"ttyUSB?", b"ttyUSB"));
        assert!(!matches(b"ttyUSB*", b"ttyACM0"));
    }

    #[test]
    fn a_pattern_finds_what_is_there() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["board-1", "board-2", "other"] {
            fs::write(folder.path().join(name), "").expect("a file");
        }
        let pattern = format!("{}/board-*", folder.path().display());
        let found = find(&pattern);
        assert_eq!(found.len(), 2);
        assert!(found[0].ends_with("/board-1") && found[1].ends_with("/board-2"));
        assert!(find("/nowhere/at/all*").is_empty());
    }
}
