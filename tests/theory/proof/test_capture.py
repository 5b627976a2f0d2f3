"""False things about indices, letters of other sorts, and formulas: the core must refuse them."""

import pytest

from attsvm.errors import ProofError
from attsvm.theory import Integer, Vector
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.proof.arrays import LETTERS, variable, whole_loops
from attsvm.theory.proof.facts import K, Proposition, Sequent, ge, gt, proof, some
from attsvm.theory.proof.lemmas import (
    DISCRIMINANT,
    EXTREMES,
    RISES,
    continuous,
    falls,
    spectral,
)
from attsvm.theory.proof.linked import conclusion_of, propositions
from attsvm.theory.proof.rules import (
    add_up,
    at,
    attained,
    beyond,
    cite,
    decide,
    fact_of_reading,
    positive,
    square,
)
from attsvm.theory.proof.terms import (
    INNER,
    POSITIVE,
    REAL,
    VECTOR,
    Function,
    Letter,
    Sort,
    as_term,
    fresh,
    least,
    most,
    substituted,
    total,
)

ROW, COLUMN = Sort("row", index=True), Sort("column", index=True)
i, j, other = Letter("i", ROW), Letter("j", COLUMN), Letter("other", COLUMN)
a, x = Letter("a", POSITIVE), Letter("x")
A, f = Function("A", (ROW, COLUMN)), Function("f", (COLUMN,))
g, slope = Function("g", (REAL,)), Function("slope", (REAL,))
(BOUND,) = (atom.index for atom in total(f(j), j).atoms)
"""The index of a sum, taken out of it."""

m = LETTERS
s, t = variable("s", ("n",)), variable("t", ("n",))
R, S = variable("R", ()), variable("S", ())

refused = pytest.raises(ProofError)


@pytest.fixture(autouse=True)
def whole():
    with proof() as found:
        yield found


def claimed(*propositions_):
    return [fact_of_reading(Sequent(one), "given", "") for one in propositions_]


def test_a_spectral_norm_is_no_entry_and_no_extreme():
    """The norm of a matrix of ones is its length, and each entry is 1."""
    (exists,) = claimed(some(i))
    for term in (spectral(A(i, j), i, j), *spectral(A(i, j), i, j).atoms):
        with refused:
            attained("entry", as_term(term), exists)
    attained("largest", most(A(i, j), i), exists)


@pytest.mark.parametrize("letter", [a, K, Letter("t", POSITIVE)])
def test_a_lemma_about_all_reals_binds_a_real_letter(letter):
    """t^2 + 2 t >= 0 for positive t and for steps, but 1 is no more than 0."""
    t = letter.term
    (known,) = claimed(ge(t**2 + 2 * t, 0)) if letter == K else [decided_of_positive(letter)]
    with refused:
        cite(DISCRIMINANT, [known], letter, as_term(1), as_term(1), as_term(0))
    ends = as_term(-2), as_term(-1)
    with refused:
        cite(EXTREMES, claimed(continuous(g), gt(g(t), 0)), g, letter, *ends)
    sloping = claimed(falls(g, slope), ge(1, 0), ge(slope(t), 0))
    with refused:
        cite(RISES, sloping, -g(t), letter, {g: slope}, *ends)


def decided_of_positive(letter):
    return decide(ge(letter.term**2 + 2 * letter.term, 0), positive(letter))


def test_an_index_of_a_sum_stays_in_its_sum():
    """Outside it would be an element of a set that may be empty, or be bound by another sum."""
    (known,) = claimed(ge(x, f(j) ** 2))
    with refused:
        at(known, {j: BOUND.term})
    with refused:
        square(f(BOUND))
    h = Function("h", (COLUMN, COLUMN, COLUMN))
    low = Letter("low", COLUMN)
    largest = beyond("most", h(other, j, low), low)
    with refused:
        at(largest, {other: BOUND.term})
    with refused:
        total(h(BOUND, BOUND, j), j)
    each = at(largest, {other: j.term})
    summed = add_up(each, j)
    assert summed.proposition == ge(total(most(h(j, j, low), low), j), total(h(j, j, low), j))


@pytest.mark.parametrize("numbers", [(1, 2), (-1, -2)])
def test_inner_products_of_vectors_that_look_the_same_stay_two_factors(numbers):
    """<u, v> is <v, u>: their product in a sum is a square, and their difference 0."""
    p, q = (Letter("j", COLUMN, number) for number in numbers)
    u, v = map(Function("u", (COLUMN,), VECTOR), (p, q))
    one, same = INNER(u, v), INNER(v, u)
    if hash(p) == hash(q):  # as hash(-1) == hash(-2): the two have no order
        for make in (lambda: total(one * same, p), lambda: least(one - same, p)):
            with refused:
                make()
    else:
        assert total(one * same, p) == total(one**2, p)
        assert least(one - same, p) == least(0, p)


def test_a_new_letter_is_not_foreseen():
    """Letters with the next numbers would be bound by the sum into which they are put."""
    last = fresh(COLUMN).number
    for number in range(last + 1, last + 4):
        next_ = Letter("column", COLUMN, number)
        put = substituted(total(g(f(j) + x), j), {x: f(next_)})
        assert put == total(g(f(other) + f(next_)), other)


def test_a_proposition_has_one_of_three_relations():
    """A fourth one would be strict in a certificate, but not in a sum that may be empty."""
    for relation in ("<=", "<", "=", "!=", ""):
        with refused:
            Proposition(f(j), relation)


def each(letters, bound):
    return m.all_of(*(m.at_most(one, bound) for one in letters))


def test_a_disjunction_is_of_parts_that_stand_alone():
    """s <= 0 or t <= 0 says more than s_i <= 0 or t_i <= 0 for each i; nothing is left out."""
    u = variable("u", ("d",))
    (said,) = propositions(m.any_of(each(s, 0), each(u, 0)))
    assert len(said.assumptions) == 1
    assert not said.proposition.letters & next(iter(said.assumptions)).letters
    either = m.any_of(m.at_most(R, 0), m.at_most(R, 1))
    for wrong in (
        m.any_of(each(s, 0), each(t, 0)),
        m.any_of(either, m.at_most(S, 2)),
        m.any_of(m.at_most(S, 2), either),
        m.at_most(s, t),
    ):
        with refused:
            [*propositions(wrong)]


def test_a_loop_over_pairs_of_indices_has_no_term():
    """Its general index would be a pair of equal ones: all s_i s_i >= 0, but not all s_i s_j."""
    with refused, whole_loops():
        [*m.vec(m.outer(s, s))]


def test_no_variable_is_the_position_of_an_index():
    with refused:
        variable("position", ("n",))


def test_an_axis_that_may_be_empty_has_no_first_index():
    """The sum of s[:1] is 0 if s has no entries."""

    def conclusion(m, v):
        return m.at_least(m.sum(v.s[:1]), m.exact(1))

    for low in (0, 1):
        variables = {"n": Integer(low, 3), "s": Vector("n")}
        formula = Formula(variables, {}, conclusion, {}, object)
        if low:
            assert conclusion_of(formula).sequents
        else:
            with refused:
                conclusion_of(formula)
