//! Commands of csv-agent as children: what has a command of its own is done by it, and ends when it is killed.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Output, Stdio};

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::process::Command;

use csv_agent_mcp::StopSignal;

/// Runs a command. None when it was stopped.
pub(super) async fn run(
    program: &Path,
    session: &Path,
    arguments: Vec<OsString>,
    stop: Option<&StopSignal>,
) -> anyhow::Result<Option<Output>> {
    let mut command = Command::new(program);
    command.args(["-S".into(), session.as_os_str().to_owned(), "--no-input".into()]);
    command.args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.kill_on_drop(true).spawn().context("cannot start csv-agent")?;
    let pid = child.id().and_then(|it| Pid::from_raw(i32::try_from(it).ok()?));
    let mut ending = Box::pin(child.wait_with_output());
    let stopped = async {
        match stop {
            Some(stop) => stop.wait().await,
            None => std::future::pending().await,
        }
    };
    // A child that is asked to end ends what it started as well.
    tokio::select! {
        ended = &mut ending => return Ok(Some(ended.context("cannot read from csv-agent")?)),
        () = stopped => {}
    }
    if let Some(pid) = pid {
        let _ = kill_process(pid, Signal::TERM);
    }
    let _ = ending.await;
    Ok(None)
}

/// Returns what a command wrote to stderr, one sentence a line: failures with their hints, warnings and notes.
pub(super) fn remarks(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    let mut remarks: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let plain = ["error: ", "warning: ", "note: "].iter().find_map(|it| line.strip_prefix(it));
        match (line.strip_prefix("hint: "), remarks.last_mut()) {
            (Some(hint), Some(last)) => last.extend(["; ", hint]),
            _ => remarks.push(plain.unwrap_or(line).to_owned()),
        }
    }
    remarks
}

/// Returns what a command with `--json` says about its arguments, if they are wrong.
pub(super) fn usage(output: &Output) -> Option<String> {
    let document: Value = serde_json::from_slice(&output.stderr).ok()?;
    let error = document.get("error").filter(|it| it["code"] == "usage")?;
    // Help is on the command line only.
    let hint = error["hint"].as_str().filter(|it| !it.contains("--help"));
    let hint = hint.map(|it| format!("; {it}")).unwrap_or_default();
    Some(with_clients_name(error["message"].as_str()?) + &hint)
}

/// Returns a message about an argument with the client's name of it.
fn with_clients_name(message: &str) -> String {
    const OTHER_NAMES: [(&str, &str); 3] =
        [("dtype", "types"), ("sheet", "sheets"), ("null", "nulls")];
    let parts = message.split_once(" for '--").and_then(|(before, rest)| {
        let (flag, after) = rest.split_once('\'')?;
        Some((before, flag.split(' ').next()?, after))
    });
    let Some((before, flag, after)) = parts else { return message.to_owned() };
    let name = OTHER_NAMES.iter().find(|it| it.0 == flag);
    let name = name.map_or_else(|| flag.replace('-', "_"), |it| it.1.to_owned());
    format!("{before} for `{name}`{after}")
}

/// Flags that a hint may name.
const FLAGS: [&str; 9] = [
    "--name", "--delimiter", "--encoding", "--decimal", "--date-order", "--if-exists", "--sheet",
    "--table", "--null",
];

/// Returns the errors of a command without anything that may be a value of a file. Of what is quoted, only `known`
/// texts and flags stay.
pub(super) fn errors_without_values(output: &Output, known: &[String]) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    let mut errors: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        let error = line.strip_prefix("error: ");
        let hint = line.trim_start().strip_prefix("hint: ").filter(|_| is_open);
        let Some(said) = error.or(hint) else {
            is_open = false;
            continue;
        };
        is_open = true;
        let (kept, is_whole) = before_values(said, known);
        match errors.last_mut() {
            _ if kept.is_empty() => {}
            Some(last) if hint.is_some() => last.extend(["; ", kept]),
            _ => errors.push(kept.to_owned()),
        }
        if !is_whole {
            // A value may have several lines.
            errors.extend([
                "the rest of the message is kept back, as it may quote the file".to_owned()
            ]);
            break;
        }
    }
    errors
}

