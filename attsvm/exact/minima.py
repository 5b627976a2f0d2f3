"""Minima at a finite norm: a point from which descent is proved to converge to one.

Let D be a ball of radius r about C, and S the span in which descent moves. On D and S let the
eigenvalues of the Hessian of the risk be at least mu > 0 and below 2/step. Let the gradient at C
have norm g. If g < mu r, D has one stationary point W*, within g/mu of C. Descent converges to it
from any point of D within r - 2 g/mu of C. A similar condition holds for descent on (K, Q) with W =
K Q^T. The proof is in docs/proofs/minima.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb, fmpq, fmpq_mat

from attsvm._types import Array
from attsvm._witness import Plain, floats, proposed
from attsvm.errors import DataError
from attsvm.exact.attention import deficit, gradient, softmax
from attsvm.exact.descent import factor_smoothness
from attsvm.exact.losses import loss_curvature, loss_slope
from attsvm.exact.numbers import (
    ExactData,
    Matrix,
    Vector,
    dot,
    norm,
    product,
    rational,
    subtract,
    transpose,
)

Pair = tuple[int, int]

NEWTON = 6
"""Number of steps of Newton's method, in floats, from a point to the minimum near it."""

SHARE = 0.5
"""Share of the least eigenvalue at C, in floats, that is proposed as mu; likewise for nu."""

NEAR = "point near a minimum, in the basis of the tokens, and a bound of the bend there"
SLOPE = "bound of the slopes of (K, Q)"
"""Names of the proposals that these proofs request; they are stored in witnesses."""


@dataclass(frozen=True, slots=True)
class Minimum:
    """The proved limit of a run, near a strict local minimum W* of the risk in W_0 + S.

    Attributes:
        near: a point near the limit, exact or an enclosure.
        radius: a ball whose upper end is at least the distance of `near` to the limit.
    """

    near: Matrix
    radius: arb

    def along(self, matrix: Vector) -> arb:
        """Return <A, W> at the limit W, for the entries of a matrix A, row by row."""
        return arb(dot(matrix, _flat(self.near))) + arb(0, norm(matrix) * self.radius)

    def apart(self, target: Matrix) -> arb | None:
        """Return minus the squared sine of the angle of limit and target; -1 from 90 degrees on.

        None if the directions are not provably different: they may agree, or the limit may be 0.
        """
        aim = _flat(target)
        size = norm(_flat(self.near)) + arb(0, self.radius)
        share = self.along(aim) / (norm(aim) * size)
        if share <= 0:
            return arb(-1)
        sine = 1 - share * share
        return -sine if sine > 0 else None


def minimum_at(data: ExactData, W0: Matrix, W: Matrix, loss: str, step: arb) -> Minimum | None:
    """Return the minimum to which descent with this step provably converges from W, if any.

    W and W_0, of the same run, may be enclosures. Floats propose C and mu; the result is None if
    these prove nothing.
    """
    if (frame := Frame.of(data, loss)) is None or (result := frame.proposal(W0, W)) is None:
        return None
    near, mu = result
    away = norm(_flat([subtract(*rows) for rows in zip(W, near, strict=True)]))
    still = norm(_flat(gradient(data, near, loss))) / mu
    # `still` is g/mu. With r = away + 4 g/mu, W is within r - 2 g/mu of C, as claim 2 requires, and
    # g < mu r as claim 1 requires. W* is within g/mu of C.
    radius = away + 4 * still
    return Minimum(near, still) if frame.bends(near, radius, mu, 2 / step) else None


def factor_minimum_at(
    data: ExactData, K: Matrix, Q: Matrix, loss: str, step: arb
) -> Minimum | None:
    """Return the proved limit of W = K Q^T under descent on (K, Q) with this step, if any.

    K and Q may be enclosures. The limit of W is near K Q^T and minimises the risk nearby.
    """
    W = product(K, transpose(Q))
    if (frame := Frame.of(data, loss)) is None or (result := frame.proposal(W, W)) is None:
        return None
    near, mu = result
    moved = norm(_flat([subtract(*rows) for rows in zip(W, near, strict=True)]))
    least = frame.least_slopes(K, Q)
    g, size = norm(_flat(gradient(data, W, loss))), norm(_flat(K)) + norm(_flat(Q))
    # Claim 3 of the proof, where `least` is sqrt(nu). It asks for some rho with 3 g <= rho mu
    # (sqrt(nu) - rho), and 4 g/(mu sqrt(nu)) satisfies that if g is small. `reach` bounds how far W
    # moves while K and Q move by at most rho; the Hessian is needed within twice as much of W, so
    # within 2 (moved + reach) of C.
    rho = (4 * g / (mu * least)).upper()
    reach = rho * (size + rho)
    if not 3 * g <= rho * mu * (least - rho):
        return None
    if not step * factor_smoothness(data, K, Q, loss, rho) <= 1:
        return None
    return Minimum(W, reach) if frame.bends(near, 2 * (moved + reach), mu) else None


