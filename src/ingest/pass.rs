//! One pass over a source: slices parsed concurrently, results collected in file order.
//!
//! One thread reads, several parse and encode, the caller writes. A slice's buffer returns to the
//! reader only when its result has been written, so there are never more slices than buffers, whatever
//! the file's size and however uneven the work.

use std::collections::BTreeMap;
use std::io::BufWriter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use parquet::arrow::arrow_writer::ArrowColumnChunk;

use csv_agent_types::catalog::SkippedLines;
use csv_agent_types::status::Failure;

use super::line_map::LineWriter;
use super::non_rows::NonRows;
use super::null_markers::Markers;
use super::outlier_values::OutlierValues;
use super::repairs::{Repair, has_room};
use super::slice::{self, Parsed, SlicePlan};
use super::source::Slices;
use super::totals::Sum;
use super::type_evidence::TypeEvidence;
use super::type_inference::Hints;
use super::write::{Encoder, LateFile, ParquetFile};
use super::{Progress, Watch};
use crate::non_rows::LinesBelow;
use crate::refusal::check_cancelled;
use crate::spool_notes::SpoolNotes;

/// Slices in addition to those of the workers: one being read, one being written.
pub(crate) const SLICES_BESIDE: usize = 2;

/// Minimum bytes of a slice. Smaller row groups cost more in headers than they save.
pub(crate) const SLICE_BYTES_MIN: usize = 1024 * 1024;

pub(crate) struct PassOutput {
    /// The table.
    pub parquet: ParquetFile,
    /// The encoder of its columns.
    pub encoder: Encoder,
    /// The line map.
    pub lines: LineWriter<BufWriter<LateFile>>,
    /// The list of repairs.
    pub rejects: BufWriter<LateFile>,
}

/// The statistics of a pass.
#[derive(Debug, Default)]
pub(crate) struct PassStats {
    /// Number of rows.
    pub n_rows: u64,
    /// The evidence of each column of the plan.
    pub evidence: Vec<TypeEvidence>,
    /// Padded rows.
    pub n_short: u64,
    /// Rows with surplus cells.
    pub n_surplus: u64,
    pub first_repair: Option<Repair>,
    /// Whether any cell was quoted.
    pub any_quoted: bool,
    /// Records that are not rows, including those before the table.
    pub set_aside: SkippedLines,
    /// The line on which a table below begins.
    pub table_line: Option<u64>,
    /// Blank lines, which are not rows.
    pub n_blank: u64,
    /// Records with only delimiters, which are not rows either.
    pub n_hollow: u64,
    /// Unclosed quotes at the start of a cell.
    pub n_unclosed: u64,
    /// The line of the first such quote.
    pub unclosed_line: Option<u64>,
    /// Records that a stray quote had joined and that were read line by line.
    pub n_split: u64,
    /// Of these, the ones that would be one row each if the file had many of them.
    pub n_likely: u64,
    /// Quoted cells that remained one cell although their lines could be rows.
    pub n_doubtful: u64,
    /// The line of the first such cell.
    pub doubtful_line: Option<u64>,
    /// Lines that began with a byte order mark, which is not text.
    pub n_marks: u64,
    /// The line of the first such mark.
    pub mark_line: Option<u64>,
    /// For each column of the plan, the values that are not of its usual kind; the first line is 0.
    pub odds: Vec<OutlierValues>,
    /// For each column of the plan, its markers of missing values.
    pub markers: Vec<Markers>,
    /// For each column of the plan, its sum, if requested.
    pub sums: Vec<Sum>,
    /// Lines before the text below the table.
    pub n_lines: u64,
    /// Whether rows below the table may be totals.
    pub has_total: bool,
    /// Whether every slice was built according to the plan.
    pub is_built: bool,
    /// Nulls of each built column.
    pub nulls: Vec<u64>,
    /// Hash of the source.
    pub sha256: String,
}

/// The configuration of a pass.
pub(crate) struct PassConfig<'a> {
    /// How slices are read.
    pub plan: &'a SlicePlan,
    /// Which of the built columns the table contains.
    pub stored: &'a [bool],
    /// The file, as the user named it.
    pub shown_name: &'a str,
    /// The names of the plan's columns.
    pub names: &'a [String],
    /// Lines before the first slice.
    pub first_line: u64,
    /// The non-rows among them.
    pub asides: &'a NonRows,
    /// Maximum bytes of a slice.
    pub slice_bytes: usize,
    /// Slices parsed concurrently.
    pub n_workers: usize,
    /// Bytes of the source.
    pub bytes: u64,
    /// What the user specified about all values.
    pub hints: Hints,
    /// Fail at the first repair.
    pub is_strict: bool,
    /// What is known about the rows, if the text was written from another format.
    pub written: Option<&'a SpoolNotes>,
}

