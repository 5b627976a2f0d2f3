"""AttentionData: what it takes, what it refuses and how it says so, and its files."""

import io
import os
import struct
import tempfile
import zipfile
from dataclasses import FrozenInstanceError
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import AttsvmError, DataError, FileError
from attsvm.strategies import arrays
from attsvm.strategies.data import attention_data

KEYS = ("X", "Z", "y", "v", "scores", "mask")
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
PLAIN = {
    "X": [[[1.0, 2.0], [0.0, 1.0]], [[3.0, 0.0], [1.0, 1.0]]],
    "Z": [[1.0, 0.0], [0.0, 1.0]],
}
LABELLED = {**PLAIN, "y": [1.0, -1.0], "v": [1.0, 2.0]}
SCORED = {**PLAIN, "scores": [[1.0, 0.0], [0.0, 1.0]]}


@st.composite
def masked_data(draw):
    """Data with a mask in which every input keeps a token, or with none."""
    data = draw(attention_data())
    if draw(st.booleans()):
        return data
    mask = draw(arrays(data.n, data.T)) > 0
    mask[np.arange(data.n), [draw(st.integers(0, data.T - 1)) for _ in range(data.n)]] = True
    return AttentionData(**{**given_arrays(data), "mask": mask})


@st.composite
def wild_data(draw):
    """Data with scores and entries of any finite size, subnormals and extremes included."""
    n, T, d = (draw(st.integers(1, 3)) for _ in range(3))

    def block(*shape):
        size = int(np.prod(shape))
        return np.array(draw(st.lists(FLOATS, min_size=size, max_size=size))).reshape(shape)

    return AttentionData(block(n, T, d), block(n, d), scores=block(n, T))


def given_arrays(data):
    """The arrays that a data set was made from."""
    return {name: getattr(data, name) for name in KEYS if getattr(data, name) is not None}


def changed(data, name, value):
    return {**given_arrays(data), name: value}


def refused(fields, *words):
    """The error on these arrays; its message holds cause, remedy and all the words."""
    with pytest.raises(DataError) as caught:
        AttentionData.of(**fields)
    error = caught.value
    assert error.cause
    assert error.remedy
    message = str(error)
    assert error.cause in message
    assert error.remedy in message
    for word in words:
        assert word in message
    return error


@given(masked_data())
def test_data_are_frozen_copies_of_arrays_or_lists(data):
    arrays = {name: array.copy() for name, array in given_arrays(data).items()}
    same = AttentionData.of(**{name: array.tolist() for name, array in arrays.items()})
    copied = AttentionData.of(**arrays)
    for array in arrays.values():
        array[...] = 0
    assert data == same == copied
    for name, array in given_arrays(copied).items():
        assert array.dtype == (np.bool_ if name == "mask" else np.float64)
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    assert data.X.shape == (data.n, data.T, data.d)
    assert data.present.shape == (data.n, data.T)
    assert data.present.any(axis=1).all()
    assert data.present.all() or data.mask is not None
    with pytest.raises(FrozenInstanceError):
        data.X = arrays["X"]
    with pytest.raises(TypeError, match="unhashable"):
        hash(data)


@given(masked_data(), st.data())
def test_a_changed_entry_makes_other_data(data, draw):
    name = draw.draw(st.sampled_from(sorted(set(given_arrays(data)) - {"mask"})))
    array = getattr(data, name).copy()
    where = tuple(draw.draw(st.integers(0, size - 1)) for size in array.shape)
    array[where] = -array[where] if name == "y" else array[where] + 0.25
    assert AttentionData.of(**changed(data, name, array)) != data


def test_data_of_other_kinds_differ():
    labelled, scored = AttentionData.of(**LABELLED), AttentionData.of(**SCORED)
    assert labelled != scored
    assert scored != AttentionData.of(**SCORED, mask=np.ones((2, 2), dtype=bool))
    assert scored != "scored"
    same_scores = AttentionData.of(**PLAIN, scores=labelled.gamma)
    assert np.array_equal(same_scores.gamma, labelled.gamma)
    assert same_scores != labelled


@given(masked_data().filter(lambda data: data.scores is not None))
def test_scores_that_are_given_are_the_scores(data):
    assert np.array_equal(data.gamma, data.scores)


