"""Scripts of counterexamples need numpy alone, are short, and print what the judge finds."""

import contextlib
import io
import re

import numpy as np
import pytest
from flint import arb

from attsvm.cli import main
from attsvm.theory import Truth, load_packs
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.record import curated
from attsvm.theory.report.script import LINES, _comparisons, script

REFUTED = {
    claim.id: claim
    for pack in load_packs()
    for claim in pack.claims
    if claim.expected.truth is Truth.REFUTED and claim.formula.measured is None
}

UNSEEN = {
    "sim/lemma-3.13:literal": "the steps are 2^-159 long",
    "sim/lemma-3.13-hessian:literal": "entries of 1e96 cancel",
}
"""Claims that only more digits than floats have refute."""

LONG = {"mm/normalised-descent:literal-2": "four steps of two runs"}
"""Claims whose scripts are longer."""


def ran(text):
    """What a script prints, run with nothing but numpy at hand."""
    assert re.findall(r"^(?:import|from) .*", text, re.M) == ["import numpy as np"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), np.errstate(all="ignore"):
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
    found = script(claim, case)
    assert found is not None
    assert found.shows is (id not in UNSEEN)
    assert (found.text.count("\n") > LINES) is (id in LONG)
    assert max(map(len, found.text.splitlines())) <= 240
    if id in UNSEEN:
        return
    built = getattr(type(case), "BUILT", False)
    exact = claim.formula.exact(case) if built else case
    comparisons = _comparisons(claim.formula.relation(BALLS, exact, {}))
    printed = re.split(r"\n(?=.)(?! )", ran(found.text).strip())
    said = " ".join(printed)
    assert len(re.findall(r" (?:<=|<|=) ", said)) == len(comparisons)
    expected = np.concatenate([judged(side) for c in comparisons for side in (c.left, c.right)])
    seen = numbers(re.sub(r"[\[\]\n]", " ", said))
    np.testing.assert_allclose(seen, expected, rtol=1e-5, atol=1e-7)


def test_show_prints_the_scripts_of_a_statement(capsys):
    assert main(["show", "--script", "sim/lemma-3.11:literal"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("# sim/lemma-3.11:literal: ")
    assert " = " in ran(text)
    assert main(["show", "--script", "sim/theorem-3.15"]) == 0
    said = capsys.readouterr().out
    assert "# sim/theorem-3.15:literal-1: a run decides it; the script in its file" in said
    assert "has no stored counterexample" in said
