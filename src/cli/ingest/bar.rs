//! The ingest progress bar: on a terminal, and only when it takes a while.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use csv_agent_ingest::Progress;
use csv_agent_text::sanitize;

use crate::options::GlobalOptions;
use crate::spinner;
use crate::terminal::Terminal;

/// Shorter work shows no bar.
const BAR_AFTER: Duration = Duration::from_secs(1);
/// For one file, the part that is read.
const OF_ONE: &str = "{msg} {bar:20} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
/// For several, the number done; some are read concurrently.
const OF_SEVERAL: &str = "{msg} {bar:20} {pos} of {len}, {eta} left";

/// The bar for all files of a command.
pub(super) struct IngestBar {
    bar: ProgressBar,
    started: Instant,
    terminal: Terminal,
    may_show: bool,
    is_shown: AtomicBool,
    n_files: u64,
    n_done: AtomicU64,
}

impl IngestBar {
    /// Starts without showing anything yet; `shown_name` is the name of a single file.
    pub(super) fn new(shown_name: &str, n_files: usize, options: &GlobalOptions) -> IngestBar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let (template, message) =
            if n_files == 1 { (OF_ONE, shown_name) } else { (OF_SEVERAL, "files") };
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(sanitize::one_line(message));
        IngestBar {
            bar,
            started: Instant::now(),
            terminal: options.terminal,
            may_show: options.terminal.can_redraw && !options.quiet,
            is_shown: AtomicBool::new(false),
            n_files: n_files as u64,
            n_done: AtomicU64::new(0),
        }
    }

    /// Shows the progress of a single file.
    pub(super) fn show(&self, progress: Progress) {
        if self.n_files == 1 && self.is_due() {
            self.bar.set_length(progress.bytes_total);
            self.bar.set_position(progress.bytes);
        }
    }

    /// Counts a finished file.
    pub(super) fn count(&self) {
        self.n_done.fetch_add(1, Ordering::Relaxed);
        if 1 < self.n_files && self.is_due() {
            self.bar.set_length(self.n_files);
            self.bar.set_position(self.n_done.load(Ordering::Relaxed));
        }
    }

    /// Hides the bar while `work` uses the terminal.
    pub(super) fn suspend<T>(&self, work: impl FnOnce() -> T) -> T {
        self.bar.suspend(work)
    }

    fn is_due(&self) -> bool {
        if !self.may_show || self.started.elapsed() < BAR_AFTER {
            return false;
        }
        if !self.is_shown.swap(true, Ordering::Relaxed) {
            let Terminal { stderr, is_width_given, .. } = self.terminal;
            self.bar.set_draw_target(spinner::target(stderr, is_width_given));
        }
        true
    }
}

impl Drop for IngestBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
