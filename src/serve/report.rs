//! The incident log as a file: JSON as it came, CSV with every field of every row, and a report in
//! Markdown or HTML for the chief arbiter: who, when, which article, the position before and after, the
//! clock readings, the decision, the note.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::Value;

use super::problem::Problem;
use crate::{
    hall::{IncidentRow, incident_rows},
    laws::report_word,
};

/// The log in this format and language: its media type and its text.
pub(crate) fn incidents(
    log: &[Value],
    format: &str,
    language: &str,
) -> Result<(&'static str, Bytes), Problem> {
    Ok(match format {
        "json" => ("application/json; charset=utf-8", Value::from(log.to_vec()).to_string().into()),
        "csv" => ("text/csv; charset=utf-8", csv(&incident_rows(log))?),
        "md" => ("text/markdown; charset=utf-8", markdown(&incident_rows(log), language).into()),
        "html" => ("text/html; charset=utf-8", html(&incident_rows(log), language).into()),
        other => {
            return Err(Problem::bad(format!("format={other}: expected json, csv, md or html")));
        }
    })
}

fn csv(rows: &[IncidentRow]) -> Result<Bytes, Problem> {
    let failed = || Problem::new(hyper::StatusCode::INTERNAL_SERVER_ERROR, "the log could not be written");
    let mut writer = csv::Writer::from_writer(Vec::new());
    let columns = IncidentRow::default().fields().map(|(name, _)| name);
    writer.write_record(columns).map_err(|_| failed())?;
    for row in rows {
        // A spreadsheet would run such a cell as a formula.
        let cells = row.fields().map(|(_, text)| {
            if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
                format!("'{text}")
            } else {
                text.to_owned()
            }
        });
        writer.write_record(cells).map_err(|_| failed())?;
    }
    writer.into_inner().map(Bytes::from).map_err(|_| failed())
}

/// What happened, in the language of the report; an entry's act as it is.
fn what<'r>(row: &'r IncidentRow, language: &str) -> Cow<'r, str> {
    let text = if language == "ru" { &row.text_ru } else { &row.text_en };
    if text.is_empty() { Cow::from(format!("{}: {}", row.kind, row.code)) } else { Cow::from(text) }
}

