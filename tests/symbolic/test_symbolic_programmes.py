"""Proofs for all sizes by inner products: the letters are sound, and false neighbours fail."""

import functools
import re
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp

from attsvm.errors import ProofError
from attsvm.primitives.hypotheses import TWO_SCORES
from attsvm.theory.declaration.proof import recorded
from properties.sim import stability_l2, stability_logistic
from properties.sim.definition_4_1.conclusion import worth
from symbolic import gains, least_points
from symbolic.inner_products import INNER, inner, vector
from symbolic.sim import programmes as of_sim
from symbolic.sim import stability, stability_of_loss
from symbolic.sums import LENGTHS, entry, n, t
from symbolic.sums import vector as lengths


def proves(function):
    with recorded():
        return function()


@pytest.mark.parametrize("seed", range(5))
def test_letters_for_vectors_are_vectors(seed):
    """Whatever a combination's inner products say is so for vectors of integers."""
    draw = np.random.default_rng(seed)
    names = dict(zip("UVX", draw.integers(-5, 6, size=(3, 4)).tolist(), strict=True))
    values = {
        inner(a, b): sum(x * y for x, y in zip(names[a], names[b], strict=True))
        for a in names
        for b in names
    }
    a, b, c = (sp.Integer(int(x)) for x in draw.integers(1, 6, size=3))

    def combined(U, V, X):
        return a * U - V * b / c + (-X)

    letters = combined(*(vector(name) for name in names))
    numbers = combined(*(sp.Matrix(values) for values in names.values()))
    assert (letters @ letters).subs(values) == numbers.dot(numbers)
    assert (letters @ vector("U")).subs(values) == numbers.dot(sp.Matrix(names["U"]))
    assert INNER.norm(letters).subs(values) == numbers.norm()


def test_nothing_is_known_of_letters_but_that_squares_are_not_negative():
    assert inner("U", "U").is_nonnegative
    assert inner("U", "V").is_nonnegative is None
    assert inner("U", "V") == inner("V", "U") != inner("U", "U")


def test_sums_over_all_pairs_of_n_tokens_keep_the_two_indices_apart():
    s, x = lengths(entry("s")), lengths(entry("x"))
    product = LENGTHS.sums(LENGTHS.outer(s, x)).item()
    k = sp.Symbol("k", integer=True, positive=True)
    assert product == entry("s") * sp.Sum(entry("x", k), (k, 1, n))
    assert product.has(t)


def with_constants(module, name, **changes):
    """Return the formula of a claim with other constants, as a false claim would run it."""
    formula = getattr(module, name)
    return lambda *a, **k: formula(*a, **{**k, **changes})


def compared(statement, share):
    """Return the comparison with another share of its constant."""
    formula = statement.compared

    def other(m, v, of, data="norms", part=1, attention="softmax"):
        return formula(m, v, of, data, part * share, attention)

    return other


def turned(**variables):
    """Return the statement on stability whose reading has other variables that turn with h."""
    reading = stability_l2.STABILITY.readings["sharp-3"]
    others = {name: SimpleNamespace(by=by) for name, by in variables.items()}
    changed = SimpleNamespace(variables={**reading.variables, **others})
    return SimpleNamespace(readings={"sharp-3": changed})


def uneven(m, A, x, h, b, gradient=stability.squared_gradient):
    return gradient(m, A, x, h, b) + b * A.T @ m.covariance(m.softmax(A @ x), h * h)


def cheaper(m, X, V, paid, formula=worth):
    return formula(m, X, V, paid / 2)


def bent(m, s, gamma, slope):
    return m.sums(m.outer(s, s) * m.differences(gamma)) * slope + s


HALF, PART, MORE = sp.Rational(1, 2), sp.Rational(19, 20), sp.Rational(21, 20)
REAL = sp.Symbol("of_no_sign", real=True)
PYTHAGORAS = least_points, "pythagoras"
OF_GRADIENTS = [
    (stability_logistic, stability.prove_logistic),
    (stability_logistic, stability.prove_logistic_exceeded),
    (stability_l2, stability.prove_squared),
    (stability_l2, stability.prove_squared_exceeded),
]
"""Proofs that compare the gradient with the largest constant of linear attention's gradient."""

