//! Who may do what in which phase. This table is the only place that says so.

use super::{Member, Note, Phase, PostKind, State, or};
use crate::ids::AgentName;
use crate::reject::Reject;

/// What one may want to do on a board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Register,
    Invite,
    /// A model or a stored agent.
    Seat,
    /// A proposal, a claim or a concern.
    Propose,
    /// An informational post.
    Inform,
    Validate,
    Challenge,
    Corroborate,
    Rebut,
    Withdraw,
    Resolve,
    Vote,
    Transition,
    Conflicts,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Who {
    Nobody,
    Anyone,
    Members,
    /// Facilitators and operators.
    Leaders,
}

impl Action {
    pub const ALL: [Action; 14] = [
        Action::Register,
        Action::Invite,
        Action::Propose,
        Action::Inform,
        Action::Validate,
        Action::Challenge,
        Action::Corroborate,
        Action::Rebut,
        Action::Withdraw,
        Action::Resolve,
        Action::Vote,
        Action::Seat,
        Action::Transition,
        Action::Conflicts,
    ];

    fn who(self, phase: Phase) -> Who {
        use Who::{Anyone, Leaders, Members, Nobody};
        let [blind, read, validate, debate, resolve, archived] = match self {
            //                      blind    read     validate debate   resolve  archived
            Action::Register => [Anyone, Anyone, Anyone, Anyone, Nobody, Nobody],
            Action::Invite => [Leaders, Leaders, Leaders, Leaders, Nobody, Nobody],
            Action::Seat => [Leaders, Leaders, Leaders, Leaders, Nobody, Nobody],
            Action::Propose => [Members, Nobody, Nobody, Nobody, Nobody, Nobody],
            Action::Inform => [Members, Nobody, Nobody, Members, Nobody, Nobody],
            Action::Validate => [Nobody, Nobody, Members, Nobody, Nobody, Nobody],
            Action::Challenge => [Nobody, Nobody, Nobody, Members, Nobody, Nobody],
            Action::Corroborate => [Nobody, Nobody, Nobody, Members, Nobody, Nobody],
            Action::Rebut => [Nobody, Nobody, Nobody, Members, Nobody, Nobody],
            Action::Withdraw => [Nobody, Nobody, Nobody, Members, Nobody, Nobody],
            Action::Resolve => [Nobody, Nobody, Nobody, Members, Members, Nobody],
            Action::Vote => [Nobody, Nobody, Nobody, Members, Nobody, Nobody],
            Action::Transition => [Leaders, Leaders, Leaders, Leaders, Leaders, Nobody],
            Action::Conflicts => [Nobody, Anyone, Anyone, Anyone, Anyone, Anyone],
        };
        match phase {
            Phase::Blind => blind,
            Phase::Read => read,
            Phase::Validate => validate,
            Phase::Debate => debate,
            Phase::Resolve => resolve,
            Phase::Archived => archived,
        }
    }

    pub fn post(kind: PostKind) -> Action {
        match kind {
            PostKind::Proposal | PostKind::Claim | PostKind::Concern => Action::Propose,
            PostKind::Informational => Action::Inform,
        }
    }

    pub fn annotate(note: &Note) -> Action {
        match note {
            Note::Validation { .. } => Action::Validate,
            Note::Challenge => Action::Challenge,
            Note::Corroboration => Action::Corroborate,
            Note::Rebuttal { .. } => Action::Rebut,
            Note::Withdrawal { .. } => Action::Withdraw,
            Note::Resolution { .. } => Action::Resolve,
        }
    }

    /// As interfaces call it.
    pub fn name(self) -> &'static str {
        match self {
            Action::Register => "register",
            Action::Invite => "invite",
            Action::Seat => "seat",
            Action::Propose => "post",
            Action::Inform => "post informational",
            Action::Validate => "annotate validation",
            Action::Challenge => "annotate challenge",
            Action::Corroborate => "annotate corroboration",
            Action::Rebut => "annotate rebuttal",
            Action::Withdraw => "annotate withdrawal",
            Action::Resolve => "annotate resolution",
            Action::Vote => "vote",
            Action::Transition => "transition",
            Action::Conflicts => "conflicts",
        }
    }

    /// "somebody else has to …".
    pub(super) fn verb(self) -> &'static str {
        match self {
            Action::Register => "register",
            Action::Invite => "invite",
            Action::Seat => "seat someone",
            Action::Propose | Action::Inform => "post",
            Action::Validate => "validate it",
            Action::Challenge => "challenge it",
            Action::Corroborate => "corroborate it",
            Action::Rebut => "rebut",
            Action::Withdraw => "withdraw it",
            Action::Resolve => "resolve it",
            Action::Vote => "vote on it",
            Action::Transition => "move the board on",
            Action::Conflicts => "look for conflicts",
        }
    }

    fn phases(self) -> Vec<&'static str> {
        let open = |phase: &Phase| self.who(*phase) != Who::Nobody;
        Phase::ALL.into_iter().filter(open).map(Phase::name).collect()
    }
}

