//! Every bound of the program, with its unit and its reason.
//!
//! A constant is a law; a field of [`Limits`] is what a flag may change.

use std::time::Duration;

/// Bytes of one CSV file that `ingest` takes unless `--max-bytes` says otherwise.
pub const CSV_BYTES_MAX: u64 = 400 * 1024 * 1024;
/// Files that one command reads. Each becomes a dataset, or all of them one.
pub const SOURCES_MAX: usize = 10_000;
/// Cells of the sheets of a workbook that are held at once, empty ones included.
pub const SHEET_CELLS_MAX: u64 = 10_000_000;
/// Seconds in which a view of a database must bring a row.
pub const VIEW_SECONDS_MAX: u64 = 20;
/// Levels of directories below one that is named. Deeper ones are more likely a loop than data.
pub const SOURCE_LEVELS_MAX: usize = 32;
/// Files of one archive, be they data or not.
pub const ARCHIVE_FILES_MAX: usize = 100_000;
/// Bytes of a compressed tar archive that is decompressed to a temporary file.
pub const ARCHIVE_BYTES_MAX: u64 = 16 * 1024 * 1024 * 1024;
/// Bytes of a slice of CSV, which one worker parses at a time.
pub const SLICE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of one record. A longer one is more likely a quote that nobody closed than a record.
pub const RECORD_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes between an opening quote and the one that closes it; beyond this the first was text.
pub const QUOTED_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Parts of a Parquet file searched at the same time.
pub const FIND_WORKERS_MAX: usize = 4;
/// Bytes of all slices that are read, parsed or written at the same time, whatever the file's size and
/// the number of workers. Peak memory is a small multiple of this.
pub const SLICES_BYTES_MAX: usize = 96 * 1024 * 1024;
/// Bytes at the head of a file from which its dialect is judged.
pub const SNIFF_HEAD_BYTES: usize = 256 * 1024;
/// Bytes of each further window into the file, so that what comes late has a say.
pub const SNIFF_WINDOW_BYTES: usize = 32 * 1024;
/// Windows into the file after the head; the last one ends where the file ends.
pub const SNIFF_WINDOWS: u64 = 7;
/// Bytes of the lines from which a legacy encoding is guessed. More would not change the guess.
pub const ENCODING_SAMPLE_BYTES_MAX: usize = 1024 * 1024;
/// Notes above and below a table that are kept with its schema.
pub const NOTES_MAX: usize = 12;
/// Bytes of each.
pub const NOTE_BYTES_MAX: usize = 240;
/// Records of notes below a table. More are a table of their own.
pub const FOOTER_RECORDS_MAX: usize = 20;
/// Rows that were repaired and are listed one by one; the rest is only counted.
pub const REJECTS_MAX: u64 = 10_000;
/// Bytes of the text of one repaired row that are listed.
pub const REJECT_BYTES_MAX: usize = 4 * 1024;
/// Bytes of a dataset's name that is made from a file's: names of files are bounded too.
pub const DATASET_NAME_BYTES_MAX: usize = 100;
/// Bytes of the footer of a Parquet file. It is read whole; wide files have some megabytes.
pub const PARQUET_FOOTER_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Levels of the types of a Parquet file. Its decoder calls itself for each.
pub const PARQUET_LEVELS_MAX: usize = 64;
/// Bytes of one page of a Parquet file, decompressed. Writers make pages of about a megabyte.
pub const PARQUET_PAGE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Texts of one page of a Parquet file whose lengths are kept apart from the letters. Writers put some ten thousand
/// into one.
pub const PARQUET_PAGE_LENGTHS_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of one page of a dataset, decompressed. The longest record fits, and a slice beside it.
pub const DATASET_PAGE_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// Values of a column in one row group of a dataset. Ours have a few millions at most; older versions of PyArrow
/// write 64 Mi rows. Equal ones take no room in the file.
pub const DATASET_GROUP_VALUES_MAX: i64 = 64 * 1024 * 1024;
/// Bytes of all pages of one row group of a dataset. Those that are written have a tenth of it.
pub const DATASET_GROUP_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Bytes of the texts of the rows of a Parquet file that are shown as they are.
pub const HEAD_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Cells of a Parquet file that are decoded at once.
pub const PARQUET_CELLS_MAX: usize = 1024 * 1024;
/// Bytes that a Parquet file holds once it is unpacked, unless it is large itself. A few kilobytes can stand for
/// terabytes: a text that is stored once, and rows that name it.
pub const PARQUET_UNPACKED_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// The same for each byte that it has.
pub const PARQUET_UNPACKED_RATIO_MAX: u64 = 100;
/// Columns that have a writer at the same time. Each takes 20 KB before the first value comes, and 40 KB more
/// for a dictionary.
pub const WRITERS_MAX: usize = 1_000;
/// Rows of a dataset that are copied at once while its values are kept back.
pub const MASK_BATCH_ROWS_MAX: usize = 64 * 1024;
/// Rows of a dataset that are decoded at once to write them as CSV.
pub const CSV_BATCH_ROWS_MAX: usize = 8 * 1024;
/// Bytes of the line of Python that reads a dataset's CSV. The model reads one for each dataset.
pub const READING_RECIPE_BYTES_MAX: usize = 2 * 1024;
/// Rows of a dataset that are decoded at once to count values.
pub const CENSUS_BATCH_ROWS_MAX: usize = 64 * 1024;
/// Bytes of a dataset's file that is compared with its checksum before it is used, when its time has changed.
/// `doctor --session` compares them all.
pub const CHECKSUM_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Bytes of the line map of a dataset that is read whole; it takes eight times as many in memory.
pub const LINE_MAP_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Rows that must share a value before it is told where rows are kept back.
pub const SHARED_ROWS_MIN: u64 = 5;
/// Rows of a result that is told where rows are kept back. A longer one is a list of rows, not an aggregate.
pub const AGGREGATE_ROWS_MAX: u64 = 20;
/// Values in a result that is no table, where rows are kept back.
pub const AGGREGATE_VALUES_MAX: usize = 40;
/// Columns of one dataset. Beyond this a file is more likely misread than wide.
pub const CSV_COLUMNS_MAX: usize = 20_000;

