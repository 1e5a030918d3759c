//! The board's own log: read whole, written back to the same bytes.
#![no_main]

use arbiterd::wire::{
    Squares,
    dgt::{Tag, Tags, events_of_last_game, events_since},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut again = Vec::new();
    let mut events = Vec::new();
    for tag in Tags::new(bytes) {
        tag.encode(&mut again);
        events.extend(Tag::to_recovered(tag));
    }
    assert_eq!(again, bytes);
    let _ = events_of_last_game(&events);
    let _ = events_since(&events, &Squares::default(), &Squares::default());
});
