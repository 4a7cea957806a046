//! A server on the loopback that gives whole answers in turn, one connection each, whatever it is asked.

use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::server::{Captured, receive_body, receive_head};

/// Reads of 256 KiB that a slow server is slow with. What the system holds back on its own, it takes at once.
const N_SLOW_READS: usize = 120;

/// One answer of the server.
#[derive(Default)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// Bytes of the body after which the connection breaks, or falls silent.
    pub n_sent: Option<usize>,
    pub is_silent: bool,
    /// Whether it comes before what is sent was read.
    pub is_early: bool,
    /// Whether the body has no length.
    pub is_unmeasured: bool,
    /// Time before each of the first reads of what is sent; the rest is read at once.
    pub reads_every: Option<Duration>,
}

/// A running server.
pub struct Answers {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Captured>>>,
    n_expected: usize,
}

impl Answers {
    /// Starts a server on a free port.
    pub fn start(answers: impl IntoIterator<Item = Answer>) -> Answers {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answers: Vec<Answer> = answers.into_iter().collect();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (n_expected, shared) = (answers.len(), seen.clone());
        thread::spawn(move || {
            for answer in answers {
                let (stream, _) = listener.accept().unwrap();
                // The client may leave whenever it has enough.
                let _ = serve(&stream, &answer, &shared);
            }
        });
        Answers { address, seen, n_expected }
    }

    /// Returns the base URL that reaches it.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the requests when all answers were given.
    #[track_caller]
    pub fn seen(&self) -> Vec<Captured> {
        let seen = self.seen.lock().unwrap().clone();
        assert_eq!(seen.len(), self.n_expected, "{seen:?}");
        seen
    }

    /// Returns the requests as lines, like `GET /v1/files`, when all answers were given.
    #[track_caller]
    pub fn lines(&self) -> Vec<String> {
        let seen = self.seen().into_iter();
        seen.map(|it| it.line.trim_end_matches(" HTTP/1.1").to_owned()).collect()
    }
}

fn serve(stream: &TcpStream, answer: &Answer, seen: &Mutex<Vec<Captured>>) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let Some(mut request) = receive_head(&mut reader)? else { return Ok(()) };
    if answer.is_early {
        seen.lock().unwrap().push(request);
        give(stream, answer)?;
        io::copy(&mut reader, &mut io::sink())?;
        return Ok(());
    }
    if let Some(pause) = answer.reads_every {
        for _ in 0..N_SLOW_READS {
            thread::sleep(pause);
            io::copy(&mut reader.by_ref().take(256 * 1024), &mut request.bytes)?;
        }
    }
    receive_body(&mut reader, &mut request)?;
    seen.lock().unwrap().push(request);
    give(stream, answer)?;
    if answer.is_silent {
        // Until the client has had enough.
        let _ = reader.read(&mut [0]);
    }
    Ok(())
}

fn give(mut stream: &TcpStream, answer: &Answer) -> io::Result<()> {
    write!(stream, "HTTP/1.1 {} x\r\nconnection: close\r\n", answer.status)?;
    for (name, value) in &answer.headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    if !answer.is_unmeasured {
        write!(stream, "content-length: {}\r\n", answer.body.len())?;
    }
    let n_sent = answer.n_sent.unwrap_or(answer.body.len());
    stream.write_all(b"\r\n")?;
    stream.write_all(&answer.body[..n_sent])
}
