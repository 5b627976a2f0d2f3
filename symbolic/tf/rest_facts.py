"""Inputs rest alone, and where a part of one dependency or of tokens on a line rests: linked facts.

On `tf/benign-landscape`. The gradient along w q^T, with the q of one query, is minus the force of
its input, and along any M it is minus a sum of forces (`alone`). So it is 0 exactly if each input's
force is 0 along all w.

Parts are those of `properties/tf/benign_landscape/parts.py`. Tokens of a part have scores gamma_t,
numbers m_t and logits a_t, so that the attention to them is m_t exp(a_t) up to a factor. Let d_t be
gamma_t - u. The part rests at u if the m_t exp(a_t) d_t are the coefficients of an affine
dependency.

1. If they are size b_t with size > 0, then h(u) = sum_t b_t ln(b_t/(m_t d_t)) is 0 (`at_rest`).
   A dependency has sum_t b_t = 0 and, as logits are products with the tokens, sum_t b_t a_t = 0.
2. If h(u) = 0 and each b_t has the sign of d_t, these are b_t for the logits ln(b_t/(m_t d_t)), and
   sum_t b_t a_t = 0, so that some p has them (`rests`).
3. For tokens x + k_t v, sum_t m_t exp(a_t) (gamma_t - u) k_t times sum_t m_t exp(a_t) is half of a
   sum over pairs, if u is the mean score (`on_line`).
"""

from attsvm.primitives.descent_letters import (
    DUAL,
    FALL,
    GRADIENT,
    INPUT,
    NUMBER,
    OPTIMAL,
    OUTER,
    OWNER,
    QUERY,
    A,
    M,
    W,
    attention,
    i,
    j,
    margin,
    output,
    peer,
    q,
    w,
)
from attsvm.primitives.descent_letters import GAMMA as SCORE
from attsvm.primitives.descent_letters import SETTING as OF_RUN
from attsvm.primitives.descent_letters import TOKEN as TOKEN_OF
from attsvm.theory.proof.facts import Fact, K, Sequent, eq, ge, gt
from attsvm.theory.proof.lemmas import EXPONENTIAL_OF_SUM, LOGARITHM, RECIPROCAL
from attsvm.theory.proof.linked import Said, linked, setting
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    cases,
    cite,
    conclude,
    decide,
    inside,
    picked,
    regroup,
    scale,
    square,
)
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    LOG,
    VECTOR,
    Function,
    Letter,
    Over,
    Sort,
    Term,
    same,
    substituted,
    total,
)
from symbolic.attention_facts import gradient
from symbolic.facts import exponents_rise, power

TOKEN = Sort("token", index=True)
t, r = Letter("t", TOKEN), Letter("r", TOKEN)
B, COUNT, GAMMA, GAP, LOGIT, PLACE = (
    Function(name, (TOKEN,)) for name in ("b", "m", "gamma", "d", "a", "k")
)
U, SIZE = Function("u")(), Function("size")()
WEIGHT = COUNT(t) * EXP(LOGIT(t))
FORCE = WEIGHT * GAP(t)
QUOTIENT = B(t) * INV(COUNT(t)) * INV(GAP(t))
H = total(B(t) * LOG(QUOTIENT), t)
"""h(u), the sum over the tokens of the part."""
TOKENS = {
    "numbers of tokens are positive": Sequent(gt(COUNT(t), 0)),
    "the b_t add up to 0": Sequent(eq(total(B(t), t), 0)),
}
AT_REST = Said(
    (Sequent(eq(H, 0)),),
    {
        **TOKENS,
        "so do the b_t times logits": Sequent(eq(total(B(t) * LOGIT(t), t), 0)),
        "the size is positive": Sequent(gt(SIZE, 0)),
        "no b_t is 0": Sequent(gt(B(t) ** 2, 0)),
        "forces are the b_t times the size": Sequent(eq(FORCE, SIZE * B(t))),
    },
)
RESTS = Said(
    (Sequent(eq(FORCE, B(t))), Sequent(eq(total(B(t) * LOGIT(t), t), 0))),
    {
        "numbers of tokens are positive": TOKENS["numbers of tokens are positive"],
        "b_t has the sign of d_t": Sequent(gt(B(t) * GAP(t), 0)),
        "logits are ln(b_t/(m_t d_t))": Sequent(eq(LOGIT(t), LOG(QUOTIENT))),
        "h is 0": Sequent(eq(H, 0)),
    },
)
PAIR = substituted(WEIGHT, {t: r.term}) * WEIGHT * (PLACE(t) - PLACE(r)) * (GAMMA(t) - GAMMA(r))
ON_LINE = Said(
    (
        Sequent(
            eq(
                total(WEIGHT, t) * total(WEIGHT * (GAMMA(t) - U) * PLACE(t), t),
                total(total(PAIR, r), t) / 2,
            )
        ),
    ),
    {"u is the mean score": Sequent(eq(total(WEIGHT, t) * U, total(WEIGHT * GAMMA(t), t)))},
)

