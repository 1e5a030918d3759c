//! Bodies of the desk's orders, one JSON object a line, to a hall with two tables: refused with a
//! reason or carried out, and the journal's words for them read back as the same.
#![no_main]

use arbiterd::{
    hall::{Command, Hall, Input, InputBody, RoundSetup, TableId},
    record::Timestamp,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut hall = Hall::new();
    let round: RoundSetup = serde_json::from_str(
        r#"{"number":1,"tables":[{"table":1,"board":"1"},{"table":2,"board":"2","time_control":"5400+30"}]}"#,
    )
    .expect("our own words");
    let mut at = 1_750_000_000_000;
    let mut seq = 0;
    let mut give = |hall: &mut Hall, command: Command| {
        if let Err(reason) = hall.check(&command) {
            assert!(!reason.is_empty());
            return;
        }
        at += 700;
        let body = InputBody::Command { by: "desk".to_owned(), command };
        let input = Input { at: Timestamp::from_millis(at), body };
        let text = serde_json::to_string(&input).expect("inputs are plain data");
        let again: Input = serde_json::from_str(&text).expect("what the journal holds");
        assert_eq!(again, input, "{text}");
        for update in hall.apply(&input) {
            seq += 1;
            assert_eq!(update.seq.0, seq, "numbers without gaps");
            let _ = update.to_json(true);
        }
    };
    give(&mut hall, Command::Round { round });
    for line in bytes.split(|byte| *byte == b'\n').take(40) {
        if let Ok(command) = serde_json::from_slice::<Command>(line) {
            give(&mut hall, command);
        }
    }
    for id in [1, 2] {
        let _ = hall.game(TableId(id));
    }
});
