"""Regularisation paths of W and of (K, Q) tend to solutions of the SVMs, by linked facts.

On `tf/theorem-2:amended-1` and `tf/theorem-3:amended`; letters are those of
`properties.tf._support.path_letters`. By `symbolic.tf.path_facts` minimisers have margins of at
least (1 - off) rho in the end. For the path of W these, times multipliers, add up to
<W^mm, W(k)> >= (1 - off) rho ||W^mm||^2. As ||W(k)|| is at most rho ||W^mm||, the squared distance
of the directions is at most 2 off.

For the path of (K, Q), Z = K Q^T/R has a nuclear norm of at most 1 and margins of at least (1 -
off)/C_* in the end. Around each matrix P there is a ball in which all late Z are near the solutions
divided by C_*. So the Heine-Borel theorem applies (`near_solution`).
"""

from dataclasses import dataclass

from attsvm.errors import present
from attsvm.primitives.descent_letters import A, M, V, W, X, bound, j, margin, off, t
from attsvm.primitives.hypotheses import FEASIBLE, SEVERAL_TOKENS, UNIQUE
from attsvm.primitives.programme_letters import MULTIPLIERS, WEIGHT
from attsvm.theory.proof.facts import Fact, K, eq, ev, ge, gt
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    HEINE_BOREL,
    INDICATOR,
    LARGER,
    LENGTH,
    RECIPROCAL,
)
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    beyond,
    bounds,
    cases,
    cite,
    cut,
    decide,
    define,
    inside,
    positive,
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    INV,
    IS_ZERO,
    MAXIMUM,
    NORM,
    Letter,
    Term,
    as_term,
    most,
    total,
)
from properties._support.suppositions import NUCLEAR_SOLUTION
from properties.tf._support import path_letters as letters
from properties.tf._support.path_letters import (
    BALLS,
    DISTANCE,
    FACTORED,
    KEYS,
    LEFT,
    NUCLEAR,
    PRODUCT,
    QUERIES,
    RADIUS,
    RIGHT,
    SOLUTIONS,
    STAR,
    TURN,
    WIDTH,
    C,
    lowest,
    squares,
)
from properties.tf._support.regularisation_paths import FALLING_AT_BEST
from symbolic.attention_facts import Attention, attends, r
from symbolic.facts import conclude_each, product
from symbolic.tf.path_facts import (
    Costs,
    Radii,
    Secants,
    costs,
    margins,
    radii,
    scaled,
    secants,
)

Z = FACTORED * INV(RADIUS(K))


def not_zero(U: Term, meets: Fact, some: Fact) -> Fact:
    """Return that ||U|| > 0, as the margins of a matrix U are at least 1 and there is a rival."""
    (reach,), (size, _) = cite(CAUCHY_SCHWARZ, (), A(j), U), cite(LENGTH, (), A(j))
    return decide(gt(NORM(U), 0), meets, reach, size, some)


@dataclass(frozen=True, slots=True)
class Given:
    """Suppositions on the data, on W^mm and on the loss."""

    a: Attention  # attention at any X
    s: Secants  # bounds of the loss gaps
    g: Costs  # losses by attention
    several: Fact  # there is a rival
    meets: Fact  # W^mm has margins of at least 1
    exists: Fact  # ||W^mm|| > 0


def of_reading() -> Given:
    """Take what is supposed, and prove bounds of the losses."""
    (lower,), (several,), (meets, *_) = suppose(UNIQUE), suppose(SEVERAL_TOKENS), suppose(FEASIBLE)
    (falls,) = suppose(FALLING_AT_BEST)
    a = attends(lower, point=X)
    s = secants(a, falls)
    return Given(a, s, costs(a, s), several, meets, not_zero(V, meets, several))


