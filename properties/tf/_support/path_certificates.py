"""Limits of regularisation paths that are exact, and bounds of every minimiser over a ball.

A path is a minimiser W_R of the risk over ||W|| <= R, or (K_R, Q_R) over ||K||^2 + ||Q||^2 <= 2 R,
as R grows. k_i is the order of l below the best score of input i: 1 if l' < 0 there. The limit of
W_R/R is V/||V||, where V has least norm with margins of at least 1/k_i. If all k_i are 1, V is W^mm
or a solution of Att-SVM*.

The rates hold for unique optimal tokens and l' < 0 throughout. m is a lower bound of the margins of
every W whose risk is not above that of rho V (`least_margin`). The proofs are in
docs/proofs/regularisation_paths.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from flint import arb, fmpq, fmpq_mat

from attsvm._witness import Plain, floats, proposed
from attsvm.errors import NotExpressible, present
from attsvm.exact import ExactData, dot, rational, rationals
from attsvm.exact.attention import risk_gap
from attsvm.exact.numbers import Matrix, subtract
from attsvm.exact.optimality import norm_bracket
from attsvm.exact.programme import ExactProgramme
from attsvm.exact.svm import ExactAnswer, solve_exactly
from attsvm.primitives import run_programs
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent_runs import max_margin
from attsvm.primitives.hypotheses import feasible, several_tokens
from attsvm.primitives.loss_hypotheses import sloped
from attsvm.primitives.steps import TARGET, along, solutions, tends
from attsvm.theory import OPEN
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs, nested
from properties.tf._support import path_letters
from properties.tf._support import regularisation_paths as paths
from properties.tf._support.regularisation_paths import Path
from properties.tf._support.solution_ranks import Proposal, diameter

ROTATION = "orthogonal matrix near W^mm"
"""The proposal that bounds the nuclear norm of W^mm from below."""

SLOW = 4
"""Least factor by which the square of a sine or distance must fall from one radius to the next."""


def limit_of(case: Path) -> ExactAnswer | None:
    """Return V, which has margins of at least 1/k_i; None if nothing is constrained.

    Inputs whose tokens all have the same score are left out. Of tied optimal tokens the first one
    is taken.
    """
    exact = ExactData.of(case.data)
    D, Z, bound = [], [], []
    inputs = zip(exact.X, exact.Z, exact.optimal, paths.orders(case, exact), strict=True)
    for tokens, z, best, order in inputs:
        if len(best) == len(tokens):
            continue
        for t, x in enumerate(tokens):
            if t != best[0]:
                D.append(subtract(tokens[best[0]], x))
                Z.append(z)
                bound.append(fmpq(1, order))
    return solve_exactly(ExactProgramme.of_rows(D, Z, bound)) if D else None


def checked(
    m: Programs,
    case: Path,
    towards: str = "optimal",
    target: str = "solutions",
    share: object = 1,
    inner: int | None = None,
    *,
    factors: bool = False,
) -> Proposition:
    """Return that the limit of the path is the target, for the checker.

    Raises:
        NotExpressible: the target is another one, or the limit is not known to the checker.
    """
    result = limit_of(case)
    if not run_programs.has_target(case, towards) or result is None:
        return run_programs.target_exists(m, case, towards)
    exact = ExactData.of(case.data)
    parallel = fmpq_mat(exact.Z).rank() == 1
    several = {len(best) for best, x in zip(exact.optimal, exact.X, strict=True) if len(x) > 1}
    constants = (towards, target, share, inner) == ("optimal", "solutions", 1, None)
    if not constants or several != {1} or (factors and not parallel):
        raise NotExpressible("a limit of which the checker has no proof")
    run_programs.write(m, case)
    m.lines["limit"] = f"path_limit(data, loss, {nested([*result.duals])}, {factors})"
    return Proposition("along(limit, target)", run_programs.CHECKER)


def misses_direction(case: Path, towards: str = "optimal") -> arb | None:
    """Return minus the squared sine of the angle between target and V; None if it is 0 or unknown.

    The result is -1 if the angle is at least 90 degrees, or if V or the target does not exist.
    """
    exact = ExactData.of(case.data)
    tied = any(1 < len(best) < len(x) for best, x in zip(exact.optimal, exact.X, strict=True))
    if tied or case.loss == paths.FLAT_FROM_ONE:
        return None
    limit, target = limit_of(case), max_margin(case.data, towards)
    if limit is None or target is None:
        return arb(-1)  # no direction, or nothing to converge to
    a, b = ([x for row in M for x in row] for M in (limit.W, target))
    inner, sizes = dot(a, b), dot(a, a) * dot(b, b)
    if sizes == 0 or inner <= 0:
        return arb(-1)
    return None if inner * inner == sizes else arb(inner * inner / sizes - 1)


def misses_set(
    case: Path, target: str = "solutions", share: int | Fraction = 1, inner: int | None = None
) -> arb | None:
    """Return a negative number if limit points lie outside the target, None without a proof.

    Limit points M have ||M||_* = 1 and margins of at least 1/C_*.

    - A target scaled by `share` is at least |1 - share| / sqrt d away.
    - The target of the worst tokens has margins of the opposite sign.
    - W^mm over its nuclear norm is no limit point if a feasible matrix has a smaller nuclear norm.
    - With inner dimension r < d, M has rank at most r, whatever the loss. So M stays away from the
      solutions if all of them have a larger rank. Their singular values (`solution_ranks`) or a
      2 x 2 minor of forced signs prove this.
    - With orders other than 1, or ties, only data of parallel queries are decided: both norms agree
      there, and rank 1 suffices.
    """
    if not several_tokens(case) or not feasible(case) or target == "worst":
        return arb(-1)
    if case.loss == paths.FLAT_FROM_ONE:
        return None
    unique = ExactData.of(case.data).unique
    if unique and share != 1:
        return -abs(1 - arb(rational(share))) / arb(case.data.d).sqrt()
    if not unique or not paths.steep(case):
        return _of_parallel(case) if share == 1 else None
    if inner is not None and inner < case.data.d:
        return paths.ranks_are_above(case, inner)
    return _frobenius_is_long(case) if target == "frobenius" else None


def _of_parallel(case: Path) -> arb | None:
    """Return `misses_direction` if all queries are parallel, else None."""
    parallel = fmpq_mat(ExactData.of(case.data).Z).rank() == 1
    return misses_direction(case) if parallel else None


def _frobenius_is_long(case: Path) -> arb | None:
    """Return minus a lower bound of ||W^mm||_*/C_* - 1; None without a proof.

    For any Y, ||W||_* >= <Y, W> / ||Y||_op, and ||Y||_op^2 is at most the largest row sum of |Y^T
    Y|.
    """
    solved = present(exact_att_svm(case.data), "the answer of the SVM")

    def rotation() -> Plain:
        U, _, Vt = np.linalg.svd([[float(arb(x)) for x in row] for row in solved.W])
        return (U @ Vt).tolist()

    Y = rationals(np.array(floats(proposed(ROTATION, rotation), case.data.d, case.data.d)))
    columns = list(zip(*Y, strict=True))
    rows = [sum((abs(dot(list(a), list(b))) for b in columns), fmpq(0)) for a in columns]
    inner = sum((dot(a, b) for a, b in zip(Y, solved.W, strict=True)), fmpq(0))
    bracket = _bracket(case)
    if bracket is None or not max(rows) > 0:
        return None
    excess: arb = arb(inner) / arb(max(rows)).sqrt() / bracket.most - 1
    return -excess if excess > 0 else None


def bounded(case: Path) -> bool:
    """Return whether the rates hold: l' < 0 throughout, and optimal tokens are unique."""
    return sloped(case) and bool(ExactData.of(case.data).unique)


