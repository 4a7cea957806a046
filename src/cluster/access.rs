//! What the user said of clusters, beside which datasets are there.

use std::fmt;

use anyhow::Context;

use csv_agent_types::catalog::Catalog;

use crate::endpoint::{Endpoint, SCHEME};

/// Who asks a cluster. Nothing of it is written into a session.
///
/// A session may be somebody else's, with the address of a server of theirs in it. So what is secret goes
/// to a server that the user names, and a session names none.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ClusterAccess {
    /// For the cluster that is named; where none is, for one of this machine.
    token: Option<String>,
    /// The connection string of a cluster with its token and headers, which are for no other.
    named: Option<String>,
}

impl ClusterAccess {
    /// Takes `SPARK_CONNECT_AUTHENTICATE_TOKEN` and `SPARK_REMOTE`, as far as they are said.
    ///
    /// The latter is a setting of other programs as well: what names no cluster there, such as `local`, says
    /// nothing.
    pub fn new(token: Option<String>, remote: Option<&str>) -> ClusterAccess {
        let named = remote.filter(|it| it.starts_with(SCHEME)).map(str::to_owned);
        ClusterAccess { token, named }
    }

    /// Returns the cluster that the datasets are on, with what it is to be told; none when all are here.
    ///
    /// # Errors
    ///
    /// Fails when the session names it wrongly, and as [`ClusterAccess::complete`] does.
    pub fn endpoint(&self, catalog: &Catalog) -> anyhow::Result<Option<Endpoint>> {
        // `ingest` takes one address a session, so any dataset names it.
        let Some((name, remote)) = catalog.remote().next() else { return Ok(None) };
        let endpoint = Endpoint::parse(&remote.endpoint);
        let endpoint = endpoint.with_context(|| format!("cannot tell where `{name}` is"))?;
        self.complete(endpoint).map(Some)
    }

    /// Adds to the cluster of a session what it is to be told.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Usage` when `SPARK_REMOTE` is a wrong
    /// connection string: whether it is for this cluster, nobody knows. Without a cluster, it is not read.
    pub fn complete(&self, endpoint: Endpoint) -> anyhow::Result<Endpoint> {
        let is_meant = match self.named()? {
            Some(named) => named.is_same_server(&endpoint),
            None => endpoint.is_local(),
        };
        if is_meant { self.complete_named(endpoint) } else { Ok(endpoint) }
    }

    /// Adds to a cluster that the user has just named what it is to be told, unless that was said with its
    /// name.
    ///
    /// # Errors
    ///
    /// Fails as [`ClusterAccess::complete`] does.
    pub fn complete_named(&self, endpoint: Endpoint) -> anyhow::Result<Endpoint> {
        let endpoint = endpoint.with_token(self.token.clone());
        Ok(match self.named()? {
            Some(named) => endpoint.with_secrets_of(&named),
            None => endpoint,
        })
    }

    fn named(&self) -> anyhow::Result<Option<Endpoint>> {
        let parse = |it| Endpoint::parse(it).context("`SPARK_REMOTE` cannot be read");
        self.named.as_deref().map(parse).transpose()
    }
}

impl fmt::Debug for ClusterAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hidden = |it: &Option<String>| it.as_ref().map(|_| "***");
        let (token, named) = (hidden(&self.token), hidden(&self.named));
        f.debug_struct("ClusterAccess").field("token", &token).field("named", &named).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::ClusterAccess;
    use crate::endpoint::Endpoint;
    use csv_agent_types::status::{Failure, FailureKind};

    #[track_caller]
    fn check(token: Option<&str>, remote: Option<&str>, endpoint: &str, expected: Option<&str>) {
        let access = ClusterAccess::new(token.map(str::to_owned), remote);
        assert!(!format!("{access:?}").contains("s3cret"), "{access:?}");
        let endpoint = access.complete(Endpoint::parse(endpoint).unwrap()).unwrap();
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
        let named = access.complete_named(Endpoint::parse("sc://b:1").unwrap()).unwrap();
        assert_eq!(named.token(), token);
    }

    #[test]
    fn headers_go_with_the_server_and_encryption_stays() {
        let access = ClusterAccess::new(None, Some("sc://a:1/;x-key=1;user_id=other"));
        let endpoint = access.complete(Endpoint::parse("sc://a:1/;use_ssl=true").unwrap()).unwrap();
        assert_eq!(endpoint.headers().collect::<Vec<_>>(), [("x-key", "1")]);
        assert_eq!(endpoint.to_string(), "sc://a:1/;use_ssl=true");
    }

    #[test]
    fn what_either_names_as_encrypted_leaves_the_machine_so() {
        let check = |named: &str, endpoint: &str, expected: &str| {
            let access = ClusterAccess::new(None, Some(named));
            let endpoint = access.complete(Endpoint::parse(endpoint).unwrap()).unwrap();
            assert_eq!(endpoint.uri(), expected, "{named}");
        };
        check("sc://a:1/;x-key=1;use_ssl=true", "sc://a:1", "https://a:1");
        check("sc://a:1/;x-key=1", "sc://a:1/;use_ssl=true", "https://a:1");
        check("sc://a:1/;x-key=1", "sc://a:1", "http://a:1");
        check("sc://b:1/;x-key=1;use_ssl=true", "sc://a:1", "http://a:1");
    }

    #[test]
    fn a_wrong_connection_string_is_not_taken_for_none() {
        let access = ClusterAccess::new(None, Some("sc://a:1/;use_ssl=1;token=s3cret"));
        let error = access.complete(Endpoint::parse("sc://a:1").unwrap()).unwrap_err();
        let failure = error.downcast_ref::<Failure>().unwrap();
        assert_eq!(failure.kind, FailureKind::Usage);
        let text = format!("{error:#}");
        assert_eq!(text, "`SPARK_REMOTE` cannot be read: `use_ssl` must be `true` or `false`");
    }
}
