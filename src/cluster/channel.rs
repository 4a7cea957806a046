//! Calls to the server: the only place where something leaves for a cluster.

use std::ops::Sub;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::{Buf, BufMut, Bytes};
use tokio::sync::{OnceCell, mpsc};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::{AsciiMetadataKey, AsciiMetadataValue, MetadataMap};
use tonic::transport::{Channel, ClientTlsConfig, Endpoint as Target};
use tonic::{Code, Request, Status, Streaming};
use uuid::Uuid;

use csv_agent_types::limits::{
    CLUSTER_ALIVE, CLUSTER_CONNECT, CLUSTER_CONTACT, CLUSTER_FAREWELL, CLUSTER_MESSAGE_BYTES_MAX,
    CLUSTER_SENT_BYTES_MAX, CLUSTER_WINDOW_BYTES, RELAY_CALLS_MAX,
};

use crate::endpoint::Endpoint;
use crate::error::{ClusterError, beginning, causes, refused, unreachable};
use crate::messages::{Method, SparkSession, version_in};
use crate::wire::CallEnd;

/// What the server's log shows. It reads the part that begins with `spark/`.
const USER_AGENT: &str = concat!("csv-agent/", env!("CARGO_PKG_VERSION"), " spark/4.2.0");
/// The first version with a protocol that goes on where a connection broke.
const VERSION_MIN: (u32, u32) = (3, 5);
/// Characters of a version. Vendors add to it.
const VERSION_CHARS_MAX: usize = 64;
/// How tonic begins what it says of a message that is longer than it may be.
const TOO_LONG: &str = "Error, decoded message length too large";
/// What stands before the status of HTTP, where tonic says that an answer is none of gRPC.
const NO_GRPC: &str = "while receiving response with status: ";

/// What went to a cluster and came from it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Calls that reached a server.
    pub requests: u64,
    /// Bytes of their messages.
    pub sent_bytes: u64,
    /// Bytes of the answers.
    pub received_bytes: u64,
}

impl Sub for Traffic {
    type Output = Traffic;

    /// Returns what passed since there was less.
    fn sub(self, earlier: Traffic) -> Traffic {
        Traffic {
            requests: self.requests - earlier.requests,
            sent_bytes: self.sent_bytes - earlier.sent_bytes,
            received_bytes: self.received_bytes - earlier.received_bytes,
        }
    }
}

/// Asks the server for its version of Spark, such as `4.2.1`: what is in the way is known early then, and without
/// Python. What passes is added to `traffic`, also of calls that fail or are given up.
///
/// # Errors
///
/// Fails when it cannot be reached, takes no token, or is older than Spark 3.5.
pub async fn contact(endpoint: &Endpoint, traffic: &mut Traffic) -> Result<String, ClusterError> {
    let server = Server::new(endpoint.clone());
    let user = endpoint.user().to_owned();
    let session = SparkSession { id: Uuid::new_v4().to_string(), user };
    let ask = ask_counted(&server, Method::Analyze, session.version(), traffic);
    let Ok(answer) = timeout(CLUSTER_CONTACT, ask).await else {
        let seconds = CLUSTER_CONTACT.as_secs();
        let message = format!("cannot reach the cluster at `{endpoint}`: no answer in {seconds} s");
        return Err(ClusterError::Unreachable(message));
    };
    let answer = match answer {
        Ok(answer) => answer,
        Err(fault) if fault.end.code == Code::Unimplemented as i32 => {
            let message = format!("cannot use `{endpoint}`: it is not a Spark Connect server");
            return Err(ClusterError::Unreachable(message));
        }
        Err(Fault { error: ClusterError::Failed(said), .. }) => {
            let message = format!(
                "the cluster at `{endpoint}` answers, but fails: {said}; see its log, and restart it if \
                 necessary"
            );
            return Err(ClusterError::Failed(message));
        }
        Err(fault) => return Err(fault.error),
    };
    // Left alone, it would be there for an hour. That it cannot be released is no failure of this.
    let release = ask_counted(&server, Method::ReleaseSession, session.release(), traffic);
    let _ = timeout(CLUSTER_FAREWELL, release).await;
    let version = version_in(&answer).unwrap_or_default();
    match numbers_of(&version) {
        Some(numbers) if VERSION_MIN <= numbers => Ok(version),
        Some(_) => Err(ClusterError::Failed(format!(
            "the cluster at `{endpoint}` runs Spark {version}; {}.{} or later is needed",
            VERSION_MIN.0, VERSION_MIN.1
        ))),
        None => {
            Err(ClusterError::Failed(format!("the cluster at `{endpoint}` reports no version")))
        }
    }
}

