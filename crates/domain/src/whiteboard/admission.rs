//! Who may come onto a board, and by what they show that they may.
//!
//! Codes and tokens are made and compared outside: here they are numbers of how often
//! each was made anew, so that what was shown is known to be the newest.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::gate::Action;
use super::{Event, Member, Phase, Role, State, check};
use crate::form::{Report, Ruling};
use crate::ids::AgentName;
use crate::limits;
use crate::reject::{Reject, renewed};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Admission {
    /// Anybody registers in any role.
    #[default]
    Open,
    /// Whoever wants to lead needs an invitation, and after the blind phase everybody
    /// one by name: whoever registers could vote.
    Invited,
}

/// Somebody who was invited by name, in this role.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invited {
    pub name: AgentName,
    pub role: Role,
}

/// What whoever registers has shown besides a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    Nothing,
    /// The token of the agent itself.
    Token,
    /// The board's invitation, made anew so many times.
    Invitation(u32),
    /// The invitation that was made for this name and this role.
    Personal,
    /// An invitation that is none of these.
    Other,
}

impl Admission {
    pub fn is_open(&self) -> bool {
        match self {
            Admission::Open => true,
            Admission::Invited => false,
        }
    }
}

impl State {
    /// How often the board's invitation was made anew; `None` where none is needed.
    pub fn invitation(&self) -> Option<u32> {
        (!self.admission.is_open()).then_some(self.invitation)
    }

    /// How often this agent's token was made anew.
    pub fn renewals(&self, agent: &AgentName) -> u32 {
        self.member(agent).map_or(0, |member| member.renewals)
    }

    pub fn opened_by(&self) -> &AgentName {
        &self.opened_by
    }

    /// As whom the opener came in, where that is not the operator of the server.
    pub fn principal(&self) -> Option<&str> {
        self.principal.as_deref()
    }

    pub(super) fn register(
        &self,
        agent: AgentName,
        role: Role,
        domain: Option<String>,
        shown: Shown,
        at: Timestamp,
    ) -> Ruling<Event> {
        // Before anybody is looked up: a refusal must not tell who is registered.
        self.admit(&agent, role, shown)?;
        let domain = domain.map(|d| d.trim().to_owned()).filter(|domain| !domain.is_empty());
        if let Some(member) = self.member(&agent) {
            return if member.role == role && member.domain == domain {
                Ok(vec![])
            } else {
                Err(already(member))
            };
        }
        self.gate_newcomer()?;
        check::register(&agent, domain.as_deref(), &self.members)?;
        if self.members.len() >= limits::BOARD_AGENTS {
            let most = limits::BOARD_AGENTS;
            return Err(Reject::Forbidden(format!("A board can have at most {most} agents.")));
        }
        Ok(vec![Event::Registered { agent, role, domain, at }])
    }

    /// Whether whoever shows this may register so, be it that they are registered or not.
    pub fn admit(&self, agent: &AgentName, role: Role, shown: Shown) -> Result<(), Reject> {
        let is_invited = |invited: &Invited| invited.name == *agent && invited.role == role;
        let enough = match (self.admission, shown) {
            (Admission::Open, _) | (Admission::Invited, Shown::Token) => true,
            (Admission::Invited, Shown::Personal) => self.invited.iter().any(is_invited),
            (Admission::Invited, Shown::Invitation(made)) if made == self.invitation => {
                self.phase == Phase::Blind
            }
            (Admission::Invited, Shown::Invitation(_) | Shown::Other | Shown::Nothing) => {
                self.phase == Phase::Blind && !role.leads()
            }
        };
        // Nobody can register any more, with or without an invitation.
        let over = self.gate_newcomer().is_err();
        if enough || over { Ok(()) } else { Err(self.not_invited(role, shown)) }
    }

