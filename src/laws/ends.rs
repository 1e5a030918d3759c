//! What follows from the moves themselves: how the line grows and changes, the endings of articles 5
//! and 9.6, and the quiet notes on what could be claimed (9.2, 9.3).

use shakmaty::{ByColor, Color, Move, Role};

use super::{
    Code,
    desk::{Notice, Scene},
    mate::{self, Budget},
    referee::{Referee, Ruling},
    timers::Timer,
};
use crate::{
    record::{Game, GameResult, PlyState, Position, ResultReason, ResultState, Timestamp},
    track::{Cause, TrackedPly},
};

/// Plies without progress after which 50 moves can be claimed, and after which the game ends.
const FIFTY: u32 = 100;
const SEVENTYFIVE: u32 = 150;

/// A made move that nobody completes is worth a note after so long. Milliseconds.
const NOT_PRESSED: i64 = 30_000;
const NOT_PRESSED_BLITZ: i64 = 10_000;

impl Referee {
    /// From ply `from` on the line reads anew.
    pub(super) fn line(&mut self, scene: &mut Scene<'_>, from: usize, plies: &[TrackedPly], cause: Cause) {
        let game = scene.game;
        let old_made = self.made.get(from).copied();
        self.keys.truncate(from + 1);
        self.made.truncate(from);
        for ply in game.plies.iter().skip(from) {
            self.keys.push(ply.after.key());
            self.made.push(ply.made_at);
        }
        let was_confirmed = self.confirmed > from;
        self.confirmed = self.confirmed.min(from);
        self.settled = self.settled.min(from);
        self.recount(game);
        self.desk.clear(scene, &[Code::IllegalMovePending]);
        self.unexplained.clear();
        if matches!(cause, Cause::Revised | Cause::Corrected) {
            // What is told anew there has been decided.
            for (first, _) in self.rivals.extract_if(.., |(_, end)| *end > from) {
                self.desk.clear_key(scene, Code::PositionGap, first);
            }
        }
        if cause == Cause::Revised
            && let Some(ply) = game.plies.get(from)
            && (was_confirmed || old_made.is_some_and(|made| self.watch.pressed_since(made)))
        {
            let notice = Notice::new(Code::MoveRevised)
                .key(format!("{from}/{}", ply.uci))
                .arg("ply", (from / 2 + 1) as u32)
                .arg("move", ply.san.clone());
            self.raise(scene, notice);
        }
        if matches!(cause, Cause::Bridged | Cause::Recovered) {
            let moves: Vec<_> = plies.iter().map(|ply| ply.san.clone()).collect();
            self.desk.clear_key(scene, Code::PositionGap, "");
            self.desk.clear(scene, &[Code::PositionMismatch]);
            if !moves.is_empty() {
                self.raise(scene, Notice::new(Code::GapRecovered).key(from).arg("moves", moves.join(" ")));
            }
        }
        if let Some(over) = self.over {
            return self.line_after_end(scene, over.board, from);
        }
        self.played_after_flag(scene, from);
        self.stands(scene, from, cause);
        let last = game.plies.len();
        if let Some(turn) = &self.turn
            && last > turn.ply + 1
        {
            // The opponent replied before the press.
            let (index, until) = (turn.ply, scene.at);
            self.settle_to(scene, last - 1);
            self.judge_hands(scene, index, until);
            self.lapse_offer(scene);
            // The press may have come, and only its ply not be settled yet.
            let before = &game.plies[last - 2];
            match self.watch.at_press[!before.after.turn()].filter(|press| *press >= before.made_at) {
                Some(pressed) => self.new_turn_since(scene, last - 1, pressed),
                None => self.new_turn(game, last - 1),
            }
        }
        self.cancel(Timer::Settle);
        if let Some(ply) = game.plies.last() {
            if ply.state == PlyState::Confirmed || self.watch.running().is_none() && self.watch.seen() {
                self.settle_to(scene, last);
            } else {
                self.set_timer(Timer::Settle, ply.made_at.plus(self.profile.rules.released_ms).max(scene.at));
                let wait = match self.profile.discipline() {
                    super::Discipline::Classical | super::Discipline::Rapid => NOT_PRESSED,
                    super::Discipline::Blitz => NOT_PRESSED_BLITZ,
                };
                self.set_timer(Timer::NotPressed, ply.made_at.plus(wait).max(scene.at));
            }
        }
    }

