//! The decoding bench: games played by simulated hands in virtual time, read back by the tracker.
//!
//! `cargo bench --bench decoding` plays games of `../shared/games` (or the folder named in
//! `ARBITERD_GAMES`; a few famous ones where there is none) at every level of play, with fixed
//! seeds, and prints how many were read exactly and what was wrong, then the tracker's speed and
//! memory. It takes 118 games spread over all files; behind `--` may stand `all` for every game,
//! `games=N` for so many, levels (`human`), `seed=S`, `show` to name every game that is not exact.
//!
//! The board is driven as the daemon's driver does it (`sim::VirtualBoard`), with the dumps that the
//! tracker asks for. *Flagged*: not exact, but a `position-…` finding came before the first wrong ply
//! was confirmed. *Needs*: findings for which somebody has to look.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench measures, and prints what it found"
)]

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use arbiterd::{
    record::Timestamp,
    sim::{
        Action, Level, PlayedGame, Script, SimGame, VirtualBoard, VirtualOptions, famous_games, observe,
        script_of,
    },
    track::{Cause, ClockSense, Evidence, Finding, Track, TrackedPly},
    wire::{ClockState, Observation},
};
use shakmaty::{Color, Move, Square, uci::UciMove};

/// Games that are played when nothing else is said.
const DEFAULT_GAMES: usize = 118;

/// What came of one game.
#[derive(Default)]
struct Outcome {
    exact: bool,
    /// Not exact, but a finding asked for a person before the first wrong ply was confirmed.
    flagged: bool,
    plies: usize,
    wrong_confirmed: usize,
    confirmed_revised: usize,
    provisional_revised: usize,
    needs: usize,
    delays: Vec<i64>,
    observations: usize,
    spent: Duration,
    memory: usize,
    line: Vec<UciMove>,
    first_wrong: Option<(usize, i64)>,
    /// What was told, in words.
    told: Vec<(i64, String)>,
}

fn evidence_of(
    observation: &Observation,
    track: &Track,
    running: &mut Option<Color>,
    clock: &mut bool,
) -> Vec<Evidence> {
    match observation {
        Observation::Square(square, content) => vec![Evidence::Square(*square, *content)],
        Observation::Dump(squares) => vec![Evidence::Dump(*squares)],
        Observation::Clock(ClockState::Reading(reading)) => {
            let white = reading.left_to_move != track.rotated();
            let now = reading.running.then_some(if white { Color::White } else { Color::Black });
            let mut all = Vec::new();
            if let (Some(before), Some(_)) = (*running, now)
                && *running != now
            {
                all.push(Evidence::Press { by: before });
            }
            if *running != now || !*clock {
                all.push(Evidence::Clock(now.map_or(ClockSense::Stopped, ClockSense::Running)));
            }
            *running = now;
            *clock = true;
            all
        }
        Observation::Clock(ClockState::Absent) => vec![Evidence::Clock(ClockSense::Absent)],
        _ => Vec::new(),
    }
}

