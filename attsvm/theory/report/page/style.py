"""How the page looks: its colours, as data so that their contrast can be tested, and its style."""

from __future__ import annotations

from collections.abc import Mapping

LIGHT: Mapping[str, str] = {
    "paper": "#ffffff", "card": "#fbfaf8", "line": "#dcd8d0", "ink": "#1f2328", "soft": "#565d66",
    "link": "#0b57a4", "mark": "#fff3c9",
    "proved": "#12602f", "proved-bg": "#d9f0e0", "holds": "#0d5568", "holds-bg": "#d8eef4",
    "undecided": "#744f00", "undecided-bg": "#fbe9c0", "refuted": "#97201a",
    "refuted-bg": "#fbdfdb", "none": "#565d66", "none-bg": "#eceae6",
}  # fmt: skip
DARK: Mapping[str, str] = {
    "paper": "#14171a", "card": "#1b1f23", "line": "#3a4047", "ink": "#e4e6e8", "soft": "#a9b0b8",
    "link": "#8cc0ff", "mark": "#4a3d0a",
    "proved": "#8fdca8", "proved-bg": "#16351f", "holds": "#86d3e6", "holds-bg": "#12323b",
    "undecided": "#f0c66b", "undecided-bg": "#3a2c08", "refuted": "#ffaaa1",
    "refuted-bg": "#46191a", "none": "#b4bac1", "none-bg": "#2a2f34",
}  # fmt: skip
WORDS = ("proved", "holds", "undecided", "refuted", "none")
"""The colours of verdicts; each has a background of its own."""


def _variables(colours: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


def style() -> str:
    """The style sheet."""
    words = "\n".join(f".{w} {{ color: var(--{w}); background: var(--{w}-bg) }}" for w in WORDS)
    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}"
    return f":root {{ color-scheme: light dark; {_variables(LIGHT)} }}\n{dark}\n{words}\n{_SHEET}"


