"""What a person sees says the same as the JSON, without control characters of a terminal."""

import io
from dataclasses import replace

import pytest
import toy_pack

from attsvm.theory.declaration.verdict import BY_INSTANCES, IN_PROSE, Truth, Validity
from attsvm.theory.report.hunt_text import hunt_line, hunt_text
from attsvm.theory.report.terminal import (
    MARK_MEANINGS,
    NOT_SHOWN_MEANING,
    aligned,
    claims_text,
    fitted,
    not_shown_text,
    outcome,
    ranked,
    slowest_text,
    summary_text,
    table_text,
    verdict_rows,
)
from attsvm.theory.run.coverage import Counts
from attsvm.theory.search.account import Effort, Hunt


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


def test_the_slowest_claims_come_first():
    seconds = {"a": 1.0, "b": 3.0, "c": 2.0, "d": 3.0}
    rows = list(slowest_text([entry(id=name, seconds=s) for name, s in seconds.items()], 3))
    assert [row.split() for row in rows[1:]] == [["3.00", "b"], ["3.00", "d"], ["2.00", "c"]]


def test_a_proof_in_prose_is_marked_explained_and_counted():
    prose = entry(proof="x^2 >= 0", linked=False)
    linked = entry(id="toy/b:literal", truth="proved", proof="x^2 >= 0", linked=True)
    refuted = entry(id="toy/c:literal", truth="refuted", proof="x^2 >= 0", linked=False)
    rows = verdict_rows([prose, linked, refuted, entry()])
    assert [row[2] for row in rows] == ["holds*", "proved", "refuted", "holds"]
    text = io.StringIO()
    table_text([prose, linked], text)
    assert text.getvalue().splitlines()[-1] == MARK_MEANINGS[IN_PROSE]
    text = io.StringIO()
    table_text([linked, refuted], text)
    assert MARK_MEANINGS[IN_PROSE] not in text.getvalue()
    sharp = entry(truth="proved", linked=True, statement="x <= 2. No smaller constant will do.")
    refuted_too = {**sharp, "truth": "refuted"}
    assert [row[2] for row in verdict_rows([sharp, refuted_too])] == ["proved+", "refuted"]
    text = io.StringIO()
    table_text([sharp], text)
    assert text.getvalue().splitlines()[-1] == MARK_MEANINGS[BY_INSTANCES]
    (_, listed) = claims_text([{**sharp, "expected": {"truth": "proved", "evidence": "symbolic"}}])
    assert f"proved, symbolic, {BY_INSTANCES}" in listed
    titles, row = (line.split() for line in summary_text([prose, linked, refuted, entry()]))
    assert (titles[3:6], row[2:5]) == (["holds", "(in", "prose)"], ["1", "2", "1"])
    (_, listed) = claims_text([entry(statement="x", in_prose=True)])
    assert "holds, numeric, proof in prose" in listed


def test_an_unexpected_verdict_is_marked_and_explained_below_the_table():
    text = io.StringIO()
    table_text([entry(), entry(id="toy/b:literal", as_expected=False, validity="weak")], text)
    lines = text.getvalue().splitlines()
    assert lines[-2:] == [
        "! toy/b:literal: expected holds, numeric, exercised; 150 instances.",
        f"weak: {Validity.WEAK.meaning}",
    ]
    assert [line.split()[0] for line in lines[1:3]] == ["toy/a:literal", "!"]
    assert "\x1b" not in text.getvalue()


def test_the_meaning_of_a_word_is_printed_once_for_all_claims():
    text = io.StringIO()
    wrong = {"as_expected": False, "truth": "refuted"}
    table_text([entry(id=f"toy/{k}:literal", **wrong) for k in "ab"], text, 80)
    printed = " ".join(text.getvalue().split())
    assert printed.count(Truth.REFUTED.meaning) == 1
    assert printed.index("! toy/b:literal: expected") < printed.index(Truth.REFUTED.meaning)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a well-known lemma fails", ["a well-known lemma", "  fails"]),
        ("x" * 30, ["x" * 30]),
        ("   7 exp(-x) + y == z + 1", ["   7 exp(-x) + y ==", "     z + 1"]),
        ("norm  between 1.5 and 2.5 here", ["norm  between 1.5", "      and 2.5 here"]),
        ("  s=np.array([1, 0, 0, 0]),", ["  s=np.array([1, 0, 0, 0]),"]),
        (
            "again: attsvm verify --seed 0 a/b:c",
            ["again: attsvm \\", "    verify --seed \\", "    0 a/b:c"],
        ),
        ("see `attsvm gate --update` for it", ["see", "  `attsvm gate --update`", "  for it"]),
        ("a\nb", ["a", "b"]),
        ("", [""]),
    ],
)
def test_lines_end_at_spaces_and_commands_can_be_pasted(line, expected):
    assert list(fitted([line], 20)) == expected
    assert list(fitted([line], None)) == line.split("\n")


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


