//! Every limit of the program, with its unit and its reason.
//!
//! A constant is fixed; a field of [`Limits`] can be changed by a flag.

use std::time::Duration;

/// Bytes of one CSV file for `ingest`, unless `--max-bytes` changes it.
pub const CSV_BYTES_MAX: u64 = 400 * 1024 * 1024;
/// Files that one command reads, whether into a dataset each or one for all.
pub const SOURCES_MAX: usize = 10_000;
/// Cells of a workbook's sheets held in memory at once, including empty ones.
pub const SHEET_CELLS_MAX: u64 = 10_000_000;
/// Seconds in which a database view must return a row.
pub const VIEW_SECONDS_MAX: u64 = 20;
/// Levels of directories below a named one. Deeper ones are more likely a loop than data.
pub const SOURCE_LEVELS_MAX: usize = 32;
/// Files of one archive, whether data or not.
pub const ARCHIVE_FILES_MAX: usize = 100_000;
/// Bytes of a compressed tar archive that is decompressed to a temporary file.
pub const ARCHIVE_BYTES_MAX: u64 = 16 * 1024 * 1024 * 1024;
/// Bytes of a slice of CSV, which one worker parses at a time.
pub const SLICE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of one record. A longer one more likely contains an unclosed quote.
pub const RECORD_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes between an opening and a closing quote; beyond this the first is text.
pub const QUOTED_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Parts of a Parquet file searched concurrently.
pub const FIND_WORKERS_MAX: usize = 4;
/// Bytes of all slices that are read, parsed or written concurrently, whatever the file's size and the
/// number of workers. Peak memory is a small multiple of this.
pub const SLICES_BYTES_MAX: usize = 96 * 1024 * 1024;
/// Bytes at the head of a file from which its dialect is detected.
pub const SNIFF_HEAD_BYTES: usize = 256 * 1024;
/// Bytes of each further window into the file, so that later content counts too.
pub const SNIFF_WINDOW_BYTES: usize = 32 * 1024;
/// Windows into the file after the head; the last one ends at the end of the file.
pub const SNIFF_WINDOWS: u64 = 7;
/// Bytes of the lines from which a legacy encoding is guessed. More would not change the guess.
pub const ENCODING_SAMPLE_BYTES_MAX: usize = 1024 * 1024;
/// Notes above and below a table stored with its schema.
pub const NOTES_MAX: usize = 12;
/// Bytes of each note.
pub const NOTE_BYTES_MAX: usize = 240;
/// Records of notes below a table. More are a separate table.
pub const FOOTER_RECORDS_MAX: usize = 20;
/// Repaired rows listed singly; the rest is only counted.
pub const REJECTS_MAX: u64 = 10_000;
/// Bytes listed of one repaired row.
pub const REJECT_BYTES_MAX: usize = 4 * 1024;
/// Bytes of a dataset's name derived from a file name: file names are bounded too.
pub const DATASET_NAME_BYTES_MAX: usize = 100;
/// Bytes of the footer of a Parquet file. It is read whole; that of a wide file has some megabytes.
pub const PARQUET_FOOTER_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Nesting of types in a Parquet file. Its decoder is recursive.
pub const PARQUET_LEVELS_MAX: usize = 64;
/// Bytes of one page of a Parquet file, decompressed. Writers make pages of about a megabyte.
pub const PARQUET_PAGE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Texts of one page of a Parquet file that stores lengths separately. Writers put some ten thousand into
/// one.
pub const PARQUET_PAGE_LENGTHS_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of one page of a dataset, decompressed. The longest record fits, together with a slice.
pub const DATASET_PAGE_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// Values of a column in one row group of a dataset. Ours have a few millions at most; older versions of PyArrow
/// write 64 Mi rows. Equal ones take no room in the file.
pub const DATASET_GROUP_VALUES_MAX: i64 = 64 * 1024 * 1024;
/// Bytes of all pages of one row group of a dataset. Those that are written have a tenth of it.
pub const DATASET_GROUP_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Bytes of text in the rows of a Parquet file that are shown unchanged.
pub const HEAD_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Cells of a Parquet file decoded at once.
pub const PARQUET_CELLS_MAX: usize = 1024 * 1024;
/// Bytes of an unpacked Parquet file, unless the file itself is large. A few kilobytes can expand to
/// terabytes: a text stored once, and rows that refer to it.
pub const PARQUET_UNPACKED_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// The same limit per byte of the file.
pub const PARQUET_UNPACKED_RATIO_MAX: u64 = 100;
/// Columns with an open writer at the same time. Each takes 20 KB before the first value, and 40 KB more
/// for a dictionary.
pub const WRITERS_MAX: usize = 1_000;
/// Rows of a dataset copied at once while its values are masked.
pub const MASK_BATCH_ROWS_MAX: usize = 64 * 1024;
/// Rows of a dataset decoded at once to write them as CSV.
pub const CSV_BATCH_ROWS_MAX: usize = 8 * 1024;
/// Bytes of the line of Python that reads a dataset's CSV. The model reads one per dataset.
pub const READING_RECIPE_BYTES_MAX: usize = 2 * 1024;
/// Rows of a dataset decoded at once to count values.
pub const CENSUS_BATCH_ROWS_MAX: usize = 64 * 1024;
/// Bytes of a dataset's file that is verified by its checksum before use, when its modification time has
/// changed. `doctor --session` verifies every file.
pub const CHECKSUM_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes of a dataset's file that is compared with its checksum each time before it is used.
pub const CHECKSUM_ALWAYS_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Bytes of a line map that is read whole; it takes eight times as many in memory.
pub const LINE_MAP_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Rows that must share a value before it may be shown where rows are withheld.
pub const SHARED_ROWS_MIN: u64 = 5;
/// Rows of a result that may be shown where rows are withheld. A longer one is a list of rows, not an
/// aggregate.
pub const AGGREGATE_ROWS_MAX: u64 = 20;
/// Values in a result other than a table, where rows are withheld.
pub const AGGREGATE_VALUES_MAX: usize = 40;
/// Columns of one dataset. Beyond this a file is more likely misread than wide.
pub const CSV_COLUMNS_MAX: usize = 20_000;

