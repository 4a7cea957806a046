//! The encoding of a text file, detected from the whole file.

use csv_agent_types::limits::SNIFF_HEAD_BYTES;
use csv_agent_types::status::Failure;

use crate::charset::Charset;
use crate::encoding::{self, FoundEncoding};
use crate::options::IngestOptions;
use crate::refusal::no_csv;
use crate::source::Input;
use crate::{Watch, sniff};

/// Detects the encoding of a text before anything else is known about it. Fails when the file cannot be read,
/// and when the user names an unknown encoding.
pub(super) fn encoding_of(
    input: &Input,
    options: &IngestOptions,
    watch: &Watch<'_>,
) -> anyhow::Result<FoundEncoding> {
    let head = input.head(SNIFF_HEAD_BYTES)?;
    if let Some(kind) = sniff::binary_kind(&head) {
        return Err(no_csv(&input.name, &format!("it is {kind}"), hint_for(kind)));
    }
    if let Some(found) = certain(options, encoding::of_head(&head))? {
        return Ok(found);
    }
    check_text(&input.name, &head)?;
    survey(input, input.text_end(Charset::UTF_8)?, watch)
}

/// Returns the encoding that the user names, with its mark if present, or the one that the first bytes
/// determine with certainty.
pub(crate) fn certain(
    options: &IngestOptions,
    by_head: Option<FoundEncoding>,
) -> anyhow::Result<Option<FoundEncoding>> {
    if options.written.is_some() {
        return Ok(Some(FoundEncoding::utf8_as_written()));
    }
    let Some(label) = options.encoding.as_deref() else { return Ok(by_head) };
    let charset = Charset::for_label(label).ok_or_else(|| {
        let message = format!("`{label}` is not a known encoding");
        let hint = "try `utf-8`, `utf-16`, `windows-1252`, `latin1`, `shift_jis`, `gbk` or `big5`";
        Failure::usage(message).hint(hint)
    })?;
    let mark_bytes = by_head.filter(|it| it.charset == charset).map_or(0, |it| it.mark_bytes);
    let reason = "as specified".to_owned();
    Ok(Some(FoundEncoding { charset, mark_bytes, damage: None, reason, is_doubtful: false }))
}

/// Fails when a text has too many control characters.
pub(crate) fn check_text(shown_name: &str, text: &[u8]) -> anyhow::Result<()> {
    let Some(at) = sniff::first_control(text) else { return Ok(()) };
    let found = format!("it is binary (byte 0x{:02X} at offset {at})", text[at]);
    Err(no_csv(shown_name, &found, "export the table as CSV, or name another file"))
}

/// Detects the encoding from the whole file.
pub(crate) fn survey(input: &Input, end: u64, watch: &Watch<'_>) -> anyhow::Result<FoundEncoding> {
    encoding::survey(&|each| input.parts(0, end, watch.cancelled, each))
}

pub(crate) fn hint_for(kind: &str) -> &'static str {
    if kind.ends_with("compressed") {
        "decompress it first, or pipe it in: `xzcat FILE | csv-agent ingest --name NAME -`"
    } else if kind.contains("Git LFS") {
        "get the file itself with `git lfs pull`"
    } else if kind.contains("git-annex") {
        "get the file itself with `git annex get FILE`"
    } else if kind.contains("Feather") {
        "write it as Parquet, or as Feather of version 2"
    } else {
        "export the table as CSV, or name another file"
    }
}
