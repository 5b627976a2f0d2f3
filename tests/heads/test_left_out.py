"""Notes name unrecognised attentions; captures of two threads do not disturb each other."""

import json
import threading

import pytest

from attsvm import capture
from attsvm.errors import DataError
from tests.late import Late

torch = Late("torch")
flex = Late("torch.nn.attention.flex_attention")
models = Late("tests.heads.models")


def capped(q, k, v, mask, scale=None):
    """Attention whose logits are bent by a tanh, as in Gemma 2."""
    logits = 2.0 * torch.tanh(q @ k.transpose(-1, -2) / 2.0)
    return logits.softmax(-1) @ v


def additive(q, k, v, mask, scale=None):
    """Attention whose logits are no products, as in Bahdanau's."""
    logits = torch.tanh(q[..., :, None, :] + k[..., None, :, :]).sum(-1)
    return torch.dropout(logits.softmax(-1), 0.5, False) @ v


@pytest.mark.parametrize("how", [capped, additive])
def test_an_attention_that_is_not_understood_is_counted_and_named(how):
    model = models.built(models.Bert, models.eager)
    model.layers[1].how = how
    heads = capture(model, models.tokens())
    assert [head.name for head in heads] == [f"layers.0, head {h}" for h in range(4)]
    (note,) = heads.notes
    assert note.startswith("1 attention left out")
    assert note.endswith(": layers.1")
    assert heads[1:].notes == heads.notes
    assert note in repr(heads)
    assert str(heads.table()).splitlines()[0] == note
    assert json.loads(json.dumps(heads.table().json()))["notes"] == [note]
    model.layers[0].how = how
    with pytest.raises(DataError, match=r"2 attentions left out.*: layers\.0, layers\.1"):
        capture(model, models.tokens())


@pytest.mark.parametrize("kind", ["GPT2", "Bert", "OPT", "T5", "Llama", "Einsum", "Single"])
@pytest.mark.parametrize("how", ["sdpa", "eager"])
def test_nothing_is_left_out_of_a_model_that_is_understood(kind, how):
    model = models.built(getattr(models, kind), getattr(models, how))
    heads = capture(model, models.tokens())
    assert heads.notes == ()

    def classified(x):
        return model(x).softmax(-1)

    assert capture(classified, models.tokens()).notes == ()


def test_captures_of_two_threads_leave_flex_attention_as_it_was():
    original, entered, done = flex.flex_attention, threading.Event(), threading.Event()
    layer, x = models.Bert(models.sdpa), models.tokens()

    def second(x):
        entered.set()
        done.wait()
        return layer(x)

    other = threading.Thread(target=capture, args=(second, x))

    def first(x):
        other.start()
        entered.wait(0.5)  # the other thread waits for the end of this capture
        return layer(x)

    capture(first, x)
    done.set()
    other.join()
    assert entered.is_set()
    assert flex.flex_attention is original


def test_a_sign_by_token_is_not_called_a_rotation_by_positions():
    class Signed(models.Bert):
        def forward(self, x):
            q, k, v = self.parts(x)
            q, k = (part * x[:, None, :, :1].sign() for part in (q, k))
            return models.joined(models.sdpa(q, k, v, None))

    for head in capture(Signed(models.sdpa), models.tokens()):
        assert head.weights is None
        assert head.notes[1].startswith("queries or keys keep the norms of their projections")
