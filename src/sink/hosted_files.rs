//! Files created by code at the provider, as files of the turn.
//!
//! Their names and content are untrusted: a name supplies only letters and an extension, and the
//! content is moved, never parsed as its claimed format.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tempfile::NamedTempFile;

use csv_agent_types::event::{Artifact, FetchedFile};
use csv_agent_types::limits::{
    ENDING_CHARS_MAX, FETCHED_BYTES_MAX, FETCHED_FILE_BYTES_MAX, FETCHED_FILES_MAX,
    FETCHED_NAME_BYTES_MAX,
};

use crate::artifacts::{digest, directory_in, free_slug, relative, temporary_in};

/// The directory of the files, below that of their turn.
const DIRECTORY: &str = "artifacts";
/// The extension of a file whose name has no plain one.
const UNKNOWN: &str = "bin";
/// Images that a provider sends inline, each with its extension.
const IMAGES: [(&str, &str); 4] =
    [("image/png", "png"), ("image/jpeg", "jpg"), ("image/gif", "gif"), ("image/webp", "webp")];

/// Returns the byte limit for the next file of a turn that already has `files`; `None` when it accepts
/// no more.
pub fn room(files: &[FetchedFile]) -> Option<u64> {
    let n_bytes: u64 = files.iter().map(|it| it.artifact.bytes).sum();
    let room = FETCHED_BYTES_MAX.saturating_sub(n_bytes).min(FETCHED_FILE_BYTES_MAX);
    (files.len() < FETCHED_FILES_MAX && 0 < room).then_some(room)
}

/// Creates the temporary file of a download in the turn. It is removed unless it is kept; after a kill,
/// the next open of the session removes it.
///
/// # Errors
///
/// Fails when it cannot be created.
pub fn temporary(turn_dir: &Path) -> anyhow::Result<NamedTempFile> {
    let directory = directory_in(turn_dir, DIRECTORY)?;
    temporary_in(&directory)
        .with_context(|| format!("cannot make a file in {}", directory.display()))
}

/// What the provider reports about a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileOrigin {
    /// Its name, or its path in the container.
    pub name: String,
    /// Whether the answer refers to it.
    pub cited: bool,
    /// The container it was fetched from; `None` for a file in the response.
    pub container_id: Option<String>,
    /// The provider's id for it; `None` for a file in the response.
    pub file_id: Option<String>,
}

/// Moves a fetched file to `turns/N/artifacts/`. Its name consists of the letters and digits of the
/// original name, and its extension if that is plain. No file replaces another: a name already in use
/// gets a number.
///
/// # Errors
///
/// Fails when the file cannot be moved or read.
pub fn keep(
    session_dir: &Path,
    turn_dir: &Path,
    origin: FileOrigin,
    file: NamedTempFile,
) -> anyhow::Result<FetchedFile> {
    let directory = directory_in(turn_dir, DIRECTORY)?;
    let (stem, format) = stem_and_format(&origin.name);
    let slug = free_slug(&directory, stem, "file", &[&format])?;
    let target = directory.join(format!("{slug}.{format}"));
    let keep = || -> anyhow::Result<()> {
        set_permissions(file.path(), Permissions::from_mode(0o600))?;
        file.persist_noclobber(&target)?;
        Ok(())
    };
    keep().with_context(|| format!("cannot write {}", target.display()))?;
    let (bytes, sha256) = digest(&target)?;
    let path = relative(session_dir, &target)?;
    let artifact = Artifact { format, path, width: None, height: None, bytes, sha256 };
    let FileOrigin { name, cited, container_id, file_id } = origin;
    Ok(FetchedFile { name: name_of(&name), cited, container_id, file_id, artifact })
}

/// Returns the last component of a path in a container, bounded: the name shown for the file.
pub fn name_of(path: &str) -> String {
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    last[..last.floor_char_boundary(FETCHED_NAME_BYTES_MAX)].to_owned()
}

/// Splits a name into the base of a slug and the format, its extension in lower case if that is plain.
fn stem_and_format(name: &str) -> (&str, String) {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_plain = |it: &str| {
        (1..=ENDING_CHARS_MAX).contains(&it.len())
            && it.bytes().all(|it| it.is_ascii_alphanumeric())
    };
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && is_plain(ending) => {
            (stem, ending.to_ascii_lowercase())
        }
        _ => (name, UNKNOWN.to_owned()),
    }
}

