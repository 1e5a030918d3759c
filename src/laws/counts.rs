//! What is counted of a game for the desk: moves, illegal moves, duties and rights.
//!
//! Compared after every word of the referee, so it is a plain value; its JSON is made only when it changed.

use serde_json::{Value, json};
use shakmaty::{ByColor, Color};

use super::{Alert, Code, answer::letter, desk::Desk, referee::Referee};

/// The counts of a game.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    pub(super) made: ByColor<u32>,
    pub(super) completed: ByColor<u32>,
    /// Moves due at the end of the present period; `None` without a time control, inner `None` in a last period.
    pub(super) due: Option<ByColor<Option<u32>>>,
    pub(super) illegal: ByColor<u32>,
    pub(super) must_record: ByColor<bool>,
    /// Claims that would be right, in the order of [`CLAIMABLE`].
    pub(super) claims: [bool; 4],
    pub(super) obligation: Option<Obligation>,
    pub(super) draw_offer: Option<Color>,
    /// Who is in a quickplay finish; `None` where it was not announced.
    pub(super) quickplay: Option<ByColor<bool>>,
}

/// A touched man and what has to be done with it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Obligation {
    side: Option<Color>,
    from: Vec<String>,
    capture: Vec<String>,
    play: Option<String>,
}

/// A claim would be right: three-fold and fifty moves, on the board and with a written move.
pub(super) const CLAIMABLE: [Code; 4] = [
    Code::ThreefoldClaimable,
    Code::ThreefoldClaimableByMove,
    Code::FiftyClaimable,
    Code::FiftyClaimableByMove,
];

impl Counts {
    /// What the live alerts say: claims that would be right, and the touched man.
    pub(super) fn with_alerts(mut self, desk: &Desk) -> Self {
        let mut touched: [Option<&Alert>; 2] = [None; 2];
        for alert in desk.all_live() {
            if let Some(index) = CLAIMABLE.iter().position(|code| *code == alert.code) {
                self.claims[index] = true;
            }
            match alert.code {
                Code::TouchObligation => touched[0] = Some(alert),
                Code::TouchMoveViolation => touched[1] = Some(alert),
                _ => {}
            }
        }
        self.obligation = touched.into_iter().flatten().next().map(|alert| Obligation {
            side: alert.side,
            from: alert.advice.must_move_from.clone(),
            capture: alert.advice.must_capture.clone(),
            play: alert.advice.must_play.clone(),
        });
        self
    }

    /// As the desk's stream has it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let claims: Vec<&str> = CLAIMABLE
            .iter()
            .zip(self.claims)
            .filter(|(_, right)| *right)
            .map(|(code, _)| code.word())
            .collect();
        let obligation = self.obligation.as_ref().map(|man| {
            json!({"side": man.side.map(letter), "from": man.from, "capture": man.capture, "play": man.play})
        });
        json!({
            "made": sides(&self.made),
            "completed": sides(&self.completed),
            "due": self.due.as_ref().map(sides),
            "illegal": sides(&self.illegal),
            "record_obligatory": sides(&self.must_record),
            "claims": claims,
            "obligation": obligation,
            "draw_offer": self.draw_offer.map(letter),
            "quickplay": self.quickplay.as_ref().map(sides),
        })
    }
}

impl Referee {
    /// What is kept per player for the desk: moves made, completed and due, illegal moves,
    /// touch obligations, claim rights, draw offers, duty to record. Sides are `w` and `b`.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let due = self.options.time_control.as_ref().map(|control| {
            let of = |side: Color| control.moves_due(control.period_index(self.watch.completed[side]));
            ByColor { white: of(Color::White), black: of(Color::Black) }
        });
        let counts = Counts {
            made: self.watch.made,
            completed: self.watch.completed,
            due,
            illegal: self.illegal,
            must_record: self.watch.must_record,
            draw_offer: self.offer.map(|(side, _)| side),
            quickplay: self.quickplay_now(),
            ..Counts::default()
        };
        counts.with_alerts(&self.desk)
    }

    /// The time-control sheet the arbiter should have every half hour (Arbiters' Manual 6.10.1):
    /// both times, whose clock runs, moves made and completed.
    #[must_use]
    pub fn sheet(&self) -> Value {
        let left = self.watch.left();
        json!({
            "white": {"left": left.white, "made": self.watch.made.white, "completed": self.watch.completed.white},
            "black": {"left": left.black, "made": self.watch.made.black, "completed": self.watch.completed.black},
            "running": self.watch.running().map(|side| side.fold_wb("white", "black")),
        })
    }

    /// Guidelines III.4, III.5: who is under two minutes in a last period without increment; `None` where
    /// they were not announced.
    fn quickplay_now(&self) -> Option<ByColor<bool>> {
        if !self.options.quickplay || self.profile.rules.quickplay == super::Quickplay::Never {
            return None;
        }
        let control = self.options.time_control.as_ref();
        let of = |side: Color| {
            let last = self.options.last_period
                || control.is_some_and(|c| c.moves_due(c.period_index(self.watch.completed[side])).is_none());
            let plain = control.is_none_or(|c| !c.has_increment());
            last && plain && self.watch.left()[side].is_some_and(|left| left < super::claim::QUICKPLAY_S)
        };
        Some(ByColor { white: of(Color::White), black: of(Color::Black) })
    }
}

/// Both sides as `w` and `b`.
pub(super) fn sides<T: serde::Serialize>(pair: &ByColor<T>) -> Value {
    json!({"w": pair.white, "b": pair.black})
}