/// Time between two writes of the traffic between a turn and a cluster. Each waits for the disk.
pub const CLUSTER_RECORD_EVERY: Duration = Duration::from_secs(1);
/// Time between two progress events of a job on a cluster.
pub const CLUSTER_PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// Rows of a `data_frame` event. The whole frame is in the turn's `tables/`.
pub const TABLE_ROWS_MAX: usize = 2_000;
/// Cells of a `data_frame` event, so that a wide frame is cut as well as a long one.
pub const TABLE_CELLS_MAX: usize = 200_000;
/// Rows of a table on a terminal. A longer one would scroll the answer off the screen.
pub const TABLE_TTY_ROWS_MAX: usize = 50;
/// Lines of one row of a table on a terminal. Longer cells are cut with an ellipsis.
pub const TABLE_TTY_LINES_MAX: usize = 3;
/// Rows that a chart with a mark per row plots: more are indistinguishable, and the model should
/// aggregate.
pub const CHART_ROWS_MAX: usize = 200;
/// Rows of a line, an area, a scatter plot, a heat map, and of long data: those that would hide each other
/// are thinned.
pub const CHART_POINTS_MAX: usize = 5_000;
/// Values that a histogram or box plots count. An event has only their bins or quartiles.
pub const CHART_VALUES_MAX: usize = 100_000;
/// Bins of a histogram, if their width is given.
pub const CHART_BINS_MAX: u32 = 200;
/// Rows of a heat map.
pub const CHART_HEAT_ROWS_MAX: usize = 40;
/// Categories of bars and boxes; the largest are drawn.
pub const CHART_CATEGORIES_MAX: usize = 25;
/// Reference lines and bands.
pub const CHART_REFERENCES_MAX: usize = 5;
/// Texts at points of a chart.
pub const CHART_ANNOTATIONS_MAX: usize = 5;
/// Characters of a name, a title, a label or a note of a chart, and of the name of a table. A drawing shows about 300.
pub const SHOWN_TEXT_CHARS_MAX: usize = 500;
/// Panels of a chart; those with the largest values are drawn.
pub const CHART_PANELS_MAX: usize = 12;
/// Series of one chart; the palette has the same number of colours.
pub const CHART_SERIES_MAX: usize = 10;
/// Lines of a chart on a terminal, without the line below it.
pub const CHART_TTY_LINES_MAX: usize = 20;
/// Time for a terminal to report its image support. A local one takes a few milliseconds.
pub const TERMINAL_ANSWER: Duration = Duration::from_millis(100);
/// Bytes read of such an answer.
pub const TERMINAL_ANSWER_BYTES_MAX: usize = 1_024;

/// Bytes of the tables of one page, cells and markup. A browser loads them within two seconds; further
/// tables are cut.
pub const PAGE_TABLES_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Minimum rows of each table on a page, whatever its size.
pub const PAGE_ROWS_MIN: usize = 25;
/// Characters of one cell on a page. Longer ones are complete in the table's file.
pub const PAGE_CELL_CHARS_MAX: usize = 2_000;
/// Bytes of an answer that are laid out for people; JSON and `--format reply` have all of it. The longest that models
/// write have a quarter of it.
pub const ANSWER_SHOWN_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Bytes of a Markdown text of which each picture and tag is looked at. Of a longer one all signs are escaped.
pub const MARKDOWN_BYTES_MAX: usize = 2 * ANSWER_SHOWN_BYTES_MAX;
/// Characters of what was asked, what a call was given and what it gave, each, on a page.
pub const PAGE_TEXT_CHARS_MAX: usize = 20_000;
/// Bytes of one image embedded in a page; for a larger one it states the path.
pub const PAGE_IMAGE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Bytes of all images embedded in a page, those of the first turns first. As text they take a third more.
pub const PAGE_IMAGES_BYTES_MAX: u64 = 24 * 1024 * 1024;
/// Columns of one dataset listed on a page.
pub const PAGE_COLUMNS_MAX: usize = 200;
/// Rows of a table that a report shows in full.
pub const REPORT_ROWS_MAX: usize = 25;
/// First rows that a report shows of a longer table. `report.css` hides the others until the reader opens them.
pub const REPORT_ROWS: usize = 15;
/// Bytes of a Markdown file whose questions become a report.
pub const REPORT_TEMPLATE_BYTES_MAX: u64 = 1024 * 1024;
/// Time for a browser to print a report. Its first start takes two seconds, and a report of a hundred pages ten.
pub const BROWSER_TIME: Duration = Duration::from_secs(90);
/// Characters of what a browser says when it fails.
pub const BROWSER_TOLD_CHARS_MAX: usize = 300;

