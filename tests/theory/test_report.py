"""What a person sees says the same as the JSON, without control characters of a terminal."""

import io

import pytest

from attsvm.theory.report import Live, print_claims, table_text, verdict_rows
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
