//! The journal as the loop uses it: groups go to the disk before anything is shown, and a disk that
//! fails stops nothing but what the public sees.
//!
//! While the journal cannot be written, inputs wait in memory (bounded) and are written first as
//! soon as it can. What was acknowledged is on the disk; what waits is shown at the desk only.

use crate::{
    hall::Input,
    journal::{Journal, JournalError},
    record::Timestamp,
};

/// Inputs that may wait for a failed disk: some hours of a large hall.
const WAITING: usize = 500_000;

/// How often a failed journal is tried again, in milliseconds.
const RETRY_MILLIS: i64 = 2000;

/// How an append went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// All is on the disk, also what waited.
    Durable,
    /// It waits in memory.
    Waiting,
}

/// The journal and what waits for it.
#[derive(Debug)]
pub(super) struct Store {
    journal: Journal,
    waiting: Vec<String>,
    failure: Option<String>,
    tried_at: Timestamp,
}

impl Store {
    pub(super) fn new(journal: Journal) -> Self {
        Self { journal, waiting: Vec::new(), failure: None, tried_at: Timestamp::default() }
    }

    /// What is wrong, in words for the operator.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// How many inputs wait for the disk.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Keeps a group of inputs.
    pub(super) fn keep(&mut self, now: Timestamp, inputs: &[Input]) -> Kept {
        let texts = inputs
            .iter()
            .map(|input| serde_json::to_string(input).expect("an input is plain data with text keys"));
        self.waiting.extend(texts);
        if self.waiting.len() > WAITING {
            // Beyond hours of outage the oldest evidence goes; positions heal by the next dump.
            let excess = self.waiting.len() - WAITING;
            self.waiting.drain(..excess);
            tracing::error!(excess, "inputs were lost: the journal has failed for too long");
        }
        if self.failure.is_some() && now.since(self.tried_at) < RETRY_MILLIS {
            return Kept::Waiting;
        }
        self.flush(now)
    }

    /// Tries again if it is time to.
    pub(super) fn flush_due(&mut self, now: Timestamp) -> Kept {
        match self.retry_at() {
            Some(due) if due > now => Kept::Waiting,
            _ => self.flush(now),
        }
    }

    /// Tries to write what waits.
    pub(super) fn flush(&mut self, now: Timestamp) -> Kept {
        if self.waiting.is_empty() && self.failure.is_none() {
            return Kept::Durable;
        }
        let mut written = self.journal.append(self.waiting.iter().map(String::as_str));
        if matches!(written, Err(JournalError::Gone { .. })) && self.journal.reopen().is_ok() {
            tracing::warn!("the journal's file was replaced by a whole copy of it");
            written = self.journal.append(self.waiting.iter().map(String::as_str));
        }
        match written {
            Ok(()) => {
                self.waiting.clear();
                if self.failure.take().is_some() {
                    tracing::info!("the journal can be written again; nothing was lost");
                }
                Kept::Durable
            }
            Err(error) => {
                self.tried_at = now;
                if self.failure.is_none() {
                    tracing::error!(%error, "the journal cannot be written");
                }
                self.failure = Some(error.to_string());
                Kept::Waiting
            }
        }
    }

    /// When to try again, if something waits.
    pub(super) fn retry_at(&self) -> Option<Timestamp> {
        self.failure.as_ref().map(|_| self.tried_at.plus(RETRY_MILLIS))
    }

    /// Closes the journal after a last attempt. Gives back why something could not be written.
    pub(super) fn close(mut self, now: Timestamp) -> Result<(), JournalError> {
        if self.flush(now) == Kept::Waiting {
            return self.journal.append(self.waiting.iter().map(String::as_str));
        }
        Ok(())
    }
}
