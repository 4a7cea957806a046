//! Tool output for the user, as files of the turn and as events.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use csv_agent_chart::ChartStyle;
use csv_agent_types::chart::{Chart, ChartRejected, ChartSpec, RejectedCode};
use csv_agent_types::directory;
use csv_agent_types::event::{Artifact, Body, ChartDrawn, DataFrame, Encoding, Shown};
use csv_agent_types::frame::Frame;
use csv_agent_types::limits::{SLUG_CHARS_MAX, SLUGS_PER_TURN_MAX, WORKER_FILE_BYTES_MAX};

/// Where the files of a turn are stored, and where the worker leaves its own.
#[derive(Debug, Clone, Copy)]
pub struct TurnFiles<'a> {
    /// The base directory of paths in events.
    pub session_dir: &'a Path,
    /// Below `session_dir`; gets the subdirectories `tables/` and `charts/`.
    pub turn_dir: &'a Path,
    /// The directory that the worker may write, and therefore untrusted.
    pub scratch: &'a Path,
    /// The style of drawn charts.
    pub chart_style: ChartStyle,
}

impl TurnFiles<'_> {
    /// Stores what a tool shows and returns the event that reports it.
    ///
    /// The Parquet file of a table is moved to `tables/`, unread. A chart is drawn to `charts/` as SVG
    /// and PNG, next to its spec and data as JSON and a Vega-Lite specification; one that cannot be drawn is reported as rejected. No
    /// file replaces another: a name already in use gets a number.
    ///
    /// # Errors
    ///
    /// Fails when a file cannot be written, or the worker's file is not a regular file of its own with
    /// a plain name in `scratch`.
    pub fn store(&self, call_id: &str, shown: Shown) -> anyhow::Result<Body> {
        match shown {
            Shown::Table { df_name, logical_name, frame, file } => {
                let artifact = match file {
                    Some(file) => Some(self.take_table(&logical_name, &file)?),
                    None => None,
                };
                Ok(data_frame(call_id, df_name, logical_name, frame, artifact))
            }
            Shown::Chart(chart) => {
                let chart = csv_agent_chart::summarised(chart);
                match csv_agent_chart::draw(&chart, self.chart_style) {
                    Ok(drawing) => self.store_chart(call_id, &chart, &drawing),
                    Err(error) => {
                        let rejected = ChartRejected {
                            code: RejectedCode::RenderFailed,
                            reason: format!("the chart cannot be drawn: {error:#}"),
                            limit: None,
                            actual: None,
                        };
                        Ok(chart_rejected(call_id, Box::new(chart.spec().clone()), rejected))
                    }
                }
            }
            Shown::Rejected { spec, rejected } => Ok(chart_rejected(call_id, spec, rejected)),
        }
    }

    /// Moves a file of the worker into the turn.
    fn take_table(&self, name: &str, file: &str) -> anyhow::Result<Artifact> {
        let directory = directory_in(self.turn_dir, "tables")?;
        let slug = free_slug(&directory, name, "table", &["parquet"])?;
        let target = directory.join(format!("{slug}.parquet"));
        take(self.scratch, file, &target)
            .with_context(|| format!("cannot take the table `{file}` from the worker"))?;
        let (bytes, sha256) = digest(&target)?;
        let path = relative(self.session_dir, &target)?;
        Ok(Artifact { format: "parquet".into(), path, width: None, height: None, bytes, sha256 })
    }

    fn store_chart(
        &self,
        call_id: &str,
        chart: &Chart,
        drawing: &csv_agent_chart::Drawing,
    ) -> anyhow::Result<Body> {
        let (spec, frame) = (chart.spec(), chart.frame());
        let directory = directory_in(self.turn_dir, "charts")?;
        let slug =
            free_slug(&directory, &spec.logical_name, "chart", &["json", "vl.json", "svg", "png"])?;
        let data = Value::Array(frame.objects());
        let alt = csv_agent_chart::alt(chart);
        let source = json!({"spec": spec, "alt": alt, "data": data});
        write_whole(&directory.join(format!("{slug}.json")), format!("{source}\n").as_bytes())?;
        let vega_lite = csv_agent_chart::vega_lite(chart);
        let text = format!("{vega_lite}\n");
        write_whole(&directory.join(format!("{slug}.vl.json")), text.as_bytes())?;
        let mut files = Vec::new();
        let svg = ("svg", drawing.svg.as_bytes(), drawing.svg_size);
        let png = ("png", drawing.png.as_slice(), drawing.png_size);
        for (format, bytes, (width, height)) in [svg, png] {
            let path = directory.join(format!("{slug}.{format}"));
            write_whole(&path, bytes)?;
            files.push(Artifact {
                format: format.into(),
                path: relative(self.session_dir, &path)?,
                width: Some(width),
                height: Some(height),
                bytes: bytes.len() as u64,
                sha256: format!("{:x}", Sha256::digest(bytes)),
            });
        }
        let spec = spec.clone();
        Ok(Body::Chart(Box::new(ChartDrawn {
            call_id: call_id.to_owned(),
            df_name: spec.df_name,
            logical_name: spec.logical_name,
            chart_type: spec.chart_type,
            title: spec.title,
            x_field: spec.x_field,
            x_label: spec.x_label,
            y_label: spec.y_label,
            series: spec.series,
            note: spec.note,
            data,
            row_count: frame.row_count,
            encoding: Encoding::Json,
            alt,
            files,
            options: spec.options,
            vega_lite: Some(vega_lite),
        })))
    }
}

