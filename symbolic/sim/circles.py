"""Circles of tokens under one query: the constraints around a circle contradict each other.

On `sim/often-unsolvable:amended-2`. Let l_1, ..., l_k be the logits of the tokens on a circle of k
places. The margins around it are l_1 - l_2, ..., l_k - l_1. They add up to 0, but each has to be at
least 1.
"""

from attsvm.errors import present
from attsvm.primitives import programme_letters as letters
from attsvm.primitives.descent_letters import X, margin
from attsvm.primitives.programme_letters import AFTER, ASKED, PLACED, k, p
from attsvm.theory.proof.facts import ge, some
from attsvm.theory.proof.lemmas import SIZE
from attsvm.theory.proof.linked import linked, setting
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    cite,
    conclude,
    decide,
    one_of_sum,
    regroup,
    scale,
)
from attsvm.theory.proof.terms import total


@linked
def prove() -> str:
    """Prove that constraints around a circle of tokens contradict each other.

    The differences of logits add up to 0, but their lower bounds add up to k > 0.
    """
    claim = present(letters.no_circle(), "a claim")
    asks, after = (setting(claim.setting, words) for words in claim.setting)
    some_place, m = assume(some(p)), margin(k.term, X.term)
    lack, logit = letters.short_by(k.term, X.term), PLACED(AFTER(p)) @ X.term
    size, size_square = cite(SIZE, (), 1 - m)
    within = one_of_sum(decide(ge(lack, 0), size, size_square), k)
    each = decide(ge(total(lack, k), 2 * (1 - m)), within, size, size_square)
    around = add_up(at(each, {k: ASKED(p)}), p)
    # each place follows exactly one place, so that the differences add up to 0
    steps = add_up(asks, p)
    once = add_up(scale(after, PLACED(p) @ X.term), p)
    parts = around, steps, once, regroup(logit, p, AFTER)
    (sequent,) = claim.sequents
    conclude(decide(sequent.proposition, *parts, some_place), sequent)
    return "for any embeddings and any number of tokens and sentences"
