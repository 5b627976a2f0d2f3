"""Softmax against 50 digits, and the parametrisations against each other."""

import mpmath
import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from attsvm.attention import log_softmax, logits_of_kq, logits_of_p, logits_of_w, softmax
from attsvm.strategies import arrays, sizes

EPS = np.finfo(float).eps
EXPONENTS = st.integers(-20, 1000)


@st.composite
def logits(draw):
    """Up to six logits, exact in binary, from about 1e-7 to 1e301 in size."""
    return draw(arrays(draw(sizes(1, 6)))) * 2.0 ** draw(EXPONENTS)


@st.composite
def masks(draw, T):
    mask = draw(arrays(T)) >= 0
    mask[draw(st.integers(0, T - 1))] = True
    return mask


@st.composite
def integers(draw, *shape):
    size = int(np.prod(shape))
    entries = draw(st.lists(st.integers(-9, 9), min_size=size, max_size=size))
    return np.array(entries, dtype=np.int64).reshape(shape)


@st.composite
def weighted(draw):
    """Integer tokens, queries, keys and query weights of a common dimension."""
    n, T, d, r = (draw(sizes(1, 3)) for _ in range(4))
    return tuple(
        draw(integers(*shape)).astype(float) for shape in ((n, T, d), (n, d), (d, r), (d, r))
    )


def exact_log_softmax(values):
    with mpmath.workdps(50):
        top = max(mpmath.mpf(float(x)) for x in values)
        shifted = [mpmath.mpf(float(x)) - top for x in values]
        total = mpmath.log(sum(mpmath.exp(x) for x in shifted))
        return [x - total for x in shifted]


@given(logits())
@example(np.array([1e308, -0.7e308]))
@example(np.array([1.5e308, -1.5e308]))
@example(np.array([-1.7e308, 1.7e308, 1.7e308]))
@example(np.array([0.0, 1e6, -1e6]))
@example(np.zeros(6))
@example(np.full(7, 3.0))
def test_softmax_and_its_logarithm_have_the_values_of_fifty_digits(values):
    """The difference of the logits rounds once; the sum of T exponentials and its log, T + 4.

    A difference beyond float64 is weight zero, without a warning.
    """
    s, log_s = softmax(values), log_softmax(values)
    assert abs(s.sum() - 1.0) <= len(values) * EPS
    for mine, log_mine, truth in zip(s, log_s, exact_log_softmax(values), strict=True):
        bound = EPS * (abs(truth) + len(values) + 4)
        if truth < -np.finfo(float).max:
            assert log_mine == -np.inf
        else:
            assert abs(mpmath.mpf(float(log_mine)) - truth) <= bound
        with mpmath.workdps(50):
            if truth > -700:
                assert abs(mpmath.mpf(float(mine)) / mpmath.exp(truth) - 1) <= bound
            else:
                assert 0.0 <= mine < 1e-303


@given(arrays(4), st.integers(-(2**20), 2**20))
def test_softmax_does_not_see_a_shift(values, shift):
    """The shifted logits are exact, so nothing at all may change."""
    assert np.array_equal(softmax(values + shift), softmax(values))
    assert np.array_equal(log_softmax(values + shift), log_softmax(values))


@given(arrays(5), masks(5))
def test_absent_tokens_have_weight_zero_and_do_not_matter(values, mask):
    s, log_s = softmax(values, mask), log_softmax(values, mask)
    assert (s[~mask] == 0).all()
    assert (log_s[~mask] == -np.inf).all()
    # the same numbers are added, in an order that numpy may choose by length
    assert np.abs(s[mask] - softmax(values[mask])).max() <= 5 * EPS
    assert np.abs(log_s[mask] - log_softmax(values[mask])).max() <= 40 * EPS
    moved = np.where(mask, values, 7e300)
    assert np.array_equal(softmax(moved, mask), s)


@given(arrays(2, 3, 4))
def test_leading_axes_are_a_batch(values):
    for i, j in np.ndindex(2, 3):
        assert np.array_equal(softmax(values)[i, j], softmax(values[i, j]))
        assert np.array_equal(log_softmax(values)[i, j], log_softmax(values[i, j]))


@given(weighted())
def test_weights_and_their_factors_give_the_same_logits(case):
    """Integers: exactly, with W = K Q^T, and with the prompt p = W z of each input."""
    X, Z, K, Q = case
    W = K @ Q.T
    logits = logits_of_w(X, Z, W)
    assert np.array_equal(logits, logits_of_kq(X, Z, K, Q))
    for i, z in enumerate(Z):
        assert np.array_equal(logits[i : i + 1], logits_of_p(X[i : i + 1], W @ z))
        for t, x in enumerate(X[i]):
            assert logits[i, t] == sum(
                x[a] * W[a, b] * z[b] for a in range(len(z)) for b in range(len(z))
            )


@given(arrays(2, 3, 2, 2), arrays(2, 3, 2), arrays(2, 2, 2))
def test_a_batch_of_logits_is_its_parts(X, Z, W):
    both = logits_of_w(X, Z, W)
    for b in range(2):
        assert np.array_equal(both[b], logits_of_w(X[b], Z[b], W[b]))
