"""One violation in one row of one batch is judged, wherever it lies; what is not judged is counted.

A searcher runs twice from one seed: on a claim that holds, whose rows are noted, and on one that
fails at one of these rows alone. Heights are the same everywhere else, so it sees the same batches.
"""

import functools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st

from attsvm import Integer, Real, Vector, question
from attsvm.theory import Primitive, Reading, Records, Statement, changed
from attsvm.theory.instance import codec
from attsvm.theory.run.examining import examine_case
from attsvm.theory.run.tally import Tally
from attsvm.theory.search import GUIDED, Scout
from attsvm.theory.search.hunt import hunt
from attsvm.theory.search.scout import Spent
from attsvm.theory.search.suspects import Suspects
from tests.searching import few, nightly
from tests.theory.search.scouting import from_nothing

KINDS = {
    "plain": lambda m, hit: m.at_most(hit, m.exact("1/2")),
    "strict": lambda m, hit: m.below(hit, m.exact("1/2")),
    "touching": lambda m, hit: m.below(m.exact(1), 2 - hit),
    "touching at 0": lambda m, hit: m.below(m.exact(0), 1 - hit),
    "equal": lambda m, hit: m.equal(hit, m.exact(0)),
}
"""Relations that hold if `hit` is 0 and fail if it is 1."""

SOME = ["plain", "touching at 0"]
"""Relations by day for a searcher that passes its suspects on as another one does."""


def hits(m, values, planted):
    """1 where the values are those that were planted, else 0."""
    if planted is None or len(values) != len(planted):
        return 0 * sum((m.abs(x) for x in values), m.exact(0))
    apart = (m.abs(x - m.exact(Fraction(p))) for x, p in zip(values, planted, strict=True))
    return m.is_zero(sum(apart, m.exact(0)))


def numbers(variables, of):
    """A claim about variables that fails at one instance alone, by kind and instance."""

    def claim(kind, planted):
        return question(lambda m, v: KINDS[kind](m, hits(m, of(v), planted)), **variables).claim

    return claim


@dataclass(frozen=True, slots=True)
class Two:
    """Two numbers and two integers."""

    x: float
    y: float
    j: int
    k: int


TWO = st.builds(
    Two,
    st.integers(-64, 64).map(lambda k: k / 16),
    st.integers(-64, 64).map(lambda k: k / 16),
    st.integers(1, 9),
    st.integers(1, 9),
)


def records(kind, planted):
    """The same about two integers of records."""
    made = Statement(
        "toy/planted",
        source="toys",
        place="here",
        printed="a toy",
        variables=Records(Two, TWO),
        conclusion=lambda m, v, c: KINDS[kind](
            m, hits(m, [m.values(v.j), m.values(v.k)], planted) + c
        ),
        readings={"literal": Reading("holds", constants={"c": 0}, siblings={"1": changed(c=1)})},
    )
    return made.claim("literal")


ODD = Primitive(r"O({0})", "a number", balls=lambda x: 0 * x, floats=lambda x: 0 * x)


def beside(also):
    """The claim about two numbers, joined with another relation, which always holds."""

    def claim(kind, planted):
        return question(
            lambda m, v: m.all_of(
                KINDS[kind](m, hits(m, [v.x, v.y], planted)), also(m, 1 + v.x * v.x)
            ),
            x=Real(),
            y=Real(),
        ).claim

    return claim


def rounded(m, x):
    """A relation that floats see violated at most x, as exp(log(x)) is rounded."""
    return m.at_most(m.abs(m.exp(m.log(x)) - x), x * m.exact(Fraction(1, 2**80)))


FAR = {name: Integer(1, 50, beyond=True) for name in "xy"}
PLANE = numbers({"x": Real(), "y": Real()}, lambda v: [v.x, v.y])
LATTICE = numbers(FAR, lambda v: [v.x, v.y])
COUNTED = numbers(FAR, lambda v: [len(range(v.x)), len(range(v.y))])
ARRAYS = numbers({"a": Vector("n")}, lambda v: v.a.ravel().tolist())

HELD = numbers(FAR, lambda v: [len(range(v.x)), v.y])

SEARCHED = {
    "screen, dyadic": ("screen", PLANE),
    "screen, integers": ("screen", LATTICE),
    "screen, arrays": ("screen", ARRAYS),
    "screen, rounding": ("screen", beside(rounded)),
    "screen, no bound": ("screen", beside(lambda m, x: m.at_most(ODD(m, x), 1))),
    "sizes, arrays": ("sizes", ARRAYS),
    "integers in batches": ("integers", LATTICE),
    "integers one by one": ("integers", COUNTED),
    "integers, one of them held": ("integers", HELD),
    "lines of records": ("integers", records),
}


