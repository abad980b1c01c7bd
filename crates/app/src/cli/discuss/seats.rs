//! Who takes part, as it is written on the command line.

use plenary_domain::discussion::Role;
use plenary_domain::names::slug;
use serde_json::{Value, json};

use crate::api::{Api, ApiError};
use crate::cli::budget::Limit;
use crate::cli::usage;

/// Everybody, in the order in which the seats are asked for.
pub struct Seats {
    /// Whoever leads, if anybody was named.
    leader: Option<Value>,
    participants: Vec<Written>,
}

struct Written {
    /// The flag with its value, for errors.
    flag: String,
    seat: Value,
}

impl Seats {
    pub fn read(
        leader: Option<Value>,
        with: &[String],
        persons: &[String],
    ) -> Result<Seats, ApiError> {
        let with = with.iter().map(|written| Written::with(written));
        let persons = persons.iter().map(|written| Written::person(written));
        let participants = with.chain(persons).collect::<Result<_, _>>()?;
        Ok(Seats { leader, participants })
    }

    /// Gives those their own budgets whom `--budget` names as they were named here.
    pub fn limit(&mut self, limit: &Limit) -> Result<(), ApiError> {
        let participants = self.participants.iter_mut().map(|written| &mut written.seat);
        let is_meant = |seat: &Value, name: &str| {
            let names = ["name", "agentId", "person"].map(|key| seat[key].as_str());
            names.into_iter().flatten().any(|own| slug(own) == slug(name))
        };
        limit.sit(participants.chain(&mut self.leader), is_meant)
    }

    /// Adds them to a request. Where nobody was named, the server chooses who suits the
    /// format.
    pub fn sit(&self, body: &mut Value) {
        if let Some(leader) = &self.leader {
            body["facilitator"] = leader.clone();
        }
        if !self.participants.is_empty() {
            body["participants"] = self.participants.iter().map(|w| w.seat.clone()).collect();
        }
    }

    /// A name that a stored agent has means that agent, with the model that was given.
    pub async fn find_agents(&mut self, api: &Api) -> Result<(), ApiError> {
        let participants = self.participants.iter_mut().map(|written| &mut written.seat);
        for seat in participants.chain(&mut self.leader).filter_map(Value::as_object_mut) {
            let Some(name) = seat.get("name").and_then(Value::as_str) else { continue };
            match api.get::<Value>(&format!("/api/agents/{}", slug(name))).await {
                Ok(agent) => {
                    seat.remove("name");
                    seat.insert("agentId".to_owned(), agent["id"].clone());
                }
                Err(error) if error.code == "not-found" => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// An error about `participants[1].model` is one about the second flag.
    pub fn name_in(&self, mut error: ApiError) -> ApiError {
        for (field, problem) in &mut error.fields {
            if problem.starts_with("there is no agent") {
                error.hint = Some("List them with `plenary agents list`.".to_owned());
            }
            let Some(rest) = field.strip_prefix("participants[") else { continue };
            let place = rest.split_once(']').and_then(|(place, _)| place.parse::<usize>().ok());
            let flag = match place.and_then(|place| self.participants.get(place)) {
                Some(written) => written.flag.clone(),
                None => {
                    let hint = "Say who takes part with --with; the usual participants do not fit.";
                    error.hint = Some(hint.to_owned());
                    "--facilitator".to_owned()
                }
            };
            error.message = error.message.replace(&format!("`{field}`"), &flag);
            *field = flag;
        }
        error
    }
}

/// `AGENT`, or `AGENT=MODEL`.
pub fn cast(written: &str) -> Value {
    match written.split_once('=') {
        Some((name, model)) => json!({ "name": name.trim(), "model": model.trim() }),
        None => json!({ "agentId": written }),
    }
}

impl Written {
    fn with(written: &str) -> Result<Written, ApiError> {
        let (who, role) = with_role(written);
        let name = who.split_once('=').map_or(who, |(name, _)| name);
        if name.contains(':') {
            return Err(no_role("--with", name));
        }
        let mut seat = cast(who);
        if let Some(role) = role {
            seat["role"] = json!(role.name());
        }
        Ok(Written { flag: format!("--with {written}"), seat })
    }

    fn person(written: &str) -> Result<Written, ApiError> {
        let (who, role) = with_role(written);
        if who.contains(':') {
            return Err(no_role("--person", who));
        }
        if who.contains('=') {
            return Err(usage(format!("--person {written}: a person has no model; use --with")));
        }
        let role = role.unwrap_or(Role::Participant).name();
        let seat = json!({ "person": who, "role": role });
        Ok(Written { flag: format!("--person {written}"), seat })
    }
}

/// Names of models hold colons too: a role is what stands behind the last one, and
/// is known.
fn with_role(written: &str) -> (&str, Option<Role>) {
    let Some((who, role)) = written.rsplit_once(':') else { return (written.trim(), None) };
    match parse_role(role) {
        Some(role) => (who.trim(), Some(role)),
        None => (written.trim(), None),
    }
}

fn parse_role(text: &str) -> Option<Role> {
    let plain: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
    match plain.to_lowercase().as_str() {
        "participant" => Some(Role::Participant),
        "observer" => Some(Role::Observer),
        "devil" | "devils" | "deviladvocate" | "devilsadvocate" => Some(Role::DevilAdvocate),
        _ => None,
    }
}

fn no_role(flag: &str, written: &str) -> ApiError {
    let role = written.rsplit_once(':').map_or("", |(_, role)| role);
    let roles = Role::ALL.map(Role::name).join(", ");
    let problem = match parse_role(role) {
        Some(_) => "the role comes last: NAME=MODEL:ROLE".to_owned(),
        None => format!("there is no role {role:?}; available: {roles}"),
    };
    usage(format!("{flag} {written}: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, expected: Option<Value>) {
        let seats = Seats::read(None, &[written.to_owned()], &[]);
        let read = seats.ok().map(|seats| seats.participants[0].seat.clone());
        assert_eq!(read, expected, "{written}");
    }

    #[test]
    fn a_role_is_what_stands_behind_the_last_colon_and_is_known() {
        check("skeptic", Some(json!({ "agentId": "skeptic" })));
        check("The Spark:observer", Some(json!({ "agentId": "The Spark", "role": "observer" })));
        let devil = Some(json!({ "agentId": "x", "role": "devil_advocate" }));
        check("x:devil", devil.clone());
        check("x:devil-advocate", devil.clone());
        check("x:Devils_Advocate", devil.clone());
        check("x:devil's advocate", devil);
        check("x:jester", None);
        let model = |model: &str| json!({ "name": "Ann", "model": model });
        check("Ann=ollama/llama3.2:3b", Some(model("ollama/llama3.2:3b")));
        let mut with_role = model("ollama/llama3.2:3b");
        with_role["role"] = json!("participant");
        check("Ann=ollama/llama3.2:3b:participant", Some(with_role));
    }
}