HOLE = Letter("x")


def end(claim: Said, *facts: Fact) -> None:
    """Conclude a claim."""
    for fact, sequent in zip(facts, claim.sequents, strict=True):
        conclude(fact, sequent)


def quotient(count: Fact, alike: Fact) -> tuple[Fact, Fact]:
    """Return that b_t/(m_t d_t) is positive, and that m_t d_t times it is b_t.

    Args:
        count: m_t is positive.
        alike: b_t d_t is positive.
    """
    unit, inverse = cite(RECIPROCAL, [count], COUNT(t))
    condition = gt(GAP(t), 0)
    yes, no = assume(condition), assume(condition.denied())
    apart, both = decide(gt(GAP(t) ** 2, 0), alike, square(B(t))), []
    for sign, side in ((1, yes), (-1, no)):
        gap = decide(gt(-GAP(t), 0), side, apart) if sign < 0 else side
        one, over = cite(RECIPROCAL, [gap], sign * GAP(t))
        own = decide(gt(sign * B(t), 0), alike, gap)
        part = decide(gt(sign * B(t) * INV(COUNT(t)), 0), own, inverse)
        first = decide(gt(QUOTIENT, 0), part, over)
        parts = scale(unit, B(t) * GAP(t) * INV(GAP(t))), scale(one, B(t))
        both.append((first, decide(eq(COUNT(t) * GAP(t) * QUOTIENT, B(t)), *parts, degree=1)))
    (a, b), (c, d) = both
    return cases(a, c, condition), cases(b, d, condition)


def at_rest() -> None:
    """Conclude that h(u) is 0 where a part of one dependency rests."""
    count, sums, logits, size, some, forces = (
        setting(AT_REST.setting, words) for words in AT_REST.setting
    )
    push = decide(gt(WEIGHT, 0), count, power(LOGIT(t)))
    heavy = decide(gt(SIZE * B(t) ** 2, 0), size, some)
    alike = decide(gt(B(t) * GAP(t), 0), scale(forces, B(t)), push, heavy)
    positive, whole = quotient(count, alike)
    (is_log,) = cite(LOGARITHM, [positive], QUOTIENT)
    (is_size,) = cite(LOGARITHM, [size], SIZE)
    shift = LOGIT(t) - LOG(SIZE)
    (law,) = cite(EXPONENTIAL_OF_SUM, (), shift, LOG(SIZE))
    # the quotient is exp(a_t)/size
    e, moved = EXP(shift), COUNT(t) * GAP(t)
    parts = [scale(law, moved), scale(is_size, moved * e), forces]
    forced = decide(eq(SIZE * moved * e, SIZE * B(t)), *parts, degree=1)
    forced = decide(eq(moved * e, B(t)), forced, size)
    parts = [scale(forced, B(t)), scale(whole, B(t))]
    same_ = decide(
        eq(COUNT(t) * (B(t) * GAP(t)) * (EXP(LOG(QUOTIENT)) - e), 0),
        *parts,
        scale(is_log, moved * B(t)),
        degree=1,
    )
    more = decide(gt(COUNT(t) * (B(t) * GAP(t)), 0), count, alike)
    same_ = decide(eq(EXP(LOG(QUOTIENT)), e), same_, more)
    above = exponents_rise(shift, LOG(QUOTIENT), decide(ge(EXP(LOG(QUOTIENT)), e), same_))
    below = exponents_rise(LOG(QUOTIENT), shift, decide(ge(e, EXP(LOG(QUOTIENT))), same_))
    log = decide(eq(LOG(QUOTIENT), shift), above, below)
    result = decide(eq(H, 0), add_up(scale(log, B(t)), t), logits, scale(sums, LOG(SIZE)))
    end(AT_REST, result)


