//! One table: a board, a clock, two players, a game. Folds observations into updates.
//!
//! The order inside is always the same: evidence goes to the tracker, its findings change the
//! record, then the referee is told, then updates leave.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `evidence` | what the board and its line say |
//! | `clock` | what the clock says, whose side is whose, the readings at the presses |
//! | `record` | the tracker's findings into the record |
//! | `rulings` | the referee's word: alerts, results, questions |
//! | `swap` | two tables whose boards were exchanged |

mod clock;
mod evidence;
mod record;
mod rulings;
mod swap;

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use serde_json::{Value, json};
use shakmaty::Color;

use super::{
    BoardKey, ClockView, LinkView, TableId, TableInfo, TableSetup, TableStatus, UpdateBody,
    adjourn::Adjournment,
    setup::{self, Context},
    sheet::Closing,
};
use crate::{
    laws::{AlertId, Code, Entry, Referee},
    record::{Game, PlySource, ResultState, Timestamp},
    track::{Correction, Evidence, Track},
    wire::{ClockState, Squares},
};
use clock::PressReading;

pub use rulings::MateQuestion;

/// The tag of a game that was typed, in part or whole.
const TYPED: (&str, &str) = ("Source", "typed from the score sheet");
/// Rulings that may follow one another at one moment without new evidence.
const AT_ONCE: usize = 8;

/// One table of the hall.
#[derive(Clone, Debug)]
pub(in crate::hall) struct Table {
    pub(in crate::hall) id: TableId,
    pub(in crate::hall) setup: TableSetup,
    /// Where the game was adjourned, until it goes on.
    pub(in crate::hall) adjourned: Option<Adjournment>,
    /// An adjourned game is being set up again.
    pub(in crate::hall) resuming: bool,
    /// The game was begun at another table, in a round that may be over.
    pub(in crate::hall) moved: bool,
    pub(in crate::hall) info: TableInfo,
    pub(in crate::hall) game: Game,
    pub(in crate::hall) track: Track,
    referee: Referee,
    /// The board as it numbers itself.
    pub(in crate::hall) squares: Squares,
    /// The last clock state, sides as the clock has them.
    pub(in crate::hall) clock: Option<ClockState>,
    /// The clock stands the wrong way round.
    exchanged: bool,
    pub(in crate::hall) shown: ClockView,
    presses: VecDeque<PressReading>,
    muted: BTreeSet<Code>,
    /// Conflicts of results that nobody has settled.
    conflicts: BTreeSet<AlertId>,
    /// Fischer increment in seconds, for the time a move took; `None` when unknown.
    increment: Option<u32>,
    questions: Vec<MateQuestion>,
    pub(in crate::hall) wants_dump: bool,
    out: Vec<UpdateBody>,
}

impl Table {
    /// A table with a new game, the `number`th of the journal.
    pub(in crate::hall) fn new(setup: TableSetup, context: &Context<'_>, number: u64, at: Timestamp) -> Self {
        let info = setup::table_info(&setup, context, number);
        let game = Game { tags: info.tags.clone(), ..Game::new(setup.start.clone()) };
        let track = Track::new(&setup.start);
        let (profile, options, increment) = setup::rules(&setup, context);
        let referee = Referee::new(profile, options);
        let mut table = Self {
            adjourned: None,
            resuming: false,
            moved: false,
            id: setup.table,
            squares: Squares::from_board(setup.start.board(), false),
            setup,
            info,
            game,
            track,
            referee,
            clock: None,
            exchanged: false,
            shown: ClockView::default(),
            presses: VecDeque::new(),
            muted: BTreeSet::new(),
            conflicts: BTreeSet::new(),
            increment,
            questions: Vec::new(),
            wants_dump: true,
            out: Vec::new(),
        };
        table.announce();
        // What there is to say before anything happens: a time control of another class, say.
        table.rule(at, |referee, game, out| referee.advance(at, game, out));
        table.advance(at);
        table
    }

