//! Positions of real games.

use std::{fs::File, ops::ControlFlow};

use pgn_reader::{RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Position, fen::Fen};

use crate::{
    mate::{Budget, both, is_dead},
    reference, stats,
};

struct Collector<'a> {
    every: usize,
    seen: usize,
    out: &'a mut Vec<Chess>,
}

impl Visitor for Collector<'_> {
    type Tags = Option<Chess>;
    type Movetext = Chess;
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<(), Option<Chess>> {
        ControlFlow::Continue(Some(Chess::default()))
    }

    fn tag(&mut self, tags: &mut Option<Chess>, name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        if name == b"FEN" {
            *tags = value.decode_utf8_lossy().parse::<Fen>().ok().and_then(|fen| {
                fen.into_position(CastlingMode::Standard).ok()
            });
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Option<Chess>) -> ControlFlow<(), Chess> {
        match tags {
            Some(position) => ControlFlow::Continue(position),
            None => ControlFlow::Break(()),
        }
    }

    fn san(&mut self, position: &mut Chess, san: SanPlus) -> ControlFlow<()> {
        let Ok(step) = san.san.to_move(position) else { return ControlFlow::Break(()) };
        position.play_unchecked(step);
        self.seen += 1;
        if self.seen % self.every == 0 {
            self.out.push(position.clone());
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut Chess) -> ControlFlow<(), Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, _: Chess) {}
}

/// Every `every`-th position of the games in these files.
pub fn positions(files: &[String], every: usize) -> Vec<Chess> {
    let mut out = Vec::new();
    for file in files {
        let mut collector = Collector { every, seen: 0, out: &mut out };
        let mut reader = Reader::new(File::open(file).expect("a readable file"));
        while let Ok(Some(())) = reader.read_game(&mut collector).map(|read| read.map(|_| ())) {}
    }
    out
}

pub fn run(args: &[String]) {
    let alone = args.iter().any(|arg| arg == "--alone");
    let every = args
        .iter()
        .position(|arg| arg == "--every")
        .and_then(|at| args.get(at + 1))
        .and_then(|n| n.parse().ok())
        .unwrap_or(1);
    let files: Vec<String> = args.iter().filter(|arg| arg.ends_with(".pgn")).cloned().collect();
    let positions = positions(&files, every);
    let (mut full, mut quick, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    let (mut dead, mut quick_dead, mut quick_unknown, mut unknown) = (0, 0, 0, 0);
    let mut nodes = Vec::new();
    let mut slow = Vec::new();
    let mut sides = [0; 3];
    for chunk in positions.chunks(64) {
        for position in chunk {
            let (answer, time) = stats::timed(|| both(position, &Budget::default()));
            full.push(time);
            nodes.push((answer.white.nodes + answer.black.nodes) as f64);
            slow.push((time, answer.white.nodes, answer.black.nodes, position));
            for side in [&answer.white, &answer.black] {
                use crate::mate::Verdict;
                sides[match side.verdict { Verdict::Yes(_) => 0, Verdict::No(_) => 1, Verdict::Unknown(_) => 2 }] += 1;
            }
            match answer.dead() {
                Some(true) => dead += 1,
                Some(false) => {}
                None => unknown += 1,
            }
            let (answer, time) = stats::timed(|| is_dead(position, &Budget::quick()));
            quick.push(time);
            quick_dead += usize::from(answer.is_dead());
            quick_unknown += usize::from(answer == crate::mate::Death::Unknown);
        }
        if alone {
            continue;
        }
        for position in chunk {
            let fen = Fen::from_position(position, EnPassantMode::Legal).to_string();
            if let Some(board) = reference::board(&fen) {
                let ask = || Color::ALL.map(|side| reference::full(&board, side));
                theirs.push(stats::timed(ask).1);
            }
        }
    }
    println!("sides: yes, no, unknown {sides:?}");
    println!("positions {}, dead {dead} (quick {quick_dead}), unknown {unknown} (quick {quick_unknown})", positions.len());
    println!("{}", stats::line("both sides, full", full));
    println!("{}", stats::line("is_dead, quick", quick));
    println!("{}", stats::line("nodes", nodes));
    if !alone {
        println!("{}", stats::line("chasolver full, both sides", theirs));
    }
    slow.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (time, white, black, position) in slow.iter().take(12) {
        println!("{time:.0} µs nodes {white} {black} {}", Fen::from_position(*position, EnPassantMode::Legal));
    }
    for (time, white, black, position) in slow.iter().skip(slow.len() / 300).step_by(6).take(40) {
        println!("p98 {time:.0} µs nodes {white} {black} {}", Fen::from_position(*position, EnPassantMode::Legal));
    }
    for (time, white, black, position) in slow.iter().skip(slow.len() / 2).take(20) {
        println!("p50 {time:.0} µs nodes {white} {black} {}", Fen::from_position(*position, EnPassantMode::Legal));
    }
}
