"""Gradients of the risk against derivatives in many digits and floats."""

import mpmath
import numpy as np
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.descent import descend_vp
from attsvm.exact import ExactData, rational, rationals
from attsvm.exact.descent import as_prompt, gradient
from attsvm.exact.gradients import gradient_kq, gradient_p, gradient_vp, gradient_w, with_head
from attsvm.losses import LOSSES
from attsvm.risk import gradient_kq as float_gradient_kq
from attsvm.risk import gradient_p as float_gradient_p
from attsvm.risk import gradient_w as float_gradient_w
from attsvm.strategies import arrays, sizes
from attsvm.strategies.data import attention_data
from tests.exact.digits import EPS, NAMES, VALUE, attend, near, real


def slope_of_risk(name, logits, moves, scores, rises=None):
    """d/dt of the mean loss of attention at logits + t moves, of scores + t rises, at t = 0."""
    rises = [[0] * len(row) for row in scores] if rises is None else rises

    def true_risk(t):
        total = mpmath.mpf(0)
        for parts in zip(logits, moves, scores, rises, strict=True):
            a, b, g, h = ([real(x) for x in part] for part in parts)
            moved = [p + t * q for p, q in zip(a, b, strict=True)]
            total += VALUE[name](attend(moved, [p + t * q for p, q in zip(g, h, strict=True)]))
        return total / len(logits)

    with mpmath.workdps(110):
        return mpmath.diff(true_risk, 0)


def rounding(data, gamma, loss, logits):
    """What a float gradient in the logits may be off by, over |x| |z|.

    Logits of size A are off by 2 d eps A, softmax by twice that and T eps, relative; so is the
    mean score u, times G = max |gamma|, and l'(u) by |l''| <= 2 + |l'| times that and the rounding
    of an exponential, eps (1 + G).
    """
    G = np.abs(gamma).max()
    steepest = 2.0 + np.abs(loss.slope(np.array([gamma.min(), gamma.max()]))).max()
    return 32 * EPS * (data.T + data.d) * (1.0 + np.abs(logits).max() + G) * steepest * (G + EPS)


def assert_close(mine, ball, bound):
    """Floats within the bound of balls far narrower than it."""
    for x, y in zip(np.ravel(mine), np.ravel(np.array(ball, dtype=object)), strict=True):
        y = arb(y)
        assert abs(y - arb(float(x))) <= bound
        assert y.rad() <= 1e-30


@settings(max_examples=60, deadline=None)
@given(attention_data(), NAMES, st.data())
def test_gradients_in_w_hold_derivatives_and_floats(data, name, draw):
    W = draw.draw(arrays(data.d, data.d)) / 8
    r, c = (draw.draw(st.integers(0, data.d - 1)) for _ in range(2))
    logits = np.einsum("ntd,de,ne->nt", data.X, W, data.Z)
    with ctx.workprec(400):
        G = gradient_w(ExactData.of(data), rationals(W), name)
        moves = data.X[:, :, r] * data.Z[:, [c]]
        assert near(G[r][c], slope_of_risk(name, logits, moves, data.gamma))
        sizes = np.abs(data.X).max() * np.abs(data.Z).max()
        sums = (np.abs(data.X) @ np.abs(W) @ np.abs(data.Z).T).max()
        bound = rounding(data, data.gamma, LOSSES[name], sums) * sizes
        assert_close(float_gradient_w(data, W, LOSSES[name]), G, bound)
    assert gradient is gradient_w


