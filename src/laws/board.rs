//! What the board and its line say besides moves: set-up, displaced men, faulty squares, result signals,
//! drop-outs.

use serde_json::json;
use shakmaty::{Role, Square};

use super::{
    Code, DrawAgreement, Severity,
    desk::{Notice, Scene},
    legality,
    referee::Referee,
    timers::Timer,
    touch,
};

use crate::{
    record::{GameResult, Position, ResultReason},
    track::{Choice, Finding, Irregular, SquareDiff, SquareFault},
    wire::LinkEvent,
};

/// Where kings show a result.
pub(super) const CENTRE: [Square; 4] = [Square::D4, Square::E4, Square::D5, Square::E5];
/// The kings follow within this time when a man made room for them. Milliseconds.
const CLEARING: i64 = 2_000;
/// A square that flickers so long has a fault of its own. Milliseconds.
const FLICKER: i64 = 6_000;

fn squares(diffs: &[SquareDiff]) -> impl Iterator<Item = Square> {
    diffs.iter().map(|diff| diff.square)
}

/// Men that are off only because castling is under way.
fn castling_under_way(position: &Position, diffs: &[SquareDiff]) -> bool {
    position.legal_moves().into_iter().filter_map(touch::castling).any(|(king, rook)| {
        let home = legality::castled_king(king, rook);
        let beside = if king.file() < rook.file() { -1 } else { 1 };
        let rook_to = home.offset(beside);
        // The rook may rest anywhere on its way.
        let own_rook = |diff: &SquareDiff| {
            let piece = diff.sensed.filter(|_| diff.expected.is_none());
            piece.is_some_and(|piece| piece.role == Role::Rook && piece.color == position.turn())
        };
        diffs.iter().all(|diff| {
            let square = diff.square;
            square == king || square == rook || square == home || Some(square) == rook_to || own_rook(diff)
        })
    })
}

/// Which of these lines was played?
fn gap(choice: &Choice) -> Notice {
    let lines: Vec<Vec<String>> =
        choice.candidates.iter().map(|line| line.iter().map(ToString::to_string).collect()).collect();
    Notice::new(Code::PositionGap)
        .arg("count", lines.len() as u32)
        .arg("move", (choice.index / 2 + 1) as u32)
        .detail("candidates", json!(lines))
        .detail("index", choice.index)
        .detail("replaces", choice.replaces)
        .advise(|advice| {
            advice.restore_fen = Some(choice.last.fen());
            advice.line = lines.into_iter().next().unwrap_or_default();
        })
}

