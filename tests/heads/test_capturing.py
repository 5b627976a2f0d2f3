"""Heads of models as people build them have the weights, masks and W that the models computed."""

import builtins

import numpy as np
import pytest

from attsvm import capture
from attsvm.errors import DataError, UsageError
from attsvm.heads import capture_qk
from tests.late import Late

torch, F = Late("torch"), Late("torch.nn.functional")
models = Late("tests.heads.models")
flex = Late("torch.nn.attention.flex_attention")

BILINEAR = "GPT2 Bert OPT Einsum Single"
ADDED, ROTARY, KEYS = "T5 Alibi", "Llama NeoX", "Normed"
EACH = [(kind, how) for kind in f"{BILINEAR} {ADDED} {ROTARY} {KEYS}".split() for how in (0, 1)]


def built(kind, how=0):
    return models.built(getattr(models, kind), (models.sdpa, models.eager)[how])


def outputs(heads, batch):
    """The output of a layer, made of the attention and the values of its heads."""
    mixed = [h.attention @ h.values for h in heads]
    return np.concatenate([m.reshape(batch, -1, m.shape[-1]) for m in mixed], axis=2)


def bilinear(head):
    """x^T W z, with the mean over seen tokens taken from each query, and the same of logits."""
    logits, seen = head.logits, head.seen
    made = head.queries @ head.weights.T @ head.tokens.T
    tables = (np.where(seen, table, 0.0) for table in (made, logits))
    means = seen.sum(axis=1, keepdims=True)
    return tuple(np.where(seen, t - t.sum(axis=1, keepdims=True) / means, 0.0) for t in tables)


@pytest.mark.parametrize(("kind", "how"), EACH)
def test_heads_compute_what_the_layer_computes(kind, how):
    model, x = built(kind, how), models.tokens()
    heads = capture(model, x)
    first = [head for head in heads if head.name.startswith("layers.0, ")]
    assert len(heads) == 2 * len(first)
    layer = model.layers[0]
    expected = layer(F.layer_norm(x, x.shape[-1:])).detach()
    made = torch.tensor(outputs(first, len(x))).float()
    if kind == "GPT2":
        made = layer.c_proj(made).detach()
    assert np.allclose(made, expected, atol=1e-5)


@pytest.mark.parametrize(("kind", "how"), [(k, h) for k, h in EACH if k in BILINEAR])
def test_w_is_the_matrix_that_was_trained(kind, how):
    model, x = built(kind, how), models.tokens()
    heads = capture(model, x)
    inputs = F.layer_norm(x, x.shape[-1:]).reshape(-1, x.shape[-1])
    assert np.array_equal(heads[0].tokens, inputs)
    for head in heads:
        assert head.notes == ("tokens are the inputs of the layer",)
        made, logits = bilinear(head)
        assert np.abs(made - logits).max() <= 1e-5 * np.abs(logits).max()
    layer = model.layers[0]
    if kind in ("Bert", "OPT", "Einsum"):
        Q, K, b = layer.q_proj.weight[:6], layer.k_proj.weight[:6], layer.q_proj.bias[:6]
        W = (K.T @ torch.hstack([Q, b[:, None]])).detach() / 6**0.5
        assert np.allclose(heads[0].weights, W, atol=1e-6)


@pytest.mark.parametrize(("kind", "how"), [(k, h) for k, h in EACH if k in ADDED])
def test_numbers_that_are_added_are_kept_apart_from_w(kind, how):
    heads = capture(built(kind, how), models.tokens())
    assert [*{head.notes[0] for head in heads}] == ["tokens are the inputs of the layer"]
    for head in heads:
        assert any("numbers are added to the logits" in note for note in head.notes)
        made, logits = bilinear(head.sequence(0))
        other, changed = bilinear(head.sequence(1))  # the numbers are those of positions alone
        assert np.abs(logits - made - (changed - other)).max() <= 1e-4


