"""Inequalities of the Att-SVM and of combinations of feasible matrices."""

from attsvm.data import AttentionData
from attsvm.primitives import programme_letters as letters
from attsvm.primitives import run_programs
from attsvm.primitives.att_svm import att_svm, constraints, of_rivals, pythagoras
from attsvm.theory import concludes, stated
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation
from properties.sim.definition_3_8.instances import Classified, Pointed, Shared

CONSTRAINTS = "A_j = (x_opt - x_t) z^T for each token t but the best of its input"


@concludes(letters.convex)
@stated(
    "t U + (1 - t) V with t = $weight meets all constraints and has $formula",
    r"\|t U + (1 - t) V\|^2 \le $lesser",
    {
        "lesser": {
            False: r"t \|U\|^2 + (1 - t) \|V\|^2",
            True: r"\min\left(\|U\|^2, \|V\|^2\right)",
        }
    },
)
def convex(m: Namespace, case: Pointed, weight: str = "0.5", lesser: bool = False) -> Relation:
    """t U + (1 - t) V meets the constraints; its squared norm is at most a mean of both squares."""
    A, points = constraints(m, case.data), m.values(case.points)
    U, V = m.vec(points[0]), m.vec(points[1])
    t = m.exact(weight) if isinstance(weight, str) else weight
    shorter = shorter_mean(m, U, V, t, lesser)
    least = m.at_least(m.min(A @ (t * U + (1 - t) * V)), 1) if len(A) else shorter
    return m.all_of(least, shorter)


def shorter_mean(
    m: Namespace, U: Numbers, V: Numbers, t: Number, lesser: bool = False
) -> Comparison:
    """Return that ||t U + (1 - t) V||^2 is at most the mean of ||U||^2 and ||V||^2.

    The mean has the weights t and 1 - t; with `lesser` the smaller one takes its place.
    """
    point, squares = t * U + (1 - t) * V, (U @ U, V @ V)
    mean = m.minimum(*squares) if lesser else t * squares[0] + (1 - t) * squares[1]
    return m.at_most(point @ point, mean)


@stated(
    "",
    "$by > $least",
    {"by": {"best": r"\frac{1}{\|X^{mm}\|}", "sum": r"\min_j \langle A_j, \sum_k A_k\rangle"}},
    where="1/||X^mm|| is 0 if there is no X^mm",
    checked=run_programs.target_is_there,
)
def exists(m: Namespace, data: AttentionData, by: str = "best", least: Number = 0) -> Comparison:
    """1/||X^mm||, or the least margin of the sum of the A_j, is above a bound."""
    svm = att_svm(m, data)
    margin = svm.margin
    if by == "sum" and len(svm.rows):
        margin = m.min(svm.rows @ m.sums(svm.rows.T))
    return m.below(least - margin, m.exact(0))  # a difference, whose slope a climb can follow


@concludes(letters.bounded)
@stated(
    "X^mm exists and $formula",
    r"\min_j \langle A_j, v u^\top\rangle \le $share \frac{\|u\| \|v\|}{\|X^{mm}\|}",
    where=f"{CONSTRAINTS}, and scores are y_i <v, x_it> with labels y_i of 1 or -1 and a head v",
)
def bounded(m: Namespace, case: Classified, share: Number = 1) -> Relation:
    """X^mm exists, and the least margin of v u^T is at most ||u|| ||v|| / ||X^mm||."""
    svm = att_svm(m, case.data)
    u, v = m.values(case.u), m.values(case.data.v)
    defined = m.above(svm.margin, 0)
    if not len(svm.rows):
        return defined
    least = m.min(svm.rows @ m.vec(m.outer(v, u)))
    return m.all_of(defined, m.at_most(least, share * (m.norm(u) * m.norm(v) * svm.margin)))


@concludes(letters.nearer)
@stated(
    "",
    r"\|V - X^{mm}\|^$power \le \|V\|^$power - \|X^{mm}\|^$power",
)
def nearer(m: Namespace, case: Pointed, power: int = 2) -> Comparison:
    """||V - X^mm||^2 <= ||V||^2 - ||X^mm||^2, or with norms that are not squared."""
    V, X = m.vec(m.values(case.points)[0]), att_svm(m, case.data).vector
    return pythagoras(m, V, X, power=power)


@concludes(letters.hull)
@stated(
    "",
    r"\frac{\sum_j s_j}{\|X^{mm}\|} \le \left\|\sum_j s_j A_j\right\|",
    where=f"{CONSTRAINTS}, and 1/||X^mm|| is 0 if there is no X^mm",
)
def hull(m: Namespace, case: Shared) -> Comparison:
    """sum_j s_j <= ||sum_j s_j A_j|| ||X^mm|| for shares s that are not divided by their sum."""
    svm, s = att_svm(m, case.data), of_rivals(m, case.data, case.shares)
    return m.at_most(m.sum(s) * svm.margin, m.norm(s @ svm.rows))
