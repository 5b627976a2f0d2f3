"""Selections: keys along one vector attain a bound of the p-SVM; where assumption B holds."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import nnls

from attsvm.attention import softmax
from attsvm.errors import SolverError
from attsvm.exact import rational
from attsvm.exact.numbers import combine
from properties.mm import p_svm
from properties.mm._support import best_nu
from properties.mm._support import label_margins as margins
from properties.mm._support import max_margin as svm
from properties.mm._support.attended import Doubted, doubted
from properties.mm._support.max_margin import Programme, p_programme
from properties.mm._support.token_selections import along, select
from properties.mm.assumption_b import instances
from properties.mm.figures import assumption_b
from properties.mm.p_svm import conclusion

BOUND = p_svm.PROGRAMME.claim("amended-2")


def attains(case):
    """Whether alpha leads, and all keys differ along q: then the bound is attained."""
    chosen = case.chosen
    keys = chosen.X @ chosen.W.T
    gaps = np.take_along_axis(keys, chosen.alpha[:, None, None], axis=1) - keys
    rank = np.linalg.matrix_rank(np.vstack([case.q[None], *gaps]))
    return bool(rank <= 1 and case.q.any() and conclusion.alone(case))


@pytest.mark.parametrize("seed", range(3))
def test_bounds_are_attained_by_keys_along_q_of_any_key_matrix(seed):
    generator = np.random.default_rng(seed)
    cases = [along(generator) for _ in range(60)]
    tight = [case for case in cases if attains(case)]
    assert len(tight) > 30
    for case in tight:
        assert p_programme(case.chosen).exists
        slack = BOUND.conclusion(case)
        assert slack.holds
        assert (slack.value, slack.error) == (0.0, 0.0)
        assert BOUND.conclusion(case, share="0.999").violated
    assert all(len(set(case.chosen.y.tolist())) == 1 for case in cases)
    turned = [case for case in tight if (case.chosen.W != case.chosen.W.T).any()]
    assert len(turned) > 20
    assert sum(not attains(case) for case in cases) > 2


def test_multipliers_that_name_another_point_of_the_hull_are_refused():
    rows, bound = [[fmpq(1), fmpq(0)], [fmpq(0), fmpq(1)]], [fmpq(1), fmpq(1)]
    half = fmpq(1, 2)
    assert Programme(rows, bound, [fmpq(1), fmpq(1)], [half, half]).hull_square == half
    shifted = [[fmpq(1), fmpq(1)], [fmpq(0), fmpq(1)]]
    assert Programme(shifted, bound, None, [fmpq(0), fmpq(1)]).hull_square == 1
    for forged, weights in ((rows, (1, 0)), (rows, (2, -1)), (shifted, (half, half))):
        with pytest.raises(SolverError, match="nearest to 0"):
            _ = Programme(forged, bound, None, [fmpq(w) for w in weights]).hull_square
    negative = [[fmpq(1)], [fmpq(2)], [fmpq(3)]]  # the point 1 is the nearest, by weights below 0
    with pytest.raises(SolverError, match="nearest to 0"):
        _ = Programme(negative, [fmpq(1)] * 3, None, [fmpq(2), fmpq(-2), fmpq(1)]).hull_square


def test_one_input_meets_assumption_b_and_two_in_one_dimension_do_not_both_count():
    # the longest token is an end of the hull of its input, so that p(alpha) exists and B holds
    table = assumption_b.numbers(0, 5, [(1, 3), (2, 2)], [1, 4]).tables["frequencies"]
    conditions = assumption_b.CONDITIONS
    exist, count, reach, needed, enough = (table.where(n=1, condition=c) for c in conditions)
    for one in (exist, count, needed, enough):
        assert one["hits"].tolist() == [5, 5]
        assert (one["low"] < 0.5).all()
    assert reach["hits"].tolist() == [0, 5]  # on a line no prompt selects the key in the middle
    exist, count, reach, needed, enough = (table.where(n=2, condition=c) for c in conditions)
    assert count["hits"].tolist()[0] == enough["hits"].tolist()[0] == 0
    assert enough["hits"][1] == needed["hits"][1] > 0  # d = 4 is n (T - 1) at least
    assert (enough["hits"] <= needed["hits"]).all()
    assert (needed["hits"] <= exist["hits"]).all()


@given(doubted())
def test_multipliers_count_all_inputs_that_are_not_idle(case):
    one, v = case.chosen, svm.v_programme(case.chosen)
    w = margins.multipliers(one)
    assert sum(w) == 1
    assert [x == 0 for x in w] == margins.idle(one)
    assert all(x >= 0 for x in w)
    assert combine(w, v.rows) == [v.margin_square * x for x in v.vector]


def largest_margin(case, p):
    """Gamma less the label margin at a prompt over what attention leaves, in floats."""
    keys = case.X @ case.W.T
    s = softmax(keys @ p)
    rows = case.y[:, None] * np.einsum("nt,ntd->nd", s, case.X)
    nearest = nnls(np.vstack([rows.T, 1e6 * np.ones(len(rows))]), np.r_[0 * p, 1e6])[0]
    margin = np.linalg.norm(nearest @ rows / nearest.sum())
    off = (1.0 - s[np.arange(len(s)), case.alpha]).max()
    return float(arb(svm.v_programme(case).margin_square).sqrt()) - margin, off


@given(doubted(), st.integers(0, 2**32 - 1))
def test_assumption_b_is_decided_as_the_margins_of_random_prompts_say(case, seed):
    one = case.chosen
    assume(margins.reaches_all(one) and one.X.shape[1] > 1)
    best = best_nu.best_nu(one)
    nu = 0.0 if best is None else float(best)
    generator = np.random.default_rng(seed)
    for scale in (1.0, 4.0, 16.0):
        short, off = largest_margin(one, scale * generator.normal(size=len(case.p)))
        if nu > 0:
            assert short >= nu * off - 1e-6
    assume(margins.independent(one))
    found = best_nu.too_much(replace(case, nu=1.001 * nu if nu > 0 else 2.0**-10))
    assert found is not None
    short, off = largest_margin(one, np.array([float(arb(x)) for x in found.p]))
    assert short < found.nu * off + 1e-6


def level(generator, n):
    """Inputs of two tokens that all count; the other ones score little less, or are as drawn."""
    X = np.round(4.0 * generator.normal(size=(n, 2, n + 1))) / 4.0
    X[:, 0, 0] = 3.0
    X[-1, 0, 1:] = -X[:-1, 0, 1:].sum(axis=0)
    X[:, 1, 0] = 2.0
    X[:, 1, 1:] *= generator.choice([1.0, 4.0])
    return select(X, [1] * n, [0] * n)


@pytest.mark.parametrize("n", range(1, 5))
def test_certificates_are_found_below_the_best_nu_alone(n):
    generator, at_end = np.random.default_rng(n), []
    for _ in range(12):
        case = level(generator, n)
        best = best_nu.best_nu(case)
        if best is None:
            continue
        at_end.append(best.at_end)
        below, above = (rational(float(best) * factor) for factor in (0.999, 1.001))
        assert best.allows(below)
        assert not best.allows(above)
        found = best_nu.proposed(case, below)
        assert isinstance(found, best_nu.Certificate)
        assert best_nu.certifies(case, below, found)
        assert not best_nu.certifies(case, above, found)
        assert isinstance(best_nu.proposed(case, above), best_nu.Excess)
        assert best_nu.too_much(SimpleNamespace(chosen=case, nu=above)) is not None
    assert len(set(at_end)) == (1 if n == 1 else 2)


def test_forged_certificates_are_refused():
    case, nu = instances.ASLANT, fmpq(15, 64)
    found = best_nu.proposed(case, nu)
    assert best_nu.certifies(case, nu, found)
    assert not best_nu.certifies(case, fmpq(0), found)
    knots, rivals = found.knots[1, 1], found.rivals
    (q, w), *_, (last, other) = knots
    worse = [1 - other[0] / 2, other[0] / 2]
    for forged in (
        replace(found, head=[x / 2 for x in found.head]),
        replace(found, rivals={}),
        replace(found, rivals={beta: [fmpq(2), fmpq(-1)] for beta in rivals}),
        replace(found, knots={}),
        *(
            replace(found, knots={**found.knots, (1, 1): other_knots})
            for other_knots in (
                knots[:1],
                knots[1:],
                [*knots[:-1], (last, worse)],
                [(q, [w[0] + 1, w[1]]), *knots[1:]],
                [(q, [1 - w[1] / 8, w[1] / 8]), *knots],
            )
        ),
    ):
        assert not best_nu.certifies(case, nu, forged)
    rising = [(fmpq(0), [fmpq(1, 2)] * 2), (fmpq(1), [fmpq(1, 4), fmpq(3, 4)])]
    long = select([[[1, 1], [0, 0.25]], [[1, -1], [0.75, -4]]], [1, 1], [0, 0])
    loose = best_nu.proposed(long, fmpq(1, 1024))
    assert best_nu.certifies(long, fmpq(1, 1024), loose)
    assert not best_nu.certifies(
        long, fmpq(1, 1024), replace(loose, knots={**loose.knots, (1, 1): rising})
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_better_choice_out_of_reach_may_leave_assumption_b_true(seed):
    one, generator = instances.HIDDEN, np.random.default_rng(seed)
    assert margins.rival_square(one) > svm.v_programme(one).margin_square
    assert not margins.reaches_all(one)
    assert not best_nu.too_much(Doubted(one, np.zeros(3), np.zeros(3), 0.125))
    for scale in np.geomspace(1e-2, 1.0, 40):
        short, off = largest_margin(one, scale * generator.normal(size=3))
        assert short > 0.5 * off
