//! Certabo's lines and calibration files.
#![no_main]

use arbiterd::wire::{
    certabo::{Calibration, Decoder, Majority, Message},
    dgt::Event,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut decoder = Decoder::new();
    let mut majority = Majority::default();
    for &byte in bytes {
        if let Some(Event::Message(message)) = decoder.push(byte) {
            let _ = message.squares(&Calibration::default());
            if let Message::Tags(tags) = message {
                let _ = Calibration::learn(&tags);
                let _ = majority.vote(&tags);
            }
        }
    }
    let _ = decoder.give_up();
    if let Ok(calibration) = std::str::from_utf8(bytes)
        .map_err(|_| ())
        .and_then(|text| Calibration::from_text(text).map_err(|_| ()))
    {
        assert_eq!(Calibration::from_text(&calibration.to_text()), Ok(calibration));
    }
});
