"""The joint path of exp(-x) where an input of tight margin has the multiplier 0."""

from flint import fmpq

from properties.mm._support import label_margins as margins
from properties.mm._support import max_margin as svm
from properties.mm._support.max_margin import relaxed
from properties.mm._support.token_selections import selecting
from properties.mm.theorem_2.prompt_limits import HIGHER, SLOW, at_infinity


def test_the_tight_idle_input_of_slow_has_a_programme_of_its_own():
    assert svm.v_programme(SLOW).tight == [True, True]
    assert margins.idle(SLOW) == [False, True]
    assert margins.multipliers(SLOW) == [1, 0]
    assert relaxed(SLOW).vector == svm.p_programme(SLOW).vector == [1, fmpq(-3, 4)]
    assert at_infinity(SLOW).vector == [1, fmpq(-1, 4)]


def test_a_token_of_a_higher_score_has_another_solution_than_the_joint_svm():
    assert relaxed(HIGHER).vector == [1, 1]
    assert relaxed(selecting(HIGHER, [0, 1])).vector == [1, 0]