    /// The line changed behind an ending: if the position that ended the game is gone, so is the result.
    fn line_after_end(&mut self, scene: &mut Scene<'_>, board: Option<usize>, from: usize) {
        let Some(end) = board.filter(|end| from < *end) else { return };
        let position = scene.game.position();
        let same = scene.game.plies.len() == end
            && (position.is_checkmate() || position.is_stalemate() || position.halfmoves() >= SEVENTYFIVE);
        if same {
            self.settled = end;
            return;
        }
        self.over = None;
        self.desk.clear(
            scene,
            &[
                Code::Checkmate,
                Code::Stalemate,
                Code::DeadPosition,
                Code::FivefoldRepetition,
                Code::SeventyfiveMove,
            ],
        );
        scene.out.push(Ruling::NoResult);
        self.settle_to(scene, scene.game.plies.len());
    }

    /// Plies before `count` are confirmed.
    pub(super) fn confirmed_to(&mut self, scene: &mut Scene<'_>, count: usize) {
        self.confirmed = self.confirmed.max(count);
        self.recount(scene.game);
        let count = count.min(scene.game.plies.len());
        self.settle_to(scene, count);
    }

    /// The game stands in this position now.
    pub(super) fn rebase(&mut self, scene: &mut Scene<'_>, index: usize, position: &Position) {
        self.keys.truncate(index + 1);
        match self.keys.get_mut(index) {
            Some(key) => *key = position.key(),
            None => self.keys.push(position.key()),
        }
        self.turn = None;
        self.recount(scene.game);
    }

    /// Draws the consequences of every ply up to `count` that have not been drawn yet.
    pub(super) fn settle_to(&mut self, scene: &mut Scene<'_>, count: usize) {
        while self.settled < count.min(scene.game.plies.len()) {
            self.settled += 1;
            let count = self.settled;
            let until = scene.at;
            self.judge_hands(scene, count - 1, until);
            self.consequences(scene, count);
            self.recount(scene.game);
            self.milestones(scene);
        }
    }

    /// What the position after `count` plies means.
    pub(super) fn consequences(&mut self, scene: &mut Scene<'_>, count: usize) {
        if self.over.is_some() {
            return;
        }
        let position = scene.game.position_after(count);
        self.desk.clear(
            scene,
            &[
                Code::ThreefoldClaimable,
                Code::ThreefoldClaimableByMove,
                Code::FiftyClaimable,
                Code::FiftyClaimableByMove,
                Code::ClaimRightLost,
            ],
        );
        let irregular =
            count.checked_sub(1).and_then(|index| scene.game.plies.get(index)).is_some_and(|p| p.irregular);
        if !irregular && self.ended(scene, count, position) {
            return;
        }
        self.kings_in_check(scene, count, position, irregular);
        if irregular {
            return;
        }
        self.claimable(scene, count, position);
    }

    /// The endings that need nobody's word: 5.1.1, 5.2.1, 5.2.2, 9.6; mate before the counters.
    fn ended(&mut self, scene: &mut Scene<'_>, count: usize, position: &Position) -> bool {
        let mover = !position.turn();
        if position.is_checkmate() {
            let result = GameResult::win(mover);
            self.end(scene, count, Notice::new(Code::Checkmate).side(mover), result, ResultReason::Checkmate);
            return true;
        }
        if position.is_stalemate() {
            self.end(scene, count, Notice::new(Code::Stalemate), GameResult::Draw, ResultReason::Stalemate);
            return true;
        }
        if let Some(chess) = position.chess()
            && few_live_men(position)
            && mate::is_dead(chess, &Budget::quick()).is_dead()
        {
            self.end(
                scene,
                count,
                Notice::new(Code::DeadPosition),
                GameResult::Draw,
                ResultReason::DeadPosition,
            );
            return true;
        }
        let occurrences = self.occurrences(count);
        let five = if self.profile.rules.fivefold_consecutive {
            (0..5).all(|back| count.checked_sub(4 * back).is_some_and(|n| self.keys[n] == self.keys[count]))
        } else {
            occurrences.len() >= 5
        };
        if five {
            let moves = move_numbers(scene.game, &occurrences);
            let notice =
                Notice::new(Code::FivefoldRepetition).arg("moves", moves).detail("occurrences", occurrences);
            self.end(scene, count, notice, GameResult::Draw, ResultReason::FivefoldRepetition);
            return true;
        }
        if position.halfmoves() >= SEVENTYFIVE {
            let notice = Notice::new(Code::SeventyfiveMove).detail("halfmoves", position.halfmoves());
            self.end(scene, count, notice, GameResult::Draw, ResultReason::SeventyfiveMove);
            return true;
        }
        false
    }

