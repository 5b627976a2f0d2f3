"""The symbolic proofs run, their false neighbours fail, and no float enters them."""

import ast
import functools
import importlib
import inspect
import pkgutil
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
import sympy as sp

import symbolic
from attsvm import losses
from attsvm.errors import ProofError
from attsvm.theory.arithmetic import Arithmetic
from attsvm.theory.packs.packs import load_packs
from properties.sim import (
    attention_shape,
    basic_1,
    basic_2,
    basic_3,
    basic_4,
    basic_6,
    basic_7,
    definition_3_3,
    l2_objective,
    lemma_3_11,
    tensor_trick,
)
from properties.sim._support import attention as sentences
from properties.sim._support import bounds, entry_loss
from properties.sim.basic_5 import conclusion as values
from properties.sim.definition_3_6 import conclusion as drifts
from properties.sim.definition_3_9 import conclusion as optimal
from properties.sim.fixed_head import conclusion as heads
from properties.sim.orientation.conclusion import margins
from symbolic.sim.lemma_3_11 import loss_residual
from symbolic.sim.lemma_3_12 import derivatives

pytestmark = pytest.mark.usefixtures("steps")

SUBJECTS = ("attention", "attending", "growth", "direction", "basin")
NUMBERS = {
    *("symbolic.mean_value", "symbolic.sums", "symbolic.inner_products", "symbolic.textbook"),
    *("symbolic.gains", "symbolic.softmax", "symbolic.continuity"),
    "symbolic.divergence",
    *(
        *("symbolic.aligned_inputs", "symbolic.least_points"),
        "symbolic.curvature",
        "symbolic.quadratic_forms",
        "symbolic.tf.margin_flow",
    ),
    *("symbolic.facts", "symbolic.attended", "symbolic.softmax_change"),
    *(f"symbolic.{subject}_facts" for subject in SUBJECTS),
    *("symbolic.sim.repeated_tokens", "symbolic.sim.basic_4", "symbolic.tf.nonlinear_head_several"),
    *(f"symbolic.sim.stability_{what}" for what in ("facts", "gradients")),
    "symbolic.tight_rows",
    *("symbolic.curvature_facts", "symbolic.sim.gradient_change", "symbolic.sim.lemma_3_13_facts"),
    *("symbolic.sim.lemma_3_13_l2_facts", "symbolic.sim.lemma_3_13_log_loss_facts"),
    "symbolic.sim.basic_7_facts",
    *("symbolic.tf.path_facts", "symbolic.tf.cone_facts", "symbolic.tf.cone_tip"),
    *("symbolic.tf.rest_facts", "symbolic.tf.logits_at_rest"),
    *("symbolic.tf.head_descent_facts", "symbolic.tf.growth_steps", "symbolic.tf.theorem_2"),
    "symbolic.mm.assumption_b",
}
"""What proofs calculate with, and the first steps of one; nothing is proved there by itself."""
PROOFS = sorted(
    module.name
    for module in pkgutil.walk_packages(symbolic.__path__, "symbolic.")
    if not module.ispkg and module.name not in NUMBERS
)
FILES = sorted(Path(symbolic.__file__).parent.rglob("*.py"))
CLAIMS = {claim.id: claim for pack in load_packs() for claim in pack.claims}
PROVED = [claim for claim in CLAIMS.values() if claim.proof]


def test_there_are_proofs():
    assert {f"symbolic.sim.{name}" for name in ("lemma_3_11", "lemma_3_12", "tensor_trick")} <= set(
        PROOFS
    )


SHARED = {
    "symbolic.aligned_facts",
    "symbolic.basins",
    "symbolic.divergence_facts",
    "symbolic.growth_rates",
    "symbolic.tf.lemma_2",
}
"""Proofs of claims of several sources."""

WITHIN = {"symbolic.tf.local_convergence:prove"}
"""Proofs of one source that a claim of another one is a case of."""


def test_each_proof_lies_where_its_claim_does_and_each_is_claimed():
    """Of the same source, or of several; and no module of proofs is left without a claim."""
    named = {claim.proof for claim in PROVED}
    for claim in PROVED:
        shared = claim.proof.partition(":")[0] in SHARED or claim.proof in WITHIN
        assert shared or claim.proof.startswith(f"symbolic.{claim.id.partition('/')[0]}.")
    for name in SHARED:
        users = {claim.id.partition("/")[0] for claim in PROVED if claim.proof.startswith(name)}
        assert len(users) > 1
    for name in PROOFS:
        functions = [f for f in vars(importlib.import_module(name)) if f.startswith("prove")]
        assert functions
        assert any(f"{name}:{f}" in named for f in functions), name


