//! From what SQLite says to what the caller can do next.

use plenary_engine::ports::StoreError;
use sqlx::migrate::MigrateError;

// Primary result codes of SQLite.
const BUSY: u32 = 5;
const READ_ONLY: u32 = 8;
const CORRUPT: u32 = 11;
const FULL: u32 = 13;
const CANNOT_OPEN: u32 = 14;
const NOT_A_DATABASE: u32 = 26;

pub(super) fn failure(error: sqlx::Error) -> StoreError {
    match code(&error) {
        Some(NOT_A_DATABASE) => {
            StoreError::Unreadable("its database file is not a database of Plenary".into())
        }
        Some(CORRUPT) => StoreError::Unreadable(format!("its database file is damaged ({error})")),
        Some(FULL) => StoreError::Failed("the disk is full".into()),
        Some(READ_ONLY) => StoreError::Failed("the data folder is read-only".into()),
        Some(CANNOT_OPEN) => StoreError::Failed("its database file cannot be opened".into()),
        Some(BUSY) => StoreError::Failed("another program is using its database file".into()),
        _ => match error {
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
                StoreError::Unreadable(error.to_string())
            }
            sqlx::Error::PoolClosed => closed(),
            error => StoreError::Failed(error.to_string()),
        },
    }
}

pub(super) fn closed() -> StoreError {
    StoreError::Failed("it has been closed".into())
}

pub(super) fn migration_failure(error: MigrateError) -> StoreError {
    match error {
        MigrateError::VersionMissing(version) => StoreError::Unreadable(format!(
            "the data folder was written by a newer version of Plenary (its tables are at version {version}); install that version or a later one"
        )),
        MigrateError::VersionMismatch(version) => StoreError::Unreadable(format!(
            "the tables of version {version} were made by another edition of Plenary"
        )),
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => failure(error),
        error => StoreError::Failed(error.to_string()),
    }
}

/// The low byte of an extended code is its primary code.
fn code(error: &sqlx::Error) -> Option<u32> {
    let code = error.as_database_error()?.code()?;
    code.parse::<u32>().ok().map(|code| code & 0xff)
}
