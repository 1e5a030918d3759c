//! A whole hall in virtual time: boards, lines, people at the desk, the journal, restarts.

use std::collections::BTreeMap;

use arbiterd::{
    daemon::recover,
    event::Player,
    hall::{
        BoardKey, Command, EventSetup, Hall, Input, InputBody, MateQuestion, OptionsSetup, RoundSetup,
        TableId, TableSetup, Update,
    },
    journal::Journal,
    laws::mate,
    record::{Tags, Timestamp},
    track::Correction,
    wire::Observation,
};
use fastrand::Rng;
use serde_json::json;
use shakmaty::CastlingMode;

use super::{
    board::Board,
    games::{Plan, pick},
    people::{self, Desk},
    watch::{STILL, Watch},
};

/// When simulated days begin, in milliseconds since 1970.
const MORNING: i64 = 1_777_645_800_000;

/// What came of one seed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) games: usize,
    pub(super) plies: usize,
    pub(super) inputs: usize,
    pub(super) updates: usize,
    pub(super) restarts: usize,
    /// Games whose record is exactly what the hands played; only counted where nobody interfered.
    pub(super) exact: usize,
    pub(super) followed: usize,
}

impl Tally {
    pub(super) fn add(&mut self, other: Self) {
        self.games += other.games;
        self.plies += other.plies;
        self.inputs += other.inputs;
        self.updates += other.updates;
        self.restarts += other.restarts;
        self.exact += other.exact;
        self.followed += other.followed;
    }
}

struct World {
    rng: Rng,
    now: i64,
    hall: Hall,
    watch: Watch,
    /// The journal's inputs, or the file they are in.
    lines: Vec<String>,
    file: Option<(tempfile::TempDir, Option<Journal>)>,
    boards: Vec<Board>,
    questions: Vec<(i64, MateQuestion)>,
    desk: Desk,
    restarts: usize,
}

/// Plays one seed. Panics where something that must hold does not.
pub(super) fn run(seed: u64) -> Tally {
    let mut rng = Rng::with_seed(seed);
    let desk = if rng.u32(0..3) == 0 { Desk::Busy } else { Desk::Calm };
    // A real file now and then: it is the same journal, only slower.
    let file = (rng.u32(0..16) == 0).then(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Journal::open(&folder.path().join("hall.sqlite")).expect("a new journal");
        (folder, Some(journal))
    });
    let mut world = World {
        rng,
        now: MORNING,
        hall: Hall::new(),
        watch: Watch::new(),
        lines: Vec::new(),
        file,
        boards: Vec::new(),
        questions: Vec::new(),
        desk,
        restarts: 0,
    };
    let mut tally = Tally::default();
    let rounds = world.rng.u32(1..3);
    for round in 1..=rounds {
        world.round(round, &mut tally);
        world.now += world.rng.i64(60_000..7_200_000);
    }
    world.restart();
    world.now += 3_600_000;
    world.advance();
    world.watch.release(world.now + 3_600_000);
    world.watch.public_is_complete();
    tally.inputs = world.lines.len();
    tally.updates = world.watch.told.len();
    tally.restarts = world.restarts;
    tally
}

impl World {
    fn round(&mut self, number: u32, tally: &mut Tally) {
        let count = self.rng.usize(1..5);
        let plans: Vec<Plan> = (0..count).map(|_| Plan::random(&mut self.rng)).collect();
        let key = |index: usize| BoardKey(format!("{}", 40_001 + index));
        self.boards.clear();
        for (index, plan) in plans.iter().enumerate() {
            let begin = self.now + self.rng.i64(0..60_000);
            let board = Board::play(key(index), plan, begin, &mut self.rng);
            self.boards.push(board);
        }
        let profile = *pick(
            &mut self.rng,
            &["", "fide-2023/classical", "fide-2023/rapid", "fide-2023/blitz", "fide-2018/classical"],
        );
        let delay_seconds = *pick(&mut self.rng, &[0, 0, 60, 900]);
        let event = EventSetup {
            id: "sim".to_owned(),
            profile: profile.to_owned(),
            delay_seconds,
            ..EventSetup::default()
        };
        self.command(Command::Event { event });
        let tables = plans.iter().enumerate().map(|(index, plan)| TableSetup {
            table: TableId(index as u32 + 1),
            board: Some(key(index)),
            white: Player::named(format!("White {index}")),
            black: Player::named(format!("Black {index}")),
            start: plan.game.start.clone(),
            profile: None,
            time_control: Some(plan.time_control()),
            tags: Tags::default(),
            options: OptionsSetup::default(),
        });
        self.watch.new_round();
        let setup = RoundSetup { number, date: None, tables: tables.collect() };
        self.command(Command::Round { round: setup });
        let exchanged = count > 1 && self.rng.u32(0..6) == 0;
        if exchanged {
            // Two boards were set out at each other's tables; somebody finds out later.
            self.command(Command::Bind { table: TableId(1), board: key(1) });
            self.command(Command::Bind { table: TableId(2), board: key(0) });
        }
        self.play(exchanged);
        let undisturbed = self.desk == Desk::Calm && !exchanged;
        for (index, plan) in plans.iter().enumerate() {
            tally.games += 1;
            tally.plies += plan.game.moves.len();
            if undisturbed {
                tally.followed += 1;
                let game = self.hall.game(TableId(index as u32 + 1)).expect("its table");
                let moves: Vec<_> = game.plies.iter().map(|ply| ply.uci).collect();
                let truth = &self.boards[index].script.games[0];
                tally.exact += usize::from(truth.plies.iter().map(|ply| ply.uci).eq(moves));
            }
        }
    }

