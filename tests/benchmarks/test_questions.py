"""The table of ten questions counts lines of calls, and asks questions that exist."""

from attsvm.theory.packs.questions import questions_in
from benchmarks.questions import FOLDER, TEN, lines_of


def test_each_of_the_ten_is_a_question_with_an_answer():
    asked = {
        name: question
        for file, names in TEN.items()
        for name, question in questions_in(str(FOLDER / file)).items()
        if name in names
    }
    assert [asked[name].expected for names in TEN.values() for name in names].count("refuted") == 7
    assert len(asked) == 10


def test_the_expected_answer_is_not_counted(tmp_path):
    file = tmp_path / "some.py"
    call = "question(lambda m, v: m.at_least(v.x**2 + v.y**2, 2 * v.x * v.y), x=Real(), y=Real()"
    file.write_text(f"ONE = {call}, expected='holds')\nTWO = {call}, z{'z' * 60}=Real())\n")
    assert lines_of(file) == {"ONE": 1, "TWO": 2}