/// Time between two writes of what passed between a turn and a cluster. Each waits for the disk.
pub const CLUSTER_RECORD_EVERY: Duration = Duration::from_secs(1);
/// Time between two events that tell how far a job on a cluster is.
pub const CLUSTER_PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// Rows of a `data_frame` event. The whole frame is in the turn's `tables/`.
pub const TABLE_ROWS_MAX: usize = 2_000;
/// Cells of a `data_frame` event, so that a wide frame is cut as well as a long one.
pub const TABLE_CELLS_MAX: usize = 200_000;
/// Rows of a table on a terminal. A longer one would push the answer off the screen.
pub const TABLE_TTY_ROWS_MAX: usize = 50;
/// Lines of one row of a table on a terminal. What a cell has beyond that is cut with an ellipsis.
pub const TABLE_TTY_LINES_MAX: usize = 3;
/// Rows a chart plots: more cannot be told apart, and the model should aggregate.
pub const CHART_ROWS_MAX: usize = 200;
/// Series of one chart; the palette has as many colours.
pub const CHART_SERIES_MAX: usize = 10;
/// Lines of a terminal that a chart takes, without the line under it.
pub const CHART_TTY_LINES_MAX: usize = 20;
/// Time that a terminal has to say what pictures it shows. One that is near takes a few milliseconds.
pub const TERMINAL_ANSWER: Duration = Duration::from_millis(100);
/// Bytes of such an answer; it is read no further.
pub const TERMINAL_ANSWER_BYTES_MAX: usize = 1_024;

/// Bytes of the tables of one page, cells and the markup around them. A browser takes them in within two
/// seconds; of tables beyond that, the beginning is there.
pub const PAGE_TABLES_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Rows of each table that a page has, whatever else it has.
pub const PAGE_ROWS_MIN: usize = 25;
/// Characters of one cell on a page. Longer ones are whole in the table's file.
pub const PAGE_CELL_CHARS_MAX: usize = 2_000;
/// Bytes of an answer that are laid out for people; JSON and `--format reply` have all of it. The longest that models
/// write have a quarter of it.
pub const ANSWER_SHOWN_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Bytes of a Markdown text of which each picture and tag is looked at. Of a longer one all signs are escaped.
pub const MARKDOWN_BYTES_MAX: usize = 2 * ANSWER_SHOWN_BYTES_MAX;
/// Characters of what was asked, what a call was given and what it gave, each, on a page.
pub const PAGE_TEXT_CHARS_MAX: usize = 20_000;
/// Bytes of one image that a page has in it; of a larger one it says where it is.
pub const PAGE_IMAGE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Bytes of all images that a page has in it, those of the last turns first. They take a third more as text.
pub const PAGE_IMAGES_BYTES_MAX: u64 = 24 * 1024 * 1024;
/// Columns of one dataset that a page names.
pub const PAGE_COLUMNS_MAX: usize = 200;

