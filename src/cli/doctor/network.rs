//! Listeners: can each have its address, is the desk kept to those who may, do the TLS files serve.

use std::net::{SocketAddr, TcpListener};

use super::Finding;
use crate::serve::{ServeConfig, config::ListenConfig};

pub(super) fn examine(serve: &ServeConfig, findings: &mut Vec<Finding>) {
    let listeners = [("desk", &serve.desk), ("public", &serve.public), ("livechess", &serve.livechess)];
    for (name, listener) in listeners {
        if let Some(listener) = listener {
            bind(name, listener.address, findings);
            tls(name, listener, findings);
        }
    }
    if let Some(desk) = &serve.desk {
        let beyond = !desk.address.ip().is_loopback();
        findings.push(match (beyond, serve.tokens.is_empty(), desk.tls.is_some()) {
            (true, true, _) => Finding::fail(
                "access",
                format!("the desk would listen on {} without any token", desk.address),
                "make one with `arbiterd token`, or listen on 127.0.0.1",
            ),
            (true, false, false) => Finding::warn(
                "access",
                format!("the desk on {} is not encrypted: who can listen to this network can take a token", desk.address),
                "set `certificates` and `key` in [desk] (a build with the feature `tls`), or use a network of the arbiters' own",
            ),
            (false, true, _) => {
                Finding::ok("access", "the desk is open to everybody who uses this machine, and to nobody else")
            }
            _ => Finding::ok("access", format!("{} may sign in at the desk", serve.tokens.0.len())),
        });
    }
}

fn bind(name: &str, address: SocketAddr, findings: &mut Vec<Finding>) {
    findings.push(match TcpListener::bind(address) {
        Ok(_) => Finding::ok("network", format!("the {name} listener can have {address}")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => Finding::warn(
            "network",
            format!("{address}, for the {name} listener, is in use"),
            "fine if that is arbiterd itself; else stop the program that has it (`ss -ltnp`), or choose another port",
        ),
        Err(error) if error.kind() == std::io::ErrorKind::AddrNotAvailable => Finding::fail(
            "network",
            format!("{address}, for the {name} listener, is no address of this machine"),
            "`ip address` lists them; 0.0.0.0 stands for all; is the network cable in?",
        ),
        Err(error) => Finding::fail(
            "network",
            format!("the {name} listener cannot have {address}: {error}"),
            "ports below 1024 are for root: choose a higher one, such as 8080",
        ),
    });
}

#[cfg(feature = "tls")]
fn tls(name: &str, listener: &ListenConfig, findings: &mut Vec<Finding>) {
    if let Some(files) = &listener.tls {
        findings.push(match crate::serve::check_tls(files) {
            Ok(()) => {
                Finding::ok("tls", format!("the {name} listener's certificate and key belong together"))
            }
            Err(error) => Finding::fail("tls", error.to_string(), "renew the files; both are PEM"),
        });
    }
}

#[cfg(not(feature = "tls"))]
fn tls(name: &str, listener: &ListenConfig, findings: &mut Vec<Finding>) {
    if listener.tls.is_some() {
        findings.push(Finding::fail(
            "tls",
            format!("the {name} listener is to use TLS, but this arbiterd was built without it"),
            "build with `--features tls`",
        ));
    }
}