    fn end(
        &mut self,
        scene: &mut Scene<'_>,
        count: usize,
        notice: Notice,
        result: GameResult,
        reason: ResultReason,
    ) {
        let notice =
            notice.arg("result", result.word().to_owned()).advise(|a| a.result = Some(result.word().into()));
        // An illegal move before it that can still be put right comes first (7.5.1): the arbiter decides.
        // So does a mate while an illegal position is waited for (13.4.4): nothing is decided here.
        let waited = self.desk.live(Code::BothKingsInCheck).is_some();
        let doubtful = waited || self.offences.iter().any(|offence| offence.open && offence.stood);
        let certainty = if doubtful { super::Certainty::NeedsArbiter } else { self.certain() };
        let notice =
            if doubtful && reason == ResultReason::Checkmate { notice.variant("irregular") } else { notice };
        self.raise(scene, notice.certainty(certainty));
        let flagged = self.mate_after_flag(scene, result, reason);
        if waited {
            self.withdraw(scene);
        } else if doubtful {
            self.propose(scene, result, reason);
        } else if !flagged {
            self.finish(scene, result, reason, ResultState::Final, Some(count));
        }
    }

    /// Numbers of plies after which this position stood, the one after `count` plies included.
    pub(super) fn occurrences(&self, count: usize) -> Vec<usize> {
        let Some(key) = self.keys.get(count) else { return Vec::new() };
        (0..=count).filter(|n| self.keys[*n] == *key).collect()
    }

    fn claimable(&mut self, scene: &mut Scene<'_>, count: usize, position: &Position) {
        let side = position.turn();
        let here = self.occurrences(count);
        if here.len() >= 3 {
            let moves = move_numbers(scene.game, &here);
            let notice = Notice::new(Code::ThreefoldClaimable)
                .side(side)
                .key(count)
                .arg("moves", moves)
                .detail("occurrences", here);
            self.raise(scene, notice);
        }
        let by_move = self.repeating_moves(position, count);
        if !by_move.is_empty() {
            let shown: Vec<_> = by_move.iter().take(3).map(|m| position.san(*m)).collect();
            let ucis: Vec<_> = by_move.iter().map(|m| position.uci(*m).to_string()).collect();
            let notice = Notice::new(Code::ThreefoldClaimableByMove)
                .side(side)
                .key(count)
                .arg("moves", shown.join(", "))
                .detail("moves", ucis);
            self.raise(scene, notice);
        }
        if position.halfmoves() >= FIFTY {
            self.raise(scene, Notice::new(Code::FiftyClaimable).side(side).key(count));
        } else if position.halfmoves() + 1 >= FIFTY
            && position.legal_moves().iter().any(|m| !m.is_capture() && m.role() != Role::Pawn)
        {
            self.raise(scene, Notice::new(Code::FiftyClaimableByMove).side(side).key(count));
        }
    }

    /// Moves after which the position would stand for the third time (9.2.1.1).
    fn repeating_moves(&self, position: &Position, count: usize) -> Vec<Move> {
        // A repetition needs four reversible plies behind it, and a position that has stood twice.
        let back = position.halfmoves() as usize + 1;
        let first = count.saturating_sub(back);
        let twice = |n: usize| (first..n).any(|m| self.keys[m] == self.keys[n]);
        if position.halfmoves() < 7 || !(first..=count).any(twice) {
            return Vec::new();
        }
        let stood = |m: &Move| {
            let key = position.play(*m).key();
            self.keys[first..=count].iter().filter(|earlier| **earlier == key).count() >= 2
        };
        position
            .legal_moves()
            .into_iter()
            .filter(|m| !m.is_capture() && m.role() != Role::Pawn)
            .filter(stood)
            .collect()
    }