@pytest.mark.parametrize(("kind", "how"), [(k, h) for k, h in EACH if k in ROTARY])
def test_rotary_positions_leave_no_single_w(kind, how):
    heads = capture(built(kind, how), models.tokens())
    for head in heads:
        assert head.weights is None
        assert head.notes[0] == "tokens are the inputs of the layer"
        assert "as rotary positions do: no single W is compared" in head.notes[1]
        assert head.tokens.shape == (20, 24)
    compared = heads[0].compare()
    assert np.isnan([compared.margin, compared.share, compared.cosine]).all()
    assert "no single W has one" in repr(compared)
    assert "cosine" not in repr(compared)
    keys = capture(built(kind, how), models.tokens(), tokens="keys")
    for head, same in zip(heads, keys, strict=True):
        assert np.array_equal(head.logits, same.logits)
        made, logits = bilinear(same)
        assert np.allclose(made, logits, atol=1e-12)


@pytest.mark.parametrize("kind", [*ROTARY.split(), "Neighbours"])
@pytest.mark.parametrize("distance", [0, 3])
def test_w_of_a_distance_gives_the_logits_of_its_tokens(kind, distance):
    model = built(kind)
    if kind == "NeoX":  # a bias of keys gives a query a number that W does not have
        for layer in model.layers:
            layer.query_key_value.bias.data.view(4, 3, 6)[:, 1] = 0.0
    for head in capture(model, models.tokens()):
        near = head.at_distance(distance)
        assert near.notes[0] == "tokens are the inputs of the layer"
        assert f"W is that of tokens {distance} places before their query" in near.notes[1]
        assert near.weights.shape == (24, 24 + (kind == "NeoX"))
        one = near.sequence(1)
        made, logits = one.queries @ one.weights.T @ one.tokens.T, head.sequence(1).logits
        at = (table.diagonal(-distance) for table in (made, logits))
        assert np.allclose(*at, rtol=0.0, atol=1e-4 * np.abs(made).max())
    compared = near.sequence(0).compare(baseline=False)
    assert 0.0 < abs(compared.cosine) < 1.0
    assert "before their query" in repr(compared).split("\n")[0]


def test_only_heads_with_rotary_positions_have_a_w_of_a_distance():
    head = capture(built("Bert"), models.tokens())[0]
    with pytest.raises(DataError, match="no W that depends on the distance alone"):
        head.at_distance(1)
    with pytest.raises(UsageError, match="distances are 0 to 9"):
        head.at_distance(10)


@pytest.mark.parametrize("how", [0, 1])
def test_what_is_not_linear_in_the_inputs_has_keys_as_tokens_and_says_so(how):
    for head in capture(built("Normed", how), models.tokens()):
        assert head.notes[0].startswith("tokens are the keys, so that W is a multiple of the ident")
        assert "not linear in inputs" in repr(head)
        assert np.allclose(head.weights, np.eye(6) * 6**-0.5)
        assert head.name.startswith("layers.")  # named after the projection of its values


def test_no_similar_projection_is_taken_for_another():
    """Queries of another module, or changed in one entry, are no projection of these inputs."""
    x = models.tokens()

    class Changed(models.Bert):
        def parts(self, x):
            q, k, v = super().parts(x)
            q = q.clone()
            q[0, 0, 3, 2] *= -1.0  # the norm stays
            return q, k, v

    for head in capture(models.Model(Changed, models.sdpa), x):
        assert head.notes[0].startswith("tokens are the keys")


def test_one_token_leaves_no_choice_between_columns():
    x = models.tokens(1, 1)
    weight = torch.ones(24, 24)

    class Equal(models.Bert):
        def parts(self, x):
            self.q_proj.weight.data = weight + torch.arange(24)[:, None] * torch.tensor(
                [1.0, -1.0] * 12
            )
            return super().parts(x)

    same = torch.ones_like(x)
    model = Equal(models.sdpa)
    model.q_proj.bias.data.zero_()
    (first, *_) = capture(model, same)  # all columns have the number 24, and other weights
    assert first.notes[0].startswith("tokens are the keys")


