//! The engine must not know any one form: a second mechanism begins with a word.

use std::path::Path;

#[test]
fn the_source_names_no_form() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let words =
        ["boardroom", "advisor", "synthesi", "whiteboard", "council", "discussion", "library"];
    let mut files = 0;
    for file in std::fs::read_dir(source).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap().to_lowercase();
        files += 1;
        for word in words {
            assert!(!text.contains(word), "{} says {word:?}", path.display());
        }
    }
    assert!(files > 5, "the source was looked for in the wrong place");
}