fn follow(truth: &PlayedGame, mut board: VirtualBoard) -> Outcome {
    let mut track = Track::new(&truth.start);
    let mut outcome = Outcome { plies: truth.plies.len(), ..Outcome::default() };
    let (mut running, mut clock) = (None, false);
    let mut line: Vec<TrackedPly> = Vec::new();
    let mut confirmed = 0;
    let mut found: Vec<(i64, Finding)> = Vec::new();
    let mut out = Vec::new();
    let mut end = 0;
    loop {
        // Deadlines are served at their own times, and what the tracker asks of the board is asked
        // then.
        let due = track.next_deadline().map_or(i64::MAX, Timestamp::millis);
        let (at, all) = match board.next(due) {
            Some((at, observation)) => {
                outcome.observations += 1;
                end = end.max(at);
                (at, evidence_of(&observation, &track, &mut running, &mut clock))
            }
            None if due > end + 60_000 => break,
            None => (due, Vec::new()),
        };
        let began = Instant::now();
        track.advance(Timestamp::from_millis(at), &mut out);
        for evidence in &all {
            track.observe(Timestamp::from_millis(at), evidence, &mut out);
        }
        outcome.spent += began.elapsed();
        outcome.memory = outcome.memory.max(track.footprint());
        if out.iter().any(|finding| matches!(finding, Finding::WantsDump)) {
            board.ask_dump(at);
        }
        found.extend(out.drain(..).map(|finding| (at, finding)));
    }
    let mut asked_at = i64::MAX;
    for (at, finding) in found {
        match &finding {
            Finding::Line { from, plies, cause } => {
                let plies: Vec<String> = plies.iter().map(|ply| ply.uci.to_string()).collect();
                outcome.told.push((at, format!("line {from} {} {cause:?}", plies.join(" "))));
            }
            Finding::Confirmed { count } => outcome.told.push((at, format!("confirmed {count}"))),
            Finding::Gap(choice) | Finding::Rivals(choice) => {
                let lines: Vec<String> = choice
                    .candidates
                    .iter()
                    .map(|line| line.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
                    .collect();
                outcome.told.push((at, format!("gap {}", lines.join(" | "))));
            }
            Finding::Touch { .. } => {}
            other => outcome.told.push((at, format!("{other:?}").chars().take(150).collect())),
        }
        match finding {
            Finding::Line { from, plies, cause } => {
                outcome.confirmed_revised += confirmed.max(from) - from;
                if from < line.len() && cause != Cause::TakenBack {
                    outcome.provisional_revised += 1;
                }
                line.truncate(from);
                line.extend(plies);
            }
            Finding::Confirmed { count } => {
                for (index, read) in line.iter().enumerate().take(count).skip(confirmed) {
                    let wrong = truth.plies.get(index).is_none_or(|ply| ply.uci != read.uci);
                    if wrong {
                        outcome.wrong_confirmed += 1;
                        outcome.first_wrong.get_or_insert((index, at));
                    } else if let Some(pressed) = truth.plies[index].pressed_ms {
                        outcome.delays.push(at - pressed as i64);
                    }
                }
                confirmed = count;
            }
            // What stands on the board after the last ply is no matter of its plies; which they were is.
            Finding::Gap(_) | Finding::Rivals(_) if confirmed < truth.plies.len() => {
                outcome.needs += 1;
                asked_at = asked_at.min(at);
            }
            Finding::Differ(_)
            | Finding::Gap(_)
            | Finding::Rivals(_)
            | Finding::WrongStart(_)
            | Finding::Sideways
                if at <= truth.ended_ms as i64 =>
            {
                outcome.needs += 1;
                asked_at = asked_at.min(at);
            }
            _ => {}
        }
    }
    outcome.line = line.iter().map(|ply| ply.uci).collect();
    outcome.exact = outcome.line.iter().eq(truth.plies.iter().map(|ply| &ply.uci));
    outcome.flagged =
        !outcome.exact && outcome.first_wrong.is_none_or(|(_, at)| asked_at <= at) && asked_at < i64::MAX;
    outcome
}

/// Plies that no evidence tells: another game, played by the same hands at the same moments, has another
/// square there, is legal to its end, and makes the board say exactly the same. (A lower bound: only a
/// man that goes a-b-c is looked at, with no other square touched by it, whose stay on b no scan met.)
fn unknowable(game: &SimGame, script: &Script, options: &VirtualOptions) -> Vec<(usize, Vec<Square>)> {
    let Some(truth) = script.games.first() else { return Vec::new() };
    let mut positions = vec![game.start.clone()];
    for m in &game.moves {
        let next = positions[positions.len() - 1].play(*m);
        positions.push(next);
    }
    let stream = observe(script, options);
    let mut found = Vec::new();
    for (index, m) in game.moves.iter().enumerate() {
        let Move::Normal { role, from: a, to: b, capture, promotion: None } = *m else { continue };
        if capture.is_some() {
            continue; // the man that was taken tells the square
        }
        // When the man goes on, nobody having come to its square before.
        let on = game.moves.iter().enumerate().skip(index + 1).find(|(_, later)| {
            later.from() == Some(b)
                || later.to() == b
                || matches!(later, Move::Castle { king, .. } if *king == b)
        });
        let Some((next, Move::Normal { from, to: c, capture: taken, promotion: None, .. })) = on else {
            continue;
        };
        if *from != b || (next - index) % 2 != 0 {
            continue;
        }
        let begin = index.checked_sub(1).map_or(truth.started_ms, |before| truth.plies[before].made_ms);
        let end = truth.plies[next].made_ms;
        let touching = |(at, action): &&(u64, Action)| {
            (begin..=end).contains(at)
                && matches!(action, Action::Lift(square) | Action::Put(square, _) if *square == b)
        };
        if script.actions.iter().filter(touching).count() != 2 {
            continue;
        }
        let mut others = Vec::new();
        for other in positions[index].legal_moves() {
            let Move::Normal { role: r, from: f, to, capture: None, promotion: None } = other else {
                continue;
            };
            if r != role || f != a || to == b || to == *c {
                continue;
            }
            let mut position = positions[index].play(other);
            let mut legal = true;
            for between in &game.moves[index + 1..next] {
                legal &= position.legal_moves().contains(between);
                if !legal {
                    break;
                }
                position = position.play(*between);
            }
            let goes_on = Move::Normal { role, from: to, to: *c, capture: *taken, promotion: None };
            if !legal || !position.legal_moves().contains(&goes_on) {
                continue;
            }
            position = position.play(goes_on);
            if position.board() != positions[next + 1].board()
                || position.legal_moves().len() != positions[next + 1].legal_moves().len()
            {
                continue;
            }
            let mut another = script.clone();
            for (at, action) in &mut another.actions {
                if (begin..=end).contains(at) {
                    match action {
                        Action::Lift(square) | Action::Put(square, _) if *square == b => *square = to,
                        _ => {}
                    }
                }
            }
            if observe(&another, options) == stream {
                others.push(to);
            }
        }
        if !others.is_empty() {
            found.push((index, others));
        }
    }
    found
}

/// Prints truth, reading and evidence around the first difference.
fn print_trace(truth: &PlayedGame, script: &Script, options: &VirtualOptions, outcome: &Outcome) {
    let differs = outcome.line.iter().zip(&truth.plies).position(|(a, b)| *a != b.uci);
    let differs = differs.unwrap_or_else(|| outcome.line.len().min(truth.plies.len()));
    let near = differs.saturating_sub(4)
        ..(differs + 8).max(outcome.line.len().min(truth.plies.len()).min(differs + 8));
    for index in near.clone() {
        let real = truth.plies.get(index);
        println!(
            "  ply {index}: {} made {} pressed {:?}   read {}",
            real.map_or(String::new(), |ply| ply.uci.to_string()),
            real.map_or(0, |ply| ply.made_ms),
            real.and_then(|ply| ply.pressed_ms),
            outcome.line.get(index).map_or(String::new(), ToString::to_string),
        );
    }
    let from = truth.plies.get(near.start).map_or(0, |ply| ply.made_ms).saturating_sub(800);
    let to = truth.plies.get(near.end.min(truth.plies.len()) - 1).map_or(0, |ply| ply.made_ms) + 1500;
    for (at, action) in &script.actions {
        if (from..to).contains(at) {
            println!("  hand {at} {action:?}");
        }
    }
    for (at, observation) in observe(script, options) {
        if (from as i64..to as i64 + 1000).contains(&at) {
            match observation {
                Observation::Square(square, content) => {
                    println!("  board {at} {} {content:?}", square.to_chess(options.rotated));
                }
                Observation::Clock(ClockState::Reading(reading)) => {
                    println!(
                        "  clock {at} running {} left to move {}",
                        reading.running, reading.left_to_move
                    );
                }
                Observation::Dump(_) => println!("  dump {at}"),
                other => println!("  {at} {other:?}"),
            }
        }
    }
    for (at, what) in &outcome.told {
        if (from as i64..to as i64 + 5000).contains(at) {
            println!("  told {at} {what}");
        }
    }
}

fn games(limit: usize) -> Vec<SimGame> {
    let folder = std::env::var_os("ARBITERD_GAMES")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/games"), PathBuf::from);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .map(|entries| entries.filter_map(Result::ok).map(|entry| entry.path()).collect())
        .unwrap_or_default();
    files.retain(|path| path.extension().is_some_and(|ext| ext == "pgn"));
    files.sort();
    let mut games: Vec<SimGame> = Vec::new();
    for file in files {
        let Ok(text) = std::fs::read(&file) else { continue };
        match SimGame::from_pgn(&String::from_utf8_lossy(&text)) {
            Ok(read) => games.extend(read.into_iter().filter(|game| !game.moves.is_empty())),
            Err(error) => eprintln!("{}: {error}", file.display()),
        }
    }
    if games.is_empty() {
        games = famous_games();
    }
    if games.len() > limit {
        // Spread over all files.
        let step = games.len() as f64 / limit as f64;
        games = (0..limit).map(|index| games[(index as f64 * step) as usize].clone()).collect();
    }
    games
}

fn main() {
    let mut levels: Vec<Level> = Vec::new();
    let (mut limit, mut first_seed, mut show) = (DEFAULT_GAMES, 1, false);
    let (mut count, mut trace) = (false, None);
    for word in std::env::args().skip(1) {
        if let Some(number) = word.strip_prefix("games=") {
            limit = number.parse().unwrap_or(usize::MAX);
        } else if let Some(number) = word.strip_prefix("seed=") {
            first_seed = number.parse().unwrap_or(1);
        } else if word == "all" {
            limit = usize::MAX;
        } else if word == "show" {
            show = true;
        } else if word == "unknowable" {
            count = true;
        } else if let Some(seed) = word.strip_prefix("trace=") {
            trace = seed.parse().ok();
        } else if let Ok(level) = word.parse() {
            levels.push(level);
        }
    }
    if levels.is_empty() {
        levels = Level::ALL.to_vec();
    }
    let games = games(limit);
    println!("{} games", games.len());
    let (mut all_observations, mut all_spent, mut memory) = (0, Duration::ZERO, 0);
    for level in levels {
        let began = Instant::now();
        let mut all: Vec<Outcome> = Vec::new();
        let mut pace: Vec<u64> = Vec::new();
        let (mut untold, mut untold_plies) = (0, 0);
        for (index, game) in games.iter().enumerate() {
            let seed = first_seed + index as u64;
            if trace.is_some_and(|only| only != seed) {
                continue;
            }
            let options = VirtualOptions::new(level, seed);
            let script = script_of(std::slice::from_ref(game), &options);
            let Some(truth) = script.games.first() else { continue };
            let hidden = if count { unknowable(game, &script, &options) } else { Vec::new() };
            let outcome = follow(truth, VirtualBoard::new(&script, &options));
            pace.extend(
                truth
                    .plies
                    .windows(2)
                    .filter_map(|pair| Some(pair[1].pressed_ms?.saturating_sub(pair[0].pressed_ms?))),
            );
            if trace == Some(seed) {
                print_trace(truth, &script, &options, &outcome);
            }
            untold += usize::from(!hidden.is_empty());
            untold_plies += hidden.len();
            if show && (!outcome.exact || outcome.wrong_confirmed > 0 || outcome.needs > 0) {
                let differs = outcome.line.iter().zip(&truth.plies).position(|(a, b)| *a != b.uci);
                println!(
                    "  seed {seed} game {index}: exact {} flagged {} wrong {} needs {} plies {}/{} first wrong {:?} differs {:?}: {:?} for {:?} hidden {}",
                    outcome.exact,
                    outcome.flagged,
                    outcome.wrong_confirmed,
                    outcome.needs,
                    outcome.line.len(),
                    outcome.plies,
                    outcome.first_wrong,
                    differs,
                    differs.map(|at| outcome.line[at].to_string()),
                    differs.map(|at| (truth.plies[at].uci.to_string(), truth.plies[at].made_ms)),
                    hidden
                        .iter()
                        .map(|(ply, squares)| format!(
                            "{ply}:{}",
                            squares.iter().map(ToString::to_string).collect::<String>()
                        ))
                        .collect::<Vec<_>>()
                        .join(" "),
                );
            }
            all.push(outcome);
        }
        let sum = |what: fn(&Outcome) -> usize| all.iter().map(what).sum::<usize>();
        let exact = all.iter().filter(|game| game.exact).count();
        let flagged = all.iter().filter(|game| game.flagged).count();
        let silent = all.len() - exact - flagged;
        let mut delays: Vec<i64> = all.iter().flat_map(|game| game.delays.iter().copied()).collect();
        delays.sort_unstable();
        let quantile = |q: f64| delays.get(((delays.len() as f64 - 1.0) * q) as usize).copied().unwrap_or(0);
        pace.sort_unstable();
        let plies = sum(|game| game.plies);
        let observations = sum(|game| game.observations);
        let spent = all.iter().map(|game| game.spent).sum::<Duration>();
        println!(
            "{:6} games exact {exact} of {} ({:.2} %), others flagged {flagged}, silently wrong {silent}",
            level.name(),
            all.len(),
            100.0 * exact as f64 / all.len().max(1) as f64,
        );
        println!(
            "       plies wrong when confirmed {} of {plies}; confirmed and revised {}; shown and later revised {}",
            sum(|game| game.wrong_confirmed),
            sum(|game| game.confirmed_revised),
            sum(|game| game.provisional_revised),
        );
        println!(
            "       needs for an operator {:.2} per 100 games; press to confirmation median {} ms, 99 % {} ms",
            100.0 * sum(|game| game.needs) as f64 / all.len().max(1) as f64,
            quantile(0.5),
            quantile(0.99),
        );
        println!(
            "       from press to press {:.0} ms on average, median {} ms; {:.0} observations a second; {:.0} games a second",
            pace.iter().sum::<u64>() as f64 / pace.len().max(1) as f64,
            pace.get(pace.len() / 2).copied().unwrap_or(0),
            observations as f64 / spent.as_secs_f64().max(1e-9),
            all.len() as f64 / began.elapsed().as_secs_f64(),
        );
        if count {
            println!(
                "       games with a ply that no evidence tells from another: {untold} ({untold_plies} plies)"
            );
        }
        memory = memory.max(all.iter().map(|game| game.memory).max().unwrap_or(0));
        all_observations += observations;
        all_spent += spent;
    }
    println!(
        "tracker: {all_observations} observations in {:.2} s: {:.0} a second",
        all_spent.as_secs_f64(),
        all_observations as f64 / all_spent.as_secs_f64().max(1e-9)
    );
    println!("memory of a table's tracker: {:.1} kB at the most", memory as f64 / 1024.0);
}
