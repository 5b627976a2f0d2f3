"""Label margins: other choices of tokens, idle inputs, and what is too much for Assumption B.

An input is idle where its multiplier is 0 in all multipliers of v(alpha). Instances have a
selection `chosen`, a prompt p and a head h.
"""

import itertools
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat

from attsvm.exact import dot, rational
from attsvm.exact.numbers import Number, Vector, combine
from attsvm.theory.arithmetic import BALLS
from properties.mm._support import max_margin as svm
from properties.mm._support import token_selections as cases
from properties.mm._support.token_selections import Selection


def others(case: Any) -> Iterator[Any]:
    """The selections of other tokens, all of them."""
    for beta in itertools.product(range(case.X.shape[-2]), repeat=len(case.alpha)):
        if list(beta) != case.alpha.tolist():
            yield cases.selecting(case, beta)


def tilts(case: Selection) -> list[svm.Programme]:
    """For each input heads that tilt v(alpha) towards it: there are some exactly if it is idle.

    They are orthogonal to v(alpha), with Y_i u^T x_i,alpha_i >= 0 for all tight inputs i, and >= 1
    for this one if it is tight: the least of them is found, 0 where it is not tight. Where there is
    none the multipliers of Farkas' lemma, but those of the first two rows, are multipliers of
    v(alpha) that count this input.
    """
    v = svm.v_programme(case)
    if v.vector is None:
        return []
    both = [v.vector, [-x for x in v.vector]]
    tight = [row for row, flag in zip(v.rows, v.tight, strict=True) if flag]
    found = []
    for row, flag in zip(v.rows, v.tight, strict=True):
        rows = [*both, *tight, row] if flag else both
        bound = [0] * (len(rows) - flag) + [1] * flag
        found.append(svm.solve(rows, len(row), [fmpq(b) for b in bound]))
    return found


def idle(case: Selection) -> list[bool]:
    """Which inputs no multipliers of v(alpha) count; none where there is no v(alpha)."""
    return [tilt.exists for tilt in tilts(case)] or [False] * len(case.y)


def multipliers(case: Selection) -> Vector:
    """Multipliers of v(alpha) of sum 1, positive in every input that is not idle."""
    v = svm.v_programme(case)
    tight = [i for i, flag in enumerate(v.tight) if flag]
    found = [v.weights]
    for i, tilt in enumerate(tilts(case)):
        if not tilt.exists and v.weights[i] == 0:
            counted = [fmpq(0)] * len(v.rows)
            for j, w in zip([*tight, i], tilt.weights[2:], strict=True):
                counted[j] += w
            found.append(counted)
    return combine([1 / (len(found) * sum(w, fmpq(0))) for w in found], found)


def slowest(case: Selection) -> list[svm.Programme]:
    """For each token that competes in an idle input, the prompts (q, tau) that saturate it last.

    The logit differences q^T D are at least tau in the inputs that are not idle, at least 0 in the
    others, and at most tau - 1 for this token.
    """
    rests = np.repeat(idle(case), case.X.shape[1] - 1).tolist()
    rows = svm.p_rows(case)
    base = [[*row, fmpq(0 if rest else -1)] for row, rest in zip(rows, rests, strict=True)]
    last = [[*(-x for x in row), fmpq(1)] for row, rest in zip(rows, rests, strict=True) if rest]
    bound = [fmpq(0)] * len(base) + [fmpq(1)]
    return [svm.solve([*base, row], case.X.shape[2] + 1, bound) for row in last]


def label_margin(m: Any, case: Any) -> tuple[Any, list[Any]]:
    """min_i Y_i h^T x_i^p, and what attention leaves to tokens that are not selected."""
    one, X, h = case.chosen, m.values(case.chosen.X), m.values(case.h)
    keys = X @ m.values(one.W).T
    margins, left = [], []
    for y, tokens, k, best in zip(one.y, X, keys, one.alpha, strict=True):
        s = m.softmax(k @ m.values(case.p))
        margins.append(int(y) * (s @ (tokens @ h)))
        left.append(sum((s[t] for t in range(len(s)) if t != best), m.exact(0)))
    return m.min(m.array(margins)), left


def reaches_all(case: Selection) -> bool:
    """Whether attention can reach every choice of one token an input: p(beta) exists for all."""
    return all(svm.p_programme(beta).exists for beta in (case, *others(case)))


