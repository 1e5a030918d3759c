//! What several tests need: temporary folders, free ports, deadlines, the shared data if present.

pub(crate) mod acceptance;
pub(crate) mod daemon;
pub(crate) mod follower;
pub(crate) mod house;
pub(crate) mod net;
pub(crate) mod script;

use std::path::PathBuf;

/// A file or folder of the shared reference data, or `None`, saying so, where it is missing.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let full = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared").join(path);
    if full.exists() {
        return Some(full);
    }
    eprintln!("skipped: {} is not here", full.display());
    None
}
