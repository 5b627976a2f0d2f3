"""The readers of attsvm, with their inputs and the properties of accepted files.

A reader either accepts a file or refuses it by an error of `attsvm.errors`. An accepted file is
then compared, shown and written again as the commands do: no fault may appear later that reading
should have refused. `Broken` means that a promise about accepted files was broken.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import random
import re
import shutil
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

from attsvm._files import dump, read_json, write_text
from attsvm.data import AttentionData
from attsvm.errors import AttsvmError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.gate.expectations import read_expectations
from attsvm.theory.gate.gate import brief, hold
from attsvm.theory.gate.renewal import renewed, spelt
from attsvm.theory.gate.scope import Checkout, checked_out
from attsvm.theory.instance import codec
from attsvm.theory.packs import known_packs as declared
from attsvm.theory.packs.packs import Pack, load_packs
from attsvm.theory.record.counterexample import document, read, replay
from attsvm.theory.record.ledger import Ledger
from attsvm.theory.record.runs import Run, last_run
from attsvm.theory.report.html import page
from attsvm.theory.report.markdown import source_page
from attsvm.theory.report.rendering import FOLDER
from attsvm.theory.verification.verify import verify
from benchmarks.fuzz import mutation

TODAY = datetime.date(2026, 1, 1)
_SCRIPT = (FOLDER / "page.js").read_text(encoding="utf-8")


class Broken(Exception):
    """An accepted file, or a printed text, does not have a property that it must have."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader under test.

    Attributes:
        name: the name of the reader.
        mutated: returns a damaged file; it depends on the generator alone.
        read: reads the file, and does with it what the commands do.
    """

    name: str
    mutated: Callable[[random.Random], bytes]
    read: Callable[[Path], None]


def readers(folder: Path) -> tuple[Reader, ...]:
    """Return all readers.

    Args:
        folder: an empty folder for the files of the small pack.
    """
    (folder / "pack").mkdir()
    shutil.copy(Path(__file__).parent / "claims.py", folder / "pack" / "claims.py")
    shipped, own = load_packs([str(folder / "pack" / "claims.py")])
    return (
        _data_sets(folder),
        *_records(folder, own),
        _shipped_counterexamples(shipped),
        _project(folder),
        _entry_points(folder),
    )


def _data_sets(folder: Path) -> Reader:
    labelled = {
        "X": np.array([[[1.0, 0.0], [0.0, 1.0]], [[2.0, 1.0], [1.0, 3.0]]]),
        "Z": np.array([[1.0, 1.0], [0.5, 2.0]]),
        "y": np.array([1.0, -1.0]),
        "v": np.array([1.0, 0.25]),
    }
    scored = {
        "X": np.ones((2, 2, 1)),
        "Z": np.ones((2, 1)),
        "scores": np.array([[1.0, 0.0], [0.5, 2.0]]),
        "mask": np.array([[True, False], [True, True]]),
    }
    plant = folder / "planted"

    def mutated(chance: random.Random) -> bytes:
        return mutation.npz([labelled, scored], chance, plant)

    def accept(path: Path) -> None:
        try:
            data = AttentionData.load(path)
        finally:
            if plant.exists():
                raise Broken("content of the file was executed")
        for name in ("X", "Z", "y", "v", "scores", "mask"):
            array = getattr(data, name)
            if array is None:
                continue
            if array.dtype != (bool if name == "mask" else float) or array.flags.writeable:
                raise Broken(f"{name} is accepted as {array.dtype}")
            _ensure(bool(np.isfinite(array).all()), f"{name} is accepted with {array}")
        _ensure(data.gamma.shape == data.present.shape == data.X.shape[:2], "shapes do not fit")
        _ensure(bool(data.present.any(axis=1).all()), "an input without tokens is accepted")

    return Reader("data set", mutated, accept)


def _records(folder: Path, pack: Pack) -> Iterator[Reader]:
    """Yield the readers of a small pack's output: counterexample, ledger, expectations."""
    place = folder / "pack" / "counterexamples"
    ledger = folder / "ledger.jsonl"
    with Ledger(ledger) as opened:
        first = verify([pack], ledger=opened)
    (fallen,) = (c for c in first.checked if c.reading.refuted is not None)
    stored = document(fallen.claim, fallen.reading.refuted)
    place.mkdir()
    write_text(place / "fuzz--near--literal.json", dump(stored))
    with Ledger(ledger) as opened:
        verify([pack], ledger=opened)
    run = last_run(ledger)
    checkout = checked_out([pack], [c.id for c in pack.claims], run)
    reviewed, _ = renewed({"schema": 1, "claims": {}}, checkout, run)
    reviewed["claims"] = {
        name: {**entry, "reason": "it is small"} for name, entry in reviewed["claims"].items()
    }
    write_text(folder / "expectations.json", dump(reviewed))
    expected = read_expectations(folder / "expectations.json")
    _ensure(hold(run, expected, TODAY, checkout) == (), "what was not damaged is refused")
    events = [json.loads(line) for line in ledger.read_text().splitlines()]
    (start,) = (k for k, e in enumerate(events) if e["event"] == "run" and k > 0)
    for event in events:
        if event["event"] == "run":  # it lists two hundred files; three are enough
            event["code"] = dict(list(event["code"].items())[:3])

    def kept(path: Path) -> None:
        result = replay(path, (pack,))
        _ensure_printed([str(result)])
        json.dumps(result.json(), allow_nan=False)
        _ensure_read(path, {c.id: c for c in pack.claims})

    def check_told(path: Path) -> None:
        _hold_and_show(last_run(path), expected, checkout, pack, folder)

    def awaited(path: Path) -> None:
        answer = read_expectations(path)
        reasons = hold(run, answer, TODAY, checkout)
        _ensure_printed([*map(str, reasons), *map(str, brief(run, answer, reasons))])
        again, lines = renewed(read_json(path), checkout, run)
        _ensure_printed(lines)
        path.write_text(spelt(again), encoding="utf-8")
        _ensure(set(read_expectations(path)) == set(checkout.reviewed), "renewed otherwise")

    yield Reader(
        "counterexample",
        lambda chance: _some_raw(chance, mutation.json_text([stored], chance), stored),
        kept,
    )
    yield Reader(
        "ledger",
        lambda chance: (
            mutation.json_lines([events, events[start:]], chance, chained)
            if chance.random() < 0.9
            else mutation.raw("\n".join(map(json.dumps, events)).encode(), chance)
        ),
        check_told,
    )
    yield Reader(
        "expectations",
        lambda chance: _some_raw(chance, mutation.json_text([reviewed], chance), reviewed),
        awaited,
    )