impl Referee {
    /// Findings that are neither touches nor moves nor presses.
    #[expect(clippy::collapsible_match, reason = "a finding that says nothing now is still that finding")]
    pub(super) fn board_says(&mut self, scene: &mut Scene<'_>, finding: &Finding) {
        match finding {
            Finding::Pending { what, squares } => self.pending(scene, what, squares),
            Finding::Restored => self.restored(scene),
            Finding::Differ(diffs) => {
                if self.over.is_none() && !self.explained(scene) && !super::press::kings_come(diffs) {
                    let position = scene.game.position();
                    match legality::moved_out_of_turn(position, diffs) {
                        Some((from, to, piece)) => self.out_of_turn(scene, from, to, piece),
                        None => self.mismatch_soon(scene, diffs, false),
                    }
                }
            }
            Finding::Agree => {
                self.cleared = None;
                self.unexplained.clear();
                self.desk.clear(
                    scene,
                    &[
                        Code::PositionMismatch,
                        Code::PiecesDisplaced,
                        Code::PiecesRearranged,
                        Code::IllegalMovePending,
                        Code::MovedOutOfTurn,
                        Code::MoveTakenBack,
                        Code::WaitingForStartPosition,
                    ],
                );
                self.desk.clear_key(scene, Code::PositionGap, "");
                self.clear_incomplete(scene);
            }
            Finding::Gap(choice) => {
                self.gap = Some(choice.last.clone());
                self.raise(scene, gap(choice));
            }
            Finding::Rivals(choice) => {
                let notice = gap(choice).variant("rivals").severity(Severity::Look).key(choice.index);
                self.raise(scene, notice);
                let plies = (choice.index, choice.index + choice.replaces);
                if !self.rivals.contains(&plies) {
                    self.rivals.push(plies);
                }
            }
            Finding::Chosen { index } => {
                self.rivals.retain(|(first, _)| first != index);
                self.desk.clear_key(scene, Code::PositionGap, index);
            }
            Finding::TakenBackAfterPress { index } => {
                if self.over.is_none()
                    && let Some(ply) = scene.game.plies.get(*index)
                {
                    let notice = Notice::new(Code::MoveTakenBack)
                        .side(!ply.after.turn())
                        .key(index)
                        .arg("move", ply.san.clone())
                        .advise(|advice| advice.restore_fen = Some(ply.after.fen()));
                    self.raise(scene, notice);
                }
            }
            Finding::OutOfTurn { from, to, piece } => {
                if self.over.is_some() {
                    return;
                }
                if CENTRE.contains(from) {
                    // Players who agree on a result make room for the kings (28.5).
                    self.cleared = Some((*from, *to, *piece));
                    self.set_timer(Timer::OutOfTurn, scene.at.plus(CLEARING));
                } else {
                    self.out_of_turn(scene, *from, *to, *piece);
                }
            }
            Finding::Displaced(diffs) => {
                if self.over.is_none() && !castling_under_way(scene.game.position(), diffs) {
                    // Whoever's clock runs puts things right on his own time (7.4.1).
                    let position = scene.game.position();
                    let side = self.watch.running().unwrap_or_else(|| position.turn());
                    let fen = position.fen();
                    let notice = Notice::new(Code::PiecesDisplaced)
                        .side(side)
                        .probable()
                        .squares(squares(diffs))
                        .advise(|advice| advice.restore_fen = Some(fen));
                    self.raise(scene, notice);
                }
            }
            Finding::SquareFault { square, fault } => self.square_fault(scene, *square, *fault),
            Finding::SquareWell { square } => {
                self.cancel(Timer::Flicker(*square));
                self.desk.clear_key(scene, Code::SquareFlicker, square);
                self.desk.clear_key(scene, Code::PieceMissing, square);
            }
            Finding::Orientation { rotated: true } => {
                self.raise(scene, Notice::new(Code::BoardRotated));
            }
            Finding::Sideways => {
                self.raise(scene, Notice::new(Code::BoardSideways));
            }
            Finding::StartPosition => {
                self.desk.clear(
                    scene,
                    &[Code::WaitingForStartPosition, Code::WrongInitialPosition, Code::BoardSideways],
                );
            }
            Finding::WaitingForStart => {
                self.raise(scene, Notice::new(Code::WaitingForStartPosition));
            }
            Finding::WrongStart(diffs) => self.wrong_start(scene, diffs),
            Finding::NextGameReady => {
                self.raise(scene, Notice::new(Code::NewGameReady));
            }
            Finding::KingsSignal(result) => self.kings_signal(scene, *result),
            Finding::ActivityWhileStopped => {
                // Before the game begins guests of honour and adjusting hands are nobody's business.
                if self.over.is_none() && !scene.game.plies.is_empty() {
                    self.raise(scene, Notice::new(Code::ActivityWhilePaused));
                }
            }
            Finding::ActivityAfterEnd => {
                self.raise(scene, Notice::new(Code::ActivityAfterEnd));
            }
            _ => {}
        }
    }

    /// Nothing that was found on the board holds any more.
    pub(super) fn forget_board(&mut self, scene: &mut Scene<'_>) {
        self.board_says(scene, &Finding::Agree);
        self.gap = None;
        self.rivals.clear();
        self.desk.clear(
            scene,
            &[
                Code::PositionGap,
                Code::PieceMissing,
                Code::SquareFlicker,
                Code::WrongInitialPosition,
                Code::BoardRotated,
                Code::BoardSideways,
            ],
        );
    }

