//! What the relay reads of requests and answers, and the few requests of its own.
//!
//! Source: Spark 4.2, `spark/connect/base.proto`; the numbers of the fields are the same since 3.5.

use bytes::Bytes;

use csv_agent_types::limits::CLUSTER_ID_BYTES_MAX;

use crate::fields::{Field, Malformed, fields, put_bytes, put_number};
use crate::progress::JobProgress;

/// What the server's log shows as the client of the relay's own requests.
const CLIENT: &str = "csv-agent";
/// The service of which all methods are.
pub(crate) const SERVICE: &str = "spark.connect.SparkConnectService";
const INTERRUPT_ALL: u64 = 1;
const INTERRUPT_OPERATION: u64 = 3;

/// A method of the service that the relay knows. All others are for the policy to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// Runs a plan.
    Execute,
    /// Hears the rest of what a plan gives.
    Reattach,
    /// Asks about a plan.
    Analyze,
    /// Stops what runs.
    Interrupt,
    /// Ends a session.
    ReleaseSession,
    /// Anything else.
    Other,
}

impl Method {
    /// Reads the path of a call.
    pub(crate) fn of(path: &str) -> Method {
        let known = [Method::Execute, Method::Reattach];
        known.into_iter().find(|it| it.path() == path).unwrap_or(Method::Other)
    }

    /// Returns the path that it is called by.
    pub(crate) fn path(self) -> String {
        let name = match self {
            Method::Execute => "ExecutePlan",
            Method::Reattach => "ReattachExecute",
            Method::Analyze => "AnalyzePlan",
            Method::Interrupt => "Interrupt",
            Method::ReleaseSession => "ReleaseSession",
            Method::Other => "",
        };
        format!("/{SERVICE}/{name}")
    }

    /// Returns whether it is answered with what a plan gives.
    pub(crate) fn runs_a_plan(self) -> bool {
        matches!(self, Method::Execute | Method::Reattach)
    }

    fn operation_number(self) -> Option<u32> {
        match self {
            Method::Execute => Some(6),
            Method::Reattach => Some(3),
            Method::Analyze | Method::Interrupt | Method::ReleaseSession | Method::Other => None,
        }
    }
}

/// A session on the server: its id is unique for the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SparkSession {
    pub id: String,
    /// Whose it is, as the client says.
    pub user: String,
}

impl SparkSession {
    /// Returns what every request begins with.
    fn request(&self, client_number: u32) -> Vec<u8> {
        let mut user = Vec::new();
        put_bytes(&mut user, 1, self.user.as_bytes());
        put_bytes(&mut user, 2, self.user.as_bytes());
        let mut request = Vec::new();
        put_bytes(&mut request, 1, self.id.as_bytes());
        put_bytes(&mut request, 2, &user);
        put_bytes(&mut request, client_number, CLIENT.as_bytes());
        request
    }

    /// Returns the request that stops one operation, or all.
    pub(crate) fn interrupt(&self, operation: Option<&str>) -> Bytes {
        let mut request = self.request(3);
        match operation {
            Some(operation) => {
                put_number(&mut request, 4, INTERRUPT_OPERATION);
                put_bytes(&mut request, 6, operation.as_bytes());
            }
            None => put_number(&mut request, 4, INTERRUPT_ALL),
        }
        request.into()
    }

    /// Returns the request that ends the session.
    pub(crate) fn release(&self) -> Bytes {
        self.request(3).into()
    }

    /// Returns the request for the server's version.
    pub(crate) fn version(&self) -> Bytes {
        let mut request = self.request(3);
        put_bytes(&mut request, 10, &[]);
        request.into()
    }
}

/// What a request says of itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestHead {
    /// In which session it is asked.
    pub session: SparkSession,
    /// The operation, if the client names it.
    pub operation: Option<String>,
}

impl RequestHead {
    /// Reads a request. Of a field that comes twice the last one holds, as it does for the server. Fails when
    /// it is no message, or a name in it is none: names are kept.
    pub(crate) fn read(method: Method, message: &[u8]) -> Result<RequestHead, Malformed> {
        let mut asked = RequestHead::default();
        for field in fields(message) {
            match field? {
                (1, it) => name(it).ok_or(Malformed)?.clone_into(&mut asked.session.id),
                (2, Field::Bytes(user)) => {
                    for field in fields(user) {
                        if let (1, it) = field? {
                            name(it).ok_or(Malformed)?.clone_into(&mut asked.session.user);
                        }
                    }
                }
                (number, it) if Some(number) == method.operation_number() => {
                    asked.operation = Some(name(it).ok_or(Malformed)?.to_owned());
                }
                _ => {}
            }
        }
        Ok(asked)
    }
}

/// Returns the name that stands in a field, if it is one.
fn name(field: Field<'_>) -> Option<&str> {
    field.text().filter(|it| it.len() <= CLUSTER_ID_BYTES_MAX)
}

