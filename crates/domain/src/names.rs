//! What rooms, agents, people, files and models may be called, and which names are one
//! and the same. Every form asks here.
//!
//! Names that merely look alike, such as those with a Cyrillic `а`, are told apart: which
//! letters a reader takes for one another is a question of fonts and languages.

mod invisible;
#[cfg(test)]
mod tests;

use unicode_normalization::UnicodeNormalization;

use crate::ids::ModelName;
use crate::limits;
use crate::models::distance;
use invisible::{Hidden, hidden};
pub use invisible::{shown, shows_nothing, without_codes};

pub const ROOM_NAME: &str = "must be 1 to 80 lowercase letters, digits, dots, dashes or \
    underscores, and begin with a letter or digit, such as `api-redesign`";

pub const AGENT_NAME: &str = "must be 1 to 80 letters, digits, dots, dashes, underscores or @ signs, \
    and begin with a letter or digit, such as `pr-reviewer@v1.0.0`";

/// A council's or a whiteboard's own name, by which it is found.
pub fn check_room_name(name: &str) -> Result<(), &'static str> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
    if is_name(name, limits::ROOM_NAME_BYTES, allowed) { Ok(()) } else { Err(ROOM_NAME) }
}

/// The name of somebody who speaks: an agent, or a person.
pub fn check_agent_name(name: &str) -> Result<(), &'static str> {
    if is_name(name, limits::AGENT_NAME_BYTES, is_in_agent_names) {
        Ok(())
    } else {
        Err(AGENT_NAME)
    }
}

pub fn is_in_agent_names(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._@-".contains(c)
}

fn is_name(name: &str, most: usize, allowed: impl Fn(char) -> bool) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= most
        && name.chars().all(allowed)
}

/// A name as people have them, in any script: of a person or a stored agent, of a project
/// or a discussion. One line, without a character that shows nothing or that could end a
/// quotation. How long it may be is for each form to say.
pub fn check_name(name: &str) -> Result<(), String> {
    check_line(name)?;
    match name.char_indices().position(|(_, c)| matches!(c, '<' | '>')) {
        Some(place) => Err(format!("must not contain `<` or `>`; there is one at {}", place + 1)),
        None => Ok(()),
    }
}

/// A line that shows all that it holds: what a file is called, what an agent is about.
pub fn check_line(line: &str) -> Result<(), String> {
    match hidden(line) {
        None => Ok(()),
        Some(Hidden { place, c, why }) => {
            Err(format!("must not contain U+{:04X}, {why}; it is character {place}", u32::from(c)))
        }
    }
}

/// Whether two names are one and the same to a reader: whatever their case, their spaces,
/// how their letters are put together, and what in them shows nothing.
pub fn are_same(left: &str, right: &str) -> bool {
    left == right || folded(left) == folded(right)
}

/// Capital letters and back, which leaves `ß`, `ſ` and `ς` no different from `ss`, `s`
/// and `σ`.
pub fn folded(name: &str) -> String {
    let shown = name.nfkc().filter(|c| c.is_whitespace() || !shows_nothing(*c));
    let cased = shown.flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    let folded: String = cased.nfkc().collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a reader could take one name for the other: the same letters, or letters that
/// are drawn alike in most fonts.
pub fn look_alike(left: &str, right: &str) -> bool {
    left == right || skeleton(left) == skeleton(right)
}

/// A name with letters of other scripts, and digits, that are drawn like Latin ones in
/// their place. It is for comparing only.
pub fn skeleton(name: &str) -> String {
    let like = |c: char| match c {
        'а' | 'α' | 'ɑ' => 'a',
        'в' | 'ь' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ё' | 'ε' => 'e',
        'ɡ' => 'g',
        'н' | 'һ' => 'h',
        'і' | 'ї' | 'ι' | 'ı' | 'ɩ' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' | '1' | '|' => 'l',
        'м' => 'm',
        'п' | 'η' => 'n',
        'о' | 'ο' | 'σ' | '0' => 'o',
        'р' | 'ρ' => 'p',
        'г' => 'r',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ц' => 'u',
        'ν' | 'ѵ' => 'v',
        'ω' | 'ԝ' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'ү' | 'γ' => 'y',
        other => other,
    };
    folded(name).chars().map(like).collect()
}

/// What there is in place of a name that means nothing, the nearest first: the end of a
/// sentence. Who is told must be allowed to know of all of them.
pub fn told<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = known.take(limits::NAMES_COMPARED).collect();
    if written.len() <= limits::ROOM_NAME_BYTES + limits::AGENT_NAME_BYTES {
        known.sort_by_cached_key(|name| distance(written, name));
    }
    let first = known.iter().take(limits::NAMES_TOLD).copied().collect::<Vec<_>>().join(", ");
    match known.len() {
        0 => "; none exist yet".to_owned(),
        all if all > limits::NAMES_TOLD => format!("; available: {first} and more"),
        _ => format!("; available: {first}"),
    }
}

/// `The User's Voice` → `the-users-voice`.
pub fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for c in name.chars().filter(|c| !matches!(c, '\'' | '’')) {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    // A name in letters of another kind leaves nothing.
    if slug.is_empty() { "agent".to_owned() } else { slug.to_owned() }
}

pub fn check_model_name(model: &ModelName) -> Result<(), String> {
    let (provider, name) = model.parts();
    if provider.is_empty() || name.trim().is_empty() {
        Err("a model is named provider/model".to_owned())
    } else if model.0.len() > limits::MODEL_NAME_BYTES {
        Err("this name of a model is too long".to_owned())
    } else {
        check_line(&model.0)
    }
}
