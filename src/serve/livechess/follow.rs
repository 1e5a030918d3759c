//! One subscription to a board: what is new there since the client was last told.
//!
//! Before any `setup` a client is told placement and clock only. After it, also the moves since the
//! position it gave, once the board has stood in that position. A move is told when it is confirmed;
//! where no clock is connected, nobody presses, and a move is told when the board has stood still for
//! [`STILL`] in the position it leads to. A move that was told stays told while the record has it: the
//! hand that already goes for the answer takes nothing back.

use std::time::Duration;

use serde_json::{Map, Value, json};
use shakmaty::CastlingMode;
use tokio::time::Instant;

use super::data;
use crate::{
    hall::{ClockView, TableView, View},
    record::{FenError, PlyState, Position},
};

/// So long a board without a clock must stand still before its last move is told. A pawn may rest on
/// its way, but seldom so long.
pub(super) const STILL: Duration = Duration::from_millis(1500);

/// A client's subscription.
#[derive(Debug)]
pub(super) struct Follow {
    /// The board, once known.
    serial: Option<String>,
    /// The client holds the board the other way round.
    flip: bool,
    setup: Option<Setup>,
    told: Told,
    /// What was sensed last, and since when.
    sensed: (String, Instant),
}

/// A position given by the client.
#[derive(Debug)]
struct Setup {
    fen: String,
    position: Position,
    /// The game, and the ply in it that stands in this position.
    base: Option<(u64, usize)>,
    /// Plies before this one of this game do not count: the position was given later.
    floor: (u64, usize),
}

/// What the client was told last.
#[derive(Debug, Default)]
struct Told {
    board: Option<String>,
    clock: Option<ClockView>,
    moves: Option<(Vec<String>, bool)>,
}

impl Follow {
    pub(super) fn new(serial: Option<String>) -> Self {
        let sensed = (String::new(), Instant::now());
        Self { serial, flip: false, setup: None, told: Told::default(), sensed }
    }

    pub(super) fn flip(&mut self, flip: bool) {
        self.flip = flip;
        self.told.board = None;
    }

    /// The client plays on from this position.
    pub(super) fn set_up(&mut self, fen: &str, view: &View) -> Result<(), FenError> {
        let position = match Position::from_fen(fen, CastlingMode::Standard) {
            Ok(position) => position,
            Err(_) => Position::from_fen(fen, CastlingMode::Chess960)?,
        };
        let floor = data::find(view, self.serial.as_deref())
            .map_or((0, 0), |(_, table)| (table.info.game, table.game.plies.len()));
        self.setup = Some(Setup { fen: fen.to_owned(), position, base: None, floor });
        self.told.board = None;
        self.told.moves = None;
        Ok(())
    }

    /// What is to be told now, or nothing; and when to look again if nothing happens.
    pub(super) fn news(&mut self, view: &View) -> (Option<Value>, Option<Instant>) {
        let Some((serial, table)) = data::find(view, self.serial.as_deref()) else { return (None, None) };
        let first = self.told.board.is_none() && self.told.clock.is_none();
        if self.serial.is_none() {
            self.serial = Some(serial.to_owned());
        }
        if self.sensed.0 != table.sensed {
            self.sensed = (table.sensed.clone(), Instant::now());
        }
        let board = if self.flip { turned(&table.sensed) } else { table.sensed.clone() };
        let mut event = Map::new();
        event.insert("serialnr".to_owned(), json!(serial));
        event.insert("flipped".to_owned(), json!(table.info.link.rotated != self.flip));
        let known = event.len();
        if self.told.board.as_ref() != Some(&board) && !board.is_empty() {
            event.insert("board".to_owned(), json!(board));
            self.told.board = Some(board);
        }
        if self.told.clock != Some(table.clock) {
            let is_null = data::clock(table.clock).is_null();
            let was_null = self.told.clock.is_none_or(|clock| data::clock(clock).is_null());
            // Told as null once, in the first event.
            if first || !(is_null && was_null) {
                event.insert("clock".to_owned(), data::clock(table.clock));
            }
            self.told.clock = Some(table.clock);
        }
        let mut again = None;
        if let Some(setup) = &mut self.setup {
            let still = self.sensed.1.elapsed() >= STILL;
            let told = self.told.moves.as_ref().map_or(&[][..], |(moves, _)| moves);
            let (moves, waits) = setup.moves(table, still, told);
            if waits {
                again = Some(self.sensed.1 + STILL);
            }
            let stands = setup.stands(table, moves.len());
            if self.told.moves.as_ref() != Some(&(moves.clone(), stands)) {
                event.insert("start".to_owned(), json!(setup.fen));
                event.insert("san".to_owned(), json!(moves));
                event.insert("match".to_owned(), json!(stands));
                self.told.moves = Some((moves, stands));
            }
        }
        ((event.len() > known || first).then_some(Value::Object(event)), again)
    }
}

impl Setup {
    /// The moves since the position, and whether one more waits for the board to stand still.
    fn moves(&mut self, table: &TableView, still: bool, mut told: &[String]) -> (Vec<String>, bool) {
        let (game, plies) = (table.info.game, &table.game.plies);
        if self.base.is_none_or(|(of, index)| of != game || index > plies.len()) {
            told = &[];
            let floor = if self.floor.0 == game { self.floor.1.min(plies.len()) } else { 0 };
            self.base = (floor..=plies.len())
                .rev()
                .find(|&index| same(table.game.position_before(index), &self.position))
                .map(|index| (game, index));
        }
        let Some((_, base)) = self.base else { return (Vec::new(), false) };
        let mut moves = Vec::new();
        for (index, ply) in plies.iter().enumerate().skip(base) {
            // What no rule allows, no client of this API can read.
            if ply.irregular || index > base && ply.origin.is_some() {
                break;
            }
            let last = index + 1 == plies.len();
            let known = told.get(index - base) == Some(&ply.san);
            if ply.state == PlyState::Provisional && !known {
                let stands = last && ply.after.placement() == table.sensed && !table.info.link.clock;
                if !stands || !still {
                    return (moves, stands);
                }
            }
            moves.push(ply.san.clone());
        }
        (moves, false)
    }

    /// The board stands in the position after so many moves.
    fn stands(&self, table: &TableView, moves: usize) -> bool {
        let position = match self.base {
            Some((_, base)) => table.game.position_after(base + moves),
            None => &self.position,
        };
        position.placement() == table.sensed
    }
}

/// The same men on the same squares, the same side to move.
fn same(one: Option<&Position>, other: &Position) -> bool {
    one.is_some_and(|one| one.turn() == other.turn() && one.placement() == other.placement())
}

/// The placement seen from the other side.
fn turned(placement: &str) -> String {
    placement.chars().rev().collect()
}