/// Differences between a table and its rerun that are listed singly.
pub const DIFFERENCES_MAX: usize = 20;
/// Cells of the rows of a table that are not equal to the ones in the same place of its rerun. They are in memory, with
/// as many of the rerun, some 60 bytes each.
pub const COMPARED_CELLS_MAX: u64 = 4_000_000;
/// Bytes of a source that is read to find out how plain Python reads it; its cells take ten times as much.
pub const EXPORT_SOURCE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Pieces of 30 000 characters in an answer of our own Python.
pub const STUDY_PIECES_MAX: usize = 1_000;

/// Characters of a file name derived from the name of a table, a chart or a file. With four bytes each, a
/// number and an ending, it is within the 255 bytes of a file system.
pub const SLUG_CHARS_MAX: usize = 60;
/// Characters kept of a fetched file's ending.
pub const ENDING_CHARS_MAX: usize = 8;
/// Tables, charts or files with the same name in one turn.
pub const SLUGS_PER_TURN_MAX: usize = 10_000;

/// Files fetched from the provider in one turn. A container may have a thousand.
pub const FETCHED_FILES_MAX: usize = 100;
/// Bytes of one fetched file. An answer is a table or an image, not an archive.
pub const FETCHED_FILE_BYTES_MAX: u64 = 100 * 1024 * 1024;
/// Bytes of all fetched files.
pub const FETCHED_BYTES_MAX: u64 = 500 * 1024 * 1024;
/// Bytes of a fetched file's name: the limit of file systems.
pub const FETCHED_NAME_BYTES_MAX: usize = 255;

/// Bytes of a session's log before rotation; one old log is kept.
pub const LOG_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of a session's line-based file: a conversation, the events of a turn.
pub const SESSION_FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes of one line of it: a table of an answer with column names, or a question with its images.
pub const SESSION_LINE_BYTES_MAX: usize = 80 * 1024 * 1024;
/// Bytes of memory for the content of such files at the same time. With the rest of the program it is below
/// 300 MB.
pub const SESSION_MEMORY_BYTES_MAX: u64 = 200 * 1024 * 1024;
/// Bytes of memory for a session's file of one JSON document, once parsed.
pub const DOCUMENT_MEMORY_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// The same for one dataset's catalog entry, of which several copies exist. One of 20 000 columns takes
/// half of it.
pub const DATASET_MEMORY_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Bytes of a text file of a turn: its code, its reply.
pub const TURN_TEXT_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Bytes of `datasets.json`: a thousand datasets with a hundred columns take half of it.
pub const CATALOG_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Bytes of any other session file of one JSON document.
pub const RECORD_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of `question.txt` that a list of turns reads.
pub const QUESTION_FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of `summary.md`; users may add to it.
pub const SUMMARY_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Bytes of one tool output for the model. A longer one is cut in the middle.
pub const TOOL_OUTPUT_BYTES_MAX: usize = 16 * 1024;
/// Turns before a client's verdict whose results may ground its numbers.
pub const CLIENT_TURNS_GROUND_MAX: usize = 50;
/// Bytes of a message of a client.
pub const CLIENT_MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Messages of a client that are read ahead.
pub const CLIENT_MESSAGES_AHEAD: usize = 64;
/// Bytes of a tool output that a client's model reads. Clients take 25,000 tokens or 50,000 characters, and warn
/// from 10,000 tokens; dense numbers have about three characters a token.
pub const CLIENT_OUTPUT_BYTES_MAX: usize = 24 * 1024;
/// Bytes of a table in such an output, which leaves room for types and notes.
pub const CLIENT_RESULT_BYTES_MAX: usize = 18 * 1024;
/// Bytes of a table in a tool output, which leaves room for printed text.
pub const RESULT_BYTES_MAX: usize = TOOL_OUTPUT_BYTES_MAX * 5 / 8;
/// Bytes of text from the REPL for the model: printed text, and values other than tables. More is seldom
/// read, and all of it remains available.
pub const REPL_TEXT_BYTES_MAX: usize = 6 * 1024;
/// Rows shown to the model of a REPL table that is too long.
pub const STASH_HEAD_ROWS_MAX: usize = 20;
/// Bytes of these rows.
pub const STASH_HEAD_BYTES_MAX: usize = 4 * 1024;
/// Whole datasets that a question may load. More would not fit into the worker's memory either.
pub const FULL_LOADS_MAX: u32 = 10;
/// Time that a search in several datasets takes before it ends with the matches so far.
pub const FIND_TIME_MAX: Duration = Duration::from_secs(10);
/// Rows of a column whose values are compared with those of another dataset.
pub const OVERLAP_ROWS_MAX: usize = 200_000;
/// Time for comparing columns of datasets before the rest is left out.
pub const OVERLAP_TIME_MAX: Duration = Duration::from_secs(1);
/// Datasets listed by a search in several: with more, the value is everywhere.
pub const FOUND_DATASETS_MAX: usize = 50;
/// Searches for a value in all columns per question: each reads a dataset, or several.
pub const FINDS_MAX: u32 = 30;
/// Bytes to which a long tool output is shortened when the conversation is too long.
pub const OLD_OUTPUT_BYTES_MAX: usize = 1024;
/// Turns that compaction keeps unchanged, if they fit.
pub const TURNS_KEPT_MAX: usize = 10;
/// Turns below which compaction shortens outputs instead of removing more.
pub const TURNS_KEPT_MIN: usize = 5;
/// Turns since the last summary before another one is written.
pub const TURNS_SUMMARISED_MIN: usize = 3;
/// Bytes of a model's summary of older turns. The request asks for a fourth of that.
pub const SUMMARY_BYTES_MAX: usize = 32 * 1024;
/// Bytes of the list of tables and charts that older turns showed.
pub const SUMMARY_SHOWN_BYTES_MAX: usize = 4 * 1024;
/// Requests for one summary, each with half the material of the one before.
pub const SUMMARY_TRIES_MAX: u32 = 3;
/// Tokens of a conversation before it is compacted. Source: product contract.
pub const CONTEXT_TOKENS_MAX: u64 = 100_000;
/// Frequent values of a column that `describe` shows.
pub const TOP_VALUES_MAX: u64 = 100;
/// Minimum of `--width`: in fewer characters no table can be read.
pub const LINE_CHARS_MIN: u16 = 20;
/// Minimum tokens for `--compact-at`: the instructions and the tools alone take some thousands.
pub const COMPACT_AT_MIN: u64 = 1_000;

