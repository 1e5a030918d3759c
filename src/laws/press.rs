//! What a press of the clock completes: a move, an illegal move, half a move or none (Laws 7.5, 6.2.4,
//! 4.7). What an illegal move costs is in `offence`.

use serde_json::{Value, json};
use shakmaty::{Color, Piece, Role, Square};

use super::{
    Code, Severity,
    board::CENTRE,
    desk::{Notice, Scene},
    legality,
    offence::Fault,
    referee::Referee,
    timers::Timer,
};
use crate::{
    record::{Position, Timestamp},
    track::{AtPress, Irregular, SquareDiff},
};

/// What is found unexplained is told when it has stayed so for this long. Milliseconds.
const STANDS: i64 = 1_200;

impl Referee {
    /// The clock was pressed at `at`; `board` is what stood there.
    pub(super) fn pressed(
        &mut self,
        scene: &mut Scene<'_>,
        at: Timestamp,
        by: Color,
        mover: Color,
        board: &AtPress,
    ) {
        if self.over.is_some() {
            return;
        }
        self.out_of_turn_stands(scene);
        self.desk.clear(scene, &[Code::IllegalMovePending]);
        if self.not_own_press(scene, at, by, board) {
            return;
        }
        match board {
            AtPress::Move { index, before_release } => self.completed(scene, at, by, *index, *before_release),
            AtPress::Unchanged if by == mover => self.pressed_without_move(scene, at, by),
            AtPress::Unchanged => self.pressed_back(scene, by),
            AtPress::Irregular { what, sensed, squares } if by == mover => {
                self.pressed_irregular(scene, at, by, what, squares);
                let len = scene.game.plies.len();
                let here = |(side, ply): &mut (Color, usize)| *side == by && *ply <= len;
                if self.two_hands_waiting.take_if(here).is_some() {
                    // An illegal move and two hands are one offence.
                    let notice =
                        Notice::new(Code::TwoHands).side(by).needs_arbiter().variant("same").key(len);
                    self.raise(scene, notice);
                }
                self.both_kings_after(scene, sensed);
                self.new_turn(scene.game, len);
            }
            // The opponent pressed the clock back over a fault that still stands.
            AtPress::Irregular { .. } if self.offences.iter().any(|o| o.open && o.side != by) => {
                self.pressed_back(scene, by);
            }
            AtPress::Irregular { squares, .. } => self.mismatch_at_press(scene, squares),
        }
    }

    fn completed(
        &mut self,
        scene: &mut Scene<'_>,
        at: Timestamp,
        by: Color,
        index: usize,
        before_release: bool,
    ) {
        self.cancel(Timer::NotPressed);
        self.desk.clear(scene, &[Code::ClockNotPressed]);
        self.recount(scene.game);
        self.judge_hands(scene, index, at);
        self.settle_to(scene, index + 1);
        self.milestones(scene);
        if before_release && !self.options.assistant && self.watch.swapped == 0 {
            self.raise(scene, Notice::new(Code::PressBeforeRelease).side(by).probable().key(index));
        }
        self.clear_incomplete(scene);
        self.two_hands_pressed(scene, at, by, index);
        // Touches after the press belong to the opponent's turn.
        if scene.game.plies.len() == index + 1 {
            self.new_turn_since(scene, index + 1, at);
        }
        self.persists_after(scene, index + 1);
    }

    /// Two hands had been seen in this move, and now it is completed (7.5.4).
    fn two_hands_pressed(&mut self, scene: &mut Scene<'_>, at: Timestamp, by: Color, index: usize) {
        if self.two_hands_waiting.take_if(|waiting| *waiting == (by, index)).is_none() || self.over.is_some()
        {
            return;
        }
        self.two_hands_completed(scene, at, by, index);
    }

    /// Ply `index` was made with both hands and completed.
    pub(super) fn two_hands_completed(
        &mut self,
        scene: &mut Scene<'_>,
        at: Timestamp,
        by: Color,
        index: usize,
    ) {
        let before = scene.game.position_after(index).clone();
        let shown = scene.game.plies.get(index).map(|ply| ply.san.clone()).unwrap_or_default();
        let fault = Fault { at, by, code: Code::TwoHands, kind: "kind-two-hands", shown, before };
        self.offend(scene, fault, |_| {});
        if let Some(offence) = self.offences.last_mut() {
            offence.ply = index;
        }
    }

