"""The shipped claims are complete, and the searchers find what is false without being told where.

The explicit instances of claims and siblings are taken away here: they are published or already
known, and prove nothing about the power of the search.
"""

import ast
import importlib
import pkgutil
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import properties
from attsvm.strategies import GRID, arrays
from attsvm.theory import PROFILES, load_packs
from attsvm.theory.record import codec
from attsvm.theory.run.check import check_part
from attsvm.theory.run.confirm import confirm

(PACK,) = load_packs()
CLAIMS = {c.id: c for c in PACK.claims}
FOLDER = Path(properties.__file__).parent
QUICK = PROFILES["quick"]
KINDS = "theorem|lemma|corollary|proposition|definition|observation|assumption|remark"

FALSE_LITERALS = [
    *("sim/lemma-3.11:literal", "sim/lemma-3.13:literal", "tf/lemma-2:literal"),
    *(f"sim/stability-logistic:literal-{k}" for k in (1, 2, 4)),
]
SHARP = ["sim/lemma-3.12:sharp", "sim/lemma-3.13:sharp", "sim/stability-logistic:sharp"]
TARGETS = [(name, "") for name in FALSE_LITERALS] + [
    (name, s.name) for name in SHARP for s in CLAIMS[name].siblings
]
SEEDS = range(8)


def untold(claim):
    """The claim without its explicit instances."""
    siblings = tuple(replace(s, examples=()) for s in claim.siblings)
    return replace(claim, examples=(), siblings=siblings)


def searched(name, part, seed):
    claim = untold(CLAIMS[name])
    outcome = check_part(claim, claim.part(part), QUICK, 0, seed)
    assert outcome.error is None
    return outcome


@pytest.mark.parametrize(("name", "part"), TARGETS)
def test_what_is_false_is_found_without_explicit_instances(name, part):
    found = []
    for seed in SEEDS:
        outcome = searched(name, part, seed)
        if outcome.refuted is not None:
            found.append(outcome.refuted)
        if len(found) == 2:
            break
    assert len(found) == 2
    claim = CLAIMS[name]
    checked = claim.part(part)
    for refuted in found:
        case = codec.decode(refuted.instance, claim.instance_type)
        assert all(h.holds(case) for h in checked.hypotheses)
        assert confirm(claim, checked.parameters, case, refuted.slack["kind"]).refuted
        assert refuted.found_by != "explicit instance"


@pytest.mark.parametrize("seed", [0, 1])
def test_the_shrunk_counterexample_of_lemma_3_11_can_be_read(seed):
    claim = CLAIMS["sim/lemma-3.11:literal"]
    refuted = searched(claim.id, "", seed).refuted
    case = codec.decode(refuted.instance, claim.instance_type)
    assert case.A.shape[0] <= 2
    assert case.A.shape[1] == 1
    entries = [*case.A.ravel(), *case.x, *case.h, case.b]
    assert max(Fraction(x).denominator for x in entries) <= 8
    assert max(abs(x) for x in entries) <= 8
    assert sum(x == 0 for x in entries) >= 2


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_a_claim_says_what_where_and_by_whom_and_has_false_siblings(claim):
    assert len(claim.statement) > 10
    assert len(claim.source) > 10
    assert re.search(r"\d|[A-Z]", claim.place)
    assert len(claim.siblings) >= (2 if claim.formula is None else 1)
    assert len({s.name for s in claim.siblings}) == len(claim.siblings)
    assert claim.conclusion.__doc__


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_the_examples_of_a_claim_survive_their_file(claim):
    examples = [*claim.examples, *(x for s in claim.siblings for x in s.examples)]
    assert all(
        codec.encode(codec.canonical(x, claim.instance_type)) == codec.encode(x) for x in examples
    )


def test_every_dependency_is_a_claim_that_is_expected_to_hold():
    for claim in CLAIMS.values():
        for needed in claim.depends_on:
            assert str(CLAIMS[needed].expected.truth) in ("holds", "proved")


def test_every_statement_has_a_literal_reading_or_says_why_there_is_none():
    literal = {c.statement_id for c in CLAIMS.values() if c.reading.startswith("literal")}
    for claim in CLAIMS.values():
        module = ast.parse(Path(claim.file).read_text())
        assert claim.statement_id in literal or "literal" in ast.get_docstring(module).lower()


def test_a_statement_whose_literal_reading_is_false_has_an_amended_one():
    for claim in CLAIMS.values():
        if claim.reading.startswith("literal") and str(claim.expected.truth) == "refuted":
            others = [c for c in CLAIMS.values() if c.statement_id == claim.statement_id]
            assert any(str(c.expected.truth) in ("holds", "proved") for c in others)


FILES = sorted({Path(c.file) for c in CLAIMS.values()})


@pytest.mark.parametrize("path", FILES, ids=[f.stem for f in FILES])
def test_a_file_of_claims_is_named_by_its_statement_and_explains_it(path):
    home = path.parent if path.parent.parent == FOLDER else path.parent.parent  # a package
    assert home.parent == FOLDER
    inside = [c for c in CLAIMS.values() if Path(c.file) == path]
    (statement,) = {c.statement_id for c in inside}
    name = re.sub(r"[-.]", "_", statement.partition("/")[2])
    assert path.stem == name or path.parent.name == name
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    assert len(docstring.splitlines()) >= 3
    kind, _, number = statement.partition("/")[2].partition("-")
    if re.fullmatch(KINDS, kind):
        assert f"{kind.capitalize()} {number.split('-')[0]}" in docstring


def test_every_module_of_the_pack_is_imported_without_effect_on_the_list_of_claims():
    names = [m.name for m in pkgutil.walk_packages(properties.__path__, "properties.")]
    for name in names:
        assert importlib.import_module(name).__doc__
    assert {c.id: c for c in load_packs()[0].claims} == CLAIMS


# strategies


def test_the_grid_is_exact_dyadic_with_zeros_first_and_simple_values_early():
    assert GRID.shape == (256,)
    assert (np.round(GRID * 32) == GRID * 32).all()
    assert np.abs(GRID).max() <= 4
    zeros = np.flatnonzero(GRID == 0)
    assert (zeros == np.arange(len(zeros))).all()
    assert len(zeros) >= 16
    first = {float(value): k for k, value in reversed(list(enumerate(GRID)))}
    assert first[1.0] < first[2.0] < first[0.5] < first[0.25] < first[0.125]
    assert set(-GRID) == set(GRID)


def test_arrays_shrink_to_zeros():
    import hypothesis

    settings = hypothesis.settings(derandomize=True, database=None, deadline=None)
    smallest = hypothesis.find(arrays(2, 3), lambda a: True, settings=settings)
    assert (smallest == 0).all()
    smallest = hypothesis.find(arrays(2, 3), lambda a: np.abs(a).sum() >= 1, settings=settings)
    assert sorted(np.abs(smallest).ravel()) == [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_drawn_instances_are_finite_and_survive_their_file(claim):
    import hypothesis

    kept = []

    @hypothesis.settings(
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=5,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(claim.data)
    def draw(case):
        kept.append(codec.canonical(case, claim.instance_type))

    draw()
    assert kept
    for case in kept:
        assert "nan" not in str(codec.encode(case))
        assert "inf" not in str(codec.encode(case))
