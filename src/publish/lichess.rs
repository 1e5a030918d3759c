//! Pushes games to a Lichess broadcast round: only those that changed, one request at a time, for ever.
//!
//! Lichess takes no move back, so this channel holds plies until they are confirmed. It refuses a game
//! with an illegal move, so the game is cut before it, with a notice at the desk. What Lichess said of
//! each game is kept for the desk.
//!
//! [`Pusher`] decides what to send and what an answer means; it has no clock and no socket. The thread
//! that talks to Lichess is in `lichess_thread`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::hold::{Hold, HoldPolicy};
use crate::{
    hall::{TableId, Update, UpdateBody, View},
    record::{
        Game, PlyState, Timestamp,
        pgn::{ResultPolicy, WriteOptions, write_game_with},
    },
};

/// The most games Lichess takes in one request.
const GAMES: usize = 100;
/// The most bytes in one request: Lichess takes 512 KiB.
const BYTES: usize = 500_000;
/// The least time between two requests, in milliseconds.
const PACE: i64 = 1000;
/// The longest wait after a failure.
const LONGEST_WAIT: i64 = 60_000;
/// The wait after an answer that only a person can put right, and after "too many requests".
const PATIENCE: i64 = 60_000;
/// After an outage of so long, every game of the round is sent once more.
const OUTAGE: i64 = 60_000;
/// Games of rounds gone by that still wait to be sent.
const LEFT_OVER: usize = 2000;

/// Where to push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LichessConfig {
    /// `https://lichess.org`, or a stand-in.
    pub url: String,
    /// Lichess' round identity for each of our rounds.
    pub rounds: BTreeMap<u32, String>,
    /// The access token (scope `study:write`), read from its file. Never logged.
    pub token: String,
    /// What may be shown. A broadcast cannot take back.
    pub hold: HoldPolicy,
}

/// One request to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push {
    /// Lichess' identity of the round.
    pub round: String,
    /// The games as PGN.
    pub body: String,
    /// Which games, in order, with what marks their text.
    games: Vec<((u32, TableId), Mark)>,
}

/// What is to be done now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Send this, then tell [`Pusher::answered`].
    Send(Push),
    /// Nothing before this moment, unless updates come.
    WaitUntil(Timestamp),
    /// Nothing until updates come.
    Idle,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// An HTTP answer.
    Http {
        /// Its status.
        status: u16,
        /// `Retry-After` in seconds.
        retry_after: Option<u32>,
        /// Its body.
        body: String,
    },
    /// None: why.
    Lost(String),
}

/// A text's mark: enough of its hash.
type Mark = [u8; 16];

#[derive(Clone, Debug, Default)]
struct Slot {
    /// What is to be sent.
    pending: Option<(Mark, String)>,
    /// What Lichess has.
    accepted: Option<Mark>,
    /// What Lichess refused: not sent again until it changes.
    refused: Option<Mark>,
    /// What the operator should know of it.
    notice: Option<String>,
}

/// Decides what to push.
#[derive(Debug)]
pub struct Pusher {
    rounds: BTreeMap<u32, String>,
    hold: Hold,
    view: View,
    changed: BTreeSet<TableId>,
    slots: BTreeMap<(u32, TableId), Slot>,
    /// No request before this.
    not_before: Timestamp,
    failures: u32,
    /// Since when nothing gets through.
    down_since: Option<Timestamp>,
    last_ok: Option<Timestamp>,
    trouble: Option<String>,
    /// Shrinks when Lichess finds a request too large.
    most_bytes: usize,
    /// Shrinks when Lichess cannot read a request, and grows again.
    most_games: usize,
}

impl Pusher {
    /// For these rounds.
    #[must_use]
    pub fn new(config: &LichessConfig) -> Self {
        Self {
            rounds: config.rounds.clone(),
            hold: Hold::new(config.hold),
            view: View::new(false),
            changed: BTreeSet::new(),
            slots: BTreeMap::new(),
            not_before: Timestamp::default(),
            failures: 0,
            down_since: None,
            last_ok: None,
            trouble: None,
            most_bytes: BYTES,
            most_games: GAMES,
        }
    }

    /// Takes updates that may be public.
    pub fn take(&mut self, updates: &[Update]) {
        for update in self.hold.pass(updates.to_vec()) {
            if update.desk_only() {
                continue;
            }
            if let (Some(table), UpdateBody::Table(info)) = (update.table, &update.body)
                && self.view.tables.get(&table).is_some_and(|view| view.info.game != info.game)
            {
                // The old game leaves the table: what was not sent of it is rendered now.
                self.render(table);
            }
            self.view.apply(&update);
            if let Some(table) = update.table
                && !matches!(update.body, UpdateBody::Clock(_))
            {
                self.changed.insert(table);
            }
        }
    }

