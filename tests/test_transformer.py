"""What is captured of a module is what it computes, and is held against the right Att-SVM."""

import builtins
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from attsvm import AttentionData, att_svm, capture
from attsvm.errors import DataError, FileError, UsageError
from attsvm.svm.geometry import margins
from attsvm.transformer import read_head
from tests.late import Late

torch = Late("torch")

F = Late("torch.nn.functional")
EXAMPLE = Path(__file__).parents[1] / "examples/transformer_head.py"


def inputs(batch=3, length=5, d=8, seed=0):
    return torch.randn(batch, length, d, generator=torch.Generator().manual_seed(seed)).double()


def attention(**options):
    torch.manual_seed(1)
    return torch.nn.MultiheadAttention(8, 2, batch_first=True, **options).double()


def causal(length):
    return torch.nn.Transformer.generate_square_subsequent_mask(length, dtype=torch.float64)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("fast", [True, False])
def test_weights_and_values_of_a_multi_head_attention_are_its_own(bias, fast):
    module, x = attention(bias=bias), inputs()
    if bias:
        torch.nn.init.normal_(module.in_proj_bias)
    hidden = torch.tensor([[0, 0, 0, 0, 1], [0] * 5, [0, 0, 1, 0, 0]], dtype=torch.bool)
    if fast:
        hidden = torch.zeros(3, 5).double().masked_fill(hidden, -torch.inf)
    how = {"attn_mask": causal(5) if fast else causal(5) < 0, "key_padding_mask": hidden}
    heads = capture(module, x, x, x, **how, need_weights=not fast)
    output, seen = module(x, x, x, **how, average_attn_weights=False)
    for j, head in enumerate(heads):
        assert np.allclose(head.weights.reshape(3, 5, 5), seen[:, j].detach(), atol=1e-12)
    mixed = np.concatenate(
        [(h.weights[:, None] @ h.values)[:, 0].reshape(3, 5, 4) for h in heads], axis=2
    )
    assert np.allclose(module.out_proj(torch.tensor(mixed)).detach(), output.detach(), atol=1e-12)
    assert module.training


@pytest.mark.parametrize("shape", [(5, 8), (3, 5, 8), (3, 2, 5, 8)])
@pytest.mark.parametrize("scale", [None, 0.5])
def test_a_dot_product_gives_its_output(shape, scale):
    q, k, v = (torch.randn(shape, generator=torch.Generator().manual_seed(s)) for s in range(3))
    see = torch.ones(5, 5, dtype=torch.bool).tril()
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=see, scale=scale)
    for masked in ({"attn_mask": see}, {"is_causal": True}):
        heads = capture(F.scaled_dot_product_attention, q, k, v, scale=scale, **masked)
        outputs = [(h.weights[:, None] @ h.values).reshape(-1, 5, 8) for h in heads]
        assert np.allclose(np.stack(outputs, 1).reshape(shape), expected, atol=1e-6)


def test_shared_keys_and_the_layers_of_an_encoder_are_seen():
    q, k = torch.randn(1, 4, 3, 2), torch.randn(1, 2, 3, 2)
    heads = capture(F.scaled_dot_product_attention, q, k, k, enable_gqa=True)
    for head, key in zip(heads, k[0].repeat_interleave(2, 0), strict=True):
        assert np.array_equal(head.X[0], key.double())
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval().double()
    names = [head.name for head in capture(encoder, inputs())]
    assert names == [f"attention {i}, head {j}" for i in (0, 1) for j in (0, 1)]


def test_a_head_that_is_its_own_max_margin_solution_is_told_so():
    x = inputs(batch=4)
    (head,) = capture(F.scaled_dot_product_attention, x, x, x)
    W = att_svm(head.data, head.selected).W

    class Own(torch.nn.Module):
        def forward(self, x):
            return F.scaled_dot_product_attention(x @ torch.tensor(W).T, x, x, scale=20.0)

    (own,) = capture(Own(), x)
    own = type(own)(own.name, own.X, head.Z, 20.0 * W, own.mask, own.values, own.weights)
    same = own.compare()
    assert np.array_equal(own.selected, head.selected)
    assert abs(same.cosine - 1.0) <= 1e-9
    assert same.residual <= 1e-6
    assert abs(same.margin / same.best_margin - 1.0) <= 1e-6
    other = head.compare()
    assert other.cosine < 0.99
    assert other.margin < 0.99 * other.best_margin
    assert np.allclose(other.margins, margins(head.data, other.active, head.selected))
    assert np.linalg.norm(other.active) <= np.linalg.norm(head.W) * (1.0 + 1e-12)  # rounding
    assert 0.0 < head.compare("nuc").cosine < 1.0
    with pytest.raises(UsageError, match="no such norm"):
        head.compare("spectral")