/// Differences between a table of a turn and the same table again that are told one by one.
pub const DIFFERENCES_MAX: usize = 20;
/// Bytes of a source that is read to find out how plain Python reads it; its cells take ten times as much.
pub const EXPORT_SOURCE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Pieces of 30 000 characters that an answer of our own Python may have.
pub const STUDY_PIECES_MAX: usize = 1_000;

/// Characters of a file name that is made of the name of a table, a chart or a file. With four bytes each,
/// a number and an ending, it is within the 255 bytes of a file system.
pub const SLUG_CHARS_MAX: usize = 60;
/// Characters of the ending of a fetched file that is kept.
pub const ENDING_CHARS_MAX: usize = 8;
/// Tables, charts or files of one name in one turn.
pub const SLUGS_PER_TURN_MAX: usize = 10_000;

/// Files of one turn that are fetched from the provider. A container may have a thousand.
pub const FETCHED_FILES_MAX: usize = 100;
/// Bytes of one of them. An answer is a table or a picture, not an archive.
pub const FETCHED_FILE_BYTES_MAX: u64 = 100 * 1024 * 1024;
/// Bytes of all of them.
pub const FETCHED_BYTES_MAX: u64 = 500 * 1024 * 1024;
/// Bytes of the name of a fetched file that are told: file systems have no longer ones.
pub const FETCHED_NAME_BYTES_MAX: usize = 255;

/// Bytes of a session's log before a new one is begun; the one before is kept.
pub const LOG_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of a file of a session that is read line by line: a conversation, the events of a turn.
pub const SESSION_FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes of one line of it: a table of an answer with the names of its columns, or a question with its
/// images.
pub const SESSION_LINE_BYTES_MAX: usize = 80 * 1024 * 1024;
/// Bytes of memory for what is read of such files at the same time. With the rest of the program it is below
/// 300 MB.
pub const SESSION_MEMORY_BYTES_MAX: u64 = 200 * 1024 * 1024;
/// Bytes of memory for a file of a session that is one JSON document, once it is read.
pub const DOCUMENT_MEMORY_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// The same for what a catalog has of one dataset, which is copied here and there. One of 20 000 columns takes
/// half of it.
pub const DATASET_MEMORY_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Bytes of a text of a turn: its code, its reply.
pub const TURN_TEXT_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Bytes of `datasets.json`: a thousand datasets with a hundred columns take half of it.
pub const CATALOG_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Bytes of any other file of a session that is one JSON document.
pub const RECORD_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of `question.txt` that a list of turns reads.
pub const QUESTION_FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of `summary.md`; people may add to it.
pub const SUMMARY_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Bytes of one tool output that the model reads. What is longer is cut in the middle.
pub const TOOL_OUTPUT_BYTES_MAX: usize = 16 * 1024;
/// Bytes of text from the REPL that the model reads: of what code printed, and of a value that is no table.
/// More is seldom read, and all of it stays at hand.
pub const REPL_TEXT_BYTES_MAX: usize = 6 * 1024;
/// Rows of a table in the REPL that the model sees when the table is too long for it.
pub const STASH_HEAD_ROWS_MAX: usize = 20;
/// Bytes of these rows.
pub const STASH_HEAD_BYTES_MAX: usize = 4 * 1024;
/// Whole datasets that a question may load. More would not fit into the worker's memory either.
pub const FULL_LOADS_MAX: u32 = 10;
/// Time that a search in several datasets takes before it ends with what it has found.
pub const FIND_TIME_MAX: Duration = Duration::from_secs(10);
/// Rows of a column whose values are compared with those of another dataset.
pub const OVERLAP_ROWS_MAX: usize = 200_000;
/// Time that comparing columns of datasets takes before the rest is left out.
pub const OVERLAP_TIME_MAX: Duration = Duration::from_secs(1);
/// Datasets that a search in several names: more would say that the value is everywhere.
pub const FOUND_DATASETS_MAX: usize = 50;
/// Searches for a value in all columns that one question may make: each reads a dataset, or several.
pub const FINDS_MAX: u32 = 30;
/// Bytes that a long tool output is shortened to when there is no room for the conversation.
pub const OLD_OUTPUT_BYTES_MAX: usize = 1024;
/// Turns that compaction keeps as they are, if they fit.
pub const TURNS_KEPT_MAX: usize = 10;
/// Turns that compaction keeps before it would rather shorten their outputs.
pub const TURNS_KEPT_MIN: usize = 5;
/// Turns that have come since the last summary before another one is written.
pub const TURNS_SUMMARISED_MIN: usize = 3;
/// Bytes of the summary that a model writes of older turns. It is asked for a fourth of that.
pub const SUMMARY_BYTES_MAX: usize = 32 * 1024;
/// Bytes of the list of tables and charts that older turns have shown.
pub const SUMMARY_SHOWN_BYTES_MAX: usize = 4 * 1024;
/// Requests for one summary, each with half as much to summarise.
pub const SUMMARY_TRIES_MAX: u32 = 3;
/// Tokens of a conversation before it is compacted. Source: product contract.
pub const CONTEXT_TOKENS_MAX: u64 = 100_000;
/// Tokens that `--compact-at` takes at least: the instructions and the tools alone are some thousands.
pub const COMPACT_AT_MIN: u64 = 1_000;

