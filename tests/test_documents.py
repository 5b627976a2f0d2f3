"""README, verdicts.md, hunts.md and proofs.md have the reviewed verdicts and the proofs.

`python -m tests.test_documents` writes the reviewed verdicts into the table of hunts.md, and the
table of proofs.
"""

import ast
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from attsvm import cli
from attsvm.cli import parser_of
from attsvm.theory import load_packs
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.packs.packs import find_claims
from attsvm.theory.record.curated import chosen
from attsvm.theory.report.proofs import LINKED, PROSE, called, connection, proofs_table, rests_on
from symbolic import facts
from symbolic.tf import near_points
from tests.forks import in_a_fork

(PACK,) = load_packs()
REVIEWED = json.loads(PACK.expectations.read_text())["claims"]
ROOT = PACK.folder.parent
HUNTS = ROOT / "docs/tables/hunts.md"
PROOFS = ROOT / "docs/tables/proofs.md"


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


def test_the_table_of_proofs_says_of_each_whether_it_is_linked():
    assert PROOFS.read_text() == proofs_table(PACK.claims)


def test_no_proof_takes_a_proof_in_prose_as_a_step():
    kinds = {
        (connection(claim), connection(other))
        for claim, by in rests_on(c for c in PACK.claims if c.proof)
        for other in by
    }
    assert kinds == {(LINKED, PROSE)}
    assert {near_points.exponents_rise, facts.tangent} <= called(near_points.prove)


def test_exactly_the_readings_with_a_linked_proof_are_expected_to_be_proved():
    for claim in PACK.claims:
        linked = f"| {claim.id} |" in PROOFS.read_text() and connection(claim) == LINKED
        assert (claim.expected.truth is Truth.PROVED) is linked, claim.id
        assert ("Proof in prose" in REVIEWED[claim.id]["reason"]) is claim.in_prose, claim.id


def test_hunts_are_of_all_literal_readings_and_find_none_that_stands():
    text = HUNTS.read_text()
    hunted = {name: rest for name, *rest in map(cells, re.findall(r"^\| \w+/.*", text, re.M))}
    assert sorted(hunted) == sorted(c.id for c in PACK.claims if c.reading.startswith("literal"))
    found = [name for name, (_, account, *_) in hunted.items() if account.startswith("found")]
    assert {REVIEWED[name]["truth"] for name in found} == {"refuted"}
    assert text.endswith(f"\n{len(found)} of {len(hunted)} fell.\n")


def test_shown_runs_could_be_todays():
    rows = (ROOT / "docs/verdicts.md").read_text()
    shown = re.findall(r"^  (\w+/\S+:\S+) +(\w+)\*? +(\w+) +(\w+) ", rows, re.M)
    assert len(shown) == 6
    text = (ROOT / "README.md").read_text()
    for name, *verdict in shown:
        assert verdict == [REVIEWED[name][axis] for axis in ("truth", "evidence", "validity")]
    truths = Counter((name.partition("/")[0], entry["truth"]) for name, entry in REVIEWED.items())
    prose = Counter(claim.id.partition("/")[0] for claim in PACK.claims if claim.in_prose)
    figures = r" +(\d+)" * 6
    rows = re.findall(rf"^(\w+){figures} +\d+/\d+ +\d+ +0$", text, re.M)
    assert len(rows) == 3
    for source, readings, *counts in rows:
        assert int(counts.pop(2)) == prose[source]
        found = [truths[source, str(word)] for word in Truth]
        assert ([*map(int, counts)], int(readings)) == (found, sum(found))
    files = len(chosen((PACK,), PACK.claims))
    assert f"\n{len(REVIEWED)} claims on " in text
    assert f"\n{files} curated counterexamples replayed: all confirmed\n" in text


def rows_of(document, heading):
    """The rows of the first table below a heading."""
    text = (ROOT / document).read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [cells(line) for line in re.findall(r"^\|.*\|$", text, re.M)[2:]]


def test_the_five_claims_have_the_reviewed_verdicts_and_commands_that_run(capsys):
    short = rows_of("README.md", "Five claims about attention")
    long = rows_of("docs/findings.md", "The five claims")
    assert len(short) == 5
    assert [row[0] for row in short] == [row[0] for row in long]
    for (_, id, said), (_, verdict, *commands) in zip(short, long, strict=True):
        statement = id.strip("`")
        asked = f"show {statement}", f"verify {statement}"
        assert commands == [*(f"`attsvm {one}`" for one in asked), f"`pytest -k {statement}:`"]
        assert cli.main(asked[0].split()) == 0
        assert capsys.readouterr().out.startswith(f"{statement}  (")
        named = parser_of("verify").parse_args(asked[1].split()).ids
        assert {c.statement_id for c in find_claims([PACK], named)} == {statement}
        words = re.split(r"`(\w+/[^`]+:[^`]+)`", verdict)
        told = []
        for text, name in zip(words[::2], words[1::2], strict=False):
            told += re.findall(KINDS, text.lower())
            assert kind(name) == told[-1], name
        assert set(re.findall(KINDS, said)) <= set(told)


KINDS = "proved|shown in prose|refuted"


def kind(name):
    """The word for a reviewed verdict in these documents."""
    (claim,) = (c for c in PACK.claims if c.id == name)
    return "shown in prose" if claim.in_prose else REVIEWED[name]["truth"]


def test_the_findings_say_how_each_reading_is_shown():
    text = " ".join((ROOT / "docs/findings.md").read_text().split())
    told = re.findall(rf"`(\w+/[\w.-]+:[\w-]+)`, ({KINDS})\b", text)
    assert len(told) > 5
    assert [(name, word) for name, word in told if kind(name) != word] == []


def test_pytest_selects_each_of_the_five_claims_by_its_id(monkeypatch):
    ids = [id.strip("`") for _, id, _ in rows_of("README.md", "Five claims about attention")]
    files = sorted({c.file for c in PACK.claims if c.statement_id in ids})
    words = ["--collect-only", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k"]
    either = " or ".join(f"{id}:" for id in ids)
    monkeypatch.chdir(ROOT)
    done = in_a_fork(run=lambda: pytest.main([*words, either, *files]))
    found = {m[1] for m in re.finditer(r"::(\w+/[^:\s]+):", done.stdout)}
    assert found == set(ids), done.stdout + done.stderr


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
    PROOFS.write_text(proofs_table(PACK.claims))
    HUNTS.write_text("".join(f"{renewed(line)}\n" for line in HUNTS.read_text().splitlines()))


def test_the_table_of_concepts_has_everything_that_statements_use():
    """They have what statement files import from `attsvm.theory`, and the fields that they set."""
    text = (ROOT / "docs/claims.md").read_text()
    section = text.partition("\n## Concepts of a statement\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.*`.*) \| .* \|$", section, re.M)
    assert 15 <= len(rows) <= 20
    known = {*re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", " ".join(rows))))}
    known |= {"readings", "says"}  # `says` of a reading stands below the table
    used = set()
    for file in {claim.file for claim in PACK.claims}:
        for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "attsvm.theory":
                used |= {alias.name for alias in node.names}
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                *("Statement", "Reading", "Hypothesis", "Records", "stated"),
            ):
                used |= {keyword.arg for keyword in node.keywords if keyword.arg}
    assert used - known == set()