@given(masked_data().filter(lambda data: data.scores is None))
def test_scores_are_label_times_head_times_token(data):
    for i, t in np.ndindex(data.n, data.T):  # entries are dyadic and short: sums are exact
        product = sum(Fraction(a) * Fraction(b) for a, b in zip(data.X[i, t], data.v, strict=True))
        assert Fraction(data.gamma[i, t]) == Fraction(data.y[i]) * product


@given(attention_data(), st.sampled_from([np.nan, np.inf, -np.inf]), st.data())
def test_what_is_not_finite_is_refused_by_name_and_place(data, bad, draw):
    name = draw.draw(st.sampled_from(sorted(given_arrays(data))))
    array = getattr(data, name).copy()
    where = tuple(draw.draw(st.integers(0, size - 1)) for size in array.shape)
    array[where] = bad
    place = f"{name}[{', '.join(map(str, where))}] is not finite"
    error = refused(changed(data, name, array), place, str(bad))
    assert np.array_equal(error.value, bad, equal_nan=True)


@given(masked_data(), st.data())
def test_an_array_that_is_longer_than_others_is_refused(data, draw):
    name = draw.draw(st.sampled_from(sorted(given_arrays(data))))
    array = getattr(data, name)
    axis = draw.draw(st.integers(0, array.ndim - 1))
    # X alone says how many tokens there are when y and v are given and there is no mask
    assume((name, axis) != ("X", 1) or data.scores is not None or data.mask is not None)
    longer = np.concatenate([array, array.take([0], axis=axis)], axis=axis)
    error = refused(changed(data, name, longer), "(got shape")
    assert error.cause.split()[0] in given_arrays(data)


@given(masked_data(), st.sampled_from(["more", "fewer", "empty"]), st.data())
def test_shapes_that_do_not_fit_are_refused(data, change, draw):
    name = draw.draw(st.sampled_from(sorted(given_arrays(data))))
    array = getattr(data, name)
    axis = draw.draw(st.integers(0, array.ndim - 1))
    wrong = {"more": array[..., None], "fewer": array[0], "empty": array.take([], axis=axis)}[
        change
    ]
    words = "empty along" if change == "empty" and name != "mask" else f"{name} must have"
    error = refused(changed(data, name, wrong), name, words)
    assert error.value == f"shape {wrong.shape}"


NOT_REAL = [complex, str, object, bool, "datetime64[s]", "S8"]
NAN_PADDING = {**SCORED, "X": [[[1.0, 2.0], [np.nan, 1.0]], [[3.0, 0.0], [1.0, 1.0]]]}
REFUSED = [
    *(({**fields, name: np.array(fields[name]).astype(int).astype(dtype)},
       f"{name} has entries that are not real numbers")
      for dtype in NOT_REAL
      for fields, name in ((LABELLED, "X"), (LABELLED, "Z"), (LABELLED, "y"), (LABELLED, "v"),
                           (SCORED, "scores"))),
    *(({**SCORED, **extra}, "together with labels or a head")
      for extra in ({"y": [1.0, 1.0]}, {"v": [1.0, 1.0]}, LABELLED)),
    *(({**PLAIN, **extra}, "are needed together")
      for extra in ({}, {"y": [1.0, 1.0]}, {"v": [1.0, 1.0]})),
    ({**SCORED, "X": [[[1.0, 2.0]], [[1.0]]]}, "X is not a rectangular array"),
    ({**LABELLED, "X": np.full((2, 2, 2), 1e200), "v": [1e200, -1e200]}, "overflow float64"),
    *(({**SCORED, "mask": mask}, words) for mask, words in [
        (np.ones((2, 2)), "mask must be boolean (got dtype float64)"),
        (np.ones((2, 2), dtype=int), "mask must be boolean (got dtype int64)"),
        (np.ones((2, 3), dtype=bool), "mask must have shape (2, 2) (got shape (2, 3))"),
        (np.ones(2, dtype=bool), "mask must have shape (2, 2) (got shape (2,))"),
        ([[True, False], [False, False]], "mask leaves input 1 without any token"),
        ([[True], [False, True]], "mask is not a rectangular array"),
    ]),
    # before the padding that it hides
    ({**NAN_PADDING, "mask": [[1, 0], [1, 1]]}, "astype(bool)"),
]  # fmt: skip


