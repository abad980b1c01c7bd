//! Whole flows through HTTP: a real server, a real store, real providers, and a
//! scripted model server behind them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod access;
mod actors;
mod agents;
mod ballots;
mod blind;
mod boards;
mod budgets;
mod commands;
mod contract;
mod councils;
mod crowd;
mod discussions;
mod faults;
mod labels;
mod limits;
mod lists;
mod mcp;
mod metrics;
mod models;
mod nodes;
mod packed;
mod patience;
mod readers;
mod restart;
mod runs;
mod saved;
mod sessions;
mod spending;
mod support;
mod tags;
mod together;
mod traces;
mod v1;
mod views;
mod web;
mod whiteboards;
