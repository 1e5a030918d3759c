//! TRF16, `TRFx` and TRF-2026: lines of fixed columns with a three-letter kind in front. They end with
//! LF, CRLF or a lone CR.

use std::collections::BTreeMap;

use super::{ImportIssue, ImportNote, Refused};
use crate::{
    event::{ByeKind, Player, Team},
    record::pgn::decode,
};

/// A tournament as a TRF has it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TrfTournament {
    /// Line 012.
    pub name: Option<String>,
    /// Line 022.
    pub city: Option<String>,
    /// Line 032.
    pub federation: Option<String>,
    /// Line 122, as written.
    pub time_control: Option<String>,
    /// Lines XXR or 142: rounds of the whole tournament.
    pub rounds: Option<u32>,
    /// Line 132: days of the rounds, `YYYY-MM-DD` where they can be read.
    pub dates: Vec<Option<String>>,
    /// By start rank.
    pub players: BTreeMap<u32, TrfPlayer>,
    /// Lines 013 and 310.
    pub teams: Vec<Team>,
    /// Lines 240: round, kind, start rank.
    pub byes: Vec<(u32, ByeKind, u32)>,
    /// Points for a win, a draw, a loss, in half points (162, BBW, BBD, BBL).
    pub points: [u32; 3],
}

/// Line 001.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrfPlayer {
    /// Where it stands.
    pub line: u64,
    /// Name, title, rating and so on; his start rank is `rank`.
    pub player: Player,
    /// By rounds, from the first; `None` where nothing is written.
    pub games: Vec<Option<TrfGame>>,
}

/// One round of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrfGame {
    /// Start rank of the opponent; `None` without one.
    pub opponent: Option<u32>,
    /// Had White.
    pub white: Option<bool>,
    /// How it ended.
    pub outcome: TrfOutcome,
}

/// How a round ended for a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrfOutcome {
    /// Not played yet.
    Open,
    /// Won.
    Win,
    /// Drawn.
    Draw,
    /// Lost.
    Loss,
    /// Won without play.
    ForfeitWin,
    /// Lost without play.
    ForfeitLoss,
    /// A bye.
    Bye(ByeKind),
}

impl TrfTournament {
    /// Points before a round, in half points of the tournament's system.
    #[must_use]
    pub fn points_before(&self, rank: u32, round: u32) -> u32 {
        let Some(player) = self.players.get(&rank) else { return 0 };
        let [win, draw, loss] = self.points;
        player
            .games
            .iter()
            .take(round.saturating_sub(1) as usize)
            .flatten()
            .map(|game| match game.outcome {
                TrfOutcome::Win
                | TrfOutcome::ForfeitWin
                | TrfOutcome::Bye(ByeKind::Full | ByeKind::Allocated) => win,
                TrfOutcome::Draw | TrfOutcome::Bye(ByeKind::Half) => draw,
                TrfOutcome::Loss => loss,
                TrfOutcome::ForfeitLoss | TrfOutcome::Bye(ByeKind::Zero) | TrfOutcome::Open => 0,
            })
            .sum()
    }

    /// The round that is to be played: the first with a pairing whose result is open, else the last
    /// that has pairings.
    #[must_use]
    pub fn round_to_play(&self) -> Option<u32> {
        let rounds = self.players.values().map(|player| player.games.len()).max()?;
        let game = |round: usize| {
            self.players.values().filter_map(move |player| player.games.get(round).copied().flatten())
        };
        let open = (0..rounds)
            .find(|round| game(*round).any(|g| g.opponent.is_some() && g.outcome == TrfOutcome::Open));
        open.or_else(|| (0..rounds).rev().find(|round| game(*round).any(|g| g.opponent.is_some())))
            .map(|round| round as u32 + 1)
    }
}

/// A line as columns. Files in UTF-8 count them in letters or in bytes; the second way spreads a letter
/// over as many columns as it has bytes.
struct Columns(Vec<char>);

