"""Minima at a finite norm: a point from which descent is proved to converge to one.

Descent from W_0 moves in W_0 + S, where S is spanned by the A_j = (x_t - x_0) z^T of all tokens t
of the inputs that have two scores, x_0 being their first token. Let D be the ball of radius r
about a point C of W_0 + S, and let mu > 0 be such that on D the Hessian H of the risk satisfies
mu <V, V> <= H(V, V) < (2/e) <V, V> for all V in S, V not 0, where e is the step. Let g be the norm
of the gradient at C, which lies in S.

1. On the boundary of D the gradient has an inner product of at least mu r^2 - g r with W - C. Where
   g < mu r the risk is thus least on D at an inner point W*, and W* is the only stationary point in
   D, as the risk is strictly convex there. mu ||C - W*|| <= g.
2. Let W in D have a distance to C of at most r - 2 g/mu. Then the ball about W* through W lies in
   D, and a step maps W - W* to (I - e H') (W - W*), where H' is the mean of the Hessians between
   the two points. Its eigenvalues on S lie between mu and less than 2/e, so that the distance to W*
   shrinks by a factor below 1 that is the same at every step. Descent from W converges to W*.

D is convex, so that nothing is asked of the risk outside of it. That W* is enclosed by the ball
about C of radius g/mu is what Newton's interval operator would say with more effort.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb, fmpq, fmpq_mat

from attsvm._types import Array
from attsvm.exact.attention import deficit, gradient, softmax
from attsvm.exact.losses import loss_curvature, loss_slope
from attsvm.exact.numbers import ExactData, Matrix, Vector, dot, norm, rational, subtract

Pair = tuple[int, int]

NEWTON = 6
"""Steps of Newton's method, in floats, from a point towards the minimum beside it."""

SHARE = fmpq(1, 2)
"""The mu that is tried, as a share of the least eigenvalue that floats find at C."""


@dataclass(frozen=True, slots=True)
class Minimum:
    """A strict local minimum W* of the risk in W_0 + S, to which a run is proved to converge.

    Attributes:
        near: C, exact or an enclosure.
        radius: at least the distance of C to W*.
    """

    near: Matrix
    radius: arb

    def along(self, matrix: Vector) -> arb:
        """<A, W*> for a matrix A given row by row."""
        return arb(dot(matrix, _flat(self.near))) + arb(0, (norm(matrix) * self.radius).upper())

    def apart(self, target: Matrix) -> arb | None:
        """Minus the squared sine of the angle of W* to the target, or -1 where that is obtuse.

        None where W* is not proved to have another direction than the target: the two may agree,
        or W* may be 0.
        """
        aim = _flat(target)
        size = norm(_flat(self.near)) + arb(0, self.radius.upper())
        share = self.along(aim) / (norm(aim) * size)
        if share <= 0:
            return arb(-1)
        sine = 1 - share * share
        return -sine if sine > 0 else None


def minimum_at(data: ExactData, W0: Matrix, W: Matrix, loss: str, step: arb) -> Minimum | None:
    """The minimum to which descent of that step is proved to converge from W, if it is.

    W and W_0, of the same run, may be enclosures. Floats propose C, r and mu; None where these
    prove nothing.
    """
    frame = _Frame.of(data, loss)
    if frame is None:
        return None
    found = frame.proposal(W0, W)
    if found is None:
        return None
    shift, mu = found
    near = [
        [arb(w) + c for w, c in zip(*rows, strict=True)]
        for rows in zip(W0, frame.combined(shift), strict=True)
    ]
    away = norm(_flat([subtract(*rows) for rows in zip(W, near, strict=True)]))
    still = norm(_flat(gradient(data, near, loss))) / mu
    radius = (away + 4 * still).upper()
    if not (radius.is_finite() and still < radius and away + 2 * still <= radius):
        return None
    H = frame.hessian(near, radius)
    G = frame.metric
    count = range(len(G))
    above = [[H[j][k] - mu * G[j][k] for k in count] for j in count]
    below = [[2 * G[j][k] / step - H[j][k] for k in count] for j in count]
    if not (is_positive_definite(above) and is_positive_definite(below)):
        return None
    return Minimum(near, still.upper())


