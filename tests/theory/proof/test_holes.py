"""False things that the core of linked proofs must refuse: one a rule, and the holes of its past.

Each test builds what would prove something false, and expects that a rule refuses it. Where the
refused fact is close to a true one, the true one is made beside it.
"""

import ast
import contextlib
import contextvars
import re
from pathlib import Path

import pytest
from flint import fmpq

import symbolic
from attsvm.errors import ProofError
from attsvm.theory import Hypothesis
from attsvm.theory.proof.certificates import Summand, refutes
from attsvm.theory.proof.facts import K, Sequent, current, eq, ev, ge, gt, proof, some
from attsvm.theory.proof.lemmas import (
    CONTINUITY,
    DESCENT,
    DISCRIMINANT,
    EXPONENTIAL,
    EXTREMES,
    FINITELY_OFTEN,
    HEINE_BOREL,
    INDICATOR,
    LARGER,
    LEAST_SQUARES,
    NEAREST,
    RECIPROCAL,
    RISES,
    SETTLED,
    SIZE,
    SPECTRAL,
    STRETCHED,
    continuous,
    falls,
    hull,
    lipschitz_gradient,
    spectral,
)
from attsvm.theory.proof.linked import Said, ensure_concluded, ensure_used, linked, setting, suppose
from attsvm.theory.proof.rules import (
    accumulate,
    add_up,
    assume,
    at,
    attained,
    beyond,
    bounds,
    by_definition,
    cases,
    cite,
    conclude,
    cut,
    decide,
    define,
    exchange,
    fact_of_reading,
    induction,
    inside,
    one_of_sum,
    picked,
    positive,
    regroup,
    scale,
    split,
    square,
)
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    FIXED,
    INNER,
    INV,
    IS_ZERO,
    LOG,
    NORM,
    POSITIVE,
    REAL,
    STEP,
    VECTOR,
    Function,
    Letter,
    Over,
    Sort,
    after_first,
    as_term,
    derivative,
    first_of,
    least,
    most,
    position,
    same,
    substituted,
    total,
)
from symbolic.facts import change_at_most, rises_at_most

INPUT, RIVAL = Sort("input", index=True), Sort("rival", index=True)
x, y, z = (Letter(name) for name in "xyz")
a, b = Letter("a", POSITIVE), Letter("b", POSITIVE)
i, j, other = Letter("i", INPUT), Letter("j", RIVAL), Letter("other", RIVAL)
U, V = Letter("U", VECTOR), Letter("V", VECTOR)
owner = Function("owner", (RIVAL,), INPUT)
f, g = Function("f", (RIVAL,)), Function("g", (RIVAL,))
h, slope = Function("h", (REAL,)), Function("slope", (REAL,))
seq, also = Function("s", (STEP,)), Function("t", (STEP,))
vectors = Function("A", (RIVAL,), VECTOR)
X, Y = x.term, y.term
k = K.term

refused = pytest.raises(ProofError)


@pytest.fixture(autouse=True)
def whole():
    """A proof that facts belong to; the reading has the function `owner`."""
    with proof() as found:
        found.choices.add(owner)
        yield found


def claimed(proposition, *assumptions):
    """A fact that a reading gives."""
    return fact_of_reading(Sequent(proposition, frozenset(assumptions)), "given", "")


# the normal form


def test_a_number_and_its_reciprocal_do_not_cancel():
    assert X * INV(X) != as_term(1)
    assert X * X * INV(X) == X / X * X
    with refused:
        decide(eq(X / X, 1))
    product, _ = cite(RECIPROCAL, [assume(gt(x, 0))], X)
    assert product.assumptions == {gt(x, 0)}
    # of a vector: <c U, V>/c
    assert INNER(X * U.term, V.term) / X != INNER(U.term, V.term)


def test_the_reciprocal_of_0_is_0_and_that_of_a_product_the_product():
    assert INV(0) == as_term(0)
    assert INV(2 * X * Y) == INV(X) * INV(Y) / 2
    assert INV(INV(X)) == X
    assert INV(X + Y) != INV(X) + INV(Y)


def test_floats_are_refused():
    for value in (0.5, float("nan"), "1", True, None):
        with refused:
            as_term(value)
    with refused:
        X + 0.5


def test_a_bound_letter_is_named_anew_after_a_substitution():
    """sum_j f(j) x at x = sum_j g(j) is a product of two sums, and stays one inside h."""
    apart = total(f(j) * X, j)
    assert substituted(apart, {x: total(g(j), j)}) == total(f(j), j) * total(g(j), j)
    within = total(h(f(j) + X), j)
    placed = substituted(within, {x: total(g(j), j)})
    assert placed == total(h(f(other) + total(g(j), j)), other)
    assert placed != total(h(f(j) + g(j)), j)
    # a value with the letter itself is not captured
    assert substituted(total(h(f(j) + X), j), {x: f(j)}) == total(h(f(other) + f(j)), other)
    assert substituted(least(f(j) + X, j), {x: f(j)}) == least(f(other) + f(j), other)


def test_bound_letters_of_the_parts_of_a_sum_are_named_by_themselves():
    best = Function("best", (INPUT,))
    long = total(h(best(i)) * total(h(best(i)), i), i)
    assert long == total(h(best(i)), i) ** 2
    two = total(h(best(i)) + h(total(best(i), i)), i)
    assert two == total(h(best(i)), i) + total(1, i) * h(total(best(i), i))


def test_a_sum_of_a_constant_counts_and_is_no_multiple_of_one_term():
    assert total(X, j) == total(1, j) * X
    assert total(1, j) != as_term(1)
    assert total(f(j) * g(j), j) != total(f(j), j) * total(g(j), j)


def test_members_of_one_element_are_not_all():
    mine = total(f(j), j, Over(owner, i.term))
    assert mine != total(f(j), j)
    at_owner = Function("q", (INPUT,))
    assert total(at_owner(owner(j)) * f(j), j, Over(owner, i.term)) == at_owner(i) * mine
    with refused:  # the members of the owner of the index itself
        total(f(j), j, Over(owner, owner(j)))
    with refused:
        total(at_owner(i), i, Over(owner, i.term))


def test_sorts_are_checked():
    for wrong in (
        lambda: NORM(X),
        lambda: INNER(X, V.term),
        lambda: INNER(U.term + X, V.term),
        lambda: ge(U.term, 0),
        lambda: ge(j, 0),
        lambda: f(i),
        lambda: f(2),
        lambda: EXP(j),
        lambda: seq(X),
        lambda: seq(k - 1),
        lambda: seq(as_term(fmpq(1, 2))),
        lambda: h(),
        lambda: total(X, x),
        lambda: total(U.term @ V.term * U.term, x),
        lambda: least(vectors(j), j),
    ):
        with refused:
            wrong()
    assert seq(k + 2) != seq(k)


