"""What README, findings.md and hunts.md say of verdicts is what was reviewed.

`python -m tests.test_documents` writes the reviewed verdicts into the tables of the two.
"""

import json
import re
from collections import defaultdict

import pytest

from attsvm.theory import load_packs
from attsvm.theory.declaration.verdict import Truth

(PACK,) = load_packs()
REVIEWED = json.loads(PACK.expectations.read_text())["claims"]
ROOT = PACK.folder.parent


FINDINGS, HUNTS = ROOT / "docs/findings.md", ROOT / "docs/hunts.md"


def cells(line):
    """The cells of a row of a table."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def renewed(line):
    """A row of findings.md or of hunts.md with the reviewed verdicts; other lines as they are."""
    if statement := re.match(r"\| `(\S+/\S+)`: ", line):
        return f"| {' | '.join([*cells(line)[:-1], told(statement[1])])} |"
    if (reading := re.match(r"\| (\S+/\S+:\S+) \| ", line)) and reading[1] in REVIEWED:
        name, _, *others = cells(line)
        return f"| {' | '.join([name, REVIEWED[name]['truth'], *others])} |"
    return line


def told(statement):
    """The readings of a statement by their reviewed truth, as findings.md writes them."""
    by_truth = defaultdict(list)
    for kind in ("literal", "amended", "sharp"):
        for name in sorted(REVIEWED):
            begins, _, reading = name.partition(":")
            if begins == statement and reading.split("-")[0] == kind:
                by_truth[REVIEWED[name]["truth"]].append(reading)
    return "; ".join(f"{truth}: {', '.join(by_truth[truth])}" for truth in by_truth)


@pytest.mark.parametrize("page", [FINDINGS, HUNTS], ids=lambda page: page.name)
def test_verdicts_in_a_table_are_the_reviewed_ones(page):
    for line in page.read_text().splitlines():
        assert line == renewed(line)


def test_findings_have_a_row_for_every_statement_of_the_talks():
    found = [cells(row) for row in FINDINGS.read_text().splitlines() if row.startswith("| `")]
    of_talks = {c.statement_id for c in PACK.claims if not c.id.startswith("sim/")}
    assert sorted(row[0].split("`")[1] for row in found) == sorted(of_talks)
    for row in found:
        assert not [truth for truth in Truth if f"({truth})" in " ".join(row[:-1])]


def test_hunts_are_of_all_literal_readings_and_find_none_that_stands():
    text = HUNTS.read_text()
    hunted = {name: rest for name, *rest in map(cells, re.findall(r"^\| \w+/.*", text, re.M))}
    assert sorted(hunted) == sorted(c.id for c in PACK.claims if c.reading.startswith("literal"))
    found = [name for name, (_, account, *_) in hunted.items() if account.startswith("found")]
    assert {REVIEWED[name]["truth"] for name in found} == {"refuted"}
    assert text.endswith(f"\n{len(found)} of {len(hunted)} fell.\n")


def test_the_readme_shows_a_run_that_could_be_todays():
    text = (ROOT / "README.md").read_text()
    shown = re.findall(r"^  (\w+/\S+:\S+) +(\w+) +(\w+) +(\w+) ", text, re.M)
    assert shown
    for name, *verdict in shown:
        assert verdict == [REVIEWED[name][axis] for axis in ("truth", "evidence", "validity")]
    refuted = sum(entry["truth"] == "refuted" for entry in REVIEWED.values())
    assert f"\n{len(REVIEWED)} claims on " in text
    assert f"\n{refuted} curated counterexamples replayed: all confirmed\n" in text


if __name__ == "__main__":
    for page in (FINDINGS, HUNTS):
        page.write_text("".join(f"{renewed(line)}\n" for line in page.read_text().splitlines()))