def _flat(W: Matrix) -> Vector:
    return [x for row in W for x in row]


def is_positive_definite(matrix: Matrix) -> bool:
    """Whether elimination proves every symmetric matrix in a matrix of balls positive definite."""
    rows = [list(row) for row in matrix]
    for j, pivot in enumerate(rows):
        if not pivot[j] > 0:
            return False
        for row in rows[j + 1 :]:
            share = row[j] / pivot[j]
            for k in range(j, len(row)):
                row[k] -= share * pivot[k]
    return True


@dataclass(frozen=True, slots=True)
class _Frame:
    """The space S of a data set, by pairs (i, t) of an input with two scores and a token t > 0.

    Attributes:
        pairs: all pairs.
        A: their matrices, row by row.
        gram: inner products of all A with those that make a basis of S.
        basis: the places of these among the pairs.
    """

    data: ExactData
    loss: str
    pairs: list[Pair]
    A: list[Vector]
    gram: Matrix
    basis: list[int]

    @classmethod
    def of(cls, data: ExactData, loss: str) -> _Frame | None:
        """None where S is 0: nothing moves."""
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
        """Inner products of the basis."""
        return [self.gram[j] for j in self.basis]

    def combined(self, weights: Vector) -> Matrix:
        """The sum of weights times the matrices of the basis."""
        rows = [self.A[j] for j in self.basis]
        entries = [dot(weights, list(column)) for column in zip(*rows, strict=True)]
        width = len(self.data.Z[0])
        return [entries[k : k + width] for k in range(0, len(entries), width)]

    def hessian(self, W: Matrix, radius: arb) -> Matrix:
        """D^2 L in the basis, an enclosure over all W + V with V in S, ||V|| at most the radius."""
        reach = [(norm(a) * radius).upper() for a in self.A]
        logits = [arb(dot(a, _flat(W))) + arb(0, r) for a, r in zip(self.A, reach, strict=True)]
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

    def proposal(self, W0: Matrix, W: Matrix) -> tuple[Vector, fmpq] | None:
        """Coordinates of C - W_0 in the basis, and mu, both by Newton's method in floats from W."""
        basis = [self.A[j] for j in self.basis]
        G = _floats(self.metric)
        moved = _flat([subtract(*rows) for rows in zip(W, W0, strict=True)])
        try:
            c = np.linalg.solve(G, _floats([[dot(a, moved) for a in basis]])[0])
            for _ in range(NEWTON):
                point = self._moved(W0, c)
                slopes = _flat(gradient(self.data, point, self.loss))
                pull = _floats([[dot(a, slopes) for a in basis]])[0]
                c = c - np.linalg.solve(_floats(self.hessian(point, arb(0))), pull)
            H = _floats(self.hessian(self._moved(W0, c), arb(0)))
            half = np.linalg.inv(np.linalg.cholesky(G))
            least = float(np.linalg.eigvalsh(half @ H @ half.T)[0])
        except (np.linalg.LinAlgError, ArithmeticError):
            return None
        if not (np.isfinite(c).all() and np.isfinite(least) and least > 0.0):
            return None
        return [rational(x) for x in c.tolist()], SHARE * rational(least)

    def _moved(self, W0: Matrix, c: Array) -> Matrix:
        if not np.isfinite(c).all():
            raise ArithmeticError
        shift = self.combined([rational(x) for x in c.tolist()])
        return [[w + v for w, v in zip(*rows, strict=True)] for rows in zip(W0, shift, strict=True)]


def _floats(matrix: Matrix) -> Array:
    return np.array([[float(arb(x).mid()) for x in row] for row in matrix])
