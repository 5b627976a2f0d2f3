"""Softmax against 50 digits, the parametrisations against each other, the tensor trick exactly."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attsvm.attention import (
    attention_output,
    kron_block,
    linear_attention,
    log_softmax,
    logits_of_kq,
    logits_of_p,
    logits_of_w,
    softmax,
    vec,
)
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


@settings(max_examples=200, deadline=None)
@given(logits())
@example(np.array([1e308, -1e308]))
@example(np.array([-1.7e308, 1.7e308, 1.7e308]))
@example(np.array([0.0, 1e6, -1e6]))
def test_softmax_is_positive_and_sums_to_one(values):
    s = softmax(values)
    assert (s >= 0).all()
    assert abs(s.sum() - 1.0) <= len(values) * EPS
    assert s[values.argmax()] >= 1.0 / len(values) - EPS


@settings(max_examples=100, deadline=None)
@given(arrays(4), st.integers(-(2**20), 2**20))
def test_softmax_does_not_see_a_shift(values, shift):
    """The shifted logits are exact, so nothing at all may change."""
    assert np.array_equal(softmax(values + shift), softmax(values))
    assert np.array_equal(log_softmax(values + shift), log_softmax(values))


@settings(max_examples=200, deadline=None)
@given(logits())
@example(np.array([1e308, -0.7e308]))
@example(np.array([0.0, 1e6, -1e6]))
@example(np.zeros(6))
def test_log_softmax_has_the_value_of_fifty_digits(values):
    """The difference of the logits rounds once; the sum of T exponentials and its log, T + 4."""
    for mine, truth in zip(log_softmax(values), exact_log_softmax(values), strict=True):
        bound = EPS * (abs(truth) + len(values) + 4)
        assert abs(mpmath.mpf(float(mine)) - truth) <= bound


@settings(max_examples=100, deadline=None)
@given(logits())
def test_softmax_is_the_exponential_of_its_logarithm(values):
    """Relative to 50 digits, as far as float64 has entries: exponent error plus T + 4 roundings."""
    for mine, truth in zip(softmax(values), exact_log_softmax(values), strict=True):
        if truth > -700:
            with mpmath.workdps(50):
                error = abs(mpmath.mpf(float(mine)) / mpmath.exp(truth) - 1)
            assert error <= EPS * (abs(truth) + len(values) + 4)
        else:
            assert mine < 1e-303


def test_a_difference_beyond_float64_is_weight_zero_without_a_warning():
    values = np.array([1.5e308, -1.5e308])
    assert softmax(values).tolist() == [1.0, 0.0]
    assert log_softmax(values).tolist() == [0.0, -np.inf]


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=50, deadline=None)
@given(arrays(2, 3, 4))
def test_leading_axes_are_a_batch(values):
    for i, j in np.ndindex(2, 3):
        assert np.array_equal(softmax(values)[i, j], softmax(values[i, j]))
        assert np.array_equal(log_softmax(values)[i, j], log_softmax(values[i, j]))


@settings(max_examples=50, deadline=None)
@given(arrays(4), arrays(4, 3))
def test_attention_output_lies_between_the_tokens(values, X):
    output = attention_output(softmax(values), X)
    slack = 8 * EPS * np.abs(X).max()  # four products, their sum and the weights' sum
    assert (output >= X.min(axis=0) - slack).all()
    assert (output <= X.max(axis=0) + slack).all()
    assert np.array_equal(attention_output(np.eye(4), np.array([X] * 4)), X)


@settings(max_examples=50, deadline=None)
@given(arrays(3, 4), arrays(3, 4))
def test_linear_attention_is_the_inner_product(values, tokens):
    """Dyadic entries: exact."""
    for row, weights, result in zip(values, tokens, linear_attention(values, tokens), strict=True):
        truth = sum(Fraction(a) * Fraction(b) for a, b in zip(row, weights, strict=True))
        assert Fraction(float(result)) == truth


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=50, deadline=None)
@given(arrays(2, 3, 2, 2), arrays(2, 3, 2), arrays(2, 2, 2))
def test_a_batch_of_logits_is_its_parts(X, Z, W):
    both = logits_of_w(X, Z, W)
    for b in range(2):
        assert np.array_equal(both[b], logits_of_w(X[b], Z[b], W[b]))


@st.composite
def tricks(draw):
    m1, m2, r, c = (draw(sizes(1, 4)) for _ in range(4))
    return draw(integers(m1, r)), draw(integers(m2, c)), draw(integers(r, c))


@settings(max_examples=100, deadline=None)
@given(tricks())
def test_block_j_of_the_kronecker_product_gives_row_j(case):
    A1, A2, X = case
    direct = A1 @ X @ A2.T
    for j in range(len(A1)):
        assert np.array_equal(kron_block(A1, A2, j) @ vec(X), direct[j])
    blocks = np.vstack([kron_block(A1, A2, j) for j in range(len(A1))])
    assert np.array_equal(blocks, np.kron(A1, A2))
    assert np.array_equal(blocks @ vec(X), vec(direct))


def test_vec_goes_row_by_row():
    assert vec(np.array([[1, 2], [3, 4]])).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("T", [1, 2, 7])
def test_equal_logits_are_uniform_attention(T):
    assert softmax(np.full(T, 3.0)).tolist() == [1.0 / T] * T
