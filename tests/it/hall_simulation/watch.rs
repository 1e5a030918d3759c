//! What must hold after every input, whatever boards, lines and people do.

use std::collections::{BTreeMap, BTreeSet};

use arbiterd::{
    hall::{Hall, TableId, TableStatus, Update, UpdateBody, View},
    laws::{Alert, AlertState, Audience, Code},
    publish::delay::Delay,
    record::{PlySource, PlyState, Position, ResultState, Timestamp},
};

/// For so long a board may lie still without its game, and nobody be told why, in milliseconds.
pub(super) const STILL: i64 = 75_000;

/// These say of themselves that something stands; when it does not any more they have to go.
const SELF_CLEARING: [Code; 4] =
    [Code::PositionMismatch, Code::PositionGap, Code::IllegalMovePending, Code::BoardOffline];

/// One of these says that a ply was not legal, or that the board was left as nobody can play it.
const NOT_LEGAL: [Code; 11] = [
    Code::PositionMismatch,
    Code::PositionGap,
    Code::IllegalMoveCompleted,
    Code::IllegalMoveStands,
    Code::IllegalPosition,
    Code::PawnOnLastRank,
    Code::CaptureIncomplete,
    Code::CastlingIncomplete,
    Code::PromotionPieceMissing,
    Code::MovedOutOfTurn,
    Code::PiecesRearranged,
];

/// Watches one hall.
pub(super) struct Watch {
    /// What the desk is shown.
    pub(super) desk: View,
    /// What the public is shown.
    pub(super) public: View,
    delay: Delay,
    /// When each update that is not shown yet was made, by number.
    made: BTreeMap<u64, i64>,
    /// Delays and since when they hold.
    delays: Vec<(i64, i64)>,
    /// Every update as the desk's stream writes it.
    pub(super) told: Vec<String>,
    alerts: BTreeMap<(TableId, u64, u32), AlertState>,
    /// Tables where a person has set a position: the chain of moves may begin anew there.
    set: BTreeSet<TableId>,
    /// Tables whose games changed places: what was dealt with before is not told again.
    moved: BTreeSet<TableId>,
    /// When something about a table's board or game changed last.
    changed: BTreeMap<TableId, i64>,
    pub(super) seen: BTreeSet<Code>,
}

impl Drop for Watch {
    /// What was said last, for whoever plays a failing seed again.
    fn drop(&mut self) {
        if std::thread::panicking() && super::number("ARBITERD_SEEDS") == Some(1) {
            for line in &self.told[self.told.len().saturating_sub(60)..] {
                eprintln!("{line:.700}");
            }
        }
    }
}

impl Watch {
    pub(super) fn new() -> Self {
        Self {
            desk: View::new(true),
            public: View::new(false),
            delay: Delay::default(),
            made: BTreeMap::new(),
            delays: vec![(i64::MIN, 0)],
            told: Vec::new(),
            alerts: BTreeMap::new(),
            set: BTreeSet::new(),
            moved: BTreeSet::new(),
            changed: BTreeMap::new(),
            seen: BTreeSet::new(),
        }
    }

    /// A person sets a position at this table.
    pub(super) fn position_set(&mut self, table: TableId) {
        self.set.insert(table);
    }

    /// The games of two tables change places.
    pub(super) fn swapped(&mut self, a: TableId, b: TableId) {
        self.moved.extend([a, b]);
        if self.set.contains(&a) || self.set.contains(&b) {
            self.set.extend([a, b]);
        }
    }

    /// Another round.
    pub(super) fn new_round(&mut self) {
        self.set.clear();
        self.moved.clear();
    }

    /// Nothing of this table has changed since then.
    pub(super) fn quiet(&self, table: TableId, since: i64) -> bool {
        self.changed.get(&table).is_none_or(|at| *at <= since)
    }

