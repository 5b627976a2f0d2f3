"""The regularisation path of W tends in direction to the Att-SVM solution, by linked facts.

On `tf/theorem-2:amended-1`; letters are those of `properties.tf._support.path_letters`. Margins of
at least (1 - off) rho, times multipliers, add up to <W^mm, W(k)> >= (1 - off) rho ||W^mm||^2. As
||W(k)|| is at most rho ||W^mm||, the squared distance of the directions is at most 2 off.
"""

from attsvm.errors import present
from attsvm.primitives.descent_letters import A, V, W, X, j, margin, off
from attsvm.primitives.hypotheses import FEASIBLE, SEVERAL_TOKENS, UNIQUE
from attsvm.primitives.programme_letters import MULTIPLIERS, WEIGHT
from attsvm.theory.proof.facts import K, eq, ev, ge, gt
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, LENGTH
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    at,
    cite,
    conclude,
    cut,
    decide,
    positive,
    scale,
    square,
)
from attsvm.theory.proof.terms import NORM, total
from properties.tf._support import path_letters as letters
from properties.tf._support.path_letters import BALLS, RADIUS, TURN
from properties.tf._support.regularisation_paths import FALLING_AT_BEST
from symbolic.attention_facts import attends
from symbolic.facts import product
from symbolic.tf.path_facts import margins, scaled, secants


@linked
def prove() -> str:
    """Prove that W_R/R tends to W^mm/||W^mm||, for minimisers W_R over the balls of radius R."""
    claim = present(letters.direction(), "a claim")
    weight, sums, tight = (setting(BALLS, words) for words in MULTIPLIERS)
    inside, least = (setting(BALLS, words) for words in [*BALLS][-2:])
    (lower,), (several,), (meets, *_) = suppose(UNIQUE), suppose(SEVERAL_TOKENS), suppose(FEASIBLE)
    (falls,) = suppose(FALLING_AT_BEST)
    a = attends(lower, point=X)
    (reach,), (size, _) = cite(CAUCHY_SCHWARZ, (), A(j), V), cite(LENGTH, (), A(j))
    N, R = NORM(V), RADIUS(K)
    exists = decide(gt(N, 0), meets, reach, size, several)
    sized = scaled(exists)
    rho, same = sized.rho, sized.whole
    # rho W^mm is in the ball
    _, of_norm = cite(LENGTH, (), V)
    on_edge = decide(ge(R**2, rho**2 * (V @ V)), scale(same, rho * N + R), scale(of_norm, rho**2))
    cheaper = cut(at(least, {X: rho * V}), on_edge)
    follow = margins(a, secants(a, falls), sized, meets, cheaper)
    # <W^mm, W> is the sum of multipliers times margins
    held = decide(eq(V @ V, total(WEIGHT(j), j)), at(sums, {X: V}), add_up(tight, j))
    most = (1 - off.term) * rho
    along = decide(ev(ge(WEIGHT(j) * margin(j.term, W(K)), WEIGHT(j) * most)), follow, weight)
    parts = [add_up(along, j), at(sums, {X: W(K)}), scale(held, most)]
    along = decide(ev(ge(V @ W(K), most * (V @ V))), *parts)
    along = at(along, {off: off.term / 2}, decide(gt(off.term / 2, 0), positive(off)))
    part = (1 - off.term / 2) * N
    parts = [along, exists, scale(same, part * N), scale(of_norm, part * rho)]
    along = decide(ev(ge(N * (V @ W(K)), part * N * R)), *parts)
    goal = ev(ge(off.term * R**2 * N**2, TURN @ TURN))
    wide = product(square(N), inside)
    near = decide(goal, along, wide, sized.sign, scale(of_norm, R**2))
    for fact, sequent in zip((exists, near), claim.sequents, strict=True):
        conclude(fact, sequent)
    return "for every smooth decreasing loss with l' < 0 at the best scores, any n, T, d"
