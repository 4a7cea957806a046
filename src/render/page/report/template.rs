//! A report as its author writes it: Markdown with questions in fenced blocks.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use crate::terminal_markdown::options;

/// The language of a block that is a question.
const LANGUAGE: &str = "csv-agent";

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplatePart {
    /// Markdown.
    Text(String),
    /// A question, and the line on which its block begins.
    Question(String, usize),
}

/// What is wrong with a template, and the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// The first line is 1.
    pub line: usize,
    /// What was found there.
    pub found: &'static str,
}

/// A template that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The heading of level 1 at its beginning, which is not among the parts.
    pub title: Option<String>,
    /// In order.
    pub parts: Vec<TemplatePart>,
}

/// Reads a template.
///
/// # Errors
///
/// Fails when a question is empty, or within a list or a quotation.
pub fn template(text: &str) -> Result<Template, TemplateError> {
    let between = |begin: usize, end: usize| text[begin..end].trim_matches('\n').to_owned();
    let line_of = |at: usize| text[..at].matches('\n').count() + 1;
    let mut parts = Vec::new();
    let (mut title, mut begin, mut depth) = (None, 0, 0);
    let mut question: Option<String> = None;
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info)))
                if info.split_whitespace().next() == Some(LANGUAGE) =>
            {
                if 0 < depth {
                    let found = "a question in a list or a quotation";
                    return Err(TemplateError { line: line_of(range.start), found });
                }
                question = Some(String::new());
                depth += 1;
            }
            Event::Text(text) => question.iter_mut().for_each(|it| it.push_str(&text)),
            Event::End(TagEnd::CodeBlock) if question.is_some() => {
                depth -= 1;
                let asked = question.take().unwrap_or_default().trim().to_owned();
                let line = line_of(range.start);
                if asked.is_empty() {
                    return Err(TemplateError { line, found: "an empty question" });
                }
                parts.push(TemplatePart::Text(between(begin, range.start)));
                parts.push(TemplatePart::Question(asked, line));
                begin = range.end;
            }
            Event::End(TagEnd::Heading(level)) => {
                depth -= 1;
                if level as usize == 1 && text[..range.start].trim().is_empty() {
                    title = Some(heading(&text[range.clone()]));
                    begin = range.end;
                }
            }
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    parts.push(TemplatePart::Text(between(begin, text.len())));
    parts.retain(|it| !matches!(it, TemplatePart::Text(text) if text.trim().is_empty()));
    Ok(Template { title, parts })
}

/// Returns the words of a heading, without its signs.
fn heading(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.trim_start_matches('#').trim_end_matches('#').trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Template, TemplateError, TemplatePart, template};

    fn text(it: &str) -> TemplatePart {
        TemplatePart::Text(it.to_owned())
    }

    fn question(it: &str, line: usize) -> TemplatePart {
        TemplatePart::Question(it.to_owned(), line)
    }

    #[track_caller]
    fn check(markdown: &str, title: Option<&str>, parts: &[TemplatePart]) {
        let title = title.map(str::to_owned);
        assert_eq!(template(markdown), Ok(Template { title, parts: parts.to_vec() }));
    }

    #[test]
    fn questions_are_in_fenced_blocks_of_their_language() {
        let markdown = "# Orders #\n\nBy *region*.\n\n```csv-agent\namount by region\n```\n\n- a\n\n\
                        ~~~ csv-agent\ntwo\nlines\n~~~\n";
        let parts = [
            text("By *region*."),
            question("amount by region", 5),
            text("- a"),
            question("two\nlines", 11),
        ];
        check(markdown, Some("Orders"), &parts);
    }

    #[test]
    fn other_code_is_text() {
        check("```sql\nselect 1\n```", None, &[text("```sql\nselect 1\n```")]);
        check(
            "````\n```csv-agent\nx\n```\n````",
            None,
            &[text("````\n```csv-agent\nx\n```\n````")],
        );
        check("", None, &[]);
    }

    #[test]
    fn a_question_that_cannot_be_replaced_is_refused_with_its_line() {
        let nested = "a\n\n- b\n\n  ```csv-agent\n  x\n  ```\n";
        let found = "a question in a list or a quotation";
        assert_eq!(template(nested), Err(TemplateError { line: 5, found }));
        let found = "an empty question";
        assert_eq!(template("```csv-agent\n\n```"), Err(TemplateError { line: 1, found }));
    }
}