/// Bytes of the instructions, about 12 000 tokens of each request. Rules, thresholds and knowledge take
/// what they need within their own bounds; then come schemas; earlier findings give way first.
pub const INSTRUCTIONS_BYTES_MAX: usize = 48 * 1024;
/// Bytes of what the user says of the data in the instructions. The rest is left out, and told.
pub const KNOWLEDGE_BYTES_MAX: usize = 16 * 1024;
/// Bytes of a file with knowledge. A longer one is data that was meant for `-f`.
pub const KNOWLEDGE_FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of a schema for answers. All of it is in the instructions, beyond their own bound.
pub const ANSWER_SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Places of an answer that are told when it does not hold to its schema; the model mends them at once.
pub const MISFITS_MAX: usize = 5;
/// Bytes of what is wrong at one of them.
pub const MISFIT_BYTES_MAX: usize = 200;
/// Levels of objects in a schema that the API enforces. Source: `OpenAI` guide, "Structured outputs".
pub const STRICT_LEVELS_MAX: usize = 10;
/// Values of all enums of such a schema. Source: as above.
pub const STRICT_ENUM_VALUES_MAX: usize = 1_000;
/// Values of one enum beyond which all of its strings have a bound. Source: as above.
pub const STRICT_ENUM_SMALL_MAX: usize = 250;
/// Characters of the strings of such an enum. Source: as above.
pub const STRICT_ENUM_CHARS_MAX: usize = 15_000;
/// Bytes of thresholds in the instructions. The last ones are left out, and told.
pub const THRESHOLDS_BYTES_MAX: usize = 8 * 1024;
/// Bytes of dataset schemas in the instructions. Wider catalogs are summarised.
pub const SCHEMA_BYTES_MAX: usize = 24 * 1024;
/// Bytes of a column's name in the instructions. Tools have the whole name.
pub const COLUMN_NAME_BYTES_MAX: usize = 200;
/// Bytes of findings of earlier turns in the instructions.
pub const FINDINGS_BYTES_MAX: usize = 4 * 1024;
/// Rows that a finding names, each with its line; what has more is a table's matter.
pub const FINDING_ROWS_MAX: usize = 20;
/// Bytes of the name of a rule in SARIF; some viewers cut longer ones.
pub const RULE_ID_BYTES_MAX: usize = 80;
/// Findings of earlier turns in the instructions.
pub const FINDINGS_MAX: usize = 10;
/// Turns in which they are looked for, the last ones.
pub const FINDINGS_TURNS_MAX: usize = 20;
/// Numbers that a turn has shown and that a reply is compared with. Tables that were sent have as many
/// cells as [`TABLE_CELLS_MAX`] each.
pub const GROUNDS_MAX: usize = 2_000_000;
/// Numbers of a table from which differences, shares and the like are derived. Of more, some two have
/// nearly any difference.
pub const DERIVED_FROM_MAX: usize = 50;
/// Tables of a turn from which these are derived.
pub const DERIVED_TABLES_MAX: usize = 64;
/// Bytes of texts, and of code, that a reply may quote though their numbers ground nothing.
pub const QUOTABLE_BYTES_MAX: usize = 256 * 1024;
/// Numbers of a reply that are listed because nothing grounds them. With more, the answer as a whole is.
pub const UNGROUNDED_MAX: usize = 100;
/// Characters of each of them, with its unit.
pub const UNGROUNDED_CHARS_MAX: usize = 60;
/// Bytes at the end of a turn's events that hold the reply with its findings, unless it is very long.
pub const REPLY_EVENT_BYTES_MAX: u64 = 128 * 1024;
/// Times that one call may come with the same arguments and outcome before the model is told.
pub const REPEATS_TOLD: u32 = 3;
/// Times that one call may come with the same arguments and outcome before the turn is ended.
pub const REPEATS_MAX: u32 = 5;
/// Tool calls of one response. Beyond this the model is looping inside a response.
pub const CALLS_PER_ROUND_MAX: usize = 128;
/// Runs of hosted tools within one response, which the provider counts. A server that does not count may
/// send more, which are not told.
pub const HOSTED_CALLS_MAX: u32 = 64;
/// Datasets that are uploaded for one question. Source: OpenAI API reference, `file_ids`, at most 50.
pub const UPLOADS_MAX: usize = 50;
/// Time after which the provider deletes an upload by itself: longer than a day of questions.
pub const UPLOAD_LIFE: Duration = Duration::from_hours(24);
/// The same for a session that goes with its process, should a kill keep it from deleting them.
pub const UPLOAD_LIFE_TEMPORARY: Duration = Duration::from_hours(2);
/// Time that an upload must last yet to be used again: longer than a turn.
pub const UPLOAD_MARGIN: Duration = Duration::from_hours(1);
/// Bytes of the instructions that say how the files in a container are read.
pub const CONTAINER_FILES_BYTES_MAX: usize = 8 * 1024;
/// Time in which a provider must have deleted what it keeps for a session that is over.
pub const HOSTED_DELETE: Duration = Duration::from_secs(15);
/// Containers whose files are fetched in one turn.
pub const CONTAINERS_PER_TURN_MAX: usize = 8;
/// Bytes of the pictures of one run that go back to the provider with the conversation.
pub const PICTURES_KEPT_BYTES_MAX: usize = 1024 * 1024;
/// Files in a row that cannot be fetched, after which the others are left: the trouble is not theirs.
pub const UNFETCHED_MAX: usize = 5;
/// Containers that a rerun stands in for, each with a Python process of its own.
pub const STAND_INS_MAX: usize = 8;
/// Files of a container that are known to have been fetched.
pub const FETCHED_KNOWN_MAX: usize = 2_000;

