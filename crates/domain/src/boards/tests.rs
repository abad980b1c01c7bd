//! The rules of saved boards, by example and by property.

mod golden;

use proptest::prelude::*;

use super::*;
use crate::agent::{ModelChoice, Tier};
use crate::board::{Seat, built_in};
use crate::boardroom::{OwnRole, Role};
use crate::form::story::apply;
use crate::ids::ModelName;

fn seats() -> Given {
    let own = OwnRole { name: "Compliance officer".into(), ..OwnRole::default() };
    let officer = Seat {
        own: Some(own),
        model: ModelChoice::Tier(Tier::Strong),
        ..Seat::of(Role::Generalist)
    };
    let critic = Seat {
        model: ModelChoice::Model(ModelName("m/1".into())),
        prompt: Some("Be brief.".into()),
        ..Seat::of(Role::Critic)
    };
    Given { seats: Some(vec![officer, critic]), ..Given::default() }
}

fn add(name: &str, given: Given) -> Command {
    Command::Add { copy_of: None, name: Some(name.into()), given: Box::new(given) }
}

fn copy(of: &str, name: Option<&str>) -> Command {
    let name = name.map(str::to_owned);
    Command::Add { copy_of: Some(of.into()), name, given: Box::default() }
}

fn edit(board: &str, given: Given) -> Command {
    Command::Edit { board: board.into(), given: Box::new(given) }
}

fn remove(board: &str) -> Command {
    Command::Remove { board: board.into() }
}

fn decide(state: Option<&State>, command: Command) -> Result<Vec<Event>, Reject> {
    let (at, nonce) = (crate::Timestamp::UNIX_EPOCH, crate::Nonce(String::new()));
    State::decide(state, command, &Moment { at, nonce, actor: "operator".into() })
}

/// The boards after commands that must all be accepted.
fn told(commands: Vec<Command>) -> Option<State> {
    let mut state = None;
    for command in commands {
        let shown = format!("{command:?}");
        let events = decide(state.as_ref(), command).unwrap_or_else(|e| panic!("{shown}: {e:?}"));
        assert_eq!(events.len(), 1, "{shown}");
        state = apply(state, &events[0]);
    }
    state
}

fn board(state: Option<&State>, name: &str) -> Arc<Board> {
    board::find(&all(state), name).unwrap()
}

#[track_caller]
fn check_wrong(state: Option<&State>, command: Command, expected: &[(&str, &str)]) {
    let Err(Reject::Invalid(wrong)) = decide(state, command) else { panic!("it was accepted") };
    let wrong: Vec<(&str, &str)> =
        wrong.iter().map(|one| (one.field.as_str(), one.problem.as_str())).collect();
    assert_eq!(wrong, expected);
}

#[test]
fn a_board_is_added_edited_copied_and_removed() {
    let state = told(vec![add("mine", seats())]);
    let mine = board(state.as_ref(), "mine");
    let own = mine.seats[0].own.clone().unwrap();
    assert_eq!((own.initials.as_str(), own.colour.as_str()), ("CO", "#00897b"));
    let state = told(vec![
        add("mine", seats()),
        edit("mine", Given { title: Some(" My board ".into()), ..Given::default() }),
        copy("mine", None),
        copy("mine", None),
        copy("mine-copy", None),
        copy("classic-triad", Some("triad")),
        remove("mine"),
        add("mine", seats()),
    ]);
    let names: Vec<&String> = state.as_ref().unwrap().boards.keys().collect();
    assert_eq!(names, ["mine", "mine-copy", "mine-copy-2", "mine-copy-3", "triad"]);
    // The title stays with the board that has it.
    assert_eq!(board(state.as_ref(), "mine-copy").called(), "mine-copy");
    let roles: Vec<Role> =
        board(state.as_ref(), "triad").seats.iter().map(|seat| seat.role).collect();
    assert_eq!(roles, [Role::Advocate, Role::Critic, Role::Analyst]);
}

#[test]
fn what_ships_with_the_program_stays_as_it_is() {
    for command in [edit("classic-triad", seats()), remove("Classic Triad")] {
        let expected = Reject::NotNow {
            state: "built in",
            message:
                "Classic Triad is built in and cannot be changed or removed. Make a copy to edit."
                    .into(),
            allowed: vec!["copy"],
        };
        assert_eq!(decide(None, command), Err(expected));
    }
    let taken = [("name", "is the name of a built-in board")];
    check_wrong(None, add("peer-review", seats()), &taken);
    let whole = Board { seats: seats().seats.unwrap(), ..Board::blank("peer-review") };
    let put = Command::Put { board: Box::new(whole), replace: true };
    check_wrong(None, put, &taken);
}

