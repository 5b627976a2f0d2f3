"""The letters of proofs about the Att-SVM, its multipliers, and programmes beside it.

X^mm is V of `descent_letters`, with rivals j and constraint matrices A_j. By the convention of
`att_svm`, X^mm and its multipliers are 0 if no matrix meets the constraints. Under it the facts
below hold for every data set; those about X^mm as a solution assume that a matrix meets them.
"""

from attsvm.primitives.descent_letters import (
    BEST,
    GAMMA,
    INPUT,
    LEAST_SCORE,
    OPTIMAL,
    OWNER,
    QUERY,
    RIVAL,
    A,
    V,
    W,
    X,
    j,
    margin,
    output,
)
from attsvm.theory.proof.facts import K, Proposition, Sequent, eq, ge, gt, some
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    INV,
    NORM,
    VECTOR,
    Function,
    Letter,
    Over,
    Sort,
    Term,
    as_term,
    least,
    same,
    total,
)

SLACK = Sort("slack", index=True)
k, g = Letter("k", RIVAL), Letter("g", SLACK)
FIRST, LAST = (Function(name, (), VECTOR)() for name in ("U_1", "U_2"))
"""The first and the last matrix of an instance."""
MOVED = Function("U", (), VECTOR)()
"""The matrix whose cost is compared with that of X^mm."""
WEIGHT = Function("w", (RIVAL,))
"""Any multipliers of X^mm."""
SHARE, DISTANCE = Function("s", (RIVAL,)), Function("1/||X^mm||")()
"""A share of each rival; the distance of the hull of the A_j from 0, or 0 if there is no X^mm."""
GROUP, XI, OWN_XI = (
    Function("slack", (RIVAL,), SLACK),
    Function("xi", (SLACK,)),
    Function("own xi", (RIVAL,)),
)
"""The slack of a constraint; the size of a slack; its size if each constraint has its own."""
PRICE, LARGEST = Function("C")(), Function("lambda")()
"""The price of slack; the largest sum of multipliers that share a slack."""
DROPPED, REST = Function("dropped", (RIVAL,)), Function("X'", (), VECTOR)()
"""1 for a rival that is left out, else 0; the X^mm of the others."""
OUTER, LENGTHS = Function("v u^T", (), VECTOR)(), Function("||u|| ||v||")()
ALONG = Function("y u^T z", (INPUT,))
"""The matrix v u^T and its norm; y_i u^T z_i for an input."""
SAME = Function("same", (RIVAL, RIVAL))
BESIDE, WITHOUT = (Function(name, (RIVAL,), VECTOR) for name in ("R", "X'"))
"""The part of A_j that is orthogonal to all A_k, k != j; the X^mm without the rival j."""

GONE = Sort("rival left out", index=True)
c = Letter("c", GONE)
GONE_RIVAL = Function("rival", (GONE,), RIVAL)
"""The rivals that are left out, as an index set of their own."""

PLACE = Sort("place in a circle", index=True)
p, p_next = Letter("p", PLACE), Letter("place", PLACE)
AFTER, ASKED = Function("next place", (PLACE,), PLACE), Function("rival asked", (PLACE,), RIVAL)
PLACED = Function("x z^T", (PLACE,), VECTOR)
"""A circle of tokens, if there is one: under one query z the token at each place has to beat the
token at the next place. The letters are the next place, the rival there, and x z^T for the token x
at a place. The optimal token of this rival is the token at the place itself."""

