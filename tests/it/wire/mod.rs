//! The boards' languages: worked bytes, round trips, captures of real boards, and noise.

#![expect(clippy::unwrap_used, reason = "a test may fail by it")]

mod makes;
mod table;

use arbiterd::wire::{
    BatteryReading, BoardSquare, ClockReading, ClockSide, ClockState, Content, LinkEvent, Observation,
    RecoveredEvent, Squares,
    dgt::{
        self, Ack, AckKind, Battery, Button, ClockCommand, ClockMessage, ClockTime, Command, CommandDecoder,
        Dropped, Event, Message, Received, Tag, Tags, bus,
    },
};
use proptest::prelude::*;
use shakmaty::{Board, Color, Piece, Role};

use crate::support::shared;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).expect("hex digits"))
        .collect()
}

fn observe(hex: &str) -> Vec<Observation> {
    let (mut decoder, mut out) = (dgt::any::Decoder::new(), Vec::new());
    decoder.feed(&bytes(hex), &mut out);
    decoder.finish(&mut out);
    out
}

fn square(name: &str) -> BoardSquare {
    BoardSquare::from_chess(name.parse().unwrap(), false)
}

fn piece(letter: char) -> Content {
    Content::from_letter(letter).unwrap()
}

fn encoded(message: &Message) -> Vec<u8> {
    let mut out = Vec::new();
    message.encode(&mut out);
    out
}

const START: &str =
    "08 09 0a 0c 0b 0a 09 08 07 07 07 07 07 07 07 07 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 01 01 01 01 01 01 01 02 03 04 06 05 04 03 02";

#[test]
fn a_dump_is_the_initial_position_seen_from_either_side() {
    let board = Board::new();
    let dump = Message::Board(Squares::from_board(&board, false));
    assert_eq!(encoded(&dump), bytes(&format!("86 00 43 {START}")));
    let turned = Message::Board(Squares::from_board(&board, true));
    assert_eq!(encoded(&turned)[3..11], bytes("02 03 04 05 06 04 03 02"));
    assert_eq!(
        observe(&format!("86 00 43 {START}")),
        [Observation::Dump(Squares::from_board(&board, false))]
    );
}

#[test]
fn all_piece_codes_go_both_ways() {
    for code in 0..16 {
        assert_eq!(dgt::piece_code(dgt::content_from_code(code)), code);
    }
    assert_eq!(dgt::content_from_code(5), Content::Piece(Piece { color: Color::White, role: Role::King }));
    assert_eq!(dgt::content_from_code(12), Content::Piece(Piece { color: Color::Black, role: Role::Queen }));
    assert_eq!(dgt::content_from_code(14), Content::ResultPiece(Some(Color::White)));
}

#[test]
fn the_clock_reads_as_documented() {
    let reading = |hex: &str| ClockMessage(bytes(hex).try_into().unwrap()).state();
    let side = |seconds| ClockSide { seconds, ..ClockSide::default() };
    let base = ClockReading {
        left: side(182),
        right: side(182),
        running: false,
        left_to_move: true,
        battery_low: false,
    };
    assert_eq!(reading("20 03 02 20 03 02 08"), Some(ClockState::Reading(base)));
    assert_eq!(
        reading("20 03 02 20 03 01 13"),
        Some(ClockState::Reading(ClockReading {
            left: side(181),
            running: true,
            left_to_move: false,
            ..base
        }))
    );
    // The right flag fell and the clock is blocked: the end of a real game.
    assert_eq!(
        reading("30 00 00 20 00 16 12"),
        Some(ClockState::Reading(ClockReading {
            left: side(16),
            right: ClockSide { seconds: 0, flag: true, blocked: true },
            left_to_move: false,
            ..base
        }))
    );
    // A flag shown while the next period runs.
    assert_eq!(
        reading("40 59 00 00 10 00 07"),
        Some(ClockState::Reading(ClockReading {
            left: side(600),
            right: ClockSide { seconds: 59 * 60, flag: true, blocked: false },
            running: true,
            left_to_move: false,
            battery_low: true,
        }))
    );
    assert_eq!(reading("00 00 00 00 00 00 20"), Some(ClockState::Absent));
    assert_eq!(reading("01 75 55 00 30 00 09"), Some(ClockState::Garbage));
    assert_eq!(reading("0b 00 00 00 30 00 09"), Some(ClockState::Garbage));
    assert_eq!(reading("00 1a 00 00 30 00 09"), Some(ClockState::Garbage));
    assert_eq!(
        reading("00 00 00 00 00 00 00"),
        Some(ClockState::Reading(ClockReading { left: side(0), right: side(0), ..base })),
        "all zeros are odd but readable; whoever knows the game judges them"
    );
}

