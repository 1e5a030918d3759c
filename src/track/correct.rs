//! A person's word: corrections of the line, and taking them back.

use shakmaty::{Color, uci::UciMove};

use super::{
    Cause, Correction, Finding, Track,
    line::{Line, Made, Step},
    threads::Thread,
};
use crate::record::{PlySource, PlyState, Position, Timestamp};

/// Corrections that can be taken back.
const UNDO: usize = 8;

impl Track {
    /// Applies a correction.
    pub(super) fn correct(&mut self, at: Timestamp, correction: &Correction, out: &mut Vec<Finding>) {
        if let Correction::Rotated { rotated } = correction {
            self.eyes.turn(*rotated);
            out.push(Finding::Orientation { rotated: *rotated });
            self.look(at, out);
            return;
        }
        let mut made = self.line.made.clone();
        if !matches!(correction, Correction::PromotionPiece { .. }) || self.threads.len() == 1 {
            made.extend(self.threads[0].open[..self.shown.len()].iter().map(|open| open.made.clone()));
        }
        let (start, entries) = match correction {
            Correction::Undo => match self.undo.pop_back() {
                Some(line) => {
                    self.take(line, out);
                    self.look(at, out);
                    return;
                }
                None => return,
            },
            Correction::ReplacePly { index, uci } => {
                (self.line.start.clone(), self.edited(&made, *index, &[*uci], 1, at))
            }
            Correction::InsertPly { index, uci } => {
                (self.line.start.clone(), self.edited(&made, *index, &[*uci], 0, at))
            }
            Correction::DeletePly { index } => {
                (self.line.start.clone(), self.edited(&made, *index, &[], 1, at))
            }
            Correction::Choose { index, replaces, plies } => {
                let chosen: Result<Vec<UciMove>, _> = plies.iter().map(|text| text.parse()).collect();
                let Ok(chosen) = chosen else { return };
                let replaced = (*replaces).min(plies_of(&made).count().saturating_sub(*index));
                (self.line.start.clone(), self.edited(&made, *index, &chosen, replaced, at))
            }
            Correction::Append { plies } => (self.line.start.clone(), self.appended(&made, plies, at)),
            Correction::Typed { plies } => (self.line.start.clone(), self.typed(&made, plies, at)),
            Correction::SetPosition { position } => {
                self.remember();
                self.set_position(at, position, out);
                self.look(at, out);
                return;
            }
            Correction::PromotionPiece { role } => {
                let found = self.threads.iter().position(|thread| {
                    thread.open.first().is_some_and(
                        |open| matches!(open.made.step, Step::Move(m) if m.promotion() == Some(*role)),
                    )
                });
                match found {
                    Some(found) => {
                        self.threads.swap(0, found);
                        self.threads.truncate(1);
                        self.publish(Cause::Corrected, out);
                        self.note_difference(at, out);
                    }
                    None => self.repromote(*role, at, out),
                }
                return;
            }
            Correction::Rotated { .. } => return,
        };
        let Some(entries) = entries else { return };
        self.remember();
        let line = Line::rebuild(&start, entries);
        self.take(line, out);
        if let Correction::Choose { index, .. } = correction {
            out.push(Finding::Chosen { index: *index });
        }
        if matches!(correction, Correction::DeletePly { .. }) {
            // A deleted ply is not read from the board again before something moves; but if the board
            // goes on to show it, somebody has to know.
            self.last_change = at;
            self.said.searched = true;
            if self.playing() {
                self.note_difference(at, out);
            }
        } else {
            self.look(at, out);
        }
    }

    fn remember(&mut self) {
        let mut line = self.line.clone();
        for open in &self.threads[0].open[..self.shown.len()] {
            line.push(open.made.clone(), open.after.clone());
        }
        if self.undo.len() == UNDO {
            self.undo.pop_front();
        }
        self.undo.push_back(line);
    }

