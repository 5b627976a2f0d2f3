"""Verifiers are checked by an interpreter without packages, and refuse whatever is no violation."""

import functools
import json
import re
import subprocess
import sys
from dataclasses import replace

from attsvm.theory import load_packs
from attsvm.theory.arithmetic.programs import Programs
from attsvm.theory.record import checker, curated
from attsvm.theory.report.verifier import statement, verifier_or_reason
from attsvm.theory.run.confirm import examine

CLAIMS = [claim for pack in load_packs() for claim in pack.claims if curated.known(claim)]

CHECKED = 170
"""Number of stored counterexamples with a verifier; it only rises."""


def smallest(claim):
    """The smallest stored counterexample of a claim."""
    return curated.known(claim)[0]


@functools.cache
def written():
    """The verifier of each claim, or None and the reason."""
    return {claim.id: verifier_or_reason(claim, smallest(claim)) for claim in CLAIMS}


@functools.cache
def expressed():
    """The claims with a verifier."""
    return [claim for claim in CLAIMS if written()[claim.id][0] is not None]


@functools.cache
def formulas():
    """The claims with a verifier that are formulas over variables."""
    return [c for c in expressed() if getattr(c.formula.instance, "BUILT", False)]


def some():
    """Claims whose statements are changed here; `python -m benchmarks.verifiers` changes all."""
    return [*formulas()[::2], *[claim for claim in expressed() if claim not in formulas()][::6]]


ALONE = """
import contextlib, io, json, sys
found = []
for text in json.load(sys.stdin):
    space = {"__name__": "verifier"}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(text, space)
        violated = space["check"](space["statement"])
    found.append([violated, printed.getvalue()])
json.dump(found, sys.stdout)
"""
"""A program that runs verifiers; in an isolated interpreter without `site` there is no package."""


def run_alone(texts):
    """Return for each verifier whether it found a violation, and what it printed."""
    command = [sys.executable, "-I", "-S", "-c", ALONE]
    done = subprocess.run(
        command, input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def programs(claims):
    return [written()[claim.id][0] for claim in claims]


def negated(text, name):
    """Return the verifier with the negation of the claim, or of the hypothesis of that name."""
    line = re.escape(f"    yield {name!r}, ") + "(.*)"
    new = re.sub(
        f"^{line}$", lambda found: f"    yield {name!r}, negation({found[1]})", text, flags=re.M
    )
    assert new != text
    return new.replace("\ndef check(", NEGATION + "\n\ndef check(")


NEGATION = """
def negation(answer):
    truth = None if answer.truth is None else not answer.truth
    return Answer(truth, -answer.slack)
"""


def test_each_stored_counterexample_with_a_verifier_is_a_violation():
    assert len(expressed()) >= CHECKED
    for claim, (violated, printed) in zip(
        expressed(), run_alone(programs(expressed())), strict=True
    ):
        assert violated, f"{claim.id}: {printed}"
        names = re.findall(r"^(.*): (?:True|False), slack in \[", printed, re.MULTILINE)
        assert names == [*(h.name for h in claim.hypotheses), checker.CLAIM]


def test_the_checker_of_each_program_has_at_most_600_lines():
    """Its title follows the checker; the words of the statement and the instance come after it."""
    for claim, text in zip(expressed(), programs(expressed()), strict=True):
        checker_lines, rest = text.split(f"\n# {claim.id}:")
        assert checker_lines.count("\n") <= 600
        assert rest.count("\n") <= 150


def test_what_cannot_be_checked_has_a_reason():
    assert all(bool(reason) is (text is None) for text, reason in written().values())


def test_neither_a_claim_that_holds_nor_a_hypothesis_that_fails_is_a_violation():
    texts = [
        negated(text, name)
        for claim, text in zip(some(), programs(some()), strict=True)
        for name in [checker.CLAIM, *(h.name for h in claim.hypotheses)]
    ]
    assert len(texts) > len(some()) + 30
    assert not any(violated for violated, _ in run_alone(texts))


def others(claim):
    """Instances of a claim and of its siblings, which may break hypotheses or the conclusion."""
    cases = [*claim.examples, *(case for s in claim.siblings for case in s.examples)]
    return [case for case in cases if isinstance(case, claim.formula.instance)]


def test_on_other_instances_nothing_is_a_violation_that_the_engine_does_not_refute():
    texts, refuted = [], []
    for claim in formulas():
        for case in others(claim):
            text, _ = verifier_or_reason(claim, case)
            if text is not None:
                texts.append(text)
                refuted.append(examine(claim, claim.part(""), case).refuted)
    violated = [violated for violated, _ in run_alone(texts)]
    assert set(refuted) == {True, False}
    assert violated == refuted


def test_a_changed_constant_or_hypothesis_is_another_program():
    seen = 0
    for claim in expressed():
        case = smallest(claim)
        own, formula = statement(claim, case, Programs()), claim.formula
        hypotheses = dict(list(formula.hypotheses.items())[1:])
        if claim.hypotheses:
            rest = {"hypotheses": claim.hypotheses[1:]}
            fewer = replace(claim, **rest, formula=replace(formula, hypotheses=hypotheses))
            assert statement(fewer, case, Programs()) != own
        for name, value in formula.constants.items() if claim in formulas() else ():
            if isinstance(value, int) and not isinstance(value, bool):
                more = {**formula.constants, name: value + 1}
                other = replace(claim, formula=replace(formula, constants=more))
                assert statement(other, case, Programs()) != own
                seen += 1
    assert seen


def test_no_hypothesis_takes_the_place_of_the_conclusion():
    """An answer of the same name would replace that of the hypothesis."""
    for built in (True, False):
        claim = next(c for c in expressed() if c.hypotheses and (c in formulas()) is built)
        named = replace(claim.hypotheses[0], name=checker.CLAIM)
        text, reason = verifier_or_reason(replace(claim, hypotheses=(named,)), smallest(claim))
        assert (text, reason) == (None, "a hypothesis with the name of the conclusion")
