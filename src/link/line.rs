//! A DGT line: finds out whether one board or a chain is on it, and speaks to it accordingly.

use std::{sync::Arc, time::Duration};

use super::{
    config::PortConfig,
    driver::{Ask, Driver, Io},
    single::Single,
};

/// What is on the line, as far as is known.
pub(super) struct Line {
    config: PortConfig,
    single: Single,
}

impl Line {
    pub(super) fn new(config: &PortConfig) -> Self {
        Self { config: config.clone(), single: Single::new(config) }
    }
}

impl Driver for Line {
    fn opened(&mut self, io: &mut Io<'_>) {
        self.single = Single::new(&self.config);
        self.single.opened(io);
    }

    fn received(&mut self, bytes: &[u8], io: &mut Io<'_>) -> Result<(), String> {
        self.single.received(bytes, io)
    }

    fn tick(&mut self, io: &mut Io<'_>) -> Result<(), String> {
        self.single.tick(io)
    }

    fn ask(&mut self, serial: Option<&str>, ask: Ask, io: &mut Io<'_>) {
        self.single.ask(serial, ask, io);
    }

    fn boards(&self) -> Vec<Arc<str>> {
        self.single.boards()
    }

    fn patience(&self) -> Duration {
        self.single.patience()
    }
}