const FILLER: char = '\u{0}';

impl Columns {
    fn letters(line: &str) -> Self {
        Self(line.chars().collect())
    }

    fn bytes(line: &str) -> Self {
        let spread = |c: char| std::iter::once(c).chain(std::iter::repeat_n(FILLER, c.len_utf8() - 1));
        Self(line.chars().flat_map(spread).collect())
    }

    /// Columns from 1, both included.
    fn get(&self, from: usize, to: usize) -> String {
        let to = to.min(self.0.len());
        let field: String =
            self.0.get(from - 1..to).unwrap_or_default().iter().filter(|c| **c != FILLER).collect();
        field.trim().to_owned()
    }

    fn number(&self, from: usize, to: usize) -> Option<u32> {
        self.get(from, to).parse().ok()
    }
}

/// Reads a tournament file.
///
/// # Errors
/// When it has no players.
pub fn read_trf(bytes: &[u8]) -> Result<(TrfTournament, Vec<ImportNote>), Refused> {
    let decoded = decode(bytes);
    let mut notes = Vec::new();
    if let Some(from) = decoded.from {
        notes.push(ImportNote { line: 1, issue: ImportIssue::Encoding { from } });
    }
    let mut tournament = TrfTournament { points: [2, 1, 0], ..TrfTournament::default() };
    let mut unknown: Vec<String> = Vec::new();
    let text = decoded.text.replace("\r\n", "\n");
    for (number, line) in (1u64..).zip(text.split(['\n', '\r'])) {
        if line.trim().is_empty() || notes.len() > 2000 {
            continue;
        }
        let Some((din, rest)) = line.trim_start_matches('\u{feff}').split_at_checked(3) else { continue };
        let value = (!rest.trim().is_empty()).then(|| rest.trim().to_owned());
        let mut bad = |why: &str| {
            notes.push(ImportNote { line: number, issue: ImportIssue::BadLine { why: why.to_owned() } });
        };
        match din {
            "001" => match player_line(line, number) {
                Ok((rank, player)) => {
                    if tournament.players.contains_key(&rank) {
                        notes.push(ImportNote {
                            line: number,
                            issue: ImportIssue::SameNumber { number: rank },
                        });
                    } else if tournament.players.len() < 20_000 {
                        tournament.players.insert(rank, player);
                    }
                }
                Err(why) => bad(why),
            },
            "012" => tournament.name = value,
            "022" => tournament.city = value,
            "032" => tournament.federation = value,
            "122" => tournament.time_control = value,
            "132" => tournament.dates = dates(line),
            "XXR" | "142" => match rest.trim().parse() {
                Ok(rounds) => tournament.rounds = Some(rounds),
                Err(_) => bad("expected the number of rounds"),
            },
            "013" => tournament.teams.push(team_line(line)),
            "310" => tournament.teams.push(team_line_2026(line)),
            "162" => point_system(rest, &mut tournament.points),
            "BBW" => set_points(rest, &mut tournament.points[0]),
            "BBD" => set_points(rest, &mut tournament.points[1]),
            "BBL" => set_points(rest, &mut tournament.points[2]),
            "240" => match bye_line(line) {
                Some(byes) => tournament.byes.extend(byes),
                None => bad("expected a kind of bye, a round and start ranks"),
            },
            "###" | "042" | "052" | "062" | "072" | "082" | "092" | "102" | "112" | "152" | "172" | "182"
            | "192" | "202" | "222" | "250" | "260" | "299" | "300" | "320" | "330" => {}
            din if din.starts_with("XX") || din.starts_with("BB") => {}
            din => {
                if !unknown.iter().any(|known| known == din) && unknown.len() < 20 {
                    unknown.push(din.to_owned());
                    let issue = ImportIssue::UnknownLine { din: din.to_owned() };
                    notes.push(ImportNote { line: number, issue });
                }
            }
        }
    }
    if tournament.players.is_empty() {
        notes.push(ImportNote { line: 1, issue: ImportIssue::Empty });
        return Err(Refused { reasons: notes });
    }
    for team in &tournament.teams {
        for rank in &team.members {
            if let Some(player) = tournament.players.get_mut(rank) {
                player.player.team = Some(team.name.clone());
            }
        }
    }
    Ok((tournament, notes))
}

