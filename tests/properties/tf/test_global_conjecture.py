"""The run of `OUTRUN` from zero, for every step size at once."""

import numpy as np
import pytest
import sympy as sp

from properties.tf.global_conjecture.instances import OUTRUN

H, R, S, Q = range(4)


def gains():
    """Inner products of the A_t of h, r, s, q, to which steps add -c_h, c_r, c_s and c_q."""
    X = OUTRUN.data.X
    gaps = np.array([X[0, 0] - X[0, 1], *(X[1, 0] - X[1, 1:])]).astype(int)
    return sp.Matrix(gaps @ gaps.T) * sp.diag(-1, 1, 1, 1)


@pytest.mark.parametrize(("one", "other"), [(R, S), (S, R)])
def test_with_any_step_a_run_from_zero_keeps_the_worse_token(one, other):
    """No step leaves the set where m_r, m_s <= m_h <= 3 m_r, 3 m_s, 3 m_q, and m_h never falls.

    Let a, b, c and t^3 be exp of minus m_r, m_s, m_q and m_h, so that t^3 <= a, b <= t and c <= t,
    and s = 1/(1 + a + b + c) the attention to the best token of the second input. Then c_r is s^2
    a times the sum of x (gamma - gamma_r)/2 over its tokens, x = 1, a, b, c, and c_s alike, and c_h
    is t^3/(1 + t^3)^2/2. As c_r and c_s fall with c it is taken to be t.
    """
    rows = gains()
    lead, also = rows.row(H) - rows.row(one), rows.row(H) - rows.row(other)
    assert min(3 * rows.row(one) - rows.row(H)) >= 0
    assert min(3 * rows.row(Q) - rows.row(H)) >= 0
    assert min(4 * rows.row(H) - 3 * (lead + also)) >= 0  # m_h rises where neither lead falls
    assert lead[Q] == 0
    assert min(lead[R], lead[S]) >= 0

    a, b, c, t = sp.symbols("a b c t", positive=True)
    gamma, shares = [sp.Rational(x) for x in OUTRUN.data.gamma[1].tolist()], [1, a, b, c]
    sums = [sum(x * (y - gamma[k]) for x, y in zip(shares, gamma, strict=True)) for k in (1, 2)]
    assert all(sp.diff(x, c) < 0 for x in sums)
    assert all(x.subs(a, 0).subs({b: 1, c: 1}) > 0 for x in sums)
    assert OUTRUN.data.gamma[0, :2].tolist() == [-1.0, 0.0]
    gain = sp.expand(
        (lead[R] * a * sums[0] + lead[S] * b * sums[1]).subs(c, t) * (1 + t**3) ** 2
        + lead[H] * t**3 * (1 + a + b + t) ** 2
    )
    for x in (a, b):  # concave in each, and so least where both are t or t^3
        assert (sp.Poly(gain, x).degree(), sp.Poly(gain, x).LC()) == (2, lead[H] * t**3)
    assert lead[H] < 0
    for ends in ((x, y) for x in (t**3, t) for y in (t**3, t)):
        least = sp.Poly(gain.subs(dict(zip((a, b), ends, strict=True))), t)
        least = least.quo(sp.Poly(t ** min(power for (power,) in least.monoms()), t))
        assert least.eval(0) > 0
        assert least.count_roots(0, 1) == 0
