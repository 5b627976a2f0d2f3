"""`attsvm show` prints one statement, and `attsvm new` writes one that runs."""

import pytest
from commands import TOYS


def test_show_prints_formula_readings_and_counterexample(attsvm):
    code, out, _ = attsvm("show", "sim/lemma-3.13:sharp")
    assert code == 0
    lines = [line.strip() for line in out.splitlines()]
    assert lines[0] == "sim/lemma-3.13"
    assert "|grad L(x) - grad L(y)| <= 3 n^3 R^7 exp(13 R^2) ||x - y||_2" in lines
    assert "where A = a^T kron tokens" in lines
    (row,) = (line for line in lines if line.startswith("sharp-2  proved, symbolic"))
    assert "constant = diameter" in row
    assert any(line.startswith("literal  h = [1, -1], b = 2^161") for line in lines)
    assert "properties/sim/lemma_3_13.py:" in lines[-1]


def test_show_tells_what_fell_the_repair_and_what_the_fall_touches(attsvm):
    code, out, _ = attsvm("show", "tf/theorem-2")
    assert code == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "weight changes a constant, a formula or a condition" in lines
    assert any(line.startswith("repair Add both conditions.") for line in lines)
    assert any(line.startswith("telling literal X = [[[1, 0], [0, 0]]") for line in lines)
    assert lines[lines.index("rests on") + 1] == "tf/definition-1, tf/lemma-2"
    assert "tf/vanishing-regularisation" in lines[lines.index("what rests on it") + 1]


def test_show_prints_latex(attsvm):
    code, out, _ = attsvm("show", "sim/lemma-3.12", "--latex")
    assert code == 0
    assert r"\|g''\|_\infty = \frac{1}{6 \, \sqrt{3}}" in out
    assert "<=" not in out


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
    for words in ("toy/vacuous", "if x above itself", "toy_pack.py:", "holds, numeric"):
        assert words in out
    (reading,) = document("show", *TOYS, "toy/vacuous")[1]["statement"]["readings"]
    assert reading["formula"]["conclusion"]["plain"] == "vacuous"
    assert reading["hypotheses"] == list(reading["formula"]["hypotheses"]) == ["x above itself"]


def test_show_wants_one_statement(attsvm):
    code, _, error = attsvm("show", "sim/")
    assert (code, "statements begin like that" in error) == (2, True)
    code, _, error = attsvm("show", "sim/lema-3.12")
    assert (code, "Nearest: " in error) == (2, True)


def test_a_new_claim_file_runs(attsvm, tmp_path):
    code, out, _ = attsvm("new", "mine/lemma-1.2")
    assert code == 0
    for command in ("show", "hunt"):
        assert f"attsvm {command} --pack lemma_1_2.py mine/lemma-1.2" in out
    for command in ("verify --only-pack lemma_1_2.py", "gate --only-pack lemma_1_2.py --update"):
        assert f"attsvm {command}" in out
    code, out, error = attsvm("verify", "--pack", "lemma_1_2.py", "mine/lemma-1.2")
    assert (code, "1 claim on" in out) == (0, True), error
    assert "every verdict as expected" in out
    assert "3/3" in out  # both tightened sides and the false neighbour fall


def test_a_new_claim_file_overwrites_nothing(attsvm, tmp_path):
    (tmp_path / "mine.py").write_text("precious")
    code, _, error = attsvm("new", "mine/a", "--out", "mine.py")
    assert (code, "is there already" in error) == (2, True)
    assert (tmp_path / "mine.py").read_text() == "precious"


@pytest.mark.parametrize(
    "words", [["Mine/a"], ["mine"], ["mine/a:literal"], ["mine/a", "--out", "mine.txt"]]
)
def test_a_new_claim_wants_an_id_and_a_python_file(attsvm, tmp_path, words):
    code, _, error = attsvm("new", *words)
    assert code == 2
    assert "Such as mine/lemma-1" in error or "ends in .py" in error
    assert not list(tmp_path.iterdir())


def test_what_was_written_is_told_as_json(document):
    code, found = document("new", "mine/a")
    assert code == 0
    assert (found["id"], found["file"]) == ("mine/a", "a.py")
    assert found["next"][1] == "attsvm verify --only-pack a.py"
