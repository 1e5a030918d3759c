//! The turn that is being played.

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
    /// The turn being played; made anew when the record has left the old one behind.
    pub(super) fn turn(&mut self, game: &Game) -> &mut Turn {
        let stale = self.turn.as_ref().is_none_or(|turn| turn.ply > game.plies.len());
        if stale {
            self.new_turn(game, game.plies.len());
        }
        self.turn.get_or_insert_with(|| Turn { ply: 0, position: game.start.clone(), touches: Vec::new() })
    }

    pub(super) fn new_turn(&mut self, game: &Game, ply: usize) {
        self.turn = Some(Turn { ply, position: game.position_after(ply).clone(), touches: Vec::new() });
        self.cancel(Timer::Touched);
    }
}

/// The legal move that a ply was, if it was one.
pub(super) fn ply_move(game: &Game, index: usize) -> Option<Move> {
    let ply = game.plies.get(index).filter(|ply| !ply.irregular)?;
    game.position_after(index).find_uci(ply.uci)
}
