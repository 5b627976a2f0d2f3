"""Section 3.3, second bound: alpha is a sum of the exponentials.

    |alpha(x) - alpha(y)| <= sqrt(n) ||exp(A x) - exp(A y)||_2.

On the right A has lost its indices. literal-1 reads the block A_{l0,j0} of the left side, literal-2
the whole A_{l0} = A_1 kron A_2 of n^2 rows, whose norm is at least that of the block. Both hold on
the whole space, for any n and with nothing listed.

Proof. With w = exp(A x) - exp(A y): n ||w||^2 - (sum w)^2 = n sum (w_t - mean w)^2 >= 0.

`sharp`: sqrt(n) is attained exactly where all entries of exp(A x) - exp(A y) are equal: by equal
tokens for every n and every pair of points, and by A = [[1, 0], [1, 1]], x = (1, 0), y = 0, whose
tokens differ. The identity says by how much it is missed elsewhere.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm.exact import norm, rational
from attsvm.exact.numbers import Vector
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE
from properties.sim.basics import Points, exact_logits, points, powers, rounding
from properties.sim.exponentials import (
    Blocks,
    blocks,
    changes,
    joined,
    lagrange,
    sum_slack,
    surely_constant,
)

BOUND: dict[str, Any] = {"source": SOURCE, "place": "Section 3.3, second bound"}


def ball(s: Vector, t: Vector, rest: list[arb], share: float) -> arb | fmpq:
    """The slack, 0 where it is; `rest` are changes of other blocks."""
    w, factor = changes(s, t), rational(share)
    if surely_constant(s, t) and all(x == 0 for x in rest):  # |sum w| is sqrt(n) ||w||
        return fmpq(0) if factor == 1 else (arb(factor) - 1) * len(w) * abs(w[0])
    return arb(factor * arb(len(w)).sqrt() * norm(w + rest) - abs(sum(w, arb(0))))


def certify(case: Points, share: float = 1.0) -> arb | fmpq:
    """The slack as a ball."""
    return ball(*exact_logits(case), [], share)


def certify_whole(case: Blocks, share: float = 1.0) -> arb | fmpq:
    """The slack with the whole matrix on the right."""
    S, T = case.exact_logits()
    return ball(S[0], T[0], changes(joined(S[1:]), joined(T[1:])), share)


EQUAL = Points(np.ones((3, 1)), np.zeros(1), np.ones(1))
MIXED = Points(np.array([[1.0], [-1.0]]), np.zeros(1), np.ones(1))
ONE_TOKEN = Points(np.ones((1, 1)), np.zeros(1), np.ones(1))
FIRST_ROW = Blocks(np.array([[1.0], [0.0]]), np.ones((2, 1)), np.zeros((1, 1)), np.ones((1, 1)))
LESS = {"95% of it": sibling(share=0.95), "half of it": sibling(share=0.5)}


def crowd(generator: np.random.Generator) -> Points:
    """Up to eight tokens, equal or nearly so."""
    n, D = int(generator.integers(2, 9)), int(generator.integers(1, 3))
    token = generator.integers(-4, 5, size=D) / 4
    apart = generator.choice([0.0, 1 / 64]) * generator.integers(-1, 2, size=(n, D))
    x, y = generator.integers(-8, 9, size=(2, D)) / 4
    return Points(token + apart, x, y)


@claim(
    "sim/basic-2:literal-1",
    **BOUND,
    statement="|alpha(x) - alpha(y)| <= sqrt(n) ||exp(A x) - exp(A y)||, A the block A_{l0,j0}",
    data=points(0, -1),
    examples=[ONE_TOKEN, MIXED, EQUAL],
    ensemble=crowd,
    certify=certify,
    expected="proved",
    proof="symbolic.sim.basic_2:prove",
    siblings=LESS,
)
def literal_1(case: Points, share: float = 1.0) -> Slack:
    """The block on both sides."""
    return sum_slack(case, case, share)


@claim(
    "sim/basic-2:literal-2",
    **BOUND,
    statement="|alpha(x) - alpha(y)| <= sqrt(n) ||exp(A x) - exp(A y)||, A the whole A_{l0} of "
    "n^2 rows and alpha of one block",
    data=blocks(),
    examples=[FIRST_ROW],
    certify=certify_whole,
    expected="proved",
    proof="symbolic.sim.basic_2:prove",
    siblings=LESS,
)
def literal_2(case: Blocks, share: float = 1.0) -> Slack:
    """The whole matrix on the right."""
    return sum_slack(case.points(whole=False), case.points(whole=True), share)


def certify_sharp(case: Points, share: float = 1.0) -> arb:
    """Minus the size of the residual as a ball."""
    w = changes(*exact_logits(case))
    gaps = [a - b for k, a in enumerate(w) for b in w[:k]]
    pairs, whole = sum((a * a for a in gaps), arb(0)), sum(w, arb(0))
    squares = sum((a * a for a in w), arb(0))
    return arb(-abs(lagrange(len(w), squares, whole) - arb(rational(share)) * pairs))


@claim(
    "sim/basic-2:sharp",
    **BOUND,
    statement="n ||w||^2 - |alpha(x) - alpha(y)|^2 = sum over pairs of (w_t - w_r)^2, "
    "w = exp(A x) - exp(A y): sqrt(n) is attained by equal tokens, whatever n, x and y are",
    data=points(0, -1),
    examples=[ONE_TOKEN, EQUAL, MIXED],
    ensemble=crowd,
    certify=certify_sharp,
    expected="proved",
    proof="symbolic.sim.basic_2:prove",
    siblings={
        "95% of the sum over pairs": sibling(share=0.95),
        "5% more than it": sibling(share=1.05),
        "equality for any tokens": sibling(share=0.0),
    },
)
def sharp(case: Points, share: float = 1.0) -> Slack:
    """By how much other tokens miss it."""
    u, v = powers(case)
    w, n = u - v, len(u)
    pairs = float(((w[:, None] - w[None, :]) ** 2).sum()) / 2
    moved, total = float(w.sum()), float((u + v).sum())
    residual = lagrange(n, float(w @ w), moved) - share * pairs
    error = 16 * n * rounding(case) * total * total + 1e-300
    if not math.isfinite(residual + error):
        return Slack.unknown("the exponentials overflow")
    return Slack.equal(residual, error)
