"""The letters of the linked proof about the cones of docs/proofs/cones.md, in the sense of `cones`.

Letters are those of descent, with alpha_i as the optimal token of input i: `BEST` is its score, V
is W^mm(alpha), and rivals j are all other tokens, which may score more. W = a V + E with E
orthogonal to V, so that a is the page's a/N. The constants of the conditions are those at the
radius of s, for a width Q and weights mu with which they hold.
"""

from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    GAMMA,
    NUMBER,
    OWNER,
    RATE,
    RIVAL,
    A,
    V,
    W,
    attention,
    direction,
    i,
    j,
    lead,
    margin,
    other,
    output,
    x,
    y,
)
from attsvm.primitives.descent_letters import SETTING as OF_RUN
from attsvm.primitives.programme_letters import MULTIPLIERS, WEIGHT
from attsvm.theory.proof.facts import K, Sequent, eq, ge, gt, some
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    INV,
    IS_ZERO,
    LOG,
    MAXIMUM,
    NORM,
    STEP,
    Function,
    Letter,
    Over,
    Term,
    as_term,
    most,
    same,
    total,
)

SHARE, WIDER, RADIUS, WIDTH, NARROW = (Function(name)() for name in ("s", "s'", "radius", "Q", "q"))
STEPS, P_J = Function("a", (STEP,)), Function("p", (RIVAL, STEP))
"""a at a step, and the coefficient of A_j in -grad L."""
GOOD = Function("good", (RIVAL,))
"""1 for a rival that scores below alpha, else 0."""
REACH, LEAN, LOW, HIGH, STEEPEST, FACTOR, MINOR = (
    Function(name, (RIVAL,)) for name in ("r", "R", "c", "C", "L_j", "f", "d")
)
MU = Function("mu", (RIVAL, RIVAL))
PART, KIND = Function("part of 1 - s")(), Function("kind")()
"""(s' - s)/(1 - s); 1 if the first part of R is ln(S/kappa), 0 if it is S'/(e kappa)."""
MEAN, KAPPA, ROOM, BACK, ALONE, TIGHT, TURN, RATIO, SIDE, MOST, SPREAD, SUM = (
    Function(name)()
    for name in (
        *("mean", "kappa", "room", "back", "alone", "L", "turn", "ratio", "K", "rho", "B", "S"),
    )
)
"""ln(kappa/n); kappa; 1 - D; sums over other pairs and loose ones; the first part of R;
R/(1 - D); the largest r_j/M_j; K; a bound of the growth of n a in a step; B N; and S."""
SQUARE, ALONG, SIGMA, HERE = V @ V, STEPS(K), STEPS(0), W(K)
E = HERE - ALONG * V
AWAY, M_J, P = E @ E, A(j) @ V, P_J(j, K)
SHIFT, BAD = A(j) @ E, 1 - GOOD(j)
NEAR = IS_ZERO(M_J - 1)
"""1 for a rival of margin 1, else 0."""
LOOSE = (1 - IS_ZERO(REACH(j))) * (1 - KIND * NEAR)
"""1 for a rival whose p_j e_j is bounded alone, else 0."""
_t = Letter("t", RIVAL)
ACROSS = A(j) - M_J * INV(SQUARE) * V
"""The part of A_j that is orthogonal to V."""
LEANING = A(j) - total(MU(j, _t) * A(_t), _t)
"""A_j - A(mu)."""
SLACK = M_J - BAD
"""The c_j of the claim: the margin, less 1 if j does not score below alpha."""
STEEP = most(REACH(_t) * INV(A(_t) @ V - 1 + GOOD(_t)), _t)
"""w, the largest r_j/c_j."""


def top(j: Term) -> Term:
    """Return h_j, a bound of exp(-m_j)."""
    return EXP(REACH(j) * WIDTH - RADIUS * (A(j) @ V))


def kappa_of(j: Term) -> Term:
    """Return kappa(mu)."""
    return EXP(total(MU(j, _t) * LOG(LOW(_t) * INV(MU(j, _t))), _t))


def over_own(term: Term, of: Term) -> Term:
    """Return the sum of a term in t over the rivals t of an input."""
    return total(term, _t, Over(OWNER, of))