TRICK = [Arithmetic.kron, Arithmetic.vec]
ROWS = [*TRICK, Arithmetic.mat, sentences.block_logits]
ENTRY = [
    *(*ROWS, sentences.block_attention),
    *(definition_3_3.entry, sentences.attention),
]
GRADIENT = [entry_loss.loss, lemma_3_11.closed_form, lemma_3_11.derivative]
DRIFT = [drifts.score, drifts.gradients, drifts.drift]
FORMULAS = ("sim/lemma-3.12", "sim/logistic-lipschitz")
"""Statements whose proofs run the formula itself."""

TIED = {
    "sim/lemma-3.11:amended-1": GRADIENT,
    "sim/lemma-3.11:amended-2": GRADIENT,
    **{
        claim.id: [claim.formula.conclusion]
        for claim in PROVED
        if claim.formula is not None and claim.statement_id in FORMULAS
    },
    "sim/tensor-trick:literal": [*TRICK, tensor_trick.trick],
    "sim/tensor-trick:sharp": [*TRICK, tensor_trick.trick],
    "sim/orientation:amended-1": [*ROWS, margins],
    "sim/attention-shape:amended-1": [attention_shape.attention_fits],
    "sim/attention-shape:amended-2": [attention_shape.block_fits],
    "sim/definition-3.3:literal-1": [*ROWS, definition_3_3.probability],
    "sim/definition-3.3:literal-2": ENTRY,
    "sim/definition-3.3:amended": ENTRY,
    "sim/definition-3.6:amended-2": DRIFT,
    "sim/definition-3.6:amended-3": [*DRIFT, drifts.weight, drifts.optimal],
    "sim/definition-3.9:amended-1": [optimal.bounded, entry_loss.loss],
    "sim/definition-3.9:amended-2": [optimal.not_below, optimal.excess],
    "sim/definition-3.9:amended-3": [optimal.above, optimal.excess],
    "sim/fixed-head:amended-1": [
        *(Arithmetic.covariance, entry_loss.gradient),
        *(heads.score, heads.values_of, heads.closed_gradient),
    ],
    "sim/fixed-head:amended-2": [heads.scores, heads.values_of],
    "sim/l2-objective:amended": [
        *(*TRICK, Arithmetic.mat, sentences.attention),
        *(l2_objective.divided_powers, l2_objective.rewritten),
    ],
    **{
        f"sim/basic-1:{reading}": [basic_1.bounded]
        for reading in ("amended", "literal-1", "sharp-1", "sharp-2")
    },
    **{f"sim/basic-2:literal-{k}": [basic_2.sum_bound] for k in (1, 2)},
    "sim/basic-2:sharp": [basic_2.lagrange],
    "sim/basic-3:literal-1": [basic_3.by_beta, basic_3.inverse_bound, bounds.alpha],
    "sim/basic-3:sharp-1": [basic_3.by_beta, basic_3.inverse_bound, bounds.alpha],
    "sim/basic-3:sharp-2": [basic_3.by_radius, basic_3.inverse_bound, bounds.alpha],
    "sim/basic-4:literal": [bounds.published],
    "sim/basic-4:sharp": [basic_4.sharp, bounds.softmax_constant, bounds.f],
    **{
        f"sim/basic-5:{reading}": [bounds.published]
        for reading in ("amended", "amended-2", "literal-3")
    },
    "sim/basic-5:sharp": [values.sharp, values.change, bounds.entry_constant, bounds.f],
    **{f"sim/basic-{k}:literal-{j}": [bounds.published] for k in (6, 7) for j in (1, 2)},
    "sim/basic-6:sharp-1": [basic_6.sharp, basic_6.change, bounds.entry_constant, bounds.f],
    "sim/basic-6:sharp-2": [bounds.softmax_constant, bounds.f],
    "sim/basic-7:sharp-1": [basic_7.sharp, basic_7.spectral, bounds.outer_constant, bounds.f],
    "sim/basic-7:sharp-2": [basic_7.sharp, basic_7.change, bounds.softmax_constant, bounds.f],
}
"""The functions of the code that a claim evaluates and that its proof runs on symbols."""

ALSO = {
    "sim/lemma-3.11:amended-1": "sim/lemma-3.11:amended-2",
}
"""Claims whose proof takes what another claim's proof shows; they depend on it."""


def replaced(monkeypatch, function, mutant):
    """Put other code in the place of a function's, wherever it has been imported."""
    monkeypatch.setattr(inspect.unwrap(function), "__code__", mutant.__code__)


def evaluate(claim):
    """The conclusion at all explicit instances."""
    for case in claim.examples or [claim.formula.build(x=0, y=1)]:
        claim.conclusion(case)


