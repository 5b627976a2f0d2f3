"""`attsvm ask`: the questions of a file, side by side."""

import subprocess
import sys

import pytest

QUESTIONS = """
from attsvm import Real, Vector, question

TRUE = question(lambda m, v: m.at_most(2 * v.a * v.b, v.a**2 + v.b**2), a=Real(), b=Real())
FALSE = question(
    lambda m, v: m.at_most(m.sum(m.abs(v.x)), 2 * m.norm(v.x)), x=Vector("n"), expected="refuted"
)
"""
WRONG = (
    QUESTIONS
    + """
WRONG = question(lambda m, v: m.at_most(v.x, 1), x=Real(), expected="holds")
BROKEN = question(lambda m, v: m.at_most(m.nothing(v.x), 1), x=Real())
"""
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some_questions.py"
    path.write_text(QUESTIONS)
    return path


def test_each_question_is_answered(attsvm, file):
    code, out, _ = attsvm("ask", file, "FALSE", "--seconds", "60")
    assert code == 0
    assert out.startswith("FALSE:\n  Let x be in R^n. Then sum(|x|) <= 2 ||x||.\n  refuted, by ")
    assert "    x = [1, 1, 1, 1, 1]\n" in out
    assert out.endswith("\n1 refuted\n")


def test_the_time_of_a_longer_search_is_an_option_of_the_command(attsvm, file):
    out = attsvm("ask", file, "TRUE", "--seconds", "100", "--rounds", "1")[1]
    assert "  to search longer: --seconds 600\n" in out


def test_answers_are_the_same_for_more_workers(document, file):
    found = {}
    for workers in "12":
        code, result = document("ask", file, "--seconds", "100", "--rounds", "1", "-n", workers)
        assert (code, result["as_expected"]) == (0, True)
        assert result["questions"][0]["account"]["rounds"] == 1
        found[workers] = [(one["name"], one["answer"]) for one in result["questions"]]
        assert result["questions"][1]["instance"] == {"n": "5", "x": "[1, 1, 1, 1, 1]"}
    assert found["1"] == found["2"] == [("TRUE", "not refuted"), ("FALSE", "refuted")]


def test_a_wrong_or_broken_question_is_reported_beside_the_others(attsvm, file):
    file.write_text(WRONG)
    code, out, _ = attsvm("ask", file, "FALSE", "WRONG", "BROKEN", "--seconds", "60")
    assert code == 1
    assert "  ! expected: holds\n" in out
    assert "  broken: the conclusion of " in out
    assert out.endswith("\n1 broken, 2 refuted\n")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["no_file.py"], "there is no file of that name"),
        (["claims.py"], "claims.py` checks its claims"),
        (["some_questions.py", "NO"], "no question of that name"),
        (["empty.py"], "holds no question"),
    ],
)
def test_what_cannot_be_asked_is_an_error(attsvm, file, tmp_path, words, error):
    (tmp_path / "empty.py").write_text("")
    if "claims.py" in words:
        assert attsvm("new", "my/lemma-1", "--out", tmp_path / "claims.py")[0] == 0
    code, _, text = attsvm("ask", tmp_path / words[0], *words[1:])
    assert code == 2
    assert error in text


def test_a_command_for_claims_names_the_one_for_questions(attsvm, file):
    error = attsvm("verify", "--only-pack", file)[2]
    assert error.endswith(f" `attsvm ask {file}` answers its questions.\n")


HASTY = """
import sys
from attsvm import Real, ask

answer = ask(lambda m, v: m.at_most(2 * v.a * v.b, v.a**2 + v.b**2), a=Real(), b=Real(), seconds=2)
print("torch" in sys.modules, answer)
"""


def test_a_library_is_not_loaded_shortly_before_the_end(here):
    (here / "hasty.py").write_text(HASTY)
    ran = subprocess.run([sys.executable, "hasty.py"], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("False Let a and b be real.")
    assert "not tried for lack of time: gradient" in ran.stdout