def test_derivatives_are_those_of_functions_that_have_one_everywhere():
    falling = {h: slope}
    assert derivative(X**3 + 2 * X * Y, x, {}) == 3 * X**2 + 2 * Y
    assert derivative(h(2 * X), x, falling) == -2 * slope(2 * X)
    assert derivative(INV(1 + EXP(X)), x, {}) == -(INV(1 + EXP(X)) ** 2) * EXP(X)
    # a sum of exponentials is above 0 everywhere, or 0 everywhere as there is no index
    weights = total(EXP(f(j) * X), j)
    assert derivative(INV(weights), x, {}) == -(INV(weights) ** 2) * derivative(weights, x, {})
    assert derivative(total(EXP(f(j) * X), j), x, {}) == total(f(j) * EXP(f(j) * X), j)
    choice = Function("choice", (REAL,), INPUT)
    others = total(EXP(X * f(j)), j, Over(owner, choice(X)))  # whose members change with x
    for wrong in (
        *(
            INV(X),
            INV(X * EXP(X)),
            INV(1 - EXP(X)),
            INV(EXP(X) - EXP(2 * X)),
            INV(1 + X),
            h(X),
            least(f(j) * X, j),
        ),
        *(others, f(Function("pick", (REAL,), RIVAL)(X))),
    ):
        with refused:
            derivative(wrong, x, {})


# certificates and decisions


def test_a_certificate_adds_up_to_0_with_positive_factors_and_something_positive():
    known = (ge(x, 0), gt(-X, 0), eq(y, 0))
    one = Summand(fmpq(1), (0,)), Summand(fmpq(1), (1,))
    assert refutes(known, one)
    assert refutes((gt(-1, 0),), [Summand(fmpq(1), (0,)), Summand(fmpq(1), ())])
    for wrong in (
        [],
        one[:1],
        [one[0], Summand(fmpq(2), (1,))],
        [Summand(fmpq(-1), (0,)), Summand(fmpq(-1), (1,))],
        [Summand(fmpq(0), (0,))],
        [Summand(fmpq(1), (2,))],
    ):
        assert not refutes(known, wrong)
    # x >= 0 and -x >= 0 hold together
    assert not refutes((ge(x, 0), ge(-X, 0)), one)


def test_what_is_false_is_not_decided():
    known = assume(ge(x, 0)), assume(ge(y, 1))
    assert decide(ge(X * Y, X), *known)
    for wrong in (gt(X * Y, 0), ge(X, Y), gt(X, 0), eq(X, 0), ge(X * Y, X + 1)):
        with refused:
            decide(wrong, *known)
    for wrong in (gt(X**2, 0), ge(X**3, 0), ge(X, 0), eq(X**2, X)):
        with refused:
            decide(wrong)


def test_a_premise_that_a_decision_does_not_use_is_refused():
    with pytest.raises(ProofError, match="does not use"):
        decide(ge(X + 1, 0), assume(ge(x, 0)), assume(ge(y, 0)))
    with pytest.raises(ProofError, match="does not use"):
        decide(ge(X + 1, 0), assume(ge(x, 0)), claimed(some(j)))


def test_a_symbol_has_no_sign():
    with refused:
        decide(gt(Function("e")(), 0))
    with refused:
        positive(x)
    assert positive(a).proposition == gt(a, 0)


def test_assumptions_stay_with_what_is_made_from_them():
    fact = decide(ge(X + Y, 0), assume(ge(x, 0)), assume(ge(y, 0)))
    assert fact.assumptions == {ge(x, 0), ge(y, 0)}
    assert cut(fact, claimed(ge(x, 0))).assumptions == {ge(y, 0)}
    with refused:
        cut(fact, claimed(ge(z, 0)))


def test_an_equation_takes_any_factor_and_an_inequality_none():
    assert scale(assume(eq(x, y)), -X).proposition.says(eq(X * X, X * Y))
    with refused:
        scale(assume(ge(x, y)), -X)
    with refused:
        square(U.term)


def test_equal_values_are_put_in_at_one_place_only():
    fact = assume(eq(x, y))
    assert inside(fact, X, Y, EXP(z.term), z).proposition == eq(EXP(X), EXP(Y))
    with refused:
        inside(fact, X, z.term, EXP(z.term), z)
    with refused:
        inside(assume(ge(x, y)), X, Y, EXP(z.term), z)


# instances


def test_an_instance_replaces_letters_that_are_there_by_terms_of_their_sort():
    fact = claimed(ge(f(j) * X, 0))
    assert at(fact, {x: Y + 1, j: other}).proposition == ge(f(other) * (Y + 1), 0)
    for values in ({y: X}, {j: i}, {x: U}, {j: 1}):
        with refused:
            at(fact, values)
    assert at(claimed(ge(X, 0), ge(x, 1)), {x: Y}).assumptions == {ge(y, 1)}


def test_a_positive_letter_takes_positive_values_only():
    fact = claimed(gt(h(a), 0))
    with refused:
        at(fact, {a: X})
    with refused:
        at(fact, {a: -1})
    with refused:
        at(fact, {a: X}, assume(ge(x, 0)))
    with refused:
        at(fact, {a: X}, assume(gt(y, 0)))
    assert at(fact, {a: X}, assume(gt(x, 0))).assumptions == {gt(x, 0)}
    assert at(fact, {a: b}).proposition == gt(h(b), 0)


# the end


def test_the_end_binds_its_step():
    fact = claimed(ev(gt(seq(K), a)))
    with refused:
        at(fact, {K: 0})
    with refused:  # "s(k) > s(k) + 1 in the end"
        at(fact, {a: seq(K) + 1}, claimed(gt(seq(K) + 1, 0)))
    # an index may depend on the step, as there are finitely many
    far = claimed(ev(gt(f(j) * seq(K), 0)))
    pick, _ = attained("pick", least(f(j) * seq(K), j), claimed(some(j)))
    assert at(far, {j: pick(K)}).proposition == ev(gt(f(pick(K)) * seq(K), 0))


def test_what_holds_in_the_end_does_not_hold_at_all_steps():
    fact = claimed(ev(gt(seq(K), 0)))
    with pytest.raises(ProofError, match="said of the end"):
        decide(gt(seq(K), 0), fact)
    with pytest.raises(ProofError, match="said of the end"):
        decide(gt(seq(0), 0), fact)
    assert decide(ev(gt(2 * seq(K), 0)), fact).proposition.eventually


