//! The way in of a command that stays. Where another process holds the data folder and
//! ends, the way is found anew: through whoever holds the folder then, or by holding it.

use std::time::{Duration, Instant};

use plenary_domain::limits;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::{Api, ApiError};
use crate::config::Config;
use crate::reach::Reach;

pub struct Way<'a> {
    config: &'a Config,
    /// Names this process to others that want the same data folder.
    command: &'static str,
    /// The token of the agent as which requests are made.
    agent: Option<String>,
    reach: Reach,
    api: Api,
}

impl<'a> Way<'a> {
    pub fn new(config: &'a Config, command: &'static str, reach: Reach) -> Self {
        Way { config, command, agent: None, api: reach.api.clone(), reach }
    }

    pub fn with_agent(self, token: Option<String>) -> Self {
        Way { api: self.reach.api.with_agent(token.clone()), agent: token, ..self }
    }

    pub fn api(&self) -> &Api {
        &self.api
    }

    /// This process carries out what it asks for, and nobody goes on with it after.
    pub fn is_here(&self) -> bool {
        self.reach.is_here()
    }

    pub async fn close(self) {
        self.reach.close().await;
    }

    /// Makes a change once: when it is sent again, then under the same key.
    pub async fn post<T: DeserializeOwned>(
        &mut self,
        path: &str,
        body: &Value,
    ) -> Result<T, ApiError> {
        let key = uuid::Uuid::new_v4().to_string();
        self.carry_out(async |api| api.post_once(&key, path, body).await).await
    }

    /// Does what may be done again, and does it again while the folder changes hands.
    pub async fn carry_out<T>(
        &mut self,
        work: impl AsyncFn(&Api) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let began = Instant::now();
        loop {
            let error = match work(&self.api).await {
                Err(error) if self.has_gone(&error) => error,
                other => return other,
            };
            if began.elapsed() > Duration::from_millis(limits::HANDOVER_MS) {
                return Err(error);
            }
            tokio::time::sleep(Duration::from_millis(limits::HANDOVER_PAUSE_MS)).await;
            self.find_again().await?;
        }
    }

    /// Whether the process has gone through which this one had the folder; on its port
    /// another one may listen already.
    fn has_gone(&self, error: &ApiError) -> bool {
        let gone = matches!(error.code.as_str(), "unreachable" | "unauthorized");
        gone && self.config.server.is_none() && !self.is_here()
    }

    /// Whether reading along may go on after this error. A server that was named may come
    /// back, too.
    pub fn may_come_back(&self, error: &ApiError) -> bool {
        error.code == "unreachable" || self.has_gone(error)
    }

    pub async fn find_again(&mut self) -> Result<(), ApiError> {
        if self.is_here() {
            return Ok(());
        }
        match Reach::stay(self.config, self.command).await {
            Ok(reach) => {
                self.api = reach.api.with_agent(self.agent.clone());
                self.reach = reach;
                Ok(())
            }
            // Yet another one has it for a moment.
            Err(error) if error.code == "in-use" => Ok(()),
            Err(error) => Err(error),
        }
    }
}
