//! Where updates go once they are durable: the desk at once, everything public after the delay.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    hall::{Update, UpdateBody},
    record::Timestamp,
    serve::Feed,
};

use super::Publisher;

/// The feeds and outputs behind the hall.
pub(super) struct Outlets {
    pub(super) desk: Arc<Feed>,
    pub(super) public: Arc<Feed>,
    /// Outputs that write files or call other machines; fed behind the delay.
    pub(super) publishers: Vec<Publisher>,
    waiting: VecDeque<Update>,
    delay_millis: i64,
}

impl Outlets {
    pub(super) fn new(desk: Arc<Feed>, public: Arc<Feed>, publishers: Vec<Publisher>) -> Self {
        Self { desk, public, publishers, waiting: VecDeque::new(), delay_millis: 0 }
    }

    /// Shows updates at the desk.
    pub(super) fn desk(&self, updates: &[Update]) {
        if !updates.is_empty() {
            self.desk.push(updates);
        }
    }

    /// Queues durable updates for the public.
    pub(super) fn queue(&mut self, updates: Vec<Update>) {
        for update in updates {
            if let UpdateBody::Round(round) = &update.body {
                self.delay_millis = round["delay_seconds"].as_i64().unwrap_or(0) * 1000;
            }
            self.waiting.push_back(update);
        }
    }

    /// Lets out what is old enough.
    pub(super) fn release(&mut self, now: Timestamp) {
        let due = |update: &Update| now.since(update.at) >= self.delay_millis;
        let count = self.waiting.iter().take_while(|update| due(update)).count();
        if count == 0 {
            return;
        }
        let updates: Vec<Update> = self.waiting.drain(..count).collect();
        self.public.push(&updates);
        let shared: Arc<[Update]> = updates.into();
        for publisher in &mut self.publishers {
            publisher.send(Arc::clone(&shared));
        }
    }

    /// When the next update is old enough.
    pub(super) fn next_release(&self) -> Option<Timestamp> {
        self.waiting.front().map(|update| update.at.plus(self.delay_millis))
    }
}
