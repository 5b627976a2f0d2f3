"""Variables that meet hypotheses by construction, and functions of the namespace on matrices."""

from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp
import torch
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_pack import stated

from attsvm.errors import DataError
from attsvm.theory import Fitted, Integer, Matrix, Meeting, Real, Vector, changed, gradient
from attsvm.theory.arithmetic import BALLS, FLOATS, Tensors, entries, lanes
from attsvm.theory.arithmetic.symbols import SYMBOLS, numerator, symbols_of
from attsvm.theory.arithmetic.text import Text, letter
from attsvm.theory.arithmetic.traces import TRACES

SAME, POSITIVE = "B = A", "B[0, 0] > 0"


def positive(B, known):
    B = B.copy()
    B[0, 0] = np.abs(B[0, 0]) + (B[0, 0] == 0.0)
    return B


CLAIM = stated(
    "commute",
    {
        "n": Integer(2, 3),
        "A": Meeting(POSITIVE, Matrix("n", "n"), positive),
        "B": Meeting(SAME, Matrix("n", "n"), lambda B, known: known["A"].copy()),
    },
    lambda m, v, sign=1: m.equal(v.A @ v.B, sign * (v.B @ v.A)),
    {
        SAME: lambda m, v: m.equal(v.A, v.B),
        POSITIVE: lambda m, v: m.above(v.A[0, 0], m.exact(0)),
    },
    siblings={"up to sign": changed(sign=-1)},
)


@settings(max_examples=30, deadline=None)
@given(CLAIM.formula.strategy())
def test_what_is_drawn_meets_the_hypotheses(case):
    assert all(hypothesis.holds(case) for hypothesis in CLAIM.hypotheses)


def test_batches_meet_the_hypotheses_also_after_a_move():
    formula, generator = CLAIM.formula, np.random.default_rng(0)
    raw = formula.filled(generator, {"n": 2}, 64)
    assert (formula.screened(raw, {"n": 2}, 64, {}) > -np.inf).all()
    moved = {name: value - 1.0 for name, value in raw.items()}
    moved["B"] = moved["B"] + 1.0
    assert (formula.screened(moved, {"n": 2}, 64, {}) == -np.inf).any()
    fitted = formula.fit(moved, {"n": 2})
    assert (formula.screened(fitted, {"n": 2}, 64, {}) > -np.inf).all()


def test_a_sibling_without_the_hypothesis_draws_freely():
    part = CLAIM.part(f"without {SAME}")
    generator = np.random.default_rng(0)
    raw = part.formula.filled(generator, {"n": 2}, 64)
    assert (raw["A"] != raw["B"]).any()
    assert (raw["A"][0, 0] > 0).all()
    other = CLAIM.part(f"without {POSITIVE}").formula.filled(generator, {"n": 2}, 64)
    assert (other["A"] == other["B"]).all()
    assert (other["A"][0, 0] < 0).any()


FITTED = stated(
    "fitted",
    {"x": Real((0, 3)), "R": Fitted()},
    lambda m, v, sign=1: m.equal(sign * v.x, v.x),
    {
        "|x| <= R": lambda m, v: m.at_most(m.abs(v.x), v.R),
        "log |x| <= R": lambda m, v: m.at_most(m.log(m.abs(v.x)), v.R),  # at 0 floats warn
    },
    siblings={"other sign": changed(sign=-1)},
)


@given(FITTED.formula.strategy())
def test_a_bound_is_drawn_as_the_closest_that_meets_its_hypothesis(case):
    assert abs(case.x) <= case.R < abs(case.x) + 1.0


@given(st.floats(1e-6, 1e6), st.sampled_from([0, 4, 12]))
def test_a_value_below_a_bound_has_its_leading_bits(most, grid):
    value = float(Fitted.fitted(np.array([float(grid)]), -np.inf, most)[0])
    assert most * (1.0 - 2.0**-grid) <= value <= most * (1.0 + 1e-12)
    assert value > 0.0


def test_the_height_of_an_equality_is_the_size_of_its_residual():
    x = np.array([-3.0, 3.0, 0.0])
    heights = FITTED.formula.screened({"x": x, "R": np.full(3, 9.0)}, {}, 3, {"sign": -1})
    assert heights.tolist() == [6.0, 6.0, 0.0]


def test_batches_hold_opposite_entries_and_keep_above_the_least():
    fine = Vector("n").fill(np.random.default_rng(0), {"n": 2}, 4000)
    opposite = (fine[0] == -fine[1]) & (2.0 * fine[0] != np.rint(2.0 * fine[0]))
    assert opposite.sum() > 100  # among fine numbers, by chance one lane in 257
    assert Real((0, 3), least=1).fill(np.random.default_rng(0), {}, 999).min() >= 1.0
    assert not Real().listed  # so that searchers move it


@given(st.data())
def test_levels_of_a_drawn_vector_are_scaled_by_powers_of_two(data):
    x = Vector("n", powers=(3,), levels=2).draw(data.draw, {"n": 4})
    assert len(set(x)) <= 2
    assert (x * 4.0 == np.rint(x * 4.0)).all()


def test_a_constant_is_one_number_for_each_instance_of_a_climb():
    """The softmax of one number is 1, whatever the number."""

    variables = {"n": Integer(1, 1), "x": Matrix("n", "n")}
    siblings = {"2": changed(to=2)}
    one = stated(
        "one", variables, lambda m, v, to=1: m.equal(m.softmax(v.x), m.exact(to)), siblings=siblings
    )
    x = torch.zeros((3, 1, 1), dtype=torch.float64, requires_grad=True)
    height = one.relaxed(SimpleNamespace(x=x))
    assert height.tolist() == [0.0, 0.0, 0.0]
    (slope,) = torch.autograd.grad(height.sum(), x)
    assert not slope.any()


