//! How charts are shown on the terminal: by the user's choice, the terminal's name, and its answer to a
//! query.
//!
//! The query is sent once per process, before the first chart, and only where nothing else could mistake
//! the answer for typing: stdin and stdout are the same terminal and the process is in its foreground. If
//! input is already waiting, it is left there and no query is sent. Input typed during the tenth of a
//! second for the answer is lost, except for Ctrl-C and the like.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{getpgrp, getpid, kill_process};
use rustix::termios::{
    LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
};

use csv_agent_chart::Theme;
use csv_agent_chart::screen::{Depth, Graphics, Screen};
use csv_agent_types::limits::{TERMINAL_ANSWER, TERMINAL_ANSWER_BYTES_MAX};

use super::flags::ImageChoice;
use super::options::settings::{CHART_THEME, IMAGES, Settings};
use super::terminal::Terminal;
use crate::environment::TerminalNames;

/// Queries kitty with an image of one pixel that is not shown. Source: kitty, "Terminal graphics protocol",
/// "Querying support and available transmission mediums".
const KITTY_QUERY: &str = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\";
/// Primary device attributes: every terminal answers this, so it is the last query.
const ATTRIBUTES_QUERY: &str = "\x1b[c";
/// The attribute of terminals that support sixels.
const SIXEL_ATTRIBUTE: &str = "4";

/// How to show charts on a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Images {
    /// The user's choice.
    pub choice: ImageChoice,
    /// The terminal's names in the environment.
    pub names: TerminalNames,
    /// The background of images.
    pub theme: Theme,
}

impl Images {
    /// Reads the user's settings.
    pub(crate) fn of(settings: &Settings) -> anyhow::Result<Images> {
        Ok(Images {
            choice: settings.get(&IMAGES)?,
            names: settings.environment().terminal.clone(),
            theme: settings.get(&CHART_THEME)?,
        })
    }
}

/// What is known before the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TerminalHints {
    /// No query is needed.
    Graphics(Graphics),
    /// It may support images; whether the `kitty` query may be sent, too.
    Ask { kitty: bool },
}

/// The terminal's answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Answers {
    kitty: bool,
    sixel: bool,
}

impl Answers {
    fn graphics(self) -> Graphics {
        match self {
            Answers { kitty: true, .. } => Graphics::Kitty,
            Answers { sixel: true, .. } => Graphics::Sixel,
            Answers { .. } => Graphics::Blocks,
        }
    }
}

/// Returns the screen for charts; None where only their paths are printed.
pub(crate) fn screen(images: &Images, terminal: &Terminal) -> Option<Screen> {
    let stdout = terminal.stdout;
    if !stdout.is_tty || images.choice == ImageChoice::Never {
        return None;
    }
    let graphics = match known(images, terminal) {
        TerminalHints::Graphics(graphics) => graphics,
        TerminalHints::Ask { kitty } => answers(kitty).graphics(),
    };
    let window = tcgetwinsize(io::stdout()).ok();
    let columns = window.map(|it| it.ws_col).filter(|it| 0 < *it);
    let columns = columns.into_iter().chain(stdout.width).min().unwrap_or(80);
    let cell = window.filter(|it| 0 < it.ws_col && 0 < it.ws_row);
    Some(Screen {
        graphics,
        columns,
        colours: depth(stdout.colour, &images.names),
        cell: cell.map(|it| (it.ws_xpixel / it.ws_col, it.ws_ypixel / it.ws_row)),
        theme: images.theme,
        is_in_tmux: images.names.tmux,
    })
}

/// Returns how charts are shown, for `doctor`.
pub(crate) fn described(screen: Option<&Screen>) -> &'static str {
    match screen.map(|it| it.graphics) {
        None => "by their paths",
        Some(Graphics::Kitty) => "as pictures (kitty)",
        Some(Graphics::Iterm) => "as pictures (iTerm2)",
        Some(Graphics::Sixel) => "as pictures (sixel)",
        Some(Graphics::Blocks) => "in characters",
        Some(Graphics::Sketch) => "as a sketch",
    }
}

fn depth(colour: bool, names: &TerminalNames) -> Depth {
    match names.colorterm.as_deref() {
        _ if !colour => Depth::Monochrome,
        Some("truecolor" | "24bit") => Depth::True,
        _ => Depth::Palette,
    }
}

