"""Theorems for Coq say what the formulas say: an independent reader evaluates both."""

import ast
import functools
import re
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

from attsvm.errors import NotExpressible
from attsvm.theory import (
    Hypothesis,
    Integer,
    Matrix,
    Reading,
    Real,
    Statement,
    Vector,
    changed,
    load_packs,
)
from attsvm.theory.arithmetic import ENCLOSURES
from attsvm.theory.arithmetic.namespace import comparisons
from attsvm.theory.coq.kernel import Proofs
from attsvm.theory.coq.records import parts_of, words
from attsvm.theory.coq.theorems import expressible, refutation, statement, tightness
from attsvm.theory.declaration.variables import Choice
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.record.curated import known
from tests.theory.coq.reader import Reader, array, sides, with_definitions

(PACK,) = load_packs()
ROOT = Path(__file__).parents[3]
PROOFS = Proofs.of(ROOT / "symbolic/coq")
FORBIDDEN = r"\b(Axiom|Admitted|admit|Parameter|Conjecture|Unset|bypass_check)\b"


@functools.cache
def stated():
    """The claims with a statement for Coq."""
    return [c for c in PACK.claims if expressible(statement, c)[0]]


@functools.cache
def written():
    """Each counterexample that has a theorem, with its claim and the theorem."""
    return [
        (c, case, theorem)
        for c in PACK.claims
        for case in known(c)
        if (theorem := expressible(refutation, c, case)[0])
    ]


def records():
    """The theorems about records, with their claims."""
    return [(claim, theorem) for claim, _, theorem in written() if theorem.records]


def number(value):
    return mpmath.mpf(int(value.numerator)) / int(value.denominator)


def values_of(claim, case):
    """The letters of a statement at an instance, for the reader."""
    found = dict(claim.formula.values_of(case))
    for name, variable in claim.formula.variables.items():
        if isinstance(variable, Choice):
            member = variable.members[getattr(case, name)]
            found[name] = lambda u, member=member: ball(member.value(ENCLOSURES, exact_ball(u)))
        elif name in found and variable.axes:
            entries = np.vectorize(lambda x: number(Fraction(x)), otypes=[object])
            found[name] = array(entries(getattr(case, name)).tolist())
        elif name in found and not isinstance(variable, Integer):
            found[name] = number(Fraction(getattr(case, name)))
    return found


def exact_ball(x):
    above = int(mpmath.floor(x * 2**80))
    return ENCLOSURES.exact(Fraction(above, 2**80))


def ball(x):
    return mpmath.mpf(x.mid().str(30, radius=False)) if hasattr(x, "mid") else number(x)


def entries(comparison):
    """Pairs of the two sides of a comparison, entry by entry."""
    pair = [np.asarray(side, object) for side in (comparison.left, comparison.right)]
    return zip(*map(np.ravel, np.broadcast_arrays(*pair)), strict=True)


def conclusion(theorem):
    """The last part of a statement, behind its conditions."""
    return theorem.says.split(" ->\n  ")[-1].split(",\n  ")[-1]


def agree(a, b):
    return abs(a - b) <= 1e-9 * max(1, abs(a), abs(b))


def test_most_readings_about_variables_have_statements_or_a_reason():
    assert len(stated()) >= 39
    for claim in PACK.claims:
        theorem, reason = expressible(statement, claim)
        assert (theorem is None) == bool(reason)


def test_statements_have_both_sides_of_the_formula_at_their_instances():
    for claim in stated():
        text = conclusion(statement(claim))
        cases = [*known(claim), *claim.examples]
        names = [one.name for one in fields(claim.formula.instance)]
        if not cases:  # of numbers, or of 1 x 1 matrices
            matrix = {"K": [[1.5]], "Q": [[-0.25]]}
            cases = [claim.formula.build(**(matrix if "K" in names else {"x": 1.5, "y": -0.25}))]
        for case in cases:
            _, read = sides(text, values_of(claim, case))
            formula = claim.formula.relation(ENCLOSURES, claim.formula.enclosed(case), {})
            computed = [pair for one in comparisons(formula) for pair in entries(one)]
            assert len(read) == len(computed), claim.id
            for (_, *pair), values in zip(read, computed, strict=True):
                balls = (ball(ENCLOSURES.exact(value)) for value in values)
                assert all(map(agree, pair, balls)), claim.id


