//! PGN with empty games, as Swiss-Manager, Vega and LiveChess write a round.

use std::{collections::HashMap, ops::ControlFlow};

use super::{ImportIssue, ImportNote, ImportOptions, Imported, Refused, RoundDraft, is_bye_name};
use crate::{
    event::{Bye, ByeKind, Pairing, Player, Team, TimeControl},
    record::{
        Game, Position, Tags,
        pgn::{decode, read_game, visit},
    },
};

/// Titles that lists know.
const TITLES: [&str; 11] = ["GM", "IM", "FM", "CM", "WGM", "WIM", "WFM", "WCM", "NM", "WNM", "BOT"];

/// Notes listed at most.
const NOTES_MAX: usize = 2000;

pub(super) fn import_pgn(bytes: &[u8], options: &ImportOptions) -> Result<Imported, Refused> {
    let mut notes = Vec::new();
    let mut games = Vec::new();
    let decoded = decode(bytes);
    if let Some(from) = decoded.from {
        notes.push(ImportNote { line: 1, issue: ImportIssue::Encoding { from } });
    }
    let visited = visit(decoded.text.as_bytes(), |raw| {
        match read_game(raw) {
            // The rest of a game that an illegal move cut; its pairing stands already.
            Ok((game, _)) if game.tags.get("Segment").is_some() => {}
            Ok((game, repairs)) => {
                // What is wrong with the moves does not matter: they are left out.
                notes.extend(repairs.iter().filter(|repair| repair.ply.is_none()).map(ImportNote::from));
                games.push((raw.line, game));
            }
            Err(refusal) => notes.push(ImportNote::from(&refusal)),
        }
        if notes.len() > NOTES_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if let Err(error) = visited {
        return Err(Refused::one(1, ImportIssue::BadLine { why: error.to_string() }));
    }
    games.retain(|(line, game)| {
        let named = game.tags.get("White").is_some() || game.tags.get("Black").is_some();
        if !named {
            notes.push(ImportNote { line: *line, issue: ImportIssue::NoNames });
        }
        named
    });
    let games = choose_round(games, options)?;
    if games.is_empty() {
        notes.push(ImportNote { line: 1, issue: ImportIssue::Empty });
        return Err(Refused { reasons: notes });
    }
    let mut importer = Importer { notes, draft: RoundDraft::default() };
    importer.head(&games[0].1.tags, games[0].0);
    let mut numbers = Vec::new();
    for (line, game) in &games {
        importer.game(*line, game, &mut numbers);
    }
    importer.number_boards(&numbers, games[0].0);
    importer.check(&games);
    let Importer { mut notes, mut draft } = importer;
    notes.sort_by_key(|note| note.line);
    draft.teams = number_matches(&mut draft.pairings);
    if draft.pairings.is_empty() {
        notes.push(ImportNote { line: 1, issue: ImportIssue::Empty });
        return Err(Refused { reasons: notes });
    }
    Ok(Imported { draft, notes })
}

/// `5` or `5.12`: the round, and the board.
fn round_of(tags: &Tags) -> (Option<u32>, Option<u32>) {
    let mut parts = tags.get("Round").unwrap_or_default().trim().splitn(2, '.');
    let number =
        |part: Option<&str>| part.and_then(|part| part.trim().parse::<u32>().ok()).filter(|n| *n > 0);
    (number(parts.next()), number(parts.next()))
}

fn choose_round(mut games: Vec<(u64, Game)>, options: &ImportOptions) -> Result<Vec<(u64, Game)>, Refused> {
    let mut rounds: Vec<u32> = games.iter().filter_map(|(_, game)| round_of(&game.tags).0).collect();
    rounds.sort_unstable();
    rounds.dedup();
    match options.round {
        Some(round) if !rounds.is_empty() && !rounds.contains(&round) => {
            Err(Refused::one(1, ImportIssue::RoundMissing { round }))
        }
        Some(round) if !rounds.is_empty() => {
            games.retain(|(_, game)| round_of(&game.tags).0 == Some(round));
            Ok(games)
        }
        None if rounds.len() > 1 => {
            let line = games
                .iter()
                .find(|(_, game)| round_of(&game.tags).0 != rounds.first().copied())
                .map_or(1, |(line, _)| *line);
            Err(Refused::one(line, ImportIssue::SeveralRounds { rounds }))
        }
        _ => Ok(games),
    }
}

struct Importer {
    notes: Vec<ImportNote>,
    draft: RoundDraft,
}

impl Importer {
    fn note(&mut self, line: u64, issue: ImportIssue) {
        if self.notes.len() < NOTES_MAX {
            self.notes.push(ImportNote { line, issue });
        }
    }

    /// A tag's value, unless it stands for "not known".
    fn known(&mut self, tags: &Tags, name: &str, line: u64) -> Option<String> {
        let value = tags.get(name)?.trim();
        match value {
            "" | "?" => None,
            "-" | "--" | "0" | "*" | "n/a" => {
                self.note(line, ImportIssue::Unknown { field: name.to_owned(), found: value.to_owned() });
                None
            }
            value => Some(value.to_owned()),
        }
    }

    fn head(&mut self, tags: &Tags, line: u64) {
        self.draft.event = self.known(tags, "Event", line);
        self.draft.site = self.known(tags, "Site", line);
        self.draft.round = round_of(tags).0;
        self.draft.date = self.date(tags, line);
        if let Some(text) = tags.get("TimeControl").filter(|text| !matches!(text.trim(), "" | "?" | "-")) {
            match text.parse::<TimeControl>() {
                Ok(tc) => self.draft.time_control = Some(tc),
                Err(_) => self.note(line, ImportIssue::TimeControl { found: text.to_owned() }),
            }
        }
    }

    fn date(&mut self, tags: &Tags, line: u64) -> Option<String> {
        let date = tags.get("Date")?.trim().replace(['-', '/'], ".");
        if date.is_empty() || date.contains('?') {
            return None;
        }
        let parts: Vec<&str> = date.split('.').collect();
        let numbers: Vec<u32> = parts.iter().filter_map(|part| part.parse().ok()).collect();
        let (year, month, day) = match (numbers.as_slice(), parts.as_slice()) {
            (&[year, month, day], [first, ..]) if first.len() == 4 => (year, month, day),
            // Day first, as some lists write it.
            (&[day, month, year], [.., last]) if last.len() == 4 => (year, month, day),
            _ => {
                self.note(line, ImportIssue::BadValue { field: "Date".to_owned(), found: date });
                return None;
            }
        };
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            self.note(line, ImportIssue::BadValue { field: "Date".to_owned(), found: date });
            return None;
        }
        Some(format!("{year:04}-{month:02}-{day:02}"))
    }

    fn game(&mut self, line: u64, game: &Game, numbers: &mut Vec<Option<u32>>) {
        let tags = &game.tags;
        let white = self.player(tags, "White", line);
        let black = self.player(tags, "Black", line);
        match (is_bye_name(&white.name), is_bye_name(&black.name)) {
            (true, true) => return self.note(line, ImportIssue::NoNames),
            (false, false) => {}
            (no_white, _) => {
                let player = if no_white { black } else { white };
                self.note(line, ImportIssue::Bye { player: player.name.clone() });
                self.draft.byes.push(Bye { player, kind: ByeKind::Allocated });
                return;
            }
        }
        let again = self.draft.pairings.iter().any(|p| p.white.is_same(&white) && p.black.is_same(&black));
        if again {
            return self.note(line, ImportIssue::Duplicate { white: white.name, black: black.name });
        }
        let board = self.draft.pairings.len() as u32 + 1;
        if !game.plies.is_empty() {
            self.note(line, ImportIssue::MovesLeftOut { board, plies: game.plies.len() });
        }
        let tag =
            tags.get("Board").and_then(|board| board.trim().parse::<u32>().ok()).filter(|board| *board > 0);
        numbers.push(tag.or(round_of(tags).1));
        self.draft.pairings.push(Pairing {
            board,
            white,
            black,
            game_id: tags.get("GameId").unwrap_or_default().trim().to_owned(),
            result: game.result.map(|(result, ..)| result),
            start: (game.start != Position::default()).then(|| game.start.clone()),
            ..Pairing::default()
        });
    }

    fn player(&mut self, tags: &Tags, side: &str, line: u64) -> Player {
        let name = tags.get(side).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        let mut player = Player::named(name);
        let mut known = |name: &str| {
            let name = format!("{side}{name}");
            let value = self.known(tags, &name, line);
            value.map(|value| (name, value))
        };
        let title = known("Title");
        let rating = known("Elo");
        let fide_id = known("FideId");
        player.team = known("Team").map(|(_, team)| team);
        player.federation = ["Federation", "Fed", "Country", "FED"]
            .iter()
            .find_map(|name| known(name))
            .map(|(_, federation)| federation)
            .filter(|federation| federation.len() == 3 && federation.bytes().all(|b| b.is_ascii_alphabetic()))
            .map(|federation| federation.to_ascii_uppercase());
        let mut bad = |field: String, found: String| self.note(line, ImportIssue::BadValue { field, found });
        if let Some((field, value)) = title {
            let upper = value.to_ascii_uppercase();
            if TITLES.contains(&upper.as_str()) {
                player.title = Some(upper);
            } else {
                bad(field, value);
            }
        }
        if let Some((field, value)) = rating {
            match value.parse::<u32>() {
                Ok(rating) if rating <= 4000 => player.rating = Some(rating),
                _ => bad(field, value),
            }
        }
        if let Some((field, value)) = fide_id {
            match value.parse::<u32>() {
                Ok(id) if id > 0 => player.fide_id = Some(id),
                _ => bad(field, value),
            }
        }
        player
    }

    /// Board numbers of the file count where every game has its own; else its order.
    fn number_boards(&mut self, numbers: &[Option<u32>], line: u64) {
        let given: Vec<u32> = numbers.iter().copied().flatten().collect();
        if given.is_empty() {
            return;
        }
        let mut sorted = given.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() != self.draft.pairings.len() {
            return self.note(line, ImportIssue::BoardNumbers);
        }
        for (pairing, board) in self.draft.pairings.iter_mut().zip(given) {
            pairing.board = board;
        }
        self.draft.pairings.sort_by_key(|pairing| pairing.board);
    }

    /// Nobody sits at two boards.
    fn check(&mut self, games: &[(u64, Game)]) {
        let mut seats: HashMap<String, u32> = HashMap::new();
        let line = games.last().map_or(1, |(line, _)| *line);
        let mut twice = Vec::new();
        for pairing in &self.draft.pairings {
            for player in [&pairing.white, &pairing.black] {
                let key = player.fide_id.map_or_else(|| player.name.clone(), |id| id.to_string());
                if let Some(other) = seats.insert(key, pairing.board) {
                    let boards = [other, pairing.board];
                    twice.push(ImportIssue::PlaysTwice { player: player.name.clone(), boards });
                }
            }
        }
        for issue in twice {
            self.note(line, issue);
        }
    }
}

/// Numbers the matches by the teams of the boards, in their order; gives the teams.
pub fn number_matches(pairings: &mut [Pairing]) -> Vec<Team> {
    let mut teams: Vec<Team> = Vec::new();
    let mut matches: Vec<[String; 2]> = Vec::new();
    for pairing in pairings {
        let (Some(white), Some(black)) = (pairing.white.team.clone(), pairing.black.team.clone()) else {
            continue;
        };
        for name in [&white, &black] {
            if !teams.iter().any(|team| team.name == *name) {
                teams.push(Team { name: name.clone(), ..Team::default() });
            }
        }
        let known = matches.iter().position(|pair| pair.contains(&white) && pair.contains(&black));
        let number = known.unwrap_or_else(|| {
            matches.push([white, black]);
            matches.len() - 1
        });
        pairing.match_number = Some(number as u32 + 1);
    }
    teams
}