/// A row's section: headings by key, and what stands there. Empty ones are left out.
fn details(row: &IncidentRow, language: &str) -> Vec<(&'static str, String)> {
    let pair = |one: &str, other: &str| {
        if one.is_empty() && other.is_empty() { String::new() } else { format!("{one} – {other}") }
    };
    let decision = [row.decision.as_str(), row.decided_at.as_str()].join(" ").trim().to_owned();
    let article = pair(&row.article, &row.profile);
    let all = [
        ("time", row.at.clone()),
        ("round", row.round.clone()),
        ("table", row.table.clone()),
        ("players", pair(&row.white, &row.black)),
        ("who", row.who.clone()),
        ("what", what(row, language).into_owned()),
        ("article", if row.article.is_empty() { String::new() } else { article }),
        ("certainty", row.certainty.clone()),
        ("before", row.before.clone()),
        ("after", row.after.clone()),
        ("clocks", pair(&row.white_clock, &row.black_clock)),
        ("advice", row.advice.clone()),
        ("touches", row.evidence.clone()),
        ("decision", decision),
        ("by", row.by.clone()),
        ("note", row.note.clone()),
    ];
    all.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// The rows a report dwells on, and how many are left to the CSV.
fn important(rows: &[IncidentRow]) -> (Vec<&IncidentRow>, usize) {
    let shown: Vec<&IncidentRow> = rows.iter().filter(|row| row.important).collect();
    let quiet = rows.len() - shown.len();
    (shown, quiet)
}

fn quiet_line(count: usize, language: &str) -> String {
    report_word(language, "quiet").replace("{count}", &count.to_string())
}

fn markdown(rows: &[IncidentRow], language: &str) -> String {
    let word = |key: &str| report_word(language, key);
    // Nothing anyone typed may become markup.
    let plain = |text: &str| -> String {
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        text.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;")
    };
    let (shown, quiet) = important(rows);
    let mut out = format!("# {}\n\n", word("title"));
    if shown.is_empty() {
        out.extend([word("none"), "\n"]);
    }
    for (index, row) in shown.iter().enumerate() {
        out.extend(["## ", &(index + 1).to_string(), ". ", &plain(&what(row, language)), "\n\n"]);
        out.push_str("| | |\n| --- | --- |\n");
        for (key, text) in details(row, language) {
            out.extend(["| ", word(key), " | ", &plain(&text), " |\n"]);
        }
        out.push('\n');
    }
    if quiet > 0 {
        out.extend([&quiet_line(quiet, language), "\n"]);
    }
    out
}

fn html(rows: &[IncidentRow], language: &str) -> String {
    let word = |key: &str| report_word(language, key);
    let escape = |text: &str| {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
    };
    let (shown, quiet) = important(rows);
    let lang = if language == "ru" { "ru" } else { "en" };
    let title = word("title");
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"{lang}\"><meta charset=\"utf-8\"><title>{title}</title>\n<h1>{title}</h1>\n"
    );
    if shown.is_empty() {
        out.extend(["<p>", word("none"), "</p>\n"]);
    }
    for (index, row) in shown.iter().enumerate() {
        out.extend(["<h2>", &(index + 1).to_string(), ". ", &escape(&what(row, language)), "</h2>\n"]);
        out.push_str("<table border=\"1\">\n");
        for (key, text) in details(row, language) {
            out.extend(["<tr><th align=\"left\">", word(key), "</th><td>", &escape(&text), "</td></tr>\n"]);
        }
        out.push_str("</table>\n");
    }
    if quiet > 0 {
        out.extend(["<p>", &quiet_line(quiet, language), "</p>\n"]);
    }
    out.push_str("</html>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn log() -> Vec<Value> {
        let alert = |state: &str, by: Option<&str>, note: Option<&str>| {
            json!({
                "id": 3, "code": "illegal-move-completed", "side": "white", "severity": "go-now",
                "certainty": "certain", "audience": "arbiter", "article": "7.5.1",
                "profile": "fide-2023/classical", "at": "2026-05-01T14:31:07.512Z", "ply": 22,
                "text": {"en": "White: illegal.", "ru": "Белые: невозможный."},
                "advice": {"restore_fen": "8/8/8/8/8/8/8/K1k5 w - - 0 1", "add_seconds": {"to": "black", "seconds": 120}},
                "evidence": [{"at": 1, "square": "e1", "from": "K", "to": null, "rested_ms": 900}],
                "state": state, "by": by, "note": note,
            })
        };
        let entry = |at: &str, alert: Value, white: u32| {
            json!({
                "kind": "alert", "at": at, "round": 2, "table": 5, "white": "A | B", "black": "C <script>a</script>",
                "before": "before-fen", "after": "after-fen", "clock": {"white": white, "black": 61}, "alert": alert,
            })
        };
        vec![
            entry("2026-05-01T14:31:07.512Z", alert("open", None, None), 3600),
            entry("2026-05-01T14:31:09Z", alert("acknowledged", Some("Arbiter"), None), 3590),
            entry(
                "2026-05-01T14:33:00Z",
                alert("resolved", Some("Arbiter"), Some("=two minutes added")),
                3500,
            ),
            json!({"kind": "entry", "at": "2026-05-01T15:00:00Z", "round": 2, "table": 5, "white": "A | B",
                   "black": "C", "by": "Arbiter", "entry": {"act": "resign", "side": "black"}}),
            json!({"kind": "sheet", "at": "2026-05-01T15:01:00Z", "round": 2, "table": 5, "sheet": {
                "white": {"left": 3000, "made": 12, "completed": 12}, "black": {"left": 2000, "made": 12, "completed": 11},
                "running": "white"}}),
        ]
    }

    fn text(format: &str, language: &str) -> String {
        String::from_utf8(incidents(&log(), format, language).unwrap().1.to_vec()).unwrap()
    }

    #[test]
    fn an_alert_is_one_row_with_all_that_became_of_it() {
        let csv = text("csv", "en");
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let columns = reader.headers().unwrap().clone();
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 3);
        let cell = |row: usize, name: &str| {
            let index = columns.iter().position(|column| column == name).unwrap();
            rows[row][index].to_owned()
        };
        for (name, wanted) in [
            ("at", "2026-05-01T14:31:07.512Z"),
            ("who", "A | B"),
            ("article", "7.5.1"),
            ("position_before", "before-fen"),
            ("position_after", "after-fen"),
            ("white_clock", "1:00:00"),
            ("black_clock", "0:01:01"),
            ("advice", "restore 8/8/8/8/8/8/8/K1k5 w - - 0 1; add 120 s to black"),
            ("evidence", "e1 K lifted after 0.9 s"),
            ("decision", "resolved"),
            ("by", "Arbiter"),
            ("decided_at", "2026-05-01T14:33:00Z"),
            // A spreadsheet would run it.
            ("note", "'=two minutes added"),
        ] {
            assert_eq!(cell(0, name), wanted, "{name}");
        }
        assert_eq!(
            (cell(1, "code"), cell(1, "who"), cell(1, "decision")),
            ("resign".into(), "C".into(), "entered".into())
        );
        assert_eq!((cell(2, "kind"), cell(2, "white_clock")), ("sheet".into(), "0:50:00".into()));
    }

    #[test]
    fn the_report_says_it_in_the_language_asked_for_and_holds_no_markup_of_others() {
        for (format, language, wanted) in [
            (
                "md",
                "en",
                [
                    "# Incident report",
                    "Position before | before-fen",
                    "1:00:00 – 0:01:01",
                    "Quiet notes not shown here: 1",
                ],
            ),
            (
                "md",
                "ru",
                [
                    "# Отчёт о происшествиях",
                    "Позиция до | before-fen",
                    "Белые: невозможный.",
                    "показанных здесь: 1",
                ],
            ),
            (
                "html",
                "en",
                [
                    "<h1>Incident report</h1>",
                    "<td>before-fen</td>",
                    "=two minutes added",
                    "resolved 2026-05-01T14:33:00Z",
                ],
            ),
        ] {
            let report = text(format, language);
            for part in wanted {
                assert!(report.contains(part), "{format} {language}: no {part:?} in {report}");
            }
            assert!(!report.contains("<script>"), "{format}");
        }
        assert!(text("md", "en").contains("A \\| B"));
        assert!(incidents(&log(), "exe", "en").is_err());
    }
}
