#!/usr/bin/env python3
"""Opens pages of `show --html` and reports in a real browser and checks what a reader could do, and what data must not.

    pip install playwright axe-core-python
    tests/page/check.py path/to/csv-agent [--chromium /usr/bin/chromium] [--pictures DIR]

The pages come from sessions that the binary itself makes in front of a scripted model: ten ordinary turns,
turns in which every name, cell, line of code, answer and error is hostile, and twenty turns of 2,000 rows.
It fails with the first thing that does not hold; the figures that it prints are sizes and times.
"""
import argparse
import sys
import tempfile
import time
from pathlib import Path

from axe_core_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

import sessions
from model import serve

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
SIZES = {"desktop": (1440, 900), "tablet": (1024, 768), "phone": (390, 844)}
OPENS_S_MAX = 4.0  # on two slow cores; a page of twenty full tables


class Reader:
    """A tab of the browser that takes note of whatever a page must not do."""

    def __init__(self, browser, path, part="", size="desktop", **more):
        width, height = SIZES[size]
        self.context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True, **more)
        self.page = self.context.new_page()
        self.wrong, self.asked = [], []
        self.page.on("console", lambda it: self.wrong.append(f"console: {it.text}"))
        self.page.on("pageerror", lambda it: self.wrong.append(f"error: {it}"))
        self.page.on("dialog", lambda it: (self.wrong.append("dialog"), it.dismiss()))
        self.page.on("request", lambda it: self.asked.append(it.url))
        self.url = path.as_uri()
        self.page.goto(self.url + part)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            others = [it for it in self.asked if it.split("#")[0] != self.url and not it.startswith("blob:")]
            assert not others, others
            assert not self.wrong, self.wrong
        self.context.close()

    def text(self, what):
        return self.page.locator(what).all_inner_texts()


def inert(browser, path):
    """Nothing of the data runs, loads, or becomes an element."""
    with Reader(browser, path) as reader:
        page = reader.page
        for tab in page.locator("article.open .tabs a").all():
            tab.click()
        page.evaluate("for (const it of document.querySelectorAll('article, section.panel')) it.classList.add('open')")
        page.evaluate("for (const it of document.querySelectorAll('details')) it.open = true")
        page.wait_for_timeout(300)
        assert page.evaluate("window.hit") is None
        for what in ["iframe", "object", "embed", "img", "link", "base", "form", "[onerror]", "[onload]", "[onclick]",
                     "[style]", "a[href^='javascript' i]", "a[href^='data' i]", "svg style", "svg script"]:
            assert page.locator(what).count() == 0, what
        assert page.locator("script").count() == 1 and page.locator("style").count() == 1
        ids = page.evaluate("Array.from(document.querySelectorAll('[id]'), (it) => it.id)")
        assert len(ids) == len(set(ids)), [it for it in ids if ids.count(it) > 1]
        broken = page.evaluate("""Array.from(document.querySelectorAll('a[href^="#"], use')).map((it) =>
            it.getAttribute('href').slice(1)).filter((it) => !document.getElementById(it))""")
        assert not broken, broken
        cells = page.evaluate("Array.from(document.querySelectorAll('figure.data td'), (it) => it.textContent)")
        for hostile in sessions.HOSTILE[:8]:
            assert hostile in cells, hostile
        seen = page.evaluate("document.body.textContent")
        assert not set(seen) & {sessions.BIDI, sessions.SEPARATOR, "\0", "\x1b", "\ufeff"}