def test_an_assumption_does_not_fix_the_step_of_the_end():
    with refused:
        decide(ev(gt(seq(K) + 1, 0)), assume(gt(seq(K), 0)))
    with refused:
        assume(ev(gt(seq(K), 0)))
    with refused:
        cut(claimed(ev(gt(seq(K), 0)), gt(x, 0)), assume(gt(seq(K), 0)))
    assert decide(ev(gt(seq(K) + X, 0)), claimed(ev(gt(seq(K), 0))), assume(gt(x, 0)))


def test_a_decision_in_the_end_keeps_letters_apart():
    """From "for all a: s > a in the end" does not follow "s > s + 1 in the end"."""
    fact = claimed(ev(gt(seq(K), a)))
    with refused:
        decide(ev(gt(0, 1)), fact)


# logic


def test_cases_are_a_condition_and_its_denial():
    goal, condition = ge(X * X, 0), ge(x, 0)
    yes = decide(goal, assume(condition))
    no = decide(goal, assume(condition.denied()))
    assert not cases(yes, no, condition).assumptions
    with refused:
        cases(yes, yes, condition)
    with refused:
        cases(no, yes, condition)
    with refused:
        cases(yes, decide(ge(X * X + 1, 0), assume(condition.denied())), condition)
    strict = decide(ge(X, 0), assume(gt(x, 0)))
    with refused:  # x > 0 and x < 0 leave out x = 0
        cases(strict, decide(ge(-X, 0), assume(gt(-X, 0))), gt(x, 0))
    with refused:
        cases(yes, no, eq(x, 0))


def test_an_induction_starts_and_steps_and_assumes_nothing_else_of_the_step():
    claim = ge(seq(K), 0)
    start = claimed(ge(seq(0), 0))
    grows = claimed(ge(seq(k + 1), seq(K)))
    step = decide(ge(seq(k + 1), 0), grows, assume(claim))
    assert induction(claim, start, step).proposition == claim
    with refused:  # from another start
        induction(claim, claimed(ge(seq(1), 0)), step)
    with refused:  # P(k) under P(k)
        induction(claim, start, assume(claim))
    with refused:  # two steps at once
        induction(
            claim, start, decide(ge(seq(k + 2), 0), claimed(ge(seq(k + 2), seq(K))), assume(claim))
        )
    with refused:  # P(k + 1) without P(k) is no step
        induction(claim, start, claimed(ge(seq(k + 1), 0)))
    with refused:  # something else is assumed of this step
        induction(claim, start, claimed(ge(seq(k + 1), 0), claim, ge(also(K), 0)))
    with refused:
        induction(ev(claim), start, step)


# index sets


def test_an_index_that_disappears_needs_the_fact_that_there_is_one():
    fact = claimed(ge(X, f(j))), claimed(ge(f(j), 0))
    with pytest.raises(ProofError, match="may be none"):
        decide(ge(x, 0), *fact)
    assert decide(ge(x, 0), *fact, claimed(some(j)))
    with refused:
        decide(ge(x, 0), *fact, claimed(some(i)))
    with pytest.raises(ProofError, match="may be none"):  # in an assumption
        cut(claimed(ge(x, 0), ge(f(j), 0)), claimed(ge(f(j), 0)))
    goal, condition = ge(x, 0), ge(f(j), 0)
    yes, no = claimed(goal, condition), claimed(goal, condition.denied())
    with pytest.raises(ProofError, match="may be none"):
        cases(yes, no, condition)


def test_a_proof_invents_no_element_of_an_index_set():
    nobody = Function("nobody", (), RIVAL)
    with pytest.raises(ProofError, match="invents"):
        at(claimed(gt(f(j), 0)), {j: nobody()})
    rival_of = Function("rival of", (INPUT,), RIVAL)
    with pytest.raises(ProofError, match="invents"):
        at(claimed(gt(f(j), 0)), {j: rival_of(i)})
    with pytest.raises(ProofError, match="invents"):
        regroup(f(j), j, Function("another owner", (RIVAL,), INPUT))


def test_a_strict_inequality_over_perhaps_no_index_is_not_strict():
    fact = claimed(gt(f(j), 0))
    assert add_up(fact, j).proposition == ge(total(f(j), j), 0)
    assert add_up(fact, j, None, claimed(some(j))).proposition == gt(total(f(j), j), 0)
    with refused:
        add_up(fact, j, Over(owner, i.term), claimed(some(j)))
    with refused:
        add_up(fact, j, None, claimed(some(i)))


def test_a_sum_is_of_a_fact_about_all():
    fact = decide(ge(f(j) + 1, 0), assume(ge(f(j), 0)))
    for rule in (add_up, one_of_sum):
        with refused:
            rule(fact, j)
    with refused:
        bounds(fact, "least", f(j), j, claimed(some(j)))


def test_a_sum_is_at_least_each_term_only_if_no_term_is_negative():
    assert one_of_sum(claimed(ge(f(j), 0)), j).proposition == ge(total(f(j), j), f(j))
    with refused:
        one_of_sum(claimed(eq(f(j), g(j))), j)
    mine = one_of_sum(claimed(ge(f(j), 0)), j, owner).proposition
    assert mine == ge(total(f(other), other, Over(owner, owner(j))), f(j))
    # another letter of the fact is not taken for the index
    pair = Function("pair", (RIVAL, RIVAL))
    prime = Letter("j'", RIVAL)
    summed = one_of_sum(claimed(ge(pair(j, prime), 0)), j).proposition
    assert summed == ge(total(pair(other, prime), other), pair(j, prime))


def test_a_sum_or_an_extreme_of_a_constant_does_not_say_that_there_is_an_index():
    with pytest.raises(ProofError, match="do not depend"):  # sum_j 1 >= 1
        one_of_sum(decide(gt(1, 0)), j)
    for kind in ("least", "most"):
        with pytest.raises(ProofError, match="do not depend"):
            beyond(kind, X, j)
    said = one_of_sum(decide(gt(1, 0)), j, owner).proposition
    assert said == ge(total(1, other, Over(owner, owner(j))), 1)