    /// Half-done moves that the board shows complete now.
    pub(super) fn clear_incomplete(&mut self, scene: &mut Scene<'_>) {
        self.desk.clear(
            scene,
            &[
                Code::CaptureIncomplete,
                Code::CastlingIncomplete,
                Code::PromotionPieceMissing,
                Code::MovedOutOfTurn,
            ],
        );
    }

    /// 7.5.3.
    fn pressed_without_move(&mut self, scene: &mut Scene<'_>, at: Timestamp, by: Color) {
        let len = scene.game.plies.len();
        // The late press of 6.2.1.2: the opponent had replied before it.
        let late = len
            .checked_sub(2)
            .and_then(|index| scene.game.plies.get(index))
            .is_some_and(|ply| ply.after.turn() != by && ply.pressed_at.is_none() && ply.made_at <= at)
            && !self.watch.pressed_before(by, scene.game.plies.last().map_or(at, |ply| ply.made_at), at);
        if late {
            return;
        }
        // Starting the game: Black or the arbiter presses at move 0.
        if len == 0 && self.watch.completed[by] == 0 && by.is_black() {
            return;
        }
        if self.offences.iter().any(|offence| offence.open && offence.side != by) {
            return self.pressed_back(scene, by);
        }
        if self.promised_piece_missing() {
            return;
        }
        if !self.profile.rules.press_without_move_counts {
            let notice = Notice::new(Code::PressWithoutMove)
                .side(by)
                .variant("no-time")
                .severity(Severity::Look)
                .key(format!("{len}/{}", at.millis()));
            self.raise(scene, notice);
            return;
        }
        let before = scene.game.position();
        let (code, kind) = (Code::PressWithoutMove, "kind-press-without-move");
        self.offend(
            scene,
            Fault { at, by, code, kind, shown: String::new(), before: before.clone() },
            |_| {},
        );
    }

    /// The clock was pressed back after the opponent's fault: the arbiter judges, nothing is counted.
    fn pressed_back(&mut self, scene: &mut Scene<'_>, by: Color) {
        let fault = self.offences.iter().rev().find(|offence| offence.open && offence.side != by);
        if let Some(fault) = fault {
            let key = fault.ply;
            let notice = Notice::new(Code::PressWithoutMove)
                .side(by)
                .needs_arbiter()
                .severity(Severity::Look)
                .variant("judge")
                .key(format!("judge/{key}"));
            self.raise(scene, notice);
        }
    }

    fn promised_piece_missing(&self) -> bool {
        self.desk.live(Code::PromotionPieceMissing).is_some()
    }

    /// The board at the press is no legal move of the mover.
    fn pressed_irregular(
        &mut self,
        scene: &mut Scene<'_>,
        at: Timestamp,
        by: Color,
        what: &Irregular,
        squares: &[SquareDiff],
    ) {
        let before = scene.game.position();
        let len = scene.game.plies.len();
        let named = if *what == Irregular::Other { legality::one_man_moved(by, squares) } else { None };
        let what = named.as_ref().unwrap_or(what);
        let shown = legality::shown(what);
        let kind = legality::kind(before, what);
        let code = Code::IllegalMoveCompleted;
        let fault = |shown, before: &Position| Fault { at, by, code, kind, shown, before: before.clone() };
        // The touches before an illegal move oblige as well.
        self.judge_hands(scene, len, at);
        match what {
            Irregular::PieceMoved { from, .. } => self.illegal_move(scene, fault(shown, before), Some(*from)),
            Irregular::Castled { king, .. } => self.illegal_move(scene, fault(shown, before), Some(*king)),
            Irregular::RookHome { castling, legal: true } => {
                let uci = before.uci(*castling).to_string();
                let notice = Notice::new(Code::CastlingIncomplete)
                    .side(by)
                    .key(len)
                    .squares(castling.from())
                    .advise(|advice| advice.must_play = Some(uci));
                self.raise(scene, notice);
            }
            Irregular::RookHome { castling, .. } => {
                self.illegal_move(scene, fault(shown, before), castling.from());
            }
            Irregular::VictimLeft { capture, victim } => {
                let uci = before.uci(*capture).to_string();
                self.incomplete_capture(scene, by, *victim, "", Some(uci));
            }
            Irregular::CaptureHalf { victim } => self.incomplete_capture(scene, by, *victim, "half", None),
            Irregular::PawnOnLastRank { from, to } => {
                self.pawn_on_last_rank(scene, at, by, *from, *to, before);
            }
            Irregular::PromotionSquareEmpty { candidates } => {
                self.promotion_missing(scene, by, before, candidates);
            }
            Irregular::InAir { square, .. } => {
                let notice =
                    Notice::new(Code::PressBeforeRelease).side(by).probable().key(len).squares([*square]);
                self.raise(scene, notice);
            }
            Irregular::OutOfTurn { from, to, piece } => self.out_of_turn(scene, *from, *to, *piece),
            Irregular::MovePlus { played } => {
                let Some(king) = king_and_rook_moved(*played, by, squares) else {
                    return self.mismatch_at_press(scene, squares);
                };
                // King and rook moved in one turn, and it is no castling.
                let made = scene.game.plies.last().is_some_and(|ply| !ply.after.turn() == by);
                let count = if made { len - 1 } else { len };
                let before = scene.game.position_after(count);
                let rights = before.to_setup().castling_rights & before.board().by_color(by);
                let kind = if rights.is_empty() {
                    "kind-castling-right-lost"
                } else {
                    "kind-castling-through-attack"
                };
                self.illegal_move(scene, Fault { kind, ..fault(shown, before) }, Some(king));
            }
            Irregular::Other => {
                if let Some(candidates) = promoted_to_nothing(before, by, squares) {
                    self.promotion_missing(scene, by, before, &candidates);
                    return;
                }
                let notice = Notice::new(Code::PiecesRearranged)
                    .side(by)
                    .certainty(self.certain())
                    .key(len)
                    .squares(squares.iter().map(|diff| diff.square))
                    .advise(|advice| advice.restore_fen = Some(before.fen()));
                self.raise(scene, notice);
            }
        }
    }