def certified_direction(case: Path, towards: str = "optimal") -> arb | None:
    """Return a negative number if the limit has another direction, else a rate of the angle.

    Every W_R with R of 1e3 and of 1e4 times ||W^mm|| (or more) lies within a proved angle of W^mm.
    The result is the squared sine allowed at the larger radius, minus the proved one (`falls`).
    """
    if paths.levels_off(case):
        return arb(-1)  # a minimiser that stays where it is
    wrong = misses_direction(case, towards)
    if wrong is not None or towards != "optimal" or not bounded(case):
        return wrong
    return falls(lambda k: squared_sine(case, k), radii(case))


def certified_set(
    case: Path, target: str = "solutions", share: int | Fraction = 1, inner: int | None = None
) -> arb | None:
    """Return a negative number if limits lie outside the target, else a rate of the distance.

    The rate is known if the solution is provably one point, and K Q^T can have its rank.
    """
    if paths.levels_off(case, inner):
        return arb(-1)  # a minimiser that stays where it is
    wrong = misses_set(case, target, share, inner)
    if wrong is not None or target != "solutions" or share != 1 or not bounded(case):
        return wrong
    low = present(exact_att_svm(case.data), "the answer").rank == 1
    if not (low or inner is None or inner >= case.data.d):
        return None

    def at(k: fmpq) -> arb:
        def ends(V: Matrix, size: arb) -> tuple[arb, arb | None]:
            return k * size, least_margin(case, risk_gap_at(case, k, V))

        return squared_distance(case, ends)

    return falls(at, radii(case))


def radii(case: Path) -> list[float]:
    """Return two radii in units of ||W^mm|| or C_*: 1e3 and 1e4, or more if risk terms differ."""
    return [power * paths.late(case) for power in (1e3, 1e4)]


