//! Scenario files: evidence with times in, moves and alerts out, through the code that runs live.
//!
//! One scenario a line of JSON; `form` has the fields, `events` the words. Formats that are not a
//! board's (`pgn`, `san`, `uci_in`) go through the room that reads them.

mod events;
mod form;
mod report;

use std::collections::BTreeMap;

use anyhow::Context;
use serde_json::{Map, Value, json};
use shakmaty::{CastlingMode, Color};

use self::form::Scenario;
use crate::{
    hall::{
        BoardKey, Command, EventSetup, Hall, Input, InputBody, OptionsSetup, RoundSetup, TableId, TableSetup,
        Update, UpdateBody,
    },
    laws::{Alert, AlertId, DrawAgreement},
    record::{GameResult, Position, Timestamp, pgn::needs_chess960},
    wire::{BoardIdentity, LinkEvent, Observation, Squares, dgt::any::Decoder},
};

/// The table every scenario is played at.
const TABLE: TableId = TableId(1);

/// The delay of a scenario's public client where `setup.delay_seconds` names none: the fifteen
/// minutes that continental championships prescribe.
const PUBLIC_DELAY_SECONDS: u32 = 900;

/// How long the hall is watched after the last event, in milliseconds, so that every deadline of
/// scan, clock and hand has passed.
const AFTER: i64 = 3000;

/// The clock as the events have told it so far.
#[derive(Clone, Copy, Debug)]
struct Clock {
    white: Option<u32>,
    black: Option<u32>,
    flags: [bool; 2],
    running: Option<Color>,
    white_to_move: bool,
    connected: bool,
}

/// What a scenario has shown so far.
#[derive(Debug, Default)]
struct Outcome {
    alerts: BTreeMap<AlertId, (i64, Alert)>,
    /// Alerts of the formats that are not a board's.
    notes: Vec<Value>,
    answers: Vec<Value>,
    updates: Vec<(i64, Update)>,
    extra: Map<String, Value>,
    /// Words of the scenario that nobody here understood.
    unheard: Vec<String>,
}

/// Runs one scenario and gives the line that is printed for it.
///
/// # Errors
/// When the line is no scenario; the text says which part.
pub(super) fn run(line: &str) -> anyhow::Result<Value> {
    let scenario: Scenario = serde_json::from_str(line).context("this line is no scenario")?;
    Run::new(&scenario)?.play(&scenario)
}

struct Run {
    hall: Hall,
    inputs: Vec<Input>,
    board: BoardKey,
    clock: Clock,
    decoder: Decoder,
    /// The board in its own numbering.
    squares: Squares,
    start: Position,
    outcome: Outcome,
    /// The game that came as PGN instead of from a board.
    typed: Option<Vec<String>>,
    /// Where it stands.
    typed_at: Option<Position>,
    typed_result: Option<GameResult>,
    /// Who offered a draw last.
    offered: Option<Color>,
    pgn: Vec<u8>,
    public_delay_ms: i64,
}