    /// What is to be done now.
    pub fn next(&mut self, now: Timestamp) -> Next {
        while let Some(table) = self.changed.pop_first() {
            self.render(table);
        }
        self.changed.clear();
        let Some(round) =
            self.slots.iter().find(|(_, slot)| slot.pending.is_some()).map(|((round, _), _)| *round)
        else {
            return Next::Idle;
        };
        if now < self.not_before {
            return Next::WaitUntil(self.not_before);
        }
        let mut push = Push {
            round: self.rounds.get(&round).cloned().unwrap_or_default(),
            body: String::new(),
            games: Vec::new(),
        };
        for (key, slot) in self.slots.range((round, TableId(0))..=(round, TableId(u32::MAX))) {
            let Some((mark, text)) = &slot.pending else { continue };
            let full = push.games.len() >= self.most_games || push.body.len() + text.len() > self.most_bytes;
            if full && !push.games.is_empty() {
                break;
            }
            push.body.push_str(text);
            push.games.push((*key, *mark));
        }
        Next::Send(push)
    }

    /// Takes in what became of a request.
    pub fn answered(&mut self, push: &Push, answer: &Answer, now: Timestamp) {
        let wait = match answer {
            Answer::Http { status: 200, body, .. } => match self.read_reply(push, body) {
                Ok(()) => return self.succeeded(now),
                Err(fault) => self.fail(fault, now).max(PATIENCE),
            },
            Answer::Http { status: 413, .. } => {
                if let [(key, mark)] = push.games.as_slice() {
                    self.refuse(*key, *mark, "too large for Lichess, even alone");
                } else {
                    self.most_bytes = (push.body.len() / 2).max(1);
                }
                PACE
            }
            // A game that cannot be read may bring the whole request down: halves find it.
            Answer::Http { status: 400, body, .. } => {
                if let [(key, mark)] = push.games.as_slice() {
                    self.refuse(*key, *mark, &format!("refused (400: {})", short(body)));
                } else {
                    self.most_games = push.games.len() / 2;
                }
                PACE
            }
            Answer::Http { status: 429, retry_after, .. } => {
                let asked = i64::from(retry_after.unwrap_or(0)) * 1000;
                self.fail("Lichess asks for a pause (429)".to_owned(), now).max(PATIENCE).max(asked)
            }
            Answer::Http { status, body, .. } => {
                let told = short(body);
                let why = match status {
                    401 => "Lichess does not know the token; put a new one into its file and restart",
                    403 => "the token's user may not contribute to this broadcast; add the user to it",
                    404 => "Lichess has no such round; check its identity in the configuration",
                    _ => "Lichess could not take the games",
                };
                let wait = self.fail(format!("{why} ({status}: {told})"), now);
                if *status < 500 { wait.max(PATIENCE) } else { wait }
            }
            Answer::Lost(why) => self.fail(format!("Lichess cannot be reached: {why}"), now),
        };
        self.not_before = now.plus(wait);
    }

