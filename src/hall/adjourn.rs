//! Adjourned games (Guidelines I, art. 17 of the Russian rules): what is kept of them, the sealed move at the
//! resumption, and going on once the board shows the position again.
//!
//! While a game is being set up again, what its board says is evidence but no move: the tracker hears of it
//! when the position stands.

use serde::Serialize;
use serde_json::{Value, json};
use shakmaty::{Color, uci::UciMove};

use super::{GameRef, Hall, TableId, TableStatus, Update, UpdateBody, table::Table};
use crate::{
    laws::Entry,
    record::{Game, GameResult, Position, Seconds, Timestamp, read_score},
    track::{Correction, Evidence, Track},
};

/// A game as it was adjourned.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Adjournment {
    /// When.
    pub(super) at: Timestamp,
    /// The position, with the side that seals on move.
    pub(super) fen: String,
    /// Who is on move.
    #[serde(with = "crate::laws::side_word")]
    pub(super) turn: Color,
    /// The number of the move to be sealed.
    pub(super) move_number: u32,
    /// Seconds left, where known.
    pub(super) white: Option<Seconds>,
    /// Seconds left, where known.
    pub(super) black: Option<Seconds>,
    /// Half-moves played.
    pub(super) plies: usize,
    /// It is being set up again.
    pub(super) resuming: bool,
    /// The sealed move as opened, in SAN.
    pub(super) sealed: Option<String>,
}

/// The sealed move: legal and unambiguous in the adjourned position (17.8), in SAN (English or Russian) or UCI.
///
/// # Errors
/// What is wrong with it, for the arbiter: such a move loses, but it is he who says so.
pub fn sealed_move(position: &Position, text: &str) -> Result<UciMove, String> {
    let text = text.trim();
    if let Ok(uci) = text.parse::<UciMove>()
        && position.find_uci(uci).is_some()
    {
        return Ok(uci);
    }
    let read = read_score(position, text);
    match (&read.fault, read.game.plies.as_slice()) {
        (None, [ply]) => Ok(ply.uci),
        (None, []) => Err(format!("{text:?} is no move")),
        (None, _) => Err(format!("{text:?} is more than one move")),
        (Some(fault), _) => Err(format!(
            "the sealed move {text:?}: {}; moves it may mean: {}. If its meaning cannot be established the game is \
             lost (17.8): enter that result, or resume without it",
            fault.why,
            if fault.candidates.is_empty() { "none".to_owned() } else { fault.candidates.join(", ") }
        )),
    }
}

impl Hall {
    /// The adjourned game that is meant: the table's own, or one that left its table when the next round
    /// was opened.
    fn adjourned_game(&self, table: TableId, game: Option<&GameRef>) -> Result<&Table, String> {
        let found = match game {
            None => self.tables.get(&table),
            Some(game) => self.adjourned.iter().find(|kept| kept.is_game(game)),
        };
        let found = found.ok_or_else(|| "there is no such game".to_owned())?;
        if found.adjournment().is_some() { Ok(found) } else { Err("this game is not adjourned".to_owned()) }
    }

    pub(super) fn check_resume(
        &self,
        table: TableId,
        game: Option<&GameRef>,
        sealed: Option<&str>,
    ) -> Result<(), String> {
        let found = self.adjourned_game(table, game)?;
        if let Some(text) = sealed {
            sealed_move(found.game().position(), text)?;
        }
        let busy = self.tables.get(&table).is_some_and(|there| there.begun() && !there.ended());
        if game.is_some() && busy {
            return Err(format!("a game is being played at table {table}; name another table"));
        }
        Ok(())
    }

    /// Goes on with an adjourned game.
    pub(super) fn resume(
        &mut self,
        at: Timestamp,
        by: &str,
        (id, game): (TableId, Option<&GameRef>),
        sealed: Option<&str>,
        updates: &mut Vec<Update>,
    ) {
        if let Some(game) = game {
            let Some(index) = self.adjourned.iter().position(|kept| kept.is_game(game)) else { return };
            let mut table = self.adjourned.remove(index);
            self.games += 1;
            table.move_to(id, self.games);
            let stood = self.clear_tables(&std::collections::BTreeSet::from([id]));
            self.tables.insert(id, table);
            self.with_table(at, id, updates, |table| table.resume(at, by, sealed));
            for key in stood.into_values() {
                self.bind(at, id, &key, updates);
            }
            return;
        }
        self.with_table(at, id, updates, |table| table.resume(at, by, sealed));
    }

    /// Adjourned games that are at no table.
    pub(super) fn push_adjourned(&mut self, at: Timestamp, updates: &mut Vec<Update>) {
        let list: Vec<Value> = self.adjourned.iter().map(Table::adjourned_json).collect();
        self.number(at, None, UpdateBody::Adjourned(list.into()), updates);
    }
}

impl Table {
    /// What is kept of the adjournment, if its game is adjourned or being set up again.
    pub(super) fn adjournment(&self) -> Option<&Adjournment> {
        self.adjourned.as_ref()
    }

    fn is_game(&self, game: &GameRef) -> bool {
        self.info.section == game.section && self.info.round == game.round && self.info.board == game.board
    }

