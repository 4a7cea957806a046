//! The user's reading options, as flags: stored with the dataset, to recognise when the same file is
//! read in the same way again.

use super::local_dates::DateOrder;
use super::number::DecimalMark;
use super::syntax::Escape;
use crate::options::Comments;
use crate::options::IngestOptions;

impl IngestOptions {
    /// Returns the given flags with their values: `--delimiter ;`.
    pub fn given(&self) -> Vec<String> {
        let char = |it: u8| char::from(it).to_string();
        let none = || "none".to_owned();
        let quote = self.quote.map(|it| it.char().map_or_else(none, char));
        let escape = self.escape.map(|it| match it {
            Escape::Doubled => "doubled".to_owned(),
            Escape::Char(escape) => char(escape),
            Escape::None => none(),
        });
        let comment = match self.comments {
            Comments::FindOut => None,
            Comments::None => Some(none()),
            Comments::Begin(char) => Some(char.to_string()),
        };
        let date_order = self.date_order.map(|it| match it {
            DateOrder::Dmy => "dmy",
            DateOrder::Mdy => "mdy",
            DateOrder::Ymd => "ymd",
        });
        let decimal = self.decimal.map(|it| match it {
            DecimalMark::Comma => ",",
            DecimalMark::Point => ".",
        });
        let widths: Vec<String> = self.widths.iter().map(ToString::to_string).collect();
        let values = [
            ("--delimiter", self.delimiter.as_ref().map(|it| it.escape_debug().to_string())),
            ("--quote", quote),
            ("--escape", escape),
            ("--encoding", self.encoding.clone()),
            ("--no-header", self.header.map(|_| String::new())),
            // The line offset of further tables identifies them.
            ("--tables", (self.all_tables && !self.is_further).then(|| "all".to_owned())),
            ("--columns", self.columns.map(|it| it.to_string())),
            ("--skip-rows", self.skip_lines.map(|it| it.to_string())),
            ("--comment", comment),
            ("--null", self.nulls.as_ref().map(|it| it.join(","))),
            ("--date-order", date_order.map(str::to_owned)),
            ("--decimal", decimal.map(str::to_owned)),
            ("--flatten", self.flatten.then(String::new)),
            ("--widths", (!self.widths.is_empty()).then(|| widths.join(","))),
        ];
        let dtypes = self.dtypes.iter().map(|(column, wanted)| {
            let value = format!("{column}={}", wanted.name());
            ("--dtype", Some(value))
        });
        let flags = values.into_iter().chain(dtypes);
        flags
            .filter_map(|(flag, value)| Some(format!("{flag} {}", value?).trim_end().to_owned()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::RequestedType;
    use crate::{Comments, DateOrder, DecimalMark, Escape, IngestOptions, Quote};
    use csv_agent_types::catalog::{ColumnSpan, DType};

    #[test]
    fn flags_are_shown_as_they_are_written() {
        assert_eq!(IngestOptions::default().given(), Vec::<String>::new());
        let options = IngestOptions {
            delimiter: Some("\t".to_owned()),
            quote: Some(Quote::None),
            escape: Some(Escape::Char(b'\\')),
            header: Some(false),
            columns: Some(ColumnSpan { first: 2, last: 4 }),
            skip_lines: Some(2),
            comments: Comments::Begin('#'),
            nulls: Some(vec!["NA".to_owned(), "-".to_owned()]),
            dtypes: vec![("zip".to_owned(), RequestedType::Type(DType::String))],
            date_order: Some(DateOrder::Dmy),
            decimal: Some(DecimalMark::Comma),
            ..IngestOptions::default()
        };
        let expected = "--delimiter \\t --quote none --escape \\ --no-header --columns 2-4 \
                        --skip-rows 2 --comment # --null NA,- --date-order dmy --decimal , --dtype zip=string";
        assert_eq!(options.given().join(" "), expected);
    }
}
