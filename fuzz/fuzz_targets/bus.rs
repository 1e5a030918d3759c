//! Replies on a chain, and what they say.
#![no_main]

use arbiterd::wire::dgt::{Event, bus};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut decoder = bus::Decoder::new();
    let mut translator = bus::Translator::default();
    let (mut accounted, mut out) = (0_usize, Vec::new());
    for &byte in bytes {
        match decoder.push(byte) {
            None => {}
            Some(Event::Dropped(what)) => accounted += what.bytes() as usize,
            Some(Event::Message(reply)) => {
                translator.observe(&reply.body, &mut out);
                let mut again = Vec::new();
                reply.encode(&mut again);
                accounted += again.len();
                assert_eq!(bus::Reply::decode(&again).map(|reply| reply.address), Ok(reply.address));
            }
        }
    }
    assert_eq!(accounted + decoder.pending(), bytes.len());
});
