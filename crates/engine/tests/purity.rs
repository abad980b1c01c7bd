//! The engine must not know any one form: a second mechanism begins with a word.

use std::path::Path;

#[test]
fn the_source_names_no_form() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let words =
        ["boardroom", "advisor", "synthesi", "whiteboard", "council", "discussion", "library"];
    let mut files = 0;
    let mut left = vec![source];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(std::fs::read_dir(path).unwrap().map(|file| file.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap().to_lowercase();
        files += 1;
        for word in words {
            assert!(!text.contains(word), "{} says {word:?}", path.display());
        }
    }
    assert!(files > 5, "the source was looked for in the wrong place");
}
