//! What a line of a scenario file may say.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{hall::OptionsSetup, laws::TimeControl};

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

impl Scenario {
    /// The periods that a clock event remarks, if they can be read. They are told from where the scenario begins, so
    /// nothing is known of the time that the first one began with.
    pub(super) fn clock_tc(&self) -> Option<String> {
        let text = self.events.iter().find_map(|event| event.what.get("clock")?.get("tc")?.as_str())?;
        let control = text.parse::<TimeControl>().ok()?.to_string();
        let (first, later) = control.split_once(':')?;
        let (moves, time) = first.split_once('/')?;
        let extra = time.find(['+', 'b', 'd']).map_or("", |at| &time[at..]);
        Some(format!("{moves}/0s{extra}:{later}"))
    }
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
