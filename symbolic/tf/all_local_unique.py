"""When the optimal choice of one input of at most three tokens alone is locally optimal.

On `tf/all-local-unique:sharp`. With at most two rivals each solution is a multiple of one row, but
for a second row of margin 1. Let U be the solution of a locally optimal rival r, which has the
optimal token beyond its margin, and V = W^mm. If r has margin 1 under V, then <U, V> is at least 0
by the multipliers of U, and negative by those of V.
"""

from attsvm.errors import present
from attsvm.primitives.descent_letters import GAMMA, OWNER, A, V, X, i, j, lead, peer
from attsvm.primitives.hypotheses import ONE_INPUT, UNIQUE
from attsvm.primitives.programme_letters import MULTIPLIERS, WEIGHT
from attsvm.theory.proof.facts import Fact, Proposition, eq, ge, gt
from attsvm.theory.proof.facts import some as some_of_rivals
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, INDICATOR, LENGTH, RECIPROCAL, SIZE
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
    one_of_sum,
    scale,
)
from attsvm.theory.proof.terms import ABS, INV, IS_ZERO, NORM, Letter, Term, same, total
from properties._support import single_letters as letters
from properties._support.single_letters import (
    BY_DEFINITION,
    LOCAL,
    SOLUTION,
    SUPPORTS,
    TO_BEST,
    TO_RIVAL,
    TOP,
    other,
    r,
    row,
    s,
)
from properties.tf.all_local_unique import FEW
from symbolic.facts import conclude_each, product

U = SOLUTION(r)


def _known(words: str) -> Fact:
    return setting(BY_DEFINITION, words)


def _long(vector: Term, along: Term, far: Fact) -> Fact:
    """Return that <v, v> > 0, as <v, u> > 0."""
    (size,), (_, square_) = cite(CAUCHY_SCHWARZ, (), vector, along), cite(LENGTH, (), vector)
    norm = decide(gt(NORM(vector), 0), size, far, cite(LENGTH, (), along)[0])
    return decide(gt(vector @ vector, 0), norm, square_)


def _is_zero(x: Term, flag: Fact) -> Fact:
    """Return that x = 0, as its indicator is above 0."""
    _, above, below, *_ = cite(INDICATOR, (), x)
    sides = [
        cases(decide(ge(0, y), fact, flag), assume(gt(y, 0).denied()), gt(y, 0))
        for y, fact in ((x, above), (-x, below))
    ]
    return decide(eq(x, 0), *sides)


def _flag(x: Term) -> tuple[Fact, Fact]:
    """Return that the indicator of x = 0 is at least 0, and 1 if x = 0."""
    at_zero, _, _, some, _ = cite(INDICATOR, (), x)
    return some, at_zero


def _same_or_not(one: Letter, two: Letter, either: Fact) -> tuple[Proposition, Fact, Fact]:
    """Return a condition under which two rivals are the same, and what it gives, and its denial."""
    condition = gt(same(one, two), 0)
    yes = decide(eq(same(one, two), 1), either, assume(condition))
    no = decide(eq(same(one, two), 0), either, assume(condition.denied()))
    return condition, yes, no


class Three:
    """Facts about at most two rivals.

    Attributes:
        alike: that the same rivals have one matrix.
        flag: that rivals are the same or not.
    """

    def __init__(self) -> None:
        (single,), (few,) = suppose(ONE_INPUT), suppose(FEW)
        owners = (at(single, {i: OWNER(one), peer: OWNER(r)}) for one in (s, other))
        few = cut(few, *owners)
        self.flag = _known("rivals are the same or not")
        self.alike = _known("the same rivals have one matrix")
        apart = assume(eq(same(r, s), 0))
        none = (1 - same(r, other)) * (1 - same(s, other))
        self.few = decide(eq(none, 0), few, scale(apart, none))

    def collapsed(self, part: Term, none: Fact) -> Fact:
        """Return that a weighted sum over rivals is one over the rival s that is not r.

        Args:
            part: the weight of the third rival.
            none: that it is 0 if this rival is r.
        """
        change = row(s, other) @ X.term
        alike = at(self.alike, {r: s, s: other})
        return add_up(
            decide(
                eq(part * change, 0),
                *(scale(self.few, part * change), scale(none, (1 - same(s, other)) * change)),
                scale(alike, part),
                degree=1,
            ),
            other,
        )


