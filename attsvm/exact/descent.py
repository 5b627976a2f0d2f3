"""Gradient descent in balls: every true iterate is enclosed, so conclusions from it are proved."""

import itertools
from dataclasses import dataclass
from typing import Literal

from flint import arb, fmpq

from attsvm.errors import DataError
from attsvm.exact.attention import gradient, risk_gap
from attsvm.exact.cones import cone_at
from attsvm.exact.losses import loss_curvature, loss_drop, loss_slope
from attsvm.exact.numbers import (
    ExactData,
    Matrix,
    Vector,
    dot,
    norm,
    product,
    spectral_norm,
    subtract,
    transpose,
)
from attsvm.exact.svm import ExactAnswer, separate
from attsvm.exact.traps import outrun_at, trap_at
from attsvm.lipschitz import attention_bend


def descend(data: ExactData, W0: Matrix, loss: str, step: fmpq, steps: int) -> Matrix:
    """Return an enclosure of the iterate after `steps` steps of size `step` from the exact W0."""
    W = W0
    for _ in range(steps):
        W = _advance(data, W, loss, step)
    return W


def followed(data: ExactData, W0: Matrix, loss: str, step: fmpq, steps: int) -> Matrix:
    """Return an enclosure of the iterate after `steps` steps, for long runs from the exact W0.

    Its radius grows by at most 1 + step * smoothness per step. A step maps two points at distance
    rho to points at distance at most that factor times rho. So the step is taken from the midpoint
    of the enclosure, and rho, in Frobenius norm, is tracked separately. The gradient is never
    enclosed over a ball, which would add its width a second time.
    """
    factor = 1 + step * smoothness(data, loss)
    W, rho = _parted(W0)
    for _ in range(steps):
        W, more = _parted(_advance(data, W, loss, step))
        rho = rho * factor + more
    return [[w + arb(0, rho) for w in row] for row in W]


def followed_factors(
    data: ExactData, K: Matrix, Q: Matrix, loss: str, step: fmpq, steps: int
) -> tuple[Matrix, Matrix]:
    """Return enclosures of K and Q after `steps` steps of descent on both, for long runs.

    The distance rho of both factors together is tracked as in `followed`, with `factor_smoothness`
    within rho of the midpoints.
    """
    (K, rho), (Q, more) = _parted(K), _parted(Q)
    rho += more
    for _ in range(steps):
        factor = 1 + step * factor_smoothness(data, K, Q, loss, rho)
        G = gradient(data, product(K, transpose(Q)), loss)
        slopes = product(G, Q), product(transpose(G), K)
        (K, more), (Q, also) = (
            _parted([[m - step * x for m, x in zip(*rows, strict=True)] for rows in pairs])
            for pairs in (zip(K, slopes[0], strict=True), zip(Q, slopes[1], strict=True))
        )
        rho = rho * factor + more + also
    K, Q = ([[m + arb(0, rho) for m in row] for row in M] for M in (K, Q))
    return K, Q


def factor_smoothness(data: ExactData, K: Matrix, Q: Matrix, loss: str, rho: arb) -> arb:
    """Return a Lipschitz constant of the gradient of L(K Q^T) within rho of (K, Q).

    With W = K Q^T, G = grad L(W) and dW = dK Q^T + K dQ^T the second derivative is D^2 L(dW, dW) +
    2 <G, dK dQ^T>. Let h be the smoothness of L. The second derivative is at most h (||K||^2 +
    ||Q||^2) + ||G|| times ||(dK, dQ)||^2, and ||G|| changes by at most h times the change of W.
    """
    h, (k, q) = smoothness(data, loss), (norm([x for row in M for x in row]) for M in (K, Q))
    G = norm([x for row in gradient(data, product(K, transpose(Q)), loss) for x in row])
    return h * ((k + rho) ** 2 + (q + rho) ** 2) + G + h * rho * (k + q + rho)


def _parted(W: Matrix) -> tuple[Matrix, arb]:
    """Return the midpoint of an enclosure, and an upper bound of the distance of its points."""
    balls = [[arb(w) for w in row] for row in W]
    away = norm([w.rad() for row in balls for w in row])
    return [[w.mid() for w in row] for row in balls], away


def _advance(data: ExactData, W: Matrix, loss: str, step: fmpq | arb) -> Matrix:
    G = gradient(data, W, loss)
    return [
        [arb(w) - arb(step) * g for w, g in zip(row, other, strict=True)]
        for row, other in zip(W, G, strict=True)
    ]


def threshold(data: ExactData, loss: str) -> arb | None:
    """Return the minimum over inputs of (1/n) [l(second-best score) - l(best score)].

    Below this risk gap every input's attended score exceeds its second-best one. None if no input
    has two scores.
    """
    least: arb | None = None
    for gamma in data.gamma:
        best = max(gamma)
        others = [g for g in gamma if g != best]
        if not others:
            continue
        drop = loss_drop(loss, best, best - max(others)) / len(data.gamma)
        least = drop if least is None else least.min(drop)
    return least