/// Bytes of one line that the worker answers. A longer one is a protocol error.
pub const WORKER_ANSWER_BYTES_MAX: usize = 32 * 1024 * 1024;
/// JSON values of one part of an answer. A full table has [`TABLE_CELLS_MAX`] cells, and an empty list of
/// two bytes takes a hundred in memory.
pub const WORKER_ANSWER_VALUES_MAX: usize = 2 * TABLE_CELLS_MAX;
/// Address space of the worker that is the least it gets, whatever the machine has. Usually it is half of the
/// machine's memory. Source: product contract.
pub const WORKER_MEMORY_BYTES_MIN: u64 = 2 * 1024 * 1024 * 1024;
/// Address space below which Python does not load its packages.
pub const WORKER_MEMORY_BYTES_LEAST: u64 = 1024 * 1024 * 1024;
/// Bytes of what code prints that are kept, half of them from the end. All of it is read.
pub const WORKER_PRINTED_BYTES_MAX: usize = 64 * 1024;
/// Bytes of one file that the worker writes.
pub const WORKER_FILE_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Wall-clock time of one REPL call. Source: product contract, "15 minutes a call".
pub const TOOL_TIMEOUT: Duration = Duration::from_mins(15);
/// Processes that the worker may start. Source: product contract, "8 subprocesses".
pub const WORKER_PROCESSES_MAX: u32 = 8;
/// Threads and processes of a worker in all. Its libraries have about twenty threads of their own.
pub const WORKER_TASKS_MAX: usize = 128;
/// Memory of the worker and its processes together, for an address space of so many bytes of each.
pub const fn worker_tree_bytes_max(memory_bytes: u64) -> u64 {
    memory_bytes.saturating_add(memory_bytes / 4)
}
/// Bytes of all files that the worker has written and not deleted.
pub const SCRATCH_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
/// Bytes of a disk below which `doctor` warns: the managed Python, or a session with a wide dataset, takes
/// about half of it.
pub const DISK_FREE_BYTES_MIN: u64 = 1024 * 1024 * 1024;
/// Files and directories that the worker has made and not deleted.
pub const SCRATCH_FILES_MAX: usize = 20_000;
/// Bytes of all frames in the REPL together before the oldest are pruned, for an address space of so many
/// bytes. Source: product contract, "a quarter of the memory bound, 500 MB at least".
pub const fn frames_bytes_max(memory_bytes: u64) -> u64 {
    const LEAST: u64 = 500 * 1024 * 1024;
    if memory_bytes / 4 < LEAST { LEAST } else { memory_bytes / 4 }
}
/// Time for the worker to import pandas and answer for the first time.
pub const WORKER_START: Duration = Duration::from_mins(2);
/// Time between the interrupt of a command and the kill of the process tree.
pub const WORKER_GRACE: Duration = Duration::from_secs(5);
/// Time for a Python to say its version and which packages it has.
pub const PYTHON_PROBE: Duration = Duration::from_secs(30);
/// Time to make the managed environment, or to wait for another process that makes it.
pub const PYTHON_SETUP: Duration = Duration::from_mins(15);
/// Time to save the REPL's variables when a turn has ended.
pub const SNAPSHOT: Duration = Duration::from_mins(2);

