//! The loop itself, in a thread of its own: take what has come, make it durable, apply it, show it.
//!
//! Whatever arrives while a group is being written forms the next group, so a slow disk makes
//! larger groups and not a longer queue.

use std::collections::BTreeSet;

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::{
    metrics::HallMetrics,
    outlets::Outlets,
    pace::Pace,
    publisher::Publisher,
    store::{Kept, Store},
};
use crate::{
    hall::{BoardKey, Hall, Input, InputBody, MateQuestion, Update},
    link::{LinksHandle, Sighting},
    record::Timestamp,
    serve::CommandRequest,
    wall,
};

/// The most inputs of one group.
const GROUP: usize = 1024;

/// The longest sleep, in milliseconds: the watchdog is fed from this loop.
const LONGEST_SLEEP: i64 = 1000;

/// A long question answered beside the hall.
#[derive(Debug)]
pub(super) struct MateAnswer {
    pub(super) question: MateQuestion,
    pub(super) verdict: Value,
}

/// What the loop owns.
pub(super) struct Spine {
    pub(super) hall: Hall,
    pub(super) store: Store,
    pub(super) outlets: Outlets,
    pub(super) links: Option<LinksHandle>,
    /// Boards that are bound by their port's path.
    pub(super) bound_by_path: BTreeSet<String>,
    pub(super) sightings: mpsc::Receiver<Sighting>,
    pub(super) orders: mpsc::Receiver<CommandRequest>,
    pub(super) questions: std::sync::mpsc::SyncSender<MateQuestion>,
    pub(super) answers: mpsc::Receiver<MateAnswer>,
    pub(super) stop: CancellationToken,
    /// Called at every turn of the loop: feeds the system's watchdog, tells health.
    pub(super) beat: Beat,
    pub(super) pace: Pace,
    pub(super) metrics: HallMetrics,
}

/// Told the hall and why the journal cannot be written, if it cannot.
pub(super) type Beat = Box<dyn FnMut(&Hall, Option<&str>) + Send>;

type Reply = oneshot::Sender<Result<Vec<Update>, String>>;

impl Spine {
    /// Runs until told to stop and everything queued is served.
    pub(super) async fn run(mut self) -> Vec<Publisher> {
        let mut sightings = Vec::with_capacity(GROUP);
        let mut orders = Vec::new();
        let mut answers = Vec::new();
        let stop = self.stop.clone();
        let mut open = true;
        while open {
            let sleep = self.sleep_millis();
            tokio::select! {
                biased;
                () = stop.cancelled() => open = false,
                n = self.orders.recv_many(&mut orders, 64) => if n == 0 { open = false },
                _ = self.sightings.recv_many(&mut sightings, GROUP), if !self.sightings.is_closed() => {}
                _ = self.answers.recv_many(&mut answers, 64), if !self.answers.is_closed() => {}
                () = tokio::time::sleep(wall::real(sleep)) => {}
            }
            if !open {
                // Whatever came before the stop is served.
                while let Ok(sighting) = self.sightings.try_recv() {
                    sightings.push(sighting);
                }
                while let Ok(order) = self.orders.try_recv() {
                    orders.push(order);
                }
            }
            self.turn(&mut sightings, &mut orders, &mut answers);
        }
        // Deadlines have been served up to now: the journal alone must come to the same.
        let now = self.moment(wall::now());
        let stopped = Input { at: now, body: InputBody::Stopped };
        let kept = self.store.keep(now, std::slice::from_ref(&stopped));
        let updates = self.hall.apply(&stopped);
        self.show(&updates, kept, now);
        if let Err(error) = self.store.close(now) {
            tracing::error!(%error, "the journal could not be completed");
        }
        self.outlets.finish()
    }

    fn sleep_millis(&mut self) -> u64 {
        let now = self.moment(wall::now());
        let next = [self.hall.next_deadline(), self.outlets.next_release(), self.store.retry_at()];
        let next = next.into_iter().flatten().min();
        let wait = next.map_or(LONGEST_SLEEP, |next| next.since(now)).clamp(0, LONGEST_SLEEP);
        // A release or retry that cannot happen yet must not spin.
        wait.max(1).unsigned_abs()
    }

