"""Lemma 3.13, Hessian: the bound on gradients as an operator norm of the Hessian over the domain.

    ||Hess L(x)|| <= 3 n^3 R^7 exp(13 R^2)  where ||A x|| <= R, ||A|| <= R, R >= 4.

The domain {x : ||A x|| <= R} is convex with 0 inside and L is smooth, so the gradient is Lipschitz
there with the supremum of ||Hess L|| over it and with no less: this is lemma 3.13 again.

- `literal`: as listed. False, as nothing bounds b or h: with n = 2, A = (1, 0), h = (1, -1) and x
  where b <f, h> is about 1, the Hessian grows like b^2 (n = 2 and x = 0 give 0 for every b).
- `amended`: |b| <= R and ||h|| <= R.
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
from properties.sim.bounded import (
    ADDED_AT_ONE,
    LISTED_AT_ONE,
    TOO_SMALL,
    BoundedEntry,
    bounded_entries,
    fitted_entry,
    published,
    published_ball,
)
from properties.sim.entries import Entry, curvature, entries, levelled, spare

LEMMA: dict[str, Any] = {"source": SOURCE, "place": "Lemma 3.13"}
LARGE_LABEL = Entry(
    np.array([[1.0], [0.0]]), np.array([2.0**-162]), np.array([1.0, -1.0]), 2.0**163
)
ONE_TOKEN = Entry(np.array([[1.0]]), np.zeros(1), np.ones(1), 1.0)


def exact_curvature(case: Entry) -> arb:
    """||Hess L(x)|| as a ball, exactly 0 where L is constant."""
    A, h, b = rationals(case.A), rationals(case.h), rational(case.b)
    if b == 0 or len(set(h)) == 1 or all(row == A[0] for row in A):
        return arb(0)
    H = entry_hessian(A, rationals(case.x), h, b)
    # exp(-b <f, h>) may be too small for a rational: no more than 2^-4096 is asked for
    least = arb(2) ** -4096
    return operator_norm([[arb(0, least) if abs(x) < least else x for x in row] for row in H])


def certify_published(case: BoundedEntry, power: int = 1, share: float = 1.0) -> arb | fmpq:
    """The slack as a ball, both sides divided by the constant."""
    left = exact_curvature(case.entry)
    return published_ball(len(case.entry.h), case.R, left, arb(1), power, share)


def _published(case: BoundedEntry, power: int, share: float) -> Slack:
    return published(len(case.entry.h), case.R, *curvature(case.entry), 1.0, power, share)


@claim(
    "sim/lemma-3.13-hessian:literal",
    **LEMMA,
    statement="for R >= 4, ||A x||, ||A|| at most R: ||Hess L(x)|| <= 3 n^3 R^7 exp(13 R^2)",
    data=bounded_entries(0, 8, 64, 512),
    hypotheses=LISTED_AT_ONE,
    examples=[
        fitted_entry(ONE_TOKEN, everything=False),
        fitted_entry(LARGE_LABEL, everything=False),
    ],
    relaxed=relaxed.published_curvature,
    certify=certify_published,
    expected="refuted",
    siblings=TOO_SMALL,
)
def literal(case: BoundedEntry, power: int = 1, share: float = 1.0) -> Slack:
    """With the listed conditions alone."""
    return _published(case, power, share)


@claim(
    "sim/lemma-3.13-hessian:amended",
    **LEMMA,
    statement="the printed bound holds for the Hessian where also |b| <= R and ||h|| <= R",
    data=bounded_entries(0, everything=True),
    hypotheses={**LISTED_AT_ONE, **ADDED_AT_ONE},
    examples=[fitted_entry(ONE_TOKEN, everything=True)],
    relaxed=relaxed.published_curvature,
    certify=certify_published,
    expected="proved",
    proof="symbolic.sim.lemma_3_13:prove_published",
    cost=2,
    depends_on=["sim/lemma-3.13-hessian:sharp"],
    siblings={
        **TOO_SMALL,
        "b and h of any size": sibling(drop=list(ADDED_AT_ONE), data=bounded_entries(512)),
    },
)
def amended(case: BoundedEntry, power: int = 1, share: float = 1.0) -> Slack:
    """With b and h bounded by R too. Far from tight: see the sharp reading."""
    return _published(case, power, share)


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
        "half of the constant": sibling(share=0.5),
        "||A|| in place of its square": sibling(square=1),
    },
)
def sharp(case: Entry, share: float = 1.0, square: int = 2) -> Slack:
    """On the whole space, with the least constant of its kind."""
    left, error = curvature(case)
    D = abs(case.b) * float(case.h.max() - case.h.min())
    right = share * softmax_gradient_constant(D) * float(np.linalg.norm(case.A, 2)) ** square
    return Slack.at_most(left, right, error + 1e-9 * right)
