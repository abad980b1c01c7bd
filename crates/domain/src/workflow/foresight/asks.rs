//! Who is asked, how often, and about how much.

use serde_json::{Map, Value};

use super::{Asks, Foresight, ONCE, Span, Whom, few_many, same, span};
use crate::boardroom::{estimate as board, preset};
use crate::discussion::estimate as talk;
use crate::limits;
use crate::workflow::definition::{Kind, Step};
use crate::workflow::kinds::Act;

type Called = fn(String) -> Whom;

/// Advisors of a board that nobody can know before.
const ADVISORS: Span = Span { typical: 3, most: limits::ADVISORS as u64 };
/// Who takes part in a discussion unless that is said.
const PARTICIPANTS: u64 = 3;
/// Tokens of what a seat sees of its board, and of an advisor's own words.
const BOARD_TOKENS: Span = span(600, 4_000);
const ROLE_TOKENS: u64 = 150;

impl Foresight<'_> {
    /// The questions of one attempt at a step.
    pub(super) fn asks(&mut self, act: Act, with: &Map<String, Value>, step: &Step) -> Vec<Asks> {
        match act {
            Act::Ask => {
                let output_tokens = few_many(board::ANSWER_TOKENS);
                let own = self.tokens(with, "system").plus(self.tokens(with, "schema"));
                let input_tokens = self.tokens(with, "prompt").plus(own);
                let whom = self.whom(with, step);
                vec![Asks { whom, calls: ONCE, input_tokens, output_tokens }]
            }
            Act::WhiteboardPost | Act::WhiteboardAnnotate | Act::WhiteboardVote
                if act.is_asked(with) =>
            {
                // Who has not voted on everything is asked once more.
                let calls = if act == Act::WhiteboardVote { span(1, 2) } else { ONCE };
                let input_tokens = self.tokens(with, "ask").plus(BOARD_TOKENS);
                let output_tokens = few_many(board::ANSWER_TOKENS);
                vec![Asks { whom: self.seat(with), calls, input_tokens, output_tokens }]
            }
            Act::Boardroom => self.board(with, step),
            Act::Discussion => self.discussion(with, step),
            Act::Workflow => {
                let name = self.text(with, "name");
                let name =
                    name.map_or_else(|| "another workflow".into(), |name| format!("`{name}`"));
                self.note(format!(
                    "The cost of {name}, which `{}` runs, is not included.",
                    step.id
                ));
                vec![]
            }
            Act::WhiteboardPost
            | Act::WhiteboardAnnotate
            | Act::WhiteboardVote
            | Act::WhiteboardOpen
            | Act::WhiteboardRegister
            | Act::WhiteboardTransition
            | Act::WhiteboardConflicts
            | Act::WhiteboardSummarize
            | Act::WhiteboardArchive
            | Act::CouncilOpen
            | Act::CouncilPost
            | Act::CouncilRead
            | Act::CouncilClose
            | Act::Http
            | Act::Write => vec![],
        }
    }

    fn whom(&mut self, with: &Map<String, Value>, step: &Step) -> Option<Whom> {
        let kinds: [(&str, Called); 3] =
            [("model", Whom::Model), ("tier", Whom::Tier), ("agent", Whom::Agent)];
        let (name, whom) = kinds.into_iter().find(|(name, _)| with.contains_key(*name))?;
        let found = self.text(with, name).map(whom);
        if found.is_none() {
            self.note(format!("Who answers `{}` is not known in advance.", step.id));
        }
        found
    }

    /// Who speaks for a seat: the model that it was registered with, if any.
    fn seat(&self, with: &Map<String, Value>) -> Option<Whom> {
        let written = with.get("as")?;
        let steps = self.definition.all_steps();
        let model = steps.iter().find_map(|step| match &step.kind {
            Kind::Act { act: Act::WhiteboardRegister, with }
                if with.get("agent") == Some(written) =>
            {
                self.text(with, "model")
            }
            Kind::Act { .. }
            | Kind::Set { .. }
            | Kind::Sleep { .. }
            | Kind::Wait(_)
            | Kind::Approve(_)
            | Kind::Foreach(_)
            | Kind::Repeat(_) => None,
        });
        model.map(Whom::Model).or_else(|| self.text(with, "as").map(Whom::Agent))
    }

    /// The advisors, the synthesis, and the ballot where there is one.
    fn board(&mut self, with: &Map<String, Value>, step: &Step) -> Vec<Asks> {
        let advisors = self.advisors(with, step);
        let prompt = self.tokens(with, "prompt");
        let model = self.text(with, "model").map(Whom::Model);
        let chosen = self.text(with, "synthesizer").map(Whom::Model);
        let answer = few_many(board::ANSWER_TOKENS);
        let synthesis = few_many(board::SYNTHESIS_TOKENS);
        let mut asks = vec![
            Asks {
                whom: model.clone(),
                calls: advisors,
                input_tokens: prompt.plus(same(ROLE_TOKENS)),
                output_tokens: answer,
            },
            Asks {
                whom: chosen.or_else(|| model.clone()),
                calls: ONCE,
                input_tokens: prompt
                    .plus(answer.times(advisors))
                    .plus(same(board::SYNTHESIS_FRAME_TOKENS)),
                output_tokens: synthesis,
            },
        ];
        let votes = match with.get("ballot").map(|ballot| self.known(ballot)) {
            None | Some(Some(Value::Bool(false))) => return asks,
            Some(Some(Value::Bool(true))) => advisors,
            Some(_) => span(0, advisors.most),
        };
        asks.push(Asks {
            whom: model,
            calls: votes,
            input_tokens: prompt
                .plus(answer)
                .plus(synthesis)
                .plus(same(board::BALLOT_FRAME_TOKENS)),
            output_tokens: few_many(board::BALLOT_TOKENS),
        });
        asks
    }

    fn advisors(&mut self, with: &Map<String, Value>, step: &Step) -> Span {
        let known = match (with.get("advisors"), with.get("board")) {
            (Some(advisors), _) => {
                self.known(advisors).as_ref().and_then(Value::as_array).map(|all| {
                    let is_person = |advisor: &&Value| advisor.get("person").is_some();
                    all.len() - all.iter().filter(is_person).count()
                })
            }
            (None, Some(_)) => {
                let id = self.text(with, "board").unwrap_or_default();
                preset::board(&id).map(|board| board.roles.len())
            }
            (None, None) => preset::BOARDS.first().map(|board| board.roles.len()),
        };
        known.map(|count| same(count as u64)).unwrap_or_else(|| {
            self.note(format!(
                "The number of advisors in `{}` is not known in advance: {} are assumed as \
                 typical, {} at most.",
                step.id, ADVISORS.typical, ADVISORS.most
            ));
            ADVISORS
        })
    }

    /// Typical: everybody speaks once, and the facilitator ends it. Most: all rounds.
    fn discussion(&mut self, with: &Map<String, Value>, step: &Step) -> Vec<Asks> {
        let rounds = match with.get("rounds").map(|rounds| self.known(rounds)) {
            None => u64::from(limits::ROUNDS),
            Some(Some(rounds)) => rounds.as_u64().unwrap_or(u64::from(limits::ROUNDS)),
            Some(None) => {
                self.note(format!(
                    "The number of rounds in `{}` is not known in advance.",
                    step.id
                ));
                u64::from(limits::ROUNDS_MOST)
            }
        };
        let likely = self.count(with, "with").unwrap_or(PARTICIPANTS).clamp(1, rounds.max(1));
        let turns = span(likely, rounds);
        let ends = span(u64::from(likely < rounds), 0);
        let turn = few_many(talk::TURN_TOKENS);
        let said = span(turn.typical * likely / 2, turn.most * rounds / 2);
        let read = self.tokens(with, "topic").plus(same(talk::FRAME_TOKENS)).plus(said);
        let leader = self.text(with, "facilitator").map(Whom::Agent);
        let asks = |whom: Option<Whom>, calls: Span, written: (u64, u64)| Asks {
            whom,
            calls,
            input_tokens: read,
            output_tokens: few_many(written),
        };
        vec![
            asks(leader.clone(), turns.plus(ends), talk::DECISION_TOKENS),
            asks(None, turns, talk::TURN_TOKENS),
            asks(leader, ONCE, talk::SYNTHESIS_TOKENS),
        ]
    }
}