def directed(p: Given, size: Radii, inside: Fact, least: Fact) -> Fact:
    """Prove that W(k)/R(k) tends to W^mm/||W^mm||.

    Args:
        p: what is supposed.
        size: the radii R(k).
        inside: W(k) is in the ball of radius R(k).
        least: no matrix of this ball has a lower risk.
    """
    weight, sums, tight = (setting(BALLS, words) for words in MULTIPLIERS)
    N, R, exists = NORM(V), RADIUS(K), p.exists
    sized = scaled(exists, size)
    rho, same = sized.rho, sized.whole
    # rho W^mm is in the ball
    _, of_norm = cite(LENGTH, (), V)
    on_edge = decide(ge(R**2, rho**2 * (V @ V)), scale(same, rho * N + R), scale(of_norm, rho**2))
    cheaper = cut(at(least, {X: rho * V}), on_edge)
    forward = decide(ge(margin(j.term, rho * V), rho), sized.forward, p.meets)
    follow = margins(p.a, p.s, p.g, sized, forward, cheaper, W(K), rho * V)
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
    return decide(goal, along, square(N), inside, size.sign, scale(of_norm, R**2))


@linked
def prove() -> str:
    """Prove that W_R/R tends to W^mm/||W^mm||, for minimisers W_R over the balls of radius R."""
    claim, p = present(letters.direction(), "a claim"), of_reading()
    inside = setting(BALLS, "W(k) is in the ball")
    least = setting(BALLS, "no matrix of the ball has a lower risk")
    conclude_each(claim, p.exists, directed(p, radii(), inside, least))
    return "for every smooth decreasing loss with l' < 0 at the best scores, any n, T, d"


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The matrices Z = K(k) Q(k)^T/R(k)."""

    exists: Fact  # C_* is positive
    some: Fact  # there is a rival
    small: Fact  # the nuclear norm of Z is at most 1
    late: Fact  # 1 less C_* times the least margin of Z is below every positive number in the end
    # longer, change, wide, stretched, nearest: facts on nuclear norms and on the distance
    longer: Fact
    change: Fact
    wide: Fact
    stretched: Fact
    nearest: Fact


@dataclass(frozen=True, slots=True)
class Factors:
    """Suppositions on factors."""

    data: Given  # what is supposed; C_* takes the place of ||W^mm||
    meets: Fact  # W_* has margins of at least 1
    # longer, half, is_product, balanced: facts on nuclear norms and on the factors of t W_*
    longer: Fact
    half: Fact
    is_product: Fact
    balanced: Fact


def factors() -> Factors:
    """Take what is supposed, and prove that C_* is positive."""
    (lower,), (some,) = suppose(UNIQUE), suppose(SEVERAL_TOKENS)
    (meets, *_), (falls,) = suppose(NUCLEAR_SOLUTION), suppose(FALLING_AT_BEST)
    half, is_product, balanced, star, longer = (
        setting(SOLUTIONS, words)
        for words in (
            "the nuclear norm of K Q^T is at most (||K||^2 + ||Q||^2)/2",
            "t W_* has factors",
            "those factors of t W_* meet that bound with equality",
            "W_* meets the constraints, if a matrix does",
            "no norm is above the nuclear norm",
        )
    )
    a = attends(lower, point=X)
    s = secants(a, falls)
    low = bounds(at(meets, {j: r}), "least", margin(r.term, V), r, some)
    meets = cut(at(star, {X: V}), low)
    exists = decide(gt(C, 0), not_zero(STAR, meets, some), at(longer, {X: STAR}))
    data = Given(a, s, costs(a, s), some, meets, exists)
    return Factors(data, meets, longer, half, is_product, balanced)


def factored(f: Factors, rho: Term, ahead: Fact) -> tuple[Fact, Fact]:
    """Return the squares of the factors of rho W_*, for rho >= 0, and that margins are >= rho."""
    moved = PRODUCT(LEFT(rho), RIGHT(rho))
    balanced, is_product = (cut(at(fact, {t: rho}), ahead) for fact in (f.balanced, f.is_product))
    parts = [at(is_product, {M: A(j)}), product(ahead, f.meets)]
    return balanced, decide(ge(margin(j.term, moved), rho), *parts)


def reciprocal(size: Radii) -> tuple[Fact, Fact, Fact]:
    """Return that 1/R(k) >= 0, that R(k)/R(k) is at most 1, and that it is 1 in the end."""
    R, hole = RADIUS(K), Letter("hole")
    over, condition = INV(R), gt(R, 0)
    yes, no = assume(condition), assume(condition.denied())
    unit, inverse = cite(RECIPROCAL, [yes], R)
    zero = decide(eq(R, 0), size.sign, no)
    none = inside(zero, R, as_term(0), INV(hole), hole)
    sign, part, whole = ge(over, 0), ge(1, R * over), eq(R * (R * over - 1), 0)
    sign_ = cases(decide(sign, inverse), decide(sign, none), condition)
    part_ = cases(decide(part, unit), decide(part, scale(none, R)), condition)
    whole_ = cases(
        decide(whole, scale(unit, R)), decide(whole, scale(zero, R * over - 1)), condition
    )
    late = at(size.far, {bound: 1}, decide(gt(1, 0)))
    return sign_, part_, decide(ev(eq(R * over, 1)), late, whole_)


def shrunk(f: Factors, size: Radii, ball: Fact, least: Fact) -> Shrunk:
    """Prove that Z nearly meets the constraints of a solution divided by C_*.

    Args:
        f: what is supposed.
        size: the radii R(k).
        ball: the factors K(k) and Q(k) are in the ball ||K||^2 + ||Q||^2 <= 2 R(k).
        least: no factors in this ball have a lower risk.
    """
    change, wide, stretched, nearest = (
        setting(SOLUTIONS, words)
        for words in (
            "nuclear norms differ by at most sqrt d times the norm of the difference",
            "sqrt d is not negative",
            "the nuclear norm of t X is t times that of X",
            "no solution over C_* is nearer than the distance",
        )
    )
    p, exists, R = f.data, f.data.exists, RADIUS(K)
    # the factors of rho W_* are in the ball
    sized = scaled(exists, size)
    rho = sized.rho
    moved = PRODUCT(LEFT(rho), RIGHT(rho))
    balanced, far = factored(f, rho, sized.forward)
    in_ball = decide(ge(2 * R, squares(LEFT(rho), RIGHT(rho))), balanced, sized.whole)
    cheaper = cut(at(least, {X: LEFT(rho), M: RIGHT(rho)}), in_ball)
    follow = margins(p.a, p.s, p.g, sized, far, cheaper, FACTORED, moved)
    # Z has a nuclear norm of at most 1, and margins of (1 - off)/C_* in the end
    over, part, unit = reciprocal(size)
    scaled_ = cut(at(stretched, {t: INV(R), X: FACTORED}), over)
    small = decide(
        ge(1, NUCLEAR(Z)), scaled_, part, over, at(f.half, {X: KEYS(K), M: QUERIES(K)}), ball
    )
    share, rest = decide(ge(C * INV(R), 0), exists, over), 1 - off.term
    parts = [follow, share, scale(sized.whole, rest * INV(R)), scale(unit, rest)]
    follow = decide(ev(ge(C * margin(j.term, Z), rest)), *parts)
    positive_ = positive(bound)
    follow = at(follow, {off: bound.term / 2}, decide(gt(bound.term / 2, 0), positive_))
    follow = bounds(at(follow, {j: r}), "least", C * margin(r.term, Z), r, p.several)
    late = decide(ev(gt(bound.term, 1 - lowest(C * Z))), follow, positive_)
    return Shrunk(exists, p.several, small, late, f.longer, change, wide, stretched, nearest)


def near_solution(z: Shrunk) -> Fact:
    """Prove that Z is within off of the solutions divided by C_* in the end.

    For a matrix P let d = max(0, 1 - C_* mu) + max(0, ||C_* P||_* - C_*), where mu is the least
    margin of P. If d = 0, P is a solution divided by C_*, so that Z is near the solutions if it is
    near P. If d > 0, no late Z is within d/q of P. For margins and nuclear norms of P and Z differ
    by at most a constant times the distance, and 1 less C_* times the least margin of Z is below
    d/q.
    """
    P, some, exists = X.term, positive(off), z.exists
    D, own = Z - P, lowest(C * Z)
    longest, s, (s_sign, s_square) = most(NORM(A(r)), r), NORM(D), cite(LENGTH, (), D)
    up, (size, _) = beyond("most", NORM(A(j)), j), cite(LENGTH, (), A(j))
    of_margins = product(exists, decide(ge(longest, 0), up, size, z.some))
    of_norm, q = product(exists, z.wide), 1 + C * longest + C * WIDTH
    unit, inverse = cite(RECIPROCAL, [decide(gt(q, 0), of_margins, of_norm)], q)
    lacks = 1 - lowest(C * P), NUCLEAR(C * P) - C
    tops = [MAXIMUM(x, as_term(0)) for x in lacks]
    (above, below, either), (above_, below_, either_) = (
        cite(LARGER, (), x, as_term(0)) for x in lacks
    )
    d_, d_is = define("d", (X,), tops[0] + tops[1])
    d = d_(P)
    is_zero, not_zero_, _, sign, _ = cite(INDICATOR, (), d)
    radius_, radius_is = define("r", (X, off), d * INV(q) + IS_ZERO(d) * off.term)
    radius = radius_(P, off)
    # the radius is positive: d/q, or off if d = 0
    d_sign, condition = decide(ge(d, 0), d_is, below, below_), gt(d, 0)
    yes, no = assume(condition), assume(condition.denied())
    none = decide(eq(d, 0), d_sign, no)
    one = cut(is_zero, none)
    parts = [product(sign, some), decide(gt(d * INV(q), 0), yes, inverse)]
    away = decide(gt(radius, 0), radius_is, *parts)
    there = decide(gt(radius, 0), radius_is, scale(one, off), some, scale(none, INV(q)))
    forward = cases(away, there, condition)
    # within the radius, margins and nuclear norms of P and Z are close
    close, late = assume(gt(radius**2, D @ D)), assume(gt(radius, 1 - own))
    inside = decide(gt(radius, s), close, s_square, forward)
    room, wide = decide(ge(radius - s, 0), inside), decide(ge(radius, 0), forward)
    (reach,) = cite(CAUCHY_SCHWARZ, (), A(j), D)
    reach = product(exists, decide(ge(longest * s, A(j) @ D), reach, up, s_sign))
    parts = [beyond("least", C * margin(j.term, Z), j), reach]
    low = decide(ge(C * margin(j.term, P), own - C * longest * s), *parts)
    low = bounds(at(low, {j: r}), "least", C * margin(r.term, P), r, z.some)
    first, second = (1 + C * longest) * radius, C * WIDTH * radius
    parts = [low, late, product(of_margins, room)]
    parts = [decide(gt(first, lacks[0]), *parts), product(of_margins, wide), forward, either]
    short = decide(gt(first, tops[0]), *parts)
    parts = [cut(at(z.stretched, {t: C}), decide(ge(C, 0), exists)), product(of_norm, room)]
    parts += [product(exists, at(z.change, {M: Z})), product(exists, z.small)]
    parts = [decide(ge(second, lacks[1]), *parts), product(of_norm, wide), either_]
    short_ = decide(ge(second, tops[1]), *parts)
    whole = decide(gt(q * radius, d), short, short_, d_is)
    # so d > 0 is impossible, and P is a solution divided by C_*
    goal = ge(off, DISTANCE(Z))
    parts = [whole, scale(radius_is, q), scale(unit, d), scale(cut(not_zero_, yes), q * off.term)]
    refuted = decide(goal, *parts, degree=1)
    meets = decide(ge(lowest(C * P), 1), d_is, no, above, below_)
    within = decide(ge(C, NUCLEAR(C * P)), d_is, no, below, above_)
    parts = [inside, radius_is, scale(one, off.term), scale(none, INV(q))]
    near = decide(goal, cut(at(z.nearest, {X: Z, M: P}), meets, within), *parts)
    bounded = decide(ge(1, Z @ Z), at(z.longer, {X: Z}), z.small, *cite(LENGTH, (), Z))
    facts = [bounded, z.late, forward, cases(refuted, near, condition)]
    (result,) = cite(HEINE_BOREL, facts, Z, 1 - own, bound, X, radius, goal)
    return result


@linked
def prove_factored() -> str:
    """Prove that dist(K_R Q_R^T/R, solutions/C_*) tends to 0, if some solution has a low rank."""
    claim, f = present(letters.approaches(), "a claim"), factors()
    ball = setting(SOLUTIONS, "K(k) and Q(k) are in the ball")
    least = setting(SOLUTIONS, "no factors in the ball have a lower risk")
    z = shrunk(f, radii(), ball, least)
    conclude_each(claim, z.exists, near_solution(z))
    return (
        "for every smooth decreasing loss with l' < 0 at the best scores, any n, T, d and inner "
        "dimension r that the rank of some solution does not exceed"
    )
