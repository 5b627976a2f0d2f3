"""Hypotheses on the max-margin programmes of selected tokens."""

from attsvm.theory import Hypothesis
from properties.mm._support import max_margin as svm
from properties.mm._support.max_margin import Programme
from properties.mm._support.token_selections import Selection, chosen

V_EXISTS = Hypothesis("v(alpha) exists", lambda case: svm.v_programme(chosen(case)).exists)
P_EXISTS = Hypothesis("p(alpha) exists", lambda case: svm.p_programme(chosen(case)).exists)


def relaxed(case: Selection) -> Programme:
    """p(alpha): margins are 0 for the inputs whose margin under v(alpha) is not tight."""
    return svm.p_programme(case, svm.v_programme(case).tight)
