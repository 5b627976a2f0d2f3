"""What an author writes wrongly is told in one sentence: the value, the cause, the remedy."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from attsvm.errors import ClaimError, UnknownClaimError
from attsvm.theory import load_packs
from attsvm.theory.arithmetic.namespace import Namespace
from attsvm.theory.arithmetic.synonyms import SAME
from attsvm.theory.packs.packs import Pack, find_claims
from attsvm.theory.verification.verify import verify

PACK = """
import math
from fractions import Fraction

import numpy as np
import sympy as sp
from flint import arb

from attsvm.theory import (
    Hypothesis,
    Choice, Defined, Integer, Matrix, Near, Reading, Real, Statement, Vector, changed
)
from attsvm.theory.arithmetic import BALLS

def conclusion(m, v, c=1):
    return {conclusion}

{before}S = Statement(
    {id!r}, source="My paper", place="Lemma 1", printed="printed", cost={cost},
    variables={{"n": Integer(1, 3), "d": Integer(1, 2), "x": Vector("n"), "A": Matrix("n", "d"),
               "t": Real() {variables}}},
    hypotheses=(Hypothesis("first", lambda m, v: {hypothesis}),),
    conclusion=conclusion,
    readings={{{reading!r}: Reading({expected!r}, {options})}},
){after}
"""
RIGHT = "m.at_most(m.largest(v.x) + m.norm(v.A), c * m.norm(v.x) + m.norm(v.A))"
HALF = "siblings={'half': changed(c=Fraction(1, 2))}"


def pack(folder, **parts):
    parts = {
        "conclusion": RIGHT,
        "before": "",
        "after": "",
        "id": "mine/a",
        "variables": "",
        "hypothesis": "m.at_most(m.exact(-1), v.t)",
        "reading": "literal",
        "options": HALF,
        "expected": "holds",
        "cost": 12,
        **parts,
    }
    path = folder / "mine.py"
    path.write_text(PACK.format(**parts))
    return str(path)


def loaded(path):
    return load_packs(only=[path])


def checked(path):
    (found,) = verify(loaded(path)).checked
    return found


def refused(path):
    with pytest.raises(ClaimError) as caught:
        load_packs(only=[path])
    return str(caught.value)


CONCLUSIONS = {
    "no comparison": (
        "v.n <= 3",
        "returned no comparison (got True, of type bool). Return m.at_most",
    ),
    "a float": ("1.5", "returned no comparison (got 1.5, of type float)."),
    "nothing": ("None", "returned no comparison (got None, of type NoneType)."),
    "a number": ("m.norm(v.x)", "returned no comparison (got <"),
    "if": (
        "m.at_most(v.t, v.t) if v.t > 0 else m.at_most(v.t, m.exact(0))",
        "compares numbers or asks for the truth of one. Return m.at_most, m.below or "
        "m.equal; use m.maximum or m.abs in place of an if.",
    ),
    "if a number": ("m.at_most(v.t, v.t) if v.t else 0", "asks for the truth of one. Return"),
    "if a comparison": (
        "m.at_most(v.t, v.t) and m.at_most(v.t, v.t)",
        "asks whether a comparison is true. Return it; m.all_of and m.any_of combine.",
    ),
    "<=": ("v.t <= v.t", "compares numbers or asks for the truth of one. Return m.at_most"),
    "==": ("v.t == v.t", "compares numbers or asks for the truth of one. Return m.at_most"),
    "max()": ("m.at_most(max(v.t, v.t), v.t)", "use m.maximum or m.abs in place of an if."),
    "max() of an array": ("m.at_most(max(v.x), v.t)", "use m.maximum or m.abs in"),
    "the method max": ("m.at_most(v.x.max(), v.t)", "uses the method max. Use m.max(x)."),
    "the method sum": ("m.at_most(v.x.sum(), v.t)", "uses the method sum. Use m.sum(x)."),
    "<= of arrays": (
        "v.x <= v.x",
        "uses numpy's less_equal on values that are not floats. Use the function of that name of "
        "the namespace m; comparisons are m.at_most, m.below and m.equal.",
    ),
    "ordered arrays": ("m.at_most(v.x, v.x)", "compares arrays by an inequality"),
    "np.exp": ("m.at_most(np.exp(v.x)[0], v.t)", "uses numpy's exp on values that are not floats."),
    "np.exp of a number": (
        "m.at_most(np.exp(v.t), v.t)",
        "uses numpy's exp on a number that is no float. Write m.exp.",
    ),
    "np.linalg.norm": (
        "m.at_most(np.linalg.norm(v.x), v.t)",
        "calls numpy's norm on values that are not floats. Write m.norm.",
    ),
    "np.linalg.det": ("m.at_most(np.linalg.det(v.A), v.t)", "not floats. Write m.det."),
    "np.mean": ("m.at_most(np.mean(v.x), v.t)", "Write m.mean."),
    "np.unwrap": ("m.at_most(np.unwrap(v.x), v.t)", "Use the functions of the namespace m."),
    "math.exp": (
        "m.at_most(math.exp(v.t), v.t)",
        "turns a number into a float, as functions of math do. Use the functions of m, such as "
        "m.exp(x).",
    ),
    "a float constant": (
        "m.at_most(0.5 * v.t, v.t)",
        "mixes a value of type float with numbers of its arithmetic. Write constants as integers, "
        "or as m.exact('0.95') or m.exact(Fraction(1, 3)).",
    ),
    "a float as a side": (
        "m.at_most(v.t, 2.5)",
        "compares a value of type float with numbers of its arithmetic. Write constants as ",
    ),
    "a fraction as a side": (
        "m.at_most(Fraction(1, 3), v.t)",
        "compares a value of type Fraction with numbers of its arithmetic. Write constants as ",
    ),
    "a float times an array": (
        "m.at_most(m.norm(0.5 * v.x), v.t)",
        "mixes a float with values of another arithmetic. Write constants as integers",
    ),
    "an exact float": (
        "m.at_most(m.exact(0.5) * v.t, v.t)",
        "takes the constant 0.5, which is not exact. Write an integer, a Fraction, or decimals in "
        "quotes such as '0.95'.",
    ),
    "a numpy number": (
        "m.at_most(np.float64(0.5) * v.t, v.t)",
        "uses numpy's multiply on a number",
    ),
    "balls": (
        "m.at_most(arb(2) * v.t, v.t)",
        "mixes a value of type arb with numbers of its arithmetic. Write constants as integers, or "
        "as m.exact('0.95') or m.exact(Fraction(1, 3)).",
    ),
    "balls times an array": ("m.at_most(m.norm(arb(2) * v.x), v.t)", "mixes a value of type arb"),
    "balls on the right": ("m.at_most(v.t - arb(2), v.t)", "mixes a value of type arb with"),
    "sympy": ("m.at_most(sp.sqrt(2) * v.t, v.t)", "mixes a value of sympy with numbers of its"),
    "sympy on the right": ("m.at_most(v.t * sp.sqrt(2), v.t)", "mixes a value of type Pow with"),
    "another arithmetic": (
        "m.at_most(BALLS.exact(2) * v.t, v.t)",
        "mixes a value of type fmpq with numbers of its arithmetic. Write constants as integers",
    ),
    "its exponential": ("m.at_most(BALLS.exp(v.t), v.t)", "raised TypeError"),
    "no such variable": (
        "m.at_most(v.z, v.t)",
        "uses a variable that the statement does not have (got z). It has n, d, x, A, t.",
    ),
    "no such function": (
        "m.at_most(m.nrom(v.x), v.t)",
        "uses a function that the namespace m does not have (got nrom). Nearest: norm",
    ),
    "no such function, like none": ("m.at_most(m.qqq(v.x), v.t)", "(got qqq). It has above, abs,"),
    "expit": ("m.at_most(m.expit(v.t), v.t)", "(got expit). Write m.sigmoid(x)."),
    "ReLU": ("m.at_most(m.ReLU(v.t), v.t)", "(got ReLU). Nearest: relu."),
    "inf_norm": ("m.at_most(m.inf_norm(v.x), v.t)", "(got inf_norm). Write m.largest(u)."),
    "sin": ("m.at_most(m.sin(v.t), v.t)", "(got sin). No arithmetic has angles. A point of"),
    "an argmax": ("v.x.argmax()", "uses the method argmax. Use the functions of m; the engine"),
    "a power that is none": (
        "m.at_most(v.t ** -1, v.t)",
        "to a power that is no natural number.",
    ),
    "shapes": (
        "m.at_most(m.norm(v.A @ v.x[:0]), v.t)",
        "and (0,). Give axes that must agree the same letter.",
    ),
    "shapes added": ("m.at_most(m.norm(v.x + v.x[:0]), v.t)", "combines arrays of shapes ("),
    "a bool combined": (
        "m.all_of(True)",
        "meets an error: a part of m.all_of or m.any_of returned",
    ),
}


@pytest.mark.parametrize("name", CONCLUSIONS)
def test_a_conclusion_that_no_arithmetic_can_run_is_told_with_its_line(tmp_path, name):
    text, said = CONCLUSIONS[name]
    path = pack(tmp_path, conclusion=text, options="siblings={'s': changed(c=2)}")
    found = checked(path)
    assert str(found.verdict.validity) == "error"
    line = 1 + next(
        k
        for k, row in enumerate(Path(path).read_text().splitlines())
        if row.startswith("    return")
    )
    line -= said.startswith("returned no comparison")  # no line raises that: the function's first
    told = f"the conclusion of mine/a:literal ({Path(path).name}, line {line}) "
    assert found.reason.startswith(told)
    assert said in found.reason
    assert found.json()["reason"] == found.reason  # where the formula is written down as well
    assert found.reason.endswith(".")
    assert "\n" not in found.reason


HYPOTHESES = {
    "that raises": ("1 // 0", "hypothesis 'first' of mine/a:literal (mine.py", "ZeroDivisionError"),
    "that returns a bool": (
        "v.n > 0",
        "hypothesis 'first' of mine/a:literal (mine.py, line 22) returned no comparison (got True, "
        "of type bool).",
        "Return m.at_most(left, right), m.below, m.equal, m.all_of or m.any_of.",
    ),
    "that compares": ("v.t > 0", "hypothesis 'first' of mine/a:literal (mine.py, line", "compares"),
    "with no such variable": ("m.at_most(v.z, v.t)", "hypothesis 'first'", "(got z). It has n, d"),
}


@pytest.mark.parametrize("name", HYPOTHESES)
def test_a_hypothesis_that_is_no_comparison_is_named(tmp_path, name):
    text, start, said = HYPOTHESES[name]
    found = checked(pack(tmp_path, hypothesis=text))
    assert str(found.verdict.validity) == "error"
    assert found.reason.startswith(start)
    assert said in found.reason


def test_a_hypothesis_that_raises_at_some_sizes_is_told_with_these_and_a_remedy(tmp_path):
    found = checked(pack(tmp_path, hypothesis="m.at_most(v.x[1], v.x[1])"))
    assert str(found.verdict.validity) == "error"
    assert re.match(
        r"hypothesis 'first' of mine/a:literal raised IndexError: .* \(mine.py:\d+\) at n = 1, "
        r"d = \d\. State it so that it is defined at every size, or exclude sizes by the bounds of "
        r"their variables, such as Integer\(2, 4\)\.$",
        found.reason,
    )
    assert found.json()["not_shown_to_be_needed"] == []


UNREAD = {
    "a variable": (', "y": Vector("n")', "y"),
    "a defined one": (', "y": Vector("n"), "z": Defined(lambda m, v: m.norm(v.y))', "y, z"),
    "one with a domain": (', "y": Vector("n", least=0)', "y"),
}


@pytest.mark.parametrize("name", UNREAD)
def test_a_variable_that_no_formula_reads_makes_a_reading_thin(tmp_path, name):
    variables, unread = UNREAD[name]
    found = checked(pack(tmp_path, variables=variables))
    assert str(found.verdict) == "holds, certified, thin"
    assert found.reason == f"neither a hypothesis nor the conclusion reads: {unread}"


READ = {
    "by a defined one": (', "y": Vector("n"), "z": Defined(lambda m, v: m.norm(v.y))', "v.z"),
    "at the largest size": (', "y": Vector("n")', "(m.norm(v.y) if v.n == 3 else 0)"),
    "by one choice": (
        ', "y": Real(), "f": Choice({"no": lambda y: 0 * y, "yes": lambda y: y})',
        "v.f(v.y)",
    ),
    "all at once": (', "y": Vector("n")', "(0 * len(vars(v)))"),
}


@pytest.mark.parametrize("name", READ)
def test_a_variable_that_some_instance_reads_is_read(tmp_path, name):
    variables, text = READ[name]
    conclusion = (
        f"m.at_most(m.largest(v.x) + {text} + m.sum(v.A), c * m.norm(v.x) + {text} + m.sum(v.A))"
    )
    often_violated = "m.at_most(m.exact(0), v.t)"
    found = checked(
        pack(tmp_path, variables=variables, conclusion=conclusion, hypothesis=often_violated)
    )
    assert found.reading.unread == []
    assert found.as_expected, found.reason


def test_a_defined_variable_that_raises_is_named(tmp_path):
    found = checked(pack(tmp_path, variables=', "y": Defined(lambda m, v: v.x[9])'))
    assert found.reason.startswith("the variable y of mine/a:literal (mine.py")
    assert "reads an entry that an array does not have" in found.reason


def test_a_claim_with_its_sides_swapped_shows_their_values(tmp_path):
    path = pack(tmp_path, conclusion="m.at_most(c * m.sum(v.x * v.x + 1), m.exact(0))")
    found = checked(path)
    assert str(found.verdict.truth) == "refuted"
    assert re.search(r"the conclusion says \d+ <= 0 there, which is false$", found.reason)


def test_the_sides_of_a_claim_that_is_expected_to_fall_are_not_told(tmp_path):
    falls = "m.at_most(c * m.sum(v.x * v.x + 1), m.exact(0))"
    found = checked(pack(tmp_path, conclusion=falls, expected="refuted"))
    assert str(found.verdict.truth) == "refuted"
    assert "which is false" not in found.reason


def test_an_equality_of_arrays_that_fails_shows_the_difference(tmp_path):
    found = checked(pack(tmp_path, conclusion="m.equal(v.x * c, v.x * c + 3)"))
    assert "the conclusion says -3 = 0 (an entry of left side - right side)" in found.reason


EXAMPLE = "{'x': [1, 2], 'A': [[1], [2]], 't': 0}"


def with_example(text):
    return {"options": f"{HALF}, examples=({text},)"}


PARTS = {
    "variables": "{'t': Real()}",
    "hypotheses": "()",
    "conclusion": "lambda m, v, c=1: m.at_most(c * v.t, v.t)",
    "readings": "{'literal': Reading('holds', tight=True)}",
}


def test_functions_that_m_has_by_the_name_of_numpy_are_listed():
    own = [name for name in dir(Namespace) if not name.startswith("_")]
    places = np, np.linalg
    assert {n for n in own if any(callable(getattr(p, n, None)) for p in places)} == SAME


def another(**given):
    """The text of a second statement, of which one part is given."""
    parts = ", ".join(f"{k}={v}" for k, v in (PARTS | given).items())
    said = f"T = Statement('mine/b', source='s', place='p', printed='t', {parts})"
    return {"after": f"\n{said}"}


DECLARATIONS = {
    "an id in capitals": (
        {"id": "Mine/A"},
        "a claim's id is source/statement:reading (got Mine/A:literal). Source and statement are "
        "lower-case letters and digits, joined by - or a full stop; readings are literal, amended, "
        "sharp, with -1, -2 if there are several.",
    ),
    "an id without a source": ({"id": "a"}, "(got a:literal). Source and statement are"),
    "an id with a score": ({"id": "mine/a_b"}, "(got mine/a_b:literal). Source and statement are"),
    "a reading that is none": ({"reading": "weak"}, "readings are literal, amended, sharp, with"),
    "an unknown constant": (
        {"options": f"{HALF}, constants={{'k': 1}}"},
        "mine/a:literal sets constants that its conclusion lacks (got k). It has c.",
    ),
    "an unknown constant of a sibling": (
        {"options": "siblings={'s': changed(k=1)}"},
        "sibling 's' of mine/a:literal sets constants that the conclusion lacks (got k). It has c.",
    ),
    "an unknown hypothesis of a sibling": (
        {"options": "siblings={'s': changed(drop=['second'])}"},
        "sibling 's' of mine/a:literal drops hypotheses that are not there (got second). There "
        "are first.",
    ),
    "an unknown variable of a sibling": (
        {"options": "siblings={'s': changed(variables={'z': Real()})}"},
        "sibling 's' of mine/a:literal redraws variables that are not there (got z). There are n,",
    ),
    "a sibling that changes nothing": (
        {"options": "siblings={'s': changed()}"},
        "sibling 's' of mine/a:literal changes nothing. Give it another constant",
    ),
    "a sibling of a refuted reading that redraws a variable alone": (
        {
            "expected": "refuted",
            "options": "siblings={'s': changed(variables={'t': Real(least=0)})}",
        },
        "sibling 's' of mine/a:literal changes neither a constant nor a hypothesis, and the "
        "reading is expected to be refuted: each counterexample of the sibling would also refute "
        "the reading. Give it another constant, or drop",
    ),
    "a hypothesis by its name": (
        {"options": f"{HALF}, under=('first',)"},
        "the hypotheses of mine/a:literal are no tuple of Hypothesis (got ('first',)). Write",
    ),
    "two hypotheses of one name": (
        {
            "options": f"{HALF}, under=(ALIKE, Hypothesis('alike', ALIKE.holds))",
            "before": "ALIKE = Hypothesis('alike', lambda m, v: m.at_most(v.t, v.t))\n",
        },
        "two hypotheses of mine/a:literal have one name (got alike, alike). List each hypothesis",
    ),
    "a hypothesis that no reading has": (
        {"options": f"{HALF}, under=()"},
        "mine/a has hypotheses that no reading of it has (got first). List them in `under` of a",
    ),
    "an axis without a length": (
        {"variables": ', "z": Vector("k")'},
        "an array has an axis whose length is no variable (got k). Add 'k': Integer(1, 4) to the",
    ),
    "an example without a variable": (
        with_example("{'x': [1], 't': 0}"),
        "example 1 of mine/a:literal: an explicit instance does not give the variables of its "
        "statement (got t, x). Give x, A, t.",
    ),
    "an example with an unknown variable": (
        with_example("{'x': [1], 'A': [[1]], 't': 0, 'z': 1}"),
        "(got A, t, x, z). Give x, A, t.",
    ),
    "an example of another shape": (
        with_example("{'x': [1, 2], 'A': [[1]], 't': 0}"),
        "example 1 of mine/a:literal: the axis n of A has another length than elsewhere (got 1).",
    ),
    "an example without an axis": (
        with_example("{'x': 1, 'A': [[1]], 't': 0}"),
        "example 1 of mine/a:literal: x does not have its 1 axes",
    ),
    "an example of rows of several lengths": (
        with_example("{'x': [1, 2], 'A': [[1], [1, 2]], 't': 0}"),
        "gives A a value that it cannot have",
    ),
    "an example with a word": (
        with_example("{'x': [1], 'A': [[1]], 't': 'zero'}"),
        "gives t a value that it cannot have: could not convert string to float: 'zero'",
    ),
    "an example that is no number": (
        with_example("{'x': [1], 'A': [[1]], 't': float('nan')}"),
        "example 1 of mine/a:literal: an explicit instance gives t a value that it cannot have",
    ),
    "the second example": (
        with_example(f"{EXAMPLE}, {{'x': [1], 'A': [[float('nan')]], 't': 0}}"),
        "example 2 of mine/a:literal: an explicit instance gives A a value that",
    ),
    "an example of a sibling": (
        {"options": "siblings={'s': changed(c=2, examples=[{'x': [1]}])}"},
        "example 1 of sibling 's' of mine/a:literal: an explicit instance does not give",
    ),
    "no siblings": (
        {"options": "under=()"},
        "claim mine/a:literal needs at least one false sibling. Write siblings={'a name': "
        "changed(constant=another)}; or set tight=True, or list a hypothesis: the engine makes "
        "siblings of both.",
    ),
    "no siblings of a refuted reading": (
        {"options": "", "expected": "refuted"},
        "claim mine/a:literal needs at least one false sibling. Write siblings={'a name': "
        "changed(constant=another)}; the engine makes no siblings of a reading that is expected "
        "to be refuted.",
    ),
    "a sibling with the constant of its refuted reading": (
        {"options": "siblings={'s': changed(c=1)}", "expected": "refuted"},
        "sibling 's' of mine/a:literal changes nothing (got c=1). Give it another constant, drop",
    ),
    "an unknown strength": (
        {"options": f"{HALF}, strength='sharpest'"},
        "mine/a:literal has an unknown strength (got sharpest). Known: exact, least, best known, "
        "better.",
    ),
    "a tight reading that is open": (
        {"options": "tight=True, strength='better'"},
        "mine/a:literal is tight, and of another strength than least (got better). Leave out",
    ),
    "a strength that no sibling tries": (
        {"options": "strength='best known'"},
        "mine/a:literal has no sibling that would be better than it (got best known). Write",
    ),
    "an unknown fairness": (
        {"options": f"{HALF}, fairness='unfair'"},
        "mine/a:literal has an unknown fairness (got unfair). Known: plain, strained, degenerate.",
    ),
    "a fairness of a repair": (
        {"options": f"{HALF}, fairness='plain'", "reading": "amended"},
        "mine/a:amended is no literal reading, so that it has no fairness (got plain). Leave it",
    ),
    "variables in a list": (
        another(variables="['x']"),
        "the variables of mine/b have no names (got ['x']). Write variables={",
    ),
    "a variable that is a string": (
        {"variables": ', "z": "real"'},
        "the variable z of mine/a has no domain (got 'real'). Write variables={",
    ),
    "an integer below its least value": (
        {"variables": ', "z": Integer(9, 1)'},
        "the ends of an Integer are reversed: there is no integer from the first to the second "
        "(got 9, 1). Write Integer(1, 9).",
    ),
    "a proof that is a function": (
        {"options": f"{HALF}, proof=print"},
        "the proof of mine/a:literal is no text (got <built-in function print>). Write proof=",
    ),
    "a reading that is a string": (
        another(readings="{'literal': 'x'}"),
        "the reading mine/b:literal is no Reading (got 'x'). Write readings={",
    ),
    "no readings": (
        another(readings="{}"),
        "mine/b has no readings by name (got {}). Write readings={",
    ),
    "a conclusion of v alone": (
        another(conclusion="lambda v: 0"),
        "the conclusion of mine/b:literal does not take (m, v) (got arguments (v)). Write it as a "
        "function of (m, v, and of constants).",
    ),
    "a conclusion that is a number": (
        another(conclusion="3"),
        "the conclusion of mine/b:literal does not take (m, v) (got a value that "
        "cannot be called).",
    ),
    "a hypothesis of v alone": (
        another(hypotheses="(Hypothesis('h', lambda v: 0),)"),
        "hypothesis 'h' of mine/b does not take (m, v) (got arguments (v)). Write it as a",
    ),
    "hypotheses by name": (
        another(hypotheses="{'h': lambda m, v: 0}"),
        "the hypotheses of mine/b are no tuple of Hypothesis (got {'h': ",
    ),
    "a sibling that is a number": (
        {"options": "siblings={'s': 2}"},
        "sibling 's' of mine/a:literal does not say what it changes (got 2). Write siblings={'s': "
        "changed(",
    ),
    "statements in a list": (
        {"before": "L = [1]\n", "after": "\nL = [S]\ndel S"},
        "the claim mine/a:literal of ",
    ),
}


@pytest.mark.parametrize("name", DECLARATIONS)
def test_a_declaration_that_cannot_be_checked_is_refused_every_time(tmp_path, name):
    parts, said = DECLARATIONS[name]
    path = pack(tmp_path, **parts)
    for _ in range(2):
        message = refused(path)
        assert said in message
        assert "\n" not in message


def test_the_pack_without_a_mistake_is_as_expected_and_its_example_is_taken(tmp_path):
    found = checked(pack(tmp_path, cost=4, **with_example(EXAMPLE)))
    assert found.as_expected, found.reason


def test_a_constant_that_is_not_given_is_named(tmp_path):
    path = tmp_path / "needed.py"
    path.write_text(Path(pack(tmp_path)).read_text().replace("c=1):", "c, k):"))
    assert refused(str(path)).startswith(
        "needed.py, line 18: mine/a:literal does not set the constants of its conclusion (got c, "
        "k). Give them in"
    )


NEARS = {
    "a first point that is not there": (
        ', "y": Near("z", ("n",))',
        "the variable y is drawn near a variable that the statement does not have (got z). It has "
        "n, d, x, A, t.",
    ),
    "other axes than the first point's": (
        ', "y": Near("x", ())',
        "the variable y has other axes than the point x that it is near (got ()). Write Near('x', "
        "('n',)).",
    ),
    "two points near each other": (
        ', "y": Near("z", ()), "z": Near("y", ())',
        "variables are each drawn near another one of them (got y, z). Draw one of them by itself",
    ),
}


@pytest.mark.parametrize("name", NEARS)
def test_a_point_near_another_one_that_cannot_be_drawn_is_told(tmp_path, name):
    variables, said = NEARS[name]
    assert said in refused(pack(tmp_path, variables=variables))


TWO_MORE = """
T = Statement("mine/b", source="s", place="p", printed="p", variables={"x": Vector("k")},
    conclusion=conclusion, readings={"literal": Reading("holds", tight=True)})
