"""Lemma 3.13 and its kin: spoilt proofs fall, searches attain the constants, enclosures hold."""

import functools
import inspect
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from attsvm.errors import ProofError
from attsvm.exact import lipschitz as exact
from attsvm.exact import rational
from attsvm.lipschitz import (
    log_loss_gradient_constant,
    squared_gradient_constant,
    squared_normed_constants,
)
from attsvm.theory import Hypothesis, Reading, Statement, Vector
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.declaration.judge import decided, judge
from properties.sim import lemma_3_13, lemma_3_13_hessian, lemma_3_13_l2, lemma_3_13_log_loss
from properties.sim._support import entry_loss
from symbolic import curvature
from symbolic.sim import lemma_3_13 as proof
from symbolic.sim import lemma_3_13_l2 as proof_l2
from symbolic.sim import lemma_3_13_log_loss as proof_log_loss
from tests.searching import screened
from tests.theory.proof import evaluation

pytestmark = pytest.mark.usefixtures("steps")

EPS = np.finfo(float).eps
LEMMA, HESSIAN = lemma_3_13.LEMMA, lemma_3_13_hessian.LEMMA
LOG_LOSS, SQUARED = lemma_3_13_log_loss.LEMMA, lemma_3_13_l2.LEMMA


def attained(lemma, near, power):
    """The largest ratio that screening reaches, without instances of the author's.

    Values h are drawn about 2^power, and what does not meet the formula `near` is left out.
    """
    claim = lemma.claim("sharp")
    (held,) = Statement(
        "test/attained",
        source="a test",
        place="here",
        printed=lemma.printed,
        cost=2,
        variables={**claim.formula.variables, "h": Vector("n", (power,))},
        hypotheses=(Hypothesis("near", near),),
        conclusion=lemma.conclusion,
        readings={"sharp": Reading("holds", constants=claim.formula.constants, tight=True)},
    ).claims
    scout = screened(held, looks=100)
    assert scout.found is None
    assert scout.tally.seen.probed > 0
    return scout.tally.seen.tightness


def oscillates(power):
    """Whether |b| osc(h) is 2^power up to a factor of 2."""

    def near(m, v):
        D = m.abs(v.b) * m.oscillation(v.h)
        low, high = (m.exact(2) * m.exact(f"{2.0 ** (power + k)}") for k in (-2, 0))
        return m.all_of(m.at_least(D, low), m.at_most(D, high))

    return near


@pytest.mark.parametrize(
    ("lemma", "power"),
    [(LEMMA, -16), (LEMMA, 10), (HESSIAN, 6), (LOG_LOSS, -4)],
    ids=lambda x: getattr(x, "id", str(x)),
)
def test_a_search_attains_the_constant_at_any_oscillation(lemma, power):
    """Far from oscillations about 1, at which the siblings of the claims fall."""
    assert 0.99 <= attained(lemma, oscillates(power), power) <= 1.0


@pytest.mark.parametrize("place", ["0", "16"])
def test_a_search_attains_the_constant_of_the_square_for_any_target(place):
    def near(m, v):
        w, r = m.oscillation(v.h), m.largest(v.h - v.b)
        beside, far = r - w / 2, m.exact(place) * w
        return m.all_of(m.at_most(m.abs(beside - far), far / 10), m.above(w, m.exact(0)))

    assert 0.99 <= attained(SQUARED, near, 0) <= 1.0


def test_two_tokens_attain_the_constant_with_differences_whatever_they_have_in_common():
    """(7, 1) and (7, -1): ||A|| is 10 and the differences give sqrt 2."""
    A = np.array([[7.0, 1.0], [7.0, -1.0]])
    (close,) = LEMMA.claim("sharp").examples
    zero = np.zeros(1)
    case = replace(close, A=A, x=np.append(zero, close.x), y=np.append(zero, close.y))
    assert LEMMA.claim("sharp-2").conclusion(case).ratio > 0.99
    assert LEMMA.claim("sharp").conclusion(case).ratio < 0.03


def test_a_hessian_beyond_floats_is_judged():
    claim = HESSIAN.claim("sharp")
    (close,) = claim.examples
    for power in (400, 1000):
        assert judge(claim.formula, {}, replace(close, b=2.0**power)).holds


@given(st.floats(1e-50, 1e50), st.floats(1.0, 1e9))
def test_enclosed_constants_hold_those_of_the_log_loss_and_of_the_square(width, far):
    size = max(0.5 * width * far, 0.5 * width)
    for ball, value in (
        (exact.log_loss_gradient_constant(rational(width)), log_loss_gradient_constant(width)),
        (
            exact.squared_gradient_constant(rational(width), rational(size)),
            squared_gradient_constant(width, size),
        ),
        (
            exact.squared_normed_constant(rational(width), rational(size)),
            float(squared_normed_constants(np.array([width]), np.array([size]))[0]),
        ),
    ):
        assert abs(ball - arb(value)) <= 64 * EPS * value
        assert ball.rad() <= 1e-12 * ball.mid()


