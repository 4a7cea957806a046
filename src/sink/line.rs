//! JSON as one line that is safe to display.

use std::io;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use csv_agent_text::sanitize::json_for_terminal;

/// Returns JSON as one line, with a line feed.
///
/// In addition to what JSON requires, characters that control a terminal or reverse text direction are
/// escaped, so that a line is safe to display and still represents the same value.
///
/// # Panics
///
/// Never for values of this program: all member names are text.
pub fn line(value: &impl Serialize) -> String {
    let mut json = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut json, ForTerminal);
    value.serialize(&mut serializer).expect("names are text, and memory takes all of it");
    json.push(b'\n');
    String::from_utf8(json).expect("JSON is written as UTF-8")
}

/// Makes JSON text safe piece by piece, so that a long text is in memory only once.
struct ForTerminal;

impl Formatter for ForTerminal {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        writer.write_all(json_for_terminal(fragment).as_bytes())
    }
}
