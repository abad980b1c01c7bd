//! What a request means is the same whichever way it came: the clerk must not know one.

#![allow(clippy::unwrap_used)]

use std::path::Path;

const WORDS: [&str; 9] =
    ["axum", "http", "hyper", "tower", "statuscode", "header", "/api/", "sqlx", "reqwest"];

#[test]
fn the_source_knows_no_way_in() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = check(&home.join("Cargo.toml"));
    files += check_all(&home.join("src"));
    assert!(files > 10, "the source was looked for in the wrong place");
}

fn check_all(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { check_all(&path) } else { check(&path) }).sum()
}

fn check(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap().to_lowercase();
    for word in WORDS {
        assert!(!text.contains(word), "{} says {word:?}", path.display());
    }
    1
}
