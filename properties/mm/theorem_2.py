"""Theorem 2: the joint regularisation path, of the head v and the prompt p in balls of their own.

"(v_r, p_R) = argmin of L(v, p) over ||v|| <= r, ||p|| <= R. Under Assumptions A and B lim v_r/r =
v(alpha)/||v(alpha)|| as r -> infinity and lim p_R/R = p(alpha)/||p(alpha)|| as R -> infinity."

The pair depends on both radii, and the sentence does not say how one moves while the other tends to
infinity. `literal-1` fixes R. With one input of two tokens attention keeps a share of the other
token, so that v_r points to a mixture of both, whatever r is. `literal-2` lets both radii tend to
infinity, in any way. The loss -x is one of Assumption A: its risk is -<v, sum_i Y_i x_i^p>/n, and
v_r turns to the sum of the labelled tokens, not to the max-margin head. Here Assumption B is
granted by the nu > 0 of `mm/assumption-b:amended`.

`amended` is what survives for v: a head is as near to v(alpha) as the pair's label margin is near
to Gamma. For exp(-x) the label margin of (v_r, p_R) is at least that of the two SVM directions less
(ln n)/r, so that it tends to Gamma where r and R tend to infinity, in any way. Nothing is said here
of the limit of p_R/R. By `mm/assumption-b:sharp` Assumption B leaves nothing to relax in p(alpha).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm.exact import dot
from attsvm.exact.numbers import Vector, combine
from attsvm.strategies import sizes
from attsvm.theory import Reading, Records, Statement, changed
from properties.mm import SOURCE
from properties.mm._support import max_margin as svm
from properties.mm._support.token_selections import Selection, chosen, select
from properties.mm.assumption_b import (
    PARALLEL,
    Attended,
    attended,
    label_margin,
    mean_margin,
    others,
)

P_EXISTS, POSITIVE = "p(alpha) exists", "Assumption B holds with the nu of assumption-b:amended"
SINGLE = "one input of two tokens, and R > 0"
LONGEST = "no other tokens have as long a sum of labelled tokens"

MIXED = select([[[2.0, 0.0], [0.0, 1.0]]], [1], [0])
UNBALANCED = select([[[1.0, 1.0], [0.0, 0.125]], [[1.0, -2.0], [0.0, 0.0]]], [1, 1], [0, 0])
"""v(alpha) is (1, 0), the sum of the labelled tokens (2, -1)."""


def total(case: Selection) -> Vector:
    """The sum of the selected tokens, each times its label."""
    rows = svm.v_rows(case)
    return combine([1] * len(rows), rows)


def positive(case: Any) -> bool:
    """Whether the nu of `assumption-b:amended` is above 0."""
    gamma, most = mean_margin(chosen(case))
    return bool(most < gamma)


def longest(case: Selection) -> bool:
    """Whether the sum of labelled tokens is longer than that of any other tokens."""
    own = total(case)
    sums = [total(other) for other in others(case)]
    return all(bool(dot(s, s) < dot(own, own)) for s in sums)


def with_fixed_prompt(m: Any, case: Attended, towards: str = "selected") -> Any:
    """The attended token of the only input, at the best prompt of norm ||p||, is along a token.

    That prompt is along the difference D of the two keys: the length of the attended token is
    convex in attention and largest at an end, that of the longer token.
    """
    one, rows = case.chosen, svm.p_rows(case.chosen)
    best = svm.v_rows(one)[0]
    rival = svm.v_rows(next(others(one)))[0]
    if towards == "other":
        best, rival = rival, best
    side = 1 if towards == "selected" else -1
    share = m.logistic(-side * m.norm(m.values(case.p)) * m.norm(m.values(rows[0])))
    a, b = m.values(best), m.values(rival)
    return m.equal(share * ((a @ a) * b - (a @ b) * a), 0 * a)


def for_linear_loss(m: Any, case: Selection, share: Any = 1) -> Any:
    """The sum of the labelled tokens is along v(alpha)."""
    v, g = svm.v_svm(m, case).vector, m.values(total(case))
    return m.equal((v @ v) * g, share * (g @ v) * v)


def steered(m: Any, case: Attended, share: Any = 1, spread: Any = 1) -> Any:
    """Gamma times ||v|| - Gamma <v, v(alpha)> <= (||v|| - margin/Gamma) (1 + D/nu)."""
    if not positive(case):
        return m.below(m.exact(0), m.exact(0))  # there is no such bound
    one, v = case.chosen, m.values(case.h)
    square, most = (m.values(x) for x in mean_margin(one))
    pairs = [(best[t], x) for best, t in zip(one.X, one.alpha, strict=True) for x in best]
    gaps = [m.norm(m.values(best) - m.values(x)) for best, x in pairs]
    factor = 1 + spread * m.max(m.array(gaps)) / (m.sqrt(square) - m.sqrt(most))
    size = m.sqrt(square * (v @ v))  # one root, so that a head along v(alpha) leaves exactly 0
    turned = size - square * (v @ m.values(svm.v_programme(one).vector))
    return m.at_most(turned, share * (size - label_margin(m, case)[0]) * factor)


@st.composite
def single(draw: st.DrawFn) -> Attended:
    """One input of two tokens."""
    drawn = draw(attended(inputs=1))
    one = drawn.chosen
    keep = [int(one.alpha[0]), draw(sizes(0, one.X.shape[1] - 1))]
    return Attended(Selection(one.X[:, keep], one.y, np.array([0]), one.W), drawn.p, drawn.h)


PATH = Statement(
    "mm/theorem-2",
    rests_on=(
        "mm/joint-svm",
        "mm/assumption-b",
    ),
    source=SOURCE,
    place="Theorem II, convergence of RP",
    printed="Consider the regularized path solutions (v_r, p_R) of (ERM) defined as (v_r, p_R) = "
    "argmin_{||v|| <= r, ||p|| <= R} L(v, p). Under Assumptions A and B, we have lim_{r -> "
    "infinity} v_r/r = v(alpha)/||v(alpha)||; and lim_{R -> infinity} p_R/R = "
    "p(alpha)/||p(alpha)||",
    variables=Records(Attended, attended()),
    conclusion=steered,
    cost=3,
    readings={
        "literal-1": Reading(
            "Assumption B holds: for each radius R > 0, here ||p||, and every decreasing loss "
            "v_r/r tends to v(alpha)/||v(alpha)|| as r -> infinity; seen with one input, T = 2",
            expected="refuted, certified",
            under=(SINGLE, POSITIVE, P_EXISTS),
            variables=Records(Attended, single()),
            conclusion=with_fixed_prompt,
            examples=(
                Attended(PARALLEL, np.ones(1), np.ones(1)),
                Attended(MIXED, np.ones(2), np.ones(2)),
            ),
            siblings={
                "towards the other token": changed(
                    towards="other", examples=[Attended(MIXED, np.ones(2), np.ones(2))]
                )
            },
        ),
        "literal-2": Reading(
            "Assumption B holds: for every loss of Assumption A, such as -x, v_r/r tends to "
            "v(alpha)/||v(alpha)|| as r and R tend to infinity",
            expected="refuted, certified",
            under=(POSITIVE, P_EXISTS, LONGEST),
            variables=Records(Selection, attended().map(chosen)),
            conclusion=for_linear_loss,
            examples=(PARALLEL, UNBALANCED),
            siblings={"half of it": changed(share="0.5", examples=[PARALLEL])},
        ),
        "amended": Reading(
            "Assumption B holds with the nu > 0 of assumption-b:amended: every head v and prompt p "
            "have ||v|| - Gamma <v, v(alpha)> <= (||v|| - margin/Gamma) (1 + D/nu), margin = "
            "min_i Y_i v^T x_i^p and D the largest distance of a token from the selected one; so "
            "v_r/r tends to v(alpha)/||v(alpha)|| for exp(-x), however r and R tend to infinity, "
            "where p(alpha) exists",
            expected="proved",
            proof="symbolic.mm.theorem_2:prove",
            under=(POSITIVE,),
            examples=(
                Attended(PARALLEL, np.ones(1), np.ones(1)),
                Attended(MIXED, np.array([1.0, -1.0]), np.array([2.0, 1.0])),
            ),
            siblings={
                "half of it": changed(share="0.5"),
                "D counted as 0": changed(spread=0),
            },
        ),
    },
    hypotheses={
        SINGLE: lambda case: case.chosen.X.shape[:2] == (1, 2) and bool(case.p.any()),
        POSITIVE: positive,
        P_EXISTS: lambda case: svm.p_programme(chosen(case)).exists,
        LONGEST: longest,
    },
)
