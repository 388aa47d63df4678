//! What a person agreed to, and the permit that follows from it: whatever opens a connection takes
//! a [`Permit`], and only a recorded consent makes one. Knows how an endpoint is written; refuses
//! to know where consents are recorded and who asks.

use super::error::Error;
use super::time::Time;
use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

/// The scope of the consent to read logs on this machine (D22). All other scopes are endpoints.
pub const TRACKING: &str = "tracking";

/// Something that a person said, kept for good. The last one of a scope counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent {
    /// What it is for: [`TRACKING`], or an [`Endpoint`].
    pub scope: String,
    /// Given, or taken back.
    pub given: bool,
    /// The words that were agreed to; empty where it was taken back.
    pub text: String,
    /// The program's version that asked.
    pub version: String,
    /// When.
    pub at: Time,
}

/// The words in which a person agrees that something is sent to `endpoint`.
pub fn endpoint_text(endpoint: &Endpoint) -> String {
    format!("I understand this sends what my session logs say to {endpoint}")
}

/// Where something is sent: `scheme://host[:port][/path]` in its one spelling, so that equal texts
/// are equal places. Lower-case scheme and host, no default port, no slash at the end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    text: String,
    authority: (usize, usize),
}

/// Schemes with their usual ports.
const SCHEMES: [(&str, &str); 8] = [
    ("http", "80"),
    ("https", "443"),
    ("redis", "6379"),
    ("rediss", "6379"),
    ("bolt", "7687"),
    ("bolt+s", "7687"),
    ("neo4j", "7687"),
    ("neo4j+s", "7687"),
];

impl Endpoint {
    /// `http`, `https`, `redis`, …
    pub fn scheme(&self) -> &str {
        self.text.split(':').next().unwrap_or_default()
    }

    /// `host` or `host:port`, as written: the port is absent where it is the scheme's own.
    pub fn authority(&self) -> &str {
        &self.text[self.authority.0..self.authority.1]
    }

    /// The host alone, an IPv6 address without its brackets.
    pub fn host(&self) -> &str {
        let (host, _) = self.host_and_port();
        host.trim_matches(['[', ']'])
    }

    /// The port, the scheme's own where none is written.
    pub fn port(&self) -> u16 {
        let usual = SCHEMES.iter().find(|(name, _)| *name == self.scheme());
        let (_, written) = self.host_and_port();
        let port = written.or(usual.map(|(_, port)| *port)).map(str::parse);
        port.and_then(Result::ok).unwrap_or_default()
    }

    fn host_and_port(&self) -> (&str, Option<&str>) {
        match self.authority().rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (self.authority(), None),
        }
    }

    /// What follows the authority: empty, or from its slash on.
    pub fn path(&self) -> &str {
        &self.text[self.authority.1..]
    }

    /// All of it.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Endpoint {
    type Err = Error;

    /// Reads an endpoint. What could make one spelling mean two places, or hold a secret, is an
    /// error of kind `Usage` that doesn't repeat it: a user name, a query, a fragment, dots for
    /// folders, letters beyond ASCII, an unknown scheme.
    fn from_str(text: &str) -> Result<Endpoint, Error> {
        let (scheme, rest) = text.trim().split_once("://").ok_or_else(|| {
            refused("an endpoint is written scheme://host[:port][/path]")
                .hinted("sessionmill consent list")
        })?;
        let scheme = scheme.to_ascii_lowercase();
        let Some((_, usual)) = SCHEMES.iter().find(|(name, _)| *name == scheme) else {
            let known: Vec<&str> = SCHEMES.iter().map(|(name, _)| *name).collect();
            return Err(refused("the scheme of an endpoint is not known").hinted(known.join(", ")));
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let authority = authority_of(authority, usual)?;
        let path = path_of(path)?;
        let start = scheme.len() + "://".len();
        Ok(Endpoint {
            authority: (start, start + authority.len()),
            text: format!("{scheme}://{authority}{path}"),
        })
    }
}

fn refused(what: &str) -> Error {
    Error::usage(what)
}

fn authority_of(text: &str, usual_port: &str) -> Result<String, Error> {
    if text.contains('@') {
        let error = refused("an endpoint holds no user name and no password");
        return Err(error.hinted("keep them in an environment variable"));
    }
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest
                .split_once(']')
                .ok_or_else(|| refused("the host of the endpoint has no closing `]`"))?;
            (host_v6(host)?, port)
        }
        None => {
            let (host, port) = text.split_at(text.find(':').unwrap_or(text.len()));
            (host_name(host)?, port)
        }
    };
    match port.strip_prefix(':') {
        None if port.is_empty() => Ok(host),
        Some(number) => match number.parse::<u16>() {
            Ok(n) if n > 0 && number.bytes().all(|b| b.is_ascii_digit()) => {
                let is_usual = n.to_string() == usual_port;
                Ok(if is_usual {
                    host
                } else {
                    format!("{host}:{n}")
                })
            }
            _ => Err(refused("the port of the endpoint is not one of 1 to 65535")),
        },
        None => Err(refused("the host of the endpoint is not valid")),
    }
}

fn host_v6(text: &str) -> Result<String, Error> {
    let address: Ipv6Addr = text
        .parse()
        .map_err(|_| refused("the host of the endpoint is not an IPv6 address"))?;
    Ok(format!("[{address}]"))
}

fn host_name(text: &str) -> Result<String, Error> {
    let text = text.strip_suffix('.').unwrap_or(text);
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let labels = text.split('.').all(|label| !label.is_empty());
    match labels && text.bytes().all(plain) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err(refused("the host of the endpoint is not valid")
            .hinted("letters, digits, `-` and `.`; others in their `xn--` form")),
    }
}

