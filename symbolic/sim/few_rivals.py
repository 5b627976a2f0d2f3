"""The number of rivals that determine X^mm: at most the dimension of the span of tight A_j.

On `sim/few-support-tokens`, readings amended and sharp. Among the rivals with positive multipliers,
keep as few as possible with X^mm = sum_j w_j A_j and all w_j > 0. As in Caratheodory's theorem,
these A_j are independent. Otherwise Gram-Schmidt finds 0 = sum_k r_k A_k for some j with r_j = 1.
Let rho be the largest r_k/w_k. Then the weights w - r/rho also give X^mm, and one of them is 0.

So the orthogonal matrices G_j that Gram-Schmidt makes of the A_j are not 0. Bessel's inequality
says that sum_j <G_j, B>^2/||G_j||^2 <= 1 for each B of an orthonormal basis of the span. Over the
basis the left sides add up to the number of rivals.
"""

from collections.abc import Iterator, Mapping, Sequence

from attsvm.errors import present
from attsvm.primitives import programme_letters as letters
from attsvm.primitives.descent_letters import OWNER, A, V, X, j, margin
from attsvm.primitives.hypotheses import FEASIBLE
from attsvm.primitives.programme_letters import (
    ASIDE,
    CARRIED,
    COMBINED,
    LEAD,
    OF_AXES,
    OF_QUERY,
    PART,
    REST,
    UNIT,
    WITH_QUERY,
    a,
    axis,
    b,
    e,
    h,
    i,
    one,
    two,
    x,
)
from attsvm.theory.proof.facts import Fact, eq, ge, gt, some
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, LENGTH, RECIPROCAL, SIZE
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
    exchange,
    picked,
    scale,
)
from attsvm.theory.proof.terms import (
    ABS,
    INV,
    NORM,
    Letter,
    Term,
    as_term,
    most,
    substituted,
    total,
)
from symbolic.attention_facts import meets
from symbolic.facts import conclude_each, count, no_shorter, product

G = ASIDE(one)


def _same_solution(
    exists: Fact, sums: Fact, positive: Fact, tight: Fact, rest: tuple[Fact, Fact]
) -> Fact:
    """Return that ||X' - X^mm||^2 = 0: <X^mm, X'> is at least the sum of weights, ||X^mm||^2.

    Args:
        exists: that X^mm meets all constraints.
        sums: that X^mm is the sum of the A_j by weights.
        positive: that weights are positive.
        tight: that margins of rivals that are kept are 1.
        rest: that X' meets their constraints, and that no matrix that does is shorter.
    """
    own = margin(CARRIED(one), V)
    met = decide(eq(ABS(1 - own) + 1 - own, 0), tight, cite(SIZE, (), 1 - own)[1])
    no_longer = cut(at(rest[1], {X: V}), add_up(met, one))
    reached = add_up(product(positive, cut(rest[0], meets(exists, V))), one)
    whole = add_up(scale(tight, PART(one)), one)
    parts = at(sums, {X: V}), at(sums, {X: REST}), reached, whole, no_longer
    return decide(eq((REST - V) @ (REST - V), 0), *parts, no_shorter(REST - V), degree=1)


def _nothing(vector: Term, along: Term, zero: Fact) -> Fact:
    """Return that <v, u> = 0, as <v, v> is at most 0."""
    _, squared = cite(LENGTH, (), vector)
    none = decide(eq(NORM(vector), 0), squared, zero)
    parts = [
        part
        for to in (along, -along)
        for part in (cite(CAUCHY_SCHWARZ, (), vector, to)[0], scale(none, NORM(to)))
    ]
    return decide(eq(vector @ along, 0), *parts, degree=1)


