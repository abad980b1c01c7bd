//! The program `plenary`: reads the command line and the configuration, wires the
//! crates together, and prints. `main.rs` only calls it: a library is compiled while
//! the server is still being optimised, and a binary is not.
//!
//! It must not hold a rule of any form or know a provider's wire. Every command
//! is a client of the same REST interface, inside this process or over the net.

mod api;
mod choice;
mod cli;
mod config;
mod context;
mod current;
mod held;
mod log;
mod offers;
mod pdf;
mod peers;
mod prices;
mod private;
mod pulling;
mod reach;
mod rounded;
mod serving;
mod settings;
mod signals;
mod sse;
mod terminal;
mod tokens;
mod trust;
mod way;
mod weights;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

/// The command line as it is declared, for completions and manual pages.
pub fn command() -> clap::Command {
    cli::Arguments::command()
}

/// The whole program.
pub fn run() -> ExitCode {
    // Plenary starts itself as the keeper of each command-line agent. Its arguments
    // are for nobody to type, and may be anything.
    if std::env::args_os().nth(1).is_some_and(|word| word == plenary_providers::KEEPER) {
        return ExitCode::from(plenary_providers::keep(std::env::args_os().skip(2)));
    }
    // And as the reader of a PDF.
    if std::env::args_os().nth(1).is_some_and(|word| word == pdf::READER) {
        return ExitCode::from(pdf::read());
    }
    let arguments = match cli::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            terminal::complain(&format!("the program could not start: {error}"), None);
            return ExitCode::from(1);
        }
    };
    let code = runtime.block_on(cli::run(arguments));
    // A thread that waits for a key must not hold the program open.
    runtime.shutdown_background();
    ExitCode::from(code)
}
