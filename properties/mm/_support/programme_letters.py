"""The letters of linked proofs about the p-SVM, the v-SVM and the joint programme.

A programme has rows D_j and a body for each j, such as <D_j, X> - 1: X meets the programme if no
body is negative. Its solution is the shortest such X, and 0 if there is none. Sums and extremes run
over all rows, of which there may be none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq

from attsvm.theory.proof.facts import Proposition, Sequent, eq, ge, gt, some
from attsvm.theory.proof.lemmas import hull
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    INV,
    IS_ZERO,
    NORM,
    VECTOR,
    Function,
    Letter,
    Sort,
    Term,
    least,
    total,
)

X = Letter("X", VECTOR)
Q = Function("q", (), VECTOR)()
"""A vector q that conclusions compare with the solution."""


@dataclass(frozen=True, slots=True)
class Programme:
    """The letters of a programme.

    Attributes:
        j: a row; no sum or extreme runs over this letter.
        rows: the vectors D_j.
        solution: the solution.
        body: returns the term that is at least 0 for a vector that meets row j.
        name: its name in sentences.
    """

    j: Letter
    rows: Function
    solution: Term
    body: Callable[[Programme, Term, Letter], Term]
    name: str

    def at(self, x: Term, row: Letter | None = None) -> Term:
        """Return the body at a vector, for the row j unless another one is given."""
        return self.body(self, x, row or self.j)

    def met(self, x: Term) -> Proposition:
        """Return the proposition that a vector meets all rows, if there are rows."""
        row = Letter("row", self.j.sort)
        return ge(least(self.at(x, row), row), 0)

    def setting(self) -> dict[str, Sequent]:
        """Return what the solution is, each with a sentence."""
        of, meets, V = self.name, frozenset({self.met(X.term)}), self.solution
        none = frozenset({self.met(V).denied()})
        empty = frozenset({ge(0, total(1, self.j))})
        return {
            f"{of} meets each row if some vector meets all": Sequent(ge(self.at(V), 0), meets),
            f"no vector that meets all is shorter than {of}": Sequent(
                ge(X.term @ X.term, V @ V), meets
            ),
            f"{of} is 0 if it does not meet all": Sequent(eq(V @ V, 0), none),
            f"{of} is 0 if there are no rows": Sequent(eq(V @ V, 0), empty),
        }


def by_one(p: Programme, x: Term, row: Letter) -> Term:
    """Return <D_j, X> - 1."""
    return p.rows(row) @ x - 1


RIVAL, INPUT = Sort("rival", index=True), Sort("input", index=True)
_D, _E = Function("D", (RIVAL,), VECTOR), Function("E", (INPUT,), VECTOR)
BOUND = Function("b", (RIVAL,))
"""The bound of a row of the relaxed programme: 1 for inputs of tight margin, else 0."""


def by_bound(p: Programme, x: Term, row: Letter) -> Term:
    """Return <D_j, X> - b_j."""
    return p.rows(row) @ x - BOUND(row)


def if_bound(p: Programme, x: Term, row: Letter) -> Term:
    """Return b_j (<D_j, X> - 1), which is 0 for rows that are left out."""
    return BOUND(row) * (p.rows(row) @ x - 1)


def if_tight(p: Programme, x: Term, row: Letter) -> Term:
    """Return <D_j, X> - 1 for tight rows under V, and 0 for others."""
    return IS_ZERO(p.rows(row) @ _of_all(p) - 1) * (p.rows(row) @ x - 1)


def _of_all(p: Programme) -> Term:
    return PROMPT.solution if p.rows == _D else HEAD.solution


j, i = Letter("j", RIVAL), Letter("i", INPUT)
PROMPT = Programme(j, _D, Function("p", (), VECTOR)(), by_one, "p(alpha)")
HEAD = Programme(i, _E, Function("v", (), VECTOR)(), by_one, "v(alpha)")
RELAXED = Programme(j, _D, Function("p relaxed", (), VECTOR)(), by_bound, "the relaxed p(alpha)")
OF_SUPPORT = Programme(j, _D, Function("p_S", (), VECTOR)(), if_bound, "p_S")
TIGHT_PROMPT = Programme(j, _D, Function("p tight", (), VECTOR)(), if_tight, "p of tight rows")
TIGHT_HEAD = Programme(i, _E, Function("v tight", (), VECTOR)(), if_tight, "v of tight rows")
LABEL = Function("Y", (RIVAL,))
"""The label of the input of a row."""
BOUNDS = {
    "a bound is 0 or 1": Sequent(eq(BOUND(j) * (1 - BOUND(j)), 0)),
    "a bound is at least 0": Sequent(ge(BOUND(j), 0)),
    "a bound is at most 1": Sequent(ge(1, BOUND(j))),
}
LABELS = {"a label is 1 or -1": Sequent(eq(LABEL(j) ** 2, 1))}
INPUTS = {"there is an input": Sequent(some(i))}


NEAREST, DISTANCE = Function("share of a row", (RIVAL,)), Function("dist(0, C)")()
"""The weight of a row in the point of C that is nearest to 0, and the distance of this point."""


REST, SLOW, TAU = Function("idle", (RIVAL,)), Letter("slow", VECTOR), Letter("tau")
"""1 if the input of a row is idle, else 0; any prompt, and any number."""


def number(share: object) -> fmpq:
    """Return a constant of a reading as a rational."""
    ratio = Fraction(str(share))
    return fmpq(ratio.numerator, ratio.denominator)


def rows_met(p: Programme) -> Callable[[], list[Sequent]]:
    """Return what it means that a programme has a solution: the solution meets each row."""
    return lambda: [Sequent(ge(p.at(p.solution), 0))]


# hypotheses


def q_meets() -> list[Sequent]:
    """Return the fact that q meets each row of the p-SVM."""
    return [Sequent(ge(PROMPT.at(Q), 0))]


def alone() -> list[Sequent]:
    """Return the fact that the lead of a selected token in score is positive."""
    return [Sequent(gt(LABEL(j) * (_D(j) @ Q), 0))]


def one_label() -> list[Sequent]:
    """Return the fact that any two labels are the same."""
    return [Sequent(eq(LABEL(j), LABEL(Letter("other", RIVAL))))]


def ranked() -> list[Sequent]:
    """Return the facts that p_S meets its rows, and that no margin under it is negative."""
    return [*rows_met(OF_SUPPORT)(), Sequent(ge(_D(j) @ OF_SUPPORT.solution, 0))]


def saturated() -> list[Sequent]:
    """Return the fact that no prompt has margins of tau in inputs that are not idle, but tau - 1.

    More exactly, if its margins are at least tau in these inputs and at least 0 in idle ones, they
    are above tau - 1 in idle inputs.
    """
    row = Letter("row", RIVAL)
    margins = ge(least(_D(row) @ SLOW.term - TAU.term * (1 - REST(row)), row), 0)
    return [Sequent(gt(_D(j) @ SLOW.term, TAU.term - 1), frozenset({margins, gt(REST(j), 0)}))]


# conclusions


def is_distance(p: Programme) -> Callable[..., Said | None]:
    """Return the claim that 1/||V|| is a share of the distance of the hull of the rows from 0.

    It is about programmes that have rows.
    """

    def says(share: object = 1, of: str = "hull") -> Said | None:
        row = Letter("row", p.j.sort)
        equal = eq(INV(NORM(p.solution)), hull(p.rows(row), row) * number(share))
        return (
            Said((Sequent(equal, frozenset({some(p.j)})),), p.setting()) if of == "hull" else None
        )

    return says


def exists_off_hull(share: object = 1, of: str = "hull") -> Said | None:
    """Return the claims that a margin of v(alpha) is 1, and that 1/||p|| is a share of dist(0, C).

    Here p is the relaxed solution. C is a closed convex set, so that it has a point nearest to 0.
    It is empty if all bounds are 0, and the second claim is about other programmes.
    """
    if of != "hull":
        return None
    row, point = Letter("row", INPUT), total(NEAREST(j) * _D(j), j)
    wanted = frozenset({gt(total(BOUND(j), j), 0)})
    claims = (
        Sequent(eq(least(HEAD.rows(row) @ HEAD.solution, row), 1)),
        Sequent(eq(INV(NORM(RELAXED.solution)), DISTANCE * number(share)), wanted),
    )
    nearest = {
        "weights of the point nearest to 0 are at least 0": ge(NEAREST(j), 0),
        "those of rows of bound 1 add up to 1": eq(total(NEAREST(j) * BOUND(j), j), 1),
        "its distance from 0 is that of C": eq(NORM(point), DISTANCE),
        "C is beyond it": ge(point @ _D(j), BOUND(j) * (point @ point)),
    }
    known = {words: Sequent(one, wanted) for words, one in nearest.items()}
    return Said(claims, {**RELAXED.setting(), **HEAD.setting(), **BOUNDS, **INPUTS, **known})


def nearer(share: object = 1) -> Said:
    """Return the claim share ||q - p(alpha)||^2 <= ||q||^2 - ||p(alpha)||^2."""
    return Said((_pythagoras(Q, PROMPT.solution, share),), PROMPT.setting())


def shorter(share: object = 1) -> Said:
    """Return the claim share ||p_0 - p||^2 <= ||p_0||^2 - ||p||^2 for p_0 without relaxation."""
    pair = PROMPT.solution, RELAXED.solution
    return Said((_pythagoras(*pair, share),), {**RELAXED.setting(), **BOUNDS})


def _pythagoras(V: Term, x: Term, share: object) -> Sequent:
    return Sequent(ge(V @ V - x @ x, (V - x) @ (V - x) * number(share)))


def by_support(share: object = 1, against: str = "relaxed") -> Said | None:
    """Return the claims that v(alpha) exists and that the relaxed p is a multiple of p_S."""
    apart = RELAXED.solution - OF_SUPPORT.solution * number(share)
    says = Sequent(gt(INV(NORM(HEAD.solution)), 0)), Sequent(eq(apart @ apart, 0))
    known = {**RELAXED.setting(), **OF_SUPPORT.setting(), **BOUNDS, **INPUTS}
    return Said(says, known) if against == "relaxed" else None


def void(share: object = 1) -> Said:
    """Return the claim that the relaxed solution is a share of p(alpha), or that neither exists."""
    apart = RELAXED.solution - PROMPT.solution * number(share)
    idle = Sequent(eq((1 - REST(j)) * (1 - BOUND(j)), 0), frozenset({HEAD.met(HEAD.solution)}))
    known = {
        "an input is idle or not": Sequent(eq(REST(j) * (1 - REST(j)), 0)),
        "an input that is not tight is idle": idle,
    }
    says = (Sequent(eq(apart @ apart, 0)),)
    return Said(says, {**RELAXED.setting(), **PROMPT.setting(), **BOUNDS, **INPUTS, **known})


def led(share: object = 1) -> Said:
    """Return the claims that p(alpha) exists and the least lead is at most ||q||/||p(alpha)||.

    They are about programmes that have rows.
    """
    row, size = Letter("row", RIVAL), INV(NORM(PROMPT.solution))
    lead = least(LABEL(row) * (_D(row) @ Q), row)
    claims = gt(size, 0), ge(size * NORM(Q) * number(share), lead)
    rows = frozenset({some(j)})
    return Said(tuple(Sequent(x, rows) for x in claims), {**PROMPT.setting(), **LABELS})


def best(share: object = 1, length: str = "norm") -> Said | None:
    """Return the claim that the least margin of q is at most ||q||/||v(alpha)||, or 0."""
    row = Letter("row", INPUT)
    claim = ge(INV(NORM(HEAD.solution)) * NORM(Q) * number(share), least(HEAD.rows(row) @ Q, row))
    return Said((Sequent(claim),), {**HEAD.setting(), **INPUTS}) if length == "norm" else None


def unchanged(p: Programme, tight: Programme) -> Callable[..., Said | None]:
    """Return the claims that there is a solution, and that tight rows alone have the same one."""

    def says(keep: str = "tight") -> Said | None:
        apart = tight.solution - p.solution
        claims = (
            Sequent(gt(INV(NORM(p.solution)), 0), frozenset({some(p.j)})),
            Sequent(eq(apart @ apart, 0)),
        )
        return Said(claims, {**p.setting(), **tight.setting()}) if keep == "tight" else None

    return says