def _independent(
    sums: Fact, positive: Fact, fewest: Fact, made: Fact, itself: Fact, rows: Fact
) -> Fact:
    """Return that ||G_j||^2 > 0, as otherwise weights could be moved until one of them is 0.

    Args:
        sums: that X^mm is the sum of the A_j by weights.
        positive: that weights are positive.
        fewest: that moved weights are positive, if none is negative and they still give X^mm.
        made: that G_j is a sum of coefficients times the A_j.
        itself: that A_j has the coefficient 1 in this sum.
        rows: that some rival is kept.
    """
    goal = gt(G @ G, 0)
    no = assume(goal.denied())
    r, w = COMBINED(one, two), PART(two)
    above = at(positive, {one: two})
    unit, inverse = cite(RECIPROCAL, [above], w)
    ratio = r * INV(w)
    rho = most(ratio, two)
    top = beyond("most", ratio, two)
    own = at(top, {two: one})
    over = INV(PART(one))
    rises = decide(gt(rho, 0), own, scale(itself, over), at(inverse, {two: one}))
    whole, less = cite(RECIPROCAL, [rises], rho)
    t = INV(rho)
    moved = w - t * r
    # no moved weight is negative, and they still give X^mm
    spare = product(above, less, top)
    size, size_square = cite(SIZE, (), moved)
    none = add_up(
        decide(
            eq(ABS(moved) - moved, 0), spare, scale(unit, t * r), scale(whole, w), size, size_square
        ),
        two,
    )
    amiss = total(moved * A(CARRIED(two)), two) - V
    parts = at(sums, {X: amiss}), at(made, {X: amiss}), _nothing(G, amiss, no)
    stays = decide(eq(amiss @ amiss, 0), parts[0], scale(parts[1], t), scale(parts[2], t), degree=1)
    beyond_ = cut(at(fewest, {x: t}), none, stays)
    # so no moved weight is 0, and each ratio is below the largest one: a contradiction
    gap = decide(gt(rho * moved, 0), beyond_, rises)
    gap = decide(gt(rho * moved * INV(w), 0), gap, inverse)
    below = decide(gt(rho, ratio), gap, scale(unit, rho), scale(whole, ratio), degree=1)
    never = bounds(below, "most", ratio, two, rows)
    return cases(assume(goal), decide(goal, never), goal)


def _bessel(B: Term, apart: Fact, orthogonal: Fact, short: Fact) -> Fact:
    """Return that sum_j <G_j, B>^2/||G_j||^2 is at most 1 for a matrix B of the basis.

    Args:
        B: the matrix.
        apart: that ||G_j||^2 > 0.
        orthogonal: that the G_j are orthogonal.
        short: that the length of B is at most 1.
    """
    share = INV(G @ G) * (G @ B)
    near, other = total(share * G, one), substituted(share, {one: two.term})
    over, _ = cite(RECIPROCAL, [apart], G @ G)
    sums = add_up(scale(orthogonal, other), two), scale(picked(other, two, one), G @ G)
    along = decide(eq(near @ G, G @ B), *sums, scale(over, G @ B), degree=1)
    whole = add_up(scale(along, share), one)
    goal = ge(1, total(INV(G @ G) * (G @ B) ** 2, one))
    return decide(goal, no_shorter(B - near), whole, short, degree=1)


def _summed(fact: Fact, indices: Sequence[Letter]) -> Fact:
    """Return the sum of a fact over indices; the first index is that of the outermost sum."""
    for index in reversed(indices):
        fact = add_up(fact, index)
    return fact


def _over(body: Term, indices: Sequence[Letter]) -> Term:
    """Return the sum of a term over indices; the first index is that of the outermost sum."""
    for index in reversed(indices):
        body = total(body, index)
    return body


def _inward(body: Term, index: Letter, others: Sequence[Letter]) -> Iterator[Fact]:
    """Yield that the sum over an index may be exchanged with the sum over each other one."""
    for k, other in enumerate(others):
        yield _summed(exchange(_over(body, others[k + 1 :]), index, other), others[:k])


