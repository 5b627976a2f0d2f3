"""The v-SVM, the p-SVM and the relaxed one: existence, distance, uniqueness, support.

The letters are those of `properties.mm._support.programme_letters`. V is the solution of a
programme, the shortest vector that meets all its rows, or 0 if none does. So proofs hold for any
number of inputs and tokens, in any dimension.
"""

from attsvm.errors import present
from attsvm.theory.proof.facts import Fact, eq, ge, gt, some
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, INDICATOR, LENGTH, NEAREST, RECIPROCAL
from attsvm.theory.proof.linked import Said, linked, setting, suppose
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
    inside,
    scale,
    square,
)
from attsvm.theory.proof.terms import INV, NORM, Letter, Term, as_term, least, total
from properties.mm._support import programme_letters as letters
from properties.mm._support.max_margin import P_EXISTS, V_EXISTS
from properties.mm._support.programme_letters import (
    BOUND,
    HEAD,
    LABEL,
    OF_SUPPORT,
    PROMPT,
    RELAXED,
    REST,
    SLOW,
    TAU,
    Programme,
    Q,
    X,
)
from properties.mm.assumption_b.conclusion import SATURATED
from properties.mm.joint_svm import conclusion as joint_svm
from properties.mm.p_svm.conclusion import ALONE, MEETS, ONE_LABEL
from symbolic import facts
from symbolic.facts import conclude_each, product
from symbolic.tight_rows import between

HOLE = Letter("hole")


class Solved:
    """Facts of the setting of a conclusion on the solution of a programme."""

    def __init__(self, p: Programme, stated: Said) -> None:
        self.p, self.stated, self.V = p, stated, p.solution

    def fact(self, words: str) -> Fact:
        """Return the fact of the setting with these words."""
        return setting(self.stated.setting, words)

    def met(self, x: Term, each: Fact, rows: Fact) -> Fact:
        """Return that a vector meets all rows, as it meets each and there are rows."""
        row = Letter("row", self.p.j.sort)
        return bounds(at(each, {self.p.j: row}), "least", self.p.at(x, row), row, rows)

    def meets(self, by: Term, met: Fact) -> Fact:
        """Return that the solution meets each row, as the vector `by` meets all."""
        fact = self.fact(f"{self.p.name} meets each row if some vector meets all")
        return cut(fact_at(fact, by), met)

    def shorter(self, than: Term, met: Fact) -> Fact:
        """Return that the solution is no longer than a vector that meets all rows."""
        fact = self.fact(f"no vector that meets all is shorter than {self.p.name}")
        return cut(at(fact, {X: than}), met)

    def none(self, assumed: Fact) -> Fact:
        """Return that the solution is 0, as there are no rows."""
        return cut(self.fact(f"{self.p.name} is 0 if there are no rows"), assumed)


def fact_at(fact: Fact, x: Term) -> Fact:
    """Return a fact about X, and its assumption, for a given vector in place of X."""
    return at(fact, {X: x})


def inward(of: Solved, to: Term, meets: Fact, reached: Fact, rows: Fact) -> Fact:
    """Return that <V, U - V> >= 0 for a vector U that meets all rows.

    Args:
        of: the programme of V.
        to: U.
        meets: V meets each row.
        reached: U meets each row.
        rows: there is a row.
    """

    def stays(moved: Term, part: Fact, rest: Fact) -> Fact:
        each = decide(ge(of.p.at(moved), 0), rest, meets, part, reached)
        return of.shorter(moved, of.met(moved, each, rows))

    return facts.inward(of.V, to, of.shorter(to, of.met(to, reached, rows)), stays)


def without_rows(of: Solved, rows: Fact, x: Term) -> Fact:
    """Return that <V, x> = 0, as there are no rows and V = 0."""
    return of_zero(of, of.none(rows), x)


def of_zero(of: Solved, none: Fact, x: Term) -> Fact:
    """Return that <V, x> = 0, as <V, V> = 0."""
    length = decide(eq(NORM(of.V), 0), cite(LENGTH, (), of.V)[1], none)
    (up,), (down,) = cite(CAUCHY_SCHWARZ, (), of.V, x), cite(CAUCHY_SCHWARZ, (), of.V, -x)
    zeros = scale(length, NORM(x)), scale(length, NORM(-x))
    return decide(eq(of.V @ x, 0), up, down, *zeros, degree=1)


