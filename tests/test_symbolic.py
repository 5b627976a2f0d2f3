"""The symbolic proofs run, their false neighbours fail, and no float enters them."""

import ast
import importlib
import inspect
import pkgutil
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from flint import arb

import symbolic
from attsvm import attention, losses, risk
from attsvm.exact.lipschitz import logistic_curvature
from attsvm.lipschitz import LOGISTIC_CURVATURE
from attsvm.theory.packs import load_packs
from properties.sim import attention_shape, attentions
from properties.sim.lemma_3_11 import closed_form
from symbolic.sim import attention_shape as shapes
from symbolic.sim.definition_3_3 import entry_residual
from symbolic.sim.definition_3_6 import drift_residual, rivals_residual
from symbolic.sim.fixed_head import absorbed_residual, pull_residual
from symbolic.sim.l2_objective import inside_residual
from symbolic.sim.lemma_3_11 import (
    expanded,
    expanded_residual,
    jacobian_residual,
    loss_residual,
    structural_residual,
)
from symbolic.sim.lemma_3_12 import curvature_supremum, derivatives, identities, slope_supremum
from symbolic.sim.tensor_trick import margins_residual, residual
from symbolic.sim.tensor_trick import structural_residual as structural_trick

PROOFS = sorted(
    module.name
    for module in pkgutil.walk_packages(symbolic.__path__, "symbolic.")
    if not module.ispkg
)
FILES = sorted(Path(symbolic.__file__).parent.rglob("*.py"))
CLAIMS = {claim.id: claim for pack in load_packs() for claim in pack.claims}
PROVED = [claim for claim in CLAIMS.values() if claim.proof]


def test_there_are_proofs():
    assert {f"symbolic.sim.{name}" for name in ("lemma_3_11", "lemma_3_12", "tensor_trick")} <= set(
        PROOFS
    )


@pytest.mark.parametrize("name", PROOFS)
def test_a_proof_goes_through_and_says_what_it_proves(name):
    sentence = importlib.import_module(name).prove()
    assert isinstance(sentence, str)
    assert len(sentence.split()) > 3


REPEATED = {"symbolic.sim.step_3"}
"""Section 3.4 prints the gradient of lemma 3.11 once more, whose claims decide it."""


def test_each_proof_lies_where_its_claim_does_and_each_is_claimed():
    """Of the same source; and no module of proofs is left without a claim."""
    named = {claim.proof for claim in PROVED}
    for claim in PROVED:
        assert claim.proof.startswith(f"symbolic.{claim.id.partition('/')[0]}.")
    for name in PROOFS:
        functions = [f for f in vars(importlib.import_module(name)) if f.startswith("prove")]
        assert functions
        assert name in REPEATED or any(f"{name}:{f}" in named for f in functions), name


TIED = {
    "sim/lemma-3.11:amended-1": [risk.covariance, losses.slope_kernel],
    "sim/lemma-3.11:amended-2": [risk.covariance, losses.slope_kernel],
    "sim/lemma-3.12:literal": [losses.slope_kernel],
    "sim/lemma-3.12:sharp": [losses.slope_kernel],
    "sim/tensor-trick:literal": [attention.kron_block, attention.vec],
    "sim/tensor-trick:sharp": [attention.kron_block, attention.vec],
    "sim/orientation:amended-1": [attention.kron_block, attention.vec],
    "sim/definition-3.3:literal-2": [attention.kron_block, attention.vec],
    "sim/definition-3.6:amended-2": [risk.covariance, losses.slope_kernel],
    "sim/definition-3.6:amended-3": [risk.covariance, losses.slope_kernel],
    "sim/fixed-head:amended-1": [risk.covariance, losses.slope_kernel],
    "sim/l2-objective:amended": [attention.vec],
}
"""The functions of the code that a claim evaluates and that its proof runs on symbols."""

ALSO = {
    "sim/lemma-3.11:amended-1": "sim/lemma-3.11:amended-2",
    "sim/fixed-head:amended-1": "sim/lemma-3.11:amended-2",
}
"""Claims whose proof takes what another claim's proof shows; they depend on it."""


def executed(call):
    """The code of all Python functions that a call runs."""
    seen = set()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: seen.add(frame.f_code) if event == "call" else None)
    try:
        call()
    finally:
        sys.setprofile(before)
    return seen


def code(function):
    return inspect.unwrap(function).__code__


@pytest.mark.parametrize("name", TIED)
def test_what_is_proved_is_what_the_claim_evaluates(name):
    """Both the conclusion and the proof execute the same functions of the code."""
    claim = CLAIMS[name]
    evaluated = executed(lambda: [claim.conclusion(case) for case in claim.examples])
    proofs = [claim.proof] + [CLAIMS[n].proof for n in [ALSO.get(name)] if n]
    assert ALSO.get(name, claim.id) in (claim.id, *claim.depends_on)
    proved = set().union(*map(proving, proofs))
    for function in TIED[name]:
        assert code(function) in evaluated
        assert code(function) in proved


@cache
def proving(proof):
    """The code that a proof runs."""
    module, _, function = proof.partition(":")
    return executed(getattr(importlib.import_module(module), function))


def shifted(function):
    """The function, a twentieth off."""
    return lambda *values: function(*values) * sp.Rational(21, 20)


def other_block(A1, A2, j):
    """The Kronecker product the other way round."""
    return np.kron(A2, A1[j : j + 1])