    fn turn(
        &mut self,
        sightings: &mut Vec<Sighting>,
        orders: &mut Vec<CommandRequest>,
        answers: &mut Vec<MateAnswer>,
    ) {
        let mut inputs = Vec::new();
        let mut replies: Vec<Option<Reply>> = Vec::new();
        for sighting in sightings.drain(..) {
            if let Some(input) = self.sighted(sighting) {
                inputs.push(input);
                replies.push(None);
            }
        }
        for CommandRequest { by, command, reply } in orders.drain(..) {
            match self.hall.check(&command) {
                Ok(()) => {
                    let body = InputBody::Command { by, command };
                    inputs.push(Input { at: self.moment(wall::now()), body });
                    replies.push(Some(reply));
                }
                // A caller that has gone away does not hear why.
                Err(fault) => {
                    self.metrics.refused();
                    drop(reply.send(Err(fault)));
                }
            }
        }
        for MateAnswer { question, verdict } in answers.drain(..) {
            let MateQuestion { table, fen, side, .. } = question;
            let body = InputBody::Mate { table, fen, side, verdict };
            inputs.push(Input { at: self.moment(wall::now()), body });
            replies.push(None);
        }
        let now = self.moment(wall::now());
        let began = wall::uptime();
        let kept = if inputs.is_empty() { self.store.flush_due(now) } else { self.store.keep(now, &inputs) };
        if !inputs.is_empty() && kept == Kept::Durable {
            self.metrics.committed(wall::uptime().saturating_sub(began));
        }
        let mut shown = Vec::new();
        for (input, reply) in inputs.iter().zip(replies) {
            let updates = self.hall.apply(input);
            if let Some(reply) = reply {
                // A caller that has gone away does not need the answer.
                drop(reply.send(Ok(updates.clone())));
            }
            shown.extend(updates);
        }
        shown.extend(self.hall.advance(now));
        self.show(&shown, kept, now);
        self.ask();
        self.metrics.turn(inputs.len(), shown.len(), self.hall.table_count());
        self.metrics.journal(self.store.waiting(), self.store.failure().is_some());
        self.tell_health();
    }

    /// Shows that the loop lives, and what is wrong.
    pub(super) fn tell_health(&mut self) {
        let fault = self.pace.fault();
        (self.beat)(&self.hall, self.store.failure().or(fault.as_deref()));
    }

    /// The desk sees everything at once; the public only what is on the disk and old enough.
    pub(super) fn show(&mut self, updates: &[Update], kept: Kept, now: Timestamp) {
        self.outlets.desk(updates);
        self.outlets.queue(updates);
        if kept == Kept::Durable {
            self.outlets.release(now);
        }
    }

    /// Time never runs backwards in the journal, whatever the machine's clock does.
    pub(super) fn moment(&mut self, at: Timestamp) -> Timestamp {
        let was = self.pace.fault();
        let moment = self.pace.moment(at);
        if was.is_none()
            && let Some(fault) = self.pace.fault()
        {
            tracing::error!("{fault}");
        }
        moment
    }

    fn sighted(&mut self, sighting: Sighting) -> Option<Input> {
        let Sighting { port, serial, at, observation } = sighting;
        let key = if self.bound_by_path.contains(&*port) {
            BoardKey(port.to_string())
        } else {
            // Faults of a port without a known board are the operator's (health), not a table's.
            BoardKey(serial?.to_string())
        };
        let at = self.moment(at);
        self.hall
            .is_news(at, &key, &observation)
            .then_some(Input { at, body: InputBody::Board(key, observation) })
    }

    pub(super) fn ask(&mut self) {
        let wanted = self.hall.take_wants_dump();
        if let Some(links) = &self.links {
            for board in wanted {
                links.request_dump(&board.0);
            }
        }
        for question in self.hall.take_questions() {
            if let Err(error) = self.questions.try_send(question) {
                tracing::warn!(%error, "a mate question was not taken; the arbiter decides");
            }
        }
    }
}
