"""Errata cannot drift from the claims, nor the committed page from either.

Where a page differs: `attsvm verify && attsvm report --source NAME --out docs/NAME.md`.
Where the drawing differs: `attsvm report --graph docs/statements.svg`.
"""

import difflib
import json
import math
import re
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass, replace
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

from attsvm.attention import softmax
from attsvm.lipschitz import softmax_gradient_constant
from attsvm.theory import load_packs
from attsvm.theory.record import curated
from attsvm.theory.record.errata import Rank, Weight, claims_of, find_source
from attsvm.theory.record.runs import Run
from attsvm.theory.report.drawings import drawing
from attsvm.theory.report.markdown import source_page
from attsvm.theory.report.source_view import source_view

PACKS = load_packs()
(PACK,) = PACKS
SIM = find_source(PACKS, "sim")
SOURCES = {name: find_source(PACKS, name) for name in ("sim", "tf", "mm")}
ERRATA = [e for source in SOURCES.values() for e in source.errata]
CLAIMS = {c.id: c for name in SOURCES for c in claims_of(PACKS, name)}
REVIEWED = json.loads(PACK.expectations.read_text())["claims"]
PAGES = {name: PACK.folder.parent / "docs" / f"{name}.md" for name in SOURCES}
each_source = pytest.mark.parametrize("name", SOURCES)
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
    assert sorted(e.statement for e in ERRATA) == fallen


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda e: e.statement)
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


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda e: e.statement)
def test_an_erratum_is_short_and_whole_sentences(erratum):
    said = (erratum.gist, erratum.fails, *filter(None, (erratum.printed, erratum.repair)))
    assert len(said) == 4 or not erratum.statement.startswith("sim/")
    for words in said:
        assert 20 < len(words) < 520
        assert words[-1] in '.)"'
        assert "  " not in words
        assert words == words.strip()


def fields(value):
    """The fields of records within an instance, by record and name."""
    if isinstance(value, tuple):
        return set().union(*map(fields, value))
    if not is_dataclass(value):
        return set()
    own = {f.name: getattr(value, f.name) for f in dataclass_fields(value)}
    return {f"{type(value).__name__}.{name}" for name in own}.union(*map(fields, own.values()))


@each_source
def test_words_for_fields_are_of_fields_that_instances_have(name):
    claims = claims_of(PACKS, name)
    parts = [part for claim in claims for part in (claim, *claim.siblings)]
    known = set().union(*(fields(case) for part in parts for case in part.examples))
    assert set(SOURCES[name].names) <= known


@each_source
def test_what_falls_comes_by_rank_and_weight_in_short_blocks_before_the_tables(name):
    """Half as many lines as one paragraph and one listing for every point took: 25 an erratum.

    The few errata of the talks share as many words and symbols, and slips of the slides.
    """
    lines = 13 if name == "sim" else 15
    ranks = [SOURCES[name].rank(erratum.statement) for erratum in SOURCES[name].errata]
    ranked = zip(ranks, SOURCES[name].errata, strict=True)
    errata = [erratum for _, erratum in sorted(ranked, key=lambda one: list(Rank).index(one[0]))]
    words, _, authors = PAGES[name].read_text().partition("## What falls\n")
    authors, _, readings = authors.partition("## Readings\n")
    assert readings.count("\n") < 2 * len(claims_of(PACKS, name))  # a row each, and little beside
    assert authors.count("\n") < lines * len(errata)
    places = [authors.index(f"(`{erratum.statement}`)\n\n") for erratum in errata]
    assert places == sorted(places)
    assert "## Words and symbols\n" in words  # defined before they are used
    if name == "sim":  # what the basin is stands in one place
        assert (words + authors).count("risk gap is below") == 1


@each_source
def test_what_turns_a_theorem_round_comes_first(name):
    weights = [list(Weight).index(erratum.weight) for erratum in SOURCES[name].errata]
    assert weights == sorted(weights)
    assert len(set(weights)) == (len(Weight) if name == "sim" else 2)


def entry_gradient_at(A, x, h, b):
    """The gradient of g(b <softmax(A x), h>) from its definition."""
    f = softmax(A @ x)
    d = f @ h
    g = 1.0 / (1.0 + np.exp(-b * d))
    return g * (1.0 - g) * b * (A.T @ (f * (h - d)))


def logistic_slope(D):
    """K(D) as the erratum of lemma 3.13 writes it."""
    c = np.linspace(0.0, 1.0, 801)[:, None]
    a = np.linspace(0.0, 1.0, 801)[None, :]
    return float((D * (1 - c**2) * (1 - a**2) * (a + D * c * (1 - a**2) / 4) / 8).max())


