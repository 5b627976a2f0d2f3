"""Formulas are typeset as they run, with brackets where they need them, definitions once."""

import re
from fractions import Fraction
from types import SimpleNamespace

import pytest
import sympy as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from attsvm.errors import ClaimError
from attsvm.theory.arithmetic import BALLS, Arithmetic
from attsvm.theory.arithmetic.derivatives import gradient
from attsvm.theory.arithmetic.naming import definition
from attsvm.theory.arithmetic.notation import Term, letter, letters, written
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.arithmetic.text import Calls, Text
from properties.sim import lemma_3_12, lemma_3_13
from tests.theory.arithmetic.cases import CASES

CLAIMS = [c for module in (lemma_3_12, lemma_3_13) for c in module.LEMMA.claims]
PAIRS = {"(": ")", "{": "}", "[": "]"}


def balanced(text):
    """Whether every bracket is closed by its own kind; \\left and \\right come in pairs."""
    stack = []
    for sign in text.replace(r"\{", "").replace(r"\}", ""):
        if sign in PAIRS:
            stack.append(PAIRS[sign])
        elif sign in PAIRS.values() and (not stack or stack.pop() != sign):
            return False
    return not stack and text.count(r"\left") == text.count(r"\right")


def typeset(claim, m):
    formula = claim.formula
    v = SimpleNamespace(**letters(formula.variables))
    yield written(formula.relation(m, v, {}))
    for condition in formula.hypotheses.values():
        yield written(condition.holds(m, v))
    for found in m.definitions.values():
        yield found.left
        if isinstance(found.right, Term):
            yield found.right


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_formulas_of_lemmas_are_typeset(claim):
    for term in typeset(claim, Text()):
        assert balanced(term.latex), term.latex
        assert balanced(term.plain), term.plain
        assert not re.search(r"<attsvm|object at|Term\(|\{\{|\}\}\}\}", term.plain)


def test_unbalanced_text_is_seen():
    assert not balanced("(a]")
    assert not balanced("(a")
    assert not balanced(r"\left(a)")


def test_a_definition_is_spelled_out_once():
    m, claim = Text(), CLAIMS[-1]
    first, *_ = typeset(claim, m)
    assert first.plain.count("grad L(") == 2
    names = list(m.definitions)
    assert len(set(names)) == len(names)
    assert {"gradient", "K({0})"} <= set(names)
    assert m.definitions["gradient"].left.plain == "grad L(x)"
    assert m.definitions["gradient"].right.plain.startswith("b g'(b <softmax(A x), h>) A^T")
    list(typeset(claim, m))
    assert list(m.definitions) == names


NAMES = {"a": Fraction(3), "b": Fraction(-2), "c": Fraction(5, 7)}
TREES = st.recursive(
    st.sampled_from(sorted(NAMES)),
    lambda inner: (
        st.tuples(st.sampled_from("+-*/"), inner, inner)
        | st.tuples(st.just("neg"), inner)
        | st.tuples(st.just("pow"), inner)
    ),
    max_leaves=6,
)


def run(tree, values):
    if isinstance(tree, str):
        return values[tree]
    kind, *parts = tree
    found = [run(part, values) for part in parts]
    if kind == "neg":
        return -found[0]
    if kind == "pow":
        return found[0] ** 2
    one, other = found
    return {"+": one.__add__, "-": one.__sub__, "*": one.__mul__, "/": one.__truediv__}[kind](other)


def read(plain):
    """The value of a formula in plain characters: letters side by side are multiplied."""
    text = re.sub(r"(?<=[a-c0-9)]) (?=[(a-c0-9])", " * ", plain).replace("^", "**")
    return eval(text, dict(NAMES))


@given(TREES)
def test_what_is_written_has_the_value_of_what_runs(tree):
    try:
        value = run(tree, NAMES)
    except ZeroDivisionError:
        assume(False)
    written_ = run(tree, {name: letter(name) for name in NAMES})
    assert read(written_.plain) == value
    assert balanced(written_.latex)


@pytest.mark.parametrize(
    ("made", "plain"),
    [
        (lambda x: 0 + x, "x"),
        (lambda x: x + 0, "x"),
        (lambda x: 0 - x, "-x"),
        (lambda x: x - 0, "x"),
        (lambda x: x**2 * x, "x^3"),
        (lambda x: x**0, "x^0"),
        (lambda x: x * Fraction(2, 3), "x (2/3)"),
    ],
)
def test_zeros_powers_and_fractions_are_written_as_one_would(made, plain):
    assert made(letter("x")).plain == plain


