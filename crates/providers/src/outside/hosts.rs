//! Which hosts requests may go to, by their names and by the addresses that these lead to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use plenary_domain::{Failure, FailureKind};
use reqwest::Url;

use super::{OutsideConfig, failure};
use crate::failure::presentable;

/// A host that the configuration names: `hooks.example`, or `ci.example:8443`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllowedHost {
    /// As an address has it: in small letters, by its ASCII name, without a last dot.
    host: String,
    /// Without one it is 80 for `http` and 443 for `https`.
    port: Option<u16>,
}

impl AllowedHost {
    /// Whether this is an address, and not one on the public internet.
    pub fn is_private(&self) -> bool {
        literal(&self.host).is_some_and(is_private)
    }
}

impl FromStr for AllowedHost {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{written:?} is not a host; write a name such as hooks.example, or ci.example:8443"
            )
        };
        // All that would make it more than a host, or that addresses leave out silently.
        let odd = |c: char| "/\\?#@*%".contains(c) || c.is_whitespace() || c.is_control();
        if written.is_empty() || written.contains(odd) {
            return Err(wrong());
        }
        let with = |scheme: &str| Url::parse(&format!("{scheme}://{written}")).map_err(|_| wrong());
        let (http, https) = (with("http")?, with("https")?);
        // Each leaves its own usual port out, and the other shows it.
        let port = http.port().or(https.port());
        if port == Some(0) || (port.is_none() && written.ends_with(':')) {
            return Err(wrong());
        }
        let host = host_of(&http).ok_or_else(wrong)?;
        Ok(AllowedHost { host, port })
    }
}

impl std::fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => f.write_str(&self.host),
        }
    }
}

/// Where a request is to go, by its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Target {
    pub url: Url,
    /// As the configuration would have to name it.
    pub named: AllowedHost,
    pub port: u16,
    /// The configuration allows it wherever it is.
    pub anywhere: bool,
}

/// Reads an address, and looks whether its host and port are allowed.
pub(super) fn target(config: &OutsideConfig, written: &str) -> Result<Target, Failure> {
    let no_address = || wrong(format!("`{}` is not a server address.", presentable(written)));
    let mut url = Url::parse(written).map_err(|_| no_address())?;
    if !matches!(url.scheme(), "http" | "https") {
        let scheme = presentable(url.scheme());
        return Err(wrong(format!("A request must go to http:// or https://, not to {scheme}:.")));
    }
    // The words before an @ look like a host, and a password would stand in the record.
    if !url.username().is_empty() || url.password().is_some() || has_at(written) {
        return Err(wrong(
            "An address must not contain a name or password before an @; send them as a header, \
             from a secret."
                .into(),
        ));
    }
    let (Some(host), Some(port)) = (host_of(&url), url.port_or_known_default()) else {
        return Err(no_address());
    };
    url.set_host(Some(&host)).map_err(|_| no_address())?;
    url.set_fragment(None);
    let named = AllowedHost { host, port: url.port() };
    let is = |allowed: &AllowedHost| {
        let same_port = allowed.port.map_or(named.port.is_none(), |one| one == port);
        allowed.host == named.host && same_port
    };
    let anywhere = config.private_hosts.iter().any(is);
    let is_local = named.is_private();
    if !anywhere && (is_local || !config.hosts.iter().any(is)) {
        let setting = if is_local { "private_hosts" } else { "hosts" };
        let named = presentable(&named.to_string());
        return Err(wrong(format!(
            "Workflows may not send requests to {named}. To allow it, add \"{named}\" to \
             `{setting}` under [workflows] in plenary.toml."
        )));
    }
    Ok(Target { url, named, port, anywhere })
}

impl Target {
    /// The address itself, where the host is no name.
    pub(super) fn literal(&self) -> Option<IpAddr> {
        literal(&self.named.host)
    }

    pub(super) fn host(&self) -> &str {
        &self.named.host
    }

    /// Refuses a name that leads where only a private host may be, if only in part: which
    /// of its addresses is taken is nobody's choice.
    pub(super) fn check(&self, addresses: &[IpAddr]) -> Result<(), Failure> {
        let inside = addresses.iter().find(|address| is_private(**address));
        match inside.filter(|_| !self.anywhere) {
            None => Ok(()),
            Some(address) => {
                let named = presentable(&self.named.to_string());
                Err(wrong(format!(
                    "{named} points to {address}, which is not on the public internet. If you mean \
                     that, add \"{named}\" to `private_hosts` under [workflows] in plenary.toml."
                )))
            }
        }
    }
}

fn wrong(message: String) -> Failure {
    failure(FailureKind::Misconfigured, message)
}