    /// Moves made and completed, from the record: a move is completed by its press, or because the
    /// opponent has replied (6.2.1.2).
    pub(super) fn recount(&mut self, game: &Game) {
        let before = game.start.move_number().saturating_sub(1);
        let mut made = ByColor {
            white: self.options.completed.white.max(before + u32::from(game.start.turn().is_black())),
            black: self.options.completed.black.max(before),
        };
        let mut completed = made;
        for (index, ply) in game.plies.iter().enumerate() {
            let mover = !ply.after.turn();
            made[mover] += 1;
            if ply.pressed_at.is_some() || index + 1 < game.plies.len() {
                completed[mover] += 1;
            }
        }
        self.watch.made = made;
        self.watch.completed = completed;
    }

    /// The ten moves of 13.4.1, the moves of a control.
    pub(super) fn milestones(&mut self, scene: &mut Scene<'_>) {
        let limit = self.profile.rules.setup_closed_after;
        let completed = self.watch.completed;
        let begun = scene.game.start.move_number() <= limit;
        if limit > 0
            && begun
            && completed.white >= limit
            && completed.black >= limit
            && !self.desk.ever(Code::SetupClaimsClosed)
        {
            self.raise(scene, Notice::new(Code::SetupClaimsClosed));
        }
        let Some(control) = &self.options.time_control else { return };
        let last = self.watch.last_completed;
        let reached: Vec<(Color, usize)> = Color::ALL
            .into_iter()
            .flat_map(|side| (0..control.periods().len()).map(move |period| (side, period)))
            .filter(|(side, period)| {
                control.moves_due(*period).is_some_and(|due| completed[*side] == due && last[*side] < due)
            })
            .collect();
        self.watch.last_completed = completed;
        for (side, period) in reached {
            if self.flags[side].is_none() && !scene.game.plies.is_empty() {
                let notice = Notice::new(Code::ControlPassed)
                    .side(side)
                    .key(format!("{side}{period}"))
                    .arg("completed", completed[side])
                    .detail("period", period);
                self.raise(scene, notice);
            }
        }
    }

    /// 6.2.1: made, not completed. The arbiter may not tell anyone (12.6).
    pub(super) fn not_pressed(&mut self, scene: &mut Scene<'_>) {
        let Some(ply) = scene.game.plies.last() else { return };
        let mover = !ply.after.turn();
        if self.over.is_none() && ply.pressed_at.is_none() && self.watch.running() == Some(mover) {
            self.raise(scene, Notice::new(Code::ClockNotPressed).side(mover).key(scene.game.plies.len()));
        }
    }

    fn lapse_offer(&mut self, scene: &mut Scene<'_>) {
        let Some((offering, since)) = self.offer else { return };
        let replied =
            scene.game.plies.last().filter(|ply| ply.after.turn() == offering && ply.made_at > since);
        if replied.is_some() {
            self.offer = None;
            self.raise(scene, Notice::new(Code::DrawOfferLapsed).side(!offering));
        }
    }

    /// Time since which the position has stood, for evidence.
    pub(super) fn last_made(&self) -> Option<Timestamp> {
        self.made.last().copied()
    }
}

/// Worth asking whether the position is dead: few men, or pawns that may be locked.
fn few_live_men(position: &Position) -> bool {
    let board = position.board();
    let heavy = board.queens() | board.rooks();
    board.occupied().count() <= 6 || heavy.is_empty() || position.legal_moves().len() <= 2
}

/// Numbers of the moves that led to these ply counts, for people.
pub(super) fn move_numbers(game: &Game, plies: &[usize]) -> String {
    let shown: Vec<String> = plies
        .iter()
        .map(|count| match count.checked_sub(1).and_then(|index| ply_number(game, index)) {
            Some((number, Color::White)) => format!("{number}."),
            Some((number, Color::Black)) => format!("{number}…"),
            None => "0".to_owned(),
        })
        .collect();
    shown.join(" ")
}

/// Move number and mover of a ply.
fn ply_number(game: &Game, index: usize) -> Option<(u32, Color)> {
    game.plies.get(index)?;
    let before = game.position_after(index);
    Some((before.move_number(), before.turn()))
}
