//! Where updates go once they are durable: the desk at once, everything public after the delay.

use std::sync::Arc;

use crate::{hall::Update, publish::delay::Delay, record::Timestamp, serve::Feed};

use super::publisher::Publisher;

/// The feeds and outputs behind the hall.
pub(super) struct Outlets {
    desk: Arc<Feed>,
    public: Arc<Feed>,
    /// Outputs that write files or call other machines; fed behind the delay.
    pub(super) publishers: Vec<Publisher>,
    delay: Delay,
}

impl Outlets {
    pub(super) fn new(desk: Arc<Feed>, public: Arc<Feed>, publishers: Vec<Publisher>) -> Self {
        Self { desk, public, publishers, delay: Delay::default() }
    }

    /// Shows updates at the desk.
    pub(super) fn desk(&self, updates: &[Update]) {
        if !updates.is_empty() {
            self.desk.push(updates);
        }
    }

    /// Queues updates for the public.
    pub(super) fn queue(&mut self, updates: &[Update]) {
        self.delay.push(updates);
    }

    /// Lets out what is old enough.
    pub(super) fn release(&mut self, now: Timestamp) {
        let updates = self.delay.pop(now);
        if updates.is_empty() {
            return;
        }
        self.public.push(&updates);
        let shared: Arc<[Update]> = updates.into();
        for publisher in &mut self.publishers {
            publisher.send(Arc::clone(&shared));
        }
    }

    /// When the next update is old enough.
    pub(super) fn next_release(&self) -> Option<Timestamp> {
        self.delay.next_due()
    }
}
