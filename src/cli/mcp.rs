//! `mcp`: the tools of a turn for the model of another program, over stdin and stdout.

mod allowed;
mod child;
mod runner;
mod resource_store;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use tokio::sync::mpsc;

use csv_agent_mcp::clients::Client;
use csv_agent_mcp::{ServerSettings, serve};
use csv_agent_types::status::BUILTIN;

use crate::errors::ExitStatus;
use crate::flags::{GlobalFlags, InterpreterChoice, SettingFlags, TurnFlags, one_of};
use crate::options::session::SessionOrigin;
use crate::options::settings::Settings;
use crate::options::{GlobalOptions, TurnOptions};
use crate::{diagnostics, stdout, tips, value_parsers};
use allowed::Allowed;
use resource_store::StoredTurns;
use runner::CallRunner;

/// Flags of `mcp`.
#[derive(Debug, Clone, Args)]
pub(crate) struct McpFlags {
    /// Read this file or directory at the start. May be repeated
    #[arg(short, long, value_name = "FILE", help_heading = "Data")]
    pub file: Vec<PathBuf>,

    /// Let the client read files below this directory [default: the current directory]. May be repeated
    ///
    /// A link that leads out of the directory is refused. If the current directory is `/`, the
    /// client can read no file without this flag.
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    pub allow: Vec<PathBuf>,

    /// Do not let the client add or replace datasets
    #[arg(long, help_heading = "Data")]
    pub read_only: bool,

    /// Hide the values of this column from the client. May be repeated
    ///
    /// The client sees tokens instead of the values. `COL` applies to all datasets, `DATASET.COL` to
    /// one. The client then cannot ingest files, so name them with `-f`.
    #[arg(long, value_name = "COL", value_parser = value_parsers::column, help_heading = "Privacy")]
    pub redact: Vec<String>,

    /// Let the client see only schemas, aggregates, and values that 5 or more rows share
    #[arg(long, help_heading = "Privacy")]
    pub no_rows: bool,

    /// Rate values with the ranges in this TOML file
    #[arg(long, value_name = "FILE", help_heading = "Calls", hide_short_help = true)]
    pub thresholds: Option<PathBuf>,

    /// Time limit of a call of Python or SQL, such as 90s
    #[arg(long, value_name = "DURATION", value_parser = value_parsers::duration, help_heading = "Calls", hide_short_help = true)]
    pub tool_timeout: Option<Duration>,

    /// Memory limit, such as 8GB [default: half of the machine's, at least 2GiB]
    #[arg(long, value_name = "SIZE", value_parser = value_parsers::memory, help_heading = "Calls", hide_short_help = true)]
    pub memory: Option<u64>,

    /// Print the configuration of this client, and do not start the server
    ///
    /// The other flags become part of the configuration.
    #[arg(long, value_name = "CLIENT", value_parser = one_of::<Client>())]
    pub print_config: Option<Client>,
}

impl McpFlags {
    /// Returns the flags that configuration files can set.
    pub(crate) fn settings(&self) -> SettingFlags {
        SettingFlags {
            // No model is asked: the client has one.
            model: Some(BUILTIN.to_owned()),
            interpreter: Some(InterpreterChoice::Local),
            no_rows: self.no_rows,
            thresholds: self.thresholds.clone(),
            tool_timeout: self.tool_timeout,
            memory: self.memory,
            ..SettingFlags::default()
        }
    }

    /// Returns the arguments that start a server with these flags from any directory.
    fn arguments(
        &self,
        options: &GlobalOptions,
        given: &GlobalFlags,
    ) -> anyhow::Result<Vec<String>> {
        let mut arguments = vec!["mcp".to_owned()];
        let mut add =
            |flag: &str, value: &str| arguments.extend([flag.to_owned(), value.to_owned()]);
        if options.session.origin == SessionOrigin::Flag {
            add("-S", &options.session.dir.to_string_lossy());
        }
        let paths = [("-f", &self.file[..]), ("--allow", &self.allow)];
        let thresholds =
            [("--thresholds", self.thresholds.as_slice()), ("--config", given.config.as_slice())];
        for (flag, paths) in paths.into_iter().chain(thresholds) {
            for path in paths {
                add(flag, &std::path::absolute(path)?.to_string_lossy());
            }
        }
        self.redact.iter().for_each(|it| add("--redact", it));
        if let Some(timeout) = self.tool_timeout {
            add("--tool-timeout", &format!("{}s", timeout.as_secs().max(1)));
        }
        if let Some(wait) = given.lock_wait {
            add("--lock-wait", &format!("{}s", wait.as_secs()));
        }
        if let Some(profile) = &given.profile {
            add("--profile", profile);
        }
        if let Some(memory) = self.memory {
            add("--memory", &format!("{}MiB", memory >> 20));
        }
        let switches = [
            ("--read-only", self.read_only),
            ("--no-rows", self.no_rows),
            ("--no-config", given.no_config),
            ("--quiet", given.quiet),
        ];
        let given = switches.into_iter().filter(|it| it.1);
        arguments.extend(given.map(|it| it.0.to_owned()));
        Ok(arguments)
    }

    fn turn_flags(&self) -> TurnFlags {
        TurnFlags {
            redact: self.redact.clone(),
            // A client has its own conversation.
            fresh: true,
            settings: self.settings(),
            ..TurnFlags::default()
        }
    }
}

/// Serves the client on stdin and stdout until it closes stdin. Fails when a setting is invalid, a directory
/// does not exist, or a file of `-f` cannot be read.
pub(crate) fn run(
    flags: &McpFlags,
    settings: &Settings,
    options: GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    if let Some(client) = flags.print_config {
        let arguments = flags.arguments(&options, settings.global_flags())?;
        let text = client.configuration(&arguments, flags.tool_timeout);
        stdout::answer(|out| Ok(out.write_all(text.as_bytes())?))?;
        if !options.quiet {
            let words = arguments.iter().map(|it| tips::quoted(it));
            let started: Vec<String> = ["csv-agent".to_owned()].into_iter().chain(words).collect();
            diagnostics::note(&client.place(&started.join(" ")));
        }
        return Ok(ExitStatus::Ok);
    }
    let allowed = Allowed::of(&flags.allow)?;
    if options.terminal.stdin_is_tty {
        let what = "csv-agent mcp waits for an agent on stdin, which starts it by itself; \
                    `csv-agent mcp --print-config claude` shows how, and Ctrl-D ends it";
        diagnostics::note(what);
    }
    let turn = TurnOptions::resolve(flags.turn_flags(), options, settings)?;
    let server = ServerSettings {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        is_read_only: flags.read_only,
        withheld: turn.agent.withheld.clone(),
    };
    let has_ingest = server.can_ingest();
    let start = Arc::new(Mutex::new(()));
    let store = Arc::new(StoredTurns::new(&turn, allowed.clone(), Arc::clone(&start)));
    let (calls, queue) = mpsc::unbounded_channel();
    let mut runner = CallRunner::new(turn, allowed, has_ingest)?;
    // A list of datasets waits for those of the start.
    let reading = start.lock();
    let serving = thread::Builder::new()
        .name("mcp".to_owned())
        .spawn(move || serve(server, calls, store))
        .context("cannot start a thread")?;
    if !flags.file.is_empty() {
        runner.read_files(&flags.file)?;
    }
    drop(reading);
    let status = runner.work(queue);
    // After a signal, or a failure at the start, it still reads stdin and ends with the process.
    if status == ExitStatus::Ok
        && let Ok(served) = serving.join()
    {
        served.context("cannot serve the client")?;
    }
    Ok(status)
}
