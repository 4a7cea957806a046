//! What a worker may ask of a cluster.
//!
//! Code of a language model works on the datasets of a cluster, over data that may be hostile, and it
//! can send any bytes. So each request is read here before it goes on, and only what is on lists passes:
//! `messages.txt` says which fields a request may have, `functions.txt` which functions, `guards` what
//! single fields may say. What a new version of Spark adds is refused until it is on a list.
//!
//! All requests are in the name of one user: who that is, the code has no say in.

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex, PoisonError};

use prost_reflect::{DescriptorPool, Kind, MessageDescriptor};

use csv_agent_types::catalog::SparkSource;
use csv_agent_types::limits::{CLUSTER_PLAN_DEPTH_MAX, CLUSTER_PLAN_PARTS_MAX};

use crate::messages::SERVICE;
use uploads::{Blobs, Upload};
use wire::fields;

mod advice;
mod expression;
mod functions;
mod guards;
mod schema;
mod sources;
#[cfg(test)]
mod tests;
mod uploads;
mod wire;
mod words;

pub(super) use sources::check as check_source;

/// The methods that may be called.
const METHODS: [&str; 9] = [
    "ExecutePlan", "AnalyzePlan", "Config", "AddArtifacts", "ArtifactStatus", "Interrupt",
    "ReattachExecute", "ReleaseExecute", "FetchErrorDetails",
];

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
pub(crate) struct Policy {
    sources: Vec<SparkSource>,
    user: String,
    /// What was uploaded so far.
    blobs: Mutex<Blobs>,
}

/// What a guard can look up.
struct GuardContext<'a> {
    sources: &'a [SparkSource],
    blobs: &'a Blobs,
}

/// A call that may be made, and what its messages so far leave open. Only [`Judged::of`] makes one.
#[derive(Debug)]
pub(crate) struct Judged {
    input: MessageDescriptor,
    takes_many: bool,
    is_begun: bool,
    upload: Option<Upload>,
}

impl Judged {
    /// Begins a call of a method, named as in `/spark.connect.SparkConnectService/ExecutePlan`. Fails with a
    /// sentence when the method may not be called.
    pub(crate) fn of(method: &str) -> Result<Judged, String> {
        let name = method
            .strip_prefix('/')
            .and_then(|it| it.strip_prefix(SERVICE))
            .and_then(|it| it.strip_prefix('/'));
        let service = POOL.get_service_by_name(SERVICE);
        let found = service.and_then(|it| it.methods().find(|it| Some(it.name()) == name));
        match found.filter(|it| METHODS.contains(&it.name())) {
            Some(it) => Ok(Judged {
                input: it.input(),
                takes_many: it.is_client_streaming(),
                is_begun: false,
                upload: None,
            }),
            None if name == Some("ReleaseSession") || name == Some("CloneSession") => Err(
                "the session of the cluster is csv-agent's; leave out stop() and clone(), and use \
                     `spark`"
                    .to_owned(),
            ),
            None => Err(format!(
                "`{}` is not a method that is allowed on the cluster; use DataFrame \
                             methods",
                shortened(method)
            )),
        }
    }
}

impl Policy {
    /// Lets this user read these and nothing else.
    pub(crate) fn new(sources: Vec<SparkSource>, user: &str) -> Policy {
        Policy { sources, user: user.to_owned(), blobs: Mutex::default() }
    }

    /// Lets the next message of a call pass. A call that was refused must get no more messages. Fails with a
    /// sentence that says what is not allowed and what to do instead; it is in one line, and what it repeats of
    /// the message is short and escaped.
    pub(crate) fn check(&self, call: &mut Judged, message: &[u8]) -> Result<(), String> {
        if call.is_begun && !call.takes_many {
            return Err("a second message in a call of one".to_owned());
        }
        call.is_begun = true;
        let mut blobs = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
        self.check_parts(&blobs, &call.input, message)?;
        // Sessions are named by a user and a random id: that of another user cannot be entered.
        if user_of(&call.input, message)? != self.user {
            return Err("the cluster accepts one user only; use `spark`".to_owned());
        }
        if call.takes_many {
            uploads::check(&call.input, message, &mut call.upload, &mut blobs)?;
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
        let known = GuardContext { sources: &self.sources, blobs };
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
                    return Err(
                        "the plan is too large for the cluster; collect a small intermediate \
                                result with toPandas(), and join long lists as a frame from \
                                createDataFrame()"
                            .to_owned(),
                    );
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

/// Returns as whom the cluster is asked; nobody is the empty text.
fn user_of<'a>(input: &MessageDescriptor, message: &'a [u8]) -> Result<&'a str, String> {
    let mut user = "";
    for field in fields(input, message)? {
        if let ("user_context", Kind::Message(of)) = (field.is.name(), field.is.kind()) {
            user = fields(&of, field.value.bytes())?.first().map_or("", |it| it.value.text());
        }
    }
    Ok(user)
}

fn malformed(what: &str) -> String {
    format!("a request that cannot be read: {what}")
}

/// Returns what a request names, as far as it is repeated: short, and in one line.
fn shortened(text: &str) -> String {
    const CHARS_MAX: usize = 80;
    text.chars().take(CHARS_MAX).collect::<String>().escape_debug().to_string()
}

fn short_name(of: &MessageDescriptor) -> &str {
    of.full_name().strip_prefix("spark.connect.").unwrap_or(of.full_name())
}
