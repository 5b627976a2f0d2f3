"""Proofs for all sizes by inner products: the letters are sound, and false neighbours fail."""

import functools
import re
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp

from attsvm.errors import ProofError
from attsvm.theory.declaration.proof import recorded
from properties.sim import definition_3_8, definition_4_1, stability_l2, stability_logistic
from symbolic import gains, least_points
from symbolic.alternatives import TWO_SCORES
from symbolic.inner_products import INNER, inner, vector
from symbolic.mm import loss_choice, w_p_equivalence
from symbolic.mm import programmes as of_mm
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


def neighbour(monkeypatch, module, name, **changes):
    """The formula of a claim with other constants, as a false claim would run it."""
    formula = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *a, **k: formula(*a, **{**k, **changes}))


FALSE = {
    "twice the left side": (least_points, "pythagoras", {"share": 2}, of_mm.prove_nearer),
    "half the left side is not tight": (
        of_mm,
        "pythagoras",
        {"share": sp.Rational(1, 2)},
        of_mm.prove_nearer,
    ),
    "95% of the distance": (
        of_mm,
        "is_distance",
        {"share": sp.Rational(19, 20)},
        of_mm.prove_distance,
    ),
    "twice the left side, relaxed": (least_points, "pythagoras", {"share": 2}, of_mm.prove_shorter),
    "norms that are not squared": (least_points, "pythagoras", {"power": 1}, of_sim.prove_nearer),
    "at most the lesser norm": (
        definition_3_8,
        "shorter_mean",
        {"lesser": True},
        of_sim.prove_convex,
    ),
}


@pytest.mark.parametrize("false", FALSE)
def test_a_false_neighbour_of_what_is_compared_is_not_proved(false, monkeypatch):
    module, name, changes, prove = FALSE[false]
    neighbour(monkeypatch, module, name, **changes)
    with pytest.raises(ProofError):
        proves(prove)


@pytest.mark.parametrize(
    ("statement", "prove", "part"),
    [
        (stability_logistic, stability_of_loss.prove_logistic_over_norms, 19),
        (stability_logistic, stability_of_loss.prove_logistic_on_data, 19),
        (stability_l2, stability_of_loss.prove_squared_over_norms, 19),
        (stability_l2, stability_of_loss.prove_squared_on_data, 19),
        (stability_l2, stability_of_loss.prove_squared_on_data, 21),
    ],
)
def test_another_constant_of_linear_attention_is_not_proved(statement, prove, part, monkeypatch):
    formula = statement.compared

    def other(m, v, of, data="norms", share=1, attention="softmax"):
        return formula(m, v, of, data, share * sp.Rational(part, 20), attention)

    monkeypatch.setattr(statement, "compared", other)
    with pytest.raises(ProofError):
        proves(prove)


OF_GRADIENTS = [
    (stability_logistic, stability.prove_logistic),
    (stability_logistic, stability.prove_logistic_exceeded),
    (stability_l2, stability.prove_squared),
    (stability_l2, stability.prove_squared_exceeded),
]
"""What compares the gradient with the largest constant of linear attention's gradient."""


@pytest.mark.parametrize(
    ("share", "step"), [(sp.Rational(19, 20), "no |z"), (sp.Rational(21, 20), "is that constant")]
)
@pytest.mark.parametrize(("statement", "prove"), OF_GRADIENTS)
def test_no_other_constant_is_the_largest_of_linear_attention_s_gradient(
    statement, prove, share, step, monkeypatch
):
    formula = statement.compared

    def other(m, v, of, data="norms", part=1, attention="softmax"):
        return formula(m, v, of, data, part * share, attention)

    monkeypatch.setattr(statement, "compared", other)
    with pytest.raises(ProofError, match=re.escape(step)):
        proves(prove)


@pytest.mark.parametrize(
    "other",
    [
        lambda loss, m, A, x, h, b: 2 * loss(m, A, x, h, b),
        lambda loss, m, A, x, h, b: loss(m, A, x, 2 * h, b),
        lambda loss, m, A, x, h, b: loss(m, A, x, h * h, b),
        lambda loss, m, A, x, h, b: loss(m, A, x, h, b) + m.square(m.dot(A @ x, A @ x)),
    ],
)
@pytest.mark.parametrize(("statement", "prove"), OF_GRADIENTS)
def test_the_curvature_of_linear_attention_is_that_of_the_loss_that_runs(
    statement, prove, other, monkeypatch
):
    loss = statement.linear_loss
    monkeypatch.setattr(statement, "linear_loss", functools.partial(other, loss))
    with pytest.raises(ProofError, match="linear attention has z"):
        proves(prove)


def test_labels_of_the_other_sign_are_covered_only_where_the_head_turns_as_well(monkeypatch):
    gradient = stability.squared_gradient

    def uneven(m, A, x, h, b):
        return gradient(m, A, x, h, b) + b * A.T @ m.covariance(m.softmax(A @ x), h * h)

    monkeypatch.setattr(stability, "squared_gradient", uneven)
    with pytest.raises(ProofError, match="as h and b turn their signs the gradient"):
        proves(stability.ensure_turned)


@pytest.mark.parametrize(
    ("name", "by", "step"),
    [
        ("h", lambda m, v: m.array([m.exact(-10 * v.sign), m.exact(-7)]), "turn their signs"),
        ("b", lambda m, v: m.abs(v.size), "b = -size"),
    ],
)
def test_the_head_and_the_label_that_turn_are_those_of_the_reading(name, by, step, monkeypatch):
    variables = stability_l2.STABILITY.readings["sharp-3"].variables
    reading = SimpleNamespace(variables={**variables, name: SimpleNamespace(by=by)})
    planted = SimpleNamespace(readings={"sharp-3": reading})
    monkeypatch.setattr(stability_l2, "STABILITY", planted)
    with pytest.raises(ProofError, match=step):
        proves(stability.ensure_turned)


