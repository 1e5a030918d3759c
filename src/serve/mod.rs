//! Listeners: desk, public, `LiveChess` API; the web pages under `serve/web/`.

pub mod web;