impl State {
    /// Lets a registered agent through, or says why not.
    pub(super) fn gate(&self, agent: &AgentName, action: Action) -> Result<&Member, Reject> {
        let member = self.member(agent).ok_or_else(|| self.stranger(agent))?;
        match action.who(self.phase) {
            Who::Nobody => Err(self.not_now(Some(member), closed(self.phase, action))),
            Who::Leaders if !member.role.leads() => Err(self.leaders_only(member, action.verb())),
            Who::Anyone | Who::Members | Who::Leaders => Ok(member),
        }
    }

    /// Whether this agent leads the board, whatever its phase.
    pub fn is_led_by(&self, agent: &AgentName) -> Result<(), Reject> {
        let member = self.member(agent).ok_or_else(|| self.stranger(agent))?;
        match member.role.leads() {
            true => Ok(()),
            false => Err(self.leaders_only(member, "do that")),
        }
    }

    fn leaders_only(&self, member: &Member, verb: &str) -> Reject {
        Reject::Forbidden(format!(
            "{} is a {}; only a facilitator or an operator can {verb}. {} opened this board and is \
             one.",
            member.name,
            member.role.name(),
            self.opened_by
        ))
    }

    fn stranger(&self, agent: &AgentName) -> Reject {
        let how = match Action::Register.who(self.phase) {
            Who::Nobody => {
                let phase = self.phase.name();
                format!(", and no one can join any more in its {phase} phase.")
            }
            Who::Anyone | Who::Members | Who::Leaders => "; join first.".to_owned(),
        };
        Reject::Forbidden(format!("{agent} has not joined this board{how}"))
    }

    /// Whether anybody may do this now.
    pub(crate) fn is_time_for(&self, action: Action) -> bool {
        action.who(self.phase) != Who::Nobody
    }

    /// For what needs no registration.
    pub(super) fn gate_newcomer(&self) -> Result<(), Reject> {
        self.gate_anyone(Action::Register)
    }

    pub(crate) fn gate_anyone(&self, action: Action) -> Result<(), Reject> {
        match action.who(self.phase) {
            Who::Anyone => Ok(()),
            Who::Nobody | Who::Members | Who::Leaders => {
                Err(self.not_now(None, closed(self.phase, action)))
            }
        }
    }

    /// What this member, or somebody who is none, may do now.
    pub(crate) fn allowed(&self, member: Option<&Member>) -> Vec<&'static str> {
        let may = |action: &Action| match (action.who(self.phase), member) {
            (Who::Nobody, _) | (Who::Members | Who::Leaders, None) => false,
            (Who::Anyone, None) | (Who::Members, Some(_)) => true,
            (Who::Anyone, Some(_)) => *action != Action::Register,
            (Who::Leaders, Some(member)) => member.role.leads(),
        };
        // Nobody needs an invitation where everybody may come.
        let counts = |action: &Action| *action != Action::Invite || !self.admission.is_open();
        Action::ALL.into_iter().filter(counts).filter(may).map(Action::name).collect()
    }

    pub(super) fn not_now(&self, member: Option<&Member>, message: String) -> Reject {
        let who = match self.phase {
            Phase::Archived => "An archived board is read-only.".to_owned(),
            phase => {
                let ways: Vec<&str> = phase.next().iter().map(|phase| phase.name()).collect();
                format!(
                    "A facilitator or an operator, such as {}, can move it on to {}.",
                    self.opened_by,
                    or(&ways)
                )
            }
        };
        Reject::NotNow {
            state: self.phase.name(),
            message: format!("{message} {who}"),
            allowed: self.allowed(member),
        }
    }
}

fn closed(phase: Phase, action: Action) -> String {
    let phase = phase.name();
    let when = match action.phases().as_slice() {
        [one] => format!("the {one} phase"),
        [many @ .., last] => format!("the phases {} and {last}", many.join(", ")),
        [] => "no phase".to_owned(),
    };
    format!("The board is in its {phase} phase; `{}` is for {when}.", action.name())
}
