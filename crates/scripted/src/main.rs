//! `scripted`: a model server to try Plenary against by hand, and for benchmarks.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use plenary_scripted::{Reply, Script, Scripted};

const USAGE: &str = "scripted [--listen 127.0.0.1:PORT] [--tps N] [--tokens N] [--first-ms N] \
[--models a,b,c] [--stamp]

Speaks the wires of Ollama, OpenAI, Anthropic and Gemini, and says something canned.
GET /__requests and GET /__stats tell what it was asked.";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|one| one == "--help") {
        let _ = writeln!(std::io::stdout(), "{USAGE}");
        return ExitCode::SUCCESS;
    }
    let (address, script) = match read(&arguments) {
        Ok(read) => read,
        Err(wrong) => return complain(&format!("{wrong}\n\n{USAGE}")),
    };
    match Scripted::listen(&address, script).await {
        Ok(server) => {
            let mut out = std::io::stdout();
            let _ = writeln!(out, "{}", server.url()).and_then(|()| out.flush());
            let _ = tokio::signal::ctrl_c().await;
            ExitCode::SUCCESS
        }
        Err(error) => complain(&format!("cannot listen on {address}: {error}")),
    }
}

fn complain(words: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "{words}");
    ExitCode::from(2)
}

fn read(arguments: &[String]) -> Result<(String, Script), String> {
    let mut address = "127.0.0.1:0".to_owned();
    let mut reply = Reply::canned();
    let mut models = "scripted".to_owned();
    let mut rest = arguments.iter();
    while let Some(name) = rest.next() {
        if name == "--stamp" {
            reply = reply.stamp();
            continue;
        }
        let value = rest.next().ok_or(format!("{name} wants a value"))?;
        let number = || value.parse::<u32>().map_err(|_| format!("{name} wants a number"));
        match name.as_str() {
            "--listen" => address.clone_from(value),
            "--models" => models.clone_from(value),
            "--tps" => reply = reply.tokens_per_second(number()?),
            "--tokens" => reply = reply.tokens(number()? as usize),
            "--first-ms" => reply = reply.first_token(Duration::from_millis(number()?.into())),
            _ => return Err(format!("{name} is not known")),
        }
    }
    let models: Vec<&str> = models.split(',').collect();
    Ok((address, Script::new(reply).models(&models)))
}
