"""Variables that meet hypotheses by construction, and functions of the namespace on matrices."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq
from hypothesis import example, find, given
from hypothesis import strategies as st
from toy_pack import stated

from attsvm._dyadic import filled
from attsvm.errors import ClaimError, DataError
from attsvm.theory import (
    Fitted,
    Hypothesis,
    Integer,
    Labels,
    Matrix,
    Meeting,
    Near,
    Reading,
    Real,
    Statement,
    Vector,
    changed,
    gradient,
)
from attsvm.theory.arithmetic import BALLS, FLOATS, Tensors, entries, lanes
from attsvm.theory.arithmetic.heights import heights
from attsvm.theory.arithmetic.namespace import Comparison
from attsvm.theory.arithmetic.notation import letter
from attsvm.theory.arithmetic.symbols import SYMBOLS, numerator, symbols_of
from attsvm.theory.arithmetic.text import Text
from attsvm.theory.arithmetic.traces import TRACES
from attsvm.theory.declaration import batches
from attsvm.theory.declaration.batches import relaxed, strategy
from attsvm.theory.declaration.formula import Formula, tightened
from attsvm.theory.declaration.instances import instance_type
from attsvm.theory.declaration.slack import Slack
from attsvm.theory.declaration.structured import PSD, Simplex
from attsvm.theory.declaration.variables import Choice, Defined, Mapped, ordered
from attsvm.theory.search.batch_moves import renewed
from tests.late import Late

torch = Late("torch")

DOMAINS = {
    "a real number from 0 to 4": (lambda: Real(0, 4), r"powers of a Real.*got 0.*m\.at_most"),
    "powers that are no integers": (lambda: Real((0.5,)), "powers of a Real"),
    "a scale beyond floats": (lambda: Near("x", powers=(-2000,)), "too large or too small"),
    "a least value that is no number": (lambda: Real(least=math.nan), "no integer of at most"),
    "a least value of half": (lambda: Vector("n", least=0.5), r"m\.exact\('0\.5'\)"),
    "a greatest value": (
        lambda: Real(most=4),
        r"Real was called with other arguments.*most.*m\.at_most\(v\.x, 4\)",
    ),
    "a second axis of a vector": (lambda: Vector("n", "m"), r'two axes is Matrix\("n", "m"\)'),
    "integers in the wrong order": (lambda: Integer(4, 1), r"reversed.*Integer\(1, 4\)"),
    "an end that is no number": (lambda: Integer(math.nan), "end of an Integer is no integer"),
    "an end beyond floats": (lambda: Integer(10**400), r"of 1329 bits.*10\*\*20 \+ v\.k"),
    "three ends": (lambda: Integer(1, 2, 3), "beyond of an Integer.*two ends"),
    "a vector without an axis": (lambda: Vector(), r"missing 1.*Vector\(\"n\"\)"),
    "a vector of length 3": (lambda: Vector(3), r"no name \(got 3\).*n=Integer\(3, 3\)"),
    "a vector of length -1": (lambda: Vector(-1), r"Write \"n\" in its place\.$"),
    "a matrix in a vector": (lambda: Vector("n", "k"), "powers of an array.*got 'k'"),
    "an axis that is no name": (lambda: Matrix("n", "n k"), "no name .got 'n k'"),
    "no levels": (lambda: Vector("n", levels=0), "levels of an array"),
    "two axes of a square": (lambda: PSD("n", "n"), r"PSD was called.*PSD\(\"n\"\)"),
    "probabilities of length 3": (lambda: Simplex(3), "no name"),
    "a point near a vector": (lambda: Near(Vector("n")), "no name of a variable"),
    "no members": (lambda: Choice({}), "members of a Choice"),
    "a number for a definition": (lambda: Defined(3), "is not given a function"),
    "a definition of v alone": (lambda: Defined(lambda v: v.x), r"does not take \(m, v\)"),
    "a map of a number": (lambda: Mapped(3, by=lambda m, x: x), "not made from a variable"),
}


@pytest.mark.parametrize("name", DOMAINS)
def test_what_is_no_domain_is_refused_with_a_remedy(name):
    make, message = DOMAINS[name]
    with pytest.raises(ClaimError, match=message):
        make()


SAME = Hypothesis("B = A", lambda m, v: m.equal(v.A, v.B))
POSITIVE = Hypothesis("B[0, 0] > 0", lambda m, v: m.above(v.A[0, 0], m.exact(0)))


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
    (SAME, POSITIVE),
    siblings={"up to sign": changed(sign=-1)},
)


@given(strategy(CLAIM.formula))
def test_what_is_drawn_meets_the_hypotheses(case):
    assert all(hypothesis.holds(case) for hypothesis in CLAIM.hypotheses)


def test_batches_meet_the_hypotheses_also_after_a_move():
    formula, generator = CLAIM.formula, np.random.default_rng(0)
    raw = batches.filled(formula, generator, {"n": 2}, 64)
    assert (batches.fit_screened(formula, raw, {"n": 2}, 64, {})[1] > -np.inf).all()
    moved = {name: value - 1.0 for name, value in raw.items()}
    moved["B"] = moved["B"] + 1.0
    fitted = batches.fit(formula, moved, {"n": 2})
    again, height = batches.fit_screened(formula, moved, {"n": 2}, 64, {})
    assert all(np.array_equal(again[name], fitted[name]) for name in fitted)
    assert (height > -np.inf).all()


def test_a_sibling_without_the_hypothesis_draws_freely():
    part = CLAIM.part(f"without {SAME.name}")
    generator = np.random.default_rng(0)
    raw = batches.filled(part.formula, generator, {"n": 2}, 64)
    assert (raw["A"] != raw["B"]).any()
    assert (raw["A"][0, 0] > 0).all()
    other = batches.filled(CLAIM.part(f"without {POSITIVE.name}").formula, generator, {"n": 2}, 64)
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


@given(strategy(FITTED.formula))
def test_a_bound_is_drawn_as_the_closest_that_meets_its_hypothesis(case):
    assert abs(case.x) <= case.R < abs(case.x) + 1.0


@given(st.floats(1e-6, 1e6), st.sampled_from([0, 4, 12]))
def test_a_value_below_a_bound_has_its_leading_bits(most, grid):
    value = float(Fitted.fitted(np.array([float(grid)]), -np.inf, most)[0])
    assert most * (1.0 - 2.0**-grid) <= value <= most * (1.0 + 1e-12)
    assert value > 0.0


SIDES = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(SIDES, SIDES, st.sampled_from(["at most", "below"]))
@example(1e-12, 0.0, "at most")
@example(1e-12, 0.0, "below")
@example(-1.0, -2.0, "at most")
def test_a_height_above_1_is_a_violation(left, right, kind):
    sides = (lanes(np.array([side])) for side in (left, right))
    with np.errstate(over="ignore"):
        (seen,) = heights(np, Comparison(kind, *sides))
    said = (Slack.below if kind == "below" else Slack.at_most)(left, right, 0.0)
    ratio = right > 0.0 and left >= 0.0
    beyond = left > right if ratio else left - right > 1e-9  # a smaller difference may be rounding
    assert (seen > 1.0) <= beyond <= (seen >= 1.0)
    assert seen == (said.height if beyond or left <= right else left - right)


def test_the_height_of_an_equality_is_the_size_of_its_residual_and_1_more():
    x = np.array([-3.0, 3.0, 0.0])
    raw = {"x": x, "R": np.full(3, 9.0)}
    _, heights = batches.fit_screened(FITTED.formula, raw, {}, 3, {"sign": -1})
    assert heights.tolist() == [7.0, 7.0, 0.0]


def test_batches_hold_right_triangles_with_a_leg_of_either_sign_and_scales_up_to_a_bound():
    a, b, c = values = filled(np.random.default_rng(0), (3,), 20000, (0,))
    right = (a * a + b * b == c * c) & (c > 4.0) & (a * b != 0.0)  # beyond the grid
    assert set(np.sign(a[right])) == {-1.0, 1.0}
    assert set(np.sign(b[right])) == {1.0}
    assert 2.0**201 < np.abs(values).max() < 2.0**203  # up to 4 times 2^200, times less than 2


def test_only_an_inequality_is_tightened():
    one, two = BALLS.exact(1), BALLS.exact(2)
    made = tightened(BALLS, BALLS.at_most(one, two), "0.5")
    assert made == Comparison("at most", one, one)
    both = tightened(BALLS, BALLS.all_of(*[BALLS.at_most(one, two)] * 2), "0.5")
    assert both.parts == (made, made)
    either = BALLS.any_of(BALLS.at_most(one, two), BALLS.equal(one, two))
    for relation in (BALLS.equal(one, two), either, BALLS.all_of(BALLS.equal(one, two))):
        with pytest.raises(ClaimError, match="only an inequality can be tightened"):
            tightened(BALLS, relation, "0.5")


def test_an_integer_is_beyond_what_is_drawn_from_the_next_one_on():
    claim = stated(
        "count",
        {"n": Integer(1)},
        lambda m, v, c: m.at_most(c, m.exact(v.n)),
        constants={"c": "1"},
        siblings={"2": changed(c="2")},
    )
    last = claim.formula.variables["n"].drawn_to
    assert not claim.formula.counts_beyond(SimpleNamespace(n=last))
    assert claim.formula.counts_beyond(SimpleNamespace(n=last + 1))


def test_batches_hold_opposite_entries_and_keep_above_the_least():
    fine = Vector("n").fill(np.random.default_rng(0), {"n": 2}, 4000)
    opposite = (fine[0] == -fine[1]) & (2.0 * fine[0] != np.rint(2.0 * fine[0]))
    assert opposite.sum() > 100  # among fine numbers, by chance one lane in 257
    assert Real((0, 3), least=1).fill(np.random.default_rng(0), {}, 999).min() >= 1.0
    assert not Real().listed  # so that searchers move it
    for variable in (Vector("n", (0, 3), least=2), Vector("n", levels=2, least=2)):
        assert variable.fill(np.random.default_rng(0), {"n": 3}, 999).min() >= 2.0


NOT_NEGATIVE = Statement(
    "toy/not-negative",
    source="toys",
    place="here",
    printed="sum x >= max x for x >= 0",
    variables={"n": Integer(1, 3), "x": Vector("n", least=0)},
    conclusion=lambda m, v, c: m.at_least(m.sum([m.abs(x) for x in v.x]), c * m.max(v.x)),
    readings={"literal": Reading("holds", constants={"c": 1}, tight=True)},
)


@given(NOT_NEGATIVE.claims[0].data)
def test_entries_of_an_array_may_have_a_least_value_which_is_a_hypothesis(case):
    """And functions of all entries take lists of numbers as well."""
    (claim,) = NOT_NEGATIVE.claims
    assert case.x.min() >= 0.0
    (lies,) = claim.hypotheses
    assert lies.name == "x >= 0"
    assert lies.holds(case)
    assert not lies.holds(claim.formula.build(x=np.array([1.0, -1.0])))
    assert BALLS.sum([fmpq(1), fmpq(2)]) == BALLS.max((fmpq(3), fmpq(2))) == 3


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
    first, second = Hypothesis("first", bool), Hypothesis("second", bool)
    inner = Meeting(first, Matrix("n", "n"), lambda B, known: B + 1)
    both = Meeting(second, inner, lambda B, known: 2 * B)
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
    tensors = m.softmax(lanes(m.library.as_tensor(batch)))
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
    for arithmetic, array in ((FLOATS, np.array), (m, m.library.tensor)):
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


def test_a_vector_of_two_levels_has_two_values():
    vector = Vector("n", levels=2)
    batch = vector.fill(np.random.default_rng(0), {"n": 5}, 200)
    assert batch.shape == (5, 200)
    counts = [len(set(lane)) for lane in batch.T]
    assert set(counts) == {1, 2}
    assert counts.count(2) > 100
    assert Real().fill(np.random.default_rng(0), {}, 3).shape == (3,)


def test_a_formula_that_comes_to_a_constant_has_a_height_for_each_instance():
    """With one token the gradient of softmax is 0, whatever x is."""
    formula = Formula(
        {"n": Integer(1, 2), "x": Vector("n")},
        {},
        lambda m, v: m.at_most(
            m.norm(gradient(m, lambda m, x: m.sum(m.softmax(x)), v.x)), m.exact(1)
        ),
        {},
        instance_type({"n": Integer(1, 2), "x": Vector("n")}),
    )
    x = torch.zeros((3, 1), dtype=torch.float64, requires_grad=True)
    height = relaxed(formula, SimpleNamespace(x=x))
    assert height.shape == (3,)
    (slope,) = torch.autograd.grad(height.sum(), x)
    assert (slope == 0).all()


def labelled():
    """A formula of two labels and of a vector."""
    return stated(
        "labels",
        {"n": Integer(1, 4), "y": Labels("n"), "x": Vector("n")},
        lambda m, v, c: m.at_most(m.dot(v.x, v.y), c * m.sum(m.abs(v.x))),
        {"labels": lambda m, v: m.equal(m.square(v.y), m.exact(1))},
        constants={"c": 1},
        siblings={"0": changed(c=0)},
    ).formula


@given(strategy(labelled()))
def test_labels_are_drawn_as_1_or_minus_1(case):
    assert set(case.y.tolist()) <= {1.0, -1.0}


def test_both_labels_are_drawn_and_the_simplest_is_1():
    mixed = find(strategy(labelled()), lambda case: len(set(case.y.tolist())) == 2)
    assert sorted(mixed.y) == [-1.0, 1.0]
    assert find(strategy(labelled()), lambda case: True).y.tolist() == [1.0]


def test_screening_exchanges_labels_and_moves_the_rest():
    formula, generator = labelled(), np.random.default_rng(0)
    shape = {"n": 3}
    raw = batches.filled(formula, generator, shape, 1024)
    assert set(np.unique(raw["y"])) == {1.0, -1.0}
    new = batches.filled(formula, generator, shape, 128)
    again = renewed(formula, raw, np.arange(96), new, generator)
    assert set(np.unique(again["y"])) == {1.0, -1.0}
    assert (again["y"] != raw["y"]).any()
    assert not np.isin(again["x"], raw["x"]).all()


def test_screening_moves_small_entries_by_up_to_the_size_of_the_largest():
    formula, generator = labelled(), np.random.default_rng(0)
    raw = batches.filled(formula, generator, {"n": 3}, 1024)
    raw["x"] = np.tile([[-(2.0**20)], [-1.0], [0.0]], 1024)
    new = batches.filled(formula, generator, {"n": 3}, 128)
    moved = renewed(formula, raw, np.arange(96), new, generator)["x"][1:, :-128]
    assert 2**19 < np.abs(moved).max() <= 2**20 + 1


def test_a_climb_has_no_slope_in_labels():
    formula = labelled()
    case = formula.build(y=[1, -1], x=[2, 1])
    tensors = {
        name: torch.tensor(getattr(case, name).copy()[None], requires_grad=True) for name in "xy"
    }
    value = relaxed(formula, type("Batch", (), tensors))
    slopes = torch.autograd.grad(value.sum(), list(tensors.values()), allow_unused=True)
    assert slopes[0].abs().max() > 0
    assert slopes[1] is None


EXPONENTIAL = {"beta <= exp(x)": lambda m, v: m.at_most(v.beta, m.exp(v.x))}


def below_an_exponential(siblings):
    """1 <= exp(x) / beta for a beta that is drawn below exp(x)."""
    return stated(
        "below",
        {"x": Real(), "beta": Fitted()},
        lambda m, v: m.at_most(m.exact(1), m.exp(v.x) / v.beta),
        EXPONENTIAL,
        siblings=siblings,
    )


def test_a_bound_that_no_hypothesis_names_is_a_power_of_two():
    claim = below_an_exponential({"half": changed(tightened="0.5")})
    (dropped,) = (s for s in claim.siblings if s.name == "without its hypothesis")
    free = dropped.formula
    raw = batches.filled(free, np.random.default_rng(0), {}, 64)
    assert set(batches.fit(free, raw, {})["beta"]) == {1.0, 16.0, 4096.0}
    assert (batches.fit(claim.formula, raw, {})["beta"] <= np.exp(raw["x"])).all()


def test_what_the_author_drops_takes_the_place_of_the_automatic_sibling():
    drop = list(EXPONENTIAL)
    at_0 = {"beta = 9 at 0": changed(drop=drop, examples=[{"x": 0, "beta": 9}])}
    assert [s.name for s in below_an_exponential(at_0).siblings] == ["beta = 9 at 0"]
    both = below_an_exponential({"another side": changed(drop=drop, tightened="0.5")})
    assert [s.name for s in both.siblings] == ["without its hypothesis", "another side"]


@pytest.mark.parametrize(
    ("number", "bounds"),
    [
        (Integer(2), ["k >= 2"]),
        (Integer(2, 9), ["k >= 2", "k <= 9"]),
        (Integer(2, 9, beyond=True), ["k >= 2"]),
    ],
)
def test_an_integer_has_the_upper_end_that_is_written(number, bounds):
    claim = stated(
        "integer",
        {"k": number},
        lambda m, v, c: m.at_least(v.k, m.exact(c)),
        constants={"c": 2},
        siblings={"3": changed(c=3)},
    )
    assert [h.name for h in claim.hypotheses] == bounds
    filled = number.spread(np.random.default_rng(0), 4096)
    assert filled.min() == 2
    assert (filled.max() > 10**6) == (len(bounds) == 1)
    assert {number.fill(np.random.default_rng(seed), {}, 1) for seed in range(99)} == set(
        range(2, 6 if number.high is None else 10)
    )


def test_variables_may_be_named_before_what_they_are_drawn_from():
    given = {"y": Near("x", ("n",)), "x": Vector("n"), "t": Real(), "n": Integer(2, 3)}
    assert [*ordered(given)] == ["n", "x", "y", "t"]
    right = {"n": Integer(2, 3), "t": Real(), "x": Vector("n"), "y": Near("x", ("n",))}
    assert [*ordered(right)] == [*right]
    claim = stated(
        "anywhere",
        given,
        lambda m, v, c=1: m.at_most(c * m.norm(v.x - v.y), m.norm(v.x) + m.norm(v.y)),
        siblings={"2": changed(c=2)},
    )
    case = find(claim.data, lambda case: True)
    assert case.x.shape == case.y.shape
    raw = batches.filled(claim.formula, np.random.default_rng(0), {"n": 3}, 4)
    assert raw["y"].shape == raw["x"].shape == (3, 4)


def test_a_reading_may_add_the_length_of_an_axis():
    statement = Statement(
        "mine/late",
        source="s",
        place="p",
        printed="p",
        variables={"t": Real(), "n": Integer(1, 2), "x": Vector("n")},
        conclusion=lambda m, v, c=1: m.at_most(c * m.largest(v.x), m.norm(v.x)),
        readings={
            "literal": Reading(
                "holds",
                variables={"x": Matrix("n", "d"), "d": Integer(1, 2), "t": None},
                tight=True,
            )
        },
    )
    assert [*statement.claim("literal").formula.variables] == ["n", "d", "x"]


LARGER = Hypothesis("y >= z", lambda m, v: m.at_least(v.y, v.z), says="y is at least z")
MOVED = Meeting(LARGER, Real(), lambda y, known: known["z"] + abs(y))


def larger(variables):
    """The formula of a claim about these variables."""
    return stated("larger", variables, lambda m, v: m.at_least(v.y, v.z), (LARGER,)).formula


def test_a_move_reads_values_of_variables_before_it():
    formula = larger({"z": Real(), "y": MOVED})
    raw = batches.filled(formula, np.random.default_rng(0), {}, 8)
    fitted = batches.fit(formula, {**raw, "z": raw["z"] + 1}, {})
    assert (fitted["y"] >= fitted["z"]).all()


def test_a_move_that_reads_a_variable_after_it_is_refused():
    formula = larger({"y": MOVED, "z": Real()})
    for attempt in (
        lambda: batches.filled(formula, np.random.default_rng(0), {}, 8),
        lambda: batches.fit(formula, {"y": np.ones(8), "z": np.zeros(8)}, {}),
        lambda: find(strategy(formula), lambda case: True),
    ):
        with pytest.raises(ClaimError, match="a variable that is not drawn before it"):
            attempt()
