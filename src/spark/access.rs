//! What the user said of clusters, beside which datasets are there.

use std::fmt;

use crate::spark::endpoint::Endpoint;

/// Who asks a cluster. Nothing of it is written into a session.
///
/// A session may be somebody else's, with the address of a server of theirs in it. So what is secret goes
/// to a server that the user names, and a session names none.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ClusterAccess {
    /// For the cluster that is named; where none is, for one of this machine.
    token: Option<String>,
    /// A cluster with its token and headers, which are for no other.
    named: Option<Endpoint>,
}

impl ClusterAccess {
    /// Takes `SPARK_CONNECT_AUTHENTICATE_TOKEN` and `SPARK_REMOTE`, as far as they are said.
    ///
    /// The latter is a setting of other programs as well: what names no cluster there, such as `local`, says
    /// nothing.
    pub fn new(token: Option<String>, remote: Option<&str>) -> ClusterAccess {
        ClusterAccess { token, named: remote.and_then(|it| Endpoint::parse(it).ok()) }
    }

    /// Adds to the cluster of a session what it is to be told.
    #[must_use]
    pub fn complete(&self, endpoint: Endpoint) -> Endpoint {
        let is_meant = match &self.named {
            Some(named) => named.is_same_server(&endpoint),
            None => endpoint.is_local(),
        };
        if is_meant { self.complete_named(endpoint) } else { endpoint }
    }

    /// Adds to a cluster that the user has just named what it is to be told, unless that was said with its
    /// name.
    #[must_use]
    pub fn complete_named(&self, endpoint: Endpoint) -> Endpoint {
        let endpoint = endpoint.with_token(self.token.clone());
        match &self.named {
            Some(named) => endpoint.with_secrets_of(named),
            None => endpoint,
        }
    }
}

impl fmt::Debug for ClusterAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token = self.token.as_ref().map(|_| "***");
        f.debug_struct("ClusterAccess").field("token", &token).field("named", &self.named).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::ClusterAccess;
    use crate::spark::endpoint::Endpoint;

    #[track_caller]
    fn check(token: Option<&str>, remote: Option<&str>, endpoint: &str, expected: Option<&str>) {
        let access = ClusterAccess::new(token.map(str::to_owned), remote);
        assert!(!format!("{access:?}").contains("s3cret"), "{access:?}");
        let endpoint = access.complete(Endpoint::parse(endpoint).unwrap());
        assert_eq!(endpoint.token(), expected);
    }

    #[test]
    fn a_token_goes_to_the_server_that_it_is_for() {
        let named = Some("sc://a:1/;token=s3cret");
        check(None, None, "sc://a:1", None);
        check(None, named, "sc://a:1", Some("s3cret"));
        check(None, named, "sc://b:1", None);
        check(None, named, "sc://a:1/;token=own", Some("own"));
        check(Some("s3cret-first"), named, "sc://a:1", Some("s3cret-first"));
        check(Some("s3cret-first"), Some("sc://a:1"), "sc://a:1", Some("s3cret-first"));
        check(None, Some("local[*]"), "sc://a:1", None);
    }

    #[test]
    fn a_token_does_not_go_where_only_a_session_says() {
        let token = Some("s3cret");
        check(token, None, "sc://a:1", None);
        check(token, None, "sc://localhost.a:1", None);
        check(token, Some("sc://a:1"), "sc://b:1", None);
        check(token, Some("sc://a:1"), "sc://a:2", None);
        check(token, Some("sc://a:1"), "sc://127.0.0.1:1", None);
        check(token, None, "sc://127.0.0.1:1", token);
        let access = ClusterAccess::new(token.map(str::to_owned), Some("sc://a:1"));
        let named = access.complete_named(Endpoint::parse("sc://b:1").unwrap());
        assert_eq!(named.token(), token);
    }

    #[test]
    fn headers_go_with_the_server_as_encrypted_as_either_says() {
        let check = |named: &str, of_session: &str| {
            let access = ClusterAccess::new(None, Some(named));
            let endpoint = access.complete(Endpoint::parse(of_session).unwrap());
            assert_eq!(endpoint.headers().collect::<Vec<_>>(), [("x-key", "1")]);
            assert_eq!(endpoint.to_string(), "sc://a:1/;use_ssl=true");
        };
        check("sc://a:1/;x-key=1;user_id=other", "sc://a:1/;use_ssl=true");
        check("sc://a:1/;x-key=1;use_ssl=true", "sc://a:1");
    }
}
