//! Thinking aloud that stands before an answer, and how it is told from the answer.

/// Tags in which models think.
pub const TAGS: [&str; 7] =
    ["think", "thinking", "reasoning", "thought", "reflection", "analysis", "scratchpad"];
/// Those that no prose begins with.
pub const IN_PROSE: [&str; 3] = ["think", "thinking", "reasoning"];
/// Those that are no fields of an answer in JSON either.
pub const IN_JSON: [&str; 3] = ["think", "thinking", "thought"];

/// The thinking that a text begins with in one of these tags, and what stands after it:
/// `None` where it never ends.
pub fn opening<'a>(text: &'a str, tags: &[&str]) -> Option<(&'a str, Option<&'a str>)> {
    tags.iter().find_map(|tag| {
        let inside = text.strip_prefix('<')?.strip_prefix(tag)?.strip_prefix('>')?;
        let closed = inside.split_once(&format!("</{tag}>"));
        Some(closed.map_or((inside, None), |(thought, after)| (thought, Some(after))))
    })
}

/// Thinking that stands before prose, and the prose. Thinking that never ends is no
/// answer.
pub fn before_prose(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    if let Some((thought, after)) = opening(text, &IN_PROSE) {
        return (thought, after.unwrap_or_default());
    }
    // Some servers put the opening tag into the prompt.
    let unopened = |tag: &&str| {
        let ended = text.split_once(&format!("\n</{tag}>\n"));
        ended.filter(|_| !text.contains(&format!("<{tag}>")))
    };
    IN_PROSE.iter().find_map(unopened).unwrap_or(("", text))
}
