//! Which board stands at which table: binding, taking away, exchanging, and boards that belong to no table.

use std::collections::BTreeSet;

use super::{BoardKey, BoardView, Hall, TableId, Update, UpdateBody, news::News, setup};
use crate::{
    record::Timestamp,
    wire::{BoardIdentity, LinkEvent, Observation, Squares},
};

/// What is known of a board, whether a table has it or not.
#[derive(Clone, Debug, Default)]
pub(super) struct Board {
    pub(super) identity: Option<BoardIdentity>,
    pub(super) online: bool,
    pub(super) squares: Option<Squares>,
    pub(super) table: Option<TableId>,
    pub(super) news: News,
    /// As the desk was last told.
    told: Option<BoardView>,
}

impl Hall {
    /// Gives a board to a table. The table learns what the board shows now.
    pub(super) fn bind(&mut self, at: Timestamp, id: TableId, key: &BoardKey, updates: &mut Vec<Update>) {
        if !self.tables.contains_key(&id) {
            return;
        }
        let known = self.boards.get(key);
        if known.and_then(|board| board.table) == Some(id) {
            return;
        }
        if let Some(other) = known.and_then(|board| board.table) {
            self.with_table(at, other, updates, |table| table.bind(None));
        }
        let left: Vec<BoardKey> = self
            .boards
            .iter_mut()
            .filter(|(_, board)| board.table == Some(id))
            .map(|(other, board)| {
                board.table = None;
                other.clone()
            })
            .collect();
        let board = self.boards.entry(key.clone()).or_default();
        board.table = Some(id);
        let up = board.identity.clone().filter(|_| board.online);
        let squares = board.squares;
        let clock = board.news.clock();
        self.wants_dump.insert(key.clone());
        self.with_table(at, id, updates, |table| {
            if table.board() != Some(key) {
                table.bind(Some(key.clone()));
            }
            if let Some(identity) = up {
                table.observe(at, &Observation::Link(LinkEvent::Up(identity)));
            }
            if let Some(squares) = squares {
                table.observe(at, &Observation::Dump(squares));
            }
            if let Some(state) = clock {
                table.observe(at, &Observation::Clock(state));
            }
        });
        for other in left.iter().chain([key]) {
            self.tell_board(at, other, updates);
        }
    }

    /// Takes the board away from a table.
    pub(super) fn unbind(&mut self, at: Timestamp, id: TableId, updates: &mut Vec<Update>) {
        let mut left = Vec::new();
        for (key, board) in self.boards.iter_mut().filter(|(_, board)| board.table == Some(id)) {
            board.table = None;
            left.push(key.clone());
        }
        self.with_table(at, id, updates, |table| table.bind(None));
        for key in left {
            self.tell_board(at, &key, updates);
        }
    }

    /// The boards of two tables stood at each other's: their evidence and games change places.
    pub(super) fn swap_boards(&mut self, at: Timestamp, a: TableId, b: TableId, updates: &mut Vec<Update>) {
        if a == b || !self.tables.contains_key(&b) {
            return;
        }
        let Some(mut first) = self.tables.remove(&a) else { return };
        if let Some(second) = self.tables.get_mut(&b) {
            first.exchange_evidence(second, [self.games + 1, self.games + 2], at);
            self.games += 2;
        }
        self.tables.insert(a, first);
        let mut moved = Vec::new();
        for (key, board) in &mut self.boards {
            board.table = match board.table {
                Some(id) if id == a => Some(b),
                Some(id) if id == b => Some(a),
                other => other,
            };
            if board.table == Some(a) || board.table == Some(b) {
                moved.push(key.clone());
            }
        }
        self.with_table(at, a, updates, |_| {});
        self.with_table(at, b, updates, |_| {});
        for key in moved {
            self.tell_board(at, &key, updates);
        }
    }

    /// Where the event says so, boards without a table go to the first tables without a board, in the
    /// order of both.
    pub(super) fn bind_free_boards(&mut self, at: Timestamp, updates: &mut Vec<Update>) {
        if !self.event.auto_bind {
            return;
        }
        let taken: BTreeSet<TableId> = self.boards.values().filter_map(|board| board.table).collect();
        let free: Vec<TableId> = self
            .tables
            .iter()
            .filter(|(id, table)| !taken.contains(id) && table.board().is_none() && !table.ended())
            .map(|(id, _)| *id)
            .collect();
        let boards: Vec<BoardKey> = self
            .boards
            .iter()
            .filter(|(_, board)| board.online && board.table.is_none())
            .map(|(key, _)| key.clone())
            .collect();
        for (id, key) in free.into_iter().zip(boards) {
            self.bind(at, id, &key, updates);
        }
    }

    /// Tells the desk of a board, if there is news.
    pub(super) fn tell_board(&mut self, at: Timestamp, key: &BoardKey, updates: &mut Vec<Update>) {
        let Some(board) = self.boards.get_mut(key) else { return };
        let view = BoardView {
            board: key.clone(),
            online: board.online,
            model: board.identity.as_ref().map(setup::model),
            table: board.table,
        };
        if board.told.as_ref() != Some(&view) {
            board.told = Some(view.clone());
            self.number(at, None, UpdateBody::Board(view), updates);
        }
    }

    /// The table of a board.
    #[must_use]
    pub fn table_of(&self, key: &BoardKey) -> Option<TableId> {
        self.boards.get(key).and_then(|board| board.table)
    }
}
