//! Which marks part, open and close what a model wrote as JSON, and whether a
//! quotation mark ends a text or belongs to it.

/// Bytes that are looked at ahead.
const AHEAD: usize = 256;
/// Characters of a key that is looked for ahead.
const KEY_CHARS: usize = 64;

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
pub(super) fn closes(after: &str, inside: Inside) -> bool {
    let after = after.trim_start_matches(is_blank);
    match after.chars().next() {
        None | Some('}' | ']') => true,
        Some(comma) if is_comma(comma) => {
            inside == Inside::List || parts(&after[comma.len_utf8()..])
        }
        Some(_) => after.starts_with("```") || after.starts_with("//") || key_ahead(after),
    }
}

/// Whether a comma before this parts two entries.
pub(super) fn parts(after: &str) -> bool {
    let after = after.trim_start_matches(|c| is_blank(c) || is_comma(c));
    let ends = after.is_empty() || after.starts_with(['}', ']']) || after.starts_with("```");
    ends || after.starts_with("//") || after.starts_with("/*") || key_ahead(after)
}

pub(super) fn key_ahead(text: &str) -> bool {
    let text = text.trim_start_matches(is_blank);
    let Some(first) = text.chars().next() else { return false };
    let ends = closing(first);
    let after = match ends.is_empty() {
        true => text.trim_start_matches(is_bare),
        false => {
            let key = &text[first.len_utf8()..];
            let Some(end) = key.find(ends) else { return false };
            key[end..].trim_start_matches(ends)
        }
    };
    let length = text[..text.len() - after.len()].chars().count();
    let after = after.trim_start_matches(is_blank);
    (1..=KEY_CHARS).contains(&length) && after.starts_with(is_colon) && !after.starts_with("://")
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
