"""Label margins: other choices of tokens, idle inputs, and prompts that saturate these last.

An input is idle if its multiplier is 0 in all multipliers of v(alpha). Instances have a selection
`chosen`, a prompt p and a head h.
"""

import itertools
from collections.abc import Iterator

import numpy as np
from flint import fmpq, fmpq_mat

from attsvm.exact.numbers import Number, Vector, combine
from attsvm.theory.types import Namespace, Numbers, Values
from properties.mm._support import max_margin as svm
from properties.mm._support import token_selections as cases
from properties.mm._support.token_selections import Selection


def others(case: Selection) -> Iterator[Selection]:
    """Yield all selections of other tokens."""
    for beta in itertools.product(range(case.X.shape[-2]), repeat=len(case.alpha)):
        if list(beta) != case.alpha.tolist():
            yield cases.selecting(case, beta)


def tilts(case: Selection) -> list[svm.Programme]:
    """Return, by input, the head that tilts v(alpha) towards it; it exists if it is idle.

    Such heads u are orthogonal to v(alpha), with Y_i u^T x_i,alpha_i >= 0 for all tight inputs i,
    and >= 1 for this input if it is tight. The result is the head of smallest norm, 0 if the input
    is not tight. If there is none, the multipliers of Farkas' lemma, without the first two rows,
    are multipliers of v(alpha) with a positive one for this input.
    """
    v = svm.v_programme(case)
    if v.vector is None:
        return []
    both = [v.vector, [-x for x in v.vector]]
    tight = [row for row, flag in zip(v.rows, v.tight, strict=True) if flag]
    programmes = []
    for row, flag in zip(v.rows, v.tight, strict=True):
        rows = [*both, *tight, row] if flag else both
        bound = [0] * (len(rows) - flag) + [1] * flag
        programmes.append(svm.solve(rows, len(row), [fmpq(b) for b in bound]))
    return programmes


def idle(case: Selection) -> list[bool]:
    """Return for each input whether its multiplier is 0 in all multipliers of v(alpha).

    All answers are False if there is no v(alpha).
    """
    return [tilt.exists for tilt in tilts(case)] or [False] * len(case.y)


def multipliers(case: Selection) -> Vector:
    """Return multipliers of v(alpha) of sum 1 that are positive in every input that is not idle."""
    v = svm.v_programme(case)
    tight = [i for i, flag in enumerate(v.tight) if flag]
    solutions = [v.weights]
    for i, tilt in enumerate(tilts(case)):
        if not tilt.exists and v.weights[i] == 0:
            counted = [fmpq(0)] * len(v.rows)
            for j, w in zip([*tight, i], tilt.weights[2:], strict=True):
                counted[j] += w
            solutions.append(counted)
    return combine([1 / (len(solutions) * sum(w, fmpq(0))) for w in solutions], solutions)


def slowest(case: Selection) -> list[svm.Programme]:
    """Return, by competing token of an idle input, the prompt (q, tau) that saturates it last.

    The logit differences q^T D are at least tau in inputs that are not idle, and at least 0 in the
    others. For this token they are at most tau - 1.
    """
    rests = np.repeat(idle(case), case.X.shape[1] - 1).tolist()
    rows = svm.p_rows(case)
    base = [[*row, fmpq(0 if rest else -1)] for row, rest in zip(rows, rests, strict=True)]
    last = [[*(-x for x in row), fmpq(1)] for row, rest in zip(rows, rests, strict=True) if rest]
    bound = [fmpq(0)] * len(base) + [fmpq(1)]
    return [svm.solve([*base, row], case.X.shape[2] + 1, bound) for row in last]


def label_margin(m: Namespace, case: Values) -> tuple[Number, list[Number]]:
    """Return min_i Y_i h^T x_i^p, and the attention of each input to unselected tokens."""
    margins, left = by_input(m, case.chosen, m.values(case.p), m.values(case.h))
    return m.min(m.array(margins)), left


def by_input(
    m: Namespace, one: Values, p: Numbers, h: Numbers
) -> tuple[list[Number], list[Number]]:
    """Return Y_i h^T x_i^p of each input, and its attention to unselected tokens."""
    X = m.values(one.X)
    keys = X @ m.values(one.W).T
    margins, left = [], []
    for y, tokens, k, best in zip(one.y, X, keys, one.alpha, strict=True):
        s = m.softmax(k @ p)
        margins.append(int(y) * (s @ (tokens @ h)))
        left.append(sum((s[t] for t in range(len(s)) if t != best), m.exact(0)))
    return margins, left


def reaches_all(case: Selection) -> bool:
    """Return whether p(beta) exists for all beta: attention can reach every choice of tokens."""
    return all(svm.p_programme(beta).exists for beta in (case, *others(case)))


def independent(case: Selection) -> bool:
    """Return whether the k_i,alpha_i - k_it are independent; then any attention is reached."""
    rows = svm.p_rows(case)
    return not rows or int(fmpq_mat(rows).rank()) == len(rows)


def rival_square(case: Selection) -> Number:
    """Return gamma^2, for the largest label margin gamma of other choices; 0 for T = 1."""
    squares = (svm.v_programme(beta).margin_square for beta in others(case))
    return max((square for square in squares if square is not None), default=fmpq(0))


def alone(case: Selection) -> bool:
    """Return whether v(alpha) exists and every other choice has a label margin below Gamma."""
    return bool(rival_square(case) < (svm.v_programme(case).margin_square or fmpq(0)))
