//! The table `[workflows]` of `plenary.toml`: what workflows may reach.

use std::collections::BTreeMap;
use std::path::PathBuf;

use plenary_providers::{AllowedHost, OutsideConfig, Secret, SecretConfig};
use serde::Deserialize;

#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    hosts: Option<Vec<String>>,
    private_hosts: Option<Vec<String>>,
    pub(super) folders: Option<Vec<PathBuf>>,
    /// The variable of each, by its name.
    secrets: Option<BTreeMap<String, String>>,
}

impl Written {
    /// These settings, and the other's where these say nothing.
    pub fn over(self, under: Written) -> Written {
        Written {
            hosts: self.hosts.or(under.hosts),
            private_hosts: self.private_hosts.or(under.private_hosts),
            folders: self.folders.or(under.folders),
            secrets: self.secrets.or(under.secrets),
        }
    }

    pub fn settle(self, env: &dyn Fn(&str) -> Option<String>) -> Result<OutsideConfig, String> {
        let hosts = hosts("hosts", self.hosts)?;
        if let Some(private) = hosts.iter().find(|host| host.is_private()) {
            return Err(format!(
                "[workflows]: `hosts` has {private}, which is not on the public internet; name \
                 it in `private_hosts`"
            ));
        }
        let secret = |(name, variable): (String, String)| {
            check_secret(&name, &variable)?;
            let value = env(&variable).filter(|value| !value.trim().is_empty());
            let value = value.as_deref().map(Secret::new);
            Ok((name, SecretConfig { variable, value }))
        };
        let secrets = self.secrets.unwrap_or_default().into_iter().map(secret);
        Ok(OutsideConfig {
            hosts,
            private_hosts: self::hosts("private_hosts", self.private_hosts)?,
            folders: self.folders.unwrap_or_default(),
            secrets: secrets.collect::<Result<_, String>>()?,
        })
    }

    /// What it lets workflows do, in words. Secrets are told in any case: those of the
    /// user's own file would go to the hosts of this one.
    pub fn effects(self) -> Result<Vec<String>, String> {
        let config = self.settle(&|_| None)?;
        let mut lines = vec![];
        let hosts = [config.hosts, config.private_hosts].concat();
        if !hosts.is_empty() {
            let hosts = listed(hosts.iter().map(ToString::to_string));
            lines.push(format!(
                "lets workflows send requests, with the secrets that are set for them, to {hosts}"
            ));
        }
        if !config.secrets.is_empty() {
            let variables = config.secrets.into_values().map(|secret| secret.variable);
            lines.push(format!("lets workflows send the contents of {}", listed(variables)));
        }
        if !config.folders.is_empty() {
            let folders = config.folders.iter().map(|folder| folder.display().to_string());
            lines.push(format!("lets workflows write files in {}", listed(folders)));
        }
        Ok(lines)
    }
}

fn hosts(setting: &str, written: Option<Vec<String>>) -> Result<Vec<AllowedHost>, String> {
    let hosts = written.unwrap_or_default();
    let hosts = hosts
        .iter()
        .map(|host| host.parse().map_err(|problem| format!("[workflows]: `{setting}`: {problem}")));
    hosts.collect()
}

/// The name as templates can say it. What is no name of a variable would be looked for in
/// vain, and may be the secret itself.
fn check_secret(name: &str, variable: &str) -> Result<(), String> {
    let is_name =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if name.is_empty() || !is_name(name) {
        return Err(format!(
            "[workflows]: {name:?} is not a valid name for a secret; use letters, digits and _"
        ));
    }
    if variable.is_empty() || !is_name(variable) {
        return Err(format!(
            "[workflows]: the secret `{name}` needs the name of an environment variable, not \
             its value"
        ));
    }
    Ok(())
}