MUTANTS = [
    ("lemma_3_11", "covariance", lambda s, g: s * (g + (s * g).sum())),
    ("lemma_3_11", "covariance", shifted(risk.covariance)),
    ("lemma_3_11", "slope_kernel", shifted(losses.slope_kernel)),
    ("lemma_3_12", "slope_kernel", shifted(losses.slope_kernel)),
    ("lemma_3_12", "slope_kernel", lambda e: e / (1 + e)),
    ("lemma_3_12", "curvature_kernel", shifted(losses.curvature_kernel)),
    ("lemma_3_12", "curvature_kernel", lambda e: -losses.curvature_kernel(e)),
    ("tensor_trick", "kron_block", other_block),
    ("tensor_trick", "vec", lambda X: X.T.reshape(-1)),
    ("definition_3_6", "covariance", shifted(risk.covariance)),
    ("definition_3_6", "covariance", lambda s, g: s * g),
    ("definition_3_6", "slope_kernel", lambda e: -losses.slope_kernel(e)),
    ("fixed_head", "covariance", lambda s, g: s * (g - (s * g).sum()) * g),
    ("l2_objective", "vec", lambda X: X.T.reshape(-1)),
]


@pytest.mark.parametrize(("module", "name", "mutant"), MUTANTS)
def test_a_proof_falls_with_the_function_that_it_runs(monkeypatch, module, name, mutant):
    changed = importlib.import_module(f"symbolic.sim.{module}")
    monkeypatch.setattr(changed, name, mutant)
    with pytest.raises(AssertionError):
        changed.prove()


@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 2)])
def test_the_closed_form_of_the_claim_is_the_derivative_in_full(n, d):
    """The claim's own formula, on the symbols of the proof."""
    whole = expanded(n, d)
    slope = whole.b * losses.slope_kernel(whole.e)
    found = closed_form(whole.A, whole.f, whole.h, slope, -1.0)
    assert all(
        sp.cancel(sp.together(x - c)) == 0 for x, c in zip(whole.derivatives, found, strict=True)
    )
    plus = closed_form(whole.A, whole.f, whole.h, slope, 1)
    assert sp.cancel(sp.together(whole.derivatives[0] - plus[0])) != 0


@pytest.mark.parametrize(("n", "d"), [(2, 1), (2, 2), (3, 2)])
def test_the_gradient_in_full_needs_b_inside(n, d):
    assert all(x == 0 for x in loss_residual(n, d))
    assert any(x != 0 for x in loss_residual(n, d, b_inside=False))


def test_the_jacobian_of_softmax():
    assert jacobian_residual() == (0, 0, 0)


def test_the_derivatives_by_g_alone():
    assert all(x == 0 for x in identities())


def test_the_constant_of_the_code_is_the_supremum_that_is_proved():
    proved = curvature_supremum()
    assert abs(float(proved) - LOGISTIC_CURVATURE) < 1e-16
    assert logistic_curvature().overlaps(1 / (6 * arb(3).sqrt()))


@pytest.mark.parametrize("size", [(2, 3, 4, 1), (1, 2, 2, 3)])
def test_the_tensor_trick_for_factors_of_any_sizes(size):
    assert all(x == 0 for x in residual(*size))


def test_the_tensor_trick_by_structure():
    assert structural_trick() == 0
    assert structural_trick(transposed=True) != 0


def test_margins_are_those_of_the_transpose_from_two_dimensions_on():
    assert all(x == 0 for x in margins_residual(3, 1, transposed=False))
    assert any(x != 0 for x in margins_residual(2, 2, transposed=False))
    assert all(x == 0 for x in margins_residual(2, 3))


@pytest.mark.parametrize(("n", "d"), [(1, 2), (2, 1), (3, 2)])
def test_symbolic_sizes_are_those_of_the_arrays(n, d):
    case = attentions.Attention(*np.ones((3, n, d)), *np.ones((2, d, d)))
    there = dict(zip((shapes.n, shapes.d), (n, d), strict=True))
    at = [
        tuple(int(sp.sympify(x).subs(there)) for x in size)
        for size in (shapes.normaliser(), shapes.attention(shapes.normaliser()), shapes.block())
    ]
    assert at[0] == (n, n)
    assert attention_shape.misfit(case, "n", "n").holds
    assert at[1] == attentions.attention(case, case.A2).shape
    assert at[2] == attention.kron_block(case.A1, case.A2, 0).shape


def test_a_normaliser_of_the_printed_size_does_not_fit():
    with pytest.raises(AssertionError):
        shapes.attention((shapes.d, shapes.d))
    with pytest.raises(AssertionError):
        shapes.attention((shapes.n, shapes.d))


def test_neighbours_of_the_other_definitions_fail():
    assert any(x != 0 for x in entry_residual(2, 1, transposed=True))
    assert all(x == 0 for x in entry_residual(1, 2, transposed=True))
    assert drift_residual(3, 1, sign=1) != 0
    assert any(x != 0 for x in rivals_residual(2, 1, gap=sp.Integer(1)))
    assert any(x != 0 for x in inside_residual(3, swapped=True))
    assert any(x != 0 for x in inside_residual(3, read="columns"))
    assert any(x != 0 for x in absorbed_residual(2, 2, 2, ignored=True))
    assert all(x == 0 for x in pull_residual(2, 3))


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