impl PassConfig<'_> {
    /// Returns how many bytes to read as slice `index`, which begins at `offset` in the source.
    ///
    /// The first slices are small, so that no worker waits long; the last are too, so that all workers
    /// finish at about the same time.
    fn slice_bytes_at(&self, index: usize, offset: u64) -> usize {
        let n_left = usize::try_from(self.bytes.saturating_sub(offset)).unwrap_or(usize::MAX);
        let share = n_left / (2 * self.n_workers);
        let wanted = if index < self.n_workers { share / 8 } else { share };
        wanted.max(SLICE_BYTES_MIN).min(self.slice_bytes)
    }
}

/// A slice for a worker.
struct Job {
    index: usize,
    bytes: Vec<u8>,
    offset: u64,
}

/// A parsed slice.
struct Done {
    job: Job,
    parsed: Parsed,
    columns: Option<Vec<ArrowColumnChunk>>,
    nulls: Vec<u64>,
}

/// Reads the whole source once. Fails when the source cannot be read or decoded, when a value does not fit a
/// requested type, when the output cannot be written, and when the user cancels.
pub(crate) fn run(
    mut slices: Slices<'_>,
    settings: &PassConfig<'_>,
    output: Option<&mut PassOutput>,
    watch: &Watch<'_>,
) -> anyhow::Result<PassStats> {
    let (job_sender, jobs) = sync_channel::<Job>(1);
    let jobs = Arc::new(Mutex::new(jobs));
    let (done_sender, done) = channel::<anyhow::Result<Done>>();
    let (buffer_sender, buffers) = channel::<Vec<u8>>();
    for _ in 0..settings.n_workers + SLICES_BESIDE {
        buffer_sender.send(Vec::new()).ok();
    }
    let is_broken = AtomicBool::new(false);
    let (encoder, sinks) = output
        .map(|PassOutput { parquet, encoder, lines, rejects }| {
            (&*encoder, (parquet, lines, rejects))
        })
        .unzip();

    thread::scope(|scope| {
        let reader = scope.spawn(move || {
            read_all(&mut slices, settings, &buffers, &job_sender, watch.cancelled)?;
            slices.finish()
        });
        for _ in 0..settings.n_workers {
            let (jobs, done, is_broken) = (Arc::clone(&jobs), done_sender.clone(), &is_broken);
            scope.spawn(move || work(&jobs, &done, settings, encoder, is_broken));
        }
        // An end kept here would keep the other ends waiting.
        drop((jobs, done_sender));
        let mut collector = Collector::new(settings, sinks);
        let collected =
            collector.begin().and_then(|()| collector.collect(&done, &buffer_sender, watch));
        drop((done, buffer_sender));
        let read: anyhow::Result<(String, LinesBelow)> =
            reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        collected?;
        let (sha256, below) = read?;
        collector.end(&below)?;
        let mut tally = collector.tally;
        tally.sha256 = sha256;
        Ok(tally)
    })
}

fn read_all(
    slices: &mut Slices<'_>,
    settings: &PassConfig<'_>,
    buffers: &Receiver<Vec<u8>>,
    jobs: &SyncSender<Job>,
    cancelled: &AtomicBool,
) -> anyhow::Result<()> {
    // The channels close once the collector has failed; its error is reported.
    for (index, mut bytes) in buffers.iter().enumerate() {
        check_cancelled(cancelled)?;
        let n_bytes = settings.slice_bytes_at(index, slices.offset());
        if !slices.next(&mut bytes, settings.plan.syntax, n_bytes)? {
            break;
        }
        if jobs.send(Job { index, bytes, offset: slices.offset() }).is_err() {
            break;
        }
    }
    Ok(())
}