def keyboard(browser, path):
    """Tabs as WAI-ARIA has them, a skip link, a focus that is seen."""
    with Reader(browser, path) as reader:
        page = reader.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.locator(".skip").bounding_box()["y"] >= 0
        page.goto(reader.url + "#turn-2")
        tabs = page.locator("#turn-2 [role=tab]")
        assert tabs.count() == 4
        tabs.nth(0).focus()
        for key, at in [("ArrowRight", 1), ("ArrowRight", 2), ("End", 3), ("ArrowRight", 0), ("ArrowLeft", 3), ("Home", 0)]:
            page.keyboard.press(key)
            assert tabs.nth(at).get_attribute("aria-selected") == "true", key
            assert page.evaluate("document.activeElement.id") == tabs.nth(at).get_attribute("id"), key
            assert [it.get_attribute("tabindex") for it in tabs.all()].count("0") == 1
            panel = page.locator("#" + tabs.nth(at).get_attribute("aria-controls"))
            assert panel.is_visible() and panel.get_attribute("role") == "tabpanel"
            assert page.locator("#turn-2 [role=tabpanel]:visible").count() == 1
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Tab")
        focused = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert focused == "solid", focused
        # Where the address says so, the page opens there.
        page.goto(reader.url + "#turn-3-code-call-2")
        assert page.locator("#turn-3-code").is_visible()
        page.locator(".turns a").nth(0).click()
        assert page.locator("article.turn:visible").get_attribute("id") == "turn-1"
        page.go_back()
        assert page.locator("article.turn:visible").get_attribute("id") == "turn-3"


def tables(browser, workshop, path):
    """Sorting by value with nulls last, paging, finding, and CSV that is the binary's own."""
    with Reader(browser, path, "#turn-1-data") as reader:
        page, figure = reader.page, "#turn-1-table-1"
        column = lambda at: reader.text(f"{figure} tbody tr.on td:nth-child({at})")
        sort = lambda at: page.locator(f"{figure} th:nth-child({at}) button").click()
        order = lambda at: page.locator(f"{figure} th:nth-child({at})").get_attribute("aria-sort")
        told = lambda: page.locator(f"{figure} .told").inner_text()
        assert told() == "Rows 1–21 of 21"
        sort(2)
        assert order(2) == "ascending"
        numbers = [it for it in column(2) if it]
        assert [float(it) for it in numbers] == sorted(float(it) for it in numbers) and column(2)[-1] == ""
        sort(2)
        assert order(2) == "descending" and column(2)[0] == numbers[-1] and column(2)[-1] == ""
        sort(2)
        assert order(2) == "none" and column(3)[0] == "100000000000000000"
        sort(3), sort(3)
        digits = [int(it.replace(",", "")) for it in column(3)]
        assert digits == sorted(digits, reverse=True) and len(set(digits)) == len(digits)
        sort(5)
        assert column(5) == [str(it) for it in range(21)], column(5)
        page.locator(f"{figure} input").fill("ONERROR")
        page.wait_for_timeout(250)
        assert told() == "Rows 1–1 of 1 found in 21", told()
        # The other table has whole cells only.
        with page.expect_download() as download:
            page.locator("#turn-1-table-2 button", has_text="CSV").click()
        ours = workshop.run("hostile", "show", "1", "--format", "csv", "--table", sessions.HOSTILE[0])
        saved = Path(download.value.path()).read_bytes()
        assert saved == ours.encode(), (saved, ours)
    with Reader(browser, workshop.home / "ordinary.html", "#turn-9-data") as reader:
        page, figure = reader.page, "#turn-9-table-1"
        told = lambda: page.locator(f"{figure} .told").inner_text()
        press = lambda name: page.locator(f"{figure} .controls button", has_text=name)
        assert told() == "Rows 1–25 of 336" and press("Previous").is_disabled()
        page.locator(f"{figure} select").select_option("100")
        for _ in range(3):
            press("Next").click()
        assert told() == "Rows 301–336 of 336" and press("Next").is_disabled()
        assert page.locator(f"{figure} tbody tr:visible").count() == 36
        with page.expect_download() as download:
            press("CSV").click()
        ours = workshop.run("ordinary", "show", "9", "--format", "csv")
        assert Path(download.value.path()).read_bytes() == ours.encode()


