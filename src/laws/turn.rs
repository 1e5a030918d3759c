//! The turn that is being played.

use shakmaty::Move;

use super::{desk::Scene, referee::Referee, timers::Timer, touch::Touch};
use crate::record::{Game, Position, Timestamp};

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

    /// A new turn in which hands were at work before it was known to have begun: what the turn before
    /// saw after `pressed` belongs to it.
    pub(super) fn new_turn_since(&mut self, scene: &Scene<'_>, ply: usize, pressed: Timestamp) {
        let later: Vec<Touch> = self
            .turn
            .iter()
            .flat_map(|turn| turn.touches.iter().filter(|touch| touch.at > pressed).copied())
            .collect();
        self.new_turn(scene.game, ply);
        let turn = self.turn(scene.game);
        let mover = turn.position.turn();
        let first = later
            .iter()
            .find(|touch| touch.was.is_some_and(|man| man.color == mover && touch.now != Some(man)))
            .map(|touch| touch.at);
        turn.touches = later;
        if let Some(first) = first
            && scene.game.plies.len() == ply
        {
            self.set_timer(Timer::Touched, first.plus(self.profile.rules.touch_ms).max(scene.at));
        }
    }
}

/// The legal move that a ply was, if it was one.
pub(super) fn ply_move(game: &Game, index: usize) -> Option<Move> {
    let ply = game.plies.get(index).filter(|ply| !ply.irregular)?;
    game.position_after(index).find_uci(ply.uci)
}