def rests() -> None:
    """Conclude that a part of one dependency rests where h(u) is 0, for some logits."""
    count, alike, is_logit, zero = (setting(RESTS.setting, words) for words in RESTS.setting)
    positive, whole = quotient(count, alike)
    (is_log,) = cite(LOGARITHM, [positive], QUOTIENT)
    power_ = inside(is_logit, LOGIT(t), LOG(QUOTIENT), EXP(HOLE.term), HOLE)
    moved = COUNT(t) * GAP(t)
    forced = decide(eq(FORCE, B(t)), scale(power_, moved), scale(is_log, moved), whole, degree=1)
    logits = decide(eq(total(B(t) * LOGIT(t), t), 0), add_up(scale(is_logit, B(t)), t), zero)
    end(RESTS, forced, logits)


def on_line() -> None:
    """Conclude that forces along a line add up to a sum over pairs."""
    mean = setting(ON_LINE.setting, "u is the mean score")
    (pairs,) = (one.proposition for one in ON_LINE.sequents)
    end(ON_LINE, decide(pairs, scale(mean, total(WEIGHT * PLACE(t), t))))


IMAGE = Function("M z", (VECTOR, INPUT), VECTOR)
"""M z for the query z of an input."""
_own = OWNER(j)


_u, _s = output(_own, W(K)), attention(_own, W(K)) * EXP(-margin(j.term, W(K)))
PUSH = FALL(_u) * _s * (_u - SCORE(j)) * INV(NUMBER)
"""p_j, the coefficient of A_j in -grad L at W(k)."""


def force(i: Term, w: Term) -> Term:
    """Return sum_j p_j <x_opt - x_j, w> over the rivals j of an input."""
    return total(PUSH * ((OPTIMAL(_own) - TOKEN_OF(j)) @ w), j, Over(OWNER, i))


ALONE = Said(
    (
        Sequent(eq(GRADIENT(W(K)) @ OUTER(w, DUAL(peer)), -force(peer.term, w.term))),
        Sequent(eq(GRADIENT(W(K)) @ M.term, -total(force(i.term, IMAGE(M, i)), i))),
    ),
    {
        words: OF_RUN[words]
        for words in (
            "the gradient has the slope of the risk along every matrix",
            "A_j has the product <x_opt - x_j, w> <z, q> with w q^T",
        )
    }
    | {
        "each q has the product 1 with its query, and 0 with the others": Sequent(
            eq(QUERY(i) @ DUAL(peer), same(i, peer))
        ),
        "A_j has the product <x_opt - x_j, M z> with M": Sequent(
            eq(A(j) @ M.term, (OPTIMAL(_own) - TOKEN_OF(j)) @ IMAGE(M, _own))
        ),
    },
)


def alone() -> None:
    """Conclude that the gradient is 0 exactly if each input's forces add up to 0.

    Along w q^T, with the q of one query, the gradient is minus the force of the input along w.
    Along M it is minus the sum of the forces of all inputs along M z.
    """
    outer, dual, image = (setting(ALONE.setting, words) for words in [*ALONE.setting][1:])
    p, D = PUSH, OPTIMAL(_own) - TOKEN_OF(j)
    body = p * (A(j) @ M.term)
    along = decide(
        eq(-GRADIENT(W(K)) @ M.term, total(body, j)), gradient(), regroup(body, j, OWNER)
    )
    # along w q^T
    turned = at(along, {M: OUTER(w, DUAL(peer))})
    each = at(outer, {q: DUAL(peer)})
    each = decide(
        eq(A(j) @ OUTER(w, DUAL(peer)), (D @ w.term) * same(_own, peer)),
        each,
        scale(at(dual, {i: _own}), D @ w.term),
    )
    summed = add_up(scale(each, p), j)
    body = p * (D @ w.term) * same(_own, peer)
    groups = regroup(body, j, OWNER)
    own = total(p * (D @ w.term), j, Over(OWNER, i.term))
    one = picked(own, i, peer)
    whole = decide(
        eq(GRADIENT(W(K)) @ OUTER(w, DUAL(peer)), -substituted(own, {i: peer.term})),
        turned,
        summed,
        groups,
        one,
    )
    # along any M
    body = p * (D @ IMAGE(M, _own))
    own = total(body, j, Over(OWNER, i.term))
    parts = [along, add_up(scale(image, p), j), regroup(body, j, OWNER)]
    every = decide(eq(GRADIENT(W(K)) @ M.term, -total(own, i)), *parts)
    end(ALONE, whole, every)


@linked
def prove_rest() -> str:
    """Prove that inputs rest alone, where a part rests, and what forces along a line add up to."""
    alone()
    at_rest()
    rests()
    on_line()
    return "for any number of tokens"
