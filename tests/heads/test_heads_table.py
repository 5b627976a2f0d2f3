"""A table tells which heads select tokens, and a file of heads gives the same table."""

import json
import struct

import numpy as np
import pytest

from attsvm import capture, capture_qk
from attsvm.errors import DataError, FileError
from attsvm.heads import read_heads
from tests.late import Late

torch, models = Late("torch"), Late("tests.heads.models")


def drawn(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def test_figures_of_a_head_are_those_of_its_attention():
    q, k = 2 * drawn(0, 2, 3, 6, 4), drawn(1, 2, 3, 6, 4)
    heads = capture_qk(q, k, causal=True)
    for head, row in zip(heads, heads.table().rows, strict=True):
        weights, chosen, place = head.attention, head.targets, np.tile(np.arange(6), 2)
        free = head.seen.sum(axis=1) > 1
        assert row.queries == free.sum() == 10
        top = weights.max(axis=1)
        assert row.weight == pytest.approx(top[free].mean())
        share = head.entropy[free] / np.log(head.seen.sum(axis=1)[free])
        assert row.entropy == pytest.approx(share.mean())
        selects = free & (top >= 0.5)
        assert row.selecting == pytest.approx(selects.sum() / 10)
        assert row.first == pytest.approx((chosen == 0)[selects].mean())
        assert row.itself == pytest.approx(((chosen == place) & (chosen > 0))[selects].mean())
        two = np.sort(head.logits, axis=1)[free, -2:]
        assert row.gap == pytest.approx(np.median(two[:, 1] - two[:, 0]))


@pytest.mark.parametrize(
    ("q", "figures"),
    [
        ([[0.0], [0.0], [0.0]], {"weight": 0.5, "entropy": 1.0, "gap": 0.0}),
        ([[0.0], [0.0], [90.0]], {"first": 0.5, "itself": 0.5, "another": 0.0}),
        ([[0.0], [-90.0], [-90.0]], {"selecting": 1.0, "first": 1.0, "itself": 0.0}),
    ],
)
def test_extremes_have_known_figures(q, figures):
    """Keys grow with the position; query 0 sees one token and does not count."""
    mask = [[True, False, False], [True, True, False], [True, False, True]]
    keys = np.array([[0.0], [1.0], [2.0]])
    (row,) = capture_qk(np.array(q), keys, mask=mask, scale=1.0).table().rows
    assert row.queries == 2
    for name, value in figures.items():
        assert getattr(row, name) == pytest.approx(value)


def test_a_table_begins_with_the_tokens_and_names_every_head():
    heads = capture(models.built(models.GPT2), models.tokens())
    text = str(heads.table())
    first, _, *rows = text.splitlines()
    assert first == "8 heads, such as layers.0, head 0: tokens are the inputs of the layer"
    assert [row.split("  ")[0] for row in rows] == [head.name for head in heads]
    assert len(repr(heads)) < 200
    assert [head.name for head in heads[:2]] == ["layers.0, head 0", "layers.0, head 1"]
    (only,) = capture_qk(np.zeros((1, 2)), np.zeros((1, 2))).table().rows
    assert only.queries == 0  # one token: nothing is selected among others
    document = json.dumps(heads.table().json(), allow_nan=False)
    assert json.loads(document)["heads"][0]["name"] == "layers.0, head 0"


def test_half_precision_is_counted_in_the_table():
    model = models.built(models.Bert).to(torch.bfloat16)
    heads = capture(model, models.tokens(length=100).to(torch.bfloat16))
    rows = heads.table().rows
    assert [row.rounded for row in rows] == [head.rounded for head in heads]
    assert sum(row.rounded for row in rows) > 0


@pytest.mark.parametrize("kind", ["GPT2", "Bert", "Llama", "Normed"])
def test_saved_heads_have_the_same_figures(kind, tmp_path):
    heads = capture(models.built(getattr(models, kind)), models.tokens(), heads=[0, 2])
    heads.save(tmp_path / "heads.npz")
    read = read_heads(tmp_path / "heads.npz")
    for mine, other in zip(heads, read, strict=True):
        assert mine.name == other.name
        assert np.allclose(mine.logits, other.logits, atol=1e-12)
        assert np.array_equal(mine.values, other.values)
    for mine, other in zip(heads.table().rows, read.table().rows, strict=True):
        assert mine.weight == pytest.approx(other.weight)
        assert other.notes[0].startswith("tokens are the keys")
    added = capture(models.built(models.T5), models.tokens())
    with pytest.raises(DataError, match="numbers are added"):
        added.save(tmp_path / "added.npz")


def test_saved_heads_keep_notes_on_precision_masks_and_what_was_left_out(tmp_path):
    model = models.built(models.GPT2, models.eager).to(torch.bfloat16)
    model.layers[1].how = lambda q, k, v, mask: (q @ k.transpose(-1, -2)).tanh().softmax(-1) @ v
    heads = capture(model, models.tokens().to(torch.bfloat16))
    heads.save(tmp_path / "heads.npz")
    read = read_heads(tmp_path / "heads.npz")
    assert read.notes == heads.notes != ()
    for mine, other in zip(heads, read, strict=True):
        assert "computed in bfloat16" in mine.notes
        assert other.notes[0].startswith("tokens are the keys")
        assert other.notes[1:] == mine.notes[1:]
    assert "computed in bfloat16" in str(read.table())


TYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "bool": "BOOL"}


def safetensors(arrays, **changes):
    """The bytes of a safetensors file; bfloat16 is written for arrays of 16-bit integers."""
    header, content = {"__metadata__": {"format": "np"}}, b""
    for name, array in arrays.items():
        kind = "BF16" if array.dtype == np.uint16 else TYPES[str(array.dtype)]
        first, content = len(content), content + array.tobytes()
        header[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "data_offsets": [first, len(content)],
        } | changes
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content


