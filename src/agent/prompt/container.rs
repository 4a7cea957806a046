//! The datasets' files in a container at the provider, each with how to read it.

use std::fmt::Write;

use csv_agent_ingest::reading_recipe;
use csv_agent_types::catalog::Catalog;

const HEAD: &str = "\
Files in the container, each with the line that reads it as the dataset is (import pandas as pd). If a path
does not exist, the provider has put something before the name: look for /mnt/data/*NAME.csv.
";

/// Writes a line for each dataset in at most `bytes_max` bytes. The text ends with a line feed.
pub fn files(catalog: &Catalog, bytes_max: usize) -> String {
    let mut text = HEAD.to_owned();
    if catalog.is_empty() {
        return String::new();
    }
    let mut n_left = 0;
    for (name, dataset) in catalog.iter() {
        let line = format!("- {}\n", reading_recipe(name, &dataset.columns));
        if text.len() + line.len() + REMARK_BYTES <= bytes_max {
            text.push_str(&line);
        } else {
            n_left += 1;
        }
    }
    if 0 < n_left {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "- and {n_left} more: /mnt/data/NAME.csv; read text columns with dtype \"str\""
        );
    }
    text
}

/// Bytes of the line that states what is left out.
const REMARK_BYTES: usize = 100;

#[cfg(test)]
mod tests {
    use super::files;
    use crate::prompt::tests::catalog;

    #[test]
    fn each_file_has_the_line_that_reads_it_as_far_as_there_is_room() {
        let catalog = catalog(&[("orders", &["day"]), ("sales", &["day"])]);
        let text = files(&catalog, 4_000);
        assert!(text.contains("\n- pd.read_csv(\"/mnt/data/orders.csv\""), "{text}");
        assert!(text.contains("\n- pd.read_csv(\"/mnt/data/sales.csv\""), "{text}");
        let text = files(&catalog, 350);
        assert!(
            text.ends_with(
                "- and 2 more: /mnt/data/NAME.csv; read text columns with dtype \"str\"\n"
            )
        );
        assert!(text.len() <= 350);
    }
}
