"""Lemmas of linked proofs on numbers: none is false, and none that says more is true.

Each lemma is applied to letters of a model in which its hypotheses for all values hold. The other
hypotheses are assumptions, so that they hold only at some of the drawn values.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from attsvm.theory.proof import facts, lemmas
from attsvm.theory.proof.facts import K, ge, proof
from attsvm.theory.proof.terms import (
    EXP,
    POSITIVE,
    REAL,
    STEP,
    VECTOR,
    Function,
    Letter,
    Sort,
    as_term,
)
from tests.theory.proof.evaluation import Model, evaluated, stretched

ROW, COLUMN = Sort("row", index=True), Sort("column", index=True)
row, column = Letter("row", ROW), Letter("column", COLUMN)
x, y, z, t = (Letter(name) for name in "xyzt")
X, Y, Z = x.term, y.term, z.term
M, W, P = (Letter(name, VECTOR) for name in "MWP")
A, D = Function("A", (ROW, COLUMN)), Function("D", (ROW,), VECTOR)
unit, square, minus = Function("U", (), VECTOR), Function("h", (REAL,)), Function("fall", (REAL,))
sine, steep = Function("sine", (REAL,)), Function("steep", (REAL,))
rising, v = Function("s", (STEP,)), Function("v", (COLUMN,))
ENTRIES = np.array([[2.0, 1.0], [0.0, -1.0], [1.0, 1.0]])
ROWS = np.array([[1.0, 2.0], [1.0, -1.0], [3.0, 0.0]])  # nearest to 0: (1, 0)
MODEL = Model(
    {
        A: lambda i, j: ENTRIES[i, j],
        D: lambda i: ROWS[i],
        unit: lambda: np.array([0.6, 0.8]),
        square: lambda u: u * u / 2,
        minus: lambda u: -u,
        sine: math.sin,
        steep: lambda u: math.exp(5 * u),
        rising: lambda k: float(min(k, 3)),
        v: stretched(ENTRIES)["top"],
        **stretched(ENTRIES),
        "w": lambda i: (1 / 3, 2 / 3, 0.0)[i],
        "p": lambda k, x: np.linalg.lstsq(ROWS, x * ENTRIES[:, k], None)[0],
        "least steep": lambda low, high: math.exp(5 * low),
        "most steep": lambda low, high: math.exp(5 * high),
        "d": lambda point, off: off,  # |sin'| <= 1
        "B": lambda: 3.0,
    },
    {ROW: range(3), COLUMN: range(2)},
    8,
    {
        REAL: [-2.0, -1.0, -0.0001, 0.0, 0.0001, 1.0, 2.0, 5.0],
        VECTOR: [np.array(v) for v in ((0.0, 0.0), (0.6, 0.8), (1.2, 1.6), (-2.0, 1.0))],
    },
)

NEARLY = as_term(29_999) / 10_000
INSTANCES = {
    "CAUCHY_SCHWARZ": (M.term, W.term),
    "LENGTH": (M.term,),
    "RECIPROCAL": (X**5,),
    "ROOT": (X,),
    "SIZE": (X,),
    "INDICATOR": (X,),
    "LARGER": (X, Y),
    "EXPONENTIAL": (5 * X,),
    "EXPONENTIAL_OF_SUM": (X, Y),
    "LOGARITHM": (X,),
    "DISCRIMINANT": (t, as_term(1), as_term(2), as_term(4)),
    "SPECTRAL": (X * A(row, column), row, column, v(column)),
    "STRETCHED": ("top", A(row, column), row, column),
    "NEAREST": ("w", D(row), row),
    "LEAST_SQUARES": ("p", D(row), X * A(row, column), row),
    "EXTREMES": (steep, x, Y, Z),
    "CONTINUITY": ("d", sine, x, Y, Z),
    "RISES": (X - EXP(-X), x, {}, Y, Z),
    "DESCENT": (
        *(square(P.term @ unit()), P, {square: minus}, W.term),
        *(W.term + Z * minus(W.term @ unit()) * unit(), Z, as_term(1), M),
    ),
    "FINITELY_OFTEN": (rising(K), as_term(1), NEARLY, ge(NEARLY, rising(K))),
    "SETTLED": ("B", rising(K)),
    "HEINE_BOREL": (
        *(rising(K) / 3 * unit(), 3 - rising(K), Letter("off", POSITIVE), P, as_term(1) / 10_000),
        ge(rising(K), NEARLY),
    ),
}
"""Arguments of each lemma."""
LOOSE = {
    "RISES": "no constant occurs in it",
    "FINITELY_OFTEN": "its conclusion is the negation of any condition",
    "SETTLED": "B may be any bound",
}
"""Lemmas with an instance that is not tight in some monomial, with the reason."""


def tried(name, changed=lambda text: [text], dropped=None):
    """Results of the conclusions of a lemma, each changed; and the proof with these conclusions.

    Args:
        name: the lemma.
        changed: a function of a conclusion that returns propositions in its place.
        dropped: the place of a hypothesis that is not assumed.
    """
    with proof() as whole:
        instance = getattr(lemmas, name).at(whole.named, *INSTANCES[name])
        given = {p for k, p in assumed(instance) if k != dropped}
        for one in instance.concludes:
            for text in changed(one.proposition):
                facts.made(text, name, (), one.assumptions | given)
    return evaluated(whole, MODEL, tries=600), whole


def assumed(instance):
    """The hypotheses of an instance for the same values as its conclusions, by their places."""
    for k, one in enumerate(instance.needed):
        if not (one.binds or one.assumptions or one.proposition.eventually):
            yield k, one.proposition


@pytest.mark.parametrize(
    ("proposition", "text"),
    [
        (ge(X, 2 * Y + 3), "x >= 2*y + 3"),
        (facts.gt(-X, Y - Z), "z > x + y"),
        (facts.eq(X / 2, -1), "1 + 1/2*x == 0"),
        (facts.ev(ge(0, X)), "in the end 0 >= x"),
    ],
)
def test_a_proposition_is_printed_with_its_negative_terms_on_the_right(proposition, text):
    assert str(proposition) == text


def test_every_lemma_has_an_instance():
    assert {*INSTANCES} == {n for n, one in vars(lemmas).items() if isinstance(one, lemmas.Lemma)}


@pytest.mark.parametrize("name", INSTANCES)
def test_no_lemma_is_false_on_numbers(name):
    tally, _ = tried(name)
    assert (tally.false, tally.open, tally.untried) == ([], [], [])


@pytest.mark.parametrize("name", INSTANCES)
def test_a_lemma_that_says_more_is_false(name):
    tally, _ = tried(name, lambda text: [replace(text, term=text.term - as_term(1) / 1000)])
    assert (tally.confirmed, tally.untried) == ([], [])


@pytest.mark.parametrize("name", sorted({*INSTANCES} - {*LOOSE}))
def test_a_lemma_with_another_factor_is_false(name):
    """Each monomial of a conclusion by 1/1000 larger or smaller: one of the two is false."""
    count = 0

    def scaled(text):
        nonlocal count
        for monomial, c in text.term.parts.items() if len(text.term.parts) > 1 else ():
            count += 1
            part = type(text.term)({monomial: c / 1000})
            yield from (replace(text, term=text.term + sign * part) for sign in (1, -1))

    tally, whole = tried(name, scaled)
    red = {fact.number for fact, _ in tally.false} | {fact.number for fact in tally.open}
    for place in range(count):
        assert red & {2 * place + 1, 2 * place + 2}, whole.facts[2 * place]


@pytest.mark.parametrize(
    "name", ["RECIPROCAL", "ROOT", "LOGARITHM", "RISES", "CONTINUITY", "DESCENT"]
)
def test_a_lemma_without_one_of_its_hypotheses_is_false(name):
    with proof() as whole:
        instance = getattr(lemmas, name).at(whole.named, *INSTANCES[name])
    places = [k for k, one in assumed(instance) if one.letters]
    assert places
    for k in places:
        assert tried(name, dropped=k)[0].false, instance.needed[k]
