//! The live line of stderr: what it waits for, and for how long so far.
//!
//! It is redrawn ten times a second at the current width of the terminal, and leaves nothing behind. The
//! cursor stays visible behind the text, so that the terminal's echo of `^C` is cleared with the line.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::diagnostics;
use super::terminal::{Stream, story_width};

/// Time between two redraws.
const TICK: Duration = Duration::from_millis(100);
/// One per redraw.
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Cells kept free at the end of a line: for `^C`, and so that no terminal wraps the line.
const MARGIN: usize = 3;
/// Moves to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[K";

/// A live line. Dropping it clears it.
#[derive(Debug)]
pub(crate) struct Spinner {
    shared: Arc<Shared>,
    // Draws until the spinner is dropped, which signals it and waits.
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<SpinnerState>,
    /// Signals a change of the state.
    changed: Condvar,
}

#[derive(Debug)]
struct SpinnerState {
    message: String,
    started: Instant,
    stream: Stream,
    is_width_given: bool,
    n_drawn: usize,
    is_over: bool,
}

impl Spinner {
    /// Draws the line, and keeps it updated. `message` is one line that is safe for a terminal.
    pub(crate) fn start(
        message: String,
        started: Instant,
        stream: Stream,
        is_width_given: bool,
    ) -> Spinner {
        let mut state =
            SpinnerState { message, started, stream, is_width_given, n_drawn: 0, is_over: false };
        state.draw();
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let drawn = shared.clone();
        let thread = thread::spawn(move || {
            let mut state = drawn.lock();
            while !state.is_over {
                let waited = drawn.changed.wait_timeout(state, TICK);
                let (next, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                state = next;
                if timeout.timed_out() && !state.is_over {
                    state.draw();
                }
            }
        });
        Spinner { shared, thread: Some(thread) }
    }

    /// Changes the message.
    pub(crate) fn say(&self, message: String) {
        let mut state = self.shared.lock();
        if state.message != message {
            state.message = message;
            state.draw();
        }
    }

    /// Clears the line while others write, and redraws it below.
    pub(crate) fn suspend(&self, write: impl FnOnce()) {
        let mut state = self.shared.lock();
        diagnostics::tell(CLEAR);
        write();
        state.draw();
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
        let _ = self.thread.take().map(JoinHandle::join);
        diagnostics::tell(CLEAR);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, SpinnerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SpinnerState {
    fn draw(&mut self) {
        let now = story_width().filter(|_| !self.is_width_given);
        let width = usize::from(now.or(self.stream.width).unwrap_or(u16::MAX));
        let frame = FRAMES[self.n_drawn % FRAMES.len()];
        self.n_drawn += 1;
        let time = elapsed(self.started.elapsed());
        let line = line(frame, &self.message, &time, width, self.stream.colour);
        diagnostics::tell(&format!("{CLEAR}{line}"));
    }
}

/// Returns the line, cut to the width of a terminal.
fn line(frame: &str, message: &str, time: &str, width: usize, colour: bool) -> String {
    // The frame and the spaces before the message and before the time.
    let around = 1 + 1 + 2 + time.width() + MARGIN;
    let message = shortened(message, width.saturating_sub(around));
    if colour {
        format!("\x1b[36m{frame}\x1b[0m {message}  \x1b[2m{time}\x1b[0m")
    } else {
        format!("{frame} {message}  {time}")
    }
}

/// Returns the text within `width` cells, with an ellipsis if it is cut.
fn shortened(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = 1;
    for char in text.chars() {
        used += char.width().unwrap_or(0);
        if width < used {
            break;
        }
        short.push(char);
    }
    if 0 < width {
        short.push('…');
    }
    short
}

fn elapsed(time: Duration) -> String {
    match time.as_secs() {
        seconds @ ..60 => format!("{seconds}s"),
        seconds => format!("{}m {:02}s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use unicode_width::UnicodeWidthStr;

    use super::{MARGIN, elapsed, line};

    #[track_caller]
    fn check(message: &str, width: usize, expected: &str) {
        let found = line("⠹", message, "4s", width, false);
        assert_eq!(found, expected);
        assert!(found.width() + MARGIN <= width.max(9), "{found}");
    }

    #[test]
    fn the_line_fits_the_terminal() {
        check("asking m · round 2", 40, "⠹ asking m · round 2  4s");
        check("asking m · round 2", 20, "⠹ asking m ·…  4s");
        check("東京都東京都", 16, "⠹ 東京都…  4s");
        check("東京都東京都", 17, "⠹ 東京都…  4s");
        check("asking", 1, "⠹   4s");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(elapsed(Duration::from_millis(900)), "0s");
        assert_eq!(elapsed(Duration::from_secs(59)), "59s");
        assert_eq!(elapsed(Duration::from_secs(64)), "1m 04s");
    }
}