def run(*proofs):
    for module, _, name in (proof.partition(":") for proof in proofs):
        getattr(importlib.import_module(module), name)()


def broken(*_, **__):
    raise LookupError  # a name of Python itself: the code runs among the names of another module


TIES = defaultdict(list)
"""Claims by their proofs and a function, so that proofs that they share run once."""
for name, functions in TIED.items():
    proofs = tuple(CLAIMS[n].proof for n in (name, ALSO.get(name)) if n)
    for function in functions:
        TIES[proofs, function].append(name)


@pytest.mark.parametrize(
    ("proofs", "function"), TIES, ids=lambda x: x[0] if isinstance(x, tuple) else x.__name__
)
def test_without_a_function_neither_claims_nor_proofs_go_through(monkeypatch, proofs, function):
    """So what is proved is what the claims evaluate."""
    replaced(monkeypatch, function, broken)
    for name in TIES[proofs, function]:
        claim = CLAIMS[name]
        assert ALSO.get(name, name) in (name, *claim.depends_on)
        with pytest.raises(LookupError):
            evaluate(claim)
    with pytest.raises(LookupError):
        run(*proofs)


def test_every_proof_about_a_definition_is_tied():
    statements = (
        *("attention-shape", "definition-3", "fixed-head", "l2-objective", "tensor-trick"),
        "basic-",
    )
    for claim in PROVED:
        if claim.statement_id.removeprefix("sim/").startswith(statements):
            assert claim.id in TIED or claim.id.startswith("sim/definition-3.8")


def shifted(function):
    """The function, a twentieth off."""
    return lambda *values, **named: function(*values, **named) * sp.Rational(21, 20)


def spoilt(formula):
    """The formula of a claim, its right side a twentieth off."""

    @functools.wraps(formula)
    def changed(*values, **constants):
        relation = formula(*values, **constants)
        return replace(relation, right=relation.right * sp.Rational(21, 20))

    return changed


MUTANTS = [
    ("lemma_3_12", "slope_kernel", shifted(losses.slope_kernel)),
    ("lemma_3_12", "slope_kernel", lambda e: e / (1 + e)),
    ("lemma_3_12", "curvature_kernel", shifted(losses.curvature_kernel)),
    ("lemma_3_12", "curvature_kernel", lambda e: -losses.curvature_kernel(e)),
    *(
        (f"basic_1:{prove}", "BOUND", replace(basic_1.BOUND, conclusion=spoilt(basic_1.bounded)))
        for prove in ("prove", "prove_published", "prove_in_ball")
    ),
    ("basic_3", "BOUND", replace(basic_3.BOUND, conclusion=spoilt(basic_3.by_beta))),
    ("basic_7:prove_frobenius", "sharp", spoilt(basic_7.sharp)),
    ("definition_3_6", "score", shifted(drifts.score)),
]


@pytest.mark.parametrize(("module", "name", "mutant"), MUTANTS)
def test_a_proof_falls_with_the_function_that_it_runs(monkeypatch, module, name, mutant):
    module, _, prove = module.partition(":")
    changed = importlib.import_module(f"symbolic.sim.{module}")
    monkeypatch.setattr(changed, name, mutant)
    with pytest.raises(ProofError):
        getattr(changed, prove or "prove")()


VECTOR, ENTRIES = "definition_3_3:prove_vector", "definition_3_3:prove"
KEYS = "definition_3_3:prove_shared"
OBJECTIVE, HEADS, TENSOR = "l2_objective:prove", "fixed_head:prove", "tensor_trick:prove"
SCORE, WEIGHT = "definition_3_6:prove", "definition_3_6:prove_equal_rivals"
SIZES, BLOCKS = "attention_shape:prove", "attention_shape:prove_vector"
TURNED = "tensor_trick:prove_orientation"


def other_kron(self, A, B):
    (m, r), (n, c) = A.shape, B.shape
    return (B.reshape(n, 1, c, 1) * A.reshape(1, m, 1, r)).reshape(m * n, r * c)


def unlabelled(m, A, x, h, b):
    f = m.softmax(A @ x)
    return m.logistic_slope(b * m.dot(f, h)) * (A.T @ m.covariance(f, h))


def one_term(m, v, inside=True, outside=True, second=1):
    f = m.softmax(v.A @ v.x)
    g = m.logistic(v.b * m.dot(f, v.h))
    return g * (1 - g) * v.b * (v.A.T @ (f * v.h))


def without_values(m, A1, A2, X, values, Y):
    powers = m.exp(A1 @ X @ A2.T)
    return m.diagonal(1 / m.sums(powers)) @ powers @ values


