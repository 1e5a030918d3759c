//! The PGN reader: validates every move, keeps clocks and comments, mends what real files get wrong
//! and lists each repair. A fault in one game never spoils the next.

use std::{io::Read as _, str, sync::Arc};

use shakmaty::CastlingMode;

use super::{
    RawGame,
    clock::{clock_times, comment_words},
    encoding::decode,
    lex::{Lexer, Token},
    repair::{Refusal, RefusalKind, Repair, RepairKind, word},
    segments,
    split::Splitter,
    tags::{result_from_tag, result_from_text, result_token},
};
use crate::record::{
    Game, GameResult, Ply, PlySource, Position, ResultReason, ResultState, Seconds, Tags,
    moves::{MoveFault, read_move},
};

/// Longer than any game can last under the 75-move rule.
const PLIES_MAX: usize = 12_000;
const TAGS_MAX: usize = 200;
const VALUE_MAX: usize = 1000;
const WORDS_MAX: usize = 2000;
/// Repairs listed for one game; a broken file has thousands of the same.
const REPAIRS_MAX: usize = 100;

/// What [`read_games`] gives for each game.
pub type ReadResult = Result<(Game, Vec<Repair>), Refusal>;

/// Reads all games of a file. What was wrong with the file as a whole (its encoding) stands with
/// the first game. The segments of a game come out as one.
#[must_use]
pub fn read_games(bytes: &[u8]) -> Games {
    let decoded = decode(bytes);
    let mut first = Vec::new();
    if decoded.bom {
        first.push(Repair { line: 1, ply: None, kind: RepairKind::ByteOrderMark });
    }
    if let Some(from) = decoded.from {
        first.push(Repair { line: 1, ply: None, kind: RepairKind::Encoding { from } });
    }
    let text = decoded.text.into_owned().into_bytes();
    Games { splitter: Splitter::new(std::io::Cursor::new(text)), first, ahead: None }
}

/// Games read from a file, in order.
pub struct Games {
    splitter: Splitter<std::io::Cursor<Vec<u8>>>,
    /// Repairs of the whole file.
    first: Vec<Repair>,
    ahead: Option<ReadResult>,
}

impl Games {
    fn read_one(&mut self) -> Option<ReadResult> {
        // Reading from memory does not fail.
        let raw = self.splitter.next_game().ok().flatten()?;
        let mut result = read_game(raw);
        if let Ok((_, repairs)) = &mut result {
            repairs.splice(0..0, self.first.drain(..));
        }
        Some(result)
    }
}

impl Iterator for Games {
    type Item = ReadResult;

    fn next(&mut self) -> Option<ReadResult> {
        let mut current = self.ahead.take().or_else(|| self.read_one())?;
        while let Ok((game, repairs)) = &mut current {
            let Some(next) = self.read_one() else { break };
            match next {
                Ok((segment, more)) if segment.tags.get("Segment").is_some() => {
                    match segments::join(game, segment) {
                        Ok(kind) => {
                            let line = more.first().map_or(1, |repair| repair.line);
                            repairs.extend(more);
                            let ply =
                                Some(game.plies.iter().rposition(|ply| ply.breaks()).unwrap_or(0) as u32);
                            repairs.push(Repair { line, ply, kind });
                        }
                        Err(segment) => {
                            let mut more = more;
                            more.push(Repair { line: 1, ply: None, kind: RepairKind::SegmentAlone });
                            self.ahead = Some(Ok((*segment, more)));
                            break;
                        }
                    }
                }
                next => {
                    self.ahead = Some(next);
                    break;
                }
            }
        }
        Some(current)
    }
}

/// Reads one game. Its text is decoded as it needs.
///
/// # Errors
/// When it is another game than chess, or starts from something that is no position.
pub fn read_game(raw: RawGame<'_>) -> ReadResult {
    let decoded = decode(raw.bytes);
    let mut reader = GameReader::new(raw, decoded.text.as_bytes());
    if let Some(from) = decoded.from {
        reader.repair(0, RepairKind::Encoding { from });
    }
    if raw.cut {
        reader.repair(0, RepairKind::TooLong);
    }
    reader.read()
}

struct GameReader<'a> {
    raw: RawGame<'a>,
    bytes: &'a [u8],
    game: Game,
    repairs: Vec<Repair>,
    /// Last closing result, with its place.
    token: Option<(usize, &'a [u8])>,
    /// Cut at an illegal move: nothing more is played.
    cut: bool,
}

impl<'a> GameReader<'a> {
    fn new(raw: RawGame<'a>, bytes: &'a [u8]) -> Self {
        Self { raw, bytes, game: Game::default(), repairs: Vec::new(), token: None, cut: false }
    }

