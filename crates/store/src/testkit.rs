//! A database of one's own for a test, on the server that `scripts/postgres` has started.

use std::convert::Infallible;
use std::str::FromStr;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

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
        let create = format!("create database {}", database.name);
        database.administer(create).recv().ok();
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

    /// On a thread of its own, because a test may or may not run in a runtime. Nothing is ever
    /// received: the other end goes when it is done.
    fn administer(&self, statement: String) -> Receiver<Infallible> {
        let server = self.server.clone();
        let work = async move {
            let mut connection = server.connect().await?;
            sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&mut connection).await?;
            connection.close().await
        };
        let (other_end, done) = mpsc::channel();
        std::thread::spawn(move || {
            let _other_end = other_end;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let done = runtime.map_err(sqlx::Error::Io).and_then(|runtime| runtime.block_on(work));
            if let Err(error) = done {
                tracing::error!(%error, "the test's database");
            }
        });
        done
    }
}

impl Drop for Database {
    /// The server waits until every connection that is being made has been made. One of them
    /// may be of this very task, which goes on only after this: so nobody waits for long.
    fn drop(&mut self) {
        let gone = self.administer(format!("drop database if exists {} with (force)", self.name));
        gone.recv_timeout(Duration::from_secs(2)).ok();
    }
}
