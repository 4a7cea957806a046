//! Where a cluster is: the connection string of Spark Connect, as `SPARK_REMOTE` has it.
//!
//! What is secret in it goes to the server and nowhere else: neither `Display` nor `Debug` shows it.

use std::collections::BTreeMap;
use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use csv_agent_types::status::Failure;

/// Source: Spark documentation, "Spark Connect client connection string".
const PORT: u16 = 15002;
/// As whom a cluster is asked, unless its address says.
const USER: &str = "csv-agent";
/// How a connection string begins.
pub const SCHEME: &str = "sc://";
/// What every message about a wrong one shows.
const EXAMPLE: &str = "sc://host:15002/;use_ssl=true";
/// What stands for itself in a value of a parameter.
const IN_VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'@');

/// A server that speaks Spark Connect, and what it is to be told with each call.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Lower case; an IPv6 address has its brackets.
    host: String,
    port: u16,
    use_ssl: bool,
    token: Option<String>,
    user: Option<String>,
    /// Lower case → as it is sent.
    headers: BTreeMap<String, String>,
}

impl Endpoint {
    /// Reads `sc://host[:15002]/;use_ssl=true;token=…;user_id=…;x-header=…`.
    ///
    /// `user_agent` is left out: the server is told that it is csv-agent.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Usage` when it is none. The message has no value of a parameter: it may
    /// be secret.
    pub fn parse(text: &str) -> anyhow::Result<Endpoint> {
        let Some(rest) = text.strip_prefix(SCHEME) else {
            return Err(wrong("a cluster needs a connection string".to_owned()));
        };
        let (authority, parameters) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = host_and_port(authority)?;
        let none = BTreeMap::new();
        let mut endpoint =
            Endpoint { host, port, use_ssl: false, token: None, user: None, headers: none };
        let Some(parameters) = parameters.strip_prefix(';') else {
            return match parameters {
                "" => Ok(endpoint),
                _ => Err(wrong(
                    "the connection string of a cluster has no path: only `;` may follow `/`"
                        .to_owned(),
                )),
            };
        };
        for parameter in parameters.split(';').filter(|it| !it.is_empty()) {
            endpoint.add(parameter)?;
        }
        Ok(endpoint)
    }

    fn add(&mut self, parameter: &str) -> anyhow::Result<()> {
        let Some((name, value)) = parameter.split_once('=') else {
            return Err(wrong("a parameter must have the form `name=value`".to_owned()));
        };
        let name = name.to_ascii_lowercase();
        let is_text = |it: &String| !it.is_empty() && it.chars().all(|it| matches!(it, ' '..='~'));
        let value = percent_decode_str(value).decode_utf8().ok().map(String::from);
        // The name of a header may be told, unless it is none: then it may be part of a value.
        let is_name = |it: u8| it.is_ascii_alphanumeric() || b"-_.".contains(&it);
        if name.is_empty() || !name.bytes().all(is_name) {
            return Err(wrong(
                "the name of a parameter may contain only letters, digits, `-`, `_` and `.`"
                    .to_owned(),
            ));
        }
        let Some(value) = value.filter(is_text) else {
            return Err(wrong(format!("the value of `{name}` must be one line of ASCII")));
        };
        match name.as_str() {
            "use_ssl" => match value.to_ascii_lowercase().as_str() {
                "true" => self.use_ssl = true,
                "false" => self.use_ssl = false,
                // Taken for no, `1` would send in the open what was to be encrypted.
                _ => return Err(wrong("`use_ssl` must be `true` or `false`".to_owned())),
            },
            "token" => self.token = Some(value),
            "user_id" => self.user = Some(value),
            "user_agent" => {}
            "session_id" => {
                return Err(wrong(
                    "csv-agent creates its own session: leave out `session_id`".to_owned(),
                ));
            }
            "authorization" => {
                return Err(wrong("use `token` instead of `authorization`".to_owned()));
            }
            "te" | "content-type" | "host" | "connection" | "content-length" => {
                return Err(wrong(format!("`{name}` is not a header that you can set")));
            }
            _ if name.starts_with("grpc-") || name.ends_with("-bin") => {
                return Err(wrong(format!("`{name}` is not a header that you can set")));
            }
            _ => drop(self.headers.insert(name, value)),
        }
        Ok(())
    }

    /// Returns the endpoint with this token, unless it has one already or there is none.
    #[must_use]
    pub(crate) fn with_token(mut self, token: Option<String>) -> Endpoint {
        self.token = self.token.or(token);
        self
    }