/// What an answer to a plan says of itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct AnswerHead {
    /// The operation that it belongs to.
    pub operation: Option<String>,
    /// Bytes of rows.
    pub arrow_bytes: u64,
    /// Whether nothing comes after it.
    pub is_complete: bool,
    /// How far the job is, if it tells that.
    pub progress: Option<JobProgress>,
}

impl AnswerHead {
    /// Reads an answer. Fails when it is no message.
    pub(crate) fn read(message: &[u8]) -> Result<AnswerHead, Malformed> {
        let mut answered = AnswerHead::default();
        for field in fields(message) {
            match field? {
                (2, Field::Bytes(batch)) => {
                    for field in fields(batch) {
                        if let (2, Field::Bytes(data)) = field? {
                            answered.arrow_bytes += data.len() as u64;
                        }
                    }
                }
                (12, it) => answered.operation = name(it).map(str::to_owned),
                (14, _) => answered.is_complete = true,
                (18, Field::Bytes(progress)) => {
                    answered.progress = Some(JobProgress::read(progress)?);
                }
                _ => {}
            }
        }
        Ok(answered)
    }
}

/// Returns the version in the answer to [`SparkSession::version`].
pub(crate) fn version_in(answer: &[u8]) -> Option<String> {
    let found = fields(answer).flatten().find(|(number, _)| *number == 8);
    let Some((_, Field::Bytes(version))) = found else { return None };
    let found = fields(version).flatten().find(|(number, _)| *number == 1);
    found.and_then(|(_, it)| it.text()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{AnswerHead, Method, RequestHead, SparkSession, version_in};
    use crate::fields::{Malformed, put_bytes};
    use crate::progress::JobProgress;

    fn session() -> SparkSession {
        SparkSession { id: "s-1".to_owned(), user: "me".to_owned() }
    }

    #[test]
    fn the_last_user_of_a_request_is_whom_the_server_takes() {
        let mut request = session().release().to_vec();
        let asked = RequestHead::read(Method::Other, &request);
        assert_eq!(asked, Ok(RequestHead { session: session(), operation: None }));
        let mut user = Vec::new();
        put_bytes(&mut user, 1, b"you");
        put_bytes(&mut request, 2, &user);
        assert_eq!(RequestHead::read(Method::Other, &request).unwrap().session.user, "you");
    }

    #[test]
    fn the_operation_has_another_number_in_each_request() {
        let mut request = session().release().to_vec();
        put_bytes(&mut request, 3, b"three");
        put_bytes(&mut request, 6, b"six");
        let operation = |method| RequestHead::read(method, &request).unwrap().operation;
        assert_eq!(operation(Method::Execute).as_deref(), Some("six"));
        assert_eq!(operation(Method::Reattach).as_deref(), Some("three"));
        assert_eq!(operation(Method::Other), None);
    }

    #[test]
    fn what_is_no_request_is_not_read() {
        assert_eq!(RequestHead::read(Method::Execute, b"\x0a\x05abc"), Err(Malformed));
        assert_eq!(RequestHead::read(Method::Execute, b"\x0a\x01\xff"), Err(Malformed));
        assert_eq!(RequestHead::read(Method::Execute, b"\x12\x03\x0a\x05a"), Err(Malformed));
        let long = SparkSession { id: "s".repeat(257), user: "me".to_owned() };
        assert_eq!(RequestHead::read(Method::Other, &long.release()), Err(Malformed));
    }

    #[test]
    fn the_rows_of_an_answer_are_counted_in_bytes() {
        // ArrowBatch { row_count: 5, data: "abcd" }, operation_id, result_complete, and a progress of two
        // stages.
        let answer = b"\x12\x08\x08\x05\x12\x04abcd\x62\x02op\x72\x00\
            \x92\x01\x18\x0a\x0a\x08\x01\x10\x04\x18\x04\x20\x64\x28\x01\x0a\x08\x08\x02\x10\x06\x18\x01\x20\x05\x10\x01";
        let expected = AnswerHead {
            operation: Some("op".to_owned()),
            arrow_bytes: 4,
            is_complete: true,
            progress: Some(JobProgress {
                stages_done: 1,
                stages: 2,
                tasks_done: 5,
                tasks: 10,
                bytes_read: 105,
            }),
        };
        assert_eq!(AnswerHead::read(answer), Ok(expected));
    }

    #[test]
    fn the_version_is_found_in_its_answer() {
        assert_eq!(version_in(b"\x0a\x01s\x42\x07\x0a\x054.2.1").as_deref(), Some("4.2.1"));
        assert_eq!(version_in(b"\x0a\x01s"), None);
    }

    #[test]
    fn only_calls_that_run_a_plan_are_told_apart() {
        for method in [Method::Execute, Method::Reattach] {
            assert_eq!(Method::of(&method.path()), method);
        }
        assert_eq!(Method::of("/spark.connect.SparkConnectService/Config"), Method::Other);
    }
}
