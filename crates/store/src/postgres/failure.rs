//! From what PostgreSQL says, or the way to it, to what the caller can do next.

use plenary_engine::ports::StoreError;

/// Raised by our own functions: the same again, alone, will find its answer.
const TRY_AGAIN: &str = "PL001";
const DEADLOCK: &str = "40P01";
const SERIALIZATION: &str = "40001";
const UNKNOWN_END: &str = "40003";
const READ_ONLY: &str = "25006";
const DISK_FULL: &str = "53100";
const TOO_MANY: &str = "53300";
const NO_RIGHT: &str = "42501";
const NO_TABLE: &str = "42P01";
const NO_FUNCTION: &str = "42883";
const WRONG_PASSWORD: &str = "28P01";
/// No entry, or none for a way without TLS.
const NOT_LET_IN: &str = "28000";
/// A statement that was prepared on another connection, or was not.
const OTHER_STATEMENT: [&str; 2] = ["42P05", "26000"];
const NO_DATABASE: &str = "3D000";

pub(super) fn failure(error: sqlx::Error) -> StoreError {
    let said = said(&error);
    match code(&error).as_deref() {
        Some(DISK_FULL) => StoreError::Failed("the database's disk is full".into()),
        Some(READ_ONLY) => {
            StoreError::Failed("the database is read-only now: it is a standby".into())
        }
        Some(TOO_MANY) => StoreError::Failed(format!(
            "the database has no connections left ({said}); raise max_connections or use a pooler"
        )),
        Some(NO_RIGHT) => StoreError::Failed(format!(
            "the database user is not allowed to do that ({said}); run `plenary doctor` as \
                 the owner of the database, then rights.sql (see docs/many-nodes.md)"
        )),
        Some(code) if OTHER_STATEMENT.contains(&code) => StoreError::Failed(format!(
            "the connection goes through a pooler that does not keep prepared statements ({said}); use session \
             mode, or PgBouncer 1.21 or later with max_prepared_statements"
        )),
        Some(NO_TABLE | NO_FUNCTION) => {
            StoreError::Unreadable(format!("it does not have Plenary's tables ({said})"))
        }
        _ => match &error {
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
                StoreError::Unreadable(said)
            }
            _ => StoreError::Failed(said),
        },
    }
}

/// The same, where nothing can have been written.
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

/// What is wrong, and nothing of what was sent: neither values nor passwords.
fn said(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Io(error) => format!("the connection to the database failed: {error}"),
        sqlx::Error::Tls(error) => format!("TLS to the database failed: {error}"),
        error => error.to_string(),
    }
}

/// Why the database cannot be opened, with what to do about it.
pub(super) fn unreachable(shown: &str, error: sqlx::Error) -> StoreError {
    let said = said(&error);
    let hint = match code(&error).as_deref() {
        Some(WRONG_PASSWORD) => {
            ". The password may be in the URL, in PGPASSWORD or in a password file"
        }
        Some(NOT_LET_IN) => {
            ". Check the entry for this user and host in the server's pg_hba.conf, and sslmode"
        }
        Some(NO_DATABASE) => ". Create the database first: createdb",
        _ => "",
    };
    StoreError::NotWritten(format!("the database {shown} cannot be used: {said}{hint}"))
}

/// The connection is of no use any more. What was under way may or may not have been
/// carried out.
pub(super) fn is_lost(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(_) => code(error).is_some_and(|code| {
            // Shut down, crashed, starting; the connection itself.
            code.starts_with("57P") || code.starts_with("08") || code == UNKNOWN_END
        }),
        sqlx::Error::RowNotFound
        | sqlx::Error::ColumnDecode { .. }
        | sqlx::Error::ColumnNotFound(_)
        | sqlx::Error::ColumnIndexOutOfBounds { .. }
        | sqlx::Error::Decode(_)
        | sqlx::Error::Encode(_) => false,
        _ => true,
    }
}

/// After this another connection may lead to another server.
pub(super) fn is_elsewhere(error: &sqlx::Error) -> bool {
    code(error).as_deref() == Some(READ_ONLY)
}

/// Two writes were in each other's way: either alone will do.
pub(super) fn is_collision(error: &sqlx::Error) -> bool {
    matches!(code(error).as_deref(), Some(TRY_AGAIN | DEADLOCK | SERIALIZATION))
}

fn code(error: &sqlx::Error) -> Option<String> {
    Some(error.as_database_error()?.code()?.into_owned())
}