def _few(
    B: Term, indices: Sequence[Letter], known: Sequence[Fact], short: Fact, spanned: Fact
) -> Fact:
    """Return that no more rivals are kept than there are matrices B of a basis.

    Args:
        B: a matrix of the basis.
        indices: its indices.
        known: that ||G_j||^2 > 0, that G_j is a sum of the A_j, and that the G_j are orthogonal.
        short: that B is at most 1 long.
        spanned: that the A_j of a kept rival is the sum of its projections on the B.
    """
    apart, made, orthogonal = known
    # ||G_j||^2 is the sum of <G_j, B>^2 over the basis
    inside = add_up(scale(at(spanned, {one: two, X: G}), COMBINED(one, two)), two)
    body = COMBINED(one, two) * (A(CARRIED(two)) @ B) * (B @ G)
    along = _summed(scale(at(made, {X: B}), B @ G), indices)
    goal = eq(G @ G, _over((G @ B) ** 2, indices))
    parts = inside, *_inward(body, two, indices), along, at(made, {X: G})
    whole = decide(goal, *parts, degree=1)
    over, _ = cite(RECIPROCAL, [apart], G @ G)
    share = INV(G @ G) * (G @ B) ** 2
    each = decide(eq(_over(share, indices), 1), scale(whole, INV(G @ G)), over, degree=1)
    parts = _summed(_bessel(B, apart, orthogonal, short), indices), add_up(each, one)
    return decide(
        ge(_over(as_term(1), indices), total(1, one)),
        *parts,
        *_inward(share, one, indices),
        degree=1,
    )


def _spanned(B: Term, inner: Letter, product_: Fact, parts: Fact, crossed: Fact) -> Fact:
    """Return that A_j is the sum of its projections on the B, for every rival.

    Args:
        B: a matrix of the basis, with the index a and another one.
        inner: the other index.
        product_: that A_j is (x_opt - x) z^T.
        parts: that e z^T is the sum of its projections on the B of this e.
        crossed: that e z^T and the B of another e are orthogonal.
    """
    lead, own_input = LEAD(j, a), {i: OWNER(j)}
    other = add_up(scale(at(crossed, own_input), LEAD(j, axis)), axis)
    own = scale(picked(LEAD(j, axis), axis, a), WITH_QUERY(a, OWNER(j)) @ B)
    along = decide(
        eq(A(j) @ B, lead * (WITH_QUERY(a, OWNER(j)) @ B)),
        *(at(product_, {X: B}), other, own),
        degree=1,
    )
    whole = add_up(scale(at(parts, own_input), lead), a)
    goal = eq(A(j) @ X.term, _over((A(j) @ B) * (B @ X.term), (a, inner)))
    each = _summed(scale(along, B @ X.term), (a, inner))
    return decide(goal, product_, whole, each, degree=1)


def _prove(by: str, bases: Mapping[Term, Sequence[Letter]]) -> None:
    """Prove that J rivals alone have the solution X^mm, with J at most the size of each basis."""
    claim = present(letters.few_suffice(by), "a claim")
    facts = [setting(claim.setting, words) for words in claim.setting]
    positive, sums, chosen, fewest, idle, made, itself, orthogonal, meets_, least, *spans = facts
    span, *spans = spans
    exists, _ = suppose(FEASIBLE)
    tight = decide(eq(margin(CARRIED(one), V), 1), at(idle, {j: CARRIED(one)}), chosen)
    ends = [exists, _same_solution(exists, sums, positive, tight, (meets_, least))]
    rows, empty = assume(some(one)), assume(some(one).denied())
    apart = _independent(sums, positive, fewest, made, itself, rows)
    for k, (B, indices) in enumerate(bases.items()):
        if by == "rank":
            (short,) = spans
            spanned = cut(at(span, {j: CARRIED(one)}), tight)
        else:
            short, *rest = spans[3 * k : 3 * k + 3]
            spanned = at(_spanned(B, indices[1], span, *rest), {j: CARRIED(one)})
        few = _few(B, indices, (apart, made, orthogonal), short, spanned)
        none = decide(few.proposition, count(*reversed(indices)), empty, degree=1)
        ends.append(cases(few, none, some(one)))
    conclude_each(claim, *ends)


@linked
def prove_by_rank() -> str:
    """Prove that J is at most the dimension of the span of all A_j of margin 1."""
    _prove("rank", {UNIT(b): (b,)})
    return "in any dimension: X^mm is the least point of the independent constraints as well"


@linked
def prove_by_sizes() -> str:
    """Prove that J is at most n d and d^2: A_j = (x_opt - x) z^T is a sum of as many matrices."""
    _prove("sizes", {OF_QUERY(a, h): (a, h), OF_AXES(a, e): (a, e)})
    return "in any dimension, for any number of inputs and tokens"