    /// Changes players, profile or board while the game goes on. A new start position before the
    /// first ply starts the game anew.
    pub(in crate::hall) fn change(&mut self, setup: TableSetup, context: &Context<'_>, at: Timestamp) {
        let mut fresh = setup::table_info(&setup, context, self.info.game);
        if self.moved {
            // It belongs to another round than the one that is being played.
            for name in ["Date", "Round", "Board", "GameId"] {
                fresh.tags.set(name, self.info.tags.get(name).unwrap_or_default().to_owned());
            }
        }
        self.info.white = fresh.white;
        self.info.black = fresh.black;
        self.info.tags = fresh.tags;
        if self.game.plies.iter().any(|ply| ply.source == PlySource::Typed) {
            self.info.tags.set(TYPED.0, TYPED.1);
        }
        self.info.profile = fresh.profile;
        self.info.time_control = fresh.time_control;
        if setup.start != self.setup.start && self.game.plies.is_empty() {
            self.info.start = fresh.start;
            self.game = Game::new(setup.start.clone());
            self.track = Track::new(&setup.start);
            let dump = Evidence::Dump(self.squares);
            self.track_evidence(at, &dump);
        }
        self.game.tags = self.info.tags.clone();
        let (profile, options, increment) = setup::rules(&setup, context);
        self.increment = increment;
        self.rule(at, |referee, game, out| referee.reconfigure(at, profile, options, game, out));
        self.setup = setup;
        self.announce();
    }

    /// A move was made, or there is a result.
    pub(in crate::hall) fn begun(&self) -> bool {
        !self.game.plies.is_empty() || self.game.result.is_some()
    }

    /// The section it belongs to.
    pub(in crate::hall) fn section(&self) -> &str {
        &self.info.section
    }

    /// The round was started then; default time counts from there.
    pub(in crate::hall) fn round_started(&mut self, started: Timestamp) {
        self.rule(started, |referee, game, out| referee.round_started(started, game, out));
    }

    /// How its result stands.
    pub(in crate::hall) fn closing(&self) -> Closing {
        Closing::of(&self.info, &self.game, !self.conflicts.is_empty())
    }

    /// What left since the last call.
    pub(in crate::hall) fn take_updates(&mut self) -> Vec<UpdateBody> {
        std::mem::take(&mut self.out)
    }

    /// Long questions since the last call.
    pub(in crate::hall) fn take_questions(&mut self) -> Vec<MateQuestion> {
        std::mem::take(&mut self.questions)
    }

    /// The tracker asked for a full dump since the last call.
    pub(in crate::hall) fn take_wants_dump(&mut self) -> bool {
        std::mem::take(&mut self.wants_dump)
    }

    /// The board bound to this table.
    pub(in crate::hall) fn board(&self) -> Option<&BoardKey> {
        self.info.link.board.as_ref()
    }

    /// The record of this table.
    pub(in crate::hall) fn game(&self) -> &Game {
        &self.game
    }

    /// The board in game squares.
    pub(in crate::hall) fn sensed(&self) -> &shakmaty::Board {
        self.track.sensed()
    }

    /// What the last ply could be while the squares cannot tell, and what has followed it.
    pub(in crate::hall) fn open_plies(&self) -> (Vec<String>, Vec<String>) {
        let (first, then) = self.track.candidates();
        let written = |plies: Vec<shakmaty::uci::UciMove>| plies.iter().map(ToString::to_string).collect();
        (written(first), written(then))
    }

    /// The game has ended and its result is fixed.
    pub(in crate::hall) fn ended(&self) -> bool {
        matches!(self.game.result, Some((_, _, ResultState::Final)))
    }

    /// The tallies of the referee.
    pub(in crate::hall) fn counts(&self) -> Value {
        json!(self.info.counts.as_ref().map(|counts| counts.to_json()))
    }

