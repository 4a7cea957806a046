//! Errors in the command line itself: suggestions, and output for people and programs.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::{Value, json};

use csv_agent_sink::Format;

use super::flags::Worded;

/// Number of wrong letters up to which a command is still suggested.
const TYPOS_MAX: usize = 2;

/// Returns whether the caller reads JSON, from arguments that may not parse.
///
/// The last of `--format` and `--json` applies. `environment` is the value of `CSV_AGENT_FORMAT`.
pub(crate) fn wants_json(args: &[OsString], environment: Option<Format>) -> bool {
    let mut format = environment;
    let mut args = args.iter().map(|it| it.to_string_lossy());
    while let Some(arg) = args.next() {
        match arg.as_ref() {
            "--" => break,
            "--json" => format = Some(Format::Json),
            "--format" => format = args.next().and_then(|it| Format::of_word(&it)).or(format),
            _ => {
                let value = arg.strip_prefix("--format=").and_then(Format::of_word);
                format = value.or(format);
            }
        }
    }
    matches!(format, Some(Format::Json | Format::Jsonl))
}

/// Adds the command that was probably meant, where clap finds none: `aks` is two letters from `ask`.
pub(crate) fn suggest_command(error: &mut clap::Error, commands: &[String]) {
    if error.kind() != ErrorKind::InvalidSubcommand
        || error.get(ContextKind::SuggestedSubcommand).is_some()
    {
        return;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    let near = nearest(word, commands);
    if !near.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(near));
    }
}

/// Returns the candidates that differ from `word` by the fewest typos, at most [`TYPOS_MAX`] and
/// fewer than the letters of the candidate.
pub(crate) fn nearest(word: &str, candidates: &[String]) -> Vec<String> {
    let typos = |it: &String| strsim::osa_distance(word, it);
    let near = candidates.iter().filter(|it| typos(it) <= TYPOS_MAX && typos(it) + 1 < it.len());
    let Some(fewest) = near.clone().map(typos).min() else { return Vec::new() };
    near.filter(|it| typos(it) == fewest).cloned().collect()
}

/// Returns whether the command line has no command.
pub(crate) fn is_no_command(error: &clap::Error) -> bool {
    use ErrorKind::{DisplayHelpOnMissingArgumentOrSubcommand, MissingSubcommand};
    matches!(error.kind(), DisplayHelpOnMissingArgumentOrSubcommand | MissingSubcommand)
}

/// Returns a usage error as one object: `{"error": {code, message, token, hint, did_you_mean}}`.
pub(crate) fn as_json(error: &clap::Error) -> Value {
    if is_no_command(error) {
        let hint = "see `csv-agent help`, or `csv-agent help --json`";
        return object("usage", "no command given", None, Some(hint), &[]);
    }
    let token =
        [ContextKind::InvalidArg, ContextKind::InvalidSubcommand, ContextKind::InvalidValue]
            .into_iter()
            .find_map(|kind| strings(error, kind).into_iter().next());
    let suggested = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
        ContextKind::ValidValue,
        ContextKind::ValidSubcommand,
    ];
    let did_you_mean: Vec<String> = suggested
        .into_iter()
        .map(|kind| strings(error, kind))
        .find(|it| !it.is_empty())
        .unwrap_or_default();
    let tip = strings(error, ContextKind::Suggested).into_iter().next();
    let near = || did_you_mean.first().map(|it| format!("did you mean `{it}`?"));
    let usage = || strings(error, ContextKind::Usage).into_iter().next().map(|it| one_line(&it));
    let hint =
        tip.or_else(near).or_else(usage).unwrap_or_else(|| "see `csv-agent --help`".to_owned());
    object("usage", &message(error), token.as_deref(), Some(&hint), &did_you_mean)
}

/// Returns an error as one object, in the shape of [`as_json`].
pub(crate) fn object(
    code: &str,
    message: &str,
    token: Option<&str>,
    hint: Option<&str>,
    did_you_mean: &[String],
) -> Value {
    json!({"error": {
        "code": code,
        "message": message,
        "token": token,
        "hint": hint,
        "did_you_mean": did_you_mean,
    }})
}

/// Returns the name that a hint suggests, as all hints write it: "did you mean `sum`?".
pub(crate) fn meant(hint: &str) -> Option<String> {
    let (_, rest) = hint.split_once("did you mean `")?;
    Some(rest.split_once("`?")?.0.to_owned())
}

/// Returns the first paragraph of the error's text, without `error: ` and on one line.
pub(crate) fn message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    one_line(paragraph.strip_prefix("error: ").unwrap_or(paragraph))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn strings(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    // clap shows an argument with its value: `--format <FORMAT>`. Callers look for its name only.
    let name = |it: &str| match kind {
        ContextKind::InvalidArg => it.split(' ').next().unwrap_or(it).to_owned(),
        _ => it.to_owned(),
    };
    match error.get(kind) {
        Some(ContextValue::String(it)) => vec![name(it)],
        Some(ContextValue::Strings(them)) => them.iter().map(|it| name(it)).collect(),
        Some(ContextValue::StyledStr(it)) => vec![it.to_string()],
        Some(ContextValue::StyledStrs(them)) => them.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{nearest, wants_json};
    use csv_agent_sink::Format;

    #[track_caller]
    fn check_json(args: &[&str], environment: Option<Format>, expected: bool) {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        assert_eq!(wants_json(&args, environment), expected, "{args:?}");
    }

    #[test]
    fn the_format_is_found_in_arguments_that_do_not_parse() {
        check_json(&["--format", "json", "ask", "--frmat", "x"], None, true);
        check_json(&["ask", "--format=jsonl"], None, true);
        check_json(&["--json", "ask", "--format", "text"], None, false);
        check_json(&["ask", "--", "--json"], None, false);
        check_json(&["ask"], Some(Format::Json), true);
        check_json(&["ask", "--format"], None, false);
    }

    #[track_caller]
    fn check_nearest(word: &str, expected: &[&str]) {
        let commands = ["ask", "chat", "ingest", "reset", "datasets", "show"].map(str::to_owned);
        assert_eq!(nearest(word, &commands), expected, "{word}");
    }

    #[test]
    fn a_typo_finds_its_command_and_a_stranger_none() {
        check_nearest("aks", &["ask"]);
        check_nearest("sk", &["ask"]);
        check_nearest("dataset", &["datasets"]);
        check_nearest("ingst", &["ingest"]);
        check_nearest("x", &[]);
        check_nearest("in", &[]);
        check_nearest("data", &[]);
    }
}
