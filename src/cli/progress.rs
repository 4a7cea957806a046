//! Progress on stderr: what happens now, what has been done, and a footer.
//!
//! On a terminal there is one live line, which is cleared before anything else is written; elsewhere there
//! are plain lines. Every line makes sense without colour.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use csv_agent_sink::{EventSink, Format};
use csv_agent_text::{digits, sanitize};
use csv_agent_types::event::{
    ANSWER_CUT, Body, CallStatus, Confinement, ErrorBody, Event, ReplyBody, SETTING_UP, SETUP_DONE,
    Status, code_of,
};
use csv_agent_types::status::{BUILTIN, Failure, FailureKind, StopReason};

use super::diagnostics;
use super::options::GlobalOptions;
use super::options::ask::AnswerOptions;
use super::spinner::Spinner;
use super::status_line::StatusLine;
use super::terminal::{Stream, story_width};

/// Column of a tool call's duration, unless its label is longer.
const TIME_COLUMN: usize = 48;
/// Number of lines of code or output that `-v` shows per call.
const SHOWN_LINES_MAX: usize = 40;
/// What is said where the built-in analyst offers readings of a question.
const SEVERAL_READINGS: &str = "this question may mean several things";

/// Consecutive calls of one tool with the same outcome.
struct Ended {
    name: String,
    /// The label that all have, or else the name.
    label: String,
    status: CallStatus,
    n_calls: u32,
    /// Of the longest: read calls run concurrently.
    duration_ms: u64,
}

/// Reports what happens in a turn.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct ProgressReporter {
    is_live: bool,
    colour: bool,
    stdout_is_tty: bool,
    /// Whether the answer shows text as it streams.
    shows_partials: bool,
    /// The base of paths in events.
    files_dir: Option<PathBuf>,
    /// The initial state of stderr.
    stream: Stream,
    is_width_given: bool,
    /// Whether more than warnings and errors is written.
    has_notes: bool,
    verbose: u8,
    /// Whether a log was told that Python is being set up.
    sets_up: bool,
    quiet: bool,
    started: Instant,
    bar: Option<Spinner>,
    now: StatusLine,
    /// Finished calls, held back to be reported together.
    ended: Option<Ended>,
    /// Whether the provider's cut of the coming answer was reported.
    is_cut: bool,
    provider: String,
    /// Whether a reply that is no answer is written nowhere: in a table, or in the file of `-o`.
    hides_refusals: bool,
    /// How to pick one of the readings that a reply offers.
    pick_hint: &'static str,
}

impl ProgressReporter {
    /// Starts reporting. On a terminal the first line appears at once.
    ///
    /// `shows_partials` says whether stdout shows text as it streams. `files_dir` is the base of paths in
    /// events, unless the files will soon be deleted. Without a price the live line shows no cost.
    pub(crate) fn begin(
        options: &GlobalOptions,
        answer: &AnswerOptions,
        shows_partials: bool,
        files_dir: Option<PathBuf>,
    ) -> ProgressReporter {
        let stderr = options.terminal.stderr;
        let mut story = ProgressReporter {
            is_live: options.terminal.can_redraw,
            colour: stderr.colour,
            stdout_is_tty: options.terminal.stdout.is_tty,
            shows_partials,
            files_dir,
            stream: stderr,
            is_width_given: options.terminal.is_width_given,
            has_notes: options.has_notes(),
            verbose: if options.quiet { 0 } else { options.verbose },
            sets_up: false,
            quiet: options.quiet,
            started: Instant::now(),
            bar: None,
            now: StatusLine::begin(answer.price),
            pick_hint: answer.pick_hint,
            ended: None,
            is_cut: false,
            provider: String::new(),
            hides_refusals: match options.format {
                Format::Csv | Format::Tsv => true,
                Format::Text | Format::Reply | Format::Md => answer.output.is_some(),
                Format::Json | Format::Jsonl => false,
            },
        };
        story.refresh();
        story
    }

    /// Reports what was held back before `event`, and clears the live line if the event will be written in
    /// its place.
    ///
    /// Call it before the sinks that write to stdout get the event.
    pub(crate) fn make_way(&mut self, event: &Event) {
        if !matches!(event.body, Body::ToolResult { .. })
            && let Some(ended) = self.ended.take()
        {
            self.write_ended(&ended);
        }
        let is_answer = match event.body {
            Body::Partial { .. } => self.shows_partials,
            Body::DataFrame(_) | Body::Chart(_) | Body::Reply(_) => true,
            _ => false,
        };
        if self.stdout_is_tty && is_answer || event.body.is_terminal() {
            self.hide();
        }
    }