def test_extremes_bound_all_and_are_attained_where_there_is_an_index():
    assert beyond("least", f(j), j).proposition == ge(f(j), least(f(other), other))
    assert beyond("most", f(j), j).proposition == ge(most(f(other), other), f(j))
    bound = claimed(ge(f(j), X))
    assert bounds(bound, "least", f(j), j, claimed(some(j))).proposition == ge(least(f(j), j), X)
    with refused:  # the largest value is not below what is below all
        bounds(bound, "most", f(j), j, claimed(some(j)))
    with refused:  # the bound depends on the index
        bounds(claimed(ge(f(j), g(j))), "least", f(j), j, claimed(some(j)))
    with refused:
        bounds(claimed(ge(2 * f(j), X)), "least", f(j), j, claimed(some(j)))
    with refused:
        bounds(bound, "least", f(j), j, claimed(some(i)))
    with refused:
        attained("pick", least(f(j), j), claimed(some(i)))
    with refused:
        attained("pick", least(f(j), j), claimed(some(j), gt(x, 0)))
    with refused:
        attained("pick", total(f(j), j), claimed(some(j)))
    with refused:  # the one of an input would have to belong to it
        attained("pick", least(f(j), j, Over(owner, i.term)), claimed(some(j)))


def test_a_sum_is_grouped_by_owners():
    said = regroup(f(j), j, owner).proposition
    assert said == eq(total(f(j), j), total(total(f(j), j, Over(owner, i.term)), i))


def test_double_sums_are_exchanged_over_whole_index_sets_only():
    pair, prime = Function("pair", (RIVAL, INPUT)), Letter("j'", RIVAL)
    said = exchange(pair(j, i), i, j).proposition
    assert said == eq(total(total(pair(j, i), j), i), total(total(pair(j, i), i), j))
    assert total(total(pair(j, i), j), i) != total(total(pair(j, i), i), j)
    with refused:
        exchange(pair(j, i), j, j)
    # nothing is said of members, as the inner index would decide where the outer one runs
    assert exchange(f(j) * f(prime), j, prime).proposition == eq(0, 0)


def test_an_index_comes_with_a_fact_that_speaks_of_it():
    first = Function("first", (), RIVAL)()
    place = Function("position", (RIVAL,))
    fact = claimed(ge(f(j), 0))
    with pytest.raises(ProofError, match="invents"):
        at(fact, {j: first})
    spoken = claimed(eq(place(first), 0))
    assert at(fact, {j: first}, spoken).proposition == ge(f(first), 0)
    with pytest.raises(ProofError, match="evidence"):
        at(fact, {j: first}, claimed(ge(f(other), 0)))


# names


def test_a_name_is_new_and_is_defined_by_what_is_there():
    c, _ = define("c", (), 5)
    assert c != Function("c")
    with refused:  # a constant of the reading is not 5 because one of the proof is
        decide(eq(Function("c")(), 5))
    with refused:
        define("c", (), 6)
    with refused:
        define("d", (), X)
    with refused:
        define("d", (x,), U.term)
    with refused:
        define("d", (), 0.5)


def test_no_name_means_itself(whole):
    mark = getattr(whole, "mark", 1)
    own = Function("u", (), REAL, mark)
    own_fact = define("u", [], own() + 1)[1]
    with refused:  # u = u + 1 would make 0 = 1
        decide(eq(as_term(1), 0), own_fact)


def test_replacements_are_made_at_once():
    """1/x for t makes 1/t to x, which is no letter to be replaced again."""
    assert substituted(INV(x), {x: INV(y), y: as_term(2)}) == Y
    (product, _) = cite(RECIPROCAL, [assume(gt(x, 0))], X)
    fact = at(scale(product, Y), {x: INV(y), y: as_term(2)})
    assert fact.proposition.says(eq(2 * INV(y) * Y, 2))
    with refused:
        decide(eq(INV(y) * 2, 1), fact)


def test_a_power_has_a_natural_exponent():
    assert (X**0).parts == as_term(1).parts
    assert X**2 == X * X
    for exponent in (-1, 0.5):
        with refused:
            _ = X**exponent


def test_definitions_are_spelled_out_and_nothing_else_is():
    square_, fact = define("square", (x,), X * X)
    assert by_definition(ge(square_(Y + 1), 0), [fact], square(Y + 1))
    with refused:
        by_definition(ge(square_(Y), 0), [fact], square(Y + 1))
    with refused:
        by_definition(ge(square_(Y), 0), [], square(Y))
    with refused:
        by_definition(ge(X, 0), [square(X)], square(X))
    with refused:
        by_definition(eq(square_(Y), Y), [fact])


def test_a_sequence_step_by_step_begins_at_0():
    S, first, grows = accumulate("S", seq(K))
    assert first.proposition == eq(S(0), 0)
    assert grows.proposition == eq(S(k + 1), S(K) + seq(K))


# lemmas


def test_a_lemma_takes_its_hypotheses_for_all_values_that_it_binds():
    on = ge(x, 0), ge(1, x)
    fact = claimed(gt(h(x), 0), *on)
    smooth = claimed(continuous(h))
    assert len(cite(EXTREMES, [smooth, fact], h, x, as_term(0), as_term(1))) == 3
    with refused:  # only for x below 1/2
        wrong = claimed(gt(h(x), 0), *on, ge(fmpq(1, 2), x))
        cite(EXTREMES, [smooth, wrong], h, x, as_term(0), as_term(1))
    with refused:  # it may be 0
        cite(EXTREMES, [smooth, claimed(ge(h(x), 0), *on)], h, x, as_term(0), as_term(1))
    with refused:  # another function is continuous
        cite(EXTREMES, [claimed(continuous(slope)), fact], h, x, as_term(0), as_term(1))
    with refused:
        cite(EXTREMES, [fact], h, x, as_term(0), as_term(1))
    with refused:  # the interval depends on the bound letter
        cite(EXTREMES, [smooth, claimed(gt(h(x), 0), ge(x, X), ge(1, x))], h, x, X, as_term(1))


def test_a_function_rises_where_its_derivative_is_at_least_0():
    """h' = -slope; h(x) + 2 x rises from y to z if slope(x) <= 2 there."""
    on, f, slopes = (ge(x, y), ge(z, x)), h(x) + 2 * X, {h: slope}
    facts = [claimed(falls(h, slope)), claimed(ge(z, y)), claimed(ge(2, slope(x)), *on)]
    (fact,) = cite(RISES, facts, f, x, slopes, Y, z.term)
    assert fact.proposition == ge(h(z) + 2 * z.term, h(Y) + 2 * Y)
    for place, wrong in (
        (0, claimed(falls(slope, h))),
        (1, claimed(ge(y, z))),
        (2, claimed(ge(3, slope(x)), *on)),
        (2, claimed(ge(2, slope(x)), *on, ge(x, 0))),
    ):
        with refused:
            cite(RISES, [*facts[:place], wrong, *facts[place + 1 :]], f, x, slopes, Y, z.term)
    for other_f, known in ((-f, slopes), (f, {}), (f, {h: h})):
        with refused:
            cite(RISES, facts, other_f, x, known, Y, z.term)
    own, _ = define("slope", (x,), 0)
    with refused:  # a function of the proof with the name of the derivative
        cite(RISES, facts, f, x, {h: own}, Y, z.term)
    with refused:  # an end depends on the bound letter
        cite(RISES, facts, f, x, slopes, X, z.term)


