//! A raw recording of either mode, whole and in two pieces alike.
#![no_main]

use arbiterd::wire::dgt::any::Decoder;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let decode = |pieces: &[&[u8]]| {
        let (mut decoder, mut out) = (Decoder::new(), Vec::new());
        pieces.iter().for_each(|piece| decoder.feed(piece, &mut out));
        decoder.finish(&mut out);
        out
    };
    let (left, right) = bytes.split_at(bytes.len() / 2);
    assert_eq!(decode(&[bytes]), decode(&[left, right]));
});