/// Returns the first two numbers of a version: `4.2.1`.
fn numbers_of(version: &str) -> Option<(u32, u32)> {
    let is_short = version.chars().count() <= VERSION_CHARS_MAX;
    let mut parts = version.split('.');
    let numbers = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    (is_short && version.chars().all(|it| it.is_ascii_graphic())).then_some(numbers)
}

async fn ask_counted(
    server: &Server,
    method: Method,
    message: Bytes,
    traffic: &mut Traffic,
) -> Result<Bytes, Fault> {
    // Nothing leaves before there is a connection.
    server.connected().await?;
    traffic.requests += 1;
    traffic.sent_bytes += message.len() as u64;
    let answer = server.ask(method, message).await?;
    traffic.received_bytes += answer.len() as u64;
    Ok(answer)
}

/// Why a call failed: as the worker hears it, and as csv-agent does.
#[derive(Debug)]
pub(crate) struct Fault {
    pub end: CallEnd,
    /// What is told to people.
    pub error: ClusterError,
}

impl Fault {
    fn new(code: Code, error: ClusterError) -> Fault {
        Fault {
            end: CallEnd { code: code as i32, message: error.to_string(), details: None },
            error,
        }
    }
}

/// The server, connected to when it is first needed.
pub(crate) struct Server {
    endpoint: Endpoint,
    channel: OnceCell<Channel>,
    metadata: MetadataMap,
}

impl Server {
    /// Nothing is connected yet.
    pub(crate) fn new(endpoint: Endpoint) -> Server {
        Server { metadata: metadata(&endpoint), channel: OnceCell::new(), endpoint }
    }

    /// Returns whether the server was ever reached.
    pub(crate) fn was_connected(&self) -> bool {
        self.channel.initialized()
    }

