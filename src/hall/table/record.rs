//! The tracker's findings into the record: plies made, revised, confirmed, with what is known of their times.

use std::sync::Arc;

use shakmaty::ByColor;

use super::{TYPED, Table, TableStatus, UpdateBody, rulings::closes};
use crate::{
    record::{Game, Ply, PlySource, PlyState, Position, Timestamp},
    track::{AtPress, Finding, TrackedPly},
};

/// A ply as the tracker reads it, next in this game, with the times known of the one that stood in its
/// place.
fn recorded(tracked: &TrackedPly, before: Option<&Ply>, game: &Game) -> Ply {
    let origin = tracked.origin.clone().filter(|origin| **origin != *game.led_to());
    Ply {
        uci: tracked.uci,
        san: tracked.san.clone(),
        after: tracked.after.clone(),
        irregular: tracked.irregular,
        origin,
        state: tracked.state,
        source: tracked.source,
        made_at: tracked.made_at,
        pressed_at: before.and_then(|ply| ply.pressed_at),
        clock: before.map_or(ByColor::default(), |ply| ply.clock),
        elapsed: before.and_then(|ply| ply.elapsed),
    }
}

impl Table {
    pub(super) fn apply_findings(&mut self, at: Timestamp, findings: Vec<Finding>) {
        for finding in findings {
            self.apply_finding(at, &finding);
            self.rule(at, |referee, game, out| referee.found(at, &finding, game, out));
        }
    }

    fn apply_finding(&mut self, at: Timestamp, finding: &Finding) {
        match finding {
            Finding::Line { from, plies, .. } => self.splice(*from, plies),
            Finding::Confirmed { count } => {
                for index in 0..(*count).min(self.game.plies.len()) {
                    if self.game.plies[index].state == PlyState::Provisional {
                        self.edit_ply(index, |ply| ply.state = PlyState::Confirmed);
                    }
                }
            }
            Finding::Press { at: pressed, board: AtPress::Move { index, .. }, .. } => {
                self.pressed(*pressed, *index);
            }
            Finding::Orientation { rotated } => {
                self.info.link.rotated = *rotated;
                self.announce();
                self.show_clock(at);
            }
            Finding::StartPosition => self.set_status(TableStatus::Armed),
            Finding::Base { index: 0, position } if self.game.plies.is_empty() => {
                self.starts_from(position);
            }
            Finding::Base { index, position } => {
                let away = *index != self.game.plies.len() || position != self.game.led_to();
                self.stands(away.then(|| (*index, position.clone())));
            }
            Finding::WantsDump => self.wants_dump = true,
            _ => {}
        }
    }

    /// The game is played from here, whatever it was to begin with: a wrong set-up that nobody saw, say.
    pub(super) fn starts_from(&mut self, position: &Position) {
        if self.game.start != *position {
            self.game.start = position.clone();
            self.info.start = position.clone();
            self.announce();
        }
    }

    pub(super) fn set_status(&mut self, status: TableStatus) {
        let backwards = status == TableStatus::Armed && !self.game.plies.is_empty();
        if self.info.status != status && !backwards {
            self.info.status = status;
            self.announce();
        }
    }

    /// Where a person has set the game, if anywhere.
    fn stands(&mut self, set: Option<(usize, Position)>) {
        if set != self.game.set {
            self.game.set.clone_from(&set);
            self.info.set = set;
            self.announce();
        }
    }

    /// Puts the tracker's reading into the record, keeping what is known of plies that stay.
    fn splice(&mut self, from: usize, plies: &[TrackedPly]) {
        if self.game.set.as_ref().is_some_and(|(after, _)| *after > from) {
            self.stands(None);
        }
        let old = self.game.plies.split_off(from.min(self.game.plies.len()));
        let shrinks = plies.len() < old.len();
        for (offset, tracked) in plies.iter().enumerate() {
            let before = old.get(offset);
            let same = before.is_some_and(|ply| ply.uci == tracked.uci && ply.after == tracked.after);
            let kept = before.filter(|_| same);
            let ply = recorded(tracked, before.map(AsRef::as_ref), &self.game);
            // What stays as it was stays shared.
            let ply = kept.filter(|kept| ***kept == ply).map_or_else(|| Arc::new(ply), Arc::clone);
            if kept != Some(&ply) {
                let index = from + offset;
                let replaces = before.is_some() && !same;
                self.out.push(UpdateBody::Ply { index, ply: Arc::clone(&ply), replaces });
                if replaces {
                    // The stream drops what stood behind a replaced ply: tell it again.
                    self.game.plies.push(ply);
                    self.append_rest(from + offset + 1, &plies[offset + 1..], &old[offset + 1..]);
                    self.set_status(TableStatus::Playing);
                    self.mark_typed();
                    return;
                }
            }
            self.game.plies.push(ply);
        }
        if shrinks {
            self.out.push(UpdateBody::Undo { from: from + plies.len() });
        }
        if self.game.result.is_some_and(closes) {
            self.clock_of_last_ply();
        }
        if !self.game.plies.is_empty() && !self.ended() {
            self.set_status(TableStatus::Playing);
        }
        self.mark_typed();
    }

    /// A game with typed plies says so in its tags.
    fn mark_typed(&mut self) {
        let typed = self.game.plies.iter().any(|ply| ply.source == PlySource::Typed);
        if typed == (self.info.tags.get(TYPED.0) == Some(TYPED.1)) {
            return;
        }
        if typed {
            self.info.tags.set(TYPED.0, TYPED.1);
        } else {
            self.info.tags.0.retain(|(name, _)| name != TYPED.0);
        }
        self.game.tags = self.info.tags.clone();
        self.announce();
    }

    /// Plies behind a replaced one: new to the stream, though times known of them are kept.
    fn append_rest(&mut self, from: usize, plies: &[TrackedPly], old: &[Arc<Ply>]) {
        for (offset, tracked) in plies.iter().enumerate() {
            let before = old.get(offset).filter(|ply| ply.uci == tracked.uci);
            let ply = Arc::new(recorded(tracked, before.map(AsRef::as_ref), &self.game));
            self.out.push(UpdateBody::Ply { index: from + offset, ply: Arc::clone(&ply), replaces: false });
            self.game.plies.push(ply);
        }
    }

    pub(in crate::hall) fn edit_ply(&mut self, index: usize, edit: impl FnOnce(&mut Ply)) {
        let Some(ply) = self.game.plies.get_mut(index) else { return };
        let mut edited = Ply::clone(ply);
        edit(&mut edited);
        if edited != **ply {
            *ply = Arc::new(edited);
            self.out.push(UpdateBody::Ply { index, ply: Arc::clone(ply), replaces: false });
        }
    }
}
