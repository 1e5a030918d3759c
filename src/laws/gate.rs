//! The gate that a flag, a losing illegal move and (since 2023) a resignation pass through: can the
//! opponent still mate by any series of legal moves (Laws 5.1.2, 6.9, 7.5.5)? What a short search cannot
//! prove is asked of a long one, whose answer comes back here.

use serde_json::Value;
use shakmaty::Color;

use super::{
    AlertId, Code,
    desk::{Notice, Scene},
    mate::{self, Budget, Verdict},
    referee::Referee,
};
use crate::record::{GameResult, Position, ResultReason, ResultState};

/// How much search a decision at the board may take inline; more is asked for.
pub(super) const DECISION: Budget = Budget { nodes: 2_000, states: 8_000 };

/// The mate question, answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CanMate {
    Yes(Vec<String>),
    No(String),
    Unknown,
}

/// Can this side still mate by any series of legal moves (6.9)?
pub(super) fn can_mate(position: &Position, side: Color) -> CanMate {
    let Some(chess) = position.chess() else { return CanMate::Unknown };
    match mate::can_mate(chess, side, &DECISION) {
        Verdict::Yes(line) => CanMate::Yes(line.iter().map(ToString::to_string).collect()),
        Verdict::No(reason) => CanMate::No(reason.to_string()),
        Verdict::Unknown(_) => CanMate::Unknown,
    }
}

/// Why a search for a mate was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    Flag(Color),
    Illegal(AlertId),
    Resigned(Color),
}

impl Referee {
    /// The long search answered.
    pub(super) fn mate_answered(&mut self, scene: &mut Scene<'_>, fen: &str, side: Color, verdict: &Value) {
        let Some(index) = self.asked.iter().position(|(asked, of, _)| asked == fen && *of == side) else {
            return;
        };
        let (_, _, ask) = self.asked.remove(index);
        let result = match verdict.get("can_mate").and_then(Value::as_str) {
            Some("yes") => Some(GameResult::win(side)),
            Some("no") => Some(GameResult::Draw),
            _ => None,
        };
        let line: Vec<String> = verdict
            .get("line")
            .and_then(Value::as_array)
            .map(|moves| moves.iter().filter_map(|m| m.as_str().map(str::to_owned)).collect())
            .unwrap_or_default();
        let Some(result) = result else { return };
        let word = result.word().to_owned();
        match ask {
            Ask::Flag(flagged) => {
                if self.over.is_some() {
                    return;
                }
                let noticed = self.flags[flagged].is_some_and(|flag| flag.noticed);
                let (variant, completed) = (
                    if result == GameResult::Draw { "cannot-mate" } else { "" },
                    self.watch.completed[flagged],
                );
                let notice = Notice::new(Code::FlagFall)
                    .side(flagged)
                    .key("flag")
                    .variant(variant)
                    .arg("completed", completed)
                    .arg("result", word.clone())
                    .detail("completed", completed)
                    .detail("noticed", noticed)
                    .advise(|advice| {
                        advice.result = Some(word.clone());
                        advice.line = line;
                    });
                self.raise(scene, notice);
                if result == GameResult::Draw {
                    let notice = Notice::new(Code::FlagButCannotMate)
                        .side(flagged)
                        .advise(|advice| advice.result = Some(word));
                    self.raise(scene, notice);
                }
                let unchanged = self.flags[flagged].is_some_and(|flag| flag.plies == scene.game.plies.len());
                if noticed {
                    self.finish(scene, result, ResultReason::FlagFall, ResultState::Proposed, None);
                } else if unchanged {
                    self.propose(scene, result, ResultReason::FlagFall);
                }
            }
            Ask::Illegal(alert) => {
                self.desk.update(
                    scene,
                    |own, _| own.id == alert,
                    |own| {
                        own.advice.result = Some(word.clone());
                        own.advice.line.clone_from(&line);
                    },
                );
                self.propose(scene, result, ResultReason::IllegalMoves);
            }
            Ask::Resigned(_) => {
                if self
                    .over
                    .is_some_and(|over| over.reason == ResultReason::Resignation && over.result != result)
                {
                    self.finish(scene, result, ResultReason::Resignation, ResultState::Final, None);
                }
            }
        }
    }
}
