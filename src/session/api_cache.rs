//! The API dialect of each known server, cached so that the next process does not probe again.
//!
//! Pure. An entry is a hint that a caller must be able to do without, since servers are updated.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use csv_agent_types::limits::{SERVER_KNOWN, SERVERS_MAX};

/// Servers by name, with the dialect of each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Servers(BTreeMap<String, Spoken>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Spoken {
    api: String,
    /// Seconds since 1970.
    since: i64,
}

impl Servers {
    /// Returns whether the cache is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the dialect of a server, if it was detected shortly before `now`.
    pub(crate) fn api_of(&self, server: &str, now: Timestamp) -> Option<&str> {
        let spoken = self.0.get(server)?;
        // A time in the future comes from a wrong clock.
        let age_s = u64::try_from(now.as_second().saturating_sub(spoken.since)).ok()?;
        (age_s < SERVER_KNOWN.as_secs()).then_some(spoken.api.as_str())
    }

    /// Records a server's dialect as detected at `now`. A full cache drops its oldest entry.
    pub(crate) fn keep(&mut self, server: &str, api: &str, now: Timestamp) {
        if self.api_of(server, now) == Some(api) {
            // Keeps the original time, so that the entry expires and is detected anew.
            return;
        }
        if SERVERS_MAX <= self.0.len() && !self.0.contains_key(server) {
            let oldest = self.0.iter().min_by_key(|it| it.1.since).map(|it| it.0.clone());
            oldest.map(|it| self.0.remove(&it));
        }
        self.0.insert(server.to_owned(), Spoken { api: api.to_owned(), since: now.as_second() });
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::Servers;
    use csv_agent_types::limits::SERVERS_MAX;

    fn hour(number: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(number)
    }

    #[test]
    fn what_a_server_speaks_is_known_for_a_day() {
        let mut servers = Servers::default();
        servers.keep("a", "chat", hour(0));
        assert_eq!(servers.api_of("a", hour(23)), Some("chat"));
        servers.keep("a", "chat", hour(23));
        assert_eq!(servers.api_of("a", hour(24)), None, "it is asked again, though it was used");
        servers.keep("a", "responses", hour(25));
        assert_eq!(servers.api_of("a", hour(25)), Some("responses"));
        assert_eq!(servers.api_of("a", hour(1)), None, "the clock was wrong");
        assert_eq!(servers.api_of("b", hour(25)), None);
    }

    #[test]
    fn the_oldest_makes_room() {
        let mut servers = Servers::default();
        for number in 0..=SERVERS_MAX {
            servers.keep(&number.to_string(), "chat", hour(i64::try_from(number).unwrap()));
        }
        assert_eq!(servers.0.len(), SERVERS_MAX);
        assert_eq!(servers.api_of("0", hour(1)), None);
        assert_eq!(servers.api_of("1", hour(1)), Some("chat"));
    }
}
