//! `scripted`: a model server to try Plenary against by hand, and for benchmarks.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use plenary_scripted::{Reply, Rules, Script, Scripted};

const USAGE: &str = r#"scripted [--listen 127.0.0.1:PORT] [--tps N] [--tokens N] [--first-ms N]
         [--models a,b,c] [--stamp] [--script FILE]

Speaks the wires of Ollama, OpenAI (chat and responses), Anthropic and Gemini, and says
something canned, or what its script tells it to. GET /__requests and GET /__stats tell
what it was asked, GET /__bodies word for word.

A script is a JSON list of rules. The first that fits a request wins; a request that
none fits gets something canned. All fields may be left out:
  [{ "when": { "model": "a",            for this model only
               "contains": ["x", "y"],  all of these occur in the messages or the system prompt
               "nth": 2 },              the second request to its model
     "text": "What to say",             or "texts": one per request, then the last one again;
                                        or "tokens": so many tokens of filler
     "steps": [{ "call": "open",        tools to call before the text, one per answer, as the
                 "with": { "topic": "?" },   results of those before come in the messages;
                 "text": "First,",      said before the call
                 "hold": "NAME" }],     waits there until NAME is released
     "reasoning": "What to think",      comes before the text
     "tps": 60, "firstMs": 100,         pace; --tps and --first-ms unless given
     "usage": [120, 40],                tokens in and out, as reported
     "fault": "serverError",            what goes wrong, and
     "faults": 1,                       for how many of the rule's requests (all unless given)
     "hold": "NAME",                    waits there until NAME is released,
     "holdAfter": 8 }]                  after so many tokens

A step's tool is the one on offer whose name ends so. In its arguments "${open.token}" is
the field `token` of what the step `open` brought. A rule with steps fits only requests
that offer tools.

Faults: "unauthorized", "noSuchModel", "contextOverflow", "outOfQuota", "overloaded",
"serverError", "webPage", "silent", "empty", "length", "refusal",
{"rateLimited": {"retryAfter": 3}}, {"status": {"code": 418, "body": "…", "retryAfter": "3"}},
and after some tokens {"stallAfter": {"tokens": 3}}, likewise "errorAfter", "overloadedAfter",
"cutAfter", "endAfter", "badUtf8After", "hugeLineAfter", "filteredAfter".

POST /__script   takes such a list in place of the one before; counts begin again, and
                 answers under way go on
POST /__reached  {"name": "NAME", "answers": 2} returns when so many answers wait there
POST /__release  {"name": "NAME"} lets them go, and later ones pass"#;

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
    let mut rules = Rules::default();
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
            "--script" => rules = from_file(value)?,
            "--tps" => reply = reply.tokens_per_second(number()?),
            "--tokens" => reply = reply.tokens(number()? as usize),
            "--first-ms" => reply = reply.first_token(Duration::from_millis(number()?.into())),
            _ => return Err(format!("{name} is not known")),
        }
    }
    let models: Vec<&str> = models.split(',').collect();
    Ok((address, Script::new(reply).models(&models).rules(rules)))
}

fn from_file(path: &str) -> Result<Rules, String> {
    let json = std::fs::read(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    Rules::read(&json).map_err(|wrong| format!("{path}: {wrong}"))
}
