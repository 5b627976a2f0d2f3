"""z3 proposes counterexamples of polynomial claims; the judge decides, and no hunt ends by it."""

import importlib.util
from fractions import Fraction

import pytest
from toy_pack import stated

from attsvm import PSD, Choice, Integer, Matrix, Real, Simplex, Symmetric, Vector, ask, question
from attsvm.theory import changed
from attsvm.theory.coq.theorems import refutation
from attsvm.theory.instance import codec
from attsvm.theory.instance.in_python import literal
from attsvm.theory.instance.in_words import in_words
from attsvm.theory.report.answer import Answer
from attsvm.theory.report.script import script
from attsvm.theory.report.verifier import verifier
from attsvm.theory.search.hunt import hunt

FALSE = {
    "Motzkin with a larger constant": question(
        lambda m, v: m.at_least(
            v.a**4 * v.b**2 + v.a**2 * v.b**4 + 1, m.exact("3.001") * v.a**2 * v.b**2
        ),
        a=Real(),
        b=Real(),
    ),
    "matrices commute": question(
        lambda m, v: m.equal(v.A @ v.B, v.B @ v.A), A=Matrix("n", "n"), B=Matrix("n", "n")
    ),
    "a determinant above a trace": question(
        lambda m, v: m.at_most(m.det(v.A), m.trace(v.A)),
        lambda m, v: m.psd(v.A),
        A=Symmetric("n"),
    ),
    "Pell": question(
        lambda m, v: m.differ(v.x * v.x - 7 * v.y * v.y, 1), x=Integer(1), y=Integer(1)
    ),
    "a root and a quotient": question(
        lambda m, v: m.at_most(m.norm(v.x) / (1 + v.a * v.a), m.exact("3.5")),
        x=Vector("n"),
        a=Real(),
    ),
    "a floor": question(lambda m, v: m.at_most(2 * m.floor(v.x / 2), v.x - 2), x=Real()),
    "a rational that no float holds": question(
        lambda m, v: m.at_most(m.norm(v.x), v.a),
        lambda m, v: m.equal(3 * m.sum(v.x), 1),
        lambda m, v: m.equal(7 * v.a, 2),
        x=Vector("n"),
        a=Real(),
    ),
    "probabilities": question(
        lambda m, v: m.at_most(m.max(v.p), m.exact("0.5")), p=Simplex("n"), n=Integer(2)
    ),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_z3_proposes_is_judged_and_made_small(name):
    found = hunt(FALSE[name].claim, rounds=1, searchers=["solver"])
    assert found.smallest is not None
    assert found.smallest.found_by == "z3"
    assert found.smallest.evidence == "certified"


def test_a_rational_that_no_float_holds_is_shrunk_and_goes_to_all_that_read_an_instance(capsys):
    claim = FALSE["a rational that no float holds"].claim
    found = hunt(claim, rounds=1, searchers=["solver"]).smallest
    assert found.method == "rationals"
    case = codec.decode_exactly(found.instance, claim.instance_type)
    assert (case.x.tolist(), case.a) == ([Fraction(1, 3)], Fraction(2, 7))
    assert in_words(case, {}) == "x = [1/3], a = 2/7"
    assert literal(case.x) == "np.array([Fraction(1, 3)], dtype=object)"
    assert script(claim, case).shows
    with pytest.raises(SystemExit):
        exec(verifier(claim, case), {"__name__": "__main__"})
    assert capsys.readouterr().out.endswith("VIOLATED\n")
    assert "3 * (1 / 3) = 1" in refutation(claim, case).says


TRUE = {
    "squares": question(lambda m, v: m.at_most(2 * v.a * v.b, v.a**2 + v.b**2), a=Real(), b=Real()),
    "parallelogram": question(
        lambda m, v: m.at_most(
            m.square(m.norm(v.x + v.y)), 2 * m.square(m.norm(v.x)) + 2 * m.square(m.norm(v.y))
        ),
        x=Vector("n"),
        y=Vector("n"),
    ),
    "a trace of squares": question(lambda m, v: m.at_least(m.trace(v.A @ v.A), 0), A=PSD("n")),
}


@pytest.mark.parametrize("name", TRUE)
def test_a_decision_of_z3_has_its_version_shapes_and_assumptions(name):
    found = hunt(TRUE[name].claim, rounds=1, searchers=["solver"])
    assert found.smallest is None
    note = found.seen.solver_note
    assert note.startswith("decided by z3 ")
    assert "all values" in note or "n = 1" in note
    assert note.endswith("if all quotients and roots are defined")
    assert found.json()["solver_note"] == note


def test_a_decision_for_three_sizes_does_not_end_a_hunt():
    answer = ask(
        lambda m, v: m.at_most(m.sum(m.abs(v.x)), 2 * m.norm(v.x)), x=Vector("n"), seconds=120.0
    )
    assert answer.refuted
    assert answer.instance["n"] == "5"


def test_a_true_question_reports_it_beside_the_account():
    asked = question(lambda m, v: m.at_least(v.a * v.a, 0), a=Real())
    answer = Answer(asked, hunt(asked.claim, rounds=1, searchers=["drawn", "solver"]), 60.0)
    assert answer.verdict == "not refuted"
    assert "that is no proof" in repr(answer)
    assert "decided by z3 " in repr(answer)


def test_a_model_beyond_all_floats_is_reported_as_unconfirmed():
    huge = question(lambda m, v: m.differ(3 * v.x, 10**400), x=Real())
    found = hunt(huge.claim, rounds=1, searchers=["solver"])
    assert "huge numbers for all values: unconfirmed" in found.seen.solver_note


def test_an_algebraic_model_is_reported_as_unconfirmed():
    found = hunt(
        question(lambda m, v: m.differ(v.x * v.x, 2), x=Real()).claim,
        rounds=1,
        searchers=["solver"],
    )
    assert found.smallest is None
    assert found.seen.solver_note.endswith("unconfirmed")


@pytest.mark.parametrize(
    "asked",
    [
        question(lambda m, v: m.at_most(1 + v.x, m.exp(v.x)), x=Real()),
        question(lambda m, v: m.at_most(m.iterate(lambda t: t, 0, v.k), v.k), k=Integer(1)),
        question(lambda m, v: m.at_most(0, v.f(v.x)), f=Choice({"one": abs}), x=Real()),
    ],
    ids=["exponential", "loop", "family"],
)
def test_what_is_no_polynomial_is_left_to_the_others(asked):
    found = hunt(asked.claim, rounds=1, searchers=["solver"])
    assert (found.smallest, found.seen.solver_note) == (None, "")


def test_without_z3_hunts_go_on_and_name_what_is_absent(monkeypatch):
    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "z3" else there(name)
    )
    found = hunt(FALSE["Pell"].claim, rounds=2)
    assert found.smallest is not None
    assert "solver" in found.absent