def test_refutations_are_true_and_their_reverse_is_false():
    built = [row for row in written() if getattr(row[0].formula.instance, "BUILT", False)]
    assert len(built) >= 27
    for claim, _, theorem in built:
        letters = with_definitions(theorem)
        parts = theorem.says.split(" /\\\n  ")
        for part, tactic in zip(parts, theorem.tactics, strict=True):
            assert tactic == "decide_loss" or sides(part, letters)[0], claim.id
        violated = parts[-1]
        if violated.count(" < ") == 1 and violated[0] != "(":
            left, right = violated.split(" < ")
            assert not sides(f"{right} < {left}", letters)[0], claim.id


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("total 3 (fun i1 => x i1 * x i1)", 14),
        ("most 3 (fun i1 => - x i1)", -1),
        ("1 / 2 * (3 - 1) - - 2", 3),
        ("x (1 + 1)%nat", 3),
        ("times 3 (fun i1 i2 => x i2) x 0%nat", 14),
        ("(if Nat.eqb 1 1 then 5 else 6)", 5),
        ("oscillation 3 x", 2),
    ],
)
def test_the_reader_reads(text, value):
    assert Reader(text, {"x": array([1, 2, 3])}).sum() == value


def test_most_counterexamples_are_theorems_and_many_are_about_runs():
    """These numbers only rise."""
    assert len(written()) >= 190
    assert len({claim.id for claim, *_ in written()}) >= 130
    runs = r"ends_along|is_stationary|rises|the_t\d"
    about = {claim.id for claim, theorem in records() if re.search(runs, theorem.says)}
    assert len(about) >= 25


def test_a_theorem_about_a_record_has_each_hypothesis_and_a_violation():
    for claim, theorem in records():
        solved = len(re.findall(r"^ *(?:solves|ends_along|map fst) ", theorem.says, re.MULTILINE))
        assert len(theorem.tactics) == solved + len(claim.hypotheses) + 1
        assert len(theorem.says.split(" /\\\n  ")) == len(theorem.tactics)


def test_another_hypothesis_of_a_record_is_another_theorem():
    claim = next(c for c, _ in records() if len(c.hypotheses) > 1)
    case = known(claim)[0]
    own = refutation(claim, case)
    assert refutation(replace(claim, hypotheses=claim.hypotheses[1:]), case).says != own.says
    other = replace(claim.hypotheses[0], checked="fact(unheard_of(data))")
    with pytest.raises(NotExpressible, match="unheard_of"):
        refutation(replace(claim, hypotheses=(other,)), case)


def test_each_phrase_of_the_words_has_a_meaning_in_coq():
    found = words("attsvm.primitives")
    assert len(found.phrases) > 30
    for text in found.phrases.values():
        nodes = [*ast.walk(ast.parse(text, mode="eval"))]
        called = {node.func.id for node in nodes if isinstance(node, ast.Call)}
        assert called - {"fact"} <= found.types.keys()


DATA = {"data": "Data([[[0], [1]], [[2]]], [[1], [1]], [[0, 1], [2]])", "loss": "'cubic'"}
SOURCES = ["attsvm.primitives.claim_checker"]


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("fact(unique(data))", "(unique the_data) = true"),
        (
            "fact(not unique(data) or loss in SLOPED)",
            "((unique the_data) = false \\/ sloped the_loss)",
        ),
        ("smooth(loss)", "smooth the_loss"),
        ("at_most(exp(Q(-1, 2)), 1)", "(exp ((- 1) / 2)) <= 1"),
        ("any_of(below(1, 2), equal(1, 2))", "(1 < 2 \\/ 1 = 2)"),
    ],
)
def test_conditions_of_the_checker_become_propositions(expression, says):
    _, (part,) = parts_of(DATA, {"": expression}, SOURCES)
    assert part.says == says


