//! The incident log as rows: every alert once, with what became of it, by whom and when, and what
//! arbiters and operators entered. What the chief arbiter's report needs and nothing else; how a row is
//! written (CSV, Markdown, HTML) is left to others.

use std::collections::HashMap;

use serde_json::Value;

/// Incidents, oldest first. Each is kept as its text: a large hall has tens of thousands of them, and a
/// tree of values takes several times the room.
#[derive(Clone, Debug, Default)]
pub struct IncidentLog(Vec<Box<str>>);

impl IncidentLog {
    /// Appends one.
    pub fn push(&mut self, incident: &Value) {
        self.0.push(incident.to_string().into_boxed_str());
    }

    /// All of them as they were.
    #[must_use]
    pub fn values(&self) -> Vec<Value> {
        // What was written from a value is read into it.
        self.0.iter().filter_map(|text| serde_json::from_str(text).ok()).collect()
    }
}

/// One line of the report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IncidentRow {
    /// When it happened, RFC 3339.
    pub at: String,
    /// Round and table.
    pub round: String,
    /// The table's number.
    pub table: String,
    /// White's name.
    pub white: String,
    /// Black's name.
    pub black: String,
    /// Whose it is, by name: the offender, or who claimed.
    pub who: String,
    /// `alert`, `entry`, `correction` or `sheet`.
    pub kind: String,
    /// The alert's code, or the entry's act.
    pub code: String,
    /// Severity and certainty of an alert.
    pub severity: String,
    /// How sure it is.
    pub certainty: String,
    /// Who may know (`arbiter-silent`: nobody may be told).
    pub audience: String,
    /// The article in the numbering of `profile`.
    pub article: String,
    /// The profile.
    pub profile: String,
    /// What happened, in English.
    pub text_en: String,
    /// What happened, in Russian.
    pub text_ru: String,
    /// The number of plies on the record.
    pub ply: String,
    /// FEN before it.
    pub before: String,
    /// What stood on the board: FEN, or placement alone where that is no position of the game.
    pub after: String,
    /// White's clock, `h:mm:ss`.
    pub white_clock: String,
    /// Black's clock.
    pub black_clock: String,
    /// What the program advised: position, penalty, obligation, result.
    pub advice: String,
    /// The touches that prove it: `e2 P 1.2s · e4 P`.
    pub evidence: String,
    /// What became of it: open, acknowledged, resolved, cleared.
    pub decision: String,
    /// Who decided, or entered.
    pub by: String,
    /// When that was.
    pub decided_at: String,
    /// The note of whoever decided.
    pub note: String,
    /// Worth a section of its own: `look` and above, and what a person dealt with or entered.
    pub important: bool,
}