#[test]
fn every_wrong_field_is_named() {
    let state = told(vec![add("mine", Given { title: Some("Mine".into()), ..seats() })]);
    let mut given = Given { title: Some("Мinе".into()), ..seats() };
    let all = given.seats.as_mut().unwrap();
    all[0].own.as_mut().unwrap().initials = "CR".into();
    all[0].own.as_mut().unwrap().colour = "red".into();
    all[0].temperature = Some(3.0);
    all[1].tries = Some(9);
    all[1].prompt = Some("ok\n\u{1b}[31mred".into());
    all[1].model = ModelChoice::Model(ModelName("https://evil.example/m".into()));
    check_wrong(
        state.as_ref(),
        add("Mine!", given),
        &[
            (
                "name",
                "must be 1 to 80 lowercase letters, digits, dots, dashes or underscores, and begin \
                 with a letter or digit, such as `api-redesign`",
            ),
            ("title", "looks like that of the board `mine`"),
            ("seats[0].colour", "must be a colour such as `#00897b`"),
            ("seats[0].initials", "are already used for Critic"),
            ("seats[0].temperature", "must be from 0 to 2"),
            ("seats[1].model", "must be a model's name, not an address"),
            (
                "seats[1].systemPrompt",
                "must not contain U+001B, a control character; it is character 1 of line 2",
            ),
            ("seats[1].tries", "must be from 1 to 8"),
        ],
    );
    check_wrong(
        None,
        add("empty", Given::default()),
        &[("seats", "a board must have 1 to 16 seats")],
    );
    check_wrong(
        None,
        copy("triads", None),
        &[(
            "copyOf",
            "there is no board \"triads\"; available: classic-triad, full-board, peer-review, \
             devils-court",
        )],
    );
    let unknown = Reject::Unknown("There is no board \"mina\"; did you mean mine?".into());
    assert_eq!(decide(state.as_ref(), remove("mina")), Err(unknown));
}

#[test]
fn what_ships_keeps_the_rules_itself() {
    let mut wrong = vec![];
    for board in built_in() {
        board::check(&mut wrong, board, built_in());
    }
    assert_eq!(wrong, vec![]);
}

/// Anything that somebody might ask for.
fn commands() -> impl Strategy<Value = Command> {
    let name = || prop_oneof!["[a-d]", Just("classic-triad".to_owned()), "[A-Z ]{0,3}"];
    let given = (any::<bool>(), proptest::option::of("[a-cé ]{0,6}"), 0_usize..4).prop_map(
        |(whole, title, tries)| {
            let mut given = if whole { seats() } else { Given::default() };
            given.title = title;
            if let Some(seat) = given.seats.as_mut().and_then(|seats| seats.first_mut()) {
                seat.tries = Some(tries as u32);
            }
            given
        },
    );
    (0_u8..5, name(), name(), given, any::<bool>()).prop_map(|(what, one, two, given, replace)| {
        match what {
            0 => add(&one, given),
            1 => copy(&one, Some(&two)),
            2 => edit(&one, given),
            3 => remove(&one),
            _ => {
                let seats = given.seats.unwrap_or_default();
                let board = Board { seats, ..Board::blank(&one) };
                Command::Put { board: Box::new(board), replace }
            }
        }
    })
}

proptest! {
    /// Whatever is asked for: what is kept keeps the rules, under the name that it has, and
    /// what ships is never among it.
    #[test]
    fn what_is_kept_keeps_the_rules(commands in proptest::collection::vec(commands(), 0..24)) {
        let mut state: Option<State> = None;
        for command in commands {
            let Ok(events) = decide(state.as_ref(), command) else { continue };
            prop_assert_eq!(events.len(), 1);
            state = apply(state, &events[0]);
            let everybody = all(state.as_ref());
            for (name, board) in &state.as_ref().unwrap().boards {
                prop_assert_eq!(name, &board.name);
                prop_assert!(!board.built_in);
                prop_assert!(!built_in().iter().any(|one| one.name == *name));
                let mut wrong = vec![];
                board::check(&mut wrong, board, &everybody);
                prop_assert_eq!(wrong, vec![]);
                prop_assert_eq!(board::file::read(&board::toml(board)), Ok((**board).clone()));
            }
        }
    }
}