CARRIER, BASIS = Sort("rival kept", index=True), Sort("basis of the span", index=True)
one, two = Letter("one", CARRIER), Letter("two", CARRIER)
b, x = Letter("b", BASIS), Letter("x")
CARRIED, PART = Function("rival", (CARRIER,), RIVAL), Function("weight", (CARRIER,))
"""Rivals whose A_j, times weights above 0, add up to X^mm, and these weights. No smaller set of
these rivals suffices."""
ASIDE = Function("A less its projection", (CARRIER,), VECTOR)
COMBINED = Function("coefficient", (CARRIER, CARRIER))
"""Orthogonal matrices from these A_j by Gram-Schmidt, and their coefficients in the A_j."""
UNIT = Function("B", (BASIS,), VECTOR)
"""An orthonormal basis of the span of all A_j of margin 1."""
AXIS = Sort("axis", index=True)
a, e, axis = (Letter(name, AXIS) for name in ("a", "e", "axis"))
LEAD = Function("x_opt - x", (RIVAL, AXIS))
WITH_QUERY = Function("e z^T", (AXIS, INPUT), VECTOR)
OF_QUERY = Function("e u^T", (AXIS, INPUT), VECTOR)
OF_AXES = Function("e f^T", (AXIS, AXIS), VECTOR)
"""The entries of x_opt - x; e z^T, e u^T and e f^T for unit vectors e and f and the query z of an
input. The vectors u come from the queries by Gram-Schmidt; each has length 1 or 0."""

i, h = Letter("i", INPUT), Letter("h", INPUT)
NORMAL = Function("w", (INPUT,), VECTOR)
OFFSET = Function("c", (INPUT,))
"""w = X^mm z for the query z of an input, and the threshold in <w, x> > c."""
APART, any_input = OPTIMAL(i) - OPTIMAL(h), Letter("any", INPUT)
TURNED = Function("(X^mm)^T D", (INPUT, INPUT), VECTOR)(i, h)
"""(X^mm)^T D for the difference D of two optimal tokens."""
DIFFERENT = gt(APART @ APART, 0)
"""The inputs i and h have different optimal tokens."""
_PAIR = frozenset({DIFFERENT, *(gt(total(1, k, Over(OWNER, one.term)), 0) for one in (i, h))})
"""Both have at least two tokens as well."""


def short_by(j: Term, X: Term) -> Term:
    """Return |1 - m| + 1 - m for the margin m of a rival: 0 exactly if m is at least 1."""
    return ABS(1 - margin(j, X)) + 1 - margin(j, X)


def meets(X: Term, kept: Term | None = None) -> Proposition:
    """Return that a matrix meets all constraints, or only those with kept = 1, not 0."""
    weight = as_term(1) if kept is None else kept
    return eq(total(weight * short_by(k.term, X), k), 0)


SOLVES = {
    "X^mm meets the constraints, if a matrix does": Sequent(
        ge(margin(j.term, V), 1), frozenset({meets(X.term)})
    ),
    "no matrix that meets them is shorter": Sequent(
        ge(X.term @ X.term, V @ V), frozenset({meets(X.term)})
    ),
}
MULTIPLIERS = {
    "no multiplier is negative": Sequent(ge(WEIGHT(j), 0)),
    "X^mm is the sum of the A_j by multipliers": Sequent(
        eq(V @ X.term, total(WEIGHT(j) * (A(j) @ X.term), j))
    ),
    "a multiplier is 0 unless its margin is 1": Sequent(eq(WEIGHT(j) * (margin(j.term, V) - 1), 0)),
}
_EXISTS = Sequent(ge(margin(j.term, V), 1))
"""X^mm exists: it meets all constraints."""


# hypotheses


def points_meet() -> list[Sequent]:
    """Return the facts that the matrices of an instance meet all constraints."""
    return [Sequent(ge(margin(j.term, U), 1)) for U in (FIRST, LAST)]


def shares() -> list[Sequent]:
    """Return the fact that no share is negative."""
    return [Sequent(ge(SHARE(j), 0))]


def positive_price() -> list[Sequent]:
    """Return the fact that the price is positive."""
    return [Sequent(gt(PRICE, 0))]


def whole_vocabulary() -> list[Sequent]:
    """Return the facts that the optimal token of h is a rival of another one, that of i.

    So i has a rival, and <w_i, x_opt,i - x_opt,h> is one of its margins under X^mm.
    """
    own, assumed = Over(OWNER, i.term), frozenset({DIFFERENT})
    lowest = least(margin(k.term, V), k, own)
    return [
        Sequent(gt(total(1, k, own), 0), assumed),
        Sequent(ge(NORMAL(i) @ APART, lowest), assumed),
    ]


