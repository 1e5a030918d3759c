//! A raw recording, of which nobody says in which mode the line was: single-board messages and bus
//! replies alike become observations. The two languages share one code, 86, and tell it apart by
//! length and contents.
//!
//! A driver knows its line's mode and uses that mode's decoder.

use std::{collections::BTreeMap, ops::RangeInclusive};

use crate::wire::{LinkEvent, Observation};

use super::{
    bus,
    frame::{Framer, Step},
    message::{self, Message},
};

/// Turns raw bytes of either mode into observations, in pieces of any size. Observations of all
/// boards of a chain come out alike: a recording of one table is expected.
#[derive(Clone, Debug)]
pub struct Decoder {
    framer: Framer,
    /// One for every address heard, at most [`MOST_BOARDS`].
    chain: BTreeMap<bus::Address, bus::Translator>,
}

const MOST_BOARDS: usize = 64;

impl Default for Decoder {
    fn default() -> Self {
        Self { framer: Framer::new(lengths), chain: BTreeMap::new() }
    }
}

fn lengths(id: u8) -> Option<RangeInclusive<u16>> {
    match (message::lengths(id), bus::lengths(id)) {
        (Some(single), Some(bus)) => Some(*single.start().min(bus.start())..=*single.end().max(bus.end())),
        (single, bus) => single.or(bus),
    }
}

impl Decoder {
    /// A decoder that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in bytes and appends what they say.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Observation>) {
        for &byte in bytes {
            match self.framer.push(byte) {
                Step::Nothing => {}
                Step::Dropped(dropped) => out.push(Observation::Link(dropped.to_link_event())),
                Step::Frame(frame) => {
                    if let Some(message) = Message::decode(frame) {
                        out.extend(message.observation());
                        continue;
                    }
                    match bus::Reply::decode(frame) {
                        Ok(reply) => {
                            if self.chain.len() < MOST_BOARDS || self.chain.contains_key(&reply.address) {
                                self.chain.entry(reply.address).or_default().observe(&reply.body, out);
                            }
                        }
                        // A single-board message has no checksum that could be wrong.
                        Err(_) if message::lengths(frame[0]).is_some() && frame[0] != 0x86 => {
                            out.push(Observation::Link(LinkEvent::Garbage(frame.len() as u32)));
                        }
                        Err(dropped) => out.push(Observation::Link(dropped.to_link_event())),
                    }
                }
            }
        }
    }

    /// The recording has ended: whatever is half received is counted as dropped.
    pub fn finish(&mut self, out: &mut Vec<Observation>) {
        out.extend(self.framer.give_up().map(|dropped| Observation::Link(dropped.to_link_event())));
    }
}