def test_a_continuous_function_is_near_its_value_at_a_point():
    facts = [claimed(continuous(h)), claimed(gt(Y, 0))]
    positive_, *near = cite(CONTINUITY, facts, "d", h, x, z.term, Y)
    assert positive_.letters == {y, z}
    assert {x, y, z} == near[0].letters == near[1].letters
    for k, wrong in enumerate((claimed(continuous(slope)), claimed(ge(Y, 0)))):
        with refused:
            cite(CONTINUITY, [*facts[:k], wrong, *facts[k + 1 :]], "d'", h, x, z.term, Y)
    for own, point, off in ((x, X, Y), (x, z.term, X), (a, z.term, Y)):
        with refused:  # d would depend on x, or x have too few values
            cite(CONTINUITY, [facts[0], claimed(gt(off, 0))], "d'", h, own, point, off)


def test_a_bound_of_the_change_needs_one_of_the_slope_for_all_x_on_both_sides():
    order = claimed(ge(Y, z.term))
    above, below = claimed(ge(1, -EXP(-X))), claimed(ge(1, EXP(-X)), ge(x, 0))
    with refused:
        rises_at_most(EXP(-X), x, (z.term, Y), order, (above, below))
    with refused:
        rises_at_most(EXP(-X), x, (z.term, Y), order, (above, above))
    with refused:  # a constant that depends on x
        slopes = claimed(ge(X**2, 2 * X)), claimed(ge(X**2, -2 * X))
        rises_at_most(X**2, x, (z.term, Y), order, slopes)
    whole = above, claimed(ge(1, EXP(-X)))
    assert change_at_most(EXP(-X), x, Y, z.term, whole).letters == {y, z}


def test_reciprocals_are_of_positive_numbers():
    with refused:
        cite(RECIPROCAL, [assume(ge(x, 0))], X)
    with refused:
        cite(RECIPROCAL, [assume(gt(y, 0))], X)
    assert cite(EXPONENTIAL, (), X)[1].proposition == ge(EXP(X), X + 1)


def descent(**changed):
    W, after, M = Letter("W", VECTOR), Letter("W'", VECTOR), Letter("M", VECTOR)
    place, e, L = Letter("X", VECTOR), Function("e")(), Function("L")()
    function = h(place.term @ U.term)
    slope_ = -slope(W.term @ U.term) * (M.term @ U.term)
    facts = {
        "falls": claimed(falls(h, slope)),
        "lipschitz": claimed(lipschitz_gradient(function, place, L)),
        "positive": claimed(gt(e, 0)),
        "short": claimed(ge(1, e * L)),
        "step": claimed(eq(after.term @ M.term, W.term @ M.term - e * slope_)),
    }
    facts |= {name: claimed(*one) for name, one in changed.items()}
    arguments = function, place, {h: slope}, W.term, after.term, e, L, M
    (fact,) = cite(DESCENT, facts.values(), *arguments)
    assert fact.proposition == ge(h(W.term @ U.term), h(after.term @ U.term))


def test_descent_takes_a_short_step_along_the_negative_gradient():
    descent()
    W, after, M, place = (Letter(name, VECTOR) for name in ("W", "W'", "M", "X"))
    e, L = Function("e")(), Function("L")()
    up = slope(W.term @ U.term) * (M.term @ U.term)
    for changed in (
        {"short": (ge(2, e * L),)},
        {"positive": (ge(e, 0),)},
        {"falls": (falls(slope, h),)},
        {"lipschitz": (lipschitz_gradient(h(place.term @ V.term), place, L),)},
        {
            "lipschitz": (
                lipschitz_gradient(h(place.term @ U.term), place, L),
                gt(FIXED.term @ U.term, 0),
            )
        },
        {"step": (eq(after.term @ M.term, W.term @ M.term - e * up),)},
        {"step": (eq(after.term @ M.term, W.term @ M.term + e * up), gt(M.term @ U.term, 0))},
    ):
        with refused:
            descent(**changed)


def test_a_lipschitz_gradient_is_one_of_a_function():
    """f(10 X) has a steeper gradient than f(X); no letter of f may become a function of X."""
    place, L, c = Letter("X", VECTOR), Function("L")(), Letter("c")
    fact = claimed(lipschitz_gradient(h(place.term @ U.term) + c.term, place, L))
    assert fact.letters == {FIXED, U, c}
    for letter, value in ((FIXED, FIXED.term * 10), (FIXED, V.term), (c, FIXED.term @ V.term)):
        with refused:
            at(fact, {letter: value})
    for function, vector, constant in (
        (h(place.term @ FIXED.term), place, L),  # its gradient by X is not that by both
        (h(FIXED.term @ U.term), place, L),
        (h(place.term @ U.term), place, L * (place.term @ U.term)),
        (h(place.term @ U.term), place, L * (FIXED.term @ U.term)),
        (h(X), x, L),
    ):
        with refused:
            lipschitz_gradient(function, vector, constant)


def test_functions_that_agree_at_some_vectors_are_not_one_function():
    """|<X, U>| equals <X, U> or -<X, U> at each X, but its gradient is not Lipschitz as theirs are.

    Two sequences of functions may agree at each X from some step on, and yet differ at every step.
    """
    hole, value = Letter("h"), FIXED.term @ U.term
    smooth = Function("has a Lipschitz gradient", (REAL, REAL))(hole, Function("L")())
    agree = claimed(eq(value, h(value)), ge(y, 0))
    with refused:
        inside(agree, value, h(value), smooth, hole)
    for one, *assumptions in (
        (eq(ABS(value), value), ge(value, 0)),
        (eq(ABS(value), -value), gt(0, value)),
        (ev(eq(seq(K) * value, value)),),
    ):
        with refused:
            claimed(one, *assumptions)
    with refused:
        assume(ge(value, 0))
    size = cite(SIZE, [], X)
    positive = decide(eq(ABS(X), X), *size, assume(ge(X, 0)))
    with refused:
        at(positive, {x: value})


