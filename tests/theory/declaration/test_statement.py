"""A statement's variables stay in their domains, and its pages show the formula that ran."""

import re
from pathlib import Path

import pytest

from attsvm import cli
from attsvm.theory import Hypothesis, Integer, Reading, Real, Statement, changed
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import Pack
from attsvm.theory.record.ledger import Ledger
from attsvm.theory.record.runs import Run, last_run
from attsvm.theory.report.html import page
from attsvm.theory.verification.verify import verify


def steps(m, v, c):
    """N x <= c N^2 x, which fails for x below 0, and for N between 0 and 1/c."""
    return m.at_most(v.N * v.x, c * v.N * v.N * v.x)


STEPS = Statement(
    "toy/steps",
    "toys",
    "here",
    "N x <= N^2 x",
    cost=64,
    variables={"N": Integer(2, 3), "x": Real(least=0)},
    hypotheses=(Hypothesis("x <= 1 <b>", lambda m, v: m.at_most(v.x, m.exact(1))),),
    conclusion=steps,
    readings={
        "literal": Reading(
            "holds",
            constants={"c": 1},
            siblings={
                "a third": changed(c="1/3"),
                "x of any sign": changed(variables={"x": Real()}),
            },
        )
    },
)
LITERAL = STEPS.claims[0]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    ledger = tmp_path_factory.mktemp("run") / "ledger.jsonl"
    with Ledger(ledger) as writer:
        verify([Pack("toys", (LITERAL,), Path("."))], ledger=writer)
    return last_run(ledger)


@pytest.fixture(scope="module")
def checked(run):
    return run.verdicts[LITERAL.id]


def test_domains_are_hypotheses_that_searchers_and_shrinkers_keep(checked):
    assert [h.name for h in LITERAL.hypotheses] == ["N >= 2", "N <= 3", "x >= 0", "x <= 1 <b>"]
    answers = {h.name: h.holds(LITERAL.formula.build(N=1, x=-1)) for h in LITERAL.hypotheses}
    assert answers == {"N >= 2": False, "N <= 3": True, "x >= 0": False, "x <= 1 <b>": True}
    assert (checked["truth"], checked["validity"]) == ("holds", "exercised")


def test_a_sibling_with_another_domain_leaves_the_old_one(checked):
    (wider,) = (s for s in LITERAL.siblings if s.name == "x of any sign")
    assert wider.drop == ("x >= 0",)
    assert all(s["refuted"] for s in checked["siblings"])


def test_a_hypothesis_that_is_not_needed_is_told_and_domains_are_not_dropped(checked):
    assert checked["not_shown_to_be_needed"] == ["x <= 1 <b>"]


def test_a_hypothesis_that_is_needed_is_told_with_an_instance_that_misses_it(checked):
    (name,) = checked["needed"]
    shown = checked["needed"][name]
    assert (name, shown["sibling"]) == ("x >= 0", "x of any sign")
    assert codec.decode(shown["instance"], LITERAL.instance_type).x < 0
    shown_page = page(Run("quick", 0, (LITERAL.id,), {LITERAL.id: checked}, True, 0))
    assert f"yes: without it refuted by {shown['found_by']}, certified" in shown_page


def test_the_page_of_a_run_shows_the_formula_and_what_was_not_needed(run):
    shown = page(run)
    assert "<mi>N</mi>" in shown
    hypothesis = r"<mn>1</mn></math></span> &lt;.*?<mi>b</mi>.*?&gt; <span[^\n]*</span>"
    assert re.search(rf"{hypothesis}</td><td>\d+ of \d+</td><td>hypothesis not shown to be", shown)


def test_verify_prints_what_was_not_needed(here, capsys):
    assert cli.main(["verify", "--only-pack", __file__, "toy/steps"]) == 0
    out = capsys.readouterr().out
    table, _, rest = out.partition("Hypotheses not shown to be needed\n")
    assert "toy/steps:literal  holds" in table
    assert rest.startswith("  toy/steps:literal: x <= 1 <b>\nA hypothesis is not shown")
