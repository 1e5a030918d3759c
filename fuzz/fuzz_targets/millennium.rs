//! ChessLink's messages: every byte is delivered or dropped.
#![no_main]

use arbiterd::wire::{dgt::Event, millennium::Decoder};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut decoder = Decoder::new();
    let mut accounted = 0_usize;
    for &byte in bytes {
        let mut event = decoder.push(byte);
        while let Some(found) = event {
            accounted += match found {
                Event::Dropped(what) => what.bytes() as usize,
                Event::Message(message) => {
                    let mut again = Vec::new();
                    message.encode(&mut again);
                    again.len()
                }
            };
            event = decoder.more();
        }
    }
    assert_eq!(accounted + decoder.pending(), bytes.len());
});
