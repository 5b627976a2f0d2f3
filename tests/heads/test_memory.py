"""A capture keeps no table of logits, and nothing that waits for a collection of garbage."""

import gc

import numpy as np
import pytest

from attsvm import capture
from tests.late import Late

torch = Late("torch")
models = Late("tests.heads.models")
reductions = Late("torch.multiprocessing.reductions")


def test_tables_and_outputs_are_freed_while_heads_are_kept():
    freed = []

    def watched(tensor):
        freed.append(reductions.StorageWeakRef(tensor.untyped_storage()).expired)
        return tensor

    def how(q, k, v, mask):
        logits = watched(watched(q @ k.transpose(2, 3)) / models.SIZE**0.5)
        hidden = watched(logits.masked_fill(~mask, torch.finfo(q.dtype).min))
        return watched(hidden.softmax(-1)) @ v

    model, words = models.Model(models.GPT2, how), torch.ones(models.WIDTH, 50)
    gc.disable()
    try:
        heads = capture(lambda x: watched(model(x) @ words), models.tokens())
        assert [is_freed() for is_freed in freed] == [True] * 9
    finally:
        gc.enable()
    assert len(heads) == 2 * models.HEADS


@pytest.mark.parametrize("scaled", [lambda y: y / 2.5, lambda y: y * 0.4, lambda y: y.mul(0.4)])
def test_no_more_tables_of_logits_are_kept_than_a_module_keeps(scaled):
    freed = []

    def how(q, k, v, mask):
        y = q @ k.transpose(2, 3)
        first = reductions.StorageWeakRef(y.untyped_storage())
        y = scaled(y)
        freed.append(first.expired())
        second = reductions.StorageWeakRef(y.untyped_storage())
        y = y.masked_fill(~mask, torch.finfo(q.dtype).min)
        y = y.softmax(-1)
        freed.append(second.expired())
        return y @ v

    heads = capture(models.Model(models.GPT2, how), models.tokens())
    assert freed == [True] * 4
    for head in heads:
        made = head.queries @ head.weights.T @ head.tokens.T
        far = np.where(head.seen, made - head.logits, np.nan)
        far -= np.nanmean(far, axis=1, keepdims=True)  # the constant that a bias of the keys adds
        assert np.nanmax(np.abs(far)) <= 1e-4


def test_copies_of_keys_and_values_in_a_cache_are_freed():
    freed = []

    def how(q, k, v, mask):
        freed.extend(reductions.StorageWeakRef(x.untyped_storage()).expired for x in (k, v))
        return models.sdpa(q, k, v, mask)

    model, x = models.Model(models.GPT2, how), models.tokens()
    heads = capture(model, x)
    assert [is_freed() for is_freed in freed] == [True] * 4
    plain = model.layers[0].c_attn(torch.nn.functional.layer_norm(x, x.shape[-1:])).detach().numpy()
    for h, head in enumerate(heads[: models.HEADS]):
        first = 2 * models.WIDTH + h * models.SIZE
        values = plain[..., first : first + models.SIZE].reshape(-1, models.SIZE)
        assert (head.values == values).all()


def test_products_before_those_of_queries_are_freed():
    layer, wide, freed = models.Bert(models.sdpa), torch.nn.Linear(models.WIDTH, 50), []

    def run(x):
        before = reductions.StorageWeakRef(wide(x).untyped_storage()).expired
        layer(x)
        freed.append(before())
        return layer(x)

    heads = capture(run, models.tokens())
    assert freed == [True]
    assert {head.notes for head in heads} == {("tokens are the inputs of the layer",)}