def test_safetensors_and_npz_files_hold_the_same_heads(tmp_path, attsvm):
    names = [f"h.{i}.attn.{part}" for i in (0, 1) for part in "qkv"]
    arrays = {name: drawn(seed, 1, 2, 5, 4) for seed, name in enumerate(names)}
    arrays["h.0.attn.mask"] = np.tri(5, dtype=bool)
    arrays["h.1.attn.q"] = (arrays["h.1.attn.q"].view(np.uint32) >> 16).astype(np.uint16)
    (tmp_path / "heads.safetensors").write_bytes(safetensors(arrays))
    arrays["h.1.attn.q"] = (arrays["h.1.attn.q"].astype(np.uint32) << 16).view(np.float32)
    np.savez(tmp_path / "heads.npz", **arrays)
    one, other = (
        attsvm("heads", f"heads.{kind}", "--json", "-") for kind in ("npz", "safetensors")
    )
    assert one == other
    assert one[0] == 0
    found = json.loads(one[1])
    assert (found["schema"], len(found["heads"])) == (1, 4)
    code, out, _ = attsvm("heads", "heads.npz")
    assert code == 0
    assert out.startswith("4 heads, such as h.0.attn, head 0: tokens are the keys")
    assert out == f"{read_heads(tmp_path / 'heads.npz').table()}\n"


GOOD = {"a.q": np.zeros((2, 3), np.float32), "a.k": np.zeros((2, 3), np.float32)}


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "or an .npz file with capture(...).save."),
        (struct.pack("<Q", 1 << 40), "a header of 1099511627776 bytes"),
        (struct.pack("<Q", 2) + b"[]", "not an object"),
        (struct.pack("<Q", 9) + b"[" * 9, "not a readable safetensors"),
        (safetensors({}), "does not hold queries and keys (got no array)"),
        (safetensors({"a.q": GOOD["a.q"]}), "does not hold queries and keys (got no a.k)"),
        (safetensors(GOOD | {"a.x": GOOD["a.q"]}), "holds arrays that are not known (got a.x)"),
        (safetensors(GOOD)[:-1], "an entry of the header"),
        (safetensors(GOOD, dtype="C64"), "an entry of the header"),
        (safetensors(GOOD, shape=[2, 4]), "an entry of the header"),
        (safetensors(GOOD, shape=[-2, -3]), "an entry of the header"),
        (safetensors(GOOD, data_offsets=[24, 0]), "an entry of the header"),
    ],
)
def test_a_damaged_file_of_heads_is_refused(content, cause, tmp_path, attsvm):
    (tmp_path / "heads.safetensors").write_bytes(content)
    code, out, error = attsvm("heads", "heads.safetensors")
    assert (code, out) == (2, "")
    assert cause in error


def test_a_damaged_archive_names_what_writes_one_that_is_read(tmp_path, attsvm):
    (tmp_path / "heads.npz").write_bytes(b"PK")
    error = attsvm("heads", "heads.npz")[2]
    assert error.endswith(
        " Write it with capture(...).save or numpy.savez (plain numeric arrays).\n"
    )


@pytest.mark.parametrize(
    ("arrays", "cause"),
    [
        ({"X": np.zeros((1, 2, 3)), "Z": np.zeros((1, 3))}, "does not hold queries and keys"),
        (GOOD | {"a.scale": np.ones(2)}, "must be one number"),
        (GOOD | {"a.heads": np.arange(2)}, "must have 1 indices"),
        (GOOD | {"a.notes": np.frombuffer(b'["a', np.uint8)}, "notes of a are not"),
        (GOOD | {"a.notes": np.frombuffer(b'"a"', np.uint8)}, "notes of a are not"),
        (GOOD | {"a.left_out": np.frombuffer(b'["\\u001b[2J"]', np.uint8)}, "notes of a are not"),
        (GOOD | {"a.v": np.zeros((3, 3))}, "values of a do not fit"),
        (GOOD | {"a.k": np.array([[0, 1, np.inf]] * 2)}, r"k of a .* \(got inf at \(0, 2\)\)"),
        (GOOD | {"a.mask": np.zeros((2, 2), bool)}, "sees a token"),
        (GOOD | {"a.mask": np.zeros((2, 2))}, "truth values"),
        (GOOD | {"a.mask": np.full((2, 2), 2)}, "truth values"),
        (GOOD | {"a.mask": np.ones((3, 3), bool)}, "mask does not fit"),
        (GOOD | {"a.scale": np.array(np.nan)}, "scale is not finite"),
        (GOOD | {"a.heads": np.array([0.5])}, "must have 1 indices"),
        (GOOD | {"a.q": np.full((2, 3), 1e200), "a.k": np.full((2, 3), 1e200)}, "overflow"),
        (GOOD | {"a.q": np.ones((2, 0)), "a.k": np.ones((2, 0))}, "do not fit"),
    ],
)
def test_arrays_that_are_no_heads_are_refused(arrays, cause, tmp_path):
    np.savez(tmp_path / "heads.npz", **arrays)
    with pytest.raises((DataError, FileError), match=cause):
        read_heads(tmp_path / "heads.npz")
    with pytest.raises(FileError, match="there is no file"):
        read_heads(tmp_path / "none.safetensors")


def test_a_share_of_no_query_is_zero_and_not_a_rounding_error():
    keys, queries = np.zeros((23, 2)), np.tile([90.0, 0.0], (23, 1))
    keys[:2], queries[1] = np.eye(2), [0.0, 90.0]
    (row,) = capture_qk(queries, keys, causal=True).table().rows
    assert (row.first, row.itself, row.another) == (21 / 22, 1 / 22, 0.0)
    assert 1.0 - row.first - row.itself < 0.0
