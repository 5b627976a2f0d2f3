"""Drives the page of a run in Chromium: `python -m benchmarks.page page.html [--axe axe.min.js]`.

It opens the page, filters, follows deep links, types keys, copies, prints, narrows the window,
turns dark, turns JavaScript off, and measures the contrast of every text. A page of 500 claims is
timed. Exit code 1 where something fails. Pictures go to `--pictures FOLDER`. It installs nothing:
where there is no Chromium it says so and ends with 2.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from attsvm.theory.record.ledger import Run
from attsvm.theory.report.page import page
from benchmarks.page.browser import Browser, found

_CONTRAST = """
(() => {
  const light = (c) => { const [r, g, b] = c.map((x) => { x /= 255;
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const ground = (at) => { for (; at; at = at.parentElement) {
    const c = parts(getComputedStyle(at).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
  const bad = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode());) {
    const of = node.parentElement;
    if (!node.data.trim() || !of.checkVisibility() || of.closest("svg, script, style")) continue;
    const [a, b] = [light(parts(getComputedStyle(of).color)), light(ground(of))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${of.tagName}.${of.className} ${ratio.toFixed(2)}`);
  }
  return [...new Set(bad)];
})()
"""
_NAMELESS = """
[...document.querySelectorAll("a, button, input, select, summary")].filter((e) =>
  !(e.textContent.trim() || e.getAttribute("aria-label") || e.closest("label"))).length
"""
_SHOWN = "document.querySelectorAll('.statement:not([hidden])').length"
_OPEN = """
[...document.querySelectorAll("details")].filter((d) => !d.closest(".statement"))
  .concat([...document.querySelectorAll(".statement")].slice(0, 8)
    .flatMap((card) => [...card.querySelectorAll("details")]))
  .forEach((d) => { d.open = true; })
"""
"""Opens what is outside of cards, and all of the first few."""


def main() -> int:
    """Run every check on the page; 1 where one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--axe", type=Path, help="axe.min.js, which then checks the page as well")
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args()
    program = found()
    if program is None:
        print("there is no Chromium here")
        return 2
    address = options.page.resolve().as_uri()
    failed = 0
    with Browser(program) as browser:
        for check in (_opens, _filters, _links, _keys, _copies, _plain, _prints, _fits, _legible):
            for name, good in check(browser, address):
                failed += not good
                print(f"{'ok  ' if good else 'FAIL'} {name}")
        failed += _large(browser)
        if options.axe:
            failed += _axe(browser, address, options.axe)
        if options.pictures:
            _pictures(browser, address, options.pictures)
    return 1 if failed else 0


Check = Iterator[tuple[str, bool]]


def _opens(browser: Browser, address: str) -> Check:
    browser.size(1280, 900)
    seconds = browser.open(address)
    yield f"opens, in {seconds:.2f} s", browser.run(_SHOWN) > 0
    asked = [e["params"]["request"]["url"] for e in browser.events
             if e.get("method") == "Network.requestWillBeSent"]  # fmt: skip
    yield f"fetches itself alone ({len(asked)})", set(asked) == {address}
    wrong = [e for e in browser.events if e.get("method") in
             ("Runtime.exceptionThrown", "Log.entryAdded")]  # fmt: skip
    yield "raises nothing and logs nothing", not wrong
    yield "names every link and control", browser.run(_NAMELESS) == 0
    doubles = "(() => { const all = [...document.querySelectorAll('[id]')].map((e) => e.id);"
    yield (
        "has every id once",
        browser.run(f"{doubles} return all.length - new Set(all).size }})()") == 0,
    )


def _set(browser: Browser, by: str, value: str) -> None:
    browser.run(
        f"(() => {{ const f = document.querySelector('[data-by={by}]'); f.value = "
        f"{json.dumps(value)}; f.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
    )


def _filters(browser: Browser, address: str) -> Check:
    browser.open(address)
    every = browser.run(_SHOWN)
    _set(browser, "truth", "refuted")
    fits = "[...document.querySelectorAll('.statement:not([hidden])')].every((c) => "
    fitting = browser.run(fits + "c.dataset.truth.split(' ').includes('refuted'))")
    yield "filters by truth", fitting and browser.run(_SHOWN) <= every
    yield "keeps the filter in the address", "truth=refuted" in browser.run("location.search")
    _set(browser, "truth", "")
    name = browser.run("document.querySelector('.statement').id")
    _set(browser, "text", name)
    yield "finds a statement by its id", 0 < browser.run(_SHOWN) < max(every, 2)
    _set(browser, "text", "no statement says this")
    yield "shows none where none fits", browser.run(_SHOWN) == 0
    said = browser.run("document.querySelector('.shown').textContent")
    yield "says how many it shows", said == f"0 of {every} statements"
    _set(browser, "text", "")
    order = "[...document.querySelectorAll('.statement')].map((c) => Number(c.dataset.seconds))"
    _set(browser, "sort", "seconds")
    times = browser.run(order)
    yield "sorts by time", times == sorted(times, reverse=True)
    _set(browser, "sort", "place")
    yield "sorts back", browser.run("document.querySelector('.statement').id") == name


def _links(browser: Browser, address: str) -> Check:
    browser.open(address)
    reading = browser.run("[...document.querySelectorAll('.reading')].pop().id")
    named = f"document.getElementById({json.dumps(reading)})"
    seen = f"{named}.checkVisibility()"
    yield "begins with closed cards", not browser.run(seen)
    browser.open(f"{address}#{reading}")
    yield "a deep link opens what it names", browser.run(seen)
    yield (
        "and goes there",
        browser.run(f"Math.abs({named}.getBoundingClientRect().top) < 200"),
    )
    browser.open(address)
    cell = "document.querySelector('.cells .cell')"
    browser.run(f"{cell}.click()")
    browser.run("new Promise((done) => setTimeout(done, 100))")
    yield (
        "a cell of the strip opens its reading",
        browser.run(
            f"document.getElementById(decodeURIComponent({cell}.hash.slice(1))).checkVisibility()"
        ),
    )
    _set(browser, "text", "no statement says this")
    browser.run(f"location.hash = {json.dumps('#' + reading)}")
    browser.run("new Promise((done) => setTimeout(done, 100))")
    yield "a deep link shows what a filter hid", browser.run(seen)


def _keys(browser: Browser, address: str) -> Check:
    browser.open(address)
    browser.press("/")
    yield "/ goes to the search", browser.run("document.activeElement.type") == "search"
    browser.press("q")
    yield "which is typed into", browser.run("document.activeElement.value") == "q"
    browser.press("Escape")
    yield "Escape empties it", browser.run("document.querySelector('[data-by=text]').value") == ""
    browser.press("j")
    yield "j goes to a statement", browser.run("document.activeElement.tagName") == "SUMMARY"
    browser.press("Enter")
    yield "Enter opens it", browser.run("document.activeElement.parentElement.open")
    browser.press("j")
    browser.press("k")
    yield "k goes back", browser.run("document.activeElement.parentElement.open")


def _copies(browser: Browser, address: str) -> Check:
    browser.open(address)
    browser.run(_OPEN)
    browser.run("document.querySelector('button[data-copy]').click()")
    browser.run("new Promise((done) => setTimeout(done, 200))")
    said = browser.run("document.querySelector('button[data-copy]').textContent")
    yield "a button copies", said == "copied"


def _plain(browser: Browser, address: str) -> Check:
    browser.scripts(on=False)
    browser.open(address, drawn=False)
    browser.scripts(on=True)
    yield (
        "without JavaScript no control is seen",
        browser.run("document.querySelector('.tools').hidden"),
    )
    yield "and everything is there", browser.run(_SHOWN) > 0
    yield (
        "and opens",
        browser.run(
            "(() => { document.querySelector('.statement summary').click(); "
            "return document.querySelector('.statement details').open })()"
        ),
    )


def _prints(browser: Browser, address: str) -> Check:
    browser.open(address)
    _set(browser, "text", browser.run("document.querySelector('.statement').id"))
    paper = browser.paper()
    pages = paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ")
    yield f"prints ({len(paper)} bytes, {pages} pages)", paper.startswith(b"%PDF")
    browser.media(kind="print")
    yield (
        "without its controls",
        not browser.run("document.querySelector('.tools').checkVisibility()"),
    )
    browser.media()


def _fits(browser: Browser, address: str) -> Check:
    browser.open(address)
    for width in (1280, 768, 390, 320):
        browser.size(width, 900)
        browser.run(_OPEN)
        wide = browser.run("document.documentElement.scrollWidth")
        yield f"fits {width} pixels", wide <= width
    browser.size(1280, 900)


def _legible(browser: Browser, address: str) -> Check:
    for dark in (False, True):
        browser.media(dark=dark)
        browser.open(address)
        browser.run(_OPEN)
        bad = browser.run(_CONTRAST)
        yield f"is legible where it is {'dark' if dark else 'light'} {bad or ''}", not bad
    browser.media()


def _large(browser: Browser) -> int:
    """A page of 500 claims, and how long it takes."""
    entry = {"truth": "proved", "evidence": "symbolic", "validity": "exercised", "siblings": [],
             "as_expected": True, "statement": "x <= y " * 20, "examples": 100}  # fmt: skip
    entries = {f"s/lemma-{k}:literal": {"id": f"s/lemma-{k}:literal", **entry} for k in range(500)}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        file.write_text(page(Run("quick", 0, tuple(entries), entries, True, 0)), encoding="utf-8")
        seconds = browser.open(file.as_uri())
        took = browser.run(
            "(() => { const start = performance.now(); const f = document.querySelector("
            "'[data-by=text]'); f.value = 'lemma-77'; f.dispatchEvent(new Event('input', "
            "{ bubbles: true })); document.body.offsetHeight; return performance.now() - start })()"
        )
        shown = browser.run(_SHOWN)
    print(f"{'ok  ' if shown == 1 else 'FAIL'} 500 claims: {seconds:.2f} s, a search {took:.0f} ms")
    return int(shown != 1)


def _axe(browser: Browser, address: str, file: Path) -> int:
    """What axe-core finds wrong with the page, all of it open."""
    browser.open(address)
    browser.run(_OPEN)
    browser.run(file.read_text(encoding="utf-8") + "; 0")
    wrong = browser.run(
        "axe.run().then((r) => r.violations.map((v) => `${v.id} (${v.impact}): ${v.nodes.length}, "
        "such as ${v.nodes[0].html.slice(0, 160)}`))"
    )
    for line in wrong:
        print(f"FAIL axe: {line}")
    if not wrong:
        print("ok   axe finds nothing wrong")
    return len(wrong)


def _pictures(browser: Browser, address: str, folder: Path) -> None:
    """What a person sees, for looking at."""
    folder.mkdir(parents=True, exist_ok=True)
    first = browser.run("document.querySelector('.statement').id")
    for name, width, dark in (("wide", 1280, False), ("dark", 1280, True), ("narrow", 390, False)):
        browser.size(width, 1400)
        browser.media(dark=dark)
        for part, place in (("top", ""), ("statement", f"#{first}"), ("run", "#run")):
            browser.open(address + place)
            browser.picture(folder / f"{name}-{part}.png")


if __name__ == "__main__":
    sys.exit(main())
