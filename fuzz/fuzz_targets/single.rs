//! Board to PC in single-board mode: every byte is delivered, dropped or pending.
#![no_main]

use arbiterd::wire::dgt::{Decoder, Event, Message};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut decoder = Decoder::new();
    let (mut delivered, mut dropped) = (0_usize, 0_usize);
    let mut texts = false;
    for &byte in bytes {
        match decoder.push(byte) {
            None => {}
            Some(Event::Dropped(what)) => dropped += what.bytes() as usize,
            Some(Event::Message(message)) => {
                // Texts lose surrounding blanks: their length cannot be counted again.
                texts |= matches!(
                    message,
                    Message::Serial(_) | Message::LongSerial(_) | Message::Trademark(_)
                );
                let _ = message.observation();
                let mut again = Vec::new();
                message.encode(&mut again);
                delivered += again.len();
            }
        }
    }
    assert!(texts || delivered + dropped + decoder.pending() == bytes.len());
    let _ = decoder.give_up();
    assert_eq!(decoder.pending(), 0);
});
