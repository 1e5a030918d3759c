//! The serial port itself: opened for this program alone, its settings read back, its errors put
//! into words that tell the operator what to do.

use std::{
    io::{self, Read, Write},
    time::Duration,
};

use serialport::{DataBits, ErrorKind, FlowControl, Parity, SerialPort, StopBits};

use super::config::{Make, Mode, PortConfig};

/// An open port.
pub(super) struct Port {
    inner: Box<dyn SerialPort>,
    /// Settings that did not stick, in words.
    pub(super) differs: String,
}

fn baud(make: Make) -> u32 {
    match make {
        Make::Dgt => 9600,
        Make::Certabo | Make::Millennium => 38400,
    }
}

impl Port {
    /// Opens the port; an error is in words for the operator.
    pub(super) fn open(path: &str, config: &PortConfig) -> Result<Self, String> {
        let rate = baud(config.make);
        let mut inner = serialport::new(path, rate)
            .data_bits(DataBits::Eight)
            .parity(Parity::None)
            .stop_bits(StopBits::One)
            .flow_control(FlowControl::None)
            .timeout(Duration::from_millis(100))
            .exclusive(config.exclusive)
            .open()
            .map_err(|error| explain_open(path, &error))?;
        let high = match (config.modem_lines_high, config.mode, config.make) {
            (Some(high), _, _) => Some(high),
            // Boards on a chain behave oddly while these lines are high; a Certabo board resets.
            (None, Mode::Bus, Make::Dgt) | (None, _, Make::Certabo) => Some(false),
            (None, _, _) => None,
        };
        if let Some(high) = high {
            // A pseudo-terminal has no such lines: no fault.
            if let Err(error) =
                inner.write_data_terminal_ready(high).and_then(|()| inner.write_request_to_send(high))
            {
                tracing::debug!(port = path, %error, "modem lines could not be set");
            }
        }
        let differs = read_back(inner.as_ref(), rate);
        if !differs.is_empty() {
            tracing::warn!(port = path, "the port did not take its settings: {differs}");
        }
        // What came before the settings held may be garbled.
        if let Err(error) = inner.clear(serialport::ClearBuffer::Input) {
            tracing::debug!(port = path, %error, "input could not be cleared");
        }
        Ok(Self { inner, differs })
    }

    /// Reads what is there, waiting at most so long for the first byte. 0 bytes: nothing came.
    ///
    /// # Errors
    /// The port is gone.
    pub(super) fn read(&mut self, buffer: &mut [u8], wait: Duration) -> io::Result<usize> {
        // A wait of nothing would mean for ever to some systems.
        self.inner.set_timeout(wait.max(Duration::from_millis(1))).map_err(io::Error::from)?;
        match self.inner.read(buffer) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => Ok(count),
            // serialport drops the system's number: only these two mean "go on".
            Err(error) if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::Interrupted) => {
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// The port is gone, or takes nothing for a second.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.inner.set_timeout(Duration::from_secs(1)).map_err(io::Error::from)?;
        self.inner.write_all(bytes)
    }
}

fn explain_open(path: &str, error: &serialport::Error) -> String {
    match error.kind() {
        // serialport says "no device" when another program holds the port.
        ErrorKind::NoDevice if std::path::Path::new(path).exists() => format!(
            "{path} is in use by another program: close it (LiveChess, another arbiterd, a modem manager; \
             `fuser -v {path}` names it)"
        ),
        ErrorKind::NoDevice | ErrorKind::Io(io::ErrorKind::NotFound) => {
            format!("{path} is not there: plug the board in, or correct the path")
        }
        ErrorKind::Io(io::ErrorKind::PermissionDenied) => {
            format!(
                "{path} may not be opened by this user: add it to the group that owns the port (often `dialout`)"
            )
        }
        _ if error.to_string().contains("typewriter") => {
            format!("{path} is no serial port")
        }
        _ => format!("{path} cannot be opened: {error}"),
    }
}

/// What the port really runs with, where that is not what was asked.
fn read_back(port: &dyn SerialPort, rate: u32) -> String {
    let mut differs = Vec::new();
    match port.baud_rate() {
        Ok(real) if real == rate => {}
        Ok(real) => differs.push(format!("{real} baud instead of {rate}")),
        Err(error) => differs.push(format!("speed unknown ({error})")),
    }
    let mut compare = |same: bool, words: &str| {
        if !same {
            differs.push(words.to_owned());
        }
    };
    compare(port.data_bits().is_ok_and(|bits| bits == DataBits::Eight), "not 8 data bits");
    compare(port.parity().is_ok_and(|parity| parity == Parity::None), "parity on");
    compare(port.stop_bits().is_ok_and(|bits| bits == StopBits::One), "not 1 stop bit");
    compare(port.flow_control().is_ok_and(|flow| flow == FlowControl::None), "flow control on");
    differs.join(", ")
}