def decreases(data: ExactData, loss: str) -> bool:
    """Return whether l' < 0 from the lowest to the highest score of all inputs, both included.

    It is true for the losses of negative slope, for (1 - u)^2 if all scores are below 1, and for
    -u^3 if all scores have the same sign and none is 0.
    """
    scores = [g for gamma in data.gamma for g in gamma]
    if loss == "squared":
        return all(g < 1 for g in scores)
    if loss == "cubic":
        return all(g > 0 for g in scores) or all(g < 0 for g in scores)
    return loss in ("log-loss", "logistic-loss", "exponential", "correlation")


def smoothness(data: ExactData, loss: str) -> arb:
    """Return a Lipschitz constant of the gradient of the risk in W; see `risk_smoothness`.

    It is the mean over inputs of ||z||^2 ||X - mean||^2 (D sup|l'| / (3 sqrt 3) + D^2 sup|l''| / 8)
    with D = max gamma - min gamma.
    """
    total = arb(0)
    for tokens, z, gamma in zip(data.X, data.Z, data.gamma, strict=True):
        mean = [sum(column, fmpq(0)) / len(tokens) for column in zip(*tokens, strict=True)]
        span, reach = max(gamma) - min(gamma), spectral_norm([subtract(x, mean) for x in tokens])
        slope, curvature = _suprema(loss, gamma)
        bend = attention_bend(span, slope, curvature, lambda x: arb(x).sqrt())
        total += dot(z, z) * reach * reach * bend
    return total / len(data.X)


def _suprema(loss: str, gamma: Vector) -> tuple[arb, arb]:
    """Return the suprema of |l'| and |l''|: over the reals if finite, else over the scores."""
    if loss == "correlation":
        return arb(1), arb(0)
    if loss == "log-loss":
        return arb(1), arb(1) / 4
    if loss in ("logistic", "logistic-loss"):
        return arb(1) / 4, 1 / (6 * arb(3).sqrt())
    steepest, bend = (
        abs(size(loss, min(gamma))).max(abs(size(loss, max(gamma))))
        for size in (loss_slope, loss_curvature)
    )
    return steepest, bend


def basin(data: ExactData, W: Matrix, loss: str) -> arb | None:
    """Return 1 - (L(W) - L_*) / threshold, positive exactly in the basin of the optimal tokens.

    Suppose that optimal tokens are unique, the Att-SVM is feasible, and l' < 0 on the scores. All
    of this is decided here; the result is None if a condition fails or no input has two scores. In
    the basin, descent with a step of at most 1/smoothness converges in direction to W^mm and its
    norm diverges. The reason: the risk never increases, so that no input loses its optimal token,
    and each rival's part of the gradient is exp(-margin) up to a factor. The proof is in
    `symbolic/basins.py`. W may be an enclosure.
    """
    level = _level(data, loss)
    return None if level is None else 1 - risk_gap(data, W, loss) / level


def _level(data: ExactData, loss: str) -> arb | None:
    """Return the threshold if the basin's hypotheses on data and loss hold, else None."""
    if not (data.unique and decreases(data, loss)):
        return None
    solved = separate(data, [rows[0] for rows in data.optimal])
    return threshold(data, loss) if solved is not None and solved.status == "solved" else None


def inputs_aligned(data: ExactData) -> bool:
    """Return whether <A_it, A_ju> >= 0 for all inputs i != j and all their rivals t and u.

    Rivals are all tokens but the first optimal one.
    """
    gaps = [
        [subtract(tokens[tied[0]], x) for t, x in enumerate(tokens) if t != tied[0]]
        for tokens, tied in zip(data.X, data.optimal, strict=True)
    ]
    return all(
        dot(a, b) * dot(data.Z[i], data.Z[j]) >= 0
        for i in range(len(gaps))
        for j in range(i)
        for a in gaps[i]
        for b in gaps[j]
    )


def always_converges(data: ExactData, loss: str) -> bool:
    """Return whether descent provably converges to W^mm from every start, with every constant step.

    Suppose that optimal tokens are unique, the Att-SVM is feasible, some input has two scores, and
    l' < 0 on the scores. Two cases are proved. In the first, inputs are aligned and the rivals of
    each input have the same score. In the second, queries are orthogonal, and in each input the
    rivals have the same score, or are two with the second best a support vector. The proofs are
    `prove_equal_rivals` in `symbolic/aligned_facts.py`, `prove_three` in
    `symbolic/sim/three_facts.py` and `ensure_any_step` in `symbolic/tf/global_conjecture.py`.
    """
    if _level(data, loss) is None:
        return False
    rivals = [sorted(set(gamma))[:-1] for gamma in data.gamma]
    if all(len(scores) <= 1 for scores in rivals):
        return inputs_aligned(data)
    best = [rows[0] for rows in data.optimal]
    solved = separate(data, best)
    if solved is None or any(dot(a, b) != 0 for a, b in itertools.combinations(data.Z, 2)):
        return False
    pairs = [(i, t) for i, row in enumerate(data.gamma) for t in range(len(row)) if t != best[i]]
    support = {
        i
        for (i, t), m in zip(pairs, solved.margins, strict=True)
        if m == 1 and data.gamma[i][t] == rivals[i][-1]
    }
    return all(
        len(scores) <= 1 or (i in support and len(data.gamma[i]) <= 3)
        for i, scores in enumerate(rivals)
    )