    /// Clears the live line.
    pub(crate) fn hide(&mut self) {
        self.bar = None;
    }

    /// Updates the live line, on a terminal only.
    fn refresh(&mut self) {
        if !self.is_live || !self.has_notes {
            return;
        }
        let message = self.now.line();
        if let Some(bar) = &self.bar {
            return bar.say(message);
        }
        let (started, is_given) = (self.started, self.is_width_given);
        self.bar = Some(Spinner::start(message, started, self.stream, is_given));
    }

    /// Writes lines above the live one.
    fn write(&mut self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| diagnostics::tell(text)),
            None => diagnostics::tell(text),
        }
    }

    /// Writes a warning above the live line.
    fn warn(&self, message: &str) {
        let tell = || diagnostics::warning(message, self.colour);
        match &self.bar {
            Some(bar) => bar.suspend(tell),
            None => tell(),
        }
    }

    fn status(&mut self, status: &Status) {
        match status {
            Status::Started { provider, .. } => {
                self.provider.clone_from(provider);
                self.is_cut = false;
                self.refresh();
            }
            Status::ModelRequest { round, .. } => {
                self.refresh();
                if 0 < self.verbose && !self.is_live {
                    self.write(&format!("request round={round}\n"));
                }
            }
            Status::ModelResponse { round, usage, .. } => {
                if 0 < self.verbose {
                    let (read, written) = (usage.input_tokens, usage.output_tokens);
                    self.write(&format!(
                        "response round={round} input_tokens={read} output_tokens={written}\n"
                    ));
                }
            }
            Status::Reasoning { text, .. } => {
                if 0 < self.verbose {
                    self.detail(text);
                }
            }
            Status::Executing { .. } => self.refresh(),
            Status::Compacting { message, .. } | Status::Compacted { message, .. } => {
                if !self.is_live && self.has_notes {
                    self.write(&format!("{}\n", sanitize::one_line(message)));
                }
                self.refresh();
            }
            Status::Loading { message } => {
                if !self.is_live && (self.turns_setup(message) || self.has_notes) {
                    self.write(&format!("{}\n", sanitize::one_line(message)));
                }
                self.refresh();
            }
            Status::Cluster { message, .. } => {
                if 0 < self.verbose && !self.is_live {
                    self.write(&format!("{}\n", sanitize::one_line(message)));
                }
                self.refresh();
            }
            Status::Container { message, .. } => {
                if 0 < self.verbose {
                    self.write(&format!("{}\n", sanitize::one_line(message)));
                }
            }
            Status::Worker { message, sandbox: Confinement { missing, reasons, .. } } => {
                if 0 < self.verbose {
                    self.write(&format!("{}\n", sanitize::one_line(message)));
                }
                if !missing.is_empty() {
                    let missing = missing.join(", ");
                    self.write(&format!(
                        "warning: code is not fully confined; not enforced: {missing}\n"
                    ));
                    for reason in reasons {
                        self.write(&format!("  {}\n", sanitize::one_line(reason)));
                    }
                    self.write(
                        "hint: see `csv-agent doctor`, or stop in such a case with \
                         `--require-sandbox`\n",
                    );
                }
            }
            Status::Retrying { message, .. } => {
                if self.has_notes {
                    self.write(&format!("{}\n", sanitize::one_line(message)));
                }
                self.refresh();
            }
            Status::Warning { code, message } => {
                self.is_cut |= code == ANSWER_CUT;
                self.warn(message);
            }
        }
    }

    /// Returns whether even a log without notes shows this: that the set-up of Python begins, and that it has ended.
    /// It takes so long that users would think that nothing happens.
    fn turns_setup(&mut self, message: &str) -> bool {
        let (quiet, was) = (self.quiet, self.sets_up);
        self.sets_up = message != SETUP_DONE && (was || message.starts_with(SETTING_UP));
        !quiet && was != self.sets_up
    }

    fn call_ended(&mut self, label: String, name: &str, status: CallStatus, duration_ms: u64) {
        if !self.has_notes {
            return;
        }
        if !self.is_live {
            let (name, time) = (sanitize::one_line(name), seconds(duration_ms));
            self.write(&format!("tool {name} {} {time}\n", <&str>::from(status)));
            return;
        }
        let name = sanitize::one_line(name);
        let mut ended = Ended { name, label, status, n_calls: 1, duration_ms };
        match self.ended.take() {
            Some(before) if before.name == ended.name && before.status == status => {
                if before.label != ended.label {
                    ended.label.clone_from(&ended.name);
                }
                ended.n_calls += before.n_calls;
                ended.duration_ms = ended.duration_ms.max(before.duration_ms);
            }
            Some(before) => self.write_ended(&before),
            None => {}
        }
        // With `-v`, the code or result of each call is shown below its line.
        if self.verbose == 0 && self.now.runs(&ended.name) {
            self.ended = Some(ended);
        } else {
            self.write_ended(&ended);
        }
    }

    fn write_ended(&mut self, ended: &Ended) {
        let (mark, ink) = match ended.status {
            CallStatus::Ok => ("✓", "\x1b[32m"),
            _ => ("✗", "\x1b[31m"),
        };
        let mark = if self.colour { format!("{ink}{mark}\x1b[0m") } else { mark.to_owned() };
        let mut how = match ended.status {
            CallStatus::Ok | CallStatus::Error => String::new(),
            other => format!("  {}", <&str>::from(other)),
        };
        if 1 < ended.n_calls {
            // Writing to a string cannot fail.
            let _ = write!(how, "  {} times", ended.n_calls);
        }
        // Space for the mark, and the duration with its remark.
        let room = self.width().saturating_sub(11 + how.len()).max(20);
        let label = fitted(&ended.label, TIME_COLUMN.min(room), room);
        let time = seconds(ended.duration_ms);
        self.write(&format!("  {mark} {label} {time:>6}{how}\n"));
    }

    /// Returns the width of a progress line in columns.
    fn width(&self) -> usize {
        let now = story_width().filter(|_| !self.is_width_given);
        now.or(self.stream.width).unwrap_or(80).into()
    }

    fn replied(&mut self, reply: &ReplyBody) {
        let colour = self.colour;
        // The earlier warning named the limit that applied.
        if reply.stop_reason == StopReason::Refused && self.hides_refusals {
            self.refused(&reply.text);
        } else if let Some(reason) =
            reply.stop_reason.told(&self.provider).filter(|_| !self.is_told(reply))
        {
            let is_open = !reply.choices.is_empty();
            diagnostics::warning(if is_open { SEVERAL_READINGS } else { reason }, colour);
        }
        if !reply.choices.is_empty() {
            diagnostics::hint(self.pick_hint, colour);
        }
        if !self.has_notes {
            return;
        }
        let time = seconds(reply.duration_ms);
        let tokens = reply.usage.total_tokens;
        if !self.is_live {
            let mut line = format!("done rounds={} tokens={tokens}", reply.rounds);
            if let Some(cost) = reply.usage.cost_usd {
                let _ = write!(line, " cost_usd={cost:.4}");
            }
            self.write(&format!("{line} time={time}\n"));
            return;
        }
        let mut parts =
            vec![digits::count(reply.rounds.into(), "round"), digits::count(tokens, "token")];
        parts.extend(reply.usage.cost_usd.map(digits::usd));
        parts.push(time);
        let code = self.files_dir.as_ref().zip(reply.code_path.as_ref());
        parts.extend(code.map(|(dir, path)| format!("code: {}", shown_path(&dir.join(path)))));
        let mut lines = vec![String::new()];
        for part in parts {
            let line = lines.last_mut().expect("there is a line from the beginning on");
            if line.is_empty() {
                *line = part;
            } else if line.width() + 3 + part.width() <= self.width() {
                *line = format!("{line} · {part}");
            } else {
                lines.push(part);
            }
        }
        for line in lines {
            let ink = if colour { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
            self.write(&format!("{}{line}{}\n", ink.0, ink.1));
        }
    }

    /// Returns whether the user knows already that the answer is not whole.
    fn is_told(&self, reply: &ReplyBody) -> bool {
        // A refusal of the analyst says so itself, where it is seen.
        let is_seen = self.stdout_is_tty && self.provider == BUILTIN;
        self.is_cut || (is_seen && reply.stop_reason == StopReason::Refused)
    }

    /// Reports why there is no answer, and what can be asked instead.
    fn refused(&self, text: &str) {
        let mut lines = text.lines().map(str::trim).filter(|it| !it.is_empty());
        let message = lines.next().unwrap_or_default().to_owned();
        let hint = lines.collect::<Vec<_>>().join("\n");
        let mut failure = Failure::contract(message);
        failure.hint = (!hint.is_empty()).then_some(hint);
        diagnostics::error(&failure.into(), self.colour);
    }

    fn failed(&self, error: &ErrorBody) {
        let mut failure = Failure::new(FailureKind::Internal, error.message.clone());
        failure.hint.clone_from(&error.hint);
        diagnostics::error(&failure.into(), self.colour);
    }

    /// With `-v`, shows what is run; with `-vv`, its result.
    fn detail(&mut self, text: &str) {
        let text = sanitize::for_terminal(text);
        let mut shown = String::new();
        for line in text.lines().take(SHOWN_LINES_MAX) {
            let _ = writeln!(shown, "    {line}");
        }
        let n_more = text.lines().count().saturating_sub(SHOWN_LINES_MAX);
        if 0 < n_more {
            let _ = writeln!(shown, "    … {}", digits::count(n_more as u64, "more line"));
        }
        self.write(&shown);
    }
}

