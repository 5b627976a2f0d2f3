"""What an expression is made of tells that it is continuous or smooth, and nothing else does."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import sympy as sp

from attsvm.errors import DataError, ProofError
from attsvm.primitives.loss_hypotheses import CONVEX_LOSS, SMOOTH_LOSS
from attsvm.primitives.losses import LOSSES as FORMULAS
from attsvm.theory import Supposed, ensure_zero
from attsvm.theory.declaration.proof import recorded
from properties._support.cone_starts import ON_RAY
from properties._support.suppositions import BENT_LOSS, SMOOTH_SLOPE
from properties.tf import theorem_2
from properties.tf._support import regularisation_paths as paths
from properties.tf.theorem_2 import near_optimal_points as points
from symbolic.continuity import cite_extreme_value, ensure_continuous, ensure_smooth
from symbolic.curvature import ensure_hessian, ensure_smoothness
from symbolic.mean_value import ensure_lipschitz, ensure_no_less

x, y = sp.symbols("x y", real=True)
positive = sp.Symbol("p", positive=True)
slope = sp.Function("l'")
LOSS = Supposed("the slope is continuous", ("a loss",))
SMOOTH = [
    *(x, x**2 * y - 3, sp.exp(x) / (sp.exp(x) + positive), sp.sqrt(1 + positive) * sp.cos(x)),
    *(sp.log(positive + sp.exp(-x)), [x, sp.Rational(1, 3)], sp.IndexedBase("a", real=True)[x]),
]
CONTINUOUS = [sp.Abs(x), sp.Max(x, y), sp.Min(x, sp.Abs(y)) ** 2]
NEITHER = [1 / x, sp.log(x), sp.sqrt(x), x**y, sp.floor(x), sp.sign(x), slope(x), sp.oo, [x, 1 / x]]


@pytest.mark.parametrize("found", SMOOTH)
def test_what_is_smooth_is_also_continuous(found):
    with recorded() as steps:
        ensure_smooth(found, "smooth")
        ensure_continuous(found, "continuous")
    assert steps == ["smooth", "continuous"]


@pytest.mark.parametrize("found", [*CONTINUOUS, *NEITHER])
def test_kinks_and_what_is_not_known_are_not_smooth(found):
    with pytest.raises(ProofError, match="a step"):
        ensure_smooth(found, "a step")


@pytest.mark.parametrize("found", NEITHER)
def test_what_has_a_pole_or_a_jump_is_not_continuous(found):
    with pytest.raises(ProofError, match="a step"):
        ensure_continuous(found, "a step")
    for other in CONTINUOUS:
        ensure_continuous(other, "a step")


def test_a_function_is_continuous_where_the_reading_supposes_it():
    with recorded() as steps:
        ensure_continuous(sp.Abs(slope(x)) * x, "a step", (slope, LOSS))
        cite_extreme_value("a step", "it on a ball")
    assert steps.supposed == [LOSS]
    with recorded(), pytest.raises(ProofError, match="no step has passed"):
        cite_extreme_value("a step", "it on a ball")
    with pytest.raises(ProofError):
        ensure_continuous(sp.Function("other")(x), "a step", (slope, LOSS))


@pytest.mark.parametrize(
    ("hypothesis", "case"),
    [(paths.FALLING, paths.PUBLISHED), (theorem_2.CHEAP, points.AT_ZERO)],
)
def test_what_is_to_say_that_the_slope_is_continuous_is_false_where_it_has_a_jump(hypothesis, case):
    assert SMOOTH_LOSS in SMOOTH_SLOPE.by
    assert SMOOTH_LOSS in hypothesis.consequences()
    assert hypothesis.holds(case)
    assert not any(hypothesis.holds(replace(case, loss=loss)) for loss in ("hinge", "kinked"))


def test_a_start_near_a_local_solution_has_no_loss_whose_slope_has_a_jump():
    for name, loss in FORMULAS.items():
        if not loss.smooth:
            with pytest.raises(DataError):
                replace(ON_RAY[1], loss=name)


def test_what_is_to_say_that_a_loss_is_convex_is_false_where_it_is_not():
    assert CONVEX_LOSS.holds(SimpleNamespace(loss="exponential"))
    assert not CONVEX_LOSS.holds(SimpleNamespace(loss="logistic-loss"))


@pytest.mark.parametrize("ensure", [ensure_lipschitz, ensure_no_less, ensure_hessian])
def test_a_bound_of_slopes_is_that_of_a_function_whose_derivatives_are_shown(ensure):
    with recorded() as steps:
        ensure_zero(0, "a step")
        ensure("a step", [sp.exp(x), slope(x)], (slope, LOSS))
        assert set(steps.supposed) == {LOSS}
        for kinked in (sp.Abs(x), [sp.exp(x), slope(x)]):
            with pytest.raises(ProofError, match="has derivatives"):
                ensure("a step", kinked)


def test_the_curvature_of_a_loss_is_bounded_where_a_reading_says_that_it_has_one():
    with recorded() as steps:
        ensure_smoothness()
    assert set(steps.supposed) == {BENT_LOSS}