@dataclass(frozen=True, slots=True)
class LimitCertificate:
    """A proof about a run of descent for all time.

    Attributes:
        step: the step number at which the proof was complete.
        selected: the row of the token that each input selects: at every step from `step` on, or
            from some later step on if the reason is `basin` or `always`.
        converges: whether the direction provably converges to the Frobenius solution for the
            optimal tokens.
        reason: `basin`, `trap`, `cone`, or `always`.
        settles: whether the direction provably converges to the Frobenius solution for `selected`,
            optimal or not.
    """

    step: int
    selected: list[int]
    converges: bool
    reason: Literal["basin", "trap", "cone", "always"]
    settles: bool = False


def limit_certificate(
    data: ExactData, W0: Matrix, loss: str, step: fmpq | None, steps: int
) -> LimitCertificate | None:
    """Run plain descent in balls until its limit is proved; return the certificate.

    Four proofs are tried at steps 0, 1, 2, 4, 8, ... The basin (`basin`) needs a step of at most
    1/smoothness, which is decided here. Two traps (`trap_at` and `outrun_at` of
    `attsvm.exact.traps`) and the cone (`attsvm.exact.cones.cone_at`) work for any step. `outrun_at`
    proves nothing about the direction, so its certificate is used only if no later step gives a
    better one. If none succeeds before the last step, or before the enclosures are too wide for the
    working precision, `always_converges` is tried. The result is None if nothing is proved.

    Args:
        data: exact data.
        W0: the start, exact or an enclosure.
        loss: its name.
        step: the step size; None with `steps` 0 for every step size of at most 1/smoothness.
        steps: number of steps to follow.

    Raises:
        DataError: there is no step size for a positive number of steps, the step size is not
            positive, or the number of steps is negative.
    """
    if step is None and steps:
        raise DataError("no step size was given", value=steps, remedy="Give one, or steps = 0.")
    if steps < 0 or (step is not None and step <= 0):
        raise DataError(
            "descent needs a positive step size and a nonnegative number of steps",
            value=str(step) if steps >= 0 else steps,
            remedy="Use e.g. fmpq(1, 10) and 256.",
        )
    certificate = _followed(data, W0, loss, step, steps)
    if certificate is None and always_converges(data, loss):
        return LimitCertificate(0, [rows[0] for rows in data.optimal], True, "always", True)
    return certificate


def _followed(
    data: ExactData, W0: Matrix, loss: str, step: fmpq | None, steps: int
) -> LimitCertificate | None:
    """Return the certificate that one of the iterates proves, if any."""
    bend = smoothness(data, loss)
    short = step is None or bool(step * bend <= 1)
    size = arb(step) if step is not None else (1 / bend).upper() if bend > 0 else arb(1)
    level = _level(data, loss) if short else None
    widest = threshold(data, loss)
    if widest is None:
        return None
    best = [rows[0] for rows in data.optimal]
    solved: dict[tuple[int, ...], ExactAnswer | None] = {}
    # `outrun_at` leaves the direction open: keep it in reserve for a stronger certificate.
    outrun: LimitCertificate | None = None
    W, next_check = W0, 0
    for k in range(steps + 1):
        if k == next_check or k == steps:
            gap = risk_gap(data, W, loss)
            if not gap.is_finite() or gap.rad() > abs(widest):
                return outrun
            if level is not None and gap < level:
                return LimitCertificate(k, best, True, "basin", True)
            kept = _kept(data, W, loss, size, k, solved)
            if kept is not None:
                return kept
            if outrun is None and (result := outrun_at(data, W, loss)) is not None:
                outrun = _certificate(data, k, result.selected, "trap", False)
            next_check = max(1, 2 * k)
        if k < steps:
            W = _advance(data, W, loss, size)
    return outrun


def _kept(
    data: ExactData,
    W: Matrix,
    loss: str,
    step: arb,
    k: int,
    solved: dict[tuple[int, ...], ExactAnswer | None],
) -> LimitCertificate | None:
    """Return a certificate for a point whose selected tokens are provably kept forever, if any."""
    trap = trap_at(data, W, loss)
    if trap is not None and trap.converges:
        return _certificate(data, k, trap.selected, "trap", True)
    cone = cone_at(data, W, loss, step, solved=solved)
    if cone is not None:
        return _certificate(data, k, cone.selected, "cone", True)
    return None if trap is None else _certificate(data, k, trap.selected, "trap", False)


def _certificate(
    data: ExactData, k: int, selected: list[int], reason: Literal["trap", "cone"], settles: bool
) -> LimitCertificate:
    optimal = all([t] == rows for t, rows in zip(selected, data.optimal, strict=True))
    return LimitCertificate(k, selected, settles and optimal, reason, settles)
