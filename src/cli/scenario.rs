//! Scenario files: evidence with times in, moves and alerts out, through the code that runs live.
//!
//! One scenario a line of JSON; the format is described in the README. Formats that are not a
//! board's (`pgn`, `san`, `uci_in`) go through the room that reads them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use shakmaty::{CastlingMode, Color, Square, san::SanPlus, uci::UciMove};

use crate::{
    hall::{
        BoardKey, Command, EventSetup, Hall, Input, InputBody, OptionsSetup, RoundSetup, TableId, TableSetup,
        Update, UpdateBody,
    },
    laws::{Alert, AlertId, Code, DrawAgreement, Entry},
    record::{GameResult, Position, Timestamp, pgn},
    wire::{
        BoardIdentity, BoardSquare, ClockSide, ClockState, Content, LinkEvent, Observation, Squares,
        dgt::any::Decoder,
    },
};

/// The table every scenario is played at.
const TABLE: TableId = TableId(1);

/// The delay of a scenario's public client where `setup.delay_seconds` names none: the fifteen
/// minutes that continental championships prescribe.
const PUBLIC_DELAY_SECONDS: u32 = 900;

/// How long the hall is watched after the last event, in milliseconds, so that every deadline of
/// scan, clock and hand has passed.
const AFTER: i64 = 3000;

