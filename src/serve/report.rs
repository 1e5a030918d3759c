//! The incident log as a file: JSON, CSV, Markdown or HTML, for the arbiters' report.

use bytes::Bytes;
use serde_json::Value;

use super::problem::Problem;

/// The columns everybody looks for first; all others follow by name.
const COLUMNS: [&str; 6] = ["at", "round", "table", "white", "black", "by"];

/// The log in this format: its media type and its text.
pub(crate) fn incidents(log: &[Value], format: &str) -> Result<(&'static str, Bytes), Problem> {
    Ok(match format {
        "json" => ("application/json; charset=utf-8", Value::from(log.to_vec()).to_string().into()),
        "csv" => ("text/csv; charset=utf-8", csv(log)?),
        "md" => ("text/markdown; charset=utf-8", markdown(log).into()),
        "html" => ("text/html; charset=utf-8", html(log).into()),
        other => {
            return Err(Problem::bad(format!("format={other}: expected json, csv, md or html")));
        }
    })
}

fn columns(log: &[Value]) -> Vec<String> {
    let mut columns: Vec<String> = COLUMNS.iter().map(|&name| name.to_owned()).collect();
    let mut others: Vec<&String> =
        log.iter().filter_map(Value::as_object).flat_map(serde_json::Map::keys).collect();
    others.sort();
    others.dedup();
    for other in others {
        if !columns.contains(other) {
            columns.push(other.clone());
        }
    }
    columns.retain(|name| log.iter().any(|incident| !incident[name.as_str()].is_null()));
    columns
}

fn cell(incident: &Value, column: &str) -> String {
    match &incident[column] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn csv(log: &[Value]) -> Result<Bytes, Problem> {
    let failed = |_| Problem::new(hyper::StatusCode::INTERNAL_SERVER_ERROR, "the log could not be written");
    let columns = columns(log);
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&columns).map_err(failed)?;
    for incident in log {
        let row = columns.iter().map(|column| {
            let text = cell(incident, column);
            // A spreadsheet would run such a cell as a formula.
            if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text }
        });
        writer.write_record(row).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|_| {
        Problem::new(hyper::StatusCode::INTERNAL_SERVER_ERROR, "the log could not be written")
    })?;
    Ok(bytes.into())
}

fn markdown(log: &[Value]) -> String {
    let columns = columns(log);
    let mut out = String::from("# Incidents\n\n");
    if columns.is_empty() {
        out.push_str("None.\n");
        return out;
    }
    out.extend(["| ", &columns.join(" | "), " |\n|", &" --- |".repeat(columns.len()), "\n"]);
    for incident in log {
        let cells: Vec<String> = columns
            .iter()
            .map(|column| {
                let text: String =
                    cell(incident, column).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                text.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;")
            })
            .collect();
        out.extend(["| ", &cells.join(" | "), " |\n"]);
    }
    out
}

fn html(log: &[Value]) -> String {
    let escape = |text: &str| {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
    };
    let columns = columns(log);
    let mut out = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Incidents</title>\n<h1>Incidents</h1>\n<table border=\"1\">\n<tr>",
    );
    for column in &columns {
        out.extend(["<th>", &escape(column), "</th>"]);
    }
    out.push_str("</tr>\n");
    for incident in log {
        out.push_str("<tr>");
        for column in &columns {
            out.extend(["<td>", &escape(&cell(incident, column)), "</td>"]);
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n</html>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_anyone_typed_becomes_markup_or_a_formula() {
        let log = [
            json!({"at": "2026-05-01T14:31:07Z", "table": 5, "note": "=cmd|' <script>a</script>\n| x", "zz": {"a": 1}}),
        ];
        let text = |format| String::from_utf8(incidents(&log, format).unwrap().1.to_vec()).unwrap();
        assert!(text("csv").starts_with("at,table,note,zz\n2026-05-01T14:31:07Z,5,\"'=cmd|"));
        assert!(!text("html").contains("<script>") && text("html").contains("&lt;script&gt;"));
        let md = text("md");
        assert_eq!(md.lines().count(), 5, "{md}");
        assert!(md.contains("\\|") && !md.contains("<script>"));
        assert!(incidents(&log, "exe").is_err());
    }
}
