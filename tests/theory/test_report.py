"""What a person sees says the same as the JSON, without control characters of a terminal."""

import io

import pytest
import toy_pack

from attsvm.theory.account import Effort, Hunt
from attsvm.theory.report import (
    NOT_SHOWN_MEANING,
    Live,
    not_shown_text,
    outcome,
    print_claims,
    table_text,
    tell_hunt,
    verdict_rows,
)
from attsvm.theory.verdict import Validity


def entry(**changes):
    return {
        "id": "toy/a:literal",
        "expected": {"truth": "holds", "evidence": "numeric", "validity": "exercised"},
        "truth": "holds",
        "evidence": "numeric",
        "validity": "exercised",
        "as_expected": True,
        "reason": "150 instances",
        "siblings": [{"refuted": True}, {"refuted": False}],
        "examples": 150,
        "tightness": 0.12345,
        **changes,
    }


def test_a_row_holds_the_three_words_and_the_counts():
    (row,) = verdict_rows([entry()])
    assert row == (
        *("", "toy/a:literal", "holds", "numeric", "exercised"),
        *("1/2", "150", "0.123"),
    )


def test_an_unexpected_verdict_is_marked_and_explained_below_the_table():
    text = io.StringIO()
    table_text([entry(), entry(id="toy/b:literal", as_expected=False, validity="weak")], text)
    lines = text.getvalue().splitlines()
    assert lines[-1] == (
        "! toy/b:literal: expected holds, numeric, exercised; 150 instances. "
        f"weak: {Validity.WEAK.meaning}"
    )
    assert [line.split()[0] for line in lines[1:3]] == ["toy/a:literal", "!"]
    assert "\x1b" not in text.getvalue()


def test_markup_in_a_reason_is_printed_as_it_is():
    text = io.StringIO()
    table_text([entry(as_expected=False, reason="[bold]a[/bold] [x")], text)
    assert "[bold]a[/bold] [x" in text.getvalue()


def test_long_ids_are_not_cut():
    name = "sim/" + "x" * 40 + ":amended-2"
    text = io.StringIO()
    table_text([entry(id=name, truth="undecided", evidence="certified", examples=10**5)], text)
    (line,) = text.getvalue().splitlines()[1:]
    assert line.split() == [
        *(name, "undecided", "certified", "exercised", "1/2", "100000", "0.123")
    ]


def test_an_empty_table_has_its_header_alone():
    text = io.StringIO()
    table_text([], text)
    assert text.getvalue().split()[:2] == ["claim", "truth"]


def test_the_list_of_claims_shows_expectation_and_statement(capsys):
    print_claims([entry(statement="x^2 >= 0")])
    assert "toy/a:literal  holds, numeric  x^2 >= 0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("total", "lines"), [(2, ["[1/2] a: holds"]), (None, ["[1/...] a: holds"])]
)
def test_progress_off_a_terminal_is_a_line_a_claim(capsys, total, lines):
    with Live(total) as live:
        live.update(1, "a: holds")
        live.update(2, None)
    captured = capsys.readouterr()
    assert (captured.err.splitlines(), captured.out) == (lines, "")


@pytest.mark.parametrize(
    ("wrong", "fallen", "said"),
    [
        (0, 0, "every verdict as expected"),
        (2, 0, "2 not as expected"),
        (0, 1, "every verdict as expected, but 1 curated counterexample was not confirmed"),
        (1, 2, "1 not as expected, and 2 curated counterexamples were not confirmed"),
    ],
)
def test_what_a_run_came_to_names_all_that_is_wrong(wrong, fallen, said):
    assert outcome(wrong, fallen) == said


def told(capsys, shown=(), stays=(), **changes):
    account = Hunt(toy_pack.true, efforts={"drawn": Effort(1, 90)}, rounds=2)
    rest = {"unfinished": None, "kept": False, "counterexample": "here.json", "worst": None}
    tell_hunt({**account.json(), **rest, **changes}, ["a.py"], shown, stays)
    return capsys.readouterr().out


FOUND = {"found": True, "evidence": "certified", "found_by": "Hypothesis"}


