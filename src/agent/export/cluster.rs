//! What a program needs to read datasets of a Spark cluster: the code that csv-agent itself uses, and the
//! facts of each dataset.

use std::fmt::Write as _;

use serde_json::json;

use csv_agent_cluster::Endpoint;
use csv_agent_text::sanitize;
use csv_agent_types::catalog::{Catalog, Dataset, Remote, SparkSource};
use csv_agent_worker::CLUSTER_READING;

use super::literal;

/// The Python packages of Spark's client.
pub(super) const PACKAGES: [&str; 2] = ["pyarrow", "pyspark-client 4"];

/// The cluster that a program queries.
pub(super) struct Cluster {
    /// Without credentials.
    url: String,
    /// Sorted by name.
    pub datasets: Vec<There>,
}

/// A dataset of the cluster.
pub(super) struct There {
    pub name: String,
    /// Its path or table.
    pub what: String,
    /// A short description.
    pub about: String,
    /// Its facts, as a Python value.
    known: String,
}

impl Cluster {
    /// Returns the cluster of the datasets among `names`; None when the program queries none. With
    /// `has_session`, the program uses the Spark session itself and always queries one. Fails when the
    /// session's cluster address is invalid.
    pub(super) fn of(
        catalog: &Catalog,
        names: &[&str],
        has_session: bool,
    ) -> anyhow::Result<Option<Cluster>> {
        let Some((_, any)) = catalog.remote().next() else { return Ok(None) };
        let datasets: Vec<There> = catalog
            .iter()
            .filter(|it| names.contains(&it.0))
            .filter_map(|(name, it)| Some(There::of(name, it, it.remote()?)))
            .collect();
        // The displayed form of an endpoint contains no credentials.
        let url = Endpoint::parse(&any.endpoint)?.to_string();
        Ok((has_session || !datasets.is_empty()).then_some(Cluster { url, datasets }))
    }

    /// Returns the code that defines how datasets are read.
    pub(super) fn reading() -> String {
        format!("_READING = r'''{CLUSTER_READING}'''")
    }

    /// Returns the lines that start a Spark session and list the datasets. From then on `load` reads from
    /// the cluster.
    pub(super) fn begin(&self) -> String {
        let mut text = format!(
            "# SPARK_REMOTE names another cluster; a token comes from SPARK_CONNECT_AUTHENTICATE_TOKEN.\n\
             spark = _spark_at(os.environ.get(\"SPARK_REMOTE\", {}))\n_REMOTE = _placed(_PATHS, {{\n",
            literal::string(&self.url)
        );
        for There { name, known, .. } in &self.datasets {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "    {}: {known},", literal::string(name));
        }
        text += "})\n_load_here, load = load, _load_any\n";
        text
    }

    /// Returns the cluster's lines of the heading.
    pub(super) fn told(&self) -> String {
        let url = sanitize::one_line(&self.url);
        let mut text = format!(
            "\nIt uses the Spark cluster at {url}, or the one that SPARK_REMOTE names, with the token in\n\
             SPARK_CONNECT_AUTHENTICATE_TOKEN if it requires one. There it reads these paths and tables.\n\
             Arguments of the form NAME=PATH or NAME=TABLE replace them.\n"
        );
        for There { name, what, about, .. } in &self.datasets {
            let _ = write!(text, "\n  {name}  {} ({about})", sanitize::one_line(what));
        }
        text
    }
}

impl There {
    fn of(name: &str, dataset: &Dataset, remote: &Remote) -> There {
        let what = match &remote.source {
            SparkSource::Table { name } => name.clone(),
            SparkSource::Files { paths, .. } => paths.join(","),
        };
        let about = if remote.is_estimate { "about " } else { "" };
        let about = format!("{about}{} rows", dataset.row_count);
        let columns = dataset.columns.iter().map(|it| json!({"name": it.name, "dtype": it.dtype}));
        let columns: Vec<_> = columns.collect();
        let (source, readings) = (&remote.source, &remote.readings);
        let known = json!({"columns": columns, "remote": {"source": source, "readings": readings}});
        There { name: name.to_owned(), what, about, known: literal::laid_out(&known, 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::Cluster;

    #[test]
    fn the_text_that_reads_is_one_string_of_python() {
        assert_eq!(Cluster::reading().matches("'''").count(), 2);
    }
}
