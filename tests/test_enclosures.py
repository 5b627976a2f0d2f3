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
from attsvm.exact import dot, norm, rationals
from attsvm.exact.numbers import subtract
from attsvm.strategies import arrays, sizes
from attsvm.strategies.data import separable_data
from attsvm.svm.programme import joint_programme, p_svm_programme
from properties._support import programmes as square
from properties.mm._support import programmes as family
from properties.mm._support.exact_programmes import exact_p, exact_relaxed, exact_v, p_rows
from properties.mm._support.token_selections import gaussian, relaxable, rivals, select, separable

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


def perturbed(weights, drawn):
    """Multipliers near the given ones, some of them put on slack constraints."""
    scale = 2.0 ** -drawn.draw(sizes(2, 40))
    return np.maximum(weights + scale * np.abs(drawn.draw(arrays(len(weights)))), 0.0)


@settings(max_examples=60, deadline=None)
@given(separable(), st.data())
def test_margins_and_vectors_lie_within_their_bounds_for_any_multipliers(case, drawn):
    found, exact = family.find_p(case), exact_p(case)
    assume(found is not None and found.answer is not None)
    programme = found.answer.programme
    weights = perturbed(found.answer.weights, drawn)
    low, high, reach = family._enclosure(programme, weights, None)
    with ctx.workprec(256):
        margin = arb(exact.margin_square).sqrt()
        assert arb(low) <= margin <= arb(high)
        point = [x for [x] in rationals(programme.combine(weights))]
        assert norm(subtract(point, exact.vector)) <= reach


@settings(max_examples=60, deadline=None)
@given(relaxable(), st.data())
def test_relaxed_margins_lie_within_their_bounds_for_any_multipliers(case, drawn):
    plain, v, exact = family.find_p(case), exact_v(case), exact_relaxed(case)
    assume(plain is not None and plain.answer is not None and exact.exists)
    programme = joint_programme(case.data, np.array(v.tight), case.alpha, case.W)
    assume(programme.bound.any())
    found = family.find(lambda: family.solve_programme(programme), plain)
    assume(found is not None)
    weights = perturbed(found.answer.weights, drawn)
    low, high, reach = family._enclosure(programme, weights, plain)
    with ctx.workprec(256):
        margin = arb(exact.margin_square).sqrt()
        assert arb(low) <= margin <= arb(high)
        point = [x for [x] in rationals(programme.combine(weights))]
        assert np.isinf(reach) or norm(subtract(point, exact.vector)) <= reach
        assert arb(found.low) <= margin <= arb(found.high)


@pytest.mark.parametrize("share", [1.0, 2.0**-8])
def test_less_than_the_bounds_of_a_margin_would_not_do(share):
    case = select([[[0.0, 0.0], [-1.0, 0.0], [-1.0, -SKEW]]], [1], [0])
    programme = p_svm_programme(case.data, case.alpha, case.W)
    low, high, reach = family._enclosure(programme, np.array([1 - share, share]), None)
    distance, gap = share * SKEW, (share * SKEW) ** 2 / 2
    assert distance <= reach <= 1.5 * distance + 1e-15
    assert 1 - 1.01 * gap - 1e-14 <= low <= 1.0
    assert 1.0 <= high <= 1 + 1.01 * gap + 1e-14


def test_roundings_of_margins_and_lengths_are_bounded_and_not_idly():
    generator, worst, longest = np.random.default_rng(2), 0.0, 0.0
    for _ in range(150):
        rival = gaussian(generator)
        case = replace(rival.chosen, X=rival.chosen.X + generator.normal(size=rival.chosen.X.shape))
        case = replace(case, W=generator.normal(size=case.W.shape))
        programme = p_svm_programme(case.data, case.alpha, case.W)
        values, errors = family.margins(programme, rival.q)
        rows, q = p_rows(case)[0], rationals(rival.q)
        short, error = family._shortest(programme)
        with ctx.workprec(256):
            off = [
                float(abs(arb(v) - arb(dot(row, q))))
                for v, row in zip(values.tolist(), rows, strict=True)
            ]
            least = min(norm(row) for row in rows)
            off_length = float(abs(arb(short) - least))
        assert (np.array(off) <= errors).all()
        assert off_length <= error
        worst = max(worst, float((np.array(off) / np.maximum(errors, 1e-300)).max()))
        longest = max(longest, off_length / error)
    assert worst > 0.01
    assert longest > 0.01


@settings(max_examples=60, deadline=None)
@given(separable())
def test_distances_of_hulls_lie_within_their_bounds(case):
    found, exact = family.find_p(case), exact_p(case)
    assume(found is not None and found.answer is not None)
    value, error = family._distance(found.answer.programme, None)
    assume(np.isfinite(error))
    with ctx.workprec(256):
        assert abs(arb(value) - arb(exact.hull_square).sqrt()) <= error


@given(rivals(), st.data())
def test_what_moves_moves_pythagoras_by_less_than_its_bound(rival, drawn):
    q, p = rival.q, drawn.draw(arrays(len(rival.q)))
    step = drawn.draw(arrays(len(q))) / 2.0 ** drawn.draw(sizes(0, 30))
    share, moved = drawn.draw(st.sampled_from([1.0, 1.05, 2.0])), p + step
    far = float(np.linalg.norm(moved - p)) * (1 + 1e-12)
    there = family.pythagoras(q, moved, 0.0, far, share)
    here = family.pythagoras(q, p, 0.0, 0.0, share)
    assert abs(there.value - here.value) <= there.error + here.error
    back = family.pythagoras(moved, q, far, 0.0, share)
    home = family.pythagoras(p, q, 0.0, 0.0, share)
    assert abs(back.value - home.value) <= back.error + home.error


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_less_than_the_bound_of_pythagoras_would_not_do(sign):
    q, p, step = np.array([2.0]), np.array([1.0]), np.array([sign * 2.0**-10])
    there = family.pythagoras(q, p + step, 0.0, 2.0**-10, 1.0)
    here = family.pythagoras(q, p, 0.0, 0.0, 1.0)
    assert abs(there.value - here.value) <= there.error
    # the two effects have one sign for this p and opposite ones in the bound
    moved = 2.0 * 2.0**-10 * (1.0 + 1.0)
    assert there.error <= 1.01 * moved
