"""The checker's enclosures hold the true numbers, and what it cannot decide it does not accept."""

import inspect
import re
from fractions import Fraction as Q

import pytest
from flint import arb, ctx, fmpq
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm.theory.record import checker
from attsvm.theory.record.checker import (
    Answer,
    Real,
    Undefined,
    absolute,
    all_of,
    any_of,
    at_most,
    below,
    check,
    eigenvalue,
    equal,
    exp,
    is_zero,
    log,
    maximum,
    minimum,
    shown,
    softmax,
    spectral,
    sqrt,
)

RATIONALS = st.builds(
    lambda a, b, k: Q(a, b) * Q(2) ** k,
    st.integers(-(10**6), 10**6),
    st.integers(1, 10**6),
    st.integers(-40, 14),
)
SMALL = RATIONALS.filter(lambda x: abs(x) < 3000)
BITS = st.sampled_from(checker.PRECISIONS[:4])


@pytest.fixture(autouse=True)
def _precision():
    """Leave the precision as it was found."""
    bits = Real.bits
    yield
    Real.bits = bits


def ball(x):
    return arb(fmpq(x.numerator, x.denominator))


def ensure_encloses(found, true, bits):
    """Ensure that a ball of many bits lies in an enclosure, which is about `bits` bits wide."""
    assert ball(found.low) <= true.upper()
    assert ball(found.high) >= true.lower()
    assert found.high - found.low <= max(abs(found.low), abs(found.high)) * Q(1, 2 ** (bits - 6))