@pytest.mark.parametrize(
    ("made", "plain"),
    [
        (lambda A, x, y, b: x * y, "x o y"),
        (lambda A, x, y, b: b * x * (y - x), "b x o (y - x)"),
        (lambda A, x, y, b: A @ (x * y) + b, "A (x o y) + b"),
        (lambda A, x, y, b: (A @ x) * y * 2, "(A x o y) * 2"),
        (lambda A, x, y, b: x @ y * (x * x), "x y x^2"),
        (lambda A, x, y, b: Text().softmax(x) * Text().exp(y), "softmax(x) o exp(y)"),
        (lambda A, x, y, b: Text().norm(x) * y, "||x|| y"),
        (lambda A, x, y, b: A * A, "A^(o 2)"),
        (lambda A, x, y, b: Text().square(A + A.T), "(A + A^T)^(o 2)"),
        (lambda A, x, y, b: Text().matrix_power(A, 2), "A^2"),
        (lambda A, x, y, b: Text().matrix_power(A, 2) * A, "A^2 o A"),
        (lambda A, x, y, b: Text().inverse(A) * Text().inverse(A), "(A^(-1))^(o 2)"),
        (lambda A, x, y, b: 2**b, "2^b"),
        (lambda A, x, y, b: Text().array([[b, 1], [0, b]]) @ x, "((b, 1), (0, b)) x"),
    ],
)
def test_products_of_arrays_entry_by_entry_are_told_apart(made, plain):
    """A number before an array, and a matrix before a vector, stand beside it."""
    A, x, y, b = (letter(name, axes) for name, axes in zip("Axyb", (2, 1, 1, 0), strict=True))
    found = made(A, x, y, b)
    assert found.plain == plain
    assert found.latex.count(r"\circ") == plain.count("o ")


def test_a_digit_after_a_letter_is_its_index():
    assert [letter(name).latex for name in ("W1", "ab", "x_i")] == [
        "W_{1}",
        r"\mathrm{ab}",
        "x_{i}",
    ]


def test_an_exact_number_is_written_as_it_is_given():
    assert Text().exact("0.95").plain == "0.95"


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"exact"}))
def test_every_function_is_written(name):
    terms = [letter(x) for x, _ in zip("xyz", CASES[name].shapes, strict=False)]
    m, x = Text(), terms[0]
    arguments = {
        "array": [terms],
        "power": [*terms, 3],
        "matrix_power": [*terms, 3],
        "mod": [*terms, 3],
        "gcd": [*terms, 6],
        "binomial": [*terms, 3],
        "indicator": [m.at_most(x, 0)],
        "count": [lambda t: m.at_most(t, 0), x],
        "sum_over": [1, 3, lambda k: x * k],
        "product_over": [1, 3, lambda k: x * k],
        "iterate": [lambda t: t * t, x, 3],
    }.get(name, terms)
    found = getattr(Text(), name)(*arguments)
    assert "x" in found.plain
    assert balanced(found.latex)
    assert "{0}" not in found.latex + found.plain


@pytest.mark.parametrize("name", ["sums", "size", "covariance", "kron", "outer", "vec", "softmax"])
def test_sums_get_brackets(name):
    total = letter("x") + letter("y")
    arguments = [total] * (2 if name in ("covariance", "kron", "outer") else 1)
    found = getattr(Text(), name)(*arguments)
    assert found.plain.count("(x + y)") == found.plain.count("x + y")
    assert found.latex.count(r"\left(x + y\right)") == found.latex.count("x + y")
    squared = letter("z") @ found
    assert squared.plain in (f"z {found.plain}", f"z ({found.plain})")


def test_gradients_are_written():
    found = gradient(Text(), lambda m, x: m.dot(x, x), letter("x"))
    assert found.plain == "grad_x <x, x>"


@pytest.mark.parametrize(
    "misused",
    [
        lambda m, x: m.at_most(x, 1) if x else m.at_most(1, x),
        lambda m, x: x < 1,
        lambda m, x: max(x, x),
        lambda m, x: m.at_most(0.5 * x, 1),
        lambda m, x: m.at_most(len(x), 1),
        lambda m, x: x,
    ],
)
def test_what_cannot_be_written_is_refused(misused):
    with pytest.raises(ClaimError, match="a formula"):
        written(misused(Text(), letter("x")))


def test_text_knows_all_functions():
    assert isinstance(Text(), Arithmetic)
    defined_once = {
        "exact",
        "expm1",
        "log1p",
        "sigmoid",
    }  # defined by the base class
    assert set(CASES) - set(vars(Text)) - set(vars(Calls)) == defined_once


def test_small_differences_are_written_out():
    assert Text().expm1(letter("x")).plain == "exp(x) - 1"
    assert Text().log1p(letter("x")).plain == "ln(1 + x)"


def test_lengths_are_constants_in_text_and_in_symbols():
    assert Text().exact(letter("n")).plain == "n"
    assert SYMBOLS.exact(sp.Symbol("n")) == sp.Symbol("n")
    for m in (Text(), SYMBOLS, BALLS):
        with pytest.raises(ClaimError, match="exact"):
            m.exact(0.5)


@pytest.mark.parametrize(
    ("latex", "wrong"), [("f({y})", "y"), (r"\mathrm{A} {x}", "A"), ("{}", ""), ("{x", "{x")]
)
def test_braces_around_what_is_no_argument_of_a_definition_are_told(latex, wrong):
    with pytest.raises(ClaimError) as told:
        definition(latex)(lambda m, x: x)
    assert str(told.value) == (
        "the LaTeX of the definition <lambda> has braces around a text that is no argument "
        f"(got {wrong}). Its arguments are x; braces of LaTeX itself are written twice, "
        "{{ and }}."
    )