fn work(
    jobs: &Mutex<Receiver<Job>>,
    done: &Sender<anyhow::Result<Done>>,
    settings: &PassConfig<'_>,
    encoder: Option<&Encoder>,
    is_broken: &AtomicBool,
) {
    let plan = settings.plan;
    let next = || jobs.lock().ok()?.recv().ok();
    while let Some(job) = next() {
        let mut parsed = slice::read(&job.bytes, plan, is_broken.load(Ordering::Relaxed));
        let columns = parsed.columns.take();
        if columns.is_none() || (!plan.has_extra && 0 < parsed.n_surplus) {
            is_broken.store(true, Ordering::Relaxed);
        }
        let built = columns.map(|columns| {
            let mut nulls = Vec::new();
            let mut arrays = columns.into_iter().map(|it| {
                let array = it.finish()?;
                nulls.push(array.null_count() as u64);
                Ok(array)
            });
            let columns = match encoder {
                Some(encoder) if 0 < parsed.n_rows => {
                    let stored = arrays.zip(settings.stored);
                    let stored = stored.filter(|(array, is_stored)| **is_stored || array.is_err());
                    encoder.encode(stored.map(|it| it.0))?
                }
                _ => {
                    arrays.try_for_each(|it: anyhow::Result<_>| it.map(drop))?;
                    Vec::new()
                }
            };
            Ok((columns, nulls))
        });
        let result = built.transpose().map(|built| {
            let (columns, nulls) = built.unzip();
            Done { job, parsed, columns, nulls: nulls.unwrap_or_default() }
        });
        if done.send(result).is_err() {
            return;
        }
    }
}

type Sinks<'a> =
    (&'a mut ParquetFile, &'a mut LineWriter<BufWriter<LateFile>>, &'a mut BufWriter<LateFile>);

/// Collects the results in file order.
struct Collector<'a> {
    settings: &'a PassConfig<'a>,
    sinks: Option<Sinks<'a>>,
    tally: PassStats,
    /// Lines before the next slice.
    line: u64,
    /// Of those, lines after the last row's first line, less one.
    n_lines_behind: u64,
    n_listed: u64,
}

impl<'a> Collector<'a> {
    fn new(settings: &'a PassConfig<'a>, sinks: Option<Sinks<'a>>) -> Self {
        let n_columns = settings.plan.guesses.len();
        let tally = PassStats {
            evidence: vec![TypeEvidence::default(); n_columns],
            odds: vec![OutlierValues::default(); n_columns],
            markers: vec![Markers::default(); n_columns],
            sums: vec![Sum::default(); n_columns],
            nulls: vec![0; n_columns + usize::from(settings.plan.has_extra)],
            is_built: true,
            ..PassStats::default()
        };
        let line = settings.first_line;
        Collector { settings, sinks, tally, line, n_lines_behind: line, n_listed: 0 }
    }

    fn collect(
        &mut self,
        done: &Receiver<anyhow::Result<Done>>,
        buffers: &Sender<Vec<u8>>,
        watch: &Watch<'_>,
    ) -> anyhow::Result<()> {
        let mut waiting: BTreeMap<usize, Done> = BTreeMap::new();
        let mut next = 0;
        for result in done {
            check_cancelled(watch.cancelled)?;
            let result = result?;
            waiting.insert(result.job.index, result);
            while let Some(mut result) = waiting.remove(&next) {
                next += 1;
                let bytes = std::mem::take(&mut result.job.bytes);
                let offset = result.job.offset;
                self.take(result)?;
                // The reader has exited once it has read everything.
                buffers.send(bytes).ok();
                let rows = self.tally.n_rows;
                (watch.progress)(Progress {
                    bytes: offset,
                    bytes_total: self.settings.bytes,
                    rows,
                });
            }
        }
        Ok(())
    }

    fn take(&mut self, done: Done) -> anyhow::Result<()> {
        let Done { mut parsed, columns, nulls, .. } = done;
        self.check(&parsed)?;
        for (all, seen) in self.tally.evidence.iter_mut().zip(&parsed.evidence) {
            all.add(*seen);
        }
        self.tally.sums.iter_mut().zip(&parsed.sums).for_each(|(all, sum)| all.add(*sum));
        self.tally.is_built &= columns.is_some();
        self.tally.nulls.iter_mut().zip(&nulls).for_each(|(all, nulls)| *all += nulls);
        if let Some((parquet, lines, _)) = &mut self.sinks {
            let is_first_moved = parsed.skips.first().is_some_and(|it| it.0 == 0);
            if 0 < self.n_lines_behind && 0 < parsed.n_rows && !is_first_moved {
                lines.skip(self.tally.n_rows, self.n_lines_behind)?;
            }
            for (row, n_more) in &parsed.skips {
                let before = if *row == 0 { self.n_lines_behind } else { 0 };
                lines.skip(self.tally.n_rows + row, before + n_more)?;
            }
            if let (Some(columns), true) = (columns, self.tally.is_built && 0 < parsed.n_rows) {
                parquet.append(parsed.n_rows, columns)?;
            }
        }
        self.list(&parsed.repairs, &parsed.asides, self.line)?;
        if let (None, Some(repair)) = (&self.tally.first_repair, parsed.repairs.first()) {
            let line = self.line + repair.line + 1;
            self.tally.first_repair = Some(Repair { line, ..repair.clone() });
        }
        self.tally.n_rows += parsed.n_rows;
        self.tally.n_short += parsed.n_short;
        self.tally.n_surplus += parsed.n_surplus;
        self.tally.any_quoted |= parsed.any_quoted;
        self.tally.n_blank += parsed.n_blank;
        self.tally.n_hollow += parsed.n_hollow;
        self.tally.n_unclosed += parsed.n_unclosed;
        self.tally.n_split += parsed.n_split;
        self.tally.n_likely += parsed.n_likely;
        self.tally.n_doubtful += parsed.n_doubtful;
        let line = |it: u32| self.line + u64::from(it) + 1;
        self.tally.unclosed_line = self.tally.unclosed_line.or(parsed.unclosed_line.map(line));
        self.tally.doubtful_line = self.tally.doubtful_line.or(parsed.doubtful_line.map(line));
        let odds = std::mem::take(&mut parsed.odds);
        self.tally.odds.iter_mut().zip(odds).for_each(|(all, odds)| all.add(odds, self.line));
        let markers = std::mem::take(&mut parsed.markers);
        self.tally.markers.iter_mut().zip(markers).for_each(|(all, markers)| all.add(markers));
        let before = if parsed.n_rows == 0 { self.n_lines_behind } else { 0 };
        self.n_lines_behind = before + parsed.n_lines_behind;
        self.line += parsed.n_lines;
        Ok(())
    }

