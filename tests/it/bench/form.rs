//! A form with files, as it travels: `multipart/form-data`.

use memchr::memmem::find;

/// One field of a form.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    /// What a file is called; none for a plain value.
    pub filename: Option<String>,
    pub content: Vec<u8>,
}

/// Returns the fields of a form, in their order; none when it is no form, or not a whole one.
pub fn parse(content_type: &str, body: &[u8]) -> Option<Vec<Field>> {
    let (kind, boundary) = content_type.split_once(';')?;
    let boundary = boundary.trim().strip_prefix("boundary=")?.trim_matches('"');
    if kind != "multipart/form-data" || boundary.is_empty() {
        return None;
    }
    let mut rest = body.strip_prefix(format!("--{boundary}").as_bytes())?;
    let end = format!("\r\n--{boundary}");
    let mut fields = Vec::new();
    while !rest.starts_with(b"--") {
        rest = rest.strip_prefix(b"\r\n")?;
        let (head, content) = rest.split_at(find(rest, b"\r\n\r\n")?);
        let content = &content[4..];
        let length = find(content, end.as_bytes())?;
        let head = str::from_utf8(head).ok()?;
        let is_it = |it: &&str| it.to_ascii_lowercase().starts_with("content-disposition:");
        let disposition = head.lines().find(is_it)?;
        let parameter = |name: &str| {
            let (_, value) = disposition.split_once(&format!("; {name}=\""))?;
            quoted(value)
        };
        fields.push(Field {
            name: parameter("name")?,
            filename: parameter("filename"),
            content: content[..length].to_vec(),
        });
        rest = &content[length + end.len()..];
    }
    Some(fields)
}

/// Returns a text up to its closing quote.
fn quoted(value: &str) -> Option<String> {
    let mut text = String::new();
    let mut letters = value.chars();
    loop {
        match letters.next()? {
            '"' => return Some(text),
            '\\' => text.push(letters.next()?),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Field, parse};

    #[track_caller]
    fn check(body: &str, expected: Option<&[(&str, Option<&str>, &str)]>) {
        let field = |it: &(&str, Option<&str>, &str)| Field {
            name: it.0.into(),
            filename: it.1.map(str::to_owned),
            content: it.2.into(),
        };
        let found = parse("multipart/form-data; boundary=B", body.as_bytes());
        assert_eq!(found, expected.map(|it| it.iter().map(field).collect()));
    }

    #[test]
    fn a_form_is_taken_apart() {
        let file = "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\\\"b.csv\"\r\n\
                    Content-Type: text/csv\r\n\r\nx,y\r\n1,--B\r\n\r\n";
        let value = "--B\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\n\r\n--B--\r\n";
        let expected = [("file", Some("a\"b.csv"), "x,y\r\n1,--B\r\n"), ("purpose", None, "")];
        check(&[file, value].concat(), Some(&expected));
        check("--B--\r\n", Some(&[]));
    }

    #[test]
    fn what_is_no_whole_form_is_none() {
        check("", None);
        check("{}", None);
        check("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n", None);
        check("--B\r\nContent-Type: text/csv\r\n\r\n1\r\n--B--", None);
        assert_eq!(parse("application/json", b"--B--"), None);
    }
}