/// Returns what flags and names reveal about stdout's terminal.
fn known(images: &Images, terminal: &Terminal) -> TerminalHints {
    let names = &images.names;
    let term = names.term.as_deref().unwrap_or_default();
    let is_term = |of: &[&str]| of.iter().any(|it| term.starts_with(it));
    TerminalHints::Graphics(match images.choice {
        ImageChoice::Kitty => Graphics::Kitty,
        ImageChoice::Iterm => Graphics::Iterm,
        ImageChoice::Sixel => Graphics::Sixel,
        ImageChoice::Blocks => Graphics::Blocks,
        ImageChoice::Sketch | ImageChoice::Never => Graphics::Sketch,
        // The Linux console lacks these characters.
        ImageChoice::Auto if term.is_empty() || is_term(&["dumb", "linux", "cons25", "emacs"]) => {
            Graphics::Sketch
        }
        // No colour implies no images.
        ImageChoice::Auto if !terminal.stdout.colour => Graphics::Blocks,
        // tmux answers for itself: it supports sixels itself or not at all.
        ImageChoice::Auto if names.tmux => return ask_if(terminal, false),
        // GNU screen displays the query as a message.
        ImageChoice::Auto if names.screen || is_term(&["screen", "tmux"]) => Graphics::Blocks,
        ImageChoice::Auto => {
            match names.program.as_deref() {
                Some("iTerm.app" | "WezTerm") => Graphics::Iterm,
                _ if names.lc_terminal.as_deref() == Some("iTerm2") => Graphics::Iterm,
                _ if is_term(&["xterm-kitty", "xterm-ghostty"]) => Graphics::Kitty,
                _ if is_term(&["foot", "mlterm"]) => Graphics::Sixel,
                // It would print the query.
                Some("Apple_Terminal") => Graphics::Blocks,
                // Over ssh, an answer may arrive after the timeout and look like typed input.
                _ if names.ssh => Graphics::Blocks,
                _ => return ask_if(terminal, true),
            }
        }
    })
}

fn ask_if(terminal: &Terminal, kitty: bool) -> TerminalHints {
    if terminal.stdin_is_tty {
        TerminalHints::Ask { kitty }
    } else {
        TerminalHints::Graphics(Graphics::Blocks)
    }
}

/// Returns the terminal's answers; empty where it cannot be queried. Queries once per process.
fn answers(kitty: bool) -> Answers {
    static ANSWERS: OnceLock<Answers> = OnceLock::new();
    *ANSWERS.get_or_init(|| ask(kitty).unwrap_or_default())
}

/// Queries the terminal. Returns empty answers where it is not in our control.
fn ask(kitty: bool) -> io::Result<Answers> {
    let (stdin, mut stdout) = (io::stdin(), io::stdout());
    let device = |it: &dyn AsFd| rustix::fs::fstat(it.as_fd()).map(|it| it.st_rdev);
    let is_ours = device(&stdin)? == device(&stdout)? && tcgetpgrp(&stdin)? == getpgrp();
    if !is_ours {
        return Ok(Answers::default());
    }
    let mut raw = RawTerminal::enter(stdin)?;
    if raw.is_ready(Duration::ZERO)? {
        return Ok(Answers::default());
    }
    let query = if kitty { KITTY_QUERY } else { "" };
    stdout.write_all(format!("{query}{ATTRIBUTES_QUERY}").as_bytes())?;
    stdout.flush()?;
    let deadline = Instant::now() + TERMINAL_ANSWER;
    let mut reader = ByteReader::default();
    while !reader.is_done() {
        // Answers received by then are read, even when this process is late: nothing else wants them.
        if !raw.is_ready(deadline.saturating_duration_since(Instant::now()))? {
            break;
        }
        // One byte at a time: input after the last answer is not ours.
        let mut byte = [0];
        if rustix::io::read(&raw.stdin, &mut byte)? == 0 {
            break;
        }
        reader.take(byte[0]);
    }
    raw.pressed = reader.pressed;
    Ok(reader.answers)
}

/// The terminal in raw mode, without echo. Meanwhile no signal ends or stops the process, so that the
/// terminal never stays in this mode.
struct RawTerminal {
    stdin: io::Stdin,
    before: Termios,
    signals: SigSet,
    /// A signal that a key requested meanwhile.
    pressed: Option<rustix::process::Signal>,
}

