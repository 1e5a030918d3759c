//! Pairing files: PGN without moves, TRF in its versions, pairing lists. A draft or a refusal.
#![no_main]

use arbiterd::event::import::{ImportOptions, import_round, read_pair_list, read_trf};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(imported) = import_round(bytes, &ImportOptions::default()) {
        // A draft is what the desk sends back when a person has seen it.
        let text = serde_json::to_string(&imported.draft).expect("a draft is plain data");
        let again: arbiterd::event::import::RoundDraft = serde_json::from_str(&text).expect("our own words");
        assert_eq!(again, imported.draft);
    }
    let _ = read_trf(bytes);
    let _ = read_pair_list(bytes);
});