def test_solutions_for_all_choices_come_with_the_proof_that_these_are_all():
    lines = {**DATA, "local": "local_svms(data, [[1], [1]])"}
    written, parts = parts_of(lines, {"": "fact(all(w is not None for _, w in local))"}, SOURCES)
    assert (
        "([0%nat; 0%nat], the_solution_0); ([1%nat; 0%nat], the_solution_1)"
        in (written["the_local"])
    )
    solved, other, complete, condition = (part.says for part in parts)
    assert solved.endswith(" the_solution_0")
    assert other.endswith(" the_solution_1")
    assert complete == "map fst the_local = choices the_data"
    assert condition == "(local_solved the_local) = true"


LONG = f"fact(all_zero([{10**300}]))"


@pytest.mark.parametrize(
    "expression", ["fact(data.scores and 1)", "fact(unique(data, 1))", LONG], ids=range(3)
)
def test_a_condition_without_words_has_no_theorem(expression):
    with pytest.raises(NotExpressible):
        parts_of(DATA, {"": expression}, SOURCES)


def test_the_claim_of_a_record_is_stated_to_be_false():
    answers = {"the claim": "all_of(fact(unique(data)), at_most(1, 2))"}
    _, (part,) = parts_of(DATA, answers, SOURCES)
    assert part.says == "((unique the_data) = false \\/ 2 < 1)"


def toy(conclusion, variables, **more):
    wide = {"wide": changed(variables={"c": Real((9,))})}
    reading = Reading("proved", proof="tests.theory.toy_pack:prove", siblings=wide, **more)
    return Statement(
        "toy/coq",
        source="a toy",
        place="1",
        printed="",
        variables=variables,
        conclusion=conclusion,
        readings={"literal": reading},
    ).claims[0]


SQUARES = {"n": Integer(2, 3), "x": Vector("n"), "A": Matrix("n", "n"), "c": Real()}


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        (lambda m, v: m.at_most(v.c - (v.c - 1), v.c * (v.c + 1)), "c - (c - 1) <= c * (c + 1)"),
        (lambda m, v: m.below(-v.c * 2, v.c / (v.c / 2)), "(- c) * 2 < c / (c / 2)"),
        (lambda m, v: m.at_most(-(v.c + 1), v.c - -v.c), "- (c + 1) <= c - (- c)"),
    ],
)
def test_brackets_are_written(formula, says):
    assert conclusion(statement(toy(formula, SQUARES))) == says


@pytest.mark.parametrize(
    "left",
    [
        lambda m, v: m.sum(v.x[1:]),
        lambda m, v: m.sum(m.array([m.sum(row) for row in v.A])),
        lambda m, v: m.max(m.array([m.norm(row) * x for row, x in zip(v.A, v.x, strict=True)])),
        lambda m, v: m.dot(v.A[1], v.x) - v.A[0, 1],
        lambda m, v: m.sum(v.A @ v.A.T @ v.x) / v.n,
        lambda m, v: m.norm(v.A - v.x.reshape(-1, 1)) * m.size(v.A),
        lambda m, v: m.dot(v.x, m.softmax(v.A)[0]) - m.min(v.A),
        lambda m, v: m.sum(m.diagonal(v.x) @ v.x) + m.oscillation(v.A),
        lambda m, v: m.spread(v.A) - m.sum(m.power(v.x, 3)) + m.sum(m.sums(v.A) * v.x),
        lambda m, v: m.sum(m.outer(v.x, v.x)) - m.sum(m.square(m.differences(v.x))),
    ],
)
def test_functions_of_arrays_have_the_value_that_the_formula_has(left):
    claim = toy(lambda m, v: m.at_most(left(m, v), v.c), SQUARES)
    case = claim.formula.build(x=[1, -2, 0.5], A=[[1, 2, 3], [-1, 4, 0.25], [0, 1, 8]], c=1)
    _, ((_, read, _),) = sides(conclusion(statement(claim)), values_of(claim, case))
    computed = claim.formula.relation(ENCLOSURES, claim.formula.enclosed(case), {}).left
    assert agree(read, ball(ENCLOSURES.exact(computed)))


