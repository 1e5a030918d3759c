//! `arbiterd check`: finished games against the Laws, and the question whether a side can still mate.
//!
//! A clean game goes through a fast reader that knows only what the standard says; whatever does not
//! fit goes to the reader that mends and lists repairs (`record::pgn`), so nothing is judged twice.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, IsTerminal, Read, Write},
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::json;
use shakmaty::{CastlingMode, Chess, Position as _, san::SanPlus};

use crate::{
    laws::{Code, Events, Profile, Review, mate},
    record::{
        Game, GameResult, Position,
        pgn::{self, Lexer, RawGame, RefusalKind, Token, needs_chess960},
    },
};

/// Arguments of `arbiterd check`.
#[derive(Clone, Debug, Parser)]
#[command(
    after_help = "Examples:\n  arbiterd check round-5.pgn\n  arbiterd check --profile fide-2018/rapid-unsup --json games/*.pgn\n  arbiterd check --fen '8/8/4k3/4P3/8/4K3/8/8 b - - 0 1'"
)]
pub struct Args {
    /// The rules to hold the games to.
    #[arg(long, default_value = "fide-2023/classical")]
    profile: String,
    /// One JSON object a game (or a position) instead of lines for people.
    #[arg(long)]
    json: bool,
    /// Can each side still be mated in this position?
    #[arg(long, conflicts_with = "fens")]
    fen: Option<String>,
    /// The same for every line of a file (`-` reads standard input).
    #[arg(long)]
    fens: Option<PathBuf>,
    /// Castling rights of `--fen` and `--fens` are those of Chess960.
    #[arg(long)]
    chess960: bool,
    /// PGN files of any size (`-` reads standard input).
    #[arg(required_unless_present_any = ["fen", "fens"])]
    files: Vec<PathBuf>,
}

/// Something found in a game.
#[derive(Clone, Debug, Serialize)]
struct Finding {
    code: &'static str,
    /// Half-moves before or at the place, where it is in the moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    ply: Option<u32>,
    /// The move, such as `23...`.
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    /// Line of the file.
    line: u64,
    article: String,
    /// A fault; otherwise only a fact worth knowing.
    fault: bool,
    text: String,
}

/// A game that was read.
struct Checked {
    white: String,
    black: String,
    result: &'static str,
    plies: u32,
    events: Events,
    findings: Vec<Finding>,
    /// It is no PGN at all.
    foreign: bool,
}

/// Runs it. Exit code 0 when all is clean, 1 with faults, 2 when something could not be read.
///
/// # Errors
/// When a file or a FEN cannot be read, or the profile does not exist.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let mut out = BufWriter::new(io::stdout().lock());
    if let Some(fen) = &args.fen {
        return positions(std::iter::once(Ok(fen.clone())), args.chess960, &mut out);
    }
    if let Some(path) = &args.fens {
        let lines = BufReader::new(open(path)?).lines();
        return positions(lines, args.chess960, &mut out);
    }
    let profile = Profile::load(&args.profile)?;
    let mut code = 0;
    let mut total = Totals::default();
    for path in &args.files {
        let mut checker = Checker::new(&profile);
        if let Err(error) = file(path, args.json, &mut checker, &mut total, &mut out) {
            out.flush()?;
            eprintln!("arbiterd: {}: {error:#}", path.display());
            code = 2;
        }
    }
    if !args.json {
        writeln!(out, "{} games, {} with faults, {} faults", total.games, total.faulty, total.faults)?;
    }
    out.flush()?;
    Ok(if code == 0 && total.faulty > 0 { 1 } else { code })
}

#[derive(Default)]
struct Totals {
    games: u64,
    faulty: u64,
    faults: u64,
}

fn open(path: &Path) -> anyhow::Result<Box<dyn Read>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    anyhow::ensure!(!file.metadata()?.is_dir(), "this is a folder; name PGN files");
    Ok(Box::new(file))
}

