"""Enclosures of programmes hold for any multipliers, and are close enough that less would not do.

The solver's own answers are exact to rounding and would meet bounds a thousand times too small. So
the bounds are asked about answers that are wrong on purpose.
"""

from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attsvm import AttentionData
from attsvm.exact import norm, rationals
from attsvm.exact.numbers import subtract
from attsvm.strategies import arrays, sizes
from attsvm.strategies.data import separable_data
from properties._support import programmes as square

SKEW = 2.0**-6
"""Of two constraints (1, 0) and (1, SKEW) the second is slack, and yet may be given a weight."""


def disturbed(answer, weights):
    """The same programme, answered by other multipliers."""
    W = answer.programme.combine(weights)
    reached = answer.programme.margins(W)
    return replace(answer, W=W, weights=weights, reached=reached, value=float(np.linalg.norm(W)))


def answering(monkeypatch, weights):
    """Let `solve` see multipliers that the function given makes of the right ones."""
    right = square._answer

    def wrong(data, chosen):
        answer = right(data, chosen)
        return None if answer is None else disturbed(answer, weights(answer.weights))

    monkeypatch.setattr(square, "_answer", wrong)


def away(W, exact):
    """The distance of a float matrix from an exact one."""
    return norm(subtract([x for row in rationals(W) for x in row], square.flat(exact)))


def skewed(*rows):
    X = [[[0.0, 0.0], *[[-a, -b] for a, b in rows]]]
    return AttentionData.of(X, [[1.0, 0.0]], scores=[[1.0] + [0.0] * len(rows)])


@settings(max_examples=60, deadline=None)
@given(separable_data(), st.data())
def test_solutions_lie_within_their_bounds_for_any_multipliers(data, drawn):
    exact = square.exactly(data)
    assume(exact is not None)
    factors = 1 + drawn.draw(arrays(len(exact.A))) / 2.0 ** drawn.draw(sizes(4, 40))
    with pytest.MonkeyPatch.context() as patch:
        answering(patch, lambda weights: np.maximum(weights * factors, 0.0))
        found = square.solve(data, square.optimum(data))
        low, high = square.best_margin(data, square.optimum(data))
    assume(found is not None)
    with ctx.workprec(256):
        assert away(found.W, exact.W) <= found.error
        assert arb(found.low) <= arb(exact.square) <= arb(found.high)
        longest = 1 / arb(exact.square).sqrt()
        assert arb(low) <= longest <= arb(high)


@pytest.mark.parametrize("share", [1.0, 2.0**-8])
def test_less_than_the_bound_of_a_solution_would_not_do(monkeypatch, share):
    data = skewed((1.0, 0.0), (1.0, SKEW))
    answering(monkeypatch, lambda w: w.sum() * np.array([1 - share, share]))
    found = square.solve(data, square.optimum(data))
    exact = square.exactly(data)
    with ctx.workprec(256):
        distance = float(away(found.W, exact.W))
        assert distance <= found.error <= 1.5 * distance + 1e-15
        assert found.high - float(arb(exact.square)) <= 1.01 * (share * SKEW) ** 2 + 1e-14
        assert float(arb(exact.square)) - found.low <= 1.01 * (share * SKEW) ** 2 + 1e-14


@pytest.mark.parametrize("factor", [1.25, 0.75])
def test_a_solution_of_the_wrong_length_is_known_to_be_so(monkeypatch, factor):
    data = skewed((1.0, 0.0))
    answering(monkeypatch, lambda weights: factor * weights)
    found = square.solve(data, square.optimum(data))
    distance = abs(factor - 1)
    assert distance <= found.error <= 2.01 * distance
    assert found.low <= 1.0 <= found.high
    low, high = square.best_margin(data, square.optimum(data))
    assert 1 - 1e-14 <= low <= 1.0 <= high <= 1 + 1e-14