    fn play(&mut self, exchanged: bool) {
        let end = self.boards.iter().map(|board| self.now + board.script.end_ms as i64).max();
        let end = end.unwrap_or(self.now) + 240_000;
        let length = (end - self.now).max(1);
        let mut restarts: Vec<i64> =
            (0..self.rng.u32(0..3)).map(|_| self.now + self.rng.i64(0..length)).collect();
        restarts.sort_unstable_by(|a, b| b.cmp(a));
        let mut swap = exchanged.then(|| self.now + self.rng.i64(0..length));
        let mut replaced = (self.rng.u32(0..8) == 0).then(|| self.now + self.rng.i64(0..length));
        let mut next_order = self.now + self.rng.i64(0..120_000);
        let mut next_look = self.now + STILL;
        loop {
            let boards =
                self.boards.iter().enumerate().filter_map(|(index, board)| Some((board.next()?, index)));
            let (at, index) = boards.min().unwrap_or((i64::MAX, 0));
            let others = [Some(next_order), Some(next_look), swap, replaced, restarts.last().copied()];
            let other = others.into_iter().flatten().min().unwrap_or(i64::MAX);
            if at.min(other) > end {
                break;
            }
            if at <= other {
                self.now = self.now.max(at);
                let seen = self.boards[index].step(&mut self.rng);
                let key = self.boards[index].key.clone();
                for observation in seen {
                    self.observed(&key, observation);
                }
                continue;
            }
            self.now = self.now.max(other);
            if restarts.last() == Some(&other) {
                restarts.pop();
                self.restart();
            } else if swap == Some(other) {
                swap = None;
                self.command(Command::SwapBoards { a: TableId(1), b: TableId(2) });
            } else if replaced == Some(other) {
                replaced = None;
                self.replace_a_board();
            } else if next_look == other {
                next_look = self.now + self.rng.i64(5_000..40_000);
                self.advance();
                self.look();
            } else {
                next_order = self.now + self.rng.i64(500..90_000);
                if let Some(command) = people::order(self.desk, &self.hall, &self.watch.desk, &mut self.rng) {
                    self.command(command);
                }
            }
        }
        self.now = self.now.max(end);
        self.advance();
        self.look();
    }

    /// The electronics of a board are exchanged for others, the pieces stay.
    fn replace_a_board(&mut self) {
        let index = self.rng.usize(0..self.boards.len());
        let old = self.boards[index].key.clone();
        let Some(table) =
            self.watch.desk.tables.iter().find(|(_, view)| view.info.link.board.as_ref() == Some(&old))
        else {
            return;
        };
        let table = *table.0;
        let down = arbiterd::wire::LinkEvent::Down("unplugged".to_owned());
        if self.boards[index].online {
            self.observed(&old, Observation::Link(down));
        }
        let board = &mut self.boards[index];
        board.key = BoardKey(format!("{}", 50_001 + index));
        board.forget(self.now, &mut self.rng);
        let key = board.key.clone();
        self.command(Command::Bind { table, board: key });
    }

    fn observed(&mut self, key: &BoardKey, observation: Observation) {
        let at = Timestamp::from_millis(self.now);
        if self.hall.is_news(at, key, &observation) {
            self.input(InputBody::Board(key.clone(), observation));
        }
    }

    fn command(&mut self, command: Command) {
        if self.hall.check(&command).is_err() {
            return;
        }
        if let Command::Correct { table, correction } = &command
            && matches!(correction, Correction::SetPosition { .. })
        {
            self.watch.position_set(*table);
        }
        if let Command::SwapBoards { a, b } = &command {
            self.watch.swapped(*a, *b);
        }
        self.input(InputBody::Command { by: "someone".to_owned(), command });
    }

