//! Who is on the chain: known boards are called by address, then all at once; those found are told to
//! keep silent and all are called again, until a round finds nobody new and nothing collided.

use std::{collections::BTreeSet, time::Duration};

use crate::wire::dgt::bus::{Address, Request};

use super::{
    super::driver::Io,
    Chain, Question,
    board::{Board, State},
};

/// After so many rounds of discovery the chain is taken as it is; a round that finds nothing new
/// ends it sooner.
const MOST_ROUNDS: u32 = 12;
/// No line holds more boards than this.
const MOST_BOARDS: usize = 64;
/// A discovery under way.
pub(super) struct Discovery {
    pub(super) round: u32,
    /// Listening to the answers to a ping to all until then.
    pub(super) listen_until: Option<Duration>,
    pub(super) found_in_round: bool,
    pub(super) collisions: bool,
    /// Asked by address first. If all of them answer, newcomers are left to the later calls.
    pub(super) known: BTreeSet<Address>,
}

impl Chain {
    pub(super) fn discover(&mut self, io: &mut Io<'_>) {
        let known: BTreeSet<Address> = self.expected.iter().chain(self.boards.keys()).copied().collect();
        self.discovery = Some(Discovery {
            round: 0,
            listen_until: None,
            found_in_round: false,
            collisions: false,
            known: known.clone(),
        });
        self.queue = known.into_iter().map(|address| Question::new(address, Request::Ping)).collect();
        self.discovery_step(io);
    }

    pub(super) fn listen(&mut self, io: &mut Io<'_>) {
        if let Some(discovery) = &mut self.discovery {
            discovery.listen_until = Some(io.now + self.timing.ping);
        }
    }

    /// The next step of discovery, when nothing is pending.
    pub(super) fn discovery_step(&mut self, io: &mut Io<'_>) {
        let Some(discovery) = &mut self.discovery else { return };
        if discovery.listen_until.is_some_and(|until| io.now < until) {
            return;
        }
        if discovery.listen_until.take().is_some() {
            discovery.round += 1;
            let more = discovery.found_in_round || discovery.collisions || discovery.round < 2;
            if !more || discovery.round >= MOST_ROUNDS {
                self.complete = true;
                self.discovery = None;
                self.queue.clear();
                self.last_call = io.now;
                return;
            }
            (discovery.found_in_round, discovery.collisions) = (false, false);
            self.queue.extend(
                self.boards
                    .iter()
                    .filter(|(_, board)| board.state != State::Down)
                    .map(|(address, _)| Question::new(*address, Request::IgnoreNextPing)),
            );
        }
        if let Some(question) = self.queue.pop_front() {
            return self.send(question, io);
        }
        let all_here = !discovery.known.is_empty()
            && discovery
                .known
                .iter()
                .all(|address| self.boards.get(address).is_some_and(|board| board.state != State::Down));
        if all_here && self.complete && discovery.round == 0 {
            self.discovery = None;
            self.last_call = io.now;
            return;
        }
        self.send(Question::new(Address::ALL, Request::Ping), io);
        self.listen(io);
    }

    pub(super) fn found(&mut self, address: Address, io: &Io<'_>) {
        if address == Address::ALL
            || (self.boards.len() >= MOST_BOARDS && !self.boards.contains_key(&address))
        {
            return;
        }
        let board = self.boards.entry(address).or_insert_with(|| Board::new(address, io.now));
        board.last_heard = io.now;
        if board.state == State::Down {
            board.state = State::Greeting;
            if let Some(discovery) = &mut self.discovery {
                discovery.found_in_round = true;
            }
        }
    }
}
