"""What README, findings.md and hunts.md say of verdicts is what was reviewed."""

import json
import re
from collections import defaultdict

from attsvm.theory import load_packs
from attsvm.theory.declaration.verdict import Truth

(PACK,) = load_packs()
REVIEWED = json.loads(PACK.expectations.read_text())["claims"]
ROOT = PACK.folder.parent
CLAIMS = {c.id: c for c in PACK.claims}


def rows(name):
    """The cells of the rows of a document's tables, titles and rules left out."""
    for line in (ROOT / name).read_text().splitlines():
        if line.startswith("| ") and not line.startswith("| ---"):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def told(statement):
    """The readings of a statement by their reviewed truth, as findings.md writes them."""
    by_truth = defaultdict(list)
    for kind in ("literal", "amended", "sharp"):
        for name in sorted(REVIEWED):
            begins, _, reading = name.partition(":")
            if begins == statement and reading.split("-")[0] == kind:
                by_truth[REVIEWED[name]["truth"]].append(reading)
    return "; ".join(f"{truth}: {', '.join(by_truth[truth])}" for truth in by_truth)


def test_findings_have_a_row_for_every_statement_of_the_talks_with_its_reviewed_verdicts():
    found = [row for row in rows("docs/findings.md") if row[0] != "statement"]
    statements = [row[0].split("`")[1] for row in found]
    of_talks = {c.statement_id for c in PACK.claims if not c.id.startswith("sim/")}
    assert sorted(statements) == sorted(of_talks)
    for row, statement in zip(found, statements, strict=True):
        assert row[-1] == told(statement)
        assert not [truth for truth in Truth if f"({truth})" in " ".join(row[:-1])]


def test_hunts_are_of_all_literal_readings_and_find_none_that_stands():
    hunted = {row[0]: row[1:] for row in rows("docs/hunts.md") if row[0] != "reading"}
    assert sorted(hunted) == sorted(name for name in CLAIMS if ":literal" in name)
    for name, (truth, account, *_) in hunted.items():
        assert truth == REVIEWED[name]["truth"], name
        assert truth == "refuted" or not account.startswith("found"), name
    fell = sum(account.startswith("found") for _, account, *_ in hunted.values())
    assert f"\n{fell} of {len(hunted)} fell.\n" in (ROOT / "docs/hunts.md").read_text()


def test_the_readme_shows_a_run_that_could_be_todays():
    text = (ROOT / "README.md").read_text()
    shown = re.findall(r"^  (\w+/\S+:\S+) +(\w+) +(\w+) +(\w+) ", text, re.M)
    assert shown
    for name, *verdict in shown:
        assert verdict == [REVIEWED[name][axis] for axis in ("truth", "evidence", "validity")]
    refuted = sum(entry["truth"] == "refuted" for entry in REVIEWED.values())
    assert f"\n{len(REVIEWED)} claims on " in text
    assert f"\n{refuted} curated counterexamples replayed: all confirmed\n" in text
