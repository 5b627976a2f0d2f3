"""Answers as text, as a table and as a picture say what the arrays say."""

import math
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from attsvm import AttentionData, solve
from attsvm.errors import DataError, UsageError
from attsvm.svm import att_svm, joint_svm, page
from properties._support.published_data import gaussian_protocol, joint_inputs, one_input

UNSEPARABLE = AttentionData.of(
    [[[1.0], [0.0]], [[0.0], [1.0]]], [[1.0], [1.0]], scores=[[1, 0], [1, 0]]
)
REPEATED = AttentionData.of([[[1.0], [0.0], [0.0], [-1.0]]], [[1.0]], scores=[[1.0, 0.0, 0.0, 0.0]])


class Tags(HTMLParser):
    """Collects text and checks that tags are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def words_of(html):
    parser = Tags()
    parser.feed(html)
    assert parser.open == []
    return " ".join(parser.text)


ANSWERS = {
    "fro": lambda: solve(joint_inputs(), [1, 0, 1]),
    "nuc": lambda: solve(gaussian_protocol(np.random.default_rng(0), 3, 4, 3), norm="nuc"),
    "soft": lambda: solve(UNSEPARABLE, soft=10.0),
    "unseparable": lambda: solve(UNSEPARABLE),
    "float": lambda: solve(gaussian_protocol(np.random.default_rng(4), n=6, T=44, d=10)),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_text_and_table_name_status_and_proof(name):
    answer = ANSWERS[name]()
    text, table = str(answer), words_of(answer._repr_html_())
    assert str(answer.float_answer.status) in text
    for fact in (answer.programme.name, *(value for _, value in page._facts(answer))):
        assert fact in text
        assert fact in table
    if answer.solved:
        for i, target in enumerate(answer.programme.targets):
            assert re.search(rf"input +{i} +selects token {target};", text)


def test_support_tokens_are_marked_and_no_others():
    answer = solve(one_input())
    (line,) = [row for row in str(answer).splitlines() if row.startswith("input")]
    marked = {int(t) for t in re.findall(r"(\d+)\*:", line)}
    assert marked == set(answer.float_answer.support[0]) == {2}


def test_a_shared_slack_is_in_the_heading_and_its_support_alone_is_marked():
    data = AttentionData.of(
        [[[2.0], [1.0], [0.0]], [[4.0], [0.0], [-1.0]]], [[1.0], [1.0]], scores=[[1, 0, 0]] * 2
    )
    heading, *_, first, second, mark = str(solve(data, soft=0.5, slack="input")).splitlines()
    assert heading.endswith("4 constraints, slack per input")
    assert first.endswith("margins 1*:0.25  2:0.5")
    assert second.endswith("margins 1*:1  2:1.25")
    assert mark.endswith("support tokens, whose margin is 1 less their slack")
    assert "slack per constraint" in str(solve(data, soft=0.5))


@pytest.mark.parametrize(
    ("thresholds", "said"),
    [
        ((0.5, 2.0), "W = 0 up to C = 0.5, the hard margin from C = 2 on"),
        ((0.5, math.inf), "W = 0 up to C = 0.5; there is no hard margin"),
        ((math.inf, math.inf), "W = 0 for every C; there is no hard margin"),
        ((0.5, math.nan), "W = 0 up to C = 0.5; floats do not tell whether there is a hard margin"),
    ],
)
def test_thresholds_are_told_in_words(thresholds, said):
    answer = solve(one_input(), soft=1.0).float_answer
    shown = dict(page._facts(page._wrap(replace(answer, thresholds=thresholds))))
    assert shown["soft"] == said
    assert shown["objective"].endswith("] (not certified)")


def test_an_input_of_one_token_has_no_margins_and_says_so():
    X, Z = [[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0], [1.0]]
    mask = np.array([[True, True], [True, False]])
    answer = solve(AttentionData.of(X, Z, scores=[[1, 0], [1, 0]], mask=mask))
    assert "selects token 0; margins none, a single token" in str(answer)
    assert "none, a single token" in words_of(answer._repr_html_())
    assert "2 inputs, up to 2 tokens, 1 constraint\n" in str(answer)


def test_idle_and_repeated_constraints_are_named():
    text = str(solve(REPEATED))
    assert "the same constraint: input 0 token 1 = input 0 token 2" in text
    tight = AttentionData.of(
        [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]], [[0.5, 0.5], [0.0, 0.0]]],
        np.tile([1.0, 0.0], (3, 1)),
        scores=[[1, 0]] * 3,
    )  # the third constraint is the mean of the others: tight, and it carries nothing
    answer = solve(tight)
    idle = answer.float_answer.duals[:, 1] == 0.0
    assert answer.float_answer.support == ((1,), (1,), (1,))
    assert answer.float_answer.degenerate == tuple((1,) if zero else () for zero in idle)
    assert idle.any()
    named = "; ".join(f"input {i} token 1" for i in np.flatnonzero(idle))
    assert f"tight with multiplier 0: {named}" in str(answer)


def test_single_answers_show_themselves_in_a_notebook():
    assert "graded in floating point" in words_of(att_svm(one_input())._repr_html_())
    assert "selects" in words_of(att_svm(one_input())._repr_html_())
    assert repr(att_svm(one_input())).startswith("<Att-SVM of 1 input, 3 tokens: solved")
    assert repr(solve(one_input())).startswith("<Att-SVM of 1 input, 3 tokens: solved, norm ")
    assert repr(solve(one_input())).endswith(", exact certificate>")
    for answer in (solve(one_input(), norm="nuc"), solve(one_input(), soft=1.0)):
        assert re.search(r"of 1 inputs?, 3 tokens", repr(answer))
        assert "selects" in words_of(answer.float_answer._repr_html_())
    assert "unseparable" in repr(att_svm(UNSEPARABLE))
    joint = joint_svm(joint_inputs(), [1, 1, 1])
    assert repr(joint.v).startswith("<v-SVM")


def test_nothing_unescaped_enters_the_table():
    answer = solve(one_input())
    assert "|" not in words_of(answer._repr_html_()) or "<|" not in answer._repr_html_()
    assert answer._repr_html_().count("<table>") == 2


def test_a_plot_has_a_point_for_every_margin(tmp_path, monkeypatch):
    drawn = []
    from matplotlib.axes import Axes

    scatter = Axes.scatter
    monkeypatch.setattr(
        Axes, "scatter", lambda self, x, y, **k: (drawn.extend(x), scatter(self, x, y, **k))[1]
    )
    for name in ("fro", "nuc", "soft", "float"):
        drawn.clear()
        answer = ANSWERS[name]()
        path = answer.plot(tmp_path / f"{name}.png")
        assert path.stat().st_size > 1000
        margins = answer.float_answer.margins
        assert sorted(drawn) == sorted(margins[np.isfinite(margins)])


def test_what_cannot_be_drawn_is_refused(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="no margins"):
        solve(UNSEPARABLE).plot(tmp_path / "a.png")
    with pytest.raises(UsageError, match="no ending") as caught:
        solve(one_input()).plot(tmp_path / "a.txt")
    assert "png" in caught.value.remedy
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    with pytest.raises(UsageError, match="need matplotlib"):
        solve(one_input()).plot(tmp_path / "a.png")
    assert not list(tmp_path.iterdir())
