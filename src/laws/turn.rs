//! The turn that is being played, and the positions of the record around it.

use shakmaty::Move;

use super::{referee::Referee, timers::Timer, touch::Touch};
use crate::record::{Game, Position};

/// The turn that is being played.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    /// Number of plies before it.
    pub(super) ply: usize,
    /// The position it is played from.
    pub(super) position: Position,
    /// Touches since the turn began.
    pub(super) touches: Vec<Touch>,
}

impl Referee {
    /// The position the game stands in.
    pub(super) fn position(&self, game: &Game) -> Position {
        self.position_at(game, game.plies.len())
    }

    /// The position after so many plies.
    pub(super) fn position_at(&self, game: &Game, plies: usize) -> Position {
        match &self.base {
            Some((index, position)) if *index == plies => position.clone(),
            _ => game.position_before(plies).unwrap_or(&game.start).clone(),
        }
    }

    /// The turn being played; made anew when the record has left the old one behind.
    pub(super) fn turn(&mut self, game: &Game) -> &mut Turn {
        let stale = self.turn.as_ref().is_none_or(|turn| turn.ply > game.plies.len());
        if stale {
            self.new_turn(game, game.plies.len());
        }
        self.turn.get_or_insert_with(|| Turn { ply: 0, position: game.start.clone(), touches: Vec::new() })
    }

    pub(super) fn new_turn(&mut self, game: &Game, ply: usize) {
        self.turn = Some(Turn { ply, position: self.position_at(game, ply), touches: Vec::new() });
        self.cancel(Timer::Touched);
    }

    /// The legal move that a ply was, if it was one.
    pub(super) fn ply_move(&self, game: &Game, index: usize) -> Option<Move> {
        let ply = game.plies.get(index).filter(|ply| !ply.irregular)?;
        self.position_at(game, index).find_uci(ply.uci)
    }
}
