//! `arbiterd relay`: serves the public side of an event from what its halls publish to NATS JetStream.

use std::net::SocketAddr;

use clap::Parser;

use super::run::{Stop, runtime};
use crate::{
    daemon::{Relay, RelaySettings},
    serve::config::ListenConfig,
};

/// Arguments of `arbiterd relay`.
#[derive(Debug, Parser)]
#[command(
    after_help = "Example:\n  arbiterd relay --event open-2026 --listen 0.0.0.0:8081 --host live.example.org\n\nEach hall's configuration needs [nats] with the same server and event."
)]
pub(super) struct Args {
    /// The NATS server.
    #[arg(long, default_value = "nats://127.0.0.1:4222", env = "ARBITERD_NATS")]
    nats: String,
    /// The event's identity, as in the halls' configurations.
    #[arg(long, value_parser = word)]
    event: String,
    /// Where the public listens.
    #[arg(long, default_value = "127.0.0.1:8081")]
    listen: SocketAddr,
    /// Names by which the public may call it, beside IP addresses.
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
}

fn word(text: &str) -> Result<String, String> {
    let fits = crate::event::is_word(text);
    if fits {
        Ok(text.to_owned())
    } else {
        Err("expected a short word of letters, digits, - and _".to_owned())
    }
}

/// Runs it. Exit code 0.
#[expect(clippy::print_stdout, reason = "the address is this command's output")]
pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let public = ListenConfig {
        address: args.listen,
        hosts: args.hosts.clone(),
        any_origin: true,
        ..ListenConfig::loopback(0)
    };
    let settings = RelaySettings { url: args.nats.clone(), event: args.event.clone(), public };
    runtime()?.block_on(async {
        let mut stop = Stop::install()?;
        let relay = Relay::start(settings)?;
        if let Some(address) = relay.public() {
            println!("public     http://{address}/");
        }
        stop.wait().await;
        relay.stop().await;
        Ok(0)
    })
}
