"""Minimisers W_lambda of the risk with a penalty lambda ||W||^2/2, as lambda falls to 0.

On `tf/vanishing-regularisation`; letters are those of `properties.tf._support.path_letters`. Each
minimiser has the least risk in the ball of its own norm R, since a better point of the ball would
also have a smaller penalty. So the proofs of theorem 2 (amended-1) and theorem 3 (amended-2) hold
along these radii, if R tends to infinity (`grows`):

1. In the ball of radius b attention to a rival is at least some s(b) > 0, so that the losses add up
   to at least c(b) > 0 more than the least.
2. At a matrix of margins of at least rho = ln(1 + 4 G/c) they add up to at most c/4 more.
3. For small lambda the penalty at this matrix is below c/4. So the minimiser is not in the ball.

For the nuclear norm it is proved only that the minimisers approach a set of solutions. If this set
has several points, it is open whether they have a limit in it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from attsvm.errors import present
from attsvm.primitives.descent_letters import (
    BEST,
    LOSS,
    NUMBER,
    A,
    M,
    V,
    W,
    X,
    bound,
    i,
    j,
    margin,
    other,
    risk,
)
from attsvm.theory.proof.facts import Fact, K, eq, ev, ge, gt
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    EXPONENTIAL_OF_SUM,
    LARGER,
    LENGTH,
    LOGARITHM,
    RECIPROCAL,
)
from attsvm.theory.proof.linked import linked, setting
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    cases,
    cite,
    decide,
    define,
    positive,
    scale,
    square,
)
from attsvm.theory.proof.terms import EXP, INV, LOG, MAXIMUM, NORM, Term, as_term, total
from properties.tf._support import path_letters as letters
from properties.tf._support.path_letters import (
    FACTORED,
    KEYS,
    LEFT,
    PENALISED,
    PENALISED_FACTORS,
    PENALTY,
    PRODUCT,
    QUERIES,
    RADIUS,
    RIGHT,
    C,
    squares,
)
from symbolic.attention_facts import MINE, OWN, r
from symbolic.facts import (
    against,
    conclude_each,
    no_shorter,
    power,
    powers_rise,
    product,
    tangent,
)
from symbolic.tf.path_facts import Radii, cost_at, lost_at, total_losses
from symbolic.tf.path_limits import (
    Given,
    directed,
    factored,
    factors,
    near_solution,
    of_reading,
    shrunk,
)

R, LAMBDA = RADIUS(K), PENALTY(K)


@dataclass(frozen=True, slots=True)
class Better:
    """A matrix of large margins, with its penalty."""

    matrix: Term  # the matrix
    far: Fact  # its margins are at least rho
    sign: Fact  # D >= 0; lambda D is its penalty
    cheaper: Fact  # its risk with the penalty is at least the risk at the minimiser


def least_in_ball(p: Given, ours: Term, small: Fact, inside: Fact) -> tuple[Fact, Fact]:
    """Prove that losses add up to at least c > 0 more than the least, if R(k) is at most b.

    Args:
        p: what is supposed.
        ours: the minimiser.
        small: its norm is at most R(k).
        inside: R(k) is at most b.
    """
    a, g, at_ours, mine, size = p.a, p.g, {X: ours}, {X: ours, i: OWN}, NORM(A(j)) * bound.term
    m, s_o, s = margin(j.term, ours), a.s_o(OWN, ours), a.s(j, ours)
    wide = product(cite(LENGTH, (), A(j))[0], decide(ge(bound, NORM(ours)), small, inside))
    (up,) = cite(CAUCHY_SCHWARZ, (), A(j), ours)
    least = powers_rise(-size, -m, decide(ge(-m, -size), wide, up))
    most = powers_rise(-m, size, decide(ge(size, -m), wide, against(A(j), ours)))
    most = add_up(at(most, {j: r}), r, MINE)
    # attention to the optimal token is at least 1/B, and to the rival exp(-||A|| b)/B
    B = 1 + total(EXP(NORM(A(r)) * bound.term), r, MINE)
    weights = add_up(at(a.means[2], {**at_ours, j: r}), r, MINE)
    share = product(at(a.s_o_positive, mine), most)
    share = decide(ge(s_o * B, 1), share, at(a.one, mine), weights)
    positive_ = decide(gt(B, 0), add_up(power(NORM(A(r)) * bound.term), r, MINE))
    unit, inverse = cite(RECIPROCAL, [positive_], B)
    share = decide(ge(s_o, INV(B)), product(share, inverse), scale(unit, s_o))
    parts = at(a.means[2], at_ours), product(share, power(-m)), product(inverse, least)
    share = decide(ge(s, INV(B) * EXP(-size)), *parts)
    price = g.price.proposition.term
    c, c_is = define("c", (j, bound), price * INV(B) * EXP(-size))
    some = decide(gt(price * INV(B), 0), g.price, inverse)
    some = decide(gt(c(j, bound), 0), c_is, some, power(-size))
    losses = total(LOSS(a.u(i, ours)) - LOSS(BEST(i)), i)
    lost = lost_at(a, p.s, g, ours)
    return some, decide(ge(losses, c(j, bound)), lost, product(g.price, share), c_is)


def grows(
    p: Given,
    ours: Term,
    small: Fact,
    penalty: tuple[Fact, Fact],
    better: Callable[[Term, Fact], Better],
) -> Fact:
    """Prove that R(k) tends to infinity.

    Args:
        p: what is supposed.
        ours: the minimiser.
        small: its norm is at most R(k).
        penalty: lambda is positive, and tends to 0.
        better: returns a matrix with margins of at least rho, for rho >= 0.
    """
    a, g, G, condition = p.a, p.g, p.g.G, ge(bound, R)
    yes, no = assume(condition), assume(condition.denied())
    some, lost = (at(fact, {j: other}) for fact in least_in_ball(p, ours, small, yes))
    c = some.proposition.term
    # G exp(-rho) is at most c/4
    unit, inverse = cite(RECIPROCAL, [some], c)
    whole = 1 + 4 * G * INV(c)
    above = decide(ge(whole, 1), product(g.sign, inverse))
    (is_log,) = cite(LOGARITHM, [decide(gt(whole, 0), above)], whole)
    rho = LOG(whole)
    e = EXP(-rho)
    ahead = decide(ge(rho, 0), decide(ge(EXP(rho), 1), is_log, above), tangent(as_term(0), rho))
    (law,) = cite(EXPONENTIAL_OF_SUM, (), rho, -rho)
    one = decide(eq(whole * e, 1), law, scale(is_log, e))
    parts = scale(one, c / 4), scale(unit, G * e), product(some, power(-rho))
    few = decide(ge(c / 4, G * e), *parts)
    # so lambda is at least a constant if R(k) is at most b
    there = better(rho, ahead)
    compare = total_losses(a, there.cheaper, ours, there.matrix)
    cost = cost_at(a, p.s, g, there.far, there.matrix, rho)
    q = 2 * NUMBER * there.sign.proposition.term + 1
    enough = decide(gt(q, 0), product(a.input, there.sign))
    needed = decide(ge(LAMBDA * q, c), lost, compare, cost, few, penalty[0], some)
    excess, (over, sign, either) = (
        MAXIMUM(bound.term - R, as_term(0)),
        cite(LARGER, (), bound.term - R, as_term(0)),
    )
    goal = ge(excess * (LAMBDA * q - c), 0)
    none = decide(eq(excess, 0), either, sign, no)
    held = cases(product(sign, needed), decide(goal, scale(none, LAMBDA * q - c)), condition)
    # but it is less in the end
    unit, inverse = cite(RECIPROCAL, [enough], q)
    late = at(penalty[1], {bound: c * INV(q)}, decide(gt(c * INV(q), 0), some, inverse))
    late = decide(ev(gt(c, LAMBDA * q)), late, enough, scale(unit, c))
    late = decide(ev(ge(R, bound)), late, held, over, p.several)
    late = at(late, {bound: bound.term + 1}, decide(gt(bound.term + 1, 0), positive(bound)))
    return decide(ev(gt(R, bound)), late)


def not_zero(far: Fact) -> Fact:
    """Return that R(k) is positive in the end, as it tends to infinity."""
    return decide(ev(gt(R, 0)), at(far, {bound: 1}, decide(gt(1, 0))))


@linked
def prove() -> str:
    """Prove that W_lambda/||W_lambda|| tends to W^mm/||W^mm||."""
    claim, p = present(letters.turns(), "a claim"), of_reading()
    is_positive, vanishes, is_norm, least = (
        setting(PENALISED, words)
        for words in (
            "lambda is positive",
            "lambda tends to 0",
            "R(k) is the norm of W(k)",
            "no matrix has a lower risk with the penalty",
        )
    )
    ours, (size, size_square) = W(K), cite(LENGTH, (), W(K))
    long = no_shorter(ours)

    def better(rho: Term, ahead: Fact) -> Better:
        far = decide(ge(margin(j.term, rho * V), rho), ahead, p.meets)
        sign = decide(ge(rho**2 * (V @ V) / 2, 0), product(square(rho), no_shorter(V)))
        goal = ge(risk(rho * V) + LAMBDA * sign.proposition.term, risk(ours))
        cheaper = decide(goal, at(least, {X: rho * V}), product(is_positive, long))
        return Better(rho * V, far, sign, cheaper)

    far = grows(p, ours, decide(ge(R, NORM(ours)), is_norm), (is_positive, vanishes), better)
    radii = Radii(decide(ge(R, 0), is_norm, size), far)
    equal = decide(eq(R**2, ours @ ours), scale(is_norm, R + NORM(ours)), size_square)
    ball = product(is_positive, assume(ge(R**2, X.term @ X.term)))
    least = decide(ge(risk(X.term), risk(ours)), least, ball, scale(equal, LAMBDA))
    inside = decide(ge(R**2, ours @ ours), equal)
    conclude_each(claim, p.exists, directed(p, radii, inside, least), not_zero(far))
    return "for every smooth decreasing loss with l' < 0 at the best scores, any n, T and d"


@linked
def prove_factored() -> str:
    """Prove that the products K Q^T/R approach the solutions of the nuclear-norm SVM over C_*."""
    claim, f = present(letters.factors_turn(), "a claim"), factors()
    is_positive, vanishes, is_half, least = (
        setting(PENALISED_FACTORS, words)
        for words in (
            "lambda is positive",
            "lambda tends to 0",
            "R(k) is half of ||K(k)||^2 + ||Q(k)||^2",
            "no factors have a lower risk with the penalty",
        )
    )
    p, half = f.data, at(f.half, {X: KEYS(K), M: QUERIES(K)})
    small = decide(ge(R, NORM(FACTORED)), half, is_half, at(f.longer, {X: FACTORED}))
    sign = decide(ge(R, 0), small, cite(LENGTH, (), FACTORED)[0])

    def better(rho: Term, ahead: Fact) -> Better:
        balanced, far = factored(f, rho, ahead)
        matrix, sign_ = PRODUCT(LEFT(rho), RIGHT(rho)), product(ahead, p.exists)
        cheaper = decide(
            ge(risk(matrix) + LAMBDA * rho * C, risk(FACTORED)),
            *(at(least, {X: LEFT(rho), M: RIGHT(rho)}), scale(balanced, LAMBDA)),
            *(scale(is_half, LAMBDA), product(is_positive, sign)),
        )
        return Better(matrix, far, sign_, cheaper)

    far = grows(p, FACTORED, small, (is_positive, vanishes), better)
    ball = decide(ge(2 * R, squares(KEYS(K), QUERIES(K))), is_half)
    inside = product(is_positive, assume(ge(2 * R, squares(X.term, M.term))))
    least_ = decide(ge(risk(PRODUCT(X, M)), risk(FACTORED)), least, inside, scale(is_half, LAMBDA))
    z = shrunk(f, Radii(sign, far), ball, least_)
    conclude_each(claim, z.exists, near_solution(z), not_zero(far))
    return "for every such loss, any n, T and d, and inner dimension d"
