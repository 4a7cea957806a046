//! `decrypt`: copies events from stdin and decrypts their rows.

use std::io::{BufRead, Read};

use anyhow::Context;

use csv_agent_sink::encryption::{FernetKey, unseal_line};
use csv_agent_types::limits::EVENT_LINE_BYTES_MAX;
use csv_agent_types::status::Failure;

use super::options::GlobalOptions;
use super::stdout;
use crate::environment::Environment;
use crate::errors::ExitStatus;

/// Copies events from stdin to stdout, decrypted. Plain rows are unchanged. Fails when stdin is a terminal, a
/// line is not an event or is too long, its rows are encrypted and the key is missing or wrong, or stdout
/// cannot be written. Encrypted rows are never copied as they are.
pub(crate) fn run(
    environment: &Environment,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    if options.terminal.stdin_is_tty {
        let failure = Failure::usage("`decrypt` reads events from stdin");
        return Err(failure.hint("try `csv-agent decrypt < events.jsonl`").into());
    }
    let key = environment.event_key.as_deref().map(FernetKey::parse).transpose();
    let key = key.map_err(|error| {
        // A new key, as its hint suggests, decrypts nothing.
        let hint = "set it to the key that the data was encrypted with";
        Failure::setup(format!("{error:#}")).hint(hint)
    })?;
    let mut stdin = std::io::stdin().lock();
    stdout::answer(|out| {
        let mut line = Vec::new();
        for number in 1_u64.. {
            line.clear();
            // Reading one byte more than allowed distinguishes a line that fits from one that was cut.
            let mut bounded = (&mut stdin).take(EVENT_LINE_BYTES_MAX as u64 + 1);
            let n_bytes = bounded.read_until(b'\n', &mut line).context("cannot read stdin")?;
            if n_bytes == 0 {
                break;
            }
            let plain =
                unseal(&line, key.as_ref()).with_context(|| format!("line {number} of stdin"))?;
            writeln!(out, "{plain}")?;
            // The next line may take long, so readers get this one at once.
            out.flush()?;
        }
        Ok(())
    })?;
    Ok(ExitStatus::Ok)
}

fn unseal(line: &[u8], key: Option<&FernetKey>) -> anyhow::Result<String> {
    let refuse = |message: String| anyhow::Error::from(Failure::input(message));
    if EVENT_LINE_BYTES_MAX < line.len() {
        return Err(refuse(format!("longer than {EVENT_LINE_BYTES_MAX} bytes")));
    }
    let line = std::str::from_utf8(line).map_err(|_| refuse("not UTF-8".to_owned()))?;
    unseal_line(line.trim_end_matches(['\n', '\r']), key)
}
