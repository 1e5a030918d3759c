//! Simulated lines other than a single DGT board: chains with collisions, two other makes.

use std::collections::BTreeSet;

use arbiterd::{
    sim::{
        Action, BoardConfig, Certabo, Chain, DeviceSetup, Firmware, HandOptions, Level, Line, Millennium,
        famous_games, hand,
    },
    wire::dgt::{
        Event, Tag, Tags,
        bus::{Address, Body, Command, Decoder, Reply, Request},
    },
};
use shakmaty::{Color, Piece, Role, Square};

fn chain(count: u32) -> Chain {
    let boards = (0..count).map(|index| {
        let setup = DeviceSetup { seed: u64::from(index) + 40, ..DeviceSetup::default() };
        Firmware::new(BoardConfig { serial: 1025 + index, setup, ..BoardConfig::default() })
    });
    Chain::new(boards.collect())
}

/// Asks, and listens for so long; what comes back whole.
fn ask(chain: &mut Chain, now: &mut u64, request: Request, address: u16, listen_ms: u64) -> Vec<Reply> {
    let address = Address::new(address).expect("an address");
    let mut out = Vec::new();
    chain.advance(*now, &mut out);
    out.clear();
    chain.receive(*now, &Command { request, address }.encode());
    *now += listen_ms;
    chain.advance(*now, &mut out);
    let mut decoder = Decoder::new();
    let bytes = out.into_iter().flat_map(|(_, bytes)| bytes);
    let mut replies = Vec::new();
    for byte in bytes {
        if let Some(Event::Message(reply)) = decoder.push(byte) {
            replies.push(reply);
        }
    }
    replies
}

/// The discovery as published: ping all, silence those found, until a round finds nothing new.
/// Answers collide, so one round does not find thirty boards.
#[test]
fn a_chain_is_discovered_in_spite_of_collisions() {
    let (mut chain, mut now) = (chain(30), 0);
    let mut found = BTreeSet::new();
    let mut rounds = 0;
    loop {
        for address in &found {
            let silenced = ask(&mut chain, &mut now, Request::IgnoreNextPing, *address, 100);
            assert_eq!(silenced.len(), 1, "it answers at once");
        }
        let before = found.len();
        found.extend(
            ask(&mut chain, &mut now, Request::Ping, 0, 1500).iter().map(|reply| reply.address.number()),
        );
        rounds += 1;
        if found.len() == before {
            break;
        }
    }
    assert_eq!(found, (1025..1055).collect());
    assert!(rounds > 2, "{rounds} rounds");
    assert!(chain.collisions() > 0);
}

#[test]
fn every_board_of_a_chain_keeps_its_own_game() {
    let (mut chain, mut now) = (chain(3), 0);
    for address in 1025..1028 {
        let power_up = ask(&mut chain, &mut now, Request::Changes, address, 200);
        let Body::Changes { stream, .. } = &power_up[0].body else { panic!("{power_up:?}") };
        assert!(Tags::new(stream).any(|tag| tag == Tag::PowerUp));
    }
    let pawn = Piece { color: Color::White, role: Role::Pawn };
    for (board, from, to) in [(0, Square::E2, Square::E4), (2, Square::D2, Square::D4)] {
        chain.act(board, now + 100, Action::Lift(from));
        chain.act(board, now + 700, Action::Put(to, pawn));
    }
    now += 1500;
    let changes: Vec<usize> = (1025..1028)
        .map(|address| {
            let replies = ask(&mut chain, &mut now, Request::Changes, address, 200);
            let Body::Changes { stream, .. } = &replies[0].body else { panic!("{replies:?}") };
            Tags::new(stream).filter(|tag| matches!(tag, Tag::Field { .. })).count()
        })
        .collect();
    assert_eq!(changes, [2, 0, 2]);
    let again = ask(&mut chain, &mut now, Request::Changes, 1025, 200);
    assert_eq!(again[0].body, Body::Changes { even: false, stream: Vec::new() }, "fetched and forgotten");
}