fn listed(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Result<Written, String> {
        toml::from_str(text).map_err(|error: toml::de::Error| error.message().to_owned())
    }

    #[test]
    fn what_workflows_may_reach_is_read() {
        let text = r#"
            hosts = ["Hooks.example", "ci.example:8443"]
            private_hosts = ["127.0.0.1:9000", "ci.internal"]
            folders = ["/srv/decisions"]
            secrets = { HOOK = "HOOK_TOKEN", OTHER = "EMPTY", THIRD = "UNSET" }
        "#;
        let env = |name: &str| match name {
            "HOOK_TOKEN" => Some(" the token\n".to_owned()),
            "EMPTY" => Some(" ".to_owned()),
            _ => None,
        };
        let read = |host: &str| host.parse::<AllowedHost>().unwrap();
        let secret = |name: &str, variable: &str, value: Option<&str>| {
            let value = value.map(Secret::new);
            (name.to_owned(), SecretConfig { variable: variable.to_owned(), value })
        };
        let expected = OutsideConfig {
            hosts: vec![read("hooks.example"), read("ci.example:8443")],
            private_hosts: vec![read("127.0.0.1:9000"), read("ci.internal")],
            folders: vec!["/srv/decisions".into()],
            secrets: BTreeMap::from([
                secret("HOOK", "HOOK_TOKEN", Some("the token")),
                secret("OTHER", "EMPTY", None),
                secret("THIRD", "UNSET", None),
            ]),
        };
        assert_eq!(written(text).unwrap().settle(&env), Ok(expected));
        assert_eq!(Written::default().settle(&env), Ok(OutsideConfig::default()));
    }

    #[test]
    fn what_is_wrong_is_named_by_its_setting() {
        for (text, expected) in [
            (
                "hosts = ['https://hooks.example/a']",
                "[workflows]: `hosts`: \"https://hooks.example/a\" is not a host; write a name \
                 such as hooks.example, or ci.example:8443",
            ),
            (
                "private_hosts = ['*']",
                "[workflows]: `private_hosts`: \"*\" is not a host; write a name such as \
                 hooks.example, or ci.example:8443",
            ),
            (
                "hosts = ['10.0.0.7:80']",
                "[workflows]: `hosts` has 10.0.0.7:80, which is not on the public internet; name \
                 it in `private_hosts`",
            ),
            (
                "secrets.'a-b' = 'HOOK'",
                "[workflows]: \"a-b\" is not a valid name for a secret; use letters, digits and _",
            ),
            (
                "secrets.HOOK = 'Bearer abc'",
                "[workflows]: the secret `HOOK` needs the name of an environment variable, not \
                 its value",
            ),
            (
                "hots = []",
                "unknown field `hots`, expected one of `hosts`, `private_hosts`, `folders`, `secrets`",
            ),
        ] {
            let found = written(text).and_then(|written| written.settle(&|_| None));
            assert_eq!(found, Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn each_setting_replaces_the_one_beneath_it_as_a_whole() {
        let own = "hosts = ['a', 'b']\nfolders = ['/own']\nsecrets = { A = 'A' }";
        let over = written("hosts = ['c']\nsecrets = { B = 'B' }").unwrap();
        let expected = written("hosts = ['c']\nfolders = ['/own']\nsecrets = { B = 'B' }").unwrap();
        assert!(over.over(written(own).unwrap()) == expected);
    }

    #[test]
    fn who_is_to_trust_it_is_told_what_leaves() {
        let text = "hosts = ['hooks.example']\nprivate_hosts = ['ci.internal:81']\n\
                    folders = ['/srv/a', '/srv/b']\nsecrets = { HOOK = 'HOOK_TOKEN' }";
        let expected = [
            "lets workflows send requests, with the secrets that are set for them, to \
             hooks.example, ci.internal:81",
            "lets workflows send the contents of HOOK_TOKEN",
            "lets workflows write files in /srv/a, /srv/b",
        ];
        assert_eq!(written(text).unwrap().effects().unwrap(), expected);
        assert_eq!(Written::default().effects().unwrap(), [""; 0]);
    }
}