class Rival:
    """The solution U of the choice of a rival r.

    Attributes:
        none: that a multiplier towards r itself is 0.
        length: that the multipliers add up to <U, U>.
    """

    def __init__(self, three: Three) -> None:
        self.sign = _known("no multiplier of a rival's solution is negative")
        self.sign_best = _known("nor is that towards the best token")
        self.sums = _known("a rival's solution is a sum by multipliers")
        self.tight = _known("its multipliers are 0 unless the margin is 1")
        self.tight_best = _known("so is that towards the best token")
        part = TO_RIVAL(r, s)
        alike = at(three.alike, {X: U})
        self.none = decide(
            eq(same(r, s) * part, 0), scale(self.tight, same(r, s)), scale(alike, part), degree=1
        )
        self.length = decide(
            eq(U @ U, total(part, s) + TO_BEST(r)),
            *(at(self.sums, {X: U}), add_up(self.tight, s), self.tight_best),
            degree=1,
        )


class Best:
    """The solution V of the best token's choice, under the assumption that it exists.

    Attributes:
        needs: that margins are at least 1.
        length: that the multipliers add up to <V, V>.
    """

    def __init__(self) -> None:
        self.needs = _known("W^mm meets its constraints")
        self.sign, self.sums, self.tight = map(_known, MULTIPLIERS)
        whole = at(self.sums, {X: V}), add_up(self.tight, j)
        self.length = decide(eq(V @ V, total(WEIGHT(j), j)), *whole, degree=1)


def _no_rival(three: Three, rival: Rival, best: Best, lower: Fact) -> Fact:
    """Return that no rival is locally optimal if one of the largest score has margin 1."""
    mine, either = assume(eq(LOCAL(r), 1)), _known("a rival is locally optimal or not")
    beyond_ = gt(-A(r) @ U, 1)
    by_best = _known("no rival is locally optimal if the best token has margin 1")
    by_best = cut(by_best, assume(beyond_.denied()), decide(ge(lead(r.term), 0), at(lower, {j: r})))
    far = cases(assume(beyond_), decide(beyond_, by_best, mine), beyond_)
    no_best = decide(eq(TO_BEST(r), 0), rival.tight_best, far)
    long = _long(U, -A(r), decide(gt(U @ -A(r), 0), far))
    # the margin to a second rival s is 1
    part, sigma = TO_RIVAL(r, other), total(TO_RIVAL(r, s), s)
    whole = decide(
        eq(U @ X.term, sigma * (row(r, s) @ X.term)),
        *(rival.sums, three.collapsed(part, at(rival.none, {s: other}))),
        scale(no_best, A(r) @ X.term),
        degree=1,
    )
    one = decide(eq(row(r, s) @ U, 1), at(whole, {X: U}), rival.length, no_best, long)
    # the rival j of the largest score
    support = letters.SUPPORT
    supports = assume(gt(support, 0))
    top, tight = (_flag(x)[0] for x in (TOP - GAMMA(j), A(j) @ V - 1))
    is_top = _is_zero(TOP - GAMMA(j), decide(gt(IS_ZERO(TOP - GAMMA(j)), 0), supports, tight))
    is_tight = _is_zero(A(j) @ V - 1, decide(gt(IS_ZERO(A(j) @ V - 1), 0), supports, top))
    condition, yes, no = _same_or_not(r, j, at(three.flag, {s: j}))
    goal = ge(0, LOCAL(r))
    # if it is not r, it keeps r from being locally optimal
    by_rival = at(_known("none is if another rival of margin 1 scores no less"), {s: j})
    order = decide(
        ge(GAMMA(j), GAMMA(r)), is_top, at(beyond("most", GAMMA(other), other), {other: r})
    )
    alone = decide(ge(1, row(r, j) @ U), at(one, {s: j}))
    apart = decide(goal, cut(cut(by_rival, alone, order), no))
    # if it is r, <U, V> has both signs
    mine_tight = decide(
        eq(A(r) @ V, 1), scale(yes, row(r, j) @ V), is_tight, at(three.alike, {s: j, X: V})
    )
    either_s, same_s, not_s = _same_or_not(r, s, three.flag)
    equal = at(three.alike, {X: U})
    most = ge(A(r) @ U + 1, A(s) @ U)
    below = cases(
        decide(most, equal, scale(same_s, row(r, s) @ U)), decide(most, cut(one, not_s)), either_s
    )
    least = product(best.sign, at(below, {s: j}))
    high = decide(
        ge((A(r) @ U + 1) * total(WEIGHT(j), j), V @ U),
        *(add_up(least, j), at(best.sums, {X: U})),
        degree=1,
    )
    more = decide(ge(row(r, s) @ V, 0), at(best.needs, {j: s}), mine_tight)
    low = decide(
        ge(U @ V, 0),
        add_up(product(rival.sign, more), s),
        at(rival.sums, {X: V}),
        scale(no_best, A(r) @ V),
        degree=1,
    )
    long = _long(V, A(r), decide(gt(V @ A(r), 0), mine_tight))
    both = decide(goal, low, high, best.length, long, far)
    either_way = cases(both, apart, condition)
    # so it is not locally optimal
    is_local = gt(LOCAL(r), 0)
    settled = cut(either_way, decide(eq(LOCAL(r), 1), either, assume(is_local)))
    settled = cases(settled, assume(is_local.denied()), is_local)
    positive = decide(ge(LOCAL(r), 0), either)
    no_more = ge(0, LOCAL(r) * support)
    times = cases(
        decide(no_more, settled, supports),
        decide(no_more, assume(gt(support, 0).denied()), positive),
        gt(support, 0),
    )
    some_support = assume(gt(SUPPORTS, 0))
    return decide(eq(LOCAL(r), 0), add_up(times, j), some_support, positive)


