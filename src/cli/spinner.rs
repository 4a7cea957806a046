//! The live line of stderr: for how long it waits so far, and what for.
//!
//! It is redrawn ten times a second at the current width of the terminal, and leaves nothing behind. The
//! cursor stays visible behind the text, so that the terminal's echo of `^C` is cleared with the line.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

use super::diagnostics;
use super::terminal::{Stream, story_width};

/// Time between two redraws.
const TICK: Duration = Duration::from_millis(100);
/// One per redraw; the last is for a line that is over, which is not drawn.
const FRAMES: [&str; 11] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏", ""];
const PLAIN: &str = "{spinner} {elapsed} {wide_msg}";
const COLOURED: &str = "\x1b[36m{spinner}\x1b[0m \x1b[2m{elapsed}\x1b[0m {wide_msg}";
/// Cells kept free at the end of a line: for `^C`, and so that no terminal wraps the line.
const MARGIN: u16 = 3;
/// Cells of a terminal that does not tell its width.
const WIDTH_UNKNOWN: u16 = 80;

/// A live line. Dropping it clears it.
#[derive(Debug)]
pub(crate) struct Spinner(ProgressBar);

impl Spinner {
    /// Draws the line, and keeps it updated. `message` is one line that is safe for a terminal.
    pub(crate) fn start(
        message: String,
        started: Instant,
        stream: Stream,
        is_width_given: bool,
    ) -> Spinner {
        let style = ProgressStyle::with_template(if stream.colour { COLOURED } else { PLAIN });
        let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
        let bar = ProgressBar::with_draw_target(None, target(stream, is_width_given));
        let bar = bar.with_style(style.tick_strings(&FRAMES)).with_elapsed(started.elapsed());
        bar.set_message(message);
        bar.enable_steady_tick(TICK);
        Spinner(bar)
    }

    /// Changes the message.
    pub(crate) fn say(&self, message: String) {
        self.0.set_message(message);
    }

    /// Clears the line while others write, and redraws it below.
    pub(crate) fn suspend(&self, write: impl FnOnce()) {
        self.0.suspend(write);
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Returns where a live line or a progress bar is drawn: on stderr, narrower than the terminal by a margin.
pub(crate) fn target(stream: Stream, is_width_given: bool) -> ProgressDrawTarget {
    let given = stream.width.filter(|_| is_width_given);
    let line = LineTarget { given, initial: stream.width, drawn: Mutex::default() };
    ProgressDrawTarget::term_like(Box::new(line))
}

/// What indicatif draws with. It fills its last line with blanks up to the width that it is told, and an echo of
/// `^C` behind them would begin another line.
#[derive(Debug)]
struct LineTarget {
    /// The width that the user chose.
    given: Option<u16>,
    /// The width at the beginning, for a terminal that stops telling it.
    initial: Option<u16>,
    /// What one redraw writes at once.
    drawn: Mutex<String>,
}

impl LineTarget {
    fn drawn(&self) -> MutexGuard<'_, String> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, text: &str) {
        self.drawn().push_str(text);
    }

    fn move_cursor(&self, n: usize, direction: char) {
        if 0 < n {
            self.add(&format!("\x1b[{n}{direction}"));
        }
    }
}

impl TermLike for LineTarget {
    fn width(&self) -> u16 {
        let width = self.given.or_else(story_width).or(self.initial).unwrap_or(WIDTH_UNKNOWN);
        width.saturating_sub(MARGIN)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'A');
        Ok(())
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'B');
        Ok(())
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'C');
        Ok(())
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'D');
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.add(&format!("{text}\r\n"));
        Ok(())
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.add(text);
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.add("\r\x1b[K");
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        diagnostics::tell(&std::mem::take(&mut *self.drawn()));
        Ok(())
    }
}
