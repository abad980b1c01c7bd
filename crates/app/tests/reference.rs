//! The reference part of the book is made from the program itself: from its command line,
//! its OpenAPI document, its MCP tools, its schema of workflows and its settings. Here it
//! is compared with what is committed; `make reference` writes it anew.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use plenary_scripted::{Reply, Script, Scripted};
use serde_json::Value;
use support::mcp::Agent;
use support::{Home, NOWHERE};

/// Compares a page with the committed one, or writes it.
fn check(name: &str, text: &str) {
    let text = format!("{}\n", text.trim_end());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("PLENARY_REFERENCE").is_some_and(|what| what == "write") {
        return std::fs::write(path, text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = text.lines().zip(committed.lines()).find(|(new, old)| new != old);
    assert!(
        text == committed,
        "docs/reference/{name} is stale. Run make reference and commit what it makes. \
         The first line that differs (new, committed): {differs:?}"
    );
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// A cell of a table: one line, in which a bar separates nothing.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[test]
fn commands() {
    let mut page = String::from(
        "# Commands\n\nWhat `--help` says, of every command. `plenary help COMMAND` prints the \
         same.\n\nExit codes: 0 done, 1 the deliberation failed, 2 wrong usage, 3 no model is \
         available, 130 interrupted.\n",
    );
    let mut command = plenary::command();
    command.build();
    help(&mut command, &mut page);
    check("commands.md", &page);
}

fn help(command: &mut clap::Command, page: &mut String) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    // As the program itself chooses between the two.
    let is_long = command.get_long_about().is_some()
        || command.get_arguments().any(|one| one.get_long_help().is_some());
    let mut wide = command.clone().term_width(100);
    let told = if is_long { wide.render_long_help() } else { wide.render_help() }.to_string();
    let told: Vec<&str> = told.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n## {name}\n\n```text\n{}\n```\n", told.join("\n").trim());
    for sub in command.get_subcommands_mut() {
        if sub.get_name() != "help" && !sub.is_hide_set() {
            help(sub, page);
        }
    }
}

#[test]
fn rest() {
    let document = serde_json::to_value(plenary_server::document()).unwrap();
    let mut parts: BTreeMap<String, String> = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let noun = path.trim_start_matches("/api/").trim_start_matches('/');
        let noun = noun.split('/').next().unwrap().to_owned();
        for (method, operation) in methods.as_object().unwrap() {
            let part = parts.entry(noun.clone()).or_default();
            route(&document, method, path, operation, part);
        }
    }
    let mut page = String::from(
        "# REST\n\nEvery route, from the program's own OpenAPI document (`/api/openapi.json`), \
         which also has the shape of every answer. [How the API behaves](../api.md) is told \
         there.\n",
    );
    for (noun, routes) in parts {
        let _ = write!(page, "\n## {noun}\n{routes}");
    }
    check("rest.md", &page);
}

fn route(document: &Value, method: &str, path: &str, operation: &Value, page: &mut String) {
    let _ = write!(page, "\n### {} {path}\n\n", method.to_uppercase());
    let words = [text(operation, "summary"), text(operation, "description")];
    let words: Vec<&str> = words.into_iter().filter(|words| !words.is_empty()).collect();
    let _ = writeln!(page, "{}", words.join(" ").replace('<', "\\<"));
    let mut rows = String::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let place = text(parameter, "in");
        let schema = &parameter["schema"];
        let needed = parameter["required"] == true;
        row(document, place, text(parameter, "name"), schema, needed, parameter, &mut rows);
    }
    for content in operation["requestBody"]["content"].as_object().into_iter().flatten() {
        let schema = resolved(document, &content.1["schema"]);
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let required = schema["required"].as_array().into_iter().flatten();
            let needed = required.into_iter().any(|one| one == name);
            row(document, "body", name, field, needed, field, &mut rows);
        }
    }
    if !rows.is_empty() {
        let _ = write!(page, "\n| where | name | type | |\n|---|---|---|---|\n{rows}");
    }
    let answers = operation["responses"].as_object().unwrap();
    let answers: Vec<&str> = answers.keys().map(String::as_str).collect();
    let _ = writeln!(page, "\nAnswers: {}", answers.join(", "));
}

fn row(
    document: &Value,
    place: &str,
    name: &str,
    schema: &Value,
    needed: bool,
    told: &Value,
    rows: &mut String,
) {
    let about = cell(text(told, "description")).replace('<', "\\<");
    let needed = if needed { ", required" } else { "" };
    let _ = writeln!(rows, "| {place} | `{name}` | {}{needed} | {about} |", kind(document, schema));
}

fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(path) => document.pointer(path.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

/// A type in a word or two; what is one of several is told as such.
fn kind(document: &Value, schema: &Value) -> String {
    let schema = resolved(document, schema);
    if let Some(known) = schema["enum"].as_array() {
        let known: Vec<String> = known.iter().map(|one| format!("`{}`", plain(one))).collect();
        return known.join(", ");
    }
    if let Some(one) = schema.get("const") {
        return format!("`{}`", plain(one));
    }
    for several in ["oneOf", "anyOf"] {
        if let Some(parts) = schema[several].as_array() {
            let parts = parts.iter().map(|part| kind(document, part)).filter(|part| part != "null");
            let mut parts: Vec<String> = parts.collect();
            parts.dedup();
            return parts.join(" or ");
        }
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => {
            format!("list of {}", kind(document, &schema["items"]))
        }
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            names.collect::<Vec<_>>().join(" or ")
        }
        _ => "anything".into(),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp() {
    let scripted = Scripted::start(Script::new(Reply::canned())).await.unwrap();
    let home = Home::new(&scripted.url());
    let (mut agent, _) = Agent::start(home.command(&["mcp"])).await;
    let mut page = String::from(
        "# MCP tools\n\nEvery tool that `plenary mcp` and `/mcp` offer, as a client is told of it. \
         How agents use them is in [MCP](../mcp.md).\n",
    );
    for tool in agent.tools().await {
        let schema = &tool["inputSchema"];
        let _ = write!(page, "\n## {}\n\n{}\n", text(&tool, "name"), text(&tool, "description"));
        let mut rows = String::new();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let required = schema["required"].as_array().into_iter().flatten();
            let needed = match required.into_iter().any(|one| one == name) {
                true => ", required",
                false => "",
            };
            let about = cell(text(field, "description"));
            let _ = writeln!(rows, "| `{name}` | {}{needed} | {about} |", kind(schema, field));
        }
        if !rows.is_empty() {
            let _ = write!(page, "\n| argument | type | |\n|---|---|---|\n{rows}");
        }
    }
    check("mcp.md", &page);
}

#[test]
fn workflows() {
    let schema = plenary_domain::workflow::schema();
    let mut page = String::from(
        "# Workflow steps\n\nWhat a file, a step and each kind of step take, from the schema that \
         `plenary workflow new` puts beside a file for your editor. For how workflows are \
         written, see [Workflows](../workflows.md). Instead of a number, a list or a choice there \
         may be an expression, `{{ … }}`.\n",
    );
    let step = &schema["definitions"]["step"];
    let kinds: Vec<&str> = step["oneOf"].as_array().unwrap().iter().map(first_required).collect();
    let own = step["properties"].as_object().unwrap().iter();
    let own = own.filter(|(name, _)| !kinds.contains(&name.as_str()));
    fields(&schema, "A file", &schema, &mut page);
    let _ = write!(page, "\n## A step\n\nOne of the kinds below, and beside it:\n\n{HEAD}");
    for (name, field) in own {
        line(&schema, name, field, false, &mut page);
    }
    for name in kinds {
        fields(&schema, name, &step["properties"][name], &mut page);
    }
    check("workflows.md", &page);
}

const HEAD: &str = "| key | type | |\n|---|---|---|\n";

fn first_required(one: &Value) -> &str {
    one["required"][0].as_str().unwrap()
}

fn fields(schema: &Value, name: &str, of: &Value, page: &mut String) {
    let _ = write!(page, "\n## {name}\n\n");
    let about = text(of, "description");
    if !about.is_empty() {
        let _ = write!(page, "{about}\n\n");
    }
    let Some(properties) = of["properties"].as_object() else {
        let _ = writeln!(page, "Takes {}.", kind(schema, of));
        return;
    };
    page.push_str(HEAD);
    for (name, field) in properties {
        let needed =
            of["required"].as_array().is_some_and(|all| all.contains(&name.as_str().into()));
        line(schema, name, field, needed, page);
    }
}

fn line(schema: &Value, name: &str, field: &Value, needed: bool, page: &mut String) {
    let needed = if needed { ", required" } else { "" };
    let time = field["$ref"] == "#/definitions/time";
    let kind = if time { "time".to_owned() } else { kind(schema, field) };
    let kind = kind.trim_end_matches(" or string").to_owned();
    let about = cell(text(field, "description"));
    let _ = writeln!(page, "| `{name}` | {kind}{needed} | {about} |");
}

/// The program itself says which keys it takes where one is wrong.
#[tokio::test(flavor = "multi_thread")]
async fn settings() {
    let told = include_str!("../../../docs/configuration.md");
    let mut page = String::from(
        "# Settings\n\nEvery key that `plenary.toml` takes. What each means, its default and its \
         variable are in [Models and settings](../configuration.md).\n\n| table | keys |\n|---|---|\n",
    );
    let tables = [
        ("at the top", ""),
        ("`[serve]`", "[serve]"),
        ("`[tiers]`", "[tiers]"),
        ("`[workflows]`", "[workflows]"),
        ("`[providers.NAME]`", "[providers.x]"),
        ("`[prices.\"PROVIDER/MODEL\"]`", "[prices.\"a/b\"]"),
    ];
    for (name, table) in tables {
        let home = Home::new(NOWHERE);
        home.configure(&format!("{table}\nno-such-key = 1\n"));
        let ran = home.run(&["models"]).await;
        let (_, keys) = ran.err.split_once("expected ").expect(&ran.err);
        let keys = keys.lines().next().unwrap().trim_start_matches("one of ");
        for key in keys.split(", ").map(|key| key.trim_matches('`')) {
            assert!(told.contains(key), "docs/configuration.md does not tell of `{key}` ({name})");
        }
        let _ = writeln!(page, "| {name} | {keys} |");
    }
    check("settings.md", &page);
}
