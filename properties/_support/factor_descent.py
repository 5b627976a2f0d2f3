"""Descent on key and query weights: W = K Q^T, with slopes G Q and G^T K for G = grad L(W).

The facts below hold for every loss that decreases at the scores. An increasing loss acts on the
data as a decreasing one does on negated scores.

1. Rank. A step combines rows of K and Q, so all rows stay in the span of the rows at the start.
   So the rank of W is at most that of the stacked matrix [K; Q] at the start. At K = Q = 0 nothing
   moves at all.
2. Semidefinite starts. If L(W) = L(W^T) and K = Q, then G is symmetric if W is, so K = Q for ever
   and W = K K^T stays in a closed cone, the positive semidefinite matrices. If K = -Q, W stays
   negative semidefinite.
3. One input of two tokens, D = x_opt - x_t and query z, both not 0. Let s = K^T D / ||D|| + Q^T z /
   ||z|| and r = K^T D / ||D|| - Q^T z / ||z||. A step maps s to (1 + x) s and r to (1 - x) r with
   some x > 0. If s = 0 at the start, it is 0 for ever and the margin is never above 0. If not, the
   direction converges to that of D z^T for any constant step: `symbolic.sim.kq_bias`. The Frobenius
   and the nuclear solution both have this direction. The first three steps of each run are checked.
4. A run that ends at a minimum of finite norm, by `attsvm.limits.finite_minimum_of_factors`, has
   the direction of that minimum.

The step of a run is in units of 1/L, where L is the smoothness of the risk in W.
"""

from dataclasses import replace

import numpy as np
from flint import arb, fmpq, fmpq_mat
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import ProofError
from attsvm.exact import ExactData, dot, rationals
from attsvm.exact.attention import gradient
from attsvm.exact.losses import loss_slope
from attsvm.exact.numbers import (
    Matrix,
    Vector,
    is_positive_semidefinite,
    product,
    subtract,
    transpose,
)
from attsvm.limits import finite_minimum_of_factors
from attsvm.primitives import run_programs
from attsvm.primitives.descent import Descent, Factored
from attsvm.primitives.descent_runs import max_margin
from attsvm.primitives.hypotheses import one_pair
from attsvm.primitives.limit_certificates import agreement, short_step
from attsvm.primitives.steps import (
    TARGET,
    by_gradient_flow,
    converges_in_direction,
    solutions,
    stepped,
)
from attsvm.strategies import arrays, composite
from attsvm.theory import Hypothesis, Records, Slack
from attsvm.theory.types import Nested
from attsvm.training import follow_kq
from properties import LOSS_NAMES
from properties._support import factor_letters
from properties._support.small_runs import TWO_TOKENS

HALF_WAY = 0.75
"""Largest growth exponent that counts as convergence. The part orthogonal to a right direction has
exponent 1/2, and to a wrong one 1."""

FAR_APART = (1.0, 2.0**-10, 64.0, 4096.0)
"""Step sizes to draw if a claim allows any, in units of 1/L."""

TRIED = 3
"""Number of first steps of a run that are checked in balls."""


def factored(data: AttentionData, K: Array, Q: Array) -> Descent:
    """Return descent on the factors that starts at K and Q."""
    return Descent(Factored(data), np.stack([K, Q]))


@composite
def starting(draw: st.DrawFn, data: st.SearchStrategy[AttentionData]) -> Descent:
    """Draw square K and Q of several sizes: equal, opposite, of one column, or unrelated."""
    drawn = draw(data)
    K, Q = draw(arrays(2, drawn.d, drawn.d)) * 2.0 ** draw(st.sampled_from([0, -2, 1]))
    kind = draw(st.sampled_from(["any", "equal", "opposite", "narrow"]))
    if kind == "narrow":
        keep = np.arange(drawn.d) == 0
        K, Q = K * keep, Q * keep
    return factored(drawn, K, {"equal": K, "opposite": -K}.get(kind, Q))


def factors(
    data: st.SearchStrategy[AttentionData], steps: tuple[float, ...] = FAR_APART
) -> Records:
    """Return the variables of a run: a start (K, Q) on the data, and a step."""
    return replace(stepped(Descent, starting(data), steps=steps), kinds={"inputs": Factored})


@composite
def pair_data(draw: st.DrawFn) -> AttentionData:
    """Draw one input of two tokens in up to three dimensions."""
    d = draw(st.integers(1, 3))
    X, Z = draw(arrays(1, 2, d)), draw(arrays(1, d))
    X[0, 0] = X[0, 0] + np.where(X[0, 0] == X[0, 1], np.eye(1, d)[0], 0.0)
    gap = draw(st.sampled_from([1.0, 2.0, 0.5]))
    return AttentionData(X, Z + np.eye(1, d) * (not Z.any()), scores=np.array([[gap, 0.0]]))