U = Statement("mine/c", source="s", place="p", printed="p", variables={"x": Real()},
    conclusion=conclusion, readings={"literal": Reading("hold", tight=True)})
"""


def test_a_bad_statement_does_not_hide_the_errors_of_the_next_ones(tmp_path):
    said = refused(pack(tmp_path, after=TWO_MORE))
    assert said.startswith(
        "2 statements cannot be checked: (1) mine.py, line 26: mine/b: an array has an axis whose "
        "length is no variable (got k). Add 'k': Integer(1, 4) to the variables. (2) mine.py, line "
        "28: mine/c: an expected verdict is a truth and, after a comma, an evidence (got hold)."
    )


def test_what_follows_from_a_bad_statement_does_not_hide_its_error(tmp_path):
    said = refused(pack(tmp_path, expected="hold", after="\nS.claim('literal')\n"))
    assert "an expected verdict is a truth" in said
    assert "no such reading" not in said


def test_a_file_that_cannot_be_loaded_is_told_with_its_line(tmp_path):
    said = refused(pack(tmp_path, after="\nStatement('mine/b', source='s', printed='p')\n"))
    assert "cannot be loaded: TypeError: Statement.__init__() missing" in said
    assert " (line 26). Correct that line" in said


UNBOUND = {
    "in a function": ("def make():\n    {}\nmake()", ["b"]),
    "in a list": ("L = [{}]", ["b"]),
    "in a loop": ("for _k in range(2):\n    T = {}", ["b-0"]),
    "as an expression": ("{}", ["b"]),
    "under a name that is taken again": ("T = {}\nT = 0", ["b"]),
}


@pytest.mark.parametrize("name", UNBOUND)
def test_a_statement_that_no_name_of_the_module_holds_is_an_error(tmp_path, name):
    wrapped, missed = UNBOUND[name]
    id = '"mine/b"' if missed == ["b"] else 'f"mine/b-{_k}"'
    made = (
        f'Statement({id}, source="s", place="p", printed="t", variables={{"t": Real()}}, '
        'conclusion=lambda m, v, c=1: m.at_most(c * v.t, v.t), readings={"literal": '
        'Reading("refuted", siblings={"s": changed(c=2)})})'
    )
    path = tmp_path / "unbound.py"
    path.write_text(Path(pack(tmp_path)).read_text() + wrapped.format(made))
    for _ in range(2):
        message = refused(str(path))
        assert f"the claim mine/{missed[0]}:literal of {path}:" in message
        assert "is bound to no name of its module, so it would not be checked." in message
        assert "Write `NAME = Statement(...)` at the top level of the module" in message


def test_a_package_whose_statement_is_unbound_is_refused_every_time(on_path):
    folder = on_path / "unbound_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "inner.py").write_text(Path(pack(on_path)).read_text() + "\nL = [S]\ndel S\n")
    for _ in range(2):
        with pytest.raises(ClaimError, match="the claim mine/a:literal of"):
            load_packs(["unbound_package"])


IDS = ("m/a:literal", "mm/a:literal", "mm/a-1:literal", "mm/a:amended", "mm/a:amended-1")


def named(tmp_path):
    (claim,) = loaded(pack(tmp_path))[0].claims
    claims = tuple(dataclasses.replace(claim, id=id) for id in IDS)
    return (Pack("many", claims, tmp_path),)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("m", ["m/a:literal"]),
        ("m/", ["m/a:literal"]),
        ("m/a", ["m/a:literal"]),
        ("mm", ["mm/a-1:literal", "mm/a:amended", "mm/a:amended-1", "mm/a:literal"]),
        ("mm/a", ["mm/a:amended", "mm/a:amended-1", "mm/a:literal"]),
        ("mm/a:", ["mm/a:amended", "mm/a:amended-1", "mm/a:literal"]),
        ("mm/a:amended", ["mm/a:amended"]),
        ("mm/a-1", ["mm/a-1:literal"]),
    ],
)
def test_a_prefix_ends_where_a_part_of_the_id_ends(tmp_path, word, found):
    assert [c.id for c in find_claims(named(tmp_path), [word])] == found


@pytest.mark.parametrize("word", ["mm/a:amend", "mm/a-", "m/b", "mm/a:lit"])
def test_a_word_that_is_no_such_prefix_names_the_nearest(tmp_path, word):
    packs = named(tmp_path)
    with pytest.raises(
        UnknownClaimError, match="no claim, statement or source is called"
    ) as caught:
        find_claims(packs, [word])
    assert "Nearest: " in str(caught.value)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("MM", "no claim, statement or source is called 'MM'. Nearest: mm, m."),
        ("mmm/", "no claim, statement or source is called 'mmm/'. Nearest: mm."),
        ("qqqq/", "called 'qqqq/'. The sources are m, mm; --pack FILE brings claims of your own."),
        ("a-1", "no claim, statement or source is called 'a-1'. Nearest: mm/a-1, m/a."),
        ("MM/A:LITERAL", "Nearest: mm/a:literal, "),
        ("xyz", "no claim, statement or source is called 'xyz'. `attsvm claims` lists them."),
    ],
)
def test_a_word_is_answered_by_sources_and_statements_in_capitals_or_not(tmp_path, word, said):
    with pytest.raises(UnknownClaimError) as caught:
        find_claims(named(tmp_path), [word])
    assert said in str(caught.value)


def test_a_dependency_that_is_not_there_names_the_nearest(tmp_path):
    path = pack(tmp_path, options=f"{HALF}, depends_on=('sim/lemma-3.12:sharpe',)")
    message = refused(path)
    assert (
        "mine/a:literal depends on a claim that is not there (got sim/lemma-3.12:sharpe)" in message
    )
    assert "Nearest: sim/lemma-3.12:sharp" in message


RECORDS = """
from dataclasses import dataclass
from fractions import Fraction
from hypothesis import strategies as st
from attsvm.theory import Reading, Records, Statement