    fn line(&self, at: usize) -> u64 {
        self.raw.line + memchr::memchr_iter(b'\n', &self.bytes[..at.min(self.bytes.len())]).count() as u64
    }

    fn repair(&mut self, at: usize, kind: RepairKind) {
        self.repair_at(at, None, kind);
    }

    fn repair_at(&mut self, at: usize, ply: Option<u32>, kind: RepairKind) {
        if self.repairs.len() < REPAIRS_MAX {
            let line = self.line(at);
            self.repairs.push(Repair { line, ply, kind });
        }
    }

    fn refuse(&self, kind: RefusalKind) -> ReadResult {
        Err(Refusal { line: self.raw.line, index: self.raw.index, kind })
    }

    fn read(mut self) -> ReadResult {
        let mut tokens = Lexer::new(self.bytes).peekable();
        while let Some((at, Token::Tag(name, value))) =
            tokens.next_if(|(_, token)| matches!(token, Token::Tag(..)))
        {
            self.tag(at, name, value);
        }
        if let Err(kind) = self.start() {
            return self.refuse(kind);
        }
        let mut position = self.game.start.clone();
        let mut depth = 0usize;
        for (at, token) in tokens {
            match token {
                Token::Open => depth += 1,
                Token::Close if depth == 0 => self.repair(at, RepairKind::Variation),
                Token::Close => depth -= 1,
                Token::OpenComment(_) => self.repair(at, RepairKind::OpenComment),
                Token::Stray(byte) => {
                    // `<` and `>` are reserved by the standard; `,` and `.` are lexed away.
                    self.repair(at, RepairKind::Stray { found: char::from(byte).to_string() });
                }
                // Among the moves a tag comes too late to mean anything.
                Token::Tag(name, _) => {
                    self.repair(at, RepairKind::Stray { found: format!("[{}", lossy(name)) });
                }
                _ if depth > 0 => {}
                Token::Nag(_) => {}
                Token::Comment(comment) => self.comment(at, comment),
                Token::Result(text) => {
                    if self.token.is_some_and(|(_, old)| old != text) {
                        self.repair(at, RepairKind::AfterResult { found: lossy(text) });
                    } else {
                        self.token = Some((at, text));
                    }
                }
                Token::Move(text) if self.token.is_some() => {
                    self.repair(at, RepairKind::AfterResult { found: lossy(text) });
                }
                Token::Move(_) if self.cut => {}
                Token::Move(text) => self.play(at, text, &mut position),
            }
        }
        if depth > 0 {
            self.repair(self.bytes.len(), RepairKind::Variation);
        }
        if self.game.tags.0.is_empty() && self.game.plies.is_empty() && self.token.is_none() {
            let found = self.bytes.trim_ascii();
            let kind = RefusalKind::NotPgn { found: lossy(&found[..found.len().min(40)]) };
            return self.refuse(kind);
        }
        self.result();
        Ok((self.game, self.repairs))
    }

    fn tag(&mut self, at: usize, name: &[u8], value: &[u8]) {
        let name = lossy(name);
        let (value, sound) = unquote(value);
        if !sound {
            self.repair(at, RepairKind::BadTag { name: name.clone() });
        }
        match self.game.tags.get(&name) {
            Some(old) if old == value => {}
            Some(_) => self.repair(at, RepairKind::DuplicateTag { name }),
            None if self.game.tags.0.len() < TAGS_MAX => self.game.tags.0.push((name, value)),
            None => {}
        }
    }

    /// The start position from the tags.
    fn start(&mut self) -> Result<(), RefusalKind> {
        let variant = self.game.tags.get("Variant").map(str::to_owned);
        let chess960 = match variant.as_deref().map(variant_of) {
            None | Some(Some(CastlingMode::Standard)) => false,
            Some(Some(CastlingMode::Chess960)) => true,
            Some(None) => {
                let name = variant.unwrap_or_default();
                return Err(RefusalKind::Variant { name: name.chars().take(60).collect() });
            }
        };
        let Some(fen) =
            self.game.tags.get("FEN").map(|fen| fen.trim().to_owned()).filter(|fen| !fen.is_empty())
        else {
            if chess960 {
                self.repair(0, RepairKind::Chess960WithoutPosition);
                self.game.start = Position::chess960(518);
            }
            return Ok(());
        };
        let guessed = !chess960 && needs_chess960(&fen);
        if guessed {
            self.repair(0, RepairKind::Chess960Guessed);
        }
        let mode = CastlingMode::from_chess960(chess960 || guessed);
        let start = Position::from_fen(&fen, mode)
            .map_err(|error| RefusalKind::Position { why: error.to_string() })?;
        for side in shakmaty::Color::ALL {
            let kings = (start.board().kings() & start.board().by_color(side)).count();
            if kings != 1 {
                return Err(RefusalKind::Position { why: format!("{kings} kings for {side}") });
            }
        }
        self.game.start = start;
        Ok(())
    }

