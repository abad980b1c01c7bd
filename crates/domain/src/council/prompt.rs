//! The words sent to a member. Every post goes in as quoted material.
//!
//! What is the same in every prompt comes first: the system prompt, and the thread, which
//! grows at its end. Who the member is and what is new to it is said last, so that members
//! on one model have its cache in common.

use std::sync::Arc;

use super::{Member, Post, State, Turn};
use crate::call::{Ask, Message, Patience, Shape, Speaker};
use crate::limits;
use crate::quote::{filled, quoted, quoting};

const ANSWER: &str = include_str!("prompts/answer.md");
/// What the quotation around a post takes, beside its sender's name.
const FRAME_BYTES: usize = 96;

pub fn answer(state: &State, turn: &Turn) -> Option<Ask> {
    let member = state.member(&turn.member)?;
    Some(member.seated.asked(Ask {
        model: member.model.clone()?,
        system: system(state, turn),
        messages: vec![thread(state, member, turn)],
        shape: Shape::Free,
        patience: Patience {
            answer_bytes: limits::POST_BYTES,
            attempts: limits::COUNCIL_ATTEMPTS,
            ..Patience::default()
        },
        temperature: None,
        workspace: None,
    }))
}

fn system(state: &State, turn: &Turn) -> String {
    let members: Vec<String> = state.members.iter().map(about).collect();
    let values = [
        ("charter", state.charter.trim()),
        ("members", &members.join(", ")),
        ("quoting", &quoting(&turn.nonce)),
    ];
    filled(ANSWER.trim(), &values)
}

fn about(member: &Member) -> String {
    let note = if member.model.is_some() { "" } else { " (posts by themselves)" };
    format!("{}{note}", member.name)
}

/// Some posts that the member has read, then those that it has not. What comes in during
/// the turn is left for the next one.
fn thread(state: &State, member: &Member, turn: &Turn) -> Message {
    let upto = usize::try_from(turn.upto).unwrap_or(usize::MAX).min(state.posts.len());
    let read = state.read.get(&turn.member).copied().unwrap_or(0);
    let read = usize::try_from(read).unwrap_or(usize::MAX).min(upto);
    // Its own answer needs no reading.
    let own = |post: &&Arc<Post>| post.sender == turn.member;
    let own = state.posts[read..upto].iter().take_while(own).count();
    let posts = &state.posts[..upto];
    let (earlier, unread) = posts.split_at(read + own);
    let newest = newest_within(unread, limits::UNREAD_BYTES);
    let first = if newest == 0 { first_shown(earlier) } else { earlier.len() + newest };

    let left_out = match first {
        0 => String::new(),
        1 => " (1 older one is left out)".to_owned(),
        more => format!(" ({more} older ones are left out)"),
    };
    let mut message = Message::new(Speaker::User, format!("Posts{left_out}:\n\n"));
    posts[first..].iter().for_each(|post| message.keep(&quoted_post(post, turn)));
    let persona = match member.seated.system(member.persona.as_deref().unwrap_or_default()) {
        none if none.is_empty() => none,
        persona => persona + "\n\n",
    };
    let new = match (first.max(earlier.len()) + 1, posts.len()) {
        (first, last) if first < last => format!("Posts {first} to {last} are new to you. "),
        (first, last) if first == last => format!("Post {last} is new to you. "),
        _ => String::new(),
    };
    let name = &turn.member;
    message.text.push_str(&format!(
        "You are {name}.\n\n{persona}{new}Answer what is asked of you there, in a few sentences of \
         your own.\n"
    ));
    message
}

/// Bytes that a post takes with the lines around it, at most.
fn size(post: &Post) -> usize {
    post.body.len() + post.sender.len() + FRAME_BYTES
}

/// The first of the newest posts that fit so many bytes.
fn newest_within(posts: &[Arc<Post>], bytes: usize) -> usize {
    let mut left = bytes;
    let fits = |post: &&Arc<Post>| {
        let rest = left.checked_sub(size(post));
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    posts.len() - posts.iter().rev().take_while(fits).count()
}

/// The first that is shown again of those that have been read. When there are too many,
/// most are left out at once: until there are too many again, the thread only grows, and
/// is the same for all members but for a few posts around that moment.
fn first_shown(earlier: &[Arc<Post>]) -> usize {
    let (mut first, mut bytes) = (0, 0);
    for (newest, post) in earlier.iter().enumerate() {
        bytes += size(post);
        let shown = newest + 1 - first;
        if shown <= limits::EARLIER_POSTS && bytes <= limits::EARLIER_BYTES {
            continue;
        }
        let from = (newest + 1).saturating_sub(limits::EARLIER_POSTS_LEFT);
        let left = newest_within(&earlier[from..=newest], limits::EARLIER_BYTES_LEFT);
        first = from + left;
        bytes = earlier[first..=newest].iter().map(|post| size(post)).sum();
    }
    first
}

fn quoted_post(post: &Post, turn: &Turn) -> String {
    let reply = post.reply_to.map(|to| format!(", in reply to {to}")).unwrap_or_default();
    let to = match post.addressed.as_slice() {
        [] => String::new(),
        names => format!(", to {}", names.join(" and ")),
    };
    let label = format!("post {} by {}{reply}{to}", post.sequence, post.sender);
    quoted(&label, &post.body, &turn.nonce) + "\n"
}