def test_prices_are_how_far_outputs_move():
    (head,) = capture(F.scaled_dot_product_attention, *[inputs(batch=2)] * 3, is_causal=True)
    far = head.compare()

    def output(i, kept):
        weights = np.where(kept, head.weights[i], 0.0)
        return weights / weights.sum() @ head.values[i]

    for i in range(len(head.Z)):
        whole = output(i, head.mask[i])
        length = np.linalg.norm(whole)
        moved = np.linalg.norm(whole - output(i, far.needed[i])) / length
        assert abs(far.price[i] - moved) <= 1e-12
        for t in np.flatnonzero(head.mask[i]) if head.mask[i].sum() > 1 else ():
            kept = head.mask[i] & (np.arange(5) != t)
            moved = np.linalg.norm(whole - output(i, kept)) / length
            assert abs(head.prices[i, t] - moved) <= 1e-9
    assert np.isnan(head.prices[~head.mask]).all()
    kept = far.droppable
    assert kept.any()  # without them the solution is the same
    less = type(head.data)(head.X, head.Z, scores=head.weights, mask=far.needed & head.data.present)
    assert np.allclose(att_svm(less, head.selected).W, far.answer.W, atol=1e-7)


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


@pytest.mark.parametrize(
    ("options", "how", "cause"),
    [
        ({"add_bias_kv": True}, {}, "no token"),
        ({"add_zero_attn": True}, {}, "no token"),
        ({}, {"attn_mask": lambda: torch.full((5, 5), 0.5).double()}, "adds numbers"),
        ({}, {"attn_mask": lambda: torch.ones(5, 5, dtype=torch.bool)}, "sees a token"),
        ({"kdim": 6}, {}, "different dimensions"),
    ],
)
def test_what_is_no_attention_of_the_theory_is_refused(options, how, cause):
    x, module = inputs(), attention(**options)
    key = x[:, :, : options.get("kdim", 8)]
    how = {name: made() for name, made in how.items()}
    with pytest.raises(DataError, match=cause):
        capture(module, x, key, x, **how)
    assert module.training


def test_a_module_without_attention_and_an_environment_without_torch_are_told(monkeypatch):
    with pytest.raises(DataError, match="computed no attention"):
        capture(torch.nn.Linear(2, 2), torch.ones(2, 2))
    whole = builtins.__import__

    def without(name, *rest):
        if name.partition(".")[0] == "torch":
            raise ImportError(name)
        return whole(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError, match="PyTorch"):
        capture(None)


def test_the_example_shows_what_the_theory_predicts():
    spec = importlib.util.spec_from_file_location("transformer_head", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    threads = torch.get_num_threads()
    first, last, *trained = example.main((0, 300))
    torch.set_num_threads(threads)
    loss, optimal, entropy, norm = range(4)
    assert last[loss] < first[loss]
    assert last[optimal] > first[optimal]
    assert last[entropy] < 0.5 * first[entropy]
    assert last[norm] > 100 * first[norm]
    assert trained[1][loss] < 0.01  # everything is trained: the loss falls, attention stays spread
    assert trained[1][entropy] > 0.8 * trained[0][entropy]


# files


TOKENS = {
    "X": np.array([[[2.0, 0.0], [0.0, 1.0]], [[0.0, 3.0], [1.0, 0.0]]]),
    "Z": np.array([[1.0, 0.0], [0.0, 1.0]]),
}


def test_a_saved_head_is_read_as_it_was(tmp_path):
    (head,) = capture(F.scaled_dot_product_attention, *[inputs(batch=2)] * 3, is_causal=True)
    head.save(tmp_path / "head.npz")
    data, read = read_head(tmp_path / "head.npz")
    for name in ("X", "Z", "W", "mask", "values"):
        assert np.array_equal(getattr(read, name), getattr(head, name))
    assert np.allclose(read.weights, head.weights, rtol=1e-12, atol=0.0)
    assert data == read.data
    assert repr(read.compare()).splitlines()[1:] == repr(head.compare()).splitlines()[1:]


def test_data_of_their_own_keep_their_scores_beside_a_head(tmp_path):
    scores = np.array([[0.0, 1.0], [1.0, 0.0]])  # W attends to the token 0 of both
    np.savez(tmp_path / "both.npz", **TOKENS, scores=scores, W=np.diag([2.0, 3.0]))
    data, head = read_head(tmp_path / "both.npz")
    assert np.array_equal(data.scores, scores)
    assert head.selected.tolist() == [0, 0]
    assert np.array_equal(head.values, head.X)
    assert head.compare().margins.tolist() == [[np.inf, 4.0], [np.inf, 9.0]]
    np.savez(tmp_path / "alone.npz", **TOKENS, scores=scores)
    assert read_head(tmp_path / "alone.npz") == (data, None)
    with pytest.raises(FileError, match="not known") as caught:
        AttentionData.load(tmp_path / "both.npz")
    assert "read_head" in caught.value.remedy


@pytest.mark.parametrize(
    ("arrays", "cause"),
    [
        ({"W": np.eye(3)}, "W has d = 3 where the other arrays have d = 2"),
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
    assert head.weights[1].tolist() == [1.0, 0.0]
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