OTHER_LOSSES = [
    lambda loss, m, A, x, h, b: 2 * loss(m, A, x, h, b),
    lambda loss, m, A, x, h, b: loss(m, A, x, 2 * h, b),
    lambda loss, m, A, x, h, b: loss(m, A, x, h * h, b),
    lambda loss, m, A, x, h, b: loss(m, A, x, h, b) + m.square(m.dot(A @ x, A @ x)),
]
KNOWN = dict.fromkeys(gains.KNOWN, gains.U)

SPOILT = {
    # name: module, part, what takes its place, proofs that fall, words of the step
    **{
        f"{part}/20 of linear attention's constant, {prove.__name__}": (
            *(statement, "compared", compared(statement, sp.Rational(part, 20)), [prove]),
        )
        for statement, prove, part in (
            (stability_logistic, stability_of_loss.prove_logistic_over_norms, 19),
            (stability_logistic, stability_of_loss.prove_logistic_on_data, 19),
            (stability_l2, stability_of_loss.prove_squared_over_norms, 19),
            (stability_l2, stability_of_loss.prove_squared_on_data, 21),
        )
    },
    **{
        f"{share} of the largest constant of its gradient, {prove.__name__}": (
            *(statement, "compared", compared(statement, share), [prove], step),
        )
        for statement, prove in OF_GRADIENTS
        for share, step in ((PART, "no |z"), (MORE, "is that constant"))
    },
    **{
        f"curvature of another loss, {k}, {prove.__name__}": (
            *(statement, "linear_loss", functools.partial(other, statement.linear_loss), [prove]),
            "linear attention has z",
        )
        for statement, prove in OF_GRADIENTS
        for k, other in enumerate(OTHER_LOSSES)
    },
    "labels that turn without the head": (
        *(stability, "squared_gradient", uneven, [stability.ensure_turned]),
        "as h and b turn their signs the gradient",
    ),
    "a head that turns otherwise than the reading's": (
        *(stability_l2, "STABILITY"),
        turned(h=lambda m, v: m.array([m.exact(-10 * v.sign), m.exact(-7)])),
        *([stability.ensure_turned], "turn their signs"),
    ),
    "a label that turns otherwise than the reading's": (
        *(stability_l2, "STABILITY", turned(b=lambda m, v: m.abs(v.size))),
        *([stability.ensure_turned], "b = -size"),
    ),
    "half the price": (of_sim, "worth", cheaper, [of_sim.ensure_price]),
    "a gain of anything but the covariance": (
        *(gains, "KNOWN", KNOWN, [gains.ensure_gain, gains.ensure_gain_of_support]),
    ),
    **{
        f"a gain where attention {name} has no sign": (
            *(gains, name, REAL),
            [lambda: gains.ensure_positive_gain(TWO_SCORES), gains.ensure_gain_of_equal_rivals],
        )
        for name in "PS"
    },
    "a slack that may be below zero": (
        *(least_points, "MORE", REAL),
        [least_points.ensure_scaled_meets, least_points.ensure_multipliers_suffice],
    ),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_part_is_not_proved(name, monkeypatch):
    module, part, other, proofs, *words = SPOILT[name]
    if isinstance(other, dict) and other is not KNOWN:
        other = with_constants(module, part, **other)
    monkeypatch.setattr(module, part, other)
    for prove in proofs:
        with pytest.raises(ProofError, match=re.escape(words[0]) if words else None):
            proves(prove)


def test_another_gradient_is_not_odd_in_the_label(monkeypatch):
    logistic = SimpleNamespace(logistic_slope=lambda b: 1 / (1 + sp.exp(-b)))
    monkeypatch.setattr(stability, "slope_of", lambda *_: sp.Integer(2))
    monkeypatch.setattr(stability, "ensure_logistic_linear", lambda: None)
    monkeypatch.setattr(stability, "SYMBOLS", logistic)
    with pytest.raises(ProofError, match="with b the gradient turns its sign"):
        proves(stability.prove_logistic_exceeded)
