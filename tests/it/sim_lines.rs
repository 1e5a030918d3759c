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