/// Bytes of the instructions, about 12 000 tokens of each request. Rules, thresholds and knowledge take
/// what they need within their own limits; then come schemas; earlier findings are cut first.
pub const INSTRUCTIONS_BYTES_MAX: usize = 48 * 1024;
/// Bytes of the user's knowledge in the instructions. The rest is left out with a note.
pub const KNOWLEDGE_BYTES_MAX: usize = 16 * 1024;
/// Bytes of a file with knowledge. A longer one is data that was meant for `-f`.
pub const KNOWLEDGE_FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of a schema for answers. All of it is in the instructions, beyond their own limit.
pub const ANSWER_SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Schema violations of an answer that are listed; the model fixes them at once.
pub const MISFITS_MAX: usize = 5;
/// Bytes of the text of one violation.
pub const MISFIT_BYTES_MAX: usize = 200;
/// Levels of objects in a schema that the API enforces. Source: `OpenAI` guide, "Structured outputs".
pub const STRICT_LEVELS_MAX: usize = 10;
/// Values of all enums of such a schema. Source: as above.
pub const STRICT_ENUM_VALUES_MAX: usize = 1_000;
/// Values of one enum beyond which the total length of its strings is limited. Source: as above.
pub const STRICT_ENUM_SMALL_MAX: usize = 250;
/// Characters of the strings of such an enum. Source: as above.
pub const STRICT_ENUM_CHARS_MAX: usize = 15_000;
/// Bytes of thresholds in the instructions. The last ones are left out with a note.
pub const THRESHOLDS_BYTES_MAX: usize = 8 * 1024;
/// Bytes of dataset schemas in the instructions. Wider catalogs are summarised.
pub const SCHEMA_BYTES_MAX: usize = 24 * 1024;
/// Bytes of a column's name in the instructions. Tools return the whole name.
pub const COLUMN_NAME_BYTES_MAX: usize = 200;
/// Bytes of findings of earlier turns in the instructions.
pub const FINDINGS_BYTES_MAX: usize = 4 * 1024;
/// Rows that a finding lists, each with its line; more belong in a table.
pub const FINDING_ROWS_MAX: usize = 20;
/// Readings that a reply offers to pick from.
pub const CHOICES_MAX: u32 = 10;
/// Characters of one of them; a longer one is cut.
pub const CHOICE_CHARS_MAX: usize = 500;
/// Bytes of a rule's name in SARIF; some viewers cut longer ones.
pub const RULE_ID_BYTES_MAX: usize = 80;
/// Findings of earlier turns in the instructions.
pub const FINDINGS_MAX: usize = 10;
/// Number of last turns that are searched for findings.
pub const FINDINGS_TURNS_MAX: usize = 20;
/// Shown numbers that a reply is compared with. Each table that was sent has up to [`TABLE_CELLS_MAX`]
/// cells.
pub const GROUNDS_MAX: usize = 2_000_000;
/// Numbers of a table from which differences, shares and the like are derived. Among more, some pair has
/// almost any difference.
pub const DERIVED_FROM_MAX: usize = 50;
/// Tables of a turn from which these are derived.
pub const DERIVED_TABLES_MAX: usize = 64;
/// Bytes of texts, and of code, that a reply may quote although their numbers ground nothing.
pub const QUOTABLE_BYTES_MAX: usize = 256 * 1024;
/// Ungrounded numbers of a reply that are listed. With more, the answer as a whole is ungrounded.
pub const UNGROUNDED_MAX: usize = 100;
/// Characters of each of them, with its unit.
pub const UNGROUNDED_CHARS_MAX: usize = 60;
/// Bytes at the end of a turn's events that contain the reply with its findings, unless it is very long.
pub const REPLY_EVENT_BYTES_MAX: u64 = 128 * 1024;
/// Occurrences of a call with the same arguments and outcome before the model gets a warning.
pub const REPEATS_TOLD: u32 = 3;
/// Occurrences of a call with the same arguments and outcome before the turn is ended.
pub const REPEATS_MAX: u32 = 5;
/// Tool calls of one response. Beyond this the model is looping within a response.
pub const CALLS_PER_ROUND_MAX: usize = 128;
/// Runs of hosted tools within one response, which the provider limits. Further runs, of a server that does
/// not, are not reported.
pub const HOSTED_CALLS_MAX: u32 = 64;
/// Datasets uploaded for one question. Source: OpenAI API reference, `file_ids`, at most 50.
pub const UPLOADS_MAX: usize = 50;
/// Time after which the provider deletes an upload: longer than a day of questions.
pub const UPLOAD_LIFE: Duration = Duration::from_hours(24);
/// The same for a temporary session, in case it is killed before it deletes its uploads.
pub const UPLOAD_LIFE_TEMPORARY: Duration = Duration::from_hours(2);
/// Minimum remaining time of an upload to be reused: longer than a turn.
pub const UPLOAD_MARGIN: Duration = Duration::from_hours(1);
/// Bytes of the instructions on reading the files in a container.
pub const CONTAINER_FILES_BYTES_MAX: usize = 8 * 1024;
/// Time for a provider to delete what it keeps for an ended session.
pub const HOSTED_DELETE: Duration = Duration::from_secs(15);
/// Containers whose files are fetched in one turn.
pub const CONTAINERS_PER_TURN_MAX: usize = 8;
/// Bytes of one run's images that are sent back to the provider with the conversation.
pub const PICTURES_KEPT_BYTES_MAX: usize = 1024 * 1024;
/// Consecutive failed fetches after which the other files are skipped: the cause is not the files.
pub const UNFETCHED_MAX: usize = 5;
/// Containers that a rerun replaces, each with a Python process of its own.
pub const STAND_INS_MAX: usize = 8;
/// Fetched files of a container that are remembered.
pub const FETCHED_KNOWN_MAX: usize = 2_000;

