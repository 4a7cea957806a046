//! How far the reading of a file has come: on a terminal, and only when it takes a while.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::options::GlobalOptions;
use crate::dataset::Progress;
use crate::render::sanitize;

/// Work shorter than this shows no bar.
const BAR_AFTER: Duration = Duration::from_secs(1);

/// The bar of one file.
pub struct IngestBar {
    bar: ProgressBar,
    started: Instant,
    may_show: bool,
    is_shown: AtomicBool,
}

impl IngestBar {
    /// Begins, without showing anything yet.
    pub fn new(shown_name: &str, options: &GlobalOptions) -> IngestBar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let template = "{msg} {bar:20} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(sanitize::one_line(shown_name));
        IngestBar {
            bar,
            started: Instant::now(),
            may_show: options.terminal.can_redraw && !options.quiet,
            is_shown: AtomicBool::new(false),
        }
    }

    /// Shows how far it is.
    pub fn show(&self, progress: Progress) {
        if !self.may_show || self.started.elapsed() < BAR_AFTER {
            return;
        }
        if !self.is_shown.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_length(progress.bytes_total);
        self.bar.set_position(progress.bytes);
    }
}

impl Drop for IngestBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
