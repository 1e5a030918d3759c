//! What the operator can say of a port, and the times a driver keeps.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Which language a line speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Make {
    /// Boards of DGT, single or in a chain.
    #[default]
    Dgt,
    /// Certabo boards with tagged pieces.
    Certabo,
    /// Millennium `ChessLink`.
    Millennium,
}

/// How the boards on a DGT line are spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// The driver finds out: it asks on the bus who is there before it says anything else.
    #[default]
    Auto,
    /// One board, which speaks by itself.
    Single,
    /// A chain: addressed frames only, polled. No single-board byte is ever sent.
    Bus,
}

/// One port, or a pattern that finds ports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PortConfig {
    /// A device path such as `/dev/serial/by-id/…` or `/dev/rfcomm0`, or a pattern with `*` and `?`
    /// such as `/dev/ttyUSB*`. Ports that a pattern finds come and go.
    pub path: String,
    /// Which language.
    #[serde(default)]
    pub make: Make,
    /// One board or a chain.
    #[serde(default)]
    pub mode: Mode,
    /// Ask the system that no other program may open the port. Off only for pseudo-terminals that
    /// live on after their user.
    #[serde(default = "yes")]
    pub exclusive: bool,
    /// Drive DTR and RTS low or high after opening. Unset: low on a chain, which needs it; as the
    /// system leaves them otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modem_lines_high: Option<bool>,
    /// Read the board's own memory after a gap, to recover what was played meanwhile.
    #[serde(default = "yes")]
    pub recover: bool,
    /// Serial numbers that belong on this chain: they are asked first, and missed by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<u16>,
    /// Where a Certabo set's calibration is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<std::path::PathBuf>,
    /// The times of the driver; tests shorten them.
    #[serde(skip)]
    pub timing: Timing,
}

fn yes() -> bool {
    true
}

impl PortConfig {
    /// A DGT port with every choice left to the driver.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            make: Make::Dgt,
            mode: Mode::Auto,
            exclusive: true,
            modem_lines_high: None,
            recover: true,
            expected: Vec::new(),
            calibration: None,
            timing: Timing::default(),
        }
    }

    /// The same with the mode given.
    #[must_use]
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// The same for another make.
    #[must_use]
    pub fn make(self, make: Make) -> Self {
        Self { make, ..self }
    }
}

/// The times a driver keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long a board may take to say who it is.
    pub identify: Duration,
    /// A line that was silent so long is asked for a sign of life.
    pub poll: Duration,
    /// A line that was silent so long is dead: it was asked twice.
    pub dead: Duration,
    /// A dump is asked this long after the last change of a square.
    pub settle: Duration,
    /// A dump is asked at least so often.
    pub dump: Duration,
    /// The shortest and longest pause before a port is opened again.
    pub reopen: (Duration, Duration),
    /// How long a chain is listened to after a ping to all; boards answer within 1.1 s.
    pub ping: Duration,
    /// How long a board on a chain may take to begin its answer (80 ms, and some for the system).
    pub reply: Duration,
    /// The shortest time between two polls of the same board on a chain.
    pub cycle: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        let ms = Duration::from_millis;
        Self {
            identify: ms(2500),
            poll: ms(1500),
            dead: ms(4500),
            settle: ms(600),
            dump: ms(10_000),
            reopen: (ms(250), ms(5000)),
            ping: ms(1300),
            reply: ms(120),
            cycle: ms(200),
        }
    }
}
