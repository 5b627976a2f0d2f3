"""The functions of integers, relations and indices, which have no case of real numbers."""

import contextlib
import math

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from attsvm import Integer, Real, question
from attsvm.errors import ClaimError, NotExpressible
from attsvm.theory.arithmetic import BALLS, FLOATS, Lane, Tensors, entries, lanes
from attsvm.theory.arithmetic.bounds import BOUNDS, Bounded
from attsvm.theory.arithmetic.derivatives import Duals, gradient
from attsvm.theory.arithmetic.exponentials import Exponentials
from attsvm.theory.arithmetic.heights import proved
from attsvm.theory.arithmetic.magnitudes import MAGNITUDES, Magnitude
from attsvm.theory.arithmetic.notation import letter, written
from attsvm.theory.arithmetic.script import Scripts
from attsvm.theory.arithmetic.text import Text
from attsvm.theory.arithmetic.traces import TRACES, Untraceable
from attsvm.theory.coq.arrays import Arrays
from attsvm.theory.coq.terms import Terms
from attsvm.theory.declaration.judge import decided
from attsvm.theory.report.mathml import mathml
from attsvm.theory.report.script import short_literal
from tests.theory.arithmetic.agreement import rational
from tests.theory.arithmetic.cases import CASES

WHOLE = {
    "gcd": (math.gcd, 2),
    "binomial": (math.comb, 2),
    "factorial": (math.factorial, 1),
}
INTEGERS = st.integers(0, 18)


def number_of(found):
    """The number that a result of any arithmetic holds."""
    found = getattr(found, "ball", found)
    if isinstance(found, Lane):
        return float(np.ravel(found.value)[0])
    return found


@pytest.mark.parametrize("name", WHOLE)
@given(st.tuples(INTEGERS, INTEGERS))
def test_functions_of_integers_are_exact_in_every_arithmetic(name, pair):
    function, count = WHOLE[name]
    given_ = pair[:count]
    right = function(*given_)
    exact = [fmpq(n) for n in given_]
    for m in (BALLS, TRACES, Exponentials()):
        assert number_of(getattr(m, name)(*given_)) == right
        assert number_of(getattr(m, name)(*map(m.exact, given_))) == right
    assert getattr(BALLS, name)(*map(arb, exact)) == right
    for m in (FLOATS, Tensors(), BOUNDS):
        assert number_of(getattr(m, name)(*given_)) == right
        assert number_of(getattr(m, name)(*map(m.exact, given_))) == right
    assert getattr(Scripts(short_literal), name)(*given_).value == right
    size = getattr(MAGNITUDES, name)(*map(Magnitude, given_)).size
    assert size is None or size >= right


def test_integers_that_are_not_known_or_negative_have_no_value():
    half, wide = fmpq(1, 2), arb(3, 1)
    assert BALLS.gcd(half, 2).is_nan()
    assert BALLS.factorial(wide).is_nan()
    assert BALLS.binomial(-1, 2).is_nan()
    assert np.isnan(number_of(FLOATS.factorial(-1)))
    with pytest.raises(Untraceable):
        TRACES.gcd(TRACES.sqrt(TRACES.exact(2)), 2)


def test_a_factorial_that_is_too_long_is_a_ball():
    ball = BALLS.factorial(10**6)
    assert isinstance(ball, arb)
    assert ball.is_finite()
    assert np.isinf(number_of(FLOATS.factorial(10**6)))


def test_an_error_bound_of_a_floor_covers_both_integers():
    near = Bounded(np.array([2.0, 2.5]), np.array([0.25, 0.25]))
    floor = BOUNDS.floor(near)
    assert floor.error[0] >= 1
    assert floor.error[1] == 0


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=4), st.integers(-3, 3))
def test_relations_and_their_indicators_agree(values, bound):
    x = entries([fmpq(v) for v in values])
    relations = {
        "any": (lambda m, x: m.any_of(*(m.below(t, m.exact(bound)) for t in x)),
                min(values) < bound),
        "all": (lambda m, x: m.all_of(*(m.at_most(t, m.exact(bound)) for t in x)),
                max(values) <= bound),
        "equal": (lambda m, x: m.equal(x, 0 * x + m.exact(bound)),
                  all(v == bound for v in values)),
        "differ": (lambda m, x: m.differ(x, 0 * x + m.exact(bound)),
                   any(v != bound for v in values)),
        "number": (lambda m, x: m.differ(x[0], m.exact(bound)), values[0] != bound),
    }  # fmt: skip
    floats = lanes(np.array(values, dtype=float)[:, None])
    traces = entries([TRACES.of(v) for v in x])
    for relation, truth in relations.values():
        assert decided(relation(BALLS, x)) is truth
        for m, numbers in ((BALLS, x), (TRACES, traces), (FLOATS, floats)):
            assert number_of(m.indicator(relation(m, numbers))) == truth