def without_script(browser, path):
    """All of it can be read: every turn, part and row."""
    with Reader(browser, path, java_script_enabled=False) as reader:
        page = reader.page
        n_turns = page.locator("article.turn").count()
        assert n_turns == 10 and page.locator("article.turn:visible").count() == n_turns
        assert page.locator("section.panel:visible").count() == 4 * n_turns
        assert page.locator("#turn-9-table-1 tbody tr:visible").count() == 336
        assert page.locator("button:visible").count() == 0


def accessible(browser, path, pictures):
    """No finding of axe in any part, in light and dark, at any width."""
    axe = Axe()
    for scheme in ["light", "dark"]:
        for size in SIZES:
            for turn in [2, 3, 5]:
                for part in ["summary", "data", "charts", "code"]:
                    with Reader(browser, path, f"#turn-{turn}-{part}", size, color_scheme=scheme) as reader:
                        found = axe.run(reader.page, options=RULES)["violations"]
                        told = [(it["id"], [node["html"][:200] for node in it["nodes"]][:3]) for it in found]
                        assert not told, (scheme, size, turn, part, told)
                        wide = reader.page.evaluate("document.documentElement.scrollWidth - innerWidth")
                        assert wide <= 0, (size, turn, part, wide)
                        if pictures:
                            reader.page.screenshot(path=pictures / f"{turn}-{part}-{size}-{scheme}.png")


def forced(browser, path):
    """Where the reader's own colours rule, what is chosen is still told apart."""
    with Reader(browser, path, "#turn-2-data", forced_colors="active") as reader:
        colours = lambda what, edge: reader.page.evaluate(
            "([what, edge]) => Array.from(document.querySelectorAll(what), (it) => getComputedStyle(it)[edge])",
            [what, edge])
        for what, edge, at in [("#turn-2 [role=tab]", "borderBottomColor", 1), (".turns a", "borderLeftColor", 1)]:
            found = colours(what, edge)
            assert found.count(found[at]) == 1 and len(set(found)) == 2, (what, found)


def printed(browser, path, pictures, home):
    """On paper there are all turns and parts, whole tables up to the bound, and no controls."""
    with Reader(browser, path, "#turn-2-charts", color_scheme="dark") as reader:
        page = reader.page
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("article.turn:visible").count() == 10
        # In a header stands the name of the column, which is a button to sort by.
        assert page.locator("button:visible").count() == page.locator("th button:visible").count()
        assert page.locator("#turn-2 section.panel:visible").count() == 4
        assert page.locator("#turn-9-table-1 tbody tr:visible").count() == 200
        assert page.locator("#turn-2-table-1 tbody tr:visible").count() == 12
        pdf = (pictures or home) / "printed.pdf"
        page.pdf(path=pdf, prefer_css_page_size=True)
        assert pdf.read_bytes().startswith(b"%PDF")


def opened(browser, path):
    """The page opens at the first turn. On a phone and on paper, the activity is out of the way."""
    for size, is_seen in [("desktop", True), ("tablet", True), ("phone", False)]:
        with Reader(browser, path, size=size) as reader:
            page = reader.page
            assert page.locator("article.turn:visible").get_attribute("id") == "turn-1", size
            assert page.locator("#turn-1 .activity .steps").is_visible() == is_seen, size
            assert page.locator("#turn-1 .activity summary").first.is_visible(), size
            page.emulate_media(media="print")
            assert page.locator(".activity:visible").count() == 0, size


