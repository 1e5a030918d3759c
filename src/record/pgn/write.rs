//! The PGN writer. Its choices are those that all known readers take: one comment a move with
//! `%clk` then `%emt`, letters only in tag names, Result tag and closing token always there, `O-O`
//! for castling, LF, no byte-order mark, movetext under 80 columns with no line that begins with
//! `%` or `[`.
//!
//! PGN cannot say an illegal move that stood (Laws 7.5.1, 13.4.2), nor that a person set another position.
//! Such a game is cut there, and continued in a second game, tag `Segment "2"`, that starts from the position
//! after it; a comment says what lies between (`segments`). [`read_games`](super::read_games) puts the pieces together again.

use shakmaty::Color;

use super::{
    segments::{CONTINUED, SET, cut_comment},
    tags::{clean_tag_name, clean_tag_value, result_words, termination},
};
use crate::record::{Game, GameResult, Ply, PlyState, Position, ResultReason, ResultState, Timestamp};

/// Movetext stays under 80 columns.
const COLUMNS: usize = 79;

/// The tags every game has, in the order of the standard.
const ROSTER: [&str; 7] = ["Event", "Site", "Date", "Round", "White", "Black", "Result"];

/// Which results go into the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ResultPolicy {
    /// Only what the arbiter, or a fact of the Laws, fixed.
    Final,
    /// Also what the players themselves showed: kings on the centre, a resignation, an agreed draw.
    #[default]
    Signalled,
    /// Also what the program proposes, such as a loss by flag fall.
    Proposed,
}

/// What both clocks show in a running game: LiveChess' tags, which viewers read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningClock {
    /// Seconds White has left, as of `at`.
    pub white: u32,
    /// Seconds Black has left, as of `at`.
    pub black: u32,
    /// When the clocks showed this.
    pub at: Timestamp,
    /// The venue's offset from UTC in minutes.
    pub offset_minutes: i32,
}

/// How a game is written.
#[derive(Clone, Copy, Debug)]
pub struct WriteOptions {
    /// Write `%clk` and `%emt`.
    pub clocks: bool,
    /// Write `%emt` (a third of the size; Lichess' push has a limit).
    pub elapsed: bool,
    /// Write plies that may still be revised. A channel that cannot take a move back leaves them out.
    pub provisional: bool,
    /// Which results are written.
    pub results: ResultPolicy,
    /// Continue after an illegal move that stood, or from a position that was set, in a second segment.
    /// Otherwise the game ends there.
    pub segments: bool,
    /// Clock tags of a running game.
    pub running: Option<RunningClock>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            clocks: true,
            elapsed: true,
            provisional: true,
            results: ResultPolicy::default(),
            segments: true,
            running: None,
        }
    }
}

/// Appends the game and a blank line, with the default options.
pub fn write_game(game: &Game, out: &mut String) {
    write_game_with(game, &WriteOptions::default(), out);
}

/// Appends the game (in several segments where an illegal move stood or a position was set), each with a
/// blank line.
pub fn write_game_with(game: &Game, options: &WriteOptions, out: &mut String) {
    let shown = if options.provisional {
        game.plies.len()
    } else {
        game.plies.iter().position(|ply| ply.state == PlyState::Provisional).unwrap_or(game.plies.len())
    };
    let complete = shown == game.plies.len();
    let result = game.result.filter(|result| complete && shows(options.results, *result));
    let mut first = 0;
    let mut segment = 1;
    loop {
        let broken = |index: &usize| {
            let ply = &game.plies[*index];
            ply.irregular || ply.origin.is_some() && *index > first
        };
        let cut = (first..shown).find(broken);
        let last = cut.is_none() || !options.segments;
        let end = cut.unwrap_or(shown);
        write_tags(game, options, Segment { number: segment, first, last }, result, out);
        write_movetext(game, options, first..end, cut, result.map(|(result, ..)| result), out);
        match cut {
            // An illegal move stands in the comment, a move from a position that was set begins the next.
            Some(cut) if options.segments => first = cut + usize::from(game.plies[cut].irregular),
            _ => return,
        }
        segment += 1;
    }
}

/// A part of a game between illegal moves that stood.
#[derive(Clone, Copy)]
struct Segment {
    /// From 1.
    number: u32,
    /// Index of its first ply.
    first: usize,
    /// No other follows.
    last: bool,
}

fn shows(policy: ResultPolicy, (_, reason, state): (GameResult, ResultReason, ResultState)) -> bool {
    match policy {
        ResultPolicy::Proposed => true,
        _ if state == ResultState::Final => true,
        ResultPolicy::Final => false,
        ResultPolicy::Signalled => {
            matches!(reason, ResultReason::KingsSignal | ResultReason::Resignation | ResultReason::DrawAgreed)
        }
    }
}

