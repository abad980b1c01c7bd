//! The words sent to a member. Every post goes in as quoted material between
//! delimiters that carry the nonce of the turn.

use std::sync::Arc;

use super::{Member, Post, State, Turn};
use crate::call::{Ask, Message, Patience, Shape, Speaker};
use crate::limits;
use crate::quote::{filled, quoted};

const ANSWER: &str = include_str!("prompts/answer.md");

pub fn answer(state: &State, turn: &Turn) -> Option<Ask> {
    let member = state.member(&turn.member)?;
    Some(Ask {
        model: member.model.clone()?,
        system: system(state, member, turn),
        messages: vec![Message { speaker: Speaker::User, text: thread(state, turn) }],
        shape: Shape::Free,
        patience: Patience {
            answer_bytes: limits::POST_BYTES,
            attempts: limits::COUNCIL_ATTEMPTS,
            ..Patience::default()
        },
        workspace: None,
    })
}

fn system(state: &State, member: &Member, turn: &Turn) -> String {
    let persona = member.persona.as_deref().map(|own| format!("\n\n{}", own.trim()));
    let members: Vec<String> = state.members.iter().map(|other| about(other, member)).collect();
    let values = [
        ("name", member.name.as_str()),
        ("persona", persona.as_deref().unwrap_or_default()),
        ("charter", state.charter.trim()),
        ("members", &members.join(", ")),
        ("nonce", &turn.nonce.0),
    ];
    filled(ANSWER.trim(), &values)
}

fn about(member: &Member, reader: &Member) -> String {
    let note = match (&member.model, member.name == reader.name) {
        (_, true) => " (you)",
        (Some(_), false) => "",
        (None, false) => " (posts by themselves)",
    };
    format!("{}{note}", member.name)
}

/// A few posts that the member has read, then those that it has not. What comes
/// in during the turn is left for the next one.
fn thread(state: &State, turn: &Turn) -> String {
    let upto = usize::try_from(turn.upto).unwrap_or(usize::MAX).min(state.posts.len());
    let read = state.read.get(&turn.member).copied().unwrap_or(0);
    let read = usize::try_from(read).unwrap_or(usize::MAX).min(upto);
    // Its own answer needs no reading.
    let own = |post: &&Arc<Post>| post.sender == turn.member;
    let own = state.posts[read..upto].iter().take_while(own).count();
    let (earlier, unread) = state.posts[..upto].split_at(read + own);

    let (posts, bytes) = (limits::EARLIER_POSTS, limits::EARLIER_BYTES);
    let mut text = section("Earlier posts", earlier, posts, bytes, turn);
    text.push_str(&section("New posts", unread, usize::MAX, limits::UNREAD_BYTES, turn));
    let name = &turn.member;
    text.push_str(&format!(
        "You are {name}. Answer what is asked of you above, in a few sentences of your own.\n"
    ));
    text
}

/// The newest of these posts, as many as fit, and how many did not.
fn section(title: &str, posts: &[Arc<Post>], most: usize, bytes: usize, turn: &Turn) -> String {
    if posts.is_empty() {
        return String::new();
    }
    let mut left = bytes;
    let fitting =
        posts.iter().rev().take(most).map(|post| quoted_post(post, turn)).map_while(|post| {
            left = left.checked_sub(post.len())?;
            Some(post)
        });
    let mut shown: Vec<String> = fitting.collect();
    shown.reverse();
    let left_out = match posts.len() - shown.len() {
        0 => String::new(),
        1 => " (1 older one is left out)".to_owned(),
        more => format!(" ({more} older ones are left out)"),
    };
    format!("{title}{left_out}:\n\n{}", shown.concat())
}

fn quoted_post(post: &Post, turn: &Turn) -> String {
    let you = if post.sender == turn.member { " (you)" } else { "" };
    let reply = post.reply_to.map(|to| format!(", in reply to {to}")).unwrap_or_default();
    let to = if post.addressed.contains(&turn.member) { ", to you" } else { "" };
    let label = format!("post {} by {}{you}{reply}{to}", post.sequence, post.sender);
    quoted(&label, &post.body, &turn.nonce)
        + "
"
}
