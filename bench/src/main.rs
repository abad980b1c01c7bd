//! Measures Plenary from outside, each figure beside a peer or a limit that is
//! measured in the same run: a number alone says more about the machine.
//!
//! This crate must not know the server or the command line as libraries: it
//! starts the program that users start, and reads `/proc`, so it wants Linux.

#![allow(clippy::print_stdout)]

mod bare;
mod board;
mod conflicts;
mod crash;
mod discussions;
mod figures;
mod frames;
mod held;
mod idle;
mod load;
mod memory;
mod nodes;
mod peers;
mod plenary;
mod posts;
mod process;
mod readers;
mod reads;
mod resting;
mod scripted;
mod store;
mod v1;
mod watch;
mod workflows;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Anything that keeps a measurement from being made, in words.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Benchmarks and load tools. Build first: cargo build --release -p plenary
#[derive(Parser)]
#[command(name = "plenary-bench", max_term_width = 100)]
struct Arguments {
    /// The program to be measured, in place of the one beside this
    #[arg(long, global = true, value_name = "PATH")]
    program: Option<PathBuf>,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// One board of three and its synthesis, against the same four requests made bare
    Board(board::Board),
    /// One board of three as a model, against its own interface and the bare requests
    V1(v1::V1),
    /// Many boards at once, each followed by a live reader, against the bare streams
    Load(load::Load),
    /// Kills the server again and again, and looks at what is left
    Crash(crash::Crash),
    /// Readers that never read, beside one that does
    Readers(readers::Readers),
    /// Thousands of live readers with nothing to read, and an event for all of them
    Idle(idle::Idle),
    /// Reads per second of one session that is being written, against the bytes alone
    Reads(reads::Reads),
    /// What idle and sleeping sessions and their readers keep in memory
    Memory(memory::Memory),
    /// Writes per second, against the disk's own rate
    Store(store::Store),
    /// SQLite, and 1 to 3 nodes on PostgreSQL; what it costs to be on another node
    Nodes(nodes::Nodes),
    /// What thousands of sessions cost a node that sleep or are over
    Resting(resting::Resting),
    /// Posts per second on one whiteboard, against the store alone
    Posts(posts::Posts),
    /// Conflicts between posts, by the size of the board, against all pairs
    Conflicts(conflicts::Conflicts),
    /// Many discussions at once, against AutoGen and LangGraph
    Discussions(discussions::Discussions),
    /// Many runs of a workflow at once and one of very many steps, against LangGraph
    Workflows(workflows::Workflows),
    /// How much of each prompt of a discussion a model has read before
    Prompts(discussions::Prompts),
    /// The peer of `board`, in a process of its own
    #[command(hide = true)]
    Bare(bare::Bare),
    /// The peer of `idle`, in a process of its own
    #[command(hide = true)]
    Writer(idle::Writer),
    /// The limit of `reads`, in a process of its own
    #[command(hide = true)]
    Same(reads::Same),
    /// The model server of the others
    #[command(hide = true)]
    Scripted(scripted::Pace),
    /// The model server of discussions
    #[command(hide = true)]
    Talk(discussions::Talk),
    /// The limit of discussions, in a process of its own
    #[command(hide = true)]
    BareTalk(discussions::BareTalk),
    /// The model server of workflows
    #[command(hide = true)]
    Graph(workflows::Graph),
    /// The limit of workflows, in a process of its own
    #[command(hide = true)]
    BareGraph(workflows::BareGraph),
}

#[tokio::main]
async fn main() -> ExitCode {
    // The client wants a choice even where nothing is encrypted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let arguments = Arguments::parse();
    if let Some(program) = arguments.program {
        process::measure(program);
    }
    let outcome = match arguments.what {
        What::Board(board) => board.run().await,
        What::V1(v1) => v1.run().await,
        What::Load(load) => load.run().await,
        What::Crash(crash) => crash.run().await,
        What::Readers(readers) => readers.run().await,
        What::Idle(idle) => idle.run().await,
        What::Writer(writer) => writer.run().await,
        What::Reads(reads) => reads.run().await,
        What::Memory(memory) => memory.run().await,
        What::Same(same) => same.run().await,
        What::Store(store) => store.run().await,
        What::Nodes(nodes) => nodes.run().await,
        What::Resting(resting) => resting.run().await,
        What::Posts(posts) => posts.run().await,
        What::Conflicts(conflicts) => conflicts.run(),
        What::Discussions(discussions) => discussions.run().await,
        What::Workflows(workflows) => workflows.run().await,
        What::Prompts(prompts) => prompts.run().await,
        What::Bare(bare) => bare.run().await,
        What::Scripted(pace) => scripted::serve(pace.script()).await,
        What::BareTalk(bare) => bare.run().await,
        What::BareGraph(bare) => bare.run().await,
        What::Graph(graph) => scripted::serve(graph.script()).await,
        What::Talk(talk) => scripted::serve(talk.script()).await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "{problem}");
            ExitCode::FAILURE
        }
    }
}
