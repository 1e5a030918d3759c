//! The one integration test binary.

mod architecture;
mod link;
mod record;
mod serve;
mod sim;
mod support;
mod wire;
