//! Files of a turn on the page: pictures as images, all files by name and size.
//!
//! The declared type of a file is ignored. Only content with the signature of one of four text-free
//! image formats is shown as a picture; anything else, above all SVG and HTML, is only named.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, html};

use csv_agent_text::digits::size;
use csv_agent_types::event::FetchedFile;

use super::words::{line, shown};

/// File contents, by path in the session.
pub type Contents = BTreeMap<String, Vec<u8>>;

/// Returns whether a page can show files of a format as pictures.
pub fn is_image(format: &str) -> bool {
    ["png", "jpg", "jpeg", "gif", "webp"].contains(&format)
}

/// Draws the pictures among the files of an answer.
pub(super) fn pictures_of(files: &[FetchedFile], images: &Contents) -> Markup {
    let picture = |it: &FetchedFile| Some((line(&it.name), url(images.get(&it.artifact.path)?)?));
    let pictures: Vec<(String, String)> = files.iter().filter_map(picture).collect();
    html! {
        @if !pictures.is_empty() {
            ul.pictures aria-label="Pictures" {
                @for (name, url) in &pictures {
                    li { img src=(url) alt=(name); span.name aria-hidden="true" { (name) } }
                }
            }
        }
    }
}

/// Lists the files of an answer.
pub(super) fn list_of(files: &[FetchedFile]) -> Markup {
    html! {
        @if !files.is_empty() {
            ul.files aria-label="Files" {
                @for file in files {
                    li {
                        span.name { (line(&file.name)) }
                        code.dim { (shown(&file.artifact.path)) }
                        span.dim.size { (size(file.artifact.bytes)) }
                    }
                }
            }
        }
    }
}

/// Returns the format of a picture by its signature; `None` when it is not a picture.
pub(super) fn picture_format(content: &[u8]) -> Option<&'static str> {
    match content {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("png"),
        [0xff, 0xd8, 0xff, ..] => Some("jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("webp"),
        _ => None,
    }
}

/// Returns a picture as a `data:` URL; `None` when it is not a picture.
pub(super) fn url(content: &[u8]) -> Option<String> {
    let format = picture_format(content)?;
    Some(format!("data:image/{format};base64,{}", STANDARD.encode(content)))
}

#[cfg(test)]
mod tests {
    use super::url;

    #[test]
    fn only_a_picture_is_shown_as_one() {
        let kind = |content: &[u8]| url(content)?.split_once(';').map(|it| it.0.to_owned());
        for (content, expected) in [
            (&b"\x89PNG\r\n\x1a\n..."[..], Some("data:image/png")),
            (b"\xff\xd8\xff\xe0...", Some("data:image/jpeg")),
            (b"GIF89a...", Some("data:image/gif")),
            (b"RIFF\x01\x02\x03\x04WEBPVP8 ", Some("data:image/webp")),
            (b"<svg xmlns=\"http://www.w3.org/2000/svg\">", None),
            (b"<html><script>", None),
            (b"RIFF\x01\x02\x03\x04WAVE", None),
            (b"", None),
        ] {
            assert_eq!(kind(content).as_deref(), expected);
        }
    }
}