    /// Takes what the hall said and holds it against everything that must be so.
    pub(super) fn take(&mut self, hall: &Hall, updates: &[Update], now: Timestamp) {
        // The first ply that may be another now, by table.
        let mut changed: BTreeMap<TableId, usize> = BTreeMap::new();
        for update in updates {
            let next = self.told.len() as u64 + 1;
            assert_eq!(update.seq.0, next, "numbers without gaps");
            assert!(update.at <= now, "update {next} comes from the future");
            self.told.push(update.to_json(true).to_string());
            self.index_fits(update);
            self.alert_lives(update);
            self.desk.apply(update);
            if let Some(table) = update.table {
                let from = match &update.body {
                    UpdateBody::Ply { index, .. } => Some(*index),
                    UpdateBody::Undo { from } => Some(*from),
                    UpdateBody::Result(_) => Some(usize::MAX),
                    UpdateBody::Table(_) => Some(0),
                    _ => None,
                };
                if let Some(from) = from {
                    changed.entry(table).and_modify(|first| *first = from.min(*first)).or_insert(from);
                }
            }
            if let (Some(table), false) = (
                update.table,
                matches!(update.body, UpdateBody::Clock(_) | UpdateBody::Incident(_) | UpdateBody::Alert(_)),
            ) {
                self.changed.insert(table, update.at.millis());
            }
            if !update.desk_only() {
                self.made.insert(next, update.at.millis());
            }
            if let UpdateBody::Round(round) = &update.body {
                let seconds = round["delay_seconds"].as_i64().expect("a delay");
                self.delays.push((update.at.millis(), seconds * 1000));
            }
        }
        if !updates.is_empty() {
            assert_eq!(hall.seq().0, self.told.len() as u64, "the hall counts what it said");
        }
        for (table, from) in changed {
            self.shown_is_so(hall, table, from);
        }
        self.delay.push(updates);
    }

    /// The public is shown what is old enough.
    pub(super) fn release(&mut self, now: i64) {
        for update in self.delay.pop(Timestamp::from_millis(now)) {
            assert!(!update.desk_only(), "only the desk may have update {}", update.seq.0);
            let made = self.made.remove(&update.seq.0).expect("shown once");
            let (next, _) = self.made.first_key_value().map_or((u64::MAX, 0), |(seq, at)| (*seq, *at));
            assert!(update.seq.0 < next, "update {} overtook {next}", update.seq.0);
            // The shortest delay that held at any moment since it was made.
            let shortest = (0..self.delays.len())
                .filter(|&index| {
                    self.delays[index].0 <= now
                        && self.delays.get(index + 1).is_none_or(|(until, _)| *until >= made)
                })
                .map(|index| self.delays[index].1)
                .min()
                .unwrap_or(0);
            assert!(
                now - made >= shortest,
                "update {} was shown after {} ms; the delay is {shortest} ms",
                update.seq.0,
                now - made
            );
            self.public.apply(&update);
        }
    }

    /// When everything has been shown, the public knows what the desk knows of the games.
    pub(super) fn public_is_complete(&self) {
        assert!(self.made.is_empty(), "{} updates were never shown", self.made.len());
        assert_eq!(self.desk.tables.len(), self.public.tables.len());
        for (id, desk) in &self.desk.tables {
            let public = &self.public.tables[id];
            let moves = |view: &arbiterd::hall::TableView| -> Vec<_> {
                view.game.plies.iter().map(|ply| (ply.uci, ply.state, ply.clock)).collect()
            };
            assert_eq!(moves(desk), moves(public), "table {id}");
            assert_eq!(desk.game.result, public.game.result, "table {id}");
        }
    }

    fn index_fits(&self, update: &Update) {
        let Some(view) = update.table.and_then(|table| self.desk.tables.get(&table)) else { return };
        let count = view.game.plies.len();
        match &update.body {
            UpdateBody::Ply { index, replaces, .. } => {
                assert!(*index <= count, "a ply was left out: {update:?} after {count}");
                assert!(!replaces || *index < count, "nothing to replace: {update:?}");
            }
            UpdateBody::Undo { from } => assert!(*from < count, "nothing to undo: {update:?} of {count}"),
            _ => {}
        }
    }

    fn alert_lives(&mut self, update: &Update) {
        let (Some(table), UpdateBody::Alert(alert)) = (update.table, &update.body) else { return };
        self.seen.insert(alert.code);
        let game = self.desk.tables.get(&table).map_or(0, |view| view.info.game);
        let before = self.alerts.insert((table, game, alert.id.0), alert.state);
        let gone = |state| matches!(state, AlertState::Resolved | AlertState::Cleared);
        assert!(
            !before.is_some_and(gone) || gone(alert.state),
            "alert {} of table {table} rose from the dead: {before:?} to {:?} ({})",
            alert.id.0,
            alert.state,
            alert.code.word()
        );
        assert!(!alert.text.en.is_empty() && !alert.text.ru.is_empty(), "{} has no text", alert.code.word());
    }