    /// Returns the endpoint with the token and the headers of another, where both are the same server, and
    /// encrypted where either is. What it has itself stays.
    #[must_use]
    pub(crate) fn with_secrets_of(mut self, other: &Endpoint) -> Endpoint {
        if !self.is_same_server(other) {
            return self;
        }
        // Headers may be secret, too.
        self.use_ssl |= other.use_ssl;
        for (name, value) in &other.headers {
            self.headers.entry(name.clone()).or_insert_with(|| value.clone());
        }
        self.with_token(other.token.clone())
    }

    /// Returns whether it has headers.
    pub fn has_headers(&self) -> bool {
        !self.headers.is_empty()
    }

    /// Returns whether it has a token.
    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Returns what is sent as the token.
    pub(super) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Returns the headers that go with each call.
    pub(super) fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns as whom the cluster is asked.
    pub fn user(&self) -> &str {
        self.user.as_deref().unwrap_or(USER)
    }

    /// Returns the server alone, without what is told to it: `sc://host:15002`.
    pub fn server(&self) -> String {
        format!("{SCHEME}{}:{}", self.host, self.port)
    }

    /// Returns whether both are the same server, whatever is told to it.
    pub fn is_same_server(&self, other: &Endpoint) -> bool {
        (&self.host, self.port) == (&other.host, other.port)
    }

    /// Returns whether the connection is encrypted. A token leaves the machine in no other way.
    pub(crate) fn uses_tls(&self) -> bool {
        self.use_ssl || self.has_token() && !self.is_local()
    }

    /// Returns whether it is a server of this machine.
    pub(super) fn is_local(&self) -> bool {
        let address = self.host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
        self.host == "localhost" || address.is_ok_and(|it| it.is_loopback())
    }

    /// Returns the server's address.
    pub(super) fn uri(&self) -> String {
        let scheme = if self.uses_tls() { "https" } else { "http" };
        format!("{scheme}://{}:{}", self.host, self.port)
    }
}

/// Shows what is not secret, so that [`Endpoint::parse`] reads the same server, user and encryption.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.server())?;
        let ssl = self.uses_tls().then(|| ";use_ssl=true".to_owned());
        let user = self.user.as_ref();
        let user = user.map(|it| format!(";user_id={}", utf8_percent_encode(it, IN_VALUE)));
        match [ssl, user].into_iter().flatten().collect::<String>() {
            parameters if parameters.is_empty() => Ok(()),
            parameters => write!(f, "/{parameters}"),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}

fn host_and_port(authority: &str) -> anyhow::Result<(String, u16)> {
    if authority.contains(';') {
        return Err(wrong("the parameters of a cluster must come after `/;`".to_owned()));
    }
    let at = authority.rfind(':').filter(|at| !authority[*at..].contains(']'));
    let (host, port) = match at {
        Some(at) => (&authority[..at], authority[at + 1..].parse().ok().filter(|it| 0 < *it)),
        None => (authority, Some(PORT)),
    };
    let Some(port) = port else {
        return Err(wrong("the port of a cluster must be a number from 1 to 65535".to_owned()));
    };
    let is_name = |it: u8| it.is_ascii_alphanumeric() || b"-_.".contains(&it);
    let address = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let is_host = match address {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(is_name),
    };
    if !is_host {
        return Err(wrong("the host of a cluster must be a name or an address".to_owned()));
    }
    Ok((host.to_ascii_lowercase(), port))
}

fn wrong(message: String) -> anyhow::Error {
    Failure::usage(message).hint(format!("write it as `{EXAMPLE}`")).into()
}

#[cfg(test)]
mod tests {
    use super::Endpoint;
    use csv_agent_types::status::{Failure, FailureKind};

    #[track_caller]
    fn check(text: &str, shown: &str, uri: &str) {
        let endpoint = Endpoint::parse(text).unwrap();
        assert_eq!(endpoint.to_string(), shown);
        assert_eq!(endpoint.uri(), uri);
        let again = Endpoint::parse(shown).unwrap();
        assert_eq!((again.to_string(), again.uri()), (shown.to_owned(), uri.to_owned()));
    }

