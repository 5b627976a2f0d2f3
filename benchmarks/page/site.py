"""Checks of the built site in Chromium: `python -m benchmarks.page.site build/site`.

Every page is opened in a window of 1280 and in one of 390 pixels. Faults are listed:

- MathJax cannot read a formula;
- a page asks the network for something, or is wider than its window;
- a command is cut at 1280 pixels.

The exit code is 1 if there is a fault, and 2 without an installed Chromium.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, Request, sync_playwright

from benchmarks.page.__main__ import FLAGS, chromium

_FAULTS = """
(async (commands) => {
  if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
  const found = [], wide = document.documentElement;
  if (wide.scrollWidth > wide.clientWidth) found.push(`is ${wide.scrollWidth} pixels wide`);
  for (const at of document.querySelectorAll("mjx-merror, merror"))
    found.push(`formula: ${at.title || at.textContent}`);
  for (const at of commands ? document.querySelectorAll("pre") : [])
    if (at.scrollWidth > at.clientWidth + 1) found.push(`cuts ${at.innerText.slice(0, 80)}`);
  return found;
})
"""
_WIDTHS = (1280, 390)
_LEADS_ON = b'http-equiv="refresh"'


def main() -> int:
    """Check every page of a site; return 1 if one has a fault, 2 without a browser."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path, help="the folder that sphinx-build wrote")
    site = parser.parse_args().site.resolve()
    program = chromium()
    if program is None:
        print("there is no Chromium here")
        return 2
    files = (p for p in sorted(site.rglob("*.html")) if "_static" not in p.parts)
    pages = [p for p in files if _LEADS_ON not in p.read_bytes()]
    if not pages:
        parser.error(f"{site} has no pages. Build the site there first.")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        seen = browser.new_page()
        seen.set_default_timeout(300_000)  # the largest page has thousands of formulas
        faults = [fault for page in pages for fault in _faults(seen, page, site)]
        browser.close()
    print("\n".join([*faults, f"{len(pages)} pages, {len(faults)} faults"]))
    return 1 if faults else 0


def _faults(seen: Page, page: Path, site: Path) -> Iterator[str]:
    """Yield the faults of one page, each after the page's path and the width of the window."""
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    seen.on("request", note)
    for width in _WIDTHS:
        seen.set_viewport_size({"width": width, "height": 900})
        seen.goto(page.as_uri())
        listed = seen.evaluate(_FAULTS, width == max(_WIDTHS))
        outside = sorted({url for url in asked if url.startswith("http")})
        for fault in [*listed, *(f"asks for {url}" for url in outside)]:
            yield f"{page.relative_to(site)} at {width} pixels: {fault}"
    seen.remove_listener("request", note)


if __name__ == "__main__":
    raise SystemExit(main())
