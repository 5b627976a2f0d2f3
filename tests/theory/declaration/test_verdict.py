"""Verdicts: closed words on three axes, and what an author may expect."""

from pathlib import Path

import pytest

from attsvm.errors import ClaimError
from attsvm.theory import Evidence, Expected, Truth, Validity, Verdict

PAGE = (Path(__file__).parents[3] / "docs/verdicts.md").read_text(encoding="utf-8")
AXES = {
    Truth: ["proved", "holds", "undecided", "refuted"],
    Evidence: ["symbolic", "certified", "numeric", "none"],
    Validity: ["exercised", "thin", "weak", "vacuous", "error"],
}


@pytest.mark.parametrize("axis", AXES)
def test_the_words_of_an_axis_are_closed_in_order_and_read_back(axis):
    assert [str(word) for word in axis] == AXES[axis]
    assert [axis.read(text) for text in AXES[axis]] == list(axis)


@pytest.mark.parametrize("axis", AXES)
def test_every_word_says_in_one_sentence_what_it_means(axis):
    for word in axis:
        assert word.meaning.endswith(".")
        assert ". " not in word.meaning
        sentence = word.meaning[0].lower() + word.meaning[1:].removesuffix(".")
        assert f"| `{word}` | {sentence} |" in PAGE


@pytest.mark.parametrize("word", ["", "Proved", "true", None, 1, ["proved"]])
def test_a_word_that_is_none_of_the_axis_is_refused_with_all_of_them(word):
    with pytest.raises(ValueError, match="proved, holds, undecided, refuted"):
        Truth.read(word)


@pytest.mark.parametrize(
    ("words", "truth", "evidence"),
    [
        ("proved", Truth.PROVED, Evidence.SYMBOLIC),
        ("holds", Truth.HOLDS, Evidence.CERTIFIED),
        ("undecided", Truth.UNDECIDED, Evidence.NONE),
        ("refuted", Truth.REFUTED, Evidence.CERTIFIED),
        ("refuted, numeric", Truth.REFUTED, Evidence.NUMERIC),
        ("undecided ,none", Truth.UNDECIDED, Evidence.NONE),
    ],
)
def test_an_expectation_names_a_truth_and_may_name_its_evidence(words, truth, evidence):
    assert Expected.parse(words) == Expected(truth, evidence)
    if words in ("holds", "undecided"):
        assert Expected.parse(words, measured=True) == Expected(truth, Evidence.NUMERIC)
    assert Expected.parse(words).verdict == Verdict(truth, evidence, Validity.EXERCISED)


@pytest.mark.parametrize(
    "words", ["", "false", "refuted numeric", "holds, weak", "holds,none,thin"]
)
def test_an_expectation_in_other_words_is_refused(words):
    with pytest.raises(ClaimError, match="Truths: proved, holds, undecided, refuted"):
        Expected.parse(words)


def test_a_verdict_prints_and_exports_its_three_words():
    verdict = Verdict(Truth.HOLDS, Evidence.NUMERIC, Validity.WEAK)
    assert str(verdict) == "holds, numeric, weak"
    assert verdict.json() == {"truth": "holds", "evidence": "numeric", "validity": "weak"}
