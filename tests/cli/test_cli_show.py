"""`attsvm show` prints one statement, and `attsvm new` writes one that runs."""

import re
from pathlib import Path

import pytest
from commands import TOYS

from attsvm.theory.report.screen import SCREEN
from tests.forks import in_a_fork


def paragraphs(out):
    """The paragraphs of a screen, each in one line."""
    return [" ".join(part.split()) for part in out.split("\n\n")]


def test_show_prints_every_reading_with_its_formula_conditions_and_counterexample(attsvm):
    code, out, _ = attsvm("show", "--all", "sim/lemma-3.13:sharp")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    head, erratum, literal, *others, where, words, _, _, _ = paragraphs(out)
    assert head.startswith("sim/lemma-3.13 (")
    assert "properties/sim/lemma_3_13.py:" in head
    assert "printed: |grad L(x,:) - grad L(x^,:)| <= 3 n^3 R^7 exp(13 R^2) ||x - x^||_2" in head
    fell = (
        "what fell: the printed constant, for want of a bound on b and h (literal); "
        "what stands: amended, sharp, sharp-2 found: "
    )
    assert erratum.startswith(fell)
    assert literal.startswith("literal: expected refuted, certified ")
    assert "; ||A|| <= R fails at: h = [1, -1], b = 2^161" in literal
    assert [text.partition(" ")[0] for text in others] == ["amended:", "sharp:", "sharp-2:"]
    assert all("fails at" not in text and "expected proved, symbolic" in text for text in others)
    assert "A = a^T kron tokens" in where
    assert "||A|| <= R: ||A||_op <= R" in where
    assert words.startswith("words: ")
    assert "f, h, b: The attention f of an input" in words


def test_what_exceeds_one_screen_is_folded_but_for_the_reading_that_is_asked_for(attsvm):
    _, whole, _ = attsvm("show", "--all", "sim/theorem-3.14-part-1")
    _, out, _ = attsvm("show", "sim/theorem-3.14-part-1")
    assert len(out.splitlines()) <= SCREEN < len(whole.splitlines())
    every = paragraphs(out)
    assert every[-1] == "folded to one screen; all of it: attsvm show --all sim/theorem-3.14-part-1"
    for words in (
        "printed: Suppose Assumption 3.10",
        "what fell: the printed claim (literal) and repairs of it (amended-1, amended-3);",
        "repair: Start in the basin;",
        "X(k)/||X(k)|| -> X^mm/||X^mm||",
        "fails at: tokens = [[[1], [0]]], queries = [[1]]",
        "amended-2 (expected proved, symbolic): ",
        "attsvm show --script sim/theorem-3.14-part-1",
    ):
        assert any(words in paragraph for paragraph in every), words
    asked = "siblings, which have to fall: 95% of the right side; 99.9% of the right side;"
    assert asked not in " ".join(attsvm("show", "sim/lemma-3.13")[1].split())
    assert asked in " ".join(attsvm("show", "sim/lemma-3.13:sharp")[1].split())


def test_show_tells_what_fell_the_repair_and_what_the_fall_touches(attsvm):
    code, out, _ = attsvm("show", "--all", "tf/theorem-2")
    assert code == 0
    _, erratum, literal, *_, stored, rests, carries = paragraphs(out)
    assert erratum.startswith("what fell: the printed claim, for want of a condition (literal); ")
    file = "counterexamples/tf--theorem-2--literal.json"
    assert stored == (
        f"counterexamples: stored in {file}; in numpy alone: attsvm show --script tf/theorem-2; "
        "in Python alone: --verifier"
    )
    assert "This changes a constant, a formula or a condition. fails: " in erratum
    assert "repair: Add both conditions." in erratum
    assert "fails at: X = [[[1, 0], [0, 0]]" in literal
    assert rests == "rests on: tf/definition-1, tf/lemma-2"
    assert carries.startswith("what rests on it: ")
    assert "tf/vanishing-regularisation" in carries


def test_show_tells_the_repairs_that_fell_and_which_counterexamples_have_verifiers(attsvm):
    said = " ".join(attsvm("show", "sim/definition-4.1")[1].split())
    fallen = "the printed claim (literal-1, literal-2, literal-3) and repairs of it (amended-2);"
    assert fallen in said
    assert "in Python alone: --verifier" in attsvm("show", "sim/definition-3.6")[1]
    notes = [
        attsvm("show", "--verifier", f"sim/definition-3.9{one}")[2] for one in ("", ":literal-2")
    ]
    assert notes[0].endswith("attsvm show --verifier sim/definition-3.9:literal-1\n")
    assert notes[1] == ""
    said = attsvm("show", "sim/lemma-3.12")[1]
    assert "in Python alone" not in said
    assert "what fell" not in said


def test_show_has_the_verdicts_of_a_run_that_is_named(attsvm):
    assert "literal: expected holds, numeric" in attsvm("show", *TOYS, "toy/true")[1]
    assert attsvm("verify", *TOYS, "toy/true", "--ledger", "l")[0] == 0
    named = ("show", *TOYS, "toy/true", "--ledger", "l")
    assert "literal: holds, numeric" in attsvm(*named)[1]
    assert attsvm(*named)[2] == ""
    ledger = Path("l")
    ledger.write_text(ledger.read_text().replace('"evidence": "numeric"', '"evidence": "none"'))
    assert "that line was edited" in attsvm(*named)[2]
    assert attsvm("show", *TOYS, "toy/true", "--ledger", "absent")[0] == 2


