//! From what SQLite says to what the caller can do next.

use plenary_engine::ports::StoreError;
use sqlx::migrate::MigrateError;

// Primary result codes of SQLite.
const BUSY: u32 = 5;
const READ_ONLY: u32 = 8;
const INPUT_OUTPUT: u32 = 10;
const CORRUPT: u32 = 11;
const FULL: u32 = 13;
const CANNOT_OPEN: u32 = 14;
const NOT_A_DATABASE: u32 = 26;

const CLOSED: &str = "it has been closed";

pub(super) fn failure(error: sqlx::Error) -> StoreError {
    match code(&error) {
        Some(NOT_A_DATABASE) => {
            StoreError::Damaged("The file plenary.sqlite3 is not a database.".into())
        }
        Some(CORRUPT) => StoreError::Damaged(format!("The database is damaged ({error}).")),
        Some(FULL) => StoreError::Failed("the disk is full".into()),
        Some(READ_ONLY) => StoreError::Failed("the data folder is read-only".into()),
        Some(CANNOT_OPEN) => StoreError::Failed("its database file cannot be opened".into()),
        Some(INPUT_OUTPUT) => StoreError::Failed(format!("its disk failed ({error})")),
        Some(BUSY) => StoreError::Failed("another program is using its database file".into()),
        _ => match error {
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
                StoreError::Unreadable(error.to_string())
            }
            // Whoever reads now may have written before.
            sqlx::Error::PoolClosed => StoreError::Failed(CLOSED.into()),
            sqlx::Error::Io(error) => StoreError::Failed(error.to_string()),
            error => StoreError::Failed(error.to_string()),
        },
    }
}

/// The same, where nothing can have been written yet.
pub(super) fn failure_before(error: sqlx::Error) -> StoreError {
    match failure(error) {
        StoreError::Failed(problem) => StoreError::NotWritten(problem),
        other @ (StoreError::InUse(_)
        | StoreError::NotWritten(_)
        | StoreError::Damaged(_)
        | StoreError::Unreadable(_)
        | StoreError::Fenced) => other,
    }
}

pub(super) fn closed() -> StoreError {
    StoreError::NotWritten(CLOSED.into())
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