/// Bytes of one line of the worker's answer. A longer one is a protocol error.
pub const WORKER_ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;
/// JSON values of one part of an answer. A full table has [`TABLE_CELLS_MAX`] cells, and an empty list of
/// two bytes takes a hundred in memory.
pub const WORKER_ANSWER_VALUES_MAX: usize = 2 * TABLE_CELLS_MAX;
/// Minimum address space of the worker, whatever the machine has. Usually it is half of the machine's
/// memory. Source: product contract.
pub const WORKER_MEMORY_BYTES_MIN: u64 = 2 * 1024 * 1024 * 1024;
/// Address space below which Python cannot load its packages.
pub const WORKER_MEMORY_BYTES_LEAST: u64 = 1024 * 1024 * 1024;
/// Bytes kept of printed text, half of them from the end. All of it is read.
pub const WORKER_PRINTED_BYTES_MAX: usize = 64 * 1024;
/// Bytes of one file written by the worker.
pub const WORKER_FILE_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Wall-clock time of one REPL call. Source: product contract, "15 minutes a call".
pub const TOOL_TIMEOUT: Duration = Duration::from_mins(15);
/// Processes that the worker may start. Source: product contract, "8 subprocesses".
pub const WORKER_PROCESSES_MAX: u32 = 8;
/// Threads and processes of a worker in total. Its libraries have about twenty threads of their own.
pub const WORKER_TASKS_MAX: usize = 128;
/// Total memory of the worker and its processes, for an address space of `memory_bytes` each.
pub const fn worker_tree_bytes_max(memory_bytes: u64) -> u64 {
    memory_bytes.saturating_add(memory_bytes / 4)
}
/// Bytes of all files in the worker's scratch directory.
pub const SCRATCH_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
/// Free bytes of a disk below which `doctor` warns: the managed Python, or a session with a wide dataset,
/// takes about half of it.
pub const DISK_FREE_BYTES_MIN: u64 = 1024 * 1024 * 1024;
/// Files and directories in the worker's scratch directory.
pub const SCRATCH_FILES_MAX: usize = 20_000;
/// Total bytes of all frames in the REPL before the oldest are pruned, for an address space of
/// `memory_bytes`. Source: product contract, "a quarter of the memory bound, 500 MB at least".
pub const fn frames_bytes_max(memory_bytes: u64) -> u64 {
    const LEAST: u64 = 500 * 1024 * 1024;
    if memory_bytes / 4 < LEAST { LEAST } else { memory_bytes / 4 }
}
/// Bytes of a SQL statement.
pub const SQL_BYTES_MAX: usize = 1024 * 1024;
/// Results of statements that a turn keeps by name.
pub const QUERY_RESULTS_MAX: usize = 20;
/// Bytes of one line that the query engine writes.
pub const ENGINE_ANSWER_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of one file that the query engine writes: a result, or rows that do not fit in memory.
pub const ENGINE_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024 * 1024;
/// Bytes of all files that the query engine writes.
pub const ENGINE_SCRATCH_BYTES_MAX: u64 = 64 * 1024 * 1024 * 1024;
/// Rows of a query's result that are in memory at once.
pub const RESULT_CHUNK_ROWS: usize = 32 * 1024;
/// Time for the worker to import pandas and answer for the first time.
pub const WORKER_START: Duration = Duration::from_mins(2);
/// Time between the interrupt of a command and the kill of the process tree.
pub const WORKER_GRACE: Duration = Duration::from_secs(5);
/// Time for a Python to report its version and its packages.
pub const PYTHON_PROBE: Duration = Duration::from_secs(30);
/// Time to create the managed environment, or to wait for another process that creates it.
pub const PYTHON_SETUP: Duration = Duration::from_mins(15);
/// Time to save the REPL's variables when a turn has ended.
pub const SNAPSHOT: Duration = Duration::from_mins(2);

