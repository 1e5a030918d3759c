//! A pseudo-terminal that looks like a serial port, under a name that outlives it.
//!
//! Raw mode is set through the master before the name appears (a cooked terminal would echo and
//! eat bytes). When the reader closes, or the cable is pulled, the terminal is given up and a new
//! one made under the same name, as a USB adapter comes back: a reader's exclusive lock would
//! otherwise stay on the old one.

use std::{
    fs, io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    io::ioctl_fionbio,
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{OptionalActions, tcgetattr, tcsetattr},
};

/// The master side of one terminal and its name.
#[derive(Debug)]
pub struct Pty {
    master: OwnedFd,
    link: PathBuf,
}

impl Pty {
    /// Makes a terminal and points `link` at it, replacing what the link pointed at before.
    ///
    /// # Errors
    /// When the system gives no terminal or the link cannot be made; an ordinary file of that name
    /// is not replaced.
    pub fn new(link: &Path) -> io::Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let mut attributes = tcgetattr(&master)?;
        attributes.make_raw();
        tcsetattr(&master, OptionalActions::Now, &attributes)?;
        ioctl_fionbio(&master, true)?;
        let name = ptsname(&master, Vec::new())?;
        let target = PathBuf::from(name.to_string_lossy().into_owned());
        if fs::symlink_metadata(link).is_ok_and(|found| !found.file_type().is_symlink()) {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                format!("{} is there already and no link", link.display()),
            ));
        }
        // Made beside and renamed, so that the name is never missing during a change.
        let mut beside = link.as_os_str().to_owned();
        beside.push(".new");
        let beside = PathBuf::from(beside);
        if let Err(error) = fs::remove_file(&beside)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        std::os::unix::fs::symlink(&target, &beside)?;
        fs::rename(&beside, link)?;
        Ok(Self { master, link: link.to_owned() })
    }

    /// The name.
    #[must_use]
    pub fn link(&self) -> &Path {
        &self.link
    }

    /// Appends what the reader sent; at most a few kilobytes at once. `false` = the reader has
    /// closed.
    pub fn read(&self, out: &mut Vec<u8>) -> bool {
        let mut buffer = [0u8; 1024];
        for _ in 0..4 {
            match rustix::io::read(&self.master, &mut buffer) {
                Ok(0) | Err(rustix::io::Errno::IO) => return false,
                Ok(count) => out.extend(&buffer[..count]),
                Err(_) => break,
            }
        }
        true
    }

    /// Sends bytes; what does not fit is lost, as on a line nobody reads.
    pub fn write(&self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match rustix::io::write(&self.master, bytes) {
                Ok(count) if count > 0 => bytes = &bytes[count..],
                Err(rustix::io::Errno::INTR) => {}
                Ok(_) | Err(_) => return,
            }
        }
    }

    /// Takes the name away, as when a cable is pulled.
    pub fn unlink(self) {
        if let Err(error) = fs::remove_file(&self.link) {
            tracing::debug!(%error, link = %self.link.display(), "the link was gone already");
        }
    }
}

impl AsFd for Pty {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.master.as_fd()
    }
}
