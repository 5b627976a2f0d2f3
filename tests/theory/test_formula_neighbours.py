"""Siblings with hypotheses of their own; ratios that balls enclose; roots at 0; names."""

import torch
from toy_pack import stated

from attsvm.theory import Real, changed
from attsvm.theory.arithmetic import BALLS, Lane, Tensors
from attsvm.theory.run.judge import judge

SQUARE = stated(
    "square",
    {"x": Real()},
    lambda m, v: m.at_most(v.x, v.x * v.x),
    {"x >= 1": lambda m, v: m.at_least(v.x, m.exact(1))},
    siblings={
        "from 7/8 on": changed(
            drop=["x >= 1"],
            under={"x >= 7/8": lambda m, v: m.at_least(v.x, m.exact("0.875"))},
            examples=[{"x": 0.875}],
        )
    },
)


def test_a_sibling_is_checked_under_its_own_hypotheses_in_place_of_what_it_drops():
    claim = SQUARE
    part = claim.part("from 7/8 on")
    assert [h.name for h in part.hypotheses] == ["x >= 7/8"]
    assert list(part.formula.hypotheses) == ["x >= 7/8"]
    inside, outside = (claim.formula.build(x=x) for x in (0.9375, 0.5))
    assert part.hypotheses[0].holds(inside)
    assert not part.hypotheses[0].holds(outside)
    assert claim.conclusion(inside).violated


def cancelled(x):
    """|e^40 + x - e^40| <= 1, where 64 bits leave a radius of about 0.01 on the left."""
    formula = stated(
        "cancelled",
        {"x": Real()},
        lambda m, v: m.at_most(m.abs(m.exp(m.exact(40)) + v.x - m.exp(m.exact(40))), m.exact(1)),
        expected="refuted",
        siblings={"half": changed(tightened="0.5")},
    ).formula
    return judge(formula, {}, formula.build(x=x))


def test_a_ratio_is_never_above_the_true_one_however_wide_the_ball():
    for x in (0.0, 2.0**-10, 2.0**-7):
        judgement = cancelled(x)
        assert judgement.holds
        assert 0.0 <= judgement.ratio <= x
    assert 0.5 < cancelled(0.75).ratio <= 0.75


def test_the_root_of_tensors_is_0_at_0_with_a_finite_gradient():
    m = Tensors()
    x = torch.tensor([0.0, 4.0, -1.0], dtype=torch.float64, requires_grad=True)
    root = m.sqrt(Lane(x)).value
    assert root.tolist() == [0.0, 2.0, 0.0]
    (slope,) = torch.autograd.grad(root.sum(), x)
    assert slope.tolist() == [0.0, 0.25, 0.0]
    assert BALLS.sqrt(BALLS.exact(0)) == 0
