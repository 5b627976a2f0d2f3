"""What is captured of a module is what it computes, and is held against the right Att-SVM."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attsvm import AttentionData, att_svm, capture
from attsvm.errors import DataError, FileError, UsageError
from attsvm.heads import read_head
from attsvm.heads.figures import prices
from attsvm.svm.geometry import margins
from tests.late import Late

torch = Late("torch")

F = Late("torch.nn.functional")
EXAMPLE = Path(__file__).parents[2] / "examples/transformer_head.py"


def inputs(batch=3, length=5, d=8, seed=0):
    return torch.randn(batch, length, d, generator=torch.Generator().manual_seed(seed)).double()


def test_a_head_that_is_its_own_max_margin_solution_is_told_so():
    x = inputs(batch=4)
    (head,) = capture(F.scaled_dot_product_attention, x, x, x)
    W = att_svm(head.data, head.targets).W

    class Own(torch.nn.Module):
        def forward(self, x):
            keys = x @ torch.eye(8, dtype=x.dtype)
            return F.scaled_dot_product_attention(x @ torch.tensor(W).T, keys, x, scale=20.0)

    (own,) = capture(Own(), x)
    assert np.allclose(own.weights, 20.0 * W)
    same = own.compare()
    assert np.array_equal(own.selected, head.selected)
    assert abs(same.cosine - 1.0) <= 1e-9
    assert same.residual <= 1e-6
    assert abs(same.margin / same.best_margin - 1.0) <= 1e-6
    other = head.compare()
    assert other.cosine < 0.99
    assert other.margin < 0.99 * other.best_margin
    assert np.allclose(other.margins, margins(head.data, other.active.W, head.targets))
    assert other.active.norm <= np.linalg.norm(head.weights) * (1.0 + 1e-12)  # rounding
    assert 0.0 < head.compare("nuc").cosine < 1.0
    with pytest.raises(UsageError, match="no such norm"):
        head.compare("spectral")


def test_prices_are_how_far_outputs_move():
    (head,) = capture(F.scaled_dot_product_attention, *[inputs(batch=2)] * 3, is_causal=True)
    far = head.compare()
    attention, seen, single = head.own(head.attention), head.own(head.seen), prices(head)

    def output(i, kept):
        weights = np.where(kept, attention[i], 0.0)
        return weights / weights.sum() @ head.values[5 * head.owners[i] :][:5]

    for i in range(head.count):
        whole = output(i, seen[i])
        length = np.linalg.norm(whole)
        moved = np.linalg.norm(whole - output(i, far.needed[i])) / length
        assert abs(far.price[i] - moved) <= 1e-12
        for t in np.flatnonzero(seen[i]) if seen[i].sum() > 1 else ():
            kept = seen[i] & (np.arange(5) != t)
            moved = np.linalg.norm(whole - output(i, kept)) / length
            assert abs(single[i, t] - moved) <= 1e-9
    assert np.isnan(single[~seen]).all()
    kept = far.droppable
    assert kept.any()  # without them the solution is the same
    less = replace(head.data, mask=far.needed & head.data.present)
    assert np.allclose(att_svm(less, head.targets).W, far.answer.W, atol=1e-7)


def test_entropy_is_that_of_the_weights_and_copies_are_no_constraint():
    x = torch.tensor([[[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]])
    (head,) = capture(F.scaled_dot_product_attention, x, x, x, scale=0.0)
    assert np.allclose(head.entropy, np.log(3.0))
    (head,) = capture(F.scaled_dot_product_attention, x[:, :1], x, x, scale=1e3)
    assert np.allclose(head.entropy, np.log(2.0))
    assert head.compare().answer.solved
    assert head.data.present.tolist() == [[True, False, True]]
    assert head.compare().needed.all()


def test_texts_of_heads_and_comparisons_are_short():
    (head,) = capture(F.scaled_dot_product_attention, *[inputs(30, 6)] * 3)
    for value in (head, head.compare()):
        assert len(repr(value)) < 1000


def test_the_example_shows_what_the_theory_predicts(tmp_path):
    spec = importlib.util.spec_from_file_location("transformer_head", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    threads = torch.get_num_threads()
    rows = example.main((0, 300))
    first, last, *trained = rows
    torch.set_num_threads(threads)
    loss, optimal, entropy, norm = range(4)
    assert last[loss] < first[loss]
    assert last[optimal] > first[optimal]
    assert last[entropy] < 0.5 * first[entropy]
    assert last[norm] > 100 * first[norm]
    assert trained[1][loss] < 0.01  # everything is trained: the loss falls, attention stays spread
    assert trained[1][entropy] > 0.8 * trained[0][entropy]
    example.draw((0, 300), rows, str(tmp_path / "training.svg"))
    assert (tmp_path / "training.svg").read_text().startswith("<?xml")


# files


TOKENS = {
    "X": np.array([[[2.0, 0.0], [0.0, 1.0]], [[0.0, 3.0], [1.0, 0.0]]]),
    "Z": np.array([[1.0, 0.0], [0.0, 1.0]]),
}


def test_a_saved_head_is_read_as_it_was(tmp_path):
    (head,) = capture(F.scaled_dot_product_attention, *[inputs(batch=2)] * 3, is_causal=True)
    head.save(tmp_path / "head.npz")
    data, read = read_head(tmp_path / "head.npz")
    for name in ("X", "Z", "mask"):
        assert np.array_equal(getattr(read.data, name), getattr(head.data, name))
    assert np.array_equal(read.queries, head.queries)
    assert np.array_equal(read.weights, head.weights)
    assert np.allclose(read.own(read.attention), head.own(head.attention), rtol=1e-12, atol=0.0)
    assert np.allclose(read.attention @ read.values, head.attention @ head.values)
    assert data == read.data
    assert repr(read.compare()).splitlines()[1:] == repr(head.compare()).splitlines()[1:]


def test_data_of_their_own_keep_their_scores_beside_a_head(tmp_path):
    scores = np.array([[0.0, 1.0], [1.0, 0.0]])  # W attends to the token 0 of both
    np.savez(tmp_path / "both.npz", **TOKENS, scores=scores, W=np.diag([2.0, 3.0]))
    data, head = read_head(tmp_path / "both.npz")
    assert np.array_equal(data.scores, scores)
    assert head.targets.tolist() == [0, 0]
    assert np.array_equal(head.values, head.tokens)
    assert head.compare().margins.tolist() == [[np.inf, 4.0], [np.inf, 9.0]]
    np.savez(tmp_path / "alone.npz", **TOKENS, scores=scores)
    assert read_head(tmp_path / "alone.npz") == (data, None)
    with pytest.raises(FileError, match="not known") as caught:
        AttentionData.load(tmp_path / "both.npz")
    assert "read_head" in caught.value.remedy


@pytest.mark.parametrize(
    ("arrays", "cause"),
    [
        ({"W": np.eye(3)}, "W has d = 3 but the other arrays have d = 2"),
        ({"W": np.ones((2, 3))}, "W has e = 3"),
        ({"W": np.ones(2)}, "W must have 2 dimensions"),
        ({"W": np.ones((1, 2, 2))}, "W must have 2 dimensions"),
        ({"W": np.array([[1.0, np.nan], [0.0, 1.0]])}, r"W\[0, 1\] is not finite"),
        ({"W": np.full((2, 2), np.inf)}, r"W\[0, 0\] is not finite"),
        ({"W": np.full((2, 2), 1e308)}, "logits X W z overflow"),
        ({"W": np.eye(2, dtype=bool)}, "not real numbers"),
        ({"W": np.eye(2), "values": np.ones((2, 3, 1))}, "values has T = 3"),
        ({"W": np.eye(2), "values": np.ones((2, 2))}, "values must have 3 dimensions"),
        ({"W": np.eye(2), "values": np.full((2, 2, 1), np.nan)}, "is not finite"),
        ({"values": np.ones((2, 2, 1))}, "no W of a head"),
        ({"W": np.eye(2), "y": np.ones(2)}, "are needed together"),
        ({"W": np.eye(2), "X": np.ones(2)}, "X must have 3 dimensions"),
        ({"W": np.eye(2), "mask": np.array([[True, True], [False, False]])}, "without any token"),
    ],
)
def test_a_file_that_holds_no_head_is_refused_by_name(arrays, cause, tmp_path):
    np.savez(tmp_path / "head.npz", **(TOKENS | arrays))
    with pytest.raises(DataError, match=cause):
        read_head(tmp_path / "head.npz")


def test_padding_of_a_file_may_be_anything_and_moves_nothing(tmp_path):
    mask = np.array([[True, True], [True, False]])
    X, values = TOKENS["X"].copy(), np.ones((2, 2, 1))
    X[1, 1], values[1, 1] = np.nan, np.inf
    np.savez(tmp_path / "head.npz", X=X, Z=TOKENS["Z"], W=np.eye(2), mask=mask, values=values)
    _, head = read_head(tmp_path / "head.npz")
    assert head.own(head.attention)[1].tolist() == [1.0, 0.0]
    assert np.isfinite(head.values).all()
    assert head.compare().answer.solved


def test_a_head_whose_tokens_tie_has_figures_that_json_can_hold(tmp_path):
    X = np.array([[[0.0], [1.0], [-1.0]]])  # no W has margins for the middle token
    np.savez(tmp_path / "head.npz", X=X, Z=np.ones((1, 1)), W=np.zeros((1, 1)))
    compared = read_head(tmp_path / "head.npz")[1].compare()
    assert not compared.answer.solved
    found = json.loads(json.dumps(compared.json(), allow_nan=False))
    assert found["selected"] == [0]
    assert (found["cosine"], found["active_norm"]) == (None, 0.0)
    assert repr(compared)