FALLING = [
    (Arithmetic.kron, other_kron, [TENSOR, ENTRIES, KEYS, OBJECTIVE]),
    (Arithmetic.vec, lambda self, X: X.T.reshape(-1), [TENSOR, ENTRIES, OBJECTIVE, TURNED]),
    (
        Arithmetic.mat,
        lambda self, x, rows: x.reshape(-1, rows).T,
        [ENTRIES, OBJECTIVE, TURNED],
    ),
    (Arithmetic.covariance, lambda self, f, h: f * h, [HEADS]),
    (Arithmetic.covariance, lambda self, f, h: f * (h + f @ h), [HEADS]),
    (heads.score, lambda m, v, x: v.b * (m.softmax(v.A @ x) @ v.M)[0], [HEADS]),
    (entry_loss.gradient, unlabelled, [HEADS]),
    (heads.scores, lambda m, v, taken: v.b * v.M[:, 0], ["fixed_head:prove_multiple"]),
    (
        entry_loss.loss,
        lambda m, A, x, h, b: m.logistic(m.dot(m.softmax(A @ x), h)),
        ["lemma_3_11:prove"],
    ),
    (lemma_3_11.closed_form, one_term, ["lemma_3_11:prove"]),
    (
        lemma_3_11.derivative,
        lambda m, v, inside, outside, second: m.equal(v.x, v.x),
        ["lemma_3_11:prove"],
    ),
    (drifts.gradients, lambda m, v, sign, quantity: (v.x, v.x), [SCORE, WEIGHT]),
    (
        drifts.drift,
        lambda m, v, sign, quantity: m.at_most(m.exact(0), m.exact(0)),
        [SCORE, WEIGHT],
    ),
    (drifts.score, lambda m, A, x, h, b: b * m.dot(A @ x, h), [WEIGHT]),
    (drifts.weight, lambda m, A, x, h, b: b * m.dot(A @ x, h), [WEIGHT]),
    (drifts.optimal, lambda m, h, b: h - h + m.exact(1), [WEIGHT]),
    (sentences.attention, without_values, [ENTRIES, OBJECTIVE]),
    (
        l2_objective.divided_powers,
        lambda m, n, A1, A2, X, divided: m.exp(m.kron(A1, A2) @ m.vec(X)),
        [OBJECTIVE],
    ),
    (
        attention_shape.attention_fits,
        lambda m, v, *_, **__: m.equal(m.array([v.n]), m.array([v.n])),
        [SIZES],
    ),
    (
        attention_shape.block_fits,
        lambda m, v, *_, **__: m.equal(m.array([v.n]), m.array([v.n])),
        [BLOCKS],
    ),
]
"""Functions, other code in their place, and the proofs that have to fall with it."""


@pytest.mark.parametrize(
    ("function", "mutant", "proof"),
    [(function, mutant, proof) for function, mutant, proofs in FALLING for proof in proofs],
    ids=lambda x: x if isinstance(x, str) else x.__name__,
)
def test_a_proof_falls_with_the_code_that_it_runs(monkeypatch, function, mutant, proof):
    replaced(monkeypatch, function, mutant)
    with pytest.raises(ProofError):
        run(f"symbolic.sim.{proof}")


def test_the_printed_gradient_fails_at_a_point():
    """Numerically too: with numbers in the place of all symbols, exponentials included."""
    (printed,) = loss_residual(2, 1, inside=False)
    point = {symbol: sp.prime(k + 1) for k, symbol in enumerate(_symbols(printed))}
    assert abs(printed.subs(point).evalf(30)) > sp.Rational(1, 1000)


def _symbols(expression):
    return sorted(expression.free_symbols, key=str)


def test_the_derivatives_are_those_of_the_logistic_function():
    x = sp.Symbol("x", real=True)
    truth = 1 / (1 + sp.exp(-x))
    u = sp.Symbol("u", positive=True)
    for form in derivatives(3):
        assert sp.simplify(form.subs(u, sp.exp(x)) - truth) == 0
        truth = sp.diff(truth, x)


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


def test_no_float_enters_a_proof():
    found = {path: floats_in(path.read_text(encoding="utf-8")) for path in FILES}
    assert {path: floats for path, floats in found.items() if floats} == {}


@pytest.mark.parametrize("source", ["x = 0.5", "1e3", "2j", "float(1)", "sp.Float(1)", "y.evalf()"])
def test_a_planted_float_is_found(source):
    assert len(floats_in(source)) == 1


def test_the_proved_expressions_are_made_of_exact_numbers():
    expressions = derivatives(3)
    assert not any(sp.sympify(expression).atoms(sp.Float) for expression in expressions)
