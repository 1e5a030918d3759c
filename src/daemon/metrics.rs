//! What the loop counts, as Prometheus metrics (prefix `arbiterd`); `docs/metrics.md` lists them all.

use std::time::Duration;

use prometheus_client::{
    metrics::{counter::Counter, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

/// Bounds of the commit times, in seconds: a good disk, a slow one, one in trouble.
const COMMIT: [f64; 10] = [0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2.0];

/// The loop's metrics.
#[derive(Clone, Debug)]
pub(super) struct HallMetrics {
    inputs: Counter,
    updates: Counter,
    refused: Counter,
    tables: Gauge,
    waiting: Gauge,
    failing: Gauge,
    commit: Histogram,
}

impl HallMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            inputs: Counter::default(),
            updates: Counter::default(),
            refused: Counter::default(),
            tables: Gauge::default(),
            waiting: Gauge::default(),
            failing: Gauge::default(),
            commit: Histogram::new(COMMIT),
        };
        registry.register("hall_inputs", "Inputs taken since the start", metrics.inputs.clone());
        registry.register("hall_updates", "Updates made since the start", metrics.updates.clone());
        registry.register("hall_refused", "Orders the hall refused", metrics.refused.clone());
        registry.register("hall_tables", "Tables of the round", metrics.tables.clone());
        registry.register(
            "journal_waiting",
            "Inputs that wait in memory for a failed disk",
            metrics.waiting.clone(),
        );
        registry.register(
            "journal_failing",
            "1 while the journal cannot be written",
            metrics.failing.clone(),
        );
        registry.register(
            "journal_commit_seconds",
            "Time until a group of inputs is on the disk",
            metrics.commit.clone(),
        );
        metrics
    }

    /// A turn of the loop is done.
    pub(super) fn turn(&self, inputs: usize, updates: usize, tables: usize) {
        self.inputs.inc_by(inputs as u64);
        self.updates.inc_by(updates as u64);
        self.tables.set(tables as i64);
    }

    /// An order was refused.
    pub(super) fn refused(&self) {
        self.refused.inc();
    }

    /// How the journal stands.
    pub(super) fn journal(&self, waiting: usize, failing: bool) {
        self.waiting.set(waiting as i64);
        self.failing.set(i64::from(failing));
    }

    /// A group was written.
    pub(super) fn committed(&self, took: Duration) {
        self.commit.observe(took.as_secs_f64());
    }
}