    pub(in crate::hall) fn bind(&mut self, board: Option<BoardKey>) {
        self.setup.board.clone_from(&board);
        self.info.link = LinkView { board, rotated: self.track.rotated(), ..LinkView::default() };
        self.announce();
    }

    /// An arbiter's entry.
    pub(in crate::hall) fn enter(&mut self, at: Timestamp, by: &str, entry: &Entry) {
        self.rule(at, |referee, game, out| referee.entered(at, by, entry, game, out));
        let incident = json!({"kind": "entry", "by": by, "entry": entry});
        self.incident(at, incident);
        match entry {
            Entry::ScoresheetsSigned { .. } => self.info.signed = true,
            Entry::Reopen => self.info.signed = false,
            _ => {}
        }
        self.note_adjournment(at, entry);
        self.announce();
    }

    /// An operator's correction.
    pub(in crate::hall) fn correct(&mut self, at: Timestamp, by: &str, correction: &Correction) {
        self.end_resumption();
        self.track_evidence(at, &Evidence::Correction(correction.clone()));
        let incident = json!({"kind": "correction", "by": by, "correction": correction});
        self.incident(at, incident);
    }

    pub(in crate::hall) fn mute(&mut self, code: Code, muted: bool) {
        if muted {
            self.muted.insert(code);
        } else {
            self.muted.remove(&code);
        }
        self.info.muted = self.muted.iter().copied().collect();
        self.announce();
    }

    /// The answer to a long question.
    pub(in crate::hall) fn mate_answer(&mut self, at: Timestamp, fen: &str, side: Color, verdict: &Value) {
        self.rule(at, |referee, game, out| referee.mate_answer(at, fen, side, verdict, game, out));
    }

    /// Serves every deadline up to and including `now`, each at its own time.
    pub(in crate::hall) fn advance(&mut self, now: Timestamp) {
        let mut again = 0;
        while let Some(due) = self.next_deadline().filter(|due| *due <= now) {
            let mut findings = Vec::new();
            self.track.advance(due, &mut findings);
            self.apply_findings(due, findings);
            self.rule(due, |referee, game, out| referee.advance(due, game, out));
            // What was ruled may make something else due at once, but not for ever.
            let stays = self.next_deadline().is_some_and(|next| next <= due);
            again = if stays { again + 1 } else { 0 };
            debug_assert!(again < AT_ONCE, "a deadline that stays");
            if again == AT_ONCE {
                break; // never spin on a deadline that does not go away
            }
        }
    }

    /// The next moment at which something will be said without new input.
    pub(in crate::hall) fn next_deadline(&self) -> Option<Timestamp> {
        match (self.track.next_deadline(), self.referee.next_deadline()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    pub(in crate::hall) fn track_evidence(&mut self, at: Timestamp, evidence: &Evidence) {
        if self.resuming
            && !matches!(evidence, Evidence::Correction(_) | Evidence::Closed | Evidence::Reopened)
        {
            return;
        }
        let mut findings = Vec::new();
        self.track.observe(at, evidence, &mut findings);
        self.apply_findings(at, findings);
    }

    pub(in crate::hall) fn incident(&mut self, at: Timestamp, mut incident: Value) {
        incident["at"] = json!(at.to_rfc3339());
        incident["table"] = json!(self.id);
        incident["round"] = json!(self.info.round);
        if !self.info.section.is_empty() {
            incident["section"] = json!(self.info.section);
        }
        incident["white"] = json!(self.info.white.name);
        incident["black"] = json!(self.info.black.name);
        self.out.push(UpdateBody::Incident(incident));
    }

    pub(in crate::hall) fn announce(&mut self) {
        // Only the last of several announcements in one step matters.
        if let Some(UpdateBody::Table(last)) = self.out.last_mut() {
            *last = Arc::new(self.info.clone());
        } else {
            self.out.push(UpdateBody::Table(Arc::new(self.info.clone())));
        }
    }
}