    /// How it stands, for the desk.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> Value {
        let games: Vec<Value> = self
            .slots
            .iter()
            .filter(|(_, slot)| slot.notice.is_some())
            .map(|((round, table), slot)| json!({"round": round, "table": table, "notice": slot.notice}))
            .collect();
        json!({
            "output": "lichess",
            "ok": self.trouble.is_none(),
            "trouble": self.trouble,
            "seconds_since_ok": self.last_ok.map(|at| now.since(at) / 1000),
            "waiting": self.slots.values().filter(|slot| slot.pending.is_some()).count(),
            "games": games,
        })
    }

    fn succeeded(&mut self, now: Timestamp) {
        let outage = self.down_since.take().is_some_and(|since| now.since(since) >= OUTAGE);
        self.failures = 0;
        self.most_games = (self.most_games * 2).min(GAMES);
        self.trouble = None;
        self.last_ok = Some(now);
        self.not_before = now.plus(PACE);
        if outage {
            // Whatever Lichess made of half-heard requests, it now gets everything once more.
            let tables: Vec<TableId> = self.view.tables.keys().copied().collect();
            for table in tables {
                if let Some(slot) = self.slot(table)
                    && slot.pending.is_none()
                {
                    slot.accepted = None;
                }
                self.changed.insert(table);
            }
        }
    }

    /// Notes a failure; answers how long to wait, in milliseconds.
    fn fail(&mut self, why: String, now: Timestamp) -> i64 {
        self.down_since.get_or_insert(now);
        self.trouble = Some(why);
        self.failures = self.failures.saturating_add(1);
        (PACE << self.failures.min(10)).min(LONGEST_WAIT)
    }

    /// One entry a game, in order: taken, or why not.
    fn read_reply(&mut self, push: &Push, body: &str) -> Result<(), String> {
        #[derive(Deserialize)]
        struct Reply {
            games: Vec<Entry>,
        }
        #[derive(Deserialize)]
        struct Entry {
            error: Option<String>,
        }
        let reply: Reply =
            serde_json::from_str(body).map_err(|_| "Lichess' answer was not understood".to_owned())?;
        // One entry for the whole request: nothing was taken, and nothing is wrong with the games.
        let whole = |entry: &Entry| entry.error.as_ref().is_some_and(|error| error.contains("upstream URL"));
        if reply.games.len() != push.games.len() || reply.games.iter().any(whole) {
            let told = reply.games.into_iter().find_map(|entry| entry.error);
            return Err(told.unwrap_or_else(|| "Lichess' answer does not match the games sent".to_owned()));
        }
        for ((key, mark), entry) in push.games.iter().zip(reply.games) {
            match entry.error {
                Some(error) => self.refuse(*key, *mark, &error),
                None => self.accept(*key, *mark),
            }
        }
        // Games of rounds gone by are done with once they are there.
        let present: BTreeSet<u32> = self.view.tables.values().map(|table| table.info.round).collect();
        self.slots.retain(|(round, _), slot| {
            present.contains(round) || slot.pending.is_some() || slot.notice.is_some()
        });
        Ok(())
    }

    fn accept(&mut self, key: (u32, TableId), mark: Mark) {
        let Some(slot) = self.slots.get_mut(&key) else { return };
        slot.accepted = Some(mark);
        slot.refused = None;
        // It may have changed while the request was on its way.
        if slot.pending.as_ref().is_some_and(|(pending, _)| *pending == mark) {
            slot.pending = None;
        }
    }

    fn refuse(&mut self, key: (u32, TableId), mark: Mark, why: &str) {
        let Some(slot) = self.slots.get_mut(&key) else { return };
        slot.refused = Some(mark);
        slot.notice = Some(format!("Lichess: {why}"));
        if slot.pending.as_ref().is_some_and(|(pending, _)| *pending == mark) {
            slot.pending = None;
        }
    }

    fn slot(&mut self, table: TableId) -> Option<&mut Slot> {
        let round = self.view.tables.get(&table)?.info.round;
        self.slots.get_mut(&(round, table))
    }

    /// Renders a table's game, and marks it to be sent if Lichess does not have it so.
    fn render(&mut self, table: TableId) {
        let Some(view) = self.view.tables.get(&table) else { return };
        let round = view.info.round;
        if !self.rounds.contains_key(&round) {
            return;
        }
        let (text, notice) = lichess_pgn(&view.game);
        let mark: Mark = Sha256::digest(text.as_bytes())[..16].try_into().unwrap_or_default();
        if self.slots.len() >= LEFT_OVER && !self.slots.contains_key(&(round, table)) {
            self.slots.pop_first();
        }
        let slot = self.slots.entry((round, table)).or_default();
        if slot.accepted == Some(mark) || slot.refused == Some(mark) {
            slot.pending = None;
            return;
        }
        slot.notice = notice;
        slot.pending = Some((mark, text));
    }
}

/// What an answer says, for a line at the desk.
fn short(body: &str) -> String {
    body.chars().filter(|c| !c.is_control()).take(200).collect()
}

/// The game as Lichess reads it, and what was left out.
fn lichess_pgn(game: &Game) -> (String, Option<String>) {
    let mut game = game.clone();
    let control = game.tags.get("TimeControl").and_then(time_control);
    game.tags.0.retain(|(name, _)| name != "TimeControl");
    if let Some(control) = control {
        game.tags.set("TimeControl", control);
    }
    let cut = game.plies.iter().position(|ply| ply.breaks());
    let notice = cut.map(|index| {
        let why = if game.plies[index].irregular {
            "an illegal move that stood"
        } else {
            "where a position was set"
        };
        format!("cut before ply {}, {why}: Lichess cannot show it or what follows", index + 1)
    });
    // A clock of which nothing is left reads as none at Lichess; all others are trusted.
    let options = WriteOptions {
        clocks: true,
        elapsed: false,
        provisional: game.plies.iter().any(|ply| ply.state == PlyState::Provisional),
        results: ResultPolicy::Signalled,
        segments: false,
        running: None,
    };
    let mut text = String::new();
    write_game_with(&game, &options, &mut text);
    (text, notice)
}

/// The one form of a time control that Lichess understands, `BASE+INCREMENT` of the first period. It
/// reads a base up to 180 as minutes, above as seconds.
fn time_control(text: &str) -> Option<String> {
    let first = text.split(':').next()?;
    let first = first.split_once('/').map_or(first, |(_, rest)| rest);
    let (base, increment) = match first.split_once('+') {
        Some((base, increment)) => (base.parse::<u32>().ok()?, increment.parse::<u32>().ok()?),
        None => (first.parse().ok()?, 0),
    };
    let base = match base {
        181.. => base,
        _ if base > 0 && base.is_multiple_of(60) => base / 60,
        _ => return None,
    };
    Some(format!("{base}+{increment}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_controls_become_the_one_form_lichess_reads() {
        for (text, expected) in [
            ("5400+30", Some("5400+30")),
            ("40/5400+30:1800+30", Some("5400+30")),
            ("40/7200:3600", Some("7200+0")),
            ("180+2", Some("3+2")),
            ("60", Some("1+0")),
            ("90+0", None),
            ("*180", None),
            ("?", None),
            ("-", None),
        ] {
            assert_eq!(time_control(text).as_deref(), expected, "{text}");
        }
    }
}