def test_the_list_of_claims_shows_expectation_and_statement_in_columns():
    assert list(claims_text([entry(statement="x^2 >= 0")])) == [
        "claim          expected        statement",
        "toy/a:literal  holds, numeric  x^2 >= 0",
    ]
    rows = [("a", "well-known " * 4), ("bb", "y")]
    assert list(aligned(rows, 46)) == [
        "a   " + " ".join(["well-known"] * 3),
        "    well-known",
        "bb  y",
    ]
    assert list(aligned(rows, 40)) == [
        *("a", "  " + " ".join(["well-known"] * 3), "  well-known", "bb", "  y")
    ]


def test_the_most_frequent_words_are_shown_and_the_others_counted():
    words = {"b": 1, "a": 1, "c": 7}
    assert ranked(words, 3) == "c (7), a (1), b (1)"
    assert ranked(words, 2) == "c (7), a (1) and 1 more"


def test_the_line_of_a_hunt_says_how_far_it_is():
    account = Hunt(toy_pack.true, "shift 100", rounds=2, efforts={"drawn": Effort(1, 90)})
    start, end = "toy/true:literal shift 100: 90 instances", "round 2, 45/s"
    assert hunt_line(account, 2.0, None) == f"{start}, {end}"
    for changes, said in (
        ({"seen": Counts(min_slack=0.5)}, "closest slack 0.5"),
        ({"seen": Counts(tightness=0.25, min_slack=0.5)}, "closest 0.25 of the bound"),
        (
            {"smallest": object(), "seen": Counts(tightness=2.0)},
            "refuted, making it smaller and worse",
        ),
    ):
        assert (
            hunt_line(replace(account, **changes), 2.0, 9.0) == f"7 s left, {start}, {said}, {end}"
        )


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


def told(shown=(), stays=(), **changes):
    account = Hunt(toy_pack.true, efforts={"drawn": Effort(1, 90)}, rounds=2)
    rest = {"unfinished": None, "kept": False, "counterexample": "here.json", "worst": None}
    document = {**account.json(), **rest, **changes}
    lines = hunt_text(document, "attsvm replay --pack a.py", shown, stays)
    return "".join(f"{line}\n" for line in lines)


FOUND = {"found": True, "evidence": "certified", "found_by": "Hypothesis"}


def test_a_find_is_shown_with_its_place_and_who_searched():
    lines = told(["case = 6.0", "slack in [-1, -1]"], **FOUND).splitlines()
    assert lines[:5] == [
        "refuted, certified: toy/true:literal after 90 instances in 2 rounds, by Hypothesis",
        "  case = 6.0",
        "  slack in [-1, -1]",
        "  (minimal: no move that makes it smaller leaves a counterexample; docs/hunting.md lists "
        "the moves)",
        "replay it: attsvm replay --pack a.py here.json",
    ]
    assert lines[5] == "  (the file holds a Python script and LaTeX to paste)"
    assert lines[6].split()[:3] == ["drawn", "1", "turn,"]


def test_a_find_that_is_not_written_names_no_file():
    said = told(["case = 6.0"], **FOUND, counterexample=None)
    assert "case = 6.0" in said
    assert "replay" not in said
    assert "file" not in said


@pytest.mark.parametrize(
    ("ratio", "said"),
    [(1.0, "1"), (1.0 - 2.0**-36, "1 - 1.5e-11"), (0.5, "0.5"), (1.0 + 2.0**-36, "1")],
)
def test_a_ratio_below_1_is_not_rounded_to_1(ratio, said):
    line = told([], tightness=ratio).splitlines()[1]
    assert line == f"closest: left side over right side reached {said}"


@pytest.mark.parametrize(
    ("ratio", "slack", "said"),
    [
        (0.75, 2.0, "closest: left side over right side reached 0.75"),
        (None, 2.0, "closest: slack 2"),
        (0.0, 2.0, "closest: no instance, as every left side is 0; one has slack 2"),
    ],
)
def test_the_numbers_beside_an_instance_are_its_own(ratio, slack, said):
    closest = {"ratio": ratio, "slack": slack, "by": "screen"}
    lines = told(["case = 3.0"], tightness=0.875, min_slack=0.5, closest=closest).splitlines()
    assert lines[1:4] == [said, "  by screen, at", "    case = 3.0"]


