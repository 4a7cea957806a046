//! The live line of stderr: what it waits for, and for how long so far.
//!
//! It is redrawn ten times a second at the current width of the terminal, and leaves nothing behind. The
//! cursor stays visible behind the text, so that the terminal's echo of `^C` is cleared with the line.

use std::fmt::Write;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::diagnostics;
use super::terminal::{Stream, story_width};

/// Time between two redraws.
const TICK: Duration = Duration::from_millis(100);
/// More than there are, so that none is skipped.
const DRAWS_PER_SECOND: u8 = 20;
/// One per redraw; the last is for a line that is over, which is not drawn.
const FRAMES: [&str; 11] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏", ""];
const PLAIN: &str = "{spinner} {shortened}  {time}";
const COLOURED: &str = "\x1b[36m{spinner}\x1b[0m {shortened}  \x1b[2m{time}\x1b[0m";
/// Cells kept free at the end of a line: for `^C`, and so that no terminal wraps the line.
const MARGIN: usize = 3;
/// Moves to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[K";

/// A live line. Dropping it clears it.
#[derive(Debug)]
pub(crate) struct Spinner {
    bar: ProgressBar,
    /// What the next redraw says.
    message: Arc<Mutex<String>>,
}

impl Spinner {
    /// Draws the line, and keeps it updated. `message` is one line that is safe for a terminal.
    pub(crate) fn start(
        message: String,
        started: Instant,
        stream: Stream,
        is_width_given: bool,
    ) -> Spinner {
        let message = Arc::new(Mutex::new(message));
        let said = message.clone();
        let width = move || {
            let now = story_width().filter(|_| !is_width_given);
            now.or(stream.width).unwrap_or(u16::MAX)
        };
        let shortened = move |state: &ProgressState, out: &mut dyn Write| {
            let time = elapsed(state.elapsed());
            // Writing to a string cannot fail.
            let _ = out.write_str(&fitting(&lock(&said), &time, width().into()));
        };
        let time = |state: &ProgressState, out: &mut dyn Write| {
            let _ = out.write_str(&elapsed(state.elapsed()));
        };
        let template = if stream.colour { COLOURED } else { PLAIN };
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
        let style = style.tick_strings(&FRAMES).with_key("shortened", shortened);
        let line = OneLine { drawn: Mutex::new(String::new()) };
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(line), DRAWS_PER_SECOND);
        let bar = ProgressBar::with_draw_target(None, target);
        let bar = bar.with_style(style.with_key("time", time)).with_elapsed(started.elapsed());
        bar.enable_steady_tick(TICK);
        Spinner { bar, message }
    }

    /// Changes the message.
    pub(crate) fn say(&self, message: String) {
        *lock(&self.message) = message;
    }

    /// Clears the line while others write, and redraws it below.
    pub(crate) fn suspend(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The line of the terminal where the cursor is. Unlike the terminals of indicatif, it is not filled with blanks up
/// to its end, from where a `^C` would go to the next line.
#[derive(Debug)]
struct OneLine {
    /// What the next flush writes at once.
    drawn: Mutex<String>,
}

impl TermLike for OneLine {
    fn width(&self) -> u16 {
        u16::MAX
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        if !text.trim().is_empty() {
            lock(&self.drawn).push_str(text);
        }
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        lock(&self.drawn).push_str(CLEAR);
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        diagnostics::tell(&std::mem::take(&mut *lock(&self.drawn)));
        Ok(())
    }
}

fn lock(text: &Mutex<String>) -> MutexGuard<'_, String> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the message, cut so that the line fits the width of a terminal.
fn fitting(message: &str, time: &str, width: usize) -> String {
    // The frame and the spaces before the message and before the time.
    shortened(message, width.saturating_sub(1 + 1 + 2 + time.width() + MARGIN))
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

    use super::{MARGIN, elapsed, fitting};

    #[track_caller]
    fn check(message: &str, width: usize, expected: &str) {
        let found = format!("⠹ {}  4s", fitting(message, "4s", width));
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
