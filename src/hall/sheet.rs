//! Two lists by table: before the round what is ready and what is missing (26.2.3, 26.2.5 of the Russian
//! rules ask the arbiters to look at just that), after it which results are missing, conflict or are unsigned.

use serde::Serialize;

use super::{TableId, TableInfo, TableStatus, TableView, View};
use crate::{
    laws::{AlertState, Code, TimeControl},
    record::{Game, GameResult, ResultState},
    wire::Squares,
};

/// A battery at or under this needs to be charged before the round, in per cent.
const BATTERY_LOW: u8 = 20;

/// One thing that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    /// As it should be.
    Good,
    /// To be put right.
    Bad,
    /// It cannot be told from here.
    Unknown,
}

impl From<bool> for CheckState {
    fn from(good: bool) -> Self {
        if good { Self::Good } else { Self::Bad }
    }
}

/// A table of the sheet before the round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckLine {
    /// Which.
    pub table: TableId,
    /// Its section, where there are several.
    pub section: String,
    /// Both players are named.
    pub players: CheckState,
    /// A board is assigned to it.
    pub assigned: CheckState,
    /// The board answers.
    pub online: CheckState,
    /// The start position stands.
    pub position: CheckState,
    /// Squares that differ from the start position, such as `e1`.
    pub squares: Vec<String>,
    /// A clock is connected.
    pub clock: CheckState,
    /// It shows what the time control begins with.
    pub time: CheckState,
    /// What both clocks should show, in seconds; `None` without a time control.
    pub expected_seconds: Option<u32>,
    /// What they show, White's first.
    pub shown_seconds: [Option<u32>; 2],
    /// The battery is charged.
    pub battery: CheckState,
    /// Its charge in per cent, where the board has one.
    pub battery_percent: Option<u8>,
    /// Nothing is bad: the table may be started.
    pub ready: bool,
    /// It has been started already.
    pub playing: bool,
}

/// A result that is not as it should be when the round is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CloseLine {
    /// Which table.
    pub table: TableId,
    /// There is no result.
    pub missing: bool,
    /// The result is only proposed.
    pub proposed: bool,
    /// What was shown, signed or entered does not agree.
    pub conflict: bool,
    /// The score sheets are not signed.
    pub unsigned: bool,
    /// The game is adjourned.
    pub adjourned: bool,
    /// The result so far, as the stream writes it.
    pub result: Option<&'static str>,
}

/// What is known of a table when its round is closed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closing {
    pub(super) result: Option<(GameResult, ResultState)>,
    pub(super) conflict: bool,
    pub(super) signed: bool,
}

impl Closing {
    pub(super) fn of(info: &TableInfo, game: &Game, conflict: bool) -> Self {
        let result = game.result.map(|(result, _, state)| (result, state));
        Self { result, conflict, signed: info.signed }
    }
}

/// The tables that are not complete.
pub(super) fn close_lines(tables: impl Iterator<Item = (TableId, Closing)>) -> Vec<CloseLine> {
    use GameResult as R;
    tables
        .map(|(table, Closing { result, conflict, signed })| {
            let value = result.map(|(value, _)| value);
            // Nobody signs for a game that nobody played, or that is not over.
            let unplayed = matches!(
                value,
                None | Some(R::WhiteForfeit | R::BlackForfeit | R::BothForfeit | R::Adjourned)
            );
            CloseLine {
                table,
                missing: result.is_none(),
                proposed: matches!(result, Some((_, ResultState::Proposed))),
                conflict,
                unsigned: !signed && !unplayed,
                adjourned: value == Some(R::Adjourned),
                result: value.map(R::word),
            }
        })
        .filter(|line| line.missing || line.proposed || line.conflict || line.unsigned || line.adjourned)
        .collect()
}