def pythagoras(of: Solved, to: Term, reached: Fact) -> Fact:
    """Return that ||U - V||^2 <= ||U||^2 - ||V||^2 for a vector U that meets all rows."""
    V, shift = of.V, to - of.V
    condition, goal = some(of.p.j), ge(to @ to - V @ V, shift @ shift)
    rows, empty = assume(condition), assume(condition.denied())
    meets = of.meets(to, of.met(to, reached, rows))
    along = inward(of, to, meets, reached, rows)
    zero = without_rows(of, empty, to)
    return cases(decide(goal, along), decide(goal, zero, of.none(empty)), condition)


@linked
def prove_nearer() -> str:
    """Prove that ||q - p||^2 <= ||q||^2 - ||p||^2 for a q that meets all rows."""
    stated = letters.nearer()
    (reached,) = suppose(MEETS)
    conclude_each(stated, pythagoras(Solved(PROMPT, stated), Q, reached))
    return "in any dimension, by <p, q - p> >= 0"


@linked
def prove_shorter() -> str:
    """Prove ||p_0 - p||^2 <= ||p_0||^2 - ||p||^2 for p_0 = p(alpha) and the relaxed solution p."""
    stated = letters.shorter()
    (reached,) = suppose(joint_svm.P_EXISTS)
    loose = decide(
        ge(RELAXED.at(PROMPT.solution), 0), reached, setting(stated.setting, "a bound is at most 1")
    )
    conclude_each(stated, pythagoras(Solved(RELAXED, stated), PROMPT.solution, loose))
    return "in any dimension, by <p, p_0 - p> >= 0"


def inverse_sign(x: Term, sign: Fact) -> Fact:
    """Return that Inv(x) >= 0, as x >= 0; Inv(0) is 0."""
    goal, condition = ge(INV(x), 0), gt(x, 0)
    yes, no = assume(condition), assume(condition.denied())
    positive_ = decide(goal, cite(RECIPROCAL, [yes], x)[1])
    zero = decide(eq(x, 0), sign, no)
    same = inside(zero, x, as_term(0), INV(HOLE.term), HOLE)
    return cases(positive_, decide(goal, same), condition)


def some_length(of: Solved, meets: Fact, rows: Fact) -> Fact:
    """Return that ||V|| > 0, as V meets each row with bound 1 and there are rows."""
    row = of.p.rows(of.p.j)
    (above,), (length, _) = cite(CAUCHY_SCHWARZ, (), row, of.V), cite(LENGTH, (), row)
    return decide(gt(NORM(of.V), 0), above, meets, length, rows)


def not_zero(of: Solved, meets: Fact, rows: Fact) -> tuple[Fact, Fact]:
    """Return that ||V|| > 0, and 1/||V||, as V meets each row with bound 1 and there are rows."""
    far = some_length(of, meets, rows)
    return far, cite(RECIPROCAL, [far], NORM(of.V))[1]


def scaled(
    of: Solved, lead: Term, x: Term, each: Fact, some_lead: Fact, rows: Fact
) -> tuple[Fact, Fact]:
    """Return that V meets each row, and that lead ||V|| <= ||x||, as x/lead meets each row.

    Args:
        of: the programme.
        lead: a number.
        x: a vector.
        each: <D_j, x> is at least the number.
        some_lead: the number is positive.
        rows: there is a row.
    """
    unit, inverse = cite(RECIPROCAL, [some_lead], lead)
    reached = decide(ge(of.p.at(x * INV(lead)), 0), inverse, each, unit)
    met = of.met(x * INV(lead), reached, rows)
    meets, shorter_ = of.meets(x * INV(lead), met), of.shorter(x * INV(lead), met)
    squared = decide(gt(lead**2, 0), some_lead)
    (x_size, x_square), (_, square_) = cite(LENGTH, (), x), cite(LENGTH, (), of.V)
    return meets, decide(
        ge(NORM(x), lead * NORM(of.V)),
        *(squared, shorter_, scale(unit, (lead * INV(lead) + 1) * (x @ x)), x_size, x_square),
        scale(square_, lead**2),
    )


