"""What is rational stays rational, and numbers beyond any float keep their place."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from attsvm.errors import ClaimError
from attsvm.theory.arithmetic import BALLS, FLOATS, Lane, entries, lanes
from attsvm.theory.arithmetic.balls import DUST, rational_middle
from attsvm.theory.arithmetic.base import Arithmetic
from attsvm.theory.arithmetic.heights import heights, is_met
from attsvm.theory.arithmetic.lanes import Tensors
from attsvm.theory.arithmetic.namespace import All, Comparison
from attsvm.theory.arithmetic.notation import letter
from attsvm.theory.arithmetic.symbols import SYMBOLS, symbols_of
from attsvm.theory.arithmetic.synonyms import FORMULAS, synonym
from attsvm.theory.arithmetic.text import Text
from attsvm.theory.arithmetic.traces import TRACES, Trace, Untraceable
from attsvm.theory.declaration.judge import decided, proved_part
from tests.late import Late

torch = Late("torch")
FRACTIONS = st.fractions(-50, 50, max_denominator=40)


def numbers(values):
    return entries([fmpq(x.numerator, x.denominator) for x in values])


def matrix(rows):
    return entries([[fmpq(x) for x in row] for row in rows])


@given(st.lists(FRACTIONS, min_size=1, max_size=4), FRACTIONS)
def test_sums_and_products_of_rationals_are_those_of_fractions(values, other):
    x = numbers(values)
    y = BALLS.exact(other)
    assert BALLS.sum(x * y) == BALLS.exact(sum(values) * other)
    assert BALLS.dot(x, x + y) == BALLS.exact(sum(v * (v + other) for v in values))
    assert all(isinstance(z, fmpq) for z in (x * y - x / 3).ravel())


@given(FRACTIONS)
def test_the_root_of_a_square_is_rational(x):
    root = BALLS.sqrt(BALLS.exact(x * x))
    assert isinstance(root, fmpq)
    assert root == BALLS.exact(abs(x))


@given(FRACTIONS)
def test_the_norm_of_a_pythagorean_triple_is_rational(x):
    norm = BALLS.norm(numbers([3 * x, -4 * x, 12 * x]))
    assert isinstance(norm, fmpq)
    assert norm == BALLS.exact(13 * abs(x))


@pytest.mark.parametrize(
    ("rows", "norm"),
    [
        ([[2, 0], [0, -3]], 3),
        ([[1, 2, 2], [2, 1, -2], [2, -2, 1]], 3),  # three times an orthogonal matrix
        ([[1, 1], [1, 1]], 2),
        ([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]], 4),
        ([[3, 0, 0], [4, 0, 0]], 5),
        ([[3, 4]], 5),
        ([[0, 0], [0, 0], [0, 0]], 0),
        ([[2, 1], [1, 2]], 3),
        ([[5, 0, 0], [0, 1, 1], [0, 1, 0]], 5),  # beside it the irrational (1 + root 5)/2
    ],
)
def test_a_rational_largest_singular_value_is_found_as_such(rows, norm):
    found = BALLS.spectral(matrix(rows))
    assert isinstance(found, fmpq)
    assert found == norm


def test_an_irrational_one_above_a_rational_one_is_a_ball():
    found = BALLS.spectral(matrix([[1, 0, 0], [0, 1, 1], [0, 1, 0]]))
    assert isinstance(found, arb)
    assert found.contains((1 + arb(5).sqrt()) / 2)


@pytest.mark.parametrize("k", [0, 1, 31, 32, 33, 34, 63, 64, 65, 97, 1000])
def test_a_power_is_a_product_of_so_many_factors(k):
    x = fmpq(-3, 2)
    assert list(numbers([x, fmpq(2)]) ** k) == [x**k, fmpq(2) ** k]
    about = BALLS.sqrt(fmpq(2))
    power = (entries([about, fmpq(1)]) ** k)[0]
    assert arb(power).overlaps(arb(2) ** (arb(k) / 2))
    assert arb(power).rel_accuracy_bits() > ctx.prec - 4 - k.bit_length()  # k factors of one error


def test_exp_of_0_and_log_of_1_are_exact():
    assert BALLS.exp(fmpq(0)) == 1
    assert isinstance(BALLS.exp(fmpq(0)), fmpq)
    assert BALLS.log(fmpq(1)) == 0
    assert isinstance(BALLS.log(fmpq(1)), fmpq)
    assert list(BALLS.softmax(numbers([7, 7]))) == [fmpq(1, 2), fmpq(1, 2)]
    assert list(BALLS.softmax(numbers([7]))) == [fmpq(1)]


@pytest.mark.parametrize(
    ("function", "at"),
    [
        *(("log", x) for x in (fmpq(-1), fmpq(0), arb(0, 1))),
        *(("log1p", x) for x in (fmpq(-1), arb(-1).union(arb(0)))),
        ("sqrt", fmpq(-1)),
    ],
)
def test_what_has_no_value_is_no_number(function, at):
    value = getattr(BALLS, function)(at)
    assert not value.is_finite()
    assert [value > 0, value <= 0, value == value] == [False] * 3


def test_the_spectral_norm_of_a_vanishing_share_takes_no_memory():
    """exp(-2^40) as a rational would have 10^12 digits."""
    shares = BALLS.softmax(numbers([0, Fraction(-(2**40))]))
    assert arb(BALLS.spectral(BALLS.diagonal(shares))).contains(1)
    whole = BALLS.diagonal(shares) * BALLS.exp(fmpq(2) ** 40)
    ratio = BALLS.spectral(whole) / BALLS.exp(fmpq(2) ** 40)
    assert ratio.contains(1)
    assert ratio.rad() < arb("1e-10")


@pytest.mark.parametrize("order", [1, -1])
def test_softmax_of_a_logit_beyond_every_exponential_is_known(order):
    """exp(2^200) is no finite ball: the largest logit is taken off first, wherever it stands."""
    shares = list(BALLS.softmax(numbers([Fraction(2**200), 0][::order])))[::order]
    assert shares[0].contains(1)
    assert shares[0] > 0.5
    assert shares[1].contains(0)
    assert shares[1] < 0.5


def test_a_small_entry_beside_a_large_one_is_within_the_radius():
    A = entries([[arb(1), arb(2) ** -5000], [arb(2) ** -5000, arb(1)]])
    norm = BALLS.spectral(A)
    with ctx.workprec(6000):
        assert norm.contains(1 + arb(2) ** -5000)


def test_a_small_ball_beside_a_large_entry_is_within_the_radius_wherever_it_reaches():
    """It may be below 0, and reach further down than up."""
    with ctx.workprec(6000):
        small = arb(-1, 0.9) * arb(2) ** -5000
        norm = BALLS.spectral(entries([[arb(1), small], [small, arb(1)]]))
        assert norm.upper() >= 1 + arb(1.9) * arb(2) ** -5000


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (8, 4), (4, 16)])
def test_singular_values_that_differ_by_rounding_alone_take_milliseconds(rows, columns):
    """Factors of the characteristic polynomial took minutes for them."""
    with ctx.workprec(500):
        e = [
            [arb(t := fmpq(3 * i + j, 7)).exp() * arb(1 - t).exp() for j in range(columns)]
            for i in range(rows)
        ]
        signs = [[1 - 2 * ((i & j).bit_count() % 2) for j in range(columns)] for i in range(rows)]
        A = entries(
            [[x * s for x, s in zip(*row, strict=True)] for row in zip(e, signs, strict=True)]
        )
        started = time.process_time()
        norm = BALLS.spectral(A)
        assert time.process_time() - started < 5
        assert norm.contains(arb(1).exp() * arb(max(rows, columns)).sqrt())
        assert norm.rad() < arb(2) ** -480


WIDE = arb(0, 1)


@pytest.mark.parametrize("ball", [WIDE, WIDE + WIDE.rad(), WIDE - WIDE.rad(), arb("nan")])
def test_whether_a_ball_that_touches_0_is_0_stays_open(ball):
    found = BALLS.is_zero(ball)
    assert found.contains(0)
    assert found.contains(1)
    assert found < 1.01


def test_a_maximum_with_a_ball_holds_all_that_it_may_be():
    for pair in ((WIDE, fmpq(0)), (fmpq(0), WIDE)):
        found = BALLS.maximum(*pair)
        assert found.contains(0)
        assert found.contains(1)


def test_only_what_is_below_the_dust_is_dust():
    least = fmpq(2) ** (-DUST - 1)
    assert rational_middle(arb(least)) == least
    assert rational_middle(arb(least / 2)) == 0


@pytest.mark.parametrize("value", [0.5, True, None, 1 + 0j])
def test_a_constant_that_is_not_exact_is_refused(value):
    with pytest.raises(ClaimError, match="which is not exact"):
        BALLS.exact(value)


@pytest.mark.parametrize("value", ["a half", "1/0", "", "nan"])
def test_a_word_that_is_no_number_is_refused(value):
    with pytest.raises(ClaimError, match="which is no number"):
        BALLS.exact(value)


def test_comparisons_name_their_sides():
    one, two = BALLS.exact(1), BALLS.exact(2)
    assert BALLS.at_most(one, two) == Comparison("at most", one, two)
    assert BALLS.at_least(one, two) == Comparison("at most", two, one)
    assert BALLS.below(one, two) == Comparison("below", one, two)
    assert BALLS.above(one, two) == Comparison("below", two, one)
    assert BALLS.equal(one, two) == Comparison("equal", one, two)
    assert BALLS.all_of(BALLS.equal(one, two)) == All((Comparison("equal", one, two),))


@pytest.mark.parametrize("kind", ["at_most", "at_least", "below", "above"])
def test_arrays_are_not_ordered(kind):
    x = numbers([1, 2])
    for sides in ((x, x), (x, fmpq(3)), (fmpq(0), x)):
        with pytest.raises(ClaimError, match="compares arrays by an inequality"):
            getattr(BALLS, kind)(*sides)
    with pytest.raises(ClaimError, match="compares arrays by an inequality"):
        FLOATS.at_most(lanes(FLOATS.exact(1).value.reshape(1, 1)), FLOATS.exact(1))


@pytest.mark.parametrize("join", ["all_of", "any_of"])
def test_only_comparisons_are_combined(join):
    with pytest.raises(ClaimError, match=r"returned no comparison \(got True, of type bool\)"):
        getattr(BALLS, join)(BALLS.equal(1, 1), True)


@pytest.mark.parametrize("formula", FORMULAS)
def test_what_stands_for_a_function_that_is_not_there_can_be_evaluated(formula):
    assert not any(hasattr(Arithmetic, name) for name in FORMULAS[formula].split())
    for m in (BALLS, FLOATS):
        x, y = m.exact("0.25"), m.exact("0.5")
        p = m.array([x, 1 - x])
        A = m.array([[x, y], [y, 2 * x]])
        letters = {"x": x, "y": y, "u": 3 * p, "w": -p, "p": p, "q": p, "A": A, "B": A}
        eval(formula, {"m": m, **letters})


def test_a_formula_for_another_function_has_its_values():
    u = np.array([1.0, -2.0, 4.0])
    v = {"m": FLOATS, "u": lanes(u[:, None]), "x": lanes(np.array([0.75]))}
    values = {"avg": u.mean(), "std": u.std(), "inf_norm": 4.0, "ptp": 6.0,
              "lse": np.logaddexp.reduce(u), "pos": 0.75,
              "expit": 1 / (1 + np.exp(-0.75)), "log2": np.log2(0.75), "sgn": 1.0}  # fmt: skip
    for name, value in values.items():
        found = eval(synonym(name).removeprefix("Write ").rstrip("."), v)
        assert found.value == pytest.approx(value, rel=1e-12), name


def test_a_conjunction_within_a_conjunction_is_flat():
    a, b, c = (FLOATS.at_most(FLOATS.exact(k), FLOATS.exact(1)) for k in range(3))
    assert FLOATS.all_of(a, FLOATS.all_of(b, c)).parts == (a, b, c)
    assert len(FLOATS.all_of(a, FLOATS.any_of(b, c)).parts) == 2


@pytest.mark.parametrize("m", [BALLS, FLOATS, TRACES], ids=lambda m: m.name)
def test_all_of_nothing_is_true_and_any_of_nothing_false(m):
    one = m.exact(1)
    for relation, holds in (
        (m.all_of(), True),
        (m.any_of(), False),
        (m.all_of(m.all_of(), m.at_most(one, one)), True),
        (m.any_of(m.any_of(), m.at_most(one, one)), True),
        (m.any_of(m.any_of(), m.at_most(2 * one, one)), False),
    ):
        if m is FLOATS:
            assert is_met(relation).all() == holds
            assert (heights(np, relation) > 1).all() != holds
        elif m is BALLS:
            assert decided(relation) is holds
        else:
            assert decided(proved_part(relation)) is holds


def test_lanes_hold_numbers_of_any_size():
    one = lanes(np.ones(2))
    assert (one * 10**400).value.tolist() == [np.inf] * 2
    assert (one * -(10**400)).value.tolist() == [-np.inf] * 2
    assert FLOATS.norm(entries([one, one * -(2**600)])).value.tolist() == [2.0**600] * 2
    with pytest.raises(ClaimError, match="mixes a value of type float"):
        one * 0.5


def test_numbers_that_instances_share_stand_beside_their_own():
    own, zero = lanes(np.array([1.0, -2.0])), FLOATS.exact(0)
    found = FLOATS.spectral(entries([own, zero, zero, zero, own, zero, zero, zero, own], (3, 3)))
    assert found.value.tolist() == [1.0, 2.0]


def test_an_instance_that_is_not_finite_or_out_of_scale_leaves_the_others_alone():
    own, zero = lanes(np.array([1.0, np.inf, 2.0])), FLOATS.exact(0)
    diagonal = entries([own if i == j else zero for i in range(5) for j in range(5)], (5, 5))
    assert FLOATS.spectral(diagonal).value.tolist() == [
        1.0,
        pytest.approx(math.nan, nan_ok=True),
        2,
    ]
    pair = entries([lanes(np.array([3.0, 3e200])), lanes(np.array([4.0, 4e200]))])
    assert FLOATS.norm(pair).value.tolist() == pytest.approx([5.0, 5e200], rel=1e-15)


def test_no_view_of_entries_can_be_made_writeable():
    with pytest.raises(ValueError, match="WRITEABLE"):
        entries([fmpq(1)]).view(np.ndarray).setflags(write=True)


def test_rows_of_different_lengths_are_no_array():
    with pytest.raises(ClaimError, match=r"rows of different lengths.*Give rows of one length"):
        BALLS.array([[fmpq(1), fmpq(2)], [fmpq(3)]])


def test_symbols_are_real_or_what_is_said_of_them():
    assert symbols_of("x").is_real
    assert symbols_of("x").is_positive is None
    assert symbols_of("x", positive=True).is_positive


def test_a_ball_that_touches_0_does_not_say_that_a_number_is_none():
    wide = arb(0, 1)
    for ball in (wide - wide.rad(), wide + wide.rad()):  # its end is 0 exactly
        assert ball <= 0 or ball >= 0
        with pytest.raises(Untraceable):
            TRACES.is_zero(Trace(ball, 5))


def test_an_indicator_is_1_where_a_number_is_0():
    found = BALLS.is_zero(entries([fmpq(0), fmpq(1, 3), arb(-2), arb(0)]))
    assert found.tolist() == [1, 0, 0, 1]
    values = [0.0, -1e-300, np.nan]
    assert FLOATS.is_zero(Lane(np.array(values))).value.tolist() == [1.0, 0.0, 0.0]
    tensor = torch.tensor(values, dtype=torch.float64)
    assert Tensors().is_zero(Lane(tensor)).value.tolist() == [1.0, 0.0, 0.0]
    x = sp.Symbol("x", real=True)
    assert SYMBOLS.is_zero(x - x) == 1
    assert SYMBOLS.is_zero(x**2 + 1) == 0
    assert SYMBOLS.is_zero(x).subs(x, 3) == 0
    assert Text().is_zero(letter("x")).plain == "[x = 0]"


@pytest.mark.parametrize("exponent", [0, 2**80, -(2**80)])
def test_entries_of_any_size_have_a_spectral_norm(exponent):
    """The norm of [[3, 0, t], [0, 4, 0], [0, 0, 1]] times a power of two, t about 0 and tiny."""
    unit = arb((1, exponent))
    with ctx.workprec(64):
        for tiny in (arb((1, -(2**90))), arb((1, -(2**90))) + arb(0, arb((1, -60)))):
            rows = [[arb(3), arb(0), tiny], [arb(0), arb(4), arb(0)], [arb(0), arb(0), arb(1)]]
            norm = BALLS.spectral(entries([[value * unit for value in row] for row in rows]))
            assert norm.contains(4 * unit)
            assert norm < arb("4.0000001") * unit
            assert norm > arb("3.9999999") * unit


def test_a_matrix_of_zeros_and_one_that_is_not_finite():
    zeros = entries([[arb(0)] * 2] * 2)
    assert BALLS.spectral(zeros) == 0
    assert not BALLS.spectral(zeros + WIDE * arb("inf")).is_finite()


SMALL = {"expm1": math.expm1, "log1p": math.log1p}


@pytest.mark.parametrize("name", SMALL)
@given(x=st.builds(math.ldexp, st.integers(-48, 256), st.sampled_from([-6, -46, -206])))
def test_small_differences_keep_their_digits(name, x):
    """As balls, floats and tensors; nothing cancels near 0."""
    exact = SMALL[name](x)
    ball = arb(getattr(BALLS, name)(fmpq(*x.as_integer_ratio())))
    assert abs(ball - exact) <= 1e-15 * abs(exact)
    for m, batch in ((FLOATS, np.array([x])), (Tensors(), torch.tensor([x], dtype=torch.float64))):
        assert getattr(m, name)(Lane(batch)).value[0] == pytest.approx(exact, rel=1e-14, abs=0)


@pytest.mark.parametrize("name", SMALL)
def test_small_differences_are_exactly_0_at_0(name):
    assert isinstance(getattr(BALLS, name)(fmpq(0)), fmpq)
    for m, zero in ((BALLS, fmpq(0)), (BALLS, arb(0)), (SYMBOLS, SYMBOLS.exact(0))):
        assert getattr(m, name)(zero) == 0
    assert getattr(TRACES, name)(TRACES.exact(0)).zero