def run(searcher, claim, seed):
    """The scout after the searcher worked alone, in small batches."""
    tally = Tally(claim, claim.part(""), 0)
    if not claim.formula.batches:
        for case in (Two(0.5, 0.25, 1, 2), Two(-1.0, 2.0, 3, 3)):
            examine_case(tally, case, "test")
    scout = Scout(tally, searcher, 4 if searcher == "integers" else 40, numbers=2**8)
    GUIDED[searcher].guide(scout, np.random.default_rng(seed))
    return scout


def noting(searcher, claim, seed):
    """The scout after the searcher worked alone, and its batches: the numbers (rows, size)."""
    batches = []
    screened = Scout.screened

    def noted(method):
        def call(self, fitted, shape, suspect, height):
            batch = len(height)
            rows = [np.broadcast_to(x, (*np.shape(x)[:-1], batch)) for x in fitted.values()]
            batches.append(np.concatenate([row.reshape(-1, batch) for row in rows]).T)
            return method(self, fitted, shape, suspect, height)

        return call

    def on_a_line(self, document):
        case = screened(self, document)
        if case is not None:
            batches.append(np.array([[case.j, case.k]], dtype=float))
        return case

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Suspects, "hold", noted(Suspects.hold))
        patch.setattr(Suspects, "examine", noted(Suspects.examine))
        patch.setattr(Scout, "screened", on_a_line)
        return run(searcher, claim, seed), batches


@functools.cache
def all_hold(name, kind, seed):
    """The batches of a searcher on the claim that holds."""
    searcher, claim = SEARCHED[name]
    scout, batches = noting(searcher, claim(kind, None), seed)
    assert scout.found is None
    assert (scout.tally.seen.unjudged > 0) is (name == "screen, rounding")
    return batches


WHOLE = ("screen, dyadic", "integers in batches", "lines of records")
"""Searchers that are tried on all relations also by day, one for each way to pass on suspects."""
TRIED = [
    (name, kind) for name in SEARCHED for kind in (KINDS if nightly() or name in WHOLE else SOME)
]


@pytest.mark.parametrize(("name", "kind"), TRIED)
def test_one_violation_in_one_row_of_one_batch_is_judged(name, kind):
    """Coincidences use constants of the formula, also planted ones: rows may differ.

    One row is planted, and every night four.
    """
    searcher, claim = SEARCHED[name]
    batches = all_hold(name, kind, 3)
    generator = np.random.default_rng([*f"{name} {kind}".encode()])
    found = tried = 0
    while found < few(4):
        tried += 1
        assert tried <= 12, f"{found} of 12 planted rows came"
        batch = batches[int(generator.integers(len(batches)))]
        row = batch[int(generator.integers(len(batch)))].tolist()
        scout, seen = noting(searcher, claim(kind, row), 3)
        came = any(len(each[0]) == len(row) and (each == row).all(1).any() for each in seen)
        assert (scout.found is not None) == came, row
        found += came


# integers by name


def pell(conclusion):
    variables = {name: Integer(1, 50, beyond=True) for name in "xy"}
    return small(variables, lambda m, v: conclusion(m, m.abs(v.x * v.x - 13 * v.y * v.y - 1)))


def small(variables, conclusion, *hypotheses):
    return question(conclusion, *hypotheses, **variables).claim


TAXICAB = small(
    {name: Integer(1, 21) for name in "abcd"},
    lambda m, v: m.at_most(
        1, m.abs(m.power(v.a, 3) + m.power(v.b, 3) - m.power(v.c, 3) - m.power(v.d, 3))
    ),
    lambda m, v: m.below(v.a, v.c),
    lambda m, v: m.at_most(v.c, v.d),
    lambda m, v: m.below(v.d, v.b),
)
EGYPTIAN = small(
    {name: Integer(1, 20, beyond=True) for name in "abcd"},
    lambda m, v: m.at_most(v.d, 40),
    lambda m, v: m.equal(
        m.sum(m.array([m.exact(1) / k for k in (v.a, v.b, v.c, v.d)])), m.exact(1)
    ),
    lambda m, v: m.below(v.a, v.b),
    lambda m, v: m.below(v.b, v.c),
    lambda m, v: m.below(v.c, v.d),
)


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        (pell(lambda m, apart: m.below(0, apart)), [649, 180]),
        (pell(lambda m, apart: m.at_most(1, apart)), [649, 180]),
        (TAXICAB, [1, 12, 9, 10]),
        (EGYPTIAN, [2, 3, 7, 42]),
    ],
    ids=["pell, strict", "pell", "taxicab", "egyptian"],
)
def test_integers_that_violate_are_found_in_one_turn(claim, found):
    scout = from_nothing(claim, "integers", 96, once=True)
    assert scout.found is not None
    case = codec.decode(scout.found.instance, claim.instance_type)
    assert [getattr(case, name) for name in claim.formula.variables] == found
    assert scout.spent <= 12


