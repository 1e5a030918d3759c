//! Several halls, one broadcast: serves the public side from what halls published to NATS JetStream
//! (feature `nats`). It has no journal: the event's stream is one, read again from its beginning at each
//! start, so that the numbers viewers resume by stay what they were.

use std::{
    collections::{BTreeMap, HashMap},
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_nats::jetstream::{
    self,
    consumer::{AckPolicy, DeliverPolicy, pull},
};
use futures_util::StreamExt;
use prometheus_client::registry::Registry;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    hall::Update,
    publish::{nats, relayed},
    serve::{Deps, Feed, ServeConfig, ServeError, Serving, config::ListenConfig, feed::Audience},
};

/// Before the next attempt.
const PAUSE: Duration = Duration::from_millis(500);
/// A server that is silent for twice as long is asked anew.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// Updates of one hall that may wait for one that is missing before them.
const EARLY: usize = 100_000;

/// What a relay is told.
#[derive(Clone, Debug)]
pub struct RelaySettings {
    /// The NATS server.
    pub url: String,
    /// The event's identity, as in the halls' configurations.
    pub event: String,
    /// The public listener.
    pub public: ListenConfig,
}

/// A running relay.
#[derive(Debug)]
pub struct Relay {
    serving: Serving,
    stop: CancellationToken,
    following: tokio::task::JoinHandle<()>,
}

impl Relay {
    /// Opens the public listener and follows the halls. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// The listener's address cannot be had.
    pub fn start(settings: RelaySettings) -> Result<Self, ServeError> {
        let feed = Feed::new(Audience::Public);
        // There is no desk here, so nobody gives orders.
        let (commands, _) = mpsc::channel(1);
        let trouble = Arc::new(Mutex::new(Some("not yet connected".to_owned())));
        let serving = Serving::start(
            ServeConfig { desk: None, public: Some(settings.public.clone()), ..ServeConfig::default() },
            Deps {
                desk: Feed::new(Audience::Desk),
                public: feed.clone(),
                commands,
                registry: Registry::with_prefix("arbiterd"),
                ready: super::ready(trouble.clone()),
                outputs: Arc::new(|| serde_json::json!([])),
                lines: Arc::new(|| serde_json::json!([])),
            },
        )?;
        let stop = CancellationToken::new();
        let following = {
            let stop = stop.clone();
            tokio::spawn(async move {
                tokio::select! {
                    () = follow(&settings, &feed, &trouble) => {}
                    () = stop.cancelled() => {}
                }
            })
        };
        Ok(Self { serving, stop, following })
    }

    /// Where the public listens.
    #[must_use]
    pub fn public(&self) -> Option<SocketAddr> {
        self.serving.public
    }

    /// Ends in order.
    pub async fn stop(self) {
        self.stop.cancel();
        if self.following.await.is_err() {
            tracing::error!("following the halls ended badly");
        }
        self.serving.stop().await;
    }
}