impl IncidentRow {
    /// Names and values in the order of the file's columns.
    #[must_use]
    pub fn fields(&self) -> [(&'static str, &str); 26] {
        [
            ("at", &self.at),
            ("round", &self.round),
            ("table", &self.table),
            ("white", &self.white),
            ("black", &self.black),
            ("who", &self.who),
            ("kind", &self.kind),
            ("code", &self.code),
            ("severity", &self.severity),
            ("certainty", &self.certainty),
            ("audience", &self.audience),
            ("article", &self.article),
            ("profile", &self.profile),
            ("text_en", &self.text_en),
            ("text_ru", &self.text_ru),
            ("ply", &self.ply),
            ("position_before", &self.before),
            ("position_after", &self.after),
            ("white_clock", &self.white_clock),
            ("black_clock", &self.black_clock),
            ("advice", &self.advice),
            ("evidence", &self.evidence),
            ("decision", &self.decision),
            ("by", &self.by),
            ("decided_at", &self.decided_at),
            ("note", &self.note),
        ]
    }
}

/// The log, oldest first, as rows: updates of one alert become one row.
#[must_use]
pub fn incident_rows(log: &[Value]) -> Vec<IncidentRow> {
    let mut rows: Vec<IncidentRow> = Vec::new();
    let mut known: HashMap<(String, String, String), usize> = HashMap::new();
    for incident in log {
        let mut row = base(incident);
        if row.kind != "alert" {
            entry(&mut row, incident);
            rows.push(row);
            continue;
        }
        let alert = &incident["alert"];
        // Numbers of alerts begin anew with each game of a table.
        let key = (row.round.clone(), row.table.clone(), format!("{}/{}", alert["id"], alert["at"]));
        let index = *known.entry(key).or_insert_with(|| {
            rows.push(IncidentRow::default());
            rows.len() - 1
        });
        let first = &rows[index];
        if !first.at.is_empty() {
            // Positions and clocks are those of the moment it was raised.
            let now = std::mem::take(&mut row.at);
            row.at.clone_from(&first.at);
            row.before.clone_from(&first.before);
            row.after.clone_from(&first.after);
            row.white_clock.clone_from(&first.white_clock);
            row.black_clock.clone_from(&first.black_clock);
            row.decided_at = now;
        }
        of_alert(&mut row, alert);
        if row.decision == "open" {
            row.decided_at.clear();
        } else if row.decided_at.is_empty() {
            row.decided_at.clone_from(&row.at);
        }
        if rows[index].decision == row.decision && !rows[index].decided_at.is_empty() {
            row.decided_at.clone_from(&rows[index].decided_at);
        }
        rows[index] = row;
    }
    rows
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn clock(value: &Value) -> String {
    value.as_u64().map_or_else(String::new, |seconds| {
        format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
    })
}

fn base(incident: &Value) -> IncidentRow {
    let of = |key: &str| text(&incident[key]);
    IncidentRow {
        at: of("at"),
        round: of("round"),
        table: of("table"),
        white: of("white"),
        black: of("black"),
        kind: of("kind"),
        before: of("before"),
        after: of("after"),
        white_clock: clock(&incident["clock"]["white"]),
        black_clock: clock(&incident["clock"]["black"]),
        by: of("by"),
        ..IncidentRow::default()
    }
}

fn name(row: &IncidentRow, side: &Value) -> String {
    match side.as_str() {
        Some("white" | "w") if !row.white.is_empty() => row.white.clone(),
        Some("black" | "b") if !row.black.is_empty() => row.black.clone(),
        Some(side) => side.to_owned(),
        None => String::new(),
    }
}

fn of_alert(row: &mut IncidentRow, alert: &Value) {
    row.who = name(row, &alert["side"]);
    row.code = text(&alert["code"]);
    row.severity = text(&alert["severity"]);
    row.certainty = text(&alert["certainty"]);
    row.audience = text(&alert["audience"]);
    row.article = text(&alert["article"]);
    row.profile = text(&alert["profile"]);
    row.text_en = text(&alert["text"]["en"]);
    row.text_ru = text(&alert["text"]["ru"]);
    row.ply = text(&alert["ply"]);
    row.advice = advice(&alert["advice"]);
    row.evidence = evidence(&alert["evidence"]);
    row.decision = text(&alert["state"]);
    row.by = text(&alert["by"]);
    row.note = text(&alert["note"]);
    row.important = matches!(row.severity.as_str(), "decides" | "go-now" | "look")
        || !row.by.is_empty()
        || !row.note.is_empty();
}

/// What arbiters and operators entered; free fields go into the note.
fn entry(row: &mut IncidentRow, incident: &Value) {
    let body = &incident[row.kind.as_str()];
    row.who = name(row, &body["side"]);
    row.code = ["act", "do", "kind"]
        .iter()
        .map(|key| text(&body[*key]))
        .find(|word| !word.is_empty())
        .unwrap_or_default();
    if row.kind == "sheet" {
        let of = |side: &str| {
            let side = &body[side];
            (clock(&side["left"]), format!("{} made, {} completed", side["made"], side["completed"]))
        };
        let ((white, whites), (black, blacks)) = (of("white"), of("black"));
        (row.white_clock, row.black_clock) = (white, black);
        row.note = format!("White {whites}; Black {blacks}; running: {}", text(&body["running"]));
        return;
    }
    row.decided_at.clone_from(&row.at);
    "entered".clone_into(&mut row.decision);
    row.important = true;
    let rest: Vec<String> = body
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, value)| !matches!(key.as_str(), "act" | "do" | "side") && !value.is_null())
        .map(|(key, value)| if key == "note" { text(value) } else { format!("{key} {}", text(value)) })
        .collect();
    row.note = rest.join("; ");
}

fn advice(advice: &Value) -> String {
    let mut parts = Vec::new();
    let list = |value: &Value| -> String {
        value.as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join(" ")
    };
    if let Some(fen) = advice["restore_fen"].as_str() {
        parts.push(format!("restore {fen}"));
    }
    if let Some(seconds) = advice["add_seconds"]["seconds"].as_u64() {
        parts.push(format!("add {seconds} s to {}", text(&advice["add_seconds"]["to"])));
    }
    let result = &advice["resulting_clock"];
    if !result.is_null() {
        parts.push(format!("set White {} Black {}", clock(&result["white"]), clock(&result["black"])));
    }
    for (key, word) in [("must_move_from", "must move from"), ("must_capture", "must take")] {
        let squares = list(&advice[key]);
        if !squares.is_empty() {
            parts.push(format!("{word} {squares}"));
        }
    }
    if let Some(play) = advice["must_play"].as_str() {
        parts.push(format!("must play {play}"));
    }
    if let Some(result) = advice["result"].as_str() {
        parts.push(format!("result {result}"));
    }
    parts.join("; ")
}

fn evidence(touches: &Value) -> String {
    let one = |touch: &Value| {
        let (from, to) = (text(&touch["from"]), text(&touch["to"]));
        let what = match (from.is_empty(), to.is_empty()) {
            (false, true) => format!("{from} lifted"),
            (true, false) => format!("{to} put"),
            _ => format!("{from} becomes {to}"),
        };
        let rested =
            touch["rested_ms"].as_i64().map(|millis| format!(" after {:.1} s", millis as f64 / 1000.0));
        format!("{} {what}{}", text(&touch["square"]), rested.unwrap_or_default())
    };
    touches.as_array().into_iter().flatten().map(one).collect::<Vec<_>>().join(" · ")
}
