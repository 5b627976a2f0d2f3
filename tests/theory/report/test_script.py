"""Scripts need numpy alone and print what the judge finds."""

import contextlib
import io
import re
from decimal import localcontext

import numpy as np
import pytest
from flint import arb, ctx

from attsvm.cli import main
from attsvm.errors import ClaimError
from attsvm.primitives.descent import Descent, Factored
from attsvm.theory import Reading, Real, Statement, Truth, load_packs
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.arithmetic.namespace import comparisons
from attsvm.theory.arithmetic.script import Scripts
from attsvm.theory.record import curated
from attsvm.theory.report.script import LINES, script, short_literal, writers
from attsvm.training import descend_kq, descend_p, descend_w
from properties._support.published_data import one_input
from properties.tf.generalised_svm.published_runs import correlations

PACKS = load_packs()
REFUTED = {
    claim.id: claim
    for pack in PACKS
    for claim in pack.claims
    if claim.expected.truth is Truth.REFUTED and claim.formula.measured is None
}

IN_DECIMALS = {
    "sim/lemma-3.13:literal": "the steps are 2^-159 long",
    "sim/lemma-3.13-hessian:literal": "entries of 1e96 cancel",
}
"""Claims that only more digits than floats have refute."""


def ran(text):
    """What a script prints, run with nothing but numpy, and decimals of Python, at hand."""
    decimals = ["from decimal import Decimal, getcontext"] * ("Decimal" in text)
    assert re.findall(r"^(?:import|from) .*", text, re.M) == [*decimals, "import numpy as np"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), np.errstate(all="ignore"), localcontext():
        exec(compile(text, "script", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def numbers(text):
    """The numbers of a printed side."""
    return np.array([float(x) for x in re.findall(r"-?(?:inf|nan|\d[\d.]*(?:e[+-]?\d+)?)", text)])


def judged(side):
    """A side as the judge has it, in floats."""
    flat = side.ravel() if hasattr(side, "ravel") else [side]
    return np.array([float(arb(x).mid()) for x in flat])


@pytest.mark.parametrize("id", REFUTED)
def test_a_script_prints_what_the_judge_finds(id):
    claim = REFUTED[id]
    (case, *_) = curated.known(claim)
    found = script(claim, case, writers(PACKS))
    assert found is not None
    assert found.shows
    assert ("decimals of 400 digits" in found.text) is (id in IN_DECIMALS)
    assert found.text.count("\n") <= LINES
    assert max(map(len, found.text.splitlines())) <= 240
    comparisons = compared(claim, case)
    printed = re.split(r"\n(?=.)(?! )", ran(found.text).strip())
    said = " ".join(printed)
    assert len(re.findall(r" (?:<=|<|=) ", said)) == len(comparisons)
    expected = np.concatenate([judged(side) for c in comparisons for side in (c.left, c.right)])
    seen = numbers(re.sub(r"[\[\]\n]", " ", said))
    np.testing.assert_allclose(seen, expected, rtol=1e-5, atol=1e-7)


FORMULAS = {
    "floats see it": (lambda m, v: m.at_most(v.x, 0), True, False),
    "decimals see it": (lambda m, v: m.at_most((1 + v.x) - 1, 0), True, True),
    "roots of integers are decimals": (
        lambda m, v: m.at_most((m.sqrt(2) + v.x) - m.sqrt(2), m.exact("0.5") * 0), True, True,
    ),
    "the printed digits are alike": (lambda m, v: m.at_most(1 + v.x, 1), False, False),
    "decimals have no logarithm": (
        lambda m, v: m.at_most((m.log(2) + v.x) - m.log(2), 0), False, False,
    ),
    "nor spectral norms": (
        lambda m, v: m.at_most((m.spectral(m.identity(2)) + v.x) - 1, 0), False, False,
    ),
    "noise is relative, of what is negative too": (
        lambda m, v: m.equal(-3 * 10**9, -(10**9 + v.x) * m.sqrt(3) * m.sqrt(3)), False, False,
    ),
}  # fmt: skip
"""What falls at x = 2^-60: whether a script shows it, and whether in decimals."""


@pytest.mark.parametrize("name", FORMULAS)
def test_decimals_come_where_floats_do_not_show_it_and_decimals_do(name):
    conclusion, shows, decimals = FORMULAS[name]
    claim = Statement(
        "mine/small", source="", place="", printed="x is at most 0", variables={"x": Real()},
        conclusion=conclusion, readings={"literal": Reading("holds", tight=True)},
    ).claim("literal")  # fmt: skip
    found = script(claim, claim.formula.build(x=2.0**-60))
    assert found.shows is shows
    assert ("decimals(" in found.text) is decimals
    said = ran(found.text)
    left, right = numbers(said)
    assert (left > right) is np.bool_(shows)
    assert said.endswith(" False\n") is shows


@pytest.mark.parametrize(("entry", "integers"), [(50, True), (51, False), (-51, False)])
def test_integers_up_to_50_stay_so_as_their_eleventh_powers_fit_64_bits(entry, integers):
    written = short_literal(np.array([1.0, entry]))
    assert ("dtype=float" not in written) is integers
    assert (eval(written) ** 11)[1] == float(entry) ** 11


def test_an_empty_array_has_a_literal():
    assert eval(short_literal(np.zeros((0, 2)))).size == 0


def compared(claim, case):
    """The sides of the conclusion as the judge has them."""
    built = getattr(type(case), "BUILT", False)
    with ctx.workprec(1024):
        return comparisons(
            claim.formula.relation(BALLS, claim.formula.exact(case) if built else case, {})
        )


RUNS = {
    claim.id: claim
    for pack in PACKS
    for claim in pack.claims
    if claim.expected.truth is Truth.REFUTED and claim.formula.measured is not None
}
RANKS, PATH, COUNT = (
    "tf/svm-rank:literal-2",
    "tf/theorem-3:literal-2",
    "tf/generalised-svm:literal-3",
)
"""Claims that compare solutions of programmes, or count runs, and have tests of their own."""


def of_the_smallest(id):
    """The smallest counterexample of a claim that is measured, and its script."""
    (case, *_) = curated.known(RUNS[id])
    return case, of_one(id, case)


def of_one(id, case):
    """The script of a counterexample of a claim that is measured."""
    found = script(RUNS[id], case, writers(PACKS))
    assert found is not None
    assert found.text.count("\n") <= LINES
    return found.text


def test_a_script_shows_solutions_of_both_norms_with_their_ranks():
    said = ran(of_the_smallest(RANKS)[1])
    shown = {
        name: [numbers(part) for part in re.findall(r"\[(.*?)\]", line, re.S)]
        for name, line in re.findall(r"^(nuclear|Frobenius)((?:.|\n )*)", said, re.M)
    }
    for margins, _ in shown.values():
        assert len(margins) == 7
        assert margins.min() > 1 - 1e-6
    nuclear = shown["nuclear"][1]
    assert nuclear.min() > 1e-4 * nuclear.max()
    assert shown["Frobenius"][1].tolist()[-1] < 1e-12
    assert "6 unknowns, rank 6" in said
    assert re.search(r"S \[1\. 1\. 1\.\]", said)


def test_a_script_shows_how_far_products_of_small_rank_are_from_the_solution():
    said = ran(of_one(PATH, RUNS[PATH].examples[0]))
    assert "3 unknowns, rank 3" in said
    least, nearest = (float(re.search(rf"{word} (\S+)", said)[1]) for word in ("least", "ones:"))
    assert least == pytest.approx(0.5, abs=1e-9)
    assert least - 1e-9 < nearest < 0.6


def test_a_script_counts_the_same_runs_as_the_claim():
    case, text = of_the_smallest(COUNT)
    own = correlations(case, 60, 0)
    k, of, middle = re.search(r"^(\d+) of (\d+) runs .* is (\S+)$", ran(text), re.M).groups()
    assert (int(k), int(of)) == (sum(x > 0.99 for x in own), len(own))
    assert float(middle) == pytest.approx(np.median(own), abs=1e-9)


def test_a_solution_that_may_not_be_the_only_one_has_no_script():
    assert script(RUNS[RANKS], one_input(), writers(PACKS)) is None


ALIKE = {
    *("tf/theorem-2:literal", "tf/theorem-3:literal-1"),
    *("tf/vanishing-regularisation:literal-1", "tf/vanishing-regularisation:literal-2"),
}
"""Claims about data whose scores are the same for every matrix, so that no loop is printed."""


@pytest.mark.parametrize("id", sorted(ALIKE))
def test_a_script_shows_scores_that_are_the_same_for_every_matrix(id):
    _, text = of_the_smallest(id)
    said = re.findall(r"scores (.*)", ran(text))
    assert len(said) == 6
    assert len(set(said)) == 1


@pytest.mark.parametrize("id", sorted(RUNS.keys() - {RANKS, PATH, COUNT, *ALIKE}))
def test_the_script_of_a_run_goes_where_the_loops_of_this_package_go(id):
    case, text = of_the_smallest(id)
    shorter = text.replace("range(10001)", "range(101)")
    assert shorter != text
    rows = re.findall(r"^(\d+) steps: norm (\S+) margins", ran(shorter), re.M)
    norms = np.array([float(norm) for _, norm in rows])
    paced = hasattr(case, "case")
    assert [int(k) for k, _ in rows] == [0, 1, 10, 100] * (1 + paced)
    own = case.case if paced else case
    kept = {"steps": 100, "record": [1, 10]}
    if isinstance(own, Descent) and isinstance(own.inputs, Factored):
        step = re.search(r"K, Q = K - (\S+) \*", text)[1]
        run = descend_kq([own.data], *own.start, own.loss, step=float(step), **kept)
    elif paced:
        run = descend_p([own.data], own.start, own.loss, step=case.step, normalised=True, **kept)
        np.testing.assert_allclose(norms[4:], run.norms[0], rtol=1e-6, atol=1e-9)
        step = re.search(r"W = W - \((\S+) if plain", text)[1]
        run = descend_p([own.data], own.start, own.loss, step=float(step), **kept)
    else:
        step = re.search(r"W = W - (\S+) \*", text)[1]
        start = own.W.T if "x @ W.T @ z" in text else own.W
        run = descend_w([own.data], start, own.loss, step=float(step), **kept)
    np.testing.assert_allclose(norms[:4], run.norms[0], rtol=1e-6, atol=1e-9)


def test_a_script_shows_normalised_descent_that_keeps_a_worse_token():
    claim = RUNS["mm/normalised-descent:literal-1"]
    (case, *_) = curated.known(claim)
    said = ran(script(claim, case, writers(PACKS)).text)
    plain, normalised = re.findall(r"^10000 steps: .* margins \[(.*)\]$", said, re.M)
    assert min(float(x) for x in plain.split()) > 5
    assert min(float(x) for x in normalised.split()) < -50


def test_a_script_shows_a_run_that_ends_at_a_worse_token():
    claim = RUNS["sim/theorem-3.14-part-2:amended-1"]
    (case, *_) = curated.known(claim)
    said = ran(script(claim, case, writers(PACKS)).text)
    margins = re.findall(r"^10000 steps: .* margins \[(.*)\]$", said, re.M)
    assert min(float(x) for x in margins[0].split()) < -10


def test_show_prints_the_scripts_of_a_statement(capsys):
    assert main(["show", "--script", "sim/lemma-3.11:literal"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("# sim/lemma-3.11:literal: ")
    assert " = " in ran(text)
    assert main(["show", "--script", "tf/svm-rank"]) == 0
    assert "is expected to stand and has no stored counterexample" in capsys.readouterr().out


def test_a_run_has_no_script_unless_its_pack_writes_one():
    (case, *_) = curated.known(RUNS[RANKS])
    assert script(RUNS[RANKS], case) is None


def test_show_says_where_a_script_does_not_show_it(capsys, monkeypatch):
    monkeypatch.setattr("attsvm.theory.report.script.Decimals", Scripts)
    assert main(["show", "--script", "sim/lemma-3.13:literal"]) == 0
    assert capsys.readouterr().out.startswith("# The two sides differ by less than floats tell;")


@pytest.mark.parametrize("ask", [bool, float, lambda x: x < 1, lambda x: x >= 0])
def test_no_value_decides_what_is_written_of_a_script(ask):
    with pytest.raises(ClaimError, match="compares values while it is written down"):
        ask(Scripts(str).code(1))


def test_the_script_is_of_the_instance_on_the_screen(capsys):
    assert main(["show", "--script", "sim/theorem-3.14-part-1:amended-1"]) == 0
    said = ran(capsys.readouterr().out)
    best, dragged = re.findall(r"margins \[\s*(\S+)\s+(\S+)\]", said)[-1]
    assert float(best) > 9.0  # the second input ends at its worse token
    assert float(dragged) < -10.0


def test_where_it_has_no_script_the_smallest_known_has(capsys):
    assert main(["show", "--script", "tf/theorem-2:literal"]) == 0
    assert capsys.readouterr().out.startswith("# Of the smallest counterexample known;")
