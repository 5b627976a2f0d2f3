"""Letters and claims of proofs about inputs whose parts rest; see `parts.py`.

Equal tokens of an input count as one different token (`EQUAL`), which stands for `number` tokens
and has their mean score gamma. Each different token belongs to one part, and each part to one
input. Equal tokens get the same attention. So the risk is written with sums over parts, over the
different tokens of a part, and over the tokens that are equal to each of these.

A vector c has a coordinate c_t for each of the different tokens. It is a dependency of an input if
sum_t c_t = 0 and sum_t c_t x_t = 0 over its tokens.
"""

from attsvm.primitives.descent_letters import (
    FALLS,
    GRADIENT,
    INPUT,
    LOSS,
    NUMBER,
    OUTER,
    QUERY,
    M,
    X,
    i,
    q,
    w,
    x,
)
from attsvm.theory.proof.facts import Proposition, Sequent, eq, gt, some
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    INV,
    IS_ZERO,
    LOG,
    REAL,
    VECTOR,
    Function,
    Letter,
    Operand,
    Over,
    Sort,
    Term,
    as_term,
    derivative,
    same,
    substituted,
    total,
)

TOKEN, DISTINCT, PART = (Sort(x, index=True) for x in ("token", "different token", "part"))
P, t, r = Letter("P", PART), Letter("t", DISTINCT), Letter("r", DISTINCT)
c, s = Letter("c", VECTOR), Letter("s")
_token, _part, _input = Letter("token", TOKEN), Letter("part", PART), Letter("input", INPUT)
_step = Letter("step")
EQUAL = Function("equal to", (TOKEN,), DISTINCT)
PART_OF, INPUT_OF = Function("part of", (DISTINCT,), PART), Function("input of", (PART,), INPUT)
SCORE, GAMMA = Function("score", (TOKEN,)), Function("gamma", (DISTINCT,))
"""The score of a token, and the mean score of equal ones."""
X_OF, KEY, UNIT = (Function(name, (DISTINCT,), VECTOR) for name in ("x", "x z^T", "e"))
"""x_t, the matrix x_t z^T for the query z, and e_t, with <c, e_t> = c_t."""
IMAGE = Function("M z", (VECTOR, INPUT), VECTOR)
"""M z for the query z of an input."""
FLAT, ONE, LINE = (Function(name, (PART,)) for name in ("one score", "one dependency", "on a line"))
"""1 for a part of this kind, else 0: one score, one dependency, or tokens on a line."""
ONLY, B, FACTOR = (
    *(Function("only score", (PART,)), Function("b", (DISTINCT,))),
    Function("factor of b", (VECTOR, PART)),
)
"""The only score of a part; its only dependency b; and the f with c_t = f b_t in the part."""
PLACE = Function("k", (DISTINCT,))
BASE, AXIS = (Function(name, (PART,), VECTOR) for name in ("x_P", "v"))
"""The k_t, x_P and v of a part on a line: its tokens are x_P + k_t v."""
RESTS = Function("rests", (PART, REAL))
"""1 if a part rests at a score, else 0."""
BY_SCORE, BY_B, BY_MINUS_B, BY_ROOT = WAYS = tuple(
    Function(f"rests by {how}", (PART, REAL)) for how in ("its only score", "b", "-b", "a root")
)
"""1 if the part rests at the score in this way, else 0. At most one way has the number 1."""
ROOT = Function("ln y", (PART, REAL))
"""ln y for the root y at which a part on a line rests at a score."""
LEVEL = Function("level", (INPUT,))
"""A score at which all parts of an input rest, if there is one."""
STILL = Function("W_0", (), VECTOR)()
"""A matrix at which the gradient is 0, if there is one."""

own = INPUT_OF(PART_OF(t))
"""The input of a token."""
number = total(1, _token, Over(EQUAL, t.term))
"""m_t, the number of tokens that token t stands for."""


def in_part(body: Operand, part: Operand = P) -> Term:
    """Return the sum of a body in t over the different tokens of a part."""
    return total(body, t, Over(PART_OF, as_term(part)))


def in_input(body: Operand, of: Operand = i) -> Term:
    """Return the sum of a body in t over the different tokens of an input."""
    return total(in_part(body, _part), _part, Over(INPUT_OF, as_term(of)))


def mass(of: Operand, at: Operand) -> Term:
    """Return the sum of exp(<x, W z>) over the tokens of an input."""
    return in_input(number * EXP(KEY(t) @ as_term(at)), of)


