"""The page holds all of a run, is well-formed, and lets nothing through that would run."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import toy_pack
from toy_pack import build, square, square_ball

from attsvm.theory.declaration.packs import Pack
from attsvm.theory.record.ledger import Ledger, last_run
from attsvm.theory.report.run_page import page
from attsvm.theory.run.verify import verify

_VOID = {"meta", "br", "!doctype"}


class _Reader(HTMLParser):
    """Keeps the text, and complains of tags that do not match."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.tags = [], [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in _VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert not name.startswith("on")
            assert "://" not in (value or "")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(text):
    reader = _Reader()
    reader.feed(text)
    assert reader.open == []
    assert "script" not in reader.tags
    return " ".join(reader.text)


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "ledger.jsonl"


def run_of(ledger, *claims):
    with Ledger(ledger) as writer:
        verify([Pack("toys", claims, Path("."))], ledger=writer)
    return last_run(ledger)


def test_all_of_a_run_is_on_its_page(ledger):
    text = read(page(run_of(ledger, toy_pack.true, toy_pack.false, toy_pack.vacuous)))
    for claim in (toy_pack.true, toy_pack.false, toy_pack.vacuous):
        assert claim.id in text
        assert claim.statement in text
    assert "3 claims on" in text
    assert "1 not as expected" in text
    assert re.search(r"satisfied by 0 of \d+", text)
    assert "shift 100: refuted by" in text
    assert "No instance refuted it so far; that is no proof." in text


def test_what_a_claim_says_is_text_and_never_markup(ledger):
    claim = build(
        "sharp", square, square_ball, hypotheses={"<b>x</b> & \"y\" > '0'": lambda x: True}
    )
    shown = page(run_of(ledger, claim))
    assert "<b>x</b>" not in shown
    assert "<b>x</b> & \"y\" > '0'" in read(shown)


def test_a_curated_counterexample_that_does_not_stand_is_named(ledger):
    run = run_of(ledger, toy_pack.true)
    assert "every verdict as expected" in read(page(run))
    fallen = {"file": "a.json", "result": "ERROR", "reason": "is <cut>"}
    stands = {"file": "c.json", "result": "CONFIRMED", "reason": "as before"}
    replays = {"a.json": fallen, "c.json": stands}
    text = read(page(replace(run, curated=("b.json", "c.json"), replays=replays)))
    assert "but 2 curated counterexamples were not confirmed" in text
    assert "ERROR: a.json is <cut>" in text
    assert "NOT REPLAYED: b.json" in text
    assert "c.json" not in text


def test_a_run_that_was_cut_short_says_so(ledger):
    run_of(ledger, toy_pack.true, toy_pack.false)
    lines = ledger.read_text().splitlines()
    kept = [line for line in lines if '"verdict"' not in line or "toy/true" in line]
    ledger.write_text("\n".join(line for line in kept if '"finished"' not in line) + '\n{"sch')
    text = read(page(last_run(ledger)))
    assert "the run did not finish" in text
    assert "1 damaged line in" in text
    assert "Without a verdict: toy/false:literal" in text