@linked
def prove_largest_margin() -> str:
    """Prove that the least margin of q is at most ||q||/||v(alpha)||, or 0 without v(alpha)."""
    stated = present(letters.best(), "what is shown")
    of = Solved(HEAD, stated)
    rows, row = of.fact("there is an input"), Letter("row", HEAD.j.sort)
    lead = least(HEAD.rows(row) @ Q, row)
    condition, goal = gt(lead, 0), ge(INV(NORM(of.V)) * NORM(Q), lead)
    yes, no = assume(condition), assume(condition.denied())
    each = beyond("least", HEAD.rows(HEAD.j) @ Q, HEAD.j)
    meets, longer = scaled(of, lead, Q, each, yes, rows)
    far, inverse = not_zero(of, meets, rows)
    unit, _ = cite(RECIPROCAL, [far], NORM(of.V))
    reached = decide(goal, inverse, longer, scale(unit, lead))
    size, q_size = cite(LENGTH, (), of.V)[0], cite(LENGTH, (), Q)[0]
    conclude_each(
        stated, cases(reached, decide(goal, inverse_sign(NORM(of.V), size), q_size, no), condition)
    )
    return "in any dimension, by q over its least margin"


@linked
def prove_led() -> str:
    """Prove that, if all labels are Y, the least lead under q is at most ||q||/||p(alpha)||.

    The reason is that Y q over its least lead meets all rows, so that p(alpha) exists.
    """
    stated = letters.led()
    of, j, row = Solved(PROMPT, stated), PROMPT.j, Letter("row", PROMPT.j.sort)
    rows, D = assume(some(j)), PROMPT.rows
    (alone,), (one,) = suppose(ALONE), suppose(ONE_LABEL)
    lead, y = least(LABEL(row) * (D(row) @ Q), row), least(LABEL(row), row)
    some_lead = bounds(at(alone, {j: row}), "least", LABEL(row) * (D(row) @ Q), row, rows)
    # all labels are the least one, y
    other = decide(ge(LABEL(row), LABEL(j)), at(one, {Letter("other", j.sort): row}))
    above = bounds(other, "least", LABEL(row), row, rows)
    same = decide(eq(LABEL(j), y), above, beyond("least", LABEL(j), j))
    label = setting(stated.setting, "a label is 1 or -1")
    unit = decide(eq(y**2, 1), label, scale(same, LABEL(j) + y), rows)
    each = decide(
        ge(D(j) @ (y * Q), lead),
        *(beyond("least", LABEL(j) * (D(j) @ Q), j), scale(same, D(j) @ Q)),
    )
    meets, longer = scaled(of, lead, y * Q, each, some_lead, rows)
    far, inverse = not_zero(of, meets, rows)
    (_, turned), (size, square_) = cite(LENGTH, (), y * Q), cite(LENGTH, (), Q)
    whole, _ = cite(RECIPROCAL, [far], NORM(of.V))
    longer = decide(
        ge(NORM(Q), lead * NORM(of.V)), longer, turned, size, square_, scale(unit, Q @ Q)
    )
    reached = decide(ge(INV(NORM(of.V)) * NORM(Q), lead), inverse, longer, scale(whole, lead))
    conclude_each(stated, inverse, reached)
    return "in any dimension, by Y q over its least lead"


@linked
def prove_distance() -> str:
    """Prove that 1/||p(alpha)|| is the distance of the hull from 0, by its nearest point."""
    return _of_hull(PROMPT, letters.is_distance(PROMPT)())


@linked
def prove_distance_of_head() -> str:
    """Prove that 1/||v(alpha)|| is the distance of the hull from 0, by its nearest point."""
    return _of_hull(HEAD, letters.is_distance(HEAD)())