/// Creates a directory of the turn that only the user can access.
pub(super) fn directory_in(turn_dir: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let directory = turn_dir.join(name);
    fs::create_dir_all(&directory)
        .and_then(|()| fs::set_permissions(&directory, Permissions::from_mode(0o700)))
        .with_context(|| format!("cannot make {}", directory.display()))?;
    Ok(directory)
}

/// Returns the path of a file of the turn, as used in events.
pub(super) fn relative(session_dir: &Path, path: &Path) -> anyhow::Result<String> {
    let path = path.strip_prefix(session_dir).context("the turn is not in its session")?;
    Ok(path.to_string_lossy().into_owned())
}

fn data_frame(
    call_id: &str,
    df_name: String,
    logical_name: String,
    frame: Frame,
    artifact: Option<Artifact>,
) -> Body {
    let dtypes = frame.columns.iter().cloned().zip(frame.dtypes.iter().map(|it| json!(it)));
    Body::DataFrame(DataFrame {
        call_id: call_id.to_owned(),
        df_name,
        logical_name,
        dtypes: dtypes.collect::<Map<_, _>>(),
        row_count: frame.row_count,
        rows: Value::Array(frame.objects()),
        rows_emitted: frame.rows.len() as u64,
        truncated: frame.is_truncated(),
        encoding: Encoding::Json,
        artifact,
        columns: frame.columns,
    })
}

fn chart_rejected(call_id: &str, spec: Box<ChartSpec>, rejected: ChartRejected) -> Body {
    Body::ChartRejected {
        call_id: call_id.to_owned(),
        logical_name: spec.logical_name.clone(),
        reason: rejected.reason,
        code: rejected.code,
        limit: rejected.limit,
        actual: rejected.actual,
        spec,
    }
}

/// Returns a file name for an untrusted name: lower-case letters and digits of any script, `_` and `-`.
/// With any of `extensions` it is unused in `directory`.
pub(super) fn free_slug(
    directory: &Path,
    name: &str,
    fallback: &str,
    extensions: &[&str],
) -> anyhow::Result<String> {
    let mut slug = String::new();
    for char in name.chars().flat_map(char::to_lowercase).take(SLUG_CHARS_MAX) {
        if char.is_alphanumeric() || char == '-' {
            slug.push(char);
        } else if !slug.is_empty() && !slug.ends_with('_') {
            slug.push('_');
        }
    }
    let slug = slug.trim_matches(['_', '-']);
    let slug = match slug {
        "" => fallback.to_owned(),
        // The session may be copied to a system where such a name is a device.
        slug if is_device(slug) => format!("{fallback}_{slug}"),
        slug => slug.to_owned(),
    };
    let numbered = (2..=SLUGS_PER_TURN_MAX).map(|it| format!("{slug}_{it}"));
    let is_free = |it: &String| {
        let taken = |extension: &&str| directory.join(format!("{it}.{extension}"));
        extensions.iter().all(|it| fs::symlink_metadata(taken(it)).is_err())
    };
    std::iter::once(slug.clone()).chain(numbered).find(is_free).with_context(|| {
        format!("{SLUGS_PER_TURN_MAX} files of the turn are called `{slug}` already")
    })
}

/// Returns whether Windows treats the name, whatever its extension, as a device.
fn is_device(slug: &str) -> bool {
    let numbered = |it: &str| matches!(it.as_bytes(), [b'0'..=b'9']);
    ["con", "prn", "aux", "nul"].contains(&slug)
        || ["com", "lpt"].iter().any(|it| slug.strip_prefix(it).is_some_and(numbered))
}

