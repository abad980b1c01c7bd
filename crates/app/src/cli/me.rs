//! As whom a command acts.

use clap::Args;
use serde_json::Value;

use super::{print_json, usage};
use crate::api::{Api, ApiError, encode};
use crate::terminal::{self, clean};
use crate::tokens::{Kept, Place};

#[derive(Args)]
pub struct Me {
    /// Your name there; not needed if you have only one
    #[arg(id = "as", long = "as", value_name = "NAME")]
    name: Option<String>,
    /// The agent token, if this machine does not have it [env: PLENARY_AGENT_TOKEN]
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
}

/// Shows a token that was renewed, and keeps it: whoever asked for it may act by it.
pub fn renewed(
    reply: &Value,
    kept: &Kept,
    place: Place<'_>,
    name: &str,
    json: bool,
) -> Result<(), ApiError> {
    let token = reply["agentToken"].as_str().unwrap_or_default();
    kept.keep(place, name, token)?;
    if json {
        print_json(reply);
        return Ok(());
    }
    terminal::say(&clean(token));
    let name = clean(name);
    terminal::note(&format!(
        "{name} has a new token; earlier ones no longer work. It is kept here: use --as {name}"
    ));
    Ok(())
}

/// Who was found to act.
pub struct Found {
    pub name: String,
    pub token: Option<String>,
}

impl Me {
    /// The interface as the agent that acts in a place.
    pub async fn acting(&self, api: &Api, kept: &Kept, place: Place<'_>) -> Result<Api, ApiError> {
        let found = self.find(kept, place)?;
        if let Some(Found { token: token @ Some(_), .. }) = found {
            return Ok(api.with_agent(token));
        }
        // A place that is not there is the greater mistake.
        let Place { kind, room } = place;
        api.get::<Value>(&format!("/api/{kind}s/{}", encode(room))).await?;
        let (message, name) = match &found {
            Some(found) => {
                (format!("there is no token for {} on {room} here", found.name), &*found.name)
            }
            None => (format!("you have not joined {room} yet"), "NAME"),
        };
        let lost = match &found {
            Some(_) => format!("; if it was lost: plenary {kind} token {room} --for {name}"),
            None => String::new(),
        };
        Err(ApiError {
            hint: Some(format!("plenary {kind} register {room} --as {name}{lost}")),
            ..usage(message)
        })
    }

    /// The token of the agent that looks; `None` for an outsider.
    pub fn looking(&self, kept: &Kept, place: Place<'_>) -> Result<Option<String>, ApiError> {
        if self.name.is_none() && self.given().is_none() {
            let all = kept.all(place)?;
            if all.len() > 1 {
                let names: Vec<&str> = all.iter().map(|agent| agent.name.as_str()).collect();
                let names = names.join(", --as ");
                terminal::note(&format!("(as a guest; to see more: --as {names})"));
                return Ok(None);
            }
        }
        match self.find(kept, place)? {
            None => Ok(None),
            Some(Found { token: Some(token), .. }) => Ok(Some(token)),
            Some(Found { name, token: None }) => {
                let Place { kind, room } = place;
                let message = format!("there is no token for {name} on {room} here");
                let hint =
                    format!("Leave out --as, or: plenary {kind} register {room} --as {name}");
                Err(ApiError { hint: Some(hint), ..usage(message) })
            }
        }
    }

    /// The name that was given, or the only one that is kept. `None`: nobody.
    pub fn find(&self, kept: &Kept, place: Place<'_>) -> Result<Option<Found>, ApiError> {
        if let Some(token) = self.given() {
            // A token begins with its agent's name.
            let holder = token.rsplit_once('.').map_or("", |(name, _)| name).to_owned();
            if holder.is_empty() {
                let problem = "this is not an agent token; one looks like NAME.4f2a…";
                return Err(usage(problem));
            }
            return match &self.name {
                Some(name) if *name != holder => {
                    Err(usage(format!("the token is {holder}'s, but --as says {name}")))
                }
                _ => Ok(Some(Found { name: holder, token: Some(token) })),
            };
        }
        let all = kept.all(place)?;
        if let Some(name) = &self.name {
            let found = all.into_iter().find(|agent| agent.name == *name);
            let token = found.map(|agent| agent.token);
            return Ok(Some(Found { name: name.clone(), token }));
        }
        match all.as_slice() {
            [] => Ok(None),
            [one] => {
                terminal::note(&format!("(as {})", terminal::clean(&one.name)));
                Ok(Some(Found { name: one.name.clone(), token: Some(one.token.clone()) }))
            }
            several => {
                let names: Vec<&str> = several.iter().map(|agent| agent.name.as_str()).collect();
                let room = place.room;
                let message = format!("you have several names on {room}: {}", names.join(", "));
                let hint = format!("Choose one: --as {}", names[0]);
                Err(ApiError { hint: Some(hint), ..usage(message) })
            }
        }
    }

    /// The name that must be given, for those who are new.
    pub fn named(&self) -> Result<&str, ApiError> {
        self.name.as_deref().ok_or_else(|| usage("say who you are: --as NAME"))
    }

    /// Whether this command says who acts.
    pub fn is_named(&self) -> bool {
        self.name.is_some() || self.token.is_some()
    }

    fn given(&self) -> Option<String> {
        let from_environment = || std::env::var("PLENARY_AGENT_TOKEN").ok();
        let token = self.token.clone().or_else(from_environment)?;
        Some(token.trim().to_owned()).filter(|token| !token.is_empty())
    }
}
