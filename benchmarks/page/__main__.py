"""Checks of the page of a run in Chromium: `python -m benchmarks.page [page.html]`.

The page is opened, filtered, searched, copied from, printed and used without JavaScript; deep links
and keys are tried. In a wide and a narrow window and in both colour schemes, the contrast of every
text is measured, and the faults that axe-core reports are listed. A page of 500 claims is timed.
The exit code is 1 if a check fails. Pictures go to `--pictures FOLDER`. Playwright drives an
installed Chromium or Chrome (`pip install -e '.[browser]'`); without one the exit code is 2.
Without PAGE, a few claims are verified for a page. `--first PNG` saves the first screen and checks
nothing.
"""

import argparse
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright

from attsvm.errors import present
from attsvm.theory.record.runs import Run
from attsvm.theory.report.html import page as page_of

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
"""Script that opens all parts outside of cards, and all parts of the first 8 cards."""


def main() -> int:
    """Run every check on the page; return 1 if one fails, 2 without a browser."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path, nargs="?")
    parser.add_argument("--pictures", type=Path)
    parser.add_argument(
        "--first", type=Path, metavar="PNG", help="check nothing: save the first screen in light"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the verified claims")
    options = parser.parse_args()
    program = chromium()
    if program is None:
        print("there is no Chromium here")
        return 2
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        address = (options.page or _few(Path(folder), options.seed)).resolve().as_uri()
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        seen = browser.new_page(viewport={"width": 1280, "height": 900})
        if options.first:
            seen.set_viewport_size({"width": 1000, "height": 825})
            seen.emulate_media(color_scheme="light")
            _open(seen, address)
            seen.screenshot(path=options.first)
            return 0
        failed = 0
        checks = (_opens, _filters, _links, _guides, _keys, _copies, _plain, _prints)
        for check in (*checks, _fits, _legible, _accessible):
            for name, good in check(seen, address):
                failed += not good
                print(f"{'ok  ' if good else 'FAIL'} {name}")
        failed += _large(seen, Path(folder))
        if options.pictures:
            _pictures(seen, address, options.pictures)
        browser.close()
    return 1 if failed else 0


_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = ["--no-sandbox", "--disable-quic", "--disable-background-networking"]
"""Arguments of Chromium: it runs as any user, and asks the network for nothing itself."""


def chromium() -> str | None:
    """Return the path of an installed Chromium or Chrome, None if there is none."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


def _few(folder: Path, seed: int) -> Path:
    """Verify a few claims, and return the page of this run."""
    ledger, file = str(folder / "ledger.jsonl"), folder / "few.html"
    attsvm = [sys.executable, "-m", "attsvm"]
    verify = ["verify", "sim/lemma-3.12", "sim/lemma-3.13", "sim/theorem-3.14-part-1", "tf/lemma-2"]
    verify += ["--ledger", ledger, "--seed", str(seed)]
    for words in (verify, ["report", "--ledger", ledger, "--out", str(file)]):
        subprocess.run([*attsvm, *words], check=True, stdout=subprocess.DEVNULL)
    return file


Check = Iterator[tuple[str, bool]]


def _open(page: Page, address: str) -> float:
    """Load a page until it is drawn; return the seconds that this took."""
    page.goto(
        "about:blank"
    )  # otherwise an address that differs only after its # would load nothing
    start = time.perf_counter()
    page.goto(address)
    page.evaluate("new Promise(d => requestAnimationFrame(() => requestAnimationFrame(d)))")
    return time.perf_counter() - start


def _opens(page: Page, address: str) -> Check:
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text))
    seconds = _open(page, address)
    yield f"opens, in {seconds:.2f} s", page.evaluate(_SHOWN) > 0
    yield f"fetches itself alone ({len(asked)})", set(asked) <= {"about:blank", address}
    yield "raises nothing and logs nothing", not wrong
    yield "names every link and control", page.evaluate(_NAMELESS) == 0
    doubles = "(() => { const all = [...document.querySelectorAll('[id]')].map((e) => e.id);"
    yield (
        "has every id once",
        page.evaluate(f"{doubles} return all.length - new Set(all).size }})()") == 0,
    )


def _set(page: Page, by: str, value: str) -> None:
    page.evaluate(
        f"(() => {{ const f = document.querySelector('[data-by={by}]'); f.value = "
        f"{json.dumps(value)}; f.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
    )