# conclusions


def far_apart(squared: object = 4, **_: object) -> Said | None:
    """Return the claim that X^mm exists and ||w_i - w_h||^2 ||x_opt,i - x_opt,h||^2 >= 4."""
    between = NORMAL(i) - NORMAL(h)
    text = Sequent(ge((between @ between) * (APART @ APART), 4), _PAIR)
    return Said((_EXISTS, text)) if squared == 4 else None


def inner_of_planes(one: Letter, other: Letter) -> Term:
    """Return the inner product of (w, c) of two inputs."""
    return NORMAL(one) @ NORMAL(other) + OFFSET(one) * OFFSET(other)


def differ(of: object = "half-spaces", sign: object = 1, **_: object) -> Said | None:
    """Return the claim that X^mm exists and (w_i, c_i) is no positive multiple of (w_h, c_h).

    That is, their inner product is negative, or less than the product of their lengths. If `of` is
    "queries", the queries z_i and z_h take the place of (w_i, c_i) and (w_h, c_h).
    """
    if (of, sign) == ("queries", 1):
        along, wide = QUERY(i) @ QUERY(h), (QUERY(i) @ QUERY(i)) * (QUERY(h) @ QUERY(h))
        text = Sequent(gt(wide, along * along), _PAIR | {ge(along, 0)})
        known = {
            "<w, D> is <z, (X^mm)^T D> for each input": Sequent(
                eq(NORMAL(any_input) @ APART, QUERY(any_input) @ TURNED)
            )
        }
        return Said((_EXISTS, text), known)
    both = inner_of_planes(i, h)
    wide = inner_of_planes(i, i) * inner_of_planes(h, h)
    text = Sequent(gt(wide, both * both), _PAIR | {ge(both, 0)})
    return Said((_EXISTS, text)) if (of, sign) == ("half-spaces", 1) else None


def convex(weight: object = "0.5", lesser: bool = False) -> Said | None:
    """Return the claim that half of U_1 + U_2 meets the constraints and is no longer."""
    half = (FIRST + LAST) / 2
    mean = (FIRST @ FIRST + LAST @ LAST) / 2
    sequents = Sequent(ge(margin(j.term, half), 1)), Sequent(ge(mean, half @ half))
    return Said(sequents) if (weight, lesser) == ("0.5", False) else None


def nearer(power: int = 2) -> Said | None:
    """Return the claim ||U_1 - X^mm||^2 <= ||U_1||^2 - ||X^mm||^2."""
    apart = FIRST - V
    text = Sequent(ge(FIRST @ FIRST - V @ V, apart @ apart))
    return Said((text,), SOLVES) if power == 2 else None


def classified() -> list[Sequent]:
    """Return the fact that y_i u^T z_i is positive for every input."""
    return [Sequent(gt(ALONG(i), 0))]


def bounded(share: object = 1) -> Said | None:
    """Return that X^mm exists, and min_j <A_j, v u^T> <= ||u|| ||v||/||X^mm|| if there is a j."""
    assumed = frozenset({some(j)})
    known = {
        **SOLVES,
        "the margins of v u^T are y_i u^T z_i times the leads": Sequent(
            eq(margin(j.term, OUTER), ALONG(OWNER(j)) * (BEST(OWNER(j)) - GAMMA(j)))
        ),
        "||v u^T|| is ||u|| ||v||": Sequent(eq(NORM(OUTER), LENGTHS)),
        "1/||X^mm|| is not negative": Sequent(ge(DISTANCE, 0)),
        "1/||X^mm|| times ||X^mm|| is 1, if it exists and there is a constraint": Sequent(
            eq(DISTANCE * NORM(V), 1), frozenset({meets(X.term), some(j)})
        ),
    }
    lowest = least(margin(k.term, OUTER), k)
    text = Sequent(ge(LENGTHS * DISTANCE, lowest), assumed)
    return Said((_EXISTS, text), known) if share == 1 else None