@linked
def prove_off_hull() -> str:
    """Prove that a margin of v(alpha) is 1, and that 1/||p|| is the distance of C from 0.

    C is the hull of the rows of bound 1 plus the cone of the others, and p the relaxed solution.
    """
    stated = present(letters.exists_off_hull(), "what is shown")
    head, row, j = Solved(HEAD, stated), Letter("row", HEAD.j.sort), RELAXED.j
    (meets,), some_input = suppose(V_EXISTS), head.fact("there is an input")
    lead = least(HEAD.rows(row) @ head.V, row)
    high = bounds(at(meets, {HEAD.j: row}), "least", HEAD.rows(row) @ head.V, row, some_input)
    each = beyond("least", HEAD.rows(HEAD.j) @ head.V, HEAD.j)
    some_lead = decide(gt(lead, 0), high)
    unit, inverse = cite(RECIPROCAL, [some_lead], lead)
    shrunk, size = head.V * INV(lead), head.V @ head.V
    reached = head.met(shrunk, decide(ge(HEAD.at(shrunk), 0), inverse, each, unit), some_input)
    longer = decide(
        ge(size, lead**2 * size),
        *(decide(gt(lead**2, 0), some_lead), head.shorter(shrunk, reached)),
        scale(unit, (lead * INV(lead) + 1) * size),
    )
    far = some_length(head, meets, some_input)
    far = decide(gt(size, 0), far, cite(LENGTH, (), head.V)[1])
    low = decide(ge(1, lead**2), longer, far)
    some_bound = assume(gt(total(BOUND(j), j), 0))
    rows = decide(some(j), add_up(head.fact("a bound is at most 1"), j), some_bound)
    weight, one, nearest, ahead = (
        cut(head.fact(words), some_bound)
        for words in (
            "weights of the point nearest to 0 are at least 0",
            "those of rows of bound 1 add up to 1",
            "its distance from 0 is that of C",
            "C is beyond it",
        )
    )
    same = _distance(Solved(RELAXED, stated), rows, BOUND(j), (weight, one, nearest, ahead))
    conclude_each(stated, decide(eq(lead, 1), high, low), same)
    return "for any number of inputs, tokens and axes, by the point of C that is nearest to 0"


def _of_hull(p: Programme, claim: Said | None) -> str:
    stated = present(claim, "what is shown")
    j, row = p.j, Letter("row", p.j.sort)
    rows = assume(some(j))
    weight, one, nearest, ahead = cite(NEAREST, [rows], f"weights of {p.name}", p.rows(row), row)
    weight, ahead = (at(f, {row: j}) for f in (weight, ahead))
    of = Solved(p, stated)
    conclude_each(stated, _distance(of, rows, as_term(1), (weight, one, nearest, ahead)))
    return "for any number of rows and axes, by the point of the hull that is nearest to 0"


def _distance(of: Solved, rows: Fact, b: Term, point: tuple[Fact, Fact, Fact, Fact]) -> Fact:
    """Return that 1/||V|| is the distance of C from 0, by the nearest point Z = sum_j w_j D_j.

    Args:
        of: the programme of V.
        rows: there is a row.
        b: the bound of row j.
        point: that w_j >= 0, that sum_j b_j w_j = 1, that ||Z|| is the distance, and that
            <Z, D_j> >= b_j ||Z||^2.
    """
    (weight, one, nearest, ahead), p, j, V = point, of.p, of.p.j, of.V
    D, w = p.rows(j), weight.proposition.term
    Z = total(w * D, j)
    z = NORM(Z) - nearest.proposition.term
    z_norm, z_square = cite(LENGTH, (), Z)
    square_ = decide(eq(Z @ Z, z**2), z_square, scale(nearest, NORM(Z) + z))
    _, V_square = cite(LENGTH, (), V)
    (short,) = cite(CAUCHY_SCHWARZ, (), V, Z)
    goal, condition = eq(INV(NORM(V)), z), gt(z, 0)
    yes, no = assume(condition), assume(condition.denied())
    # if z > 0, Z/z^2 meets all rows, and ||V|| = 1/z
    unit, inverse = cite(RECIPROCAL, [yes], z)
    x = Z * INV(z) ** 2
    reached = decide(
        ge(p.at(x), 0),
        *(square(INV(z)), ahead),
        *(scale(square_, b * INV(z) ** 2), scale(unit, b * (z * INV(z) + 1))),
    )
    met = of.met(x, reached, rows)
    meets, shorter_ = of.meets(x, met), of.shorter(x, met)
    far = decide(
        ge(NORM(V), INV(z)),
        *(inverse, add_up(product(weight, meets), j), one, short, scale(nearest, NORM(V))),
        scale(unit, NORM(V)),
    )
    powers = scale(square_, INV(z) ** 4), scale(unit, (z * INV(z) + 1) * INV(z) ** 2)
    same = decide(eq(NORM(V), INV(z)), far, shorter_, *powers, V_square, inverse)
    same = inside(same, NORM(V), INV(z), INV(HOLE.term), HOLE)
    # if z = 0, V cannot meet all rows, and is 0
    zero, whole = decide(eq(z, 0), z_norm, nearest, no), p.met(V)
    some_, none = assume(whole), assume(whole.denied())
    each = decide(ge(p.at(V), 0), some_, beyond("least", p.at(V), j))
    refuted = decide(
        goal,
        *(add_up(product(weight, each), j), one, short, scale(nearest, NORM(V))),
        scale(zero, NORM(V)),
    )
    gone = cut(of.fact(f"{p.name} is 0 if it does not meet all"), none)
    gone = decide(eq(NORM(V), 0), gone, V_square)
    gone = inside(gone, NORM(V), as_term(0), INV(HOLE.term), HOLE)
    lost = cases(refuted, decide(goal, gone, zero), whole)
    return cases(decide(goal, same), lost, condition)


