//! Whom a post addresses: mentions such as `@ann`, outside of code.

use super::{Member, State};
use crate::limits;
use crate::names::is_in_agent_names;

/// Everybody, when somebody from outside says so. No member may be called that.
pub const ALL: &str = "all";

/// Members with a model, in member order.
pub struct Audience {
    pub addressed: Vec<String>,
    /// Meant as well, but a bound keeps them from answering.
    pub left_out: Vec<String>,
}

impl State {
    /// Without a mention, or by `@all`, a post from outside is for all models. Who names
    /// only a former member speaks to nobody here, rather than to all.
    pub(super) fn addressed_from_outside(&self, sender: &str, body: &str) -> Audience {
        let known = self.senders.iter().map(String::as_str).filter(|name| *name != sender);
        let former = self.former.iter().map(|former| former.name.as_str());
        let members = self.others(sender).map(|member| member.name.as_str());
        let known: Vec<&str> = members.chain(known).chain(former).chain([ALL]).collect();
        let mentions = mentions(body, &known);
        let everybody = mentions.is_empty() || mentions.contains(&ALL);
        let meant =
            self.others(sender).filter(|m| everybody || mentions.contains(&m.name.as_str()));
        audience(meant, limits::FAN_OUT)
    }

    /// A model addresses whom it names, and nobody by the last answer of a relay.
    pub(super) fn addressed_by_model(&self, sender: &str, text: &str, depth: u8) -> Audience {
        let known: Vec<&str> = self.others(sender).map(|m| m.name.as_str()).collect();
        let mentions = mentions(text, &known);
        let meant = self.others(sender).filter(|member| mentions.contains(&member.name.as_str()));
        audience(meant, if depth < limits::RELAY_DEPTH { limits::FAN_OUT } else { 0 })
    }

    fn others(&self, sender: &str) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(move |member| member.name != sender)
    }
}

fn audience<'a>(meant: impl Iterator<Item = &'a Member>, most: usize) -> Audience {
    let models = meant.filter(|member| member.model.is_some());
    let mut addressed: Vec<String> = models.map(|member| member.name.clone()).collect();
    let left_out = addressed.split_off(most.min(addressed.len()));
    Audience { addressed, left_out }
}

/// The known names that stand after an `@`, in the order of the text. Case does
/// not matter: no two members differ by it alone.
pub fn mentions<'a>(text: &str, known: &[&'a str]) -> Vec<&'a str> {
    let text = prose(text);
    let mut found = vec![];
    let mut from = 0;
    while let Some(at) = text[from..].find('@').map(|place| from + place) {
        let after = &text[at + 1..];
        let end = after.find(|c| !is_in_agent_names(c)).unwrap_or(after.len());
        let (word, rest) = after.split_at(end);
        // In `user@ann.org` and `example.org/@ann` nobody is spoken to.
        let inside = |c: char| c.is_alphanumeric() || c == '@' || c == '/';
        let stands_alone = !text[..at].ends_with(inside)
            && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '/');
        if stands_alone {
            found.extend(named(word, known));
        }
        from = at + 1 + end;
    }
    found
}

/// The longest known name that the word is when punctuation is taken off its end.
fn named<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let mut word = word;
    loop {
        if let Some(name) = known.iter().find(|name| name.eq_ignore_ascii_case(word)) {
            return Some(name);
        }
        word = word.strip_suffix(|c: char| !c.is_ascii_alphanumeric())?;
    }
}

/// The text without fenced blocks and code spans.
fn prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut paragraph = String::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        match (fence, fence_of(line)) {
            (Some(open), Some(mark)) => {
                let closes = mark.starts_with(open) && line.trim() == mark;
                fence = fence.filter(|_| !closes);
            }
            (Some(_), None) => {}
            (None, Some(mark)) => {
                without_spans(&mut out, &paragraph);
                paragraph.clear();
                fence = Some(mark);
            }
            (None, None) => {
                paragraph.push_str(line);
                paragraph.push('\n');
                // A code span does not reach over an empty line.
                if line.trim().is_empty() {
                    without_spans(&mut out, &paragraph);
                    paragraph.clear();
                }
            }
        }
    }
    without_spans(&mut out, &paragraph);
    out
}

/// The backticks or tildes that open or close a fenced block.
fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let run = |mark: char| &line[..line.len() - line.trim_start_matches(mark).len()];
    let mark = [run('`'), run('~')].into_iter().find(|run| run.len() >= 3)?;
    // Backticks later in the line make it a code span.
    let is_span = mark.starts_with('`') && line[mark.len()..].contains('`');
    (!is_span).then_some(mark)
}

fn without_spans(out: &mut String, paragraph: &str) {
    let mut rest = paragraph;
    while let Some(start) = rest.find('`') {
        let (before, ticked) = rest.split_at(start);
        let inside = ticked.trim_start_matches('`');
        let ticks = &ticked[..ticked.len() - inside.len()];
        out.push_str(before);
        // What stands for the span keeps the words around it apart.
        out.push_str(ticks);
        rest = after_span(inside, ticks).unwrap_or(inside);
    }
    out.push_str(rest);
}

/// What follows the next run of exactly these backticks.
fn after_span<'a>(text: &'a str, ticks: &str) -> Option<&'a str> {
    let mut rest = text;
    loop {
        let run = &rest[rest.find('`')?..];
        rest = run.trim_start_matches('`');
        if run.len() - rest.len() == ticks.len() {
            return Some(rest);
        }
    }
}
