//! Certabo and Millennium: worked lines, learning a set, noise.

use arbiterd::wire::{
    BoardSquare, Content, Squares,
    certabo::{self, Calibration, Majority},
    dgt::{Dropped, Event},
    millennium,
};
use proptest::prelude::*;
use shakmaty::Board;

use super::{noise, piece, square};

/// A set whose tags are made up here; spare queens on d6 and d3 if asked.
fn tags(spares: bool) -> [certabo::Tag; 64] {
    let mut tags = [[0; 5]; 64];
    for square in BoardSquare::all() {
        let index = square.index();
        let spare = spares && (index == 19 || index == 43);
        if Board::new().piece_at(square.to_chess(false)).is_some() || spare {
            tags[index] = [110, index as u8, 7, 255, 1];
        }
    }
    tags
}

fn certabo_events(bytes: &[u8]) -> Vec<Event<certabo::Message>> {
    let mut decoder = certabo::Decoder::new();
    let mut events: Vec<_> = bytes.iter().filter_map(|&byte| decoder.push(byte)).collect();
    events.extend(decoder.give_up().map(Event::Dropped));
    events
}

#[test]
fn a_certabo_line_goes_both_ways() {
    let message = certabo::Message::Tags(Box::new(tags(true)));
    let mut line = b"\n".to_vec();
    message.encode(&mut line);
    assert!(line.starts_with(b"\n:110 0 7 255 1 110 1 7 255 1 "));
    assert!(line.ends_with(b"\r\n"));
    assert_eq!(certabo_events(&line), [Event::Message(message)]);
    let sentio = certabo::Message::Occupancy([255, 255, 0, 0, 0, 0, 255, 255]);
    assert_eq!(certabo_events(b":255 255 0 0 0 0 255 255 \r\n"), [Event::Message(sentio.clone())]);
    let squares = sentio.squares(&Calibration::default()).unwrap();
    assert_eq!(squares.get(square("a8")), Content::Occupied);
    assert_eq!(squares.get(square("e4")), Content::Empty);
}

#[test]
fn a_certabo_line_cut_short_costs_itself_only() {
    let message = certabo::Message::Tags(Box::new(tags(false)));
    let mut line = Vec::new();
    message.encode(&mut line);
    let stream = [&line[..100], &line[..]].concat();
    assert_eq!(certabo_events(&stream), [Event::Dropped(Dropped::Cut(100)), Event::Message(message)]);
    assert_eq!(certabo_events(b":1 2 3\r\n"), [Event::Dropped(Dropped::Garbage(7))]);
    assert_eq!(certabo_events(b":1 2 300\r\n"), [Event::Dropped(Dropped::Garbage(9))]);
}

#[test]
fn a_set_is_learnt_and_kept() {
    let calibration = Calibration::learn(&tags(true)).unwrap();
    let text = calibration.to_text();
    assert_eq!(Calibration::from_text(&text), Ok(calibration.clone()));
    assert_eq!(calibration.content([110, 4, 7, 255, 1]), piece('k'));
    assert_eq!(calibration.content([110, 43, 7, 255, 1]), piece('Q'));
    assert_eq!(calibration.content([1, 2, 3, 4, 5]), Content::Occupied);
    let squares = certabo::Message::Tags(Box::new(tags(false))).squares(&calibration).unwrap();
    assert_eq!(squares, Squares::from_board(&Board::new(), false));
    let mut moved = tags(false);
    moved.swap(52, 36);
    assert_eq!(Calibration::learn(&moved), None, "not the initial position");
    let mut double = tags(false);
    double[0] = double[7];
    assert_eq!(Calibration::learn(&double), None, "two pieces with one tag");
    assert!(Calibration::from_text("K 1 2 3 4").unwrap_err().contains("line 1"));
}

#[test]
fn a_missed_tag_is_outvoted() {
    let mut majority = Majority::default();
    let whole = Box::new(tags(false));
    let mut missed = whole.clone();
    missed[60] = [0; 5];
    assert_eq!(majority.vote(&whole), None);
    assert_eq!(majority.vote(&whole), None);
    assert_eq!(majority.vote(&missed), Some(whole.clone()));
    assert_eq!(majority.vote(&whole), Some(whole));
}

#[test]
fn certabo_leds_are_as_documented() {
    assert_eq!(certabo::leds(&[square("e2"), square("e4")]), [0, 0, 0, 0, 0x10, 0, 0x10, 0]);
    assert_eq!(certabo::leds(&[square("d2"), square("d4")]), [0, 0, 0, 0, 8, 0, 8, 0]);
}

fn millennium_events(bytes: &[u8]) -> Vec<Event<millennium::Message>> {
    let mut decoder = millennium::Decoder::new();
    let mut events = Vec::new();
    for &byte in bytes {
        events.extend(decoder.push(byte));
        while let Some(event) = decoder.more() {
            events.push(event);
        }
    }
    events.extend(decoder.give_up().map(Event::Dropped));
    events
}

#[test]
fn chesslink_messages_go_both_ways() {
    let mut out = Vec::new();
    millennium::Command::Status.encode(&mut out);
    // 53 with odd parity is d3; its XOR is itself: "53".
    assert_eq!(out, [0xd3, b'5' | 0x80, b'3' | 0x80]);
    assert!(out.iter().all(|byte| byte.count_ones() % 2 == 1));
    let status = millennium::Message::Status(Squares::from_board(&Board::new(), false));
    let mut line = Vec::new();
    status.encode(&mut line);
    assert_eq!(line.len(), 67);
    assert_eq!(line[1] & 0x7f, b'r');
    assert_eq!(millennium_events(&line), [Event::Message(status.clone())]);
    // An adapter that strips the parity makes no difference.
    let plain: Vec<u8> = line.iter().map(|byte| byte & 0x7f).collect();
    assert_eq!(millennium_events(&plain), [Event::Message(status.clone())]);
    // A lost byte costs one report.
    let stream = [&line[..30], &line[31..], &line[..]].concat();
    assert_eq!(millennium_events(&stream), [Event::Dropped(Dropped::Garbage(66)), Event::Message(status)]);
}

proptest! {
    #[test]
    fn no_noise_harms_the_other_makes(stream in noise()) {
        certabo_events(&stream);
        let dropped: u32 = millennium_events(&stream)
            .iter()
            .map(|event| match event {
                Event::Dropped(dropped) => dropped.bytes(),
                Event::Message(message) => {
                    let mut out = Vec::new();
                    message.encode(&mut out);
                    out.len() as u32
                }
            })
            .sum();
        prop_assert_eq!(dropped as usize, stream.len());
    }
}
