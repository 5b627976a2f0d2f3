"""The cost of X^mm compared with that of a rival, at a price of slack."""

from collections.abc import Hashable, Sequence

from flint import fmpq

from attsvm.exact import dot, rational
from attsvm.primitives import programme_letters as letters
from attsvm.primitives import run_programs
from attsvm.primitives.att_svm import AttSVM, Token, att_svm, constraints
from attsvm.theory import concludes, stated
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation, Values
from properties.sim.definition_4_1.instances import Queried, Soft, shares, soft_of
from properties.sim.definition_4_1.prices import price


def slack_sum(
    m: Namespace, A: Numbers, V: Numbers, slacks: Sequence[Hashable] | None = None
) -> Number:
    """Return the sum of the slacks max(0, 1 - <A_j, V>); constraints with one slack count once.

    A shared slack is the largest one that its constraints need.
    """
    zero = m.exact(0)
    largest: dict[Hashable, Number] = {}
    for j, margin in enumerate(A @ V if len(A) else ()):
        key = j if slacks is None else slacks[j]
        largest[key] = m.maximum(largest.get(key, zero), 1 - margin)
    return m.sum(m.array([zero, *largest.values()]))


def compared(m: Namespace, case: Soft | Queried) -> tuple[AttSVM, Numbers, Number]:
    """Return the Att-SVM, the rival V and the sum of its slacks."""
    soft = soft_of(case)
    svm = att_svm(m, soft.data)
    V = m.vec(m.values(soft.move))
    V = V + svm.vector if soft.keep else V
    return svm, V, slack_sum(m, svm.rows, V, shares(case) if isinstance(case, Queried) else None)


SLACKS = (
    "V is any matrix, and xi_j >= 0 the least slack with <A, V> >= 1 - xi_j for its constraints A"
)


@run_programs.traces
@stated(
    "",
    r"\|X^{mm}\| \le \|V\| + $C \sum_j \xi_j",
    where=SLACKS,
)
def at_price(m: Namespace, case: Soft | Queried, C: Number = 10) -> Comparison:
    svm, V, slack = compared(m, case)
    return m.at_most(m.norm(svm.vector), m.norm(V) + C * slack)


def largest_multiplier(case: Soft | Queried, duals: dict[Token, fmpq], together: bool) -> fmpq:
    """Return the largest multiplier, or with `together` the largest sum over one slack."""
    sums: dict[Hashable, fmpq] = {}
    for slack, (place, w) in zip(shares(case), duals.items(), strict=True):
        key = slack if together else place
        sums[key] = sums.get(key, fmpq(0)) + w
    return max(sums.values())


@concludes(letters.at_least_price)
@run_programs.traces
@stated(
    "X^mm minimises ||V|| + C sum_j xi_j for C = lambda/||X^mm||, lambda the largest $together of "
    "X^mm, whichever multipliers are taken: $formula",
    r"\|X^{mm}\|^2 \le \|V\| \|X^{mm}\| + $share \lambda \sum_j \xi_j",
    {"together": {True: "sum of multipliers that share a slack", False: "multiplier"}},
    where=SLACKS,
)
def at_least_price(
    m: Namespace, case: Soft | Queried, share: Number = 1, together: bool = True
) -> Comparison:
    svm, V, slack = compared(m, case)
    if svm.weights is None:  # there is no X^mm
        return m.above(svm.margin, 0)
    if svm.exact is None:  # a batch, in which each constraint has a slack of its own
        largest = m.max(svm.weights)
    else:
        largest = m.values(largest_multiplier(case, svm.exact.duals, together))
    return worth(m, svm.vector, V, share * largest * slack)


def worth(m: Namespace, X: Numbers, V: Numbers, paid: Number) -> Comparison:
    """Return that ||X||^2 <= ||V|| ||X|| + paid; `paid` is ||X|| times the price of V's slack."""
    # if both sides are equal, V is a multiple of X^mm, and the root is rational
    return m.at_most(X @ X, m.sqrt((V @ V) * (X @ X)) + paid)


@stated(
    "X^mm minimises ||V|| + C sum_j xi_j exactly if C ||X^mm|| >= $thousandths t, that is $formula "
    "then, and > for some V else",
    r"\|X^{mm}\|^2 \le \|V\| \|X^{mm}\| + C \|X^{mm}\| \sum_j \xi_j",
    {"thousandths": {1000: "", 950: "0.95", 999: "0.999", 1001: "1.001", 1050: "1.05"}},
    where=f"{SLACKS}, and t is the least, over multipliers of X^mm, of the largest sum of those "
    "that share a slack",
)
def exactly_from_price(m: Namespace, case: Queried, thousandths: int = 1000) -> Relation:
    svm, V, slack = compared(m, case)
    if svm.exact is None:  # there is no X^mm
        return m.above(svm.margin, 0)
    X, C, square = svm.vector, rational(case.soft.C), svm.exact.square
    slacks = dict(zip(svm.exact.A, shares(case), strict=True))
    paid = m.values(C) * m.norm(X)
    least = worth(m, X, V, paid * slack)
    if not slacks:
        return least
    cost = price(svm.exact, slacks)
    reached = max(C, fmpq(0)) ** 2 * square
    gap = cost.least**2 - reached
    claimed = reached >= (fmpq(thousandths, 1000) * cost.least) ** 2
    if gap <= 0:
        return least if claimed else m.below(0, m.values(gap))
    e = min(cost.reach, gap / (2 * cost.least * dot(cost.rival, cost.rival)))
    e = min(e, square / cost.least)
    nearby = X - m.values(e) * m.values(cost.rival)
    paid = paid * slack_sum(m, svm.rows, nearby, list(slacks.values()))
    if claimed:
        return m.all_of(least, worth(m, X, nearby, paid))
    return m.below(m.sqrt((nearby @ nearby) * (X @ X)) + paid, X @ X)


@run_programs.traces
@stated(
    "",
    r"C J $growth < \|V\| + C \sum_j \xi_j",
    {"growth": {0: "", "0.05": r"+ 0.05 \|V\|", "1/4": r"+ \frac{1}{4} \|V\|"}},
    where=f"{SLACKS}, J the number of slacks, and A_j = (x_opt - x_t) z^T for each token t but opt",
)
def only_minimiser(m: Namespace, case: Values, growth: Number = 0) -> Comparison:
    A, V, C = constraints(m, case.data), m.vec(m.values(case.move)), m.values(case.C)
    gained = C * (len(A) - slack_sum(m, A, V))
    return m.below(growth * m.norm(V) + gained, m.norm(V))


@concludes(letters.growth_from_zero)
@stated(
    "",
    r"$growth C (J - \sum_j \xi_j) \le C \|\sum_j A_j\| \|V\|",
    {"growth": {1: "", "1.05": r"0.05 \|V\| +"}},
    where=f"{SLACKS}, J the number of slacks, and A_j = (x_opt - x_t) z^T for each token t but opt",
)
def growth_from_zero(m: Namespace, case: Values, growth: Number = 1) -> Comparison:
    A, V, C = constraints(m, case.data), m.vec(m.values(case.move)), m.values(case.C)
    gained = C * (len(A) - slack_sum(m, A, V))
    steep = m.norm(m.sums(A.T)) if len(A) else m.exact(0)
    return m.at_most((growth - 1) * m.norm(V) + gained, C * (steep * m.norm(V)))
