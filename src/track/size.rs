//! How much memory a table's tracker holds: measured by the bench, watched by whoever runs a hall.

use super::Track;

impl Track {
    /// Bytes held by this tracker: itself and what its lists have room for. Boxed boards of illegal
    /// moves are counted at their size, what corrections keep to be taken back as well.
    #[must_use]
    pub fn footprint(&self) -> usize {
        let thread = |thread: &super::threads::Thread| {
            thread.open.capacity() * size_of::<super::threads::Open>()
                + thread.stale.capacity() * size_of::<super::moves::Stale>()
        };
        size_of::<Self>()
            + self.eyes.trace_bytes()
            + self.line.bytes()
            + self.doubt.bytes()
            + self.threads.capacity() * size_of::<super::threads::Thread>()
            + self.threads.iter().map(thread).sum::<usize>()
            + self.shown.capacity() * size_of::<super::line::Step>()
            + self.held.capacity() * size_of::<super::press::Held>()
            + self.undo.iter().map(|line| size_of::<super::line::Line>() + line.bytes()).sum::<usize>()
    }
}