def test_show_prints_latex(attsvm):
    code, out, _ = attsvm("show", "sim/lemma-3.12", "--latex")
    assert code == 0
    assert r"\|g''\|_\infty = \frac{1}{6 \, \sqrt{3}}" in out
    assert "<=" not in out
    whole = attsvm("show", "sim/lemma-3.13", "--latex")[1].splitlines()
    sharp = attsvm("show", "sim/lemma-3.13:sharp", "--latex")[1].splitlines()
    begins = whole.index("% sharp") + 1
    assert whole[begins : begins + len(sharp)] == sharp
    assert (whole[0], whole[begins + len(sharp)]) == ("% literal", "% sharp-2")
    assert not any(line.startswith((r"\text{if", "%")) for line in sharp)


def test_the_steps_of_a_proof_in_prose_are_numbered_chains_of_facts_included(attsvm):
    code, out, _ = attsvm("show", "--proof", "sim/often-unsolvable:literal-1")
    numbers = re.findall(r"^  step (\d+): ", out, re.MULTILINE)
    assert (code, [int(k) for k in numbers]) == (0, [*range(1, len(numbers) + 1)])
    assert "steps connected by prose\n  step 1: " in out
    assert "  step 2: a chain of 15 facts\n" in out
    assert "11 of 15 facts; --all prints the others as well\n" in out


def test_show_writes_one_document(document):
    code, found = document("show", "sim/lemma-3.12")
    assert code == 0
    statement = found["statement"]
    assert statement["id"] == "sim/lemma-3.12"
    assert [r["name"] for r in statement["readings"]] == ["literal", "sharp"]
    formula = statement["readings"][1]["formula"]
    assert formula["conclusion"]["plain"] == "|g'(x) - g'(y)| <= ||g''||_inf |x - y|"
    assert formula["where"][0]["latex"].startswith("g\\left(t\\right) = ")


def test_what_is_measured_is_shown_by_its_line_and_conditions_by_their_names(attsvm, document):
    code, out, _ = attsvm("show", *TOYS, "toy/vacuous")
    assert code == 0
    for words in ("toy/vacuous", "if: x above itself", "toy_pack.py:", "holds, numeric"):
        assert words in out
    (reading,) = document("show", *TOYS, "toy/vacuous")[1]["statement"]["readings"]
    assert reading["formula"]["conclusion"]["plain"] == "vacuous"
    assert reading["hypotheses"] == list(reading["formula"]["hypotheses"]) == ["x above itself"]


def test_a_new_claim_file_runs(attsvm):
    code, out, _ = attsvm("new", "mine/lemma-1.2")
    assert code == 0
    first = out.splitlines()[1]
    assert first == "  attsvm verify --pack lemma_1_2.py mine/lemma-1.2"
    for command in ("show", "hunt"):
        assert f"attsvm {command} --pack lemma_1_2.py mine/lemma-1.2" in out
    assert "attsvm gate --only-pack lemma_1_2.py --update" in out
    assert out.endswith("which attsvm does not bring: pip install pytest\n")
    code, out, error = attsvm("verify", "--pack", "lemma_1_2.py", "mine/lemma-1.2")
    assert (code, "1 claim on" in out) == (0, True), error
    assert "every verdict as expected" in out
    assert "3/3" in out  # both tightened sides and the false neighbour fall


def test_the_test_of_a_new_claim_file_passes_and_fails_with_its_claim(attsvm, tmp_path):
    assert "  pytest test_lemma_1_2.py\n" in attsvm("new", "mine/lemma-1.2")[1]
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:unraisableexception"]
    words += ["test_lemma_1_2.py"]
    claim = tmp_path / "lemma_1_2.py"
    claim.write_text(claim.read_text().replace("variables={", "cost=12,\n    variables={"))
    assert in_a_fork(run=lambda: pytest.main(words)).returncode == 0
    claim.write_text(claim.read_text().replace('{"factor": 2}', '{"factor": 3}'))
    assert "1 claim: 1 not as expected" in in_a_fork(run=lambda: pytest.main(words)).stdout


@pytest.mark.parametrize("name", ["mine.py", "test_mine.py"])
def test_a_new_claim_file_and_its_test_overwrite_nothing(attsvm, tmp_path, name):
    (tmp_path / name).write_text("precious")
    code, _, error = attsvm("new", "mine/a", "--out", "mine.py")
    assert (code, f"{name} exists already" in error) == (2, True)
    assert [p.read_text() for p in tmp_path.iterdir()] == ["precious"]


def test_what_was_written_is_told_as_json(document):
    code, found = document("new", "mine/a")
    assert code == 0
    assert (found["id"], found["file"], found["test"]) == ("mine/a", "a.py", "test_a.py")
    assert found["next"][0] == "attsvm verify --pack a.py mine/a"
