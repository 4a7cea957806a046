//! What a worker may ask of a cluster.
//!
//! Code of a language model works on the datasets of a cluster, over data that may be hostile, and it
//! can send any bytes. So each request is read here before it goes on, and only what is on lists passes:
//! `messages.txt` says which fields a request may have, `functions.txt` which functions, `guards` what
//! single fields may say. What a new version of Spark adds is refused until it is on a list.
//!
//! The sessions of a server are named by a user and an id. A worker has one: the first that it names.

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex, PoisonError};

use prost_reflect::{DescriptorPool, Kind, MessageDescriptor};

use crate::catalog::Read;
use crate::limits::{CLUSTER_PLAN_DEPTH_MAX, CLUSTER_PLAN_PARTS_MAX};
use uploads::{Blobs, Upload};
use wire::fields;

mod advice;
mod expression;
mod functions;
mod guards;
mod schema;
#[cfg(test)]
mod tests;
mod uploads;
mod wire;
mod words;

/// The methods that may be called.
const METHODS: [&str; 9] = [
    "ExecutePlan",
    "AnalyzePlan",
    "Config",
    "AddArtifacts",
    "ArtifactStatus",
    "Interrupt",
    "ReattachExecute",
    "ReleaseExecute",
    "FetchErrorDetails",
];
const SERVICE: &str = "spark.connect.SparkConnectService";

/// The messages of Spark Connect, as `pyspark-client==4.2.0` has them. A Python of that package made
/// the file, of `base_pb2.DESCRIPTOR` of `pyspark.sql.connect.proto` and, first, all that it imports:
/// `file.CopyToProto(found.file.add())` for each, `found` a `FileDescriptorSet`, then
/// `found.SerializeToString()`.
static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    DescriptorPool::decode(include_bytes!("../connect.binpb").as_slice())
        .expect("the file was made by protobuf")
});

/// For each message that a request may hold, the fields that may be set.
static MESSAGES: LazyLock<HashMap<&str, HashSet<&str>>> = LazyLock::new(|| {
    let lines = include_str!("messages.txt").lines();
    lines
        .filter_map(|it| it.split_once(':'))
        .map(|(name, fields)| (name, fields.split_whitespace().collect()))
        .collect()
});

/// What a worker may ask of a cluster.
#[derive(Debug)]
pub struct Policy {
    reads: Vec<Read>,
    seen: Mutex<Seen>,
}

/// What the requests so far said.
#[derive(Debug, Default)]
struct Seen {
    user: Option<String>,
    session: Option<String>,
    blobs: Blobs,
}

/// What a guard can look up.
struct Known<'a> {
    reads: &'a [Read],
    blobs: &'a Blobs,
}

/// A call that may be made, and what its messages so far leave open. Only [`Policy::open`] makes one.
#[derive(Debug)]
pub struct Call {
    input: MessageDescriptor,
    takes_many: bool,
    is_begun: bool,
    upload: Option<Upload>,
}

impl Policy {
    /// Lets these be read and nothing else.
    pub fn new(reads: Vec<Read>) -> Policy {
        Policy { reads, seen: Mutex::default() }
    }

    /// Wants requests in the name of this user. Without it, the first request says whose all are.
    #[must_use]
    pub fn of_user(self, user: &str) -> Policy {
        let seen = Seen { user: Some(user.to_owned()), ..Seen::default() };
        Policy { seen: Mutex::new(seen), ..self }
    }

