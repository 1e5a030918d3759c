//! An output in a thread of its own, behind a bounded queue: a slow disk or network never holds up
//! the hall. What does not fit the queue waits in one backlog that is handed over in order.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::Duration,
};

use crate::hall::Update;

/// Groups of updates that may wait in an output's queue.
const WAITING: usize = 4096;

/// How long an output may sit on changes before it writes them, so that a burst is written once.
const GATHER: Duration = Duration::from_millis(100);

/// What takes updates and writes them somewhere.
pub(super) trait Output: Send {
    /// Takes updates in order; keeps what is to be written.
    fn take(&mut self, updates: &[Update]);
    /// Writes what has changed.
    fn write(&mut self);
}

/// An output in its own thread.
pub(super) struct Publisher {
    name: &'static str,
    queue: Option<SyncSender<Arc<[Update]>>>,
    /// What did not fit the queue. Bounded by the hall's own pace: an output that stands still for
    /// hours holds the updates of those hours.
    backlog: VecDeque<Arc<[Update]>>,
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
    pub(super) fn send(&mut self, updates: Arc<[Update]>) {
        let Some(queue) = &self.queue else { return };
        self.backlog.push_back(updates);
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
            for updates in self.backlog.drain(..) {
                if queue.send(updates).is_err() {
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

fn run(mut output: impl Output, queue: &Receiver<Arc<[Update]>>) {
    while let Ok(first) = queue.recv() {
        output.take(&first);
        thread::sleep(GATHER);
        while let Ok(next) = queue.try_recv() {
            output.take(&next);
        }
        output.write();
    }
}