def _some_raw(chance: random.Random, changed: bytes, sample: Any) -> bytes:
    """Return the changed document, or one time in ten the sample with changed bytes."""
    if chance.random() < 0.9:
        return changed
    return mutation.raw(json.dumps(sample).encode(), chance)


def chained(events: list[Any]) -> list[Any]:
    """Return the events with their digests computed again, as an attacker would do."""
    digest = ""
    for event in events:
        digest = "" if event.get("event") == "run" else digest
        event.pop("digest", None)
        text = json.dumps(event, allow_nan=False)
        digest = hashlib.sha256(f"{digest} {text}".encode()).hexdigest()[:16]
        event["digest"] = digest
    return events


def _hold_and_show(run: Run, expected: Any, checkout: Checkout, pack: Pack, folder: Path) -> None:
    """Do with a run what `gate` and `report` do."""
    for against in (
        checkout,
        Checkout(checkout.claims, checkout.reviewed, {}, run.code, run.curated),
    ):
        reasons = hold(run, expected, TODAY, against)
        _ensure_printed([*map(str, reasons), *map(str, brief(run, expected, reasons))])
    renewed({"schema": 1, "claims": {}}, checkout, run)
    _ensure_harmless(page(run))
    json.dumps([run.verdicts, run.profile, run.seed], allow_nan=False)
    with contextlib.suppress(AttsvmError):  # it may have no verdict on the source
        text = source_page("fuzz", [pack], run, folder / "page.md")
        _ensure_plain_markdown(text)


