"""Conditions for a correct answer of a programme of the SVM family, from tokens and queries.

The code under test is called only to read its fields and to decide semidefiniteness. `EPS` times
the number of terms times the sum of their absolute values bounds the rounding of a sum, in the
answer and in the check together.
"""

from fractions import Fraction

import mpmath
import numpy as np
from flint import fmpq

from attsvm.exact.numbers import is_positive_semidefinite, rational

EPS = float(np.finfo(float).eps)
GAP = 1e-9
"""The relative amount by which an answer may violate its conditions, in addition to rounding."""


def length(rows):
    """Euclidean norms along the last axis; squares of entries may overflow or underflow."""
    largest = np.abs(rows).max(axis=-1, keepdims=True)
    unit = rows / np.where(largest > 0.0, largest, 1.0)
    return largest[..., 0] * np.sqrt((unit**2).sum(axis=-1))


def matrices(programme):
    """Constraint matrices A_j as rows."""
    return np.array([np.outer(D, z).ravel() for D, z in zip(programme.D, programme.Z, strict=True)])


def allowed(programme, answer):
    """The amounts by which margins may miss their bounds.

    They are 1e-9 of a positive bound, otherwise 1e-9 of ||A_j|| ||W||, plus rounding.
    """
    A, bound = matrices(programme), programme.bound
    sizes = length(A)
    unit = np.where((bound > 0.0) & ~programme.equal, bound, sizes * answer.value)
    rounding = 4 * sum(A.shape) * EPS * (np.abs(answer.weights) @ sizes)
    return GAP * unit + rounding * sizes


def check(programme, answer):
    """Assert all conditions of a solution, or of a Farkas certificate that there is none."""
    A, bound, equal = matrices(programme), programme.bound, programme.equal
    w, sizes, m = answer.weights, length(A), len(bound)
    assert answer.programme is programme
    assert w.shape == (m,)
    assert np.isfinite(w).all()
    assert (w[~equal] >= 0.0).all()
    total, largest = np.abs(w) @ sizes, np.abs(bound).max() or 1.0
    rounding = 4 * sum(A.shape) * EPS * total
    if answer.status == "unseparable":
        gain, count = float(w @ bound), np.abs(w) @ np.abs(bound)
        assert abs(gain - 1.0) <= 4 * m * EPS * max(count, 1.0)
        assert length(w @ A) <= GAP * total + rounding
        assert answer.value == np.inf
        assert not answer.W.any()
        assert not answer.solved
        assert not answer.reached.any()
        assert not answer.is_tight.any()
        assert answer.rank == 0
        assert 0.0 <= answer.dual_residual <= GAP
        assert answer.primal_residual == answer.gap == 0.0
        return
    assert answer.status == "solved"
    assert answer.solved
    W = answer.W.ravel()
    assert np.abs(W - w @ A).max() <= rounding
    margins = A @ W
    slack = allowed(programme, answer)
    assert (margins >= bound - slack)[~equal].all()
    assert (np.abs(margins - bound) <= slack)[equal].all()
    assert (np.abs(answer.reached - margins) <= rounding * sizes).all()
    square = float(W @ W)
    assert abs(answer.value - np.sqrt(square)) <= 4 * W.size * EPS * np.sqrt(square)
    summed = np.abs(w) @ np.abs(bound)
    gap = 0.5 * GAP * square + 4 * rounding * np.sqrt(square) + 4 * m * EPS * summed
    assert abs(square - w @ bound) <= gap
    assert 0.0 <= answer.primal_residual <= GAP
    assert answer.dual_residual == 0.0
    assert 0.0 <= answer.gap <= GAP
    tight = np.abs(answer.reached - bound) <= 1e-7 * largest
    assert (answer.is_tight == tight).all()


def exactly(x):
    """A float, fmpq or fmpz as a fraction."""
    if isinstance(x, float):
        return Fraction(x)
    return Fraction(int(x.p), int(x.q)) if isinstance(x, fmpq) else Fraction(int(x))


def inner(x, y):
    return sum(a * b for a, b in zip(x, y, strict=True))


def fractions_of(table):
    """A table of floats, or of rationals as strings, as fractions."""
    return [[Fraction(x) for x in row] for row in table]


def exact_differences(programme):
    """The exact rows of D as fractions, from the tokens and, if there are any, the keys."""
    pairs = zip(fractions_of(programme.kept), fractions_of(programme.rival), strict=True)
    rows = [[a - b for a, b in zip(kept, rival, strict=True)] for kept, rival in pairs]
    if programme.keys is not None:
        rows = [[inner(key, row) for key in fractions_of(programme.keys)] for row in rows]
    return rows


def exact_rows(programme):
    """Constraint matrices as rows of fractions."""
    pairs = zip(exact_differences(programme), fractions_of(programme.Z), strict=True)
    return [[x * y for x in D for y in z] for D, z in pairs]


def exact_margins(programme, W):
    """The margins D_j^T W z_j for a table W of floats, or of rationals as strings."""
    W, pairs = fractions_of(W), zip(exact_differences(programme), programme.Z, strict=True)
    return [inner(D, [inner(row, map(Fraction, z)) for row in W]) for D, z in pairs]