def test_flex_attention_is_seen_with_its_mask():
    def sees(b, h, q, k):
        return (q >= k) & (q - k < 4)

    def windowed(q, k, v, mask):
        block = flex.create_block_mask(sees, None, None, q.shape[2], k.shape[2], device="cpu")
        return flex.flex_attention(q, k, v, block_mask=block)

    original = flex.flex_attention
    model, x = models.Model(models.Bert, windowed), models.tokens()
    heads = capture(model.eval(), x, layers=[1])
    assert flex.flex_attention is original
    places = np.arange(10)
    far = places[:, None] - places
    assert np.array_equal(heads[0].sequence(0).seen, (far >= 0) & (far < 4))
    assert heads[0].notes == ("tokens are the inputs of the layer",)
    assert [head.name for head in heads] == [f"layers.1, head {h}" for h in range(4)]
    with pytest.raises(DataError, match="changes its logits"):
        capture(lambda x: flex.flex_attention(x, x, x, score_mod=lambda s, *_: 2 * s), x[:, None])


# PyTorch's own modules


def attention(**options):
    torch.manual_seed(1)
    return torch.nn.MultiheadAttention(8, 2, batch_first=True, **options).double()


def small(batch=3, length=5, d=8):
    return models.tokens(batch, length, d).double()


def causal(length):
    return torch.nn.Transformer.generate_square_subsequent_mask(length, dtype=torch.float64)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("kdim", [8, 6])
def test_weights_and_values_of_a_multi_head_attention_are_its_own(bias, fast, kdim):
    module, x = attention(bias=bias, kdim=kdim), small()
    key = x[:, :, :kdim]
    if bias:
        torch.nn.init.normal_(module.in_proj_bias)
    hidden = torch.tensor([[0, 0, 0, 0, 1], [0] * 5, [0, 0, 1, 0, 0]], dtype=torch.bool)
    if fast:
        hidden = torch.zeros(3, 5).double().masked_fill(hidden, -torch.inf)
    how = {"attn_mask": causal(5) if fast else causal(5) < 0, "key_padding_mask": hidden}
    heads = capture(module, x, key, x, **how, need_weights=not fast)
    output, seen = module(x, key, x, **how, average_attn_weights=False)
    for j, head in enumerate(heads):
        assert head.name == f"MultiheadAttention, head {j}"
        assert np.allclose(head.own(head.attention).reshape(3, 5, 5), seen[:, j].detach())
        assert head.weights.shape == (kdim, 8 + bias)
        made, logits = bilinear(head)
        assert np.abs(made - logits).max() <= 1e-12
        assert head.compare().answer.solved
    mixed = torch.tensor(outputs(heads, 3))
    assert np.allclose(module.out_proj(mixed).detach(), output.detach(), atol=1e-12)
    assert module.training


@pytest.mark.parametrize("shape", [(5, 8), (3, 5, 8), (3, 2, 5, 8), (2, 3, 2, 5, 8)])
@pytest.mark.parametrize("scale", [None, 0.5])
def test_a_dot_product_gives_its_output(shape, scale):
    q, k, v = (torch.randn(shape, generator=torch.Generator().manual_seed(s)) for s in range(3))
    see = torch.ones(5, 5, dtype=torch.bool).tril()
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=see, scale=scale)
    masks = ({"attn_mask": see}, {"is_causal": True}, {"attn_mask": see.expand(*shape[:-2], 5, 5)})
    for masked in masks:
        heads = capture(F.scaled_dot_product_attention, q, k, v, scale=scale, **masked)
        made = [(h.attention @ h.values).reshape(-1, 5, 8) for h in heads]
        assert np.allclose(np.stack(made, 1).reshape(shape), expected, atol=1e-6)


def test_shared_keys_are_seen():
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(1, count, 3, 2, generator=generator) for count in (4, 2))
    heads = capture(F.scaled_dot_product_attention, q, k, k, enable_gqa=True)
    for head, key in zip(heads, k[0].repeat_interleave(2, 0), strict=True):
        assert np.array_equal(head.tokens, key)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("first", [True, False])