def test_a_function_that_is_one_of_a_family_at_each_vector_is_none_of_them():
    """|<X, U>| is the largest f(j) <X, U> for f(j) = 1, -1; each of these has a Lipschitz gradient.

    If a rule could take the j at which it is attained, a function of X, so would |<X, U>|.
    """
    place, L = Letter("X", VECTOR), Function("L")()
    fact = claimed(lipschitz_gradient(f(j) * (place.term @ U.term), place, L))
    some_j, value = claimed(some(j)), f(j) * (FIXED.term @ U.term)
    body, top = fact.proposition.term, Function("top", (VECTOR,), RIVAL)(FIXED)
    for make in (
        lambda: attained("top", most(value, j), some_j),
        lambda: attained("least", least(body, j), some_j),
        lambda: picked(body, j, top),
        lambda: scale(claimed(eq(f(j), 1)), same(j, top)),
        lambda: add_up(fact, j),
        lambda: decide(ge(body, 0), fact),
        lambda: beyond("most", value, j),
        lambda: square(value),
        lambda: define("e", (FIXED,), FIXED.term @ U.term),
    ):
        with refused:
            make()


def often(gain=a.term, bound=b.term, **changed):
    near = ge(b, also(K))
    facts = {
        "rises": claimed(ge(seq(k + 1), seq(K))),
        "positive": claimed(gt(gain, 0)),
        "gains": claimed(ge(seq(k + 1), seq(K) + gain), near),
        "bounded": claimed(ge(bound, seq(K)), near),
    }
    facts |= {name: claimed(*one) for name, one in changed.items()}
    (fact,) = cite(FINITELY_OFTEN, facts.values(), seq(K), gain, bound, near)
    assert fact.proposition == ev(gt(also(K), b))


def test_finitely_often_needs_a_constant_gain_at_all_near_steps_and_no_fall():
    often()
    near = ge(b, also(K))
    for changed in (
        {"rises": (ge(seq(k + 1), seq(K)), near)},
        {"positive": (ge(a, 0),)},
        {"gains": (ge(seq(k + 1), seq(K) + a.term), near, ge(seq(K), 0))},
        {"bounded": (ge(b, seq(K)), near, ge(seq(K), 0))},
        {"bounded": (ge(b, also(K)), near)},
        {"gain": also(K)},
        {"bound": also(K)},
    ):
        with refused:
            often(**changed)


width, goal_, path = (
    Function("r", (VECTOR,)),
    Function("goal", (STEP,)),
    Function("Z", (STEP,), VECTOR),
)
CHOSEN = {"point": U, "radius": width(U), "goal": goal_(K), "sequence": path(K), "shift": also(K)}


def covered(**changed):
    chosen = {**CHOSEN, **{k: v for k, v in changed.items() if k in CHOSEN}}
    point, radius, goal, sequence, shift = chosen.values()
    changed = {k: v for k, v in changed.items() if k not in CHOSEN}
    near = gt(radius**2, (sequence - point.term) @ (sequence - point.term)), gt(radius, shift)
    facts = {
        "bounded": claimed(ge(1, sequence @ sequence)),
        "late": claimed(ev(gt(b, shift))),
        "positive": claimed(gt(radius, 0)),
        "near": claimed(ge(goal, 0), *near),
    }
    facts |= {name: claimed(*one) for name, one in changed.items()}
    arguments = sequence, shift, b, point, radius, ge(goal, 0)
    (fact,) = cite(HEINE_BOREL, facts.values(), *arguments)
    assert (fact.proposition, fact.assumptions) == (ev(ge(goal, 0)), frozenset())


def test_a_cover_needs_balls_about_all_points_a_bounded_sequence_and_late_steps():
    covered()
    near = gt(width(U) ** 2, (path(K) - U.term) @ (path(K) - U.term)), gt(width(U), also(K))
    for changed in (
        {"bounded": (ge(1, path(K) @ path(K)), ge(goal_(K), 0))},
        {"late": (ev(ge(b, also(K))),)},
        {"late": (gt(b, also(K)),)},
        {"positive": (ge(width(U), 0),)},
        {"positive": (gt(width(U), 0), gt(U.term @ U.term, 0))},
        {"near": (ge(goal_(K), 0), *near, gt(goal_(0), also(K)))},
        {"near": (ge(goal_(K), 0), *near, gt(U.term @ U.term, 0))},
        {"radius": width(U) * also(K)},
        {"shift": also(K) * b.term},
        {"sequence": path(K) + U.term},
        {"goal": goal_(K) * width(U)},
        {"point": x, "radius": as_term(1)},
    ):
        with refused:
            covered(**changed)


def test_settled_sequences_get_a_bound_that_depends_on_their_letters():
    f_ = seq(K) - X * also(K)
    fact = claimed(ev(ge(f_, substituted(f_, {K: k + 1}))))
    (found,) = cite(SETTLED, [fact], "B", f_)
    assert found.letters == {x}
    with refused:
        cite(SETTLED, [claimed(ge(seq(k + 1), seq(K)))], "C", seq(K))


# the whole


def test_facts_are_those_of_one_proof():
    fact = assume(ge(x, 0))
    with proof(), refused:
        decide(ge(X + 1, 0), fact)


def test_facts_are_made_inside_a_proof():
    with refused:
        contextvars.Context().run(square, X)


def test_a_discriminant_is_that_of_a_polynomial_that_is_nowhere_negative():
    a_, b_, c_ = (Function(name)() for name in "abc")
    polynomial = a_ * X**2 + 2 * b_ * X + c_
    (fact,) = cite(DISCRIMINANT, [claimed(ge(polynomial, 0))], x, a_, b_, c_)
    assert fact.proposition == ge(a_ * c_, b_**2)
    with refused:  # at positive numbers only
        cite(DISCRIMINANT, [claimed(ge(polynomial, 0), gt(x, 0))], x, a_, b_, c_)
    with refused:
        cite(DISCRIMINANT, [claimed(ge(polynomial, 0))], x, a_, 2 * b_, c_)
    with refused:  # x t^2 + c >= 0 at t = x alone
        cite(DISCRIMINANT, [claimed(ge(X**3 + c_, 0))], x, X, as_term(0), c_)


def test_an_indicator_is_1_at_0_alone():
    at_zero, above, below, least_, most_ = cite(INDICATOR, (), X)
    one = IS_ZERO(X)
    assert at_zero.assumptions == {eq(x, 0)}
    assert (above.assumptions, below.assumptions) == ({gt(x, 0)}, {gt(-X, 0)})
    assert (least_.proposition, most_.proposition) == (ge(one, 0), ge(1, one))
    with refused:
        conclude(at_zero, Sequent(eq(one, 1)))


