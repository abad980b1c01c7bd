//! Roles of one's own, beside the six that ship with the program: what they are called, and
//! how they are told apart at a glance.

use serde::{Deserialize, Serialize};

use super::role::Role;
use crate::limits;
use crate::models::distance;
use crate::names::{check_line, check_name, look_alike, skeleton};
use crate::reject::Wrong;

/// A role that somebody has made. What its advisor is told is the seat's own prompt.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnRole {
    pub name: String,
    /// Two letters that no other role on the board has. Made from the name where none are
    /// given.
    #[serde(default)]
    pub initials: String,
    /// `#rrggbb`. One that no other role of the board has, where none is given.
    #[serde(default)]
    pub colour: String,
    /// One sign that is drawn beside the name, if any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub glyph: String,
}

/// What somebody means who writes a role.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Named {
    Standard(Role),
    Own(String),
}

/// Colours for roles that are given none; none of them is a standard role's.
const COLOURS: [&str; 16] = [
    "#00897b", "#c2185b", "#5e35b1", "#6d4c41", "#0277bd", "#827717", "#d84315", "#455a64",
    "#ad1457", "#2e7d32", "#283593", "#4e342e", "#00695c", "#6a1b9a", "#ef6c00", "#1565c0",
];

/// The six by their names, as people write them; anything else is a role of one's own,
/// unless a reader would take it for one of the six.
pub fn named(written: &str) -> Result<Named, String> {
    if let Some(role) = standard(written) {
        return Ok(Named::Standard(role));
    }
    let name = written.trim();
    let seen: String = skeleton(name).chars().filter(|c| c.is_alphabetic()).collect();
    let near = Role::ALL.into_iter().find(|role| {
        let id: String = role.id().chars().filter(|c| c.is_alphabetic()).collect();
        let most = if id.len() > 8 { 2 } else { 1 };
        seen.len() <= id.len() + most && distance(&seen, &id) <= most
    });
    match near {
        Some(role) => Err(format!(
            "{name:?} is easily confused with the role `{}`; use that one, or choose another name",
            role.id()
        )),
        None => Ok(Named::Own(name.to_owned())),
    }
}

/// One of the six, as people write it. Letters of another script are none of its own.
pub fn standard(written: &str) -> Option<Role> {
    let plain = |c: char| c.is_ascii() || matches!(c, '’' | '‘');
    Role::parse(written).filter(|_| written.chars().all(plain))
}

/// One role on a board: a standard one, or one's own.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    pub role: Role,
    pub own: Option<&'a OwnRole>,
}

