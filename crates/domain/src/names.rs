//! What rooms, agents and models may be called. Every form asks here.

use crate::ids::ModelName;
use crate::limits;
use crate::models::distance;

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

/// What there is in place of a name that means nothing, the nearest first: the end of a
/// sentence. Who is told must be allowed to know of all of them.
pub fn told<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = known.take(limits::NAMES_COMPARED).collect();
    if written.len() <= limits::ROOM_NAME_BYTES + limits::AGENT_NAME_BYTES {
        known.sort_by_cached_key(|name| distance(written, name));
    }
    let first = known.iter().take(limits::NAMES_TOLD).copied().collect::<Vec<_>>().join(", ");
    match known.len() {
        0 => "; there is none yet".to_owned(),
        all if all > limits::NAMES_TOLD => format!("; there are {first} and more"),
        _ => format!("; there are {first}"),
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

pub fn check_model_name(model: &ModelName) -> Result<(), &'static str> {
    let (provider, name) = model.parts();
    if provider.is_empty() || name.trim().is_empty() {
        Err("a model is named provider/model")
    } else if model.0.len() > limits::MODEL_NAME_BYTES {
        Err("this name of a model is too long")
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: fn(&str) -> Result<(), &'static str>, right: &[&str], wrong: &[&str]) {
        let refused = |names: &[&str]| -> Vec<bool> {
            names.iter().map(|name| rule(name).is_err()).collect()
        };
        assert_eq!(refused(right), vec![false; right.len()], "{right:?}");
        assert_eq!(refused(wrong), vec![true; wrong.len()], "{wrong:?}");
    }

    #[test]
    fn what_there_is_is_told_in_bounds_and_the_nearest_first() {
        assert_eq!(told("x", [].into_iter()), "; there is none yet");
        assert_eq!(told("anne/1", ["bob/1", "ann/1"].into_iter()), "; there are ann/1, bob/1");
        let many: Vec<String> = (1..100).map(|number| format!("ann/{number}")).collect();
        let told = told("post-1", many.iter().map(String::as_str));
        assert_eq!(told.matches("ann/").count(), limits::NAMES_TOLD);
        assert!(told.ends_with(" and more"), "{told}");
    }

    #[test]
    fn a_room_is_named_in_small_letters() {
        let long = "a".repeat(80);
        let right = ["a", "7", "api-redesign", "v1.2_final", &long];
        let longer = "a".repeat(81);
        let wrong = ["", "-a", ".a", "_a", "A", "aB", "a b", "a/b", "a@b", "ä", "a\n", &longer];
        check(check_room_name, &right, &wrong);
    }

    #[test]
    fn an_agent_is_named_as_people_name_agents() {
        let long = "A".repeat(80);
        let right = ["a", "Z", "7", "pr-reviewer@v1.0.0", "ann.", "Ann_B", &long];
        let longer = "a".repeat(81);
        let wrong = ["", "@ann", ".a", "-a", "_a", "a b", "a/b", "ännchen", "a:b", "a\n", &longer];
        check(check_agent_name, &right, &wrong);
    }

    #[test]
    fn a_model_is_named_with_its_provider() {
        let rule = |name: &str| check_model_name(&ModelName(name.into()));
        let longest = format!("m/{}", "a".repeat(limits::MODEL_NAME_BYTES - 2));
        let longer = format!("{longest}a");
        check(rule, &["m/1", "o/a/b:c", &longest], &["", "m", "m/", "m/ ", "/m", &longer]);
    }

    #[test]
    fn a_refusal_says_what_would_be_right() {
        let example = |sentence: &'static str| sentence.split('`').nth(1).unwrap_or_default();
        assert_eq!(check_room_name(example(ROOM_NAME)), Ok(()));
        assert_eq!(check_agent_name(example(AGENT_NAME)), Ok(()));
    }
}
