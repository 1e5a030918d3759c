//! What the hands of a turn oblige to (Laws article 4), judged when a move has been made.
//!
//! All of it depends on dwell times and on what cannot be heard ("I adjust"), so nothing here is
//! certain but a piece that was read on the promotion square.

use shakmaty::{Color, Move, Role, Square};

use super::{
    Code, Severity,
    counts::CLAIMABLE,
    desk::{Notice, Scene},
    referee::Referee,
    texts::Arg,
    timers::Timer,
    touch::{self, Handled, Reading, Touch},
    turn::ply_move,
};
use crate::record::Timestamp;

/// A man put back sooner was most likely adjusted. Milliseconds.
const DELIBERATE: i64 = 1500;
/// Two lifts within one scan of the board have no order. Milliseconds.
const SCAN: i64 = 250;
/// A man dragged over the board is off its squares for no longer than this. Milliseconds.
const DRAG: i64 = 250;
/// Two men lifted within this time may have been lifted with two hands. Milliseconds.
const TWO_HANDS: i64 = 60;

/// Alerts about the opponent's hand that a player may complain of (4.8).
const HANDS: [Code; 5] = [
    Code::TouchMoveViolation,
    Code::CastlingRookFirst,
    Code::ReleasedPieceMoved,
    Code::PromotionPieceSwapped,
    Code::TouchObligation,
];

impl Referee {
    /// A square changed.
    pub(super) fn touched(&mut self, scene: &mut Scene<'_>, touch: Touch) {
        if touch.was.or(touch.now).is_some_and(|piece| piece.role == Role::King) {
            self.cleared = None;
        }
        if self.over.is_some() || self.options.assistant {
            return;
        }
        // Nothing is obliged before the game has begun or while the clock stands.
        if self.watch.running().is_none() && self.watch.seen() {
            return;
        }
        let game = scene.game;
        let turn = self.turn(game);
        if turn.touches.len() >= 400 {
            turn.touches.remove(0);
        }
        turn.touches.push(touch);
        let lifted = touch.was.filter(|was| touch.now != Some(*was));
        let mover = if game.plies.len() > turn.ply { None } else { Some(turn.position.turn()) };
        if let (Some(piece), Some(mover)) = (lifted, mover)
            && piece.color == mover
        {
            let due = touch.at.plus(self.profile.rules.touch_ms);
            if !self.is_timed(Timer::Touched) {
                self.set_timer(Timer::Touched, due);
            }
        }
        self.king_and_rook(scene);
    }

    /// The mover's hand has held a man long enough: no claim on this move (9.4), an offer is declined
    /// (9.1.2.1), and nobody complains of the move before (4.8).
    pub(super) fn touch_counts(&mut self, scene: &mut Scene<'_>) {
        let turn = self.turn(scene.game);
        let (ply, mover) = (turn.ply, turn.position.turn());
        let touches = turn.touches.clone();
        let reading = touch::read(&touches);
        let Some(square) = self.counted_touch(&reading, mover, scene.at) else { return };
        if let Some((offering, since)) = self.offer
            && offering != mover
            && since < scene.at
        {
            self.offer = None;
            self.raise(scene, Notice::new(Code::DrawOfferLapsed).side(mover));
        }
        if self.desk.any_live(&CLAIMABLE) {
            let notice = Notice::new(Code::ClaimRightLost).side(mover).probable().key(ply).squares([square]);
            self.raise(scene, notice);
        }
        let complained =
            HANDS.iter().any(|code| self.desk.live(*code).is_some_and(|a| a.side == Some(!mover)));
        if complained {
            let notice = Notice::new(Code::ClaimRightLost)
                .side(mover)
                .probable()
                .article("4.8")
                .variant("touch")
                .key(format!("4.8/{ply}"));
            self.raise(scene, notice);
        }
    }

    /// The first own man that was off its square for as long as counts as a touch.
    pub(super) fn counted_touch(&self, reading: &Reading, mover: Color, now: Timestamp) -> Option<Square> {
        reading
            .handled
            .iter()
            .filter(|handled| handled.piece.color == mover)
            .find(|handled| {
                handled.wandered
                    || handled.back.unwrap_or(now).since(handled.lifted) >= self.profile.rules.touch_ms
            })
            .map(|handled| handled.square)
    }