    /// A fault that has its own alert already explains why board and position differ.
    fn explained(&self, scene: &Scene<'_>) -> bool {
        let len = scene.game.plies.len();
        self.offences.iter().any(|offence| offence.open && offence.ply == len)
            || self.desk.any_live(&[
                Code::CaptureIncomplete,
                Code::CastlingIncomplete,
                Code::PromotionPieceMissing,
                Code::PiecesRearranged,
                Code::WrongInitialPosition,
            ])
            || self.desk.live_key(Code::PositionGap, "")
    }

    /// 7.5.1: released, not pressed. Nothing is owed yet, and nobody may be warned.
    fn pending(&mut self, scene: &mut Scene<'_>, what: &Irregular, diffs: &[SquareDiff]) {
        let position = scene.game.position();
        let illegal = matches!(what, Irregular::PieceMoved { .. } | Irregular::Castled { .. })
            || matches!(what, Irregular::RookHome { legal: false, .. });
        if self.over.is_some() || !illegal {
            return;
        }
        let kind = legality::kind(position, what);
        let notice = Notice::new(Code::IllegalMovePending)
            .side(position.turn())
            .certainty(self.certain())
            .key(scene.game.plies.len())
            .squares(squares(diffs))
            .arg("move", legality::shown(what))
            .detail("kind", kind.trim_start_matches("kind-"));
        self.raise(scene, notice);
    }

    /// No king followed: it was a move out of turn.
    pub(super) fn out_of_turn_stands(&mut self, scene: &mut Scene<'_>) {
        if let Some((from, to, piece)) = self.cleared.take().filter(|_| self.over.is_none()) {
            self.out_of_turn(scene, from, to, piece);
        }
    }

    fn square_fault(&mut self, scene: &mut Scene<'_>, square: Square, fault: SquareFault) {
        let notice = match fault {
            // A hand that twists a man into the middle of its square makes it come and go, too.
            SquareFault::Flicker if self.under_the_hand(scene, square) => {
                self.set_timer(Timer::Flicker(square), scene.at.plus(FLICKER));
                Notice::new(Code::SquareFlicker).severity(Severity::Note)
            }
            SquareFault::Flicker => Notice::new(Code::SquareFlicker),
            SquareFault::Missing => Notice::new(Code::PieceMissing),
            SquareFault::Ghost => Notice::new(Code::PieceMissing).variant("ghost"),
        };
        self.raise(scene, notice.key(square).squares([square]));
    }

    /// The man of the side that has, or had, the move stands there.
    fn under_the_hand(&mut self, scene: &Scene<'_>, square: Square) -> bool {
        let turn = self.turn(scene.game);
        let mover = turn.position.turn();
        let own = |piece: Option<shakmaty::Piece>| piece.is_some_and(|piece| piece.color == mover);
        let touched = turn.touches.iter().any(|t| t.square == square && (own(t.was) || own(t.now)));
        let arrived = scene.game.plies.iter().rev().take(2).any(|ply| ply.uci.to() == Some(square));
        touched || arrived
    }

    /// It went on flickering long after any hand.
    pub(super) fn flickers_on(&mut self, scene: &mut Scene<'_>, square: Square) {
        if self.desk.live(Code::SquareFlicker).is_some() {
            self.raise(scene, Notice::new(Code::SquareFlicker).key(square).squares([square]));
        }
    }

    /// 7.2.1, 13.4.1.
    fn wrong_start(&mut self, scene: &mut Scene<'_>, diffs: &[SquareDiff]) {
        let limit = self.profile.rules.setup_closed_after;
        let completed = self.watch.completed;
        if limit > 0 && completed.white >= limit && completed.black >= limit {
            return;
        }
        let mut notice = Notice::new(Code::WrongInitialPosition)
            .certainty(self.certain())
            .squares(squares(diffs))
            .advise(|advice| advice.restore_fen = Some(scene.game.start.fen()));
        if limit > 0 {
            notice = notice.variant("window").article("13.4.1");
        }
        self.raise(scene, notice);
    }

