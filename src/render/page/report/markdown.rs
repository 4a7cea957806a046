//! A report as Markdown, which viewers and converters of documents read.

use csv_agent_chart::{ChartStyle, draw};
use csv_agent_text::{
    digits::{count, number},
    sanitize,
};
use csv_agent_types::event::{ChartDrawn, DataFrame, Encoding};
use csv_agent_types::limits::{REPORT_ROWS, REPORT_ROWS_MAX};

use super::{ReadAnswer, ReadPart, ReadReport, Report, day, finding, label};
use crate::answer::shown as shown_answer;
use crate::inert::{fence, markdown as inert, text as inert_text};
use crate::links::destination;
use crate::page::files::{picture_format, url};
use crate::page::words::line;
use crate::table;

/// A report as Markdown, with the pictures that it refers to.
pub struct MarkdownReport {
    /// The document.
    pub text: String,
    /// Each with its name and its PNG.
    pub pictures: Vec<(String, Vec<u8>)>,
}

/// Returns the report as Markdown. Pictures are files of the directory `beside`, or without one a part of
/// the text.
pub fn markdown(report: &Report, beside: Option<&str>) -> MarkdownReport {
    let read = ReadReport::of(report);
    let mut out = MarkdownWriter { text: String::new(), pictures: Vec::new(), beside };
    out.paragraph(&format!("# {}", inert(&read.title)));
    out.paragraph(&day(report.made));
    for part in &read.parts {
        match part {
            ReadPart::Text(text) => out.paragraph(text.trim()),
            ReadPart::Answer(it) => out.answer(it, report.has_code),
        }
    }
    out.paragraph("---");
    if !read.datasets.is_empty() {
        out.paragraph("## Data");
        let sources = read.sources();
        let lines =
            sources.map(|(name, about)| format!("- {}", inert_text(&format!("{name}: {about}"))));
        out.paragraph(&lines.collect::<Vec<_>>().join("\n"));
    }
    out.paragraph(&read.signature());
    MarkdownReport { text: out.text, pictures: out.pictures }
}

struct MarkdownWriter<'a> {
    text: String,
    pictures: Vec<(String, Vec<u8>)>,
    beside: Option<&'a str>,
}

impl MarkdownWriter<'_> {
    fn paragraph(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    fn answer(&mut self, it: &ReadAnswer, has_code: bool) {
        if let Some(heading) = &it.heading {
            self.paragraph(&format!("## {}", inert(&line(heading))));
        }
        if let Some(change) = it.change {
            self.paragraph(&format!("**{}**", change.headline()));
            let lines = change.differences.iter().map(|it| format!("- {}", inert(&line(it))));
            self.paragraph(&lines.collect::<Vec<_>>().join("\n"));
        }
        if let Some(assessment) = it.reply.assessment {
            self.paragraph(&format!("**Verdict: {}**", assessment.name()));
            let findings = it.reply.findings.iter();
            let lines = findings.map(|it| format!("- {}", inert_text(&finding(it))));
            self.paragraph(&lines.collect::<Vec<_>>().join("\n"));
        }
        for caveat in it.caveats() {
            self.paragraph(&format!("> {}", inert(&caveat)));
        }
        let whole = format!("turns/{:0>4}/reply.md", it.number);
        let text = shown_answer(it.reply.text.trim(), &whole);
        self.paragraph(&inert(&sanitize::for_terminal(&text)));
        for (at, chart) in it.told.charts.iter().enumerate() {
            self.chart(chart, &format!("{}-{}", it.id, at + 1));
        }
        for (at, file) in it.reply.files.iter().enumerate() {
            if let Some(content) = it.images.get(&file.artifact.path) {
                self.picture(&file.name, &format!("picture-{}-{}", it.id, at + 1), content.clone());
            }
        }
        for sent in &it.told.tables {
            self.table(sent);
        }
        if has_code {
            self.origin(it);
        }
    }

    fn chart(&mut self, chart: &ChartDrawn, id: &str) {
        let drawn = chart.chart().and_then(|it| draw(&it, ChartStyle::default()).ok());
        let Some(drawn) = drawn else {
            let name = inert_text(&label(&chart.logical_name));
            self.paragraph(&format!(
                "> The rows of the chart {name} are encrypted, or cannot be drawn."
            ));
            return;
        };
        self.picture(&chart.alt, &format!("chart-{id}"), drawn.png);
    }

    fn picture(&mut self, alt: &str, name: &str, content: Vec<u8>) {
        let (Some(format), Some(url)) = (picture_format(&content), url(&content)) else { return };
        let target = match self.beside {
            Some(dir) => {
                let name = format!("{name}.{format}");
                let target = destination(&format!("{dir}/{name}"));
                self.pictures.push((name, content));
                target
            }
            None => url,
        };
        self.paragraph(&format!("![{}]({target})", inert_text(&line(alt))));
    }

    fn table(&mut self, sent: &DataFrame) {
        let name = inert_text(&label(&sent.logical_name));
        if sent.encoding != Encoding::Json {
            self.paragraph(&format!("> The rows of the table {name} are encrypted."));
            return;
        }
        let mut first = sent.frame();
        let all = sent.frame();
        if REPORT_ROWS_MAX < first.rows.len() {
            first.rows.truncate(REPORT_ROWS);
        }
        self.paragraph(&format!("**{name}**"));
        self.paragraph(&table::markdown(&first));
        if (first.rows.len() as u64) < sent.row_count {
            let n_first = count(first.rows.len() as u64, "row");
            self.paragraph(&format!("The first {n_first} of {}.", number(sent.row_count)));
        }
        if first.rows.len() < all.rows.len() {
            let csv = sanitize::for_terminal(&table::delimited(&all, b','));
            let summary = format!("{} as CSV", count(all.rows.len() as u64, "row"));
            self.details(&summary, &fenced("csv", &csv));
        }
    }

    fn origin(&mut self, it: &ReadAnswer) {
        let mut parts = vec![inert_text(&it.origin())];
        parts.extend(
            it.code()
                .into_iter()
                .map(|(language, code)| fenced(language, &sanitize::for_terminal(code))),
        );
        self.details("How this was computed", &parts.join("\n\n"));
    }

    /// Adds what is closed at first, in viewers that can.
    fn details(&mut self, summary: &str, content: &str) {
        self.paragraph(&format!(
            "<details>\n<summary>{summary}</summary>\n\n{}\n\n</details>",
            content.trim_end()
        ));
    }
}

fn fenced(language: &str, text: &str) -> String {
    let fence = fence(text);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end())
}
