//! WebSocket frames of viewers: the same however the bytes come in pieces, and bounded.
#![no_main]

use arbiterd::serve::ws::frame::FrameReader;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&piece, bytes)) = bytes.split_first() else { return };
    let (mut whole, mut said) = (FrameReader::default(), Vec::new());
    let end = whole.read(bytes, &mut said);
    let (mut pieces, mut said_again) = (FrameReader::default(), Vec::new());
    let end_again = bytes
        .chunks(usize::from(piece) + 1)
        .try_for_each(|chunk| pieces.read(chunk, &mut said_again));
    assert_eq!((end, said), (end_again, said_again));
});