/// Bytes of one frame of a worker to the relay: the largest request, with room around it.
pub const RELAY_FRAME_BYTES_MAX: usize = CLUSTER_SENT_BYTES_MAX + 1024 * 1024;
/// Bytes of one answer of a cluster. A server sends rows in pieces of 4 MB, or one row if that is larger.
pub const CLUSTER_MESSAGE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Calls of one worker that are open at once. Its client has one or two for each thread, and it may have 8.
/// Each may hold one answer in the memory of this process, which its reader is in no hurry to take.
pub const RELAY_CALLS_MAX: usize = 16;
/// Bytes of the requests of all calls of a worker that are open. What a cluster has not taken yet is here.
pub const RELAY_SENDING_BYTES_MAX: usize = 2 * CLUSTER_SENT_BYTES_MAX;
/// What each of their messages counts at least.
pub const RELAY_SENDING_BYTES_MIN: usize = 1024;
/// Frames to a worker that wait to be written. The calls wait with the rest.
pub const RELAY_QUEUE_MAX: usize = 4;
/// Sessions of one worker on a cluster. Its client has one, and code may clone it. A further one takes the
/// place of that which was used longest ago.
pub const CLUSTER_SESSIONS_MAX: usize = 16;
/// Bytes of the name of a session, a user or an operation. Spark's own are UUIDs.
pub const CLUSTER_ID_BYTES_MAX: usize = 256;
/// Characters that are told of what a cluster says of a failure. Of Java's stacks the first lines say most.
pub const CLUSTER_SAID_CHARS_MAX: usize = 400;
/// Operations of which it is known how much they brought, the newest.
pub const CLUSTER_OPERATIONS_MAX: usize = 1_024;
/// Bytes of an answer that a server may send ahead of its reader. It bounds the speed over a long line:
/// 2 MB for each turn of a message.
pub const CLUSTER_WINDOW_BYTES: u32 = 2 * 1024 * 1024;
/// Time to connect to a cluster.
pub const CLUSTER_CONNECT: Duration = Duration::from_secs(10);
/// Silence after which the system asks whether the server is still there, and between these questions.
pub const CLUSTER_ALIVE: Duration = Duration::from_secs(20);
/// Time for a server to say its version.
pub const CLUSTER_CONTACT: Duration = Duration::from_secs(30);
/// Time to stop what runs on a cluster and to release the sessions there.
pub const CLUSTER_FAREWELL: Duration = Duration::from_secs(5);
/// Bytes of Arrow that one job may bring here. The worker has 2 GB, and pandas takes several times as much.
pub const CLUSTER_COLLECT_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes of one request to a cluster. Local frames travel in it.
pub const CLUSTER_SENT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of the first file of a remote dataset that are fetched to see how it is to be read. The sniffer looks at
/// a part of it; types are the surer the more rows there are.
pub const CLUSTER_HEAD_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of each further file that is looked at.
pub const CLUSTER_OTHER_HEAD_BYTES_MAX: usize = 128 * 1024;
/// Files of a remote dataset that are looked at: each is a job on the cluster.
pub const CLUSTER_HEADS_MAX: usize = 8;
/// Files of a remote dataset. Their names and sizes come here in one answer.
pub const CLUSTER_FILES_MAX: usize = 100_000;
/// Bytes of a table whose rows are counted; of a larger one they are estimated.
pub const CLUSTER_COUNT_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Rows of a sample of a remote dataset.
pub const CLUSTER_SAMPLE_ROWS_MAX: u64 = 100_000;
/// Rows of a remote result that are fetched for a table.
pub const CLUSTER_TABLE_ROWS_MAX: u64 = 100_000;