fn file(
    path: &Path,
    as_json: bool,
    checker: &mut Checker,
    total: &mut Totals,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let reader = open(path)?;
    let size = std::fs::metadata(path).map_or(0, |data| data.len());
    let bar = progress(size);
    let mut failed = None;
    let mut readable = 0u64;
    let visited = pgn::visit(reader, |raw| {
        let checked = checker.game(raw);
        if raw.index % 64 == 0 {
            bar.set_position(raw.offset);
        }
        total.games += 1;
        let faults = checked.findings.iter().filter(|finding| finding.fault).count() as u64;
        total.faults += faults;
        total.faulty += u64::from(faults > 0);
        readable += u64::from(!checked.foreign);
        match print(path, raw.index, &checked, as_json, out) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    bar.finish_and_clear();
    if let Some(error) = failed {
        return Err(error.into());
    }
    anyhow::ensure!(visited.games == 0 || readable > 0, "nothing in it is PGN");
    Ok(())
}

/// A bar for files that take a while, on a terminal only.
fn progress(size: u64) -> ProgressBar {
    if size < 8 << 20 || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
    let bar = ProgressBar::new(size);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

fn print(path: &Path, index: u64, game: &Checked, as_json: bool, out: &mut impl Write) -> io::Result<()> {
    if as_json {
        let line = json!({
            "file": path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned()),
            "idx": index,
            "white": game.white,
            "black": game.black,
            "result": game.result,
            "plies": game.plies,
            "events": game.events,
            "findings": game.findings,
        });
        return writeln!(out, "{line}");
    }
    for finding in &game.findings {
        let place = finding.at.as_deref().map_or_else(String::new, |at| format!(" {at}"));
        let article =
            if finding.article.is_empty() { String::new() } else { format!(" [{}]", finding.article) };
        let mark = if finding.fault { "" } else { " (note)" };
        writeln!(
            out,
            "{}:{}: game {} {} – {}{place}: {}{mark}: {}{article}",
            path.display(),
            finding.line,
            index + 1,
            game.white,
            game.black,
            finding.code,
            finding.text,
        )?;
    }
    Ok(())
}

/// Checks games one after the other, reusing its memory.
#[derive(Debug)]
pub struct Checker {
    profile: std::sync::Arc<Profile>,
    review: Review,
}

/// The headline tags of a game, and how it ends.
#[derive(Default)]
struct Head<'a> {
    white: &'a [u8],
    black: &'a [u8],
    tag: Option<&'a [u8]>,
    token: Option<&'a [u8]>,
}

impl Checker {
    /// For this profile.
    #[must_use]
    pub fn new(profile: &std::sync::Arc<Profile>) -> Self {
        Self { profile: profile.clone(), review: Review::new(profile.rules.fivefold_consecutive) }
    }

    /// The events of a game; for benches and tests.
    pub fn events(&mut self, raw: RawGame<'_>) -> Events {
        self.game(raw).events
    }

    fn game(&mut self, raw: RawGame<'_>) -> Checked {
        match self.clean(raw) {
            Some(checked) => checked,
            None => self.mended(raw),
        }
    }

    /// A standard game without anything to mend; `None` for everything else.
    fn clean(&mut self, raw: RawGame<'_>) -> Option<Checked> {
        if raw.cut {
            return None;
        }
        let mut head = Head::default();
        let mut position = Chess::default();
        self.review.start(&position);
        let mut depth = 0u32;
        let mut moves = false;
        for (_, token) in Lexer::new(raw.bytes) {
            match token {
                Token::Tag(name, value) if !moves => {
                    let value = quoted(value)?;
                    match name {
                        b"White" => head.white = value,
                        b"Black" => head.black = value,
                        b"Result" if head.tag.is_none() => head.tag = Some(value),
                        b"FEN" | b"SetUp" | b"Variant" | b"Result" | b"Segment" => return None,
                        _ => {}
                    }
                }
                Token::Move(text) if depth == 0 => {
                    if head.token.is_some() {
                        return None;
                    }
                    moves = true;
                    let san = SanPlus::from_ascii(text).ok()?;
                    let m = san.san.to_move(&position).ok()?;
                    position.play_unchecked(m);
                    self.review.ply(&position);
                }
                Token::Result(text) if depth == 0 => {
                    if head.token.is_some() {
                        return None;
                    }
                    head.token = Some(text);
                }
                Token::Open => depth += 1,
                Token::Close => depth = depth.checked_sub(1)?,
                Token::Comment(_) | Token::Nag(_) => {}
                Token::Move(_) | Token::Result(_) if depth > 0 => {}
                _ => return None,
            }
        }
        let result = standard(head.token?)?;
        if depth > 0 || head.tag != head.token {
            return None;
        }
        let white = std::str::from_utf8(head.white).ok()?.to_owned();
        let black = std::str::from_utf8(head.black).ok()?.to_owned();
        if !raw.bytes.is_ascii() && std::str::from_utf8(raw.bytes).is_err() {
            return None;
        }
        let events = self.review.finish(&position);
        let plies = self.review.plies();
        let mut findings = Vec::new();
        self.judge(&events, plies, result, (0, false), &position, raw.line, &mut findings);
        Some(Checked { white, black, result: word(result), plies, events, findings, foreign: false })
    }

    /// Everything else: through the reader that mends.
    fn mended(&mut self, raw: RawGame<'_>) -> Checked {
        let (game, repairs) = match pgn::read_game(raw) {
            Ok(read) => read,
            Err(refusal) => {
                let finding = Finding {
                    code: "pgn-refused",
                    ply: None,
                    at: None,
                    line: refusal.line,
                    article: String::new(),
                    fault: true,
                    text: refusal.kind.to_string(),
                };
                return Checked {
                    white: String::new(),
                    black: String::new(),
                    result: "*",
                    plies: 0,
                    events: Events::default(),
                    findings: vec![finding],
                    foreign: matches!(refusal.kind, RefusalKind::NotPgn { .. }),
                };
            }
        };
        let mut findings: Vec<Finding> = repairs
            .iter()
            .map(|repair| {
                let illegal = repair.loses_moves();
                Finding {
                    code: repair.alert_code().unwrap_or("pgn-repaired"),
                    ply: repair.ply,
                    at: repair.ply.map(|ply| number(&game.start, ply)),
                    line: repair.line,
                    article: if repair.alert_code() == Some(Code::PgnIllegalMove.word()) {
                        self.profile.article("3")
                    } else {
                        String::new()
                    },
                    fault: illegal || repair.alert_code().is_some(),
                    text: repair.kind.to_string(),
                }
            })
            .collect();
        let result = game.result.map(|(result, ..)| result);
        let (events, plies) = self.replay(&game);
        if let Some(last) = game.position().chess() {
            let first = (game.start.move_number() - 1) * 2 + u32::from(game.start.turn().is_black());
            self.judge(&events, plies, result, (first, true), last, raw.line, &mut findings);
        }
        let tag = |name: &str| game.tags.get(name).unwrap_or_default().to_owned();
        Checked {
            white: tag("White"),
            black: tag("Black"),
            result: result.map_or("*", GameResult::word),
            plies,
            events,
            findings,
            foreign: false,
        }
    }

    fn replay(&mut self, game: &Game) -> (Events, u32) {
        let Some(start) = game.start.chess() else { return (Events::default(), game.plies.len() as u32) };
        self.review.start(start);
        let mut last = start;
        for ply in &game.plies {
            let Some(position) = ply.after.chess() else { break };
            self.review.ply(position);
            last = position;
        }
        (self.review.finish(last), game.plies.len() as u32)
    }

    /// Events against each other and against the result.
    #[expect(clippy::too_many_arguments, reason = "one game's facts")]
    fn judge(
        &self,
        events: &Events,
        plies: u32,
        result: Option<GameResult>,
        (first, _): (u32, bool),
        last: &Chess,
        line: u64,
        findings: &mut Vec<Finding>,
    ) {
        let mut add = |code: Code, ply: u32, article: &str, fault: bool, text: String| {
            let half = first + ply.saturating_sub(1);
            let dots = if half.is_multiple_of(2) { "." } else { "..." };
            findings.push(Finding {
                code: code.word(),
                ply: Some(ply),
                at: (ply > 0).then(|| format!("{}{dots}", half / 2 + 1)),
                line,
                article: self.profile.article(article),
                fault,
                text,
            });
        };
        if let Some(ply) = events.threefold {
            add(Code::ThreefoldClaimable, ply, "9.2", false, "third occurrence of the position".into());
        }
        if let Some(ply) = events.fifty {
            add(
                Code::FiftyClaimable,
                ply,
                "9.3",
                false,
                "fifty moves each without capture or pawn move".into(),
            );
        }
        let ends = [
            (events.fivefold, Code::FivefoldRepetition, "9.6.1", "fifth occurrence of the position"),
            (
                events.seventyfive,
                Code::SeventyfiveMove,
                "9.6.2",
                "75 moves each without capture or pawn move",
            ),
            (events.dead, Code::DeadPosition, "5.2.2", "dead position"),
        ];
        for (ply, code, article, text) in ends {
            let Some(ply) = ply else { continue };
            let later = plies - ply;
            let drawn = result.is_none_or(|result| result == GameResult::Draw);
            // Players often finish a forced exchange before they look up: only a wrong result is a
            // fault then. Repetition and counters the arbiter should have stopped.
            let fault = !drawn || later > 0 && code != Code::DeadPosition;
            let text = match (later, drawn) {
                (0, true) => format!("{text}: draw"),
                (0, false) => format!("{text}: draw, but the result says {}", word(result)),
                _ => format!(
                    "{text}: the game ended here; {later} more half-moves follow, result {}",
                    word(result)
                ),
            };
            add(code, ply, article, fault, text);
        }
        if let Some(ply) = events.mate {
            let due = GameResult::win(!last.turn());
            if result.is_some_and(|result| result != due) {
                let text = format!("mate on the board is {}, the result says {}", due.word(), word(result));
                add(Code::ResultConflict, ply, "5.1.1", true, text);
            }
        }
        if let Some(ply) = events.stalemate
            && result.is_some_and(|result| result != GameResult::Draw)
        {
            let text = format!("stalemate on the board, the result says {}", word(result));
            add(Code::ResultConflict, ply, "5.2.1", true, text);
        }
    }
}

fn word(result: Option<GameResult>) -> &'static str {
    result.map_or("*", GameResult::word)
}