impl RawTerminal {
    fn enter(stdin: io::Stdin) -> io::Result<RawTerminal> {
        let held = [
            Signal::SIGINT,
            Signal::SIGTERM,
            Signal::SIGHUP,
            Signal::SIGQUIT,
            Signal::SIGTSTP,
            Signal::SIGTTIN,
            Signal::SIGTTOU,
        ];
        let before = tcgetattr(&stdin)?;
        let held: SigSet = held.into_iter().collect();
        let signals = held.thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_BLOCK)?;
        let raw = RawTerminal { stdin, before, signals, pressed: None };
        let mut modes = raw.before.clone();
        let line = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
        modes.local_modes.remove(line);
        // At once, and keeping pending input.
        tcsetattr(&raw.stdin, OptionalActions::Now, &modes)?;
        Ok(raw)
    }

    /// Returns whether input arrives within that time.
    fn is_ready(&self, timeout: Duration) -> io::Result<bool> {
        let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
        let mut descriptors = [PollFd::new(&self.stdin, PollFlags::IN)];
        Ok(0 < poll(&mut descriptors, Some(&timeout))?)
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // Nothing can be done when the terminal is gone.
        let _ = tcsetattr(&self.stdin, OptionalActions::Now, &self.before);
        if let Some(signal) = self.pressed {
            let _ = kill_process(getpid(), signal);
        }
        let _ = self.signals.thread_set_mask();
    }
}

/// Parses answers byte by byte.
#[derive(Debug, Default)]
struct ByteReader {
    answers: Answers,
    /// The current sequence.
    sequence: Vec<u8>,
    n_bytes: usize,
    has_attributes: bool,
    pressed: Option<rustix::process::Signal>,
}

impl ByteReader {
    /// Returns whether all answers have arrived.
    fn is_done(&self) -> bool {
        self.has_attributes || TERMINAL_ANSWER_BYTES_MAX <= self.n_bytes
    }

    fn take(&mut self, byte: u8) {
        use rustix::process::Signal;
        self.n_bytes += 1;
        if self.sequence.is_empty() && byte != 0x1b {
            self.pressed = match byte {
                0x03 => Some(Signal::INT),
                0x1a => Some(Signal::TSTP),
                0x1c => Some(Signal::QUIT),
                _ => self.pressed,
            };
            return;
        }
        self.sequence.push(byte);
        let is_over = match self.sequence.as_slice() {
            [0x1b] | [0x1b, b'[' | b'_'] => false,
            [0x1b, b'_', rest @ ..] => rest.ends_with(b"\x1b\\"),
            // Parameters; then one letter ends it. Source: ECMA-48, 5.4.
            [0x1b, b'[', .., last] => (0x40..=0x7e).contains(last),
            _ => true,
        };
        if is_over {
            let sequence =
                String::from_utf8_lossy(&std::mem::take(&mut self.sequence)).into_owned();
            self.read(&sequence);
        }
    }