    /// 28.5: the kings in the centre.
    fn kings_signal(&mut self, scene: &mut Scene<'_>, result: GameResult) {
        let before = self.signal.replace(result);
        if before == Some(result) {
            return;
        }
        let word = result.word().to_owned();
        // The position itself, or the arbiter, has spoken already.
        if let Some(over) = self.over {
            if over.result != result && over.reason != ResultReason::KingsSignal {
                let notice = Notice::new(Code::ResultConflict)
                    .key("kings")
                    .arg("shown", word)
                    .arg("result", over.result.word().to_owned());
                self.raise(scene, notice);
            } else {
                // Kings that stood on the wrong squares first.
                self.desk.clear(scene, &[Code::ResultConflict]);
                if before.is_none() {
                    self.raise(scene, Notice::new(Code::ResultSignal).arg("result", word));
                }
            }
            return;
        }
        if let Some(before) = before {
            let notice = Notice::new(Code::ResultChanged)
                .key(&word)
                .arg("result", word)
                .arg("before", before.word().to_owned())
                .advise(|advice| advice.result = Some(result.word().to_owned()));
            self.raise(scene, notice);
        } else {
            let notice = Notice::new(Code::ResultSignal)
                .probable()
                .arg("result", word)
                .advise(|advice| advice.result = Some(result.word().to_owned()));
            self.raise(scene, notice);
        }
        if result == GameResult::Draw && self.agreement_invalid(scene, true) {
            return;
        }
        self.propose(scene, result, ResultReason::KingsSignal);
    }

    /// 9.1.1, 5.2.3: may a draw be agreed now? Raises the alert if not.
    pub(super) fn agreement_invalid(&mut self, scene: &mut Scene<'_>, shown_by_kings: bool) -> bool {
        let own = self.profile.rules.draw_min_moves;
        let made = self.watch.made;
        let fewest = made.white.min(made.black);
        let notice = match self.options.draw_agreement {
            _ if fewest < own => Some((fewest, own, "")),
            DrawAgreement::MinMoves(limit) if made.black < limit => Some((made.black, limit, "")),
            // Kings in the centre may well show a draw that the arbiter has consented to.
            DrawAgreement::ArbiterConsent if !shown_by_kings => Some((fewest, 0, "consent")),
            DrawAgreement::Forbidden => Some((fewest, 0, "forbidden")),
            DrawAgreement::Free | DrawAgreement::MinMoves(_) | DrawAgreement::ArbiterConsent => None,
        };
        let Some((made, limit, variant)) = notice else { return false };
        let mut notice = Notice::new(Code::DrawAgreementInvalid)
            .variant(variant)
            .key(scene.at.millis())
            .arg("made", made)
            .arg("limit", limit)
            .detail("made", made);
        if limit == own && limit > 0 && variant.is_empty() {
            notice = notice.article("5.2.3");
        }
        self.raise(scene, notice);
        true
    }

    /// Bytes were lost: a press, or many, may be among them.
    fn unheard(&mut self) {
        self.watch.unseen = true;
        self.watch.forget_turns();
    }

    /// The line to the board.
    pub(super) fn link_says(&mut self, scene: &mut Scene<'_>, event: &LinkEvent) {
        match event {
            LinkEvent::Up(_) => {
                self.link_down = false;
                self.desk.clear(scene, &[Code::BoardOffline]);
            }
            LinkEvent::Down(reason) => {
                self.link_down = true;
                self.unheard();
                let notice =
                    Notice::new(Code::BoardOffline).severity(Severity::Look).arg("reason", reason.clone());
                self.raise(scene, notice);
            }
            LinkEvent::Garbage(count) => {
                self.unheard();
                self.raise(scene, Notice::new(Code::LinkGarbage).arg("count", *count));
            }
            LinkEvent::Resync(_) => {
                self.unheard();
                self.raise(scene, Notice::new(Code::LinkResync));
            }
            LinkEvent::Checksum => {
                self.unheard();
                self.raise(scene, Notice::new(Code::LinkChecksum));
            }
        }
    }
}