@given(st.lists(st.integers(-2, 2), min_size=9, max_size=9), st.integers(1, 3), st.booleans())
def test_definiteness_agrees_with_eigenvalues(values, n, gram):
    A = np.array(values, dtype=float)[: n * n].reshape(n, n)
    A = A[:1].T @ A[:1] if gram else A + A.T
    exact = entries([rational(x) for x in map(int, A.ravel())], A.shape)
    least = BALLS.eigenvalues(exact)[0]
    floats = lanes(A[..., None])
    tensors = lanes(Tensors().library.tensor(A[..., None]))
    for name, truth in (("psd", least >= 0), ("pd", least > 0)):
        assert decided(getattr(BALLS, name)(exact)) == truth
        holds, fails = proved(getattr(BOUNDS, name)(lanes(A[..., None], Bounded)))
        assert not (fails if truth else holds)
        for m, numbers in ((FLOATS, floats), (Tensors(), tensors)):
            relation = getattr(m, name)(numbers)
            gap = number_of(relation.right - relation.left)
            assert gap > -1e-12 if truth else gap < 1e-12


def test_x_log_x_of_a_ball_holds_its_values():
    for top in (0.01, 0.5, 1.0, 3.0):
        ball = BALLS.xlogx(arb(0).union(arb(top)))
        for share in (0.0, 0.1, 1 / math.e / top, 1.0):
            x = min(share, 1.0) * top
            assert ball.overlaps(BALLS.xlogx(fmpq(*x.as_integer_ratio())) + arb(0, 1e-15))
    assert BALLS.xlogx(arb(-1)).is_nan()


def test_eigenvalues_of_overlapping_balls_are_in_order():
    A = entries([[arb(2, 1), arb(0), arb(0)], [arb(0), arb(2), arb(0)], [arb(0), arb(0), arb(1)]])
    for value, inside in zip(BALLS.eigenvalues(A), (1, 2, 3), strict=True):
        assert value.overlaps(arb(inside))


def test_formulas_are_written_with_these_functions():
    m = Text()
    A, x, n = letter("A", 2), letter("x", 1), letter("n", 0)
    assert written(m.psd(A)).plain == "lambda_min(A) >= 0"
    assert written(m.differ(x, A)).plain == "x != A"
    assert m.solve(A, x).plain == "A^(-1) x"
    assert m.sum_over(1, n, lambda k: m.product_over(1, k, lambda i: x[i])).plain == (
        "sum(prod(x[i] for i = 1..k) for k = 1..n)"
    )
    assert m.count(lambda t: m.above(t, 0), x).plain == "#{k : x[k] > 0}"
    assert m.indicator(m.at_most(n, 2)).plain == "[n <= 2]"
    assert m.mod(n, 3).plain == "n mod 3"
    assert m.floor(n / 2).plain == "floor(n/2)"
    assert m.factorial(n + 1).plain == "(n + 1)!"
    assert m.iterate(lambda t: t - t * t, letter("y", 0), n).plain == "y[n]"
    assert m.definitions["y[k+1]"].right.plain == "y[k] - y[k]^2 and y[0] = y"


def test_no_index_and_no_sequence_has_a_letter_of_the_formula():
    over = question(
        lambda m, v: m.equal(m.sum_over(0, v.k, lambda j: m.binomial(v.k, j)), 2**v.k), k=Integer(1)
    )
    assert over.text.endswith("Then sum(binomial(k, i) for i = 0..k) = 2^k.")
    steps = question(
        lambda m, v: m.at_least(m.iterate(lambda t: t + v.x * v.k, m.exact(1), v.k), 0),
        x=Real(),
        k=Integer(1),
    )
    assert steps.text.endswith("Then y[k] >= 0, where y[i+1] = y[i] + x k and y[0] = 1.")


@pytest.mark.parametrize(
    "call",
    [
        lambda m, A: m.det(A),
        lambda m, A: m.eigenvalues(A),
        lambda m, A: m.floor(A),
        lambda m, A: m.gcd(m.sum(A), m.sum(A)),
        lambda m, A: m.sum_over(1, m.size(A), lambda k: m.exact(k)),
    ],
)
def test_what_coq_has_no_term_for_any_size_is_said_not_to_be_expressible(call):
    m = Arrays()
    with pytest.raises(NotExpressible):
        call(m, m.letter("A", ("n", "n")))


def test_coq_has_determinants_of_given_sizes_and_no_floor():
    m = Terms()
    A = entries([[m.values(x) for x in row] for row in ([1.0, 2.0], [3.0, 4.0])])
    assert "*" in m.det(A).text
    with pytest.raises(NotExpressible):
        m.floor(A[0, 0])


def test_functions_with_kinks_have_no_gradient():
    x = entries([fmpq(1), fmpq(2)])
    assert list(gradient(BALLS, lambda m, x: m.product(x), x)) == [2, 1]
    for name in ("floor", "relu"):
        with pytest.raises(ClaimError):
            gradient(BALLS, lambda m, x, name=name: getattr(m, name)(x[0]), x)
    assert Duals(BALLS).gcd(4, 6) == 2


def test_browsers_show_all_notation_of_the_functions():
    m = Text()
    for name, case in CASES.items():
        terms = [letter(x, len(axes)) for x, axes in zip("xyz", case.shapes, strict=False)]
        with contextlib.suppress(ClaimError):  # some cases ask for a length
            assert mathml(case.call(m, *terms).latex), name
    for relation in (m.psd(letter("A", 2)), m.differ(letter("x"), letter("y"))):
        assert mathml(written(relation).latex)
    for definition in m.definitions.values():
        assert mathml(definition.left.latex)