NEAR = [
    (LEMMA.claim("sharp"), (0,)),
    (HESSIAN.claim("sharp"), (0,)),
    (SQUARED.claim("sharp"), (0, 1)),
    (SQUARED.claim("sharp-2"), (0, 1)),
    (LOG_LOSS.claim("sharp"), (1, 2)),
]
"""Claims, and which of their explicit instances come near to the bound."""


@pytest.mark.parametrize(("claim", "places"), NEAR, ids=lambda x: getattr(x, "id", ""))
def test_examples_come_within_a_ten_thousandth_of_the_constant(claim, places):
    """On either side of where a formula or a regime changes."""
    for case in (claim.examples[k] for k in places):
        assert 0.9999 < judge(claim.formula, {}, case).ratio < 1.0
        assert judge(claim.formula, {"tightened": "0.9999"}, case).holds is False


# the proofs

LITTLE = sp.Rational(501, 500)


def wrong(function, factor):
    """The function with a part of its value multiplied by a factor."""
    return lambda *arguments: factor * function(*arguments)


@pytest.mark.parametrize(
    ("module", "name", "spoilt"),
    [
        (curvature, "P", (1 - curvature.a**2) / 2),
        (proof, "softmax_height", wrong(proof.softmax_height, LITTLE)),
        (proof, "softmax_height", wrong(proof.softmax_height, 1 / LITTLE)),
        (proof, "best_level", wrong(proof.best_level, LITTLE)),
        (proof_log_loss, "log_loss_below", wrong(proof_log_loss.log_loss_below, LITTLE)),
        (proof_log_loss, "log_loss_beyond", wrong(proof_log_loss.log_loss_beyond, LITTLE)),
        (proof_l2, "squared_height", wrong(proof_l2.squared_height, LITTLE)),
        (proof_l2, "squared_slope", lambda w, m, a: m * (1 - 3 * a * a) - w * a),
        (proof_l2, "normed_height", wrong(proof_l2.normed_height, LITTLE)),
        (proof_l2, "normed_slope", wrong(proof_l2.normed_slope, LITTLE)),
        (curvature, "brackets", lambda E: (E(1, 2) - E(1, 0) * E(0, 2), E(1, 1))),
        (curvature, "convex_residual", functools.partial(curvature.convex_residual, 2)),
        (curvature, "nested_residual", lambda: curvature.q),
        (curvature, "covariance", wrong(curvature.covariance, LITTLE)),
        (proof_l2, "squared_height", lambda w, m, a: (1 - a * a) * (m * a + w / 4) * w),
        (proof_l2, "height", wrong(proof_l2.height, sp.Rational(19, 20))),
        (proof_l2, "height", lambda x, a: (1 - a**2) * (x * a - (1 - 3 * a**2) / 4)),
    ],
)
def test_a_proof_with_one_part_spoilt_falls(module, name, spoilt, monkeypatch):
    prove = module.prove_bound if module is curvature else module.prove
    prove = module.prove_normed if name.startswith("normed") else prove
    monkeypatch.setattr(module, name, spoilt)
    with pytest.raises(ProofError):
        prove()


def test_a_critical_point_of_another_height_is_told_apart():
    """Step 7 decides where both slopes are 0: for a height without its cosine it is elsewhere."""
    p, b = sp.symbols("p b", real=True)
    m = b + sp.sin(p) / sp.sqrt(2)
    true, other = (proof_l2.squared_height(sp.sqrt(2) * w, m, proof_l2.a) for w in (sp.cos(p), 1))
    assert proof_l2.only_critical_residual(true, p, b) == 0
    assert proof_l2.only_critical_residual(other, p, b) != 0


LARGEST = [entry_loss.K, entry_loss.squared_constant, entry_loss.normed_constant]


@given(st.integers(1, 400))
def test_a_value_in_pieces_is_what_its_condition_says(D):
    one, D = entry_loss.log_loss_constant, fmpq(D, 40)
    pieces = [(decided(condition), x) for condition, x in one.pieces(BALLS, D)]
    ((_, value),) = (piece for piece in pieces if piece[0])
    assert arb(one.balls(D)).overlaps(arb(value))


@given(st.sampled_from(LARGEST), st.integers(0, 40), st.integers(10, 40), st.data())
def test_a_largest_value_is_at_least_its_heights_and_one_of_them(one, D, ratio, draw):
    """Linked proofs use no other property of it."""
    numbers = [fmpq(D, 4), fmpq(D * ratio, 80)][: len(one.of)]
    value = one.balls(*numbers)
    count = len(inspect.signature(one.largest).parameters) - 1 - len(numbers)
    places = [fmpq(draw.draw(st.integers(0, 64)), 64) for _ in range(count)]
    height = one.largest(BALLS, *numbers, *places)
    assert not arb(height) > arb(value)
    best = evaluation.best_of(one, [float(arb(x)) for x in numbers])
    assert one.largest(evaluation.ROOTS, *(float(arb(x)) for x in numbers), *best) == pytest.approx(
        float(arb(value).mid()), rel=1e-9
    )
