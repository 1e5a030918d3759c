//! The round of polling: every board's changes in turn, and between them what is due of dumps, clocks,
//! logs, boards that are missing and newcomers.

use std::time::Duration;

use crate::wire::{
    ClockState,
    dgt::bus::{Address, Request},
};

use super::{super::driver::Io, Chain, Question, State};

/// Newcomers are called this often.
const CALL: Duration = Duration::from_secs(15);
/// A board that fell silent is asked this often whether it is back.
const RETRY: Duration = Duration::from_secs(2);
/// So many clocks are asked in one cycle.
const CLOCKS: usize = 2;
/// So many clocks that stand still are asked in one cycle: a start shows nowhere else.
const STANDING: usize = 3;

impl Chain {
    /// The next question, when nothing is pending.
    pub(super) fn next_question(&mut self, io: &mut Io<'_>) {
        if self.discovery.is_some() {
            return self.discovery_step(io);
        }
        if let Some(question) = self.queue.pop_front() {
            return self.send(question, io);
        }
        if io.now < self.last_cycle + self.timing.cycle {
            return;
        }
        self.last_cycle = io.now;
        self.plan_cycle(io);
        if let Some(question) = self.queue.pop_front() {
            self.send(question, io);
        }
    }

    /// These boards, the one whose clock was asked longest ago first.
    fn longest_unread(&self, mut boards: Vec<Address>) -> Vec<Address> {
        boards.sort_by_key(|address| self.boards.get(address).map(|board| board.clock_asked));
        boards
    }

    /// Every board's changes, and one thing more: a greeting, a dump that is due, a clock.
    fn plan_cycle(&mut self, io: &Io<'_>) {
        // A greeting takes half a second: one a cycle, so that the others are heard meanwhile.
        let mut greeted = false;
        let logs = std::mem::take(&mut self.postponed);
        self.queue.extend(self.boards.iter().filter_map(|(address, board)| {
            if logs.iter().any(|log| log.address == *address) {
                // A sign of life: its log may be damaged for long.
                return Some(Question::new(*address, Request::Ping));
            }
            let request = match board.state {
                State::Up => Request::Changes,
                State::Greeting if std::mem::replace(&mut greeted, true) => return None,
                State::Greeting if board.firmware.is_some() => Request::Board,
                State::Greeting => Request::Version,
                State::Repairing => Request::Board,
                State::Down => return None,
            };
            Some(Question::new(*address, request))
        }));
        self.queue.extend(logs);
        let up: Vec<Address> =
            self.boards.iter().filter(|(_, board)| board.state == State::Up).map(|(a, _)| *a).collect();
        // The dump that is most overdue, so that none waits for ever.
        let due = up
            .iter()
            .filter_map(|address| self.boards.get(address).map(|board| (address, board)))
            .filter(|(_, board)| board.dump_wanted || io.now >= board.dump_at)
            .min_by_key(|(_, board)| board.dump_at);
        if let Some((&address, _)) = due {
            self.later(address, Request::Board);
        }
        // A clock that is started or stopped by its button says so only when it is asked.
        let standing = |address: &&Address| {
            self.boards.get(*address).is_some_and(
                |board| matches!(board.clock_told, Some(ClockState::Reading(reading)) if !reading.running),
            )
        };
        let standing: Vec<Address> = up.iter().filter(standing).copied().collect();
        for (boards, most) in [(up.clone(), CLOCKS), (standing, STANDING)] {
            for address in self.longest_unread(boards).into_iter().take(most) {
                if let Some(board) = self.boards.get_mut(&address) {
                    board.clock_asked = io.now;
                }
                self.later(address, Request::Clock);
            }
        }
        self.turn = self.turn.wrapping_add(1);
        if io.now >= self.last_retry + RETRY {
            self.last_retry = io.now;
            let missing: Vec<Address> = self
                .expected
                .iter()
                .chain(self.boards.keys())
                .filter(|address| self.boards.get(*address).is_none_or(|board| board.state == State::Down))
                .copied()
                .collect();
            // One at a time: each costs a time-out.
            if let Some(&address) = missing.get(self.turn % missing.len().max(1)) {
                self.later(address, Request::Ping);
            }
        }
        if io.now >= self.last_call + CALL {
            // Newcomers may answer into somebody else's reply; that is then repeated.
            self.last_call = io.now;
            self.queue.extend(up.iter().map(|address| Question::new(*address, Request::IgnoreNextPing)));
            self.later(Address::ALL, Request::Ping);
        }
    }
}