    fn comment(&mut self, at: usize, comment: &[u8]) {
        let times = clock_times(comment);
        if times.unreadable {
            self.repair(at, RepairKind::ClockUnreadable);
        }
        let count = self.game.plies.len();
        let mover =
            count.checked_sub(1).and_then(|index| self.game.position_before(index)).map(Position::turn);
        if let (Some(mover), Some(ply), false) = (mover, self.game.plies.last_mut(), self.cut) {
            let seconds = |time: std::time::Duration| Seconds(time.as_secs() as u32);
            let ply = Arc::make_mut(ply);
            let slot = ply.clock.get_mut(mover);
            *slot = slot.or(times.clk.map(seconds));
            ply.elapsed = ply.elapsed.or(times.emt.map(seconds));
        }
        let words = comment_words(&String::from_utf8_lossy(comment));
        if words.is_empty() || self.cut {
            return;
        }
        let note = self.game.notes.entry(count).or_default();
        if note.len() + words.len() < WORDS_MAX {
            if !note.is_empty() {
                note.push(' ');
            }
            note.push_str(&words);
        }
    }

    fn play(&mut self, at: usize, text: &[u8], position: &mut Position) {
        let ply = self.game.plies.len() as u32;
        if self.game.plies.len() >= PLIES_MAX {
            self.cut = true;
            return self.repair_at(at, Some(ply), RepairKind::TooManyPlies);
        }
        let text = str::from_utf8(text).unwrap_or("?");
        let found = || text.chars().take(40).collect::<String>();
        let (m, loose) = match read_move(position, text) {
            Ok(read) => read,
            Err(fault) => {
                let kind = match fault {
                    MoveFault::EnPassantMark => return,
                    MoveFault::Unreadable if is_remark(text) => {
                        return self.repair_at(at, Some(ply), RepairKind::Stray { found: found() });
                    }
                    MoveFault::Illegal => RepairKind::IllegalMove { found: found() },
                    MoveFault::Ambiguous => RepairKind::AmbiguousMove { found: found() },
                    MoveFault::Null => RepairKind::NullMove { found: found() },
                    MoveFault::Unreadable => RepairKind::UnreadableMove { found: found() },
                };
                self.cut = true;
                return self.repair_at(at, Some(ply), kind);
            }
        };
        let san = position.san(m);
        if loose {
            self.repair_at(at, Some(ply), RepairKind::LooseMove { found: found(), taken: san.clone() });
        }
        let uci = position.uci(m);
        *position = position.play(m);
        self.game.plies.push(Arc::new(Ply::written(uci, san, position.clone(), PlySource::Entered)));
    }

    /// Tag and closing result must agree; neither is preferred in silence.
    fn result(&mut self) {
        let tag = self.game.tags.get("Result").map(str::to_owned);
        let tag_result = tag.as_deref().map(result_from_tag);
        if let (Some(found), Some(None)) = (&tag, tag_result) {
            let found = found.chars().take(40).collect();
            self.repair(0, RepairKind::ResultUnreadable { found });
        }
        if let (Some(found), Some(Some(result))) = (&tag, tag_result)
            && !matches!(found.trim(), "" | "?" | "-")
            && result_token(found.trim().as_bytes()).is_none()
            && found != word(result)
        {
            let found = found.chars().take(40).collect();
            self.repair(0, RepairKind::ResultSpelling { found, taken: word(result) });
        }
        let tag_result = tag_result.flatten().flatten();
        let result = match self.token {
            None => {
                self.repair(self.bytes.trim_ascii_end().len(), RepairKind::MissingResult);
                tag_result
            }
            Some((at, text)) => {
                let token_result = result_from_text(text).flatten();
                if result_token(text).is_none() {
                    let kind = RepairKind::ResultSpelling { found: lossy(text), taken: word(token_result) };
                    self.repair(at, kind);
                }
                match (tag_result, token_result) {
                    (tag, token) if tag == token => token,
                    // PGN has no token for these, so the tag says them.
                    (Some(tag), None) if super::tags::result_words(Some(tag)).1 == "*" => Some(tag),
                    (None, Some(token)) => {
                        if tag.is_some_and(|tag| tag.trim() == "*") {
                            self.repair(at, RepairKind::ResultFilled { taken: word(Some(token)) });
                        }
                        Some(token)
                    }
                    (Some(tag), None) => {
                        self.repair(at, RepairKind::ResultFilled { taken: word(Some(tag)) });
                        Some(tag)
                    }
                    (tag, token) => {
                        // A forfeit and a plain win go together.
                        let plain = |result| super::tags::result_words(result).1;
                        if plain(tag) == plain(token) {
                            tag
                        } else {
                            let kind = RepairKind::ResultConflict {
                                tag: word(tag).to_owned(),
                                token: word(token).to_owned(),
                            };
                            self.repair(at, kind);
                            None
                        }
                    }
                }
            }
        };
        self.game.result = result.map(|result| {
            let (result, reason) = self.reason(result);
            (result, reason, ResultState::Final)
        });
    }

