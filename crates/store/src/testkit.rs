//! A database of one's own for a test, on the server that `scripts/postgres` has started.

use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection};

const SERVER: &str = "PLENARY_TEST_POSTGRES";

/// Dropped with the value.
pub struct Database {
    server: PgConnectOptions,
    name: String,
}

impl Database {
    /// An empty one. `None`: there is no server to test with, which `scripts/test` says
    /// loudly.
    pub fn fresh() -> Option<Database> {
        let server = std::env::var(SERVER).ok().filter(|url| !url.is_empty())?;
        let server = PgConnectOptions::from_str(&server).unwrap_or_default();
        let name = format!("test_{}", uuid::Uuid::now_v7().simple());
        let database = Database { server, name };
        database.administer(format!("create database {}", database.name));
        Some(database)
    }

    /// With the password: whatever is tested needs one to connect.
    pub fn url(&self) -> String {
        self.server.clone().database(&self.name).to_url_lossy().to_string()
    }

    /// Whatever a test wants to do to it beside the store.
    pub async fn connect(&self) -> Result<PgConnection, sqlx::Error> {
        self.server.clone().database(&self.name).connect().await
    }

    /// On a thread of its own, because a test may or may not run in a runtime.
    fn administer(&self, statement: String) {
        let server = self.server.clone();
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map_err(sqlx::Error::Io)?.block_on(async {
                let mut connection = server.connect().await?;
                sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&mut connection).await?;
                connection.close().await
            })
        };
        let done = std::thread::spawn(work).join();
        if let Ok(Err(error)) = done {
            tracing::error!(%error, "the test's database");
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.administer(format!("drop database if exists {} with (force)", self.name));
    }
}
