"""Two points under softmax: norms, hypotheses and constants of the seven bounds of section 3.3."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from attsvm.attention import softmax
from attsvm.errors import DataError
from attsvm.exact import rationals
from attsvm.strategies import arrays, sizes
from attsvm.theory import load_packs
from attsvm.theory.arithmetic import BALLS, entries
from attsvm.theory.arithmetic.notation import letters, written
from attsvm.theory.arithmetic.text import Text
from properties.sim import basic_1, basic_2, basic_3, basic_4, basic_6, basic_7
from properties.sim._support import bounds
from properties.sim.basic_5.conclusion import change, vector_change
from tests.searching import drawn

CLAIMS = {claim.id: claim for pack in load_packs() for claim in pack.claims}
MINE = sorted(k for k in CLAIMS if k.startswith(("sim/basic-", "sim/logistic-lipschitz")))
CLOSEST = "99.9% of the right side"


@pytest.mark.parametrize(
    ("constant", "value"),
    [
        (bounds.softmax_constant, 1 / 2),
        (bounds.entry_constant, math.sqrt(2.0) / 4.0),
        (bounds.outer_constant, 27.0**-0.25),
    ],
)
def test_the_constants_of_the_claims_are_close_balls(constant, value):
    with ctx.workprec(128):
        ball = arb(constant(BALLS))
        assert abs(ball - arb(value)) < 1e-15
        assert ball.rad() < 1e-30


def spread(A):
    return float(arb(BALLS.spread(exact(A))))


@given(st.data(), sizes(1, 4), sizes(1, 3))
def test_the_spread_replaces_the_spectral_norm(data, n, D):
    A, level = data.draw(arrays(n, D)), data.draw(arrays(D))
    size = spread(A)
    assert size <= np.linalg.norm(A, 2) * (1 + 1e-12)
    assert spread(A + level) == pytest.approx(size)
    v = data.draw(arrays(D))
    logits = A @ v
    reach = math.sqrt(2) * size * np.linalg.norm(v)
    assert logits.max() - logits.min() <= reach * (1 + 1e-12)


def test_the_spread_of_opposite_tokens_is_the_spectral_norm():
    assert spread(np.array([[3.0, 4.0], [-3.0, -4.0]])) == pytest.approx(5 * math.sqrt(2))
    assert spread(np.ones((1, 2))) == 0.0
    assert spread(np.array([[1e-200], [0.0]])) > 0.0


def exact(array):
    """An array in the judge's arithmetic."""
    return entries(rationals(array))


@given(st.data(), sizes(1, 4), sizes(1, 3))
def test_changes_are_what_they_say(data, n, D):
    """The norms of the claims, in balls, against norms of the matrices themselves in numpy."""
    A, h = data.draw(arrays(n, D)) * 2, data.draw(arrays(n))
    x, y = data.draw(arrays(D)), data.draw(arrays(D))
    v = SimpleNamespace(A=exact(A), x=exact(x), y=exact(y), h=exact(h), b=3, z=exact(h))
    f, g = softmax(A @ x), softmax(A @ y)
    outer = np.outer(f, f) - np.outer(g, g)
    pairs = [
        (basic_4.sharp(BALLS, v).left, np.linalg.norm(f - g)),
        (change(BALLS, v), abs((f - g) @ h)),
        (vector_change(BALLS, v), np.linalg.norm(f - g)),
        (basic_6.change(BALLS, v, "spectral"), np.linalg.norm(np.diag(f) - np.diag(g), 2)),
        (basic_6.change(BALLS, v, "frobenius"), np.linalg.norm(np.diag(f) - np.diag(g))),
        (basic_7.change(BALLS, v, "spectral"), np.abs(np.linalg.eigvalsh(outer)).max()),
        (basic_7.change(BALLS, v, "frobenius"), math.sqrt((outer**2).sum())),
    ]
    for ball, value in pairs:
        assert float(arb(ball).mid()) == pytest.approx(value, abs=1e-13)


@pytest.mark.parametrize("name", MINE)
def test_every_formula_and_hypothesis_can_be_written(name):
    formula = CLAIMS[name].formula
    v = SimpleNamespace(**letters(formula.variables))
    for relation in (
        formula.relation(Text(), v, {}),
        *(condition.holds(Text(), v) for condition in formula.hypotheses.values()),
    ):
        assert "=" in written(relation).plain


def built(name, **values):
    """An instance of a claim, with the answer of each of its hypotheses."""
    claim = CLAIMS[name]
    case = claim.formula.build(**values)
    return {h.name: h.holds(case) for h in claim.hypotheses}


@pytest.mark.parametrize(
    ("logits", "beta", "holds"),
    [
        ([0, 0], 2.0, True),
        ([0, 0], np.nextafter(2.0, 3.0), False),
        ([1], np.nextafter(math.e, 3.0), False),
        ([1], np.nextafter(math.e, 0.0), True),
        ([1 / 2, -1 / 2], 2.25, True),
        ([1 / 2, -1 / 2], 2.26, False),
        ([0], 0.0, False),
        ([0], -1.0, False),
    ],
)
def test_lower_bounds_of_alpha_are_decided(logits, beta, holds):
    A = [[s] for s in logits]
    found = built("sim/basic-3:literal-1", A=A, x=[1], y=[1], beta=beta)
    assert set(found.values()) == {holds}


