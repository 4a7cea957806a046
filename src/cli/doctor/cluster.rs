//! The cluster of the session's remote datasets.

use csv_agent_cluster::{ClusterAccess, Endpoint, Traffic, contact};
use csv_agent_session::Session;
use csv_agent_types::status::Failure;

use super::{Check, CheckState};
use crate::options::GlobalOptions;

/// Requests the cluster's version; empty where the session has no remote dataset.
pub(super) async fn ask(
    options: &GlobalOptions,
    access: &ClusterAccess,
    is_offline: bool,
) -> Option<Check> {
    if !options.session.dir.exists() {
        return None;
    }
    let catalog = match Session::read_catalog(&options.session.dir) {
        Ok(catalog) => catalog,
        Err(error) => return Some(Check::failed("session", &error)),
    };
    match access.endpoint(&catalog) {
        Ok(None) => None,
        Ok(Some(endpoint)) => Some(look(&endpoint, is_offline).await),
        Err(error) => Some(Check::failed("cluster", &error)),
    }
}

async fn look(endpoint: &Endpoint, is_offline: bool) -> Check {
    if is_offline {
        let found = format!("{endpoint}: not contacted, because of --offline");
        return Check::new("cluster", CheckState::Skipped, found);
    }
    match contact(endpoint, &mut Traffic::default()).await {
        Ok(version) => {
            Check::new("cluster", CheckState::Ok, format!("{endpoint}: Spark {version}"))
        }
        Err(error) => Check::failed("cluster", &Failure::from(error).into()),
    }
}