def output(of: Operand, at: Operand) -> Term:
    """Return the score of an input: the mean of its tokens' scores by attention."""
    scores = total(SCORE(_token), _token, Over(EQUAL, t.term))
    return in_input(scores * EXP(KEY(t) @ as_term(at)), of) * INV(mass(of, at))


def slope_of_risk() -> Term:
    """Return the derivative of the risk at X along M."""
    moved = output(_input, X + M.term * _step.term)
    along = derivative(total(LOSS(moved), _input) * INV(NUMBER), _step, FALLS)
    return substituted(along, {_step: as_term(0)})


# what rests


def spread(x: Operand) -> Term:
    """Return sum_t (gamma_t - x)^2 over a part."""
    return in_part((GAMMA(t) - x) ** 2)


def quotient(sign: int, x: Operand) -> Term:
    """Return b_t/(m_t (gamma_t - x)), for b or -b."""
    return sign * B(t) * INV(number) * INV(GAMMA(t) - x)


def sided(y: Term) -> Term:
    """Return |y| - y, plus 1 if y is 0: this is 0 exactly if y is above 0."""
    return ABS(y) - y + IS_ZERO(y)


def balanced(sign: int, x: Term) -> tuple[Proposition, Proposition]:
    """Return that each b_t has the sign of gamma_t - x, and that h(x) = 0, for b or -b."""
    h = in_part(sign * B(t) * LOG(quotient(sign, x)))
    return eq(in_part(sided(sign * B(t) * (GAMMA(t) - x))), 0), eq(h, 0)


def rooted(s: Term, x: Term) -> tuple[Proposition, Proposition]:
    """Return that x is the mean score for y = exp(s), and that P(y) = 0, on a line."""
    n, k, gamma = (substituted(y, {t: r.term}) for y in (number, PLACE(t), GAMMA(t)))
    pair = number * n * (PLACE(t) - k) * (GAMMA(t) - gamma) * EXP((PLACE(t) + k) * s)
    mean = in_part(number * EXP(PLACE(t) * s) * (GAMMA(t) - x))
    # the sum contains each pair twice
    return eq(mean, 0), eq(in_part(total(pair, r, Over(PART_OF, P.term))), 0)


_REST, _BY = eq(RESTS(P, x), 1), [eq(one(P, x), 1) for one in WAYS]


def _if(claim: Proposition, *assumptions: Proposition) -> Sequent:
    return Sequent(claim, frozenset(assumptions))


MEANING = {
    "a part rests at a score or not": _if(eq(RESTS(P, x) ** 2, RESTS(P, x))),
    "a part rests at its only score": _if(_REST, eq(spread(x), 0)),
    **{
        f"a part of one dependency rests where h is 0 for {name}": _if(
            _REST, gt(ONE(P), 0), *balanced(sign, x.term)
        )
        for sign, name in ((1, "b"), (-1, "-b"))
    },
    "a part on a line rests at the mean score for a root": _if(
        _REST, gt(LINE(P), 0), *rooted(s.term, x.term)
    ),
    "a part rests in one of these ways": _if(
        eq(sum((f(P, x) for f in WAYS), as_term(0)), 1), _REST
    ),
    **{f"it {f.name} or not": _if(eq(f(P, x) ** 2, f(P, x))) for f in WAYS},
    "its tokens have the score x, if it rests by one score": _if(eq(spread(x), 0), _BY[0]),
    **{
        f"{words}, if it rests by {name}": _if(claim, one)
        for sign, name, one in ((1, "b", _BY[1]), (-1, "-b", _BY[2]))
        for words, claim in zip(
            ("it has one dependency", "b_t have the signs", "h is 0"),
            (gt(ONE(P), 0), *balanced(sign, x.term)),
            strict=True,
        )
    },
    **{
        f"{words}, if it rests by a root": _if(claim, _BY[3])
        for words, claim in zip(
            ("it is on a line", "the score is the mean", "y is a root"),
            (gt(LINE(P), 0), *rooted(ROOT(P, x), x.term)),
            strict=True,
        )
    },
}
"""Facts that say when a part rests at a score x."""


# dependencies and parts