    /// Journals an input, applies it, asks what the hall wants asked, and watches.
    fn input(&mut self, body: InputBody) {
        let input = Input { at: Timestamp::from_millis(self.now), body };
        let line = serde_json::to_string(&input).expect("JSON");
        if let Some((_, Some(journal))) = &mut self.file {
            journal.append([line.as_str()]).expect("room");
        }
        self.lines.push(line);
        let updates = self.hall.apply(&input);
        let now = Timestamp::from_millis(self.now);
        assert!(self.hall.next_deadline().is_none_or(|due| due >= now), "a deadline lies in the past");
        self.after(&updates);
    }

    fn advance(&mut self) {
        let now = Timestamp::from_millis(self.now);
        let updates = self.hall.advance(now);
        assert!(self.hall.next_deadline().is_none_or(|due| due > now), "a deadline was not served");
        self.after(&updates);
    }

    fn after(&mut self, updates: &[Update]) {
        self.watch.take(&self.hall, updates, Timestamp::from_millis(self.now));
        if self.rng.u32(0..4) == 0 {
            self.watch.release(self.now);
        }
        for key in self.hall.take_wants_dump() {
            if let Some(board) = self.boards.iter_mut().find(|board| board.key == key) {
                board.ask(self.now);
            }
        }
        let now = self.now;
        for question in self.hall.take_questions() {
            // Some answers are lost in a restart, or never come.
            if self.rng.u32(0..8) > 0 {
                self.questions.push((now + self.rng.i64(5..3_000), question));
            }
        }
        let due: Vec<_> = self.questions.extract_if(.., |(at, _)| *at <= now).collect();
        for (_, MateQuestion { table, fen, chess960, side }) in due {
            let mode = CastlingMode::from_chess960(chess960);
            let verdict = match mate::report(&fen, mode, &mate::Budget::quick()) {
                Ok(report) => json!(report)[side.fold_wb("white", "black")].clone(),
                Err(_) => continue,
            };
            self.input(InputBody::Mate { table, fen, side, verdict });
        }
    }

    /// Boards that have lain still long enough are looked at.
    fn look(&mut self) {
        let since = self.now - STILL;
        let tables: BTreeMap<BoardKey, TableId> = self
            .watch
            .desk
            .tables
            .iter()
            .filter_map(|(id, view)| Some((view.info.link.board.clone()?, *id)))
            .collect();
        for index in 0..self.boards.len() {
            let board = &self.boards[index];
            let quiet = board.touched <= since && board.heard <= since;
            if let Some(table) = tables.get(&board.key)
                && quiet
                && self.watch.quiet(*table, since)
            {
                self.watch.still(&self.hall, *table, board.online);
            }
        }
    }

    /// The daemon ends here, at once, and starts again from its journal.
    fn restart(&mut self) {
        self.restarts += 1;
        self.questions.clear();
        let mut again: Vec<String> = Vec::new();
        let mut hall = if let Some((folder, journal)) = &mut self.file {
            drop(journal.take());
            let opened = Journal::open(&folder.path().join("hall.sqlite")).expect("the same journal");
            let hall = recover(&opened, |updates| again.extend(texts(updates))).expect("readable");
            *journal = Some(opened);
            hall
        } else {
            let mut hall = Hall::new();
            for line in &self.lines {
                let input: Input = serde_json::from_str(line).expect("an input that was written");
                again.extend(texts(&hall.apply(&input)));
            }
            hall.take_questions();
            hall
        };
        // What was said since the last input, by deadlines alone, the journal does not hold.
        again.extend(texts(&hall.advance(self.hall.now())));
        for (index, (live, replayed)) in self.watch.told.iter().zip(&again).enumerate() {
            assert_eq!(live, replayed, "update {} is not the same out of the journal", index + 1);
        }
        assert_eq!(self.watch.told.len(), again.len(), "as many updates out of the journal");
        assert_eq!(hall.seq(), self.hall.seq());
        for id in hall.table_ids() {
            assert_eq!(hall.game(id), self.hall.game(id), "table {id}");
            assert_eq!(hall.counts(id), self.hall.counts(id), "table {id}");
            assert_eq!(hall.sensed(id), self.hall.sensed(id), "table {id}");
        }
        hall.take_wants_dump();
        self.hall = hall;
        let started = InputBody::Started { version: "simulated".to_owned() };
        for board in &mut self.boards {
            board.forget(self.now, &mut self.rng);
        }
        self.input(started);
    }
}

fn texts(updates: &[Update]) -> impl Iterator<Item = String> {
    updates.iter().map(|update| update.to_json(true).to_string())
}
