"""A W is not taken for the trained one if the numbers of the layer say otherwise."""

import numpy as np
import pytest

from attsvm import capture
from tests.late import Late

torch, F = Late("torch"), Late("torch.nn.functional")
models = Late("tests.heads.models")


def changed(how):
    """A layer that overwrites some of its numbers before attention sees them."""

    class Changed(models.Bert):
        def forward(self, x):
            q, k, v = self.parts(x)
            how(x, q, k)
            return models.joined(models.sdpa(q, k, v, None))

    torch.manual_seed(1)
    return Changed(models.sdpa)


@pytest.mark.parametrize(
    "how",
    [
        lambda x, q, k: k[1, :, 3].zero_(),
        lambda x, q, k: q[0, :, 3].mul_(2.0),
        lambda x, q, k: x[1].mul_(2.0),
    ],
    ids=["a key", "a query", "inputs"],
)
@pytest.mark.parametrize("inference", [True, False])
def test_numbers_that_are_overwritten_before_attention_are_no_projections(how, inference):
    module, x = changed(how), models.tokens(length=20)
    with torch.inference_mode(inference):
        x = x.clone()  # a tensor made in this mode
        heads = capture(module, x)
    for head in heads:
        if head.notes[0].startswith("tokens are the keys"):
            continue
        assert inference  # in this mode a copy of the multiplied inputs is kept
        made = head.queries @ head.weights.T @ head.tokens.T
        far = np.where(head.seen, made - head.logits, np.nan)
        far -= np.nanmean(far, axis=1, keepdims=True)  # the constant that a bias of the keys adds
        assert np.nanmax(np.abs(far)) <= 1e-4


def test_inputs_that_are_overwritten_in_inference_mode_are_those_of_the_attention():
    layer = models.Bert(models.sdpa)

    def with_residual(x):
        with torch.inference_mode():
            y = x.clone()
            y += layer(y)
            return y

    x = models.tokens()
    assert np.array_equal(capture(with_residual, x)[0].tokens, x.reshape(-1, x.shape[-1]))


@pytest.mark.parametrize("inference", [True, False])
def test_logits_that_are_scaled_and_masked_in_place_are_taken_apart(inference):
    layer, x = models.Bert(models.sdpa), models.tokens()

    def in_place(x):
        with torch.inference_mode(inference):
            q, k, v = layer.parts(x)
            logits = q @ k.transpose(-1, -2)
            logits /= models.SIZE**0.5
            logits.masked_fill_(~models.causal(x.shape[1]), -1e30)
            return torch.softmax(logits, -1) @ v

    for head, plain in zip(capture(in_place, x), capture(layer, x), strict=True):
        assert head.notes == ("tokens are the inputs of the layer",)
        assert np.array_equal(head.sequence(0).seen, np.tri(10))
        assert np.allclose(head.weights, plain.weights, atol=1e-6)


@pytest.mark.parametrize(
    "add",
    [
        lambda x, y: x.add_(y),
        lambda x, y: x.__iadd__(y),
        lambda x, y: x.__setitem__(..., x + y),
        lambda x, y: x.data.add_(y),  # the version of x stays the same
        lambda x, y: torch.add(x, y, out=x),
        lambda x, y: torch.sort(x + y, out=(x, torch.zeros(x.shape, dtype=torch.int64))),
        lambda x, y: F.relu(x.add_(y), inplace=True),
    ],
    ids=["add_", "+=", "setitem", "data", "out", "two outs", "relu"],
)
def test_a_module_that_overwrites_inputs_and_queries_after_attention_leaves_heads_whole(add):
    layer, rows = models.Bert(models.sdpa), []

    def run(x, add):
        for _ in range(2):
            q, k, v = layer.parts(x)
            y = models.joined(models.sdpa(q, k, v, None))
            rows.append([part.clone() for part in (x, q, k)])
            add(x, y)
            add(q, q.clone())
            layer.k_proj.weight.data.mul_(1.0)

    heads = capture(run, models.tokens(), add)
    for i, head in enumerate(heads):
        x, q, k = (part.detach().double().numpy() for part in rows[i // models.HEADS])
        h = i % models.HEADS
        assert head.notes == ("tokens are the inputs of the layer",)
        assert np.array_equal(head.tokens, x.reshape(-1, x.shape[-1]))
        for b in range(2):
            logits = q[b, h] @ k[b, h].T / models.SIZE**0.5
            assert np.allclose(head.sequence(b).logits, logits, atol=1e-12)


def test_inputs_that_are_zero_do_not_tell_projections_apart():
    layer = models.Bert(models.sdpa)
    for part in (layer.q_proj, layer.k_proj, layer.v_proj):
        part.bias.data.zero_()
    (head, *_) = capture(layer, torch.zeros(1, 20, 24))
    assert head.notes[0].startswith("tokens are the keys")


@pytest.mark.parametrize("kind", ["T5", "Alibi"])
def test_numbers_that_are_added_in_half_precision_are_noted(kind):
    model = models.built(getattr(models, kind), models.eager).to(torch.bfloat16)
    for head in capture(model, models.tokens(length=20).to(torch.bfloat16)):
        assert any("numbers are added to the logits" in note for note in head.notes)


@pytest.mark.parametrize("autocast", [True, False])
def test_rounded_selections_of_multi_head_attention_are_counted(autocast):
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(64, 2, batch_first=True)
    x = 3.0 * torch.randn(1, 200, 64)
    if not autocast:
        module, x = module.to(torch.bfloat16), x.to(torch.bfloat16)

    def run(x):
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            return module(x, x, x)

    heads = capture(run, x)
    for head in heads:
        assert head.notes == ("tokens are the inputs of the layer", "computed in bfloat16")
    assert sum(head.rounded for head in heads) > 0
    assert sum(row.rounded for row in heads.table().rows) > 0