def test_a_spectral_norm_is_that_of_its_matrix():
    matrix, v = Function("matrix", (RIVAL, INPUT)), Function("v", (INPUT,))
    size, bound = cite(SPECTRAL, (), matrix(j, i), j, i, v(i))
    norm = spectral(matrix(j, i), j, i)
    assert size.proposition == ge(norm, 0)
    image = total(total(matrix(j, i) * v(i), i) ** 2, j)
    assert bound.proposition == ge(norm**2 * total(v(i) ** 2, i), image)
    assert spectral(matrix(other, i), other, i) == norm
    assert spectral(2 * matrix(j, i), j, i) != norm
    with refused:  # a vector for each row
        cite(SPECTRAL, (), matrix(j, i), j, i, f(j) * v(i))
    with refused:
        spectral(X, x, i)
    with refused:
        decide(ge(norm, 1))


def test_a_spectral_norm_is_attained_if_there_is_a_column():
    matrix, some_column = Function("matrix", (RIVAL, INPUT)), claimed(some(i))
    unit, reached = cite(STRETCHED, [some_column], "top", matrix(j, i), j, i)
    assert unit.letters == reached.letters == frozenset()
    norm = spectral(matrix(j, i), j, i)
    with refused:  # of any other vector nothing is known
        decide(eq(total(total(matrix(j, i), i) ** 2, j), norm**2), reached)
    for evidence in ([], [claimed(some(j))]):
        with refused:
            cite(STRETCHED, evidence, "other", matrix(j, i), j, i)


def test_a_logarithm_has_a_derivative_where_its_number_is_above_0():
    assert derivative(LOG(1 + EXP(X)), x, {}) == EXP(X) * INV(1 + EXP(X))
    for number in (X, 1 - EXP(X), X**2):
        with refused:
            derivative(LOG(number), x, {})


def test_a_size_has_the_square_of_its_number():
    size, same = cite(SIZE, (), X)
    assert (size.proposition, same.proposition) == (ge(ABS(X), 0), eq(ABS(X) ** 2, X**2))
    with refused:
        decide(eq(ABS(X), X), size, same)


HYPOTHESIS = Hypothesis(
    "x is not negative", lambda m, v: True, proposition=lambda: [Sequent(ge(x, 0))]
)


def test_a_proof_concludes_what_is_said_and_no_more(whole):
    (fact,) = suppose(HYPOTHESIS)
    shown = decide(ge(X + 1, 0), fact)
    conclude(shown, Sequent(ge(X + 1, 0)))
    for wider in (ge(X, 0), gt(X + 1, 0), ge(Y + 1, 0), ev(ge(X + 1, 0)), ge(-X - 1, 0)):
        with refused:
            conclude(shown, Sequent(wider))
    with refused:
        conclude(decide(ge(X + Y, 0), fact, assume(ge(y, 0))), Sequent(ge(X + Y, 0)))
    assert whole.supposed == [HYPOTHESIS]
    with refused:
        suppose(Hypothesis("it has no proposition", lambda m, v: True))


def test_idle_facts_and_hypotheses_are_refused():
    def prove(*more):
        (fact,) = suppose(HYPOTHESIS)
        conclude(decide(ge(X + 1, 0), fact), Sequent(ge(X + 1, 0)))
        for one in more:
            one()
        return "x + 1 is not negative"

    assert linked(prove)()
    for more in (lambda: square(X), lambda: suppose(HYPOTHESIS)):
        with pytest.raises(ProofError, match="does not use"):
            linked(lambda more=more: prove(more))()
    with pytest.raises(ProofError, match="concludes nothing"):
        linked(lambda: str(suppose(HYPOTHESIS)))()


class Formula:
    """A formula whose conclusion is measured."""

    def __init__(self, *sequents, **given):
        self.measured = self.conclusion = self
        self.known_constants, self.hypotheses, self.variables = {}, {}, {}
        self.says = "measured"
        self.proposition = lambda: Said(sequents, given)


def test_the_conclusion_is_that_of_the_reading_and_so_is_the_setting(whole):
    fact = setting({"x": Sequent(ge(x, 0))}, "x")
    said = Sequent(ge(X + 1, 0))
    conclude(decide(said.proposition, fact), said)
    ensure_used(whole)
    ensure_concluded(Formula(said, x=Sequent(ge(x, 0))), whole)
    for formula in (
        Formula(said),
        Formula(said, x=Sequent(gt(x, 0))),
        Formula(Sequent(gt(X + 1, 0)), x=Sequent(ge(x, 0))),
        Formula(said, Sequent(ge(Y, 0)), x=Sequent(ge(x, 0))),
    ):
        with refused:
            ensure_concluded(formula, whole)


def test_a_hypothesis_about_runs_says_what_its_object_says(whole):
    """A fact that calls itself a hypothesis has to be the proposition of one that was supposed."""
    said = Sequent(ge(X + 1, 0))
    fact = fact_of_reading(Sequent(ge(x, 0)), "hypothesis", "planted")
    conclude(decide(said.proposition, fact), said)
    with refused:
        ensure_concluded(Formula(said), whole)
    for wrong, text in ((True, gt(x, -1)), (False, ge(x, 0))):
        formula = Formula(said)
        own = Hypothesis("x >= 0", bool, proposition=lambda text=text: [Sequent(text)])
        whole.supposed.append(own)
        formula.hypotheses = {own.name: own}
        with refused if wrong else contextlib.nullcontext():
            ensure_concluded(formula, whole)


def concludes_of_another():
    """A proof that concludes a fact of another proof, whose facts nothing compares."""
    with proof():
        fact = setting({"false": Sequent(gt(0, 0))}, "false")
    conclude(fact, Sequent(gt(0, 0)))
    return "0 > 0"


def test_a_conclusion_is_a_fact_of_its_proof(whole):
    with refused:
        linked(concludes_of_another)()
    with proof():
        fact = claimed(gt(X, 0))
    whole.concluded.append(fact)
    with refused:
        ensure_concluded(Formula(Sequent(gt(X, 0))), whole)


def test_a_conclusion_without_propositions_is_concluded_by_nothing(whole):
    conclude(square(X), Sequent(ge(X**2, 0)))
    ensure_concluded(Formula(Sequent(ge(X**2, 0))), whole)
    with refused:
        ensure_concluded(Formula(), whole)


def test_a_fact_that_is_given_is_one_of_the_reading_by_whatever_name(whole):
    said = Sequent(ge(x, 0))
    conclude(claimed(said.proposition), said)  # by the rule "given"
    with refused:
        ensure_concluded(Formula(said), whole)
    with refused:
        ensure_concluded(Formula(said, x=said), whole)


def test_a_hypothesis_with_propositions_is_one_of_the_reading(whole):
    (fact,) = suppose(HYPOTHESIS)
    conclude(fact, Sequent(fact.proposition))
    formula = Formula(Sequent(fact.proposition))
    with refused:
        ensure_concluded(formula, whole)
    formula.hypotheses = {HYPOTHESIS.name: HYPOTHESIS}
    ensure_concluded(formula, whole)


