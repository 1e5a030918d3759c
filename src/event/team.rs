//! Team matches (Russian rules, arts. 19 to 23): colours by board, scores, and what stands in the match
//! protocol and in the summary of a round. How a protocol looks is the pages' business.

use serde::Serialize;
use shakmaty::{ByColor, Color};

use super::{Event, Pairing, Round, Section};
use crate::record::GameResult;

/// Half points of White and Black; `None` while there is no score.
#[must_use]
pub fn half_points(result: GameResult) -> Option<ByColor<u32>> {
    use GameResult as R;
    let (white, black) = match result {
        R::WhiteWins | R::WhiteForfeit => (2, 0),
        R::BlackWins | R::BlackForfeit => (0, 2),
        R::Draw => (1, 1),
        R::BothForfeit | R::BothLose => (0, 0),
        R::HalfZero => (1, 0),
        R::ZeroHalf => (0, 1),
        R::Adjourned => return None,
    };
    Some(ByColor { white, black })
}

/// Half points as people write them: `2½`, `0`, `½`.
#[must_use]
pub fn points_text(half_points: u32) -> String {
    match (half_points / 2, half_points % 2) {
        (whole, 0) => whole.to_string(),
        (0, _) => "½".to_owned(),
        (whole, _) => format!("{whole}½"),
    }
}

/// The colour of the team named first on a board of the match, from 1: White on the odd ones.
#[must_use]
pub fn first_team_colour(board: u32) -> Color {
    Color::from_white(board % 2 == 1)
}

/// One board of a match protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProtocolBoard {
    /// In the match, from 1.
    pub board: u32,
    /// In the round.
    pub round_board: u32,
    /// Names of the players, of the team named first and of the other.
    pub players: [String; 2],
    /// Their ratings.
    pub ratings: [Option<u32>; 2],
    /// The player of the team named first has White.
    pub first_has_white: bool,
    /// The colours are not those of the rule.
    pub colours_wrong: bool,
    /// Points, as text; empty while there are none.
    pub points: [String; 2],
    /// Won or lost without play.
    pub forfeit: bool,
}

/// The protocol of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MatchProtocol {
    /// The event.
    pub event: String,
    /// The section.
    pub section: String,
    /// The round.
    pub round: u32,
    /// Day of play, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Number of the match in the round.
    pub number: u32,
    /// The team named first, and the other.
    pub teams: [String; 2],
    /// Their captains, who sign.
    pub captains: [Option<String>; 2],
    /// The chief arbiter, who signs.
    pub chief_arbiter: Option<String>,
    /// By boards.
    pub boards: Vec<ProtocolBoard>,
    /// The score so far, as text.
    pub score: [String; 2],
    /// All boards have a result.
    pub complete: bool,
}

/// The protocols of all matches of a round, in order. Results of running games come from `result`,
/// by the pairing; the pairing's own is the fall-back.
#[must_use]
pub fn match_protocols(
    event: &Event,
    section: &Section,
    round: &Round,
    result: impl Fn(&Pairing) -> Option<GameResult>,
) -> Vec<MatchProtocol> {
    let mut numbers: Vec<u32> = round.pairings.iter().filter_map(|pairing| pairing.match_number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
        .into_iter()
        .filter_map(|number| {
            let mut pairings: Vec<&Pairing> =
                round.pairings.iter().filter(|pairing| pairing.match_number == Some(number)).collect();
            pairings.sort_by_key(|pairing| pairing.board);
            let opening = pairings.first()?;
            // White on board 1 belongs to the team named first.
            let teams = [opening.white.team.clone()?, opening.black.team.clone()?];
            let captain = |name: &String| {
                section.teams.iter().find(|team| team.name == *name).and_then(|team| team.captain.clone())
            };
            let mut totals = [0, 0];
            let mut complete = true;
            let mut boards = Vec::new();
            for (board, pairing) in (1u32..).zip(&pairings) {
                let first_has_white = pairing.white.team.as_ref() == Some(&teams[0]);
                let [first, second] = if first_has_white {
                    [&pairing.white, &pairing.black]
                } else {
                    [&pairing.black, &pairing.white]
                };
                let result = result(pairing).or(pairing.result);
                let points = result.and_then(half_points);
                complete &= points.is_some();
                let points = points.map(|points| {
                    let points = if first_has_white {
                        [points.white, points.black]
                    } else {
                        [points.black, points.white]
                    };
                    totals[0] += points[0];
                    totals[1] += points[1];
                    points
                });
                boards.push(ProtocolBoard {
                    board,
                    round_board: pairing.board,
                    players: [first.name.clone(), second.name.clone()],
                    ratings: [first.rating, second.rating],
                    first_has_white,
                    colours_wrong: first_has_white != first_team_colour(board).is_white(),
                    points: points.map_or_else(Default::default, |points| points.map(points_text)),
                    forfeit: matches!(
                        result,
                        Some(GameResult::WhiteForfeit | GameResult::BlackForfeit | GameResult::BothForfeit)
                    ),
                });
            }
            Some(MatchProtocol {
                event: event.name.clone(),
                section: section.name.clone(),
                round: round.number,
                date: round.date.clone(),
                number,
                captains: [captain(&teams[0]), captain(&teams[1])],
                chief_arbiter: event.chief_arbiter.clone(),
                teams,
                boards,
                score: totals.map(points_text),
                complete,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Player, Team};

    fn pairing(board: u32, white: (&str, &str), black: (&str, &str), result: Option<GameResult>) -> Pairing {
        let player =
            |(name, team): (&str, &str)| Player { team: Some(team.to_owned()), ..Player::named(name) };
        Pairing {
            board,
            white: player(white),
            black: player(black),
            result,
            match_number: Some(1),
            ..Pairing::default()
        }
    }

    #[test]
    fn a_match_is_scored_for_the_team_named_first_and_wrong_colours_show() {
        let round = Round {
            number: 3,
            pairings: vec![
                pairing(5, ("A1", "Red"), ("B1", "Blue"), Some(GameResult::WhiteWins)),
                pairing(6, ("B2", "Blue"), ("A2", "Red"), Some(GameResult::Draw)),
                pairing(7, ("B3", "Blue"), ("A3", "Red"), Some(GameResult::BlackForfeit)),
                pairing(8, ("B4", "Blue"), ("A4", "Red"), None),
            ],
            ..Round::default()
        };
        let red = Team { name: "Red".to_owned(), captain: Some("Cap".to_owned()), members: vec![] };
        let section = Section { teams: vec![red], ..Section::default() };
        let [protocol] = match_protocols(&Event::default(), &section, &round, |_| None).try_into().unwrap();
        assert_eq!(protocol.teams, ["Red", "Blue"]);
        assert_eq!(protocol.score, ["2½", "½"]);
        assert_eq!(protocol.captains, [Some("Cap".to_owned()), None]);
        assert!(!protocol.complete);
        let wrong: Vec<bool> = protocol.boards.iter().map(|board| board.colours_wrong).collect();
        assert_eq!(wrong, [false, false, true, false]);
        assert_eq!(protocol.boards[2].points, ["1", "0"]);
        assert!(protocol.boards[2].forfeit);
        let all = match_protocols(&Event::default(), &section, &round, |_| Some(GameResult::HalfZero));
        assert!(all[0].complete);
        assert_eq!(all[0].score, ["½", "1½"]);
    }
}
