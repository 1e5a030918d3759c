//! The incident report of a round, as the chief arbiter hands it in: what happened at which table, to whom,
//! when, with clocks and position, who decided and how. As CSV, Markdown and HTML, in the event's language
//! (`config/lang`).

use serde_json::Value;

use crate::laws::report_word;

/// The columns of the report, by the keys of their headings.
const COLUMNS: [&str; 13] = [
    "time-utc",
    "table",
    "white",
    "black",
    "kind",
    "what",
    "article",
    "after-ply",
    "white-clock",
    "black-clock",
    "position",
    "state",
    "by",
];

/// What the report is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportHead {
    /// Name of the event, with the section's.
    pub event: String,
    /// Number of the round.
    pub round: u32,
    /// Its day, `YYYY-MM-DD`, where known.
    pub date: Option<String>,
    /// `ru`, or else English.
    pub language: String,
}

impl ReportHead {
    fn title(&self) -> String {
        let date = self.date.as_deref().map(|date| format!(", {date}")).unwrap_or_default();
        let event = if self.event.is_empty() { self.word("event") } else { &self.event };
        let round = self.word("of-round").replace("{round}", &self.round.to_string());
        format!("{event}: {round}{date}")
    }

    fn word(&self, key: &str) -> &'static str {
        report_word(&self.language, key)
    }

    fn columns(&self) -> [&'static str; 13] {
        COLUMNS.map(|key| self.word(key))
    }

    /// A word of the log that has one in the language; others stay.
    fn said(&self, group: &str, word: String) -> String {
        match self.word(&format!("{group}-{word}")) {
            "" => word,
            known => known.to_owned(),
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn clock(value: &Value) -> String {
    value.as_u64().map_or_else(String::new, |s| format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60))
}

/// One entry of the log as a row.
fn row(head: &ReportHead, entry: &Value) -> [String; 13] {
    let alert = &entry["alert"];
    let kind = plain(&entry["kind"]);
    let (what, note) = match kind.as_str() {
        "alert" => {
            let language = if head.language == "ru" { "ru" } else { "en" };
            (format!("{}: {}", plain(&alert["code"]), plain(&alert["text"][language])), plain(&alert["note"]))
        }
        "entry" => (members(&entry["entry"], &["act"]), plain(&entry["entry"]["note"])),
        "correction" => (members(&entry["correction"], &["what"]), String::new()),
        _ => (members(entry, &[]), String::new()),
    };
    let what = if note.is_empty() || what.contains(&note) { what } else { format!("{what} ({note})") };
    let by = if entry["by"].is_null() { plain(&alert["by"]) } else { plain(&entry["by"]) };
    [
        plain(&entry["at"]),
        plain(&entry["table"]),
        plain(&entry["white"]),
        plain(&entry["black"]),
        head.said("kind", kind),
        what,
        plain(&alert["article"]),
        plain(&alert["ply"]),
        clock(&entry["clock"]["white"]),
        clock(&entry["clock"]["black"]),
        plain(&entry["fen"]),
        head.said("state", plain(&alert["state"])),
        by,
    ]
}

/// The members of an object that have no column of their own, the first ones by name in front.
fn members(object: &Value, first: &[&str]) -> String {
    const OWN: [&str; 11] =
        ["at", "table", "white", "black", "kind", "round", "section", "by", "clock", "fen", "alert"];
    let Some(map) = object.as_object() else { return plain(object) };
    let mut words: Vec<String> =
        first.iter().map(|name| plain(&map.get(*name).cloned().unwrap_or_default())).collect();
    let named = !first.is_empty();
    for (name, value) in map.iter().filter(|(name, _)| !first.contains(&name.as_str())) {
        if (named || !OWN.contains(&name.as_str())) && !value.is_null() {
            words.push(format!("{name} {}", plain(value)));
        }
    }
    words.retain(|word| !word.is_empty());
    words.join(", ")
}

/// The report as a table for spreadsheets.
#[must_use]
pub fn csv(head: &ReportHead, log: &[Value]) -> Vec<u8> {
    let mut out = String::new();
    let mut line = |cells: &[String]| {
        for (index, cell) in cells.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            // A spreadsheet would run such a cell as a formula.
            let guard = if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
            if cell.contains([',', '"', '\n', '\r']) {
                out.extend(["\"", guard, &cell.replace('"', "\"\""), "\""]);
            } else {
                out.extend([guard, cell]);
            }
        }
        out.push('\n');
    };
    line(&head.columns().map(str::to_owned));
    for entry in log {
        line(&row(head, entry));
    }
    out.into_bytes()
}

