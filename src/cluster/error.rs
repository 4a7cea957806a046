//! Why a cluster does not do what was asked.

use std::error::Error;
use std::fmt;
use std::io;

use csv_agent_types::limits::{CLUSTER_CONNECT, CLUSTER_SAID_CHARS_MAX};
use csv_agent_types::status::{Failure, FailureKind};

use crate::endpoint::Endpoint;

/// Why a cluster did not answer as it should. The caller branches on the variant; people read the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterError {
    /// Nothing answers there, or it is not a Spark Connect server.
    Unreachable(String),
    /// It wants a token, or does not take the one it got.
    Refused(String),
    /// It answered that it failed, or is too old.
    Failed(String),
}

impl ClusterError {
    /// Returns how a caller reacts to it.
    pub fn kind(&self) -> FailureKind {
        match self {
            ClusterError::Refused(_) => FailureKind::Auth,
            ClusterError::Unreachable(_) | ClusterError::Failed(_) => FailureKind::Provider,
        }
    }
}

impl From<ClusterError> for Failure {
    fn from(error: ClusterError) -> Failure {
        Failure::new(error.kind(), error.to_string())
    }
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClusterError::Unreachable(message)
            | ClusterError::Refused(message)
            | ClusterError::Failed(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ClusterError {}

/// Says that a server cannot be reached, and what is in the way, as far as the error tells.
pub(super) fn unreachable(endpoint: &Endpoint, error: &(dyn Error + 'static)) -> ClusterError {
    let reason = reason(endpoint, error);
    ClusterError::Unreachable(format!("cannot reach the cluster at `{endpoint}`: {reason}"))
}

/// Says that the server did not let us in.
pub(super) fn refused(endpoint: &Endpoint, said: &str) -> ClusterError {
    let (what, next) = if endpoint.has_token() {
        let next = "check that `SPARK_CONNECT_AUTHENTICATE_TOKEN` has the right token".to_owned();
        ("refused the token", next)
    } else {
        let next = "put it into `SPARK_CONNECT_AUTHENTICATE_TOKEN`";
        // Of other machines, one must be named for it: the session may be somebody else's.
        let is_for = if endpoint.is_local() {
            String::new()
        } else {
            format!(", and set `SPARK_REMOTE={endpoint}` to say that it is for this server")
        };
        ("requires a token", format!("{next}{is_for}"))
    };
    let said = if said.is_empty() { String::new() } else { format!(" ({})", beginning(said)) };
    ClusterError::Refused(format!("the cluster at `{endpoint}` {what}{said}; {next}"))
}

/// Returns the beginning of what a server says.
pub fn beginning(said: &str) -> String {
    match said.char_indices().nth(CLUSTER_SAID_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &said[..end]),
        None => said.to_owned(),
    }
}

/// Returns the error and what caused it, the first cause last.
pub(super) fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> + Clone {
    std::iter::successors(Some(error), |it| (*it).source())
}

/// Returns why no connection came about, or why it broke.
fn reason(endpoint: &Endpoint, error: &(dyn Error + 'static)) -> String {
    let chain = causes(error);
    let texts: Vec<String> = chain.clone().map(ToString::to_string).collect();
    let of_system = chain.filter_map(|it| it.downcast_ref::<io::Error>()).last();
    let is_in = |text: &str| texts.iter().any(|it| it.contains(text));
    let mut last = texts.last().cloned().unwrap_or_default();
    if is_in("dns error") {
        return "its host name is not known".to_owned();
    }
    if is_in("InvalidContentType") {
        return "it does not speak TLS; leave out `use_ssl=true`, and use a token on this machine only".to_owned();
    }
    if is_in("peer certificate") || is_in("UnknownIssuer") {
        return format!("{last}; `SSL_CERT_FILE` names the certificates to trust");
    }
    match of_system.map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionRefused) => return "nothing listens there".to_owned(),
        Some(io::ErrorKind::TimedOut) => {
            return format!("no answer in {} s", CLUSTER_CONNECT.as_secs());
        }
        // The system's number says nothing more.
        Some(_) => last.truncate(last.find(" (os error").unwrap_or(last.len())),
        None => {}
    }
    if endpoint.uses_tls() {
        return last;
    }
    format!("{last}; check that it is Spark Connect, and add `;use_ssl=true` if it requires TLS")
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{refused, unreachable};
    use crate::Endpoint;
    use csv_agent_types::status::FailureKind;

    #[track_caller]
    fn check(endpoint: &str, error: &io::Error, expected: &str) {
        let endpoint = Endpoint::parse(endpoint).unwrap();
        let error = unreachable(&endpoint, error);
        assert_eq!(error.kind(), FailureKind::Provider);
        assert_eq!(
            error.to_string(),
            format!("cannot reach the cluster at `{endpoint}`: {expected}")
        );
    }

    #[test]
    fn the_reason_is_said_without_the_numbers_of_the_system() {
        check("sc://a", &io::Error::from_raw_os_error(111), "nothing listens there");
        check("sc://a", &io::ErrorKind::TimedOut.into(), "no answer in 10 s");
        let reset = "Connection reset by peer";
        check("sc://a/;use_ssl=true", &io::Error::from_raw_os_error(104), reset);
        let advice = format!(
            "{reset}; check that it is Spark Connect, and add `;use_ssl=true` if it \
             requires TLS"
        );
        check("sc://a", &io::Error::from_raw_os_error(104), &advice);
    }

    #[test]
    fn a_server_without_tls_is_told_from_one_that_is_not_trusted() {
        let plain = io::Error::other("received corrupt message of type InvalidContentType");
        let advice =
            "it does not speak TLS; leave out `use_ssl=true`, and use a token on this machine only";
        check("sc://a/;use_ssl=true", &plain, advice);
        let unknown = io::Error::other("invalid peer certificate: UnknownIssuer");
        let advice = "invalid peer certificate: UnknownIssuer; `SSL_CERT_FILE` names the certificates to trust";
        check("sc://a/;use_ssl=true", &unknown, advice);
    }

    #[test]
    fn who_has_no_token_is_told_to_give_one() {
        let endpoint = Endpoint::parse("sc://localhost").unwrap();
        let error = refused(&endpoint, "none given");
        assert_eq!(error.kind(), FailureKind::Auth);
        let expected = "the cluster at `sc://localhost:15002` requires a token (none given); put it into \
                        `SPARK_CONNECT_AUTHENTICATE_TOKEN`";
        assert_eq!(error.to_string(), expected);
        let error = refused(&endpoint, &"x".repeat(10_000)).to_string();
        assert!(error.len() < 600 && error.contains("xx…)"), "{error}");
        let elsewhere = refused(&Endpoint::parse("sc://a").unwrap(), "");
        let expected = "the cluster at `sc://a:15002` requires a token; put it into \
                        `SPARK_CONNECT_AUTHENTICATE_TOKEN`, and set `SPARK_REMOTE=sc://a:15002` to say \
                        that it is for this server";
        assert_eq!(elsewhere.to_string(), expected);
        let error = refused(&endpoint.with_token(Some("s3cret".to_owned())), "");
        let expected = "the cluster at `sc://localhost:15002` refused the token; check that \
                        `SPARK_CONNECT_AUTHENTICATE_TOKEN` has the right token";
        assert_eq!(error.to_string(), expected);
    }
}
