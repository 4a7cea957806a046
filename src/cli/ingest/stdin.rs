//! Stdin as data: read ahead, and given up on a signal even while nothing comes.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Bytes read from stdin at once.
const STDIN_CHUNK_BYTES: usize = 256 * 1024;
/// Time between two looks at whether a silent stdin is still waited for.
const STDIN_LOOK: Duration = Duration::from_millis(100);

/// Stdin as a reader that gives up when the flag is raised, even while nothing comes.
pub struct StdinReader {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: io::Cursor<Vec<u8>>,
    cancelled: Arc<AtomicBool>,
}

impl StdinReader {
    /// Starts a thread that reads ahead by one chunk. It ends with stdin or when the reader is gone;
    /// while it waits for input it ends with the process.
    pub fn new(cancelled: Arc<AtomicBool>) -> StdinReader {
        let (sender, chunks) = sync_channel(1);
        std::thread::spawn(move || {
            loop {
                let mut chunk = vec![0; STDIN_CHUNK_BYTES];
                let read = io::stdin().read(&mut chunk).map(|n| {
                    chunk.truncate(n);
                    chunk
                });
                let is_last = !read.as_ref().is_ok_and(|it| !it.is_empty());
                if sender.send(read).is_err() || is_last {
                    return;
                }
            }
        });
        StdinReader { chunks, chunk: io::Cursor::default(), cancelled }
    }
}

impl Read for StdinReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.chunk.read(buffer)?;
            if 0 < n || buffer.is_empty() {
                return Ok(n);
            }
            match self.chunks.recv_timeout(STDIN_LOOK) {
                Ok(chunk) => {
                    let chunk = chunk?;
                    if chunk.is_empty() {
                        return Ok(0);
                    }
                    self.chunk = io::Cursor::new(chunk);
                }
                Err(RecvTimeoutError::Timeout) if self.cancelled.load(Ordering::Relaxed) => {
                    return Err(io::Error::other("interrupted"));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
    }
}