def falls(bound: Callable[[fmpq], arb], scales: list[float]) -> arb | None:
    """Return a quarter of a bound at the first scale minus the bound at the second one.

    None if this is not positive. A bound below 1/k at the first scale k counts as 1/k, because it
    may be exactly 0.
    """
    first, second = (bound(rational(k)) for k in scales)
    left: arb = first.max(arb(1 / rational(scales[0]))) / SLOW - second
    return left if left > 0 else OPEN if not left.is_finite() else None


def squared_sine(case: Path, k: fmpq) -> arb:
    """Return a bound of the squared sine of the angle of W_R and W^mm for R = k ||W^mm||.

    The bound is 1 if no margin is proved.
    """
    solved = present(exact_att_svm(case.data), "the answer")
    margin = least_margin(case, risk_gap_at(case, k, solved.W))
    return arb(1) if margin is None else 1 - margin * margin / (k * k)


def squared_distance(case: Path, ends: Callable[[Matrix, arb], tuple[arb, arb | None]]) -> arb:
    """Return a bound of dist(K Q^T/R, W_*^mm/C_*)^2; at most 4, which always holds.

    Args:
        case: the path.
        ends: a function of a feasible V and an upper bound of its nuclear norm. It returns an upper
            bound of R and a lower bound of all margins of K Q^T, if K Q^T is better than a multiple
            of V.
    """
    solved = present(exact_att_svm(case.data), "the answer")
    if solved.rank == 1:
        length = arb(solved.square).sqrt()
        farthest, margin = ends(solved.W, length)
        return arb(4) if margin is None else 2 * (1 - margin * length / farthest)
    bracket = _bracket(case)
    if bracket is None:
        return arb(4)
    proof = bracket.proof
    lowest = min(proof.programme.margins(proof.W))  # W over it is feasible, of norm `most` or less
    farthest, margin = ends([[x / lowest for x in row] for row in proof.W], bracket.most)
    if margin is None:
        return arb(4)
    near = (farthest / margin).upper()  # at least the nuclear norm of K Q^T/m
    apart = diameter(proof.programme, proof.weights, near)
    if apart is None:
        return arb(4)
    away = (apart + near - bracket.least) / bracket.least
    return arb(4).min((away * away).upper())


@dataclass(frozen=True, slots=True)
class _Bracket:
    """Bounds of C_*, above 0 and finite, with the matrix and multipliers that prove them."""

    proof: Proposal
    least: arb
    most: arb


def _bracket(case: Path) -> _Bracket | None:
    """Return bounds of C_*; None if floats propose nothing that proves finite bounds."""
    proposal = paths.proposal(case.data)
    if proposal is None:
        return None
    least, most = norm_bracket(proposal.programme, proposal.W, proposal.weights, "nuc")
    proved = least > 0 and most.is_finite()
    return _Bracket(proposal, least, most) if proved else None


def least_margin(case: Path, gap: arb) -> arb | None:
    """Return a lower bound of all margins for a risk gap of at most `gap`; None without one."""
    prices = BALLS.array([own.least * BALLS.min(own.gaps) for own in paths.inputs(BALLS, case)])
    weight = len(case.data.X) * gap / BALLS.min(prices)
    return ((1 - weight) / weight).log() if weight < arb(1) / 2 else None


def risk_gap_at(case: Path, k: fmpq, V: Matrix) -> arb:
    """Return the risk gap at k V."""
    return risk_gap(ExactData.of(case.data), [[k * x for x in row] for row in V], case.loss)


DIRECTION = tends(
    "$formula as R tends to infinity",
    r"\frac{W_R}{R}",
    along(TARGET),
    floats=paths.follows,
    balls=certified_direction,
    checked=checked,
    symbols=solutions("W"),
    proposition=path_letters.direction,
    where="W_R is a minimiser of L over ||W|| <= R",
)
NEAR = r"\mathrm{dist}\left(\frac{K_R Q_R^{\top}}{R}, $share $target\right)"
TARGETS = {
    "solutions": r"\frac{W_*^{mm}}{C_*}",
    "worst": r"\frac{W_*^{low}}{C_*^{low}}",
    "frobenius": r"\frac{W^{mm}}{\left\|W^{mm}\right\|_*}",
}
"""The targets that products of factors approach, as text."""
FACTORS = (
    "(K_R, Q_R) is a minimiser of L(K Q^T) over ||K||^2 + ||Q||^2 <= 2 R, W_*^mm are the matrices "
    "of least nuclear norm, C_*, that meet the constraints of the Att-SVM, and dist is the "
    "Frobenius distance"
)
SET = tends(
    "$formula as R tends to infinity",
    NEAR,
    r"0 \text{ for the inner dimension } $inner",
    floats=paths.follows_set,
    balls=certified_set,
    checked=partial(checked, factors=True),
    symbols={"target": TARGETS, "inner": {None: "d"}},
    proposition=path_letters.approaches,
    where=FACTORS,
)