fn write_tags(
    game: &Game,
    options: &WriteOptions,
    segment: Segment,
    result: Option<(GameResult, ResultReason, ResultState)>,
    out: &mut String,
) {
    let mut tag = |name: &str, value: &str| {
        for piece in ["[", name, " \"", value, "\"]\n"] {
            out.push_str(piece);
        }
    };
    for name in ROSTER {
        let value = match name {
            "Result" => result_words(result.map(|(result, ..)| result)).0.to_owned(),
            _ => game.tags.get(name).map(clean_tag_value).unwrap_or_default(),
        };
        match (name, value.as_str()) {
            ("Date", "") => tag(name, "????.??.??"),
            (_, "") => tag(name, "?"),
            (_, value) => tag(name, value),
        }
    }
    let start = game.position_before(segment.first).unwrap_or(&game.start);
    let standard = *start == Position::default();
    let chess960 = start.mode().is_chess960();
    let mut written: Vec<String> = Vec::new();
    for (name, value) in &game.tags.0 {
        let Some(name) = clean_tag_name(name) else { continue };
        // These follow from the game itself.
        let derived = ["Result", "SetUp", "FEN", "Segment", "WhiteClock", "BlackClock", "ReferenceTime"];
        let done = ROSTER.contains(&name.as_str()) || derived.contains(&name.as_str());
        if done || written.contains(&name) || (name == "Variant" && chess960) {
            continue;
        }
        let mut value = clean_tag_value(value);
        if value.is_empty() {
            continue;
        }
        if name == "GameId" && segment.number > 1 {
            value = format!("{value}-{}", segment.number);
        }
        tag(&name, &value);
        written.push(name);
    }
    if let Some((result, reason, _)) = result
        && !written.iter().any(|name| name == "Termination")
        && let Some(word) = termination(result, reason)
    {
        tag("Termination", word);
    }
    if segment.number > 1 {
        tag("Segment", &segment.number.to_string());
    }
    if chess960 {
        tag("Variant", "Fischerandom");
    }
    if !standard || chess960 {
        tag("SetUp", "1");
        tag("FEN", &start.shredder_fen());
    }
    if let Some(clock) = options.running.filter(|_| segment.last && result.is_none()) {
        let hms = |s: u32| format!("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
        tag("WhiteClock", &hms(clock.white));
        tag("BlackClock", &hms(clock.black));
        tag("ReferenceTime", &reference_time(game.position().turn(), clock));
    }
    out.push('\n');
}

/// Side to move and local time with its offset, as LiveChess writes it.
fn reference_time(turn: Color, clock: RunningClock) -> String {
    let side = turn.fold_wb('W', 'B');
    let offset = clock.offset_minutes.clamp(-24 * 60, 24 * 60);
    let local = clock.at.plus(i64::from(offset) * 60_000).to_rfc3339();
    let sign = if offset < 0 { '-' } else { '+' };
    let (hours, minutes) = (offset.abs() / 60, offset.abs() % 60);
    format!("{side}/{}{sign}{hours:02}:{minutes:02}", local.trim_end_matches('Z'))
}

fn write_movetext(
    game: &Game,
    options: &WriteOptions,
    plies: std::ops::Range<usize>,
    cut: Option<usize>,
    result: Option<GameResult>,
    out: &mut String,
) {
    let mut line = Line { out, column: 0 };
    let cut_comment = cut.map(|index| cut_comment(game, index, options.segments));
    if plies.start == 0
        && let Some(note) = game.notes.get(&0)
    {
        line.comment(&[], note);
    }
    if plies.is_empty()
        && let Some(comment) = &cut_comment
    {
        line.comment(&[], comment);
    }
    let mut numbered = false;
    for index in plies.clone() {
        let (Some(ply), Some(before)) = (game.plies.get(index), game.position_before(index)) else { break };
        match before.turn() {
            Color::White => line.word(&format!("{}.", before.move_number())),
            Color::Black if !numbered => line.word(&format!("{}...", before.move_number())),
            Color::Black => {}
        }
        line.word(&ply.san);
        let commands = commands(ply, before.turn(), options);
        let mut words = game.notes.get(&(index + 1)).cloned().unwrap_or_default();
        if index == plies.start && index > 0 {
            append(&mut words, if ply.origin.is_some() { SET } else { CONTINUED });
        }
        if index + 1 == plies.end
            && let Some(comment) = &cut_comment
        {
            append(&mut words, comment);
        }
        numbered = !line.comment(&commands, &words);
    }
    line.word(result_words(result).1);
    out.push_str("\n\n");
}

fn append(words: &mut String, more: &str) {
    if !words.is_empty() {
        words.push(' ');
    }
    words.push_str(more);
}

/// `[%clk …]` first, then `[%emt …]`.
fn commands(ply: &Ply, mover: Color, options: &WriteOptions) -> Vec<String> {
    let mut commands = Vec::new();
    if !options.clocks {
        return commands;
    }
    if let Some(clock) = ply.clock.get(mover) {
        commands.push(format!("[%clk {clock}]"));
    }
    if let Some(elapsed) = ply.elapsed.filter(|_| options.elapsed) {
        commands.push(format!("[%emt {elapsed}]"));
    }
    commands
}

/// Words set into lines of at most [`COLUMNS`].
struct Line<'a> {
    out: &'a mut String,
    column: usize,
}

