//! Pages of turns: whole, of one piece, and whatever the data holds is text.
//!
//! What a browser makes of them is checked by `tests/page/check.py`, with a browser.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use html5gum::emitters::default::DefaultEmitter;
use html5gum::{Token, Tokenizer};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::bench::{Bench, round};

/// Each would run, load or hide something if it were taken for more than text.
pub const HOSTILE: [&str; 9] = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "<svg onload=alert(3)><style>*{display:none}</style>",
    "</td></tr></table></section></article><h1>out</h1>",
    "--><!-- ]]>",
    "&lt;b&gt; &#0; &amp;",
    "\" onclick=\"alert(4)\" x='",
    "safe\u{202e}fdp.exe one\u{2028}two",
    "javascript:alert(5)",
];

/// Elements that a page may have. Pictures are in it; nothing else of them loads anything.
const ELEMENTS: &str = "html head meta title style script body header main nav aside article section footer figure \
    figcaption details summary div span p a h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table caption thead tbody tr th td \
    pre code em strong b s blockquote hr br wbr bdi time button img svg use desc g rect line path circle polyline polygon text";

/// A page as a browser's tokenizer sees it.
pub struct Page {
    /// Each with its attributes.
    elements: Vec<(String, BTreeMap<String, String>)>,
    /// One after another, each with the element that was begun before it, if none was ended since.
    texts: Vec<(String, String)>,
}

impl Page {
    /// Writes the page of these turns and reads it back.
    #[track_caller]
    pub fn of(bench: &Bench, turns: &[&str]) -> Page {
        let path = bench.path("page.html");
        let given = turns.iter().copied().chain(["--html", "page.html"]);
        let run = bench.run(["show"].into_iter().chain(given)).succeeds();
        assert_eq!(run.stdout(), "");
        Page::read(&fs::read_to_string(path).unwrap())
    }

    pub fn read(html: &str) -> Page {
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        let mut page = Page { elements: Vec::new(), texts: Vec::new() };
        let text = |it: &[u8]| String::from_utf8(it.to_vec()).unwrap();
        let mut last = String::new();
        let mut is_going_on = false;
        for token in Tokenizer::new_with_emitter(html, emitter) {
            let token = token.unwrap();
            let was_text = std::mem::replace(&mut is_going_on, matches!(token, Token::String(_)));
            match token {
                Token::StartTag(tag) => {
                    last = text(&tag.name);
                    let attributes = tag.attributes.iter().map(|(name, it)| (text(name), text(it)));
                    page.elements.push((last.clone(), attributes.collect()));
                }
                Token::String(it) if was_text => page.texts.last_mut().unwrap().1 += &text(&it),
                Token::String(it) => page.texts.push((last.clone(), text(&it))),
                Token::Comment(it) => panic!("a comment: {it:?}"),
                Token::Error(error) => panic!("no HTML: {error:?}"),
                Token::EndTag(_) => last.clear(),
                Token::Doctype(_) => {}
            }
        }
        page
    }

    /// Returns the texts of elements of a name.
    pub fn texts(&self, name: &str) -> Vec<&str> {
        self.texts.iter().filter(|it| it.0 == name).map(|it| it.1.as_str()).collect()
    }

    /// Returns how many elements of a name have this class, or any when none is given.
    pub fn count(&self, name: &str, class: Option<&str>) -> usize {
        let has = |it: &BTreeMap<String, String>| match class {
            None => true,
            Some(class) => it.get("class").is_some_and(|it| it.split(' ').any(|it| it == class)),
        };
        self.elements.iter().filter(|(it, attributes)| it == name && has(attributes)).count()
    }

    /// Returns what pictures are said to show.
    pub fn pictures(&self) -> Vec<&str> {
        let pictures = self.elements.iter().filter(|it| it.0 == "img");
        pictures.map(|it| it.1["alt"].as_str()).collect()
    }

