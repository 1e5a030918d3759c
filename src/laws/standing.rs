//! Positions that cannot be (Laws 3.10.3), and two kings in check found standing, for which
//! unsupervised rapid and blitz wait one more move (13.4.4).

use super::{
    Code, Severity,
    desk::{Notice, Scene},
    legality,
    referee::Referee,
};
use crate::record::{GameResult, Position, ResultReason};

impl Referee {
    /// Both kings in check (13.4.4), or a position that cannot be, found standing.
    pub(super) fn kings_in_check(
        &mut self,
        scene: &mut Scene<'_>,
        count: usize,
        position: &Position,
        irregular: bool,
    ) {
        if let Some(found) = self.both_in_check {
            if count > found {
                self.both_in_check = None;
                if !legality::both_in_check(position) {
                    self.desk.clear(scene, &[Code::BothKingsInCheck]);
                }
            }
            return;
        }
        if legality::both_in_check(position) && !irregular {
            self.found_both_in_check(scene, count, position);
        }
        if let Some(what) = legality::impossible(position) {
            let notice = Notice::new(Code::IllegalPosition).key(&what).arg("what", what);
            self.raise(scene, notice);
        } else {
            self.desk.clear(scene, &[Code::IllegalPosition]);
        }
    }

    /// 13.4.4: wait for one more completed move in unsupervised play.
    pub(super) fn found_both_in_check(&mut self, scene: &mut Scene<'_>, count: usize, position: &Position) {
        let waits = self.profile.rules.illegal_position_waits;
        let mut notice = Notice::new(Code::BothKingsInCheck).detail("position", position.fen());
        if waits {
            notice = notice.variant("wait").severity(Severity::Look);
            self.both_in_check = Some(count);
        } else {
            notice = notice.article("3.10.3");
        }
        self.raise(scene, notice);
    }

    /// 13.4.4: one more move was completed; do both kings still stand in check?
    pub(super) fn persists_after(&mut self, scene: &mut Scene<'_>, count: usize) {
        if self.both_in_check.is_none_or(|found| count <= found) {
            return;
        }
        self.both_in_check = None;
        let position = scene.game.position_after(count);
        if legality::both_in_check(position) {
            self.illegal_position_persists(scene);
        } else {
            self.desk.clear(scene, &[Code::BothKingsInCheck]);
        }
    }

    pub(super) fn illegal_position_persists(&mut self, scene: &mut Scene<'_>) {
        let notice = Notice::new(Code::IllegalPositionPersists)
            .severity(Severity::Decides)
            .advise(|advice| advice.result = Some(GameResult::Draw.word().to_owned()));
        self.raise(scene, notice);
        self.propose(scene, GameResult::Draw, ResultReason::Entered);
    }

    /// The board after an irregular press: are both kings in check?
    pub(super) fn both_kings_after(&mut self, scene: &mut Scene<'_>, sensed: &shakmaty::Board) {
        let count = scene.game.plies.len();
        let after = scene.game.position().after_irregular(sensed.clone());
        let both = legality::both_in_check(&after);
        match self.both_in_check {
            Some(_) if both => {
                self.both_in_check = None;
                self.illegal_position_persists(scene);
            }
            None if both => {
                let waits = self.profile.rules.illegal_position_waits;
                self.found_both_in_check(scene, count, &after);
                // The illegal move itself will be the next ply if it stands.
                self.both_in_check = waits.then_some(count + 1);
            }
            _ => {}
        }
    }
}
