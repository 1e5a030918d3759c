//! The stream's WebSocket: the handshake on an axum request, and one task a viewer.
//!
//! | file | what it does |
//! | --- | --- |
//! | `frame` | frames in and out |
//! | `upgrade` | the handshake, and the socket after it |
//! | `viewer` | sends one client what the feed has for it |

pub mod frame;
pub(crate) mod upgrade;
pub(crate) mod viewer;
