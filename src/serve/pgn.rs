//! PGN over HTTP: permanent addresses by round and game, a strong `ETag`, and the charset named, as
//! pullers need it. How a game is written is left to `record::pgn`.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use axum::response::Response;
use bytes::Bytes;
use hyper::{HeaderMap, header, header::HeaderValue};

use super::{
    feed::{Feed, RoundGame},
    pages::{etag, with_tag},
    problem::Problem,
};
use crate::{
    hall::{TableId, TableStatus},
    record::{
        Timestamp,
        pgn::{RunningClock, WriteOptions, write_game_with},
    },
};

/// The type that pullers read as UTF-8.
const MEDIA: &str = "application/x-chess-pgn; charset=utf-8";
/// Rounds whose text is kept rendered.
const ROUNDS: usize = 32;

/// Rounds rendered lately, with the feed's number at that time.
#[derive(Debug, Default)]
pub(crate) struct PgnCache(Mutex<BTreeMap<u32, (u64, Bytes, String)>>);

impl PgnCache {
    /// All games of a round in one file.
    pub(crate) fn round(&self, feed: &Feed, round: u32, headers: &HeaderMap) -> Result<Response, Problem> {
        let seq = feed.seq().0;
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&round).cloned();
        let (text, tag) = match kept {
            Some((of, text, tag)) if of == seq => (text, tag),
            _ => {
                let games = feed.round_games(round);
                if games.is_empty() {
                    return Err(Problem::not_found(format!("round {round} has no games")));
                }
                let mut out = String::new();
                for game in games.values() {
                    write(game, &mut out);
                }
                let text = Bytes::from(out);
                let tag = etag(&text);
                let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                if cache.len() >= ROUNDS {
                    cache.pop_first();
                }
                cache.insert(round, (seq, text.clone(), tag.clone()));
                (text, tag)
            }
        };
        Ok(answer(headers, text, &tag))
    }
}

/// One game of a round.
pub(crate) fn game(
    feed: &Feed,
    round: u32,
    table: TableId,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let game = feed
        .round_game(round, table)
        .ok_or_else(|| Problem::not_found(format!("round {round} has no game {table}")))?;
    let mut out = String::new();
    write(&game, &mut out);
    let text = Bytes::from(out);
    let tag = etag(&text);
    Ok(answer(headers, text, &tag))
}

fn answer(headers: &HeaderMap, text: Bytes, tag: &str) -> Response {
    let mut response = with_tag(headers, MEDIA, text, tag);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn write(game: &RoundGame, out: &mut String) {
    let running = (game.current && game.info.status == TableStatus::Playing)
        .then(|| {
            let clock = game.clock;
            Some(RunningClock {
                white: clock.white?.0,
                black: clock.black?.0,
                at: clock.at,
                offset_minutes: offset_minutes(clock.at),
            })
        })
        .flatten();
    write_game_with(&game.game, &WriteOptions { running, ..WriteOptions::default() }, out);
}

/// The venue's offset from UTC at that time: that of the machine.
fn offset_minutes(at: Timestamp) -> i32 {
    jiff::Timestamp::from_millisecond(at.millis())
        .map_or(0, |at| jiff::tz::TimeZone::system().to_offset(at).seconds() / 60)
}