impl Run {
    fn new(scenario: &Scenario) -> anyhow::Result<Self> {
        let setup = &scenario.setup;
        let guessed = setup.fen.as_deref().is_some_and(needs_chess960);
        let mode = CastlingMode::from_chess960(setup.chess960 || guessed);
        let start = match &setup.fen {
            Some(fen) => Position::from_fen(fen, mode).context("setup.fen")?,
            None => Position::default(),
        };
        let mut run = Self {
            hall: Hall::new(),
            inputs: Vec::new(),
            board: BoardKey("scenario".to_owned()),
            clock: Clock {
                white: None,
                black: None,
                flags: [false; 2],
                running: None,
                white_to_move: start.turn().is_white(),
                connected: true,
            },
            decoder: Decoder::new(),
            squares: Squares::from_board(start.board(), false),
            start: start.clone(),
            outcome: Outcome::default(),
            typed: None,
            typed_at: None,
            typed_result: None,
            offered: None,
            pgn: Vec::new(),
            public_delay_ms: i64::from(setup.delay_seconds.unwrap_or(PUBLIC_DELAY_SECONDS)) * 1000,
        };
        let first = scenario.events.first().map_or(0, |event| event.t).min(0);
        let begin = Timestamp::from_millis(first);
        let draw_agreement = match (setup.draw_agreement.as_deref(), setup.draw_min_moves) {
            (_, Some(moves)) => DrawAgreement::MinMoves(moves),
            (None | Some("free"), None) => DrawAgreement::Free,
            (Some(word), None) => serde_json::from_value(json!(word)).context("setup.draw_agreement")?,
        };
        let table = TableSetup {
            board: Some(run.board.clone()),
            start,
            profile: Some(scenario.profile.clone()).filter(|profile| !profile.is_empty()),
            time_control: setup.tc.clone().or_else(|| scenario.clock_tc()),
            options: OptionsSetup {
                completed: setup.completed.0,
                illegal: setup.illegal.0,
                last_period: setup.control.as_deref() == Some("last"),
                draw_agreement,
                ..setup.options.clone()
            },
            ..Self::plain_table()
        };
        if let Some(profile) = &table.profile {
            crate::laws::Profile::load(profile).context("profile")?;
        }
        run.command(begin, Command::Event { event: EventSetup::default() });
        run.command(
            begin,
            Command::Round { round: RoundSetup { number: 1, date: None, tables: vec![table] } },
        );
        let identity = BoardIdentity { serial: run.board.0.clone(), ..BoardIdentity::default() };
        run.observe(begin, Observation::Link(LinkEvent::Up(identity)));
        let starts_with_dump = scenario.events.first().is_some_and(|event| event.what.contains_key("dump"));
        if !starts_with_dump {
            run.observe(begin, Observation::Dump(run.squares));
        }
        Ok(run)
    }

    /// A table of which nothing is known.
    fn plain_table() -> TableSetup {
        TableSetup {
            table: TABLE,
            board: None,
            white: crate::event::Player::default(),
            black: crate::event::Player::default(),
            start: Position::default(),
            profile: None,
            time_control: None,
            tags: crate::record::Tags::default(),
            options: OptionsSetup::default(),
        }
    }

    fn play(mut self, scenario: &Scenario) -> anyhow::Result<Value> {
        for event in &scenario.events {
            let at = Timestamp::from_millis(event.t);
            self.event(at, &event.what).with_context(|| format!("event at t = {}", event.t))?;
        }
        let last = scenario.events.last().map_or(0, |event| event.t);
        let mut tail = Vec::new();
        self.decoder.finish(&mut tail);
        for observation in tail {
            self.observe(Timestamp::from_millis(last), observation);
        }
        let updates = self.hall.advance(Timestamp::from_millis(last + AFTER));
        self.note(updates);
        Ok(self.report(scenario))
    }

    fn observe(&mut self, at: Timestamp, observation: Observation) {
        match &observation {
            Observation::Square(square, content) => self.squares.set(*square, *content),
            Observation::Dump(squares) => self.squares = *squares,
            _ => {}
        }
        let board = self.board.clone();
        self.input(at, InputBody::Board(board, observation));
    }

    fn command(&mut self, at: Timestamp, command: Command) {
        self.input(at, InputBody::Command { by: "scenario".to_owned(), command });
    }

    fn input(&mut self, at: Timestamp, body: InputBody) {
        self.take(at, body);
        self.answer_questions(at);
    }

    fn take(&mut self, at: Timestamp, body: InputBody) {
        let input = Input { at, body };
        let updates = self.hall.apply(&input);
        self.inputs.push(input);
        self.note(updates);
    }

    /// Answers long mate questions at once: a scenario has all the time there is.
    fn answer_questions(&mut self, at: Timestamp) {
        for question in self.hall.take_questions() {
            let verdict = question.answer();
            let body =
                InputBody::Mate { table: question.table, fen: question.fen, side: question.side, verdict };
            self.take(at, body);
        }
    }

    fn note(&mut self, updates: Vec<Update>) {
        for update in updates {
            if update.table == Some(TABLE) {
                match &update.body {
                    UpdateBody::Alert(alert) => {
                        let raised = self.outcome.alerts.entry(alert.id);
                        raised.or_insert((update.at.millis(), (**alert).clone())).1 = (**alert).clone();
                    }
                    UpdateBody::Answer(answer) => self.outcome.answers.push(answer.clone()),
                    _ => {}
                }
            }
            self.outcome.updates.push((update.at.millis(), update));
        }
    }
}

fn letter(side: Color) -> &'static str {
    side.fold_wb("w", "b")
}
