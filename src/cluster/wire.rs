//! Frames between the worker and the relay: `u32 length of the rest · u8 kind · u32 call · payload`, all
//! integers big endian.

use std::io;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use serde::Serialize;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use csv_agent_types::limits::RELAY_FRAME_BYTES_MAX;

/// Bytes of the length.
const LENGTH_BYTES: usize = 4;
/// Bytes of kind and call, which the length counts.
const HEAD_BYTES: usize = 5;
/// Bytes that are read at once.
const READ_BYTES: usize = 256 * 1024;
/// Bytes of the name of a method.
const METHOD_BYTES_MAX: usize = 200;

/// What the worker says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkerMessage {
    /// It begins, with the method of this path.
    Open(String),
    /// A message of the client.
    Message(Bytes),
    /// The last message of the client was sent.
    Close,
    /// So many more answers are wanted.
    More(u32),
    /// Nothing of it is wanted any more.
    Cancel,
}

/// What the relay says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RelayMessage {
    /// A message of the server.
    Message(Bytes),
    /// It is over.
    End(CallEnd),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct CallEnd {
    /// A code of gRPC; 0 is OK.
    pub code: i32,
    /// Why.
    pub message: String,
    /// What the server adds to that in `grpc-status-details-bin`, in base64.
    pub details: Option<String>,
}

/// The codes with which the relay itself ends a call.
impl CallEnd {
    /// The worker wanted no more.
    pub(crate) const CANCELLED: i32 = 1;
    /// What the worker sent is no request.
    pub(crate) const INVALID_ARGUMENT: i32 = 3;
    /// The policy refuses it.
    pub(crate) const PERMISSION_DENIED: i32 = 7;
    /// It is too much.
    pub(crate) const RESOURCE_EXHAUSTED: i32 = 8;
    /// The server sent what is no answer.
    pub(crate) const INTERNAL: i32 = 13;

    /// Makes one of the relay's own.
    pub(crate) fn new(code: i32, message: impl Into<String>) -> CallEnd {
        CallEnd { code, message: message.into(), details: None }
    }
}

/// Reads the worker's frames.
pub(crate) struct Frames<R> {
    reader: R,
    buffer: BytesMut,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    /// Reads from the start of a frame on.
    pub(crate) fn new(reader: R) -> Self {
        Frames { reader, buffer: BytesMut::new() }
    }

