//! What to paste into the configuration of a client.

use std::time::Duration;

use serde_json::{Map, Value, json};

/// A client whose configuration is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Claude Code, and Claude Desktop.
    Claude,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// VS Code.
    Vscode,
    /// Gemini CLI.
    Gemini,
}

/// Seconds that a client waits for a call.
const CALL_SECONDS: u64 = 900;
/// Seconds that it waits longer than a call of Python or SQL may take: csv-agent says why it ended one.
const SECONDS_BEYOND: u64 = 60;

impl Client {
    /// Returns the text for a server that is started with these arguments, and whose calls may take this long.
    pub fn configuration(self, arguments: &[String], timeout: Option<Duration>) -> String {
        let seconds = timeout.map_or(CALL_SECONDS, |it| {
            CALL_SECONDS.max(it.as_secs().saturating_add(SECONDS_BEYOND))
        });
        match self {
            Client::Claude | Client::Cursor => as_json("mcpServers", arguments, &[]),
            Client::Vscode => as_json("servers", arguments, &[("type", json!("stdio"))]),
            Client::Gemini => {
                let milliseconds = seconds.saturating_mul(1_000);
                as_json("mcpServers", arguments, &[("timeout", json!(milliseconds))])
            }
            Client::Codex => {
                let list: Vec<String> = arguments.iter().map(|it| json!(it).to_string()).collect();
                format!(
                    "[mcp_servers.csv-agent]\ncommand = \"csv-agent\"\nargs = [{}]\ntool_timeout_sec = {seconds}\n",
                    list.join(", ")
                )
            }
        }
    }

    /// Returns where the text belongs, and the command that does the same if there is one. `started` is how a shell
    /// starts the server.
    pub fn place(self, started: &str) -> String {
        match self {
            Client::Claude => format!(
                "this belongs in .mcp.json of a project; or run \
                 `claude mcp add --scope user csv-agent --transport stdio -- {started}`"
            ),
            Client::Codex => format!(
                "this belongs in ~/.codex/config.toml; or run `codex mcp add csv-agent -- {started}`"
            ),
            Client::Cursor => {
                "this belongs in ~/.cursor/mcp.json, or .cursor/mcp.json of a project".to_owned()
            }
            Client::Vscode => "this belongs in .vscode/mcp.json of a project".to_owned(),
            Client::Gemini => {
                // Its flags would end at the first of ours.
                let separator = if started == "csv-agent mcp" { "" } else { "-- " };
                format!(
                    "this belongs in ~/.gemini/settings.json; or run \
                     `gemini mcp add -s user csv-agent {separator}{started}`"
                )
            }
        }
    }
}

fn as_json(key: &str, arguments: &[String], more: &[(&str, Value)]) -> String {
    let mut server = Map::new();
    server.insert("command".into(), "csv-agent".into());
    server.insert("args".into(), json!(arguments));
    for (name, value) in more {
        server.insert((*name).to_owned(), value.clone());
    }
    format!("{:#}\n", json!({key: {"csv-agent": server}}))
}
