//! Images in a question: encodes files as data URLs, once their type is verified.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use csv_agent_types::conversation::Question;
use csv_agent_types::limits::{IMAGE_BYTES_MAX, IMAGES_BYTES_MAX};
use csv_agent_types::named_file::{self, NotRead};
use csv_agent_types::status::Failure;

use crate::options::AskOptions;

/// Image types that models accept, with the magic numbers of their files; `?` matches any byte.
const KINDS: [(&str, &[u8]); 4] = [
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
    ("image/webp", b"RIFF????WEBP"),
];

/// Returns the question of an `ask`, with its images. Fails with `FailureKind::Input` when an image cannot be
/// read, is too large, or is not of a supported type.
pub(crate) fn question(options: &AskOptions) -> anyhow::Result<Question> {
    let images =
        options.images.iter().map(|it| data_url(it)).collect::<anyhow::Result<Vec<String>>>()?;
    // Four characters of base64 are three bytes.
    let n_bytes = images.iter().map(String::len).sum::<usize>() / 4 * 3;
    if IMAGES_BYTES_MAX < n_bytes {
        let message = format!(
            "the images have {n_bytes} bytes; the limit of a question is {IMAGES_BYTES_MAX} bytes"
        );
        return Err(Failure::input(message).hint("make them smaller, or attach fewer").into());
    }
    Ok(Question {
        text: options.question.clone(),
        images,
        verdict: options.turn.agent.gates.verdict,
        pick: options.pick,
    })
}

/// Reads an image. Returns it as a data URL.
fn data_url(path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    let failed = |message: String| Failure::input(message);
    let bytes = named_file::read(path, IMAGE_BYTES_MAX as u64).map_err(|reason| {
        let failure = failed(format!("cannot read `{shown}`: {reason}"));
        match reason {
            NotRead::TooLong(_) => failure.hint("make the image smaller"),
            _ => failure,
        }
    })?;
    let Some(kind) = kind(&bytes) else {
        let message = format!("`{shown}` is not a PNG, JPEG, GIF or WebP image");
        return Err(failed(message).hint("add data with `-f FILE`").into());
    };
    Ok(format!("data:{kind};base64,{}", STANDARD.encode(bytes)))
}

fn kind(bytes: &[u8]) -> Option<&'static str> {
    let begins = |magic: &[u8]| {
        magic.len() <= bytes.len()
            && magic.iter().zip(bytes).all(|(it, byte)| *it == b'?' || it == byte)
    };
    KINDS.iter().find(|(_, magic)| begins(magic)).map(|(kind, _)| *kind)
}

#[cfg(test)]
mod tests {
    use super::{data_url, kind};
    use csv_agent_types::status::{Failure, FailureKind};

    #[test]
    fn a_directory_is_input_that_cannot_be_read() {
        let dir = tempfile::tempdir().unwrap();
        let error = data_url(dir.path()).unwrap_err();
        let failure = error.downcast_ref::<Failure>().unwrap();
        let expected = format!(
            "cannot read `{}`: it is a directory, not a regular file",
            dir.path().display()
        );
        assert_eq!(failure.kind, FailureKind::Input);
        assert_eq!(failure.message, expected);
    }

    #[test]
    fn an_image_is_told_by_its_first_bytes_not_by_its_name() {
        let check = |bytes: &[u8], expected: Option<&str>| assert_eq!(kind(bytes), expected);
        check(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Some("image/png"));
        check(b"\xff\xd8\xff\xe0\0\x10JFIF", Some("image/jpeg"));
        check(b"GIF89a\x01\0", Some("image/gif"));
        check(b"RIFF\x24\0\0\0WEBPVP8 ", Some("image/webp"));
        check(b"RIFF\x24\0\0\0WAVEfmt ", None);
        check(b"day,amount\n1,2\n", None);
        check(b"", None);
    }
}