    /// Calls a method, whose path has a `/` in front, with the messages of a queue. Fails when the server
    /// cannot be reached, or answers with an error and nothing else.
    pub(crate) async fn call(
        &self,
        path: &str,
        messages: mpsc::Receiver<Bytes>,
    ) -> Result<Answers<'_>, Fault> {
        let path = path.parse().map_err(|_| self.fault(&Status::invalid_argument("no path")))?;
        let mut grpc = Grpc::new(self.connected().await?.clone())
            .max_decoding_message_size(CLUSTER_MESSAGE_BYTES_MAX)
            .max_encoding_message_size(CLUSTER_SENT_BYTES_MAX);
        let broken = |error| Fault::new(Code::Unavailable, unreachable(&self.endpoint, &error));
        grpc.ready().await.map_err(broken)?;
        let mut request = Request::new(ReceiverStream::new(messages));
        *request.metadata_mut() = self.metadata.clone();
        match grpc.streaming(request, path, RawMessages).await {
            Ok(response) => Ok(Answers { server: self, stream: response.into_inner() }),
            Err(status) => Err(self.fault(&status)),
        }
    }

    /// Calls a method that takes one message and gives one answer.
    pub(crate) async fn ask(&self, method: Method, message: Bytes) -> Result<Bytes, Fault> {
        let (sender, messages) = mpsc::channel(1);
        // It has room for one, and the receiver is here.
        let _ = sender.try_send(message);
        drop(sender);
        let answer = self.call(&method.path(), messages).await?.next().await?;
        answer.ok_or_else(|| self.fault(&Status::internal("the answer is empty")))
    }

    async fn connected(&self) -> Result<&Channel, Fault> {
        let channel = self.channel.get_or_try_init(|| self.connect()).await;
        channel.map_err(|it| Fault::new(Code::Unavailable, it))
    }

    async fn connect(&self) -> Result<Channel, ClusterError> {
        let target = target(self.endpoint.clone()).await?;
        match timeout(CLUSTER_CONNECT, target.connect()).await {
            Ok(Ok(channel)) => Ok(channel),
            Ok(Err(error)) => Err(unreachable(&self.endpoint, &error)),
            Err(_) => {
                let error = std::io::Error::from(std::io::ErrorKind::TimedOut);
                Err(unreachable(&self.endpoint, &error))
            }
        }
    }

    fn fault(&self, status: &Status) -> Fault {
        let endpoint = &self.endpoint;
        let said = status.message();
        // A failure on the way has a cause here; what the server says has none.
        if let Some(cause) = std::error::Error::source(status) {
            return Fault::new(Code::Unavailable, unreachable(endpoint, cause));
        }
        let has_details = !status.details().is_empty();
        match status.code() {
            Code::Unauthenticated => Fault::new(status.code(), refused(endpoint, said)),
            Code::PermissionDenied if !has_details => {
                Fault::new(status.code(), refused(endpoint, said))
            }
            Code::OutOfRange if said.starts_with(TOO_LONG) => {
                let message = format!(
                    "one row of the result is more than {} MB; select fewer columns, or shorten text with substr()",
                    CLUSTER_MESSAGE_BYTES_MAX >> 20
                );
                Fault::new(Code::ResourceExhausted, ClusterError::Failed(message))
            }
            Code::Internal if let Some((_, http)) = said.split_once(NO_GRPC) => {
                // What stands before the server has answered in its place, with a page for people.
                if http.starts_with("401") || http.starts_with("403") {
                    return Fault::new(Code::Unauthenticated, refused(endpoint, http));
                }
                let message =
                    format!("cannot reach the cluster at `{endpoint}`: the answer is {http}");
                Fault::new(Code::Unavailable, ClusterError::Unreachable(message))
            }
            Code::Unavailable if !has_details => {
                let said = beginning(said);
                let message = format!("the cluster at `{endpoint}` is not available: {said}");
                Fault::new(status.code(), ClusterError::Unreachable(message))
            }
            code => {
                // The worker reads all of it, as the details repeat it.
                let mut fault = Fault::new(code, ClusterError::Failed(beginning(said)));
                said.clone_into(&mut fault.end.message);
                fault.end.details = has_details.then(|| STANDARD.encode(status.details()));
                fault
            }
        }
    }
}

/// What a call is answered with.
pub(crate) struct Answers<'a> {
    server: &'a Server,
    stream: Streaming<Bytes>,
}

impl Answers<'_> {
    /// Returns the next answer; nothing after the last one. Fails when the server says so, or the connection
    /// broke.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Fault> {
        self.stream.message().await.map_err(|status| self.server.fault(&status))
    }
}

/// Returns how the server is connected to.
async fn target(endpoint: Endpoint) -> Result<Target, ClusterError> {
    let n_windows = u32::try_from(RELAY_CALLS_MAX).unwrap_or(u32::MAX);
    let prepare = move || {
        let target = Target::from_shared(endpoint.uri())?
            .user_agent(USER_AGENT)?
            .connect_timeout(CLUSTER_CONNECT)
            // An answer that nobody reads takes its own window, and none of the others'.
            .initial_stream_window_size(CLUSTER_WINDOW_BYTES)
            .initial_connection_window_size(CLUSTER_WINDOW_BYTES.saturating_mul(n_windows + 1))
            // Pings of HTTP/2 are too many for Spark's server, which hangs up.
            .tcp_keepalive(Some(CLUSTER_ALIVE))
            .tcp_keepalive_interval(Some(CLUSTER_ALIVE))
            .tcp_keepalive_retries(Some(2));
        if !endpoint.uses_tls() {
            return Ok(target);
        }
        let tls = ClientTlsConfig::new().with_native_roots().timeout(CLUSTER_CONNECT);
        target.tls_config(tls)
    };
    // The system's certificates are files.
    let prepared = spawn_blocking(prepare).await;
    let failed = |error: &(dyn std::error::Error + 'static)| {
        let last = causes(error).last().map(ToString::to_string).unwrap_or_default();
        ClusterError::Unreachable(format!("cannot prepare a connection to the cluster: {last}"))
    };
    prepared.map_err(|error| failed(&error))?.map_err(|error| failed(&error))
}

