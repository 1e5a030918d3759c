//! One round out of a TRF: who plays whom, at which board, who has a bye.

use super::{
    ImportIssue, ImportNote, ImportOptions, Imported, PairList, Refused, RoundDraft, is_bye_name,
    trf::{TrfGame, TrfOutcome, TrfTournament, read_trf},
};
use crate::{
    event::{Bye, ByeKind, Pairing, TimeControl},
    record::GameResult,
};

pub(super) fn import_trf(bytes: &[u8], options: &ImportOptions) -> Result<Imported, Refused> {
    let (tournament, mut notes) = read_trf(bytes)?;
    let refuse = |notes: &mut Vec<ImportNote>, issue| {
        notes.push(ImportNote { line: 1, issue });
        Err(Refused { reasons: std::mem::take(notes) })
    };
    let Some(round) = options.round.or_else(|| tournament.round_to_play()) else {
        return refuse(&mut notes, ImportIssue::Empty);
    };
    let mut games = games_of(&tournament, round, &mut notes);
    if games.is_empty() {
        let known = tournament.round_to_play().is_some_and(|last| round > last);
        let issue = if known { ImportIssue::RoundMissing { round } } else { ImportIssue::Empty };
        return refuse(&mut notes, issue);
    }
    order_boards(&tournament, round, options.pair_list.as_ref(), &mut games, &mut notes);
    let player =
        |rank: &u32| tournament.players.get(rank).map(|player| player.player.clone()).unwrap_or_default();
    let mut pairings: Vec<Pairing> = (1..)
        .zip(&games)
        .map(|(board, (white, black, result))| Pairing {
            board,
            white: player(white),
            black: player(black),
            result: *result,
            ..Pairing::default()
        })
        .collect();
    super::pgn::number_matches(&mut pairings);
    let time_control =
        match tournament.time_control.as_deref().map(|text| (text, text.parse::<TimeControl>())) {
            Some((_, Ok(tc))) => Some(tc),
            Some((text, Err(_))) => {
                notes
                    .push(ImportNote { line: 1, issue: ImportIssue::TimeControl { found: text.to_owned() } });
                None
            }
            None => None,
        };
    let draft = RoundDraft {
        event: tournament.name.clone(),
        site: tournament.city.clone(),
        round: Some(round),
        date: tournament.dates.get(round as usize - 1).cloned().flatten(),
        time_control,
        byes: byes_of(&tournament, round),
        teams: tournament.teams,
        pairings,
    };
    Ok(Imported { draft, notes })
}

/// Start ranks of White and Black, and the result.
type Paired = (u32, u32, Option<GameResult>);

/// A TRF has no board order: it comes from the list of pairs, or from scores and ranks.
fn order_boards(
    tournament: &TrfTournament,
    round: u32,
    list: Option<&PairList>,
    games: &mut Vec<Paired>,
    notes: &mut Vec<ImportNote>,
) {
    let Some(list) = list else {
        games.sort_by_key(|&(white, black, _)| {
            let (a, b) = (tournament.points_before(white, round), tournament.points_before(black, round));
            (std::cmp::Reverse(a.max(b)), std::cmp::Reverse(a + b), white.min(black))
        });
        notes.push(ImportNote { line: 1, issue: ImportIssue::BoardOrderGuessed });
        return;
    };
    for &(white, black) in list.pairs.iter().filter(|(white, black)| *white != 0 && *black != 0) {
        if games.iter().any(|game| (game.0, game.1) == (white, black)) {
            continue;
        }
        notes.push(ImportNote { line: 1, issue: ImportIssue::PairNotInFile { white, black } });
        // The list is what the pairing program said last.
        if tournament.players.contains_key(&white) && tournament.players.contains_key(&black) {
            games.push((white, black, None));
        }
    }
    games.sort_by_key(|game| {
        list.pairs.iter().position(|pair| *pair == (game.0, game.1)).unwrap_or(usize::MAX)
    });
}

