//! The stream's WebSocket: the handshake on an axum request, one task for the crowd of viewers that are
//! up to date, and one a viewer for the rest.
//!
//! | file | what it does |
//! | --- | --- |
//! | `crowd` | sends each new message to all who wait for it |
//! | `frame` | frames in and out |
//! | `upgrade` | the handshake, and the socket after it |
//! | `viewer` | hears one client, and brings it up to date when it is behind |

pub(crate) mod crowd;
pub mod frame;
pub(crate) mod upgrade;
pub(crate) mod viewer;
