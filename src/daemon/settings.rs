//! What the daemon is told at start.

use std::path::PathBuf;

use super::watch::WatchConfig;
use crate::{
    hall::{EventSetup, RoundSetup},
    link::PortConfig,
    publish::PublishConfig,
    serve::ServeConfig,
};

/// Everything `run` and `demo` decide before the daemon starts.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The journal's file; created if it is not there.
    pub journal: PathBuf,
    /// The folder of the archive tree; `None` writes none.
    pub archive: Option<PathBuf>,
    /// The event.
    pub event: EventSetup,
    /// The round to open, unless the journal already has it.
    pub round: Option<RoundSetup>,
    /// The folder that is watched for pairings.
    pub watch: Option<WatchConfig>,
    /// The ports to open.
    pub ports: Vec<PortConfig>,
    /// The listeners.
    pub serve: ServeConfig,
    /// What goes out by itself, beside the archive.
    pub publish: PublishConfig,
}
