//! Files that appear whole or not at all.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

/// Writes a file under a temporary name in the same folder, has the disk take it, and renames it. The
/// name does not end in `.pgn`, so that programs which watch the folder never see half a file.
///
/// # Errors
/// Those of the disk; the old file is untouched then.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_for(path, bytes, None)
}

/// As [`replace`], with these permissions if any are given.
pub(super) fn replace_for(path: &Path, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".part");
    let part = folder.join(name);
    let written = File::create(&part)
        .and_then(|mut file| {
            if let Some(mode) = mode {
                file.set_permissions(fs::Permissions::from_mode(mode))?;
            }
            file.write_all(bytes)?;
            file.sync_data()
        })
        .and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // Nothing useful stands there; the fault that matters is the first.
        drop(fs::remove_file(&part));
        return written;
    }
    // The new name survives a power cut only when the folder does; not every file system can.
    drop(File::open(folder).and_then(|folder| folder.sync_all()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_stays_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("round-1/game-1.pgn");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path().join("round-1")).unwrap().count(), 1);
        // A folder in the way: the fault is told, and no half file is left.
        fs::create_dir(folder.path().join("x")).unwrap();
        assert!(replace(&folder.path().join("x"), b"three").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