def _shipped_counterexamples(pack: Pack) -> Reader:
    """Return the reader of the curated counterexamples of the shipped claims."""
    claims = {c.id: c for c in pack.claims}
    stored = [json.loads(path.read_text(encoding="utf-8")) for path in pack.counterexamples]
    short = [
        {key: value for key, value in file.items() if key not in ("python", "latex", "statement")}
        for file in stored
    ]

    def mutated(chance: random.Random) -> bytes:
        file = chance.choice(short)
        other = {"instance": chance.choice(short)["instance"]}
        inner = json.loads(json.dumps({"instance": file["instance"]}))
        if chance.random() < 0.2:
            return mutation.json_text([file], chance)
        changed = mutation.json_text([inner, inner, inner, other], chance)
        head = {key: value for key, value in file.items() if key != "instance"}
        return json.dumps(head)[:-1].encode() + b", " + changed[1:]

    return Reader("shipped counterexample", mutated, lambda path: _ensure_read(path, claims))


def _ensure_read(path: Path, claims: dict[str, Claim]) -> None:
    """Read a counterexample as `replay` does, and raise unless it is written again unchanged."""
    stored = read(path)
    name = stored.get("claim")
    claim = claims.get(name) if isinstance(name, str) else None
    if claim is None:
        raise AttsvmError("no claim has that id", value=name)
    case = codec.decode_exactly(stored["instance"], claim.instance_type)
    _ensure(codec.encode(case) == stored["instance"], "an instance changes in its file")


def _project(folder: Path) -> Reader:
    """Return the reader of the packs that a pyproject.toml lists."""
    samples = [
        '[project]\nname = "x"\n\n[tool.attsvm]\npacks = ["one", "two.three"]  # ours\n',
        '[tool]\nattsvm = {packs = ["a"]}\nother = [1, 2.5, 2026-01-01, "x"]\n',
    ]

    def mutated(chance: random.Random) -> bytes:
        if chance.random() < 0.8:
            return mutation.words(samples, chance)
        return mutation.raw(chance.choice(samples).encode(), chance)

    def accept(path: Path) -> None:
        project = folder / "project"
        project.mkdir(exist_ok=True)
        shutil.copy(path, project / "pyproject.toml")
        with _paths():
            _ensure_names(declared.listed(project))

    return Reader("project", mutated, accept)


def _entry_points(folder: Path) -> Reader:
    """Return the reader of the packs that installed distributions declare as entry points."""
    samples = [
        "[console_scripts]\nx = y:z\n\n[attsvm.claims]\none = one.claims\ntwo = two\n",
        "[attsvm.claims]\none = one.claims:STATEMENT [extra]\n# a comment\n",
    ]

    def mutated(chance: random.Random) -> bytes:
        if chance.random() < 0.8:
            return mutation.words(samples, chance)
        return mutation.raw(chance.choice(samples).encode(), chance)

    def accept(path: Path) -> None:
        with tempfile.TemporaryDirectory(dir=folder) as home, _paths():
            inner = Path(home) / "damaged-1.0.dist-info"  # as if it had just been installed
            inner.mkdir()
            (inner / "METADATA").write_text("Metadata-Version: 2.1\nName: damaged\nVersion: 1.0\n")
            shutil.copy(path, inner / "entry_points.txt")
            sys.path[:] = [home]
            _ensure_names(declared.installed())

    return Reader("entry points", mutated, accept)


def _ensure_names(names: Iterable[str]) -> None:
    """Raise unless every name is that of a module or of a .py file."""
    for name in names:
        declared.ensure_name(name)
        _ensure(re.fullmatch(r"\w+(\.\w+)*|[^\0]+\.py", name) is not None, f"pack {name!r}")


@contextlib.contextmanager
def _paths() -> Iterator[None]:
    """Restore `sys.path` at the end of the context."""
    before = list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = before


def _ensure(true: bool, message: str) -> None:
    if not true:
        raise Broken(message)


def in_one_line(text: str) -> bool:
    """Return whether a text has no control character and no line separator, in terms of Unicode."""
    kinds = {unicodedata.category(letter) for letter in set(text)}
    return not any(kind[0] == "C" or kind in ("Zl", "Zp") for kind in kinds)


def _ensure_printed(lines: Iterable[str]) -> None:
    """Raise unless each line is one line on a terminal and has no control characters."""
    for line in lines:
        _ensure(in_one_line(line), f"a terminal is sent {line!r}")


