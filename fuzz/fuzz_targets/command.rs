//! PC to board: what a simulated board receives.
#![no_main]

use arbiterd::wire::dgt::{CommandDecoder, Event, Received};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut decoder = CommandDecoder::new();
    let mut accounted = 0_usize;
    for &byte in bytes {
        match decoder.push(byte) {
            None => {}
            Some(Event::Dropped(what)) => accounted += what.bytes() as usize,
            Some(Event::Message(Received::Command(command))) => {
                let mut again = Vec::new();
                command.encode(&mut again);
                accounted += again.len();
            }
            Some(Event::Message(Received::Bus(_) | Received::BusUnknown(_))) => accounted += 4,
            Some(Event::Message(Received::Unknown(_))) => accounted += 1,
        }
    }
    assert_eq!(accounted + decoder.pending(), bytes.len());
});