fn player_line(line: &str, number: u64) -> Result<(u32, TrfPlayer), &'static str> {
    // Rating, points and the first opponent stand where columns are counted rightly.
    let fits = |columns: &Columns| {
        let numeric = |from, to| {
            let field = columns.get(from, to);
            field.is_empty() || field.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
        };
        numeric(49, 52) && numeric(81, 84) && numeric(86, 89) && numeric(92, 95)
    };
    let mut columns = Columns::letters(line);
    if !fits(&columns) {
        columns = Columns::bytes(line);
        if !fits(&columns) {
            return Err(
                "the columns of a player's line do not fit (rating 49-52, points 81-84, rounds from 92)",
            );
        }
    }
    let rank = columns.number(5, 8).filter(|rank| *rank > 0).ok_or("no start rank in columns 5-8")?;
    let mut player = Player::named(name(&columns.get(15, 47)));
    player.rank = Some(rank);
    player.gender = match columns.get(10, 10).as_str() {
        "m" | "M" => Some('m'),
        "w" | "W" | "f" | "F" => Some('w'),
        _ => None,
    };
    player.title = title(&columns.get(11, 13));
    player.rating = columns.number(49, 52).filter(|rating| *rating > 0);
    player.federation = Some(columns.get(54, 56)).filter(|fed| fed.len() == 3);
    player.fide_id = columns.number(58, 68).filter(|id| *id > 0);
    let mut games = Vec::new();
    let width = columns.0.len();
    let mut from = 92;
    while from <= width && games.len() < 100 {
        games.push(game(&columns, from)?);
        from += 10;
    }
    while games.last().is_some_and(Option::is_none) {
        games.pop();
    }
    Ok((rank, TrfPlayer { line: number, player, games }))
}

fn game(columns: &Columns, from: usize) -> Result<Option<TrfGame>, &'static str> {
    let opponent = columns.get(from, from + 3);
    let colour = columns.get(from + 5, from + 5);
    let result = columns.get(from + 7, from + 7);
    if opponent.is_empty() && colour.is_empty() && result.is_empty() {
        return Ok(None);
    }
    let opponent = match opponent.as_str() {
        "" | "0000" | "0" | "-" => None,
        number => Some(number.parse().map_err(|_| "an opponent is no number")?),
    };
    let white = match colour.as_str() {
        "w" | "W" => Some(true),
        "b" | "B" | "s" => Some(false),
        _ => None,
    };
    let outcome = match (result.as_str(), opponent) {
        ("1" | "W" | "w", Some(_)) => TrfOutcome::Win,
        ("=" | "D" | "d", _) if opponent.is_some() => TrfOutcome::Draw,
        ("0" | "L" | "l", Some(_)) => TrfOutcome::Loss,
        ("+", Some(_)) => TrfOutcome::ForfeitWin,
        ("-", Some(_)) => TrfOutcome::ForfeitLoss,
        ("", Some(_)) => TrfOutcome::Open,
        ("H" | "h" | "=", _) => TrfOutcome::Bye(ByeKind::Half),
        ("F" | "f" | "1", _) => TrfOutcome::Bye(ByeKind::Full),
        ("U" | "u" | "+", _) => TrfOutcome::Bye(ByeKind::Allocated),
        ("Z" | "z" | "-" | "0" | "", _) => TrfOutcome::Bye(ByeKind::Zero),
        _ => return Err("a result is none of 1 0 = W D L + - H F U Z"),
    };
    Ok(Some(TrfGame { opponent, white, outcome }))
}