/// Also where both the name and the password are empty, which leaves no trace.
fn has_at(written: &str) -> bool {
    let after = written.split_once(':').map_or(written, |(_, rest)| rest);
    let after = after.trim_start_matches(['/', '\\', '\t', '\n', '\r']);
    let authority = after.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    authority.contains('@')
}

/// The host in the one form in which hosts are compared. What looks like a number to
/// whoever connects must look like one to us.
fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_name = url.domain().is_some();
    let hides_a_number = is_name && literal(host).is_some();
    let fits = !host.is_empty() && !host.ends_with('.') && !hides_a_number;
    fits.then(|| host.to_owned())
}

fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Whatever is not a single machine on the public internet, by the registries of
/// addresses for special purposes.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    match address.octets() {
        // This network, private, loopback.
        [0 | 10 | 127, ..] => true,
        // Behind a provider's own translation.
        [100, 64..=127, ..] => true,
        [169, 254, ..] | [172, 16..=31, ..] | [192, 168, ..] => true,
        // For protocols, documentation, relays and measurements.
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [198, 18 | 19, ..] => true,
        [198, 51, 100, _] | [203, 0, 113, _] => true,
        // To many at once, reserved, to all.
        [224..=255, ..] => true,
        _ => false,
    }
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // Where there is only IPv6, names lead to the IPv4 address within this.
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => {
            let [.., a, b, c, d] = address.octets();
            is_private_v4(Ipv4Addr::new(a, b, c, d))
        }
        // For protocols and tunnels, documentation, and IPv4 by relays.
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x2002, ..] => true,
        [0x3fff, 0..=0xfff, ..] => true,
        // All public addresses are of this block: loopback, link-local, IPv4 in other
        // clothes and the like are not.
        [first, ..] => first & 0xe000 != 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(hosts: &[&str], private: &[&str]) -> OutsideConfig {
        let read = |hosts: &[&str]| hosts.iter().map(|host| host.parse().unwrap()).collect();
        OutsideConfig {
            hosts: read(hosts),
            private_hosts: read(private),
            ..OutsideConfig::default()
        }
    }

    #[test]
    fn hosts_are_read_in_one_form() {
        let check = |written: &str, expected: Option<&str>| {
            let found = written.parse::<AllowedHost>().ok().map(|host| host.to_string());
            assert_eq!(found.as_deref(), expected, "{written}");
        };
        check("hooks.example", Some("hooks.example"));
        check("Hooks.EXAMPLE.", Some("hooks.example"));
        check("ci.example:8443", Some("ci.example:8443"));
        // One that is written counts, also where it is usual.
        check("ci.example:80", Some("ci.example:80"));
        check("ci.example:443", Some("ci.example:443"));
        check("bücher.example", Some("xn--bcher-kva.example"));
        check("127.0.0.1:9000", Some("127.0.0.1:9000"));
        check("0x7f.1", Some("127.0.0.1"));
        check("[::1]:9000", Some("[::1]:9000"));
        for wrong in [
            "",
            " ",
            "*",
            "*.example",
            "https://hooks.example",
            "hooks.example/path",
            "a b",
            "user@hooks.example",
            "hooks.example?x",
            "hooks.example#x",
            "hooks.example:",
            ":80",
            "hooks.example:0",
            "hooks.example:65536",
            "::1",
            "hooks.example\\x",
            "hooks%2eexample",
            ".",
            "hooks.example..",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn only_hosts_and_ports_that_are_named_are_allowed() {
        let config =
            allowed(&["hooks.example", "ci.example:8443", "bücher.example"], &["10.0.0.7"]);
        let check = |url: &str, expected: Result<(&str, u16), &str>| {
            let found = target(&config, url);
            match (found, expected) {
                (Ok(found), Ok((shown, port))) => {
                    assert_eq!((found.url.as_str(), found.port), (shown, port), "{url}");
                }
                (Err(failure), Err(words)) => {
                    assert_eq!(failure.kind, FailureKind::Misconfigured, "{url}");
                    assert!(failure.message.contains(words), "{url}: {}", failure.message);
                }
                (found, _) => panic!("{url}: {found:?}"),
            }
        };
        check("https://hooks.example/a?b=c#d", Ok(("https://hooks.example/a?b=c", 443)));
        check("http://hooks.example:80/", Ok(("http://hooks.example/", 80)));
        check("HTTPS://HOOKS.example./", Ok(("https://hooks.example/", 443)));
        check("https://ci.example:8443/", Ok(("https://ci.example:8443/", 8443)));
        check("https://Bücher.example", Ok(("https://xn--bcher-kva.example/", 443)));
        check("https://hooks%2Eexample/", Ok(("https://hooks.example/", 443)));
        check("http://0xa.7/", Ok(("http://10.0.0.7/", 80)));
        check("http://167772167/", Ok(("http://10.0.0.7/", 80)));
        for other in [
            // A port that was not named, and the usual one where another was.
            ("https://hooks.example:8443/", "add \"hooks.example:8443\" to `hosts`"),
            ("http://hooks.example:443/", "add \"hooks.example:443\" to `hosts`"),
            ("https://ci.example/", "add \"ci.example\" to `hosts`"),
            // Names around, before and after the one that was.
            ("https://example/", "add \"example\" to `hosts`"),
            ("https://hooks.example.evil/", "add \"hooks.example.evil\" to `hosts`"),
            ("https://a.hooks.example/", "add \"a.hooks.example\" to `hosts`"),
            ("https://evil/hooks.example", "add \"evil\" to `hosts`"),
            ("https://evil\\hooks.example", "add \"evil\" to `hosts`"),
            ("https://evil#hooks.example", "add \"evil\" to `hosts`"),
            // Numbers, however they are written.
            ("http://127.0.0.1/", "add \"127.0.0.1\" to `private_hosts`"),
            ("http://2130706433/", "add \"127.0.0.1\" to `private_hosts`"),
            ("http://0x7f.1/", "add \"127.0.0.1\" to `private_hosts`"),
            ("http://0177.0.0.1/", "add \"127.0.0.1\" to `private_hosts`"),
            ("http://127.0.0.1./", "add \"127.0.0.1\" to `private_hosts`"),
            ("http://１２７.0.0.1/", "add \"127.0.0.1\" to `private_hosts`"),
            ("http://[::ffff:10.0.0.7]/", "add \"[::ffff:a00:7]\" to `private_hosts`"),
            ("http://10.0.0.8/", "add \"10.0.0.8\" to `private_hosts`"),
            ("http://hooks.example../", "is not a server address"),
            // Names and passwords.
            ("https://hooks.example@evil/", "before an @"),
            ("https://user:word@hooks.example/", "before an @"),
            ("https://@hooks.example/", "before an @"),
            ("https://:@hooks.example/", "before an @"),
            ("https:hooks.example@evil/", "before an @"),
            ("https:/\\@evil/", "before an @"),
            // Other ways.
            ("file:///etc/passwd", "http:// or https://, not to file:"),
            ("ftp://hooks.example/", "http:// or https://, not to ftp:"),
            ("hooks.example/a", "is not a server address"),
            ("", "is not a server address"),
            ("https://", "is not a server address"),
        ] {
            check(other.0, Err(other.1));
        }
    }

    #[test]
    fn a_number_inside_is_refused_even_if_it_stands_among_the_hosts() {
        let config = allowed(&["127.0.0.1", "hooks.example"], &[]);
        let failure = target(&config, "http://127.0.0.1/").unwrap_err();
        assert!(failure.message.contains("`private_hosts`"), "{}", failure.message);
    }

    #[test]
    fn what_is_not_on_the_public_internet_is_private() {
        for inside in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "fc00::1",
            "fd12:3456::1",
            "ff02::1",
            "100::1",
            "64:ff9b::10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "5f00::1",
        ] {
            assert!(is_private(inside.parse().unwrap()), "{inside}");
        }
        for outside in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "2001:4860::8888",
            "64:ff9b::8.8.8.8",
        ] {
            assert!(!is_private(outside.parse().unwrap()), "{outside}");
        }
    }

    #[test]
    fn a_name_that_leads_inside_if_only_in_part_is_refused() {
        let config = allowed(&["hooks.example", "both.example"], &["ci.internal", "both.example"]);
        let check = |url: &str, addresses: &[&str], expected: Option<&str>| {
            let addresses: Vec<IpAddr> = addresses.iter().map(|one| one.parse().unwrap()).collect();
            let found = target(&config, url).unwrap().check(&addresses);
            let found = found.err().map(|failure| (failure.kind, failure.message));
            let expected = expected.map(|words| (FailureKind::Misconfigured, words.to_owned()));
            assert_eq!(found, expected, "{url} {addresses:?}");
        };
        check("https://hooks.example/", &["8.8.8.8", "2606:4700::1111"], None);
        let refused = "hooks.example points to ::ffff:10.0.0.7, which is not on the public \
                       internet. If you mean that, add \"hooks.example\" to `private_hosts` under \
                       [workflows] in plenary.toml.";
        check("https://hooks.example/", &["8.8.8.8", "::ffff:10.0.0.7"], Some(refused));
        check("http://ci.internal/", &["10.0.0.7", "8.8.8.8"], None);
        check("http://both.example/", &["127.0.0.1"], None);
    }
}