/// What goes with each call.
fn metadata(endpoint: &Endpoint) -> MetadataMap {
    let mut metadata = MetadataMap::new();
    // An endpoint has no other headers and no other token than those that can be sent.
    let mut add = |name: &str, value: &str| {
        let name = name.parse::<AsciiMetadataKey>();
        if let (Ok(name), Ok(value)) = (name, value.parse::<AsciiMetadataValue>()) {
            metadata.insert(name, value);
        }
    };
    endpoint.headers().for_each(|(name, value)| add(name, value));
    if let Some(token) = endpoint.token() {
        add("authorization", &format!("Bearer {token}"));
    }
    metadata
}

/// Messages as they are on the wire.
struct RawMessages;

impl Codec for RawMessages {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = RawMessages;
    type Decoder = RawMessages;

    fn encoder(&mut self) -> RawMessages {
        RawMessages
    }

    fn decoder(&mut self) -> RawMessages {
        RawMessages
    }
}

impl Encoder for RawMessages {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(item);
        Ok(())
    }
}

impl Decoder for RawMessages {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

#[cfg(test)]
mod tests {
    use tonic::{Code, Status};

    use super::{Server, metadata, numbers_of};
    use crate::Endpoint;

    #[test]
    fn versions_of_vendors_are_versions() {
        for (text, expected) in [
            ("4.2.1", Some((4, 2))),
            ("3.5.1-databricks", Some((3, 5))),
            ("4.1", Some((4, 1))),
            ("", None),
            ("four", None),
            ("4.2\u{1b}[2J", None),
        ] {
            assert_eq!(numbers_of(text), expected, "{text}");
        }
        assert_eq!(numbers_of(&format!("4.2.{}", "1".repeat(64))), None);
    }

    #[test]
    fn what_tonic_says_of_an_answer_is_said_so_that_one_can_do_something() {
        let server = Server::new(Endpoint::parse("sc://localhost").unwrap());
        let page = |status: &str| {
            let begin = "protocol error: received message with invalid compression flag: 60 (valid flags are 0 and 1)";
            Status::internal(format!("{begin} while receiving response with status: {status}"))
        };
        let check = |status: &Status, code: Code, expected: &str| {
            let fault = server.fault(status);
            assert_eq!((fault.end.code, fault.error.to_string().as_str()), (code as i32, expected));
        };
        check(
            &page("401 Unauthorized"),
            Code::Unauthenticated,
            "the cluster at `sc://localhost:15002` requires a token (401 Unauthorized); put it into \
             `SPARK_CONNECT_AUTHENTICATE_TOKEN`",
        );
        check(
            &page("502 Bad Gateway"),
            Code::Unavailable,
            "cannot reach the cluster at `sc://localhost:15002`: the answer is 502 Bad Gateway",
        );
        let long = "Error, decoded message length too large: found 40000000 bytes, the limit is: 33554432 bytes";
        check(
            &Status::out_of_range(long),
            Code::ResourceExhausted,
            "one row of the result is more than 32 MB; select fewer columns, or shorten text with substr()",
        );
    }

    #[test]
    fn the_token_goes_with_each_call() {
        let endpoint = Endpoint::parse("sc://localhost/;token=s3cret;X-Key=1").unwrap();
        let metadata = metadata(&endpoint);
        assert_eq!(metadata.get("authorization").unwrap(), "Bearer s3cret");
        assert_eq!(metadata.get("x-key").unwrap(), "1");
    }
}
