"""Lemma 3.13 for the Hessian: its bound on gradients, seen as an operator norm.

The paper prints |grad L(x) - grad L(y)| <= 3 n^3 R^7 exp(13 R^2) ||x - y||. Its domain
{x : ||A x|| <= R} is convex with 0 inside and L is smooth, so the gradient is Lipschitz there with
the supremum of ||Hess L|| over it and with no less: `literal` asks for ||Hess L(x)|| of at most
3 n^3 R^7 exp(13 R^2) where R >= 4, ||A x|| <= R and ||A|| <= R. It falls as the lemma does, as
nothing bounds b: A = (4, 0), h = (1, -1), b = 2^161 at x = 2^-161. `amended` adds |b| <= R and
||h|| <= R, and holds by far, as `sharp` shows.

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
    ADDED,
    BLOCK,
    LISTED,
    TOO_SMALL,
    BoundedPair,
    bounded,
    fitted,
    published,
    published_ball,
)
from properties.sim.entries import Entry, EntryPair, curvature, entries, levelled, spare

LEMMA: dict[str, Any] = {"source": SOURCE, "place": "The Hessian behind lemma 3.13"}


def turned(pair: EntryPair) -> EntryPair:
    """The pair in the other order: the second point is where L bends."""
    return EntryPair(pair.A, pair.y, pair.x, pair.h, pair.b)


def at_one_point(pair: EntryPair, *, everything: bool) -> BoundedPair:
    """The first point alone, in a domain that just holds it."""
    return fitted(EntryPair(pair.A, pair.x, pair.x, pair.h, pair.b), everything=everything)


def entry_of(case: BoundedPair) -> Entry:
    """The entry of the loss at the first point."""
    pair = case.pair
    return Entry(pair.A, pair.x, pair.h, pair.b)


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


ONE_TOKEN = at_one_point(
    EntryPair(np.array([[1.0]]), np.zeros(1), np.ones(1), np.ones(1), 1.0), everything=True
)
LARGE_LABEL = at_one_point(
    EntryPair(
        np.array([[4.0], [0.0]]),
        np.array([2.0**-161]),
        np.zeros(1),
        np.array([1.0, -1.0]),
        2.0**161,
    ),
    everything=False,
)


def _published(case: BoundedPair, power: int, share: float) -> Slack:
    left = curvature(entry_of(case))
    return published(len(case.pair.h), case.R, *left, 1.0, power, share)


def certify_published(case: BoundedPair, power: int = 1, share: float = 1.0) -> arb | fmpq:
    """The slack as a ball, both sides divided by the constant."""
    left = exact_curvature(entry_of(case))
    return published_ball(len(case.pair.h), case.R, left, arb(1), power, share)


@claim(
    "sim/lemma-3.13-hessian:literal",
    **LEMMA,
    statement="for R >= 4, ||A x||, ||A|| at most R, A a block of A_1 kron A_2: "
    "||Hess L(x)|| <= 3 n^3 R^7 exp(13 R^2)",
    data=bounded(0, 8, 64, 512, blocks=True).map(
        lambda case: at_one_point(turned(case.pair), everything=False)
    ),
    hypotheses={**LISTED, **BLOCK},
    examples=[ONE_TOKEN, LARGE_LABEL],
    certify=certify_published,
    expected="refuted",
    siblings=TOO_SMALL,
)
def literal(case: BoundedPair, power: int = 1, share: float = 1.0) -> Slack:
    """With the listed conditions alone; the pair is one point twice."""
    return _published(case, power, share)


@claim(
    "sim/lemma-3.13-hessian:amended",
    **LEMMA,
    statement="the printed constant bounds ||Hess L(x)|| where also |b| <= R and ||h|| <= R",
    data=bounded(0, everything=True).map(
        lambda case: at_one_point(turned(case.pair), everything=True)
    ),
    hypotheses={**LISTED, **ADDED},
    examples=[ONE_TOKEN],
    certify=certify_published,
    expected="proved",
    proof="symbolic.sim.lemma_3_13:prove_published",
    depends_on=["sim/lemma-3.13-hessian:sharp"],
    siblings={
        **TOO_SMALL,
        "b and h of any size": sibling(drop=list(ADDED), examples=[LARGE_LABEL]),
    },
)
def amended(case: BoundedPair, power: int = 1, share: float = 1.0) -> Slack:
    """With b and h bounded by R too."""
    return _published(case, power, share)


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
