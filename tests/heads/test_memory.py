"""A capture keeps no table of logits, and nothing that waits for a collection of garbage."""

import gc

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

    model, words = models.Model(models.GPT2, how), torch.randn(models.WIDTH, 50)
    gc.disable()
    try:
        heads = capture(lambda x: watched(model(x) @ words), models.tokens())
        assert [is_freed() for is_freed in freed] == [True] * 9
    finally:
        gc.enable()
    assert len(heads) == 2 * models.HEADS
