"""Conditions of the checker on data and runs are those of the engine, which shares no code."""

import contextlib
import inspect
import re

import pytest

from attsvm.data import AttentionData
from attsvm.errors import NotExpressible
from attsvm.primitives import claim_checker, data_checker, run_checker
from attsvm.primitives.run_programs import write
from attsvm.theory import load_packs
from attsvm.theory.arithmetic.programs import Programs
from attsvm.theory.record import checker, curated

CLAIMS = [claim for pack in load_packs() for claim in pack.claims]


def conditions():
    """Each condition on records with its instances, examples, and the claim of each."""
    found, cases = {}, {}
    for claim in CLAIMS:
        examples = [*claim.examples, *(case for s in claim.siblings for case in s.examples)]
        for hypothesis in claim.hypotheses:
            if hypothesis.checked:
                found[hypothesis.name] = hypothesis
                cases.setdefault(hypothesis.name, []).extend((claim, case) for case in examples)
    return [(found[text], cases[text][:: max(1, len(cases[text]) // 40)]) for text in found]


def needed(text, lines):
    """The lines that give values to names in a text, or in such lines."""
    found = {}
    for name, line in reversed(lines.items()):
        if name in re.findall(r"\w+", " ".join([text, *found.values()])):
            found = {name: line, **found}
    return found


def valued(lines):
    """The names of the checker, and of these lines with their values."""
    space = {**vars(checker), **vars(data_checker), **vars(run_checker), **vars(claim_checker)}
    for name, line in lines.items():
        space[name] = eval(line, space)
    return space


def answer(hypothesis, claim, case):
    """The checker's answer to a condition on a record, whose values the conclusion may write."""
    m, text = Programs(), hypothesis.checked
    if of_data := isinstance(getattr(case, "data", case), AttentionData):
        write(m, case)
    conclusion = getattr(claim.formula.conclusion, "checked", None)
    # a conclusion about chosen tokens alpha also writes these, and their solution
    if conclusion and (not of_data or hasattr(case, "alpha")):
        with contextlib.suppress(NotExpressible):  # the conclusion, after the values are written
            conclusion(m, case, **claim.formula.constants)
    text = text if isinstance(text, str) else text(m, case)
    space = valued(needed(text, m.lines))
    truth = None
    for bits in checker.PRECISIONS[:3]:
        checker.Real.bits = bits
        truth = eval(text, space).truth if truth is None else truth
    checker.Real.bits = checker.PRECISIONS[0]
    return truth


CONDITIONS = conditions()


@pytest.mark.parametrize(("hypothesis", "cases"), CONDITIONS, ids=lambda x: getattr(x, "name", ""))
def test_a_condition_is_true_exactly_if_the_engine_says_so(hypothesis, cases):
    seen = 0
    for claim, case in cases:
        if not isinstance(case, claim.formula.instance):
            continue
        try:
            found = answer(hypothesis, claim, case)
        except (NotExpressible, NameError, AttributeError):  # a record that has no such part
            continue
        assert found is (hypothesis.holds(case) is True), case
        seen += 1
    assert seen


def test_conditions_can_fail():
    failed = [
        hypothesis.name
        for hypothesis, cases in CONDITIONS
        if any(
            isinstance(getattr(case, "data", case), AttentionData)
            and hypothesis.holds(case) is not True
            for _, case in cases
        )
    ]
    assert len(failed) > len(CONDITIONS) / 2


def test_it_takes_nothing_but_the_checker_and_the_standard_library():
    text = "".join(map(inspect.getsource, (data_checker, run_checker, claim_checker)))
    found = re.findall(r"^(?:from|import) (\S+)", text, re.MULTILINE)
    ours = {"attsvm.theory.record.checker"}
    ours |= {f"attsvm.primitives.{name}_checker" for name in ("data", "run")}
    standard = "__future__ collections.abc fractions itertools math typing"
    assert set(found) == {*standard.split(), *ours}


ROWS = [[1, 0], [1, 1]]
"""The shortest solution of <a, w> >= 1 is (1, 0), by the multipliers (1, 0)."""


@pytest.mark.parametrize("multipliers", [[-1, 0], [0, 0], [2, 0], [0, 1]])
def test_multipliers_that_prove_nothing_are_refused(multipliers):
    with pytest.raises(checker.Undefined):
        data_checker.least(ROWS, multipliers, 2)


def test_multipliers_prove_a_solution():
    assert data_checker.least(ROWS, [1, 0], 2) == [1, 0]


def test_rows_that_cancel_have_no_solution():
    assert data_checker.least([[1], [-1]], [1, 1], 1) is None
    assert data_checker.least([[0]], [1], 1) is None
    assert data_checker.least([], [], 2) == [0, 0]


RUNS = [
    claim
    for claim in CLAIMS
    for case in curated.known(claim)
    if claim.id in ("sim/theorem-3.14-part-2:amended-1", "tf/global-equal-scores:amended-1")
]


@pytest.mark.parametrize("claim", RUNS, ids=lambda claim: claim.id)
def test_a_trap_is_not_proved_before_its_time(claim):
    case, *_ = curated.known(claim)  # the smallest
    m = Programs()
    write(m, case)
    space = valued(m.lines)
    W = checker.reals(space["start"])
    with pytest.raises(checker.Undefined, match="the trap is not proved"):
        run_checker.trap(space["data"].moving, W, space["loss"], space["step"])
    with pytest.raises(checker.Undefined, match="the basin is not proved"):
        run_checker.basin(space["data"].moving, W, space["loss"], space["step"])
