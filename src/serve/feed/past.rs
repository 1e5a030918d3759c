//! Games that left their table when the next round (or the next game) came, so that finished rounds
//! stay available under their addresses.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    hall::{ClockView, TableId, TableInfo, TableView, View},
    record::Game,
};

/// A game of a round with what stands beside it.
#[derive(Clone, Debug)]
pub struct RoundGame {
    /// Players, time control, board.
    pub info: Arc<TableInfo>,
    /// The game.
    pub game: Arc<Game>,
    /// The clock as last known.
    pub clock: ClockView,
    /// It is still on its table.
    pub current: bool,
}

/// Games by round and table.
#[derive(Debug, Default)]
pub(crate) struct Past {
    rounds: BTreeMap<u32, BTreeMap<TableId, RoundGame>>,
}

impl Past {
    /// Keeps a game that leaves its table. Of several games of one round at one table, the last
    /// with any moves or result stays.
    pub(crate) fn keep(&mut self, table: TableId, info: &Arc<TableInfo>, game: Game, clock: ClockView) {
        let place = self.place(table, info);
        let games = self.rounds.entry(info.round).or_default();
        if game.plies.is_empty() && game.result.is_none() && games.contains_key(&place) {
            return;
        }
        games
            .insert(place, RoundGame { info: Arc::clone(info), game: Arc::new(game), clock, current: false });
    }

    /// Where a game stands in its round: at the table where it was begun. An adjourned one may go on at
    /// another, while the next round is played, and is still the same game.
    fn place(&self, table: TableId, info: &TableInfo) -> TableId {
        let same =
            |kept: &TableInfo| info.board > 0 && (&kept.section, kept.board) == (&info.section, info.board);
        let mut games = self.rounds.get(&info.round).into_iter().flatten();
        games.find(|(_, kept)| same(&kept.info)).map_or(table, |(place, _)| *place)
    }

    /// The games of a round that are on tables, with their places in it.
    fn present<'a>(&'a self, round: u32, view: &'a View) -> impl Iterator<Item = (TableId, &'a TableView)> {
        let tables = view.tables.iter().filter(move |(_, table)| table.info.round == round);
        tables.map(|(id, table)| (self.place(*id, &table.info), table))
    }

    pub(crate) fn round(&self, round: u32, view: &View) -> BTreeMap<TableId, RoundGame> {
        let mut games = self.rounds.get(&round).cloned().unwrap_or_default();
        games.extend(self.present(round, view).map(|(place, table)| (place, as_round_game(table))));
        games
    }

    pub(crate) fn game(&self, round: u32, table: TableId, view: &View) -> Option<RoundGame> {
        let here = self.present(round, view).find(|(place, _)| *place == table);
        here.map(|(_, table)| as_round_game(table)).or_else(|| self.rounds.get(&round)?.get(&table).cloned())
    }

    pub(crate) fn rounds(&self, view: &View) -> Vec<u32> {
        let present = view.tables.values().map(|table| table.info.round);
        let all: BTreeSet<u32> = self.rounds.keys().copied().chain(present).collect();
        all.into_iter().collect()
    }
}

fn as_round_game(table: &TableView) -> RoundGame {
    RoundGame {
        info: Arc::clone(&table.info),
        game: Arc::new(table.game.clone()),
        clock: table.clock,
        current: true,
    }
}
