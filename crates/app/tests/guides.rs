//! The book in `docs/`: what its guides tell readers to type works, and its links lead
//! somewhere. A block that needs a terminal, a person or another program says `no-run`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use plenary_scripted::{Reply, Script, Scripted};
use support::Home;
use tokio::process::Command;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Blocks of a kind, as they stand behind the three backticks.
fn blocks<'a>(page: &'a str, kind: &str) -> impl Iterator<Item = &'a str> {
    let opening = format!("```{kind}\n");
    let mut rest = page;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(&opening)?;
        let (block, after) = after.split_once("\n```")?;
        rest = after;
        Some(block)
    })
}

/// A folder with what guides speak of: some files, and a change in a repository.
async fn folder(page: &str) -> (Home, PathBuf, Scripted) {
    let script = Script::new(Reply::canned()).models(&["m1", "m2", "m3"]);
    let scripted = Scripted::start(script).await.unwrap();
    let home = Home::new(&scripted.url());
    let folder = home.path().join("work");
    std::fs::create_dir(&folder).unwrap();
    let files = [
        ("design.md", "# Design\n\nOne queue, and a worker.\n"),
        ("costs.csv", "what,usd\nqueue,12\n"),
        ("reviewer.md", "You review what others overlook.\n"),
    ];
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    if let Some((_, after)) = page.split_once("Save this as `") {
        let (name, after) = after.split_once('`').unwrap();
        std::fs::write(folder.join(name), blocks(after, "yaml").next().unwrap()).unwrap();
    }
    let change = "git init -q && git add -A && \
                  git -c user.name=a -c user.email=a@example.org commit -qm one && \
                  echo 'Two workers.' >> design.md";
    typed(&home, &folder, change).await;
    (home, folder, scripted)
}

async fn typed(home: &Home, folder: &Path, line: &str) {
    let program = Path::new(env!("CARGO_BIN_EXE_plenary")).parent().unwrap();
    let like = home.command(&[]);
    let mut shell = Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", line]).env_clear();
    for (name, value) in like.as_std().get_envs() {
        shell.env(name, value.unwrap());
    }
    shell
        .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", program.display()))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let ran = home.finish(shell).await;
    assert_eq!(ran.code, Some(0), "$ {line}\n{}", ran.shown());
}

/// Types every line of a page, one after the other.
async fn follow(name: &str) {
    let page = std::fs::read_to_string(docs().join(name)).unwrap();
    let (home, folder, _scripted) = folder(&page).await;
    let mut lines = 0;
    for block in blocks(&page, "sh") {
        for line in block.lines().filter(|line| !line.trim().is_empty()) {
            typed(&home, &folder, line).await;
            lines += 1;
        }
    }
    assert!(lines > 0, "{name} has nothing to type");
}

macro_rules! guides {
    ($($test:ident $page:literal)*) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $test() {
            follow($page).await;
        })*

        #[test]
        fn every_guide_is_followed() {
            let followed = BTreeSet::from([$($page.to_owned()),*]);
            let typed = pages().into_iter().filter(|name| {
                let page = std::fs::read_to_string(docs().join(name)).unwrap();
                blocks(&page, "sh").any(|block| block.contains("plenary "))
            });
            // Tests of their own speak for these.
            let older = [
                "configuration.md",
                "many-nodes.md",
                "mcp.md",
                "openai.md",
                "store.md",
                "workflows.md",
            ];
            let typed: BTreeSet<_> = typed.filter(|name| !older.contains(&&name[..])).collect();
            assert_eq!(typed, followed);
        }
    };
}

guides! {
    boardroom "boardroom.md"
    boards "boards.md"
    discussion "discussion.md"
    whiteboard "whiteboard.md"
    council "council.md"
    review_a_diff "recipes/review-a-diff.md"
    adr "recipes/adr.md"
    weekly_decision "recipes/weekly-decision.md"
}

/// All pages, by their paths below `docs`.
fn pages() -> BTreeSet<String> {
    let mut pages = BTreeSet::new();
    for part in ["", "recipes", "reference", "errors"] {
        for entry in std::fs::read_dir(docs().join(part)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") {
                pages.insert(if part.is_empty() { name } else { format!("{part}/{name}") });
            }
        }
    }
    pages
}

/// As GitHub makes it, and the book.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_lead_somewhere() {
    let root = docs().join("..").canonicalize().unwrap();
    let mut files: Vec<PathBuf> = pages().iter().map(|name| docs().join(name)).collect();
    files.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root.join(name)));
    let mut broken = vec![];
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        for link in text.split("](").skip(1).filter_map(|part| part.split(')').next()) {
            if link.contains("://") || link.contains(char::is_whitespace) {
                continue;
            }
            let (path, place) = link.split_once('#').unwrap_or((link, ""));
            let target = match path.is_empty() {
                true => file.clone(),
                false => file.parent().unwrap().join(path),
            };
            let leads = match (target.exists(), place.is_empty()) {
                (false, _) => false,
                (true, true) => true,
                (true, false) => {
                    let text = std::fs::read_to_string(&target).unwrap();
                    let headings = text.lines().filter(|line| line.starts_with('#'));
                    headings.map(|line| line.trim_start_matches('#')).any(|at| anchor(at) == place)
                }
            };
            if !leads {
                broken.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// The contents name every page but those of single errors.
#[test]
fn the_book_is_whole() {
    let contents = std::fs::read_to_string(docs().join("README.md")).unwrap();
    let missing = pages().into_iter().filter(|name| {
        let is_error = name.starts_with("errors/") && name != "errors/README.md";
        name != "README.md" && !is_error && !contents.contains(&format!("({name})"))
    });
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<String>::new());
}