@composite
def crossed_data(draw: st.DrawFn) -> AttentionData:
    """Draw inputs +-e_r, 0 with query e_c in the plane, for a set of pairs (r, c).

    The set has (c, r) for each (r, c).
    """
    pairs = draw(st.sampled_from([[(0, 0)], [(0, 1), (1, 0)], [(0, 0), (0, 1), (1, 0)]]))
    sign, E = draw(st.sampled_from([1.0, -1.0])), np.eye(2)
    return AttentionData.of(
        [[sign * E[r], np.zeros(2)] for r, _ in pairs],
        [E[c] for _, c in pairs],
        scores=[[1.0, 0.0]] * len(pairs),
    )


@by_gradient_flow
def follows(case: Descent, towards: str = "optimal") -> Slack:
    """Return the slack of "K Q^T converges in direction to the target".

    The curve of gradient flow is followed over two decades of the norm. Over the second one the
    part orthogonal to the ray grows like norm^exponent; the exponent must be below `HALF_WAY`.
    """
    target = max_margin(case.data, towards)
    if target is None:
        return Slack(-1.0, 0.0)  # there is nothing to converge to
    unit = np.array([[float(arb(x)) for x in row] for row in target])
    K, Q = case.start
    low = max(float(np.linalg.norm(M)) for M in (unit, K @ K.T, Q @ Q.T))
    unit = unit / np.linalg.norm(unit)
    goals = [low, 10.0 * low, 100.0 * low]
    (run,) = follow_kq(case.data, K, Q, case.loss, goals)
    iterates = run.W[0]
    if run.norms.shape[1] <= len(goals):
        return Slack.unknown(f"the norm did not reach {goals[-1]:.3g}")
    rest = [_beside(W, unit) for W in iterates[-2:]]
    norms = [float(np.linalg.norm(W)) for W in iterates[-2:]]
    if rest[1] <= 1e-9 * norms[1]:
        return Slack(HALF_WAY, 0.2)
    exponent = np.log(rest[1] / max(rest[0], 1e-9 * norms[0])) / np.log(norms[1] / norms[0])
    return Slack(HALF_WAY - float(exponent), 0.2)


def _beside(W: np.ndarray, unit: np.ndarray) -> float:
    """Return the distance of W from the ray of a unit matrix."""
    return float(np.linalg.norm(W - max(float((W * unit).sum()), 0.0) * unit))


def certificate(case: Descent, towards: str = "optimal") -> arb | None:
    """Return 1 if K Q^T provably converges in direction to the target, negative if provably not.

    The result is None if the facts of the module decide neither.
    """
    target = max_margin(case.data, towards)
    if target is None:
        return arb(-1)
    (K, Q), exact = map(rationals, case.start), ExactData.of(case.data)
    if all(len(set(row)) == 1 for row in exact.gamma):  # the gradient is 0 everywhere
        W = product(K, transpose(Q))
        return agreement(target, W) if any(x != 0 for row in W for x in row) else arb(-1)
    if fmpq_mat([*K, *Q]).rank() < fmpq_mat(target).rank() or _outside_cone(case, target):
        return arb(-1)
    if not one_pair(case):
        step = short_step(case.data, case.loss, case.step)
        end = finite_minimum_of_factors(case.data, K, Q, case.loss, step)
        return None if end is None else end.apart(target)
    pursued = exact if case.loss != "logistic" else _turned_round(exact)
    if not _leans(pursued, K, Q):
        return arb(-1) if pursued is exact and towards == "optimal" else None
    D, z = _pair(pursued)
    undecided = _turns(
        pursued, exact, (K, Q), case.loss, short_step(case.data, case.loss, case.step)
    )
    return agreement(target, [[a * b for b in z] for a in D]) if undecided is None else undecided


def _turns(
    pursued: ExactData, data: ExactData, start: tuple[Matrix, Matrix], loss: str, step: fmpq
) -> arb | None:
    """Return the first undecided x if the steps map s to (1 + x) s and r to (1 - x) r (fact 3).

    The gradient is -c D z^T with c = -l'(u) s_o s_t (gamma_o - gamma_t), where s_o and s_t are the
    attention of the better and the worse token. This product shows its sign even if an attention is
    tiny; the steps themselves use the gradient.

    Returns:
        None if all steps pass, else the first x whose sign is undecided at the working precision.

    Raises:
        ProofError: a step maps s and r otherwise.
    """
    (D, z), (K, Q) = _pair(pursued), start
    ((best, *_),), (gamma,) = pursued.optimal, data.gamma
    lead = gamma[best] - gamma[1 - best]
    lengths = (arb(dot(D, D)) * arb(dot(z, z))).sqrt()
    before = _sum_and_difference(D, z, K, Q)
    for k in range(TRIED):
        W = product(K, transpose(Q))
        margin = arb(dot(D, [dot(row, z) for row in W]))
        own, other = 1 / (1 + (-margin).exp()), 1 / (1 + margin.exp())
        c = -loss_slope(loss, gamma[best] - lead * other) * own * other * lead
        x = step * c * lengths
        G = gradient(data, W, loss)
        changes = product(G, Q), product(transpose(G), K)
        K, Q = (
            [subtract(m, [step * g for g in row]) for m, row in zip(M, change, strict=True)]
            for M, change in zip((K, Q), changes, strict=True)
        )
        after = _sum_and_difference(D, z, K, Q)
        fits = all(
            turned.overlaps(factor * y)
            for factor, *rows in zip((1 + x, 1 - x), before, after, strict=True)
            for y, turned in zip(*rows, strict=True)
        )
        if x <= 0 or not fits:
            raise ProofError("a step of descent on (K, Q) does not turn to D z^T", value=k)
        if not x > 0:
            return arb(x)
        before = after
    return None


