"""A bound of the number of attended tokens by ||W||: attention to few tokens needs a large norm."""

from __future__ import annotations

import sympy as sp

from attsvm.theory import cite, ensure_nonnegative
from attsvm.theory.declaration.proof import factored
from symbolic.sums import ensure_mean, ensure_nonnegative_sum, entry, n, total
from symbolic.textbook import CAUCHY_SCHWARZ
from symbolic.tf.softmax_range import ensure_odds


def prove() -> str:
    """Prove that 1 / sum_t s_t^2 >= 1 / max_t s_t >= 1 + (T - 1) exp(-D ||W||).

    D ||W|| is a bound of the difference of two logits.
    """
    largest, length = sp.symbols("max(s) D||W||", positive=True)
    less, more = sp.symbols("less more", nonnegative=True)
    share, power, least = largest / (1 + less), entry("power"), sp.exp(-length)
    ensure_mean(
        share, share, "sum_t s_t s_t is at most max s, as the s_t add up to 1", most=largest
    )
    ensure_odds()
    cite(CAUCHY_SCHWARZ)
    ensure_nonnegative_sum(
        total(power) - n * least,
        power - least,
        "the odds of the n = T - 1 others, sum_t exp(-lead_t), are at least n exp(-D ||W||)",
        power=least * (1 + more),
    )
    odds = n * least + more
    ensure_nonnegative(
        1 - (1 + n * least) * (1 / (1 + odds)) / (1 + less),
        "(1 + (T - 1) exp(-D ||W||)) sum_t s_t^2, which is compared with 1, is at most 1, as "
        "max s = 1/(1 + odds)",
        normal=factored,
    )
    return "for any T, d, W and attention"
