//! `check` against the least a program can do with the same games: read and play every move.
//!
//! Games come from the shared data where it is present, else from the project's own scenarios of
//! random play. The ratio of the two is what counts.

use std::{fs, hint::black_box, ops::ControlFlow, path::Path};

use arbiterd::{cli::check::Checker, laws::Profile, record::pgn};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pgn_reader::{Reader, SanPlus, Skip, Visitor};
use shakmaty::{Chess, Position as _};

/// The clean games of the shared data in one piece, or games made by random play.
fn games() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/games");
    let mut all = Vec::new();
    for name in ["otb_twic1599.pgn", "otb_iom2019.pgn", "otb_wjun2019.pgn", "otb_worldch_matches.pgn"] {
        if let Ok(bytes) = fs::read(folder.join(name)) {
            all.extend(bytes);
        }
    }
    if all.is_empty() { random_games(300) } else { all }
}

fn random_games(count: u64) -> Vec<u8> {
    let mut out = String::new();
    for seed in 0..count {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut position = Chess::default();
        out.push_str("[Event \"Bench\"]\n[White \"A\"]\n[Black \"B\"]\n[Result \"1/2-1/2\"]\n\n");
        for ply in 0..120 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let m = moves[random.usize(..moves.len())];
            if ply % 2 == 0 {
                out.extend([&(ply / 2 + 1).to_string(), ". "]);
            }
            out.push_str(&shakmaty::san::SanPlus::from_move(position.clone(), m).to_string());
            out.push(if ply % 8 == 7 { '\n' } else { ' ' });
            position.play_unchecked(m);
        }
        out.push_str("1/2-1/2\n\n");
    }
    out.into_bytes()
}

/// Plays the moves, nothing else.
struct Lean;

impl Visitor for Lean {
    type Tags = ();
    type Movetext = Chess;
    type Output = Chess;

    fn begin_tags(&mut self) -> ControlFlow<Chess, ()> {
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<Chess, Chess> {
        ControlFlow::Continue(Chess::default())
    }

    fn begin_variation(&mut self, _: &mut Chess) -> ControlFlow<Chess, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn san(&mut self, position: &mut Chess, san: SanPlus) -> ControlFlow<Chess> {
        match san.san.to_move(position) {
            Ok(m) => {
                position.play_unchecked(m);
                ControlFlow::Continue(())
            }
            Err(_) => ControlFlow::Break(position.clone()),
        }
    }

    fn end_game(&mut self, position: Chess) -> Chess {
        position
    }
}

fn check(criterion: &mut Criterion) {
    let bytes = games();
    let profile = Profile::load("fide-2023/classical").expect("it comes with the program");
    let mut group = criterion.benchmark_group("check");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.sample_size(10);
    group.bench_function("arbiterd", |bench| {
        bench.iter(|| {
            let mut checker = Checker::new(&profile);
            let visited = pgn::visit(bytes.as_slice(), |raw| {
                black_box(checker.events(raw));
                ControlFlow::Continue(())
            });
            black_box(visited.expect("reading from memory does not fail"))
        });
    });
    group.bench_function("lean shakmaty", |bench| {
        bench.iter(|| {
            let mut reader = Reader::new(bytes.as_slice());
            while let Some(position) = reader.read_game(&mut Lean).expect("reading from memory does not fail")
            {
                black_box(position);
            }
        });
    });
    group.finish();
}

criterion_group!(benches, check);
criterion_main!(benches);
