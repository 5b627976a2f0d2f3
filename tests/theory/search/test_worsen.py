"""Worsening enlarges a violation, step by confirmed step."""

import numpy as np
from flint import arb
from hypothesis import strategies as st
from toy_pack import build

from attsvm import Integer, Real, question
from attsvm.exact import rational
from attsvm.theory import Slack
from attsvm.theory.instance import codec
from attsvm.theory.run.examining import examine_case
from attsvm.theory.run.tally import Tally
from attsvm.theory.search.worsen import worsen

PLANE = st.just(np.zeros(2))


def hill(x: np.ndarray, shift: float = 0.0) -> Slack:
    """Violated by up to 5, at (3, -2)."""
    return Slack(float((x[0] - 3.0) ** 2 + (x[1] + 2.0) ** 2) - 5.0, 1e-9)


def hill_ball(x: np.ndarray, shift: float = 0.0) -> arb:
    a, b = rational(float(x[0])) - 3, rational(float(x[1])) + 2
    return arb(a * a + b * b - 5)


def worst(claim, case, budget=400, **rest):
    tally = Tally(claim, claim.part(""), 0)
    found = examine_case(tally, case, "test")[1]
    return found, worsen(tally, found, budget, **rest)


def test_the_largest_violation_is_approached_and_stays_confirmed():
    claim = build("hill", hill, hill_ball, data=PLANE)
    _, done = worst(claim, np.array([1.0, -1.5]))
    reached = codec.decode(done.refuted.instance, claim.instance_type)
    assert float(done.refuted.slack["value"]) < -4.99
    assert hill_ball(reached) < arb("-4.98")


def test_steps_that_are_not_confirmed_are_not_taken():
    ball = lambda x, shift=0.0: hill_ball(x) if x[0] <= 1.5 else None  # noqa: E731
    claim = build("hill", hill, ball, data=PLANE)
    _, done = worst(claim, np.array([1.0, -1.5]))
    assert codec.decode(done.refuted.instance, claim.instance_type)[0] <= 1.5


def test_hypotheses_budget_and_time_bound_it():
    claim = build(
        "hill", hill, hill_ball, data=PLANE, hypotheses={"left": lambda x: bool(x[0] < 2.0)}
    )
    found, done = worst(claim, np.array([1.0, -1.5]))
    assert codec.decode(done.refuted.instance, claim.instance_type)[0] < 2.0
    assert worst(claim, np.array([1.0, -1.5]), budget=0)[1].refuted == found
    assert worst(claim, np.array([1.0, -1.5]), deadline=1.0)[1].refuted == found


def test_violations_that_grow_for_ever_end_at_readable_numbers():
    def conclusion(x: np.ndarray, shift: float = 0.0) -> Slack:
        return Slack(-float(x[0]), 0.0)

    ball = lambda x, shift=0.0: arb(-rational(float(x[0])))  # noqa: E731
    claim = build("ever", conclusion, ball, data=st.just(np.zeros(1)))
    _, done = worst(claim, np.array([1.0]))
    assert 1000 < codec.decode(done.refuted.instance, claim.instance_type)[0] <= 2**20


def test_other_moves_are_tried_each_time():
    claim = build("hill", hill, hill_ball, data=PLANE)
    _, first = worst(claim, np.array([1.0, -1.5]), 5)
    _, again = worst(claim, np.array([1.0, -1.5]), 5)
    _, later = worst(claim, np.array([1.0, -1.5]), 5, resume=first.resume)
    assert first == again
    assert first.resume == (1, 0)
    assert later.refuted != first.refuted


def test_integers_move_as_well_by_one_and_by_more():
    """10000 - (k - 137)^2 - (x + 2)^2 is largest at 137 and -2."""
    claim = question(
        lambda m, v: m.at_most(10000, (v.k - 137) ** 2 + (v.x + 2) ** 2),
        k=Integer(0, 9, beyond=True),
        x=Real(),
    ).claim
    _, done = worst(claim, claim.formula.build(k=40, x=1.5), 1500)
    reached = codec.decode(done.refuted.instance, claim.instance_type)
    assert reached.k == 137
    assert abs(reached.x + 2) < 0.1