def test_norms_on_the_edge_are_decided_exactly():
    A = [[3, 0], [0, 4], [0, 0]]

    def met(R, x=(1, 1), y=(0, 0)):
        held = built("sim/basic-1:amended", A=A, x=x, y=y, R=R)
        return held[bounds.LOGITS.name], held[bounds.MATRIX.name]

    assert met(5) == (True, True)
    assert met(np.nextafter(5.0, 0.0)) == (False, True)
    assert met(4, x=(0, 0)) == (True, True)
    assert met(np.nextafter(4.0, 0.0), x=(0, 0)) == (True, False)
    assert met(4, x=(0, 0), y=(1, 1)) == (False, True)
    assert met(-1, x=(0, 0)) == (False, False)


@pytest.mark.parametrize("name", ["sim/basic-4:literal", "sim/basic-5:amended"])
def test_drawn_domains_meet_the_listed_conditions(name):
    claim = CLAIMS[name]
    names = {hypothesis.name for hypothesis in bounds.LISTED}
    listed = [h for h in claim.hypotheses if h.name in names]
    assert listed
    assert all(h.holds(case) for case in drawn(claim.data, 50) for h in listed)


@pytest.mark.parametrize("R", [4, 30, 45, 2**20])
def test_the_published_constant_survives_large_radii(R):
    """It is beyond the floats from R = 16 on, and beyond exp(2^42) in the last row."""
    claim = CLAIMS["sim/basic-4:literal"]
    slack = claim.conclusion(claim.formula.build(**bounds.BALANCED, R=R, beta=1))
    assert slack.holds
    assert slack.ratio < 1e-15


@pytest.mark.parametrize("x", [-600, -5000])
def test_tiny_exponentials_keep_their_length(x):
    """Equal tokens attain the second bound exactly, where floats and their squares underflow."""
    claim = CLAIMS["sim/basic-2:literal-1"]
    slack = claim.conclusion(claim.formula.build(A=[[1], [1], [1]], x=[x], y=[x - 1]))
    assert (slack.value, slack.error) == (0.0, 0.0)
    assert slack.holds
    off = claim.conclusion(claim.formula.build(A=[[1], [1], [1 + 2**-40]], x=[x], y=[x - 1]))
    assert off.holds


def test_parts_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="axis D"):
        CLAIMS["sim/basic-4:sharp"].formula.build(A=[[1], [1]], x=[1], y=[1, 2])
    with pytest.raises(DataError, match="axis n"):
        CLAIMS["sim/basic-5:sharp"].formula.build(**bounds.ONE_TOKEN, h=[1, 2], b=0)


def test_the_logistic_function_is_the_one_of_definition_3_5():
    claim = CLAIMS["sim/logistic-lipschitz:sharp"]
    pair = claim.formula.build(x=1 / 128, y=-1 / 128)
    slack = claim.conclusion(pair)
    moved = abs(expit(pair.x) - expit(pair.y))
    assert slack.value == pytest.approx(abs(pair.x - pair.y) / 4 - moved, abs=1e-15)
    assert slack.ratio > 0.9999


@given(st.data(), sizes(1, 4), sizes(1, 3))
def test_sides_are_what_they_say(data, n, D):
    """Exponentials, their sums and the constants, in balls, against numpy."""
    A, R = data.draw(arrays(n, D)) / 2, data.draw(st.sampled_from([0.5, 1.0, 2.25]))
    x, y = data.draw(arrays(D)) / 2, data.draw(arrays(D)) / 2
    beta = 0.75
    numbers = {"n": n, "R": exact(np.array([R]))[0], "beta": exact(np.array([beta]))[0]}
    v = SimpleNamespace(A=exact(A), x=exact(x), y=exact(y), **numbers)
    p, q, far = np.exp(A @ x), np.exp(A @ y), np.linalg.norm(x - y)
    moved = abs(p.sum() - q.sum())
    first = basic_1.bounded(BALLS, v)
    changes = basic_2.change(BALLS, v.A, v)
    second = basic_2.sum_bound(BALLS, n, changes, changes)
    third = basic_3.by_beta(BALLS, v)
    pairs = [
        (first.left, np.linalg.norm(p - q)),
        (first.right, R * np.exp(R**2) * far),
        (basic_1.bounded(BALLS, v, "norm").right, np.linalg.norm(A, 2) * np.exp(R) * far),
        (second.left, moved),
        (second.right, np.sqrt(n) * np.linalg.norm(p - q)),
        (third.left, abs(1 / p.sum() - 1 / q.sum())),
        (third.right, moved / beta**2),
        (basic_3.by_radius(BALLS, v).right, np.exp(2 * R / np.sqrt(n)) / n**2 * moved),
        (bounds.published(BALLS, v), n * np.exp(3 * R**2) / beta**2),
        (bounds.published(BALLS, v, 3), 2 * n**2 * np.exp(5 * R**2) / beta**3),
        (bounds.published(BALLS, v, exponential=False), n / beta**2),
    ]
    for ball, value in pairs:
        assert float(arb(ball).mid()) == pytest.approx(value, rel=1e-11, abs=1e-11)