def _search(page: Page, words: str) -> float:
    """Search these words; return the milliseconds until the page is laid out again."""
    typed = f"f.value = {json.dumps(words)}; f.dispatchEvent(new Event('input', {{bubbles: true}}))"
    took: float = page.evaluate(
        "(() => { const start = performance.now(); const f = document.querySelector("
        f"'[data-by=text]'); {typed}; document.body.offsetHeight; "
        "return performance.now() - start })()"
    )
    return took


def _filters(page: Page, address: str) -> Check:
    _open(page, address)
    every = page.evaluate(_SHOWN)
    _set(page, "truth", "refuted")
    fits = "[...document.querySelectorAll('.statement:not([hidden])')].every((c) => "
    fitting = page.evaluate(fits + "c.dataset.truth.split(' ').includes('refuted'))")
    yield "filters by truth", fitting and page.evaluate(_SHOWN) <= every
    yield "keeps the filter in the address", "truth=refuted" in page.evaluate("location.search")
    _set(page, "truth", "")
    name = page.evaluate("document.querySelector('.statement').id")
    took = _search(page, name)
    shown = page.evaluate(_SHOWN)
    yield f"finds a statement by its id, in {took:.0f} ms", 0 < shown < max(every, 2)
    _set(page, "text", "no statement says this")
    yield "shows no statement if none fits", page.evaluate(_SHOWN) == 0
    text = page.evaluate("document.querySelector('.shown').textContent")
    yield "says how many it shows", text == f"0 of {every} statements"
    _set(page, "text", "")
    order = "[...document.querySelectorAll('.statement')].map((c) => Number(c.dataset.seconds))"
    _set(page, "sort", "seconds")
    times = page.evaluate(order)
    yield "sorts by time", times == sorted(times, reverse=True)
    _set(page, "sort", "place")
    yield "sorts back", page.evaluate("document.querySelector('.statement').id") == name


def _links(page: Page, address: str) -> Check:
    _open(page, address)
    reading = page.evaluate("[...document.querySelectorAll('.reading')].pop().id")
    named = f"document.getElementById({json.dumps(reading)})"
    seen = f"{named}.checkVisibility()"
    yield "begins with closed cards", not page.evaluate(seen)
    _open(page, f"{address}#{reading}")
    yield "a deep link opens what it names", page.evaluate(seen)
    yield (
        "and goes there",
        page.evaluate(f"Math.abs({named}.getBoundingClientRect().top) < 200"),
    )
    _open(page, address)
    cell = "document.querySelector('.cells .cell')"
    page.locator(".cells .cell").first.click()
    page.evaluate("new Promise((done) => setTimeout(done, 100))")
    yield (
        "a cell of the strip opens its reading",
        page.evaluate(
            f"document.getElementById(decodeURIComponent({cell}.hash.slice(1))).checkVisibility()"
        ),
    )
    _set(page, "text", "no statement says this")
    page.evaluate(f"location.hash = {json.dumps('#' + reading)}")
    page.evaluate("new Promise((done) => setTimeout(done, 100))")
    yield "a deep link shows what a filter hid", page.evaluate(seen)


def _guides(page: Page, address: str) -> Check:
    _open(page, address)
    listed = "[...document.querySelectorAll('nav.top li a')].map((a) => a.hash.slice(1))"
    cards = "[...document.querySelectorAll('.statement')].map((e) => e.id)"
    names = page.evaluate(listed)
    yield "lists every statement", set(page.evaluate(cards)) <= set(names)
    last = page.evaluate(cards)[-1]
    page.evaluate(f"document.getElementById({json.dumps(last)}).scrollIntoView()")
    page.wait_for_timeout(300)
    box = page.locator("nav.top [aria-current]").bounding_box()
    seen = box is not None and box["y"] >= 0 and box["y"] + box["height"] <= 900
    yield "marks the current statement in the list", seen
    page.keyboard.press("Home")
    page.locator("nav.top button").click()
    yield "has a button for the search", page.evaluate("document.activeElement.type") == "search"


def _keys(page: Page, address: str) -> Check:
    _open(page, address)
    page.keyboard.press("/")
    yield "/ goes to the search", page.evaluate("document.activeElement.type") == "search"
    page.keyboard.press("q")
    yield "keys then go to the search", page.evaluate("document.activeElement.value") == "q"
    page.keyboard.press("Escape")
    yield "Escape empties it", page.evaluate("document.querySelector('[data-by=text]').value") == ""
    page.keyboard.press("j")
    yield "j goes to a statement", page.evaluate("document.activeElement.tagName") == "SUMMARY"
    page.keyboard.press("Enter")
    yield "Enter opens it", page.evaluate("document.activeElement.parentElement.open")
    page.keyboard.press("j")
    page.keyboard.press("k")
    yield "k goes back", page.evaluate("document.activeElement.parentElement.open")


