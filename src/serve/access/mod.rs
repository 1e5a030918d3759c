//! Who may do what at the desk: tokens with roles, and what each role may order.
//!
//! A token is 256 random bits, shown once. Only its SHA-256 is kept, and all are compared in constant
//! time; a slow hash would guard nothing, since there is nothing to guess.
//!
//! | file | what it does |
//! | --- | --- |
//! | `guard` | `Host`, `Origin` and the token of each request |

pub(crate) mod guard;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::{
    hall::{Command, TableId},
    laws::Entry,
};

/// What somebody is at this event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// May do everything.
    ChiefArbiter,
    /// May enter, correct and mute at his own tables, and see everything.
    Arbiter,
    /// Runs boards, rounds and pairings; decides nothing about a game, and is not shown what the
    /// Laws leave to the arbiter's silence.
    Operator,
    /// Looks on.
    ReadOnly,
}

/// One who may sign in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// The name that stands in the journal and the incident log.
    pub name: String,
    /// What this person is.
    pub role: Role,
    /// An arbiter's own tables; all when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tables: Option<Vec<TableId>>,
    /// SHA-256 of the token, in hexadecimal.
    pub sha256: String,
}

/// All who may sign in.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tokens(pub Vec<Grant>);

impl Tokens {
    /// There are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whose token this is. Takes as long for a wrong one as for a right one.
    #[must_use]
    pub fn find(&self, token: &str) -> Option<&Grant> {
        let hash = hash(token);
        let mut found = None;
        for grant in &self.0 {
            if bool::from(grant.sha256.as_bytes().ct_eq(hash.as_bytes())) {
                found = Some(grant);
            }
        }
        found
    }

    /// Adds somebody and answers the new token, which cannot be shown again. A name that is there
    /// already gets a new token in place of its old one.
    ///
    /// # Errors
    /// The system gave no random numbers.
    pub fn create(
        &mut self,
        name: impl Into<String>,
        role: Role,
        tables: Option<Vec<TableId>>,
    ) -> Result<String, getrandom::Error> {
        let token = new_token()?;
        let grant = Grant { name: name.into(), role, tables, sha256: hash(&token) };
        self.0.retain(|other| other.name != grant.name);
        self.0.push(grant);
        Ok(token)
    }

    /// Takes somebody's token away; false if there was none.
    pub fn revoke(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|grant| grant.name != name);
        self.0.len() != before
    }
}

/// 256 random bits in hexadecimal.
///
/// # Errors
/// The system gave no random numbers.
pub fn new_token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(hex(&bytes))
}

fn hash(token: &str) -> String {
    hex(&Sha256::digest(token.as_bytes()))
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]])
        .map(char::from)
        .collect()
}

/// Somebody who was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Who {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) tables: Option<Vec<TableId>>,
    /// The hash of the token shown; none where nobody has to sign in.
    pub(crate) sha256: Option<String>,
}

impl From<&Grant> for Who {
    fn from(grant: &Grant) -> Self {
        Self {
            name: grant.name.clone(),
            role: grant.role,
            tables: grant.tables.clone(),
            sha256: Some(grant.sha256.clone()),
        }
    }
}

impl Who {
    /// Someone at this machine, where nobody has to sign in.
    pub(crate) fn local() -> Self {
        Self { name: "local".to_owned(), role: Role::ChiefArbiter, tables: None, sha256: None }
    }

    /// The token still stands and says the same.
    pub(crate) fn holds(&self, tokens: &Tokens) -> bool {
        self.sha256.is_none() || tokens.0.iter().any(|grant| *self == Self::from(grant))
    }

    /// May see alerts that are for the arbiter alone (Laws 12.6).
    pub(crate) fn sees_silent(&self) -> bool {
        matches!(self.role, Role::ChiefArbiter | Role::Arbiter)
    }

    /// May order this, or why not.
    pub(crate) fn may(&self, command: &Command) -> Result<(), String> {
        let refuse = |who: &str| Err(format!("{} may not do this; it takes {who}", self.name));
        match (self.role, command) {
            (Role::ReadOnly, _) => refuse("an operator or an arbiter"),
            (
                Role::Arbiter,
                Command::Entry { table, .. }
                | Command::Correct { table, .. }
                | Command::Resume { table, .. }
                | Command::Mute { table, .. },
            ) => {
                if self.tables.as_ref().is_none_or(|own| own.contains(table)) {
                    Ok(())
                } else {
                    refuse("the arbiter of that table or the chief arbiter")
                }
            }
            (Role::Arbiter, _) => refuse("an operator or the chief arbiter"),
            (Role::Operator, Command::Entry { entry, .. })
                if !matches!(
                    entry,
                    Entry::Acknowledge { .. } | Entry::Resolve { .. } | Entry::Incident { .. }
                ) =>
            {
                refuse("an arbiter")
            }
            (Role::ChiefArbiter | Role::Operator, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::GameResult;

    #[test]
    fn a_token_is_found_until_it_is_revoked_and_never_stored() {
        let mut tokens = Tokens::default();
        let token = tokens.create("A. Biter", Role::Arbiter, Some(vec![TableId(3)])).unwrap();
        assert_eq!(tokens.find(&token).unwrap().name, "A. Biter");
        assert!(!serde_json::to_string(&tokens).unwrap().contains(&token));
        assert!(tokens.find("").is_none() && tokens.find(&token[1..]).is_none());
        let renewed = tokens.create("A. Biter", Role::Arbiter, None).unwrap();
        assert!(tokens.find(&token).is_none(), "the old one is void");
        assert!(tokens.revoke("A. Biter") && !tokens.revoke("A. Biter"));
        assert!(tokens.find(&renewed).is_none());
    }

    #[test]
    fn each_role_may_do_its_own_work() {
        let who = |role, tables: Option<Vec<u32>>| Who {
            name: "x".to_owned(),
            role,
            tables: tables.map(|tables| tables.into_iter().map(TableId).collect()),
            sha256: None,
        };
        let table = TableId(3);
        let result = Command::Entry { table, entry: Entry::Result { result: GameResult::Draw } };
        let note = Command::Entry { table, entry: Entry::Incident { note: String::new() } };
        let delay = Command::Delay { seconds: 0 };
        for (role, tables, may) in [
            (Role::ChiefArbiter, None, [true, true, true]),
            (Role::Arbiter, None, [true, true, false]),
            (Role::Arbiter, Some(vec![3, 4]), [true, true, false]),
            (Role::Arbiter, Some(vec![4]), [false, false, false]),
            (Role::Operator, None, [false, true, true]),
            (Role::ReadOnly, None, [false, false, false]),
        ] {
            let who = who(role, tables);
            let found = [&result, &note, &delay].map(|command| who.may(command).is_ok());
            assert_eq!(found, may, "{who:?}");
        }
    }
}
