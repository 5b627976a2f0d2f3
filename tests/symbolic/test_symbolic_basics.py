"""The proofs behind section 3.3 and steps 1 and 3 of section 3.4: true neighbours, false ones."""

import functools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from attsvm import losses
from attsvm.errors import ProofError
from attsvm.risk import covariance
from attsvm.theory.arithmetic import BALLS, entries
from attsvm.theory.arithmetic.namespace import Comparison
from properties.sim import lemma_3_13 as lemma
from properties.sim import lemma_3_13_hessian as hessian
from properties.sim._support import bounds, entry_loss
from symbolic import sums
from symbolic.mean_value import ensure_no_less
from symbolic.sim import (
    basic_7,
    lemma_3_12,
    lemma_3_13,
    lemma_3_13_l2,
    lemma_3_13_log_loss,
    logistic_lipschitz,
    published,
    sharp,
)

pytestmark = pytest.mark.usefixtures("steps")


def scaled(conclusion, left, right):
    """The conclusion with its sides times these."""

    @functools.wraps(conclusion)
    def other(m, v, **constants):
        said = conclusion(m, v, **constants)
        return Comparison(said.kind, m.exact(left) * said.left, m.exact(right) * said.right)

    return other


@pytest.mark.parametrize("sides", [("0.5", 1), (1, 2)])
@pytest.mark.parametrize(
    ("proof", "home", "name"),
    [
        (published.prove_fourth, published.basic_4, "BOUND"),
        (published.prove_fifth, published.basic_5, "BOUND"),
        (published.prove_sixth, published.basic_6, "BOUND"),
        (published.prove_seventh, published.basic_7, "BOUND"),
        (lemma_3_13.prove_published, lemma, "LEMMA"),
        (lemma_3_13.prove_published_hessian, hessian, "LEMMA"),
        (logistic_lipschitz.prove, logistic_lipschitz, "STEP"),
        (lemma_3_12.prove, lemma_3_12, "LEMMA"),
    ],
)
def test_a_printed_bound_is_proved_with_the_sides_that_run(proof, home, name, sides, monkeypatch):
    """The bounds leave so much room that no instance would tell a wrong factor."""
    statement = getattr(home, name)
    other = replace(statement, conclusion=scaled(statement.conclusion, *sides))
    monkeypatch.setattr(home, name, other)
    with pytest.raises(ProofError, match=r"certificate|concludes"):
        proof()


def changed(value):
    """What a function of the proofs found, a little more."""
    return lambda *arguments, **named: value(*arguments, **named) + sp.Rational(1, 1000)


def changed_last(order):
    """The derivatives of the logistic function, the last of them a little more."""
    *first, last = DERIVATIVES(order)
    return [*first, last + sp.Rational(1, 1000)]


DERIVATIVES = lemma_3_12.derivatives


@pytest.mark.parametrize(
    ("prove", "home", "name", "spoilt"),
    [
        (basic_7.prove, basic_7, "ALONG", -basic_7.ALONG),
        (basic_7.prove, basic_7, "value_of", changed(basic_7.value_of)),
        (basic_7.prove, basic_7, "reached", changed(basic_7.reached)),
        (basic_7.prove, basic_7, "spectral", lambda m, p, q: m.norm(p - q) * m.norm(p + q)),
        (lemma_3_12.prove, lemma_3_12, "derivatives", changed_last),
        (logistic_lipschitz.prove, logistic_lipschitz, "derivatives", changed_last),
        (logistic_lipschitz.prove, logistic_lipschitz, "slope_kernel", lambda e: e / (2 + e) ** 2),
    ],
)
def test_a_bound_with_one_step_spoilt_is_not_proved(prove, home, name, spoilt, monkeypatch):
    monkeypatch.setattr(home, name, spoilt)
    with pytest.raises(ProofError):
        prove()


@pytest.mark.parametrize(
    ("proof", "name"),
    [
        (lemma_3_13, "gradient"),
        (lemma_3_13, "hessian"),
        (lemma_3_13_l2, "squared_gradient"),
        (lemma_3_13_log_loss, "log_loss"),
    ],
)
def test_the_code_of_a_loss_is_what_attains_its_constant(proof, name, monkeypatch):
    true = getattr(entry_loss, name)
    monkeypatch.setattr(entry_loss, name, lambda *values: 2 * true(*values))
    with pytest.raises(ProofError, match="twice"):
        proof.ensure_attained(proof.reached(), proof.REACHES)


def test_a_constant_is_no_least_one_before_a_slope_has_reached_it():
    with pytest.raises(ProofError, match="no step has passed"):
        ensure_no_less("a slope that no step has shown", sp.exp(sp.Symbol("x", real=True)))


def test_false_eigenvalues_are_told_apart():
    assert any(x != 0 for x in basic_7.eigenvector_residuals(1, factor=2))


# sums over n tokens, n a symbol


@given(
    st.integers(1, 4),
    st.tuples(*[st.integers(-3, 3)] * 4),
    st.tuples(*[st.integers(0, 2)] * 4),
    st.data(),
)
def test_sums_of_any_number_of_terms_are_those_of_few(size, factors, powers, draw):
    """A polynomial in w_t, f_t, w_r, f_r, summed over both indices, against the double loop."""
    values = {
        name: draw.draw(st.lists(st.integers(-3, 3), min_size=size, max_size=size)) for name in "wf"
    }
    atoms = [sums.entry(name, index) for index in (sums.t, sums.r) for name in "wf"]
    product = sp.prod([x**k for x, k in zip(atoms, powers, strict=True)])
    polynomial = product + sum(x * k for x, k in zip(atoms, factors, strict=True)) ** 2 + 1
    symbolic = sums.total(polynomial, sums.t, sums.r).subs(sums.n, size).doit()
    known = {
        sums.entry(name, i + 1): value for name in "wf" for i, value in enumerate(values[name])
    }
    direct = sum(
        polynomial.subs(
            dict(
                zip(
                    atoms,
                    (values["w"][i], values["f"][i], values["w"][j], values["f"][j]),
                    strict=True,
                )
            )
        )
        for i in range(size)
        for j in range(size)
    )
    assert symbolic.subs(known) == direct


