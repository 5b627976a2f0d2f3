"""Bounds of least norms and of soft margins that any matrix and any multipliers prove.

Weak duality: let w be multipliers, nonnegative on inequalities, and S = sum_j w_j A_j. For every
feasible V, sum_j w_j bound_j <= <S, V>. Moreover <S, V> <= ||S||_F ||V||_F and <S, V> <= ||S||_op
||V||_*.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from flint import arb, fmpq

from attsvm.errors import DataError
from attsvm.exact.numbers import Matrix, Vector, dot, norm, nuclear_norm, spectral_norm
from attsvm.exact.programme import ExactProgramme


def norm_bracket(
    programme: ExactProgramme, W: Matrix, duals: Vector, norm_of: Literal["fro", "nuc"] = "fro"
) -> tuple[arb, arb]:
    """Return bounds of the least norm of a feasible V, from any rational W and multipliers.

    The lower bound is sum_j w_j bound_j over the dual norm of S. It is 0 if a multiplier of an
    inequality is negative, and infinite if S = 0 proves that nothing is feasible. The upper bound
    is the norm of the smallest feasible multiple of W; infinite if no multiple is feasible.
    """
    S = programme.matrix(duals)
    gain = dot(duals, programme.bound)
    lower = arb(0)
    if gain > 0 and _signed(programme, duals):
        length = norm(_flat(S)) if norm_of == "fro" else spectral_norm(S)
        lower = arb(gain) / length if any(_flat(S)) else arb("inf")
    multiple = _least_multiple(programme, programme.margins(W))
    if multiple is None:
        return lower, arb("inf")
    return lower, multiple * (norm(_flat(W)) if norm_of == "fro" else nuclear_norm(W))


def soft_bracket(
    programme: ExactProgramme,
    groups: Sequence[int],
    C: fmpq | Mapping[int, fmpq],
    W: Matrix,
    duals: Vector,
) -> tuple[arb, arb]:
    """Return bounds of min ||V||_F + sum_g C_g xi_g with margins >= bound_j - xi_g(j), xi >= 0.

    The upper bound is the objective of W. For the lower bound, w is scaled until ||S||_F <= 1 and
    group sums are at most C_g; then it is sum_j w_j bound_j. It is 0 if a multiplier is negative.

    Args:
        programme: inequalities.
        groups: the index of the slack of each constraint.
        C: the positive price of slack; one for all, or one per group.
        W: any rational matrix.
        duals: any multipliers, one per constraint.

    Raises:
        DataError: a constraint is an equality, or C is not positive.
    """
    prices = C if isinstance(C, Mapping) else dict.fromkeys(groups, C)
    if any(programme.equal) or not all(price > 0 for price in prices.values()):
        raise DataError(
            "the soft margin takes inequalities and a positive price of slack",
            value=str(C),
            remedy="Leave equalities out; choose C above 0.",
        )
    slack, load = dict.fromkeys(groups, fmpq(0)), dict.fromkeys(groups, fmpq(0))
    for g, b, m, w in zip(groups, programme.bound, programme.margins(W), duals, strict=True):
        slack[g] = max(slack[g], b - m)
        load[g] = load[g] + w
    upper = norm(_flat(W)) + sum((prices[g] * xi for g, xi in slack.items()), fmpq(0))
    gain = dot(duals, programme.bound)
    if not (gain > 0 and _signed(programme, duals)):
        return arb(0), upper
    scale = norm(_flat(programme.matrix(duals))).max(
        arb(max(total / prices[g] for g, total in load.items()))
    )
    return arb(gain) / scale, upper


def _signed(programme: ExactProgramme, duals: Vector) -> bool:
    return all(equal or w >= 0 for w, equal in zip(duals, programme.equal, strict=True))


def _least_multiple(programme: ExactProgramme, margins: Vector) -> fmpq | None:
    """Return the least t >= 0 with t margin_j >= bound_j (= on equalities), decided exactly.

    None if there is none.
    """
    low, high = fmpq(0), None
    for margin, bound, equal in zip(margins, programme.bound, programme.equal, strict=True):
        if margin == 0:
            if bound > 0 or (equal and bound != 0):
                return None
            continue
        end = bound / margin
        if equal or margin > 0:
            low = max(low, end)
        if equal or margin < 0:
            high = end if high is None else min(high, end)
    return low if high is None or low <= high else None


def _flat(matrix: Matrix) -> Vector:
    return [x for row in matrix for x in row]