def soft_objective(A, C, V):
    return np.linalg.norm(V) + C * sum(max(0.0, 1.0 - np.vdot(a, V)) for a in A)


@cache
def linear_slopes():
    """Of g and of g'."""
    s = np.linspace(-20.0, 20.0, 400_001)
    g = 1.0 / (1.0 + np.exp(-s))
    return (g * (1 - g)).max(), abs(g * (1 - g) * (1 - 2 * g)).max()


def linear(b, R, H, loss):
    """Largest Lipschitz constants of linear attention: of the loss and of its gradient."""
    slope, bend = linear_slopes()
    return {"loss": b * R * H * slope, "gradient": (b * R * H) ** 2 * bend}[loss]


TWO = np.array([[1.0], [-1.0]]) / np.sqrt(2.0)
"""Tokens of spectral norm 1; heads (1, -1) / sqrt 2 have norm 1 and differ by sqrt 2."""

COMPUTED = [  # statement, words, and what a number in them is of, computed another way
    ("stability-logistic", "has |b| R H / {:.0f}, half", lambda: 1 / best_slope()),
    (
        "stability-logistic",
        "attention's |b| R H / {:.0f}, and",
        lambda: 1 / linear(1, 1, 1, "loss"),
    ),
    (
        "stability-logistic",
        "b^2 R^2 H^2 / ({:.0f} sqrt 3)",
        lambda: 1 / linear(1, 1, 1, "gradient") / np.sqrt(3),
    ),
    ("stability-logistic", "|b| H >= {:.4f} and", lambda: crossed("logistic") + 1e-4),
    ("stability-logistic", "|b| H < {:.4f}.", lambda: crossed("logistic") - 1e-4),
    ("stability-l2", "|b| <= {:.3f} H", lambda: crossed("squared") - 3e-4),
    ("stability-l2", "|b| > {:.3f} H", lambda: crossed("squared") + 7e-4),
    ("lemma-3.13", "exceeds {:.2f} * 10^48.", lambda: math.floor(breaking() / 1e46) / 100),
    ("lemma-3.13", "(a + D c (1 - a^2)/4) / {:.0f}.", lambda: 8 * shape_of_the_constant()),
    ("definition-4.1", "is {:.0f} at V = 0", lambda: soft_objective([[1 / 16]], 10, [0.0])),
    ("definition-4.1", "and {:.0f} at X^mm", lambda: soft_objective([[1 / 16]], 10, [16.0])),
    ("basic-5", "constant is sqrt({:.0f})/4 (max", lambda: (4 * attended_slope()) ** 2),
    ("theorem-3.15", "{:.0f}/16 of that", lambda: dropped_share()),
]


def attended_slope():
    """The steepest <f, h> per osc(h) spread(A), of two tokens 1 and -1 and h = (1, -1)."""
    x, step = np.linspace(-2.0, 2.0, 4001), 1e-4
    values = np.tanh(np.stack([x - step, x + step]))
    return float((np.diff(values, axis=0) / (2 * step)).max()) / (2.0 * 2.0 / np.sqrt(2.0))


def dropped_share():
    """What is allowed where a sibling of theorem 3.15 falls, in sixteenths of delta."""
    names = " ".join(s.name for s in CLAIMS["sim/theorem-3.15:sharp-2"].siblings)
    return int(re.search(r"score (\d+)/16 as far below", names)[1])


def best_slope():
    """The steepest g(b <f, h>) per |b| R H over two tokens, h = (1, -1) / sqrt 2."""
    t, h = np.linspace(-3, 3, 1201), np.array([1.0, -1.0]) / np.sqrt(2)
    b = 1e-3
    return max(float(abs(entry_gradient_at(TWO, np.array([s]), h, b)[0])) for s in t) / b


@cache
def crossed(loss):
    """Where the constants of the two gradients cross, |b| in units of H."""
    low, high = 0.1, 10.0
    for _ in range(40):
        t = (low + high) / 2
        if loss == "logistic":
            # linear attention gains on softmax attention as labels grow
            above = softmax_gradient_constant(np.sqrt(2) * t) < linear(t, 1, 1, "gradient")
        else:
            above = squared(t) > 2.0
        low, high = (low, t) if above else (t, high)
    return high