#[test]
fn acknowledgements_are_no_times() {
    let ack = |hex: &str| match ClockMessage(bytes(hex).try_into().unwrap()).read() {
        ClockTime::Ack(ack) => ack.kind(),
        ClockTime::State(state) => panic!("{state:?} is no acknowledgement"),
    };
    assert_eq!(ack("0a 10 01 0a 00 00 00"), AckKind::Answer { command: 1, fine: true });
    assert_eq!(ack("0a 10 09 0a 22 00 00"), AckKind::Version(2, 2));
    assert_eq!(ack("0a 10 0a 00 00 00 00"), AckKind::Answer { command: 0x0a, fine: true });
    assert_eq!(ack("0a 40 0a 0a 00 00 00"), AckKind::Answer { command: 0x0a, fine: false });
    assert_eq!(ack("0a 10 01 2a 00 00 00"), AckKind::Ready);
    assert_eq!(ack("0a 10 08 2a 05 31 00"), AckKind::Buttons(Button(Button::BACK)));
    assert_eq!(ack("0a 10 08 2a 11 33 00"), AckKind::Buttons(Button(Button::RUN)));
    assert_eq!(ack("0a 10 08 2a 45 35 00"), AckKind::Buttons(Button(Button::BACK | Button::OK)));
    assert_eq!(observe("8d 00 0a 0a 10 0a 00 00 00 00"), []);
}

#[test]
fn clock_commands_are_as_documented() {
    let table = [
        (ClockCommand::Version, "2b 03 03 09 00"),
        (ClockCommand::Beep(2), "2b 04 03 0b 02 00"),
        (ClockCommand::End, "2b 03 03 03 00"),
        (
            ClockCommand::SetAndRun { left: [0, 10, 0], right: [0, 7, 0], flags: 1 },
            "2b 0a 03 0a 00 0a 00 00 07 00 01 00",
        ),
        (ClockCommand::Ascii { text: *b" become ", beep: 1 }, "2b 0c 03 0c 20 62 65 63 6f 6d 65 20 01 00"),
    ];
    for (command, hex) in table {
        let mut out = Vec::new();
        Command::Clock(command.clone()).encode(&mut out);
        assert_eq!(out, bytes(hex));
        assert_eq!(received(&bytes(hex)), [Event::Message(Received::Command(Command::Clock(command)))]);
    }
    // The minority that counts the two first bytes into the size.
    assert_eq!(
        received(&bytes("2b 05 03 09 00 42")),
        [
            Event::Message(Received::Command(Command::Clock(ClockCommand::Version))),
            Event::Message(Received::Command(Command::SendBoard)),
        ]
    );
}

fn received(stream: &[u8]) -> Vec<Event<Received>> {
    let mut decoder = CommandDecoder::new();
    let mut events: Vec<_> = stream.iter().filter_map(|&byte| decoder.push(byte)).collect();
    events.extend(decoder.give_up().map(Event::Dropped));
    events
}