_own = OWNER(j)
LOST = MAXIMUM(lead(_t.term), as_term(0)), MAXIMUM(-lead(_t.term), as_term(0))
IN_RANGE = frozenset(
    {
        ge(over_own(LOST[0] * top(_t.term), _own), x),
        ge(x, -over_own(LOST[1] * top(_t.term), _own)),
        ge(1, y),
        ge(y * (1 + over_own(top(_t.term), _own)), 1),
    }
)
"""u is from sum_t min(0, lead_t) h_t to sum_t max(0, lead_t) h_t, and y from 1/(1 + sum_t h_t) to
1."""
VALUE = FALL(BEST(_own) - x) * y.term * (lead(j.term) - x.term) * INV(NUMBER)
SLOPE = FALL(BEST(_own) - x) * INV(NUMBER)
_BEHIND, _LEVEL = frozenset({gt(-lead(j.term), 0)}), frozenset({eq(lead(j.term), 0)})
SETTING = {
    **MULTIPLIERS,
    "descent takes the step e along the negative gradient of the risk": OF_RUN[
        "descent takes the step e along the negative gradient of the risk"
    ],
    "the step is positive": OF_RUN["the step is positive"],
    "an input is the same as itself": Sequent(eq(same(i, i), 1)),
    "s' is s and a part of what is left to 1": Sequent(eq(WIDER, SHARE + PART * (1 - SHARE))),
    "the part is at least 0": Sequent(ge(PART, 0)),
    "and below 1": Sequent(gt(1, PART)),
    "p_j is the coefficient of A_j in -grad L": Sequent(
        eq(
            P,
            FALL(output(_own, HERE))
            * attention(_own, HERE)
            * EXP(-margin(j.term, HERE))
            * (output(_own, HERE) - GAMMA(j))
            * INV(NUMBER),
        )
    ),
    "W is a V + E with E across V": Sequent(eq(ALONG * SQUARE, HERE @ V)),
    "good is 1 for a rival that scores below alpha": Sequent(
        eq(GOOD(j), 1), frozenset({gt(lead(j.term), 0)})
    ),
    "else it is 0": Sequent(eq(GOOD(j), 0), frozenset({ge(0, lead(j.term))})),
    "r_j is the norm of A_j less its part along V": Sequent(eq(REACH(j), NORM(ACROSS))),
    "R_j is the norm of A_j - A(mu) less its part along V": Sequent(
        eq(LEAN(j), NORM(LEANING - (LEANING @ V) * INV(SQUARE) * V))
    ),
    "weights mu are not negative": Sequent(ge(MU(j, other), 0)),
    "they add up to 1": Sequent(eq(total(MU(j, _t), _t), 1)),
    "they are on rivals of margin 1": Sequent(eq(MU(j, other) * (A(other) @ V - 1), 0)),
    "Q is s' times the radius over the largest r_j/c_j": Sequent(
        eq(WIDTH * STEEP, WIDER * RADIUS), frozenset({gt(STEEP, 0)})
    ),
    "or s', if all r_j are 0": Sequent(eq(WIDTH, WIDER), frozenset({ge(0, STEEP)})),
    "no value is below c_j": Sequent(ge(VALUE, LOW(j)), IN_RANGE),
    "nor above C_j": Sequent(ge(HIGH(j), VALUE), IN_RANGE),
    "nor below -C_j": Sequent(ge(HIGH(j), -VALUE), IN_RANGE),
    "no |l'|/n is above L_j": Sequent(ge(STEEPEST(j), SLOPE), IN_RANGE),
    "nor below -L_j": Sequent(ge(STEEPEST(j), -SLOPE), IN_RANGE),
    "f_j is C_j": Sequent(eq(FACTOR(j), HIGH(j)), _BEHIND),
    "or L_j sum_t |lead_t| h_t, if the lead is 0": Sequent(
        eq(FACTOR(j), STEEPEST(j) * over_own(ABS(lead(_t.term)) * top(_t.term), _own)), _LEVEL
    ),
    "d_j is f_j exp(R_j Q - radius (M_j - 1))/kappa(mu)": Sequent(
        eq(MINOR(j) * kappa_of(j.term), FACTOR(j) * EXP(LEAN(j) * WIDTH - RADIUS * (M_J - 1)))
    ),
    "n times the mean is the sum of multipliers times ln(c_j/multiplier)": Sequent(
        eq(SQUARE * MEAN, total(WEIGHT(j) * LOG(LOW(j) * INV(WEIGHT(j))), j))
    ),
    "kappa is n exp(mean)": Sequent(eq(KAPPA, SQUARE * EXP(MEAN))),
    "the room is 1 - D": Sequent(eq(ROOM, 1 - total(BAD * MINOR(j) * M_J, j))),
    "back is the sum of d_j r_j over other pairs": Sequent(
        eq(BACK, total(BAD * MINOR(j) * REACH(j), j))
    ),
    "alone is the sum of C_j exp(-radius (M_j - 1) - 1) over loose pairs": Sequent(
        eq(ALONE, total(GOOD(j) * LOOSE * HIGH(j) * EXP(-RADIUS * (M_J - 1) - 1), j))
    ),
    "kind is 0 or 1": Sequent(eq(KIND**2, KIND)),
    "S is the sum of C_j over good pairs of margin 1": Sequent(
        eq(SUM, total(GOOD(j) * NEAR * HIGH(j), j))
    ),
    "L is ln(S/kappa) or 0": Sequent(eq(TIGHT, KIND * LOG(SUM * INV(KAPPA)))),
    "turn is R/(1 - D)": Sequent(eq(TURN * ROOM, TIGHT + ALONE * INV(KAPPA) + BACK * WIDTH)),
    "ratio is at least r_j/M_j for good pairs": Sequent(ge(GOOD(j) * (RATIO * M_J - REACH(j)), 0)),
    "it is not negative": Sequent(ge(RATIO, 0)),
    "K is (ratio + back)/(1 - D)": Sequent(eq(SIDE * ROOM, RATIO + BACK)),
    "rho is e times the sum of C_j h_j M_j": Sequent(
        eq(MOST, RATE * total(HIGH(j) * top(j.term) * M_J, j))
    ),
    "B is n (2 R/(1 - D) + K^2 rho)": Sequent(eq(SPREAD, SQUARE * (2 * TURN + SIDE**2 * MOST))),
}