# what is not judged


def alone(claim, searcher):
    scout = from_nothing(claim, searcher, 96)
    assert scout.found is None
    return scout.tally.seen


FEW = {name: Integer(1, 30) for name in "xy"}


@pytest.mark.parametrize(
    ("conclusion", "open_", "exhausted"),
    [
        (lambda m, v: m.at_most(v.x, v.x * v.y), 0, True),
        (lambda m, v: m.at_most(1, m.exact(9) / v.x + v.y), 0, True),
        (lambda m, v: m.at_most(m.power(v.x, 12), m.power(v.x, 12) * v.y), 0, True),
        (lambda m, v: m.at_most(m.log(v.x * v.y), m.log(v.x) + m.log(v.y)), 900, False),
    ],
    ids=["exact", "bounded", "in rationals", "open"],
)
def test_a_box_is_screened_if_no_choice_in_it_is_open(conclusion, open_, exhausted):
    seen = alone(small(FEW, conclusion), "integers")
    assert seen.exhausted == ({"x": [1, 30], "y": [1, 30]} if exhausted else {})
    assert open_ / 2 <= seen.unjudged <= open_
    assert seen.screened == 900


def test_open_rows_are_counted_and_not_decided_after_the_time_is_up():
    claim = small(FEW, lambda m, v: m.at_most(m.log(v.x * v.y), m.log(v.x) + m.log(v.y)))
    scout = Scout(Tally(claim, claim.part(""), 0), "integers", 96, deadline=1.0)
    rows = {"x": np.arange(2.0, 30.0), "y": np.arange(2.0, 30.0)}
    suspects = Suspects(scout, claim.formula, 8)
    with pytest.raises(Spent):
        suspects.examine(rows, {}, np.ones(28, dtype=bool), np.ones(28))
    assert (scout.spent, scout.tally.seen.unjudged) == (0, 28)


def test_choices_are_told_apart_where_a_formula_counts_with_an_integer():
    def conclusion(m, v):
        k = m.exact(len(range(v.x)))
        return m.at_most(m.log(k * v.y), m.log(k) + m.log(m.exact(1) * v.y))

    seen = alone(small({name: Integer(2, 9) for name in "xy"}, conclusion), "integers")
    assert 64 - 8 <= seen.unjudged <= 64


def test_a_violation_that_floats_cannot_see_lies_in_no_screened_box():
    """Of numbers beyond 2^53 floats see |x^9 - y^9 - 1| = 0 or 2 as 2 or more, or as 0."""
    far = {name: Integer(2**26, 2**26 + 9) for name in "xy"}

    def off(m, v):
        return m.abs(m.power(v.x, 3) - m.power(v.y, 3) - 7 * m.power(v.x - v.y, 2))

    wrong = small(far, lambda m, v: m.any_of(m.at_most(1, off(m, v)), m.below(v.x, v.y)))
    assert from_nothing(wrong, "integers", 96).found is not None


@pytest.mark.parametrize("searcher", ["screen", "integers"])
def test_rows_that_floats_make_0_of_are_counted_and_told(searcher):
    domain = {"x": Real((0, 6))} if searcher == "screen" else {"x": Integer(1, 400)}
    claim = small(domain, lambda m, v: m.above(m.exp(-m.square(v.x)), m.exact(0)))
    seen = alone(claim, searcher)
    assert (seen.unjudged > 100) == (searcher == "screen")  # balls decide integers one by one


def test_the_account_of_a_hunt_tells_what_was_not_judged():
    claim = small({"x": Real((0, 6))}, lambda m, v: m.above(m.exp(-m.square(v.x)), m.exact(0)))
    account = hunt(claim, seconds=None, rounds=1, searchers=["drawn", "screen"])
    document = account.json()
    assert document["unjudged"] == account.seen.unjudged > 0


def test_a_box_with_open_rows_is_not_said_to_be_screened_by_the_next_box():
    """Both boxes hold (19, 19), at which the sides differ by less than floats tell."""
    claim = small(
        {"x": Integer(1, 20, beyond=True), "y": Integer(1, 20, beyond=True)},
        lambda m, v: m.at_most(
            m.log(v.x * v.y) + m.exact(Fraction(1, 10**60)) * m.is_zero(v.x + v.y - 38),
            m.log(v.x) + m.log(v.y),
        ),
        lambda m, v: m.at_most(v.x, 20),
        lambda m, v: m.at_most(v.y, 20),
    )
    seen = alone(claim, "integers")
    assert seen.unjudged > 0
    assert seen.exhausted == {}