    /// 4.4.1, 4.4.3: king and then rook touched and both put back.
    fn king_and_rook(&mut self, scene: &mut Scene<'_>) {
        let game = scene.game;
        let turn = self.turn(game).clone();
        if game.plies.len() > turn.ply || self.touches_excused == Some(turn.ply) {
            return;
        }
        let mover = turn.position.turn();
        let reading = touch::read(&turn.touches);
        let Some((king, rook)) = king_then_rook(&reading, mover) else { return };
        let castle = castle_with(&turn.position, king, rook);
        let notice = match castle {
            Some(m) => {
                let uci = turn.position.uci(m).to_string();
                let (king, rook) = (king.to_string(), rook.to_string());
                Notice::new(Code::TouchObligation).variant("castle").article("4.4.1").advise(|advice| {
                    advice.must_play = Some(uci);
                    advice.must_move_from = vec![king, rook];
                })
            }
            None if touch::can_move(&turn.position, king) => {
                let king = king.to_string();
                Notice::new(Code::TouchObligation)
                    .variant("king")
                    .article("4.4.3")
                    .advise(|advice| advice.must_move_from = vec![king])
            }
            None => return,
        };
        let notice = notice
            .side(mover)
            .probable()
            .key(turn.ply)
            .squares([king, rook])
            .evidence(touch::evidence(&turn.touches));
        self.raise(scene, notice);
    }

    /// Holds the ply that has been made (`index`) against the touches of its turn up to `until`.
    pub(super) fn judge_hands(&mut self, scene: &mut Scene<'_>, index: usize, until: Timestamp) {
        let game = scene.game;
        let turn = self.turn(game);
        if turn.ply != index || self.options.assistant || self.touches_excused == Some(index) {
            return;
        }
        let turn = self.turn(game).clone();
        let touches: Vec<Touch> = turn.touches.iter().filter(|touch| touch.at <= until).copied().collect();
        let Some(played) = ply_move(game, index) else {
            self.judge_irregular(scene, index, &touches);
            return;
        };
        let mover = turn.position.turn();
        let reading = touch::read(&touches);
        let base = |code: Code| {
            Notice::new(code)
                .side(mover)
                .probable()
                .key(index)
                .arg("move", game.plies[index].san.clone())
                .evidence(touch::evidence(&touches))
        };
        if let Some(notice) = Self::swapped(&touches, played, mover, base(Code::PromotionPieceSwapped)) {
            self.raise(scene, notice.certainty(super::Certainty::Certain));
            return;
        }
        if let Some((king, rook)) = touch::castling(played)
            && !turn.position.mode().is_chess960()
            && self.rook_first(scene, &turn.position, (king, rook), &reading, base(Code::CastlingRookFirst))
        {
            return;
        }
        if self.released_before(scene, &turn.position, played, &reading, base(Code::ReleasedPieceMoved)) {
            return;
        }
        if let Some(notice) =
            touch_move(&turn.position, mover, Some(played), &reading, base(Code::TouchMoveViolation))
        {
            self.raise(scene, notice);
        }
        self.desk.clear_key(scene, Code::TouchObligation, index);
    }

    /// An irregular move was made; the touches before it still oblige.
    fn judge_irregular(&mut self, scene: &mut Scene<'_>, index: usize, touches: &[Touch]) {
        let position = self.turn(scene.game).position.clone();
        let mover = position.turn();
        let reading = touch::read(touches);
        let notice = Notice::new(Code::TouchMoveViolation)
            .side(mover)
            .probable()
            .key(index)
            .arg("move", Arg::Plain("…".to_owned()))
            .evidence(touch::evidence(touches));
        if let Some(notice) = touch_move(&position, mover, None, &reading, notice) {
            self.raise(scene, notice);
        }
    }