    /// Lists the non-rows before the table.
    fn begin(&mut self) -> anyhow::Result<()> {
        self.list(&[], self.settings.asides, 0)
    }

    /// Lists the non-rows below the table.
    fn end(&mut self, below: &LinesBelow) -> anyhow::Result<()> {
        let mut asides = NonRows::default();
        self.tally.n_lines = self.line;
        self.tally.has_total = 0 < below.n_total;
        asides.add_below(below, self.settings.plan.syntax);
        self.list(&[], &asides, self.line)
    }

    /// Lists repairs and non-rows in line order; their lines are relative to the first `n_lines` of the
    /// file.
    fn list(&mut self, repairs: &[Repair], asides: &NonRows, n_lines: u64) -> anyhow::Result<()> {
        self.tally.set_aside.add(asides.counts);
        self.tally.table_line =
            self.tally.table_line.or(asides.table_line.map(|it| n_lines + it + 1));
        self.tally.n_marks += asides.n_marks;
        let mark_line = asides.mark_line.map(|it| n_lines + it + 1);
        self.tally.mark_line = self.tally.mark_line.or(mark_line);
        let Some((_, _, rejects)) = &mut self.sinks else { return Ok(()) };
        let mut listed: Vec<&Repair> = repairs.iter().chain(&asides.listed).collect();
        listed.sort_by_key(|it| it.line);
        for repair in listed {
            if has_room(self.n_listed) {
                let line = n_lines + repair.line + 1;
                Repair { line, ..repair.clone() }.write(rejects)?;
            }
            self.n_listed += 1;
        }
        Ok(())
    }

    /// Fails on anything that the user does not want repaired.
    fn check(&self, parsed: &Parsed) -> anyhow::Result<()> {
        let shown_name = self.settings.shown_name;
        if let Some(misfit) = &parsed.misfit {
            let line = self.line + misfit.line;
            let place = self
                .settings
                .written
                .map_or_else(|| format!("line {}", line + 1), |it| it.place(misfit.column, line));
            let (column, value) = (&self.settings.names[misfit.column], shown(&misfit.value));
            let dtype = misfit.wanted.name();
            let message = format!(
                "cannot read column `{column}` of `{shown_name}` as {dtype}: {place} has `{value}`"
            );
            let hint = misfit.way_out(self.settings.hints).map_or_else(
                || format!("leave out `--dtype {column}={dtype}`, or name the value in `--null`"),
                str::to_owned,
            );
            return Err(Failure::input(message).hint(hint).into());
        }
        if let (true, Some(repair)) = (self.settings.is_strict, parsed.repairs.first()) {
            let Repair { line, reason, text } = repair;
            let line = self.line + line + 1;
            let (reason, _) = reason.split_once(';').unwrap_or((reason, ""));
            let message =
                format!("cannot read `{shown_name}`: line {line} has {reason}: `{}`", shown(text));
            let hint = "leave out `--strict` to read such lines all the same; csv-agent then reports what it did";
            return Err(Failure::input(message).hint(hint).into());
        }
        Ok(())
    }
}

/// Cuts text for a message.
fn shown(text: &str) -> &str {
    &text[..text.floor_char_boundary(80)]
}