/// A single-board command on a chain is obeyed by all boards at once.
#[test]
fn a_stray_single_command_brings_noise() {
    let mut chain = chain(3);
    let mut out = Vec::new();
    chain.receive(0, &[0x45]);
    chain.advance(500, &mut out);
    assert!(chain.collisions() > 0, "three serial numbers at once");
    let mut now = 500;
    assert!(
        ask(&mut chain, &mut now, Request::Ping, 1026, 200).is_empty(),
        "the first bus command is swallowed"
    );
    assert_eq!(ask(&mut chain, &mut now, Request::Ping, 1026, 200).len(), 1);
}

/// Tags are learnt from the initial position; after a game the piece tags stand where the men do.
#[test]
fn certabo_streams_the_tags_of_its_squares() {
    let game = &famous_games()[2];
    let options = HandOptions { reset_after_last: false, ..HandOptions::new(Level::Tidy, 5) };
    let script = hand::script(std::slice::from_ref(game), &options);
    let mut board = Certabo::new(&DeviceSetup::default(), true);
    for (at, action) in &script.actions {
        board.act(0, *at, action.clone());
    }
    let mut out = Vec::new();
    board.advance(2_000, &mut out);
    let read = |line: &[u8]| -> Vec<[u8; 5]> {
        let text = std::str::from_utf8(line).expect("ascii").trim();
        let numbers: Vec<u8> = text
            .strip_prefix(':')
            .expect("a colon first")
            .split(' ')
            .map(|number| number.parse().expect("a byte"))
            .collect();
        numbers.chunks(5).map(|tag| tag.try_into().expect("five bytes")).collect()
    };
    let learnt = read(&out[1].1);
    assert_eq!(learnt.len(), 64);
    assert!(learnt[19] != [0; 5] && learnt[43] != [0; 5], "spare queens on d6 and d3");
    let distinct: BTreeSet<_> = learnt.iter().filter(|tag| **tag != [0; 5]).collect();
    assert_eq!(distinct.len(), 34, "every man has his own tag");
    out.clear();
    board.advance(script.end_ms + 2_000, &mut out);
    // The mating rook came from h1 and stands on d8, tag and all. (A reader misses a tag now and
    // then: one of the last three readings shows it.)
    let last = out.iter().rev().take(3).map(|(_, line)| read(line)[3]);
    assert!(last.into_iter().any(|tag| tag == learnt[63]));
    board.receive(script.end_ms + 2_000, &[0, 0, 0, 0, 16, 0, 16, 0]);
    out.clear();
    board.advance(script.end_ms + 2_010, &mut out);
    assert!(out.iter().any(|(_, bytes)| bytes == b"L"));
}

/// The published forms, parity in the top bit.
#[test]
fn chesslink_answers_as_published() {
    let odd = |text: &str| -> Vec<u8> {
        text.bytes().map(|byte| if byte.count_ones() % 2 == 0 { byte | 0x80 } else { byte }).collect()
    };
    let mut board = Millennium::new(&DeviceSetup::default());
    let mut now = 1000;
    let mut ask = |text: &str| {
        let mut out = Vec::new();
        board.advance(now, &mut out);
        out.clear();
        board.receive(now, &odd(text));
        now += 30;
        board.advance(now, &mut out);
        let plain = out.into_iter().map(|(_, bytes)| {
            assert!(bytes.iter().all(|byte| byte.count_ones() % 2 == 1), "odd parity");
            bytes.iter().map(|byte| char::from(byte & 0x7f)).collect::<String>()
        });
        plain.filter(|text| !text.starts_with('s')).collect::<Vec<_>>()
    };
    assert_eq!(ask("W020154"), ["w020174"], "no more reports by itself");
    assert_eq!(ask("V56"), ["v010671"]);
    assert_eq!(ask("R0150"), Vec::<String>::new(), "a wrong check is no request");
    assert_eq!(ask("R0153"), ["r011476"]);
    assert_eq!(ask("X58"), ["x78"]);
    let mut out = Vec::new();
    board.advance(5_000, &mut out);
    out.clear();
    board.receive(5_000, &odd("S53"));
    board.advance(5_010, &mut out);
    let status: String = out[0].1.iter().map(|byte| char::from(byte & 0x7f)).collect();
    assert_eq!(&status[..65], "srnbqkbnrpppppppp................................PPPPPPPPRNBQKBNR");
    assert_eq!(status.len(), 67);
}