def _sum_and_difference(D: Vector, z: Vector, K: Matrix, Q: Matrix) -> tuple[list[arb], list[arb]]:
    """Return s and r of fact 3."""
    p, q = (
        [dot(v, column) / arb(dot(v, v)).sqrt() for column in transpose(M)]
        for v, M in ((D, K), (z, Q))
    )
    pairs = [(arb(a), arb(b)) for a, b in zip(p, q, strict=True)]
    return [a + b for a, b in pairs], [a - b for a, b in pairs]


FACTORED = converges_in_direction(
    "",
    r"K Q^\top",
    TARGET,
    floats=follows,
    balls=certificate,
    checked=run_programs.converges,
    proposition=factor_letters.direction,
    symbols={**solutions("X"), **LOSS_NAMES},
    where="K and Q are the iterates of descent on both with the loss $loss, and X^mm is the "
    "max-margin solution of the optimal tokens",
)


def _turned_round(data: ExactData) -> ExactData:
    """Return the data with negated scores: an increasing loss pursues their optimal tokens."""
    return ExactData(data.X, data.Z, [[-g for g in row] for row in data.gamma], data.kept)


def _outside_cone(case: Descent, target: Matrix) -> bool:
    """Return whether K = Q or K = -Q, W stays semidefinite by fact 2, and the target is not."""
    K, Q = case.start
    for sign in (1, -1):
        if (sign * Q == K).all() and symmetric(case.data):
            turned = [[sign * x for x in row] for row in target]
            if target != transpose(target) or not is_positive_semidefinite(turned):
                return True
    return False


def symmetric(data: AttentionData) -> bool:
    """Return whether all inputs have at most two tokens and transposing all x z^T permutes them.

    The risk depends only on the scores and on (x_1 - x_2) z^T of each input, so L(W) = L(W^T).
    """
    exact = ExactData.of(data)
    seen, turned = [], []
    for tokens, z, gamma in zip(exact.X, exact.Z, exact.gamma, strict=True):
        if len(tokens) > 2:
            return False
        D = subtract(tokens[0], tokens[-1])
        A = [[a * b for b in z] for a in D]
        seen.append((_key(A), _key([gamma])))
        turned.append((_key(transpose(A)), _key([gamma])))
    return sorted(seen) == sorted(turned)


def _key(matrix: Matrix) -> tuple[tuple[int, int], ...]:
    return tuple((int(x.p), int(x.q)) for row in matrix for x in map(fmpq, row))


def _pair(data: ExactData) -> tuple[Vector, Vector]:
    """Return x_opt - x_t and the query of the first input, which has two tokens."""
    ((best, *_),) = data.optimal
    return subtract(data.X[0][best], data.X[0][1 - best]), data.Z[0]


def _leans(data: ExactData, K: Matrix, Q: Matrix) -> bool:
    """Return whether K^T D / ||D|| + Q^T z / ||z|| is not 0, for every input and every rival."""
    for tokens, z, best in zip(data.X, data.Z, data.optimal, strict=True):
        for t, x in enumerate(tokens):
            D = subtract(tokens[best[0]], x)
            if t != best[0] and _opposed(D, z, K, Q):
                return False
    return True


def _opposed(D: Vector, z: Vector, K: Matrix, Q: Matrix) -> bool:
    """Return whether K^T D ||z|| = -Q^T z ||D||, decided by signs and squares.

    This holds in particular if D or z is 0.
    """
    keys, queries = [[dot(v, c) for c in transpose(M)] for v, M in ((D, K), (z, Q))]
    return all(
        a * b <= 0 and a * a * dot(z, z) == b * b * dot(D, D)
        for a, b in zip(keys, queries, strict=True)
    )


def leans(case: Descent) -> bool:
    """Return whether all pairs have D, z != 0 and K^T D / ||D|| + Q^T z / ||z|| != 0."""
    return _leans(ExactData.of(case.data), *map(rationals, case.start))


LEANS = Hypothesis(
    "K^T D / ||D|| + Q^T z / ||z|| is not 0",
    leans,
    proposition=factor_letters.leans,
    says="D = x_opt - x_t and z are not 0, and K^T D/||D|| + Q^T z/||z|| is not 0 at the start",
)


def pair(K: Nested, Q: Nested, data: AttentionData = TWO_TOKENS.data) -> Descent:
    """Return a start (K, Q) on the data, by default on one input of the tokens 1 and 0."""
    return factored(data, np.array(K, dtype=np.float64), np.array(Q, dtype=np.float64))


NOWHERE = pair([[0]], [[0]])

OPPOSED = pair([[1]], [[-1]])
