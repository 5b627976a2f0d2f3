"""A lower bound of the risk gap by attention off the best tokens and the least gap of scores."""

from attsvm.theory.proof.linked import linked, suppose
from attsvm.theory.proof.terms import IS_ZERO, least, most, total
from properties._support.risk_formulas import DECREASES
from properties.tf.linear_head_one_token import RISK
from symbolic.attended import LOSS, falls, mean_above, next_below, off_bound, t
from symbolic.facts import end, formula_of, some_of
from symbolic.tf.lemma_2 import attention_in, by_query


@linked
def prove() -> str:
    """Prove L(W) - L_* >= (1/n) sum_i [l(best - d_i (1 - s_i)) - l(best)] for falling losses.

    Each token below the best ones adds at least d_i s_t to the deficit of the input.
    """
    (decreases,) = suppose(DECREASES, formula_of(RISK, "sharp"))
    one = attention_in(RISK, "sharp", by_query)
    gap = one.best - one.score
    next_, off = (
        least(gap + IS_ZERO(gap) * most(gap, t), t),
        total((1 - IS_ZERO(gap)) * one.weight, t),
    )
    below = next_below(one.gap, t, most(gap, t))
    low = off_bound(one.gap, one.weight_positive, t, below, 1)
    drop = falls(decreases, LOSS, one.best - one.deficit, one.best - off * next_, low)
    end(RISK, "sharp", by=[mean_above(drop, some_of(RISK, "sharp", "n"))])
    return "for every loss that nowhere increases and any n, T, d and W"