/// Move number and dots of the move after so many half-moves.
fn number(start: &Position, ply: u32) -> String {
    let half = (start.move_number() - 1) * 2 + u32::from(start.turn().is_black()) + ply;
    format!("{}{}", half / 2 + 1, if half.is_multiple_of(2) { "." } else { "..." })
}

/// The value between its quotes, if it is written as the standard says and needs no mending.
fn quoted(value: &[u8]) -> Option<&[u8]> {
    let inner = value.trim_ascii().strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    (!inner.contains(&b'\\') && !inner.contains(&b'"')).then_some(inner)
}

#[expect(clippy::option_option, reason = "`*` is a word of its own: no result")]
fn standard(token: &[u8]) -> Option<Option<GameResult>> {
    Some(match token {
        b"1-0" => Some(GameResult::WhiteWins),
        b"0-1" => Some(GameResult::BlackWins),
        b"1/2-1/2" => Some(GameResult::Draw),
        b"*" => None,
        _ => return None,
    })
}

/// One JSON line a position.
fn positions(
    lines: impl Iterator<Item = io::Result<String>>,
    chess960: bool,
    out: &mut impl Write,
) -> anyhow::Result<u8> {
    let budget = mate::Budget::default();
    let mut code = 0;
    for (number, line) in lines.enumerate() {
        let line = line.context("this file cannot be read as text")?;
        let fen = line.trim();
        if fen.is_empty() || fen.starts_with('#') {
            continue;
        }
        let mode = CastlingMode::from_chess960(chess960 || needs_chess960(fen));
        match mate::report(fen, mode, &budget) {
            Ok(report) => writeln!(out, "{}", serde_json::to_string(&report)?)?,
            Err(error) => {
                writeln!(out, "{}", json!({"fen": fen, "error": error.to_string()}))?;
                eprintln!("arbiterd: line {}: {error}", number + 1);
                code = 2;
            }
        }
    }
    out.flush()?;
    Ok(code)
}