/// Bytes of one frame from a worker to the relay: the largest request, with some margin.
pub const RELAY_FRAME_BYTES_MAX: usize = CLUSTER_SENT_BYTES_MAX + 1024 * 1024;
/// Bytes of one answer of a cluster. A server sends rows in pieces of 4 MB, or one row if that is larger.
pub const CLUSTER_MESSAGE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Calls of one worker that are open at once. Its client has one or two for each thread, and it may have 8.
/// Each may hold one answer in this process's memory, which its reader may take late.
pub const RELAY_CALLS_MAX: usize = 16;
/// Bytes of the requests of all open calls of a worker. This process buffers what a cluster has not
/// received yet.
pub const RELAY_SENDING_BYTES_MAX: usize = 2 * CLUSTER_SENT_BYTES_MAX;
/// Minimum bytes that each of their messages counts.
pub const RELAY_SENDING_BYTES_MIN: usize = 1024;
/// Frames to a worker that wait to be written. Further ones wait in their calls.
pub const RELAY_QUEUE_MAX: usize = 4;
/// Sessions of one worker on a cluster. Its client has one, and code may clone it. A further one replaces
/// the least recently used.
pub const CLUSTER_SESSIONS_MAX: usize = 16;
/// Bytes of the name of a session, a user or an operation. Spark's own are UUIDs.
pub const CLUSTER_ID_BYTES_MAX: usize = 256;
/// Characters shown of a cluster's error message. The first lines of a Java stack trace say most.
pub const CLUSTER_SAID_CHARS_MAX: usize = 400;
/// Most recent operations whose result sizes are remembered.
pub const CLUSTER_OPERATIONS_MAX: usize = 1_024;
/// Bytes of an answer that a server may send ahead of its reader. It limits the throughput over a long
/// distance: 2 MB per round trip.
pub const CLUSTER_WINDOW_BYTES: u32 = 2 * 1024 * 1024;
/// Time to connect to a cluster.
pub const CLUSTER_CONNECT: Duration = Duration::from_secs(10);
/// Idle time after which the system probes the connection, and the time between probes.
pub const CLUSTER_ALIVE: Duration = Duration::from_secs(20);
/// Time for a server to report its version.
pub const CLUSTER_CONTACT: Duration = Duration::from_secs(30);
/// Time to stop the jobs on a cluster and to release its sessions.
pub const CLUSTER_FAREWELL: Duration = Duration::from_secs(5);
/// Bytes of Arrow that one job may return. The worker has 2 GB, and pandas takes several times as much.
pub const CLUSTER_COLLECT_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes of one request to a cluster, including local frames.
pub const CLUSTER_SENT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes fetched of a remote dataset's first file to detect how to read it. The sniffer reads a part of it;
/// types are more reliable with more rows.
pub const CLUSTER_HEAD_BYTES_MAX: usize = 1024 * 1024;
/// Bytes fetched of each further file.
pub const CLUSTER_OTHER_HEAD_BYTES_MAX: usize = 128 * 1024;
/// Files fetched of a remote dataset: each is a job on the cluster.
pub const CLUSTER_HEADS_MAX: usize = 8;
/// Files of a remote dataset. One answer returns their names and sizes.
pub const CLUSTER_FILES_MAX: usize = 100_000;
/// Bytes of a table whose rows are counted; for a larger one they are estimated.
pub const CLUSTER_COUNT_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Rows of a sample of a remote dataset.
pub const CLUSTER_SAMPLE_ROWS_MAX: u64 = 100_000;
/// Rows fetched of a remote result for a table.
pub const CLUSTER_TABLE_ROWS_MAX: u64 = 100_000;

