//! Whatever a call took is in the total, also when nothing came of it.

use super::*;

fn took(tokens: u64) -> Usage {
    Usage { input_tokens: Some(tokens), output_tokens: Some(1), ..Usage::default() }
}

fn brings(call: &str, text: &str, tokens: u64) -> Command {
    settle(call, Outcome::Answered(Answer { usage: took(tokens), ..answer(text) }))
}

fn breaks(call: &str, tokens: u64) -> Command {
    let failure = Failure { usage: took(tokens), ..failure(FailureKind::Idle) };
    settle(call, Outcome::Failed { failure, partial: String::new() })
}

fn ends(call: &str, tokens: u64) -> Command {
    settle(call, Outcome::Stopped { partial: "I th".into(), usage: took(tokens) })
}

/// Tokens in, by model.
fn check_spent(story: Vec<Command>, expected: &[(&str, u64)]) {
    let (state, _) = told(pair(), story);
    let spent: Vec<(&str, u64)> = state
        .ledger
        .models()
        .map(|(model, spent)| (model.0.as_str(), spent.usage.input_tokens.unwrap_or(0)))
        .collect();
    assert_eq!(spent, expected);
}

#[test]
fn nothing_leaves_the_total() {
    let answered = || vec![brings("advisor/1#1", "Yes.", 1), breaks("advisor/2#1", 10)];
    check_spent(answered(), &[("m/1", 1), ("m/2", 10)]);
    let mut story = answered();
    // Not in the form asked for, and asked for once more.
    story.extend([brings("synthesis/1#1", "Prose.", 100), brings("synthesis/1#2", FOUR, 1_000)]);
    check_spent(story.clone(), &[("m/1", 1), ("m/2", 10), ("m/s", 1_100)]);
    // An answer that is replaced.
    story.extend([retry(1), brings("advisor/1#2", "No.", 10_000), Command::Stop]);
    story.push(ends("synthesis/2#1", 100_000));
    check_spent(story, &[("m/1", 10_001), ("m/2", 10), ("m/s", 101_100)]);
}

/// A stop and a retry that are decided together leave a call behind that nobody asks for
/// any more, and that was paid for all the same.
#[test]
fn what_was_overtaken_is_in_the_total_once() {
    let stop = || Command::Own(Own::StopAdvisor { seat: SeatId(1) });
    let story = vec![stop(), retry(1), ends("advisor/1#1", 5)];
    let (state, log) = told(pair(), story.clone());
    let overtaken = Event::Overtaken {
        call: CallId("advisor/1#1".into()),
        partial: "I th".into(),
        usage: took(5),
    };
    assert_eq!(log.last(), Some(&overtaken));
    assert_eq!(state.ledger.total(), took(5));
    check_refused(pair(), story, ends("advisor/1#1", 5), Reject::Stale);
}