/// The report as Markdown.
#[must_use]
pub fn markdown(head: &ReportHead, log: &[Value]) -> Vec<u8> {
    let clean = |text: &str| -> String {
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        text.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;")
    };
    let mut out = format!("# {}\n\n", clean(&head.title()));
    if log.is_empty() {
        out.extend([head.word("none"), "\n"]);
        return out.into_bytes();
    }
    out.extend(["| ", &head.columns().join(" | "), " |\n|", &" --- |".repeat(COLUMNS.len()), "\n"]);
    for entry in log {
        out.extend(["| ", &row(head, entry).map(|cell| clean(&cell)).join(" | "), " |\n"]);
    }
    out.extend(["\n", head.word("chief"), ": ______________________\n"]);
    out.into_bytes()
}

/// The report as a page to print.
#[must_use]
pub fn html(head: &ReportHead, log: &[Value]) -> Vec<u8> {
    let clean = |text: &str| {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
    };
    let title = clean(&head.title());
    let lang = if head.language == "ru" { "ru" } else { "en" };
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"{lang}\"><meta charset=\"utf-8\"><title>{title}</title>\n\
         <style>body{{font:14px sans-serif}}table{{border-collapse:collapse}}\
         td,th{{border:1px solid #888;padding:2px 6px;text-align:left;vertical-align:top}}\
         tr{{break-inside:avoid}}</style>\n<h1>{title}</h1>\n"
    );
    if log.is_empty() {
        out.extend(["<p>", head.word("none"), "</p>\n</html>\n"]);
        return out.into_bytes();
    }
    out.push_str("<table>\n<thead><tr>");
    for column in head.columns() {
        out.extend(["<th>", &clean(column), "</th>"]);
    }
    out.push_str("</tr></thead>\n");
    for entry in log {
        out.push_str("<tr>");
        for cell in row(head, entry) {
            out.extend(["<td>", &clean(&cell), "</td>"]);
        }
        out.push_str("</tr>\n");
    }
    out.extend(["</table>\n<p>", head.word("chief"), ": ______________________</p>\n</html>\n"]);
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_tells_what_happened_and_nothing_typed_becomes_markup_or_a_formula() {
        let log = [
            json!({"kind": "alert", "at": "2026-05-01T14:31:07Z", "table": 5, "white": "=cmd|' <b>", "black": "B",
                "alert": {"code": "illegal-move-completed", "text": {"en": "Ke2 is illegal"}, "article": "7.5.1",
                    "ply": 23, "state": "resolved", "note": "two minutes", "by": "chief"},
                "clock": {"white": 3661, "black": null}, "fen": "8/8 w - - 0 1"}),
            json!({"kind": "boards-swapped", "at": "x", "by": "op", "table": 1, "with_table": 2, "round": 3}),
        ];
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let head = ReportHead { event: "Open <1>".to_owned(), round: 3, ..ReportHead::default() };
        let csv = text(csv(&head, &log));
        let expected = "5,'=cmd|' <b>,B,alert,illegal-move-completed: Ke2 is illegal (two minutes),7.5.1,23,1:01:01,,8/8 w - - 0 1,resolved,chief";
        assert!(csv.lines().nth(1).unwrap().ends_with(expected), "{csv}");
        assert!(csv.lines().nth(2).unwrap().contains("with_table 2"), "{csv}");
        let html = text(html(&head, &log));
        assert!(html.contains("Open &lt;1&gt;: incidents of round 3") && !html.contains("<b>"));
        let markdown = text(markdown(&head, &log));
        assert!(markdown.contains("\\|") && !markdown.contains("<b>"));
    }

    #[test]
    fn the_report_speaks_the_language_of_its_event() {
        let log = [json!({"kind": "alert", "at": "2026-05-01T14:31:07Z", "table": 5,
            "alert": {"code": "illegal-move-completed", "text": {"en": "Ke2 is illegal", "ru": "Ход Ke2 невозможен"},
                "state": "resolved"}})];
        let head = ReportHead { round: 3, language: "ru".to_owned(), ..ReportHead::default() };
        for bytes in [csv(&head, &log), markdown(&head, &log), html(&head, &log)] {
            let text = String::from_utf8(bytes).unwrap();
            assert!(text.contains("Ход Ke2 невозможен") && !text.contains("is illegal"), "{text}");
            assert!(text.contains("Стол") && text.contains("решено") && !text.contains("resolved"), "{text}");
        }
        let page = String::from_utf8(html(&head, &log)).unwrap();
        assert!(page.contains("<html lang=\"ru\">") && page.contains("3-го тура"), "{page}");
        for heading in head.columns() {
            assert!(!heading.is_empty());
        }
    }
}