def hull() -> Said:
    """Return the claim sum_j s_j / ||X^mm|| <= ||sum_j s_j A_j||."""
    combined = total(SHARE(j) * A(j), j)
    known = {
        "1/||X^mm|| is not negative": Sequent(ge(DISTANCE, 0)),
        "X^mm meets the constraints unless 1/||X^mm|| is 0": Sequent(
            ge(DISTANCE * (margin(j.term, V) - 1), 0)
        ),
        "1/||X^mm|| times ||X^mm|| is at most 1": Sequent(ge(1, DISTANCE * NORM(V))),
    }
    return Said((Sequent(ge(NORM(combined), DISTANCE * total(SHARE(j), j))),), known)


def at_least_price(share: object = 1, together: bool = True) -> Said | None:
    """Return the claim that X^mm exists and ||X^mm||^2 <= ||U|| ||X^mm|| + lambda sum_g xi_g."""
    known = {
        **MULTIPLIERS,
        "no slack is negative": Sequent(ge(XI(g), 0)),
        "slack makes up for margins below 1": Sequent(ge(margin(j.term, MOVED) + XI(GROUP(j)), 1)),
        "no multipliers that share a slack have a larger sum than lambda": Sequent(
            ge(LARGEST, total(WEIGHT(j), j, Over(GROUP, g.term)))
        ),
    }
    paid = NORM(MOVED) * NORM(V) + LARGEST * total(XI(g), g)
    text = Sequent(ge(paid, V @ V))
    return Said((_EXISTS, text), known) if (share, together) == (1, True) else None


def growth_from_zero(growth: object = 1) -> Said | None:
    """Return the claim C (J - sum_j xi_j) <= C ||sum_j A_j|| ||U||, J the number of rivals."""
    known = {
        "slack makes up for margins below 1": Sequent(ge(margin(j.term, MOVED) + OWN_XI(j), 1))
    }
    gained = PRICE * (total(1, j) - total(OWN_XI(j), j))
    text = Sequent(ge(PRICE * NORM(total(A(j), j)) * NORM(MOVED), gained))
    return Said((text,), known) if growth == 1 else None


def at_most_lost() -> Said:
    """Return the claim ||X^mm||^2 - ||X'||^2 <= ||sum_j w_j A_j||^2 over the rivals left out."""
    known = {
        **MULTIPLIERS,
        "X' meets the constraints that are left, if X^mm does": Sequent(
            ge((1 - DROPPED(j)) * (margin(j.term, REST) - 1), 0), frozenset({meets(V)})
        ),
    }
    lost = total(DROPPED(j) * WEIGHT(j) * A(j), j)
    return Said((_EXISTS, Sequent(ge(lost @ lost, V @ V - REST @ REST))), known)


LEFT_OUT = {
    **SOLVES,
    "a rival is left out or not": Sequent(eq(DROPPED(j) * DROPPED(j), DROPPED(j))),
    "X' meets the constraints that are left, if X^mm meets all": Sequent(
        ge((1 - DROPPED(j)) * (margin(j.term, REST) - 1), 0), frozenset({meets(V)})
    ),
    "no matrix that meets what is left is shorter than X'": Sequent(
        ge(X.term @ X.term, REST @ REST), frozenset({meets(X.term, 1 - DROPPED(k))})
    ),
}


def no_low_support() -> list[Sequent]:
    """Return the fact that a rival that is left out has a margin above 1 under an X^mm."""
    return [Sequent(gt(margin(j.term, V), 1), frozenset({gt(DROPPED(j), 0), meets(V)}))]


def same_without(which: str = "low") -> Said | None:
    """Return the claim that X^mm exists and is X', without the tokens of least score."""
    text = Sequent(eq((REST - V) @ (REST - V), 0))
    return Said((_EXISTS, text), LEFT_OUT) if which == "low" else None


def some_left_out() -> list[Sequent]:
    """Return the fact that some rival is left out."""
    return [Sequent(some(c))]


def best_choice(over: str = "all", chosen: str = "best") -> Said | None:
    """Return the claim that X^mm exists and that optimal tokens score above their rivals."""
    lower = Sequent(gt(BEST(OWNER(j)), GAMMA(j)))
    return Said((_EXISTS, lower)) if (over, chosen) == ("all", "best") else None