    /// What the desk is shown is what the hall has, and each ply follows from the one before.
    fn shown_is_so(&self, hall: &Hall, table: TableId, from: usize) {
        let Some(game) = hall.game(table) else { return };
        let view = &self.desk.tables[&table];
        assert_eq!(view.game.plies, game.plies, "table {table} is shown other plies than it has");
        assert_eq!(view.game.result, game.result, "table {table}");
        // A game that began from a wrong set-up goes on from there, and an alert says so.
        let free = self.set.contains(&table)
            || view.alerts.values().any(|alert| alert.code == Code::WrongInitialPosition);
        let mut provisional = false;
        for (index, ply) in game.plies.iter().enumerate() {
            provisional |= ply.state == PlyState::Provisional;
            if index < from {
                continue;
            }
            let before = game.position_before(index).expect("a position");
            match before.find_uci(ply.uci) {
                _ if ply.irregular => {}
                Some(m) => assert!(
                    free || before.play(m) == ply.after,
                    "table {table}, ply {index}: {} does not lead from {} to {}",
                    ply.uci,
                    before.fen(),
                    ply.after.fen()
                ),
                None => assert!(free, "table {table}, ply {index}: {} is not legal", ply.uci),
            }
            if ply.irregular
                && ply.state == PlyState::Confirmed
                && ply.source != PlySource::Entered
                && !self.moved.contains(&table)
            {
                let said = view.alerts.values().any(|alert| NOT_LEGAL.contains(&alert.code));
                assert!(said, "table {table}, ply {index}: {} is not legal, and no alert says so", ply.uci);
            }
            assert!(
                !provisional || ply.state == PlyState::Provisional || ply.source == PlySource::Entered,
                "table {table}, ply {index} is confirmed behind a provisional one"
            );
        }
    }

    /// A board that has lain still agrees with its game, or an alert says why not; and no alert says
    /// what is not so.
    pub(super) fn still(&mut self, hall: &Hall, table: TableId, online: bool) {
        let (Some(game), Some(sensed)) = (hall.game(table), hall.sensed(table)) else { return };
        let view = &self.desk.tables[&table];
        let closed = game.result.is_some_and(|(.., state)| state == ResultState::Final);
        let alive = |state| matches!(state, AlertState::Open | AlertState::Acknowledged);
        let agree = game.position().board() == sensed;
        if online && view.info.status == TableStatus::Playing && !closed && !agree {
            let why = view
                .alerts
                .values()
                .any(|alert| alert.audience != Audience::ArbiterSilent && alert.state != AlertState::Cleared);
            assert!(
                why,
                "table {table}: the board has lain still with {}, the game stands at {}, and no alert says so",
                sensed.board_fen(),
                game.position().fen()
            );
        }
        if online && agree && !closed {
            for alert in view.alerts.values().filter(|alert| alive(alert.state) && !asks(alert)) {
                assert!(
                    !SELF_CLEARING.contains(&alert.code),
                    "table {table}: board and game agree, and `{}` is still open (alert {}, {:?})",
                    alert.code.word(),
                    alert.id.0,
                    alert.state
                );
            }
        }
    }
}

/// An alert that asks which of several lines to one and the same board was played stays until a
/// person says.
fn asks(alert: &Alert) -> bool {
    if alert.code != Code::PositionGap || alert.advice.line.is_empty() {
        return false;
    }
    let last: Position = alert
        .advice
        .restore_fen
        .as_deref()
        .and_then(|fen| Position::from_fen(fen, shakmaty::CastlingMode::Standard).ok())
        .expect("a position");
    let ends: Vec<_> = alert.detail["candidates"]
        .as_array()
        .expect("candidates")
        .iter()
        .map(|line| {
            line.as_array().expect("a line").iter().fold(last.clone(), |position, uci| {
                let uci = uci.as_str().and_then(|uci| uci.parse().ok()).expect("UCI");
                position.play(position.find_uci(uci).expect("a legal move"))
            })
        })
        .map(|end| end.board().clone())
        .collect();
    ends.len() > 1 && ends.windows(2).all(|pair| pair[0] == pair[1])
}
