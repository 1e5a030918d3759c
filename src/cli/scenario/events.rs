//! The events of a scenario, each in the words of its kind: squares, clocks, raw bytes, people, and the
//! formats that are not a board's.

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};
use shakmaty::{CastlingMode, Color, Move, Square, uci::UciMove};

use super::{Outcome, Run, TABLE, letter};
use crate::{
    hall::{Command, Hall, InputBody, TableId, TableSetup, UpdateBody},
    laws::{Code, Entry},
    record::{GameResult, Position, Timestamp, pgn, read_move},
    wire::{BoardIdentity, BoardSquare, ClockSide, ClockState, Content, LinkEvent, Observation, Squares},
};

impl Run {
    pub(super) fn event(&mut self, at: Timestamp, what: &Map<String, Value>) -> anyhow::Result<()> {
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
                "arbiter" => self.arbiter(at, value),
                "operator" => self.operator(at, value)?,
                "pgn" => self.pgn(value.as_str().context("`pgn`: expected text")?.as_bytes()),
                "pgn_hex" => self.pgn(&hex(value.as_str().context("`pgn_hex`: expected hex")?)?),
                "san" => self.san(value.as_str().context("`san`: expected a move")?),
                "uci_in" => self.uci(value)?,
                "ws" => self.client(at),
                other => self.unheard(format!("`{other}` is no event")),
            }
        }
        Ok(())
    }

    /// What nobody here understands is said, and the rest of the scenario played.
    fn unheard(&mut self, what: String) {
        self.outcome.unheard.push(what);
    }

    /// An entry at the desk. One of a kind that is not known is kept as the desk would: as a note for the log.
    fn arbiter(&mut self, at: Timestamp, value: &Value) {
        let mut form = value.clone();
        let answers = matches!(form["act"].as_str(), Some("draw-accept" | "draw-reject"));
        if answers && form["side"].is_null() {
            // Only the one to whom it was made can answer an offer.
            form["side"] = self.offered.map_or(Value::Null, |side| json!(letter(!side)));
        }
        let entry = serde_json::from_value(form).unwrap_or_else(|error| {
            self.unheard(format!("`arbiter`: {error}"));
            Entry::Incident { note: value.to_string() }
        });
        if let Entry::DrawOffer { side } = &entry {
            self.offered = Some(*side);
        }
        self.command(at, Command::Entry { table: TABLE, entry });
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
                        let other = TableSetup { table, ..Self::plain_table() };
                        self.command(at, Command::Table { table: other });
                    }
                    self.command(at, Command::Entry { table, entry: Entry::Result { result } });
                }
                _ => {
                    let mut command = order.clone();
                    command.entry("do").or_insert(json!(what));
                    match serde_json::from_value(Value::Object(command)) {
                        Ok(command) => self.command(at, command),
                        Err(error) => self.unheard(format!("`operator`: {error}")),
                    }
                    break;
                }
            }
        }
        Ok(())
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

    /// Where the next typed move is played.
    fn typed_at(&self) -> Position {
        let game = || self.hall.game(TABLE).map_or(self.start.clone(), |game| game.position().clone());
        self.typed_at.clone().unwrap_or_else(game)
    }

    fn typed(&mut self, position: &Position, found: Option<Move>) {
        let typed = self.typed.get_or_insert_default();
        if let Some(m) = found {
            typed.push(position.uci(m).to_string());
            self.typed_at = Some(position.play(m));
        } else {
            self.outcome.notes.push(json!({
                "code": Code::PgnIllegalMove.word(), "side": letter(position.turn()), "certainty": "certain", "t": 0,
            }));
        }
    }

    fn san(&mut self, text: &str) {
        let position = self.typed_at();
        let found = read_move(&position, text).ok().map(|(m, _)| m);
        self.typed(&position, found);
    }

    /// A move in either form of castling; it leaves in the one form (interfaces, "The stream").
    fn uci(&mut self, value: &Value) -> anyhow::Result<()> {
        let texts: Vec<String> = match value {
            Value::String(text) => vec![text.clone()],
            Value::Array(_) => serde_json::from_value(value.clone())?,
            _ => bail!("`uci_in`: expected a move or a list of moves"),
        };
        for text in texts {
            let uci: UciMove = text.parse().ok().context("`uci_in`: expected UCI such as e1g1")?;
            let position = self.typed_at();
            let found = position.find_uci(uci);
            self.typed(&position, found);
            if found.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// PGN text of all events together: segments of one game may come one by one.
    fn pgn(&mut self, bytes: &[u8]) {
        self.pgn.extend_from_slice(bytes);
        self.pgn.push(b'\n');
    }

    pub(super) fn read_pgn(&mut self) {
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
    fn client(&mut self, at: Timestamp) {
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
}

/// Bytes as pairs of hex digits; blanks between them are nothing.
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