def _some_support(three: Three, rival: Rival, best: Best) -> Fact:
    """Return that a rival of the largest score has margin 1, if no rival is locally optimal.

    Otherwise each rival r of the largest score would have a margin above 1, and be locally optimal.
    """
    support = letters.SUPPORT
    some = product(_flag(TOP - GAMMA(j))[0], _flag(A(j) @ V - 1)[0])
    positive = decide(ge(LOCAL(r), 0), _known("a rival is locally optimal or not"))
    is_none = assume(eq(total(LOCAL(r), r), 0))
    not_local = decide(eq(LOCAL(r), 0), one_of_sum(positive, r), is_none, positive)
    no = gt(SUPPORTS, 0).denied()
    none_j = decide(eq(support, 0), one_of_sum(some, j), assume(no), some)
    none = at(none_j, {j: r})
    highest = ge(GAMMA(r), TOP)
    above = beyond("most", GAMMA(other), other)
    is_top = decide(eq(TOP - GAMMA(r), 0), assume(highest), at(above, {other: r}))
    flag = cut(_flag(TOP - GAMMA(r))[1], is_top)
    slack = A(r) @ V - 1
    tight = decide(eq(IS_ZERO(slack), 0), none, scale(flag, IS_ZERO(slack)))
    needs = at(best.needs, {j: r})
    zero = decide(eq(slack, 0), needs, assume(gt(slack, 0).denied()))
    far = cases(
        assume(gt(slack, 0)),
        decide(gt(slack, 0), cut(_flag(slack)[1], zero), tight),
        gt(slack, 0),
    )
    # V acts like a multiple of the row of a second rival s, which has margin 1
    omega, w = total(WEIGHT(j), j), WEIGHT(s)
    own = decide(
        eq(same(r, s) * w * slack, 0),
        *(scale(at(best.tight, {j: s}), same(r, s)), scale(at(three.alike, {X: V}), w)),
        degree=1,
    )
    mine = decide(eq(same(r, s) * w, 0), own, far)
    whole = decide(
        eq(V @ X.term, omega * (A(s) @ X.term)),
        *(best.sums, three.collapsed(WEIGHT(other), at(mine, {s: other}))),
        degree=1,
    )
    long = _long(V, A(r), decide(gt(V @ A(r), 0), far))
    large = decide(gt(omega, 0), long, best.length)
    one = decide(eq(A(s) @ V, 1), at(whole, {X: V}), best.length, large)
    # a matrix that meets the constraints of r
    unit, inverse = cite(RECIPROCAL, [large], omega)
    D = INV(omega) * V - A(r)
    along = decide(gt(D @ -V, 0), scale(best.length, INV(omega)), unit, far)
    wide = _long(D, -V, along)
    unit_D, inverse_D = cite(RECIPROCAL, [wide], D @ D)
    point = INV(D @ D) * D
    over = decide(gt(-(INV(omega) * (V @ D)), 0), along, inverse)
    beats = decide(ge(-A(r) @ D, D @ D), over)
    beats = decide(
        ge(-A(r) @ point, 1), product(decide(ge(-A(r) @ D - D @ D, 0), beats), inverse_D), unit_D
    )
    acts = decide(
        eq(row(r, s) @ D, D @ D),
        *(scale(at(whole, {X: D}), INV(omega)), scale(unit, A(s) @ D)),
        degree=1,
    )
    reaches = decide(eq(row(r, s) @ point, 1), scale(acts, INV(D @ D)), unit_D, degree=1)
    condition, same_s, not_s = _same_or_not(r, s, three.flag)

    def unless_same(fact: Fact) -> Fact:
        """Return an equation times 1 - same(r, s), which needs no assumption."""
        whole_ = eq(fact.proposition.term * (1 - same(r, s)), 0)
        yes = decide(whole_, scale(same_s, fact.proposition.term), degree=1)
        return cases(yes, decide(whole_, scale(cut(fact, not_s), 1 - same(r, s))), condition)

    met = decide(letters.short(-A(r) @ point), beats, *cite(SIZE, (), 1 + A(r) @ point))
    others = row(r, s) @ point
    each = unless_same(decide(letters.short(others), reaches, cite(SIZE, (), 1 - others)[1]))
    met = decide(letters.meets(r.term, point), met, add_up(each, s))
    exists = cut(
        at(_known("there is a solution if some matrix meets the constraints"), {X: point}), met
    )
    # its solution U has the best token beyond the margin: otherwise <U, V> had both signs
    from_best = cut(_known("a solution beats the best token"), exists)
    from_rival = cut(_known("a solution beats other rivals"), exists, not_s)
    near = assume(gt(-A(r) @ U, 1).denied())
    ahead = product(at(best.sign, {j: s}), decide(ge(A(s) @ U, 0), from_rival, near))
    none_ahead = decide(
        ge(w * (A(s) @ U), 0), scale(mine, A(s) @ U), scale(same_s, w * (A(s) @ U)), degree=1
    )
    low = decide(
        ge(V @ U, 0),
        add_up(cases(none_ahead, ahead, condition), s),
        at(best.sums, {X: U}),
        degree=1,
    )
    part = TO_RIVAL(r, s)
    flat = eq(part * (A(s) @ V - 1), 0)
    level = cases(
        decide(
            flat, scale(rival.none, A(s) @ V - 1), scale(same_s, part * (A(s) @ V - 1)), degree=1
        ),
        decide(flat, scale(cut(one, not_s), part)),
        condition,
    )
    turned = decide(
        eq(U @ V, -slack * (U @ U) - TO_BEST(r)),
        *(at(rival.sums, {X: V}), add_up(level, s), scale(rival.length, slack)),
        degree=1,
    )
    long = _long(U, -A(r), decide(gt(U @ -A(r), 0), from_best))
    beyond_ = gt(-A(r) @ U, 1)
    off = decide(beyond_, low, turned, rival.sign_best, long, far)
    off = cases(assume(beyond_), off, beyond_)
    # and r scores more than the other rival, so that it is locally optimal
    gap, lead_ = TOP - GAMMA(s), GAMMA(r) - GAMMA(s)
    tight_s = cut(_flag(A(s) @ V - 1)[1], decide(eq(A(s) @ V - 1, 0), one))
    unlike = decide(eq(IS_ZERO(gap), 0), at(none_j, {j: s}), scale(tight_s, IS_ZERO(gap)))
    level_ = decide(eq(gap, 0), at(above, {other: s}), assume(gt(gap, 0).denied()))
    more = cases(
        assume(gt(gap, 0)), decide(gt(gap, 0), cut(_flag(gap)[1], level_), unlike), gt(gap, 0)
    )
    more = decide(gt(lead_, 0), more, assume(highest))
    sizes = decide(eq(ABS(lead_) - lead_, 0), more, *cite(SIZE, (), lead_))
    flags = cut(cite(INDICATOR, (), lead_)[1], more)
    behind = (add_up(unless_same(fact), s) for fact in (sizes, flags))
    rule = _known("else a rival with a solution is locally optimal")
    is_local = cut(rule, exists, off, decide(letters.behind(), *behind))
    less = decide(gt(TOP, GAMMA(r)), is_local, not_local)
    less = cases(less, assume(highest.denied()), highest)
    never = bounds(less, "most", GAMMA(r), r, assume(some_of_rivals(j)))
    goal = gt(SUPPORTS, 0)
    return cases(assume(goal), decide(goal, never), goal)


@linked
def prove_three() -> str:
    """Prove that the optimal choice is alone exactly if a rival of the largest score is tight."""
    claim = present(letters.alone(), "a claim")
    (lower,) = suppose(UNIQUE)
    three, best = Three(), Best()
    rival = Rival(three)
    ahead, lead_ = decide(gt(lead(j.term), 0), lower), lead(j.term)
    zero = cut(cite(INDICATOR, (), lead_)[1], ahead)
    leads = decide(eq(ABS(lead_) - lead_ + IS_ZERO(lead_), 0), *cite(SIZE, (), lead_), ahead, zero)
    first = cut(
        _known("it is locally optimal if it has a solution and scores more"), add_up(leads, j)
    )
    solved = _known("the best token is locally optimal only if it has a solution")
    none = _no_rival(three, rival, best, lower)
    some = cut(_some_support(three, rival, best), solved)
    conclude_each(claim, first, none, solved, some)
    return "for any d: <W^mm(r), W^mm> has both signs unless one solution has a margin above 1"