impl EventSink for ProgressReporter {
    fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        let label = match &event.body {
            Body::ToolResult { call_id, .. } => self.now.label(call_id),
            _ => None,
        };
        self.now.hear(event);
        match &event.body {
            Body::Status(status) => self.status(status),
            Body::Partial { .. } => {
                if !self.shows_partials {
                    self.refresh();
                }
            }
            Body::ToolCall { arguments, .. } => {
                self.refresh();
                if let Some(arguments) = arguments.as_ref().filter(|_| 0 < self.verbose) {
                    let code = code_of(arguments);
                    self.detail(&code.map_or_else(|| arguments.to_string(), str::to_owned));
                }
            }
            Body::ToolResult { name, status, duration_ms, result, error, .. } => {
                let label = label.unwrap_or_else(|| sanitize::one_line(name));
                self.call_ended(label, name, *status, *duration_ms);
                self.refresh();
                if 1 < self.verbose {
                    let text = error.as_ref().map(|it| it.message.as_str());
                    let text = text.or_else(|| result["text"].as_str()).map(str::to_owned);
                    self.detail(&text.unwrap_or_else(|| result.to_string()));
                }
            }
            Body::DataFrame(_) | Body::Chart(_) => {}
            Body::ChartRejected { reason, .. } => {
                if self.has_notes {
                    self.write(&format!("chart not drawn: {}\n", sanitize::one_line(reason)));
                }
            }
            Body::Reply(reply) => {
                self.hide();
                self.replied(reply);
            }
            Body::Error(error) if error.fatal => {
                self.hide();
                self.failed(error);
            }
            Body::Error(error) => self.warn(&error.message),
        }
        Ok(())
    }
}

