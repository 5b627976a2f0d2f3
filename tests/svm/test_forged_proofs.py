"""The judges themselves: forged proofs are refused, and rounding is really allowed for."""

import numpy as np
import pytest
from flint import fmpq, fmpz_mat

from attsvm import AttentionData
from attsvm.errors import DataError
from attsvm.exact import rational
from attsvm.exact.svm import ExactProgramme, decide, proved
from attsvm.kernels.least_norm import figures
from attsvm.svm import att_svm, att_svm_programme, certify
from attsvm.svm.bounds import frobenius_bracket
from attsvm.svm.farkas import cancelling_multipliers, exists
from attsvm.svm.nuclear import solve_nuclear
from attsvm.svm.programme import p_svm_programme
from attsvm.svm.soft import solve_soft
from tests.svm.problems import of_rows

HAIR = AttentionData.of([[[0, 0], [-1, -1e-10], [1, -1e-10]]], [[1, 0]], scores=[[1, 0, 0]])


def exactly(D, z, **more):
    return ExactProgramme.of_rows(
        [[fmpq(x) for x in row] for row in D], [[fmpq(x) for x in row] for row in z], **more
    )


def test_a_multiplier_on_a_slack_constraint_proves_nothing():
    """Rows 1 and 2: w = (1/2, 1/4) gives W = 1 with margins 1 and 2, but W is not the least."""
    rows = exactly([[1], [2]], [[1], [1]])
    assert proved(rows, [fmpq(1, 2), fmpq(1, 4)], "solved") is None
    assert proved(rows, [fmpq(1), fmpq(0)], "solved") is not None


def test_multipliers_that_do_not_cancel_prove_nothing():
    rows = exactly([[1], [-1]], [[1], [1]])
    assert proved(rows, [fmpq(1), fmpq(1)], "unseparable") is not None
    assert proved(rows, [fmpq(1), 1 + fmpq(1, 10**30)], "unseparable") is None
    assert proved(rows, [fmpq(-1), fmpq(-1)], "unseparable") is None


def test_a_separable_hair_is_not_called_unseparable():
    """(1, 1e-10) and (-1, 1e-10) have W = (0, 1e10); as floats they cancel to 1e-10."""
    programme = att_svm_programme(HAIR)
    weights = np.array([0.5, 0.5])
    assert not exists(programme, weights)
    answer = att_svm(HAIR)
    assert answer.status == certify(answer).status == "solved"
    low, high = answer.bracket
    assert low <= 1e10 <= high


@pytest.mark.parametrize("power", [8, 20, 30, 40, 48])
def test_an_enclosure_does_not_outrun_its_rounding(power):
    """In the plane: (1, 0), (-1, h), (-1, -h - h^2) have the origin inside their hull or not.

    Turned by a hair the third row leaves the cone of the others; the enclosure may then say
    nothing, never that they cancel.
    """
    h = 2.0**-power
    for turn, inside in ((-(h**2), True), (2 * h, False)):
        D = [[1.0, 0.0], [-1.0, h], [-1.0, -h + turn]]
        X = np.array([[[0.0, 0.0]] + [[-a, -b] for a, b in D]])
        made = AttentionData(X, np.ones((1, 2)), scores=np.array([[1.0, 0.0, 0.0, 0.0]]))
        programme = p_svm_programme(made)
        truth = decide(programme).status
        assert (truth == "unseparable") == inside
        third = np.linalg.lstsq(programme.D[:2].T, -programme.D[2], rcond=None)[0]
        weights = np.abs(np.append(third, 1.0))
        if cancelling_multipliers(programme, weights) is not None:
            assert inside


def test_shortfalls_are_measured_against_what_they_fall_short_of():
    """W = (1, 0) misses -1e-12 w_1 + 1e-12 w_2 >= 0 by 1e-12, which is all of its size."""
    D, Z = np.array([[1.0, 0.0], [-1e-12, 1e-12]]), np.ones((2, 1))
    figured = figures(D, Z, np.array([1.0, 0.0]), np.zeros(2, dtype=bool), np.array([1.0, 0.0]))
    assert figured[5] > 0.5


@pytest.mark.parametrize("seed", range(12))
def test_brackets_hold_the_exact_norm_where_constraints_nearly_cancel(seed):
    """The norm is many times what single rows ask: rounding moves unguarded bounds across."""
    g = np.random.default_rng(seed)
    base, z = g.normal(size=4), g.normal(size=(1, 4))
    angle = 10.0 ** -float(g.uniform(1.0, 3.0))
    X = np.array([np.zeros(4), -base, base + angle * g.normal(size=4), g.normal(size=4) * 1e-3])
    data = AttentionData(X[None], z, scores=np.array([[1.0, 0.0, 0.0, 0.0]]))
    answer = att_svm(data)
    assert answer.solved
    square = certify(answer).square
    low, high = frobenius_bracket(answer.programme, answer.W, answer.weights)
    assert rational(low) ** 2 <= square <= rational(high) ** 2
    # one query: every W has rank one where it matters, and both norms agree
    low, high = solve_nuclear(answer.programme, start=answer.W).bracket
    assert rational(low) ** 2 <= square <= rational(high) ** 2


def test_the_soft_margin_of_rounded_keys_is_refused():
    data = AttentionData.of([[[1.0, 0.0], [0.0, 1.0]]], [[1.0, 0.0]], scores=[[1.0, 0.0]])
    programme = p_svm_programme(data, W=np.array([[3.0, 1.0]]))
    with pytest.raises(DataError, match="keys"):
        solve_soft(programme, 1.0)


def test_nothing_times_anything_is_the_zero_matrix():
    W, _, margins = exactly([[1], [2]], [[1], [1]]).combine([fmpq(0), fmpq(0)])
    assert fmpz_mat(1, 1) == W
    assert margins == [0, 0]


def test_positive_multipliers_that_cancel_prove_nothing_about_bounds_below_0():
    """W >= 1 and W <= 2 have solutions, W >= 1 and W <= 0 have none."""
    for low, found in ((-2.0, False), (0.0, True)):
        rows = of_rows([[1.0], [-1.0]], np.zeros((2, 1)), np.ones((2, 1)), [1.0, low], False)
        assert exists(rows, np.ones(2)) is found


@pytest.mark.parametrize(("power", "proved"), [(40, True), (45, False)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rows_that_are_nearly_dependent_are_not_inverted_in_floats(power, proved, sign):
    """(1, h - 1) and (-1, 1) have the determinant h, and their entries may each be rounded."""
    h = 2.0**-power
    kept = np.array([[1.0, h - 1.0], [-1.0, 1.0], [0.0, -h]]) * [sign, 1.0]
    rows = of_rows(kept, 0.0 * kept, np.ones((3, 1)), np.ones(3), False)
    assert (cancelling_multipliers(rows, np.ones(3)) is not None) is proved


def test_an_inverse_in_blocks_is_as_good_as_the_worst_of_them():
    blocks, h = 8, 2.0**-40
    kept = np.zeros((2 * blocks + 1, 2 * blocks))
    for at in range(0, 2 * blocks, 2):
        kept[at : at + 2, at : at + 2] = [[1.0, h - 1.0], [-1.0, 1.0]]
    kept[-1, 1::2] = -h
    ones = np.ones(2 * blocks + 1)
    rows = of_rows(kept, 0.0 * kept, ones[:, None], ones, False)
    assert cancelling_multipliers(rows, ones) is not None