/// Returns the image of a `data:` URL with its extension; `None` when it has another type, is not
/// base64, or exceeds the file limit. Only the sender vouches for the content of the bytes.
pub fn decode_image(data_url: &str) -> Option<(&'static str, Vec<u8>)> {
    let (scheme, rest) = data_url.split_at_checked("data:".len())?;
    let (head, data) = rest.split_once(',')?;
    let mut parameters = head.split(';');
    let media_type = parameters.next()?.trim();
    let is_base64 = parameters.next_back()?.trim().eq_ignore_ascii_case("base64");
    let ending = IMAGES.iter().find(|it| it.0.eq_ignore_ascii_case(media_type))?.1;
    let is_small = data.len() as u64 / 4 * 3 <= FETCHED_FILE_BYTES_MAX;
    if !scheme.eq_ignore_ascii_case("data:") || !is_base64 || !is_small {
        return None;
    }
    let bytes = STANDARD.decode(data).ok().filter(|it| !it.is_empty())?;
    Some((ending, bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use super::{FileOrigin, decode_image, keep, name_of, room, temporary};
    use csv_agent_types::event::{Artifact, FetchedFile};

    /// Keeps files of these names in one turn and compares the names that they get.
    #[track_caller]
    fn check(cases: &[(&str, &str)]) {
        let session = tempfile::tempdir().unwrap();
        let turn = session.path().join("turns/0001");
        for (at, (name, expected)) in cases.iter().enumerate() {
            let mut file = temporary(&turn).unwrap();
            write!(file, "{at}").unwrap();
            fs::set_permissions(file.path(), fs::Permissions::from_mode(0o755)).unwrap();
            let origin = FileOrigin { name: (*name).to_owned(), ..FileOrigin::default() };
            let kept = keep(session.path(), &turn, origin, file).unwrap().artifact;
            assert_eq!(kept.path, format!("turns/0001/artifacts/{expected}"), "{name:?}");
            assert!(kept.path.ends_with(&format!(".{}", kept.format)), "{}", kept.format);
            let path = session.path().join(&kept.path);
            assert_eq!(fs::read_to_string(&path).unwrap(), at.to_string());
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            assert_eq!(kept.bytes, at.to_string().len() as u64);
        }
        let n_files = fs::read_dir(turn.join("artifacts")).unwrap().count();
        assert_eq!(n_files, cases.len(), "one replaced another, or is left");
    }

    #[test]
    fn a_name_gives_letters_and_a_plain_ending() {
        check(&[
            ("plot.png", "plot.png"),
            ("Umsätze 2025.Q3.XLSX", "umsätze_2025_q3.xlsx"),
            ("archive.tar.gz", "archive_tar.gz"),
            ("東京.csv", "東京.csv"),
            ("README", "readme.bin"),
            ("a.b c", "a_b_c.bin"),
            ("notes.annotated", "notes_annotated.bin"),
        ]);
    }

    #[test]
    fn a_name_has_no_authority() {
        let long = "x".repeat(5_000) + ".csv";
        let wide = "𞤀".repeat(5_000) + ".abcdefgh";
        let wide_kept = "𞤢".repeat(60) + ".abcdefgh";
        check(&[
            ("../../etc/passwd", "passwd.bin"),
            ("/etc/cron.d/x.sh", "x.sh"),
            ("..\\..\\x.sh", "x_2.sh"),
            ("..", "file.bin"),
            (".", "file_2.bin"),
            ("", "file_3.bin"),
            ("a/", "file_4.bin"),
            (".bashrc", "bashrc.bin"),
            (".png", "png.bin"),
            ("...png", "file.png"),
            ("-rf.txt", "rf.txt"),
            ("a\0b\n\x1b[31m.txt", "a_b_31m.txt"),
            ("photo\u{202e}gnp.exe", "photo_gnp.exe"),
            ("photo.p\u{202e}ng", "photo_p_ng.bin"),
            ("CON.txt", "file_con.txt"),
            ("nul", "file_nul.bin"),
            ("lpt7.png", "file_lpt7.png"),
            ("console.txt", "console.txt"),
            (&long, &("x".repeat(60) + ".csv")),
            (&wide, &wide_kept),
            (&wide, &wide_kept.replace('.', "_2.")),
        ]);
    }

    #[test]
    fn no_file_replaces_another() {
        check(&[
            ("plot.png", "plot.png"),
            ("Plot.PNG", "plot_2.png"),
            ("PLOT.png", "plot_3.png"),
            ("plot_2.png", "plot_2_2.png"),
            ("plot.svg", "plot.svg"),
        ]);
    }

    #[test]
    fn a_turn_takes_so_many_files_and_bytes() {
        #[track_caller]
        fn check(n_files: usize, bytes: u64, expected: Option<u64>) {
            let artifact = Artifact {
                format: "bin".to_owned(),
                path: String::new(),
                width: None,
                height: None,
                bytes,
                sha256: String::new(),
            };
            let name = String::new();
            let file =
                FetchedFile { name, cited: false, container_id: None, file_id: None, artifact };
            assert_eq!(room(&vec![file; n_files]), expected);
        }
        let mega = 1024 * 1024;
        check(0, 0, Some(100 * mega));
        check(4, 100 * mega, Some(100 * mega));
        check(4, 110 * mega, Some(60 * mega));
        check(5, 100 * mega, None);
        check(99, 1, Some(100 * mega));
        check(100, 1, None);
    }

    #[test]
    fn what_is_not_kept_leaves_nothing() {
        let turn = tempfile::tempdir().unwrap();
        let file = temporary(turn.path()).unwrap();
        let name = file.path().file_name().unwrap().to_str().unwrap().to_owned();
        // By this the next process knows that it may go.
        let ending = file.path().extension().unwrap();
        assert!(name.starts_with('.') && ending == "tmp", "{name}");
        drop(file);
        assert_eq!(fs::read_dir(turn.path().join("artifacts")).unwrap().count(), 0);
    }

    #[test]
    fn a_path_of_the_container_is_told_by_its_last_part() {
        for (path, name) in [
            ("/mnt/data/plot.png", "plot.png"),
            ("plot.png", "plot.png"),
            ("/mnt/data/out/", "out"),
            ("", ""),
        ] {
            assert_eq!(name_of(path), name);
        }
        assert_eq!(name_of(&"é".repeat(1_000)), "é".repeat(127));
    }

    #[test]
    fn an_image_is_of_a_known_type_and_base64() {
        #[track_caller]
        fn check(url: &str, expected: Option<(&'static str, &[u8])>) {
            assert_eq!(decode_image(url), expected.map(|(ending, it)| (ending, it.to_vec())));
        }
        check("data:image/png;base64,aGk=", Some(("png", b"hi")));
        check("DATA:Image/JPEG;x=y;BASE64,aGk=", Some(("jpg", b"hi")));
        check("data:image/svg+xml;base64,aGk=", None);
        check("data:text/html;base64,aGk=", None);
        check("data:image/png,hi", None);
        check("data:image/png;base64,", None);
        check("data:image/png;base64,a*k=", None);
        check("https://host.example/a.png", None);
        check("", None);
    }
}
