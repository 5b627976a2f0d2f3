"""`attsvm solve` answers with a certificate, or says what is wrong before any work."""

import numpy as np
import pytest

from attsvm.data import AttentionData
from attsvm.heads import comparison


@pytest.fixture
def data(tmp_path):
    """Files of data sets by name."""
    X, Z = [[[2.0, 0.0], [0.0, 1.0]], [[0.0, 3.0], [1.0, 0.0]]], [[1.0, 0.0], [0.0, 1.0]]
    sets = {
        "good": AttentionData.of(X, Z, scores=[[1, 0], [1, 0]]),
        "tied": AttentionData.of(X, Z, scores=[[1, 0], [1, 1]]),
        "unseparable": AttentionData.of(
            [[[1.0], [0.0]], [[0.0], [1.0]]], [[1.0], [1.0]], scores=[[1, 0], [1, 0]]
        ),
    }
    for name, made in sets.items():
        made.save(tmp_path / f"{name}.npz")
    whole = (tmp_path / "good.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "foreign.npz").write_bytes(b"hello")
    np.savez(tmp_path / "empty.npz", x=np.zeros(1))
    with (tmp_path / "array.npz").open("wb") as handle:
        np.save(handle, np.zeros(3))
    return sets


@pytest.mark.usefixtures("data")
def test_solve_answers_with_the_promised_keys(document, attsvm):
    code, found = document("solve", "good.npz")
    assert (code, found["status"], found["norm"], found["targets"]) == (0, "solved", "fro", [0, 0])
    assert set(found) >= {"value", "W", "margins", "support", "gap", "bracket", "certificate"}
    assert "head" not in found
    assert found["value"] == pytest.approx(np.linalg.norm(found["W"]), rel=1e-12)
    low, high = found["bracket"]
    assert low <= found["value"] <= high
    code, out, _ = attsvm("solve", "good.npz")
    assert code == 0
    assert "input 0   selects token 0" in out


def test_a_head_in_the_file_is_held_against_its_max_margin_solution(tmp_path, document, attsvm):
    X = np.array([[[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]]])
    np.savez(tmp_path / "head.npz", X=X, Z=np.array([[1.0, 0.0]]), W=np.diag([3.0, 4.0]))
    code, found = document("solve", "head.npz")
    assert (code, found["status"], found["targets"]) == (0, "solved", [0])
    head = found["head"]
    assert head["margins"] == [[None, 3.0, 6.0]]
    assert (head["norm"], head["selected"], head["support"]) == (5.0, [0], [[1]])
    assert head["active_norm"] == pytest.approx(3.0, rel=1e-12)
    assert head["margin"] == pytest.approx(1.0, rel=1e-12)
    assert head["best_margin"] == pytest.approx(1.0, rel=1e-12)
    assert head["cosine"] == pytest.approx(1.0, rel=1e-12)
    weights = np.exp([3.0, 0.0, -3.0]) / np.exp([3.0, 0.0, -3.0]).sum()
    assert head["entropy"] == pytest.approx([-(weights * np.log(weights)).sum()], rel=1e-12)
    whole, less = weights[0] - weights[2], weights[0] / (weights[0] + weights[1])
    (dropped,) = head["droppable"]
    assert (dropped["input"], dropped["token"]) == (0, 2)
    assert dropped["price"] == pytest.approx(abs(less - whole) / whole, rel=1e-9)
    assert head["price"] == pytest.approx([dropped["price"]], rel=1e-9)
    code, out, _ = attsvm("solve", "head.npz")
    assert code == 0
    assert "direction cosine 1, residual 0" in out
    assert "input 0 token 2: dropping it moves the output by" in out
    np.savez(tmp_path / "head.npz", X=X, Z=np.array([[1.0, 0.0]]), W=np.full((2, 2), np.nan))
    code, _, err = attsvm("solve", "head.npz")
    assert code == 2
    assert "W[0, 0] is not finite" in err


@pytest.mark.usefixtures("data")
def test_unseparable_is_an_answer_with_a_certificate(document, attsvm):
    code, found = document("solve", "unseparable.npz")
    assert (code, found["status"]) == (1, "unseparable")
    assert found["certificate"]["type"] == "farkas"
    code, out, _ = attsvm("solve", "unseparable.npz")
    assert code == 1
    assert "unseparable" in out


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(("option", "of"), [("--seconds", ""), ("--wall", " of wall time")])
def test_the_time_of_the_certification_is_bounded(attsvm, document, option, of):
    code, found = document("solve", "good.npz", option, "1e-9")
    assert (code, found["certificate"]["kind"]) == (0, "float")
    assert found["certificate"]["statement"].startswith(f"not certified in 1e-09 s{of}")
    assert document("solve", "good.npz", option, "100")[1]["certificate"]["kind"] == "exact"
    code, _, err = attsvm("solve", "good.npz", option, "0")
    assert code == 2
    assert "not a positive number of seconds" in err


def test_a_head_is_compared_with_the_answer_that_was_found(tmp_path, attsvm, monkeypatch):
    """A head is solved for once, within the time; with a soft margin, a second time."""
    solved = []
    monkeypatch.setattr(comparison, "solve_shared", lambda *_: solved.append(1))
    X = np.array([[[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]]])
    np.savez(tmp_path / "head.npz", X=X, Z=np.array([[1.0, 0.0]]), W=np.diag([3.0, 4.0]))
    plain = attsvm("solve", "head.npz")
    soft = attsvm("solve", "head.npz", "--soft", "0.5")
    assert plain[0] == soft[0] == 0
    assert solved == []
    lines = [line for line in plain[1].splitlines() if "cosine" in line]
    assert lines
    assert set(lines) <= set(soft[1].splitlines())


@pytest.mark.usefixtures("data")
def test_targets_may_be_named(document):
    code, found = document("solve", "tied.npz", "--targets", "0,1")
    assert (code, found["targets"]) == (0, [0, 1])
    code, found = document("solve", "good.npz", "--targets", "1, 0")
    assert (code, found["targets"]) == (0, [1, 0])


@pytest.mark.usefixtures("data")
def test_an_input_has_one_slack_on_request(document, tmp_path):
    data = AttentionData.of([[[1.0], [0.0], [-1.0]]], [[1.0]], scores=[[1, 0, 0]])
    data.save(tmp_path / "three.npz")
    words = ["solve", "three.npz", "--soft", "0.1"]
    one, each = (document(*words, "--slack", slack)[1] for slack in ("input", "constraint"))
    assert document(*words)[1]["soft"] == each["soft"]
    assert one["soft"]["objective"] == pytest.approx(0.1)  # W = 0: both tokens are short by 1
    assert each["soft"]["objective"] == pytest.approx(0.2)


@pytest.mark.usefixtures("data")
def test_where_there_is_nothing_to_draw_a_plot_that_was_asked_for_is_missed(attsvm, tmp_path):
    for words, told in ((["--plot", "margins.png"], True), ([], False)):
        code, _, error = attsvm("solve", "unseparable.npz", *words)
        assert code == 1
        assert ("no plot: there are no margins to draw" in error) is told
    assert not list(tmp_path.glob("margins*"))


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["tied.npz"], "optimal tokens"),
        (["good.npz", "--targets", "one"], "targets are `opt` or integers"),
        (["good.npz", "--targets", ""], "targets are `opt` or integers"),
        (["good.npz", "--targets", "0,"], "targets are `opt` or integers"),
        (["good.npz", "--targets", "0"], "must be 2 integers"),
        (["good.npz", "--targets", "0,2"], "is not a token index"),
        (["good.npz", "--targets=-1,0"], "is not a token index"),
        (["good.npz", "--targets", "-1,0"], "Indices start at 0; join them by =, as in --targets"),
        (["cut.npz"], "not a readable .npz file"),
        (["foreign.npz"], "not a readable .npz file"),
        (["array.npz"], "not a readable .npz file"),
        (["empty.npz"], "arrays that are not known"),
        (["none.npz"], "there is no file"),
        (["."], "is a folder"),
        (["good.npz", "--soft", "0"], "not a positive finite price"),
        (["good.npz", "--soft", "nan"], "not a positive finite price"),
        (["good.npz", "--soft", "inf"], "not a positive finite price"),
        (["good.npz", "--soft", "1", "--norm", "nuc"], "defined with the Frobenius norm"),
        (["good.npz", "--slack", "input"], "needs a soft margin"),
        (["good.npz", "--plot", "margins.xyz"], "no ending that can be written"),
        (["good.npz", "--plot", "good.npz/margins.png"], "cannot write"),
        (["good.npz", "--plot", "folder.png"], "it is a folder"),
        (["good.npz", "--json", "good.npz/answer.json"], "cannot write"),
    ],
)
def test_bad_data_and_options_are_bad_input(attsvm, tmp_path, words, cause):
    (tmp_path / "folder.png").mkdir()
    code, out, error = attsvm("solve", *words)
    assert (code, out) == (2, "")
    assert cause in error
    assert not list(tmp_path.glob("margins*"))