class _Tags(HTMLParser):
    """A parser that collects the elements, attributes and links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[tuple[str, str]] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record an element and its attributes."""
        self.found |= {(tag, ""), *((tag, name) for name, _ in attrs)}
        self.links |= {value or "" for name, value in attrs if name in ("href", "src")}

    def handle_comment(self, data: str) -> None:
        """Record a comment; a page has none."""
        self.found.add(("<!--", ""))

    handle_pi = unknown_decl = handle_comment


_PLAIN = {
    *((tag, "") for tag in ("html", "head", "meta", "title", "style", "script", "body", "main")),
    *((tag, "") for tag in ("header", "nav", "section", "article", "div", "form", "label")),
    *((tag, "") for tag in ("input", "select", "option", "button", "h1", "h2", "h3", "h4", "p")),
    *((tag, "") for tag in ("table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd")),
    *((tag, "") for tag in ("ul", "ol", "li", "a", "b", "details", "summary", "span", "code")),
    *((tag, "") for tag in ("pre", "math", "mrow", "mi", "mo", "mn", "mtext", "mspace", "mfrac")),
    *((tag, "") for tag in ("msub", "msup", "msubsup", "msqrt", "sub", "sup")),
    *(("meta", name) for name in ("charset", "name", "content")),
    *(("html", "lang"), ("a", "href"), ("details", "open"), ("pre", "tabindex")),
    *(("a", name) for name in ("class", "title", "aria-label")),
    ("span", "title"),
    *((tag, "class") for tag in ("p", "ul", "dl", "div", "nav", "span", "section", "article")),
    *((tag, "class") for tag in ("li", "form", "details", "svg", "rect")),
    *(("svg", name) for name in ("", "aria-hidden", "viewbox", "preserveaspectratio")),
    *(("rect", name) for name in ("", "x", "width", "height")),
    *((tag, "id") for tag in ("div", "h2", "section", "article", "pre")),
    *(("article", f"data-{k}") for k in ("source", "truth", "mark", "weight", "tight")),
    *(("article", f"data-{k}") for k in ("seconds", "text")),
    *(("input", "aria-label"), ("details", "name"), ("kbd", "")),
    *(("input", name) for name in ("type", "data-by", "placeholder", "autocomplete")),
    *(("button", name) for name in ("type", "data-open", "data-copy", "data-search", "hidden")),
    *(("select", "data-by"), ("select", "aria-label"), ("option", "value"), ("th", "scope")),
    *(("div", name) for name in ("data-list", "tabindex", "role", "aria-label", "aria-hidden")),
    *(("form", "role"), ("form", "hidden"), ("span", "role")),
    *(("nav", "aria-label"), ("math", "display"), ("math", "displaystyle"), ("mspace", "width")),
    *(("mi", "mathvariant"), ("mo", "form")),
    *(("mo", name) for name in ("stretchy", "fence", "lspace", "rspace")),
}


def _ensure_harmless(text: str) -> None:
    """Raise if a page has an element, attribute or link that the page generator does not write."""
    text.encode()
    tags = _Tags()
    tags.feed(text)
    tags.close()
    if not tags.found <= _PLAIN:
        raise Broken(f"a page has {sorted(tags.found - _PLAIN)}")
    if not all(link.startswith("#") for link in tags.links):
        raise Broken(f"a page links to {sorted(tags.links)}")
    _ensure(text.count("<script") == 1 and _SCRIPT in text, "a page runs what is not its own")
    _ensure(in_one_line(text.replace("\n", "")), "a page has control characters")


_MARKED = re.compile(r"(?<!\\)(<script|<img|<!--|!\[|\]\(javascript|\$\\|```$)", re.MULTILINE)


def _ensure_plain_markdown(text: str) -> None:
    """Raise if a payload outside of code is rendered as anything but text."""
    text.encode()
    prose = re.sub(r"^(`{3,})text\n.*?\n\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    match = _MARKED.search(prose)
    if match is not None:
        raise Broken(f"Markdown has {match[0]!r} in {prose[max(match.start() - 60, 0) :][:120]!r}")
    _ensure(in_one_line(text.replace("\n", "")), "Markdown has control characters")