def exact_sum(programme, weights):
    """sum_j w_j A_j, row by row."""
    w, Z = [Fraction(x) for x in weights], fractions_of(programme.Z)
    left = [[x * a for a in D] for x, D in zip(w, exact_differences(programme), strict=True)]
    return [[inner(x, z) for z in zip(*Z, strict=True)] for x in zip(*left, strict=True)]


def is_norm_at_most(matrix, level):
    """Whether ||matrix||_op <= level, decided in rationals."""
    columns = list(zip(*matrix, strict=True))
    return is_positive_semidefinite(
        [
            [rational((level**2 if j == k else 0) - inner(x, y)) for k, x in enumerate(columns)]
            for j, y in enumerate(columns)
        ]
    )


def nuclear_norm(W):
    """||W||_* with 50 digits."""
    with mpmath.workdps(50):
        return mpmath.fsum(mpmath.svd_r(mpmath.matrix(W.tolist()), compute_uv=False))


def check_exactly(programme, exact):
    """Assert the conditions of an exact answer, without any tolerance."""
    A, bound = exact_rows(programme), [Fraction(b) for b in programme.bound.tolist()]
    w = [exactly(x) for x in exact.duals]
    assert len(w) == len(A)
    assert all(x >= 0 for x, e in zip(w, programme.equal, strict=True) if not e)
    W = [sum(x * a for x, a in zip(w, column, strict=True)) for column in zip(*A, strict=True)]
    assert [exactly(x) for row in exact.W for x in row] == W
    margins = [inner(row, W) for row in A]
    assert [exactly(x) for x in exact.margins] == margins
    gain = inner(w, bound)
    if exact.status == "unseparable":
        assert not any(W)
        assert gain > 0
        return
    assert exact.status == "solved"
    for margin, b, x, e in zip(margins, bound, w, programme.equal, strict=True):
        assert margin == b if e else margin >= b
        assert margin == b or x == 0
    assert sum(x * x for x in W) == gain


def near(answer, exact):
    """Whether a float solution is as near to the exact one as its gap and residual imply.

    With duals w and W = sum_j w_j A_j, 1/2 ||W - W*||^2 <= P* - q(w). The optimal value P* exceeds
    1/2 ||W||^2 by at most the sum of the violations of margins, each times its exact multiplier.
    """
    truth = np.array([[float(exactly(x)) for x in row] for row in exact.W])
    duals = np.array([float(abs(exactly(w))) for w in exact.duals])
    room = 0.5 * GAP * answer.value**2 + duals @ allowed(answer.programme, answer)
    return length((answer.W - truth).ravel()) <= np.sqrt(2.0 * room) + 8 * EPS * answer.value


def right(programme, answer, exact):
    """Compare a float answer with the exact one of the same programme.

    The statuses must agree, with one exception: the float solver meets equalities and margins at 0
    only to 1e-9, so that it may find a solution where the exact programme has none. With the float
    solution W and the exact Farkas weights w, sum_j w_j b_j = sum_j w_j (b_j - <A_j, W>). So this
    sum is at most the violations that are allowed for W.
    """
    check(programme, answer)
    if answer.status == exact.status:
        assert not answer.solved or near(answer, exact)
        return
    assert answer.solved, "a programme with a solution is called unseparable"
    assert (programme.equal | (programme.bound <= 0.0)).any()
    duals = [exactly(w) for w in exact.duals]
    gain = inner(duals, map(Fraction, programme.bound.tolist()))
    assert gain <= inner(map(abs, duals), map(Fraction, allowed(programme, answer).tolist()))


def proved(programme, reply):
    """Check a reply on separability, positive or negative, from the tokens in fractions."""
    A = exact_rows(programme)
    if reply.separable:
        assert reply.rows is None
        assert reply.weights is None
        assert reply.farkas == ()
        assert (reply.W is None) is (reply.exact is not None)
        W = reply.W if reply.exact is None else [[str(x) for x in row] for row in reply.exact.W]
        assert min(exact_margins(programme, W)) > 0
        return
    assert reply.W is None
    assert (reply.weights > 0.0).all()
    places = list(zip(programme.input.tolist(), programme.token.tolist(), strict=True))
    rows = {place: row for place, row in zip(places, A, strict=True)}
    used = list(zip(reply.rows.input.tolist(), reply.rows.token.tolist(), strict=True))
    assert len(set(used)) == len(used) == len(reply.weights)
    certificate = reply.farkas
    assert certificate
    assert {(i, t) for i, t, _ in certificate} <= set(used)
    assert all(exactly(w) > 0 for _, _, w in certificate)
    columns = zip(*([exactly(w) * x for x in rows[i, t]] for i, t, w in certificate), strict=True)
    assert not any(sum(column) for column in columns)
    # the weights are these multipliers, rounded, up to a common factor
    exact = {(i, t): exactly(w) for i, t, w in certificate}
    largest = max(exact.values())
    expected = np.array([float(exact.get(place, 0) / largest) for place in used])
    assert np.abs(reply.weights / reply.weights.max() - expected).max() <= 1e-6
