//! Configuration, law profiles and time controls: read, or refused with reasons.
#![no_main]

use arbiterd::{cli::config, event, laws};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(faults) = config::parse(text, std::path::Path::new("/nonexistent")) {
        assert!(!faults.is_empty() && faults.iter().all(|fault| !fault.to_string().is_empty()));
    }
    let _ = laws::Editions::default().add(text);
    if let Ok(control) = text.parse::<laws::TimeControl>() {
        assert!(!control.periods().is_empty());
    }
    if let Ok(control) = text.parse::<event::TimeControl>() {
        assert_eq!(control.to_string().parse(), Ok(control));
    }
});