def test_another_gradient_is_not_odd_in_the_label(monkeypatch):
    def slope(b):
        return 1 / (1 + sp.exp(-b))

    monkeypatch.setattr(stability, "slope_of", lambda *_: sp.Integer(2))
    monkeypatch.setattr(stability, "ensure_logistic_linear", lambda: None)
    monkeypatch.setattr(stability, "SYMBOLS", SimpleNamespace(logistic_slope=slope))
    with pytest.raises(ProofError, match="with b the gradient turns its sign"):
        proves(stability.prove_logistic_exceeded)


def test_a_price_that_is_half_is_not_proved(monkeypatch):
    formula = definition_4_1.worth

    def cheaper(m, X, V, paid):
        return formula(m, X, V, paid / 2)

    monkeypatch.setattr(definition_4_1, "worth", cheaper)
    with pytest.raises(ProofError):
        proves(of_sim.prove_price)


def test_the_gain_is_that_of_the_covariance_and_of_nothing_else(monkeypatch):
    known = dict.fromkeys(gains.KNOWN, gains.U)
    monkeypatch.setattr(gains, "KNOWN", known)
    for ensure in (gains.ensure_gain, gains.ensure_gain_of_support):
        with pytest.raises(ProofError):
            proves(ensure)


@pytest.mark.parametrize(
    ("name", "ensure"),
    [
        ("P", lambda: gains.ensure_positive_gain(TWO_SCORES)),
        ("P", gains.ensure_gain_of_equal_rivals),
        ("S", lambda: gains.ensure_positive_gain(TWO_SCORES)),
        ("S", gains.ensure_gain_of_equal_rivals),
    ],
)
def test_a_gain_is_positive_where_attention_is(name, ensure, monkeypatch):
    monkeypatch.setattr(gains, name, sp.Symbol("attention", real=True))
    with pytest.raises(ProofError):
        proves(ensure)


def test_a_slack_below_zero_is_not_taken_for_one_above(monkeypatch):
    monkeypatch.setattr(least_points, "MORE", sp.Symbol("more", real=True))
    for ensure in (
        least_points.ensure_scaled_meets,
        least_points.ensure_multipliers_suffice,
        least_points.ensure_distance_of_hull,
    ):
        with pytest.raises(ProofError):
            proves(ensure)


def test_the_gradient_of_another_loss_is_not_a_multiple(monkeypatch):
    def bent(m, s, gamma, slope):
        return m.sums(m.outer(s, s) * m.differences(gamma)) * slope + s

    monkeypatch.setattr(loss_choice, "logit_gradient", bent)
    with pytest.raises(ProofError):
        proves(loss_choice.prove)


def test_the_gradient_on_w_and_p_is_factored_for_any_number_of_tokens(monkeypatch):
    monkeypatch.setattr(w_p_equivalence, "SIZES", [(1, 2, 2)])  # a difference of more takes long
    with pytest.raises(ProofError, match="a step leaves them equal"):
        w_p_equivalence.ensure_first_step(power=1)
    assert w_p_equivalence.pairwise_residual() == 0
    assert w_p_equivalence.factored_residual() == 0
    assert w_p_equivalence.structural_residual() == 0


@pytest.mark.parametrize(
    ("name", "spoilt"),
    [
        ("follows", lambda one, other: sp.Symbol("gap") + one - other),
        ("weights_run", lambda m, case, steps: [2 * case.W @ case.p]),
    ],
)
@pytest.mark.parametrize("trained", ["q", "p"])
def test_an_induction_needs_its_base_and_its_step(monkeypatch, name, spoilt, trained):
    with recorded() as steps:
        w_p_equivalence.ensure_for_every_k("a_k", "b_k", trained)
    assert "cited, induction" in steps[-1]
    monkeypatch.setattr(w_p_equivalence, name, spoilt)
    with recorded(), pytest.raises(ProofError, match="a_k is b_k"):
        w_p_equivalence.ensure_for_every_k("a_k", "b_k", trained)


def test_a_run_that_rests_after_its_first_step_is_seen(monkeypatch):
    run = w_p_equivalence.weights_run

    def resting(m, case, steps):
        first = run(m, case, min(steps, 1))
        return [*first, *first[-1:] * (steps - 1)]

    def tokens_of_numbers(name, *shape):  # a difference of symbols takes long to cancel
        found = symbols(name, *shape)
        return found if name in "wp" else np.arange(1, found.size + 1).reshape(shape)

    symbols = w_p_equivalence._symbols
    monkeypatch.setattr(w_p_equivalence, "_symbols", tokens_of_numbers)
    monkeypatch.setattr(w_p_equivalence, "weights_run", resting)
    monkeypatch.setattr(w_p_equivalence, "SIZES", w_p_equivalence.SIZES[-1:])
    with pytest.raises(ProofError, match="the next step of these runs"):
        w_p_equivalence.ensure_first_step()


def test_with_fixed_weights_the_step_is_divided_by_c():
    assert w_p_equivalence.fixed_weights_residual().is_ZeroMatrix
    assert not w_p_equivalence.fixed_weights_residual(scaled=False).is_ZeroMatrix
    with pytest.raises(ProofError, match="leave them equal in the runs for d = 1"):
        w_p_equivalence.ensure_first_step_of_prompt(scaled=False)