def test_a_comparison_by_python_is_not_decided_by_z3():
    asked = question(lambda m, v: m.equal(m.exact(int(v.k == 10**6 + 3)), 0), k=Integer(1))
    found = hunt(asked.claim, rounds=1, searchers=["drawn", "solver"])
    assert "decided by" not in found.seen.solver_note


def test_a_formula_that_raises_beyond_the_drawn_sizes_ends_no_hunt():
    def of_two(m, v, c):
        a, b = v.x
        return m.at_most(c * a * b, a * a + b * b)

    variables = {"n": Integer(2, 2), "x": Vector("n")}
    siblings = {"3": changed(c=3)}
    claim = stated("pair", variables, of_two, constants={"c": 2}, siblings=siblings)
    found = hunt(claim, rounds=1, searchers=["drawn", "solver"])
    assert (found.smallest, found.error) == (None, None)
    assert "decided by" in found.seen.solver_note
    assert found.seen.solver_note.endswith("for n = 2, if all quotients and roots are defined")


def test_z3_keeps_to_the_lengths_of_a_question():
    asked = question(
        lambda m, v: m.at_most(m.square(m.sum(v.x)), 2 * m.sum(v.x * v.x)),
        x=Vector("n"),
        n=Integer(1, 2),
    )
    found = hunt(asked.claim, rounds=1, searchers=["drawn", "solver"])
    assert found.smallest is None
    assert "n = 3" not in found.seen.solver_note


def test_z3_is_not_asked_about_a_high_degree():
    """It would isolate roots for 40 s, whatever its limit of time."""
    asked = question(lambda m, v: m.differ(v.x**1000, 2), x=Real())
    found = hunt(asked.claim, rounds=1, searchers=["solver"])
    assert "was not asked about a polynomial of a degree above 200" in found.seen.solver_note
    assert found.smallest is None