/// Moves the regular file `name` out of a directory that another process writes.
///
/// It is never opened through a link.
fn take(scratch: &Path, name: &str, target: &Path) -> anyhow::Result<()> {
    let mut components = Path::new(name).components();
    let is_plain = matches!(
        (components.next(), components.next()),
        (Some(Component::Normal(only)), None) if only == name
    );
    anyhow::ensure!(is_plain, "its name is not a plain file name");
    let source = scratch.join(name);
    let file = directory::open_file(&source)?;
    // A file with a second name could be a hard link to one that the worker may not read.
    anyhow::ensure!(file.metadata()?.nlink() == 1, "it has more than one name");
    // Copy: code that has a moved file open could still write to it.
    copy(file, target)?;
    Ok(fs::remove_file(&source)?)
}

fn copy(source: File, target: &Path) -> anyhow::Result<()> {
    let directory = target.parent().context("the target has no directory")?;
    let mut temporary = temporary_in(directory)?;
    let n_bytes = io::copy(&mut source.take(WORKER_FILE_BYTES_MAX + 1), &mut temporary)?;
    anyhow::ensure!(
        n_bytes <= WORKER_FILE_BYTES_MAX,
        "it has more than {WORKER_FILE_BYTES_MAX} bytes"
    );
    temporary.persist_noclobber(target)?;
    Ok(())
}

