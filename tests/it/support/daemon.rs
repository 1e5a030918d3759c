//! The real program as a child process, and what its listeners say.

use std::{
    fmt::Write as _,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::Value;

/// How long a test waits for anything before it fails. No test passes or fails on speed: this only
/// ends a test that would hang.
pub(crate) const PATIENCE: Duration = Duration::from_mins(4);

/// A running `arbiterd`.
pub(crate) struct Daemon {
    child: Child,
    /// `127.0.0.1:PORT` of the desk.
    pub(crate) desk: String,
    /// `127.0.0.1:PORT` of the public listener.
    pub(crate) public: String,
    /// Takes what it says on standard error.
    log: Option<std::thread::JoinHandle<String>>,
}

impl Daemon {
    /// Starts `arbiterd run` on a configuration and waits for its addresses.
    pub(crate) fn run(config: &Path) -> Self {
        Self::start(&["run", "--config", config.to_str().expect("a UTF-8 path")])
    }

    /// Starts the program with these arguments and waits for its addresses.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_arbiterd"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped"));
        let (mut desk, mut public) = (None, None);
        let mut line = String::new();
        while desk.is_none() || public.is_none() {
            line.clear();
            if lines.read_line(&mut line).expect("UTF-8") == 0 {
                let mut said = String::new();
                child.stderr.take().expect("piped").read_to_string(&mut said).expect("UTF-8");
                panic!("arbiterd {arguments:?} ended before it served anything:\n{said}");
            }
            let mut words = line.split_whitespace();
            let name = words.next();
            let address = words
                .next()
                .and_then(|url| url.strip_prefix("http://"))
                .map(|rest| rest.split('/').next().unwrap_or_default().to_owned());
            match name {
                Some("desk") => desk = address,
                Some("public") => public = address,
                _ => {}
            }
        }
        // Nobody reads on: the pipes are drained so that the program never waits for them.
        drain(lines);
        let mut stderr = child.stderr.take().expect("piped");
        let log = std::thread::spawn(move || {
            let mut said = Vec::new();
            // Ends with the program.
            drop(stderr.read_to_end(&mut said));
            String::from_utf8_lossy(&said).into_owned()
        });
        Self { child, desk: desk.expect("set"), public: public.expect("set"), log: Some(log) }
    }

    /// SIGKILL: nothing of the program runs any more.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it was running");
        self.child.wait().expect("it has ended");
    }

    /// SIGTERM, and its exit code.
    pub(crate) fn terminate(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it is running");
        self.child.wait().expect("it has ended").code()
    }

    /// SIGTERM; what it said on standard error all its life.
    pub(crate) fn terminate_and_tell(mut self) -> String {
        self.signal(rustix::process::Signal::TERM);
        assert_eq!(self.child.wait().expect("it has ended").code(), Some(0));
        self.log.take().expect("taken once").join().expect("no panic")
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("it is running");
    }

    /// Waits for it to end by itself, and its exit code.
    pub(crate) fn wait(mut self) -> Option<i32> {
        self.child.wait().expect("it has ended").code()
    }

    /// The tables as the desk has them.
    pub(crate) fn tables(&self) -> Vec<Value> {
        let body: Value = serde_json::from_str(&http_get(&self.desk, "/api/v1/tables")).expect("JSON");
        let tables = if body.is_array() { body } else { body["tables"].clone() };
        tables.as_array().expect("a list of tables").clone()
    }

    /// The desk's tables once they are as `wanted` asks.
    pub(crate) fn until(&self, what: &str, mut wanted: impl FnMut(&[Value]) -> bool) -> Vec<Value> {
        let give_up = arbiterd::wall::uptime() + PATIENCE;
        loop {
            let tables = self.tables();
            if wanted(&tables) {
                return tables;
            }
            assert!(
                arbiterd::wall::uptime() < give_up,
                "waited in vain for {what}: {tables:#?}; lines: {}",
                http_get(&self.desk, "/api/v1/links")
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Already gone is what is wanted.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn drain(mut from: impl Read + Send + 'static) {
    std::thread::spawn(move || std::io::copy(&mut from, &mut std::io::sink()));
}

/// The body of a GET; panics on anything but 200.
pub(crate) fn http_get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("UTF-8");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.starts_with("HTTP/1.0 200") || head.starts_with("HTTP/1.1 200"), "{path}: {head}");
    body.to_owned()
}

/// The moves of a table as the desk tells them, in UCI.
pub(crate) fn moves(table: &Value) -> Vec<String> {
    let plies = table["plies"].as_array().expect("plies");
    plies.iter().map(|ply| ply["uci"].as_str().expect("UCI").to_owned()).collect()
}

/// Writes a configuration for these boards (serial number, port) and gives its path.
pub(crate) fn write_config(folder: &Path, boards: &[(u32, PathBuf)]) -> PathBuf {
    let mut text = String::from(
        "[event]\nid = \"test\"\nname = \"Test\"\n[round]\nnumber = 1\n[archive]\nfolder = \"archive\"\n\
         [desk]\nlisten = \"127.0.0.1:0\"\n[public]\nlisten = \"127.0.0.1:0\"\n",
    );
    for (index, (serial, port)) in boards.iter().enumerate() {
        let number = index + 1;
        let path = port.to_str().expect("a UTF-8 path");
        writeln!(
            text,
            "[[table]]\nnumber = {number}\nboard = \"{serial}\"\nwhite = \"White {number}\"\n\
             black = \"Black {number}\"\n[[port]]\npath = {path:?}"
        )
        .expect("a string takes all");
    }
    let path = folder.join("arbiterd.toml");
    std::fs::write(&path, text).expect("a writable folder");
    path
}