def test_layers_of_an_encoder_and_a_decoder_are_seen_by_name(training, first):
    options = {"batch_first": True, "norm_first": first}
    encoder = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(8, 2, 16, **options), 2, enable_nested_tensor=False
    )
    decoder = torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(8, 2, 16, **options), 1)
    encoder, decoder = (module.double().train(training) for module in (encoder, decoder))
    x, y = small(), small(3, 4)
    heads = capture(encoder, x)
    assert [head.name for head in heads] == [
        f"layers.{i}.self_attn, head {j}" for i in (0, 1) for j in (0, 1)
    ]
    if not first:
        assert np.array_equal(heads[0].tokens, x.reshape(15, 8))
    heads = capture(decoder, y, x, tgt_mask=causal(4), tgt_is_causal=True)
    own, _, cross, _ = heads
    assert [own.name, cross.name] == [
        f"layers.0.{kind}, head 0" for kind in ("self_attn", "multihead_attn")
    ]
    assert np.array_equal(own.sequence(0).seen, np.tri(4))
    assert np.array_equal(cross.tokens, x.reshape(15, 8))
    assert cross.queries.shape == (12, 9)


@pytest.mark.parametrize("options", [{"add_bias_kv": True}, {"add_zero_attn": True}])
def test_a_key_that_belongs_to_no_token_is_refused(options):
    x, module = small(), attention(**options)
    with pytest.raises(DataError, match="no token"):
        capture(module, x, x, x)
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


# masks and precision


def masked(mask, *, dtype=None, length=10):
    """Heads of one layer whose additive or boolean mask is this one."""

    class Masked(models.Bert):
        def forward(self, x):
            return models.joined(models.sdpa(*self.parts(x), mask))

    torch.manual_seed(1)
    module = Masked(models.sdpa).to(dtype or torch.float32)
    return capture(module, models.tokens(length=length).to(dtype or torch.float32))


@pytest.mark.parametrize("low", [-1e4, -1e9, "least"])
def test_low_numbers_of_a_mask_hide_tokens_and_are_noted(low):
    low = torch.finfo(torch.float32).min if low == "least" else low
    see = models.causal()
    expected = masked(see)[0]
    head = masked(torch.zeros(see.shape).masked_fill(~see, low))[0]
    assert np.array_equal(head.seen, expected.seen)
    assert np.array_equal(head.logits, expected.logits)
    assert head.notes[1:] == (f"mask values such as {low:.3g} count as minus infinity",)
    assert masked(torch.zeros(see.shape).masked_fill(~see, -torch.inf))[0].notes == expected.notes


def test_other_numbers_of_a_mask_are_kept_in_the_logits():
    numbers = torch.full((10, 10), -9e3).fill_diagonal_(0.5)
    head, plain = masked(numbers)[0].sequence(0), masked(None)[0].sequence(0)
    assert np.allclose(head.logits, plain.logits + numbers.numpy())
    assert "numbers are added" in head.notes[1]


def test_queries_without_a_token_and_exact_copies_are_counted_and_named():
    see = models.causal().clone()
    see[..., 2, :] = False
    head = masked(see)[0]
    assert (head.count, [*map(len, head.positions)]) == (18, [9, 9])
    assert head.notes[-1] == "2 queries without a token"
    assert "2 queries without a token" in repr(head)
    x = models.tokens()
    x[1, 7] = x[1, 3]
    x[0, 1] = x[0, 0]
    heads = capture(models.Bert(models.sdpa), x)
    assert heads[0].notes[-1] == "2 exact copies: token 1 of sequence 0 is token 0"
    with pytest.raises(DataError, match="no query sees a token"):
        masked(torch.zeros(10, 10, dtype=torch.bool))


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_selections_that_float32_would_not_make_are_counted(kind):
    heads = masked(None, dtype=getattr(torch, kind), length=100)
    for head in heads:
        assert head.notes[:2] == ("tokens are the inputs of the layer", f"computed in {kind}")
        made, _ = bilinear(head)
        other = np.where(head.seen, made, -np.inf).argmax(axis=1) != head.selected
        assert head.rounded == other.sum()
    assert kind == "float16" or sum(head.rounded for head in heads) > 0
    assert all(head.rounded == 0 for head in masked(None))