/// Writes a file that only the user can read, atomically.
fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let write = || -> anyhow::Result<()> {
        let directory = path.parent().context("the file has no directory")?;
        let mut temporary = temporary_in(directory)?;
        temporary.write_all(bytes)?;
        temporary.persist_noclobber(path)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Creates a file that only the user can read and that is removed unless it is persisted. After a kill,
/// its name shows the session that it may be removed.
pub(super) fn temporary_in(directory: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(".").suffix(".tmp").tempfile_in(directory)
}

/// Returns the size of a file and its SHA-256.
pub(super) fn digest(path: &Path) -> anyhow::Result<(u64, String)> {
    let read = || -> io::Result<(u64, String)> {
        let mut file = File::open(path)?;
        let mut sha256 = Sha256::new();
        let n_bytes = io::copy(&mut file, &mut sha256)?;
        Ok((n_bytes, format!("{:x}", sha256.finalize())))
    };
    read().with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    use serde_json::{Value, json};

    use super::TurnFiles;
    use csv_agent_chart::ChartStyle;
    use csv_agent_types::chart::{ChartSpec, ChartType, RejectedCode, Series};
    use csv_agent_types::event::{Body, Shown};
    use csv_agent_types::frame::Frame;

    struct Session {
        root: tempfile::TempDir,
        chart_style: ChartStyle,
    }

    impl Session {
        fn new() -> Session {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir_all(root.path().join("turns/0001")).unwrap();
            fs::create_dir_all(root.path().join("scratch")).unwrap();
            Session { root, chart_style: ChartStyle::default() }
        }

        fn path(&self, path: &str) -> PathBuf {
            self.root.path().join(path)
        }

        fn store(&self, shown: Shown) -> anyhow::Result<Body> {
            let (turn_dir, scratch) = (self.path("turns/0001"), self.path("scratch"));
            let files = TurnFiles {
                session_dir: self.root.path(),
                turn_dir: &turn_dir,
                scratch: &scratch,
                chart_style: self.chart_style,
            };
            files.store("c1", shown)
        }

        fn table(&self, name: &str, file: &str) -> anyhow::Result<Body> {
            self.store(Shown::Table {
                df_name: "df".into(),
                logical_name: name.into(),
                frame: frame(),
                file: Some(file.into()),
            })
        }
    }

    fn frame() -> Frame {
        Frame {
            columns: vec!["week".into(), "n".into()],
            dtypes: vec!["object".into(), "int64".into()],
            rows: vec![vec![json!("w1"), json!(1)], vec![json!("w2"), Value::Null]],
            row_count: 5,
        }
    }

    fn chart_spec() -> ChartSpec {
        ChartSpec {
            df_name: "df".into(),
            logical_name: "Sales / week".into(),
            chart_type: ChartType::Column,
            x_field: "week".into(),
            x_label: None,
            y_label: None,
            series: vec![Series { name: "n".into(), y_field: "n".into() }],
            title: None,
            note: None,
            options: None,
        }
    }

    #[test]
    fn a_table_is_moved_unread_and_each_has_a_name_of_its_own() {
        let session = Session::new();
        for (name, path) in [
            ("Q3 Change!", "turns/0001/tables/q3_change.parquet"),
            ("q3_change", "turns/0001/tables/q3_change_2.parquet"),
            ("../../x", "turns/0001/tables/x.parquet"),
            ("東京", "turns/0001/tables/東京.parquet"),
            ("///", "turns/0001/tables/table.parquet"),
            ("COM1", "turns/0001/tables/table_com1.parquet"),
        ] {
            fs::write(session.path("scratch/f1"), "no Parquet").unwrap();
            let Body::DataFrame(table) = session.table(name, "f1").unwrap() else { panic!() };
            let artifact = table.artifact.unwrap();
            assert_eq!((artifact.path.as_str(), artifact.bytes), (path, 10));
            let sha256 = "e79698f1d78944132a35e2f3945bb9d9650bae845235c4283db6257d9d33b08d";
            assert_eq!(artifact.sha256, sha256);
            assert_eq!(fs::read(session.path(path)).unwrap(), b"no Parquet");
            let mode = fs::metadata(session.path(path)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            assert!(!session.path("scratch/f1").exists());
            assert_eq!(table.rows, json!([{"week": "w1", "n": 1}, {"week": "w2", "n": null}]));
            assert_eq!((table.rows_emitted, table.row_count, table.truncated), (2, 5, true));
        }
    }

    #[test]
    fn only_a_regular_file_with_a_plain_name_is_taken() {
        let session = Session::new();
        fs::write(session.path("secret"), "secret").unwrap();
        symlink(session.path("secret"), session.path("scratch/link")).unwrap();
        fs::hard_link(session.path("secret"), session.path("scratch/hard")).unwrap();
        fs::create_dir(session.path("scratch/directory")).unwrap();
        let absolute = session.path("secret").display().to_string();
        for file in
            ["link", "hard", "directory", "../secret", "./link", "", "..", "missing", &absolute]
        {
            assert!(session.table("t", file).is_err(), "{file}");
        }
        assert_eq!(fs::read(session.path("secret")).unwrap(), b"secret");
        assert_eq!(fs::read_dir(session.path("turns/0001/tables")).unwrap().count(), 0);
    }

    #[test]
    fn a_chart_is_four_files_and_an_event() {
        let mut session = Session::new();
        session.chart_style.scale = 2;
        let frame = Frame { row_count: 2, ..frame() };
        let chart = chart_spec().check(frame).unwrap();
        let Body::Chart(chart) = session.store(Shown::Chart(chart)).unwrap() else { panic!() };
        let paths: Vec<_> = chart.files.iter().map(|it| it.path.as_str()).collect();
        let expected = ["svg", "png"].map(|it| format!("turns/0001/charts/sales_week.{it}"));
        assert_eq!(paths, expected);
        for file in &chart.files {
            let metadata = fs::metadata(session.path(&file.path)).unwrap();
            assert_eq!(metadata.len(), file.bytes);
            assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        }
        let sizes = chart.files.iter().map(|it| it.width.zip(it.height));
        assert!(sizes.eq([Some((600, 540)), Some((1200, 1080))]));
        let vega_lite = fs::read(session.path("turns/0001/charts/sales_week.vl.json")).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&vega_lite).ok(), chart.vega_lite);
        let source = fs::read(session.path("turns/0001/charts/sales_week.json")).unwrap();
        let source: Value = serde_json::from_slice(&source).unwrap();
        assert_eq!(source["spec"]["chart_type"], "column");
        assert_eq!(source["data"], json!([{"week": "w1", "n": 1}, {"week": "w2", "n": null}]));
    }

    #[test]
    fn a_histogram_keeps_its_bins_and_not_the_values() {
        let session = Session::new();
        let rows: Vec<_> = (0..5_000).map(|it| vec![json!(it % 40)]).collect();
        let frame = Frame {
            columns: vec!["n".into()],
            dtypes: vec!["int64".into()],
            row_count: 5_000,
            rows,
        };
        let chart_type = ChartType::Histogram;
        let spec =
            ChartSpec { chart_type, x_field: "n".into(), series: Vec::new(), ..chart_spec() };
        let chart = spec.check(frame).unwrap();
        let Body::Chart(event) = session.store(Shown::Chart(chart)).unwrap() else { panic!() };
        assert_eq!(event.data[0], json!({"from": 0.0, "to": 2.0, "rows": 250}));
        let drawn = event.chart().unwrap();
        assert_eq!(csv_agent_chart::alt(&drawn), event.alt);
        assert!(event.vega_lite.unwrap()["data"]["values"][0]["rows"] == 250.0);
    }

    #[test]
    fn a_rejected_chart_leaves_no_file() {
        let session = Session::new();
        let rejected = chart_spec().check(Frame { row_count: 300, ..frame() }).unwrap_err();
        let shown = Shown::Rejected { spec: Box::new(chart_spec()), rejected };
        let Body::ChartRejected { code, limit, actual, .. } = session.store(shown).unwrap() else {
            panic!()
        };
        assert_eq!((code, limit, actual), (RejectedCode::TooManyRows, Some(200), Some(300)));
        assert!(!session.path("turns/0001/charts").exists());
    }
}