NEARBY = {
    **SETTING,
    "q is positive": Sequent(gt(NARROW, 0)),
    "q is at most half of the reciprocal of the largest r_j/c_j": Sequent(
        ge(1, 2 * NARROW * STEEP)
    ),
}
"""Facts about starts at an angle of at most arctan(q/N) to V."""


def optimal() -> list[Sequent]:
    """Return that V has margins of at least 1, some rival exists, and alpha is locally optimal.

    Alpha scores above each rival of margin 1.
    """
    return [
        Sequent(ge(M_J, 1)),
        Sequent(some(j)),
        Sequent(gt(lead(j.term), 0), frozenset({eq(M_J, 1)})),
    ]


def in_cone() -> list[Sequent]:
    """Return that sigma > 0 and ||E|| r_j <= s sigma c_j at the start, for every rival."""
    away = NORM(W(0) - SIGMA * V)
    return [Sequent(gt(SIGMA, 0)), Sequent(ge(SHARE * SIGMA * SLACK, REACH(j) * away))]


def near() -> list[Sequent]:
    """Return that sigma > 0 and ||E|| <= sigma q at the start."""
    return [Sequent(gt(SIGMA, 0)), Sequent(ge(SIGMA * NARROW, NORM(W(0) - SIGMA * V)))]


def pair(j: Term, t: Term | None = None) -> tuple[Term, Term]:
    """Return the numbers (c, r) of condition 2, for a rival t of the same input or without one."""
    c, r = A(j) @ V - 1, LEAN(j)
    return (c, r) if t is None else (c + A(t) @ V, r + REACH(t))


def large() -> list[Sequent]:
    """Return that 0 < s < 1, and that sigma is at least the radius of s."""
    return [
        Sequent(gt(SHARE, 0)),
        Sequent(gt(1, SHARE)),
        Sequent(ge(SIGMA, RADIUS)),
        *conditions(),
    ]


def long() -> list[Sequent]:
    """Return that ||W||^2 is at least N^2 + q^2 times the square of the radius of s = 1/2."""
    return [
        Sequent(eq(2 * SHARE, 1)),
        Sequent(ge(W(0) @ W(0), RADIUS**2 * (SQUARE + NARROW**2))),
        *conditions(),
    ]


def conditions() -> list[Sequent]:
    """Return that the radius is positive, and that the conditions 1 to 4 of the page hold at it."""
    behind, level = {gt(-lead(j.term), 0)}, {eq(lead(j.term), 0)}
    alone, both = pair(j.term), pair(j.term, other.term)
    beside = eq(same(OWNER(other), _own), 1)
    result = [
        Sequent(gt(RADIUS, 0)),
        Sequent(gt(LOW(j), 0), frozenset({gt(lead(j.term), 0)})),
        Sequent(gt(ROOM, 0)),
        Sequent(ge(2 * WIDTH * M_J, REACH(j) * SPREAD)),
    ]
    for (c, r), assumed in (
        (alone, [behind]),
        (both, [level | {beside, gt(sign * lead(other.term), 0)} for sign in (1, -1)]),
    ):
        for one in map(frozenset, assumed):
            bent = 2 * WIDTH**2 * c - (r * WIDTH + 1) * SPREAD
            result += [Sequent(ge(RADIUS * c - r * WIDTH, 1), one), Sequent(ge(bent, 0), one)]
    return result


def converges(towards: str = "alpha", **_: object) -> Said | None:
    """Return the claim that W(k)/||W(k)|| tends to V/||V||; None for another target."""
    claim = direction()
    return Said(claim.sequents, SETTING) if towards == "alpha" and claim is not None else None


def converges_nearby(towards: str = "alpha", **_: object) -> Said | None:
    """Return the same claim on starts at an angle of at most arctan(q/N) to V."""
    claim = converges(towards)
    return claim and Said(claim.sequents, NEARBY)
