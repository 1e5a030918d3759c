//! What the board and its line say: squares, whole positions, comings and goings.

use super::{Table, UpdateBody, setup};
use crate::{
    record::Timestamp,
    track::Evidence,
    wire::{BoardSquare, Content, LinkEvent, Observation, Squares},
};

impl Table {
    /// Folds one observation of the table's board.
    pub(in crate::hall) fn observe(&mut self, at: Timestamp, observation: &Observation) {
        match observation {
            Observation::Square(square, content) => self.square(at, *square, *content),
            Observation::Dump(squares) => self.dump(at, squares),
            Observation::Clock(state) => self.clock_state(at, *state),
            Observation::Link(event) => self.link(at, event),
            Observation::Battery(reading) => {
                self.info.link.battery = Some(*reading);
                self.rule(at, |referee, game, out| referee.battery(at, *reading, game, out));
                self.announce();
            }
            Observation::Recovered(events) => {
                self.track_evidence(at, &Evidence::Recovered(events.clone()));
            }
        }
    }

    fn square(&mut self, at: Timestamp, square: BoardSquare, content: Content) {
        let was = self.squares.get(square);
        self.squares.set(square, content);
        self.track_evidence(at, &Evidence::Square(square, content));
        if was != content {
            let change = (square.to_chess(self.track.rotated()), was.piece(), content.piece());
            self.out.push(UpdateBody::Sensed { placement: self.placement(), change: Some(change) });
        }
        self.look_at_resumption(at);
    }

    fn dump(&mut self, at: Timestamp, squares: &Squares) {
        let changed = self.squares != *squares;
        self.squares = *squares;
        self.track_evidence(at, &Evidence::Dump(*squares));
        if changed {
            self.out.push(UpdateBody::Sensed { placement: self.placement(), change: None });
        }
        self.look_at_resumption(at);
    }

    pub(super) fn placement(&self) -> String {
        self.squares.to_board(self.track.rotated()).board_fen().to_string()
    }

    fn link(&mut self, at: Timestamp, event: &LinkEvent) {
        let link = &mut self.info.link;
        let evidence = match event {
            LinkEvent::Up(identity) => {
                let news = !link.online;
                link.online = true;
                link.reason = None;
                link.model = Some(setup::model(identity));
                news.then_some(Evidence::LinkUp)
            }
            LinkEvent::Down(reason) => {
                let news = link.online;
                link.online = false;
                link.reason = Some(reason.clone());
                news.then_some(Evidence::LinkDown)
            }
            LinkEvent::Garbage(_) | LinkEvent::Resync(_) | LinkEvent::Checksum => {
                self.wants_dump = true;
                None
            }
        };
        self.rule(at, |referee, game, out| referee.link(at, event, game, out));
        if let Some(evidence) = evidence {
            self.track_evidence(at, &evidence);
            self.announce();
        }
    }

    /// The daemon was started again: the line has to be found anew, evidence may be missing.
    pub(in crate::hall) fn restarted(&mut self, at: Timestamp) {
        self.info.link.online = false;
        self.info.link.reason = Some("restarted".to_owned());
        self.wants_dump = true;
        self.track_evidence(at, &Evidence::LinkDown);
        self.rule(at, |referee, game, out| referee.restarted(at, game, out));
        self.announce();
    }
}
