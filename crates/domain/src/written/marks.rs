//! Which marks part, open and close what a model wrote as JSON, and whether a
//! quotation mark ends a text or belongs to it.

/// Whether a key may have been meant that was cut off.
pub(crate) type Begun = fn(&str) -> bool;

/// Bytes that are looked at ahead.
const AHEAD: usize = 256;
/// Bytes of a key that is looked for ahead.
const KEY_BYTES: usize = 80;

/// What a text stands in: it tells where the text may end.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Inside {
    Object,
    List,
}

/// What may close a text that this opens. Typographic marks are closed by plain
/// ones too, but not the other way round: plain texts quote in typographic ones.
pub(super) fn closing(opening: char) -> &'static [char] {
    match opening {
        '"' => &['"'],
        '\'' => &['\''],
        '`' => &['`'],
        '“' | '”' | '„' | '‟' | '＂' => &['“', '”', '‟', '＂', '"'],
        '‘' | '’' | '‚' => &['’', '‘', '\''],
        '«' | '»' => &['»', '«'],
        '「' => &['」'],
        _ => &[],
    }
}

/// Whether a quotation mark before this ends the text, or belongs to it.
pub(super) fn closes(after: &str, inside: Inside, begun: Begun) -> bool {
    let after = after.trim_start_matches(is_blank);
    match after.chars().next() {
        None | Some('}' | ']') => true,
        Some(comma) if is_comma(comma) => {
            inside == Inside::List || parts(&after[comma.len_utf8()..], begun)
        }
        Some(_) => after.starts_with("```") || is_comment(after) || key_ahead(after, begun),
    }
}

/// Whether JSON is quoted inside a text without being escaped. Brackets are only
/// counted for that: on their own they are words like others.
#[derive(Default)]
pub(super) struct Quotes {
    pub any: bool,
    open: usize,
}

impl Quotes {
    pub fn pass(&mut self, next: char) {
        match next {
            '{' => self.open += 1,
            '}' => self.open = self.open.saturating_sub(1),
            _ => {}
        }
    }

    pub fn holds(&self, after: &str) -> bool {
        self.any && self.open > 0 && after.trim_start().starts_with('}')
    }
}

fn is_comment(text: &str) -> bool {
    text.starts_with("//") || text.starts_with("/*") || text.starts_with("# ")
}

/// Whether a comma before this parts two entries.
pub(super) fn parts(after: &str, begun: Begun) -> bool {
    let after = after.trim_start_matches(|c| is_blank(c) || is_comma(c));
    let ends = after.is_empty() || after.starts_with(['}', ']']) || after.starts_with("```");
    ends || is_comment(after) || key_ahead(after, begun)
}

pub(super) fn key_ahead(text: &str, begun: Begun) -> bool {
    let text = text.trim_start_matches(is_blank);
    let Some(first) = text.chars().next() else { return false };
    let ends = closing(first);
    if ends.is_empty() {
        let after = text.trim_start_matches(is_bare);
        let is_short = (1..=KEY_BYTES).contains(&(text.len() - after.len()));
        return is_short && is_assigned(after);
    }
    let key = &text[first.len_utf8()..];
    match key[..key.floor_char_boundary(KEY_BYTES)].split_once(ends) {
        Some((key, after)) => is_assigned(after) || (after.is_empty() && begun(key)),
        None => begun(key),
    }
}

fn is_assigned(after: &str) -> bool {
    let after = after.trim_start_matches(is_blank);
    after.starts_with(is_colon) && !after.starts_with("://")
}

pub(super) fn ahead(text: &str) -> &str {
    &text[..text.floor_char_boundary(AHEAD)]
}

pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}')
}

pub(super) fn is_comma(c: char) -> bool {
    matches!(c, ',' | '，' | ';')
}

pub(super) fn is_colon(c: char) -> bool {
    matches!(c, ':' | '：' | '=')
}

/// What a key without quotation marks is made of, also one in bold.
pub(super) fn is_bare(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '*')
}