def lowest(X: Term) -> Term:
    """Return the least margin at a matrix of the rivals that are left out."""
    return least(margin(GONE_RIVAL(c), X), c)


def least_margin(floor: object = 1, of: str = "min") -> Said | None:
    """Return the claim m = max(1, m') for the least margins of the rivals that are left out.

    They are m under X^mm and m' under X'. The maximum is 1 or m', and at least both.
    """
    known = {
        **LEFT_OUT,
        "a rival that is left out is one of these": Sequent(
            ge(margin(j.term, X.term), lowest(X.term)), frozenset({gt(DROPPED(j), 0)})
        ),
    }
    m, rest = lowest(V), lowest(REST)
    claims = ge(m, 1), ge(m, rest), eq((m - 1) * (m - rest), 0)
    return Said(tuple(map(Sequent, claims)), known) if (floor, of) == (1, "min") else None


def no_lower(which: str = "low", **_: object) -> Said | None:
    """Return that no input's score falls without its tokens of least score, at any W."""
    own, e = Over(OWNER, i.term), (1 - DROPPED(k)) * EXP(-margin(k.term, W(K)))
    rest = INV(1 + total(e, k, own)) * (BEST(i) + total(e * GAMMA(k), k, own))
    known = {
        "some of a rival is left out, or none": Sequent(ge(DROPPED(j), 0)),
        "no more than all of a rival is left out": Sequent(ge(1, DROPPED(j))),
        "what is left out has the least score": Sequent(
            eq(DROPPED(j) * (GAMMA(j) - LEAST_SCORE(OWNER(j))), 0)
        ),
        "no rival scores less": Sequent(ge(GAMMA(j), LEAST_SCORE(OWNER(j)))),
        "nor does the optimal token": Sequent(ge(BEST(i), LEAST_SCORE(i))),
    }
    text = Sequent(ge(rest, output(i.term, W(K))))
    return Said((text,), known) if which == "low" else None


def same_without_others(which: str = "others") -> Said | None:
    """Return the claim that X^mm exists and is X', without the rivals of margins above 1."""
    (beyond,) = no_low_support()
    known = {**LEFT_OUT, "what is left out has a margin above 1": beyond}
    text = Sequent(eq((REST - V) @ (REST - V), 0))
    return Said((_EXISTS, text), known) if which == "others" else None


def at_least_lost(factor: object = 1, of: str = "span") -> Said | None:
    """Return the claim w_j^2 ||R_j||^2 <= ||X^mm||^2 - ||X'_j||^2 for every rival j."""
    square, others = BESIDE(j) @ BESIDE(j), 1 - SAME(j, k)
    known = {
        **MULTIPLIERS,
        "rivals are the same or not": Sequent(eq(SAME(j, k) * SAME(j, k), SAME(j, k))),
        "one rival is the same as j": Sequent(eq(total(SAME(j, k) * WEIGHT(k), k), WEIGHT(j))),
        "R_j is orthogonal to the other A_k": Sequent(eq(BESIDE(j) @ A(k), SAME(j, k) * square)),
        "no matrix that meets the other constraints is shorter than X'": Sequent(
            ge(X.term @ X.term, WITHOUT(j) @ WITHOUT(j)), frozenset({meets(X.term, others)})
        ),
    }
    text = Sequent(ge(V @ V - WITHOUT(j) @ WITHOUT(j), WEIGHT(j) * WEIGHT(j) * square))
    return Said((_EXISTS, text), known) if (factor, of) == (1, "span") else None


def _moved(two: Letter) -> Term:
    """Return the weight of a kept rival, minus x times its coefficient in `COMBINED`."""
    return PART(two) - x.term * COMBINED(one, two)


NEGATIVE = total(ABS(_moved(two)) - _moved(two), two)
"""0 exactly if no moved weight is negative."""
AMISS = total(_moved(two) * A(CARRIED(two)), two) - V
"""The sum of the A_j times moved weights, minus X^mm."""