def with_integer(integer):
    X = np.array([[[integer, 1], [0, 0]]])
    return AttentionData(X, Z=np.ones((1, 2)), scores=np.ones((1, 2)))


@pytest.mark.parametrize("integer", [2**53 + 1, -(2**62) - 1])
def test_integers_are_held_exactly_or_refused(integer):
    assert with_integer(2**53).X[0, 0, 0] == 2**53
    with pytest.raises(DataError, match=rf"X has an integer that float64 .* \(got {integer}\)"):
        with_integer(integer)


@pytest.mark.parametrize(("fields", "words"), REFUSED)
def test_what_makes_no_data_is_refused(fields, words):
    error = refused(fields, words)
    assert error.value is not None or words == "together with labels or a head"


@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: abs(x) != 1.0))
@example(0.0)
@example(float(np.nextafter(1.0, 2.0)))
def test_labels_are_minus_one_or_one(label):
    error = refused({**LABELLED, "y": [1.0, label]}, "label y[1] is neither -1 nor 1", repr(label))
    assert error.value == label


# files


@given(masked_data() | wild_data())
def test_a_saved_file_loads_as_the_same_data(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        data.save(path)
        assert os.listdir(folder) == ["data.npz"]
        loaded = AttentionData.load(path)
        assert loaded == data
        for name, array in given_arrays(loaded).items():
            assert array.tobytes() == getattr(data, name).tobytes()  # signed zeros too


@pytest.mark.parametrize("place", ["no/such/folder.npz", "file/inside.npz", "folder"])
def test_saving_where_nothing_can_be_written_leaves_nothing_behind(tmp_path, place):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileError, match="cannot write") as caught:
        AttentionData.of(**SCORED).save(tmp_path / place)
    assert str(tmp_path / place) in caught.value.cause
    assert caught.value.remedy
    assert sorted(tmp_path.rglob("*")) == before


def unreadable(path, *words):
    with pytest.raises(FileError) as caught:
        AttentionData.load(path)
    for word in (str(path), *words):
        assert word in str(caught.value)
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
def test_a_truncated_file_is_refused_at_every_cut(tmp_path, write):
    path = tmp_path / "cut.npz"
    write(path, **LABELLED)
    raw = path.read_bytes()
    for length in [*range(0, len(raw), 41), len(raw) - 1]:
        path.write_bytes(raw[:length])
        unreadable(path, "is not a readable .npz file")
    path.write_bytes(raw)
    assert AttentionData.load(path) == AttentionData.of(**LABELLED)


@given(st.binary(max_size=300))
@example(b"PK\x05\x06" + 18 * b"\0")
def test_random_bytes_are_refused(raw):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "noise.npz"
        path.write_bytes(raw)
        unreadable(path)


def _packed(write):
    memory = io.BytesIO()
    write(memory, **SCORED)
    return memory.getvalue()


PACKED = [_packed(np.savez), _packed(np.savez_compressed)]


@given(st.sampled_from(PACKED), st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255))))
def test_a_damaged_file_loads_as_data_or_is_refused(raw, damage):
    damaged = bytearray(raw)
    for place, byte in damage:
        damaged[int(place * (len(raw) - 1))] = byte
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.npz"
        path.write_bytes(damaged)
        loaded = _data_or_remedy(path)
        assert loaded if isinstance(loaded, str) else np.isfinite(loaded.gamma).all()


def _data_or_remedy(path):
    try:
        return AttentionData.load(path)
    except AttsvmError as error:
        return error.remedy


def _with_header(header):
    """A file whose X has this header, word for word."""
    text = header.encode()
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        entry = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + 64 * b"\0"
        archive.writestr("X.npy", entry)
        for name in ("Z", "scores"):
            part = io.BytesIO()
            np.save(part, np.array(SCORED[name]))
            archive.writestr(f"{name}.npy", part.getvalue())
    return memory.getvalue()


