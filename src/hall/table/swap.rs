//! Two tables whose boards were exchanged: what each board and its hands did changes its table.

use std::sync::Arc;

use super::{Table, TableStatus, UpdateBody};
use crate::{
    record::Timestamp,
    track::{ClockSense, Evidence, Track},
};

impl Table {
    /// Takes what the other table's board and hands did as its own: for boards that stood at each
    /// other's tables. Players, tags and game numbers stay.
    /// Viewers take the tables as new games (`numbers`), whose plies they are told at once.
    pub(in crate::hall) fn exchange_evidence(&mut self, other: &mut Self, numbers: [u64; 2], at: Timestamp) {
        let same_start = self.setup.start == other.setup.start;
        std::mem::swap(&mut self.game.plies, &mut other.game.plies);
        std::mem::swap(&mut self.game.result, &mut other.game.result);
        std::mem::swap(&mut self.track, &mut other.track);
        std::mem::swap(&mut self.referee, &mut other.referee);
        std::mem::swap(&mut self.squares, &mut other.squares);
        std::mem::swap(&mut self.clock, &mut other.clock);
        std::mem::swap(&mut self.exchanged, &mut other.exchanged);
        std::mem::swap(&mut self.shown, &mut other.shown);
        std::mem::swap(&mut self.presses, &mut other.presses);
        std::mem::swap(&mut self.info.link, &mut other.info.link);
        std::mem::swap(&mut self.adjourned, &mut other.adjourned);
        std::mem::swap(&mut self.info.adjourned, &mut other.info.adjourned);
        std::mem::swap(&mut self.resuming, &mut other.resuming);
        std::mem::swap(&mut self.conflicts, &mut other.conflicts);
        std::mem::swap(&mut self.info.signed, &mut other.info.signed);
        std::mem::swap(&mut self.info.status, &mut other.info.status);
        std::mem::swap(&mut self.setup.board, &mut other.setup.board);
        std::mem::swap(&mut self.game.start, &mut other.game.start);
        std::mem::swap(&mut self.info.start, &mut other.info.start);
        std::mem::swap(&mut self.game.set, &mut other.game.set);
        std::mem::swap(&mut self.info.set, &mut other.info.set);
        if !same_start {
            // Each board was read from the other game's start: what it read are no moves of this one.
            std::mem::swap(&mut self.referee, &mut other.referee);
            std::mem::swap(&mut self.game.result, &mut other.game.result);
        }
        for (table, number) in [self, other].into_iter().zip(numbers) {
            table.info.game = number;
            table.announce();
            if !same_start {
                table.begin_anew(at);
            }
            table.retell();
        }
    }

    /// Reads the board from the start position on, as if it had been set up now.
    fn begin_anew(&mut self, at: Timestamp) {
        self.game.plies.clear();
        self.game.set = None;
        self.info.set = None;
        self.presses.clear();
        self.info.status = TableStatus::Waiting;
        self.announce();
        self.track = Track::new(&self.setup.start);
        let start = self.setup.start.clone();
        self.starts_from(&start);
        self.rule(at, |referee, game, out| referee.read_anew(at, game, out));
        self.wants_dump = true;
        self.track_evidence(at, &Evidence::Dump(self.squares));
        if let Some(times) = self.last_times() {
            let sense = times.running.map_or(ClockSense::Stopped, ClockSense::Running);
            self.track_evidence(at, &Evidence::Clock(sense));
        }
    }

    /// Tells the whole game anew.
    pub(in crate::hall) fn retell(&mut self) {
        for (index, ply) in self.game.plies.iter().enumerate() {
            self.out.push(UpdateBody::Ply { index, ply: Arc::clone(ply), replaces: false });
        }
        self.out.push(UpdateBody::Result(self.game.result));
        self.out.push(UpdateBody::Clock(self.shown));
        self.out.push(UpdateBody::Sensed { placement: self.placement(), change: None });
        for alert in self.referee.live_alerts() {
            self.out.push(UpdateBody::Alert(Arc::new(alert.clone())));
        }
    }
}