def few_suffice(by: str = "sizes", less: int = 0) -> Said | None:
    """Return the claim that X^mm exists and is X', and that X' has few rivals."""
    kept = total(short_by(CARRIED(one), X.term), one)
    known = {
        "weights are positive": Sequent(gt(PART(one), 0)),
        "X^mm is the sum of the A_j by weights": Sequent(
            eq(V @ X.term, total(PART(one) * (A(CARRIED(one)) @ X.term), one))
        ),
        "rivals that are kept have multipliers above 0": Sequent(gt(WEIGHT(CARRIED(one)), 0)),
        "as few as possible: weights >= 0 with which they add up to X^mm are above 0": Sequent(
            gt(_moved(two), 0), frozenset({eq(NEGATIVE, 0), eq(AMISS @ AMISS, 0)})
        ),
        "a multiplier is 0 unless its margin is 1": MULTIPLIERS[
            "a multiplier is 0 unless its margin is 1"
        ],
        "Gram and Schmidt subtract multiples of other A_j": Sequent(
            eq(
                ASIDE(one) @ X.term,
                total(COMBINED(one, two) * (A(CARRIED(two)) @ X.term), two),
            )
        ),
        "and no multiple of A_j itself": Sequent(eq(COMBINED(one, one), 1)),
        "what they make is orthogonal": Sequent(
            eq(ASIDE(one) @ ASIDE(two), same(two, one) * (ASIDE(one) @ ASIDE(one)))
        ),
        "X' meets the constraints of these rivals, if X^mm meets all": Sequent(
            ge(margin(CARRIED(one), REST), 1), frozenset({meets(V)})
        ),
        "no matrix that meets these constraints is shorter than X'": Sequent(
            ge(X.term @ X.term, REST @ REST), frozenset({eq(kept, 0)})
        ),
    }
    bases: dict[str, dict[Term, tuple[Letter, ...]]] = {
        "rank": {UNIT(b): (b,)},
        "sizes": {OF_QUERY(a, h): (a, h), OF_AXES(a, e): (a, e)},
    }
    claims = [_EXISTS, Sequent(eq((REST - V) @ (REST - V), 0))]
    if by == "rank":
        tight = frozenset({eq(margin(j.term, V), 1)})
        spanned = total((A(j) @ UNIT(b)) * (UNIT(b) @ X.term), b)
        known["A_j of margin 1 are in the span"] = Sequent(eq(A(j) @ X.term, spanned), tight)
    else:
        known["A_j is (x_opt - x) z^T"] = Sequent(
            eq(A(j) @ X.term, total(LEAD(j, a) * (WITH_QUERY(a, OWNER(j)) @ X.term), a))
        )
    for basis, indices in bases[by].items():
        known[f"{basis!r} is at most 1 long"] = Sequent(ge(1, basis @ basis))
        if by == "sizes":
            own, inner = WITH_QUERY(a, i), indices[-1]
            along = total((own @ basis) * (basis @ X.term), inner)
            known[f"e z^T is the sum of its parts along {basis!r}"] = Sequent(
                eq(own @ X.term, along)
            )
            known[f"e z^T and {basis!r} are orthogonal for different e"] = Sequent(
                eq(WITH_QUERY(axis, i) @ basis, same(axis, a) * (own @ basis))
            )
        size = as_term(1)
        for index in reversed(indices):
            size = total(size, index)
        claims.append(Sequent(ge(size, total(1, one))))
    return Said(tuple(claims), known) if less == 0 else None


def no_circle(by: str = "circles") -> Said | None:
    """Return the claim that no matrix meets the constraints if there is a circle."""
    step = PLACED(p) - PLACED(AFTER(p))
    known = {
        "a query asks for each token of a circle before the next one": Sequent(
            eq(A(ASKED(p)) @ X.term, step @ X.term)
        ),
        "each place of a circle comes next after one": Sequent(
            eq(total(1, p_next, Over(AFTER, p.term)), 1)
        ),
    }
    text = Sequent(gt(total(short_by(k.term, X.term), k), 0), frozenset({some(p)}))
    return Said((text,), known) if by == "circles" else None