/// The board's own memory: what was played while no one listened, and what a power cut leaves out.
#[test]
fn the_log_tells_what_was_played_meanwhile() {
    let setup = DeviceSetup::default();
    let mut board = Firmware::new(BoardConfig { paced: false, setup, ..BoardConfig::default() });
    let pawn = |color| Piece { color, role: Role::Pawn };
    let mut out = Vec::new();
    board.receive(0, &[0x4b]);
    let play = |board: &mut Firmware, at: u64, from, to, color| {
        board.act(at, Action::Lift(from));
        board.act(at + 600, Action::Put(to, pawn(color)));
        board.act(at + 1_200, Action::Press(color));
    };
    board.act(500, Action::Start);
    play(&mut board, 1_000, Square::E2, Square::E4, Color::White);
    board.advance(5_000, &mut out);
    board.power_off(5_000);
    play(&mut board, 6_000, Square::E7, Square::E5, Color::Black);
    board.advance(9_000, &mut out);
    out.clear();
    board.advance(9_500, &mut out);
    assert!(out.is_empty(), "no power, no word");
    board.power_on(10_000);
    board.advance(10_100, &mut out);
    board.receive(10_100, &[0x49]);
    board.advance(11_000, &mut out);
    let log = &out.last().expect("the log").1;
    assert_eq!(log.len(), 0x1f03);
    let tags: Vec<Tag> = Tags::new(&log[3..]).filter(|tag| !matches!(tag, Tag::Nop(_))).collect();
    let cut = tags.iter().rposition(|tag| *tag == Tag::PowerUp).expect("power came back");
    let e4 = arbiterd::wire::BoardSquare::from_chess(Square::E4, false);
    let white = arbiterd::wire::Content::Piece(pawn(Color::White));
    assert!(tags[..cut].contains(&Tag::Field { square: e4, content: white, quick: false }));
    assert!(tags[..cut].iter().any(|tag| matches!(tag, Tag::Time { left: true, .. })));
    let e7 = arbiterd::wire::BoardSquare::from_chess(Square::E7, false);
    let lifted = |tag: &Tag| matches!(tag, Tag::Field { square, .. } if *square == e7);
    assert!(!tags[33..].iter().any(lifted), "nobody noticed e7-e5 itself");
    assert_eq!(tags[cut + 1..].iter().filter(|tag| matches!(tag, Tag::Field { .. })).count(), 32);
}

mod any_bytes {
    //! Whatever a program sends, a board goes on.

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 50, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_board_is_put_out(pieces in proptest::collection::vec(
            (0u64..400, proptest::collection::vec(any::<u8>(), 0..24)), 0..40)
        ) {
            let mut lines: Vec<Box<dyn Line>> = vec![
                Box::new(chain(1).boards()[0].clone()),
                Box::new(chain(3)),
                Box::new(Certabo::new(&DeviceSetup::default(), false)),
                Box::new(Millennium::new(&DeviceSetup::default())),
            ];
            let mut now = 0;
            let mut out = Vec::new();
            for (wait, bytes) in pieces {
                now += wait;
                for line in &mut lines {
                    line.advance(now, &mut out);
                    line.receive(now, &bytes);
                }
            }
            for line in &mut lines {
                line.advance(now + 20_000, &mut out);
            }
            // A DGT board answers its serial number again, in whatever state it was left.
            out.clear();
            now += 20_000;
            // (Whatever long command was left half sent is filled up first.)
            lines[0].receive(now, &[0x40; 100]);
            lines[0].receive(now, &[0x45]);
            lines[0].advance(now + 10_000, &mut out);
            prop_assert!(out.iter().any(|(_, bytes)| bytes.starts_with(&[0x91])));
        }
    }
}
