//! What a line of a scenario file may say.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::hall::OptionsSetup;

/// A scenario as it stands in the file.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Scenario {
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    pub(super) profile: String,
    #[serde(default)]
    pub(super) setup: Setup,
    #[serde(default)]
    pub(super) events: Vec<Event>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Setup {
    pub(super) fen: Option<String>,
    pub(super) chess960: bool,
    pub(super) tc: Option<String>,
    pub(super) completed: Sides,
    pub(super) illegal: Sides,
    pub(super) control: Option<String>,
    pub(super) draw_agreement: Option<String>,
    pub(super) draw_min_moves: Option<u32>,
    pub(super) delay_seconds: Option<u32>,
    /// The event's other options, as the desk's API names them.
    pub(super) options: OptionsSetup,
}

/// A number for each side; `{"w":1}`, or one number for both.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(from = "SidesForm")]
pub(super) struct Sides(pub(super) [u32; 2]);

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
pub(super) struct Event {
    pub(super) t: i64,
    #[serde(flatten)]
    pub(super) what: Map<String, Value>,
}