    #[track_caller]
    fn check_wrong(text: &str, message: &str) {
        let error = Endpoint::parse(text).unwrap_err();
        let failure = error.downcast_ref::<Failure>().unwrap();
        assert_eq!(failure.kind, FailureKind::Usage);
        assert_eq!(failure.message, message);
        assert!(!format!("{failure:?}").contains("s3cret"), "{failure:?}");
    }

    #[test]
    fn a_server_is_shown_with_its_port_and_read_again() {
        check("sc://Spark.example", "sc://spark.example:15002", "http://spark.example:15002");
        check("sc://spark.example:7077/", "sc://spark.example:7077", "http://spark.example:7077");
        check(
            "sc://[::1]:7077/;use_ssl=TRUE",
            "sc://[::1]:7077/;use_ssl=true",
            "https://[::1]:7077",
        );
        check("sc://[::1]", "sc://[::1]:15002", "http://[::1]:15002");
        let user = "sc://a:1/;user_id=a%3Bb%25";
        check(user, user, "http://a:1");
    }

    #[test]
    fn what_may_be_secret_is_never_shown() {
        let text = "sc://spark.example/;token=s3cret;x-key=s3cret;user_id=me";
        check(
            text,
            "sc://spark.example:15002/;use_ssl=true;user_id=me",
            "https://spark.example:15002",
        );
        let endpoint = Endpoint::parse(text).unwrap();
        assert!(!format!("{endpoint:?}").contains("s3cret"));
        assert_eq!(endpoint.headers().collect::<Vec<_>>(), [("x-key", "s3cret")]);
        assert_eq!(endpoint.server(), "sc://spark.example:15002");
    }

    #[test]
    fn a_token_leaves_the_machine_encrypted_only() {
        check("sc://localhost/;token=a", "sc://localhost:15002", "http://localhost:15002");
        check("sc://127.0.0.1/;token=a", "sc://127.0.0.1:15002", "http://127.0.0.1:15002");
        let remote = Endpoint::parse("sc://spark.example/;use_ssl=false").unwrap();
        assert!(!remote.uses_tls());
        assert!(remote.with_token(Some("a".to_owned())).uses_tls());
    }

    #[test]
    fn a_token_of_the_connection_string_stays_the_token() {
        let endpoint = Endpoint::parse("sc://a/;token=YQ%3D=").unwrap();
        assert_eq!(endpoint.with_token(Some("other".to_owned())).token(), Some("YQ=="));
    }

    #[test]
    fn what_is_told_to_a_server_does_not_make_it_another() {
        let endpoint = Endpoint::parse("sc://a/;token=1;user_id=2;use_ssl=true").unwrap();
        assert!(endpoint.is_same_server(&Endpoint::parse("sc://A:15002").unwrap()));
        assert!(!endpoint.is_same_server(&Endpoint::parse("sc://a:15003").unwrap()));
        assert!(!endpoint.is_same_server(&Endpoint::parse("sc://b").unwrap()));
    }

    #[test]
    fn what_is_no_connection_string_is_a_wrong_usage() {
        check_wrong("localhost:15002", "a cluster needs a connection string");
        check_wrong("sc://", "the host of a cluster must be a name or an address");
        check_wrong(
            "sc://me:s3cret@host",
            "the port of a cluster must be a number from 1 to 65535",
        );
        check_wrong("sc://me@host", "the host of a cluster must be a name or an address");
        check_wrong("sc://host:0", "the port of a cluster must be a number from 1 to 65535");
        check_wrong("sc://host;token=s3cret", "the parameters of a cluster must come after `/;`");
        check_wrong(
            "sc://host/db",
            "the connection string of a cluster has no path: only `;` may follow `/`",
        );
        check_wrong("sc://host/;s3cret", "a parameter must have the form `name=value`");
        check_wrong("sc://host/;token=", "the value of `token` must be one line of ASCII");
        check_wrong("sc://host/;use_ssl=1", "`use_ssl` must be `true` or `false`");
        check_wrong("sc://host/;use_ssl=yes;token=s3cret", "`use_ssl` must be `true` or `false`");
        check_wrong("sc://host/;x-key=s3cret%0A", "the value of `x-key` must be one line of ASCII");
        check_wrong(
            "sc://host/;x key=s3cret",
            "the name of a parameter may contain only letters, digits, `-`, `_` and `.`",
        );
        check_wrong("sc://host/;grpc-x=1", "`grpc-x` is not a header that you can set");
        check_wrong(
            "sc://host/;session_id=1",
            "csv-agent creates its own session: leave out `session_id`",
        );
    }
}