    /// 4.4.4: another piece stood on the promotion square first.
    fn swapped(touches: &[Touch], played: Move, mover: Color, notice: Notice) -> Option<Notice> {
        let role = played.promotion()?;
        let first = touches.iter().filter(|touch| touch.square == played.to()).find_map(|touch| {
            touch.now.filter(|piece| {
                piece.color == mover && !matches!(piece.role, Role::Pawn | Role::King) && piece.role != role
            })
        })?;
        let origin = played.from()?;
        let must = Move::Normal {
            role: Role::Pawn,
            from: origin,
            capture: played.capture(),
            to: played.to(),
            promotion: Some(first.role),
        };
        Some(
            notice
                .arg("square", played.to().to_string())
                .arg("piece", Arg::Word(role_word(first.role)))
                .advise(|advice| {
                    advice.must_play = Some(must.to_uci(shakmaty::CastlingMode::Standard).to_string());
                }),
        )
    }

    /// 4.4.2: the rook was touched before the king.
    fn rook_first(
        &mut self,
        scene: &mut Scene<'_>,
        position: &crate::record::Position,
        (king, rook): (Square, Square),
        reading: &Reading,
        notice: Notice,
    ) -> bool {
        let (Some(rook_at), Some(king_at)) = (reading.lifted(rook), reading.lifted(king)) else {
            return false;
        };
        let gap = king_at.since(rook_at);
        if gap.abs() <= TWO_HANDS {
            let hint = Notice::new(Code::TwoHandsSuspected)
                .side(position.turn())
                .needs_arbiter()
                .key(self.turn.as_ref().map_or(0, |turn| turn.ply));
            self.raise(scene, hint);
        }
        if gap <= SCAN {
            return false;
        }
        // Where the rook was let go first, if that was a move of its own.
        let rest = reading.rests.iter().find(|rest| rest.origin == rook && rest.from < king_at);
        let own = rest.and_then(|rest| {
            position
                .legal_moves()
                .into_iter()
                .find(|m| touch::castling(*m).is_none() && m.from() == Some(rook) && m.to() == rest.square)
        });
        let notice = notice.squares([rook, king]).advise(|advice| match own {
            Some(m) => advice.must_play = Some(position.uci(m).to_string()),
            None if touch::can_move(position, rook) => advice.must_move_from = vec![rook.to_string()],
            None => advice.must_move_from = vec![king.to_string()],
        });
        self.raise(scene, notice);
        true
    }

    /// 4.7: a man was let go on a square where it might have stayed, and another move was played.
    fn released_before(
        &mut self,
        scene: &mut Scene<'_>,
        position: &crate::record::Position,
        played: Move,
        reading: &Reading,
        notice: Notice,
    ) -> bool {
        let mover = position.turn();
        let released = self.profile.rules.released_ms;
        let castles = touch::castling(played);
        let two_steps = !position.mode().is_chess960();
        for rest in &reading.rests {
            if rest.piece.color != mover || rest.millis().is_none_or(|millis| millis < released) {
                continue;
            }
            let final_move = played.from() == Some(rest.origin) && rest.square == played.to();
            let castled_king = castles.is_some_and(|(king, rook)| {
                rest.origin == king && rest.square == super::legality::castled_king(king, rook)
            });
            if final_move || castled_king || castles.is_some_and(|(_, rook)| rest.origin == rook) {
                continue;
            }
            let legal = position.legal_moves().into_iter().find(|m| match touch::castling(*m) {
                None => m.from() == Some(rest.origin) && m.to() == rest.square,
                // 4.7.2: a king let go two squares away castles.
                Some((king, rook)) => {
                    two_steps
                        && rest.origin == king
                        && rest.square == super::legality::castled_king(king, rook)
                }
            });
            let Some(first) = legal else { continue };
            // The promoted pawn's own square is left to the promotion rule.
            if first.promotion().is_some() {
                continue;
            }
            let uci = position.uci(first).to_string();
            // On its way, and never really off the board: dragged, with a rest. The hand may never have left it.
            let on_the_way = played.from() == Some(rest.origin)
                && shakmaty::attacks::between(rest.origin, played.to()).contains(rest.square)
                && rest.hop.is_some_and(|hop| hop <= DRAG);
            let notice = if on_the_way { notice.severity(Severity::Note).needs_arbiter() } else { notice };
            let notice = notice.squares([rest.square]).advise(|advice| advice.must_play = Some(uci));
            self.raise(scene, notice);
            return true;
        }
        false
    }
}

