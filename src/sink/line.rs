//! JSON as one line that is safe to look at.

use std::io;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use csv_agent_text::sanitize::json_for_terminal;

/// Returns JSON as one line with a line feed.
///
/// Beyond what JSON asks for, characters that steer a terminal or turn text around are escaped, so
/// that a line is safe to look at and still the same value.
///
/// # Panics
///
/// Never for values of this program: the names of all members are text.
pub fn line(value: &impl Serialize) -> String {
    let mut json = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut json, ForTerminal);
    value.serialize(&mut serializer).expect("names are text, and memory takes all of it");
    json.push(b'\n');
    String::from_utf8(json).expect("JSON is written as UTF-8")
}

/// JSON in which text is made safe piece by piece, so that a long one is in memory once.
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
