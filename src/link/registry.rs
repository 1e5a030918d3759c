//! Which port holds which board: two boards with one number are named, not mixed up. And what a
//! board said last, kept while its cable is away.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use crate::wire::Squares;

use super::health::parking::Shared;

/// Shared by all drivers.
#[derive(Clone, Debug, Default)]
pub(super) struct Registry(Shared<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// Serial number to port.
    held: BTreeMap<Arc<str>, String>,
    /// Devices that some driver has open, by their real path.
    open: BTreeSet<PathBuf>,
    /// The squares each board showed last, and when.
    squares: BTreeMap<Arc<str>, (Squares, Duration)>,
}

/// A device that this driver has open; others leave it alone until this is dropped.
pub(super) struct DeviceHold {
    registry: Registry,
    real: PathBuf,
}

impl Drop for DeviceHold {
    fn drop(&mut self) {
        self.registry.0.lock().open.remove(&self.real);
    }
}

impl Registry {
    /// Takes the number for this port, or tells which other port has it.
    pub(super) fn claim(&self, serial: &Arc<str>, port: &str) -> Result<(), String> {
        let mut inner = self.0.lock();
        match inner.held.get(serial) {
            Some(other) if other != port => Err(format!(
                "board {serial} answers on {port} and on {other}: two boards with one number, or one board \
                 on two ports. Unplug one of them, or bind both tables by port"
            )),
            _ => {
                inner.held.insert(Arc::clone(serial), port.to_owned());
                Ok(())
            }
        }
    }

    /// The port that holds this board.
    pub(super) fn port_of(&self, serial: &str) -> Option<String> {
        self.0.lock().held.get(serial).cloned()
    }

    /// The board is no longer on this port.
    pub(super) fn release(&self, serial: &Arc<str>, port: &str) {
        let mut inner = self.0.lock();
        if inner.held.get(serial).is_some_and(|holder| holder == port) {
            inner.held.remove(serial);
        }
    }

    /// Takes the device; `None` when another driver of this program has it under another name.
    pub(super) fn hold_device(&self, path: &str) -> Option<DeviceHold> {
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| Path::new(path).to_owned());
        self.0.lock().open.insert(real.clone()).then(|| DeviceHold { registry: self.clone(), real })
    }

    /// What the board showed when it was last heard, and when that was.
    pub(super) fn squares(&self, serial: &Arc<str>) -> Option<(Squares, Duration)> {
        self.0.lock().squares.get(serial).copied()
    }

    pub(super) fn remember_squares(&self, serial: &Arc<str>, squares: Squares, now: Duration) {
        self.0.lock().squares.insert(Arc::clone(serial), (squares, now));
    }
}
