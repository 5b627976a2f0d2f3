"""Lemma 3.13 for the Hessian: ours, as the paper prints the bound on gradients alone.

So there is no literal reading. Its domain {x : ||A x|| <= R} is convex with 0 inside and L is
smooth, so the gradient is Lipschitz there with the supremum of ||Hess L|| over it and with no less.

- `sharp`: ||Hess L(x)|| <= ||A||^2 K(|b| (max h - min h)) for every x, K as in lemma 3.13; two
  tokens attain it. Each enclosed: Hessians by closed forms in balls, their norms by characteristic
  polynomials of rational midpoints, K by branch and bound.

Proof in `symbolic.sim.lemma_3_13`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm.exact import entry_hessian, operator_norm, rational, rationals, spectral_norm
from attsvm.exact.lipschitz import softmax_gradient_constant as exact_constant
from attsvm.lipschitz import softmax_gradient_constant
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE, relaxed
from properties.sim.entries import Entry, curvature, entries, levelled, spare

LEMMA: dict[str, Any] = {"source": SOURCE, "place": "The Hessian behind lemma 3.13"}


def exact_curvature(case: Entry) -> arb:
    """||Hess L(x)|| as a ball, exactly 0 where L is constant."""
    A, h, b = rationals(case.A), rationals(case.h), rational(case.b)
    if b == 0 or len(set(h)) == 1 or all(row == A[0] for row in A):
        return arb(0)
    H = entry_hessian(A, rationals(case.x), h, b)
    # exp(-b <f, h>) may be too small for a rational: no more than 2^-4096 is asked for
    least = arb(2) ** -4096
    return operator_norm([[arb(0, least) if abs(x) < least else x for x in row] for row in H])


def certify_sharp(case: Entry, share: float = 1.0, square: int = 2) -> arb | fmpq:
    """The slack as a ball."""
    h = rationals(case.h)
    constant = exact_constant(abs(rational(case.b)) * (max(h) - min(h)))
    size = spectral_norm(rationals(case.A)) ** square
    return spare(constant * size * arb(rational(share)), exact_curvature(case))


def steep(generator: np.random.Generator) -> Entry:
    """One point of the pairs that come close to the bound on gradients."""
    pair = levelled(generator)
    return Entry(pair.A, pair.x, pair.h, pair.b)


CLOSE = Entry(np.array([[1.0], [-1.0]]), np.array([21 / 32]), np.array([1.0, -1.0]) / 64, 1.0)


@claim(
    "sim/lemma-3.13-hessian:sharp",
    **LEMMA,
    statement="||Hess L(x)|| <= ||A||^2 K(|b| (max h - min h)) for every x, without n and without "
    "an exponential; no smaller K will do",
    data=entries(),
    examples=[CLOSE],
    ensemble=steep,
    relaxed=relaxed.sharp_curvature,
    certify=certify_sharp,
    expected="proved",
    proof="symbolic.sim.lemma_3_13:prove",
    siblings={
        "95% of the constant": sibling(share=0.95),
        "99.9% of the constant": sibling(share=0.999),
        "||A|| in place of its square": sibling(square=1),
    },
)
def sharp(case: Entry, share: float = 1.0, square: int = 2) -> Slack:
    """On the whole space, with the least constant of its kind."""
    left, error = curvature(case)
    D = abs(case.b) * float(case.h.max() - case.h.min())
    right = share * softmax_gradient_constant(D) * float(np.linalg.norm(case.A, 2)) ** square
    return Slack.at_most(left, right, error + 1e-9 * right)