FUNCTIONS = {
    "exp": (exp, lambda x: x.exp(), SMALL),
    "log": (log, lambda x: x.log(), RATIONALS.filter(lambda x: x > 0)),
    "sqrt": (sqrt, lambda x: x.sqrt(), RATIONALS.filter(lambda x: x >= 0)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@given(st.data(), BITS)
def test_a_function_encloses_the_true_value_narrowly(name, data, bits):
    function, true, domain = FUNCTIONS[name]
    x, Real.bits = data.draw(domain), bits
    with ctx.workprec(2 * bits + 200):
        ensure_encloses(function(x), true(ball(x)), bits)


@pytest.mark.parametrize("name", FUNCTIONS)
@given(st.data(), BITS)
def test_a_function_of_an_enclosure_encloses_the_values_at_its_ends(name, data, bits):
    function, true, domain = FUNCTIONS[name]
    low, high = sorted(data.draw(st.tuples(domain, domain)))
    Real.bits = bits
    found = function(Real(low, high))
    with ctx.workprec(2 * bits + 200):
        assert all(
            ball(found.low) <= true(ball(x)).upper() and ball(found.high) >= true(ball(x)).lower()
            for x in (low, high)
        )


@given(*[st.tuples(SMALL, SMALL).map(sorted)] * 2, BITS, st.sampled_from("+-*/"))
def test_arithmetic_encloses_the_results_at_all_corners(x, y, bits, sign):
    Real.bits = bits
    assume(sign != "/" or not y[0] <= 0 <= y[1])
    operate = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}
    operate["/"] = lambda a, b: a / b
    found = operate[sign](Real(*x), Real(*y))
    corners = [operate[sign](a, b) for a in x for b in y]
    assert found.low <= min(corners) <= max(corners) <= found.high


@given(*[st.tuples(SMALL, SMALL).map(sorted)] * 2, BITS)
def test_nothing_is_divided_by_an_enclosure_of_0(x, y, bits):
    Real.bits = bits
    with pytest.raises(Undefined):
        Real(*x) / Real(min(*y, 0), max(*y, 0))


@given(SMALL, SMALL)
def test_numbers_that_are_exact_stay_exact(a, b):
    x, y = Real(a), Real(b)
    made = [x + y, x - y, x * y, -x, absolute(x), maximum(x, y), minimum(x, y), sqrt(x * x)]
    expected = [a + b, a - b, a * b, -a, abs(a), max(a, b), min(a, b), abs(a)]
    assert [(z.low, z.high) for z in made] == [(z, z) for z in expected]
    assert [exp(0).high, exp(0).low, log(1).low, log(1).high] == [1, 1, 0, 0]


@given(st.tuples(SMALL, SMALL).map(sorted))
def test_a_square_is_not_negative(ends):
    x = Real(*ends)
    assert (x * x).low >= 0
    assert is_zero(x).low == int(ends == [0, 0])
    assert is_zero(x).high == int(ends[0] <= 0 <= ends[1])


@given(st.lists(st.fractions(-40, 40, max_denominator=64), min_size=1, max_size=4))
def test_softmax_is_a_distribution_with_the_ratios_of_exponentials(s):
    shares = softmax([Real(x) for x in s])
    total = sum(shares, Real(0))
    assert total.low <= 1 <= total.high
    ratio = shares[0] - shares[-1] * exp(Real(s[0]) - s[-1])
    assert ratio.low <= 0 <= ratio.high
    assert ratio.high - ratio.low < Q(1, 2**40) * shares[0].high + Q(1, 2**40)


SPECTRAL = [
    ([[3, 4]], 25),
    ([[1, 1], [0, 1]], None),  # the golden ratio
    ([[2, 0], [0, 1]], 4),
    ([[100, 0], [0, 101]], 101**2),
    ([[0, 0], [0, 0]], 0),
]


@pytest.mark.parametrize("bits", [128, 512, 2048])
def test_a_spectral_norm_lies_in_its_enclosure(bits):
    Real.bits = bits
    for A, square in SPECTRAL:
        found = spectral([[Real(x) for x in row] for row in A])
        true = sqrt(square) if square is not None else (1 + sqrt(5)) / 2
        assert found.low <= true.high, A
        assert found.high >= true.low, A
        assert found.high - found.low < Q(1, 2 ** (bits // 3)), A


@given(st.lists(st.integers(0, 9), min_size=1, max_size=4), st.integers(1, 9))
def test_an_eigenvalue_lies_in_its_enclosure_after_few_squarings(x, squarings):
    G = [[Real(a if i == j else 0) for j in range(len(x))] for i, a in enumerate(x)]
    found = eigenvalue(G, squarings)
    assert found.low <= max(x) <= found.high


TRUE, FALSE, OPEN = Answer(True, Real(1)), Answer(False, Real(-1)), Answer(None, Real(-1, 1))


@pytest.mark.parametrize(
    "parts", [(a, b) for a in (TRUE, FALSE, OPEN) for b in (TRUE, FALSE, OPEN)]
)
def test_what_is_open_stays_open_unless_another_part_decides(parts):
    truths = [part.truth for part in parts]
    both = False if False in truths else None if None in truths else True
    either = True if True in truths else None if None in truths else False
    assert (all_of(*parts).truth, any_of(*parts).truth) == (both, either)


def test_comparisons_tell_strict_from_weak_and_open_from_false():
    wide = Real(-1, 1)
    assert [f(0, 0).truth for f in (at_most, below, equal)] == [True, False, True]
    assert [f(0, wide).truth for f in (at_most, below, equal)] == [None] * 3
    assert [f(2, wide).truth for f in (at_most, below, equal)] == [False] * 3
    assert [f(-2, wide).truth for f in (at_most, below)] == [True, True]
    assert equal([1, 2], [1, 3]).truth is False
    with pytest.raises(ValueError, match="zip"):
        equal([1, 2], [1])


@pytest.mark.parametrize("ask", [bool, lambda x: x < 1, lambda x: x == 0, lambda x: x in [1]])
def test_no_enclosure_has_a_truth_value(ask):
    with pytest.raises(TypeError, match="at_most, below and equal alone"):
        ask(Real(0, 1))


def test_neither_floats_nor_the_truth_of_an_answer_are_taken():
    with pytest.raises(TypeError, match="no exact number"):
        Real(0) + 0.5
    with pytest.raises(TypeError, match="undecided"):
        bool(TRUE)


STATEMENTS = {
    "a violation": (lambda: [("h", TRUE), ("the claim", FALSE)], True),
    "the claim holds": (lambda: [("h", TRUE), ("the claim", TRUE)], False),
    "a hypothesis fails": (lambda: [("h", FALSE), ("the claim", FALSE)], False),
    "a hypothesis is open": (lambda: [("h", OPEN), ("the claim", FALSE)], False),
    "the claim is open": (lambda: [("h", TRUE), ("the claim", OPEN)], False),
    "there is no claim": (lambda: [("h", TRUE)], False),
    "nothing is said": (list, False),
    "undefined": (lambda: [("h", TRUE), ("the claim", at_most(log(0), -1))], False),
    "a division by 0": (lambda: [("the claim", at_most(1 / Real(-1, 1), 0))], False),
    "more bits decide": (lambda: [("the claim", at_most(exp(Q(1, 2**900)), 1))], True),
    "no bits decide": (lambda: [("the claim", at_most(exp(1) * exp(-1), 1))], False),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_only_a_claim_that_fails_under_hypotheses_that_hold_is_violated(name, capsys):
    statement, violated = STATEMENTS[name]
    assert check(statement) is violated
    assert capsys.readouterr().out.endswith("VIOLATED\n" if violated else "not violated\n")


@given(RATIONALS)
def test_decimals_are_rounded_outwards(x):
    low, high = map(Q, shown(Real(x))[1:-1].split(", "))
    assert low <= x <= high
    assert high - low <= abs(x) * Q(1, 10**18)


def test_it_takes_nothing_but_the_standard_library():
    found = re.findall(r"^(?:from|import) (\S+)", inspect.getsource(checker), re.MULTILINE)
    assert set(found) == {"__future__", "collections.abc", "decimal", "fractions", "math", "typing"}
