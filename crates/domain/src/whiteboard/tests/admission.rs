//! Who comes onto a board to which one is invited, and tokens that are made anew.

use proptest::prelude::*;

use super::*;

/// fay has opened it; ada and ben are specialists, as everybody may be in blind.
fn guarded() -> Open {
    Open { admission: Admission::Invited, ..board() }
}

fn joined(phase: Phase) -> Vec<Command> {
    reached(phase)
        .into_iter()
        .filter(|command| *command != register("olga", Role::Operator))
        .collect()
}

fn registers(name: &str, role: Role, shown: Shown) -> Command {
    Command::Own(Own::Register { agent: agent(name), role, domain: None, shown })
}

fn invites(by: &str, newcomer: Option<(&str, Role)>) -> Command {
    let newcomer = newcomer.map(|(name, role)| (agent(name), role));
    Command::Own(Own::Invite { agent: agent(by), newcomer })
}

fn renews(name: &str) -> Command {
    Command::Own(Own::RenewToken { agent: agent(name) })
}

#[track_caller]
fn check_invited(from: Phase, story: Vec<Command>, events: Vec<Event>) {
    assert_eq!(told(guarded(), joined(from), story).1, events);
}

#[track_caller]
fn check_uninvited(from: Phase, story: Vec<Command>, command: Command, reject: Reject) {
    let n = story.len() as i64 + 1;
    let (state, _) = told(guarded(), joined(from), story);
    assert_eq!(decide(Some(&state), command, at(n)), Err(reject));
}

fn to_lead(role: &str) -> Reject {
    Reject::NotInvited(format!(
        "To join this board as {role} you need an invitation from fay, who opened it; \
         specialists need none."
    ))
}

fn replaced() -> Reject {
    let message = "This invitation was replaced by a newer one. Ask fay for it.";
    Reject::NotInvited(message.into())
}

fn personal() -> Reject {
    Reject::NotInvited(
        "The blind phase is over: to join you need a personal invitation. Ask a facilitator or an \
         operator, such as fay, for one with your name and role."
            .into(),
    )
}

#[test]
fn in_the_blind_phase_specialists_just_come_and_leaders_are_invited() {
    let come = vec![
        registers("cyd", Role::Specialist, Shown::Nothing),
        registers("dot", Role::Operator, Shown::Invitation(0)),
    ];
    let events = vec![
        registered(1, "cyd", Role::Specialist, None),
        registered(2, "dot", Role::Operator, None),
    ];
    check_invited(Phase::Blind, come, events);
    for shown in [Shown::Nothing, Shown::Personal] {
        let facilitator = registers("dot", Role::Facilitator, shown);
        check_uninvited(Phase::Blind, vec![], facilitator, to_lead("facilitator"));
        let operator = registers("dot", Role::Operator, shown);
        check_uninvited(Phase::Blind, vec![], operator, to_lead("operator"));
    }
}

#[test]
fn an_invitation_that_was_made_anew_counts_alone() {
    let renewed = |generation, n| {
        let by = agent("fay");
        Event::InvitationRenewed { generation, by, at: at(n) }
    };
    let twice = || vec![invites("fay", None), invites("fay", None)];
    let come = [twice(), vec![registers("dot", Role::Operator, Shown::Invitation(2))]].concat();
    let events = vec![renewed(1, 1), renewed(2, 2), registered(3, "dot", Role::Operator, None)];
    check_invited(Phase::Blind, come, events);
    for old in [0, 1, 3] {
        let late = registers("dot", Role::Operator, Shown::Invitation(old));
        check_uninvited(Phase::Blind, twice(), late, replaced());
        // Somebody who needs none is not asked for it.
        let cyd = registers("cyd", Role::Specialist, Shown::Invitation(old));
        told(guarded(), joined(Phase::Blind), [twice(), vec![cyd]].concat());
    }
}

#[test]
fn only_the_opener_makes_the_invitation_and_only_in_the_blind_phase() {
    let dot = || registers("dot", Role::Operator, Shown::Invitation(0));
    let reject = forbidden(
        "Only fay, who opened this board, can renew its invitation. You can invite someone by \
         name.",
    );
    check_uninvited(Phase::Blind, vec![dot()], invites("dot", None), reject);
    let reject = forbidden(
        "ada is a specialist; only a facilitator or an operator can invite. fay opened this board \
         and is one.",
    );
    check_uninvited(Phase::Blind, vec![], invites("ada", None), reject);
    let message = "The blind phase is over: invite by name. A \
                   facilitator or an operator, such as fay, can move it on to validate or debate.";
    let reject = not_now(Phase::Read, message, &["invite", "seat", "transition", "conflicts"]);
    check_uninvited(Phase::Read, vec![], invites("fay", None), reject);
}

