//! Files generated from the definition of the command line: completions, man pages, the event schema.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;
use serde_json::Value;

use csv_agent_types::named_file;
use csv_agent_types::status::Failure;

use super::{schemas, stdout};
use crate::errors::ExitStatus;

/// Flags of `completions`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CompletionsFlags {
    /// Your shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

/// Flags of `schema`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SchemaFlags {
    /// Which schema to print
    #[arg(value_name = "WHAT", value_enum)]
    pub what: SchemaOf,
}

/// What a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// A line of `--format jsonl` and `--events`
    Events,
    /// The document of `ask --json`
    Result,
    /// The document of `describe --json`
    Description,
    /// The document of `check --json`
    Checks,
    /// The document of `diff --json`
    Differences,
    /// A configuration file
    Config,
}

/// Flags of `generate`.
#[derive(Debug, Clone, Args)]
pub(crate) struct GenerateFlags {
    /// What to write
    #[arg(value_name = "WHAT", value_enum)]
    pub what: Generated,

    /// The directory to write to
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

/// What is kept in the repository beside the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Generated {
    /// One man page per command
    Man,
    /// One file per shell
    Completions,
}

/// Prints the completions of a shell.
pub(crate) fn completions(
    flags: &CompletionsFlags,
    command: Command,
) -> anyhow::Result<ExitStatus> {
    let (_, script) = completion(flags.shell, command);
    stdout::answer(|out| Ok(out.write_all(&script)?))?;
    Ok(ExitStatus::Ok)
}

/// Prints a JSON Schema.
pub(crate) fn schema(flags: &SchemaFlags) -> anyhow::Result<ExitStatus> {
    let text = match flags.what {
        SchemaOf::Events => pretty(&serde_json::from_str(schemas::EVENTS)?)?,
        SchemaOf::Result => pretty(&schemas::result()?)?,
        SchemaOf::Description => pretty(&schemas::description())?,
        SchemaOf::Checks => pretty(&schemas::checks())?,
        SchemaOf::Differences => pretty(&schemas::differences())?,
        SchemaOf::Config => pretty(&schemas::config())?,
    };
    stdout::answer(|out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(ExitStatus::Ok)
}

fn pretty(schema: &Value) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(schema)? + "\n")
}

/// Writes the files of one kind to a directory.
pub(crate) fn run(flags: &GenerateFlags, command: Command) -> anyhow::Result<ExitStatus> {
    let files = match flags.what {
        Generated::Man => man_pages(command)?,
        Generated::Completions => {
            let shells = [Shell::Bash, Shell::Zsh, Shell::Fish];
            shells.into_iter().map(|it| completion(it, command.clone())).collect()
        }
    };
    std::fs::create_dir_all(&flags.dir).map_err(|error| {
        let reason = named_file::reason(&flags.dir, &error);
        let message = format!("cannot make the directory `{}`: {reason}", flags.dir.display());
        Failure::input(message).hint("name another directory")
    })?;
    for (name, content) in files {
        let path = flags.dir.join(name);
        std::fs::write(&path, content)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(ExitStatus::Ok)
}

/// Returns the file name that the shell looks for, and the script.
fn completion(shell: Shell, mut command: Command) -> (String, Vec<u8>) {
    use clap_complete::Generator;
    let name = command.get_name().to_owned();
    let mut script = match shell {
        // Its first line names the completed command.
        Shell::Zsh => Vec::new(),
        _ => format!("# Completions of {name} for {shell}.\n").into_bytes(),
    };
    clap_complete::generate(shell, &mut command, &name, &mut script);
    (shell.file_name(&name), script)
}

/// Returns a page for the program and one for each visible command.
fn man_pages(mut command: Command) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    command.build();
    let version = command.get_version().unwrap_or_default().to_owned();
    let mut pages = vec![page(&command, command.get_name(), &version)?];
    for subcommand in command.get_subcommands().filter(|it| !it.is_hide_set()) {
        let title = format!("{}-{}", command.get_name(), subcommand.get_name());
        pages.push(page(subcommand, &title, &version)?);
    }
    Ok(pages)
}

