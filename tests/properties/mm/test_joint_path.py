"""The joint path of exp(-x) where an input of tight margin has the multiplier 0."""

import mpmath
import pytest
from flint import fmpq
from mpmath import cos, exp, log, mpf, sin, sqrt

from properties.mm._support import label_margins as margins
from properties.mm._support import max_margin as svm
from properties.mm._support.max_margin import relaxed
from properties.mm._support.token_selections import selecting
from properties.mm.theorem_2.prompt_limits import HIGHER, SLOW, at_infinity


def least(f, low, high, steps):
    """Where a unimodal function is least, by golden section."""
    share = (sqrt(5) - 1) / 2
    a, b = mpf(low), mpf(high)
    c, d = b - share * (b - a), a + share * (b - a)
    left, right = f(c), f(d)
    for _ in range(steps):
        if left < right:
            b, d, right = d, c, left
            c = b - share * (b - a)
            left = f(c)
        else:
            a, c, left = c, d, right
            d = a + share * (b - a)
            right = f(d)
    return (a + b) / 2


def idle_logit_margin(R, exponent):
    """Logit margin of the idle input over that of the other one at (v_r, p_R) on `SLOW`.

    ln r is the exponent times R/||p'||. The risk is minimised over the angle of the head, and that
    over the angle of the prompt, written anew from the differences (1, 0) and (1/4, -1) of keys.
    """
    r = exp(exponent * R / sqrt(mpf(17) / 16))

    def risk(angle):
        first, second = (1 / (1 + exp(-R * x)) for x in (cos(angle), cos(angle) / 4 - sin(angle)))

        def by_head(turn):
            one, two = r * cos(turn) * first, r * (cos(turn) + sin(turn)) * second
            low = min(one, two)
            return log(exp(low - one) + exp(low - two)) - low

        return by_head(least(by_head, -0.5, 1, 80))

    angle = least(risk, -1, 0.25, 50)
    return float(mpf(1) / 4 - sin(angle) / cos(angle))


def test_the_tight_idle_input_of_slow_has_a_programme_of_its_own():
    assert svm.v_programme(SLOW).tight == [True, True]
    assert margins.idle(SLOW) == [False, True]
    assert margins.multipliers(SLOW) == [1, 0]
    assert relaxed(SLOW).vector == svm.p_programme(SLOW).vector == [1, fmpq(-3, 4)]
    assert at_infinity(SLOW).vector == [1, fmpq(-1, 4)]


@pytest.mark.parametrize(("exponent", "limit"), [(2, 0.5), (0.25, 0.75)])
def test_the_idle_logit_margin_halves_where_r_grows_exponentially_and_between_falls(
    exponent, limit
):
    """The limit 1/2 is proved; for the smaller exponent 1 - 1/4 is what is seen."""
    with mpmath.workdps(50):
        near, far = (idle_logit_margin(mpf(R), mpf(exponent)) - limit for R in (20, 40))
    assert 0 < far < 0.7 * near
    assert near < 0.08


def angle_of_higher(R, r):
    """The angle of p_R to (1, 0) on `HIGHER`, by the differences (1, 0) and (-1, 1) of keys."""

    def risk(angle):
        first, second = (1 / (1 + exp(-R * x)) for x in (cos(angle), sin(angle) - cos(angle)))

        def by_head(turn):
            one = r * cos(turn) * first
            two = r * ((2 + second) * cos(turn) + (1 - second) * sin(turn))
            low = min(one, two)
            return log(exp(low - one) + exp(low - two)) - low

        return by_head(least(by_head, -0.5, 1, 80))

    width = mpf(1) / 16
    best = min((k * width for k in range(-16, 33)), key=risk)
    return float(least(risk, best - width, best + width, 50))


def test_a_token_of_a_higher_score_lets_the_prompt_turn_away_from_the_joint_svm():
    """Where r/R is large it goes to (1, 0), the solution for the other token, not to (1, 1)."""
    assert relaxed(HIGHER).vector == [1, 1]
    assert relaxed(selecting(HIGHER, [0, 1])).vector == [1, 0]
    with mpmath.workdps(50):
        assert abs(angle_of_higher(mpf(20), mpf(400))) < 1e-6