fn path_of(text: &str) -> Result<&str, Error> {
    let path = text.trim_end_matches('/');
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~/:+=,!$&'()*;".contains(&b);
    if !path.bytes().all(plain) {
        let error = refused("the path of an endpoint holds plain characters only");
        return Err(error.hinted("leave `?`, `#`, `%` and what follows them out"));
    }
    match path
        .split('/')
        .skip(1)
        .any(|part| matches!(part, "" | "." | ".."))
    {
        true => Err(refused(
            "the path of an endpoint has no empty or dotted parts",
        )),
        false => Ok(path),
    }
}

/// The proof that somebody agreed to this very endpoint. Whatever opens a connection takes one and
/// connects to [`Permit::endpoint`], nowhere else: it follows no redirection to another place.
///
/// It holds what was so when it was made. Ask for one before each batch that is sent, so that a
/// consent that is taken back meanwhile ends the sending.
///
/// Nothing else can make one:
///
/// ```compile_fail,E0451
/// use sessionmill::model::consent::{Endpoint, Permit};
/// let endpoint: Endpoint = "https://memory.example".parse().unwrap();
/// let forged = Permit { endpoint };
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Permit {
    endpoint: Endpoint,
}

impl Permit {
    /// The permit that `recorded`, all consents in the order in which they were given, gives for
    /// `endpoint`.
    ///
    /// # Errors
    /// `Usage` with the command to type, where nobody agreed to it or the consent was taken back.
    pub fn of(endpoint: &Endpoint, recorded: &[Consent]) -> Result<Permit, Error> {
        let last = recorded
            .iter()
            .rfind(|said| said.scope == endpoint.as_str());
        match last {
            Some(said) if said.given => Ok(Permit {
                endpoint: endpoint.clone(),
            }),
            _ => {
                let message = format!("nothing is sent to {endpoint} without your consent");
                let hint = format!("sessionmill consent give {endpoint}");
                Err(Error::usage(message).hinted(hint))
            }
        }
    }

    /// Where something may be sent.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(text: &str) -> Endpoint {
        text.parse().unwrap()
    }

    #[test]
    fn a_place_has_one_spelling() {
        for (text, wants) in [
            ("HTTPS://Memory.Example:443/", "https://memory.example"),
            (" http://h:80/v1/ ", "http://h/v1"),
            ("http://h:0080", "http://h"),
            ("http://h:443", "http://h:443"),
            ("https://h./V1//", "https://h/V1"),
            ("redis://LOCALHOST:6379", "redis://localhost"),
            ("neo4j+s://db.example:7688", "neo4j+s://db.example:7688"),
            ("http://[0:0:0:0:0:0:0:1]:8000/x", "http://[::1]:8000/x"),
        ] {
            let read = endpoint(text);
            assert_eq!(read.as_str(), wants);
            assert_eq!(endpoint(wants), read, "reading is stable");
            let (scheme, authority, path) = (read.scheme(), read.authority(), read.path());
            assert_eq!(format!("{scheme}://{authority}{path}"), wants);
        }
    }

    #[test]
    fn hosts_and_ports_come_apart() {
        for (text, host, port) in [
            ("redis://localhost", "localhost", 6379),
            ("redis://h:16379", "h", 16379),
            ("bolt://[::1]", "::1", 7687),
            ("https://[::1]:7000/x", "::1", 7000),
        ] {
            let read = endpoint(text);
            assert_eq!((read.host(), read.port()), (host, port));
        }
    }

    #[test]
    fn what_could_mean_two_places_or_hide_a_secret_is_refused_and_not_repeated() {
        for text in [
            "memory.example",
            "ftp://h",
            "http://",
            "http://:80",
            "http://hunter2:hunter2@h",
            "http://hunter2@h",
            "http://h:0",
            "http://h:65536",
            "http://h:+80",
            "http://h\\hunter2",
            "http://h hunter2",
            "http://h..x",
            "http://pаypal.example",
            "http://[::1",
            "http://[::1]x",
            "http://[::g]",
            "http://h/a/../b",
            "http://h//b",
            "http://h/./b",
            "http://h/%2e%2e/b",
            "http://h/?key=hunter2",
            "http://h?key=hunter2",
            "http://h/#hunter2",
            "http://h/\nhunter2",
        ] {
            let error = text.parse::<Endpoint>().unwrap_err();
            let told = format!("{error} {:?}", error.hint);
            assert!(!told.contains("hunter2"), "{text}: {told}");
        }
    }

    #[test]
    fn the_last_word_on_this_very_endpoint_counts() {
        let (ours, theirs) = (
            endpoint("https://a.example"),
            endpoint("https://a.example/x"),
        );
        let said = |scope: &str, given| Consent {
            scope: scope.into(),
            given,
            text: String::new(),
            version: String::new(),
            at: Time(0),
        };
        let mut recorded = vec![said(TRACKING, true)];
        assert!(Permit::of(&ours, &recorded).is_err());
        recorded.push(said("https://a.example", true));
        assert_eq!(Permit::of(&ours, &recorded).unwrap().endpoint(), &ours);
        let error = Permit::of(&theirs, &recorded).unwrap_err();
        let hint = Some("sessionmill consent give https://a.example/x");
        assert_eq!(error.hint.as_deref(), hint);
        recorded.push(said("https://a.example", false));
        assert!(Permit::of(&ours, &recorded).is_err());
        recorded.push(said("https://a.example", true));
        assert!(Permit::of(&ours, &recorded).is_ok());
    }
}