#[test]
fn after_the_blind_phase_one_comes_by_name_and_role() {
    for phase in [Phase::Read, Phase::Validate, Phase::Debate] {
        for shown in [Shown::Nothing, Shown::Invitation(0), Shown::Personal] {
            for role in [Role::Specialist, Role::Facilitator, Role::Operator] {
                check_uninvited(phase, vec![], registers("eve", role, shown), personal());
            }
        }
        let invited = || invites("fay", Some(("eve", Role::Specialist)));
        let eve = |role| registers("eve", role, Shown::Personal);
        check_uninvited(phase, vec![invited()], eve(Role::Operator), personal());
        let other = registers("mal", Role::Specialist, Shown::Personal);
        check_uninvited(phase, vec![invited()], other, personal());
        let nothing = registers("eve", Role::Specialist, Shown::Nothing);
        check_uninvited(phase, vec![invited()], nothing, personal());
        let events = vec![
            Event::Invited {
                agent: agent("eve"),
                role: Role::Specialist,
                by: agent("fay"),
                at: at(1),
            },
            registered(3, "eve", Role::Specialist, None),
        ];
        check_invited(phase, vec![invited(), invited(), eve(Role::Specialist)], events);
    }
}

#[test]
fn nobody_is_invited_twice_nor_where_none_is_needed_nor_too_late() {
    let reject = forbidden(
        "ada has already joined as specialist. Roles cannot be changed: keep it, or join under \
         another name.",
    );
    check_uninvited(Phase::Read, vec![], invites("fay", Some(("ada", Role::Operator))), reject);
    let reject = invalid(&[("agentName", crate::names::AGENT_NAME)]);
    check_uninvited(Phase::Read, vec![], invites("fay", Some(("no one", Role::Operator))), reject);
    let reject = forbidden("Anyone can join this board; it needs no invitations.");
    check_refused(Phase::Read, vec![], invites("fay", Some(("eve", Role::Operator))), reject);
    let (state, _) = told(guarded(), joined(Phase::Resolve), vec![]);
    let late = decide(Some(&state), invites("fay", Some(("eve", Role::Operator))), at(1));
    assert!(matches!(late, Err(Reject::NotNow { state: "resolve", .. })), "{late:?}");
    // One who comes when nobody can come any more is told that, not to get an invitation.
    let late = decide(Some(&state), registers("eve", Role::Operator, Shown::Nothing), at(1));
    assert!(matches!(late, Err(Reject::NotNow { state: "resolve", .. })), "{late:?}");
}

#[test]
fn so_many_are_invited_by_name() {
    let many = (0..limits::BOARD_INVITED)
        .map(|n| invites("fay", Some((&format!("guest-{n}"), Role::Specialist))));
    let reject = forbidden("A board can have at most 256 invitations by name.");
    let more = invites("fay", Some(("one-more", Role::Specialist)));
    check_uninvited(Phase::Read, many.collect(), more, reject);
}

/// Whoever is not let in learns nothing of who is there.
#[test]
fn a_refusal_does_not_tell_who_is_registered() {
    let (state, _) = told(guarded(), joined(Phase::Blind), vec![]);
    for shown in [Shown::Nothing, Shown::Invitation(7), Shown::Personal] {
        let tries = ["ada", "ben", "fay", "nobody"]
            .map(|name| decide(Some(&state), registers(name, Role::Facilitator, shown), at(1)));
        assert!(tries.iter().all(|refused| *refused == tries[0]), "{tries:?}");
        assert!(matches!(&tries[0], Err(Reject::NotInvited(_))), "{tries:?}");
    }
}

#[test]
fn who_is_there_needs_no_invitation() {
    let again = vec![
        registers("ada", Role::Specialist, Shown::Token),
        registers("fay", Role::Facilitator, Shown::Token),
    ];
    for phase in Phase::ALL {
        check_invited(phase, again.clone(), vec![]);
    }
}

