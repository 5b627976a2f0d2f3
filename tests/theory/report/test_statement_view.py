"""A statement is shown as it runs: formulas typeset, names spelled out, readings as differences."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from attsvm.errors import UsageError
from attsvm.theory import (
    Choice,
    Defined,
    Fitted,
    Hypothesis,
    Integer,
    Matrix,
    Reading,
    Real,
    Statement,
    Vector,
    changed,
    definition,
)
from attsvm.theory.arithmetic.notation import letters, written
from attsvm.theory.arithmetic.text import Text
from attsvm.theory.packs.packs import find_claims, load_packs
from attsvm.theory.record.errata import Erratum, Source, Weight, find_source
from attsvm.theory.record.runs import Run
from attsvm.theory.report.screen import SCREEN, formula_lines, screen
from attsvm.theory.report.view import statement_of, statement_view
from properties.mm.loss_choice import CHOICE
from properties.mm.theorem_1_direction import THEOREM as DIRECTION
from properties.sim.lemma_3_12 import LEMMA as SLOPE
from properties.sim.lemma_3_13 import LEMMA as GRADIENT


def plain(formula, *names):
    m = Text()
    return formula(m, SimpleNamespace(**letters(dict.fromkeys(names, Real())))).plain


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (lambda m, v: 1 * v.x * 13 * v.y * v.y, "x * 13 y^2"),
        (lambda m, v: 3 * v.x**2 * v.x, "3 x^3"),
        (lambda m, v: v.x / 2 * v.y, "(x/2) y"),
        (lambda m, v: v.x / (2 * v.y), "x/(2 y)"),
        (lambda m, v: v.x / v.y**2, "x/y^2"),
        (lambda m, v: (v.x / v.y) / 3, "(x/y)/3"),
        (lambda m, v: v.x + -v.y, "x - y"),
        (lambda m, v: v.x - (v.x - v.y), "x - (x - y)"),
        (lambda m, v: 0 + v.x - 0 * v.y, "x"),
        (lambda m, v: m.square(m.square(v.x)), "(x^2)^2"),
        (lambda m, v: (v.x + v.y) * m.exact("0.95"), "(x + y) * 0.95"),
        (lambda m, v: m.kron(v.x.reshape(1, -1), v.y) @ v.x, "(x^T kron y) x"),
        (lambda m, v: m.exact(Fraction(1, 3)) * v.x, "(1/3) x"),
        (lambda m, v: -1 * v.x + v.y[:1] @ v.y[0, 1:], "-x + y[:1] y[0, 1:]"),
    ],
)
def test_products_quotients_and_brackets_read_well(formula, shown):
    assert plain(formula, "x", "y") == shown


def test_a_fraction_needs_no_brackets_in_latex():
    m = Text()
    x, y = letters(dict.fromkeys("xy", Real())).values()
    assert (x / 2 * y).latex == r"\frac{x}{2} \, y"
    assert m.square(x / 2).latex == r"\left(\frac{x}{2}\right)^{2}"


def test_a_number_stands_on_the_right_and_parts_in_brackets():
    m = Text()
    x = letters({"x": Real()})["x"]
    assert written(m.at_least(x, m.exact(4))).plain == "x >= 4"
    assert written(m.above(x, 0)).plain == "x > 0"
    both = m.all_of(m.at_most(x, 1), m.below(x, 2))
    assert written(m.any_of(both, m.equal(x, 3))).plain == "(x <= 1 and x < 2) or x = 3"


def shown(statement, *errata, run=None):
    id = statement.claims[0].statement_id
    return statement_view(id, statement.claims, Source(id.partition("/")[0], errata=errata), run)


def test_lemma_3_12_is_shown_as_it_runs():
    view = shown(SLOPE)
    assert view.printed == "|g'(x) - g'(x^)| <= |x - x^|"
    assert formula_lines(view.readings) == [
        "|g'(x) - g'(y)| <= |x - y|    (literal)",
        "|g'(x) - g'(y)| <= ||g''||_inf |x - y|    (sharp)",
        "where g(t) = 1/(1 + exp(-t))",
        "where ||g''||_inf = 1/(6 sqrt(3))",
    ]
    literal, sharp = view.readings
    assert (literal.expected, literal.differs) == ("proved, symbolic", ())
    assert (sharp.differs, sharp.counterexample) == ((), None)
    assert formula_lines(view.readings, latex=True)[1:3] == [
        r"\left|g'\left(x\right) - g'\left(y\right)\right| \le "
        r"\|g''\|_\infty \, \left|x - y\right|",
        r"\text{where } g\left(t\right) = \frac{1}{1 + \exp\left(-t\right)}",
    ]


def test_what_no_sentence_says_is_not_shown_as_printed():
    assert any(line.startswith("printed: ") for line in screen(shown(SLOPE)))
    lines = list(screen(shown(CHOICE)))
    assert not any(line.startswith("printed: ") for line in lines)
    assert any(line.startswith("read off experiments, no sentence of") for line in lines)
    assert shown(CHOICE).fell().startswith("the claim (")
    assert '"' not in CHOICE.claims[0].quoted


@pytest.mark.parametrize(
    ("repair", "stands", "told"),
    [
        ("add 1", (SLOPE.claims[0].id,), ["repair: add 1"]),
        ("", (SLOPE.claims[0].id,), [f"repair: the sentence of {SLOPE.claims[0].reading}"]),
        ("", (), []),
    ],
)
def test_a_repair_is_told_where_there_is_one(repair, stands, told):
    words = Erratum(
        "sim/lemma-3.12", Weight.CLAIM, "It falls.", "It fails.", repair=repair, stands=stands
    )
    lines = list(screen(shown(SLOPE, words)))
    assert any(line.startswith("fails: It fails.") for line in lines)
    assert [line for line in lines if line.startswith("repair:")] == told


def test_a_verdict_is_called_expected_unless_a_run_came_to_it():
    ran = SLOPE.claims[0].id
    entry = {"id": ran, "truth": "refuted", "evidence": "certified"}
    view = shown(SLOPE, run=Run("quick", 0, (ran,), {ran: entry}, True, 0))
    assert [r.verdict for r in view.readings] == ["refuted, certified", "expected proved, symbolic"]
    assert view.fell() == "the printed claim (literal); what stands: sharp"
    assert [r.verdict for r in shown(SLOPE).readings] == ["expected proved, symbolic"] * 2
    assert view.json()["statement"]["readings"][0]["expected"] == "proved, symbolic"


def test_words_of_the_source_are_defined_if_a_screen_uses_them():
    notation = {
        "basin, x": "Starts of\nlow risk.",
        "x": "Not this: the sentence declares it.",
        "L": "The loss.",
        "sib": "A part of another word.",
        "risk": "No line uses this.",
    }
    erratum = Erratum("sim/lemma-3.12", Weight.CLAIM, "It falls.", "Outside the basin L is large.")
    source = Source("sim", errata=(erratum,), notation=notation)
    view = statement_view("sim/lemma-3.12", SLOPE.claims, source)
    lines = list(screen(view))
    at = next(k for k, line in enumerate(lines) if line.startswith("words: "))
    assert lines[at] == "words: basin, x: Starts of low risk; L: The loss"


def test_every_statement_of_this_repository_fits_one_screen():
    every = find_claims(load_packs())
    sources = {name: find_source(load_packs(), name) for name in ("mm", "sim", "tf")}
    for id in dict.fromkeys(c.statement_id for c in every):
        view = statement_view(id, every, sources[id.partition("/")[0]])
        lines = list(screen(view))
        assert max(map(len, lines)) <= 80
        assert len(lines) <= SCREEN, id
        said = " ".join(" ".join(lines).split())
        assert " ".join(view.printed.split()) in said, id
        left_out = said.partition("further readings: ")[2]
        for reading in view.readings:
            words = reading.verdict + (reading.mark and f", {reading.mark}")
            verdict = "; ".join(filter(None, (words, reading.unlike)))
            full = f"{reading.name}: {verdict} {reading.says}"
            short = f"{reading.name} ({verdict}): {reading.says}"
            named = f"{reading.name} ({verdict})"
            assert full in said or short in said or named in left_out, f"{id}:{reading.name}"
        refuted = [r for r in view.readings if r.counterexample]
        assert not refuted or any(line.startswith("  fails at: ") for line in lines), id


def test_a_screen_has_whole_sentences_and_names_the_readings_that_it_leaves_out():
    sense = " and ".join(["this"] + ["this"] * 40)
    long = Reading(
        "refuted", constants={"c": 1}, read={"short": sense}, siblings={"0": changed(c=0)}
    )
    others = {f"amended-{k}": long for k in range(12)}
    lines = list(screen(shown(toy(readings={"literal": long, **others}))))
    said = " ".join(" ".join(lines).split())
    assert len(lines) <= SCREEN
    assert 2 <= said.count(sense) < 13
    assert said.count("this and") == 40 * said.count(sense)
    assert said.count("(expected refuted, certified)") == 13
    assert "further readings: amended-" in said
    asked = list(screen(shown(toy(readings={"literal": long, **others})), asked="amended-11"))
    assert "amended-11: expected refuted, certified" in asked


def test_lemma_3_13_is_shown_with_its_readings_and_counterexample():
    view = shown(GRADIENT)
    lines = formula_lines(view.readings)
    assert lines[0] == (
        "||grad L(x) - grad L(y)|| <= 3 n^3 R^7 exp(13 R^2) ||x - y||    (literal, amended)"
    )
    assert "||grad L(x) - grad L(y)|| <= ||A||_op^2 K(|b| osc(h)) ||x - y||    (sharp)" in lines
    assert "if ||A|| <= R, that is ||A||_op <= R" in lines
    assert "if |b| <= R" in lines
    assert "where A = a^T kron tokens" in lines
    assert lines.count("where osc(x) is the largest entry minus the smallest") == 1
    assert any(line.startswith("where K(D) is D/8 max over") for line in lines)
    literal, amended, sharp, _ = view.readings
    assert literal.expected == "refuted, certified"
    assert literal.counterexample is not None
    assert "b = 2^161" in literal.counterexample
    assert (literal.differs, literal.added, literal.dropped) == ((), (), ())
    assert amended.added == ("|b| <= R", "||h|| <= R")
    assert amended.dropped == ("||A x|| <= R", "||A y|| <= R")
    assert sharp.differs == ("constant = norm (there printed)",)
    assert sharp.dropped[0] == "R >= 4"


def test_a_reading_is_told_by_the_hypotheses_that_it_adds_to_the_literal_one_and_drops():
    readings = {r.name: r for r in shown(DIRECTION).readings}
    assert (readings["literal-2"].dropped, readings["literal-2"].added) == ((), ())
    assert readings["amended-2"].dropped == (
        "l is strictly decreasing and smooth",
        "the step is at most 1/L",
    )
    assert readings["amended-2"].added[1] == "the solution exists and is not 0"
    assert readings["amended-2"].added[-1] == "there is a single input"


@definition(r"S({x})")
def walked(m, x, N):
    """Where N steps lead from x."""
    for _ in range(N):
        x = x + 1
    return x


def toy(**changes):
    variables = {
        "n": Integer(1, 3),
        "N": Integer(1, 4),
        "A": Matrix("n", "n"),
        "x": Vector("n"),
        "s": Real(least=0),
        "R": Fitted(),
        "f": Choice({"first": abs}),
        "y": Defined(lambda m, v: v.A @ v.x),
    }
    rest = {
        "conclusion": lambda m, v, c: m.at_most(m.norm(v.y), c + m.abs(walked(m, v.s, v.N))),
        "hypotheses": (
            Hypothesis("rows", lambda m, v: m.all_of(*[m.at_most(r @ r, v.R) for r in v.A])),
        ),
        "readings": {
            "literal": Reading("refuted", constants={"c": 1}, siblings={"0": changed(c=0)})
        },
    }
    made = {"variables": variables, **rest, **changes}
    return Statement("toy/a", "toys", "here", "short", **made)


def test_code_that_is_no_expression_is_told_by_its_docstring_or_its_name():
    assert formula_lines(shown(toy()).readings) == [
        "||y|| <= 1 + |S(s)|",
        "if N >= 1",
        "if N <= 4",
        "if s >= 0",
        "if rows",
        "where ||.|| is the root of the sum of the squares of all entries",
        "where S(x) is where N steps lead from x",
        "where y = A x",
    ]


def test_a_defined_value_that_is_no_expression_and_a_turned_comparison_are_shown():
    view = shown(
        toy(
            variables={"s": Real(), "y": Defined(lambda m, v: sum(range(v.s)))},
            hypotheses=(Hypothesis("2 s > s", lambda m, v: m.above(2 * v.s, v.s)),),
            conclusion=lambda m, v, c: m.at_most(v.s, c * v.y),
        )
    )
    assert formula_lines(view.readings) == [
        "s <= y",
        "if 2 s > s",
        "where y is determined by the others",
    ]


@pytest.mark.parametrize(
    ("formula", "shown_as"),
    [
        (
            lambda m, v, c: m.at_most(m.norm(m.array([v.x[i] for i in range(v.n)])), c * 2),
            "||(x[0], x[1])|| <= 2 (for n = 2)",
        ),
        (
            lambda m, v, c: m.at_most(min(v.x[i] > 0 for i in range(v.n)), c),
            "m.at_most(min((v.x[i] > 0 for i in range(v.n))), c) (c = 1)",
        ),
    ],
)
def test_a_formula_that_runs_through_a_length_is_written_for_two(formula, shown_as):
    made = Statement(
        *("toy/a", "toys", "here", "short"),
        variables={"n": Integer(1, 4), "x": Vector("n")},
        conclusion=formula,
        readings={"literal": Reading("refuted", constants={"c": 1}, siblings={"0": changed(c=0)})},
    )
    assert formula_lines(shown(made).readings)[0] == shown_as


def test_definitions_that_differ_between_readings_name_theirs():
    other = Reading(
        "refuted",
        constants={"c": 1},
        variables={"y": Defined(lambda m, v: v.x)},
        siblings={"0": changed(c=0)},
    )
    literal = Reading("refuted", constants={"c": 1}, siblings={"0": changed(c=0)})
    view = shown(toy(readings={"literal": literal, "amended": other}))
    lines = formula_lines(view.readings)
    assert "where y = A x    (literal)" in lines
    assert "where y = x    (amended)" in lines


def test_one_statement_is_shown_at_a_time():
    with pytest.raises(UsageError, match="2 statements begin like that"):
        statement_of([*SLOPE.claims, *GRADIENT.claims], "sim/lemma-3.1")
    assert statement_of(SLOPE.claims, "sim/lemma-3.12") == "sim/lemma-3.12"


def test_a_sibling_quotes_the_hypothesis_that_it_drops():
    views = shown(GRADIENT).readings
    (amended,) = (view for view in views if view.name == "amended")
    assert amended.sibling("without |b| <= R") == 'without "|b| <= R"'
    assert amended.sibling("without the square") == "without the square"
