//! A game in several segments, since PGN has no word for what lies between them: an illegal move that stood, or
//! a position that a person set. The words that say so, and putting segments together again.

use std::sync::Arc;

use shakmaty::uci::UciMove;

use super::repair::RepairKind;
use crate::record::{Game, Ply, PlySource, Position};

/// Stands with the first move of a continued segment.
pub(super) const CONTINUED: &str = "(continued after the illegal move that stood)";
/// Stands with the first move from a position that a person set.
pub(super) const SET: &str = "(continued from a position that was set)";
/// Stands with the last move before it.
const SET_NEXT: &str = "another position was set here";

/// Says what PGN cannot: which illegal move was played here and stood, or that a position was set.
pub(super) fn cut_comment(game: &Game, index: usize, segments: bool) -> String {
    let (Some(ply), Some(before)) = (game.plies.get(index), game.position_before(index)) else {
        return String::new();
    };
    let more = if segments { "; the game goes on in the next segment" } else { "" };
    if !ply.irregular {
        return format!("{SET_NEXT}{more}");
    }
    let side = before.turn().fold_wb("White", "Black");
    let dots = before.turn().fold_wb(".", "...");
    format!("{side} played {}{dots} {} here, an illegal move that stood{more}", before.move_number(), ply.uci)
}

/// Puts a segment behind the game that it continues; says what broke the game there.
pub(super) fn join(game: &mut Game, segment: Game) -> Result<RepairKind, Box<Game>> {
    let same = |name| game.tags.get(name) == segment.tags.get(name);
    if !(same("White") && same("Black")) {
        return Err(Box::new(segment));
    }
    if segment.notes.get(&1).is_some_and(|note| note.contains(SET)) {
        return Ok(join_set(game, segment));
    }
    let before = game.position().clone();
    let Some(uci) = difference(&before, &segment.start) else { return Err(Box::new(segment)) };
    // The words that the writer put there.
    drop_words(game, &["White played ", "Black played "]);
    let san = irregular_san(&before, uci);
    let ply = Ply::written(uci, san.clone(), segment.start.clone(), PlySource::Entered);
    game.plies.push(Arc::new(Ply { irregular: true, ..ply }));
    append(game, segment, CONTINUED);
    Ok(RepairKind::SegmentsJoined { played: san })
}

/// Puts a segment behind the game that goes on from its position because a person set it.
fn join_set(game: &mut Game, mut segment: Game) -> RepairKind {
    drop_words(game, &[SET_NEXT]);
    let fen = segment.start.fen();
    if let Some(first) = segment.plies.first_mut() {
        Arc::make_mut(first).origin = Some(Box::new(segment.start.clone()));
    }
    append(game, segment, SET);
    RepairKind::PositionSet { fen }
}

/// Takes away what the writer put behind the last ply, from the first of these words on.
fn drop_words(game: &mut Game, words: &[&str]) {
    let count = game.plies.len();
    if let Some(note) = game.notes.get_mut(&count) {
        let cut = words.iter().filter_map(|words| note.find(words)).min();
        note.truncate(cut.unwrap_or(note.len()));
        note.truncate(note.trim_end().len());
    }
    game.notes.retain(|_, note| !note.is_empty());
}

/// The segment's plies, notes without the writer's words, and result.
fn append(game: &mut Game, segment: Game, words: &str) {
    let shift = game.plies.len();
    for (at, note) in segment.notes {
        let note = note.replace(words, "").trim().to_owned();
        if !note.is_empty() {
            game.notes.insert(at + shift, note);
        }
    }
    game.plies.extend(segment.plies);
    game.result = segment.result;
}

/// The squares of the irregular move that leads from one position to another.
fn difference(before: &Position, after: &Position) -> Option<UciMove> {
    let us = before.turn();
    if after.turn() == us {
        return None;
    }
    let (old, new) = (before.board(), after.board());
    let gone = old.by_color(us).into_iter().filter(|square| new.piece_at(*square) != old.piece_at(*square));
    let come: Vec<_> = new
        .by_color(us)
        .into_iter()
        .filter(|square| new.piece_at(*square) != old.piece_at(*square))
        .collect();
    let gone: Vec<_> = gone.collect();
    let is_king = |square: &shakmaty::Square| old.kings().contains(*square);
    let from = *gone.iter().find(|square| is_king(square)).or_else(|| gone.first())?;
    let piece = old.piece_at(from)?;
    let to = *come
        .iter()
        .find(|square| new.piece_at(**square) == Some(piece))
        .or_else(|| come.iter().find(|square| **square != from))?;
    if gone.len() > 2 || come.len() > 2 {
        return None;
    }
    let promotion = new.role_at(to).filter(|role| *role != piece.role);
    Some(UciMove::Normal { from, to, promotion })
}

/// How an irregular ply is written: `Ra2xb8?`.
fn irregular_san(before: &Position, uci: UciMove) -> String {
    let UciMove::Normal { from, to, promotion } = uci else { return uci.to_string() };
    let role = before.board().role_at(from);
    let letter = match role {
        Some(role) if role != shakmaty::Role::Pawn => role.upper_char().to_string(),
        _ => String::new(),
    };
    let sign = if before.board().piece_at(to).is_some() { "x" } else { "-" };
    let promotion = promotion.map(|role| format!("={}", role.upper_char())).unwrap_or_default();
    format!("{letter}{from}{sign}{to}{promotion}?")
}