/// White, Black and result of each game of a round; every disagreement of the two lines is a note.
fn games_of(
    tournament: &TrfTournament,
    round: u32,
    notes: &mut Vec<ImportNote>,
) -> Vec<(u32, u32, Option<GameResult>)> {
    let of = |rank: u32| {
        let player = tournament.players.get(&rank)?;
        player.games.get(round.checked_sub(1)? as usize).copied().flatten()
    };
    let mut games: Vec<(u32, u32, Option<GameResult>)> = Vec::new();
    for (&rank, player) in &tournament.players {
        let Some(game) = of(rank) else { continue };
        let Some(opponent) = game.opponent else { continue };
        if games.iter().any(|&(white, black, _)| white == rank || black == rank) {
            continue;
        }
        let line = player.line;
        if !tournament.players.contains_key(&opponent) || opponent == rank {
            let issue = ImportIssue::NoSuchPlayer { number: opponent, by: rank };
            notes.push(ImportNote { line, issue });
            continue;
        }
        let other = of(opponent);
        let white_here = game.white.or_else(|| other.and_then(|other| other.white).map(|white| !white));
        let (white, black) = if white_here == Some(false) { (opponent, rank) } else { (rank, opponent) };
        let agree = other.is_some_and(|other| {
            other.opponent == Some(rank)
                && (other.white.is_none() || game.white.is_none() || other.white != game.white)
        });
        if !agree {
            notes.push(ImportNote { line, issue: ImportIssue::OneSided { white, black, round } });
        }
        let result = result_of(game.outcome, other.map(|other| other.outcome));
        let result = if white == rank { result } else { result.map(turned) };
        games.push((white, black, result));
    }
    games
}

/// From the first player's side.
fn result_of(own: TrfOutcome, other: Option<TrfOutcome>) -> Option<GameResult> {
    use TrfOutcome as O;
    Some(match (own, other) {
        (O::Open | O::Bye(_), _) => return None,
        (O::Win, _) => GameResult::WhiteWins,
        (O::Loss, Some(O::Loss)) => GameResult::BothLose,
        (O::Draw, Some(O::Loss)) => GameResult::HalfZero,
        (O::Loss, Some(O::Draw)) => GameResult::ZeroHalf,
        (O::Loss, _) => GameResult::BlackWins,
        (O::Draw, _) => GameResult::Draw,
        (O::ForfeitWin, _) => GameResult::WhiteForfeit,
        (O::ForfeitLoss, Some(O::ForfeitLoss)) => GameResult::BothForfeit,
        (O::ForfeitLoss, _) => GameResult::BlackForfeit,
    })
}

/// The same result with the colours turned.
fn turned(result: GameResult) -> GameResult {
    use GameResult as R;
    match result {
        R::WhiteWins => R::BlackWins,
        R::BlackWins => R::WhiteWins,
        R::WhiteForfeit => R::BlackForfeit,
        R::BlackForfeit => R::WhiteForfeit,
        R::HalfZero => R::ZeroHalf,
        R::ZeroHalf => R::HalfZero,
        same => same,
    }
}

fn byes_of(tournament: &TrfTournament, round: u32) -> Vec<Bye> {
    let mut byes: Vec<(u32, ByeKind)> = Vec::new();
    for (&rank, player) in &tournament.players {
        let game = player.games.get(round as usize - 1).copied().flatten();
        if let Some(TrfGame { outcome: TrfOutcome::Bye(kind), opponent: None, .. }) = game {
            byes.push((rank, kind));
        }
    }
    for &(of, kind, rank) in &tournament.byes {
        if of == round && !byes.iter().any(|(known, _)| *known == rank) {
            byes.push((rank, kind));
        }
    }
    byes.into_iter()
        .filter_map(|(rank, kind)| {
            let player = tournament.players.get(&rank)?.player.clone();
            (!is_bye_name(&player.name)).then_some(Bye { player, kind })
        })
        .collect()
}
