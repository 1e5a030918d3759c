//! Where updates go once they are durable: the desk at once, everything public after the delay.

use std::{io, sync::Arc};

use serde_json::Value;

use super::publisher::{Group, Publisher};
#[cfg(feature = "upload")]
use crate::publish::lichess_thread::Lichess;
#[cfg(feature = "nats")]
use crate::publish::nats::Nats;
use crate::{
    hall::Update,
    publish::{PublishConfig, delay::Delay, hold::Hold, hook::Hook},
    record::Timestamp,
    serve::Feed,
};

/// The feeds and outputs behind the hall.
pub(super) struct Outlets {
    desk: Arc<Feed>,
    public: Arc<Feed>,
    /// Outputs that write files; fed behind the delay.
    publishers: Vec<Publisher>,
    delay: Delay,
    /// Between the delay and the public feed.
    hold: Hold,
    #[cfg(feature = "upload")]
    lichess: Option<Arc<Lichess>>,
    hooks: Vec<Arc<Hook>>,
    #[cfg(feature = "nats")]
    nats: Option<Arc<Nats>>,
}

impl Outlets {
    pub(super) fn new(
        desk: Arc<Feed>,
        public: Arc<Feed>,
        publishers: Vec<Publisher>,
        config: &PublishConfig,
    ) -> io::Result<Self> {
        let hooks = config.hooks.iter().map(|hook| Hook::start(hook.clone()).map(Arc::new));
        Ok(Self {
            desk,
            public,
            publishers,
            delay: Delay::default(),
            hold: Hold::new(config.hold),
            #[cfg(feature = "upload")]
            lichess: config.lichess.clone().map(Lichess::start).transpose()?.map(Arc::new),
            hooks: hooks.collect::<io::Result<_>>()?,
            #[cfg(feature = "nats")]
            nats: config.nats.clone().map(Nats::start).transpose()?.map(Arc::new),
        })
    }

    /// How the outputs that call others stand, for the desk.
    pub(super) fn status(&self) -> Arc<dyn Fn() -> Value + Send + Sync> {
        let mut all: Vec<Box<dyn Fn() -> Value + Send + Sync>> = Vec::new();
        #[cfg(feature = "upload")]
        if let Some(lichess) = self.lichess.clone() {
            all.push(Box::new(move || lichess.status()));
        }
        #[cfg(feature = "nats")]
        if let Some(nats) = self.nats.clone() {
            all.push(Box::new(move || nats.status()));
        }
        for hook in &self.hooks {
            let hook = Arc::clone(hook);
            all.push(Box::new(move || hook.status()));
        }
        Arc::new(move || all.iter().map(|status| status()).collect())
    }

    /// Takes what a journal tells of. Viewers may see what is old enough; of alerts, results and games
    /// from before the start nobody is told again.
    pub(super) fn restore(&mut self, updates: &[Update], now: Timestamp) {
        self.desk.restore(updates);
        self.delay.push(updates);
        let released = self.delay.pop(now);
        for hook in &self.hooks {
            hook.alerts(updates, false);
        }
        self.publish(released, false);
    }

    /// Shows updates at the desk.
    pub(super) fn desk(&self, updates: &[Update]) {
        if !updates.is_empty() {
            self.desk.push(updates);
            for hook in &self.hooks {
                hook.alerts(updates, true);
            }
        }
    }

    /// Queues updates for the public.
    pub(super) fn queue(&mut self, updates: &[Update]) {
        self.delay.push(updates);
    }

    /// Lets out what is old enough.
    pub(super) fn release(&mut self, now: Timestamp) {
        let updates = self.delay.pop(now);
        self.publish(updates, true);
    }

    /// `new` updates are not from before the start.
    fn publish(&mut self, updates: Vec<Update>, new: bool) {
        if updates.is_empty() {
            return;
        }
        for hook in &self.hooks {
            hook.push(&updates, new);
        }
        #[cfg(feature = "upload")]
        if let Some(lichess) = &self.lichess {
            lichess.push(&updates);
        }
        self.hand_over(&updates, !new);
        let shown = self.hold.pass(updates);
        #[cfg(feature = "nats")]
        if let Some(nats) = &self.nats {
            nats.push(&shown, new);
        }
        if new {
            self.public.push(&shown);
        } else {
            self.public.restore(&shown);
        }
    }

    /// All that was before the start is told: the publishers may write.
    pub(super) fn restored(&mut self) {
        self.hand_over(&[], false);
    }

    fn hand_over(&mut self, updates: &[Update], unfinished: bool) {
        if !self.publishers.is_empty() {
            let group = Group { updates: updates.into(), unfinished };
            for publisher in &mut self.publishers {
                publisher.send(group.clone());
            }
        }
    }

    /// When the next update is old enough.
    pub(super) fn next_release(&self) -> Option<Timestamp> {
        self.delay.next_due()
    }

    /// Ends the outputs that call others, when they have told what they could; answers the others.
    pub(super) fn finish(self) -> Vec<Publisher> {
        #[cfg(feature = "upload")]
        if let Some(lichess) = &self.lichess {
            lichess.finish();
        }
        #[cfg(feature = "nats")]
        if let Some(nats) = &self.nats {
            nats.finish();
        }
        for hook in &self.hooks {
            hook.finish();
        }
        self.publishers
    }
}