def test_false_headers_are_refused(tmp_path):
    path, start = tmp_path / "header.npz", "{'descr': '<f8', 'fortran_order': False, 'shape': "
    path.write_bytes(_with_header(start + "(2, 2, 2), }\n"))
    assert not AttentionData.load(path).X.any()  # so the header alone is false below
    for header in (
        *(f"{start}{shape}, }}\n" for shape in (f"({10**30}, 2, 2)", f"({10**15}, 2, 2)", "(-1,)")),
        start + "'''(",
        start.replace("'<f8'", "'|O'") + "(2, 2, 2), }\n",
        start.replace("'<f8'", "None") + "(2, 2, 2), }\n",
        "{[]: 1}\n",
        "(" * 9000,
        "",
    ):
        path.write_bytes(_with_header(header))
        unreadable(path, "is not a readable .npz file")


def test_what_a_file_lacks_or_should_not_hold_is_named(tmp_path):
    unreadable(tmp_path / "none.npz", "there is no file")
    unreadable(tmp_path, "is a folder")
    path = tmp_path / "keys.npz"
    np.savez(path, **SCORED, labels=[1, 1], gamma=[1])
    assert unreadable(path, "arrays that are not known").value == "gamma, labels"
    np.savez(path, **{"layer.q": PLAIN["X"], "layer.k": PLAIN["X"]})
    assert "`attsvm heads`" in unreadable(path, "arrays that are not known").remedy
    for fields, words in (
        ({"y": [1.0, 1.0], "v": [1.0, 1.0]}, "lacks X and Z"),
        ({"X": PLAIN["X"], "scores": SCORED["scores"]}, "lacks Z"),
    ):
        np.savez(path, **fields)
        unreadable(path, words)
    for fields, words in (
        (PLAIN, "are needed together"),
        ({**SCORED, "scores": [[1.0, np.nan], [0.0, 0.0]]}, r"scores\[0, 1\] is not finite"),
    ):
        np.savez(path, **fields)
        with pytest.raises(DataError, match=words):
            AttentionData.load(path)
    np.savez(path, Z=PLAIN["Z"], scores=SCORED["scores"])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("X", "[[[1, 2]]]")
    with pytest.raises(AttsvmError, match="is not an array in numpy's format"):
        AttentionData.load(path)


class _Plant:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("key", ["X", "y", "mask", "other"])
def test_pickled_content_is_refused_and_never_run(tmp_path, key):
    path, planted = tmp_path / "pickled.npz", tmp_path / "planted"
    np.savez(path, **{**LABELLED, key: np.array([_Plant(planted)], dtype=object)})
    unreadable(path)
    assert not planted.exists()
    with np.load(path, allow_pickle=True) as file:
        file[key]
    assert planted.exists()  # the plant works: whoever unpickles it is found out


def _central(raw):
    """Where the entries of the zip's directory start."""
    places, at = [], raw.find(b"PK\x01\x02")
    while at >= 0:
        places.append(at)
        at = raw.find(b"PK\x01\x02", at + 1)
    return places


def test_a_file_that_declares_more_than_four_gibibytes_is_refused(tmp_path):
    path = tmp_path / "bomb.npz"
    raw = bytearray(PACKED[1])
    for at in _central(bytes(raw))[:2]:
        raw[at + 24 : at + 28] = struct.pack("<I", 0xFFFFFFFE)  # the unpacked size
    path.write_bytes(raw)
    error = unreadable(path, "unpacks to more than 4 GiB")
    assert error.value > 2**32


@pytest.mark.parametrize(
    ("offset", "value", "words"),
    [(8, 1, "encrypted"), (10, 14, "is packed as numpy never packs")],
)
def test_encrypted_and_foreign_packings_are_refused(tmp_path, offset, value, words):
    path = tmp_path / "packed.npz"
    raw = bytearray(PACKED[0])
    for at in _central(bytes(raw))[:1]:
        raw[at + offset : at + offset + 2] = struct.pack("<H", value)
    path.write_bytes(raw)
    unreadable(path, words)


@pytest.mark.parametrize("padding", [np.nan, np.inf, -np.inf])
def test_padding_under_the_mask_may_be_anything(padding):
    X, scores = np.ones((2, 2, 1)), np.array([[1.0, 0.0], [1.0, 0.5]])
    mask = np.array([[True, False], [True, True]])
    X[0, 1], scores[0, 1] = padding, padding
    data = AttentionData(X, np.ones((2, 1)), scores=scores, mask=mask)
    assert data.X[0, 1, 0] == data.scores[0, 1] == 0.0
    X[1, 1] = padding
    with pytest.raises(DataError, match=r"X\[1, 1, 0\] is not finite"):
        AttentionData(X, np.ones((2, 1)), scores=np.zeros((2, 2)), mask=mask)