async fn follow(settings: &RelaySettings, feed: &Feed, trouble: &Mutex<Option<String>>) {
    let note = |why: Option<String>| {
        let mut trouble = trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = &why
            && trouble.as_ref() != Some(why)
        {
            tracing::warn!(%why, "the halls cannot be followed; it is tried again");
        }
        *trouble = why;
    };
    let mut halls = Halls::default();
    // The place in the event's stream up to which everything was taken.
    let mut taken = 0;
    loop {
        match nats::connect(&settings.url).await {
            Ok(context) => loop {
                let show = |subject: &str, payload: &[u8]| feed.push(&halls.take(subject, payload));
                let ended = session(&context, &settings.event, &mut taken, show, || note(None)).await;
                if let Err(why) = ended {
                    note(Some(why));
                }
                tokio::time::sleep(PAUSE).await;
            },
            Err(error) => note(Some(format!("{}: {error}", settings.url))),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Takes messages from where it was, until something fails. `follows` is called once everything that was
/// on the server at the beginning has been taken.
async fn session(
    context: &jetstream::Context,
    event: &str,
    taken: &mut u64,
    mut take: impl FnMut(&str, &[u8]),
    follows: impl Fn(),
) -> Result<(), String> {
    let say = |fault: &dyn std::fmt::Display| format!("the NATS server does not answer: {fault}");
    let stream = nats::stream(context, event).await.map_err(|fault| say(&fault))?;
    let info = stream.get_info().await.map_err(|fault| say(&fault))?;
    if info.state.last_sequence < *taken {
        return Err("the NATS server has lost what it had; restart the halls and the relay".to_owned());
    }
    let config = pull::Config {
        deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: *taken + 1 },
        ack_policy: AckPolicy::None,
        inactive_threshold: Duration::from_mins(1),
        ..pull::Config::default()
    };
    let consumer = stream.create_consumer(config).await.map_err(|fault| say(&fault))?;
    let messages = consumer.stream().heartbeat(HEARTBEAT).expires(HEARTBEAT * 5).messages();
    let mut messages = messages.await.map_err(|fault| say(&fault))?;
    if *taken >= info.state.last_sequence {
        follows();
    }
    while let Some(message) = messages.next().await {
        let message = message.map_err(|fault| say(&fault))?;
        let place = message.info().map_err(|fault| say(&fault))?.stream_sequence;
        if place <= *taken {
            continue;
        }
        if place != *taken + 1 && place > info.state.first_sequence.max(1) {
            return Err(format!("message {} is missing before {place}", *taken + 1));
        }
        take(&message.subject, &message.payload);
        *taken = place;
        if place == info.state.last_sequence {
            follows();
        }
    }
    Ok(())
}

/// Puts each hall's updates in order, and drops what came before.
#[derive(Debug, Default)]
struct Halls(HashMap<String, Hall>);

#[derive(Debug, Default)]
struct Hall {
    /// The number of the last update shown.
    last: u64,
    /// Updates before which one is missing.
    early: BTreeMap<u64, Update>,
}

impl Halls {
    fn take(&mut self, subject: &str, payload: &[u8]) -> Vec<Update> {
        let updates = match relayed::Batch::read(payload) {
            Ok(updates) => updates,
            Err(fault) => {
                tracing::error!(subject, %fault, "a message is passed over");
                return Vec::new();
            }
        };
        let hall = self.0.entry(subject.to_owned()).or_default();
        for (number, update) in updates {
            // The next is always taken: it lets out what waits.
            if number == hall.last + 1 || number > hall.last && hall.early.len() < EARLY {
                hall.early.insert(number, update);
            }
        }
        let mut out = Vec::new();
        while let Some(update) = hall.early.remove(&(hall.last + 1)) {
            hall.last += 1;
            out.push(update);
        }
        if !hall.early.is_empty() {
            tracing::warn!(
                subject,
                missing = hall.last + 1,
                waiting = hall.early.len(),
                "an update is missing"
            );
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        hall::{Seq, UpdateBody},
        record::Timestamp,
    };

    fn message(numbers: std::ops::RangeInclusive<u64>) -> String {
        let first = *numbers.start();
        let updates: Vec<Update> = numbers
            .map(|n| Update {
                seq: Seq(n),
                at: Timestamp::from_millis(0),
                table: None,
                body: UpdateBody::Round(serde_json::json!(n)),
            })
            .collect();
        relayed::Batch::new(first, Timestamp::default(), 0, &updates).to_json().unwrap()
    }

    #[test]
    fn whatever_is_repeated_or_out_of_order_comes_out_once_and_in_order() {
        let mut halls = Halls::default();
        let mut take = |hall: &str, numbers: std::ops::RangeInclusive<u64>| -> Vec<u64> {
            let updates = halls.take(hall, message(numbers).as_bytes());
            updates.iter().map(|update| update.seq.0).collect()
        };
        assert_eq!(take("a", 1..=3), [1, 2, 3]);
        assert_eq!(take("a", 2..=4), [4]);
        assert_eq!(take("a", 6..=7), [0; 0]);
        assert_eq!(take("b", 1..=1), [1]);
        assert_eq!(take("a", 1..=5), [5, 6, 7]);
        assert_eq!(take("a", 1..=7), [0; 0]);
        assert!(halls.take("a", b"{}").is_empty() && halls.take("a", b"\xff").is_empty());
    }
}
