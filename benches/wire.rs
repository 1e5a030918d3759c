//! How fast the boards' bytes are read, beside two loops that understand nothing: one that adds the
//! bytes up, and `memchr` looking for a byte that is not there.
//!
//! `cargo bench --bench wire`. The bytes are what simulated boards say while one game is played: a
//! DGT board alone, one of a chain that is asked in turn, a log, and the two other makes. The speed of a
//! machine says little, so the ratios at the end are taken in one run.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench measures, and prints what it found"
)]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use arbiterd::{
    sim::{
        BoardConfig, Certabo, DeviceSetup, Firmware, HandOptions, Level, Line, Millennium, famous_games, hand,
    },
    wire::{
        Observation,
        certabo::{self, Calibration},
        dgt::{
            self, Event, Tags,
            bus::{self, Address, Request},
        },
        millennium,
    },
};
use criterion::{Criterion, Throughput};

/// Reads bytes; how much it saw.
type Reading = fn(&[u8]) -> usize;

/// What a line says while one game is played, asked every 200 ms in turn.
fn said(mut line: impl Line, asked: &[&[u8]]) -> Vec<u8> {
    let game = &famous_games()[7];
    let script = hand::script(std::slice::from_ref(game), &HandOptions::new(Level::Human, 3));
    for (at, action) in script.actions {
        line.act(0, at, action);
    }
    let mut out = Vec::new();
    for (turn, now) in (0..script.end_ms).step_by(200).enumerate() {
        line.advance(now, &mut out);
        if let Some(ask) = asked.get(turn % asked.len().max(1)) {
            line.receive(now, ask);
        }
    }
    out.into_iter().flat_map(|(_, bytes)| bytes).collect()
}

fn setup() -> DeviceSetup {
    DeviceSetup { clock: Some(famous_games()[7].control.clone()), ..DeviceSetup::default() }
}

fn board() -> Firmware {
    Firmware::new(BoardConfig { setup: setup(), ..BoardConfig::default() })
}

fn single(bytes: &[u8]) -> usize {
    let mut decoder = dgt::Decoder::new();
    let mut seen = 0;
    for &byte in bytes {
        if let Some(Event::Message(message)) = decoder.push(byte) {
            seen += usize::from(black_box(message.observation()).is_some());
        }
    }
    seen
}

fn chain(bytes: &[u8]) -> usize {
    let (mut decoder, mut translator) = (bus::Decoder::new(), bus::Translator::default());
    let mut seen: Vec<Observation> = Vec::new();
    let mut count = 0;
    for &byte in bytes {
        if let Some(Event::Message(reply)) = decoder.push(byte) {
            translator.observe(&reply.body, &mut seen);
            count += black_box(&seen).len();
            seen.clear();
        }
    }
    count
}

fn log(bytes: &[u8]) -> usize {
    Tags::new(bytes).filter_map(|tag| black_box(tag.to_recovered())).count()
}

fn certabo(bytes: &[u8]) -> usize {
    let (mut decoder, mut majority) = (certabo::Decoder::new(), certabo::Majority::default());
    let mut calibration: Option<Calibration> = None;
    let mut seen = 0;
    for &byte in bytes {
        if let Some(Event::Message(certabo::Message::Tags(tags))) = decoder.push(byte)
            && let Some(voted) = majority.vote(&tags)
        {
            let set = calibration.get_or_insert_with(|| Calibration::learn(&voted).unwrap_or_default());
            seen += usize::from(black_box(certabo::Message::Tags(voted).squares(set)).is_some());
        }
    }
    seen
}

fn chesslink(bytes: &[u8]) -> usize {
    let mut decoder = millennium::Decoder::new();
    let mut seen = 0;
    for &byte in bytes {
        let mut event = decoder.push(byte);
        while let Some(found) = event {
            seen += usize::from(matches!(black_box(found), Event::Message(_)));
            event = decoder.more();
        }
    }
    seen
}

fn sum(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |sum: usize, &byte| black_box(sum) + usize::from(byte))
}

fn memchr(bytes: &[u8]) -> usize {
    memchr::memchr(0xfe, bytes).unwrap_or(0)
}

/// Megabytes a second, the best of some goes.
fn speed(read: Reading, bytes: &[u8]) -> f64 {
    let best = (0..12).map(|_| {
        let begun = Instant::now();
        black_box(read(black_box(bytes)));
        begun.elapsed()
    });
    bytes.len() as f64 / 1e6 / best.min().unwrap_or(Duration::MAX).as_secs_f64()
}

fn main() {
    let ask = |request| {
        let address = Address::new(1025).expect("an address");
        bus::Command { request, address }.encode()
    };
    let polls = [ask(Request::Changes), ask(Request::Clock), ask(Request::Changes), ask(Request::Board)];
    let polls: Vec<&[u8]> = polls.iter().map(|poll| &poll[..]).collect();
    let mut log_bytes = said(board(), &[&[0x49]]);
    log_bytes.truncate(200_000);
    let lines: [(&str, Reading, Vec<u8>); 5] = [
        ("single board", single, said(board(), &[&[0x4b], &[], &[], &[0x42]])),
        ("chain", chain, said(board(), &polls)),
        ("log", log, log_bytes),
        ("Certabo", certabo, said(Certabo::new(&setup(), true), &[])),
        ("ChessLink", chesslink, said(Millennium::new(&setup()), &[])),
    ];
    let mut criterion = Criterion::default().configure_from_args().sample_size(20);
    for (name, read, bytes) in &lines {
        let mut group = criterion.benchmark_group(*name);
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function("read", |bencher| bencher.iter(|| read(bytes)));
        group.bench_function("sum", |bencher| bencher.iter(|| sum(bytes)));
        group.bench_function("memchr", |bencher| bencher.iter(|| memchr(bytes)));
        group.finish();
    }
    println!("\n{:14}{:>10}{:>8}{:>14}{:>14}", "line", "bytes", "seen", "times sum", "times memchr");
    for (name, read, bytes) in &lines {
        let own = speed(*read, bytes);
        let (sum, memchr) = (speed(sum, bytes) / own, speed(memchr, bytes) / own);
        println!("{name:14}{:>10}{:>8}{sum:>14.1}{memchr:>14.0}   {own:.0} MB/s", bytes.len(), read(bytes));
    }
    println!("times sum: the plain loop is so many times as fast; a line brings 960 bytes a second");
}
