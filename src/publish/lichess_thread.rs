//! The thread that talks to Lichess. What to send and what an answer means is left to [`Pusher`].

use std::{
    io,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::Duration,
};

use serde_json::Value;

use super::lichess::{Answer, LichessConfig, Next, Push, Pusher};
use crate::{hall::Update, record::Timestamp, wall};

/// One request may take so long.
const REQUEST: Duration = Duration::from_secs(30);
/// At the end, what still waits may take so long.
const FAREWELL: i64 = 5000;
/// An answer is read so far.
const ANSWER: u64 = 1 << 20;

/// The running push.
#[derive(Debug)]
pub struct Lichess {
    shared: Arc<Shared>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    pusher: Pusher,
    /// Stop, at the latest at this moment.
    stop: Option<i64>,
}

impl Lichess {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(config: LichessConfig) -> io::Result<Self> {
        let state = State { pusher: Pusher::new(&config), stop: None };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let thread = {
            let shared = shared.clone();
            thread::Builder::new().name("lichess".to_owned()).spawn(move || run(&config, &shared))?
        };
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Hands over updates that may be public; never waits for the network.
    pub fn push(&self, updates: &[Update]) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).pusher.take(updates);
        self.shared.changed.notify_one();
    }

    /// How it stands, for the desk.
    #[must_use]
    pub fn status(&self) -> Value {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).pusher.status(steady())
    }

    /// Sends what still waits, for a few seconds at most, and ends.
    pub fn finish(&self) {
        let stop = steady().millis() + FAREWELL;
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).stop.get_or_insert(stop);
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()
            && thread.join().is_err()
        {
            tracing::error!("the push to Lichess ended badly");
        }
    }
}

impl Drop for Lichess {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Time that never jumps and never runs fast.
fn steady() -> Timestamp {
    Timestamp::from_millis(i64::try_from(wall::uptime().as_millis()).unwrap_or(i64::MAX))
}

fn run(config: &LichessConfig, shared: &Shared) {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(REQUEST))
        .http_status_as_error(false)
        .max_redirects(0)
        .user_agent(concat!("arbiterd/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let now = steady();
        let next = state.pusher.next(now);
        if let Some(stop) = state.stop {
            let over = match &next {
                Next::Idle => true,
                Next::WaitUntil(at) => at.millis() > stop,
                Next::Send(_) => now.millis() > stop,
            };
            if over {
                return;
            }
        }
        state = match next {
            Next::Send(push) => {
                // The hall goes on handing over updates meanwhile.
                drop(state);
                let answer = send(&agent, config, &push);
                if !matches!(answer, Answer::Http { status: 200, .. }) {
                    tracing::warn!(round = push.round, ?answer, "a push to Lichess failed");
                }
                let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.pusher.answered(&push, &answer, steady());
                state
            }
            Next::Idle => shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Next::WaitUntil(at) => {
                let wait = Duration::from_millis(at.since(now).clamp(1, 60_000) as u64);
                let waited = shared.changed.wait_timeout(state, wait);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
    }
}

fn send(agent: &ureq::Agent, config: &LichessConfig, push: &Push) -> Answer {
    let url = format!("{}/api/broadcast/round/{}/push", config.url.trim_end_matches('/'), push.round);
    let sent = agent
        .post(&url)
        .header("Authorization", &format!("Bearer {}", config.token))
        .header("Content-Type", "text/plain; charset=utf-8")
        .send(push.body.as_str());
    let mut response = match sent {
        Ok(response) => response,
        Err(fault) => return Answer::Lost(fault.to_string()),
    };
    let retry_after =
        response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    match response.body_mut().with_config().limit(ANSWER).read_to_string() {
        Ok(body) => Answer::Http { status: response.status().as_u16(), retry_after, body },
        Err(fault) => Answer::Lost(fault.to_string()),
    }
}