@linked
def prove_supported() -> str:
    """Prove that the shortest vector for the tight rows of the p-SVM alone is p(alpha)."""
    return _supported(PROMPT, letters.TIGHT_PROMPT, suppose(P_EXISTS)[0])


@linked
def prove_supported_head() -> str:
    """Prove that the shortest vector for the tight rows of the v-SVM alone is v(alpha)."""
    return _supported(HEAD, letters.TIGHT_HEAD, suppose(V_EXISTS)[0])


def _supported(p: Programme, tight: Programme, meets: Fact) -> str:
    stated = present(letters.unchanged(p, tight)(), "what is shown")
    of, kept, j = Solved(p, stated), Solved(tight, stated), p.j
    V, U, D = p.solution, tight.solution, p.rows(j)
    condition, shift = some(j), U - V
    rows, empty = assume(condition), assume(condition.denied())
    # V meets the tight rows, so that U exists and is no longer
    first = decide(ge(tight.at(V), 0), cite(INDICATOR, (), D @ V - 1)[3], meets)
    met = kept.met(V, first, rows)
    reached, shorter_ = kept.meets(V, met), kept.shorter(V, met)
    t, part, less, each = between(p, meets, reached, shift, rows)
    stays = of.shorter(V + t * shift, of.met(V + t * shift, each, rows))
    gain = decide(ge(t * (shift @ shift) + 2 * (V @ shift), 0), stays, part)
    _, square_ = cite(LENGTH, (), shift)
    alike = decide(eq(shift @ shift, 0), gain, shorter_, square_, square(NORM(shift)), less)
    gone = decide(
        eq(shift @ shift, 0), without_rows(of, empty, U), of.none(empty), kept.none(empty)
    )
    conclude_each(stated, not_zero(of, meets, rows)[1], cases(alike, gone, condition))
    return "in any dimension: near V only tight rows restrict"


@linked
def prove_of_support() -> str:
    """Prove that p_S, if it meets all margins of the relaxed programme, is its solution.

    p_S is the solution for the rows of tight inputs alone.
    """
    stated = present(letters.by_support(), "what is shown")
    of, part, head = (Solved(p, stated) for p in (RELAXED, OF_SUPPORT, HEAD))
    condition, R, S = some(RELAXED.j), RELAXED.solution, OF_SUPPORT.solution
    rows, empty = assume(condition), assume(condition.denied())
    (v_meets,), (s_meets, ranked) = suppose(V_EXISTS), suppose(joint_svm.RANKS)
    bound, positive_, at_most = (setting(stated.setting, words) for words in letters.BOUNDS)
    # p_S meets all rows of the relaxed programme, and its solution those of S
    loose = decide(ge(RELAXED.at(S), 0), s_meets, at_most, ranked)
    met = of.met(S, loose, rows)
    r_meets = of.meets(S, met)
    tight = decide(ge(OF_SUPPORT.at(R), 0), positive_, r_meets, bound)
    longer = part.shorter(R, part.met(R, tight, rows))
    along = inward(of, S, r_meets, loose, rows)
    goal = eq((R - S) @ (R - S), 0)
    size = square(NORM(R - S))
    same = decide(goal, longer, along, cite(LENGTH, (), R - S)[1], size)
    gone = decide(goal, without_rows(of, empty, S), of.none(empty), part.none(empty))
    exists = not_zero(head, v_meets, setting(stated.setting, "there is an input"))[1]
    conclude_each(stated, exists, cases(same, gone, condition))
    return "in any dimension: p_S is the shortest vector with fewer demands"