fn page(command: &Command, title: &str, version: &str) -> anyhow::Result<(String, Vec<u8>)> {
    let file_name = format!("{title}.1");
    // Of a flag that `-h` hides, a man page would leave out the short description.
    let command = command.clone().mut_args(|it| it.hide_short_help(false));
    let man = clap_mangen::Man::new(command)
        .title(title.to_uppercase())
        .source(format!("csv-agent {version}"))
        .manual("csv-agent");
    let mut content = Vec::new();
    man.render(&mut content).with_context(|| format!("cannot write `{file_name}`"))?;
    Ok((file_name, content))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::schemas::EVENTS as EVENTS_SCHEMA;
    use csv_agent_agent::schema::AnswerSchema;
    use csv_agent_types::chart::ChartType;
    use csv_agent_types::event::Event;

    /// Returns every type of line, with every possible field.
    fn lines() -> Vec<Value> {
        let usage = json!({"requests": 1, "input_tokens": 1, "cached_input_tokens": 0,
            "output_tokens": 1, "reasoning_tokens": 0});
        let mut report = usage.clone();
        for field in ["total_tokens", "session_total_tokens"] {
            report[field] = json!(2);
        }
        report["cost_usd"] = json!(0.5);
        let egress = json!({"destinations": ["https://host"], "requests": 1, "columns": ["d.c"],
            "rows": 1, "bytes": 1, "text_bytes": 1, "image_bytes": 0, "uploads": 1,
            "upload_bytes": 1, "downloads": 1, "download_bytes": 1,
            "cluster_requests": 1, "cluster_sent_bytes": 1, "cluster_received_bytes": 1});
        let file = json!({"format": "png", "path": "p", "width": 1, "height": 1, "bytes": 1,
            "sha256": "0".repeat(64)});
        let fetched = json!({"name": "n", "cited": true, "container_id": "c", "file_id": null,
            "format": "csv", "path": "p", "bytes": 1, "sha256": "0".repeat(64)});
        let series = json!([{"name": "n", "y_field": "y"}]);
        let options = json!({"color_by": "c", "order": "value", "log_axis": null,
            "references": [{"value": 1.5, "to": null, "label": "l"}], "trend_line": false,
            "number_format": "share", "unit": "USD", "facet_by": null,
            "error_bars": {"low_field": "l", "high_field": "h"}, "highlight": "n",
            "annotations": [{"x": "a", "y": 1.5, "text": "t"}], "size_by": null,
            "line_series": {"name": "n", "y_label": null}, "value_labels": false,
            "bin_width": 2.5});
        let spec = json!({"df_name": "df", "logical_name": "l", "chart_type": "bar",
            "x_field": "x", "x_label": null, "y_label": null, "series": series, "title": null,
            "note": null, "options": options});
        let finding = json!({"severity": "bad", "message": "m", "dataset": null, "column": null,
            "rows": [0], "table": null, "call_id": null, "source_file": "f", "source_line": 2,
            "source_lines": [2], "source_cells": ["Sheet1!B2"]});
        vec![
            json!({"type": "status", "phase": "started", "message": "m", "version": "1",
                "model": "m", "provider": "p", "api": "a", "datasets": [], "limits": {},
                "question": "q", "interpreter": "local", "sandbox": {"enforced": ["e"], "missing": [], "reasons": []},
                "withheld": {"columns": ["c"], "rows": true}}),
            json!({"type": "status", "phase": "model_request", "round": 1, "message": "m"}),
            json!({"type": "status", "phase": "model_response", "round": 1, "message": "m",
                "usage": usage, "request_id": "r"}),
            json!({"type": "status", "phase": "container", "message": "m", "container_id": "c",
                "memory_limit": "1g", "request_id": "r"}),
            json!({"type": "status", "phase": "reasoning", "round": 1, "message": "m", "text": "t"}),
            json!({"type": "status", "phase": "executing", "round": 1, "message": "m"}),
            json!({"type": "status", "phase": "retrying", "message": "m", "attempt": 1,
                "max_attempts": 5, "delay_ms": 1, "reason": "r", "http_status": 429}),
            json!({"type": "status", "phase": "loading", "message": "m"}),
            json!({"type": "status", "phase": "compacting", "message": "m", "turns": 3}),
            json!({"type": "status", "phase": "compacted", "message": "m", "turns": 3,
                "turns_kept": 5, "kept": ["k"], "usage": usage}),
            json!({"type": "status", "phase": "worker", "message": "m", "enforced": ["e"],
                "missing": ["m"], "reasons": ["r"]}),
            json!({"type": "status", "phase": "cluster", "message": "m", "stages_done": 1, "stages": 2,
                "tasks_done": 3, "tasks": 4, "bytes_read": 5}),
            json!({"type": "status", "phase": "warning", "code": "c", "message": "m"}),
            json!({"type": "partial", "delta": "d", "item": 1}),
            json!({"type": "tool_call", "call_id": "c", "round": 1, "name": "n", "label": "l",
                "arguments": {}, "arguments_raw": "r"}),
            json!({"type": "tool_result", "call_id": "c", "name": "n", "status": "ok",
                "duration_ms": 1, "result": {}, "truncated": false, "bytes_to_model": 1,
                "error": {"code": "c", "message": "m"}}),
            json!({"type": "data_frame", "call_id": "c", "df_name": "df", "logical_name": "l",
                "columns": ["a"], "dtypes": {"a": "int64"}, "row_count": 1, "rows": [{"a": 1}],
                "rows_emitted": 1, "truncated": false, "encoding": "json", "artifact": file}),
            json!({"type": "chart", "call_id": "c", "df_name": "df", "logical_name": "l",
                "chart_type": "bar", "title": null, "x_field": "x", "x_label": null,
                "y_label": null, "series": series, "note": null, "data": [], "row_count": 0,
                "encoding": "json", "alt": "a", "files": [file], "options": options, "vega_lite": {}}),
            json!({"type": "chart_rejected", "call_id": "c", "logical_name": "l", "reason": "r",
                "code": "empty", "limit": null, "actual": null, "spec": spec}),
            json!({"type": "reply", "text": "t", "blocks": [], "assessment": null,
                "findings": [finding],
                "ungrounded": [{"text": "7", "offset": 0, "finding": null, "path": "$.n"}],
                "output": null, "computed": true, "stop_reason": "complete",
                "choices": ["rows"], "tables": [], "charts": [],
                "files": [fetched], "rounds": 1, "tool_calls": 0, "usage": report, "egress": egress, "duration_ms": 1,
                "code_path": null, "exit_code": 0}),
            json!({"type": "error", "fatal": true, "code": "c", "message": "m", "hint": null,
                "retryable": false, "http_status": null, "request_id": null,
                "partial_text": null, "usage": report, "egress": egress, "exit_code": 1}),
        ]
    }

    #[test]
    fn the_schema_of_events_lists_every_type_of_chart() {
        let schema: Value = serde_json::from_str(EVENTS_SCHEMA).unwrap();
        let names: Vec<Value> = ChartType::ALL.iter().map(|it| it.name().into()).collect();
        let mut lists = Vec::new();
        let mut open = vec![&schema];
        while let Some(value) = open.pop() {
            match value {
                Value::Object(members) => {
                    let list = members.get("enum").and_then(Value::as_array);
                    lists.extend(list.filter(|it| it.contains(&"stacked_column".into())));
                    open.extend(members.values());
                }
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
        assert_eq!(lists, [&names, &names]);
    }

    #[test]
    fn every_line_fits_the_schema_and_every_field_is_in_it() {
        let schema: Value = serde_json::from_str(EVENTS_SCHEMA).unwrap();
        let rules = AnswerSchema::compile(schema.clone()).unwrap();
        for body in lines() {
            let mut line = json!({"v": 1, "seq": 0, "ts": "2026-01-01T00:00:00.000Z",
                "session_id": "s", "turn_id": "0001"});
            line.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
            // A round trip through the type drops unknown fields and adds required ones.
            let event: Event = serde_json::from_value(line.clone()).unwrap();
            assert_eq!(serde_json::to_value(&event).unwrap(), line);
            assert_eq!(rules.misfits(&line), [], "{line}");
            let definition = &schema["$defs"][body["type"].as_str().unwrap()];
            for field in body.as_object().unwrap().keys() {
                let phases = definition["allOf"].as_array().into_iter().flatten();
                let mut places = phases.map(|it| &it["then"]).chain([definition]);
                assert!(places.any(|it| !it["properties"][field].is_null()), "{field} in {line}");
            }
        }
    }
}