_SHEET = """
* { box-sizing: border-box }
html { scroll-padding-top: 5.5rem }
body { font: 16px/1.55 -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial,
  sans-serif; margin: 0 auto;
  max-width: 74rem; padding: 0 1.25rem 4rem; color: var(--ink); background: var(--paper) }
h1 { font-size: 2.2rem; line-height: 1.15; margin: 0 0 .6rem; letter-spacing: -.02em }
.brand { margin: 1.8rem 0 .3rem; color: var(--soft); font-weight: 600; letter-spacing: .02em }
h2 { font-size: 1.35rem; margin: 2.6rem 0 .6rem; letter-spacing: -.01em }
h3 { font-size: 1.05rem; margin: 1.4rem 0 .4rem }
h4 { font-size: .95rem; margin: 1rem 0 .25rem; color: var(--soft) }
p, ul, ol, blockquote { margin: .5rem 0; max-width: 52rem }
a { color: var(--link); text-underline-offset: .15em; overflow-wrap: anywhere }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 3px }
code, pre { font: .84em/1.5 ui-monospace, "SF Mono", "DejaVu Sans Mono", monospace }
code { overflow-wrap: anywhere }
pre { overflow-x: auto; padding: .7rem .9rem; margin: .5rem 0; background: var(--paper);
  border: 1px solid var(--line); border-radius: 6px; max-height: 26rem }
blockquote { margin-left: 0; padding: .1rem 0 .1rem 1rem; border-left: 3px solid var(--line);
  font-family: Georgia, "Noto Serif", serif; font-size: 1.05em }
math { font-size: 1.08em;
  font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", "Libertinus Math", math }
.formula { font: 1.05em/1.45 Georgia, "Noto Serif", serif }
div.formula { margin: .2rem 0 .7rem 1.5rem; line-height: 1.9 }
sub, sup { line-height: 0; font-size: .75em; white-space: nowrap }
.wide p { margin: .3rem 0 0 }
.wide { overflow-x: auto; margin: .5rem 0 }
table { border-collapse: collapse; font-size: .92em }
th, td { text-align: left; vertical-align: top; padding: .25rem 1rem .25rem 0;
  border-bottom: 1px solid var(--line) }
thead th { color: var(--soft); font-weight: 600; white-space: nowrap }
td:not(:last-child) { min-width: 4rem }
.meanings td:first-child, .meanings th:first-child { width: 9rem }
.soft { color: var(--soft); font-weight: 400 }
.badge + .badge { margin-left: .35rem }
.reading > h3 .badge { margin-left: 0 }
.count { white-space: nowrap; margin-right: .7rem }
.lead { font-size: 1.1rem; max-width: 48rem }
.off { border: 2px solid var(--refuted); border-radius: 8px; padding: .5rem 1rem; margin: 1rem 0;
  overflow-wrap: anywhere }
.off li { margin-left: 1.2rem }
.badge { display: inline-block; border-radius: 999px; padding: .05rem .6rem; font-size: .82rem;
  font-weight: 600; white-space: nowrap }
.plain { border: 1px solid var(--line); font-weight: 400; color: var(--ink) }
.bar { display: block; width: 100%; height: .7rem; max-width: 52rem; margin: .7rem 0;
  border-radius: 4px }
.bar rect { fill: currentColor; opacity: .8 }
.tallies { display: flex; flex-wrap: wrap; gap: .2rem 2rem; margin: 1.2rem 0 0 }
.tally { white-space: nowrap }
.tally b { font-size: 1.9rem; line-height: 1.2; font-variant-numeric: tabular-nums }
.tally .badge { vertical-align: .3rem; margin-left: .2rem }
nav.top { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .8rem 0; font-size: .95rem }
nav.top details { border-top: 1px solid var(--line); flex: 1 1 100%; padding-top: .2rem }
nav.top ul { list-style: none; padding: 0; columns: 13rem; margin: .3rem 0 .6rem }
nav.top li { break-inside: avoid }
nav.top li, nav.top summary { line-height: 1.75 }
nav.top summary .title { display: block; font-size: .88em; line-height: 1.35 }
nav.top li a { text-decoration: none }
nav.top li a:hover { text-decoration: underline }
nav.top [aria-current] { color: var(--ink); font-weight: 600 }
nav.top button { display: flex; justify-content: space-between; gap: .6rem; color: var(--soft) }
nav.top button[hidden] { display: none }
kbd { font: .8em/1.6 ui-monospace, monospace; border: 1px solid var(--line); border-radius: 4px;
  padding: 0 .35em }
.dot { display: inline-block; width: 9px; height: 9px; border-radius: 50%;
  border: 2px solid currentColor; background: none; margin-right: .45rem }
.dot.refuted { background: currentColor }
.strip { margin: .7rem 0 1.1rem }
.strip h3 { margin: .9rem 0 .35rem }
.cells { display: flex; flex-wrap: wrap; gap: 5px 7px; list-style: none; padding: 0; margin: 0;
  max-width: none }
.cells li { display: flex; flex-wrap: wrap; gap: 2px }
.cell { display: inline-grid; place-items: center; width: 24px; height: 24px; border-radius: 4px;
  font: 600 12px/1 ui-monospace, monospace; text-decoration: none }
.cell:hover { outline: 2px solid var(--ink) }
.cell.doubt { border: 2px dashed currentColor }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; font-size: .88rem; align-items: center;
  margin: .6rem 0 }
.legend .cell { margin-right: .4rem }
.findings { list-style: none; padding: 0; columns: 2 24rem; column-gap: 2.5rem; max-width: none }
.findings li { margin: 0 0 1rem; padding-left: .9rem; break-inside: avoid;
  border-left: 3px solid var(--refuted-bg) }
.findings li > .soft { display: block; font-size: .88rem }
.tools { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: .5rem .6rem;
  align-items: center; padding: .6rem 0; margin: 1rem 0; background: var(--paper);
  border-bottom: 1px solid var(--line) }
.tools[hidden] { display: none }
.tools label { font-size: .88rem; display: flex; gap: .35rem; align-items: center }
input, select, button { font: inherit; font-size: .9rem; color: var(--ink); background: var(--card);
  border: 1px solid var(--soft); border-radius: 6px; padding: .25rem .5rem; min-height: 30px }
input[type=search] { width: 10.5rem; max-width: 100% }
select { max-width: 7.4rem }
.shown { white-space: nowrap; font-size: .88rem }
button { cursor: pointer }
button:hover { background: var(--none-bg) }
summary { cursor: pointer; border-radius: 6px }
.statement { border: 1px solid var(--line); border-radius: 10px; background: var(--card);
  margin: .7rem 0; content-visibility: auto; contain-intrinsic-size: auto 4.5rem }
.statement[hidden] { display: none }
.statement > details > summary { padding: .7rem 1rem; display: grid; gap: .15rem 1rem;
  grid-template-columns: 1fr auto; list-style: none }
.statement > details > summary::-webkit-details-marker { display: none }
.statement > details > summary h3 { margin: 0; font-size: 1.02rem; overflow-wrap: anywhere }
.statement > details > summary h3::before { content: "\\25B8\\00A0"; color: var(--soft) }
.statement > details[open] > summary h3::before { content: "\\25BE\\00A0" }
.statement > details > summary .gist { grid-column: 1 / -1; color: var(--soft); font-size: .93rem;
  padding-left: 1.1rem }
.marks { display: flex; gap: 3px; flex-wrap: wrap; align-content: start }
.body { padding: 0 1.2rem 1rem; border-top: 1px solid var(--line) }
.reading { border-top: 1px solid var(--line); margin-top: 1.2rem; padding-top: .2rem }
.reading > h3 { display: flex; flex-wrap: wrap; gap: .35rem .5rem; align-items: center }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: .5rem 0;
  font-size: .95rem }
.facts dt { color: var(--soft) }
.facts dd { margin: 0; min-width: 0; overflow-wrap: anywhere }
:target > details > summary h3, .reading:target > h3 { background: var(--mark); border-radius: 4px }
.values { overflow-wrap: anywhere }
button[data-copy] { margin: .4rem 0 0 }
figure { margin: .8rem 0 }
figure svg { max-width: 100%; height: auto }
.redrawn { border-top: 1px solid var(--line); padding: .5rem 0 }
.redrawn img { max-width: 100%; height: auto; background: #fff; border-radius: 6px }
.drawing { background: #fff; border-radius: 6px; overflow-x: auto }
@media screen and (prefers-color-scheme: dark) {
  .drawing { filter: invert(.9) hue-rotate(180deg) }
}
figure .drawing svg { max-width: none; display: block }
.plane text { fill: var(--ink) } .plane .title { fill: var(--soft) }
.plane .axis { stroke: var(--line); fill: none }
.plane circle { stroke: var(--ink); stroke-width: 1.5; fill: var(--paper) }
.plane circle.best { fill: var(--proved) }
.plane polyline { stroke: var(--refuted); fill: none; stroke-width: 2 }
.plane circle.end { fill: var(--refuted); stroke: none }
figcaption { font-size: .9rem; color: var(--soft); max-width: 40rem }
.skip { position: absolute; left: -999rem }
.skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .5rem; z-index: 3 }
@media screen and (min-width: 75rem) {
  body { max-width: 92rem; padding-left: 19rem }
  nav.top { position: fixed; inset: 0 auto 0 max(0px, 50vw - 46rem); width: 16.5rem; margin: 0;
    padding: 1.5rem 1rem 2rem 1.25rem; overflow-y: auto; flex-flow: column; gap: 0;
    border-right: 1px solid var(--line); background: var(--card) }
  nav.top > a { line-height: 2; text-decoration: none }
  nav.top > a:hover { text-decoration: underline }
  nav.top > button { margin-bottom: .8rem }
  nav.top details { flex: none; margin-top: .5rem }
  nav.top ul { columns: auto; font-size: .9rem }
}
@media (max-width: 40rem) {
  body { padding: 0 .8rem 3rem; font-size: 15px }
  h1 { font-size: 1.7rem }
  kbd { display: none }
  .statement > details > summary { grid-template-columns: 1fr; padding: .6rem .7rem }
  .body { padding: 0 .7rem .8rem }
  .facts { grid-template-columns: 1fr; gap: 0 }
  div.formula { margin-left: .2rem }
  .facts dd { margin-bottom: .4rem }
  .tools { position: static }
  html { scroll-padding-top: .5rem }
}
@media print {
  html { font-size: 10pt }
  body { max-width: none; font-size: 1rem }
  .tools, button, .skip, nav.top { display: none !important }
  .statement { content-visibility: visible; break-inside: auto }
  summary, h2, h3, h4 { break-after: avoid }
  pre { max-height: none; white-space: pre-wrap }
}
"""
