"""Cones: sets that no step leaves, and runs from them."""

import numpy as np
import pytest
from flint import ctx, fmpq

from attsvm.descent import descend_p, descend_w, follow_w
from attsvm.exact import ExactData, rational, rationals, separate
from attsvm.exact.cones import cone_at
from attsvm.exact.descent import as_prompt
from attsvm.exact.traps import trap_at
from attsvm.losses import LOSSES
from attsvm.theory.limits import residual_stays_bounded
from tests.exact.local_runs import (
    DECREASING,
    LOG,
    STEPS,
    column,
    drawn,
    floats,
    one_step,
    plane,
    selected,
    starts,
)


@pytest.fixture(autouse=True)
def precision():
    with ctx.workprec(96):
        yield


def cones(limit: int, name: str = "log-loss"):
    for number, (data, exact, W, generator) in enumerate(starts(limit)):
        step, normalised = STEPS[number % 3]
        cone = cone_at(exact, rationals(W), name, rational(step), normalised=normalised)
        if cone is not None:
            yield data, W, step, normalised, cone, generator


def room(cone, W):
    """How far W lies inside a cone: what a exceeds a_0 by, and what is left for ||E||^2."""
    u = floats(cone.limit.W)
    u = u / np.linalg.norm(u)
    a = float((W * u).sum())
    E = W - a * u
    start, width, spread = (float(x) for x in (cone.along, cone.width, cone.spread))
    return a - start, width**2 + spread * (a - start) - float((E**2).sum())


@pytest.mark.parametrize("name", DECREASING)
def test_no_step_from_any_point_of_a_cone_leaves_it(name):
    """Points on the boundary, in random directions across u, at the tip and far out."""
    checked, several = 0, 0
    for data, _, step, normalised, cone, generator in cones(60, name):
        u = floats(cone.limit.W)
        u = u / np.linalg.norm(u)
        start, width, spread = (float(x) for x in (cone.along, cone.width, cone.spread))
        several += sum(w > 0 for w in cone.limit.duals) > 1
        for further in (0.0, 0.5, 5.0, 20.0):
            E = generator.normal(size=u.shape)
            if generator.random() < 0.5:  # towards or against one of the constraints
                i = generator.integers(data.n)
                gap = data.X[i, cone.selected[i]] - data.X[i, generator.integers(data.T)]
                E = generator.choice([-1.0, 1.0]) * np.outer(gap, data.Z[i]) + 0.01 * E
            for _ in range(2):  # once more for what is left by rounding
                E -= (E * u).sum() * u
                E /= np.linalg.norm(E)
            size = np.sqrt(width**2 + spread * further) * (1 - 1e-12)
            W = (start + further) * u + size * E
            assert selected(data, [W]) == [cone.selected]
            after = one_step(data, W, LOSSES[name], step, normalised)
            more, left = room(cone, after)
            assert more >= further - 1e-14 * np.linalg.norm(W)  # what is rounded in <W, u>
            assert left >= -1e-9 * (1.0 + size**2)
            checked += 1
    assert checked >= 100
    assert several >= 15


def test_runs_from_proved_cones_keep_their_tokens_and_converge_to_the_local_solution():
    proved, locally = 0, 0
    for data, W, step, normalised, cone, _ in cones(90):
        record = [*range(0, 40, 4), 400]
        run = descend_w(
            [data], W, LOG, step=step, steps=400, record=record, normalised=normalised
        ).W[0]
        assert selected(data, run) == [cone.selected] * len(run)
        assert all(min(room(cone, point)) >= -1e-6 for point in run)
        limit = floats(cone.limit.W)
        norms = (np.linalg.norm(W) * np.array([2.0, 20.0, 200.0])).tolist()
        far = follow_w(data, W, LOG, [*norms, max(1e4, 2 * norms[-1])], steps=4000).W[0]
        assert selected(data, far) == [cone.selected] * len(far)
        slack = residual_stays_bounded(
            data, far[1:4], LOG, limit, degenerate=bool(cone.limit.degenerate)
        )
        assert not slack.violated
        proved += slack.holds
        locally += cone.selected != data.gamma.argmax(axis=1).tolist()
    assert proved >= 35
    assert locally >= 10


def test_two_inputs_that_act_on_each_other_need_the_cone():
    """Two constraints of equal margins: neither outruns the other, so only the cone closes."""
    data = plane([(1.0, 0.0)], [(0.5, 1.0)], scores=[[1.0, 0.0], [2.0, 0.0]])
    exact, point = ExactData.of(data), rationals(column(30.0, 15.5))
    assert trap_at(exact, point, "log-loss") is None
    cone = cone_at(exact, point, "log-loss", fmpq(1))
    assert cone.selected == [0, 0]
    assert [2 * row[0] for row in cone.limit.W] == [2, 1]


def test_a_long_step_needs_a_wider_cone_and_closes_only_further_out():
    data = plane([(1.0, 0.0)], [(-1.0, 2.0)], scores=[[1.0, 0.0], [2.0, 0.0]])
    exact, W = ExactData.of(data), separate(ExactData.of(data), [0, 0]).W
    least = []
    for step in (fmpq(1, 10), fmpq(100), fmpq(10**6)):
        for factor in range(1, 200):
            point = [[factor * x for x in row] for row in W]
            if cone_at(exact, point, "log-loss", step) is not None:
                least.append(factor)
                break
    assert least == sorted(least)
    assert least[0] < least[2]


def test_prompts_in_a_cone_keep_their_tokens():
    proved = 0
    for seed in range(40):
        case = drawn(seed)
        if case is None:
            continue
        data, exact, _, generator = case
        columns = as_prompt(exact)
        answer = separate(columns, generator.integers(0, data.T, size=data.n).tolist())
        if answer is None or answer.status != "solved":
            continue
        p0 = 256.0 * floats(answer.W)[:, 0]
        point = [[rational(x)] for x in p0]
        cone = cone_at(columns, point, "log-loss", fmpq(1, 2), normalised=True)
        if cone is None:
            continue
        proved += 1
        run = descend_p([data], p0, LOG, step=0.5, steps=2000, record=[1, 20, 200], normalised=True)
        for p in run.W[0]:
            assert (data.X @ p).argmax(axis=1).tolist() == cone.selected
        u = floats(cone.limit.W)[:, 0]
        assert (run.W[0, -1] @ u) / (run.norms[0, -1] * np.linalg.norm(u)) > 1.0 - 1e-3
    assert proved >= 5
