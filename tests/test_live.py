"""A long command says what it is at: at once on a terminal, every 30 seconds in a log."""

import io
import json
import sys
import time

import numpy as np
import pytest

from attsvm import _live, cli
from attsvm._live import Live, compiling, cut


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize(("every", "told"), [((), ["1", "3"]), ((100.0,), ["1"])])
def test_progress_off_a_terminal_is_a_line_now_and_then(capsys, every, told):
    with Live(*every) as live:
        for k in (1, 2, 3):
            live.update(lambda k=k: str(k), worth=k != 2)
    captured = capsys.readouterr()
    assert (captured.err.splitlines(), captured.out) == (told, "")


def test_progress_on_a_terminal_is_one_line_that_follows_the_time(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Live() as live:
        live.update(iter(f"[b]{k}[/b]" for k in range(10**9)).__next__, worth=False)
        time.sleep(0.6)
    assert "[b]0[/b]" in sys.stderr.getvalue()
    assert "[b]1[/b]" in sys.stderr.getvalue()
    assert sys.stderr.getvalue().endswith("\r\x1b[K")  # at the end the line is wiped


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("7 s left, round 2", 17, "7 s left, round 2"),
        ("7 s left, round 2", 16, "7 s left ..."),
        ("7 s left, round 2", 12, "7 s ..."),
        ("compiling", 6, " ..."),
    ],
)
def test_a_line_of_progress_is_cut_after_a_word(text, width, expected):
    assert cut(text, width) == expected


def test_in_a_log_a_line_comes_after_thirty_silent_seconds():
    stream, clock = io.StringIO(), Clock()
    live = Live(stream=stream, line="starting", clock=clock)
    for seconds in (29.0, 1.0, 29.0):
        clock.now += seconds
        live.beat()
    assert stream.getvalue() == "starting, 30 s so far\n"
    live.update(lambda: "[1/2] news")  # at 59 seconds
    clock.now += 29.0
    live.beat()
    live.update(lambda: "[1/2] b", worth=False)
    clock.now += 1.0
    live.beat()
    told = ["starting, 30 s so far", "[1/2] news", "[1/2] b, 89 s so far"]
    assert stream.getvalue().splitlines() == told


def test_the_lines_come_by_themselves(monkeypatch):
    monkeypatch.setattr(_live, "_LISTENED", 0.001)
    stream, clock = io.StringIO(), Clock()
    with Live(stream=stream, line="at it", clock=clock):
        clock.now += 30.0
        deadline = time.monotonic() + 30
        while not stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.001)
    assert stream.getvalue() == "at it, 30 s so far\n"


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_kernels_are_told_of_when_they_are_compiled_and_with_their_seconds(kind):
    stream, clock = kind(), Clock()
    with Live(stream=stream, line="at it", clock=clock) as live, compiling("soft.fill"):
        clock.now += 31.0
        live.beat()
    lines = stream.getvalue().replace("\r\x1b[K", "").splitlines()
    assert lines[0].startswith("compiling soft.fill and perhaps others: once for each")
    assert "at it, compiling soft.fill for 31 s, 31 s so far" in lines
    assert lines[-1].endswith("compiled 1 kernel in 0 s: soft.fill")


def test_nobody_is_told_of_kernels_afterwards():
    stream = io.StringIO()
    with Live(stream=stream):
        pass
    with compiling("soft.fill"):
        pass
    assert stream.getvalue() == ""


CLAIMS = """
from attsvm.theory import Integer, Reading, Statement, changed

LEMMA = Statement(
    "mine/lemma-1",
    source="Mine",
    place="Lemma 1",
    printed="k >= 1",
    variables={"k": Integer(0, 3)},
    conclusion=lambda m, v, least: m.at_least(v.k, least),
    readings={
        "literal": Reading(
            "refuted", constants={"least": 1}, siblings={"2": changed(least=2)}
        )
    },
)
"""
PACK = ["--only-pack", "mine.py"]


@pytest.fixture
def told(monkeypatch, here, capsys):
    """Run a command that says what it is at, at its end as if it had been silent for long."""

    def leaves(live, *error, leave=Live.__exit__):
        live.beat()
        leave(live, *error)

    monkeypatch.setattr(_live, "_SILENT", 0.0)
    monkeypatch.setattr(Live, "__exit__", leaves)
    (here / "mine.py").write_text(CLAIMS)

    def run(*words):
        code = cli.main([str(word) for word in words])
        captured = capsys.readouterr()
        assert code < 2, captured.err
        return captured

    return run


def test_every_long_command_says_what_it_is_at(told):
    stored = "finds/mine--lemma-1--literal.json"
    hunt = ["hunt", *PACK, "mine/lemma-1:literal", "--rounds", "1", "--out", "finds"]
    assert "[2/2]" in told("verify", *PACK).err
    assert "mine/lemma-1:literal" in told(*hunt).err
    assert f"replaying {stored}, " in told("replay", *PACK, stored).err
    assert f"[1/2] replaying {stored}, " in told("replay", *PACK, stored, stored).err
    assert (
        "comparing the run with the reviewed expectations, " in told("gate", *PACK, "--update").err
    )
    np.savez("data.npz", X=np.eye(2)[None], Z=np.ones((1, 2)), scores=np.array([[1.0, 0.0]]))
    assert "solving, " in told("solve", "data.npz").err


def test_a_line_is_drawn_on_a_terminal_and_wiped_before_the_result(told, monkeypatch):
    told("verify", *PACK)
    np.savez("data.npz", X=np.eye(2)[None], Z=np.ones((1, 2)), scores=np.array([[1.0, 0.0]]))
    monkeypatch.setattr(_live, "_REDRAWN", 0.0001)
    for words, line, result in (
        (("gate", *PACK, "--update"), "comparing the run with the reviewed", "gate: 1 change"),
        (("solve", "data.npz"), "solving", "Frobenius Att-SVM"),
        (("report", *PACK), "reading the last run", "1 verdict of the last run"),
    ):
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setattr(sys, "stdout", screen)
        assert cli.main([*words]) < 2
        drawn, _, printed = screen.getvalue().rpartition("\r\x1b[K")
        assert f"\r\x1b[K{line}" in drawn
        assert result in printed


def test_standard_output_stays_the_document_alone(told):
    captured = told("verify", *PACK, "--json", "-")
    assert json.loads(captured.out)["schema"] == 1
    assert captured.err