/// 4.3: which touched man had to be moved or taken, and was not.
fn touch_move(
    position: &crate::record::Position,
    mover: Color,
    played: Option<Move>,
    reading: &Reading,
    notice: Notice,
) -> Option<Notice> {
    let moved_from: Vec<Square> = match played {
        Some(m) => m.from().into_iter().chain(touch::castling(m).map(|(_, rook)| rook)).collect(),
        None => reading.rests.iter().filter(|rest| rest.until.is_none()).map(|rest| rest.origin).collect(),
    };
    let began = moved_from.iter().filter_map(|square| reading.lifted(*square)).min();
    let deliberate = |handled: &&Handled| {
        handled.back.is_some_and(|back| handled.wandered || back.since(handled.lifted) >= DELIBERATE)
            && began.is_none_or(|began| handled.lifted <= began)
    };
    let touched: Vec<&Handled> = reading.handled.iter().filter(deliberate).collect();
    // King and rook: castling with that rook; where that is not legal, the king.
    if let Some((king, rook)) = king_then_rook(reading, mover)
        && touched.iter().any(|handled| handled.square == king)
    {
        if let Some(castle) = castle_with(position, king, rook) {
            let uci = position.uci(castle).to_string();
            let ok = played == Some(castle);
            return (!ok).then(|| {
                must_move(notice.article("4.4.1"), king)
                    .squares([king, rook])
                    .advise(|advice| advice.must_play = Some(uci))
            });
        }
        let ok = moved_from.contains(&king) || !touch::can_move(position, king);
        return (!ok).then(|| must_move(notice.article("4.4.3"), king));
    }
    let own = touched.iter().find(|h| h.piece.color == mover && touch::can_move(position, h.square));
    let enemy = touched.iter().find(|h| h.piece.color != mover && touch::can_be_taken(position, h.square));
    let captured = played.and_then(touch::taken);
    match (own, enemy) {
        (Some(own), Some(enemy)) => {
            let both = position
                .legal_moves()
                .into_iter()
                .any(|m| m.from() == Some(own.square) && touch::taken(m) == Some(enemy.square));
            if both {
                let ok = moved_from.contains(&own.square) && captured == Some(enemy.square);
                return (!ok).then(|| {
                    let (own, enemy) = (own.square, enemy.square);
                    must_move(notice.article("4.3.3"), own)
                        .advise(|a| a.must_capture = vec![enemy.to_string()])
                });
            }
            if own.lifted.since(enemy.lifted) <= SCAN {
                must_move_unless(notice, own.square, &moved_from)
            } else {
                must_take_unless(notice, enemy.square, captured)
            }
        }
        (Some(own), None) => must_move_unless(notice, own.square, &moved_from),
        (None, Some(enemy)) => must_take_unless(notice, enemy.square, captured),
        (None, None) => None,
    }
}

fn must_move(notice: Notice, square: Square) -> Notice {
    notice.squares([square]).advise(|advice| advice.must_move_from = vec![square.to_string()])
}

fn must_move_unless(notice: Notice, square: Square, moved: &[Square]) -> Option<Notice> {
    (!moved.contains(&square)).then(|| must_move(notice.article("4.3.1"), square))
}

fn must_take_unless(notice: Notice, square: Square, captured: Option<Square>) -> Option<Notice> {
    (captured != Some(square)).then(|| {
        notice
            .article("4.3.2")
            .variant("capture")
            .squares([square])
            .advise(|advice| advice.must_capture = vec![square.to_string()])
    })
}

/// The king was lifted, then a rook while the king was off, and both came back to their squares.
fn king_then_rook(reading: &Reading, mover: Color) -> Option<(Square, Square)> {
    let king = reading.handled.iter().find(|h| {
        h.piece == touch::king_of(mover) && h.back.is_some_and(|back| back.since(h.lifted) >= DELIBERATE)
    })?;
    let rook = reading.handled.iter().find(|h| {
        h.piece.color == mover
            && h.piece.role == Role::Rook
            && h.lifted > king.lifted
            && Some(h.lifted) < king.back
            && h.back.is_some()
    })?;
    Some((king.square, rook.square))
}

fn castle_with(position: &crate::record::Position, king: Square, rook: Square) -> Option<Move> {
    position.legal_moves().into_iter().find(|m| touch::castling(*m) == Some((king, rook)))
}

pub(super) fn role_word(role: Role) -> &'static str {
    match role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    }
}