/// Time to connect to a provider.
pub const CONNECT: Duration = Duration::from_secs(10);
/// Time for a server to list its models, for a health check.
pub const SERVER_LOOK: Duration = Duration::from_secs(5);
/// Time until the first event of a response. Local models may take long to produce the first byte.
pub const FIRST_EVENT: Duration = Duration::from_secs(90);
/// Silence after which a stream counts as broken; keep-alives reset it.
pub const STREAM_IDLE: Duration = Duration::from_mins(5);
/// Longest wait between attempts that a provider may request; beyond it the request fails and states the
/// wait.
pub const RETRY_AFTER_MAX: Duration = Duration::from_mins(2);
/// Total wait between the attempts of one request.
pub const RETRY_BUDGET: Duration = Duration::from_mins(10);
/// Bytes of one event of a stream, or of a whole response that is not streamed.
pub const RESPONSE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of one stream, all its events together.
pub const STREAM_BYTES_MAX: usize = 4 * RESPONSE_BYTES_MAX;
/// Bytes shown of an error body.
pub const ERROR_BODY_BYTES_MAX: usize = 1_000;
/// Bytes read of an error body, so that the JSON around a long message is complete.
pub const ERROR_BODY_BYTES_READ_MAX: usize = 256 * 1024;
/// Time for `response.failed` to arrive after an `error` event; some servers never send it.
pub const FAILED_AFTER_ERROR: Duration = Duration::from_secs(1);
/// Time for the token counts to arrive after the end of a chat completion; some servers never send them.
pub const USAGE_AFTER_FINISH: Duration = Duration::from_secs(1);
/// Bytes of JSON stored with an item because its server expects them back. A model that reasons for 64 000
/// tokens writes a quarter of it.
pub const OPAQUE_BYTES_MAX: usize = 1024 * 1024;
/// Tokens of an answer, including reasoning, for an API that requires a limit.
pub const ANSWER_TOKENS_MAX: u64 = 64_000;
/// The same for a non-streamed answer: Anthropic's own clients send no request that may take ten minutes,
/// at 128 000 tokens an hour.
pub const ANSWER_TOKENS_UNSTREAMED_MAX: u64 = 20_000;
/// Tool calls of one response that are parsed at all. The loop runs fewer, and answers the rest.
pub const CALLS_READ_MAX: usize = 1_024;
/// Longest back-off between attempts.
pub const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// Bytes of an uploaded file. Source: `OpenAI` API reference, "Upload file".
pub const UPLOAD_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Minimum lifetime of an upload that a provider accepts. Source: as above.
pub const UPLOAD_LIFE_MIN: Duration = Duration::from_hours(1);
/// The maximum of it. Source: as above.
pub const UPLOAD_LIFE_MAX: Duration = Duration::from_hours(30 * 24);
/// Bytes of a provider's id for a file or a container. Ids seen so far have about fifty.
pub const HOSTED_ID_BYTES_MAX: usize = 128;
/// Files of a container that are listed, the newest ones. Code that makes more makes them in a loop.
pub const CONTAINER_FILES_MAX: usize = 1_000;
/// Files on one page of that list. Source: `OpenAI` API reference, "List container files".
pub const CONTAINER_FILES_PAGE: usize = 100;
/// Pages of it that are requested: twice those that the files fill.
pub const CONTAINER_PAGES_MAX: usize = 20;
/// Bytes of the path of a file in a container: the limit of Linux.
pub const CONTAINER_PATH_BYTES_MAX: usize = 4_096;
/// Bytes of a cassette, which is read whole.
pub const CASSETTE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes of each of the two values that a replay mismatch shows.
pub const MISMATCH_BYTES_MAX: usize = 120;

/// Bytes of a file of rules.
pub const CHECKS_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Rows of each kind of difference that `diff` writes for programs.
pub const DIFF_ROWS_MAX: usize = 100_000;
/// Rules of a file.
pub const CHECKS_MAX: usize = 10_000;
/// Requests to the model for one rule in words.
pub const COMPILE_ROUNDS_MAX: u32 = 3;
/// Bytes of a statement that a model writes for a rule in words.
pub const COMPILED_SQL_BYTES_MAX: usize = 16 * 1024;
/// Bytes of the sentence in which a model says what such a statement checks.
pub const READING_BYTES_MAX: usize = 1_000;