def reported(browser, workshop, pictures):
    """A report reads without a script, is accessible, opens its long tables, saves them, and prints in a browser's PDF."""
    path = workshop.report("ordinary")
    with Reader(browser, path, java_script_enabled=False) as reader:
        assert reader.page.locator("section:visible").count() > 1 and reader.page.locator("button:visible").count() == 0
    axe = Axe()
    for scheme in ["light", "dark"]:
        for size in SIZES:
            with Reader(browser, path, size=size, color_scheme=scheme) as reader:
                page = reader.page
                page.evaluate("for (const it of document.querySelectorAll('details.origin')) it.open = true")
                found = axe.run(page, options=RULES)["violations"]
                told = [(it["id"], [node["html"][:200] for node in it["nodes"]][:3]) for it in found]
                assert not told, (scheme, size, told)
                assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, size
                if pictures:
                    page.screenshot(path=pictures / f"report-{size}-{scheme}.png", full_page=True)
    with Reader(browser, path) as reader:
        page, figure = reader.page, reader.page.locator("figure.long").last
        rows = figure.locator("tbody tr:visible")
        assert rows.count() == 15
        figure.locator("details.rows summary").click()
        assert rows.count() == 336
        page.emulate_media(media="print")
        assert rows.count() == 336 and page.locator("button:visible").count() == 0
        figure.locator("details.rows").evaluate("it => it.open = false")
        assert rows.count() == 15 and figure.locator(".first").is_visible()
        page.emulate_media(media="screen")
        with page.expect_download() as download:
            figure.locator("button", has_text="CSV").click()
        assert Path(download.value.path()).read_bytes() == workshop.run("ordinary", "show", "9", "--format", "csv").encode()
    with Reader(browser, workshop.report("hostile")) as reader:
        page = reader.page
        page.evaluate("for (const it of document.querySelectorAll('details')) it.open = true")
        page.wait_for_timeout(300)
        assert page.evaluate("window.hit") is None
        for what in ["iframe", "object", "img", "link", "form", "[onerror]", "[onload]", "[onclick]", "[style]"]:
            assert page.locator(what).count() == 0, what
        cells = page.evaluate("Array.from(document.querySelectorAll('td'), (it) => it.textContent)")
        for hostile in sessions.HOSTILE[:8]:
            assert hostile in cells, hostile
        assert not set(page.evaluate("document.body.textContent")) & {sessions.BIDI, sessions.SEPARATOR, "\0", "\x1b"}
    pdf = workshop.report("ordinary", ending="pdf").read_bytes()
    assert pdf.startswith(b"%PDF") and pdf.count(b"/Type /Page\n") + pdf.count(b"/Type/Page/") != 1
    if pictures:
        (pictures / "report.pdf").write_bytes(pdf)


def quick(browser, path):
    """Twenty turns of 2,000 rows open while one waits, and sort at once."""
    with Reader(browser, path) as reader:
        opened = reader.page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd") / 1000
        started = time.perf_counter()
        reader.page.locator("#turn-1 [role=tab]").nth(1).click()
        reader.page.locator("#turn-1-table-1 th:nth-child(5) button").click()
        reader.page.locator("#turn-1-table-1 [aria-sort=ascending]").wait_for()
        sorted_s = time.perf_counter() - started
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, opens in {opened:.2f} s, sorts in {sorted_s:.2f} s")
        assert opened < OPENS_S_MAX, opened


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--pictures", type=Path)
    given = parser.parse_args()
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, serve() as server, sync_playwright() as playwright:
        workshop = sessions.Workshop(given.binary, server, home)
        pages = {make.__name__: workshop.page(make(workshop), "all")
                 for make in (sessions.ordinary, sessions.hostile, sessions.large)}
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        for name, check in {
            "inert": lambda: inert(browser, pages["hostile"]),
            "opened": lambda: opened(browser, pages["ordinary"]),
            "keyboard": lambda: keyboard(browser, pages["ordinary"]),
            "tables": lambda: tables(browser, workshop, pages["hostile"]),
            "without script": lambda: without_script(browser, pages["ordinary"]),
            "accessible": lambda: accessible(browser, pages["ordinary"], given.pictures),
            "forced": lambda: forced(browser, pages["ordinary"]),
            "printed": lambda: printed(browser, pages["ordinary"], given.pictures, workshop.home),
            "reported": lambda: reported(browser, workshop, given.pictures),
            "quick": lambda: quick(browser, pages["large"]),
        }.items():
            check()
            print(f"{name}: holds")
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