def sums(c: Term, total_of: Term | None = None) -> tuple[Term, Term]:
    """Return the sums of c_t and of c_t x_t over a part, or over an input."""
    bodies = c @ UNIT(t), (c @ UNIT(t)) * X_OF(t)
    one, other = (in_part(y) if total_of is None else in_input(y, total_of) for y in bodies)
    return one, other


def none(c: Term, of: Term | None = None) -> tuple[Proposition, Proposition]:
    """Return that c is a dependency of a part, or of an input."""
    one, other = sums(c, of)
    return eq(one, 0), eq(other @ other, 0)


_ONE, _LINE = (gt(kind(PART_OF(t)), 0) for kind in (ONE, LINE))
_WITHIN = [one.at({P: PART_OF(t)}) for one in none(c.term)]
PARTS = {
    "each input has a part": _if(gt(total(1, P, Over(INPUT_OF, i.term)), 0)),
    "each part has a token": _if(gt(in_part(1), 0)),
    "each distinct token occurs": _if(gt(number, 0)),
    "gamma_t is the mean score of these": _if(
        eq(number * GAMMA(t), total(SCORE(_token), _token, Over(EQUAL, t.term)))
    ),
    "the e_t are orthonormal": _if(eq(UNIT(r) @ UNIT(t), same(r, t))),
    "dependencies of an input have the sum 0 in each part": _if(
        none(c.term)[0], *none(c.term, INPUT_OF(P))
    ),
    "dependencies of an input are dependencies in each part": _if(
        none(c.term)[1], *none(c.term, INPUT_OF(P))
    ),
    "each token of a part of one score has this score": _if(
        eq(GAMMA(t), ONLY(PART_OF(t))), gt(FLAT(PART_OF(t)), 0)
    ),
    "b is a dependency, of sum 0": _if(eq(in_part(B(t)), 0), gt(ONE(P), 0)),
    "b is a dependency": _if(eq(in_part(B(t) * (X_OF(t) @ w.term)), 0), gt(ONE(P), 0)),
    "no b_t is 0": _if(gt(B(t) ** 2, 0), _ONE),
    "dependencies of a part of one dependency are multiples of b": _if(
        eq(c.term @ UNIT(t), FACTOR(c, PART_OF(t)) * B(t)), _ONE, *_WITHIN
    ),
    "tokens on a line are x_P + k_t v": _if(
        eq(X_OF(t) @ w.term, BASE(PART_OF(t)) @ w.term + PLACE(t) * (AXIS(PART_OF(t)) @ w.term)),
        _LINE,
    ),
    "v is not 0": _if(gt(AXIS(P) @ AXIS(P), 0), gt(LINE(P), 0)),
}
"""Facts about the parts of every input."""
SETTING = {
    "there is an input": _if(some(i)),
    "the gradient has the slope of the risk along every matrix": _if(
        eq(GRADIENT(X) @ M.term, slope_of_risk())
    ),
    "x z^T has the product <x, w> <z, q> with w q^T": _if(
        eq(KEY(t) @ OUTER(w, q), (X_OF(t) @ w.term) * (QUERY(own) @ q.term))
    ),
    "x z^T has the product <x, M z> with M": _if(eq(KEY(t) @ M.term, X_OF(t) @ IMAGE(M, own))),
}
"""Facts about every data set."""


def known() -> list[Sequent]:
    """Return that each part has one score, or one dependency, or is on a line."""
    return [Sequent(gt(FLAT(P) + ONE(P) + LINE(P), 0))]


def all_rest(of: Operand, x: Operand) -> Proposition:
    """Return that all parts of an input rest at a score."""
    return eq(total(1 - RESTS(P, x), P, Over(INPUT_OF, as_term(of))), 0)


def stationary(at: Operand) -> Proposition:
    """Return that the gradient is 0 at a matrix."""
    return eq(GRADIENT(at) @ GRADIENT(at), 0)


def existence() -> Said:
    """Return the claim that some matrix is stationary exactly if all parts rest at one score.

    The score may differ from input to input.
    """
    level = total(all_rest(i, LEVEL(i)).term, i)
    choice = {
        "all parts of an input rest at its level if they do at some score": _if(
            all_rest(i, LEVEL(i)), all_rest(i, x)
        ),
        "W_0 is stationary if some matrix is": _if(stationary(STILL), stationary(X)),
    }
    still, rest = stationary(STILL), eq(level, 0)
    claims = _if(rest, still), _if(still, rest)
    return Said(claims, {**SETTING, **PARTS, **MEANING, **choice})
