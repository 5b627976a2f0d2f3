"""Errata cannot drift from the claims, nor the committed page from either.

Where the page differs: `attsvm verify sim/ && attsvm report --source sim --out docs/sim.md`.
"""

import difflib
import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest

from attsvm.theory import curated, load_packs
from attsvm.theory.errata import claims_of, find_source
from attsvm.theory.ledger import Run
from attsvm.theory.source_page import source_page

PACKS = load_packs()
(PACK,) = PACKS
SIM = find_source(PACKS, "sim")
CLAIMS = {c.id: c for c in claims_of(PACKS, "sim")}
REVIEWED = json.loads(PACK.expectations.read_text())["claims"]
PAGE = PACK.folder.parent / "docs" / "sim.md"
NUMBERS = ("tightness", "instances")


def truths(statement):
    """The reviewed truth of every reading of a statement."""
    ids = [c for c in REVIEWED if c.rpartition(":")[0] == statement]
    return {c: REVIEWED[c]["truth"] for c in ids}


def literal_falls(statement):
    return {c for c, t in truths(statement).items() if ":literal" in c and t == "refuted"}


def test_every_statement_that_falls_as_printed_has_an_erratum_and_no_other_has():
    statements = {c.statement_id for c in CLAIMS.values()}
    fallen = sorted(s for s in statements if literal_falls(s))
    assert sorted(e.statement for e in SIM.errata) == fallen


@pytest.mark.parametrize("erratum", SIM.errata, ids=lambda e: e.statement)
def test_an_erratum_rests_on_what_was_reviewed(erratum):
    reviewed = truths(erratum.statement)
    standing = {c for c, t in reviewed.items() if t in ("holds", "proved")}
    assert literal_falls(erratum.statement) <= set(erratum.falls)
    assert {reviewed[c] for c in erratum.falls} == {"refuted"}
    assert set(erratum.stands) <= standing
    assert erratum.stands or not standing
    assert set(erratum.telling) <= set(erratum.falls)
    for reading in erratum.falls:
        assert reading in erratum.telling or curated.place(CLAIMS[reading]).is_file()


@pytest.mark.parametrize("erratum", SIM.errata, ids=lambda e: e.statement)
def test_an_erratum_is_short_and_whole_sentences(erratum):
    for words in (erratum.printed, erratum.fails, erratum.repair):
        assert 20 < len(words) < 700
        assert words[-1] in '.)"'
        assert "  " not in words
        assert words == words.strip()


def test_the_order_is_that_of_all_statements_of_the_paper():
    assert sorted(SIM.order) == sorted({c.statement_id for c in CLAIMS.values()})


def reviewed_run():
    """A run that came to the reviewed verdicts; it has no numbers."""
    verdicts = {
        name: {"id": name, "siblings": [], **REVIEWED[name]} for name in CLAIMS if name in REVIEWED
    }
    files = [curated.shown(f, p) for f, p in curated.chosen(PACKS, CLAIMS.values()).items()]
    replays = {file: {"file": file, "result": "CONFIRMED"} for file in files}
    return Run("quick", 0, tuple(verdicts), verdicts, True, 0, tuple(files), replays)


def without_numbers(page):
    """The lines of a page, the cells that hold numbers of a run left empty."""
    lines, masked = [], []
    for line in page.splitlines():
        cells = re.split(r"(?<!\\)\|", line)
        titles = [cell.strip() for cell in cells]
        if set(NUMBERS) & set(titles):
            masked = [k for k, title in enumerate(titles) if title in NUMBERS]
        elif not line.startswith("|"):
            masked = []
        lines.append("|".join("" if k in masked else cell for k, cell in enumerate(cells)))
    return lines


def test_the_committed_page_is_what_claims_files_and_words_make_it():
    made = source_page("sim", PACKS, reviewed_run(), PAGE)
    there = PAGE.read_text()
    differs = list(difflib.unified_diff(without_numbers(there), without_numbers(made), n=0))
    assert not differs, "\n".join(differs[:20]) + __doc__
    numbers = re.findall(r"\| (\d+) \|$", there, re.M)
    assert len(numbers) == len(CLAIMS)


def test_the_mask_hides_numbers_alone():
    page = PAGE.read_text()
    for old, new in (("holds / numeric", "refuted / numeric"), ("x = [0]", "x = [1]")):
        assert old in page
        assert without_numbers(page.replace(old, new, 1)) != without_numbers(page)


def test_every_link_of_the_committed_page_leads_somewhere():
    page = PAGE.read_text()
    headings = re.findall(r"^#+ (.*)", page, re.M)
    slugs = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
    links = re.findall(r"\]\(([^)]*)\)", page)
    assert len(links) > 2 * len(CLAIMS) / 2
    for link in links:
        if link.startswith("#"):
            assert link[1:] in slugs
        else:
            assert (PAGE.parent / unquote(link)).is_file()


def test_a_verdict_that_is_not_the_reviewed_one_changes_the_page():
    run = reviewed_run()
    name = "sim/lemma-3.12:literal"
    other = {**run.verdicts, name: {**run.verdicts[name], "truth": "undecided"}}
    page = source_page("sim", PACKS, replace(run, verdicts=other), PAGE)
    assert page != source_page("sim", PACKS, run, PAGE)


def test_the_page_names_no_machine():
    page = PAGE.read_text()
    assert str(Path(PACK.folder).parent) not in page
    assert "](/" not in page