/// Bytes of one configuration file. A longer one is not a configuration.
pub const CONFIG_BYTES_MAX: u64 = 256 * 1024;
/// Bytes of an API key, with the rest of its file or a command's output.
pub const KEY_BYTES_MAX: u64 = 16 * 1024;
/// Time for the command that prints the key. It may prompt for a password first.
pub const KEY_COMMAND: Duration = Duration::from_mins(1);
/// Servers whose dialect a session remembers.
pub const SERVERS_MAX: usize = 16;
/// Time after which a server's dialect is detected again, since it may have been updated.
pub const SERVER_KNOWN: Duration = Duration::from_hours(24);

/// Bytes of the profile of all datasets for a model without tools; such models have a small context.
pub const PROFILE_BYTES_MAX: usize = 12 * 1024;
/// Rows of a dataset that its profile reads.
pub const PROFILE_ROWS_MAX: usize = 50_000;
/// Cells of a dataset that its profile reads, so that a wide one takes no longer.
pub const PROFILE_CELLS_MAX: usize = 1_000_000;
/// Distinct values that a profile counts in a column.
pub const PROFILE_DISTINCT_MAX: usize = 10_000;
/// Rows of a dataset that its profile shows.
pub const PROFILE_HEAD_ROWS: usize = 3;
/// Bytes of one value in a profile.
pub const PROFILE_VALUE_BYTES_MAX: usize = 40;

/// Bytes of the reasoning of one round that are shown. It is for people, and not part of the answer.
pub const REASONING_BYTES_MAX: usize = 16 * 1024;

/// Requests that `--max-rounds` may allow in one turn.
pub const ROUNDS_FLAG_MAX: u32 = 1_000;
/// Bytes of a question from stdin or a file. A longer one is data that was meant for `-f`.
pub const QUESTION_BYTES_MAX: usize = 1024 * 1024;
/// Lines of `chat` input that the next chat can recall.
pub const TYPED_LINES_MAX: usize = 1_000;
/// Bytes of such a line; a longer one, which was pasted, is not stored.
pub const TYPED_LINE_BYTES_MAX: usize = 16 * 1024;
/// Names that completion offers at once.
pub const COMPLETIONS_MAX: usize = 500;
/// Cells of a table that `/save` writes as text. A larger one is saved as Parquet.
pub const SAVED_CELLS_MAX: u64 = 5_000_000;
/// Past turns that `/table`, `/chart` and `/save` search for the last table or chart.
pub const TURNS_SEARCHED_MAX: usize = 50;
/// Entries of a directory that Tab completion reads.
pub const COMPLETED_ENTRIES_MAX: usize = 10_000;
/// Bytes of an image in a question. Providers accept about as much.
pub const IMAGE_BYTES_MAX: usize = 20 * 1024 * 1024;
/// Bytes of all images of a question. Providers accept requests of 50 megabytes at most, and encoding adds
/// a third.
pub const IMAGES_BYTES_MAX: usize = 36 * 1024 * 1024;
/// Images of one question.
pub const IMAGES_MAX: usize = 10;
/// Bytes of one line that `decrypt` reads: a full table, as a Fernet token.
pub const EVENT_LINE_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Nesting of messages in one plan. A step of a DataFrame takes two levels; servers stop at 1,024.
pub const CLUSTER_PLAN_DEPTH_MAX: usize = 500;
/// Fields of one plan. Checking that many takes a tenth of a second.
pub const CLUSTER_PLAN_PARTS_MAX: usize = 500_000;
/// Partitions that code may request. Each is a task that the driver tracks.
pub const CLUSTER_PARTITIONS_MAX: u64 = 10_000;
/// Rows for `show` and `tail`, which the driver collects in memory.
pub const CLUSTER_SHOWN_ROWS_MAX: u64 = 100_000;
/// Bytes of the schema of a local frame sent to a cluster.
pub const CLUSTER_SCHEMA_BYTES_MAX: usize = 1024 * 1024;
/// Pieces of local frames sent to a cluster in one session.
pub const CLUSTER_BLOBS_MAX: usize = 10_000;

/// The limits of one turn, as set by flags.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Requests to the model. The last of them forbids tools, so that there is an answer.
    pub rounds_max: u32,
    /// Wall-clock time of the whole turn.
    pub timeout: Option<Duration>,
    /// Input and output tokens of the whole turn.
    pub tokens_max: Option<u64>,
    /// Cost of the tokens of the whole turn, in USD.
    pub cost_usd_max: Option<f64>,
    /// Tokens of the conversation before its oldest turns are summarised.
    pub context_tokens_max: u64,
    /// Wall-clock time of one REPL call.
    pub tool_timeout: Duration,
    /// Number of retries after transient failures.
    pub retries: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            rounds_max: 10,
            timeout: None,
            tokens_max: None,
            cost_usd_max: None,
            context_tokens_max: CONTEXT_TOKENS_MAX,
            tool_timeout: TOOL_TIMEOUT,
            retries: 4,
        }
    }
}