/// `Last,First` as lists write it.
fn name(field: &str) -> String {
    match field.split_once(',') {
        Some((last, first)) if !first.trim().is_empty() => format!("{}, {}", last.trim(), first.trim()),
        _ => field.trim().trim_end_matches(',').split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

fn title(field: &str) -> Option<String> {
    let upper = field.to_ascii_uppercase();
    let full = match upper.as_str() {
        "G" => "GM",
        "M" => "IM",
        "F" => "FM",
        "C" => "CM",
        "WG" => "WGM",
        "WM" => "WIM",
        "WF" => "WFM",
        "WC" => "WCM",
        "GM" | "IM" | "FM" | "CM" | "WGM" | "WIM" | "WFM" | "WCM" => return Some(upper),
        _ => return None,
    };
    Some(full.to_owned())
}

fn dates(line: &str) -> Vec<Option<String>> {
    let columns = Columns::letters(line);
    let mut dates = Vec::new();
    let mut from = 92;
    while from <= columns.0.len() && dates.len() < 100 {
        let field = columns.get(from, from + 9);
        let numbers: Vec<u32> =
            field.split(['/', '.', '-']).filter_map(|part| part.trim().parse().ok()).collect();
        dates.push(match numbers.as_slice() {
            &[year, month @ 1..=12, day @ 1..=31] => {
                let year = if year < 100 { 2000 + year } else { year };
                Some(format!("{year:04}-{month:02}-{day:02}"))
            }
            _ => None,
        });
        from += 10;
    }
    dates
}

fn team_line(line: &str) -> Team {
    let columns = Columns::letters(line);
    let mut members = Vec::new();
    let mut from = 37;
    while from <= columns.0.len() && members.len() < 100 {
        members.extend(columns.number(from, from + 3).filter(|rank| *rank > 0));
        from += 5;
    }
    Team { name: columns.get(5, 36), members, ..Team::default() }
}

/// TRF-2026 has more columns between the name and the players.
fn team_line_2026(line: &str) -> Team {
    let columns = Columns::letters(line);
    let members = columns.get(73, columns.0.len().max(73));
    let members =
        members.split_whitespace().filter_map(|rank| rank.parse().ok()).filter(|rank| *rank > 0).collect();
    Team { name: columns.get(9, 40), members, ..Team::default() }
}

/// Pairs of a letter and a value such as `W 1.0`.
fn point_system(rest: &str, points: &mut [u32; 3]) {
    let mut slot = None;
    for word in rest.split_whitespace() {
        let (letter, value) = match word.chars().next() {
            Some(c) if c.is_ascii_alphabetic() => (Some(c), &word[1..]),
            _ => (None, word),
        };
        if let Some(letter) = letter {
            slot = match letter {
                'W' => Some(0),
                'D' => Some(1),
                'L' => Some(2),
                _ => None,
            };
        }
        if let (Some(slot), false) = (slot, value.is_empty()) {
            set_points(value, &mut points[slot]);
        }
    }
}

fn set_points(text: &str, points: &mut u32) {
    if let Ok(value) = text.trim().trim_start_matches(['=', ':']).parse::<f64>()
        && (0.0..100.0).contains(&value)
    {
        *points = (value * 2.0).round() as u32;
    }
}

fn bye_line(line: &str) -> Option<Vec<(u32, ByeKind, u32)>> {
    let columns = Columns::letters(line);
    let kind = match columns.get(5, 5).as_str() {
        "F" => ByeKind::Full,
        "H" => ByeKind::Half,
        "Z" => ByeKind::Zero,
        "U" | "P" => ByeKind::Allocated,
        _ => return None,
    };
    let round = columns.number(7, 9)?;
    let ranks = columns.get(10, columns.0.len().max(10));
    let ranks: Option<Vec<u32>> = ranks.split_whitespace().map(|rank| rank.parse().ok()).collect();
    Some(ranks?.into_iter().take(1000).map(|rank| (round, kind, rank)).collect())
}
