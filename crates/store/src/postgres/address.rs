//! Where a database is, and how it may be shown.

use std::fmt;
use std::str::FromStr;

use plenary_engine::ports::StoreError;
use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;

/// From a URL. It may hold a password, so it is shown only without.
#[derive(Clone)]
pub struct Address {
    options: PgConnectOptions,
    listening: Option<PgConnectOptions>,
}

impl Address {
    /// `postgres://user:password@host:port/database?sslmode=verify-full&sslrootcert=FILE`.
    /// What is missing comes from the environment, as with PostgreSQL's own programs.
    pub fn of(url: &str) -> Result<Address, StoreError> {
        Ok(Address { options: parsed(url)?, listening: None })
    }

    /// Where notices are heard, where that is another way than the rest: a pooler that
    /// gives connections to transactions lets none through.
    pub fn listening_at(self, url: &str) -> Result<Address, StoreError> {
        Ok(Address { listening: Some(parsed(url)?), ..self })
    }

    pub fn is_one(url: &str) -> bool {
        ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme))
    }

    /// For people, logs and files: without the password and the rest.
    pub fn shown(&self) -> String {
        let options = &self.options;
        let place = match options.get_socket() {
            Some(socket) => socket.display().to_string(),
            None => format!("{}:{}", options.get_host(), options.get_port()),
        };
        let database = options.get_database().unwrap_or(options.get_username());
        format!("postgres://{}@{place}/{database}", options.get_username())
    }

    /// The host and port to reach it at; none of one that is reached through a file.
    pub fn place(&self) -> Option<(&str, u16)> {
        let options = &self.options;
        options.get_socket().is_none().then(|| (options.get_host(), options.get_port()))
    }

    pub(super) fn options(&self) -> PgConnectOptions {
        self.options.clone()
    }

    pub(super) fn listening(&self) -> PgConnectOptions {
        self.listening.clone().unwrap_or_else(|| self.options())
    }
}

const MODES: [&str; 6] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/// What may stand after `?`.
const OPTIONS: [&str; 13] = [
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "host",
    "hostaddr",
    "port",
    "user",
    "password",
    "dbname",
    "options",
    "application_name",
    "statement-cache-capacity",
];

fn parsed(url: &str) -> Result<PgConnectOptions, StoreError> {
    // Not what the parser says of it: that may repeat a part of the URL.
    let wrong = || {
        StoreError::NotWritten(
            "the database URL cannot be read; write postgres://USER@HOST:PORT/DATABASE, with special characters of the password as %XX".into(),
        )
    };
    if !Address::is_one(url) {
        return Err(wrong());
    }
    let (_, written) = url.split_once('?').unwrap_or_default();
    for option in written.split('&').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        // The parser would pass over it, and a connection meant to be encrypted might not be.
        if !OPTIONS.contains(&name) && !name.starts_with("options[") {
            let problem = format!(
                "{name:?} is not an option of a database URL; there are {}",
                OPTIONS.join(", ")
            );
            return Err(StoreError::NotWritten(problem));
        }
        let is_file = matches!(name, "sslrootcert" | "sslcert" | "sslkey") && !value.contains('%');
        if let (true, Err(error)) = (is_file, std::fs::metadata(value)) {
            let problem = format!("{name} in the database URL: {value}: {error}");
            return Err(StoreError::NotWritten(problem));
        }
        if name == "sslmode" && !MODES.contains(&value.to_ascii_lowercase().as_str()) {
            let problem =
                format!("sslmode in the database URL is {value:?}; it can be {}", MODES.join(", "));
            return Err(StoreError::NotWritten(problem));
        }
    }
    let options = PgConnectOptions::from_str(url).map_err(|_| wrong())?;
    Ok(options.application_name("plenary").disable_statement_logging())
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn a_password_is_not_shown() {
        let address = Address::of("postgres://ada:geheim@db.example:6432/plenary?sslmode=require");
        let address = address.unwrap();
        assert_eq!(address.shown(), "postgres://ada@db.example:6432/plenary");
        assert_eq!(format!("{address:?}"), address.shown());
        for option in ["sslmode=verifyfull", "sslrootcert=/none/ca.pem", "sslmod=verify-full"] {
            let url = format!("postgres://ada:geheim@host/db?{option}");
            let error = Address::of(&url).unwrap_err().to_string();
            let (name, value) = option.split_once('=').unwrap();
            let is_told = error.contains(name) && (error.contains(value) || name == "sslmod");
            assert!(is_told, "{error}");
            assert!(!error.contains("geheim"), "{error}");
        }
        for url in ["postgres://ada:geheim@host:port/db", "mysql://ada:geheim@host/db", "geheim"] {
            let error = Address::of(url).unwrap_err().to_string();
            assert!(!error.contains("geheim"), "{error}");
        }
    }
}