/// What is wrong with the roles of a board. `field` names the seat and its field.
pub fn check(wrong: &mut Vec<Wrong>, parts: &[Part<'_>], field: impl Fn(usize, &str) -> String) {
    for (place, part) in parts.iter().enumerate() {
        let Some(own) = part.own else { continue };
        name(wrong, &field(place, "role"), &own.name);
        if !own.colour.is_empty() && !is_colour(&own.colour) {
            wrong.push(Wrong::new(field(place, "colour"), "must be a colour such as `#00897b`"));
        }
        glyph(wrong, &field(place, "glyph"), &own.glyph);
        initials(wrong, &field(place, "initials"), parts, place, own);
        let before = parts[..place].iter().filter_map(|part| part.own);
        for (seat, other) in (1..).zip(before) {
            if own.name == other.name && own != other {
                let problem = format!("looks different from role {seat} of the same name");
                wrong.push(Wrong::new(field(place, "role"), problem));
            } else if own.name != other.name && look_alike(&own.name, &other.name) {
                let problem =
                    format!("is easily confused with {:?}, another role here", other.name);
                wrong.push(Wrong::new(field(place, "role"), problem));
            }
        }
    }
}

fn name(wrong: &mut Vec<Wrong>, field: &str, name: &str) {
    let (length, most) = (name.chars().count(), limits::ROLE_NAME_CHARS);
    if !name.chars().any(char::is_alphanumeric) {
        wrong.push(Wrong::new(field, "must have a letter or digit"));
    } else if length > most {
        let problem = format!("is {length} characters long; at most {most} are allowed");
        wrong.push(Wrong::new(field, problem));
    }
    wrong.extend(check_name(name).err().map(|problem| Wrong::new(field, problem)));
    if length <= most {
        wrong.extend(named(name).err().map(|problem| Wrong::new(field, problem)));
    }
}

fn glyph(wrong: &mut Vec<Wrong>, field: &str, glyph: &str) {
    if glyph.is_empty() {
        return;
    }
    // A sign may be several characters that are drawn as one: a flag, a face with a tone.
    let is_one = glyph.len() <= limits::GLYPH_BYTES && !glyph.chars().any(char::is_whitespace);
    let shows = glyph.chars().filter(|c| !crate::names::shows_nothing(*c)).count();
    if !is_one || shows == 0 || shows > 4 || (shows > 1 && glyph.is_ascii()) {
        wrong.push(Wrong::new(field, "must be one symbol, such as `⚖`"));
    }
    wrong.extend(check_line(glyph).err().map(|problem| Wrong::new(field, problem)));
}

fn initials(wrong: &mut Vec<Wrong>, field: &str, parts: &[Part<'_>], place: usize, own: &OwnRole) {
    if own.initials.is_empty() {
        return;
    }
    let letters = own.initials.chars().count();
    if letters != 2 || !own.initials.chars().all(char::is_alphabetic) {
        wrong.push(Wrong::new(field, "must be two letters"));
        return;
    }
    let others = parts.iter().enumerate().filter(|(at, part)| *at != place && !part.is(own));
    let same = |part: &Part<'_>| {
        let initials = part.initials();
        !initials.is_empty() && look_alike(initials, &own.initials)
    };
    if let Some((_, other)) = others.clone().find(|(_, part)| same(part)) {
        let problem = format!("are already used for {}", other.name());
        wrong.push(Wrong::new(field, problem));
    }
}

/// Initials and colours for the roles that were given none, in the order of the seats.
pub fn fill(parts: &[(Role, Option<OwnRole>)]) -> Vec<Option<OwnRole>> {
    let all: Vec<Part<'_>> =
        parts.iter().map(|(role, own)| Part { role: *role, own: own.as_ref() }).collect();
    let mut taken: Vec<String> = all.iter().map(|part| part.initials().to_uppercase()).collect();
    let mut colours: Vec<String> = all.iter().map(|part| part.colour().to_lowercase()).collect();
    let mut made: Vec<OwnRole> = vec![];
    parts
        .iter()
        .map(|(_, own)| {
            let own = own.as_ref()?;
            let twin = made.iter().find(|other| other.name == own.name);
            let mut own = match twin {
                Some(twin) => OwnRole {
                    initials: or(&own.initials, &twin.initials),
                    colour: or(&own.colour, &twin.colour),
                    ..own.clone()
                },
                None => own.clone(),
            };
            if own.initials.is_empty() {
                own.initials = free_initials(&own.name, &taken);
                taken.push(own.initials.clone());
            }
            own.initials = own.initials.to_uppercase();
            if own.colour.is_empty() {
                let free = COLOURS.iter().find(|one| !colours.iter().any(|has| has == *one));
                own.colour = free.unwrap_or(&COLOURS[0]).to_string();
                colours.push(own.colour.clone());
            }
            made.push(own.clone());
            Some(own)
        })
        .collect()
}

fn or(own: &str, other: &str) -> String {
    if own.is_empty() { other.to_owned() } else { own.to_owned() }
}

/// `Compliance officer` → `CO`, else `CM`, `CP`, … whatever is free.
fn free_initials(name: &str, taken: &[String]) -> String {
    let letters = |text: &str| -> Vec<char> {
        text.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_uppercase).collect()
    };
    let words: Vec<char> =
        name.split_whitespace().filter_map(|word| letters(word).first().copied()).collect();
    let all = letters(name);
    let first = all.first().copied().unwrap_or('X');
    let pairs = [words.get(..2).map(|pair| (pair[0], pair[1]))].into_iter().flatten();
    let within = all.iter().skip(1).map(|second| (first, *second));
    let any = ('A'..='Z').map(|second| (first, second));
    let every = ('A'..='Z').flat_map(|one| ('A'..='Z').map(move |two| (one, two)));
    let mut candidates = pairs.chain(within).chain(any).chain(every);
    let free = |pair: &String| !taken.iter().any(|has| look_alike(has, pair));
    let names = candidates.by_ref().map(|(one, two)| format!("{one}{two}"));
    names.into_iter().find(free).unwrap_or_default()
}

fn is_colour(text: &str) -> bool {
    text.len() == 7
        && text.starts_with('#')
        && text.chars().skip(1).all(|digit| digit.is_ascii_hexdigit())
}

impl<'a> Part<'a> {
    pub fn name(&self) -> &'a str {
        self.own.map_or_else(|| self.role.name(), |own| &own.name)
    }

    pub fn colour(&self) -> &'a str {
        self.own.map_or_else(|| self.role.colour(), |own| &own.colour)
    }

    pub fn initials(&self) -> &'a str {
        self.own.map_or_else(|| self.role.initials(), |own| &own.initials)
    }

    fn is(&self, own: &OwnRole) -> bool {
        self.own.is_some_and(|other| other.name == own.name)
    }
}
