"""Least-norm programmes with exact rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat, nmod_mat

from attsvm._types import Array
from attsvm.exact.numbers import Matrix, Vector, dot, integers, rationals

PRIME = 2**61 - 1
"""Modulus for tests of independence: integer rows independent modulo a prime are independent."""


class FloatProgramme(Protocol):
    """The interface of a programme in floats: kept and rival tokens, keys, queries, bounds."""

    @property
    def kept(self) -> Array:
        """The tokens that are kept (m, d)."""

    @property
    def rival(self) -> Array:
        """The tokens that the kept tokens are compared with (m, d)."""

    @property
    def keys(self) -> Array | None:
        """The key matrix, if there is one."""

    @property
    def Z(self) -> Array:
        """The queries (m, d)."""

    @property
    def bound(self) -> Array:
        """The bounds (m,)."""

    @property
    def equal(self) -> Array:
        """Whether each row is an equality (m,)."""


@dataclass(frozen=True, slots=True)
class ExactProgramme:
    """Rows of min 1/2 ||W||_F^2 subject to D_j^T W z_j >= bound_j, = bound_j where `equal`.

    D and Z are integer matrices over the denominators `unit_left` and `unit_right`.
    """

    D: fmpz_mat
    Z: fmpz_mat
    unit_left: fmpz
    unit_right: fmpz
    bound: list[fmpq]
    equal: list[bool]

    @classmethod
    def of_rows(
        cls, D: Matrix, Z: Matrix, bound: Vector | None = None, equal: list[bool] | None = None
    ) -> ExactProgramme:
        """Return a programme from rows of rationals.

        By default bounds are 1 and rows are inequalities.
        """
        numer_D, unit_D = fmpq_mat(D).numer_denom()
        numer_Z, unit_Z = fmpq_mat(Z).numer_denom()
        m = len(D)
        return cls(numer_D, numer_Z, unit_D, unit_Z, bound or [fmpq(1)] * m, equal or [False] * m)

    @classmethod
    def of(cls, programme: FloatProgramme) -> ExactProgramme:
        """Return the exact programme of a float programme.

        Differences of tokens are computed again from `kept` and `rival`, as floats rounded them.
        """
        kept, unit_kept = integers(programme.kept)
        rival, unit_rival = integers(programme.rival)
        D, unit_D = kept * unit_rival - rival * unit_kept, unit_kept * unit_rival
        if programme.keys is not None:
            keys, unit_keys = integers(programme.keys)
            D, unit_D = D * keys.transpose(), unit_D * unit_keys
        Z, unit_Z = integers(programme.Z)
        return cls(D, Z, unit_D, unit_Z, rationals(programme.bound), programme.equal.tolist())

    @property
    def gram_unit(self) -> fmpz:
        """The denominator of the inner products of the constraint matrices."""
        unit = self.unit_left * self.unit_right
        return unit * unit

    @property
    def rank_bound(self) -> int:
        """rank(D) rank(Z), which bounds the number of independent constraints.

        Ranks are computed modulo a prime, so in rare cases the number is too small: it only chooses
        a method.
        """
        ranks = [
            nmod_mat([[int(x) % PRIME for x in row] for row in side.tolist()], PRIME).rank()
            for side in (self.D, self.Z)
        ]
        return int(ranks[0] * ranks[1])

    def gram(self, rows: Sequence[int], columns: Sequence[int]) -> list[list[fmpz]]:
        """Return inner products of the integer constraint matrices."""
        left = right = _take(self.D, rows), _take(self.Z, rows)
        if columns is not rows:
            right = _take(self.D, columns), _take(self.Z, columns)
        one, two = (a * b.transpose() for a, b in zip(left, right, strict=True))
        pairs = zip(one.tolist(), two.tolist(), strict=True)
        return [[x * y for x, y in zip(a, b, strict=True)] for a, b in pairs]

    def squares(self) -> list[fmpz]:
        """Return the squared norms of the integer constraint matrices."""
        sides = (
            [sum((x * x for x in row), fmpz(0)) for row in side.tolist()]
            for side in (self.D, self.Z)
        )
        return [x * y for x, y in zip(*sides, strict=True)]

    def margins(self, W: Matrix) -> list[fmpq]:
        """Return D_j^T W z_j for any rational matrix W."""
        return self._margins(*fmpq_mat(W).numer_denom())

    def float_margins(self, W: Array) -> list[fmpq]:
        """Return D_j^T W z_j for a matrix of floats, exactly.

        Raises:
            DataError: an entry is NaN or infinite.
        """
        return self._margins(*integers(W))

    def _margins(self, numer: fmpz_mat, unit: fmpz) -> list[fmpq]:
        scale = unit * self.unit_left * self.unit_right
        pairs = zip((self.D * numer).tolist(), self.Z.tolist(), strict=True)
        return [
            fmpq(sum((x * y for x, y in zip(a, z, strict=True)), fmpz(0)), scale) for a, z in pairs
        ]

    def matrix(self, weights: Vector) -> Matrix:
        """Return sum_j weights_j A_j, A_j = D_j z_j^T."""
        numer, unit, _ = self.combine(weights)
        scale = unit * self.unit_left * self.unit_right
        return [[fmpq(x, scale) for x in row] for row in numer.tolist()]

    def combine(self, weights: Vector) -> tuple[fmpz_mat, fmpz, list[fmpz]]:
        """Return sum_j weights_j A_j and its margins in integers: matrix, denominator, margins.

        The matrix is over the denominator times unit_left unit_right. The margins are over that
        times unit_left unit_right once more.
        """
        used = [j for j, w in enumerate(weights) if w != 0]
        if not used:
            zero = fmpz_mat(self.D.ncols(), self.Z.ncols())
            return zero, fmpz(1), [fmpz(0)] * self.D.nrows()
        scaled, unit = fmpq_mat([[weights[j] for j in used]]).numer_denom()
        left = _take(self.D, used).transpose().tolist()
        weighted = fmpz_mat([[x * scaled[0, k] for k, x in enumerate(row)] for row in left])
        W = weighted * _take(self.Z, used)
        product = (self.D * W).tolist()
        margins = [dot(a, b) for a, b in zip(product, self.Z.tolist(), strict=True)]
        return W, unit, margins


def _take(matrix: fmpz_mat, rows: Sequence[int]) -> fmpz_mat:
    if list(rows) == list(range(matrix.nrows())):
        return matrix
    table = matrix.tolist()
    return fmpz_mat([table[j] for j in rows])
