//! A sign-in link as a code that a phone's camera reads from a terminal.

use qrcode::{EcLevel, QrCode, render::unicode::Dense1x2};

/// The link as a QR code in half blocks; `None` where it is too long for one.
///
/// Terminals mostly write light on dark, and a reader wants dark on light: ink and paper change places.
pub(super) fn code(link: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(link, EcLevel::L).ok()?;
    Some(code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_link_fits_a_terminal_and_has_its_quiet_margin() {
        let link = format!("http://192.168.100.200:8080/#token={}", "0f".repeat(32));
        let code = super::code(&link).unwrap();
        let lines: Vec<&str> = code.lines().collect();
        assert!(lines.len() < 30, "{} lines", lines.len());
        assert!(
            lines
                .iter()
                .all(|line| line.chars().count() == lines[0].chars().count() && line.chars().count() < 80)
        );
        // Four modules of paper above, which is light: full blocks.
        assert!(lines[0].chars().all(|block| block == '█') && lines[1].chars().all(|block| block == '█'));
        assert!(super::code(&"x".repeat(4000)).is_none());
    }
}