/// Time to connect to a provider.
pub const CONNECT: Duration = Duration::from_secs(10);
/// Time for a server to say which models it has, when only its health is of interest.
pub const SERVER_LOOK: Duration = Duration::from_secs(5);
/// Time until the first event of a response. Local models think long before their first byte.
pub const FIRST_EVENT: Duration = Duration::from_secs(90);
/// Silence within a stream that counts as a broken one; keep-alives reset it.
pub const STREAM_IDLE: Duration = Duration::from_mins(5);
/// Time a provider may ask us to wait between tries; longer, and we fail and say how long.
pub const RETRY_AFTER_MAX: Duration = Duration::from_mins(2);
/// Time spent waiting between tries over one request.
pub const RETRY_BUDGET: Duration = Duration::from_mins(10);
/// Bytes of one event of a stream, or of a whole response that is not streamed.
pub const RESPONSE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of one stream, all its events together.
pub const STREAM_BYTES_MAX: usize = 4 * RESPONSE_BYTES_MAX;
/// Bytes of an error body that are shown.
pub const ERROR_BODY_BYTES_MAX: usize = 1_000;
/// Bytes of an error body that are read, so that the JSON around a long message is still whole.
pub const ERROR_BODY_BYTES_READ_MAX: usize = 256 * 1024;
/// Time for `response.failed` to come after an `error` event; some servers never send it.
pub const FAILED_AFTER_ERROR: Duration = Duration::from_secs(1);
/// Time for the count of tokens to come after the end of a chat completion; some servers never send it.
pub const USAGE_AFTER_FINISH: Duration = Duration::from_secs(1);
/// Bytes of JSON that are kept with an item because its server wants them back. A model that thinks for 64 000
/// tokens writes a quarter of it.
pub const OPAQUE_BYTES_MAX: usize = 1024 * 1024;
/// Tokens of an answer that is asked for by an API that demands a bound, what the model thinks included.
pub const ANSWER_TOKENS_MAX: u64 = 64_000;
/// The same of an answer in one piece: Anthropic's own clients send no request that may take ten minutes, at
/// 128 000 tokens an hour.
pub const ANSWER_TOKENS_UNSTREAMED_MAX: u64 = 20_000;
/// Tool calls of one response that are read at all. The loop runs fewer, and answers the rest.
pub const CALLS_READ_MAX: usize = 1_024;
/// Longest step of the back-off between tries.
pub const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// Bytes of a file that is uploaded. Source: `OpenAI` API reference, "Upload file".
pub const UPLOAD_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Time after which a provider may be asked to delete an upload, at least. Source: as above.
pub const UPLOAD_LIFE_MIN: Duration = Duration::from_hours(1);
/// The same, at most. Source: as above.
pub const UPLOAD_LIFE_MAX: Duration = Duration::from_hours(30 * 24);
/// Bytes of a provider's name for a file or a container. Names seen so far have about fifty.
pub const HOSTED_ID_BYTES_MAX: usize = 128;
/// Files of a container that are listed, the newest. Code that makes more makes them in a loop.
pub const CONTAINER_FILES_MAX: usize = 1_000;
/// Files on one page of that list. Source: `OpenAI` API reference, "List container files".
pub const CONTAINER_FILES_PAGE: usize = 100;
/// Pages of it that are asked for: twice those that the files fill.
pub const CONTAINER_PAGES_MAX: usize = 20;
/// Bytes of the path of a file in a container; what Linux takes.
pub const CONTAINER_PATH_BYTES_MAX: usize = 4_096;
/// Bytes of a cassette, which is read whole.
pub const CASSETTE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes of each of the two values that a replay mismatch shows.
pub const MISMATCH_BYTES_MAX: usize = 120;

/// Bytes of one configuration file. A longer one is no configuration.
pub const CONFIG_BYTES_MAX: u64 = 256 * 1024;
/// Bytes of an API key with what a file or a command has around it.
pub const KEY_BYTES_MAX: u64 = 16 * 1024;
/// Time for the command that prints the key. It may ask for a password first.
pub const KEY_COMMAND: Duration = Duration::from_mins(1);
/// Servers of which a session keeps what they speak.
pub const SERVERS_MAX: usize = 16;
/// Time until a server is asked again what it speaks, since it may have been updated.
pub const SERVER_KNOWN: Duration = Duration::from_hours(24);