@settings(max_examples=60, deadline=None)
@given(attention_data(), NAMES, sizes(1, 2), st.data())
def test_gradients_in_key_and_query_hold_derivatives_and_floats(data, name, rank, draw):
    K, Q = (draw.draw(arrays(data.d, rank)) / 4 for _ in range(2))
    k, r = draw.draw(st.integers(0, data.d - 1)), draw.draw(st.integers(0, rank - 1))
    logits = np.einsum("ntd,dr,er,ne->nt", data.X, K, Q, data.Z)
    with ctx.workprec(400):
        in_K, in_Q = gradient_kq(ExactData.of(data), rationals(K), rationals(Q), name)
        along_K = data.X[:, :, k] * (data.Z @ Q[:, r])[:, None]
        assert near(in_K[k][r], slope_of_risk(name, logits, along_K, data.gamma))
        along_Q = (data.X @ K[:, r]) * data.Z[:, [k]]
        assert near(in_Q[k][r], slope_of_risk(name, logits, along_Q, data.gamma))
        sizes = np.abs(data.X).max() * np.abs(data.Z).max()
        inner = np.abs(K) @ np.abs(Q).T
        sums = (np.abs(data.X) @ inner @ np.abs(data.Z).T).max()
        others = data.d * (1.0 + np.abs(K).max() + np.abs(Q).max())
        bound = rounding(data, data.gamma, LOSSES[name], sums) * sizes * others
        mine_K, mine_Q = float_gradient_kq(data, K, Q, LOSSES[name])
        assert_close(mine_K, in_K, bound)
        assert_close(mine_Q, in_Q, bound)


@settings(max_examples=60, deadline=None)
@given(attention_data(), NAMES, st.data())
def test_gradients_in_a_prompt_hold_derivatives_and_floats(data, name, draw):
    p = draw.draw(arrays(data.d)) / 4
    k = draw.draw(st.integers(0, data.d - 1))
    exact = ExactData.of(data)
    with ctx.workprec(400):
        g = gradient_p(exact, rationals(p), name)
        assert near(g[k], slope_of_risk(name, data.X @ p, data.X[:, :, k], data.gamma))
        sums = (np.abs(data.X) @ np.abs(p)).max()
        bound = rounding(data, data.gamma, LOSSES[name], sums) * np.abs(data.X).max()
        assert_close(float_gradient_p(data, p, LOSSES[name]), g, bound)
        column = gradient_w(as_prompt(exact), [[x] for x in rationals(p)], name)
        assert all(bool(a == b[0]) or a.overlaps(b[0]) for a, b in zip(g, column, strict=True))


@st.composite
def labelled(draw):
    n, T, d = draw(sizes(1, 3)), draw(sizes(1, 4)), draw(sizes(1, 3))
    y = np.where(draw(arrays(n)) < 0, -1.0, 1.0)
    return AttentionData(draw(arrays(n, T, d)), np.ones((n, d)), y=y, v=draw(arrays(d)))


@settings(max_examples=60, deadline=None)
@given(labelled(), NAMES, st.data())
def test_joint_gradients_hold_derivatives_and_float_steps(data, name, draw):
    """A float step of size 1 from (v, p) is minus the gradient, and one more rounding."""
    v, p = draw.draw(arrays(data.d)) / 2, draw.draw(arrays(data.d)) / 4
    k = draw.draw(st.integers(0, data.d - 1))
    gamma = data.y[:, None] * (data.X @ v)
    with ctx.workprec(400):
        labels = [rational(y) for y in data.y]
        exact = ExactData.of(data)
        in_v, in_p = gradient_vp(exact, labels, rationals(v), rationals(p), name)
        scores = with_head(exact, labels, rationals(v)).gamma
        assert scores == [[rational(g) for g in row] for row in gamma]  # dyadic: no rounding
        still, rises = np.zeros_like(gamma), data.y[:, None] * data.X[:, :, k]
        assert near(in_v[k], slope_of_risk(name, data.X @ p, still, gamma, rises))
        assert near(in_p[k], slope_of_risk(name, data.X @ p, data.X[:, :, k], gamma))
        run = descend_vp(data, v, p, LOSSES[name], step=1.0, steps=1)
        sums = (np.abs(data.X) @ np.abs(p)).max()
        G = np.abs(gamma).max() + 1.0  # the slope is not multiplied by a score in v
        size = np.abs(data.X).max() * G * (data.d + data.n)
        bound = rounding(data, np.append(gamma, [1.0]), LOSSES[name], sums) * size
        bound += EPS * (4.0 + np.abs(v).max() + np.abs(p).max())
        assert_close(v - run.v[0, -1], in_v, bound)
        assert_close(p - run.W[0, -1], in_p, bound)
