"""An input's loss at attention s against that at its best score, for any number of tokens."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import expanded


def prove() -> str:
    """Best - <s, gamma> lies between w next and w range, w the weight off the optimal tokens.

    Raises:
        ProofError: a step fails.
    """
    t, T = sp.symbols("t T", integer=True, positive=True)
    s, gamma = sp.IndexedBase("s", nonnegative=True), sp.IndexedBase("gamma", real=True)
    best, least = sp.Symbol("best", real=True), sp.Symbol("next", positive=True)
    more, still = sp.symbols("more still", nonnegative=True)
    tokens = (t, 1, T)
    added = s[t] * (best - gamma[t])
    summed = sp.factor_terms(sp.expand(sp.Sum(added, tokens)))
    ensure_equal(
        summed.subs(sp.Sum(s[t], tokens), 1),
        best - sp.Sum(gamma[t] * s[t], tokens),
        "best - <s, gamma> is the sum of s_t times the gap of t, as the s_t add up to 1",
    )
    ensure_zero(added.subs(gamma[t], best), "an optimal token adds 0")
    another = added.subs(gamma[t], best - least - more)
    ensure_nonnegative(
        another - s[t] * least, "another one at least s_t times the next gap", normal=expanded
    )
    ensure_nonnegative(
        s[t] * (least + more + still) - another,
        "and at most s_t times the range",
        normal=expanded,
    )
    ensure_nonnegative(
        [added.subs(gamma[t], best), sp.factor(another)],
        "so <s, gamma> <= best, and l is at least l(best) there",
    )
    weight = sp.Symbol("w", positive=True)
    ensure_positive(
        weight * least, "with weight off the optimal tokens <s, gamma> < best, strictly"
    )
    return "for every decreasing loss, strictly where the loss is so strictly, and any T and d"
