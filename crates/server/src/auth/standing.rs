//! What a caller may do to what is not theirs by an agent's token: delete it, close it,
//! reply for a person, make a lost token anew. This file is the only place that says so.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::Principal;

/// Set on requests that an agent makes through MCP. It takes power and gives none, so
/// anybody may set it.
pub const THROUGH: &str = "plenary-through";

/// Principals that are the operator of the server: whoever needs no token or uses the
/// one of this machine, and whoever has the first of the tokens.
const OPERATORS: [&str; 2] = ["local", "token-1"];

/// How a caller stands, whatever session it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Standing {
    principal: String,
    /// Agents act by the tokens that were handed to them, also where whoever runs them
    /// is the operator.
    is_agent: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for Standing {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let principal = parts.extensions.get::<Principal>();
        let principal = principal.map_or_else(String::new, |principal| principal.0.clone());
        Ok(Standing { principal, is_agent: parts.headers.contains_key(THROUGH) })
    }
}

impl Standing {
    pub fn is_operator(&self) -> bool {
        !self.is_agent && OPERATORS.contains(&self.principal.as_str())
    }

    /// Whether the caller may do what is for the opener of a session, or for somebody
    /// whose token was shown, or for the operator. `opener` came in as that principal.
    pub fn may(&self, opener: Option<&str>, has_shown: bool) -> bool {
        // The operator's own sessions are not an agent's because the operator runs it.
        let is_opener = opener == Some(&self.principal) && self.principal().is_some();
        has_shown || is_opener || self.is_operator()
    }

    /// The caller by name, where that tells them from the operator.
    pub fn principal(&self) -> Option<&str> {
        let is_own = !self.principal.is_empty() && !OPERATORS.contains(&self.principal.as_str());
        is_own.then_some(self.principal.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `o` the operator; `y` may, `-` may not.
    const TABLE: &str = "
        caller        nobody's local's token-1's token-2's token-3's shown
        local         o        o       o         o         o         y
        token-1       o        o       o         o         o         y
        token-2       -        -       -         y         -         y
        token-3       -        -       -         -         y         y
        nobody        -        -       -         -         -         y
        local/mcp     -        -       -         -         -         y
        token-1/mcp   -        -       -         -         -         y
        token-2/mcp   -        -       -         y         -         y
        token-3/mcp   -        -       -         -         y         y
        nobody/mcp    -        -       -         -         -         y
    ";

    #[test]
    fn everybody_may_what_the_table_says() {
        let mut rows = TABLE.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let mut rows = rows.by_ref().filter(|row| !row.is_empty());
        let head = rows.next().unwrap_or_default();
        let mut seen = 0;
        for row in rows {
            let (name, is_agent) = match row[0].split_once('/') {
                Some((name, _)) => (name, true),
                None => (row[0], false),
            };
            let principal = if name == "nobody" { "" } else { name }.to_owned();
            let standing = Standing { principal, is_agent };
            for (whose, expected) in head.iter().zip(&row).skip(1) {
                let (opener, shown) = match *whose {
                    "shown" => (None, true),
                    "nobody's" => (None, false),
                    other => (other.strip_suffix("'s"), false),
                };
                let may = standing.may(opener, shown);
                assert_eq!(may, *expected != "-", "{} and {whose}", row[0]);
                assert_eq!(standing.is_operator(), row[1] == "o", "{}", row[0]);
                seen += 1;
            }
        }
        assert_eq!(seen, 60);
    }

    /// A session without a known opener is not that of a caller without a name.
    #[test]
    fn no_name_means_nobody() {
        let standing = Standing { principal: String::new(), is_agent: false };
        assert!(!standing.may(Some(""), false));
        assert_eq!(standing.principal(), None);
    }
}