    fn reason(&self, result: GameResult) -> (GameResult, ResultReason) {
        use GameResult as R;
        let termination = self.game.tags.get("Termination").unwrap_or_default().to_ascii_lowercase();
        let last = self.game.position();
        match result {
            R::WhiteForfeit | R::BlackForfeit | R::BothForfeit => (result, ResultReason::Forfeit),
            R::Adjourned => (result, ResultReason::Adjournment),
            _ if termination == "forfeit" => {
                let result = match result {
                    R::WhiteWins => R::WhiteForfeit,
                    R::BlackWins => R::BlackForfeit,
                    R::BothLose => R::BothForfeit,
                    other => other,
                };
                (result, ResultReason::Forfeit)
            }
            _ if last.is_checkmate() => (result, ResultReason::Checkmate),
            _ if last.is_stalemate() => (result, ResultReason::Stalemate),
            _ if termination.contains("time") => (result, ResultReason::FlagFall),
            _ if termination.contains("rules") => (result, ResultReason::IllegalMoves),
            _ => (result, ResultReason::Entered),
        }
    }
}

/// `+-`, `=`, `\\`, `N`, `RR`: an assessment, a sign or a word, no attempt at a move.
fn is_remark(text: &str) -> bool {
    let tried =
        text.starts_with(['K', 'Q', 'R', 'B', 'N', 'O', '0', 'o', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
    let all_capitals = text.bytes().all(|byte| byte.is_ascii_uppercase());
    !text.bytes().any(|byte| byte.is_ascii_digit()) && (!tried || all_capitals || text.len() > 4)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(60).collect()
}

/// A tag's value out of its quotes, and whether they were all there.
fn unquote(raw: &[u8]) -> (String, bool) {
    let text = String::from_utf8_lossy(raw);
    let text = text.trim();
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let sound = inner.is_some();
    let inner = inner.unwrap_or_else(|| text.trim_matches('"'));
    let mut value = String::with_capacity(inner.len());
    let mut chars = inner.chars().take(VALUE_MAX);
    while let Some(c) = chars.next() {
        match c {
            '\\' => value.extend(chars.next()),
            c if c.is_control() => {}
            c => value.push(c),
        }
    }
    (value, sound)
}

/// The castling mode of a Variant tag; `None` for another game.
pub(crate) fn variant_of(name: &str) -> Option<CastlingMode> {
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    match plain.as_str() {
        "" | "standard" | "chess" | "normal" | "regular" | "orthodox" | "fromposition" => {
            Some(CastlingMode::Standard)
        }
        "chess960" | "960" | "fischerandom" | "fischerrandom" | "fischerandomchess"
        | "fischerrandomchess" | "freestyle" | "freestylechess" | "frc" => Some(CastlingMode::Chess960),
        _ => None,
    }
}

/// The castling rights name files, or kings and rooks that do not stand at home.
pub(crate) fn needs_chess960(fen: &str) -> bool {
    let rights = fen.split_whitespace().nth(2).unwrap_or("-");
    if rights == "-" {
        return false;
    }
    if rights.bytes().any(|byte| matches!(byte, b'a'..=b'h' | b'A'..=b'H')) {
        return true;
    }
    let Ok(standard) = Position::from_fen(fen, CastlingMode::Standard) else { return false };
    let Ok(free) = Position::from_fen(fen, CastlingMode::Chess960) else { return false };
    standard.to_setup().castling_rights != free.to_setup().castling_rights
}

/// Everything a reader holds, at most this many bytes.
pub const INPUT_MAX: u64 = 256 << 20;

/// Reads a whole stream for [`read_games`], at most [`INPUT_MAX`] bytes.
///
/// # Errors
/// Those of the stream, and when it holds more.
pub fn read_all(stream: impl std::io::Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(INPUT_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > INPUT_MAX {
        return Err(std::io::Error::other("more than 256 MiB: split the file"));
    }
    Ok(bytes)
}

/// Tags of a file without its games: enough to see what it is.
#[must_use]
pub fn first_tags(bytes: &[u8]) -> Tags {
    read_games(bytes).find_map(Result::ok).map(|(game, _)| game.tags).unwrap_or_default()
}
