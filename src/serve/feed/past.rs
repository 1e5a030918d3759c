//! Games that left their table when the next round (or the next game) came, so that finished rounds
//! stay available under their addresses.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    hall::{ClockView, TableId, TableInfo, View},
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
    pub(crate) fn keep(&mut self, table: TableId, info: &TableInfo, game: Game, clock: ClockView) {
        let games = self.rounds.entry(info.round).or_default();
        if game.plies.is_empty() && game.result.is_none() && games.contains_key(&table) {
            return;
        }
        let info = Arc::new(info.clone());
        games.insert(table, RoundGame { info, game: Arc::new(game), clock, current: false });
    }

    pub(crate) fn round(&self, round: u32, view: &View) -> BTreeMap<TableId, RoundGame> {
        let mut games = self.rounds.get(&round).cloned().unwrap_or_default();
        for table in view.tables.keys() {
            if let Some(game) = present(round, *table, view) {
                games.insert(*table, game);
            }
        }
        games
    }

    pub(crate) fn game(&self, round: u32, table: TableId, view: &View) -> Option<RoundGame> {
        present(round, table, view).or_else(|| self.rounds.get(&round)?.get(&table).cloned())
    }

    pub(crate) fn rounds(&self, view: &View) -> Vec<u32> {
        let present = view.tables.values().map(|table| table.info.round);
        let all: BTreeSet<u32> = self.rounds.keys().copied().chain(present).collect();
        all.into_iter().collect()
    }
}

fn present(round: u32, table: TableId, view: &View) -> Option<RoundGame> {
    let table = view.tables.get(&table).filter(|table| table.info.round == round)?;
    Some(RoundGame {
        info: Arc::new(table.info.clone()),
        game: Arc::new(table.game.clone()),
        clock: table.clock,
        current: true,
    })
}
