"""The optimal choice alone is locally optimal, if all tokens support all Local-SVMs: linked facts.

On `tf/all-local-unique:amended`. Any other choice has an optimal token as a rival, at margin 1.
"""

from attsvm.primitives.descent_letters import OWNER, V, i, j, lead
from attsvm.primitives.hypotheses import FEASIBLE, UNIQUE
from attsvm.theory.proof.facts import eq, ge, gt
from attsvm.theory.proof.lemmas import INDICATOR, SIZE
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    cases,
    cite,
    cut,
    decide,
    one_of_sum,
    scale,
)
from attsvm.theory.proof.terms import ABS, IS_ZERO, Over, total
from properties._support.token_choices import EVERYWHERE
from properties._support.token_letters import BEST_MARGIN, LOCAL, TAKEN, c, unique_choice
from symbolic.attention_facts import meets
from symbolic.facts import conclude_each, product


@linked
def prove() -> str:
    """Prove that the optimal choice is locally optimal, and that no other choice is."""
    stated = unique_choice()
    (lower,), (exists, _), (tight, _) = suppose(UNIQUE), suppose(FEASIBLE), suppose(EVERYWHERE)
    either, solved, above, own, local = (setting(stated.setting, words) for words in stated.setting)
    selects, apart = TAKEN(c, j), lead(j.term)
    ahead = decide(gt(apart, 0), lower)
    some = decide(ge(selects, 0), either)
    part = product(some, ahead)
    # an optimal choice takes no rival, and X^mm is its solution
    least = assume(eq(total(selects * apart, j), 0))
    none = add_up(decide(eq(selects, 0), one_of_sum(part, j), least, ahead, some), j)
    flag = cut(cite(INDICATOR, (), apart)[1], ahead)
    leads = add_up(
        decide(eq(ABS(apart) - apart + IS_ZERO(apart), 0), *cite(SIZE, (), apart), ahead, flag), j
    )
    best = cut(local, none, leads, cut(own, none, meets(exists, V)))
    # a rival that a locally optimal choice takes leaves the best token at margin 1
    alone, yes = assume(eq(LOCAL(c), 1)), assume(gt(selects, 0))
    margin = cut(tight, cut(solved, alone), yes)
    less = at(add_up(part, j, Over(OWNER, i.term)), {i: OWNER(j)})
    over = cut(above, yes, decide(ge(1, BEST_MARGIN(c, OWNER(j))), margin), less)
    refuted = decide(ge(0, selects), over, alone)
    no = cases(refuted, assume(gt(selects, 0).denied()), gt(selects, 0))
    rest = add_up(scale(decide(eq(selects, 0), no, some), apart), j)
    conclude_each(stated, best, rest)
    return "for any n, T and d"