    fn read(&mut self, sequence: &str) {
        if let Some(answer) = sequence.strip_prefix("\x1b_G") {
            self.answers.kitty |= answer.starts_with("i=31;OK");
        }
        let attributes = sequence.strip_prefix("\x1b[?").and_then(|it| it.strip_suffix('c'));
        if let Some(attributes) = attributes {
            self.has_attributes = true;
            // The first number is the class of the terminal.
            self.answers.sixel = attributes.split(';').skip(1).any(|it| it == SIXEL_ATTRIBUTE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answers, ByteReader, Images, TerminalHints, depth, known};
    use crate::environment::Environment;
    use crate::flags::ImageChoice::{self, Auto, Blocks, Iterm, Kitty, Sketch};
    use crate::terminal::{Stream, Terminal};
    use csv_agent_chart::Theme;
    use csv_agent_chart::screen::{Depth, Graphics};

    const KITTY: TerminalHints = TerminalHints::Graphics(Graphics::Kitty);
    const ITERM: TerminalHints = TerminalHints::Graphics(Graphics::Iterm);
    const SIXEL: TerminalHints = TerminalHints::Graphics(Graphics::Sixel);
    const BLOCKS: TerminalHints = TerminalHints::Graphics(Graphics::Blocks);
    const SKETCH: TerminalHints = TerminalHints::Graphics(Graphics::Sketch);
    const ASK: TerminalHints = TerminalHints::Ask { kitty: true };

    fn terminal(stdin_is_tty: bool, colour: bool) -> Terminal {
        let stream = Stream { is_tty: true, colour, width: Some(80) };
        Terminal {
            stdin_is_tty,
            stdout: stream,
            stderr: stream,
            can_redraw: true,
            can_redraw_answer: true,
            is_width_given: false,
        }
    }

    fn images(choice: ImageChoice, variables: &[(&str, &str)]) -> Images {
        let names = Environment::of(variables).unwrap().terminal;
        Images { choice, names, theme: Theme::Light }
    }

    #[track_caller]
    fn check(choice: ImageChoice, variables: &[(&str, &str)], expected: TerminalHints) {
        let found = known(&images(choice, variables), &terminal(true, true));
        assert_eq!(found, expected, "{variables:?}");
    }

    #[test]
    fn a_terminal_is_asked_unless_its_name_says_enough() {
        check(Auto, &[("TERM", "xterm-256color")], ASK);
        check(Auto, &[("TERM", "xterm-256color"), ("TERM_PROGRAM", "vscode")], ASK);
        check(Auto, &[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], ITERM);
        check(Auto, &[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")], ITERM);
        check(Auto, &[("TERM", "xterm-256color"), ("LC_TERMINAL", "iTerm2")], ITERM);
        check(Auto, &[("TERM", "xterm-kitty")], KITTY);
        check(Auto, &[("TERM", "foot")], SIXEL);
        check(Auto, &[("TERM", "xterm-256color"), ("TERM_PROGRAM", "Apple_Terminal")], BLOCKS);
        check(Auto, &[("TERM", "linux")], SKETCH);
        check(Auto, &[("TERM", "dumb")], SKETCH);
        check(Auto, &[], SKETCH);
    }

    #[test]
    fn what_stands_between_us_and_the_terminal_counts_more_than_its_name() {
        let tmux = [("TERM", "tmux-256color"), ("TMUX", "/tmp/x,1,0"), ("LC_TERMINAL", "iTerm2")];
        check(Auto, &tmux, TerminalHints::Ask { kitty: false });
        check(Auto, &[("TERM", "screen-256color"), ("STY", "1.x")], BLOCKS);
        check(Auto, &[("TERM", "tmux-256color")], BLOCKS);
        check(Auto, &[("TERM", "xterm-256color"), ("SSH_TTY", "/dev/pts/1")], BLOCKS);
        check(Auto, &[("TERM", "xterm-kitty"), ("SSH_CONNECTION", "a 1 b 2")], KITTY);
    }

    #[test]
    fn the_word_of_the_user_holds_everywhere() {
        for (choice, expected) in
            [(Kitty, KITTY), (Iterm, ITERM), (Blocks, BLOCKS), (Sketch, SKETCH)]
        {
            check(choice, &[("TERM", "dumb")], expected);
            check(choice, &[("TERM", "xterm"), ("TERM_PROGRAM", "iTerm.app")], expected);
        }
    }

    #[test]
    fn nobody_is_asked_where_the_answer_could_not_be_read_or_is_not_wanted() {
        let images = images(Auto, &[("TERM", "xterm")]);
        assert_eq!(known(&images, &terminal(false, true)), BLOCKS);
        assert_eq!(known(&images, &terminal(true, false)), BLOCKS);
    }

    #[test]
    fn colours_are_as_many_as_the_terminal_says() {
        for (colorterm, expected) in [("truecolor", Depth::True), ("yes", Depth::Palette)] {
            let names = Environment::of(&[("COLORTERM", colorterm)]).unwrap().terminal;
            assert_eq!(depth(true, &names), expected);
            assert_eq!(depth(false, &names), Depth::Monochrome);
        }
    }

    #[track_caller]
    fn check_answer(bytes: &[u8], kitty: bool, sixel: bool, n_left: usize) {
        let mut reader = ByteReader::default();
        let mut bytes = bytes.iter();
        while let Some(byte) = bytes.next().filter(|_| !reader.is_done()) {
            reader.take(*byte);
            if reader.is_done() {
                break;
            }
        }
        assert_eq!((reader.answers, bytes.len()), (Answers { kitty, sixel }, n_left));
    }

    #[test]
    fn answers_are_read_to_their_end_and_no_further() {
        check_answer(b"\x1b_Gi=31;OK\x1b\\\x1b[?62;c", true, false, 0);
        check_answer(b"\x1b_Gi=31;EINVAL:no\x1b\\\x1b[?62;4;22c", false, true, 0);
        check_answer(b"\x1b[?62;4cls\n", false, true, 3);
        check_answer(b"typed\x1b[A\x1b[?1;2c", false, false, 0);
        check_answer(b"\x1b[?64;14;24cx", false, false, 1);
        check_answer(b"", false, false, 0);
    }

    #[test]
    fn a_key_that_stops_programs_is_remembered() {
        let mut reader = ByteReader::default();
        for byte in b"a\x03\x1b[?6c" {
            reader.take(*byte);
        }
        assert_eq!(reader.pressed, Some(rustix::process::Signal::INT));
    }
}