    /// 4.6: the pawn is gone and its promotion square reads empty.
    fn promotion_missing(
        &mut self,
        scene: &mut Scene<'_>,
        by: Color,
        before: &Position,
        candidates: &[shakmaty::Move],
    ) {
        let ucis: Vec<Value> = candidates.iter().map(|m| json!(before.uci(*m).to_string())).collect();
        let square = candidates.first().map(|m| m.to().to_string()).unwrap_or_default();
        let notice = Notice::new(Code::PromotionPieceMissing)
            .side(by)
            .needs_arbiter()
            .key(scene.game.plies.len())
            .squares(candidates.iter().take(1).map(|m| m.to()))
            .arg("square", square)
            .detail("candidates", ucis);
        self.raise(scene, notice);
    }

    fn incomplete_capture(
        &mut self,
        scene: &mut Scene<'_>,
        by: Color,
        victim: Square,
        variant: &'static str,
        play: Option<String>,
    ) {
        let notice = Notice::new(Code::CaptureIncomplete)
            .side(by)
            .probable()
            .variant(variant)
            .key(scene.game.plies.len())
            .squares([victim])
            .arg("square", victim.to_string())
            .advise(|advice| advice.must_play = play);
        self.raise(scene, notice);
    }

    /// 7.5.2: a queen, and an illegal move.
    fn pawn_on_last_rank(
        &mut self,
        scene: &mut Scene<'_>,
        at: Timestamp,
        by: Color,
        from: Square,
        to: Square,
        before: &Position,
    ) {
        let penalty = self.penalty_s();
        let queen = before
            .legal_moves()
            .into_iter()
            .find(|m| m.from() == Some(from) && m.to() == to && m.promotion() == Some(Role::Queen));
        let play = queen.map(|m| before.uci(m).to_string());
        let mut notice = Notice::new(Code::PawnOnLastRank)
            .side(by)
            .key(scene.game.plies.len())
            .squares([to])
            .arg("square", to.to_string())
            .arg("penalty", penalty)
            .certainty(self.certain());
        if penalty == 0 || self.illegal[by] + 1 >= self.profile.rules.illegal_moves_to_lose {
            notice = notice.variant("no-time");
        }
        let with_queen = queen.map(|m| before.play(m).fen());
        notice = notice.advise(|advice| {
            advice.must_play.clone_from(&play);
            advice.restore_fen.clone_from(&with_queen);
        });
        self.raise(scene, notice);
        let (code, kind) = (Code::IllegalMoveCompleted, "kind-pawn-on-last-rank");
        let fault = Fault { at, by, code, kind, shown: format!("{from}-{to}"), before: before.clone() };
        self.offend(scene, fault, |advice| {
            advice.must_play = play;
            if with_queen.is_some() {
                advice.restore_fen = with_queen;
            }
        });
    }

