//! A log in either database.

use std::sync::Arc;

use plenary_engine::ports::{Store, StoreError};

use crate::{PostgresStore, SqliteStore};

#[derive(Clone)]
pub enum Log {
    /// In a data folder, which this process holds.
    Folder(Arc<SqliteStore>),
    /// In a database, which any number of processes use.
    Database(Arc<PostgresStore>),
}

impl Log {
    pub fn store(&self) -> Arc<dyn Store> {
        match self {
            Log::Folder(store) => store.clone(),
            Log::Database(store) => store.clone(),
        }
    }

    /// What was wrong with the store when it was opened, in sentences for its user.
    pub fn told(&self) -> Option<&str> {
        match self {
            Log::Folder(store) => store.told(),
            Log::Database(_) => None,
        }
    }

    /// Tells whoever wants the same data folder where this process listens. A database is
    /// open to all.
    pub fn announce(&self, url: &str, token: &str) -> Result<(), StoreError> {
        match self {
            Log::Folder(store) => store.announce(url, token),
            Log::Database(_) => Ok(()),
        }
    }

    /// Carries out what waits to be written, and lets go.
    pub async fn close(&self) -> Result<(), StoreError> {
        match self {
            Log::Folder(store) => store.close().await,
            Log::Database(store) => {
                store.close().await;
                Ok(())
            }
        }
    }
}
