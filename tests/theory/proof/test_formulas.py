"""Formulas on letters, for arrays of any size: what they say, and what has no term."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb

from attsvm.errors import ProofError
from attsvm.primitives.heads import ACTIVATIONS, Activation, slope_of
from attsvm.primitives.losses import LOSSES
from attsvm.theory import (
    Choice,
    Hypothesis,
    Integer,
    Matrix,
    Primitive,
    Real,
    Vector,
    concludes,
    gradient,
)
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.arithmetic.namespace import AnyOf, Comparison
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.proof import facts
from attsvm.theory.proof.arrays import LETTERS, falling, variable, whole_loops
from attsvm.theory.proof.facts import Sequent, eq, ge, gt, proof
from attsvm.theory.proof.lemmas import spectral
from attsvm.theory.proof.linked import (
    Said,
    conclusion_of,
    ensure_concluded,
    hypothesis_of,
    propositions,
    setting,
    suppose,
    values_of,
)
from attsvm.theory.proof.rules import conclude, decide
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    REAL,
    SQRT,
    Function,
    Letter,
    Sort,
    after_first,
    first_of,
    same,
    total,
)
from tests.theory.proof import evaluation

refused = pytest.raises(ProofError)
m = LETTERS
N, D = Sort("n", index=True), Sort("d", index=True)
i, i1, k = Letter("n", N), Letter("n1", N), Letter("d", D)
A = variable("A", ("n", "d"))
x, y, s = variable("x", ("d",)), variable("y", ("d",)), variable("s", ("n",))
a, vx, vs = Function("A", (N, D)), Function("x", (D,)), Function("s", (N,))
VARIABLES = {
    "n": Integer(1, 3),
    "d": Integer(0, 3),
    "A": Matrix("n", "d"),
    "x": Vector("d"),
    "s": Vector("n"),
    "R": Real(),
    "loss": Choice(LOSSES),
}
R = Function("R")()


def formula(conclusion, *hypotheses):
    named = {one.name: one for one in hypotheses}
    return Formula(VARIABLES, named, conclusion, {}, object)


def test_arrays_are_functions_of_their_indices():
    assert (A @ x).entry((i.term,)) == total(a(i, k) * vx(k), k)
    assert m.norm(x).term == SQRT(total(vx(k) ** 2, k))
    assert m.softmax(s).entry((i.term,)) == EXP(vs(i)) * INV(total(EXP(vs(i1)), i1))
    assert m.sum(A).term == total(total(a(i, k), k), i)
    assert m.differences(s).entry((i.term,), (i1.term,)) == vs(i) - vs(i1)
    assert (A.T @ s).entry((k.term,)) == total(a(i, k) * vs(i), i)
    assert m.spectral(A).term == spectral(a(i, k), i, k)
    assert m.size(s).term == total(1, i)
    assert (m.diagonal(s) @ A).entry((i.term,), (k.term,)) == vs(i) * a(i, k)
    assert m.diagonal(s).entry((i.term,), (i1.term,)) == vs(i) * same(i1, i)
    assert m.identity(A.shape[0]).entry((i.term,), (i1.term,)) == same(i1, i)
    with refused:
        m.identity(A.shape[1]) @ A
    first, (later, after) = first_of(N), after_first(N)
    assert A[:, 0].entry((i.term,)) == a(i, first_of(D))
    assert (A[:, :1] - A).entry((i.term,), (k.term,)) == a(i, first_of(D)) - a(i, k)
    assert A[1:, 0].entry((Letter("o", later).term,)) == a(after(Letter("o", later)), first_of(D))
    assert A[0, 0].term == a(first, first_of(D))
    assert m.vec(A).entry((i.term, k.term)) == a(i, k)
    product = m.kron(A, A).entry((i.term, i1.term), (k.term, k.term))
    assert product == a(i, k) * a(i1, k)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: A @ s,
        lambda: x + s,
        lambda: s == s,
        lambda: m.size(s) == 1,
        lambda: bool(m.sum(s)),
        lambda: len(s),
        lambda: s[1],
        lambda: s[2:],
        lambda: A.reshape(-1, -1, 2),
        lambda: A.reshape(m.size(s)),
        lambda: m.mat(x, m.size(s)),
        lambda: [row @ row for row in A for _ in A],
        lambda: m.array([m.exact(1), m.exact(2)]),
        lambda: m.applied("exp", x),
        lambda: A[:, 1],
        lambda: A[0, 0, 0],
        lambda: s[:, 0],
    ],
)
def test_what_python_would_decide_or_mixes_axes_has_no_term(wrong):
    with refused, whole_loops():
        wrong()


def test_a_loop_that_ends_early_saw_one_index_alone():
    with refused, whole_loops():
        next(iter(s))
    with whole_loops():
        rows = m.array([m.sum(row) for row in A])
    assert rows.entry((i.term,)) == total(a(i, k), k)


def test_relations_say_propositions():
    said = [*propositions(m.equal(A @ x, s))]
    assert said == [Sequent(eq(vs(i), total(a(i, k) * vx(k), k)))]
    assert [*propositions(m.below(m.sum(x), R_()))] == [Sequent(gt(R, total(vx(k), k)))]
    either = AnyOf((m.at_most(R_(), m.exact(0)), m.below(m.exact(0), m.sum(x))))
    assert [*propositions(either)] == [Sequent(gt(total(vx(k), k), 0), frozenset({gt(R, 0)}))]
    for wrong in (
        AnyOf((m.equal(R_(), m.exact(0)), m.below(m.exact(0), m.sum(x)))),
        AnyOf((m.all_of(m.at_most(R_(), 0), m.at_most(R_(), 1)), m.at_most(R_(), 2))),
        *(m.at_most(one, R_()) for one in s),
        True,
    ):
        with refused:
            [*propositions(wrong)]
    (each,) = propositions(m.all_of(*(m.at_most(one, R_()) for one in s)))
    (letter,) = each.proposition.letters
    assert each.proposition == ge(R, vs(letter))


def test_an_equation_of_arrays_is_about_all_entries():
    """Each index has a letter of its own, also the two of an axis that is made of two."""
    square = m.kron(s.reshape(-1, 1), s.reshape(-1, 1))
    (said,) = propositions(m.equal(square, 2 * square))
    assert len(said.proposition.letters) == 2
    (said,) = propositions(m.equal(m.differences(s), m.outer(s, s)))
    assert len(said.proposition.letters) == 2


def R_():
    return variable("R", ())


def test_numbers_of_a_reading_are_constants_and_losses_functions():
    v = values_of(formula(lambda m, v: m.at_most(v.R, v.R)))
    assert v.R.term == R  # a letter would say "for all R", also of a hypothesis
    u = m.exact(2)
    assert v.loss.value(m, u).term == Function("loss", (Letter("u").sort,))(2)
    (falls,) = propositions(v.loss.strictly_decreasing)
    assert falls.assumptions == {gt(Letter("b"), Letter("a"))}


def test_lengths_are_known_to_be_above_0_where_their_least_value_is():
    said = conclusion_of(formula(lambda m, v: m.at_most(v.R, v.R)))
    assert any("axis n" in sentence for sentence in said.setting)
    assert not any("axis d" in sentence for sentence in said.setting)


LARGE = Hypothesis("R >= 2", lambda m, v: m.at_least(v.R, m.exact(2)))
LARGER = Hypothesis("R >= 3", lambda m, v: m.at_least(v.R, m.exact(3)), implies=(LARGE,))


def test_a_formula_over_variables_says_itself_whatever_is_declared_beside_it():
    @concludes(lambda **_: Said((Sequent(ge(1, 0)),)))
    def large(m, v):
        return m.at_least(v.R, m.exact(5))

    own = formula(large)
    assert conclusion_of(own).sequents == (Sequent(ge(R, 5)),)
    with proof() as made:
        conclude(decide(ge(1, 0)), Sequent(ge(1, 0)))
    with refused:
        ensure_concluded(own, made)


def test_a_proof_takes_hypotheses_in_the_letters_of_its_reading():
    own = formula(lambda m, v: m.at_least(v.R, m.exact(1)), LARGE)
    with proof() as made:
        (fact,) = suppose(LARGE, own)
        assert fact.proposition == ge(R, 2)
        conclude(decide(ge(R, 1), fact), *conclusion_of(own).sequents)
        with refused:
            decide(ge(R, 3), fact)
    ensure_concluded(own, made)
    ensure_concluded(formula(own.conclusion, LARGER), made)  # it implies the other one
    with refused:
        ensure_concluded(formula(own.conclusion), made)
    doubled = formula(lambda m, v: m.at_least(2 * v.R, m.exact(1)), LARGE)
    with refused:
        ensure_concluded(doubled, made)


def test_a_hypothesis_of_another_formula_is_none_of_this_one():
    """The object is the same; its sentence is in other letters."""
    of_sum = Hypothesis("sum >= 2", lambda m, v: m.at_least(m.sum(v.s), m.exact(2)))
    other = {**VARIABLES, "s": Vector("d")}
    own = formula(lambda m, v: m.at_least(m.sum(v.s), m.exact(1)), of_sum)
    moved = Formula(other, own.hypotheses, own.conclusion, {}, object)
    with proof() as made:
        (fact,) = suppose(of_sum, moved)
        conclude(decide(ge(fact.proposition.term + 1, 0), fact), *conclusion_of(moved).sequents)
    ensure_concluded(moved, made)
    with refused:
        ensure_concluded(own, made)
    with proof() as made:
        settings = conclusion_of(own).setting
        sentence = "there is an index of the axis n"
        (fact,) = suppose(of_sum, own)
        conclude(decide(ge(fact.proposition.term + 1, 0), fact), *conclusion_of(own).sequents)
        setting(settings, sentence)
        with refused:
            ensure_concluded(moved_without_n(moved), made)


def moved_without_n(one):
    """The formula with an axis n that may be empty."""
    return Formula(
        {**one.variables, "n": Integer(0, 3)}, one.hypotheses, one.conclusion, {}, object
    )


def test_a_gradient_is_that_of_each_entry_of_the_vector():
    def score(m, x):
        return m.dot(m.softmax(A @ x), s)

    said = gradient(m, score, x).entry((k.term,))
    power = EXP(total(a(i, k) * vx(k), k))
    whole, mean = INV(total(power, i)), total(power * vs(i), i)
    first = total(power * vs(i) * a(i, k), i)
    assert said == whole * first - whole**2 * mean * total(power * a(i, k), i)
    square = gradient(m, lambda m, x: m.square(m.dot(x, variable("y", ("d",)))), x)
    vy = Function("y", (D,))
    assert square.entry((k.term,)) == 2 * vy(k) * total(vx(k) * vy(k), k)
    assert gradient(m, lambda m, x: m.dot(x, x), x).entry((k.term,)) == 2 * vx(k)
    for wrong in (lambda m, x: m.norm(x), lambda m, x: m.max(x), lambda m, x: m.sqrt(x[0])):
        with refused:
            gradient(m, wrong, x).entry((k.term,))


def test_letters_have_the_values_of_an_instance():
    own = formula(lambda m, v: m.at_least(v.R, m.exact(1)), LARGE)

    class Case:
        A = np.array([[1.0, 2.0], [3.0, 4.0]])
        x, s, R, loss = np.array([1.0, -1.0]), np.array([0.5, 2.0]), 3.0, "exponential"

    model = evaluation.instance_model(own, Case())
    with proof() as made:
        suppose(LARGE, own)
        decide(eq(m.sum(A).term, total(total(a(i, k), k), i)))
    tally = evaluation.evaluated(made, model)
    assert (len(tally.confirmed), tally.false) == (2, [])
    Case.R = 1.0
    tally = evaluation.evaluated(made, evaluation.instance_model(own, Case()))
    assert [fact.rule for fact, _ in tally.false] == ["hypothesis"]


def test_a_comparison_is_no_truth_value():
    assert isinstance(hypothesis_of(formula(lambda m, v: None), LARGE)[0], Sequent)
    assert isinstance(m.at_most(R_(), R_()), Comparison)


SEVERAL = Hypothesis("n >= 2", lambda m, v: m.at_least(m.exact(v.n), m.exact(2)))


def of_others(m, v):
    """A formula that says something else of one index."""
    if v.n == 1:
        return m.below(m.exact(1), m.exact(0))
    return m.at_most(m.sum(v.s[1:]), m.sum(v.s))


def test_a_formula_may_say_something_else_of_one_index_if_there_are_two():
    (said,) = conclusion_of(formula(of_others, SEVERAL)).sequents
    others, after = after_first(N)
    rest = total(vs(after(Letter("u", others))), Letter("u", others))
    assert said == Sequent(ge(total(vs(i), i), rest))
    with refused:
        conclusion_of(formula(of_others))
    with refused:  # one index is allowed
        conclusion_of(formula(of_others, Hypothesis("n >= 1", lambda m, v: m.at_least(v.n, 1))))
    with refused:  # a hypothesis that does not say n >= 2 of one index
        unless = Hypothesis(
            "maybe", lambda m, v: m.at_least(m.exact(1 if v.n == 1 else v.n), m.exact(2))
        )
        conclusion_of(formula(of_others, unless))
    with refused:  # a hypothesis that speaks of one index as well
        alone = Hypothesis("others", of_others)
        hypothesis_of(formula(of_others, alone), alone)
    for decided in (lambda v: v.n == 2, lambda v: v.n != 1, lambda v: v.n < 2, lambda v: v.d == 0):
        with refused:
            conclusion_of(formula(lambda m, v, d=decided: m.below(m.exact(int(d(v))), m.exact(1))))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_is_convex_exactly_if_it_lies_above_its_tangents(name):
    member, (said,) = ACTIVATIONS[name], Activation.arbitrary("phi").convex.sequents()
    functions = {
        Function(letter, (REAL,)): lambda t, f=f: float(arb(f(BALLS, BALLS.values(t))).mid())
        for letter, f in (("phi", member.value), ("phi'", member.slope))
    }
    samples = [-3.0, -1.0, -0.25, 0.0, 0.5, 1.0, 4.0]
    with proof() as made:
        facts.made(said.proposition, "planted")
    tally = evaluation.evaluated(
        made, evaluation.Model(functions, {}, 2, {REAL: samples}, floor=1e-12), tries=49
    )
    assert (tally.false == []) is member.convex


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_is_smooth_exactly_if_its_slope_is_lipschitz(name):
    member = ACTIVATIONS[name]
    bent = member if member.bend else replace(member, bend=lambda m: m.exact(0))
    choice = {"phi": Choice({name: bent})}
    one = Formula(choice, {}, lambda m, v: m.equal(m.exact(0), m.exact(0)), {}, object)
    model = evaluation.instance_model(one, SimpleNamespace(phi=name))
    slope = model.functions[slope_of("phi")]
    if not member.smooth:  # then no derivative exists at the kink
        model = replace(model, functions={**model.functions, falling("phi"): lambda t: -slope(t)})
    with proof() as made:
        for said in Activation.arbitrary("phi").smooth.sequents():
            facts.made(said.proposition, "planted", (), said.assumptions)
    tally = evaluation.evaluated(made, replace(model, floor=1e-12), tries=36)
    assert (tally.false == []) is member.smooth


def test_an_array_in_a_loop_keeps_the_index_of_the_loop():
    rows = m.array([m.sum(m.array([2 * u for u in row])) for row in A])
    assert rows.entry((i.term,)) == 2 * total(a(i, k), k)
    with refused:  # both loops are over: no array says which of two indices it binds
        leaked = [*A]
        m.array([leaked[0] * m.sum(u) for u in x] + [leaked[0]])


def named(latex, value):
    """Return a primitive of one number by a piece that has this value."""
    return Primitive(
        latex,
        "a number",
        balls=lambda x: x,
        floats=lambda x: x,
        pieces=lambda m, x: [(m.at_least(x, x), m.exact(value))],
    )


def test_primitives_have_names_of_their_own():
    """Else "f(R) = 0" and "f(s_i) = 1" would be about one f: false where R is s_i."""
    zero, one = named("f({0})", 0), named("f({0})", 1)
    alike = conclusion_of(formula(lambda m, v: m.at_most(zero(m, v.R), zero(m, v.R + 1))))
    assert sum(": piece 0" in name for name in alike.setting) == 2
    with refused:
        conclusion_of(formula(lambda m, v: m.at_most(zero(m, v.R), one(m, m.max(v.s)))))
    for function in ("exp", "abs", "Inv"):
        with refused:
            named(function, 1)(LETTERS, R)
    mixed = formula(
        lambda m, v: m.at_most(zero(m, v.R), m.exact(0)),
        Hypothesis("f", lambda m, v: m.at_most(one(m, v.R + 1), m.exact(1))),
    )
    (own,) = mixed.hypotheses.values()
    conclusion_of(mixed)
    with refused:
        hypothesis_of(mixed, own)
