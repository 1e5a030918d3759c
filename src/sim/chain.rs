//! Several DGT boards on one line: every board hears everything, and whoever speaks, speaks on
//! the same wire.
//!
//! The boards' transmitters are tied together (DGT protocol, "principles" of the bus): when two
//! speak at once, the wire carries the OR of their bits, and the checksum fails. So two answers to
//! a ping for all may destroy each other, and a command in single-board mode, which all boards obey,
//! brings nothing but noise.

use super::{Action, Firmware, Line};

/// Time of a byte on the line in microseconds: ten bits at 9600 baud.
const BYTE_US: u64 = 1042;

/// Bytes of a message that are handed over together.
const PIECE: usize = 80;

/// Boards on one line.
#[derive(Clone, Debug)]
pub struct Chain {
    boards: Vec<Firmware>,
    /// Messages being sent: first and last microsecond, bytes.
    sending: Vec<(u64, u64, Vec<u8>)>,
    collisions: u64,
}

impl Chain {
    /// These boards, each with its own serial number.
    #[must_use]
    pub fn new(boards: Vec<Firmware>) -> Self {
        Self { boards, sending: Vec::new(), collisions: 0 }
    }

    /// The boards, in their order on the line.
    #[must_use]
    pub fn boards(&self) -> &[Firmware] {
        &self.boards
    }

    /// How often boards have spoken at the same time.
    #[must_use]
    pub fn collisions(&self) -> u64 {
        self.collisions
    }

    /// Takes the first group of messages that overlap, once the last of them is through.
    fn take_group(&mut self, now_us: u64) -> Option<(u64, Vec<u8>)> {
        self.sending.sort_by_key(|(from, ..)| *from);
        let (from, mut to) = self.sending.first().map(|(from, to, _)| (*from, *to))?;
        let mut count = 1;
        while let Some((next_from, next_to, _)) = self.sending.get(count) {
            if *next_from >= to {
                break;
            }
            to = to.max(*next_to);
            count += 1;
        }
        if to > now_us {
            return None;
        }
        let group: Vec<_> = self.sending.drain(..count).collect();
        if let [(_, _, bytes)] = &group[..] {
            return Some((to, bytes.clone()));
        }
        self.collisions += 1;
        let mut wire = vec![0u8; ((to - from).div_ceil(BYTE_US)) as usize];
        for (begins, _, bytes) in &group {
            let first = ((begins - from) / BYTE_US) as usize;
            for (slot, byte) in wire.iter_mut().skip(first).zip(bytes) {
                *slot |= byte;
            }
        }
        Some((to, wire))
    }
}

impl Line for Chain {
    fn act(&mut self, board: usize, at_ms: u64, action: Action) {
        if let Some(board) = self.boards.get_mut(board) {
            board.act(at_ms, action);
        }
    }

    fn receive(&mut self, now_ms: u64, bytes: &[u8]) {
        for board in &mut self.boards {
            board.receive(now_ms, bytes);
        }
    }

    fn next_due(&self) -> Option<u64> {
        let boards = self.boards.iter().filter_map(Firmware::next_due).min();
        let sent = self.sending.iter().map(|(_, to, _)| to.div_ceil(1000)).min();
        [boards, sent].into_iter().flatten().min()
    }

    fn advance(&mut self, now_ms: u64, out: &mut Vec<(u64, Vec<u8>)>) {
        let mut spoken = Vec::new();
        for board in &mut self.boards {
            board.advance(now_ms, &mut spoken);
        }
        for (at, bytes) in spoken {
            // Piece by piece, so that a long message is heard while it is sent.
            let whole = bytes.len();
            for (index, piece) in bytes.chunks(PIECE).enumerate() {
                let after = whole - index * PIECE - piece.len();
                let to = (at * 1000).saturating_sub(after as u64 * BYTE_US);
                self.sending.push((to.saturating_sub(piece.len() as u64 * BYTE_US), to, piece.to_vec()));
            }
        }
        while let Some((to, bytes)) = self.take_group(now_ms * 1000) {
            out.push((to / 1000, bytes));
        }
    }

    fn power(&mut self, now_ms: u64, on: bool) {
        for board in &mut self.boards {
            if on {
                board.power_on(now_ms);
            } else {
                board.power_off(now_ms);
            }
        }
    }

    fn followed(&self, board: usize) -> bool {
        self.boards.get(board).is_some_and(Firmware::was_polled)
    }
}