impl Line<'_> {
    fn word(&mut self, word: &str) {
        let width = word.chars().count();
        if self.column == 0 {
            self.column = width;
        } else if self.column + 1 + width > COLUMNS {
            self.out.push('\n');
            self.column = width;
        } else {
            self.out.push(' ');
            self.column += 1 + width;
        }
        self.out.push_str(word);
    }

    /// Writes a comment; false when there is nothing to say. Commands stay in one piece with the
    /// brace, so that no line begins with `[` or `%`; braces in the words become parentheses.
    fn comment(&mut self, commands: &[String], words: &str) -> bool {
        let mut pieces: Vec<String> = Vec::new();
        if !commands.is_empty() {
            pieces.push(commands.join(" "));
        }
        for word in words.split_whitespace() {
            let mut word: String = word
                .chars()
                .filter(|c| !c.is_control())
                .map(|c| match c {
                    '{' | '[' => '(',
                    '}' | ']' => ')',
                    c => c,
                })
                .collect();
            if word.is_empty() {
                continue;
            }
            // No line may begin with `%` (it would hide the line) or `;`.
            if !pieces.is_empty() && word.starts_with(['%', ';']) {
                word.insert(0, '-');
            }
            while word.chars().count() > COLUMNS - 10 {
                let at = word.char_indices().nth(COLUMNS - 10).map_or(word.len(), |(at, _)| at);
                let rest = word.split_off(at);
                pieces.push(std::mem::replace(&mut word, rest));
            }
            pieces.push(word);
        }
        let Some(first) = pieces.first_mut() else { return false };
        first.insert(0, '{');
        if let Some(last) = pieces.last_mut() {
            last.push('}');
        }
        for piece in &pieces {
            self.word(piece);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::record::{PlySource, Seconds, Tags};
    use shakmaty::{ByColor, CastlingMode, uci::UciMove};

    fn push(game: &mut Game, uci: &str, clock: Option<u32>) {
        let before = game.position().clone();
        let uci: UciMove = uci.parse().unwrap();
        let m = before.find_uci(uci).unwrap();
        let mut clocks = ByColor::default();
        *clocks.get_mut(before.turn()) = clock.map(Seconds);
        game.plies.push(Arc::new(Ply {
            uci,
            san: before.san(m),
            after: before.play(m),
            irregular: false,
            origin: None,
            state: PlyState::Confirmed,
            source: PlySource::Board,
            made_at: Timestamp::default(),
            pressed_at: None,
            clock: clocks,
            elapsed: clock.map(|_| Seconds(2)),
        }));
    }

    fn push_irregular(game: &mut Game, uci: &str) {
        let before = game.position().clone();
        let uci: UciMove = uci.parse().unwrap();
        let UciMove::Normal { from, to, .. } = uci else { panic!() };
        let mut board = before.board().clone();
        let piece = board.remove_piece_at(from).unwrap();
        board.set_piece_at(to, piece);
        game.plies.push(Arc::new(Ply {
            uci,
            san: format!("{from}{to}?"),
            after: before.after_irregular(board),
            irregular: true,
            origin: None,
            state: PlyState::Confirmed,
            source: PlySource::Board,
            made_at: Timestamp::default(),
            pressed_at: None,
            clock: ByColor::default(),
            elapsed: None,
        }));
    }

    #[test]
    fn a_game_without_anything_is_closed_and_has_its_seven_tags() {
        let mut out = String::new();
        write_game(&Game::default(), &mut out);
        assert_eq!(
            out,
            "[Event \"?\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"?\"]\n[White \"?\"]\n\
             [Black \"?\"]\n[Result \"*\"]\n\n*\n\n"
        );
    }

    #[test]
    fn one_comment_a_move_with_clk_then_emt_and_black_numbered_after_it() {
        let mut game = Game::default();
        push(&mut game, "e2e4", Some(5398));
        push(&mut game, "e7e5", Some(5390));
        push(&mut game, "g1f3", None);
        push(&mut game, "b8c6", None);
        game.notes.insert(4, "(=)".to_owned());
        let mut out = String::new();
        write_game(&game, &mut out);
        let movetext = out.split("\n\n").nth(1).unwrap();
        assert_eq!(
            movetext,
            "1. e4 {[%clk 1:29:58] [%emt 0:00:02]} 1... e5 {[%clk 1:29:50] [%emt 0:00:02]}\n\
             2. Nf3 Nc6 {(=)} *"
        );
    }

    #[test]
    fn a_double_loss_is_said_by_the_tag_and_closed_by_a_star() {
        let mut game = Game {
            result: Some((GameResult::BothLose, ResultReason::Entered, ResultState::Final)),
            ..Game::default()
        };
        let mut out = String::new();
        write_game(&game, &mut out);
        assert!(out.contains("[Result \"0-0\"]") && out.ends_with("\n\n*\n\n"), "{out}");
        game.result = Some((GameResult::BlackWins, ResultReason::FlagFall, ResultState::Proposed));
        out.clear();
        write_game(&game, &mut out);
        assert!(out.contains("[Result \"*\"]"), "what the program only proposes is not published: {out}");
    }

    #[test]
    fn an_illegal_move_that_stood_cuts_the_game_in_two() {
        let start = Position::from_fen("4k3/8/8/8/7q/8/P5P1/4K3 w - - 0 1", CastlingMode::Standard).unwrap();
        let mut game = Game::new(start);
        game.tags = Tags::default();
        game.tags.set("White", "White Player");
        game.tags.set("GameId", "r1b1");
        push_irregular(&mut game, "a2a3");
        push(&mut game, "e8d7", None);
        push(&mut game, "g2g3", None);
        game.result = Some((GameResult::BlackWins, ResultReason::Resignation, ResultState::Final));
        let mut out = String::new();
        write_game(&game, &mut out);
        let parts: Vec<&str> = out.split("\n\n").collect();
        assert_eq!(parts.len(), 5, "{out}");
        assert!(parts[1].starts_with("{White played 1. a2a3 here") && parts[1].ends_with("} 0-1"), "{out}");
        assert!(parts[2].contains("[Segment \"2\"]") && parts[2].contains("[GameId \"r1b1-2\"]"), "{out}");
        assert!(parts[2].contains("[FEN \"4k3/8/8/8/7q/P7/6P1/4K3 b - - 0 1\"]"), "{out}");
        assert!(parts[3].starts_with("1... Kd7+ {(continued") && parts[3].ends_with("2. g3 0-1"), "{out}");
    }

    #[test]
    fn chess960_goes_out_with_its_variant_and_the_rooks_files() {
        let mut out = String::new();
        write_game(&Game::new(Position::chess960(0)), &mut out);
        assert!(out.contains("[Variant \"Fischerandom\"]"));
        assert!(out.contains("[FEN \"bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1\"]"), "{out}");
    }

    #[test]
    fn a_running_game_shows_both_clocks_and_who_is_to_move() {
        let mut game = Game::default();
        push(&mut game, "e2e4", None);
        let at = Timestamp::from_millis(1_715_775_717_339);
        let running = Some(RunningClock { white: 5136, black: 4893, at, offset_minutes: 120 });
        let mut out = String::new();
        write_game_with(&game, &WriteOptions { running, ..WriteOptions::default() }, &mut out);
        assert!(out.contains("[WhiteClock \"01:25:36\"]\n[BlackClock \"01:21:33\"]\n"));
        assert!(out.contains("[ReferenceTime \"B/2024-05-15T14:21:57.339+02:00\"]"), "{out}");
    }

    #[test]
    fn no_line_is_long_or_begins_with_a_percent_or_bracket() {
        let mut game = Game::default();
        for uci in ["g1f3", "g8f6", "f3g1", "f6g8"].iter().cycle().take(200) {
            push(&mut game, uci, Some(4000));
        }
        game.notes.insert(7, format!("%hidden [x] {{y}} {} %end", "long".repeat(60)));
        game.notes.insert(0, "%start".to_owned());
        let mut out = String::new();
        write_game(&game, &mut out);
        let movetext = &out[out.find("\n\n").unwrap() + 2..];
        for line in movetext.lines() {
            assert!(line.chars().count() < 80, "{line}");
            assert!(!line.starts_with(['%', '[', ';']), "{line}");
        }
    }
}
