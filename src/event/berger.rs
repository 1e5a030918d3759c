//! Berger tables: round robins for 3 to 24 players (the rules of competitions, table of pairings for all-play-all).

/// A game of a round robin: numbers of White and Black from the drawing of lots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BergerGame {
    /// White's number.
    pub white: u32,
    /// Black's number.
    pub black: u32,
}

/// A round: its games in board order, and who is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BergerRound {
    /// In the order of the table.
    pub games: Vec<BergerGame>,
    /// With an odd number of players, who does not play.
    pub free: Option<u32>,
}

/// The table for so many players; `None` outside 3 to 24.
///
/// In each round one player meets the highest number, with White in odd rounds; the others pair up
/// around him: those after him, cyclically, have White against those before him. That player moves
/// on by half the field each round.
#[must_use]
pub fn berger(players: u32) -> Option<Vec<BergerRound>> {
    if !(3..=24).contains(&players) {
        return None;
    }
    let even = players + players % 2;
    let cycle = even - 1;
    let rounds = (0..cycle).map(|round| {
        let turning = round * (even / 2) % cycle;
        // Numbers from 1, around the cycle of all but the highest.
        let number = |offset: u32| (turning + cycle + offset) % cycle + 1;
        let top = match round % 2 {
            0 => BergerGame { white: number(0), black: even },
            _ => BergerGame { white: even, black: number(0) },
        };
        let around = (1..even / 2).map(|k| BergerGame { white: number(k), black: number(cycle - k) });
        let mut games: Vec<BergerGame> = std::iter::once(top).chain(around).collect();
        let free = (even != players).then(|| number(0));
        if free.is_some() {
            games.remove(0);
        }
        BergerRound { games, free }
    });
    Some(rounds.collect())
}

/// A double round robin: the second cycle with colours reversed. The last two rounds of the first
/// cycle are swapped, so that nobody has one colour three times running.
#[must_use]
pub fn double_berger(players: u32) -> Option<Vec<BergerRound>> {
    let mut first = berger(players)?;
    let second: Vec<BergerRound> = first
        .iter()
        .map(|round| BergerRound {
            games: round
                .games
                .iter()
                .map(|game| BergerGame { white: game.black, black: game.white })
                .collect(),
            free: round.free,
        })
        .collect();
    let last = first.len() - 1;
    first.swap(last - 1, last);
    first.extend(second);
    Some(first)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn table(players: u32) -> Vec<String> {
        let round = |round: &BergerRound| {
            round
                .games
                .iter()
                .map(|game| format!("{}-{}", game.white, game.black))
                .collect::<Vec<_>>()
                .join(" ")
        };
        berger(players).unwrap().iter().map(round).collect()
    }

    #[test]
    fn the_tables_of_the_rules() {
        assert_eq!(table(4), ["1-4 2-3", "4-3 1-2", "2-4 3-1"]);
        assert_eq!(table(6), ["1-6 2-5 3-4", "6-4 5-3 1-2", "2-6 3-1 4-5", "6-5 1-4 2-3", "3-6 4-2 5-1"]);
        assert_eq!(
            table(8),
            [
                "1-8 2-7 3-6 4-5",
                "8-5 6-4 7-3 1-2",
                "2-8 3-1 4-7 5-6",
                "8-6 7-5 1-4 2-3",
                "3-8 4-2 5-1 6-7",
                "8-7 1-6 2-5 3-4",
                "4-8 5-3 6-2 7-1"
            ]
        );
        assert_eq!(table(10)[..3], ["1-10 2-9 3-8 4-7 5-6", "10-6 7-5 8-4 9-3 1-2", "2-10 3-1 4-9 5-8 6-7"]);
        assert_eq!(table(14)[12], "7-14 8-6 9-5 10-4 11-3 12-2 13-1");
        assert_eq!(table(5), ["2-5 3-4", "5-3 1-2", "3-1 4-5", "1-4 2-3", "4-2 5-1"]);
    }

    /// The rule arbiters know by heart, which needs no table: two numbers meet in the round that is their
    /// sum less one, counted around; an odd sum gives White to the smaller number, an even one to the
    /// larger; the highest number has Black against the lower half.
    #[test]
    fn the_tables_follow_the_rule_of_sums_for_3_to_24_players() {
        for players in 3..=24u32 {
            let even = players + players % 2;
            let rounds = berger(players).unwrap();
            assert_eq!(rounds.len() as u32, even - 1);
            for (round, found) in (1..).zip(&rounds) {
                let mut wanted = HashSet::new();
                for low in 1..=even {
                    for high in low + 1..=even {
                        let sum = if high == even { 2 * low } else { low + high };
                        if (sum - 2) % (even - 1) + 1 != round {
                            continue;
                        }
                        let low_is_white = if high == even { low <= even / 2 } else { sum % 2 == 1 };
                        let (white, black) = if low_is_white { (low, high) } else { (high, low) };
                        if players == even || high != even {
                            wanted.insert(BergerGame { white, black });
                        } else {
                            assert_eq!(found.free, Some(low), "{players} players, round {round}");
                        }
                    }
                }
                let games: HashSet<BergerGame> = found.games.iter().copied().collect();
                assert_eq!(games, wanted, "{players} players, round {round}");
            }
        }
    }

    #[test]
    fn everybody_meets_everybody_once_with_colours_in_balance() {
        assert!(berger(2).is_none() && berger(25).is_none());
        for players in 3..=24 {
            let rounds = berger(players).unwrap();
            let mut met = HashSet::new();
            let mut whites = vec![0i32; players as usize + 1];
            for round in &rounds {
                let mut seen = HashSet::new();
                for game in &round.games {
                    assert!(seen.insert(game.white) && seen.insert(game.black), "{players}");
                    assert!(met.insert((game.white.min(game.black), game.white.max(game.black))));
                    whites[game.white as usize] += 1;
                    whites[game.black as usize] -= 1;
                }
                seen.extend(round.free);
                assert_eq!(seen, (1..=players).collect(), "{players}");
            }
            assert_eq!(met.len() as u32, players * (players - 1) / 2);
            let allowed = i32::from(players % 2 == 0);
            assert!(whites[1..].iter().all(|balance| balance.abs() <= allowed), "{players}: {whites:?}");
        }
    }

    #[test]
    fn a_double_round_has_no_colour_three_times_running() {
        for players in [4, 6, 8, 10] {
            let rounds = double_berger(players).unwrap();
            for player in 1..=players {
                let colours: Vec<bool> = rounds
                    .iter()
                    .flat_map(|round| &round.games)
                    .filter(|game| game.white == player || game.black == player)
                    .map(|game| game.white == player)
                    .collect();
                assert!(
                    colours.windows(3).all(|three| three != [true; 3] && three != [false; 3]),
                    "{players}"
                );
            }
        }
    }
}
