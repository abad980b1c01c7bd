//! Providers that are found by themselves, from the environment.

use crate::config::{Kind, OPENROUTER_URL, ProviderConfig, Secret};

const OLLAMA_PORT: u16 = 11434;
/// With the beginning of their variables.
const VENDORS: [(&str, Kind, &str); 4] = [
    ("openai", Kind::OpenAi, "OPENAI"),
    ("anthropic", Kind::Anthropic, "ANTHROPIC"),
    ("gemini", Kind::Gemini, "GEMINI"),
    ("openrouter", Kind::OpenAi, "OPENROUTER"),
];

/// What the environment names, and Ollama at its usual place in any case.
/// `env` looks up a variable; an empty one counts as not set.
pub fn discover(env: &dyn Fn(&str) -> Option<String>) -> Vec<ProviderConfig> {
    let get = |name: &str| env(name).filter(|value| !value.trim().is_empty());
    let ollama = ProviderConfig::new("ollama", Kind::Ollama);
    let mut found = vec![match get("OLLAMA_HOST") {
        Some(host) => ollama.at(&ollama_url(&host)),
        None => ollama,
    }];
    for (name, kind, prefix) in VENDORS {
        let usual = if name == "openrouter" { OPENROUTER_URL } else { kind.usual_url() };
        let key_env = key_variable(prefix);
        let key = get(&key_env);
        let url = get(&format!("{prefix}_BASE_URL"));
        // A local server that speaks OpenAI's wire wants no key.
        let keyless = name == "openai" && url.is_some();
        if key.is_none() && !keyless {
            continue;
        }
        let mut config = ProviderConfig::new(name, kind).at(url.as_deref().unwrap_or(usual));
        config.key = key.as_deref().map(Secret::new);
        config.key_env = Some(key_env);
        found.push(config);
    }
    found
}

fn key_variable(prefix: &str) -> String {
    format!("{prefix}_API_KEY")
}

/// Providers that take a key, and the variable in which each looks for it: the vendors, and
/// what is set up beside them.
pub fn key_variables(configs: &[ProviderConfig]) -> Vec<(String, String)> {
    let own = configs.iter().filter_map(|one| Some((one.name.clone(), one.key_env.clone()?)));
    let mut all: Vec<(String, String)> = own.collect();
    for (name, _, prefix) in VENDORS {
        if !configs.iter().any(|one| one.name == name) {
            all.push((name.to_owned(), key_variable(prefix)));
        }
    }
    all
}

/// Reads `OLLAMA_HOST` as Ollama itself does: the scheme, the port and the host
/// may each be left out. A server that listens on every interface is called on
/// the loopback.
fn ollama_url(host: &str) -> String {
    let host = host.trim().trim_matches(['"', '\'']).trim_end_matches('/');
    let (scheme, rest) = host.split_once("://").unwrap_or(("", host));
    let (authority, path) = match rest.split_once('/') {
        Some((authority, path)) => (authority, format!("/{path}")),
        None => (rest, String::new()),
    };
    let (name, port) = split_port(authority);
    let name = match name {
        "" | "0.0.0.0" | "[::]" | "::" => "127.0.0.1".to_owned(),
        bare if bare.contains(':') && !bare.starts_with('[') => format!("[{bare}]"),
        other => other.to_owned(),
    };
    let usual = match scheme {
        "http" => 80,
        "https" => 443,
        _ => OLLAMA_PORT,
    };
    let scheme = if scheme == "https" { "https" } else { "http" };
    format!("{scheme}://{name}:{}{path}", port.unwrap_or(usual))
}

fn split_port(authority: &str) -> (&str, Option<u16>) {
    // More than one colon without brackets is an IPv6 address and nothing else.
    let bare_ipv6 = !authority.starts_with('[') && authority.matches(':').count() > 1;
    match authority.rsplit_once(':') {
        Some((name, port)) if !bare_ipv6 && !port.ends_with(']') => (name, port.parse().ok()),
        _ => (authority, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(env: &[(&str, &str)], expected: &[(&str, &str, &str, bool)]) {
        let get = |name: &str| {
            let found = env.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let found = discover(&get);
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.kind.word(), one.url.as_str(), one.key.is_some()))
            .collect();
        assert_eq!(found, expected);
    }

    const OLLAMA: (&str, &str, &str, bool) = ("ollama", "ollama", "http://127.0.0.1:11434", false);

    #[test]
    fn ollama_is_looked_for_at_its_usual_place() {
        check(&[], &[OLLAMA]);
        check(&[("OLLAMA_HOST", ""), ("OPENAI_API_KEY", " ")], &[OLLAMA]);
    }

    #[test]
    fn keys_and_base_urls_make_providers() {
        check(
            &[
                ("OPENAI_API_KEY", "k1"),
                ("ANTHROPIC_API_KEY", "k2"),
                ("ANTHROPIC_BASE_URL", "http://10.0.0.1:8000/"),
                ("GEMINI_API_KEY", "k3"),
                ("OPENROUTER_API_KEY", "k4"),
            ],
            &[
                OLLAMA,
                ("openai", "openai", "https://api.openai.com/v1", true),
                ("anthropic", "anthropic", "http://10.0.0.1:8000", true),
                ("gemini", "gemini", "https://generativelanguage.googleapis.com", true),
                ("openrouter", "openai", "https://openrouter.ai/api/v1", true),
            ],
        );
    }

    #[test]
    fn a_base_url_alone_makes_an_openai_provider_and_no_other() {
        check(
            &[
                ("OPENAI_BASE_URL", "http://localhost:8080/v1"),
                ("ANTHROPIC_BASE_URL", "http://localhost:8081"),
                ("OPENROUTER_BASE_URL", "http://localhost:8082"),
            ],
            &[OLLAMA, ("openai", "openai", "http://localhost:8080/v1", false)],
        );
    }

    #[test]
    fn ollama_host_is_read_as_ollama_reads_it() {
        for (host, url) in [
            ("box", "http://box:11434"),
            ("box:9000", "http://box:9000"),
            (":9000", "http://127.0.0.1:9000"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:9000", "http://127.0.0.1:9000"),
            ("http://box", "http://box:80"),
            ("http://box:9000/", "http://box:9000"),
            ("https://box", "https://box:443"),
            ("https://box/ollama/", "https://box:443/ollama"),
            ("[::]:9000", "http://127.0.0.1:9000"),
            ("::1", "http://[::1]:11434"),
            ("[::1]", "http://[::1]:11434"),
            ("[::1]:9000", "http://[::1]:9000"),
            (" \"box\" ", "http://box:11434"),
        ] {
            assert_eq!(ollama_url(host), url, "{host}");
        }
    }
}
