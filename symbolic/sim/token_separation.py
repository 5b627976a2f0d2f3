"""The largest amount by which a step on the decreasing loss lowers a margin.

On `sim/token-separation`, with instances of `properties/sim/token_separation`:

Let each input have two tokens. After the first step from X(0) = 0 input j has the margin
(eta/4n) sum_i w_i <A_i, A_j>, where w_i is |l'| times the score gap of input i. It is negative if
and only if the other inputs outweigh w_j ||A_j||^2.

`sharp-3`: no step from any X lowers a margin by more than (eta/4)(1 - 1/n) max w max ||A||^2. From
zero, also with a feasible Att-SVM, the fall of a margin can approach this bound. The input then has
a small w and is nearly opposed to all others. So a single input loses no margin, and the loss for n
inputs is linear in eta and bounded in n. If all w and all ||A|| are equal and n >= 2, margins after
the first step are at least -(eta/4)(1 - 2/n) w ||A||^2. With three tokens a single input may lose
margin, as the tokens 4, 0, 3 of an instance show.
"""

from attsvm.errors import present
from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    GAMMA,
    LEAST_SCORE,
    NUMBER,
    OWNER,
    SETTING,
    A,
    M,
    i,
    j,
    lowered,
    other,
    slope_of_risk,
)
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt, note
from attsvm.theory.proof.lemmas import LENGTH, RECIPROCAL
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    at,
    beyond,
    by_definition,
    cite,
    conclude,
    decide,
    picked,
    regroup,
    scale,
    square,
)
from attsvm.theory.proof.terms import INV, NORM, Over, Term, as_term, most, same, substituted, total
from properties._support.suppositions import FALLING, SMOOTH_SLOPE
from properties.sim.token_separation import PAIRS
from symbolic.attention_facts import OWN, attends, moves, r, steepness
from symbolic.divergence_facts import LEAD
from symbolic.facts import product

ALIKE = same(other, j)


def alone(body: Term, pairs: Fact) -> Fact:
    """Return that a sum over the rivals of the input of j is the term of j.

    Args:
        body: the term of the rival `other`.
        pairs: `other` is a rival of the input of j exactly if it is j.
    """
    every = regroup(same(OWNER(other), OWN) * body, other, OWNER)
    own = picked(total(body, other, Over(OWNER, i.term)), i, OWN)
    one = add_up(scale(pairs, body), other)
    mine = total(body, other, Over(OWNER, OWN))
    term = substituted(body, {other: j.term})
    return decide(eq(mine, term), every, own, one, picked(body, other, j), degree=1)


@linked
def prove_lowered() -> str:
    """Prove that a step eta lowers no margin by more than eta (1 - 1/n)/4 max w max ||A||^2.

    Inputs have two tokens each. With w_i = |l'| (gamma_o - gamma_t) and r_i = s_o s_t the margin of
    input j gains (eta/n) sum_i w_i r_i <A_i, A_j>. Its own part is not negative; each of the n - 1
    others is at least -max w max ||A||^2/4.

    At X = 0, let A_i = -A_j and w_i = w for the other inputs. Then the margin gains
    (eta/4n)(w_j - (n - 1) w) ||A||^2, which approaches the bound as w_j tends to 0. For w_j = w it
    has the factor 1 - 2/n in place of 1 - 1/n.
    """
    claim = present(lowered(), "a claim")
    a = attends(setting(SETTING, "no score is above the best of its input"))
    step, bent = moves(a), steepness(a, SMOOTH_SLOPE, FALLING)
    pairs, few = suppose(PAIRS)
    u, s_o, s, p, n = a.u(OWN, K), a.s_o(OWN, K), a.s(j, K), step.p(j, K), INV(NUMBER)
    unit, over = cite(RECIPROCAL, [a.input], NUMBER)
    falls = decide(gt(FALL(a.u(i, K)), 0), bent.at_output, bent.positive)
    falls, mine = at(falls, {i: OWN}), at(a.s_o_positive, {i: OWN})
    # p_j = |l'| s_o s_j lead/n, and s_o s_j is at most 1/4
    weights, scores = (alone(x, pairs) for x in (a.s(other, K), a.s(other, K) * GAMMA(other)))
    one = decide(eq(s_o + s, 1), at(a.one, {i: OWN}), weights)
    ahead = decide(eq(u - GAMMA(j), s_o * LEAD), at(a.mean, {i: OWN}), scores, scale(one, GAMMA(j)))
    lead = decide(ge(LEAD, 0), a.lower)
    quarter = decide(ge(1, 4 * s_o * s), scale(one, 4 * s_o), square(2 * s_o - 1))
    part = FALL(u) * n
    pulls = decide(eq(p, part * s * s_o * LEAD), step.p_is, scale(ahead, part * s))
    some = decide(ge(p, 0), pulls, product(falls, over, a.s_positive, mine, lead))
    w = FALL(a.u(i, K)) * (BEST(i) - LEAST_SCORE(i))
    top, largest = most(w, i), at(beyond("most", w, i), {i: OWN})
    low = setting(claim.setting, "no rival scores less than the least score")
    steep = decide(ge(top, FALL(u) * LEAD), largest, falls, low)
    light = decide(
        ge(top * n, 4 * p),
        *(pulls, product(falls, over, lead, quarter), steep, over),
    )
    # <A_r, A_j> is at least -max ||A||^2
    size, longest = most(A(r) @ A(r), r), beyond("most", A(j) @ A(j), j)
    both = A(other) + A(j)
    near = decide(
        ge(size, -(A(other) @ A(j))),
        *(cite(LENGTH, (), both)[1], square(NORM(both)), longest, at(longest, {j: other})),
    )
    wide = longest, decide(ge(A(j) @ A(j), 0), cite(LENGTH, (), A(j))[1], square(NORM(A(j))))
    their = step.p(other, K)
    each = decide(
        ge(4 * their * (A(other) @ A(j)), -top * n * size),
        *(at(some, {j: other}), near, *(product(at(light, {j: other}), x) for x in wide)),
    )
    # a sum over the others has n - 1 terms at most
    alike = setting(claim.setting, "rivals are the same or not")
    apart = decide(ge(1 - ALIKE, 0), alike)
    rest = add_up(product(apart, each), other)
    body = their * (A(other) @ A(j))
    own, single = picked(body, other, j), picked(as_term(1), other, j)
    rivals = decide(ge(NUMBER, total(1, j)), add_up(few, i), regroup(as_term(1), j, OWNER))
    heavy = [product(one, x, rivals) for one in (light, some) for x in wide]
    whole = total(body, other)
    fewest = decide(
        ge(4 * whole, -(NUMBER - 1) * n * top * size),
        *(rest, own, scale(single, top * n * size), *heavy, product(some, wide[1])),
        degree=1,
    )
    along = -substituted(slope_of_risk(), {M: A(j)})
    parts = at(step.descends, {M: A(j)}), at(step.grown, {M: A(j)})
    goal = ge(along, -(1 - n) * top * size / 4)
    fact = note(
        "no margin falls by more", decide(goal, *parts, step.rate, fewest, scale(unit, top * size))
    )
    (sequent,) = claim.sequents
    conclude(by_definition(sequent.proposition, a.means[:1], fact), sequent)
    return "for any number of inputs, any step and any X; approached from X = 0"