    fn not_invited(&self, role: Role, shown: Shown) -> Reject {
        let opener = &self.opened_by;
        Reject::NotInvited(match (self.phase, shown) {
            (Phase::Blind, Shown::Invitation(_)) => {
                format!("This invitation was replaced by a newer one. Ask {opener} for it.")
            }
            (_, Shown::Other) => {
                "This invitation is for another board, another name or another role.".into()
            }
            (Phase::Blind, Shown::Nothing | Shown::Token | Shown::Personal) => format!(
                "To join this board as {} you need an invitation from {opener}, who opened it; \
                 specialists need none.",
                role.name()
            ),
            (
                Phase::Read | Phase::Validate | Phase::Debate | Phase::Resolve | Phase::Archived,
                Shown::Nothing | Shown::Token | Shown::Invitation(_) | Shown::Personal,
            ) => format!(
                "The blind phase is over: to join you need a personal invitation. Ask a \
                 facilitator or an operator, such as {opener}, for one with your name and role."
            ),
        })
    }

    pub(super) fn invite(
        &self,
        agent: AgentName,
        newcomer: Option<(AgentName, Role)>,
        at: Timestamp,
    ) -> Ruling<Event> {
        self.gate(&agent, Action::Invite)?;
        if self.admission.is_open() {
            let message = "Anyone can join this board; it needs no invitations.";
            return Err(Reject::Forbidden(message.to_owned()));
        }
        match newcomer {
            Some((name, role)) => self.invite_by_name(agent, name, role, at),
            None => self.renew_invitation(agent, at),
        }
    }

    fn invite_by_name(
        &self,
        by: AgentName,
        name: AgentName,
        role: Role,
        at: Timestamp,
    ) -> Ruling<Event> {
        if let Some(member) = self.member(&name) {
            return Err(already(member));
        }
        check::register(&name, None, &self.members)?;
        if self.invited.contains(&Invited { name: name.clone(), role }) {
            return Ok(vec![]);
        }
        if self.invited.len() >= limits::BOARD_INVITED {
            let most = limits::BOARD_INVITED;
            let message = format!("A board can have at most {most} invitations by name.");
            return Err(Reject::Forbidden(message));
        }
        Ok(vec![Event::Invited { agent: name, role, by, at }])
    }

    fn renew_invitation(&self, by: AgentName, at: Timestamp) -> Ruling<Event> {
        if by != self.opened_by {
            let opener = &self.opened_by;
            return Err(Reject::Forbidden(format!(
                "Only {opener}, who opened this board, can renew its invitation. You can invite \
                 someone by name."
            )));
        }
        if self.phase != Phase::Blind {
            return Err(
                self.not_now(self.member(&by), "The blind phase is over: invite by name.".into())
            );
        }
        let generation = renewed(self.invitation)?;
        Ok(vec![Event::InvitationRenewed { generation, by, at }])
    }

    pub(super) fn renew_token(&self, agent: AgentName, at: Timestamp) -> Ruling<Event> {
        let unknown = || Reject::Unknown(format!("There is no agent {agent} on this board."));
        let member = self.member(&agent).ok_or_else(unknown)?;
        if self.sitter(&agent).is_some() {
            let message = format!("{agent} is a model and has no token.");
            return Err(Reject::Forbidden(message));
        }
        if self.is_over() {
            let message = "Tokens no longer have any use here.".to_owned();
            return Err(self.not_now(None, message));
        }
        let generation = renewed(member.renewals)?;
        Ok(vec![Event::TokenRenewed { agent, generation, at }])
    }

    /// For somebody who is not registered, while one can be.
    pub(crate) fn how_to_register(&self) -> &'static str {
        match (self.admission, self.phase) {
            (Admission::Open, _) => "Join to take part.",
            (Admission::Invited, Phase::Blind) => "Join to take part; leaders need an invitation.",
            (
                Admission::Invited,
                Phase::Read | Phase::Validate | Phase::Debate | Phase::Resolve | Phase::Archived,
            ) => "To join now you need a personal invitation; read along, or ask a facilitator.",
        }
    }
}

pub(super) fn already(member: &Member) -> Reject {
    let domain = member.domain.as_deref().map(|d| format!(" for {d:?}")).unwrap_or_default();
    let (name, role) = (&member.name, member.role.name());
    Reject::Forbidden(format!(
        "{name} has already joined as {role}{domain}. Roles cannot be changed: keep it, or join \
         under another name."
    ))
}