    fn adjourned_json(&self) -> Value {
        json!({
            "section": self.info.section,
            "round": self.info.round,
            "board": self.info.board,
            "white": self.info.white,
            "black": self.info.black,
            "adjourned": self.adjourned,
        })
    }

    /// The arbiter's entry was made: is the game adjourned, or not any more?
    pub(super) fn note_adjournment(&mut self, at: Timestamp, entry: &Entry) {
        let adjourned = matches!(self.game.result, Some((GameResult::Adjourned, ..)));
        let before = self.adjourned.clone();
        if adjourned && matches!(entry, Entry::Adjourn | Entry::Result { .. }) {
            let position = self.game.position();
            // Set up again and adjourned once more, before the clocks ran: the times are those of before.
            let times =
                before.as_ref().filter(|before| before.resuming).map(|before| (before.white, before.black));
            let (white, black) = times.unwrap_or((self.shown.white, self.shown.black));
            self.resuming = false;
            self.adjourned = Some(Adjournment {
                at,
                fen: position.fen(),
                turn: position.turn(),
                move_number: position.move_number(),
                white,
                black,
                plies: self.game.plies.len(),
                resuming: false,
                sealed: None,
            });
        } else if !adjourned && !self.resuming || matches!(entry, Entry::Reopen) {
            self.adjourned = None;
            self.resuming = false;
        }
        if self.adjourned != before {
            self.show_adjourned();
        }
    }

    fn show_adjourned(&mut self) {
        self.info.adjourned = json!(self.adjourned);
        self.announce();
    }

    /// The game goes on at another table; its round, number and tags stay.
    fn move_to(&mut self, id: TableId, number: u64) {
        self.id = id;
        self.setup.table = id;
        self.setup.board = None;
        self.moved = true;
        self.info.game = number;
        self.info.link = super::LinkView::default();
        self.clock = None;
        self.announce();
        self.retell();
    }

    /// Goes on from the adjourned position, after the sealed move if there is one, once the board shows it.
    fn resume(&mut self, at: Timestamp, by: &str, sealed: Option<&str>) {
        let Some(adjourned) = self.adjourned.clone() else { return };
        self.resuming = true;
        self.track = track_of(at, &self.game);
        self.rule(at, |referee, game, out| referee.entered(at, by, &Entry::Reopen, game, out));
        let mut opened = None;
        if let Some(uci) = sealed.and_then(|text| sealed_move(self.game.position(), text).ok()) {
            let index = self.game.plies.len();
            self.track_evidence(
                at,
                &Evidence::Correction(Correction::Append { plies: vec![uci.to_string()] }),
            );
            let left = shakmaty::ByColor { white: adjourned.white, black: adjourned.black };
            self.edit_ply(index, |ply| ply.clock = left);
            opened = self.game.plies.get(index).map(|ply| ply.san.clone());
        }
        self.info.status = TableStatus::Waiting;
        self.info.signed = false;
        self.adjourned = Some(Adjournment { resuming: true, sealed: opened.clone(), ..adjourned.clone() });
        self.wants_dump = true;
        self.show_adjourned();
        self.incident(
            at,
            json!({"kind": "resumed", "by": by, "sealed": opened, "fen": self.game.position().fen(),
                "clock": {"white": adjourned.white, "black": adjourned.black}}),
        );
        self.look_at_resumption(at);
    }

    /// The board may show the position by now.
    pub(super) fn look_at_resumption(&mut self, at: Timestamp) {
        if !self.resuming || !self.info.link.online {
            return;
        }
        let wanted = self.game.position().board().clone();
        let Some(rotated) = [false, true].into_iter().find(|turned| self.squares.to_board(*turned) == wanted)
        else {
            return;
        };
        self.resumed(at, rotated);
    }

    /// The game goes on.
    fn resumed(&mut self, at: Timestamp, rotated: bool) {
        let clock = json!({"white": self.shown.white, "black": self.shown.black});
        let expected = self.adjourned.as_ref().map(|kept| json!({"white": kept.white, "black": kept.black}));
        self.end_resumption();
        self.info.status = TableStatus::Armed;
        self.announce();
        self.track_evidence(at, &Evidence::Correction(Correction::Rotated { rotated }));
        let dump = Evidence::Dump(self.squares);
        self.track_evidence(at, &dump);
        if let Some(sense) = self.clock_sense() {
            self.track_evidence(at, &Evidence::Clock(sense));
        }
        self.incident(at, json!({"kind": "resumption-ready", "clock": clock, "expected_clock": expected}));
    }

    /// A person's word ends the waiting.
    pub(super) fn end_resumption(&mut self) {
        if std::mem::replace(&mut self.resuming, false) {
            self.adjourned = None;
            self.show_adjourned();
        }
    }
}

/// A tracker that stands after this game.
fn track_of(at: Timestamp, game: &Game) -> Track {
    let mut track = Track::new(&game.start);
    let plies: Vec<String> = game.plies.iter().map(|ply| ply.uci.to_string()).collect();
    let mut ignored = Vec::new();
    if !plies.is_empty() {
        track.observe(at, &Evidence::Correction(Correction::Append { plies }), &mut ignored);
    }
    if track.position() != game.position() {
        let position = game.position().clone();
        track.observe(at, &Evidence::Correction(Correction::SetPosition { position }), &mut ignored);
    }
    track
}
