//! The state of stdin, stdout and stderr: terminal or not, width, colour.

use std::io::IsTerminal;

use csv_agent_sink::Size;

use super::flags::ColorChoice;
use crate::environment::Environment;
use crate::word_wrap::wrapped;

/// Columns of a terminal that does not report its size.
const WIDTH_UNKNOWN: u16 = 80;
/// Lines of a terminal that does not report its size.
const ROWS_UNKNOWN: u16 = 24;

/// One of the two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stream {
    /// Whether it is a terminal.
    pub is_tty: bool,
    /// Whether it may contain SGR colours.
    pub colour: bool,
    /// Maximum columns of a line. None for a pipe: nothing is cut.
    pub width: Option<u16>,
}

impl Stream {
    /// Wraps the lines of a text that are too wide, with `indent` cells before each further line.
    pub(crate) fn fitted(self, text: String, indent: usize) -> String {
        match self.width {
            Some(width) => wrapped(&text, indent, width.into()),
            None => text,
        }
    }
}

/// The three standard streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Terminal {
    /// Whether stdin is a terminal.
    pub stdin_is_tty: bool,
    /// Carries the answer.
    pub stdout: Stream,
    /// Carries the progress.
    pub stderr: Stream,
    /// Whether stderr is a terminal that can overwrite lines.
    pub can_redraw: bool,
    /// Whether stdout is.
    pub can_redraw_answer: bool,
    /// Whether the user set the width, overriding the terminal's.
    pub is_width_given: bool,
}

impl Terminal {
    /// Inspects the process's streams.
    ///
    /// `width` is the value of `--width`; it applies to a pipe as well.
    pub(crate) fn look(
        color: ColorChoice,
        width: Option<u16>,
        environment: &Environment,
    ) -> Terminal {
        let stdout_tty = std::io::stdout().is_terminal();
        let stderr_tty = std::io::stderr().is_terminal();
        let seen =
            if stdout_tty { columns(&std::io::stdout()) } else { columns(&std::io::stderr()) };
        let stream = |is_tty: bool| Stream {
            is_tty,
            colour: color.allows(is_tty, environment),
            width: width
                .or_else(|| is_tty.then(|| environment.columns.or(seen).unwrap_or(WIDTH_UNKNOWN))),
        };
        Terminal {
            stdin_is_tty: std::io::stdin().is_terminal(),
            stdout: stream(stdout_tty),
            stderr: stream(stderr_tty),
            can_redraw: stderr_tty && !environment.term_is_dumb,
            can_redraw_answer: stdout_tty && !environment.term_is_dumb,
            is_width_given: width.or(environment.columns).is_some(),
        }
    }

    /// Returns a function that measures stdout's terminal; None when its lines cannot be overwritten.
    pub(crate) fn size(&self) -> Option<fn() -> Size> {
        let look: fn() -> Size = if self.is_width_given { size_but_columns } else { size };
        self.can_redraw_answer.then_some(look)
    }
}

/// Returns the current columns of stderr's terminal.
pub(crate) fn story_width() -> Option<u16> {
    columns(&std::io::stderr())
}

/// Measures stdout's terminal.
fn size() -> Size {
    let seen = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    Size {
        columns: seen.map(|it| it.ws_col).filter(|it| 0 < *it),
        rows: seen.map(|it| it.ws_row).filter(|it| 0 < *it).unwrap_or(ROWS_UNKNOWN),
    }
}

fn size_but_columns() -> Size {
    Size { columns: None, ..size() }
}

impl Terminal {
    /// Returns the same terminal with its current width: users resize windows.
    #[must_use]
    pub(crate) fn measured_again(self, width: Option<u16>, environment: &Environment) -> Terminal {
        let resized = |stream: Stream, seen: Option<u16>| Stream {
            width: width
                .or(environment.columns)
                .or(seen)
                .filter(|_| stream.is_tty)
                .or(stream.width),
            ..stream
        };
        Terminal {
            stdout: resized(self.stdout, columns(&std::io::stdout())),
            stderr: resized(self.stderr, columns(&std::io::stderr())),
            ..self
        }
    }
}

impl ColorChoice {
    /// Decides for one stream: the flag, then `NO_COLOR`, then `CLICOLOR_FORCE`, then the terminal.
    pub(crate) fn allows(self, is_tty: bool, environment: &Environment) -> bool {
        match self {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if environment.no_color => false,
            ColorChoice::Auto if environment.clicolor_force => true,
            ColorChoice::Auto => is_tty && environment.clicolor && !environment.term_is_dumb,
        }
    }
}

fn columns(stream: &impl std::os::fd::AsFd) -> Option<u16> {
    // A terminal may report its columns but not its rows.
    rustix::termios::tcgetwinsize(stream).ok().map(|it| it.ws_col).filter(|it| 0 < *it)
}

#[cfg(test)]
mod tests {
    use super::ColorChoice::{self, Always, Auto, Never};
    use crate::environment::Environment;

    #[track_caller]
    fn check(color: ColorChoice, is_tty: bool, variables: &[(&str, &str)], expected: bool) {
        let environment = Environment::of(variables).unwrap();
        assert_eq!(color.allows(is_tty, &environment), expected, "{variables:?}");
    }

    #[test]
    fn colour_needs_a_terminal_unless_it_is_forced() {
        check(Auto, true, &[], true);
        check(Auto, false, &[], false);
        check(Auto, false, &[("CLICOLOR_FORCE", "1")], true);
        check(Auto, false, &[("CLICOLOR_FORCE", "0")], false);
        check(Always, false, &[("NO_COLOR", "1")], true);
    }

    #[test]
    fn colour_can_be_turned_off_in_several_ways() {
        check(Never, true, &[("CLICOLOR_FORCE", "1")], false);
        check(Auto, true, &[("NO_COLOR", "1")], false);
        check(Auto, true, &[("NO_COLOR", "")], true);
        check(Auto, true, &[("TERM", "dumb")], false);
        check(Auto, true, &[("CLICOLOR", "0")], false);
    }
}