    /// Another piece for the last promotion.
    fn repromote(&mut self, role: shakmaty::Role, at: Timestamp, out: &mut Vec<Finding>) {
        let mut made = self.line.made.clone();
        made.extend(self.threads[0].open[..self.shown.len()].iter().map(|open| open.made.clone()));
        let mut index = 0;
        let mut last = None;
        for one in &made {
            match one.step {
                Step::Base(_) => continue,
                Step::Move(m) if m.is_promotion() => last = Some((index, m)),
                _ => {}
            }
            index += 1;
        }
        let Some((index, shakmaty::Move::Normal { from, to, .. })) = last else { return };
        let uci = UciMove::Normal { from, to, promotion: Some(role) };
        self.correct(at, &super::Correction::ReplacePly { index, uci }, out);
    }

    /// The entries with `replaces` plies from ply `index` on replaced by `plies`; later ones stay as
    /// long as they are legal.
    fn edited(
        &self,
        made: &[Made],
        index: usize,
        plies: &[UciMove],
        replaces: usize,
        at: Timestamp,
    ) -> Option<Vec<Made>> {
        let mut entries: Vec<Made> = Vec::with_capacity(made.len() + plies.len());
        let mut position = self.line.start.clone();
        let mut count = 0;
        let mut rest = made.iter();
        // What stands before stays as it is.
        while count < index {
            let one = rest.next()?;
            position = one.play(&position);
            if !matches!(one.step, Step::Base(_)) {
                count += 1;
            }
            entries.push(one.clone());
        }
        let mut rest = rest.peekable();
        while let Some(one) = rest.next_if(|one| matches!(one.step, Step::Base(_))) {
            position = one.play(&position);
            entries.push(one.clone());
        }
        for _ in 0..replaces {
            rest.next()?;
        }
        for uci in plies {
            let one = entered(&position, *uci, at)?;
            position = one.play(&position);
            entries.push(one);
        }
        for one in rest {
            let legal = match &one.step {
                Step::Move(m) => position.legal_moves().contains(m),
                Step::Irregular { .. } => false,
                Step::Base(_) => true,
            };
            // The same squares may be another kind of move now (a capture, say).
            let one = if legal { Some(one.clone()) } else { again(&position, one) };
            let Some(one) = one else { break };
            position = one.play(&position);
            entries.push(one);
        }
        Some(entries)
    }

    fn appended(&self, made: &[Made], plies: &[String], at: Timestamp) -> Option<Vec<Made>> {
        // They follow the last confirmed ply.
        let mut entries = made[..self.line.made.len()].to_vec();
        let mut position = self.line.base.clone();
        for text in plies {
            let one = entered(&position, text.parse().ok()?, at)?;
            position = one.play(&position);
            entries.push(one);
        }
        Some(entries)
    }

    /// The entries of a typed game; those that stand already stay as they are.
    fn typed(&self, made: &[Made], plies: &[String], at: Timestamp) -> Option<Vec<Made>> {
        let mut entries = Vec::with_capacity(plies.len());
        let mut position = self.line.start.clone();
        let mut old = made.iter();
        let mut same = true;
        for text in plies {
            let one = entered(&position, text.parse().ok()?, at)?;
            let kept = old.next().filter(|old| same && old.step == one.step);
            same = kept.is_some();
            let one = kept.cloned().unwrap_or(Made { source: PlySource::Typed, ..one });
            position = one.play(&position);
            entries.push(one);
        }
        Some(entries)
    }

