//! An output in a thread of its own, behind a bounded queue: a slow disk or network never holds up
//! the hall. What does not fit the queue waits in one backlog that is handed over in order.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::Duration,
};

use crate::hall::Update;

/// Groups of updates that may wait in an output's queue.
const WAITING: usize = 4096;

/// How long an output may sit on changes before it writes them, so that a burst is written once.
const GATHER: Duration = Duration::from_millis(100);

/// How often an output that could not write tries again, if nothing new comes before.
const RETRY: Duration = Duration::from_secs(2);

/// What takes updates and writes them somewhere.
pub(super) trait Output: Send {
    /// Takes updates in order; keeps what is to be written.
    fn take(&mut self, updates: &[Update]);
    /// Writes what has changed. False where something could not be written and has to be tried again.
    fn write(&mut self) -> bool;
    /// Writes everything: the daemon stops.
    fn finish(&mut self) {
        self.write();
    }
}

/// Updates for an output, in order.
#[derive(Clone)]
pub(super) struct Group {
    pub(super) updates: Arc<[Update]>,
    /// They are from before the start and more of them follow: nothing is written before those are taken, or a
    /// reader would see the game go back to an earlier move.
    pub(super) unfinished: bool,
}

/// An output in its own thread.
pub(super) struct Publisher {
    name: &'static str,
    queue: Option<SyncSender<Group>>,
    /// What did not fit the queue. Bounded by the hall's own pace: an output that stands still for
    /// hours holds the updates of those hours.
    backlog: VecDeque<Group>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Publisher {
    /// Starts an output.
    pub(super) fn start(name: &'static str, output: impl Output + 'static) -> std::io::Result<Self> {
        let (send, receive) = sync_channel(WAITING);
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || run(output, &receive))?;
        Ok(Self { name, queue: Some(send), backlog: VecDeque::new(), thread: Some(thread) })
    }

    /// Hands updates over; never waits.
    pub(super) fn send(&mut self, group: Group) {
        let Some(queue) = &self.queue else { return };
        self.backlog.push_back(group);
        while let Some(next) = self.backlog.pop_front() {
            match queue.try_send(next) {
                Ok(()) => {}
                Err(TrySendError::Full(next)) => {
                    self.backlog.push_front(next);
                    return;
                }
                Err(TrySendError::Disconnected(_)) => {
                    tracing::error!(output = self.name, "an output has failed; restart to begin it again");
                    self.queue = None;
                    self.backlog.clear();
                    return;
                }
            }
        }
    }

    /// Lets it write what it has, and waits for that.
    pub(super) fn finish(mut self) {
        if let Some(queue) = self.queue.take() {
            for group in self.backlog.drain(..) {
                if queue.send(group).is_err() {
                    break;
                }
            }
        }
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!(output = self.name, "an output ended badly");
        }
    }
}

fn run(mut output: impl Output, queue: &Receiver<Group>) {
    let mut written = true;
    let mut unfinished = false;
    loop {
        // Only what could not be written is tried again by itself.
        let patience = if written { Duration::MAX } else { RETRY };
        match queue.recv_timeout(patience) {
            Ok(first) => {
                unfinished = first.unfinished;
                output.take(&first.updates);
                if !unfinished {
                    thread::sleep(GATHER);
                }
                while let Ok(next) = queue.try_recv() {
                    unfinished = next.unfinished;
                    output.take(&next.updates);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if !unfinished {
            written = output.write();
        }
    }
    // A start that failed half-way leaves on the disk what was there.
    if !unfinished {
        output.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hall::{Seq, UpdateBody};
    use crate::record::Timestamp;

    /// A disk that fails so many times.
    struct Disk {
        faults: usize,
        waiting: Vec<u64>,
        written: Arc<std::sync::Mutex<Vec<u64>>>,
    }

    impl Output for Disk {
        fn take(&mut self, updates: &[Update]) {
            self.waiting.extend(updates.iter().map(|update| update.seq.0));
        }

        fn write(&mut self) -> bool {
            if self.faults > 0 {
                self.faults -= 1;
                return false;
            }
            self.written.lock().unwrap().append(&mut self.waiting);
            true
        }
    }

    #[test]
    fn what_could_not_be_written_is_written_later_without_anything_new() {
        let written = Arc::new(std::sync::Mutex::new(Vec::new()));
        let disk = Disk { faults: 1, waiting: Vec::new(), written: Arc::clone(&written) };
        let mut publisher = Publisher::start("disk", disk).unwrap();
        let update = Update {
            seq: Seq(7),
            at: Timestamp::default(),
            table: None,
            body: UpdateBody::Round(serde_json::Value::Null),
        };
        publisher.send(Group { updates: [update].into(), unfinished: false });
        let give_up = crate::wall::uptime() + Duration::from_mins(2);
        while written.lock().unwrap().is_empty() {
            assert!(crate::wall::uptime() < give_up, "it was never tried again");
            thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(*written.lock().unwrap(), [7]);
        publisher.finish();
    }

    #[test]
    fn nothing_is_written_before_all_that_was_before_the_start_is_taken() {
        let written = Arc::new(std::sync::Mutex::new(Vec::new()));
        let disk = || Disk { faults: 0, waiting: Vec::new(), written: Arc::clone(&written) };
        let group = |seq, unfinished| {
            let body = UpdateBody::Round(serde_json::Value::Null);
            let update = Update { seq: Seq(seq), at: Timestamp::default(), table: None, body };
            Group { updates: [update].into(), unfinished }
        };
        let mut failed = Publisher::start("disk", disk()).unwrap();
        failed.send(group(1, true));
        failed.finish();
        assert!(written.lock().unwrap().is_empty(), "the start failed: the disk stays as it was");
        let mut publisher = Publisher::start("disk", disk()).unwrap();
        publisher.send(group(1, true));
        publisher.send(group(2, true));
        publisher.send(group(3, false));
        publisher.finish();
        assert_eq!(*written.lock().unwrap(), [1, 2, 3]);
    }
}