@dataclass(frozen=True, slots=True)
class Case:
    t: float


def conclusion(m, case):
    return {conclusion}


STATEMENT = Statement(
    "mine/a",
    source="mine", place="1", printed="a",
    variables=Records(Case, st.builds(Case, st.sampled_from([1.0, 0.5]))),
    conclusion=conclusion,
    readings={{"literal": Reading("holds", under=(), siblings={{}}, tight=True)}},
)
"""


@pytest.mark.parametrize(
    ("conclusion", "kind"),
    [
        ("m.at_most(Fraction(1, 3) * m.exp(m.values(case.t)), m.exact(9))", "Fraction"),
        ("m.at_most(m.exp(m.values(case.t)), m.exact(9) + Fraction(1, 3))", "Fraction"),
        ("m.at_most(0.1 * m.values(case.t), m.exact(9))", "float"),
    ],
)
def test_a_constant_of_another_kind_in_a_formula_on_records_is_told(tmp_path, conclusion, kind):
    path = tmp_path / "mine.py"
    path.write_text(RECORDS.format(conclusion=conclusion))
    found = checked(str(path))
    assert str(found.verdict.validity) == "error"
    assert "Write constants as integers, or as m.exact" in found.reason, found.reason
    assert f"mixes a value of type {kind} with numbers" in found.reason, found.reason
    assert found.reason.startswith("the conclusion of mine/a:literal (mine.py, line 14) ")