def test_sums_keep_what_is_not_summed():
    w = sums.entry("w")
    assert sums.total(sp.Integer(3)) == 3 * sums.n
    assert sums.total(sums.entry("w", sums.r), sums.t) == sums.n * sums.entry("w", sums.r)
    assert sums.total(w**2) != sums.total(w) ** 2
    assert sums.total(w) == sums.total(sums.entry("w", sums.r), sums.r)
    assert sums.swapped(w - 2 * sums.entry("w", sums.r)) == sums.entry("w", sums.r) - 2 * w


def test_only_indicators_are_their_own_powers():
    f, s = sums.entry("f"), sums.entry("s")
    assert sums.reduced((f * s + s**3) ** 2, "s") == sp.expand(f**2 * s + 2 * f * s + s)


@given(st.integers(1, 4), st.data())
def test_the_covariance_of_any_number_of_tokens_is_that_of_few(size, draw):
    """The code on a vector known by its entry, then with numbers, against the code on numbers."""
    numbers = st.lists(st.integers(-3, 3), min_size=size, max_size=size)
    f, h = draw.draw(numbers), draw.draw(numbers)
    moved = sums.entry_of(covariance(*(sums.vector(sums.entry(name)) for name in "fh")))
    moved = moved.subs(sums.n, size).doit()
    known = {
        sums.entry(name, i + 1): x for name, row in (("f", f), ("h", h)) for i, x in enumerate(row)
    }
    found = [moved.subs(sums.t, i + 1).subs(known) for i in range(size)]
    assert found == covariance(np.array(f, dtype=object), np.array(h, dtype=object)).tolist()


@pytest.mark.parametrize("size", [1, 2, 4])
def test_formulas_on_any_number_of_tokens_are_those_of_few(size):
    """Sums, products and differences of `LENGTHS`, then with numbers, against rationals."""
    m = sums.LENGTHS
    w, f = (entries([sums.entry(name)]) for name in "wf")
    numbers = {"w": [3, -1, 2, 5][:size], "f": [1, 4, -2, 0][:size]}
    known = {sums.entry(k, i + 1): x for k, row in numbers.items() for i, x in enumerate(row)}
    ws, fs = (entries([BALLS.exact(x) for x in row]) for row in numbers.values())

    def value(expression):
        return expression.subs(sums.n, size).doit().subs(known)

    assert value(m.sum(w)) == BALLS.sum(ws)
    assert value(m.dot(w, f)) == BALLS.dot(ws, fs)
    assert value(m.norm(w) ** 2) == BALLS.sum(BALLS.square(ws))
    assert value(m.sum(m.square(m.differences(w)))) == BALLS.sum(
        BALLS.square(BALLS.differences(ws))
    )


def test_the_operator_norm_of_the_outer_product():
    """The supremum over two tokens, and its values around the best weights, in rationals."""
    best = basic_7.operator_supremum()
    assert sp.simplify(2 * best - 1 / (3 * sp.sqrt(3))) == 0
    for q in (0, sp.Rational(1, 4), sp.Rational(39, 100), sp.Rational(1, 2), sp.Rational(9, 10)):
        height = (1 - q**2) / 4 * (q + sp.sqrt(1 + q**2))
        assert height**2 < best
    near = sp.Rational(39, 100)
    assert ((1 - near**2) / 4 * (near + sp.sqrt(1 + near**2))) ** 2 > sp.Rational(999, 1000) * best


# constants of the code, run by the proofs


@pytest.mark.parametrize("factor", [sp.Rational(501, 500), sp.Rational(24, 25)])
@pytest.mark.parametrize(
    ("proof", "home", "code", "kernel"),
    [
        (basic_7.prove, basic_7, bounds, "outer_constant"),
        (basic_7.prove_frobenius, basic_7, bounds, "softmax_constant"),
        (lemma_3_12.ensure_curvature, lemma_3_12, losses, "curvature_constant"),
    ],
)
def test_a_constant_that_is_a_little_off_is_not_proved(
    proof, home, code, kernel, factor, monkeypatch
):
    true = getattr(code, kernel)
    assert getattr(home, kernel) is true
    monkeypatch.setattr(home, kernel, lambda root: factor * true(root))
    with pytest.raises(ProofError):
        proof()


@pytest.mark.parametrize("factor", [Fraction(501, 500), Fraction(24, 25)])
@pytest.mark.parametrize(
    ("proof", "kernel"),
    [(sharp.prove_fourth, "softmax_constant"), (sharp.prove_fifth, "entry_constant")],
)
def test_a_constant_of_a_formula_that_is_a_little_off_is_not_concluded(
    proof, kernel, factor, monkeypatch
):
    true = getattr(bounds, kernel)
    monkeypatch.setattr(bounds, kernel, lambda m: m.exact(factor) * true(m))
    with pytest.raises(ProofError):
        proof()


def test_the_constant_of_floats_is_the_kernel():
    true = sp.Rational(str(losses.curvature_constant(sp.sqrt).evalf(30)))
    assert abs(sp.Rational(losses.LOGISTIC_CURVATURE) / true - 1) < sp.Rational(1, 2**51)