    /// Returns all text but the script and the style.
    pub fn words(&self) -> String {
        let texts = self.texts.iter().filter(|it| it.0 != "script" && it.0 != "style");
        texts.map(|it| it.1.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Demands that nothing but the page's own script runs, nothing is loaded, and links lead to the page or
    /// the web.
    #[track_caller]
    pub fn is_inert(&self) {
        let known: BTreeSet<&str> = ELEMENTS.split_whitespace().collect();
        let mut ids = BTreeSet::new();
        for (name, attributes) in &self.elements {
            assert!(known.contains(name.as_str()), "<{name}>");
            for (attribute, value) in attributes {
                if name == "img" && attribute == "src" {
                    assert!(value.starts_with("data:image/png;base64,"), "{value}");
                    continue;
                }
                let is_refused = attribute.starts_with("on")
                    || ["src", "srcset", "style", "action", "data", "xlink:href"]
                        .contains(&attribute.as_str());
                assert!(!is_refused, "<{name} {attribute}>");
                if attribute == "href" {
                    let is_good = ["#", "https://", "http://", "mailto:"]
                        .iter()
                        .any(|it| value.starts_with(it));
                    assert!(is_good, "{value}");
                }
                if attribute == "id" {
                    assert!(ids.insert(value.clone()), "twice `{value}`");
                }
            }
        }
        let policy = self.elements.iter().find(|it| it.1.contains_key("http-equiv")).unwrap();
        let policy = &policy.1["content"];
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        let has_pictures = !self.pictures().is_empty();
        assert_eq!(policy.contains("img-src data:; "), has_pictures, "{policy}");
        for name in ["script", "style"] {
            let [only] = self.texts(name)[..] else { panic!("one {name}") };
            let digest = STANDARD.encode(Sha256::digest(only));
            assert!(policy.contains(&format!("{name}-src 'sha256-{digest}'")), "{policy}");
        }
        let links = self.elements.iter().filter_map(|it| it.1.get("href")?.strip_prefix('#'));
        let missing: Vec<&str> = links.filter(|it| !ids.contains(*it)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let hidden = ['\0', '\u{202e}', '\u{2028}', '\x1b'];
        assert!(!self.words().contains(hidden));
    }
}

fn send(name: &str) -> serde_json::Value {
    json!({"df_name": "by", "logical_name": name})
}

fn plot(name: &str, x_field: &str, y_field: &str) -> serde_json::Value {
    json!({"df_name": "by", "logical_name": name, "chart_type": "column", "x_field": x_field,
        "x_label": name, "y_label": name, "series": [{"name": name, "y_field": y_field}],
        "title": name, "note": name})
}

const BY_PRODUCT: &str = "by = load('sales').groupby('product', as_index=False).revenue.sum()";

#[test]
fn a_page_has_the_answer_its_tables_and_charts_and_the_code() {
    let bench = Bench::with(["sales.csv"]).script([
        round().runs("c1", BY_PRODUCT),
        round().runs("c2", "by.nothing"),
        round().calls("c3", "send_data_to_ui_as_df", send("by product")).calls(
            "c4",
            "send_chart_to_ui",
            plot("revenue", "product", "revenue"),
        ),
        round().says("It is **all** there."),
    ]);
    bench.ask("Revenue by product?").succeeds();
    let page = Page::of(&bench, &[]);
    page.is_inert();
    // Drawings have titles too.
    assert_eq!(page.texts("title")[0], "Revenue by product? · csv-agent");
    assert_eq!(page.texts("strong"), ["all"]);
    assert_eq!(page.count("section", Some("panel")), 4);
    assert_eq!((page.count("figure", Some("data")), page.count("figure", Some("chart"))), (1, 1));
    // The table and the plotted rows.
    assert_eq!((page.count("table", None), page.count("th", None)), (2, 4));
    let words = page.words();
    for told in
        [BY_PRODUCT, "AttributeError", "turns/0001/tables/by_product.parquet", "4 requests to"]
    {
        assert!(words.contains(told), "{told}: {words}");
    }
}

#[test]
fn whatever_data_and_models_hold_is_text() {
    let cells = serde_json::to_string(&HOSTILE).unwrap();
    let code = format!(
        "by = pd.DataFrame({{'a': {cells} + ['nul\\0', None, 'x' * 100_000]}})\n\
         by[{name}] = range(len(by)); by[{other}] = by.a\nby.a",
        name = json!(HOSTILE[0]),
        other = json!(HOSTILE[1]),
    );
    let answer = format!(
        "{}\n\n[a](javascript:alert(6)) ![b](https://x.example/b.png)",
        HOSTILE.join("\n\n")
    );
    let mut rounds = vec![round().thinks_aloud(HOSTILE[0]).runs("c1", &code)];
    for (at, name) in HOSTILE.iter().enumerate() {
        let (table, chart) = (format!("t{at}"), format!("g{at}"));
        rounds.push(round().calls(&table, "send_data_to_ui_as_df", send(name)).calls(
            &chart,
            "send_chart_to_ui",
            plot(name, HOSTILE[1], HOSTILE[0]),
        ));
    }
    rounds.push(round().runs("e1", &format!("raise ValueError({})", json!(HOSTILE[2]))));
    rounds.push(
        round().calls_raw("e2", HOSTILE[1], HOSTILE[0]).calls_raw("e3", "python_repl", HOSTILE[3]),
    );
    rounds.push(round().says(&answer));
    let bench = Bench::with([]).script(rounds);
    let file = format!("{}.csv", HOSTILE[1]);
    fs::write(bench.path(&file), format!("a,\"{}\"\n1,2\n", HOSTILE[0])).unwrap();
    bench.run(["ingest", &file, "--name", "data"]).succeeds();
    bench.run(["ask", "--max-rounds", "20", "--", HOSTILE[0]]).succeeds();
    let page = Page::of(&bench, &["all"]);
    page.is_inert();
    let cells = page.texts("td");
    for text in &HOSTILE[..7] {
        assert!(cells.contains(text), "{text}: {cells:?}");
    }
    assert_eq!(page.count("figure", Some("data")), HOSTILE.len());
    assert!(page.words().contains("cut at 2,000 characters"));
}

#[test]
fn a_page_of_all_turns_has_those_that_failed_and_what_was_kept_back() {
    let bench = Bench::with(["sales.csv"]).script([
        round().says("One."),
        round().answers(400, r#"{"error": {"message": "no such <model>"}}"#),
        round().says("Three."),
    ]);
    bench.ask("one?").succeeds();
    bench.ask("two?").fails_with(6);
    bench.ask_with(["--redact", "product"], "three?").succeeds();
    let events = bench.session().join("turns/0001/events.jsonl");
    let whole = fs::read_to_string(&events).unwrap();
    let (before, _) = whole.trim_end().rsplit_once('\n').unwrap();
    fs::write(&events, format!("{before}\n")).unwrap();
    let page = Page::of(&bench, &["all"]);
    page.is_inert();
    assert_eq!(page.count("article", None), 3);
    let first = page.elements.iter().find(|it| it.0 == "article").unwrap();
    assert_eq!(first.1["class"], "turn open");
    assert_eq!(page.count("article", Some("open")), 1);
    let words = page.words();
    for told in ["Interrupted", "no such <model>", "Three.", "The values of product."] {
        assert!(words.contains(told), "{told}: {words}");
    }
    // Some of them are as well.
    assert_eq!(Page::of(&bench, &["3", "last", "1"]).count("article", None), 2);
}

#[test]
fn a_page_is_written_whole_where_it_is_asked_for() {
    let bench = Bench::with(["sales.csv"]).script([round().says("Yes.")]);
    bench.ask("Is it?").succeeds();
    let run = bench.run(["show", "--html", "-"]).succeeds();
    assert!(run.stdout().starts_with("<!DOCTYPE html><html lang=\"en\">"), "{run}");
    bench.run(["show", "--html", "no/such/page.html"]).fails_with(5);
    for format in [["--format", "md"], ["--output", "x.md"], ["--table", "t"]] {
        bench.run(["show", "--html", "page.html"].into_iter().chain(format)).fails_with(2);
    }
    assert!(!bench.path("page.html").exists());
    let run = bench.run(["show", "all"]).fails_with(2);
    assert!(run.stderr().contains("write a page of them: `--html FILE`"), "{run}");
    bench.run(["show", "7", "--html", "page.html"]).fails_with(5);
}