#[test]
fn a_token_is_made_anew_in_every_phase_but_the_last() {
    let renewed = |name, generation, n| {
        let agent = agent(name);
        Event::TokenRenewed { agent, generation, at: at(n) }
    };
    for phase in &Phase::ALL[..5] {
        let story = vec![renews("fay"), renews("ada"), renews("fay")];
        let events = vec![renewed("fay", 1, 1), renewed("ada", 1, 2), renewed("fay", 2, 3)];
        let (state, log) = told(board(), reached(*phase), story);
        assert_eq!(log, events);
        let numbers = ["fay", "ada", "ben", "nobody"].map(|name| state.renewals(&agent(name)));
        assert_eq!(numbers, [2, 1, 0, 0]);
        let reject = unknown("There is no agent eve on this board.");
        check_refused(*phase, vec![], renews("eve"), reject);
    }
    let message = "Tokens no longer have any use here. An archived board is read-only.";
    let reject = not_now(Phase::Archived, message, &["conflicts"]);
    check_refused(Phase::Archived, vec![], renews("fay"), reject);
}

#[test]
fn a_token_is_made_anew_so_many_times() {
    let many = (0..limits::RENEWALS).map(|_| renews("ada"));
    let reject = forbidden("It has been renewed 1000 times, the maximum.");
    check_refused(Phase::Blind, many.collect(), renews("ada"), reject);
}

#[test]
fn a_board_of_the_first_release_is_open() {
    let line =
        r#"{"at":"2027-01-15T08:00:00Z","by":"fay","name":"adr-1","topic":"?","type":"opened"}"#;
    let state: State = apply(None, &serde_json::from_str(line).unwrap()).unwrap();
    assert_eq!((state.invitation(), state.principal()), (None, None));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is tried: on such a board nobody leads, and nobody comes after blind,
    /// whom no leader has invited.
    #[test]
    fn nobody_leads_or_comes_late_without_an_invitation(
        steps in proptest::collection::vec((0..8_usize, 0..4_usize, 0..3_usize, 0..3_u32), 0..60),
    ) {
        const NAMES: [&str; 4] = ["fay", "eve", "mal", "ada"];
        let roles = [Role::Specialist, Role::Facilitator, Role::Operator];
        let log = decide(None, Command::Own(Own::Open(guarded())), at(0)).unwrap();
        let mut state = log.iter().fold(None, apply::<State>).unwrap();
        let mut invited: Vec<(AgentName, Role)> = vec![];
        let mut made = 0;
        for (n, (what, who, role, shown)) in (1..).zip(steps) {
            let (name, role) = (NAMES[who], roles[role]);
            let command = match what {
                0 => registers(name, role, Shown::Nothing),
                1 | 2 => registers(name, role, Shown::Invitation(shown)),
                3 | 4 => registers(name, role, Shown::Personal),
                5 => invites(NAMES[shown as usize], Some((name, role))),
                6 => invites(name, None),
                _ => {
                    let to = state.phase.next().first().copied().unwrap_or(Phase::Archived);
                    if who == 0 { moves("fay", to) } else { renews(name) }
                }
            };
            let leads = |state: &State, name: &AgentName| {
                state.member(name).is_some_and(|member| member.role.leads())
            };
            for event in decide(Some(&state), command.clone(), at(n)).unwrap_or_default() {
                match &event {
                    Event::Registered { agent, role, .. } => {
                        let by_name = invited.contains(&(agent.clone(), *role));
                        let shown = match command {
                            Command::Own(Own::Register { shown, .. }) => shown,
                            _ => Shown::Nothing,
                        };
                        let blind = state.phase == Phase::Blind;
                        let by_code = blind && shown == Shown::Invitation(made);
                        let just_came = blind && !role.leads();
                        let by_name = by_name && shown == Shown::Personal;
                        prop_assert!(by_name || by_code || just_came, "{event:?} by {shown:?}");
                    }
                    Event::Invited { agent, role, by, .. } => {
                        prop_assert!(leads(&state, by), "{by} does not lead");
                        invited.push((agent.clone(), *role));
                    }
                    Event::InvitationRenewed { generation, by, .. } => {
                        prop_assert_eq!(&by.0, "fay");
                        prop_assert_eq!(*generation, made + 1);
                        made += 1;
                    }
                    _ => {}
                }
                state = apply(Some(state), &event).unwrap();
            }
        }
    }
}