WHOLE_MODULES = re.compile(r"attsvm(\.theory(\.proof(\.[a-z]+)?)?)?")
"""Paths of modules by which a proof could reach every name of the core."""


def test_only_the_core_makes_facts():
    """Proofs import rules, and neither what adds facts nor what makes atoms by hand."""
    forbidden = {"made", "fact_of_reading", "Proof", "App", "Bound", "Binder", "Lemma", "lemma"}
    for file in Path(symbolic.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                paths = {start + one.name for one in node.names}
                assert not any(map(WHOLE_MODULES.fullmatch, paths)), file
            core = isinstance(node, ast.ImportFrom) and "theory.proof" in (node.module or "")
            if core:
                known = {one.name: one.asname for one in node.names}
                assert not forbidden & {*known}, file
                assert {known.get(name) for name in ("Fact", "Term")} == {None}, file
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            assert not called or node.func.id not in {"Fact", "Term"}, file


def test_a_sum_with_same_picks_one_term():
    at_owner = Function("at", (INPUT,))
    fact = picked(at_owner(i), i, owner(j))
    assert fact.proposition == eq(total(same(i, owner(j)) * at_owner(i), i), at_owner(owner(j)))
    assert picked(at_owner(i) * X, i, owner(j)).proposition.letters == {x, j}
    for wrong in (
        lambda: picked(at_owner(i), i, i),  # an index that picks itself
        lambda: picked(at_owner(i), i, j),  # an element of another set
        lambda: picked(X, x, Y),
        lambda: same(X, Y),
        lambda: same(i, j),
    ):
        with refused:
            wrong()
    # `same` has no value unless a rule says so
    for false in (eq(same(i, owner(j)), 1), eq(same(i, owner(j)), 0), gt(same(i, i), 0)):
        with refused:
            decide(false)


def test_a_sum_over_members_shares_what_is_assumed_of_their_owner():
    level = Function("level", (INPUT,))
    fact = claimed(ge(f(j), 0), gt(level(owner(j)), 0))
    mine = add_up(fact, j, Over(owner, i.term))
    assert mine.assumptions == {gt(level(i), 0)}
    with refused:  # over all, owners differ
        add_up(fact, j)
    with refused:  # something is assumed of the index itself
        add_up(claimed(ge(f(j), 0), gt(g(j), 0)), j, Over(owner, i.term))
    with refused:  # another owner of the index
        another = Function("another", (RIVAL,), INPUT)
        fact = claimed(ge(f(j), 0), gt(level(another(j)), 0))
        add_up(fact, j, Over(owner, i.term))


def test_the_vector_of_least_squares_is_a_function_of_rows_and_values_and_need_not_fit():
    rows, values = vectors(j) + U.term, f(j) * X + g(other)
    (best,) = cite(LEAST_SQUARES, (), "p", rows, values, j)
    assert best.letters == {U, x, other}
    p = current().names["p"]
    assert p.takes == (VECTOR, RIVAL, REAL)
    fitted = p(U, other, x)
    with refused:
        decide(eq(values, rows @ fitted), best)
    # other values, or other rows, have another vector
    turned = at(best, {x: Y})
    left = total((f(j) * Y + g(other) - rows @ fitted) * rows, j)
    assert turned.proposition != eq(left @ left, 0)
    with refused:
        decide(eq(left @ left, 0), turned)
    for wrong in ((f(j), f(j)), (rows, vectors(j))):  # rows are vectors, and values are numbers
        with refused:
            cite(LEAST_SQUARES, (), "p2", *wrong, j)
    with refused:
        cite(LEAST_SQUARES, (), "p3", U.term, X, x)


def test_the_point_of_a_hull_that_is_nearest_to_0_needs_a_vector_in_it():
    place = Letter("place", RIVAL)
    with refused:  # there may be no vectors
        cite(NEAREST, [], "w0", vectors(place), place)
    with refused:
        cite(NEAREST, [claimed(ge(total(1, j), 0))], "w1", vectors(place), place)
    with refused:  # numbers have no hull here
        cite(NEAREST, [claimed(some(j))], "w2", f(place), place)
    with refused:
        hull(f(j), j)
    each, one, distance, ahead = cite(NEAREST, [claimed(some(j))], "w", vectors(place), place)
    with refused:  # weights are not positive, and vectors not ahead by more
        decide(gt(each.proposition.term, 0), each)
    with refused:
        decide(gt(ahead.proposition.term, 0), ahead)
    with refused:  # nothing says that the distance is positive
        decide(gt(hull(vectors(j), j), 0), distance, one)
    # the distance of a larger hull is another term
    assert hull(vectors(j), j) == hull(vectors(other), other)
    assert hull(vectors(j) + U.term, j) != hull(vectors(j), j)
    assert substituted(hull(vectors(j) + U.term, j), {U: V.term}) == hull(vectors(j) + V.term, j)


def test_a_sum_over_an_axis_is_split_at_its_first_index(whole):
    axis = Sort("T", index=True)
    others, after = after_first(axis)
    t, later = Letter("t", axis), Letter("other", others)
    value = Function("v", (axis,))
    with refused:  # the reading says nothing of a first index
        split(value(t), t, assume(ge(x, 0)), assume(ge(x, 0)))
    start = claimed(eq(position(first_of(axis), axis), 0))
    rest = claimed(ge(position(after(later), axis), 1))
    fact = split(value(t), t, start, rest)
    parts = value(first_of(axis)) + total(value(after(later)), later)
    assert fact.proposition == eq(total(value(t), t), parts)
    assert not fact.assumptions
    for wrong in (
        lambda: split(value(t), t, rest, start),
        lambda: split(value(t), t, start, start),
        lambda: split(f(j), j, start, rest),  # another index set
        lambda: split(X, x, start, rest),
        lambda: split(value(t), t, start, claimed(ge(position(after(later), axis), 0))),
    ):
        with refused:
            wrong()
    with refused:  # the first index is not among the others
        decide(eq(total(value(t), t), total(value(after(later)), later)), fact)
    assert whole.facts


def test_the_larger_of_two_numbers_is_one_of_them_and_no_less_than_both():
    above, beyond_, one = cite(LARGER, (), X, Y)
    top = above.proposition.term + X
    decide(ge(2 * top, X + Y), above, beyond_)
    decide(ge(X, top), one, claimed(gt(X, Y)))
    for goal, facts in (
        (ge(X, top), (one,)),
        (ge(X, top), (one, claimed(gt(Y, X)))),
        (ge(X + Y, top), (above, beyond_, one)),
    ):
        with refused:
            decide(goal, *facts)
