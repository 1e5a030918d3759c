//! WebSocket frames (RFC 6455) as the stream needs them: a text frame is encoded once and shared by
//! all viewers; what viewers send is taken apart piece by piece and bounded. The handshake, and the
//! `LiveChess` API's two-way talk, are left to tungstenite.

use bytes::Bytes;

/// The longest payload a control frame may have.
const CONTROL_LIMIT: usize = 125;

/// Builds an unmasked text frame, as a server sends it.
#[must_use]
pub(crate) fn text_frame(payload: &str) -> Bytes {
    frame(0x1, payload.as_bytes())
}

/// The close frame with a code and a short reason.
#[must_use]
pub(crate) fn close_frame(code: u16, reason: &str) -> Bytes {
    let mut payload = code.to_be_bytes().to_vec();
    payload.extend_from_slice(&reason.as_bytes()[..reason.len().min(CONTROL_LIMIT - 2)]);
    frame(0x8, &payload)
}

/// The answer to a ping.
#[must_use]
pub(crate) fn pong_frame(payload: &[u8]) -> Bytes {
    frame(0xA, payload)
}

fn frame(opcode: u8, payload: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(payload.len() + 10);
    out.push(0x80 | opcode);
    match payload.len() {
        short @ ..=125 => out.push(short as u8),
        medium @ 126..=0xffff => {
            out.push(126);
            out.extend_from_slice(&(medium as u16).to_be_bytes());
        }
        long => {
            out.push(127);
            out.extend_from_slice(&(long as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
    Bytes::from(out)
}

/// What a viewer sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// A ping, to be answered with the same bytes.
    Ping(Vec<u8>),
    /// An answer to a ping nobody sent.
    Pong,
    /// It wants to close, with this code if it gave one.
    Close(Option<u16>),
    /// A piece of a message. The stream goes one way, so its content is dropped.
    Data,
}

/// Why a viewer is cut off, as a close code of RFC 6455.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameFault {
    /// 1002: it does not speak the protocol.
    Protocol,
    /// 1009: its message is larger than anything the stream could ask for.
    TooBig,
}

impl FrameFault {
    /// The close code.
    #[must_use]
    pub fn code(self) -> u16 {
        match self {
            Self::Protocol => 1002,
            Self::TooBig => 1009,
        }
    }
}

/// All that these bytes say when they come in pieces of these lengths (over again; a rest at the end), and
/// the fault that ends them. However they are cut, the answer is the same.
#[must_use]
pub fn read_pieces(bytes: &[u8], lengths: &[usize]) -> (Vec<Incoming>, Option<FrameFault>) {
    let (mut reader, mut said, mut rest) = (FrameReader::default(), Vec::new(), bytes);
    for length in lengths.iter().cycle().filter(|length| **length > 0) {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at((*length).min(rest.len()));
        if let Err(fault) = reader.read(piece, &mut said) {
            return (said, Some(fault));
        }
        rest = after;
    }
    (said, None)
}

/// Takes a client's bytes apart. Holds at most one control frame and its header.
#[derive(Debug, Default)]
pub struct FrameReader {
    /// Bytes of an unfinished header or control frame.
    held: Vec<u8>,
    /// Bytes of a data frame still to be skipped.
    skip: usize,
    /// Size of the message in progress; `None` between messages.
    message: Option<usize>,
}

impl FrameReader {
    /// Largest message taken, in bytes.
    pub const MESSAGE_LIMIT: usize = 4096;

    /// Takes bytes in and appends what they say. After a fault the connection is to be closed.
    pub fn read(&mut self, mut bytes: &[u8], out: &mut Vec<Incoming>) -> Result<(), FrameFault> {
        while !bytes.is_empty() {
            if self.skip > 0 {
                let step = self.skip.min(bytes.len());
                self.skip -= step;
                bytes = &bytes[step..];
                continue;
            }
            self.held.push(bytes[0]);
            bytes = &bytes[1..];
            if let Some(incoming) = self.complete()? {
                out.push(incoming);
                self.held = Vec::new();
            }
        }
        Ok(())
    }

    /// What the held bytes say, once they say something.
    fn complete(&mut self) -> Result<Option<Incoming>, FrameFault> {
        let held = &self.held;
        let first = held[0];
        let opcode = first & 0x0f;
        let last = first & 0x80 != 0;
        let control = opcode & 0x8 != 0;
        let fits = match opcode {
            0x0 => self.message.is_some(),
            0x1 | 0x2 => self.message.is_none(),
            0x8..=0xA => last,
            _ => false,
        };
        // Reserved bits belong to extensions, and none was agreed.
        if first & 0x70 != 0 || !fits {
            return Err(FrameFault::Protocol);
        }
        let Some(second) = held.get(1) else { return Ok(None) };
        // A client's frames are masked (RFC 6455, 5.1).
        if second & 0x80 == 0 {
            return Err(FrameFault::Protocol);
        }
        let (length, header) = match second & 0x7f {
            126 if control => return Err(FrameFault::Protocol),
            126 => match held.get(2..4) {
                Some(size) => (usize::from(u16::from_be_bytes([size[0], size[1]])), 4),
                None => return Ok(None),
            },
            127 => return Err(if control { FrameFault::Protocol } else { FrameFault::TooBig }),
            short => (usize::from(short), 2),
        };
        if !control {
            let size = self.message.unwrap_or(0) + length;
            if size > Self::MESSAGE_LIMIT {
                return Err(FrameFault::TooBig);
            }
            if held.len() < header + 4 {
                return Ok(None);
            }
            self.message = (!last).then_some(size);
            self.skip = length;
            return Ok(Some(Incoming::Data));
        }
        if held.len() < header + 4 + length {
            return Ok(None);
        }
        let mask = &held[header..header + 4];
        let payload: Vec<u8> =
            held[header + 4..].iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
        Ok(Some(match opcode {
            0x8 => match payload.len() {
                0 => Incoming::Close(None),
                1 => return Err(FrameFault::Protocol),
                _ => Incoming::Close(Some(u16::from_be_bytes([payload[0], payload[1]]))),
            },
            0x9 => Incoming::Ping(payload),
            _ => Incoming::Pong,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn masked(opcode: u8, last: bool, payload: &[u8]) -> Vec<u8> {
        let mut out = vec![opcode | if last { 0x80 } else { 0 }];
        match payload.len() {
            short @ ..=125 => out.push(0x80 | short as u8),
            medium => {
                out.push(0xfe);
                out.extend_from_slice(&(medium as u16).to_be_bytes());
            }
        }
        let mask = [1u8, 2, 3, 4];
        out.extend_from_slice(&mask);
        out.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        out
    }

    #[test]
    fn frames_are_read_whole_or_byte_by_byte() {
        let mut wire = masked(0x9, true, b"are you there");
        wire.extend(masked(0x1, false, &[b'x'; 300]));
        wire.extend(masked(0xA, true, b""));
        wire.extend(masked(0x0, true, b"end"));
        wire.extend(masked(0x8, true, &1000u16.to_be_bytes()));
        let expected = vec![
            Incoming::Ping(b"are you there".to_vec()),
            Incoming::Data,
            Incoming::Pong,
            Incoming::Data,
            Incoming::Close(Some(1000)),
        ];
        let mut whole = Vec::new();
        FrameReader::default().read(&wire, &mut whole).unwrap();
        assert_eq!(whole, expected);
        let (mut reader, mut pieces) = (FrameReader::default(), Vec::new());
        for byte in wire {
            reader.read(&[byte], &mut pieces).unwrap();
        }
        assert_eq!(pieces, expected);
    }

    #[test]
    fn what_a_client_may_not_send_ends_it() {
        for (wire, fault) in [
            (vec![0x81, 0x01, b'x'], FrameFault::Protocol),
            (masked(0x3, true, b""), FrameFault::Protocol),
            (masked(0x0, true, b"no beginning"), FrameFault::Protocol),
            (masked(0x9, false, b"half a ping"), FrameFault::Protocol),
            (masked(0x1, true, &[0; 5000]), FrameFault::TooBig),
            (vec![0x82, 0xff, 0xff], FrameFault::TooBig),
            (vec![0xC1, 0x80], FrameFault::Protocol),
        ] {
            assert_eq!(FrameReader::default().read(&wire, &mut Vec::new()), Err(fault), "{wire:?}");
        }
        let mut many = Vec::new();
        many.extend(masked(0x1, false, &[0; 3000]));
        many.extend(masked(0x0, true, &[0; 3000]));
        assert_eq!(FrameReader::default().read(&many, &mut Vec::new()), Err(FrameFault::TooBig));
    }

    #[test]
    fn lengths_are_written_in_the_three_ways() {
        assert_eq!(&text_frame("ab")[..], b"\x81\x02ab");
        assert_eq!(&text_frame(&"a".repeat(126))[..4], b"\x81\x7e\x00\x7e");
        assert_eq!(&text_frame(&"a".repeat(65536))[..10], b"\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00");
        assert_eq!(&close_frame(1001, "bye")[..], b"\x88\x05\x03\xe9bye");
    }

    /// What a client may send, as bytes and as what it says.
    fn frames() -> impl Strategy<Value = (Vec<u8>, Vec<Incoming>)> {
        let control = proptest::collection::vec(any::<u8>(), 0..=CONTROL_LIMIT);
        let message = proptest::collection::vec(
            (0usize..FrameReader::MESSAGE_LIMIT / 4, proptest::option::of(control.clone())),
            1..4,
        );
        let one = prop_oneof![
            // A message in parts, with pings between them.
            message.prop_map(|parts| {
                let (mut bytes, mut said) = (Vec::new(), Vec::new());
                let last = parts.len() - 1;
                for (index, (length, ping)) in parts.into_iter().enumerate() {
                    let opcode = if index == 0 { 0x2 } else { 0x0 };
                    bytes.extend(masked(opcode, index == last, &vec![7; length]));
                    said.push(Incoming::Data);
                    if let Some(ping) = ping {
                        bytes.extend(masked(0x9, true, &ping));
                        said.push(Incoming::Ping(ping));
                    }
                }
                (bytes, said)
            }),
            control.clone().prop_map(|payload| (masked(0x9, true, &payload), vec![Incoming::Ping(payload)])),
            control.prop_map(|payload| (masked(0xA, true, &payload), vec![Incoming::Pong])),
            proptest::option::of(any::<u16>()).prop_map(|code| {
                let payload = code.map(u16::to_be_bytes);
                let payload = payload.as_ref().map_or(&[][..], |code| &code[..]);
                (masked(0x8, true, payload), vec![Incoming::Close(code)])
            }),
        ];
        proptest::collection::vec(one, 0..8).prop_map(|all| {
            let (bytes, said): (Vec<_>, Vec<_>) = all.into_iter().unzip();
            (bytes.concat(), said.concat())
        })
    }

    proptest! {
        #[test]
        fn frames_say_the_same_however_they_are_cut(
            (bytes, said) in frames(), lengths in proptest::collection::vec(1usize..300, 1..20),
        ) {
            prop_assert_eq!(read_pieces(&bytes, &lengths), (said, None));
        }

        #[test]
        fn anything_at_all_says_the_same_however_it_is_cut(
            bytes in proptest::collection::vec(any::<u8>(), 0..400),
            lengths in proptest::collection::vec(1usize..50, 1..20),
        ) {
            prop_assert_eq!(read_pieces(&bytes, &lengths), read_pieces(&bytes, &[usize::MAX]));
        }

        #[test]
        fn what_is_too_large_ends_it_wherever_it_is_cut(
            (mut bytes, said) in frames(), over in 1usize..5000, lengths in proptest::collection::vec(1usize..300, 1..20),
        ) {
            let mut broken = bytes.clone();
            bytes.extend(masked(0x1, true, &vec![0; FrameReader::MESSAGE_LIMIT + over]));
            prop_assert_eq!(read_pieces(&bytes, &lengths), (said.clone(), Some(FrameFault::TooBig)));
            // A control frame that claims a long payload.
            broken.extend([0x89, 0xfe, 0, 126]);
            prop_assert_eq!(read_pieces(&broken, &lengths), (said, Some(FrameFault::Protocol)));
        }

        #[test]
        fn any_bytes_end_or_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let mut reader = FrameReader::default();
            let mut out = Vec::new();
            for piece in bytes.chunks(7) {
                if reader.read(piece, &mut out).is_err() {
                    break;
                }
                prop_assert!(reader.held.len() < 140);
            }
        }
    }
}