def _archive(path, packing=zipfile.ZIP_DEFLATED, **members):
    """An archive of arrays, each under the name with an underscore for the dot."""
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)


def _entry(shape, descr="<f8", content=b"", rest=", 'fortran_order': False"):
    text = f"{{'descr': '{descr}'{rest}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content


def test_a_small_file_that_unpacks_to_a_large_one_is_refused_unread(tmp_path):
    path = tmp_path / "bomb.npz"
    large = _entry("(2, 4194304, 1)", "|u1", bytes(1 << 23))  # 64 MiB as float64
    _archive(path, X=large, Z=_entry("(2, 1)", content=bytes(16)), scores=large * 9)
    assert path.stat().st_size < 1 << 20
    unreadable(path, "unpacks to more than 100 times its size")


def test_arrays_that_take_too_much_as_float64_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "bytes.npz"
    wide = {"X": np.ones((2, 2, 1000), dtype=np.int8), "Z": np.ones((2, 1000), dtype=np.int8)}
    np.savez(path, **{**SCORED, **wide})
    assert AttentionData.load(path).d == 1000
    monkeypatch.setattr("attsvm.data._LARGEST", 10_000)
    unreadable(path, "takes more than 4 GiB as float64")


def test_an_array_that_is_there_twice_is_refused(tmp_path):
    path = tmp_path / "twice.npz"
    np.savez(path, **SCORED)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("X.npy", archive.read("X.npy"))
    unreadable(path, "holds an array twice")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (_entry("(2, 2, 2)", content=bytes(63)), "another size than its header states"),
        (_entry("(2, 2, 2)", content=bytes(65)), "another size than its header states"),
        (_entry("(2L, 2L, 2L)", content=bytes(64)), "not a dictionary of constants"),
        (_entry("-" * 9000 + "1"), "not a dictionary of constants"),
        (_entry("(2, 2, 2)", "<c16", bytes(128)), "not of real numbers"),
        (_entry("(2, 2, 2)", "<M8[s]", bytes(64)), "not of real numbers"),
        (_entry("(2, 2, 2)", "<U2", bytes(64)), "not of real numbers"),
        (_entry("(2, 2, 2)", rest=""), "must have the keys descr, fortran_order and shape"),
        (_entry("(2, 2, 2)", rest=", 'fortran_order': 1"), "no valid fortran_order"),
        (_entry("(True, 2, 2)", content=bytes(32)), "a shape with a negative or too large size"),
        (_entry("(1,) * 40"), "not a dictionary of constants"),
        (_entry(str((1,) * 40), content=bytes(8)), "no valid fortran_order or no valid shape"),
        (_entry("(0, 4611686018427387904)"), "a shape with a negative or too large size"),
        (b"\x93NUMPY\x03\x00" + bytes(60), "not an array in numpy's format"),
        (b"\x93NUMPY\x01\x00\xff\xff" + b" " * 65535, "a header has 65535 bytes"),
        (b"", "not an array in numpy's format"),
    ],
)
def test_a_header_says_what_numpy_says_or_the_file_is_refused(tmp_path, entry, words):
    path = tmp_path / "header.npz"
    parts = {}
    for name in ("Z", "scores"):
        memory = io.BytesIO()
        np.save(memory, np.array(SCORED[name]))
        parts[name] = memory.getvalue()
    _archive(path, X=entry, **parts)
    unreadable(path, words)


@pytest.mark.parametrize("kind", ["f2", ">f4", "f8", ">i2", "u8", "i1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_real_type_and_order_are_read(tmp_path, kind, order):
    X = np.array([[[1.0, 2.0], [3.0, 0.0]], [[5.0, 0.0], [7.0, 1.0]]])
    arrays = {"X": X, "Z": np.ones((2, 2)), "scores": [[1.0, 0.0], [0.0, 1.0]]}
    np.savez(tmp_path / "a.npz", **{k: np.asarray(a, kind, order) for k, a in arrays.items()})
    assert AttentionData.load(tmp_path / "a.npz") == AttentionData.of(**arrays)