/// Returns text padded and cut to between `width_min` and `width_max` cells.
fn fitted(text: &str, width_min: usize, width_max: usize) -> String {
    let mut fitted = String::new();
    let mut used = 0;
    for char in text.chars() {
        let width = char.width().unwrap_or(0);
        if width_max < used + width {
            break;
        }
        fitted.push(char);
        used += width;
    }
    fitted.extend(std::iter::repeat_n(' ', width_min.saturating_sub(used)));
    fitted
}

fn seconds(duration_ms: u64) -> String {
    let tenths = (duration_ms + 50) / 100;
    format!("{}.{}s", tenths / 10, tenths % 10)
}

/// Returns a path as the user would type it: relative when it is below the working directory.
fn shown_path(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let below = here.as_ref().and_then(|it| path.strip_prefix(it).ok()).unwrap_or(path);
    sanitize::one_line(&below.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::{fitted, seconds};

    #[test]
    fn labels_fill_a_column_whatever_their_letters() {
        assert_eq!(fitted("abc", 5, 9), "abc  ");
        assert_eq!(fitted("東京", 5, 9), "東京 ");
        assert_eq!(fitted("東京都", 5, 5), "東京 ");
        assert_eq!(fitted("abcdef", 2, 4), "abcd");
    }

    #[test]
    fn times_read_well() {
        assert_eq!(seconds(0), "0.0s");
        assert_eq!(seconds(849), "0.8s");
        assert_eq!(seconds(4_150), "4.2s");
    }
}