def rival_square(case: Selection) -> Number:
    """The square of gamma, the largest label margin of a choice other than alpha; 0 for T = 1."""
    found = (svm.v_programme(beta).margin_square for beta in others(case))
    return max((square for square in found if square is not None), default=fmpq(0))


def alone(case: Selection) -> bool:
    """Whether every choice but alpha has a label margin below Gamma, and there is a v(alpha)."""
    return bool(rival_square(case) < (svm.v_programme(case).margin_square or fmpq(0)))


def beyond(m: Any, case: Any) -> Any:
    """min_i Y_i h^T x_i^p > ||h|| (Gamma - nu max_i (1 - s_i,alpha_i))."""
    h, square = m.values(case.h), svm.v_programme(case.chosen).margin_square
    margin, left = label_margin(m, case)
    off = m.values(case.nu) * m.norm(h) * m.max(m.array(left))
    return m.above(margin, m.sqrt(m.values(square) * (h @ h)) - off)


def too_much(case: Any) -> Any:
    """A prompt and a head with which the nu of an instance is too large; None where none is found.

    Prompts are multiples of p(beta), where attention can reach a beta of label margin above Gamma -
    nu, and of one that saturates an idle input last.
    """
    if svm.v_programme(case.chosen).vector is None:
        return None
    found = (_far_enough(case, q, head) for q, head in (*_rivals(case), *_slow_ones(case.chosen)))
    return next((far for far in found if far is not None), None)


Way = tuple[Vector, Callable[[Any], Vector]]
"""The direction of a prompt, and the head at an instance with such a prompt."""


def _rivals(case: Any) -> Iterator[Way]:
    """p(beta) and v(beta) of choices in reach with a label margin above Gamma - nu."""
    least = arb(svm.v_programme(case.chosen).margin_square).sqrt() - arb(rational(case.nu))
    for beta in others(case.chosen):
        v, p = svm.v_programme(beta).vector, svm.p_programme(beta).vector
        largest = 1 / arb(dot(v, v)).sqrt() if v else arb(0)
        head = v or _orthogonal(svm.v_rows(beta))
        if head and p and largest > least:

            def same(_: Any, head: Vector = head) -> Vector:
                return head

            yield p, same


def _orthogonal(rows: list[Vector]) -> Vector | None:
    """A head that all of these tokens score 0 under, if there is one."""
    basis, nullity = fmpq_mat(rows).numer_denom()[0].nullspace()
    return [fmpq(basis[k, 0]) for k in range(len(rows[0]))] if nullity else None


def _slow_ones(one: Selection) -> Iterator[Way]:
    """Prompts that saturate an idle input last; v(alpha) tilted by what attention leaves to it.

    The tilt is that times the largest lead of a selected token over another one in score.
    """
    p, none, v = svm.p_programme(one).vector, idle(one), svm.v_programme(one).vector
    if p is None or v is None:
        return
    heads = [tilt.vector for tilt in tilts(one) if tilt.vector is not None]
    scores = (dot(v, row) for beta in others(one) for row in svm.v_rows(beta))
    steep = 1 - min(scores, default=fmpq(1))

    def tilted(far: Any) -> Vector:
        left = [x for x, flag in zip(label_margin(BALLS, far)[1], none, strict=True) if flag]
        most = rational(max(float(arb(x)) for x in left))
        return combine([1, *([steep * most] * len(heads))], [v, *heads])

    flags = np.repeat(none, one.X.shape[1] - 1).tolist()
    rows = [row for row, flag in zip(svm.p_rows(one), flags, strict=True) if flag]
    for row, prompt in zip(rows, slowest(one), strict=True):
        if prompt.vector is not None:
            yield combine([1, 1 / (2 * dot(row, p))], [prompt.vector[:-1], p]), tilted


def _far_enough(case: Any, q: Vector, head: Callable[[Any], Vector]) -> Any:
    """R q with the first power R of 2, up to 1024, at which nu is too large, and the head there."""
    with ctx.workprec(512):
        for k in range(11):
            far = SimpleNamespace(chosen=case.chosen, p=[2**k * x for x in q], nu=case.nu)
            far.h = [fmpq(0)] * len(q)
            far.h = head(far)
            found = beyond(BALLS, far)
            if found.left < found.right:
                return far
    return None