def _flat(W: Matrix) -> Vector:
    return [x for row in W for x in row]


def is_positive_definite(matrix: Matrix) -> bool:
    """Return whether elimination proves every matrix in an enclosure positive definite."""
    rows = [list(row) for row in matrix]
    # A symmetric matrix is positive definite if and only if elimination without exchanges has
    # positive pivots. In balls each pivot encloses that of every matrix in the enclosure.
    for j, pivot in enumerate(rows):
        if not pivot[j] > 0:
            return False
        for row in rows[j + 1 :]:
            share = row[j] / pivot[j]
            for k in range(j + 1, len(row)):
                row[k] -= share * pivot[k]
    return True


@dataclass(frozen=True, slots=True)
class Frame:
    """The space S of a data set, spanned by matrices A_it = (x_it - x_i0) z_i^T.

    Attributes:
        data, loss: the data set and the name of the loss.
        pairs: all (i, t) of an input i with two different scores and a token t > 0.
        A: the entries of their A_it, row by row.
        gram: inner products of all A with the basis of S.
        basis: the indices of the pairs whose A are the basis.
    """

    data: ExactData
    loss: str
    pairs: list[Pair]
    A: list[Vector]
    gram: Matrix
    basis: list[int]

    @classmethod
    def of(cls, data: ExactData, loss: str) -> Frame | None:
        """Return the frame of a data set; None if S is 0, so that descent never moves."""
        pairs, A = [], []
        for i, (tokens, z, gamma) in enumerate(zip(data.X, data.Z, data.gamma, strict=True)):
            if len(set(gamma)) > 1:
                gaps = [subtract(x, tokens[0]) for x in tokens[1:]]
                pairs += [(i, t) for t in range(1, len(tokens))]
                A += [[a * b for a in gap for b in z] for gap in gaps]
        if not A:
            return None
        reduced, rank = fmpq_mat([[a[k] for a in A] for k in range(len(A[0]))]).rref()
        width = range(len(A))
        basis = [next(j for j in width if reduced[r, j] != 0) for r in range(rank)]
        gram = [[dot(a, A[k]) for k in basis] for a in A]
        return cls(data, loss, pairs, A, gram, basis) if basis else None

    @property
    def metric(self) -> Matrix:
        """Inner products of the basis with itself."""
        return [self.gram[j] for j in self.basis]

    def combined(self, weights: Vector) -> Matrix:
        """Return the sum of weights times the matrices of the basis."""
        rows = [self.A[j] for j in self.basis]
        entries = [dot(weights, list(column)) for column in zip(*rows, strict=True)]
        width = len(self.data.Z[0])
        return [entries[k : k + width] for k in range(0, len(entries), width)]

    def hessian(self, W: Matrix, radius: arb) -> Matrix:
        """Return an enclosure, in the basis, of D^2 L within `radius` of W in W + S."""
        logits = [arb(dot(a, _flat(W))) + arb(0, norm(a) * radius) for a in self.A]
        size = len(self.basis)
        total = [[arb(0)] * size for _ in range(size)]
        for i, gamma in enumerate(self.data.gamma):
            own = [j for j, pair in enumerate(self.pairs) if pair[0] == i]
            if not own:
                continue
            s = softmax([arb(0), *(logits[j] for j in own)])
            missing = deficit(self.data, i, s)
            u = max(gamma) - missing
            p = [w * (missing - (max(gamma) - g)) for w, g in zip(s, gamma, strict=True)][1:]
            n = len(self.data.X)
            bend, slope = loss_curvature(self.loss, u) / n, loss_slope(self.loss, u) / n
            inner = range(len(own))
            K = [[bend * p[a] * p[b] for b in inner] for a in inner]
            for a in inner:
                K[a][a] += slope * p[a]
                for b in inner:
                    K[a][b] -= slope * (s[a + 1] * p[b] + s[b + 1] * p[a])
            R = [self.gram[j] for j in own]
            KR = [[dot(row, [r[k] for r in R]) for k in range(size)] for row in K]
            for j in range(size):
                for k in range(j, size):
                    total[j][k] += dot([r[j] for r in R], [row[k] for row in KR])
                    total[k][j] = total[j][k]
        return total

    def bends(self, near: Matrix, radius: arb, mu: fmpq, top: arb | None = None) -> bool:
        """Return whether mu <V, V> <= H(V, V) < top <V, V> is proved within the radius of a point.

        V is any nonzero matrix in S. Without `top` only the lower bound is tested.
        """
        H, G = self.hessian(near, radius), self.metric
        count = range(len(G))
        sides = [[[H[j][k] - mu * G[j][k] for k in count] for j in count]]
        if top is not None:
            sides.append([[top * G[j][k] - H[j][k] for k in count] for j in count])
        return all(is_positive_definite(side) for side in sides)

    def least_slopes(self, K: Matrix, Q: Matrix) -> arb:
        """Return a lower bound of ||(V Q, V^T K)|| over all V in S of norm 1; 0 if unproved."""
        width, basis = len(self.data.Z[0]), [self.A[j] for j in self.basis]
        moved = []
        for A in basis:
            V = [A[k : k + width] for k in range(0, len(A), width)]
            moved.append(_flat(product(V, Q)) + _flat(product(transpose(V), K)))
        G, count = self.metric, range(len(basis))
        N = [[arb(dot(a, b)) for b in moved] for a in moved]
        least = _positive(proposed(SLOPE, lambda: _least_eigenvalue(_floats(N), _floats(G))))
        if least is None:
            return arb(0)
        proved = is_positive_definite([[N[j][k] - least * G[j][k] for k in count] for j in count])
        return arb(least).sqrt() if proved else arb(0)

    def proposal(self, W0: Matrix, W: Matrix) -> tuple[Matrix, fmpq] | None:
        """Return a proposed C in W_0 + S and mu > 0, both unproved; None if there is no proposal.

        Raises:
            FileError: the proposal of a witness does not fit.
        """
        result = proposed(NEAR, lambda: self.newton(W0, W))
        if result is None:
            return None
        *c, last = floats(result, len(self.basis) + 1)
        mu = _positive(last)
        return None if mu is None else (self._moved(W0, c), mu)

    def newton(self, W0: Matrix, W: Matrix) -> list[Plain] | None:
        """Return the coordinates of C in the basis, and mu, by Newton's method in floats from W.

        None if floats overflow or a system is singular.
        """
        basis = [self.A[j] for j in self.basis]
        G = _floats(self.metric)
        moved = _flat([subtract(*rows) for rows in zip(W, W0, strict=True)])
        try:
            c = np.linalg.solve(G, _floats([[dot(a, moved) for a in basis]])[0])
            for _ in range(NEWTON):
                point = self._moved(W0, c.tolist())
                slopes = _flat(gradient(self.data, point, self.loss))
                in_basis = _floats([[dot(a, slopes) for a in basis]])[0]
                c = c - np.linalg.solve(_floats(self.hessian(point, arb(0))), in_basis)
            bend = self.hessian(self._moved(W0, c.tolist()), arb(0))
        except FLOAT_ERRORS:
            return None
        least = _least_eigenvalue(_floats(bend), G)
        return None if least is None else [*c.tolist(), least]

    def _moved(self, W0: Matrix, c: list[float]) -> Matrix:
        shift = self.combined([rational(x) for x in c])
        return [[w + v for w, v in zip(*rows, strict=True)] for rows in zip(W0, shift, strict=True)]


FLOAT_ERRORS = np.linalg.LinAlgError, ArithmeticError, DataError
"""Exceptions raised if floats overflow or a system cannot be solved."""


def _least_eigenvalue(H: Array, G: Array) -> float | None:
    """Return `SHARE` of the least eigenvalue of H in the metric G; None unless it is above 0."""
    try:
        half = np.linalg.inv(np.linalg.cholesky(G))
        least = SHARE * float(np.linalg.eigvalsh(half @ H @ half.T)[0])
    except np.linalg.LinAlgError:
        return None
    return least if 0.0 < least < np.inf else None


def _positive(value: Plain) -> fmpq | None:
    """Return a proposed number as a rational, None unless it is above 0."""
    return rational(value) if isinstance(value, float) and value > 0.0 else None


def _floats(matrix: Matrix) -> Array:
    return np.array([[float(arb(x).mid()) for x in row] for row in matrix])