    pub(super) fn out_of_turn(&mut self, scene: &mut Scene<'_>, from: Square, to: Square, piece: Piece) {
        let notice = Notice::new(Code::MovedOutOfTurn)
            .side(piece.color)
            .probable()
            .key(scene.game.plies.len())
            .squares([from, to])
            .arg("move", format!("{from}-{to}"));
        self.raise(scene, notice);
    }

    /// A press over squares that nothing explains. The other hand may be in its move already, or kings on
    /// their way to the centre: somebody has to go there if it stays so.
    fn mismatch_at_press(&mut self, scene: &mut Scene<'_>, squares: &[SquareDiff]) {
        self.mismatch_soon(scene, squares, true);
    }

    /// Says that board and position differ, if nothing explains it soon: a man may only rest on a wrong
    /// square in a hand that hesitates.
    pub(super) fn mismatch_soon(&mut self, scene: &mut Scene<'_>, squares: &[SquareDiff], pressed: bool) {
        if !kings_come(squares) {
            self.unexplained_press = pressed || self.unexplained_press && !self.unexplained.is_empty();
            self.unexplained = squares.to_vec();
            self.set_timer(Timer::Mismatch, scene.at.plus(STANDS));
        }
    }

    /// Nothing has explained it since.
    pub(super) fn mismatch_stands(&mut self, scene: &mut Scene<'_>) {
        let squares = std::mem::take(&mut self.unexplained);
        if self.over.is_none() && !squares.is_empty() {
            let pressed = self.unexplained_press;
            self.mismatch(scene, &squares, pressed);
        }
    }

    /// Board and position differ; at a press somebody has to go there.
    pub(super) fn mismatch(&mut self, scene: &mut Scene<'_>, squares: &[SquareDiff], pressed: bool) {
        let differing = squares.iter().map(|diff| diff.square);
        let detail: Vec<Value> = squares
            .iter()
            .map(|diff| {
                json!({"square": diff.square.to_string(), "expected": diff.expected.map(Piece::char),
                       "sensed": diff.sensed.map(Piece::char)})
            })
            .collect();
        let fen = scene.game.position().fen();
        let mut notice = Notice::new(Code::PositionMismatch)
            .certainty(self.certain())
            .squares(differing)
            .detail("squares", detail)
            .advise(|advice| advice.restore_fen = Some(fen));
        let worse =
            self.desk.live(Code::PositionMismatch).is_some_and(|alert| alert.severity <= Severity::GoNow);
        if pressed || worse {
            notice = notice.severity(Severity::GoNow).variant("press");
        }
        self.raise(scene, notice);
    }
}

/// A king stands in the centre where the position has none: a result is being shown (28.5).
pub(super) fn kings_come(squares: &[SquareDiff]) -> bool {
    let king = |piece: Option<Piece>| piece.is_some_and(|piece| piece.role == Role::King);
    squares.iter().any(|diff| CENTRE.contains(&diff.square) && king(diff.sensed) && !king(diff.expected))
}

/// With a legal move of king or rook the other of the two was moved as well: where the king stood.
fn king_and_rook_moved(played: shakmaty::Move, by: Color, squares: &[SquareDiff]) -> Option<Square> {
    let [one, other] = squares else { return None };
    let (left, came) = if one.sensed.is_none() { (one, other) } else { (other, one) };
    let piece = left.expected.filter(|piece| piece.color == by && left.sensed.is_none())?;
    if came.sensed != Some(piece) || came.expected.is_some() {
        return None;
    }
    match (played.role(), piece.role) {
        (Role::Rook, Role::King) => Some(left.square),
        (Role::King, Role::Rook) => played.from(),
        _ => None,
    }
}

/// Of the mover's men only a pawn before its last rank is gone (the opponent may have replied since):
/// the promotions it can have been.
fn promoted_to_nothing(before: &Position, by: Color, squares: &[SquareDiff]) -> Option<Vec<shakmaty::Move>> {
    let own = |piece: Option<Piece>| piece.is_some_and(|piece| piece.color == by);
    let mut gone = squares.iter().filter(|diff| own(diff.expected) || own(diff.sensed));
    let (pawn, None) = (gone.next()?, gone.next()) else { return None };
    if pawn.sensed.is_some_and(|piece| piece.color == by) {
        return None;
    }
    let candidates: Vec<_> = before
        .legal_moves()
        .into_iter()
        .filter(|m| m.from() == Some(pawn.square) && m.promotion().is_some() && !m.is_capture())
        .collect();
    (!candidates.is_empty()).then_some(candidates)
}
