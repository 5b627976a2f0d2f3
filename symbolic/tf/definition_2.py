"""Locally optimal token choices, and the Att-SVM's solution without the rivals of a choice.

Rivals of alpha are tokens that score at least as much as alpha_i. X^mm is W^mm(alpha), and X' is
the solution of the Att-SVM without rivals.
"""

from attsvm.errors import present
from attsvm.primitives import programme_letters as letters
from attsvm.primitives.descent_letters import A, V, X, j, margin
from attsvm.primitives.hypotheses import FEASIBLE, UNIQUE
from attsvm.primitives.programme_letters import DROPPED, GONE_RIVAL, REST, c, lowest
from attsvm.theory.proof.facts import Fact, eq, ge, gt
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, LENGTH
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    assume,
    at,
    beyond,
    bounds,
    cases,
    cite,
    cut,
    decide,
    scale,
)
from attsvm.theory.proof.terms import NORM, Term
from properties.tf.definition_2 import RIVALLED, SOLVED
from symbolic.attention_facts import meets
from symbolic.facts import conclude_each, no_shorter
from symbolic.sim.tokens_left_out import LeftOut, unchanged, without_some


@linked
def prove_optimal() -> str:
    """Prove that unique optimal tokens score above all other tokens, and have a W^mm."""
    exists, _ = suppose(FEASIBLE)
    conclude_each(letters.best_choice(), exists, *suppose(UNIQUE))
    return "for any n, T, d: by the definition of an optimum and of feasibility"


@linked
def prove() -> str:
    """Prove m = max(1, m') for the least margins m and m' of rivals under X^mm and X'.

    If m > 1, no rival restricts X^mm, which is X'. If m' >= 1, X' meets all constraints, and is
    X^mm.
    """
    claim = letters.least_margin()
    known = present(claim, "a claim").setting
    among = setting(known, "a rival that is left out is one of these")
    (exists, _), (some,) = suppose(SOLVED), suppose(RIVALLED)
    of, m, rest = without_some(exists), lowest(V), lowest(REST)
    floor = bounds(at(exists, {j: GONE_RIVAL(c)}), "least", margin(GONE_RIVAL(c), V), c, some)
    wide = assume(gt(m, 1))
    loose = unchanged(of, decide(gt(margin(j.term, V), 1), at(among, {X: V}), wide))
    no_less, no_more = _no_less(loose, some, V, REST), _no_less(loose, some, REST, V)
    one = decide(eq(m, 1), floor, assume(gt(m, 1).denied()))
    product_ = eq((m - 1) * (m - rest), 0)
    equal = decide(eq(m, rest), no_less, no_more)
    either = cases(
        decide(product_, scale(equal, m - 1)), decide(product_, scale(one, m - rest)), gt(m, 1)
    )
    far = assume(ge(rest, 1))
    no_less = _no_less(_all_met(of, at(among, {X: REST}), far), some, V, REST)
    below = decide(ge(m, rest), floor, assume(ge(rest, 1).denied()))
    conclude_each(claim, floor, cases(no_less, below, ge(rest, 1)), either)
    return "for any n, T, d and any choice that has a solution and a rival"


def _all_met(of: LeftOut, among: Fact, far: Fact) -> Fact:
    """Return that ||X' - X^mm||^2 = 0, as X' meets the constraints of rivals as well."""
    mine, own = margin(j.term, REST), gt(DROPPED(j), 0)
    zero = decide(eq(DROPPED(j), 0), of.either, assume(own.denied()))
    left = decide(ge(mine, 1), of.kept, scale(zero, mine - 1))
    all_ = cases(decide(ge(mine, 1), among, far), left, own)
    half = (V + REST) / 2
    mean = decide(ge(margin(j.term, half), 1), of.exists, all_)
    no_less = cut(at(of.least, {X: half}), meets(mean, half))
    shift = REST - V
    return decide(eq(shift @ shift, 0), no_less, of.no_longer, no_shorter(shift))


def _no_less(same: Fact, some: Fact, one: Term, other: Term) -> Fact:
    """Return that the least margin under X^mm or X' is no less than under the other."""
    row, shift = A(GONE_RIVAL(c)), other - one
    (size,), (_, square) = cite(CAUCHY_SCHWARZ, (), row, shift), cite(LENGTH, (), shift)
    zero = scale(decide(eq(NORM(shift), 0), same, square), NORM(row))
    low = beyond("least", row @ other, c)
    return bounds(
        decide(ge(row @ one, lowest(other)), size, low, zero), "least", row @ one, c, some
    )
