"""Joint v- and p-SVMs: margins of p(alpha) relaxed to 0 where an input does not support v.

    p(alpha) = argmin ||p|| s.t. p^T (k_i,alpha_i - k_it) >= 1 for i in S, >= 0 for i not in S;
    S is the set of indices that x_i,alpha_i is a support vector when solving v-SVM.

Inputs, keys and the selections alpha are those of `mm/v-svm` and `mm/p-svm`. D_it stands for
k_i,alpha_i - k_it. S consists of the inputs whose margin Y_i v(alpha)^T x_i,alpha_i is tight, that
is 1, unless something else is said.

| reading | what it says | verdict |
| --- | --- | --- |
| literal-1 | v(alpha) and p(alpha) exist | falls: one input, tokens 1 and 1 |
| literal-2 | p(alpha) does not depend on how "support vector" is read | falls, see below |
| amended | it exists where 0 is not in C = conv{D_it: i in S} + cone{D_it: i not in S} | holds |
| sharp-1 | with relaxation p' is shorter: norm(p - p')^2 <= norm(p)^2 - norm(p')^2 | holds |
| sharp-2 | p(alpha) solves the p-SVM of S alone where that ranks alpha_i first elsewhere | holds |

Neither programme need have a solution, though the relaxed one can have one where the p-SVM has
none (RESCUED). A support vector can be an input of tight margin, one of positive multiplier or, as
multipliers need not be unique, one whose multiplier is positive whichever are taken: an input
without which v(alpha) would be another. On the published inputs {0, (1,1)}, {0, (1,-1)} and
{0, (0.5,1)} with labels 1, -1 and 1 all margins of v = (0, 1) are tight, but the multipliers
(1/2, 1/2, 0) and (0, 1/3, 2/3) both prove it optimal. So S is {1, 2, 3}, {1, 2}, {2, 3} or {2}, and
p(alpha) is (4/3, 1/3), (1, 0), (4/3, 1/3) or (2/3, -1/3): three directions. Where two inputs select
one token under one label, the last way to read it leaves S empty and p(alpha) = 0, which has no
direction (TWICE).

In `amended` S is not empty, p(alpha) is unique, and C is at distance 1/||p(alpha)|| from 0.
`sharp-1` is Pythagoras' inequality: relaxing enlarges the feasible set, and p' is its point nearest
0. In `sharp-2` the solution p_S of the inputs of S alone meets the other constraints, and is
shortest among all that meet those of S. It solves the p-SVM without relaxation only where its
margins are 1 in the other inputs as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm.exact import dot
from attsvm.theory import Reading, Records, Statement, changed
from properties.mm import SOURCE
from properties.mm._support.max_margin import (
    Programme,
    exceeds,
    is_distance,
    p_exists,
    p_programme,
    p_rows,
    p_svm,
    pythagoras,
    solve,
    solved,
    v_exists,
    v_programme,
    v_svm,
)
from properties.mm._support.token_selections import (
    DUPLICATE,
    ONE_TOKEN,
    OPPOSED,
    ORTHOGONAL,
    PUBLISHED,
    RESCUED,
    SEPARATED,
    TWICE,
    Selection,
    gaussian,
    relaxable,
    selections,
)

V_EXISTS, P_EXISTS = "v(alpha) exists", "p(alpha) without relaxation exists"
S_EXISTS = "the p-SVM of S alone has a solution"
RANKS = "the p-SVM of S alone has a solution, which ranks alpha_i first in all inputs"


def relaxed(case: Selection) -> Programme:
    """p(alpha): margins are 0 for the inputs whose margin under v(alpha) is not tight."""
    return p_programme(case, v_programme(case).tight)


def essential(case: Selection) -> list[bool]:
    """The inputs without which v(alpha) would be another."""
    v = v_programme(case)
    others = [v.rows[:i] + v.rows[i + 1 :] for i in range(len(v.rows))]
    return [solve(rows, case.X.shape[2]).vector != v.vector for rows in others]


def of_support(case: Selection) -> Programme:
    """p_S: the p-SVM of the inputs alone whose margin under v(alpha) is tight."""
    _, T, d = case.X.shape
    tight = np.repeat(v_programme(case).tight, T - 1).tolist()
    return solve([row for row, kept in zip(p_rows(case), tight, strict=True) if kept], d)


def ranks(case: Selection) -> bool:
    """p_S exists and gives no other token of any input a larger logit than alpha_i."""
    p = of_support(case).vector
    return p is not None and all(dot(p, row) >= 0 for row in p_rows(case))


def both_exist(m: Any, case: Any, share: Any = 0) -> Any:
    """v(alpha) exists, and 1/||p(alpha)|| is above a share of the shortest difference of keys."""
    p = solved(m, relaxed(case))
    return m.all_of(exceeds(m, v_svm(m, case)), exceeds(m, p, share))


def unambiguous(m: Any, case: Any, share: Any = 1, against: str = "essential") -> Any:
    """p(alpha) is a share of that of the essential inputs, or of that without relaxation."""
    other = p_svm(m, case)
    if against == "essential":
        other = solved(m, p_programme(case, essential(case)))
    return m.equal(solved(m, relaxed(case)).vector, share * other.vector)


def exists_off_hull(m: Any, case: Any, share: Any = 1, of: str = "hull") -> Any:
    """Some margin under v(alpha) is 1; 1/||p(alpha)|| is a share of the distance of C from 0."""
    v, p = v_svm(m, case), solved(m, relaxed(case))
    return m.all_of(m.equal(m.min(v.rows @ v.vector), m.exact(1)), is_distance(m, p, share, of))


def shorter(m: Any, case: Any, share: Any = 1) -> Any:
    """Pythagoras' inequality for p(alpha) without relaxation and p' with it."""
    return pythagoras(m, p_svm(m, case).vector, solved(m, relaxed(case)).vector, share)


def by_support(m: Any, case: Any, share: Any = 1, against: str = "relaxed") -> Any:
    """p(alpha), with or without relaxation, is a share of p_S."""
    p = solved(m, relaxed(case)) if against == "relaxed" else p_svm(m, case)
    return m.equal(p.vector, share * solved(m, of_support(case)).vector)


PROGRAMMES = Statement(
    "mm/joint-svm",
    source=SOURCE,
    place="Attention SVMs, joint v and p-SVMs",
    printed="p(alpha) = argmin ||p|| s.t. p^T (k_i,alpha_i - k_it) >= 1 for i in S, >= 0 for i "
    "not in S; S is the set of indices that x_i,alpha_i is a support vector when solving v-SVM",
    variables=Records(Selection, relaxable(), lambda generator: gaussian(generator).chosen),
    conclusion=both_exist,
    cost=3,
    readings={
        "literal-1": Reading(
            "for all inputs, labels, keys and choices alpha there is exactly one v(alpha) and "
            "one p(alpha), the support vectors of v being those of tight margin",
            expected="refuted, certified",
            under=(),
            variables=Records(Selection, selections()),
            examples=(ONE_TOKEN, *PUBLISHED, RESCUED, DUPLICATE, OPPOSED),
            siblings={
                "the margin is above half of the nearest rival's": changed(
                    share="0.5", examples=[PUBLISHED[1]]
                ),
                "the margin is above the nearest rival's": changed(share=1, examples=[SEPARATED]),
            },
        ),
        "literal-2": Reading(
            "p(alpha) is the same whether a support vector of v is an input of tight margin, or "
            "one whose multiplier is positive whichever are taken, so that v(alpha) changes "
            "without it",
            expected="refuted, certified",
            under=(V_EXISTS, P_EXISTS),
            variables=Records(Selection, relaxable()),
            conclusion=unambiguous,
            examples=(ONE_TOKEN, PUBLISHED[1], PUBLISHED[0], TWICE),
            siblings={
                "105% of it": changed(share="1.05"),
                "p(alpha) without relaxation": changed(against="plain"),
            },
        ),
        "amended": Reading(
            "where v(alpha) exists some margin is tight; with S the tight ones p(alpha) exists, "
            "and is unique, exactly where 0 is not in C = conv{D_it, i in S} + cone{D_it, i not "
            "in S}, D the differences of keys; then ||p(alpha)|| dist(0, C) = 1",
            expected="holds",
            under=(V_EXISTS,),
            variables=Records(
                Selection,
                st.one_of(selections(), relaxable(duplicates=True)),
                lambda generator: gaussian(generator).chosen,
            ),
            conclusion=exists_off_hull,
            examples=(ONE_TOKEN, *PUBLISHED, RESCUED, DUPLICATE),
            siblings={
                "95% of the distance": changed(share="0.95"),
                "105% of the distance": changed(share="1.05"),
                "the shortest difference in place of C": changed(of="row"),
            },
        ),
        "sharp-1": Reading(
            "relaxing shortens: ||p - p'||^2 <= ||p||^2 - ||p'||^2 for p(alpha) without and p' "
            "with relaxation; no constant above 1 will do",
            expected="holds",
            under=(V_EXISTS, P_EXISTS),
            conclusion=shorter,
            tight=True,
            examples=(ONE_TOKEN, *PUBLISHED, ORTHOGONAL),
            siblings={"twice the left side": changed(share=2)},
        ),
        "sharp-2": Reading(
            "where the p-SVM of the inputs of S alone ranks alpha_i first, ties allowed, in the "
            "other inputs too, its solution is p(alpha)",
            expected="holds",
            under=(V_EXISTS, RANKS),
            variables=Records(
                Selection,
                relaxable(duplicates=True),
                lambda generator: gaussian(generator).chosen,
            ),
            conclusion=by_support,
            examples=(ONE_TOKEN, *PUBLISHED, RESCUED),
            siblings={
                "105% of it": changed(share="1.05"),
                "p(alpha) without relaxation": changed(against="plain"),
                "p_S may rank another token first": changed(
                    drop=[RANKS], under={S_EXISTS: lambda case: of_support(case).exists}
                ),
            },
        ),
    },
    hypotheses={V_EXISTS: v_exists, P_EXISTS: p_exists, RANKS: ranks},
    violating={V_EXISTS: [OPPOSED], P_EXISTS: [RESCUED]},
)