/// Returns a message up to the first thing in it that may be a value, and whether that is all of it.
fn before_values<'a>(text: &'a str, known: &[String]) -> (&'a str, bool) {
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        let inner = rest.strip_prefix('`');
        // `csv-agent ingest --if-exists replace NAME=FILE`
        let is_known = |it: &str| it.split('=').all(|it| known.iter().any(|known| known == it));
        let is_flag = |it: &str| {
            let it = it.strip_prefix("csv-agent ingest ").unwrap_or(it);
            let flag = it.split(' ').next().unwrap_or_default();
            let value = &it[flag.len()..];
            FLAGS.contains(&flag)
                && (matches!(value, "" | " NAME" | " replace" | " skip")
                    || value.strip_prefix(" replace ").is_some_and(is_known))
        };
        let quoted = inner.and_then(|inner| {
            let is_it = |it: &&str| inner[it.len()..].starts_with('`');
            let named = known.iter().map(String::as_str).filter(|it| inner.starts_with(it));
            let named = named.filter(is_it).max_by_key(|it| it.len());
            named.or_else(|| inner.split('`').next().filter(|it| is_it(it) && is_flag(it)))
        });
        let may_be_value = matches!(next, '`' | '"' | '\'' | '“' | '‘')
            || rest.strip_prefix(" has ").is_some_and(|it| !it.starts_with(char::is_alphabetic));
        match quoted {
            Some(quoted) => at += quoted.len() + 2,
            None if may_be_value => return (text[..at].trim_end(), false),
            None => at += next.len_utf8(),
        }
    }
    (text, true)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{ExitStatus, Output};

    use super::{errors_without_values, remarks, with_clients_name};

    fn failed(text: &str) -> Output {
        Output { status: ExitStatus::from_raw(256), stdout: Vec::new(), stderr: text.into() }
    }

    #[test]
    fn an_argument_has_the_name_that_the_client_gave() {
        assert_eq!(
            with_clients_name("invalid value 'a=b' for '--dtype <C=T>': `b` is"),
            "invalid value 'a=b' for `types`: `b` is"
        );
        assert_eq!(
            with_clients_name("invalid value 'x' for '--date-order <O>' [y]"),
            "invalid value 'x' for `date_order` [y]"
        );
        assert_eq!(with_clients_name("`x` is not a pattern"), "`x` is not a pattern");
    }

    #[test]
    fn values_are_cut_out_of_errors() {
        let known = ["p.csv".to_owned(), "email".to_owned()];
        let said = |text: &str| errors_without_values(&failed(text), &known);
        let kept_back = "the rest of the message is kept back, as it may quote the file";
        for (text, expected) in [
            (
                "note: `p.csv`: e.g. `secret`\nerror: cannot read column `email` as int64: line 2 has `secret\nerror: \
                 secret`\n  hint: secret\n",
                vec!["cannot read column `email` as int64: line 2", kept_back],
            ),
            ("error: `p.csv` has 4711, which is\n", vec!["`p.csv`", kept_back]),
            ("error: cannot convert 'secret'\n", vec!["cannot convert", kept_back]),
            (
                "error: no file at `p.csv`\n  hint: check the path, or `--if-exists replace`\n",
                vec!["no file at `p.csv`; check the path, or `--if-exists replace`"],
            ),
            ("error: `p.csvsecret` is gone\n", vec![kept_back]),
            ("error: has `--name secret`\n", vec!["has", kept_back]),
            ("secret\nnote: secret\n", vec![]),
        ] {
            assert_eq!(said(text), expected, "{text}");
        }
    }

    #[test]
    fn a_hint_belongs_to_its_failure() {
        let text =
            "error: `a.csv`: dates are ambiguous\n  hint: use `--date-order dmy`\nnote: 2 rows\n";
        let output =
            Output { status: ExitStatus::from_raw(0), stdout: Vec::new(), stderr: text.into() };
        let expected = ["`a.csv`: dates are ambiguous; use `--date-order dmy`", "2 rows"];
        assert_eq!(remarks(&output), expected);
    }
}