def test_a_find_is_shown_with_its_place_and_who_searched(capsys):
    lines = told(capsys, ["case = 6.0", "slack in [-1, -1]"], **FOUND).splitlines()
    assert lines[:5] == [
        "refuted, certified: toy/true:literal after 90 instances in 2 rounds, by Hypothesis",
        "  case = 6.0",
        "  slack in [-1, -1]",
        "  (no single move makes it smaller)",
        "counterexample: here.json; it holds a Python script and LaTeX to paste",
    ]
    assert lines[5] == "replay it: attsvm replay --pack a.py here.json"
    assert lines[6].split()[:3] == ["drawn", "1", "turn,"]


def test_a_find_that_is_not_minimal_or_not_stored_says_why(capsys):
    assert "not made minimal: the time ran out" in told(
        capsys, **FOUND, unfinished="the time ran out"
    )


def test_a_find_and_the_one_that_its_file_keeps_are_told_apart(capsys):
    lines = told(capsys, ["case = 7.0"], ["case = 6.0"], **FOUND, kept=True).splitlines()
    assert lines[1] == "  case = 7.0"
    assert lines[3:5] == [
        "counterexample: here.json keeps another one, no larger, that was there:",
        "  case = 6.0",
    ]


@pytest.mark.parametrize(
    ("left", "unexamined", "said"),
    [
        (83, 83, "83 made-up instances were not checked exactly; floats see no violation in them"),
        (1, 1, "1 made-up instance was not checked exactly; floats see no violation in it"),
        (9, 4, "9 made-up instances were not settled, 4 of them not checked exactly; floats see"),
        (9, 0, "9 made-up instances were not settled; floats see no violation in them"),
    ],
)
def test_what_was_left_open_is_told_in_a_sentence(capsys, left, unexamined, said):
    assert f"\nopen: {said}" in told(capsys, open=left, unexamined=unexamined)


def test_a_narrow_terminal_loses_nothing():
    entries = [entry(id="sim/" + "x" * 40 + ":amended-2"), entry(id="tf/a:literal", examples=7)]
    for width in (70, 80):
        text = io.StringIO()
        table_text(entries, text, width)
        lines = text.getvalue().splitlines()
        assert max(map(len, lines)) <= width
        wide = io.StringIO()
        table_text(entries, wide, 200)
        assert text.getvalue().split() == wide.getvalue().split()
        assert [line.split() for line in lines[2::2]] == [[e["id"]] for e in entries]


@pytest.mark.parametrize("found", [{}, FOUND])
def test_searchers_that_lack_a_library_are_named(capsys, found):
    line = "gradient is not available: PyTorch is missing"
    assert line in told(capsys, absent=["gradient"], **found)
    assert "not available" not in told(capsys, **found)


def test_a_hunt_that_broke_or_saw_nothing_never_says_not_refuted(capsys):
    assert "raised" not in told(capsys)
    said = told(capsys, broke=2, broke_note="ValueError: no").splitlines()[1]
    assert said.startswith("raised: on 2 made-up instances")
    assert said.endswith("the first time ValueError: no")
    assert told(capsys).startswith("not refuted: toy/true:literal after 90 instances")
    assert told(capsys, error="a slip").startswith("no answer: toy/true:literal, the hunt broke")
    assert told(capsys, interrupted=True).startswith("interrupted; what was found is kept\nnot ref")
    assert "not refuted" in told(capsys, interrupted=True, examples=0, rejected=9)
    assert told(capsys, interrupted=True, examples=0) == (
        "interrupted before anything was looked at: toy/true:literal\n"
    )


def test_hypotheses_that_no_counterexample_needed_are_listed_with_what_that_means():
    needless = entry(id="toy/c:literal", not_shown_to_be_needed=["x >= 0", "[b]y[/b]"])
    lines = not_shown_text([entry(), needless, entry(not_shown_to_be_needed=[])])
    assert lines == [
        "Hypotheses not shown to be needed",
        "  toy/c:literal: x >= 0; [b]y[/b]",
        NOT_SHOWN_MEANING,
    ]
    assert "another seed or a longer profile" in NOT_SHOWN_MEANING
    assert not_shown_text([entry()]) == []