REFUSED = {
    "a loop in a loop": lambda m, v: m.at_most(
        m.sum(m.array([m.sum(m.array([m.dot(a, b) for a in v.A])) for b in v.A])), v.c
    ),
    "a number of Python": lambda m, v: m.at_most(v.c, 1 if v.n == 2 else 2),
    "one entry of a loop": lambda m, v: m.at_most(next(iter(v.x)), v.c),
    "the length of an array": lambda m, v: m.at_most(v.c, len(v.x)),
    "a spectral norm": lambda m, v: m.at_most(m.spectral(v.A), v.c),
}


@pytest.mark.parametrize("formula", REFUSED.values(), ids=REFUSED)
def test_what_python_would_decide_has_no_statement(formula):
    with pytest.raises(NotExpressible):
        statement(toy(formula, SQUARES))


@pytest.mark.parametrize("name", ["i1", "exp", "total", "share"])
def test_a_letter_with_a_meaning_in_coq_has_no_statement(name):
    """A bound index or a function of Coq would take its place without an error."""
    variables = {name: Integer(1, 3), "x": Vector(name), "c": Real()}
    with pytest.raises(NotExpressible, match=f"the letter {name}"):
        statement(toy(lambda m, v: m.at_most(m.sum(v.x), v.c), variables))


def test_an_operation_that_terms_lack_is_a_reason():
    claim = toy(lambda m, v: m.at_most(v.c % 2, v.c), SQUARES)
    assert expressible(statement, claim) == (
        None,
        "an operation that Coq terms lack: unsupported operand type(s) for %: 'Term' and 'int'",
    )


def test_a_condition_that_python_decided_has_no_refutation():
    always = Hypothesis("1 is 1", lambda m, v: m.equal(m.exact(1), m.exact(1)))
    claim = toy(lambda m, v: m.at_most(v.c, m.exact(0)), {"c": Real()}, under=(always,))
    with pytest.raises(NotExpressible, match="Python decides"):
        refutation(claim, claim.formula.build(c=1))


def test_another_constant_is_another_statement():
    one, two = (
        statement(toy(lambda m, v, k=k: m.at_most(v.c, m.exact(k)), {"c": Real()})) for k in (1, 2)
    )
    assert one.says != two.says


def test_tightness_asks_for_instances_below_each_share():
    text = tightness(toy(lambda m, v: m.at_most(v.c, m.exact(2) + v.c), {"c": Real()})).says
    assert text.startswith("forall share : R, share < 1 -> exists (c : R),")
    assert text.endswith("share * (2 + c) < c")


@pytest.mark.parametrize("file", PROOFS.files.values(), ids=lambda f: f.stem)
def test_proof_files_assume_nothing(file):
    text = re.sub(r"\(\*.*?\*\)", "", file.read_text(), flags=re.DOTALL)
    assert not re.search(FORBIDDEN, text)


def test_each_theorem_is_about_a_reading_with_that_verdict():
    found = {}
    for claim in PACK.claims:
        for file, name in PROOFS.theorems(claim):
            found[file, name] = claim
            refuted = name.endswith("_refuted")
            assert refuted == (claim.expected.truth is Truth.REFUTED)
            assert expressible(tightness if name.endswith("_tight") else statement, claim)[0]
            assert not (
                refuted and any(isinstance(v, Choice) for v in claim.formula.variables.values())
            ), "no member of a family need refute what some function refutes"
    listed = {
        (file.stem, name)
        for file in PROOFS.files.values()
        for name in re.findall(r"^Theorem (\w+) ", file.read_text(), re.MULTILINE)
    }
    assert listed == found.keys()
    assert len({claim.id for claim in found.values()}) >= 24
