"""An input's loss at attention s against that at its best score, for any number of tokens."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import expanded

T = sp.Symbol("T", integer=True, positive=True)
t = sp.Symbol("t", integer=True, positive=True)
S, GAMMA = sp.IndexedBase("s", nonnegative=True), sp.IndexedBase("gamma", real=True)
BEST = sp.Symbol("best", real=True)
ADDED = S[t] * (BEST - GAMMA[t])
"""What token t adds to best - <s, gamma>; best may be any number."""


def ensure_shortfall() -> None:
    """Best - <s, gamma> is the sum of s_t (best - gamma_t), for any T and weights of sum 1."""
    tokens = (t, 1, T)
    summed = sp.factor_terms(sp.expand(sp.Sum(ADDED, tokens)))
    ensure_equal(
        summed.subs(sp.Sum(S[t], tokens), 1),
        BEST - sp.Sum(GAMMA[t] * S[t], tokens),
        "best - <s, gamma> is the sum of s_t times the gap of t, as the s_t add up to 1",
    )


def prove() -> str:
    """Best - <s, gamma> lies between w next and w range, w the weight off the optimal tokens.

    Raises:
        ProofError: a step fails.
    """
    least = sp.Symbol("next", positive=True)
    more, still = sp.symbols("more still", nonnegative=True)
    ensure_shortfall()
    ensure_zero(ADDED.subs(GAMMA[t], BEST), "an optimal token adds 0")
    another = ADDED.subs(GAMMA[t], BEST - least - more)
    ensure_nonnegative(
        another - S[t] * least, "another one at least s_t times the next gap", normal=expanded
    )
    ensure_nonnegative(
        S[t] * (least + more + still) - another,
        "and at most s_t times the range",
        normal=expanded,
    )
    ensure_nonnegative(
        [ADDED.subs(GAMMA[t], BEST), sp.factor(another)],
        "so <s, gamma> <= best, and l is at least l(best) there",
    )
    weight = sp.Symbol("w", positive=True)
    ensure_positive(
        weight * least, "with weight off the optimal tokens <s, gamma> < best, strictly"
    )
    return "for every decreasing loss, strictly where the loss is so strictly, and any T and d"