    /// Begins a call of a method, named as in `/spark.connect.SparkConnectService/ExecutePlan`.
    ///
    /// # Errors
    ///
    /// Fails with a sentence when the method may not be called.
    pub fn open(&self, method: &str) -> Result<Call, String> {
        let name = method
            .strip_prefix('/')
            .and_then(|it| it.strip_prefix(SERVICE))
            .and_then(|it| it.strip_prefix('/'));
        let service = POOL.get_service_by_name(SERVICE);
        let found = service.and_then(|it| it.methods().find(|it| Some(it.name()) == name));
        match found.filter(|it| METHODS.contains(&it.name())) {
            Some(it) => {
                Ok(Call { input: it.input(), takes_many: it.is_client_streaming(), is_begun: false, upload: None })
            }
            None if name == Some("ReleaseSession") || name == Some("CloneSession") => {
                Err("the session of the cluster is csv-agent's; leave out stop() and clone(), and go on with `spark`".to_owned())
            }
            None => {
                let method: String = method.chars().take(80).collect();
                Err(format!("`{}` is no method that may be called on the cluster; use DataFrame methods", method.escape_debug()))
            }
        }
    }

    /// Lets the next message of a call pass. A call that was refused must get no more messages.
    ///
    /// # Errors
    ///
    /// Fails with a sentence that says what is not allowed and what to do instead; it is in one line,
    /// and what it repeats of the message is short and escaped.
    pub fn check(&self, call: &mut Call, message: &[u8]) -> Result<(), String> {
        if call.is_begun && !call.takes_many {
            return Err("a second message in a call of one".to_owned());
        }
        call.is_begun = true;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        self.check_parts(&seen.blobs, &call.input, message)?;
        check_who(&mut seen, &call.input, message)?;
        if call.takes_many {
            uploads::check(&call.input, message, &mut call.upload, &mut seen.blobs)?;
        }
        Ok(())
    }

    /// Goes through a message and all that is in it, without recursion: its depth is the sender's choice.
    fn check_parts(
        &self,
        blobs: &Blobs,
        input: &MessageDescriptor,
        message: &[u8],
    ) -> Result<(), String> {
        let known = Known { reads: &self.reads, blobs };
        let mut ahead = vec![(input.clone(), message, 1_usize)];
        let mut n_parts = 0_usize;
        while let Some((of, bytes, depth)) = ahead.pop() {
            let owner = short_name(&of);
            let allowed = MESSAGES
                .get(owner)
                .ok_or_else(|| format!("`{owner}` is not allowed on the cluster"))?;
            for field in fields(&of, bytes).map_err(|it| malformed(&it))? {
                n_parts += 1;
                if CLUSTER_PLAN_PARTS_MAX < n_parts || CLUSTER_PLAN_DEPTH_MAX < depth {
                    return Err("the plan is too large for the cluster; collect a small result with toPandas() on the way, and join lists as a frame of createDataFrame()".to_owned());
                }
                if !allowed.contains(field.is.name()) {
                    return Err(advice::of(owner, &field));
                }
                guards::check(&known, owner, &field)?;
                if let Kind::Message(inner) = field.is.kind() {
                    ahead.push((inner, field.value.bytes(), depth + 1));
                }
            }
        }
        Ok(())
    }
}

fn check_who(seen: &mut Seen, input: &MessageDescriptor, message: &[u8]) -> Result<(), String> {
    let other =
        || "this session of the cluster is not this worker's; go on with `spark`".to_owned();
    let (mut user, mut session) = ("", "");
    for field in fields(input, message)? {
        match (field.is.name(), field.is.kind()) {
            ("session_id", _) => session = field.value.text(),
            ("user_context", Kind::Message(of)) => {
                user = fields(&of, field.value.bytes())?.first().map_or("", |it| it.value.text());
            }
            _ => {}
        }
    }
    if session.is_empty() {
        return Err(other());
    }
    let is_ours = *seen.user.get_or_insert_with(|| user.to_owned()) == user
        && *seen.session.get_or_insert_with(|| session.to_owned()) == session;
    if is_ours { Ok(()) } else { Err(other()) }
}

fn malformed(what: &str) -> String {
    format!("a request that cannot be read: {what}")
}

fn short_name(of: &MessageDescriptor) -> &str {
    of.full_name().strip_prefix("spark.connect.").unwrap_or(of.full_name())
}