def test_steps_that_round_to_one_are_told_apart():
    steps = [1.0 - 2.0**-k for k in (4, 40, 50)]
    growth = [{"height": h, "examined": 1, "screened": 0, "seconds": 1.0} for h in steps]
    lines = told([], growth=growth).splitlines()
    said = [line.strip().partition("  ")[0] for line in lines if line.endswith("1 examined")]
    assert said == ["0.9375", "1 - 9.1e-13", "1 - 8.9e-16"]


def test_nothing_found_is_told_with_its_strength():
    """What was looked at, where it was closest and when, and who varied which variable."""
    closest = {"height": 0.75, "ratio": 0.75, "slack": 1.0, "by": "screen"}
    growth = [
        {"height": k / 100, "examined": k, "screened": 0 if k < 9 else 4096, "seconds": k / 10}
        for k in range(1, 76)
    ]
    moved = {"x": ["drawn", "screen"], "y": ["drawn", "screen"], "R": []}
    lines = told(
        ["case = 3.0"],
        screened=8192,
        tightness=0.875,
        closest=closest,
        growth=[{**growth[0], "height": None}, *growth],
        moved=moved,
        exhausted={"x": [1, 64], "R": [-2, 2]},
    ).splitlines()
    assert lines[:5] == [
        "not refuted: toy/true:literal after 90 instances examined and 8192 screened in 2 rounds; "
        "that is no proof",
        "closest: left side over right side reached 0.75",
        "  by screen, at",
        "    case = 3.0",
        "  over time (ratio of the sides, or minus the slack):",
    ]
    steps = [line.split() for line in lines[5:11]]
    assert [step[0] for step in steps] == ["0.01", "0.16", "0.31", "0.45", "0.6", "0.75"]
    assert (" ".join(steps[0]), " ".join(steps[-1])) == (
        "0.01 0.1 s, 1 examined",
        "0.75 7.5 s, 75 examined, 4096 screened",
    )
    assert "  x, y: varied by drawn, screen" in lines
    assert "  R: varied by no searcher" in lines
    assert "  every choice of 1 <= x <= 64, -2 <= R <= 2 was screened" in lines


def test_a_find_and_the_one_that_its_file_keeps_are_told_apart():
    lines = told(["case = 7.0"], ["case = 6.0"], **FOUND, kept=True).splitlines()
    assert lines[1] == "  case = 7.0"
    assert lines[3:5] == [
        "the file keeps another one, no larger, that was there:",
        "  case = 6.0",
    ]


LACKING = "gradient is not available: PyTorch is missing: pip install 'attsvm[reference]'"
LIMITS = (
    ({**FOUND, "unfinished": "the time ran out"}, "not made minimal: the time ran out"),
    ({"given_up": 2}, "skipped: 2 evaluations of made-up records, with other integers"),
    ({"unjudged": 7}, "not judged: 7 screened instances, in which rounding may hide a violation"),
    ({"open": 83, "unexamined": 83}, "open: 83 made-up instances were not checked exactly; floats "
     "see no violation in them"),
    ({"open": 1, "unexamined": 1}, "open: 1 made-up instance was not checked exactly; floats see "
     "no violation in it"),
    ({"open": 9, "unexamined": 4}, "open: 9 made-up instances were not settled, 4 of them not "
     "checked exactly; floats see"),
    ({"open": 9}, "open: 9 made-up instances were not settled; floats see no violation in them"),
    ({"absent": ["gradient"]}, LACKING),
    ({"absent": ["solver"]}, "solver is not available: z3 is missing: pip install 'attsvm[smt]'"),
    ({**FOUND, "absent": ["gradient"]}, LACKING),
)  # fmt: skip


@pytest.mark.parametrize(("changes", "said"), LIMITS)
def test_what_limits_a_search_is_told_where_it_did(changes, said):
    word, without = said.partition(":")[0], {k: FOUND[k] for k in FOUND if k in changes}
    assert any(said in line for line in told(**changes).splitlines())
    assert word not in told(**without)


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


def test_a_hunt_that_broke_or_saw_nothing_never_says_not_refuted():
    assert "raised" not in told()
    said = told(broke=2, broke_note="ValueError: no").splitlines()[1]
    assert said.startswith("raised: on 2 made-up instances")
    assert said.endswith("first ValueError: no")
    assert told().startswith("not refuted: toy/true:literal after 90 instances")
    assert told(error="a slip").startswith("no answer: toy/true:literal, the hunt broke")
    assert told(interrupted=True).startswith("interrupted; results so far are kept\nnot ref")
    assert "not refuted" in told(interrupted=True, examined=0, rejected=9)
    assert told(interrupted=True, examined=0) == (
        "interrupted before any instance was examined: toy/true:literal\n"
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
