//! What goes out: nothing younger than the delay, nothing a channel could not take back, and every
//! game at the places that were told to take it.

use std::sync::Arc;

use arbiterd::{
    hall::{TableId, Update, UpdateBody},
    publish::{
        delay::Delay,
        hold::{Hold, HoldPolicy},
    },
    record::{GameResult, PlyState, Timestamp},
    serve::{Feed, feed::Audience},
};
use proptest::prelude::*;

use crate::support::script::{BEGIN, Script};

/// Everything the public could be shown of these updates by `now`: all messages, the snapshot.
fn public_output(updates: &[Update], now: i64) -> String {
    let mut delay = Delay::new(0);
    delay.push(updates);
    let feed = Feed::new(Audience::Public);
    let released = delay.pop(Timestamp::from_millis(now));
    feed.push(&released);
    let mut out: String = released.iter().map(|update| update.to_json(false).to_string()).collect();
    out.push_str(&feed.look(|view| view.snapshot(None).to_string()));
    for game in feed.round_games(1).values() {
        arbiterd::record::pgn::write_game(&game.game, &mut out);
    }
    out
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Ply,
    Clock(u32),
    Sensed,
    Result,
    Delay(u32),
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<(i64, Step)>> {
    let step = prop_oneof![
        4 => Just(Step::Ply),
        4 => (0u32..5400).prop_map(Step::Clock),
        1 => Just(Step::Sensed),
        1 => Just(Step::Result),
        1 => prop_oneof![Just(0u32), Just(5), Just(60), Just(900)].prop_map(Step::Delay),
    ];
    proptest::collection::vec((0i64..20_000, step), 1..40)
}

/// The updates of these steps. From step `twist` on, everything but the orders comes out otherwise.
pub(crate) fn updates(steps: &[(i64, Step)], twist: usize) -> Vec<Update> {
    let mut script = Script::new();
    let mut out = vec![script.round(1, 5), script.game(1, 1)];
    let (knights, rooks) =
        (["g1f3", "g8f6", "f3g1", "f6g8"].iter().cycle(), ["b1c3", "b8c6", "c3b1", "c6b8"].iter().cycle());
    let (mut knights, mut others) = (knights, rooks);
    let mut made = 0;
    for (index, (pause, step)) in steps.iter().enumerate() {
        script.pass(*pause);
        let other = index >= twist;
        match step {
            Step::Ply if other && made % 4 == 0 => {
                out.push(script.moved(1, others.next().expect("endless")));
                // From here on the other knights move.
                std::mem::swap(&mut knights, &mut others);
                made += 1;
            }
            Step::Ply => {
                out.push(script.moved(1, knights.next().expect("endless")));
                made += 1;
            }
            Step::Clock(left) => {
                out.push(script.clock(1, left + u32::from(other), 77, Some(shakmaty::Color::White)));
            }
            Step::Sensed => out.push(script.sensed(1)),
            Step::Result if other => out.push(script.result(1, GameResult::BlackWins)),
            Step::Result => out.push(script.result(1, GameResult::WhiteWins)),
            Step::Delay(seconds) => out.push(script.round(1, *seconds)),
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Two halls that are alike up to a moment look alike to the public until that moment is as old as
    /// the delay has been at any time since, to the last byte.
    #[test]
    fn no_public_byte_depends_on_anything_younger_than_the_delay(
        steps in steps(), twist in 0usize..40, looks in proptest::collection::vec(0i64..2_000_000, 20),
    ) {
        let (one, other) = (updates(&steps, usize::MAX), updates(&steps, twist));
        let differs = one.iter().zip(&other).find(|(a, b)| a.body != b.body).map(|(a, _)| a.at.millis());
        prop_assume!(differs.is_some());
        let differs = differs.unwrap_or_default();
        // When the first different thing may be seen at the earliest.
        let mut orders: Vec<(i64, i64)> = one
            .iter()
            .filter_map(|update| match &update.body {
                UpdateBody::Round(round) => {
                    Some((update.at.millis(), round["delay_seconds"].as_i64()? * 1000))
                }
                _ => None,
            })
            .collect();
        orders.push((i64::MAX, 0));
        let earliest = orders
            .windows(2)
            .map(|pair| (pair[0].0.max(differs + pair[0].1), pair[1].0))
            // What is due in the millisecond of an order is due under the delay before it.
            .filter(|(from, until)| from <= until)
            .map(|(from, _)| from)
            .min()
            .unwrap_or(i64::MAX);
        for look in looks {
            let now = BEGIN + look;
            let known = |all: &[Update]| -> Vec<Update> {
                all.iter().filter(|update| update.at.millis() <= now).cloned().collect()
            };
            if now < earliest {
                prop_assert_eq!(public_output(&known(&one), now), public_output(&known(&other), now));
            }
        }
        // And it is no stricter than that: just before, the same; in the end, everything.
        let just_before = earliest - 1;
        let known = |all: &[Update], now: i64| -> Vec<Update> {
            all.iter().filter(|update| update.at.millis() <= now).cloned().collect()
        };
        prop_assert_eq!(
            public_output(&known(&one, just_before), just_before),
            public_output(&known(&other, just_before), just_before)
        );
        let end = BEGIN + 100_000_000;
        prop_assert_ne!(public_output(&one, end), public_output(&other, end));
    }

    /// However often the queue is asked, the same leaves.
    #[test]
    fn asking_often_or_seldom_makes_no_difference(steps in steps(), pause in 1i64..30_000) {
        let all = updates(&steps, usize::MAX);
        let end = BEGIN + 10_000_000;
        let mut seldom = Delay::new(0);
        seldom.push(&all);
        let seldom = seldom.pop(Timestamp::from_millis(end));
        let mut often = Vec::new();
        let mut delay = Delay::new(0);
        let mut rest = all.as_slice();
        let mut now = BEGIN;
        while now < end {
            let count = rest.iter().take_while(|update| update.at.millis() <= now).count();
            delay.push(&rest[..count]);
            rest = &rest[count..];
            often.extend(delay.pop(Timestamp::from_millis(now)));
            now += if rest.is_empty() && delay.waiting() == 0 { end } else { pause };
        }
        prop_assert_eq!(often, seldom);
    }
}

fn shown(hold: &mut Hold, updates: Vec<Update>) -> Vec<String> {
    hold.pass(updates)
        .into_iter()
        .map(|update| match update.body {
            UpdateBody::Ply { index, ply, replaces } => {
                format!("{}{}{}", if replaces { "=" } else { "" }, index + 1, ply.san)
            }
            UpdateBody::Undo { from } => format!("-{}", from + 1),
            UpdateBody::Result(_) => "result".to_owned(),
            _ => "other".to_owned(),
        })
        .collect()
}

#[test]
fn a_channel_that_cannot_take_back_sees_a_slide_as_one_move() {
    let mut script = Script::new();
    let mut hold = Hold::new(HoldPolicy::Confirmed);
    assert_eq!(shown(&mut hold, vec![script.game(1, 1)]), ["other"]);
    let slide = script.ply(1, "e2e3", PlyState::Provisional);
    assert_eq!(shown(&mut hold, vec![slide]), Vec::<String>::new());
    let (_, e4) = script.make(&arbiterd::record::Position::default(), "e2e4", PlyState::Provisional, 0);
    let body = |ply: &arbiterd::record::Ply, replaces| UpdateBody::Ply {
        index: 0,
        ply: Arc::new(ply.clone()),
        replaces,
    };
    let revised = script.update(Some(1), body(&e4, true));
    assert_eq!(shown(&mut hold, vec![revised]), Vec::<String>::new());
    let confirmed = arbiterd::record::Ply { state: PlyState::Confirmed, ..e4.clone() };
    let update = script.update(Some(1), body(&confirmed, false));
    assert_eq!(shown(&mut hold, vec![update]), ["1e4"]);
    // A person corrects what was confirmed.
    let (_, d4) = script.make(&arbiterd::record::Position::default(), "d2d4", PlyState::Confirmed, 0);
    let update = script.update(Some(1), body(&d4, true));
    assert_eq!(shown(&mut hold, vec![update]), ["=1d4"]);
    let update = script.update(Some(1), UpdateBody::Undo { from: 0 });
    assert_eq!(shown(&mut hold, vec![update]), ["-1"]);
}

#[test]
fn a_channel_some_plies_behind_gets_the_rest_with_the_result() {
    let mut script = Script::new();
    let mut hold = Hold::new(HoldPolicy::Plies(2));
    let mut game = vec![script.game(1, 1)];
    game.extend(["e2e4", "e7e5", "g1f3", "b8c6"].map(|uci| script.moved(1, uci)));
    assert_eq!(shown(&mut hold, game), ["other", "1e4", "2e5"]);
    let end = script.result(1, GameResult::Draw);
    assert_eq!(shown(&mut hold, vec![end]), ["3Nf3", "4Nc6", "result"]);
    let reopened = script.update(Some(1), UpdateBody::Result(None));
    assert_eq!(shown(&mut hold, vec![reopened]), ["result"], "what was shown stays");
    let more = [script.moved(1, "f1b5"), script.moved(1, "a7a6"), script.moved(1, "b5a4")];
    assert_eq!(shown(&mut hold, more.to_vec()), ["5Bb5"]);
    assert_eq!(Hold::default().pass(vec![script.moved(1, "g8f6")])[0].table, Some(TableId(1)));
}
