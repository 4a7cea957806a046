//! What an answer may quote: texts that the turn has shown, and code that ran.
//!
//! Numbers that ground have their own place; here is what may only be said word by word.

use csv_agent_types::limits::QUOTABLE_BYTES_MAX;

/// Languages of code as fences name them. What such a fence holds is no claim.
const LANGUAGES: [&str; 29] = [
    "bash",
    "c",
    "cpp",
    "css",
    "dockerfile",
    "go",
    "html",
    "ipython",
    "java",
    "javascript",
    "js",
    "json",
    "julia",
    "powershell",
    "py",
    "python",
    "python3",
    "r",
    "ruby",
    "rust",
    "scala",
    "sh",
    "shell",
    "sql",
    "toml",
    "ts",
    "typescript",
    "xml",
    "yaml",
];

/// Texts that may be quoted, and code that may be shown again.
#[derive(Debug, Clone, Default)]
pub(super) struct Quotable {
    told: String,
    ran: String,
}

impl Quotable {
    /// Adds a text that was told and whose numbers ground nothing. What comes beyond the bound is forgotten.
    pub(super) fn tell(&mut self, text: &str) {
        add(&mut self.told, text);
    }

    /// Adds code that ran.
    pub(super) fn run(&mut self, code: &str) {
        add(&mut self.ran, &trimmed(code));
    }

    /// Returns whether a text was told.
    pub(super) fn has(&self, text: &str) -> bool {
        self.told.contains(text)
    }

    /// Returns whether a fence holds code: of a language, as its first line says, or code that ran.
    pub(super) fn is_code(&self, first_line: &str, text: &str) -> bool {
        let tag = first_line.trim_start().trim_start_matches(['`', '~']);
        let tag = tag.split_whitespace().next().unwrap_or_default();
        let tag = tag.trim_matches(['{', '}', '.']).to_lowercase();
        let text = trimmed(text);
        LANGUAGES.contains(&tag.as_str()) || !text.is_empty() && self.ran.contains(&text)
    }
}

fn add(all: &mut String, text: &str) {
    if all.len() + text.len() < QUOTABLE_BYTES_MAX {
        all.push_str(text);
        all.push('\n');
    }
}

/// Returns the lines of code as they are however they are set in.
fn trimmed(code: &str) -> String {
    let lines: Vec<&str> = code.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    lines.join("\n")
}
