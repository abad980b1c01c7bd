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
    // Words that stand as they came, because the second request for them failed.
    let prose = [brings("synthesis/1#1", "Prose.", 100), breaks("synthesis/1#2", 20)];
    check_spent(then(answered(), prose), &[("m/1", 1), ("m/2", 10), ("m/s", 120)]);
    // An answer that is replaced.
    story.extend([retry(1), brings("advisor/1#2", "No.", 10_000), Command::Stop]);
    story.push(ends("synthesis/2#1", 100_000));
    check_spent(story, &[("m/1", 10_001), ("m/2", 10), ("m/s", 101_100)]);
}

fn priced(names: &[&str], input: f64) -> Event {
    Event::Priced(noted(names, input))
}

fn with_prices(names: &[&str]) -> Convene {
    Convene { prices: noted(names, 2.0), ..pair() }
}

#[test]
fn prices_are_noted_when_a_model_comes_and_stay() {
    let other = |seat, input| {
        let prices = noted(&["m/1", "m/other"], input);
        Command::Own(Own::Retry { seat: SeatId(seat), model: Some(model("m/other")), prices })
    };
    let story = vec![
        brings("advisor/1#1", "Yes.", 1_000_000),
        breaks("advisor/2#1", 0),
        Command::Stop,
        other(1, 3.0),
        brings("advisor/1#2", "No.", 1_000_000),
        Command::Stop,
        // Dearer by now, which is no concern of this board.
        other(2, 9.0),
    ];
    let (state, log) = told(with_prices(&["m/1", "m/2", "m/s"]), story);
    let all: Vec<&Event> = log.iter().filter(|event| matches!(event, Event::Priced(_))).collect();
    let first = priced(&["m/1", "m/2", "m/s"], 2.0);
    assert_eq!(all, [&first, &priced(&["m/other"], 3.0)]);
    assert_eq!(log[1], first);
    assert_eq!(state.ledger.cost(|_| None, true), Some(5.0));
}

#[test]
fn nothing_is_noted_in_a_second_currency() {
    let prices = Noted { currency: "EUR".into(), ..noted(&["m/other"], 1.0) };
    let synthesize = Own::Synthesize { model: Some(model("m/other")), instruction: None, prices };
    let story = vec![brings("advisor/1#1", "Yes.", 1), Command::Own(synthesize)];
    let (state, log) = told(with_prices(&["m/1"]), story.clone());
    assert_eq!(log.iter().filter(|event| matches!(event, Event::Priced(_))).count(), 1);
    assert_eq!(state.ledger.quote(&model("m/other")), None);
    // A board that has noted none takes them.
    let (state, _) = told(pair(), story);
    assert_eq!(state.ledger.prices().currency, "EUR");
}

#[test]
fn a_record_says_what_each_call_took_and_cost() {
    let story = vec![
        brings("advisor/1#1", "Yes.", 1_000),
        breaks("advisor/2#1", 3_000),
        brings("synthesis/1#1", "Prose.", 5_000),
        brings("synthesis/1#2", FOUR, 7_000),
    ];
    let (state, _) = told(with_prices(&["m/1", "m/2", "m/s"]), story);
    let record = markdown(&state);
    let notes: Vec<&str> = record.lines().filter(|line| line.contains("tokens in")).collect();
    // Two dollars for a million.
    let expected = [
        "*1,000 tokens in, 1 out, $0.002*",
        "*3,000 tokens in, 1 out, $0.006*",
        "*5,000 tokens in, 1 out, $0.01*",
        "*7,000 tokens in, 1 out, $0.014*",
        "*Spent: 16,000 tokens in, 4 out, $0.032*",
    ];
    assert_eq!(notes, expected, "{record}");
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