def _copies(page: Page, address: str) -> Check:
    _open(page, address)
    page.evaluate(_OPEN)
    page.locator("button[data-copy]").first.click()
    page.evaluate("new Promise((done) => setTimeout(done, 200))")
    text = page.evaluate("document.querySelector('button[data-copy]').textContent")
    yield "a button copies", text == "copied"


def _plain(page: Page, address: str) -> Check:
    context = present(page.context.browser, "a browser").new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(address)
    yield "without JavaScript no control is seen", plain.locator(".tools").is_hidden()
    yield "and everything is there", plain.locator(".statement").first.is_visible()
    inner = plain.locator(".statement details").first
    plain.locator(".statement summary").first.click()
    yield "and opens", inner.get_attribute("open") is not None
    context.close()


def _prints(page: Page, address: str) -> Check:
    _open(page, address)
    _set(page, "text", page.evaluate("document.querySelector('.statement').id"))
    paper = page.pdf()
    pages = paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ")
    yield f"prints ({len(paper)} bytes, {pages} pages)", paper.startswith(b"%PDF")
    page.emulate_media(media="print")
    yield (
        "without its controls",
        not page.evaluate("document.querySelector('.tools').checkVisibility()"),
    )
    page.emulate_media(media="screen", color_scheme="light")


def _fits(page: Page, address: str) -> Check:
    _open(page, address)
    for width in (1280, 768, 390, 320):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(_OPEN)
        wide = page.evaluate("document.documentElement.scrollWidth")
        yield f"fits {width} pixels", wide <= width
    page.set_viewport_size({"width": 1280, "height": 900})


def _legible(page: Page, address: str) -> Check:
    for dark in (False, True):
        page.emulate_media(color_scheme="dark" if dark else "light")
        _open(page, address)
        page.evaluate(_OPEN)
        bad = page.evaluate(_CONTRAST)
        yield f"is legible in {'dark' if dark else 'light'} colours {bad or ''}", not bad
    page.emulate_media(media="screen", color_scheme="light")


def _accessible(page: Page, address: str) -> Check:
    axe = Axe()
    for width, scheme in itertools.product((1280, 390), ("light", "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        _open(page, address)
        page.evaluate(_OPEN)
        wrong = [
            f"{v['id']} ({v['impact']}): {len(v['nodes'])}, such as {v['nodes'][0]['html'][:160]}"
            for v in axe.run(page).response["violations"]
        ]
        yield f"axe-core finds nothing wrong at {width} pixels, {scheme} {wrong or ''}", not wrong
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(media="screen", color_scheme="light")


def _large(page: Page, folder: Path) -> int:
    """Load and search a page of 500 claims, and print the times; return 1 if the search fails."""
    entry = {"truth": "proved", "evidence": "symbolic", "validity": "exercised", "siblings": [],
             "as_expected": True, "statement": "x <= y " * 20, "examples": 100}  # fmt: skip
    entries = {f"s/lemma-{k}:literal": {"id": f"s/lemma-{k}:literal", **entry} for k in range(500)}
    file = folder / "large.html"
    file.write_text(page_of(Run("quick", 0, tuple(entries), entries, True, 0)), encoding="utf-8")
    seconds = _open(page, file.as_uri())
    took = _search(page, "lemma-77")
    shown = page.evaluate(_SHOWN)
    print(f"{'ok  ' if shown == 1 else 'FAIL'} 500 claims: {seconds:.2f} s, a search {took:.0f} ms")
    return int(shown != 1)


def _pictures(page: Page, address: str, folder: Path) -> None:
    """Save pictures of the visible page."""
    folder.mkdir(parents=True, exist_ok=True)
    _open(page, address)
    first = page.evaluate("document.querySelector('.statement').id")
    narrow = (("narrow", 390, False), ("narrow-dark", 390, True))
    for name, width, dark in (("wide", 1280, False), ("dark", 1280, True), *narrow):
        page.set_viewport_size({"width": width, "height": 1400})
        page.emulate_media(color_scheme="dark" if dark else "light")
        for part, place in (("top", ""), ("statement", f"#{first}"), ("run", "#run")):
            _open(page, address + place)
            page.screenshot(path=folder / f"{name}-{part}.png")


if __name__ == "__main__":
    sys.exit(main())