# choices and references


def test_layers_heads_queries_and_sequences_can_be_chosen():
    model, x = built("GPT2"), models.tokens(3)
    every = {head.name: head for head in capture(model, x)}
    chosen = capture(model, x, layers=[1], heads=[2, 0], queries=[9, 4], sequences=[2])
    assert [head.name for head in chosen] == ["layers.1, head 2", "layers.1, head 0"]
    for head in chosen:
        whole = every[head.name].sequence(2)
        assert np.array_equal(head.logits, whole.logits[[9, 4]])
        assert np.array_equal(head.queries, whole.queries[[9, 4]])
        assert np.array_equal(head.tokens, whole.tokens)
    with pytest.raises(UsageError, match="no such tokens"):
        capture(model, x, tokens="values")
    for wrong in ({"heads": [4]}, {"queries": [-1]}, {"sequences": [3]}):
        with pytest.raises(UsageError, match=r"layers\.0 has \w+ 0 to"):
            capture(model, x, **wrong)
    with pytest.raises(UsageError, match="integers from 0 to"):
        chosen[0].compare(queries=np.array([-1]))
    with pytest.raises(DataError, match="look at layers"):
        capture(model, x, layers=[7])


def test_tensors_are_references_and_training_makes_heads_stale():
    model, x = built("Bert"), models.tokens()
    (head, *_) = capture(model, x)
    W = head.weights
    with torch.no_grad():
        model.layers[0].q_proj.weight.mul_(2.0)
    with pytest.raises(DataError, match="overwritten since it was captured"):
        _ = head.weights
    assert np.allclose(capture(model, x)[0].weights[:, :-1], 2.0 * W[:, :-1])
    assert isinstance(head.logits, np.ndarray)  # from queries and keys, which nothing overwrote


def test_a_module_that_runs_twice_has_a_name_for_each_call():
    layer, x = models.Bert(models.sdpa), models.tokens()
    layer.train()
    layer.k_proj.eval()
    names = [head.name for head in capture(lambda x: layer(layer(x)), x, heads=[0])]
    assert names == ["attention 0, head 0", "attention 1, head 0"]
    twice = torch.nn.Sequential(layer, layer)
    names = [head.name for head in capture(twice, x, heads=[0])]
    assert names == ["0, head 0", "0, call 2, head 0"]
    assert (layer.training, layer.k_proj.training) == (True, False)


@pytest.mark.parametrize("lead", [(), (4,), (2, 4)])
def test_queries_and_keys_at_hand_make_the_heads_that_are_captured(lead):
    q, k, v = (
        torch.randn(*lead, 5, 3, generator=torch.Generator().manual_seed(i)) for i in range(3)
    )
    four = [a.reshape((1,) * (4 - a.ndim) + a.shape) for a in (q, k, v)]
    captured = capture(F.scaled_dot_product_attention, *four, is_causal=True)
    for as_given in (lambda a: a, lambda a: a.numpy()):
        heads = capture_qk(*map(as_given, (q, k, v)), causal=True, name="attention 0")
        assert [head.name for head in heads] == [head.name for head in captured]
        for mine, other in zip(heads, captured, strict=True):
            assert np.allclose(mine.attention @ mine.values, other.attention @ other.values)
            assert mine.notes[0] == "tokens are the keys, so that W is a multiple of the identity"


@pytest.mark.parametrize(
    ("q", "k", "cause"),
    [
        (np.ones((5, 3)), np.ones((5, 4)), "do not fit"),
        (np.ones((3, 5, 3)), np.ones((2, 5, 3)), "do not fit"),
        (
            np.full((5, 3), np.nan),
            np.ones((5, 3)),
            r"not finite, 15 in all \(got nan at \(0, 0\)\)",
        ),
        (np.ones(3), np.ones((5, 3)), "q of attention has not 2 to 4 axes"),
    ],
)
def test_queries_and_keys_that_do_not_fit_are_refused(q, k, cause):
    with pytest.raises(DataError, match=cause):
        capture_qk(q, k)
