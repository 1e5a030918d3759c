//! Time of one question to `laws::mate`: `cargo bench --bench mate`.
//!
//! One position for each way a question is answered. The comparison over whole sets, beside another
//! solver, is in `benches/chasolver`.

use std::hint::black_box;

use arbiterd::laws::mate::{Budget, both, is_dead};
use criterion::{Criterion, criterion_group, criterion_main};
use shakmaty::{CastlingMode, Chess, fen::Fen};

const POSITIONS: [(&str, &str); 6] = [
    ("start", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
    ("middlegame", "r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NBPN2/PP3PPP/R1BQ1RK1 w - - 0 9"),
    ("rook ending", "8/5pk1/6p1/7p/7P/4K1P1/r4P2/1R6 w - - 0 40"),
    ("locked wall", "4k3/8/8/p1p1p1p1/PpPpPpPp/1P1P1P1P/8/4K3 w - - 0 1"),
    ("bare kings", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
    ("knight against rook", "8/8/8/8/8/3K4/2R5/1nk5 b - - 0 1"),
];

fn questions(c: &mut Criterion) {
    for (name, fen) in POSITIONS {
        let position: Chess =
            fen.parse::<Fen>().expect("a FEN").into_position(CastlingMode::Standard).expect("a position");
        c.bench_function(&format!("both sides, full: {name}"), |b| {
            b.iter(|| both(black_box(&position), &Budget::default()));
        });
        c.bench_function(&format!("is_dead, quick: {name}"), |b| {
            b.iter(|| is_dead(black_box(&position), &Budget::quick()));
        });
    }
}

criterion_group!(benches, questions);
criterion_main!(benches);