    /// Returns the next frame, with the number of its call; nothing when the worker's end is closed.
    ///
    /// Dropping the future loses no byte. Fails when a frame breaks the rules, or the stream does.
    pub(crate) async fn next(&mut self) -> io::Result<Option<(u32, WorkerMessage)>> {
        loop {
            if let Some(mut frame) = self.complete()? {
                let kind = frame.get_u8();
                let call = frame.get_u32();
                return Ok(Some((call, said(kind, frame)?)));
            }
            self.buffer.reserve(READ_BYTES);
            if self.reader.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// Returns what follows the length of the next frame, once all of it is there.
    fn complete(&mut self) -> io::Result<Option<Bytes>> {
        let Some(length) = self.buffer.first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
        let n_bytes = u32::from_be_bytes(*length) as usize;
        if !(HEAD_BYTES..=RELAY_FRAME_BYTES_MAX).contains(&n_bytes) {
            return Err(broken("a frame of another length"));
        }
        if self.buffer.len() < LENGTH_BYTES + n_bytes {
            return Ok(None);
        }
        // A copy: a part of the buffer would keep all of it, and what it keeps is counted by its length.
        let frame = Bytes::copy_from_slice(&self.buffer[LENGTH_BYTES..][..n_bytes]);
        self.buffer.advance(LENGTH_BYTES + n_bytes);
        Ok(Some(frame))
    }
}

fn said(kind: u8, payload: Bytes) -> io::Result<WorkerMessage> {
    match kind {
        0 if payload.len() <= METHOD_BYTES_MAX => match String::from_utf8(payload.into()) {
            Ok(method) if method.bytes().all(|it| it.is_ascii_graphic()) => {
                Ok(WorkerMessage::Open(method))
            }
            _ => Err(broken("a method that is not a path")),
        },
        1 => Ok(WorkerMessage::Message(payload)),
        2 if payload.is_empty() => Ok(WorkerMessage::Close),
        3 => match payload.as_array() {
            Some(count) => Ok(WorkerMessage::More(u32::from_be_bytes(*count))),
            None => Err(broken("a count that is not a number")),
        },
        4 if payload.is_empty() => Ok(WorkerMessage::Cancel),
        _ => Err(broken("a frame of no kind")),
    }
}

fn broken(rule: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the worker sent {rule}"))
}

/// Writes a frame. Fails when the worker's end is closed.
pub(crate) async fn write(
    writer: &mut (impl AsyncWrite + Unpin),
    call: u32,
    told: RelayMessage,
) -> io::Result<()> {
    let (kind, payload) = match told {
        RelayMessage::Message(message) => (16, message),
        RelayMessage::End(end) => (17, Bytes::from(serde_json::to_vec(&end)?)),
    };
    let n_bytes = u32::try_from(HEAD_BYTES + payload.len()).map_err(io::Error::other)?;
    let mut head = BytesMut::with_capacity(LENGTH_BYTES + HEAD_BYTES);
    head.put_u32(n_bytes);
    head.put_u8(kind);
    head.put_u32(call);
    writer.write_all_buf(&mut head.chain(payload)).await
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{CallEnd, Frames, RelayMessage, WorkerMessage, write};

    async fn read(bytes: &[u8]) -> Result<Vec<(u32, WorkerMessage)>, String> {
        let mut frames = Frames::new(bytes);
        let mut found = Vec::new();
        while let Some(frame) = frames.next().await.map_err(|it| it.to_string())? {
            found.push(frame);
        }
        Ok(found)
    }

    #[tokio::test]
    async fn frames_are_read_as_they_come() {
        let bytes = b"\0\0\0\x07\0\0\0\0\x09/a\0\0\0\x08\x01\0\0\0\x09abc\0\0\0\x05\x02\0\0\0\x09\
            \0\0\0\x09\x03\0\0\0\x09\0\0\x01\0\0\0\0\x05\x04\0\0\0\x09";
        let expected = [
            WorkerMessage::Open("/a".to_owned()),
            WorkerMessage::Message(Bytes::from_static(b"abc")),
            WorkerMessage::Close,
            WorkerMessage::More(256),
            WorkerMessage::Cancel,
        ];
        assert_eq!(read(bytes).await, Ok(expected.map(|it| (9, it)).to_vec()));
        let (mut worker, relay) = tokio::io::duplex(3);
        let send = async move {
            tokio::io::AsyncWriteExt::write_all(&mut worker, bytes).await.unwrap();
        };
        let receive = async {
            let mut frames = Frames::new(relay);
            let mut n_frames = 0;
            while frames.next().await.unwrap().is_some() {
                n_frames += 1;
            }
            n_frames
        };
        assert_eq!(tokio::join!(send, receive).1, 5);
    }

    #[tokio::test]
    async fn a_frame_that_breaks_the_rules_ends_the_relay() {
        let cases: [(&[u8], &str); 7] = [
            (b"\0\0\0\x04\0\0\0\0", "a frame of another length"),
            (b"\xff\xff\xff\xff", "a frame of another length"),
            (b"\0\0\0\x05\x05\0\0\0\x01", "a frame of no kind"),
            (b"\0\0\0\x05\x10\0\0\0\x01", "a frame of no kind"),
            (b"\0\0\0\x06\x02\0\0\0\x01a", "a frame of no kind"),
            (b"\0\0\0\x06\x03\0\0\0\x01a", "a count that is not a number"),
            (b"\0\0\0\x06\x00\0\0\0\x01\n", "a method that is not a path"),
        ];
        for (bytes, rule) in cases {
            assert_eq!(read(bytes).await, Err(format!("the worker sent {rule}")));
        }
    }

    #[tokio::test]
    async fn a_frame_that_is_cut_off_is_the_end() {
        assert_eq!(read(b"\0\0\0\x08\x01\0\0\0\x09ab").await, Ok(Vec::new()));
    }

    #[tokio::test]
    async fn messages_and_ends_are_written() {
        let mut written = Vec::new();
        write(&mut written, 7, RelayMessage::Message(Bytes::from_static(b"ab"))).await.unwrap();
        let end = CallEnd { code: 8, message: "too much".to_owned(), details: None };
        write(&mut written, 7, RelayMessage::End(end)).await.unwrap();
        let json = br#"{"code":8,"message":"too much","details":null}"#;
        let expected =
            [b"\0\0\0\x07\x10\0\0\0\x07ab\0\0\0\x33\x11\0\0\0\x07".as_slice(), json].concat();
        assert_eq!(written, expected);
    }
}
