//! The table of published commands and replies, read by the decoders.

use std::path::Path;

use arbiterd::wire::dgt::{Command, CommandDecoder, Decoder, Event, Message, Received, bus};

use super::bytes;

#[test]
fn every_published_command_and_reply_is_understood_and_written_alike() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/dgt-replies.txt");
    let table = std::fs::read_to_string(path).unwrap();
    let (mut commands, mut replies) = (0, 0);
    for line in table.lines() {
        let line = line.split('#').next().unwrap().trim();
        if line.is_empty() || line.starts_with('@') {
            continue;
        }
        if let Some(sent) = line.strip_prefix('>') {
            commands += 1;
            command(&bytes(sent));
        } else {
            replies += 1;
            reply(&bytes(line));
        }
    }
    assert!(commands > 30 && replies > 30, "{commands} commands, {replies} replies");
}

fn command(sent: &[u8]) {
    let mut decoder = CommandDecoder::new();
    let mut again = Vec::new();
    for &byte in sent {
        match decoder.push(byte) {
            None => {}
            Some(Event::Message(Received::Command(command))) => command.encode(&mut again),
            Some(Event::Message(Received::Bus(command))) => again.extend(command.encode()),
            Some(Event::Message(Received::BusUnknown(four))) => again.extend(four),
            Some(Event::Message(Received::Unknown(byte))) => again.push(byte),
            Some(Event::Dropped(dropped)) => panic!("{dropped:?} of {sent:02x?}"),
        }
    }
    assert_eq!(again, sent);
    assert_eq!(decoder.pending(), 0);
}

/// Whichever of the two languages reads it writes it back alike.
fn reply(sent: &[u8]) {
    let mut single = Decoder::new();
    let mut chain = bus::Decoder::new();
    let mut again = Vec::new();
    for &byte in sent {
        if let Some(Event::Message(message)) = single.push(byte) {
            message.encode(&mut again);
        }
    }
    if again != sent {
        again.clear();
        for &byte in sent {
            if let Some(Event::Message(reply)) = chain.push(byte) {
                reply.encode(&mut again);
            }
        }
    }
    assert_eq!(again, sent);
}

#[test]
fn dangerous_commands_have_no_name() {
    for byte in [0x4e, 0x51, 0x53, 0x54] {
        let received = CommandDecoder::new().push(byte);
        assert_eq!(received, Some(Event::Message(Received::Unknown(byte))));
    }
    // And the texts that could identify a maker are read, never needed.
    let mut out = Vec::new();
    Command::SendTrademark.encode(&mut out);
    Message::Trademark("A simulated board".into()).encode(&mut out);
    assert_eq!(out[..2], [0x47, 0x92]);
}