def squared(t):
    """The largest w^2 k(r/w - 1/2) over heads of norm 1, for the label -t."""
    angle = np.linspace(0.0, np.pi / 2, 1201)[:, None]
    a = np.linspace(0.0, 0.6, 301)[None, :]
    w, r = np.cos(angle) + np.sin(angle), np.cos(angle) + t
    return float((w**2 * (1 - a**2) * ((r / w - 0.5) * a + (1 - 3 * a**2) / 4)).max())


def breaking():
    """The size from which on the curvature beats the printed bound at n = 2, R = 4."""
    log = math.log(3) + 3 * math.log(2) + 7 * math.log(4) + 13 * 16
    # for large D the maximum is at a = 0, c = 1/sqrt 3: D^2 c (1 - c^2) / 32
    c = 1 / math.sqrt(3)
    return math.exp((log - math.log(16 * c * (1 - c**2) / 32)) / 2)


def shape_of_the_constant():
    return logistic_slope(1.0) / softmax_gradient_constant(1.0)


@pytest.mark.parametrize(
    ("statement", "words", "number"),
    COMPUTED,
    ids=[f"{statement}-{words[:30]}" for statement, words, _ in COMPUTED],
)
def test_numbers_in_the_words_are_what_they_are_said_to_be(statement, words, number):
    erratum = SIM.erratum(f"sim/{statement}")
    said = " ".join((erratum.gist, erratum.printed, erratum.fails, erratum.repair))
    assert words.format(number()) in said


def test_the_orders_are_of_all_statements():
    listed = [statement for source in SOURCES.values() for statement in source.order]
    assert sorted(listed) == sorted({c.statement_id for c in CLAIMS.values()})


def proof_of(name):
    """The record of a run about the proof of a reading."""
    claim = CLAIMS[name]
    return {"proof": claim.proof or "", "linked": bool(claim.proof) and not claim.in_prose}


def reviewed_run():
    """A run that came to the reviewed verdicts; it has no numbers."""
    verdicts = {
        name: {"id": name, "siblings": [], **proof_of(name), **REVIEWED[name]}
        for name in CLAIMS
        if name in REVIEWED
    }
    files = [curated.shown(f, p) for f, p in curated.chosen(PACKS, CLAIMS.values()).items()]
    replays = {file: {"file": file, "result": "CONFIRMED"} for file in files}
    return Run("quick", 0, tuple(verdicts), verdicts, True, 0, tuple(files), replays)


@cache
def made(name):
    """The page of a source after that run."""
    return source_page(name, PACKS, reviewed_run(), PAGES[name])


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


@each_source
def test_the_committed_page_is_what_claims_files_and_words_make_it(name):
    there = PAGES[name].read_text()
    differs = list(difflib.unified_diff(without_numbers(there), without_numbers(made(name)), n=0))
    assert not differs, "\n".join(differs[:20]) + __doc__
    numbers = re.findall(r"\| (\d+) \|$", there, re.M)
    assert len(numbers) == len(claims_of(PACKS, name))


def test_the_mask_hides_numbers_alone():
    page = PAGES["sim"].read_text()
    for old, new in (("holds / numeric", "refuted / numeric"), ("x = [0]", "x = [1]")):
        assert old in page
        assert without_numbers(page.replace(old, new, 1)) != without_numbers(page)


@each_source
def test_every_link_of_the_committed_page_leads_somewhere(name):
    page = PAGES[name].read_text()
    headings = re.findall(r"^#+ (.*)", page, re.M)
    slugs = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
    links = re.findall(r"\]\(([^)]*)\)", page)
    assert len(links) > len(claims_of(PACKS, name))
    for link in links:
        if link.startswith("#"):
            assert link[1:] in slugs
        else:
            assert (PAGES[name].parent / unquote(link)).is_file()


def test_a_verdict_that_is_not_the_reviewed_one_changes_the_page():
    run = reviewed_run()
    name = "mm/assumption-b:literal-1"
    other = {**run.verdicts, name: {**run.verdicts[name], "truth": "undecided"}}
    page = source_page("mm", PACKS, replace(run, verdicts=other), PAGES["mm"])
    assert page != made("mm")


def test_the_committed_drawing_is_of_what_statements_rest_on():
    run = reviewed_run()
    drawn = drawing(source_view(name, PACKS, run) for name in sorted(SOURCES))
    assert (PAGES["sim"].parent / "statements.svg").read_text() == drawn
    assert drawn.count("<rect x=") == len({c.statement_id for c in CLAIMS.values()})


@each_source
def test_a_page_names_no_machine(name):
    page = PAGES[name].read_text()
    assert str(Path(PACK.folder).parent) not in page
    assert "](/" not in page
