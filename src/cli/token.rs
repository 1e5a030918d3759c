//! `arbiterd token`: makes a token for the desk.
//!
//! The configuration keeps only its SHA-256, so a token cannot be read out of it and cannot be shown
//! again. Taking a section out of the configuration revokes its token.

use anyhow::Context;
use clap::{Parser, ValueEnum};

use crate::{
    hall::TableId,
    serve::access::{Role, Tokens},
};

/// Arguments of `arbiterd token`.
#[derive(Debug, Parser)]
#[command(
    after_help = "Example:\n  arbiterd token anna --role arbiter --tables 1,2,3 >> arbiterd.toml\n\nThe section for the configuration goes to standard output, the link to sign in with to standard error."
)]
pub(super) struct Args {
    /// Who: the name that stands in the journal and the incident log.
    name: String,
    /// What this person may do.
    #[arg(long, value_enum)]
    role: RoleName,
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

/// Runs it. Exit code 0.
#[expect(clippy::print_stdout, reason = "the section is this command's output")]
pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let role = match args.role {
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
    println!("\n[[token]]\nname = {:?}\nrole = {:?}", grant.name, word(role));
    if let Some(tables) = &grant.tables {
        println!("tables = {:?}", tables.iter().map(|table| table.0).collect::<Vec<_>>());
    }
    println!("sha256 = {:?}", grant.sha256);
    eprintln!("sign in with: {}/#token={token}", args.desk.trim_end_matches('/'));
    Ok(0)
}

fn word(role: Role) -> &'static str {
    match role {
        Role::ChiefArbiter => "chief-arbiter",
        Role::Arbiter => "arbiter",
        Role::Operator => "operator",
        Role::ReadOnly => "read-only",
    }
}