/// The tables of the running rounds, of one section or of all. A table that is left over from an earlier
/// round is not among them.
fn tables<'a>(view: &'a View, section: Option<&'a str>) -> impl Iterator<Item = (TableId, &'a TableView)> {
    let number = move |of: &str| {
        let sections = view.round["sections"].as_array().into_iter().flatten();
        let mut own = sections.filter(|section| section["id"] == of).map(|section| &section["number"]);
        own.next().unwrap_or(&view.round["number"]).as_u64().unwrap_or(0)
    };
    view.tables
        .iter()
        .filter(move |(_, table)| section.is_none_or(|section| table.info.section == section))
        .filter(move |(_, table)| u64::from(table.info.round) == number(&table.info.section))
        .map(|(id, table)| (*id, table))
}

/// The sheet after the round.
#[must_use]
pub fn close_sheet(view: &View, section: Option<&str>) -> Vec<CloseLine> {
    close_lines(tables(view, section).map(|(id, table)| {
        let conflict = table.alerts.values().any(|alert| {
            alert.code == Code::ResultConflict
                && matches!(alert.state, AlertState::Open | AlertState::Acknowledged)
        });
        (id, Closing::of(&table.info, &table.game, conflict))
    }))
}

/// The sheet before the round.
#[must_use]
pub fn check_sheet(view: &View, section: Option<&str>) -> Vec<CheckLine> {
    tables(view, section).map(|(id, table)| check(id, table)).collect()
}

fn check(id: TableId, table: &TableView) -> CheckLine {
    let TableView { info, clock, .. } = table;
    let link = &info.link;
    let playing = matches!(info.status, TableStatus::Playing | TableStatus::Ended);
    let squares = differing(table);
    let expected = info.time_control.parse::<TimeControl>().ok();
    let shown = [clock.white, clock.black].map(|side| side.map(|seconds| seconds.0));
    let time = match (&expected, shown) {
        _ if !link.clock || playing => CheckState::Unknown,
        (Some(control), [Some(white), Some(black)]) => {
            // Some clocks add the first increment when they are set, some when they are started.
            let fits = |shown| shown == control.start_seconds() || shown == control.period(0).seconds;
            CheckState::from(fits(white) && fits(black))
        }
        _ => CheckState::Unknown,
    };
    let known = |name: &str| !name.trim().is_empty();
    let mut line = CheckLine {
        table: id,
        section: info.section.clone(),
        players: CheckState::from(known(&info.white.name) && known(&info.black.name)),
        assigned: CheckState::from(link.board.is_some()),
        online: if link.board.is_some() { CheckState::from(link.online) } else { CheckState::Unknown },
        position: match &squares {
            None => CheckState::Unknown,
            Some(_) if playing => CheckState::Unknown,
            Some(squares) => CheckState::from(squares.is_empty()),
        },
        squares: squares.filter(|_| !playing).unwrap_or_default(),
        clock: if link.online { CheckState::from(link.clock) } else { CheckState::Unknown },
        time,
        expected_seconds: expected.map(|control| control.start_seconds()),
        shown_seconds: shown,
        battery: match link.battery {
            Some(battery) => CheckState::from(battery.charging || battery.percent > BATTERY_LOW),
            None => CheckState::Unknown,
        },
        battery_percent: link.battery.map(|battery| battery.percent),
        ready: false,
        playing,
    };
    let all = [line.players, line.assigned, line.online, line.position, line.clock, line.time, line.battery];
    line.ready = !all.contains(&CheckState::Bad);
    line
}

/// Squares on which the board does not show the start position; `None` when nothing was heard of it.
fn differing(table: &TableView) -> Option<Vec<String>> {
    differing_squares(table, table.info.start.board())
}

/// Squares on which a table's board does not show this position, whichever way round it lies; `None` when
/// nothing was heard of it.
#[must_use]
pub fn differing_squares(table: &TableView, wanted: &shakmaty::Board) -> Option<Vec<String>> {
    let sensed = shakmaty::Board::from_ascii_board_fen(table.sensed.as_bytes()).ok();
    let sensed = sensed.filter(|_| table.info.link.online)?;
    let turned = Squares::from_board(&sensed, false).to_board(true);
    if sensed == *wanted || turned == *wanted {
        return Some(Vec::new());
    }
    let differs = |square: &shakmaty::Square| sensed.piece_at(*square) != wanted.piece_at(*square);
    Some(shakmaty::Square::ALL.into_iter().filter(differs).map(|square| square.to_string()).collect())
}