def test_moves_are_undone_one_by_one():
    inner = Meeting("first", Matrix("n", "n"), lambda B, known: B + 1)
    both = Meeting("second", inner, lambda B, known: 2 * B)
    assert both.moved(1, {}) == 4
    assert both.without(["first"]).moved(1, {}) == 2
    assert both.without(["second"]).moved(1, {}) == 2
    assert both.without(["first", "second"]) == Matrix("n", "n")


NUMBERS = [[fmpq(1, 2), fmpq(-1), fmpq(3)], [fmpq(0), fmpq(2), fmpq(2)]]
EXPECTED = np.exp([[0.5, -1, 3], [0, 2, 2]])
EXPECTED /= EXPECTED.sum(axis=1, keepdims=True)


def test_softmax_of_a_matrix_is_that_of_its_rows_in_every_arithmetic():
    balls = BALLS.softmax(entries(NUMBERS))
    batch = np.array([[0.5, -1, 3], [0, 2, 2]])[..., None]
    floats = FLOATS.softmax(lanes(batch))
    m = Tensors()
    tensors = m.softmax(lanes(m.torch.as_tensor(batch)))
    traces = TRACES.softmax(entries([[TRACES.of(x) for x in row] for row in NUMBERS]))
    symbols = SYMBOLS.softmax(entries([[sp.Rational(x.p, x.q) for x in row] for row in NUMBERS]))
    for i, j in np.ndindex(2, 3):
        assert balls[i, j].overlaps(arb(traces[i, j].ball))
        values = (balls[i, j], floats[i, j].value[0], tensors[i, j].value[0], symbols[i, j])
        assert all(abs(float(x) - EXPECTED[i, j]) < 1e-15 for x in values)
    text = Text().softmax(letter("A"))
    assert (text.plain, text.latex) == ("softmax(A)", r"\mathrm{softmax}\left(A\right)")


def test_mat_undoes_vec():
    X = entries(NUMBERS)
    assert (np.array(BALLS.mat(BALLS.vec(X), 2)) == np.array(X)).all()
    assert Text().mat(letter("x"), letter("n")).plain == "mat(x)"
    assert Text().trace(letter("A")).plain == "tr(A)"
    assert Text().differences(letter("w")).plain == "(w_i - w_j)_ij"
    assert letter("H")[:, 0].plain == "H[:, 0]"
    assert letter("H")[1:, :2].plain == "H[1:, :2]"
    assert (1 / Text().sums(letter("A"))).plain == "1/rowsums(A)"


@pytest.mark.parametrize("factor", [2, -3])
def test_a_gradient_multiplies_by_numbers_of_every_arithmetic(factor):
    """The gradient of <x, A x> / 2 with A symmetric, its numbers left of the variables."""

    def form(A):
        return lambda m, x: factor * m.dot(x, A @ x) / 2

    rows, at = [[1, 2], [2, -1]], [3, 5]
    expected = [factor * 13, factor * 1]
    A, x = (entries(np.array(v, dtype=object)) for v in (rows, at))
    exact = {
        BALLS: lambda v: fmpq(v),
        TRACES: lambda v: TRACES.of(fmpq(v)),
        SYMBOLS: sp.Integer,
    }
    for m, number in exact.items():
        made = [entries([number(v) for v in a.ravel()], a.shape) for a in (A, x)]
        found = gradient(m, form(made[0]), made[1])
        assert all(getattr(g, "ball", g) == e for g, e in zip(found, expected, strict=True))
    m = Tensors()
    for arithmetic, array in ((FLOATS, np.array), (m, m.torch.tensor)):
        made = [lanes(array(np.array(v, dtype=float)[..., None].tolist())) for v in (rows, at)]
        found = gradient(arithmetic, form(made[0]), made[1])
        assert [float(g.value[0]) for g in found] == expected


def test_the_numerator_is_0_exactly_where_the_expression_is():
    x, y = symbols_of("x"), symbols_of("y")
    assert numerator(sp.exp(x + y) - sp.exp(x) * sp.exp(y)) == 0
    assert numerator(1 / (1 + sp.exp(-x)) + 1 / (1 + sp.exp(x)) - 1) == 0
    assert numerator(sp.exp(x * (y + 1)) / sp.exp(x) - sp.exp(x * y)) == 0
    assert numerator(sp.exp(2 * x) - sp.exp(x) ** 2) == 0
    assert numerator(sp.exp(x / 2) * sp.exp(-x / 6) - sp.exp(x / 3)) == 0
    assert numerator(sp.exp(x + y) - sp.exp(x) - sp.exp(y)) != 0
    assert numerator(sp.exp(x * y) - sp.exp(x) * sp.exp(y)) != 0
    softmax = SYMBOLS.softmax(SYMBOLS.array([x, y]))
    v = SimpleNamespace(total=SYMBOLS.sum(softmax))
    assert numerator(v.total - 1) == 0


def test_arrays_shorter_than_declared_are_no_instances():
    """However small a shrinker would have them; longer ones are instances."""
    large = {"constants": {"c": "0.9"}, "siblings": {"0.8": changed(c="0.8")}}
    claim = stated(
        "short",
        {"n": Integer(2, 4), "s": Vector("n")},
        lambda m, v, c: m.at_most(m.norm(m.softmax(v.s)), c),
        **large,
    )
    assert claim.instance_type(s=np.zeros(9)).s.shape == (9,)
    with pytest.raises(DataError, match="shorter than 2"):
        claim.instance_type(s=np.zeros(1))