/// A scenario as it stands in the file.
#[derive(Clone, Debug, Deserialize)]
struct Scenario {
    #[serde(default)]
    id: String,
    #[serde(default)]
    profile: String,
    #[serde(default)]
    setup: Setup,
    #[serde(default)]
    events: Vec<Event>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Setup {
    fen: Option<String>,
    chess960: bool,
    tc: Option<String>,
    completed: Sides,
    illegal: Sides,
    control: Option<String>,
    draw_agreement: Option<String>,
    draw_min_moves: Option<u32>,
    delay_seconds: Option<u32>,
    /// The event's other options, as the desk's API names them.
    options: OptionsSetup,
}

/// A number for each side; `{"w":1}`, or one number for both.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(from = "SidesForm")]
struct Sides([u32; 2]);

#[derive(Deserialize)]
#[serde(untagged)]
enum SidesForm {
    Both(u32),
    Each {
        #[serde(default)]
        w: u32,
        #[serde(default)]
        b: u32,
    },
}

impl From<SidesForm> for Sides {
    fn from(form: SidesForm) -> Self {
        match form {
            SidesForm::Both(n) => Self([n, n]),
            SidesForm::Each { w, b } => Self([w, b]),
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
struct Event {
    t: i64,
    #[serde(flatten)]
    what: Map<String, Value>,
}

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
    typed_result: Option<GameResult>,
    pgn: Vec<u8>,
    public_delay_ms: i64,
}

impl Run {
    fn new(scenario: &Scenario) -> anyhow::Result<Self> {
        let setup = &scenario.setup;
        let mode = CastlingMode::from_chess960(setup.chess960);
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
            typed_result: None,
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
            table: TABLE,
            board: Some(run.board.clone()),
            white: crate::event::Player::default(),
            black: crate::event::Player::default(),
            start,
            profile: Some(scenario.profile.clone()).filter(|profile| !profile.is_empty()),
            time_control: setup.tc.clone(),
            tags: crate::record::Tags::default(),
            options: OptionsSetup {
                completed: setup.completed.0,
                illegal: setup.illegal.0,
                last_period: setup.control.as_deref() == Some("last"),
                draw_agreement,
                ..setup.options.clone()
            },
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

    fn event(&mut self, at: Timestamp, what: &Map<String, Value>) -> anyhow::Result<()> {
        for (kind, value) in what {
            match kind.as_str() {
                "sq" => {
                    let square = value.as_str().and_then(|name| name.parse::<Square>().ok());
                    let square = square.context("`sq`: expected a square such as e4")?;
                    let content = match what.get("pc").and_then(Value::as_str) {
                        None => Content::Empty,
                        Some(letter) => letter
                            .parse::<char>()
                            .ok()
                            .and_then(Content::from_letter)
                            .context("`pc`: expected a FEN letter or null")?,
                    };
                    let square = BoardSquare::from_chess(square, false);
                    self.observe(at, Observation::Square(square, content));
                }
                "pc" => {}
                "dump" => {
                    let placement = value.as_str().context("`dump`: expected a FEN placement")?;
                    let board = Position::from_fen(placement, CastlingMode::Standard).context("`dump`")?;
                    self.observe(at, Observation::Dump(Squares::from_board(board.board(), false)));
                }
                "clock" => self.clock(at, value)?,
                "bytes" => self.bytes(at, value.as_str().context("`bytes`: expected hex")?)?,
                "link" => {
                    let event = match value.as_str() {
                        Some("down") => LinkEvent::Down("the line was cut".to_owned()),
                        Some("up") => LinkEvent::Up(BoardIdentity {
                            serial: self.board.0.clone(),
                            ..BoardIdentity::default()
                        }),
                        _ => bail!("`link`: expected down or up"),
                    };
                    self.observe(at, Observation::Link(event));
                }
                "arbiter" => {
                    let entry: Entry = serde_json::from_value(value.clone()).context("`arbiter`")?;
                    self.command(at, Command::Entry { table: TABLE, entry });
                }
                "operator" => self.operator(at, value)?,
                "pgn" => self.pgn(value.as_str().context("`pgn`: expected text")?.as_bytes()),
                "pgn_hex" => self.pgn(&hex(value.as_str().context("`pgn_hex`: expected hex")?)?),
                "san" => self.san(value.as_str().context("`san`: expected a move")?),
                "uci_in" => self.uci(value)?,
                "ws" => self.client(at, value),
                other => bail!("`{other}` is no event"),
            }
        }
        Ok(())
    }

    fn clock(&mut self, at: Timestamp, value: &Value) -> anyhow::Result<()> {
        let reading = value.as_object().context("`clock`: expected an object")?;
        let clock = &mut self.clock;
        for (key, value) in reading {
            let seconds = || -> anyhow::Result<Option<u32>> {
                let number = value.as_f64().context("seconds: expected a number")?;
                Ok(Some(number.clamp(0.0, 1e6) as u32))
            };
            match key.as_str() {
                "w" => clock.white = seconds()?,
                "b" => clock.black = seconds()?,
                "run" => {
                    clock.running = match value.as_str() {
                        Some("w") => Some(Color::White),
                        Some("b") => Some(Color::Black),
                        _ => None,
                    };
                    if let Some(side) = clock.running {
                        clock.white_to_move = side.is_white();
                    }
                }
                "flag" => {
                    let sides = value.as_str().unwrap_or_default();
                    clock.flags = [sides.contains('w'), sides.contains('b')];
                }
                "connected" => clock.connected = value.as_bool().unwrap_or(true),
                _ => {} // remarks such as `tc`
            }
        }
        let side = |seconds: Option<u32>, flag: bool| match (seconds, flag) {
            (None, false) => None,
            (seconds, flag) => Some(ClockSide { seconds: seconds.unwrap_or(0), flag, blocked: false }),
        };
        let state = if clock.connected {
            ClockState::Partial {
                left: side(clock.white, clock.flags[0]),
                right: side(clock.black, clock.flags[1]),
                running: clock.running.is_some(),
                left_to_move: clock.white_to_move,
            }
        } else {
            ClockState::Absent
        };
        self.observe(at, Observation::Clock(state));
        Ok(())
    }

    fn bytes(&mut self, at: Timestamp, text: &str) -> anyhow::Result<()> {
        let mut observations = Vec::new();
        self.decoder.feed(&hex(text)?, &mut observations);
        for observation in observations {
            self.observe(at, observation);
        }
        Ok(())
    }

    fn operator(&mut self, at: Timestamp, value: &Value) -> anyhow::Result<()> {
        let order = value.as_object().context("`operator`: expected an object")?;
        for (what, value) in order {
            match what.as_str() {
                // Nothing but the journal survives: the hall is folded anew from its text.
                "kill" => self.refold()?,
                "restart" => {
                    self.input(at, InputBody::Started { version: env!("CARGO_PKG_VERSION").to_owned() });
                }
                "boards" => {
                    let mut names: Vec<String> = serde_json::from_value(value.clone())?;
                    names.sort_by_key(|name| crate::event::natural_order(name));
                    self.outcome.extra.insert("order".to_owned(), json!(names));
                }
                "result" => {
                    let table = TableId(value["board"].as_u64().unwrap_or(1) as u32);
                    let result: GameResult = serde_json::from_value(value["result"].clone())?;
                    if table != TABLE {
                        let other = TableSetup { table, board: None, ..Self::plain_table() };
                        self.command(at, Command::Table { table: other });
                    }
                    self.command(at, Command::Entry { table, entry: Entry::Result { result } });
                }
                _ => {
                    let mut command = order.clone();
                    command.entry("do").or_insert(json!(what));
                    let command: Command =
                        serde_json::from_value(Value::Object(command)).context("`operator`")?;
                    self.command(at, command);
                    break;
                }
            }
        }
        Ok(())
    }

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

    /// Forgets the hall and folds it anew from the inputs as the journal would hold them.
    fn refold(&mut self) -> anyhow::Result<()> {
        let mut hall = Hall::new();
        for input in &self.inputs {
            let stored = serde_json::to_string(input)?;
            hall.apply(&serde_json::from_str(&stored)?);
        }
        self.hall = hall;
        Ok(())
    }

    fn san(&mut self, text: &str) {
        let position = self.hall.game(TABLE).map_or(self.start.clone(), |game| game.position().clone());
        let found = position
            .chess()
            .zip(text.parse::<SanPlus>().ok())
            .and_then(|(chess, san)| san.san.to_move(chess).ok());
        match found {
            Some(m) => self.typed.get_or_insert_default().push(position.uci(m).to_string()),
            None => self.outcome.notes.push(json!({
                "code": Code::PgnIllegalMove.word(), "side": letter(position.turn()), "certainty": "certain", "t": 0,
            })),
        }
    }

    /// A move in either form of castling; it leaves in the one form (interfaces, "The stream").
    fn uci(&mut self, value: &Value) -> anyhow::Result<()> {
        let texts: Vec<String> = match value {
            Value::String(text) => vec![text.clone()],
            Value::Array(_) => serde_json::from_value(value.clone())?,
            _ => bail!("`uci_in`: expected a move or a list of moves"),
        };
        let mut position = self.start.clone();
        for text in texts {
            let uci: UciMove = text.parse().ok().context("`uci_in`: expected UCI such as e1g1")?;
            let m = position.find_uci(uci).with_context(|| format!("`uci_in`: {text} is not legal here"))?;
            self.typed.get_or_insert_default().push(position.uci(m).to_string());
            position = position.play(m);
        }
        Ok(())
    }

    /// PGN text of all events together: segments of one game may come one by one.
    fn pgn(&mut self, bytes: &[u8]) {
        self.pgn.extend_from_slice(bytes);
        self.pgn.push(b'\n');
    }

    fn read_pgn(&mut self) {
        if self.pgn.is_empty() {
            return;
        }
        for read in pgn::read_games(&self.pgn) {
            match read {
                Ok((game, repairs)) => {
                    let codes = repairs.iter().filter_map(|repair| Some((repair.alert_code()?, repair)));
                    for (code, repair) in codes {
                        self.outcome.notes.push(json!({
                            "code": code, "side": null, "certainty": "certain", "t": 0, "severity": "look",
                            "ply": repair.ply, "line": repair.line, "detail": repair.to_string(),
                        }));
                    }
                    self.typed_result = game.result.map(|(result, ..)| result);
                    self.outcome.extra.insert("headers".to_owned(), game.tags.0.iter().cloned().map(|(k, v)| (k, json!(v))).collect());
                    let irregular = game.plies.iter().enumerate().filter(|(_, ply)| ply.irregular);
                    let irregular: Vec<usize> = irregular.map(|(index, _)| index).collect();
                    self.outcome.extra.insert("illegal_plies".to_owned(), json!(irregular));
                    let moves = self.typed.get_or_insert_default();
                    moves.extend(game.plies.iter().map(|ply| ply.uci.to_string()));
                }
                Err(refusal) => self.outcome.notes.push(json!({
                    "code": "pgn-refused", "side": null, "certainty": "certain", "t": 0, "detail": refusal.to_string(),
                })),
            }
        }
    }

    /// What a client of the public stream and one of the desk would have been told by now.
    fn client(&mut self, at: Timestamp, value: &Value) {
        let _ = value;
        let moves = |delay: i64, outcome: &Outcome| -> Vec<String> {
            let mut moves: Vec<String> = Vec::new();
            for (told, update) in &outcome.updates {
                if told + delay > at.millis() {
                    continue;
                }
                match &update.body {
                    UpdateBody::Ply { index, ply, .. } => {
                        moves.truncate(*index);
                        moves.push(ply.uci.to_string());
                    }
                    UpdateBody::Undo { from } => moves.truncate(*from),
                    _ => {}
                }
            }
            moves
        };
        let updates = self.hall.advance(at);
        self.note(updates);
        let public = moves(self.public_delay_ms, &self.outcome);
        let desk = moves(0, &self.outcome);
        for (key, moves) in [("public_at", public), ("arbiter_at", desk)] {
            let by_time = self.outcome.extra.entry(key).or_insert_with(|| json!({}));
            by_time[at.millis().to_string()] = json!(moves);
        }
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
        let input = Input { at, body };
        let updates = self.hall.apply(&input);
        self.inputs.push(input);
        self.note(updates);
        self.answer_questions(at);
    }

    /// Answers long mate questions at once: a scenario has all the time there is.
    fn answer_questions(&mut self, at: Timestamp) {
        for question in self.hall.take_questions() {
            let verdict = question.answer();
            let body =
                InputBody::Mate { table: question.table, fen: question.fen, side: question.side, verdict };
            let input = Input { at, body };
            let updates = self.hall.apply(&input);
            self.inputs.push(input);
            self.note(updates);
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

    fn report(mut self, scenario: &Scenario) -> Value {
        self.read_pgn();
        let game = self.hall.game(TABLE).cloned().unwrap_or_default();
        let moves: Vec<String> = match &self.typed {
            Some(typed) => typed.clone(),
            None => game.plies.iter().map(|ply| ply.uci.to_string()).collect(),
        };
        let result = self.typed_result.or(game.result.map(|(result, ..)| result));
        let mut alerts: Vec<Value> =
            self.outcome.alerts.values().map(|(at, alert)| alert_line(*at, alert)).collect();
        alerts.append(&mut self.outcome.notes);
        let last_advice = |pick: fn(&Alert) -> Option<Value>| {
            self.outcome.alerts.values().rev().find_map(|(_, alert)| pick(alert))
        };
        let penalty = last_advice(|alert| {
            let add = alert.advice.add_seconds?;
            Some(json!({"to": letter(add.to), "add_s": add.seconds}))
        });
        let answered =
            |key: &str| self.outcome.answers.iter().rev().find_map(|answer| answer.get(key).cloned());
        let irregular: Vec<usize> =
            game.plies.iter().enumerate().filter(|(_, ply)| ply.irregular).map(|(index, _)| index).collect();
        let counts = self.hall.counts(TABLE).unwrap_or_default();
        let mut line = json!({
            "id": scenario.id,
            "moves": moves,
            "result": result.map_or("*", GameResult::word),
            "alerts": alerts,
            "claim": self.outcome.answers.iter().rev().find(|answer| answer.get("valid").is_some()),
            "penalty": answered("penalty").or(penalty),
            "clock_after": answered("clock_after").or_else(|| last_advice(|alert| {
                let clock = alert.advice.resulting_clock?;
                Some(json!({"w": clock.white, "b": clock.black}))
            })),
            "restore_fen": last_advice(|alert| alert.advice.restore_fen.clone().map(Value::from)),
            "must_move_from": last_advice(|alert| {
                let squares = &alert.advice.must_move_from;
                (!squares.is_empty()).then(|| json!(squares))
            }),
            "must_play": answered("must_play")
                .or_else(|| last_advice(|alert| alert.advice.must_play.clone().map(Value::from))),
            "illegal_count": counts.get("illegal"),
            "record_obligatory": counts.get("record_obligatory"),
            "illegal_plies": irregular,
            "clock": {"w": self.clock.white, "b": self.clock.black, "run": self.clock.running.map(letter)},
            "position": game.position().fen(),
            "sensed": self.squares.to_board(false).board_fen().to_string(),
            "counts": counts,
            "tell_players": self.tell_players(),
            "round_state": self.round_state(),
        });
        if let Some(pending) = last_advice(|alert| {
            (alert.code == Code::PromotionPieceMissing)
                .then(|| alert.detail.get("candidates").cloned())
                .flatten()
        }) {
            line["pending"] = pending;
        }
        if let Some((first, then)) = self.hall.open_plies(TABLE).filter(|(first, _)| !first.is_empty()) {
            line["pending"] = json!(first);
            line["then"] = json!(then);
        }
        for (key, value) in self.outcome.extra {
            line[key] = value;
        }
        line
    }

    /// False when nothing of what was raised may be told to the players.
    fn tell_players(&self) -> bool {
        self.outcome.alerts.values().any(|(_, alert)| alert.audience != crate::laws::Audience::ArbiterSilent)
    }

    fn round_state(&self) -> &'static str {
        let running: BTreeSet<TableId> = self
            .hall
            .table_ids()
            .into_iter()
            .filter(|id| self.hall.game(*id).is_some_and(|game| game.result.is_none()))
            .collect();
        if running.is_empty() { "finished" } else { "live" }
    }
}

fn alert_line(at: i64, alert: &Alert) -> Value {
    let mut line = json!(alert);
    line["side"] = json!(alert.side.map(letter));
    line["t"] = json!(at);
    line
}

fn letter(side: Color) -> &'static str {
    side.fold_wb("w", "b")
}

fn hex(text: &str) -> anyhow::Result<Vec<u8>> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).context("expected hex digits"))
        .collect::<anyhow::Result<_>>()?;
    if !digits.len().is_multiple_of(2) {
        bail!("expected pairs of hex digits");
    }
    Ok(digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect())
}
