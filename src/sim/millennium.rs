//! A Millennium ChessLink board: printable ASCII with two kinds of parity.
//!
//! Facts: 38400 baud, seven bits, odd parity; most programs open the port with eight bits and
//! carry the parity in the top bit themselves, and so does this board (a pseudo-terminal has no
//! parity). Each message ends with two hex digits: the XOR of all its characters. Requests with a
//! wrong one are ignored. Status reports come on every scan unless register 02 says otherwise.

use super::{Action, Device, DeviceSetup, Line, Noticed};
use crate::wire::Content;

/// How long a reset takes, in milliseconds.
const RESET_MS: u64 = 3_000;

/// A ChessLink in virtual time.
#[derive(Clone, Debug)]
pub struct Millennium {
    device: Device,
    registers: [u8; 256],
    received: Vec<u8>,
    next_scan: u64,
    /// Silent until then.
    silent_until: u64,
    changed: bool,
    powered: bool,
    opened: bool,
    pending: Vec<(u64, Vec<u8>)>,
}

impl Millennium {
    /// Switched on.
    #[must_use]
    pub fn new(setup: &DeviceSetup) -> Self {
        let mut registers = [0; 256];
        registers[1] = 20;
        registers[4] = 14;
        Self {
            device: Device::new(&DeviceSetup { clock: None, ..setup.clone() }),
            registers,
            received: Vec::new(),
            next_scan: 41,
            silent_until: 0,
            changed: false,
            powered: true,
            opened: false,
            pending: Vec::new(),
        }
    }

    /// One scan, in milliseconds.
    fn scan_ms(&self) -> u64 {
        let units = if self.registers[1] < 15 { 20 } else { u64::from(self.registers[1]) };
        (units * 2048).div_ceil(1000)
    }

    /// The time between two reports on the clock, in milliseconds.
    fn report_every_ms(&self) -> u64 {
        match self.registers[2] & 7 {
            2 => (u64::from(self.registers[3]) * 4096 / 1000).max(self.scan_ms()),
            _ => self.scan_ms(),
        }
    }

    fn status(&self) -> Vec<u8> {
        let mut text = vec![b's'];
        text.extend(self.device.squares().0.iter().map(|content| match content {
            Content::Piece(piece) => piece.char() as u8,
            _ => b'.',
        }));
        message(text)
    }

    fn command(&mut self, now: u64, text: &[u8]) {
        let hex = |digits: &[u8]| -> Option<usize> {
            usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
        };
        let reply = match text {
            [b'S'] => Some(self.status()),
            [b'V'] => Some(message(b"v0106".to_vec())),
            [b'X'] => Some(message(b"x".to_vec())),
            [b'L', ..] => Some(message(b"l".to_vec())),
            [b'T'] => {
                self.silent_until = now + RESET_MS;
                self.pending.clear();
                None
            }
            [b'W', rest @ ..] if rest.len() == 4 => {
                let (Some(address), Some(value)) = (hex(&rest[..2]), hex(&rest[2..])) else { return };
                self.registers[address & 0xff] = value as u8;
                Some(message([b"w", rest].concat()))
            }
            [b'R', rest @ ..] if rest.len() == 2 => {
                let Some(address) = hex(rest) else { return };
                let value = self.registers[address & 0xff];
                Some(message(format!("r{address:02X}{value:02X}").into_bytes()))
            }
            _ => None,
        };
        if let Some(reply) = reply {
            self.pending.push((now + 4, reply));
        }
    }
}

/// How long a request is, its two check digits included.
fn length(first: u8) -> Option<usize> {
    Some(match first {
        b'S' | b'V' | b'X' | b'T' => 3,
        b'R' => 5,
        b'W' => 7,
        b'L' => 1 + 2 + 81 * 2 + 2,
        _ => return None,
    })
}

/// Adds the two check digits and the parity bits.
fn message(mut text: Vec<u8>) -> Vec<u8> {
    let check = text.iter().fold(0, |sum, byte| sum ^ byte);
    text.extend(format!("{check:02X}").bytes());
    for byte in &mut text {
        *byte = with_odd_parity(*byte);
    }
    text
}

fn with_odd_parity(byte: u8) -> u8 {
    let byte = byte & 0x7f;
    if byte.count_ones().is_multiple_of(2) { byte | 0x80 } else { byte }
}

impl Line for Millennium {
    fn act(&mut self, _board: usize, at_ms: u64, action: Action) {
        self.device.act(at_ms, action);
    }

    fn receive(&mut self, now_ms: u64, bytes: &[u8]) {
        self.opened = true;
        if now_ms < self.silent_until || !self.powered {
            return;
        }
        for &byte in bytes {
            // A byte with wrong parity is lost, and with it the request.
            if with_odd_parity(byte) != byte {
                self.received.clear();
                continue;
            }
            let byte = byte & 0x7f;
            if self.received.is_empty() && length(byte).is_none() {
                continue;
            }
            self.received.push(byte);
            let Some(expected) = length(self.received[0]) else { continue };
            if self.received.len() == expected {
                let received = std::mem::take(&mut self.received);
                let (text, check) = received.split_at(expected - 2);
                let sum = text.iter().fold(0, |sum, byte| sum ^ byte);
                if format!("{sum:02X}").as_bytes().eq_ignore_ascii_case(check) {
                    self.command(now_ms, text);
                }
            }
        }
    }

    fn next_due(&self) -> Option<u64> {
        let pending = self.pending.first().map(|(at, _)| *at);
        [Some(self.next_scan), pending, self.device.next_due()].into_iter().flatten().min()
    }

    fn advance(&mut self, now_ms: u64, out: &mut Vec<(u64, Vec<u8>)>) {
        while let Some(due) = self.next_due().filter(|due| *due <= now_ms) {
            while let Some((_, noticed)) = self.device.step(due) {
                self.changed |= matches!(noticed, Noticed::Square(..));
            }
            while self.pending.first().is_some_and(|(at, _)| *at <= due) {
                out.push(self.pending.remove(0));
            }
            if self.next_scan <= due {
                let reports = match self.registers[2] & 7 {
                    0 | 2 => true,
                    1 => false,
                    _ => self.changed,
                };
                if reports && self.powered && due >= self.silent_until {
                    out.push((due, self.status()));
                    self.changed = false;
                }
                self.next_scan = due + self.report_every_ms();
            }
        }
    }

    fn power(&mut self, _now_ms: u64, on: bool) {
        self.powered = on;
        self.received.clear();
        self.pending.clear();
    }

    fn followed(&self, _board: usize) -> bool {
        self.opened
    }
}
