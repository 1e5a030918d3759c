//! `arbiterd token`: makes a token for the desk.
//!
//! The configuration keeps only its SHA-256, so a token cannot be read out of it and cannot be shown
//! again. Taking a section out of the configuration revokes its token; the daemon reads the tokens
//! again on SIGHUP.

use std::{
    fmt::Write as _,
    fs,
    io::{IsTerminal, stderr},
    path::PathBuf,
};

use anyhow::{Context, bail};
use clap::{Parser, ValueEnum};

use crate::{
    hall::TableId,
    serve::access::{Role, Tokens},
};

/// Arguments of `arbiterd token`.
#[derive(Debug, Parser)]
#[command(
    after_help = "Example:\n  arbiterd token anna --role arbiter --tables 1,2,3 >> arbiterd.toml\n  arbiterd token anna --role arbiter --config arbiterd.toml\n  arbiterd token anna --revoke --config arbiterd.toml\n\nA running daemon learns of it by `systemctl reload arbiterd` (SIGHUP). The section for the configuration goes to standard output, the link to sign in with (and, on a terminal, its QR code) to standard error."
)]
pub(super) struct Args {
    /// Who: the name that stands in the journal and the incident log.
    name: String,
    /// What this person may do.
    #[arg(long, value_enum, required_unless_present = "revoke")]
    role: Option<RoleName>,
    /// Take this person's token away: needs --config.
    #[arg(long, requires = "config", conflicts_with = "role")]
    revoke: bool,
    /// Change this configuration file in place of printing the section. A name that has a token gets
    /// a new one, and the old one is void.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// An arbiter's own tables, such as 1,2,3; all if left out.
    #[arg(long, value_delimiter = ',')]
    tables: Vec<u32>,
    /// The desk's address as the person's browser knows it.
    #[arg(long, default_value = "http://127.0.0.1:8080")]
    desk: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RoleName {
    /// May do everything.
    ChiefArbiter,
    /// May enter, correct and mute at his own tables.
    Arbiter,
    /// Runs boards, rounds and pairings.
    Operator,
    /// Looks on.
    ReadOnly,
}

/// Runs it. Exit code 0; 1 where there is no such token to revoke.
#[expect(clippy::print_stdout, reason = "the section is this command's output")]
pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let Some(role) = args.role else {
        let path = args.config.as_ref().context("--revoke needs --config")?;
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let (text, found) = without(&text, &args.name);
        if !found {
            eprintln!("{} has no token in {}", args.name, path.display());
            return Ok(1);
        }
        write(path, &text)?;
        eprintln!("revoked; a running daemon learns of it by SIGHUP (systemctl reload arbiterd)");
        return Ok(0);
    };
    let role = match role {
        RoleName::ChiefArbiter => Role::ChiefArbiter,
        RoleName::Arbiter => Role::Arbiter,
        RoleName::Operator => Role::Operator,
        RoleName::ReadOnly => Role::ReadOnly,
    };
    let tables = (!args.tables.is_empty()).then(|| args.tables.iter().copied().map(TableId).collect());
    let mut tokens = Tokens::default();
    let token =
        tokens.create(args.name.clone(), role, tables).context("the system gave no random numbers")?;
    let grant = tokens.0.first().context("a token was made")?;
    let mut section = format!("\n[[token]]\nname = {:?}\nrole = {:?}\n", grant.name, word(role));
    if let Some(tables) = &grant.tables {
        let tables: Vec<u32> = tables.iter().map(|table| table.0).collect();
        writeln!(section, "tables = {tables:?}")?;
    }
    writeln!(section, "sha256 = {:?}", grant.sha256)?;
    match &args.config {
        Some(path) => {
            let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            let (mut text, _) = without(&text, &args.name);
            text.push_str(&section);
            write(path, &text)?;
        }
        None => print!("{section}"),
    }
    let link = format!("{}/#token={token}", args.desk.trim_end_matches('/'));
    eprintln!("sign in with: {link}");
    if stderr().is_terminal()
        && let Some(code) = super::qr::code(&link)
    {
        eprintln!("\n{code}\n");
    }
    Ok(0)
}

/// The text of a configuration without the `[[token]]` sections of this name, and whether there were any.
fn without(text: &str, name: &str) -> (String, bool) {
    let lines: Vec<&str> = text.lines().collect();
    let named = |line: &str| {
        let Some((key, value)) = line.split_once('=') else { return false };
        let value = value.trim();
        key.trim() == "name"
            && (value == format!("{name:?}")
                || value == format!("'{name}'")
                || value.split('#').next().is_some_and(|value| value.trim() == format!("{name:?}")))
    };
    let (mut kept, mut found, mut at) = (String::new(), false, 0);
    while at < lines.len() {
        let begins = lines[at].trim_start().starts_with("[[token]]");
        let end = lines[at + 1..]
            .iter()
            .position(|line| line.trim_start().starts_with('['))
            .map_or(lines.len(), |next| at + 1 + next);
        if begins && lines[at..end].iter().any(|line| named(line)) {
            found = true;
            at = end;
            continue;
        }
        kept.push_str(lines[at]);
        kept.push('\n');
        at += 1;
    }
    (kept, found)
}

/// Writes a configuration in its place (owner and permissions stay), if it is still one.
fn write(path: &std::path::Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(std::path::Path::new(""));
    if let Err(faults) = super::config::parse(text, folder) {
        // A desk beyond this machine must keep a token.
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        bail!("{} would not be usable any more; nothing was changed:\n{}", path.display(), faults.join("\n"));
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn word(role: Role) -> &'static str {
    match role {
        Role::ChiefArbiter => "chief-arbiter",
        Role::Arbiter => "arbiter",
        Role::Operator => "operator",
        Role::ReadOnly => "read-only",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revoked_token_leaves_everything_else_as_it_was() {
        let text = "# mine\n[event]\nname = \"anna\"\n\n[[token]]\nname = \"anna\" # the first\nrole = \"arbiter\"\n\
                    sha256 = \"00\"\n[[token]]\nname = \"otto\"\nrole = \"operator\"\n# end\n";
        let (left, found) = without(text, "anna");
        assert!(found);
        assert_eq!(
            left,
            "# mine\n[event]\nname = \"anna\"\n\n[[token]]\nname = \"otto\"\nrole = \"operator\"\n# end\n"
        );
        assert_eq!(without(&left, "anna"), (left.clone(), false));
    }
}
