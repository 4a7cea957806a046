//! What to paste into the configuration of a client.

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

impl Client {
    /// Returns the text for a server that is started with these arguments.
    pub fn configuration(self, arguments: &[String]) -> String {
        match self {
            Client::Claude | Client::Cursor => as_json("mcpServers", arguments, &[]),
            Client::Vscode => as_json("servers", arguments, &[("type", json!("stdio"))]),
            // Its calls take as long as ours may.
            Client::Gemini => as_json("mcpServers", arguments, &[("timeout", json!(900_000))]),
            Client::Codex => {
                let list: Vec<String> = arguments.iter().map(|it| json!(it).to_string()).collect();
                format!(
                    "[mcp_servers.csv-agent]\ncommand = \"csv-agent\"\nargs = [{}]\ntool_timeout_sec = 900\n",
                    list.join(", ")
                )
            }
        }
    }

    /// Returns where the text belongs, and the command that does the same if there is one.
    pub fn place(self) -> &'static str {
        match self {
            Client::Claude => {
                "this belongs in .mcp.json of a project; or run \
                 `claude mcp add --scope user csv-agent --transport stdio -- csv-agent mcp`"
            }
            Client::Codex => {
                "this belongs in ~/.codex/config.toml; or run `codex mcp add csv-agent -- csv-agent mcp`"
            }
            Client::Cursor => {
                "this belongs in ~/.cursor/mcp.json, or .cursor/mcp.json of a project"
            }
            Client::Vscode => "this belongs in .vscode/mcp.json of a project",
            Client::Gemini => {
                "this belongs in ~/.gemini/settings.json; or run `gemini mcp add -s user csv-agent csv-agent mcp`"
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
