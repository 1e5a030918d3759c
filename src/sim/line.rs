//! What hangs on one serial line: a board, a chain of boards, a board of another make.

use super::{Action, Firmware, Mode};

/// The far end of a serial line, in virtual time. One line may carry several boards.
pub trait Line: Send {
    /// Hands do something at this board of the line; a board's moments must not fall.
    fn act(&mut self, board: usize, at_ms: u64, action: Action);

    /// Takes in what a PC sent.
    fn receive(&mut self, now_ms: u64, bytes: &[u8]);

    /// When something may next happen by itself.
    fn next_due(&self) -> Option<u64>;

    /// Goes on to this moment; what leaves until then is appended, each piece with the moment in
    /// which its last byte is on the line.
    fn advance(&mut self, now_ms: u64, out: &mut Vec<(u64, Vec<u8>)>);

    /// The power is cut or comes back.
    fn power(&mut self, now_ms: u64, on: bool);

    /// A program follows this board: the hands may begin.
    fn followed(&self, board: usize) -> bool;
}

impl Line for Firmware {
    fn act(&mut self, _board: usize, at_ms: u64, action: Action) {
        Firmware::act(self, at_ms, action);
    }

    fn receive(&mut self, now_ms: u64, bytes: &[u8]) {
        Firmware::receive(self, now_ms, bytes);
    }

    fn next_due(&self) -> Option<u64> {
        Firmware::next_due(self)
    }

    fn advance(&mut self, now_ms: u64, out: &mut Vec<(u64, Vec<u8>)>) {
        Firmware::advance(self, now_ms, out);
    }

    fn power(&mut self, now_ms: u64, on: bool) {
        if on {
            self.power_on(now_ms);
        } else {
            self.power_off(now_ms);
        }
    }

    fn followed(&self, _board: usize) -> bool {
        matches!(self.mode(), Mode::Update | Mode::UpdateBoard | Mode::UpdateNice) || self.was_polled()
    }
}