/// Bytes of the profile of all datasets for a model without tools; such models have little room.
pub const PROFILE_BYTES_MAX: usize = 12 * 1024;
/// Rows of a dataset that its profile looks at.
pub const PROFILE_ROWS_MAX: usize = 50_000;
/// Cells of a dataset that its profile looks at, so that a wide one takes no longer.
pub const PROFILE_CELLS_MAX: usize = 1_000_000;
/// Distinct values that a profile tells apart in a column.
pub const PROFILE_DISTINCT_MAX: usize = 10_000;
/// Rows of a dataset that its profile shows.
pub const PROFILE_HEAD_ROWS: usize = 3;
/// Bytes of one value in a profile.
pub const PROFILE_VALUE_BYTES_MAX: usize = 40;

/// Bytes of what a model thought in one round that are told. It is for people, and no part of the answer.
pub const REASONING_BYTES_MAX: usize = 16 * 1024;

/// Requests that `--max-rounds` may allow in one turn.
pub const ROUNDS_FLAG_MAX: u32 = 1_000;
/// Bytes of a question from stdin or a file. A longer one is data that was meant for `-f`.
pub const QUESTION_BYTES_MAX: usize = 1024 * 1024;
/// Lines that the editor of `chat` has again in the next chat.
pub const TYPED_LINES_MAX: usize = 1_000;
/// Bytes of a line that it has again; a longer one, which was pasted, is gone with the chat.
pub const TYPED_LINE_BYTES_MAX: usize = 16 * 1024;
/// Names that completion offers at once.
pub const COMPLETIONS_MAX: usize = 500;
/// Cells of a table that `/save` writes as text. A larger one is saved as Parquet.
pub const SAVED_CELLS_MAX: u64 = 5_000_000;
/// Turns back that `/table`, `/chart` and `/save` look for the last table or chart.
pub const TURNS_SEARCHED_MAX: usize = 50;
/// Entries of a directory among which Tab looks for a name.
pub const COMPLETED_ENTRIES_MAX: usize = 10_000;
/// Bytes of an image that goes with a question. Providers take about as much.
pub const IMAGE_BYTES_MAX: usize = 20 * 1024 * 1024;
/// Bytes of all images of a question. Requests of 50 megabytes are the largest that providers take, and
/// images grow by a third on the way.
pub const IMAGES_BYTES_MAX: usize = 36 * 1024 * 1024;
/// Images that go with one question.
pub const IMAGES_MAX: usize = 10;
/// Bytes of one line that `decrypt` reads: a full table, as a Fernet token.
pub const EVENT_LINE_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Messages within messages of one plan. A step of a DataFrame takes two; servers stop at 1,024.
pub const CLUSTER_PLAN_DEPTH_MAX: usize = 500;
/// Fields of one plan. Checking that many takes a tenth of a second.
pub const CLUSTER_PLAN_PARTS_MAX: usize = 500_000;
/// Partitions that code may ask for. Each is a task, which the driver keeps account of.
pub const CLUSTER_PARTITIONS_MAX: u64 = 10_000;
/// Rows that `show` and `tail` take. They are gathered in the driver's memory.
pub const CLUSTER_SHOWN_ROWS_MAX: u64 = 100_000;
/// Bytes of the schema of a local frame that goes to a cluster.
pub const CLUSTER_SCHEMA_BYTES_MAX: usize = 1024 * 1024;
/// Pieces of local frames that go to a cluster in one session.
pub const CLUSTER_BLOBS_MAX: usize = 10_000;

/// The bounds of one turn, as flags set them.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Requests to the model. The last of them forbids tools, so that there is an answer.
    pub rounds_max: u32,
    /// Wall-clock time of the whole turn.
    pub timeout: Option<Duration>,
    /// Input and output tokens of the whole turn.
    pub tokens_max: Option<u64>,
    /// USD that the tokens of the whole turn may cost.
    pub cost_usd_max: Option<f64>,
    /// Tokens of the conversation before its oldest turns are summarised.
    pub context_tokens_max: u64,
    /// Wall-clock time of one REPL call.
    pub tool_timeout: Duration,
    /// Further tries of a request that failed in a way that may pass.
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
