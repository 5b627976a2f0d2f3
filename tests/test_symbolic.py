"""The symbolic proofs run, their false neighbours fail, and no float enters them."""

import ast
import importlib
import pkgutil
from pathlib import Path

import pytest
import sympy as sp

import symbolic
from symbolic.sim.lemma_3_11 import expanded_residual, structural_residual
from symbolic.sim.lemma_3_12 import curvature_supremum, derivatives, slope_supremum
from symbolic.sim.tensor_trick import residual

PROOFS = sorted(
    module.name
    for module in pkgutil.walk_packages(symbolic.__path__, "symbolic.")
    if not module.ispkg
)
FILES = sorted(Path(symbolic.__file__).parent.rglob("*.py"))


def test_there_are_proofs():
    assert {f"symbolic.sim.{name}" for name in ("lemma_3_11", "lemma_3_12", "tensor_trick")} <= set(
        PROOFS
    )


@pytest.mark.parametrize("name", PROOFS)
def test_a_proof_goes_through_and_says_what_it_proves(name):
    sentence = importlib.import_module(name).prove()
    assert isinstance(sentence, str)
    assert len(sentence.split()) > 3


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_gradient_identity_holds_with_b_inside(n):
    assert expanded_residual(n) == 0


def test_the_gradient_identity_fails_with_b_outside():
    """Numerically too: with g' = exp in its place the two sides differ at a point."""
    printed = expanded_residual(2, b_inside=False)
    assert printed != 0
    slope = sp.Function("slope")
    point = {
        s: value for s, value in zip(_symbols(printed), (2, 1, 3, 1, 5, 2, 7, 4), strict=False)
    }
    value = printed.subs(point).replace(slope, sp.exp)
    assert abs(value.evalf(30)) > sp.Rational(1, 1000)


def _symbols(expression):
    return sorted(expression.free_symbols, key=str)


def test_one_token_has_no_gradient_to_dispute():
    """With one token both sides vanish, so b inside or outside makes no difference."""
    assert expanded_residual(1, b_inside=False) == 0


def test_the_structural_identity_holds():
    assert structural_residual() == 0


def test_the_derivatives_are_those_of_the_logistic_function():
    x = sp.Symbol("x", real=True)
    truth = 1 / (1 + sp.exp(-x))
    u = sp.Symbol("u", positive=True)
    for form in derivatives(3):
        assert sp.simplify(form.subs(u, sp.exp(x)) - truth) == 0
        truth = sp.diff(truth, x)


def test_the_suprema_are_these_and_no_others():
    assert sp.simplify(slope_supremum() - sp.Rational(1, 4)) == 0
    curvature = curvature_supremum()
    assert sp.simplify(curvature - 1 / (6 * sp.sqrt(3))) == 0
    for wrong in (sp.Rational(1, 10), 1 / (4 * sp.sqrt(3)), 1 / (12 * sp.sqrt(3)), sp.Integer(1)):
        assert sp.simplify(curvature - wrong) != 0
    assert curvature < sp.Rational(1, 10)


@pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 2), (3, 2), (2, 3)])
def test_the_tensor_trick_fails_with_the_transposed_matrix(n, d):
    assert all(entry == 0 for entry in residual(n, d))
    assert any(entry != 0 for entry in residual(n, d, transposed=True))


def test_in_dimension_one_the_transposed_matrix_is_the_same():
    assert all(entry == 0 for entry in residual(2, 1, transposed=True))


def floats_in(source):
    """Float and complex literals, and calls of float()."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            found.append(node.value)
        if isinstance(node, ast.Name) and node.id == "float":
            found.append("float")
        if isinstance(node, ast.Attribute) and node.attr in ("Float", "evalf", "float64"):
            found.append(node.attr)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_float_enters_a_proof(path):
    assert floats_in(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("source", ["x = 0.5", "1e3", "2j", "float(1)", "sp.Float(1)", "y.evalf()"])
def test_a_planted_float_is_found(source):
    assert len(floats_in(source)) == 1


def test_the_proved_expressions_are_made_of_exact_numbers():
    expressions = [*derivatives(3), slope_supremum(), curvature_supremum(), *residual(2, 2)]
    assert not any(sp.sympify(expression).atoms(sp.Float) for expression in expressions)
