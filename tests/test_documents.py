"""README, verdicts.md and hunts.md have the reviewed verdicts, and api.md what docstrings say.

`python -m tests.test_documents` writes the reviewed verdicts into the table of hunts.md, and
api.md from the docstrings.
"""

import enum
import inspect
import json
import re
from collections import Counter

import attsvm
import attsvm.losses
from attsvm import theory
from attsvm.theory import load_packs
from attsvm.theory.declaration.verdict import Truth

(PACK,) = load_packs()
REVIEWED = json.loads(PACK.expectations.read_text())["claims"]
ROOT = PACK.folder.parent
HUNTS = ROOT / "docs/hunts.md"


def cells(line):
    """The cells of a row of a table."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def renewed(line):
    """A row of hunts.md with the reviewed verdict; other lines as they are."""
    if (reading := re.match(r"\| (\S+/\S+:\S+) \| ", line)) and reading[1] in REVIEWED:
        name, _, *others = cells(line)
        return f"| {' | '.join([name, REVIEWED[name]['truth'], *others])} |"
    return line


def test_verdicts_in_the_table_are_the_reviewed_ones():
    for line in HUNTS.read_text().splitlines():
        assert line == renewed(line)


def test_hunts_are_of_all_literal_readings_and_find_none_that_stands():
    text = HUNTS.read_text()
    hunted = {name: rest for name, *rest in map(cells, re.findall(r"^\| \w+/.*", text, re.M))}
    assert sorted(hunted) == sorted(c.id for c in PACK.claims if c.reading.startswith("literal"))
    found = [name for name, (_, account, *_) in hunted.items() if account.startswith("found")]
    assert {REVIEWED[name]["truth"] for name in found} == {"refuted"}
    assert text.endswith(f"\n{len(found)} of {len(hunted)} fell.\n")


def test_shown_runs_could_be_todays():
    rows = (ROOT / "docs/verdicts.md").read_text()
    shown = re.findall(r"^  (\w+/\S+:\S+) +(\w+) +(\w+) +(\w+) ", rows, re.M)
    assert len(shown) == 6
    text = (ROOT / "README.md").read_text()
    for name, *verdict in shown:
        assert verdict == [REVIEWED[name][axis] for axis in ("truth", "evidence", "validity")]
    truths = Counter((name.partition("/")[0], entry["truth"]) for name, entry in REVIEWED.items())
    rows = re.findall(r"^(\w+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +\d+/\d+ +\d+ +0$", text, re.M)
    assert len(rows) == 3
    for source, readings, *counts in rows:
        found = [truths[source, str(word)] for word in Truth]
        assert ([*map(int, counts)], int(readings)) == (found, sum(found))
    refuted = sum(entry["truth"] == "refuted" for entry in REVIEWED.values())
    assert f"\n{len(REVIEWED)} claims on " in text
    assert f"\n{refuted} curated counterexamples replayed: all confirmed\n" in text


def test_every_page_is_in_the_table_of_contents():
    listed = re.findall(r"^\S+$", (ROOT / "docs/index.md").read_text(), re.M)
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index"}
    assert pages <= set(listed)


API = ROOT / "docs/api.md"
TITLES = {
    "attsvm.data": "Data",
    "attsvm.svm.answer": "Solving with a certificate",
    "attsvm.svm": "The Att-SVM family",
    "attsvm.svm.separability": "Separability",
    "attsvm.losses": "Losses",
    "attsvm.training": "Training",
    "attsvm.paths": "Regularisation paths",
    "attsvm.capturing": "Attention of PyTorch modules",
    "attsvm.theory": "Claims",
    "attsvm.theory.interactive": "Checking, hunting, showing",
    "attsvm.errors": "Errors",
}


def described(name, home=attsvm):
    """The entry of a public name: its signature, with shapes, and its docstring."""
    value = getattr(home, name)
    if isinstance(value, type) and issubclass(value, enum.Enum):
        return f"### `{name}`\n\n{inspect.getdoc(value)}\n"
    if not callable(value) or isinstance(value, attsvm.losses.Loss):
        return f"### `{name}`\n\n{type(value).__name__}: {said_of(value)}\n"
    text, *sections = re.split(
        r"\n\n(?=(?:Args|Attributes|Returns|Raises):)", inspect.getdoc(value)
    )
    fenced = "\n\n".join([call(name, inspect.signature(value)), *sections])
    return f"### `{name}`\n\n{text}\n\n```text\n{fenced}\n```\n"


def call(name, signature):
    """How a function is called, a parameter a line where that is long."""
    parts, last = [], None
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and last not in (
            parameter.KEYWORD_ONLY,
            parameter.VAR_POSITIONAL,
        ):
            parts.append("*")
        last = parameter.kind
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(last, "")
        default = parameter.default
        plain = default is None or isinstance(default, (bool, int, float, str, tuple))
        given = "" if default is parameter.empty else f" = {default!r}" if plain else " = ..."
        parts.append(f"{star}{parameter.name}: {parameter.annotation}{given}")
    returned = signature.return_annotation
    end = "" if returned in (None, "None", signature.empty) else f" -> {returned}"
    whole = f"{name}({', '.join(parts)}){end}"
    if len(whole) <= 96:
        return whole
    return "\n".join([f"{name}(", *(f"    {part}," for part in parts), f"){end}"])


def said_of(value):
    """The first line of what describes a value that is no function."""
    if isinstance(value, dict):
        return ", ".join(f"`{key}`" for key in value)
    return getattr(value, "name", str(value))


def api():
    """The page of all public names."""
    parts = [
        "# What `from attsvm import ...` has",
        'Shapes stand in the annotations: `Float[Array, "n d"]` is an array of n rows and d '
        "columns.\nNorms are Frobenius norms where nothing else is said.",
    ]
    for home, title in TITLES.items():
        parts.append(f"## {title}")
        parts += [described(n).rstrip() for n in attsvm.__all__ if attsvm._HOMES.get(n) == home]
    parts.append("## What `from attsvm.theory import ...` has beside these")
    parts += [described(n, theory).rstrip() for n in theory.__all__ if n not in attsvm.__all__]
    return "\n\n".join(parts) + "\n"


def test_the_page_of_public_names_is_what_their_docstrings_say():
    assert {*attsvm._HOMES.values()} == {*TITLES}
    assert API.read_text() == api()


if __name__ == "__main__":
    HUNTS.write_text("".join(f"{renewed(line)}\n" for line in HUNTS.read_text().splitlines()))
    API.write_text(api())