@pytest.mark.usefixtures("data")
def test_the_nuclear_norm_comes_with_a_bracket_and_the_size_of_the_solution_set(document, attsvm):
    code, found = document("solve", "good.npz", "--norm", "nuc")
    assert (code, found["status"], found["norm"]) == (0, "solved", "nuc")
    low, high = found["bracket"]
    assert low <= found["value"] <= high <= low * (1 + 1e-9)
    assert found["value"] == pytest.approx(np.linalg.norm(found["W"], "nuc"), rel=1e-12)
    assert found["certificate"]["kind"] == "enclosed"
    assert found["dimension"] >= 0
    assert "the solution set is" in attsvm("solve", "good.npz", "--norm", "nuc")[1]
    code, found = document("solve", "unseparable.npz", "--norm", "nuc")
    assert (code, found["status"], found["norm"]) == (1, "unseparable", "nuc")
    assert found["certificate"]["kind"] == "exact"


@pytest.mark.usefixtures("data")
def test_the_soft_margin_solves_what_is_unseparable(document, attsvm):
    code, found = document("solve", "unseparable.npz", "--soft", "10")
    assert (code, found["status"], found["soft"]["C"]) == (0, "solved", 10.0)
    low, high = found["bracket"]
    # opposed constraints of equal size: both slacks sum to 2 whatever W does, and W = 0 is best
    assert low <= 20.0 <= high
    assert found["soft"]["kind"] == "zero"
    hard = document("solve", "good.npz")[1]
    for slack in ("constraint", "input"):
        code, found = document("solve", "good.npz", "--soft", "1e3", "--slack", slack)
        assert (code, found["soft"]["kind"]) == (0, "hard")
        assert found["value"] == pytest.approx(hard["value"], rel=1e-12)
    assert "objective" in attsvm("solve", "good.npz", "--soft", "0.1")[1]


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_margins_are_drawn_on_request(attsvm, tmp_path, ending):
    place = "deep/margins.svg" if ending == "svg" else f"margins.{ending}"
    code, out, _ = attsvm("solve", "good.npz", "--plot", place)
    assert code == 0
    assert "input 0" in out
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    assert (tmp_path / place).read_bytes().startswith(start)