#[test]
fn a_board_understands_what_programs_send() {
    let commands = |hex: &str| {
        received(&bytes(hex))
            .into_iter()
            .map(|event| match event {
                Event::Message(Received::Command(command)) => command,
                other => panic!("{other:?}"),
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(commands("4b 42 4d"), [Command::SendUpdateNice, Command::SendBoard, Command::SendVersion]);
    assert_eq!(
        commands("40 60 04 00 40 40 00 45"),
        [Command::Reset, Command::Leds(vec![0, 0x40, 0x40, 0]), Command::ReturnSerial]
    );
    assert_eq!(
        commands("63 07 be f5 ae dd a9 5f 00 44"),
        [Command::PegasusKey(bytes("be f5 ae dd a9 5f 00")), Command::SendUpdateBoard]
    );
    // The boot loader, a draughts scan mode and noise are nothing a board here would act upon.
    assert_eq!(
        received(&bytes("4e 51 07 46")),
        [
            Event::Message(Received::Unknown(0x4e)),
            Event::Message(Received::Unknown(0x51)),
            Event::Message(Received::Unknown(0x07)),
            Event::Message(Received::Command(Command::ReturnBusAddress)),
        ]
    );
    // A bus command cut short by the next one.
    assert_eq!(
        received(&bytes("83 08 83 08 01 0c 83 08 01 0d")),
        [
            Event::Dropped(Dropped::Cut(2)),
            Event::Message(Received::Bus(bus::Command {
                request: bus::Request::Changes,
                address: bus::Address::new(1025).unwrap()
            })),
            Event::Message(Received::BusUnknown([0x83, 0x08, 0x01, 0x0d])),
        ]
    );
}

#[test]
fn the_battery_message_has_nine_bytes_of_data() {
    let hex = "a0 00 0c 4b 7f 7f 02 1e 01 00 05 02";
    let battery = Battery { percent: 75, left: None, on: (2, 30), standby: (1, 0, 5), status: 2 };
    assert_eq!(encoded(&Message::Battery(battery)), bytes(hex));
    assert_eq!(
        observe(hex),
        [Observation::Battery(BatteryReading { percent: 75, minutes_left: None, charging: false })]
    );
}

#[test]
fn identity_messages_go_both_ways() {
    let table = [
        (Message::Serial("01025".into()), "91 00 08 30 31 30 32 35"),
        (Message::LongSerial("3.25001000".into()), "a2 00 0d 33 2e 32 35 30 30 31 30 30 30"),
        (Message::Version(1, 8), "93 00 05 01 08"),
        (Message::BusAddress(1025), "90 00 05 08 01"),
    ];
    for (message, hex) in table {
        assert_eq!(encoded(&message), bytes(hex));
        assert_eq!(Message::decode(&bytes(hex)), Some(message));
    }
    // A long text needs both length bytes.
    let text = "x".repeat(138);
    assert_eq!(encoded(&Message::Trademark(text))[..3], [0x92, 0x01, 0x0d]);
}

#[test]
fn a_lost_byte_costs_one_message_only() {
    assert_eq!(
        observe("8e 00 05 34 8e 00 05 24 01"),
        [Observation::Link(LinkEvent::Resync(4)), Observation::Square(square("e4"), piece('P')),]
    );
}

#[test]
fn noise_before_and_between_messages_is_counted() {
    assert_eq!(
        observe("00 12 8e 00 05 34 00 33 c1 44 8e 00 05 24 01 05"),
        [
            Observation::Link(LinkEvent::Garbage(2)),
            Observation::Square(square("e2"), Content::Empty),
            Observation::Link(LinkEvent::Garbage(3)),
            Observation::Square(square("e4"), piece('P')),
            Observation::Link(LinkEvent::Garbage(1)),
        ]
    );
    // An impossible length, and a square that is not on the board.
    assert_eq!(
        observe("8e 3e 03 34 00 8e 00 05 40 00 8e 00 05 34 00"),
        [
            Observation::Link(LinkEvent::Garbage(5)),
            Observation::Link(LinkEvent::Garbage(5)),
            Observation::Square(square("e2"), Content::Empty),
        ]
    );
}

#[test]
fn a_refused_bus_packet_brings_no_move_and_its_repeat_does() {
    assert_eq!(
        observe("85 00 0a 08 01 40 34 51 24 00  85 00 0a 08 01 40 34 51 24 01"),
        [
            Observation::Link(LinkEvent::Checksum),
            Observation::Square(square("e2"), Content::Empty),
            Observation::Square(square("e4"), piece('P')),
        ]
    );
}

#[test]
fn bus_commands_have_the_documented_checksums() {
    let addresses = [300_u16, 1025, 6685, 16383].map(|number| bus::Address::new(number).unwrap());
    let table = [
        (bus::Request::Clock, 0x81, [0x2f, 0x0a, 0x52, 0x7f]),
        (bus::Request::Board, 0x82, [0x30, 0x0b, 0x53, 0x00]),
        (bus::Request::Changes, 0x83, [0x31, 0x0c, 0x54, 0x01]),
        (bus::Request::Repeat, 0x84, [0x32, 0x0d, 0x55, 0x02]),
        (bus::Request::StartGame, 0x85, [0x33, 0x0e, 0x56, 0x03]),
        (bus::Request::FromStart, 0x86, [0x34, 0x0f, 0x57, 0x04]),
        (bus::Request::Ping, 0x87, [0x35, 0x10, 0x58, 0x05]),
        (bus::Request::End, 0x88, [0x36, 0x11, 0x59, 0x06]),
        (bus::Request::Reset, 0x89, [0x37, 0x12, 0x5a, 0x07]),
        (bus::Request::IgnoreNextPing, 0x8a, [0x38, 0x13, 0x5b, 0x08]),
        (bus::Request::Version, 0x8b, [0x39, 0x14, 0x5c, 0x09]),
        (bus::Request::All, 0x8d, [0x3b, 0x16, 0x5e, 0x0b]),
    ];
    let parts = [[0x02, 0x2c], [0x08, 0x01], [0x34, 0x1d], [0x7f, 0x7f]];
    for (request, code, sums) in table {
        for ((address, [high, low]), sum) in addresses.into_iter().zip(parts).zip(sums) {
            let command = bus::Command { request, address };
            assert_eq!(command.encode(), [code, high, low, sum]);
            assert_eq!(bus::Command::decode([code, high, low, sum]), Some(command));
            assert_eq!(bus::Command::decode([code, high, low, sum ^ 1]), None);
        }
    }
    let all = bus::Command { request: bus::Request::Ping, address: bus::Address::ALL };
    assert_eq!(all.encode(), [0x87, 0, 0, 7]);
}

#[test]
fn bus_replies_go_both_ways() {
    let address = bus::Address::new(1025).unwrap();
    let time = |hex: &str| ClockMessage(bytes(hex).try_into().unwrap());
    let changes = |hex: &str| bus::Body::Changes { even: false, stream: bytes(hex) };
    let table = [
        (bus::Body::Ping, "87 00 06 08 01 16"),
        (bus::Body::StartWritten, "88 00 06 08 01 17"),
        (bus::Body::Version(Some((1, 8))), "89 00 08 08 01 01 08 23"),
        (changes(""), "85 00 06 08 01 14"),
        (bus::Body::Changes { even: true, stream: vec![] }, "8b 00 06 08 01 1a"),
        (changes("7f 7f 7f 6a"), "85 00 0a 08 01 7f 7f 7f 6a 7f"),
        (changes("40 34 41 24 70 03 00"), "85 00 0d 08 01 40 34 41 24 70 03 00 67"),
        (bus::Body::Clock(time("20 03 02 20 03 01 09")), "84 00 0d 08 01 20 03 02 20 03 01 09 6c"),
        (bus::Body::Clock(ClockMessage::ABSENT), "84 00 0d 08 01 00 00 00 00 00 00 20 3a"),
        (bus::Body::Board(Squares::from_board(&Board::new(), false)), &format!("83 00 46 08 01 {START} 7c")),
    ];
    for (body, hex) in table {
        let reply = bus::Reply { address, body };
        let mut out = Vec::new();
        reply.encode(&mut out);
        assert_eq!(out, bytes(hex));
        assert_eq!(bus::Reply::decode(&out), Ok(reply));
    }
}

#[test]
fn a_press_in_the_bus_stream_becomes_a_clock_reading() {
    let seen = observe(
        "84 00 0d 08 01 20 03 02 20 03 01 09 6c
         85 00 0d 08 01 40 34 41 24 70 03 00 67",
    );
    let Some(Observation::Clock(ClockState::Reading(reading))) = seen.last() else { panic!("{seen:?}") };
    assert_eq!((reading.left.seconds, reading.right.seconds), (180, 182));
    assert!(reading.running && !reading.left_to_move);
}

#[test]
fn the_burst_after_power_up_is_a_dump_and_no_moves() {
    // Two kings and a pawn that then moves.
    let stream = [bytes("7f 7f 7f 6a 45 3c 4b 04 41 34"), bytes("40 34 41 24")].concat();
    let reply = bus::Reply {
        address: bus::Address::new(300).unwrap(),
        body: bus::Body::Changes { even: false, stream },
    };
    let mut frame = Vec::new();
    reply.encode(&mut frame);
    let (mut decoder, mut out) = (dgt::any::Decoder::new(), Vec::new());
    decoder.feed(&frame, &mut out);
    let mut squares = Squares::default();
    squares.set(square("e1"), piece('K'));
    squares.set(square("e8"), piece('k'));
    squares.set(square("e2"), piece('P'));
    assert_eq!(
        out,
        [
            Observation::Dump(squares),
            Observation::Square(square("e2"), Content::Empty),
            Observation::Square(square("e4"), piece('P')),
        ]
    );
}

#[test]
fn the_boards_log_tells_its_events_in_order() {
    let stream = bytes("12 7f 7f 7f 6a 6f 40 34 51 24 70 03 00 7a 41 7f 60 61 6d ff 10 6b");
    let events: Vec<_> = Tags::new(&stream).filter_map(Tag::to_recovered).collect();
    let change = |name: &str, letter: char, quick| RecoveredEvent::Square {
        square: square(name),
        content: piece(letter),
        quick,
    };
    assert_eq!(
        events,
        [
            RecoveredEvent::PowerUp,
            RecoveredEvent::StartPosition { rotated: false },
            change("e2", '.', false),
            change("e4", 'P', true),
            RecoveredEvent::Halted { left: true, seconds: 180 },
            RecoveredEvent::StartPosition { rotated: true },
            RecoveredEvent::EmptyBoard,
        ]
    );
    let log = Message::Log(vec![0x7f; 0x1f00]);
    assert_eq!(encoded(&log)[..3], [0x8f, 0x3e, 0x03]);
    assert_eq!(Message::decode(&encoded(&log)), Some(log));
}

#[test]
fn an_erased_cell_does_not_cut_the_log() {
    let mut frame = encoded(&Message::Log(vec![0x00; 0x1f00]));
    frame[100] = 0xff;
    let mut decoder = dgt::Decoder::new();
    let events: Vec<_> = frame.iter().filter_map(|&byte| decoder.push(byte)).collect();
    assert!(matches!(&events[..], [Event::Message(Message::Log(stream))] if stream[97] == 0xff));
}

#[test]
fn a_flipped_bit_does_not_cost_the_whole_log_but_a_header_ends_it() {
    let mut frame = encoded(&Message::Log(vec![0x7f; 0x1f00]));
    frame[4000] = 0x8e;
    let mut decoder = dgt::Decoder::new();
    let events: Vec<_> = frame.iter().filter_map(|&byte| decoder.push(byte)).collect();
    assert!(matches!(&events[..], [Event::Message(Message::Log(stream))] if stream.len() == 0x1f00));
    let cut = [&frame[..500], &bytes("8e 00 05 34 00")].concat();
    let events: Vec<_> = cut.iter().filter_map(|&byte| decoder.push(byte)).collect();
    assert_eq!(
        events,
        [
            Event::Dropped(Dropped::Cut(500)),
            Event::Message(Message::Field { square: square("e2"), content: Content::Empty, quick: false })
        ]
    );
}

#[test]
fn the_log_is_read_back_to_what_was_last_seen() {
    let event = |name: &str, letter: char| RecoveredEvent::Square {
        square: square(name),
        content: piece(letter),
        quick: false,
    };
    let halted = |left, seconds| RecoveredEvent::Halted { left, seconds };
    let log = [
        RecoveredEvent::StartPosition { rotated: false },
        event("e2", '.'),
        event("e4", 'P'),
        halted(true, 100),
        event("e7", '.'),
        event("e5", 'p'),
        halted(false, 90),
        event("g1", '.'),
        event("f3", 'N'),
    ];
    let mut before = Squares::from_board(&Board::new(), false);
    before.set(square("e2"), Content::Empty);
    before.set(square("e4"), piece('P'));
    let mut now = before;
    for (name, letter) in [("e7", '.'), ("e5", 'p'), ("g1", '.'), ("f3", 'N')] {
        now.set(square(name), piece(letter));
    }
    assert_eq!(
        dgt::events_since(&log, &before, &now),
        Some(&log[4..]),
        "the press of the known move is known"
    );
    assert_eq!(dgt::events_since(&log, &now, &now), Some(&log[9..]));
    before.set(square("a1"), Content::Empty);
    assert_eq!(dgt::events_since(&log, &before, &now), None);
    assert_eq!(dgt::events_of_last_game(&log).len(), 9);
}

#[test]
fn real_captures_decode_whole_in_pieces_of_any_size() {
    for (name, messages, changes) in [("game-1", 455, 131), ("game-2", 805, 226)] {
        let Some(path) = shared(&format!("captures/{name}.bin")) else { return };
        let raw = std::fs::read(path).unwrap();
        for piece in [1, 2, 7, raw.len()] {
            let (mut decoder, mut out) = (dgt::any::Decoder::new(), Vec::new());
            raw.chunks(piece).for_each(|chunk| decoder.feed(chunk, &mut out));
            decoder.finish(&mut out);
            assert_eq!(out.len(), messages, "{name} in pieces of {piece}");
            let squares = out.iter().filter(|seen| matches!(seen, Observation::Square(..))).count();
            assert_eq!(squares, changes);
            assert!(!out.iter().any(|seen| matches!(seen, Observation::Link(_))), "nothing is dropped");
        }
        // Every message written back gives the very same bytes.
        let (mut decoder, mut again) = (dgt::Decoder::new(), Vec::new());
        for &byte in &raw {
            match decoder.push(byte) {
                Some(Event::Message(message)) => message.encode(&mut again),
                Some(Event::Dropped(dropped)) => panic!("{dropped:?}"),
                None => {}
            }
        }
        assert_eq!(again, raw);
    }
}

/// Bytes that are often headers, lengths and squares, so that noise gets deep into the decoders.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        any::<u8>(),
        prop::sample::select(vec![0x86_u8, 0x8d, 0x8e, 0x8f, 0x91, 0x85, 0x83, 0x84, 0x2b, 0x60, 0x63]),
        prop::sample::select(vec![0_u8, 3, 5, 6, 8, 10, 13, 0x43, 0x46]),
        0_u8..64,
    ];
    prop::collection::vec(byte, 0..400)
}

proptest! {
    #[test]
    fn every_byte_is_delivered_dropped_or_pending(stream in noise()) {
        let mut decoder = dgt::Decoder::new();
        let (mut delivered, mut dropped) = (0, 0);
        for (index, &byte) in stream.iter().enumerate() {
            match decoder.push(byte) {
                // The encoded length is the length on the line: texts lose only surrounding blanks.
                Some(Event::Message(Message::Serial(_) | Message::LongSerial(_))) => {
                    delivered = index + 1 - dropped - decoder.pending();
                }
                Some(Event::Message(message)) => delivered += encoded(&message).len(),
                Some(Event::Dropped(what)) => dropped += what.bytes() as usize,
                None => {}
            }
            prop_assert_eq!(delivered + dropped + decoder.pending(), index + 1);
        }
        dropped += decoder.give_up().map_or(0, |what| what.bytes() as usize);
        prop_assert_eq!(delivered + dropped, stream.len());
        prop_assert_eq!(decoder.pending(), 0);
    }

    #[test]
    fn every_byte_of_a_chain_is_accounted_for(stream in noise()) {
        let mut decoder = bus::Decoder::new();
        let (mut delivered, mut dropped) = (0, 0);
        for &byte in &stream {
            match decoder.push(byte) {
                Some(Event::Message(reply)) => {
                    let mut out = Vec::new();
                    reply.encode(&mut out);
                    delivered += out.len();
                }
                Some(Event::Dropped(what)) => dropped += what.bytes() as usize,
                None => {}
            }
        }
        dropped += decoder.give_up().map_or(0, |what| what.bytes() as usize);
        prop_assert_eq!(delivered + dropped, stream.len());
    }

    #[test]
    fn a_board_survives_any_bytes_from_a_pc(stream in noise()) {
        let mut decoder = CommandDecoder::new();
        let (mut delivered, mut dropped) = (0, 0);
        for &byte in &stream {
            match decoder.push(byte) {
                Some(Event::Message(Received::Command(command))) => {
                    let mut out = Vec::new();
                    command.encode(&mut out);
                    delivered += out.len();
                }
                Some(Event::Message(Received::Bus(_) | Received::BusUnknown(_))) => delivered += 4,
                Some(Event::Message(Received::Unknown(_))) => delivered += 1,
                Some(Event::Dropped(what)) => dropped += what.bytes() as usize,
                None => {}
            }
        }
        dropped += decoder.give_up().map_or(0, |what| what.bytes() as usize);
        prop_assert_eq!(delivered + dropped, stream.len());
    }

    #[test]
    fn raw_recordings_of_noise_do_not_panic(stream in noise()) {
        let (mut decoder, mut out) = (dgt::any::Decoder::new(), Vec::new());
        decoder.feed(&stream, &mut out);
        decoder.finish(&mut out);
    }

    #[test]
    fn readings_go_both_ways(
        left in 0_u32..36_000, right in 0_u32..36_000, flags in prop::array::uniform7(any::<bool>()),
    ) {
        let [lf, lb, rf, rb, running, left_to_move, battery_low] = flags;
        let reading = ClockReading {
            left: ClockSide { seconds: left, flag: lf, blocked: lf && lb },
            right: ClockSide { seconds: right, flag: rf, blocked: rf && rb },
            running, left_to_move, battery_low,
        };
        for per_move in [false, true] {
            let message = ClockMessage::from_reading(&reading, per_move);
            prop_assert_eq!(message.state(), Some(ClockState::Reading(reading)));
        }
    }

    #[test]
    fn acknowledgements_go_both_ways(four in any::<[u8; 4]>()) {
        prop_assert_eq!(ClockMessage::from_ack(Ack(four)).read(), ClockTime::Ack(Ack(four)));
    }

    #[test]
    fn tags_go_both_ways(tags in prop::collection::vec(tag(), 0..100)) {
        let mut stream = Vec::new();
        for tag in &tags {
            tag.encode(&mut stream);
        }
        prop_assert_eq!(Tags::new(&stream).collect::<Vec<_>>(), tags);
    }
}

fn tag() -> impl Strategy<Value = Tag> {
    prop_oneof![
        (0_u8..64, 0_u8..16, any::<bool>()).prop_map(|(square, code, quick)| Tag::Field {
            square: BoardSquare::new(square).unwrap(),
            content: dgt::content_from_code(code),
            quick,
        }),
        (any::<bool>(), 0_u32..36_000).prop_map(|(left, seconds)| Tag::Time { left, seconds }),
        prop::sample::select(vec![
            Tag::PowerUp,
            Tag::End,
            Tag::FourRows,
            Tag::EmptyBoard,
            Tag::Downloaded,
            Tag::Begin { rotated: false },
            Tag::Begin { rotated: true },
            Tag::Start,
            Tag::Watchdog,
            Tag::Nop(0x7f),
            Tag::Unknown(0x7e),
        ]),
    ]
}
