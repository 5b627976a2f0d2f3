"""README, verdicts.md and hunts.md have the reviewed verdicts.

`python -m tests.test_documents` writes the reviewed verdicts into the table of hunts.md.
"""

import json
import re
from collections import Counter

from attsvm.theory import load_packs
from attsvm.theory.declaration.verdict import Truth

(PACK,) = load_packs()
REVIEWED = json.loads(PACK.expectations.read_text())["claims"]
ROOT = PACK.folder.parent
HUNTS = ROOT / "docs/tables/hunts.md"


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


def test_the_readme_is_short_and_its_tables_can_be_read():
    text = (ROOT / "README.md").read_text()
    assert len(text.encode()) <= 9000
    rows = re.findall(r"^\|.*\|$", text, re.M)
    assert len(rows) > 8
    assert not [cell for row in rows for cell in cells(row) if len(cell.split()) > 25]


def test_pictures_of_the_readme_are_small_and_say_what_they_show():
    pictures = re.findall(r"!\[(.*?)\]\((.*?)\)", (ROOT / "README.md").read_text())
    assert {path for _, path in pictures} == {"docs/report.png", "docs/theorem_that_falls.svg"}
    for words, path in pictures:
        assert len(words.split()) > 5
        assert 1000 < (ROOT / path).stat().st_size < 150_000
    assert (ROOT / "docs/report.png").read_bytes().startswith(b"\x89PNG\r\n")


if __name__ == "__main__":
    HUNTS.write_text("".join(f"{renewed(line)}\n" for line in HUNTS.read_text().splitlines()))