@linked
def prove_void() -> str:
    """Prove that the relaxed solution p' is p(alpha) if no idle input is the slowest to saturate.

    Were a margin mu of p' below 1, p'/(1 - mu) would have margins of at least tau = 1/(1 - mu) in
    inputs that are not idle, and tau - 1 here.
    """
    stated = letters.void()
    of, full, j = Solved(RELAXED, stated), Solved(PROMPT, stated), RELAXED.j
    R, P = RELAXED.solution, PROMPT.solution
    condition, goal = some(j), eq((R - P) @ (R - P), 0)
    rows, empty = assume(condition), assume(condition.denied())
    at_least, at_most = (of.fact(f"a bound is at {words}") for words in ("least 0", "most 1"))
    whole, exists = assume(RELAXED.met(R)), assume(RELAXED.met(R).denied())
    r_meets = decide(ge(RELAXED.at(R), 0), whole, beyond("least", RELAXED.at(R), j))
    # p' has margins of at least 1
    reached = _margins_of_one(of, r_meets, at_least, rows)
    met = full.met(R, reached, rows)
    longer = full.shorter(R, met)
    loose = decide(ge(RELAXED.at(P), 0), full.meets(R, met), at_most)
    along = inward(of, P, r_meets, loose, rows)
    same = decide(goal, longer, along, cite(LENGTH, (), R - P)[1], square(NORM(R - P)))
    # if there is no p', there is no p(alpha)
    zero = cut(of.fact(f"{RELAXED.name} is 0 if it does not meet all"), exists)
    some_p, no_p = assume(PROMPT.met(P)), assume(PROMPT.met(P).denied())
    each = decide(ge(PROMPT.at(P), 0), some_p, beyond("least", PROMPT.at(P), j))
    each = decide(ge(RELAXED.at(P), 0), each, at_most)
    again = of.meets(P, of.met(P, each, rows))
    refuted = decide(goal, of.met(R, again, rows), exists)
    gone = cut(full.fact(f"{PROMPT.name} is 0 if it does not meet all"), no_p)
    lost = cases(refuted, decide(goal, of_zero(of, zero, P), zero, gone), PROMPT.met(P))
    none = decide(goal, without_rows(of, empty, P), of.none(empty), full.none(empty))
    conclude_each(stated, cases(cases(same, lost, RELAXED.met(R)), none, condition))
    return "in any dimension: p' has margins of 1 everywhere, and is the least such vector"


def _margins_of_one(of: Solved, meets: Fact, at_least: Fact, rows: Fact) -> Fact:
    """Return that p' has margins of at least 1, as no idle input is the slowest to saturate.

    Args:
        of: the relaxed programme, with its solution p'.
        meets: that p' meets each row of the relaxed programme.
        at_least: that a bound is at least 0.
        rows: there is a row.
    """
    (v_meets,), (slow,) = suppose(V_EXISTS), suppose(SATURATED)
    j, R, i = RELAXED.j, of.V, Letter("row", HEAD.j.sort)
    D, row = RELAXED.rows(j), Letter("row", j.sort)
    some_input = of.fact("there is an input")
    head = bounds(at(v_meets, {HEAD.j: i}), "least", HEAD.at(HEAD.solution, i), i, some_input)
    not_tight = cut(of.fact("an input that is not tight is idle"), head)
    idle = of.fact("an input is idle or not")
    some_rest = decide(ge(REST(j), 0), idle)
    # margins of inputs that are not idle are at least 1
    low = decide(ge(D @ R, 1 - REST(j)), meets, not_tight, product(some_rest, at_least))
    goal = ge(PROMPT.at(R), 0)
    no = assume(goal.denied())
    unit, inverse = cite(RECIPROCAL, [no], 1 - D @ R)
    share = INV(1 - D @ R)
    k = Letter("k", j.sort)
    other = at(inverse, {j: k})
    tau = INV(1 - RELAXED.rows(k) @ R)
    scaled_ = product(other, at(low, {j: row}))
    margins = bounds(
        scaled_, "least", RELAXED.rows(row) @ (R * tau) - tau * (1 - REST(row)), row, rows
    )
    rest = assume(gt(REST(j), 0))
    saturated = cut(at(slow, {SLOW: R * share, TAU: share}), at(margins, {k: j}), rest)
    refuted = decide(goal, saturated, unit)
    whole = decide(goal, low, assume(gt(REST(j), 0).denied()))
    return cases(assume(goal), cases(refuted, whole, gt(REST(j), 0)), goal)
