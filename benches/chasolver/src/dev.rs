//! A table of proved verdicts (columns: fen, white, black, dead, family, …).

use std::collections::BTreeMap;

use shakmaty::{CastlingMode, Chess, Color, Position, fen::Fen, uci::UciMove};

use crate::{
    mate::{Budget, Verdict, can_mate},
    reference, stats,
};

struct Query {
    fen: String,
    position: Chess,
    side: Color,
    truth: bool,
    family: String,
}

/// Whether the line is legal throughout and ends in a mate by `side`.
pub fn replays(position: &Chess, side: Color, line: &[UciMove]) -> bool {
    let mut position = position.clone();
    for uci in line {
        let Ok(step) = uci.to_move(&position) else { return false };
        position.play_unchecked(step);
    }
    position.is_checkmate() && position.turn() != side
}

pub fn run(args: &[String]) {
    let alone = args.iter().any(|arg| arg == "--alone");
    let once = args.iter().any(|arg| arg == "--once");
    let text = std::fs::read_to_string(&args[0]).expect("a readable table");
    let only = args.iter().position(|arg| arg == "--family").map(|at| args[at + 1].clone());
    let mut queries = Vec::new();
    let every = args
        .iter()
        .position(|arg| arg == "--every")
        .and_then(|at| args.get(at + 1))
        .and_then(|n| n.parse().ok())
        .unwrap_or(1);
    for row in text.lines().skip(1).step_by(every) {
        let cells: Vec<&str> = row.split('\t').collect();
        if only.as_ref().is_some_and(|only| !cells[4].contains(only.as_str())) {
            continue;
        }
        let position: Chess =
            cells[0].parse::<Fen>().expect("a FEN").into_position(CastlingMode::Standard).expect("a position");
        for (side, truth) in [(Color::White, cells[1]), (Color::Black, cells[2])] {
            queries.push(Query {
                fen: cells[0].to_owned(),
                position: position.clone(),
                side,
                truth: truth == "yes",
                family: cells[4].to_owned(),
            });
        }
    }
    let budget = Budget::default();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut wrong, mut unknown, mut their_unknown) = (0, 0, 0);
    let mut by_reason: BTreeMap<String, usize> = BTreeMap::new();
    let mut slow = Vec::new();
    for chunk in queries.chunks(64) {
        for query in chunk {
            let (verdict, time) = if once {
                stats::once(|| can_mate(&query.position, query.side, &budget))
            } else {
                stats::timed(|| can_mate(&query.position, query.side, &budget))
            };
            ours.push(time);
            let kind = match &verdict {
                Verdict::Yes(line) => {
                    if !query.truth || !replays(&query.position, query.side, line) {
                        wrong += 1;
                        println!("WRONG yes {} {:?}", query.fen, query.side);
                    }
                    "yes".to_owned()
                }
                Verdict::No(reason) => {
                    if query.truth {
                        wrong += 1;
                        println!("WRONG no {} {:?} {reason}", query.fen, query.side);
                    }
                    reason.to_string().split(':').next().unwrap_or_default().to_owned()
                }
                Verdict::Unknown(tried) => {
                    unknown += 1;
                    println!("unknown {} {:?} truth {} {} {tried}", query.fen, query.side, query.truth, query.family);
                    "unknown".to_owned()
                }
            };
            *by_reason.entry(kind.clone()).or_default() += 1;
            slow.push((time, kind, query));
        }
        if alone {
            continue;
        }
        for query in chunk {
            let board = reference::board(&query.fen);
            let (answer, time) = stats::timed(|| board.as_ref().and_then(|board| reference::full(board, query.side)));
            theirs.push(time);
            match answer {
                None => their_unknown += 1,
                Some(answer) if answer != query.truth => println!("reference wrong: {} {:?}", query.fen, query.side),
                Some(_) => {}
            }
        }
    }
    println!("questions {}, wrong {wrong}, unknown {unknown}, reference unknown {their_unknown}", queries.len());
    println!("{by_reason:?}");
    println!("{}", stats::line("ours", ours.clone()));
    if !alone {
        println!("{}", stats::line("chasolver full", theirs.clone()));
        println!("{}", stats::ratios("ratio", &ours, &theirs));
    }
    let mut families: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, query) in queries.iter().enumerate() {
        families.entry(&query.family).or_default().push(index);
    }
    for (family, members) in families {
        let mine: Vec<f64> = members.iter().map(|&i| ours[i]).collect();
        println!("{}", stats::line(family, mine.clone()));
        if !alone {
            let other: Vec<f64> = members.iter().map(|&i| theirs[i]).collect();
            println!("    {}", stats::ratios("ratio", &mine, &other));
        }
    }
    slow.sort_by(|a, b| b.0.total_cmp(&a.0));
    let over = |limit: f64| slow.iter().filter(|each| each.0 > limit).count();
    println!("over 1 ms {}, over 10 ms {}, over 100 ms {}", over(1e3), over(1e4), over(1e5));
    for (time, kind, query) in slow.iter().take(25) {
        println!("{time:.0} µs {kind} {} {:?} {}", query.fen, query.side, query.family);
    }
}