    /// Puts a line in the place of the present one and tells what changed.
    fn take(&mut self, line: Line, out: &mut Vec<Finding>) {
        let before: Vec<Step> = steps(&self.line).chain(self.shown.iter().cloned()).collect();
        let kept = before.iter().zip(steps(&line)).take_while(|(a, b)| **a == *b).count();
        let based = self.line.start != line.start
            || bases(&self.line).collect::<Vec<_>>() != bases(&line).collect::<Vec<_>>();
        let mut plies = Vec::new();
        let mut position = line.start.clone();
        let mut count = 0;
        let mut set = false;
        for one in &line.made {
            let after = one.play(&position);
            if matches!(one.step, Step::Base(_)) {
                set = true;
            } else {
                if count >= kept {
                    let mut told = one.tell(&position, &after, PlyState::Confirmed);
                    told.origin = set.then(|| Box::new(position.clone()));
                    plies.push(told);
                }
                set = false;
                count += 1;
            }
            position = after;
        }
        if kept < before.len() || !plies.is_empty() {
            out.push(Finding::Line { from: kept, plies, cause: Cause::Corrected });
        }
        if based || matches!(line.made.last(), Some(Made { step: Step::Base(_), .. })) {
            out.push(Finding::Base { index: line.count, position: line.base.clone() });
        }
        out.push(Finding::Confirmed { count: line.count });
        self.line = line;
        self.threads = vec![Thread::default()];
        self.shown.clear();
        self.after_correction(out);
    }

    fn set_position(&mut self, at: Timestamp, position: &Position, out: &mut Vec<Finding>) {
        let open = self.shown.len();
        self.threads.truncate(1);
        self.confirm(open, out);
        self.line.set_base(position.clone(), at);
        self.threads = vec![Thread::default()];
        self.shown.clear();
        out.push(Finding::Base { index: self.line.count, position: position.clone() });
        self.setup.armed = true;
        // The other way round, if only that agrees.
        if !self.eyes.diff(position.board()).is_empty() {
            let turned = self.eyes.raw().to_board(!self.eyes.rotated);
            if turned == *position.board() {
                let rotated = !self.eyes.rotated;
                self.eyes.turn(rotated);
                out.push(Finding::Orientation { rotated });
            }
        }
        if self.diff().is_empty() {
            // Said now: a position that ends the game is not looked at any more.
            self.note_difference(at, out);
        }
        self.after_correction(out);
    }

    fn after_correction(&mut self, out: &mut Vec<Finding>) {
        self.held.clear();
        self.presses.forget(self.line.count);
        self.doubt.forget();
        self.gap.forget();
        self.gap.look_again();
        self.setup.armed |= self.line.count > 0;
        self.started |= self.line.count > 0;
        self.differs_since = None;
        let differed = self.said.differ;
        self.said = super::tracker::Said { differ: differed, ..Default::default() };
        self.end_if_over(out);
    }
}

fn plies_of(made: &[Made]) -> impl Iterator<Item = &Made> {
    made.iter().filter(|one| !matches!(one.step, Step::Base(_)))
}

fn steps(line: &Line) -> impl Iterator<Item = Step> + '_ {
    plies_of(&line.made).map(|one| one.step.clone())
}

fn bases(line: &Line) -> impl Iterator<Item = &Step> {
    line.made.iter().map(|one| &one.step).filter(|step| matches!(step, Step::Base(_)))
}

/// A move that a person entered: legal, or by a man of the side on move from square to square.
fn entered(position: &Position, uci: UciMove, at: Timestamp) -> Option<Made> {
    let step = match position.find_uci(uci) {
        Some(m) => Step::Move(m),
        None => irregular(position, uci)?,
    };
    Some(Made { step, made_at: at, source: PlySource::Entered })
}

fn irregular(position: &Position, uci: UciMove) -> Option<Step> {
    let UciMove::Normal { from, to, promotion } = uci else { return None };
    let mut board = position.board().clone();
    let turn: Color = position.turn();
    let mut piece = board.remove_piece_at(from)?;
    if piece.color != turn {
        return None;
    }
    piece.role = promotion.unwrap_or(piece.role);
    board.set_piece_at(to, piece);
    Some(Step::Irregular { uci, board: Box::new(board) })
}

/// The same ply in a position that has become another.
fn again(position: &Position, made: &Made) -> Option<Made> {
    let Step::Move(m) = made.step else { return None };
    let m = position.find_uci(position.uci(m))?;
    Some(Made { step: Step::Move(m), ..made.clone() })
}
