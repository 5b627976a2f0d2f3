"""Instances survive their file bit for bit, and no file gets past the codec."""

import json
import math
import re
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attsvm.data import AttentionData
from attsvm.errors import AttsvmError, ClaimError, FileError
from attsvm.theory.instance import codec
from attsvm.theory.instance.document import integer_leaves
from attsvm.theory.instance.in_words import scaled


@dataclass(frozen=True)
class Inner:
    """A record of everything simple."""

    k: int
    flag: bool
    name: str | None
    share: Fraction


@dataclass(frozen=True)
class Outer:
    """A record that holds others."""

    x: float
    values: Any
    pair: tuple[Inner, Inner | None]
    data: AttentionData | None


def bits(value: float) -> str:
    return np.float64(value).tobytes().hex()


def through(value: Any, hint: Any) -> Any:
    """The value after it was written to text and read back."""
    return codec.decode(json.loads(json.dumps(codec.encode(value), allow_nan=False)), hint)


@given(st.floats(allow_nan=False))
@example(-0.0)
@example(5e-324)
@example(-2.2250738585072011e-308)
@example(1.7976931348623157e308)
@example(math.inf)
@example(-math.inf)
@example(0.1)
@example(2.0**53)
def test_a_float_comes_back_bit_for_bit(x):
    assert bits(through(x, float)) == bits(x)


@given(st.floats(allow_nan=False, allow_infinity=False).filter(bool))
@example(3.0)
@example(0.75)
@example(-6.0)
def test_a_float_is_an_odd_number_times_a_power_of_two(x):
    odd, power = scaled(x)
    assert odd % 2 == 1
    assert odd * Fraction(2) ** power == Fraction(x)


def test_integers_beyond_those_that_floats_hold_are_no_leaves_of_integers():
    sizes = [0, 107, -(2**53), 2**53, 2**53 + 1, -(2**53) - 1, 10**30]
    found = {n: bool(integer_leaves(codec.encode(n))) for n in sizes}
    assert found == {n: abs(n) <= 2**53 for n in sizes}


def test_nan_comes_back_as_nan():
    assert math.isnan(through(math.nan, float))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(0.0, "0"), (-0.0, "-0"), (-1.5, "-3/2"), (2.0**332, (2.0**332).hex())],
        *[(0.1, (0.1).hex()), (2.0**53 - 1, str(2**53 - 1)), (2.0**53, (2.0**53).hex())],
    ],
)
def test_a_float_is_written_by_its_exact_value(value, text):
    assert codec.encode(value) == {"float": text}


@given(st.integers() | st.booleans() | st.text() | st.none() | st.fractions())
def test_other_scalars_come_back_with_their_type(value):
    again = through(value, object)
    assert again == value
    assert type(again) is type(value)


@given(
    hnp.arrays(
        st.sampled_from([np.float64, np.int64, np.bool_]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    )
)
def test_an_array_comes_back_with_shape_type_and_bits(array):
    again = through(array, np.ndarray)
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    nan = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, bool)
    assert again[~nan].tobytes() == array[~nan].tobytes()
    assert array.dtype.kind != "f" or np.isnan(again[nan]).all()


@st.composite
def data_sets(draw: st.DrawFn) -> AttentionData:
    n, T, d = (draw(st.integers(1, 2)) for _ in range(3))
    numbers = st.floats(-1e150, 1e150)

    def array(*shape: int) -> Any:
        return draw(hnp.arrays(float, shape, elements=numbers))

    mask = None
    if draw(st.booleans()):
        mask = np.ones((n, T), bool)
        mask[0, T - 1] = T == 1
    if draw(st.booleans()):
        return AttentionData(array(n, T, d), array(n, d), scores=array(n, T), mask=mask)
    y = np.where(array(n) > 0, 1.0, -1.0)
    return AttentionData(array(n, T, d), array(n, d), y=y, v=array(d), mask=mask)


@given(data_sets())
def test_attention_data_come_back_whole(data):
    again = through(data, AttentionData)
    assert again == data
    assert codec.encode(again) == codec.encode(data)


@given(st.floats(allow_nan=False), st.integers(), st.text(), st.fractions(), data_sets())
def test_nested_records_come_back_with_their_types(x, k, name, share, data):
    inner = Inner(k, k > 0, name, share)
    outer = Outer(x, np.array([x, 0.0]), (inner, None), data)
    again = through(outer, Outer)
    assert (type(again), again.pair, again.data) == (Outer, (inner, None), data)
    assert codec.encode(again) == codec.encode(outer)
    assert codec.encode(codec.canonical(outer, Outer)) == codec.encode(outer)


@pytest.mark.parametrize(
    "value", [[1.0], {1}, {"a": 1}, 1j, np.array([1j]), np.array(["a"]), object(), Inner, b"x"]
)
def test_an_instance_of_other_things_is_refused(value):
    with pytest.raises(ClaimError):
        codec.encode(value)


def test_an_instance_that_its_hint_cannot_rebuild_is_refused():
    with pytest.raises(ClaimError, match="cannot be read back"):
        codec.canonical(Inner(1, True, None, Fraction(1, 2)), float)


def test_a_record_that_the_claim_does_not_use_is_refused():
    inner = codec.encode(Inner(1, True, None, Fraction(1, 2)))
    assert codec.decode(inner, Outer) == Inner(1, True, None, Fraction(1, 2))
    for hint in (float, AttentionData, object):
        with pytest.raises(FileError, match="type that its claim does not use"):
            codec.decode(inner, hint)


@pytest.mark.parametrize("name", ["Popen", "subprocess.Popen", "type", "__import__", "Fraction"])
def test_no_file_can_name_a_type_of_its_own(name):
    with pytest.raises(FileError, match="type that its claim does not use"):
        codec.decode({"record": name, "fields": {}}, Outer)


HOSTILE = [
    {"float": 1.0},
    {"float": "1e999999999"},
    {"float": "0x1p99999"},
    {"float": "1/0"},
    {"float": "٣"},
    {"float": " 1"},
    {"float": "1_0"},
    {"float": "9" * 65},
    {"float": "9" * 400},
    {"int": "²"},
    {"int": "1/2"},
    {"int": "1-2"},
    {"int": "-"},
    {"int": ""},
    {"int": "9" * 5000},
    {"fraction": "1/0"},
    {"fraction": "/"},
    {"fraction": None},
    {"tuple": {}},
    {"float64": [1], "values": []},
    {"float64": [-1], "values": []},
    {"float64": [0, 10**30], "values": []},
    {"float64": "1", "values": ["1"]},
    {"float64": [1], "values": ["x"]},
    {"float64": [1] * 100, "values": ["1"]},
    {"int64": [1], "values": [str(10**30)]},
    {"object": [1], "values": ["1"]},
    {"record": "Inner", "fields": {}},
    {"record": "Inner", "fields": {"__class__": "x"}},
    {"record": "AttentionData", "fields": {"X": "a", "Z": None}},
    {"record": ["Inner"], "fields": {}},
    {"record": "Inner", "fields": []},
    {},
    [],
    1.5,
    7,
]


@pytest.mark.parametrize("document", HOSTILE)
def test_a_hostile_document_is_a_plain_error(document):
    with pytest.raises(AttsvmError):
        codec.decode(document, Outer)


def test_endless_nesting_is_a_plain_error():
    document: Any = None
    for _ in range(20_000):
        document = {"tuple": [document]}
    with pytest.raises(FileError, match="nested too deeply"):
        codec.decode(document, Outer)


@pytest.mark.parametrize(
    ("document", "hint"),
    [
        (True, np.ndarray),
        ({"int": "5"}, np.ndarray),
        ({"fraction": "1/3"}, float),
        (True, float),
        ({"float": "1/3"}, float),
        ({"float": "3/2"}, int),
        (True, int),
        ({"float64": [1], "values": ["1/3"]}, np.ndarray),
        ({"float": "0x1p-5000"}, float),
        ({"float64": [True], "values": ["1"]}, np.ndarray),
        ({"tuple": [{"float": "1"}]}, tuple[float, float]),
        ("word", float | None),
    ],
)
def test_files_of_others_are_held_exactly_and_of_the_types_asked_for(document, hint):
    with pytest.raises(FileError):
        codec.decode_exactly(document, hint)


def test_a_number_that_is_written_otherwise_is_named_with_our_way():
    there = {"tuple": [{"float": "1"}, {"float": "0x1.8000000000000p+0"}]}
    with pytest.raises(FileError, match=re.escape("(got 0x1.8000000000000p+0). Write 3/2.")):
        codec.decode_exactly(there, tuple[float, float])


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (0.1, float),
        (np.array([0.5, -0.0, np.inf]), np.ndarray),
        ((1.5, "word", None), tuple[float, str, float | None]),
        ((1.0, 2.0, 3.0), tuple[float, ...]),
        (3, int),
    ],
)
def test_what_was_written_is_read_back_exactly(value, hint):
    again = codec.decode_exactly(codec.encode(value), hint)
    assert codec.encode(again) == codec.encode(value)


def test_a_field_that_a_file_lacks_has_its_default_and_another_one_is_refused():
    @dataclass(frozen=True)
    class Grown:
        x: float
        added: float = 1.0

    old = {"record": "Grown", "fields": {"x": {"float": "1/4"}}}
    for document, hint in ((old, Grown), ({"tuple": [old]}, tuple[Grown])):
        assert codec.encode(codec.decode_exactly(document, hint)) != document
    assert codec.decode_exactly(old, Grown) == Grown(0.25, 1.0)
    for fields in ({"added": {"float": "1"}}, {"x": {"float": "0x1p-5000"}}):
        with pytest.raises(FileError):
            codec.decode_exactly({"record": "Grown", "fields": fields}, Grown)


@pytest.mark.parametrize("digits", [4300, 9999])
def test_an_integer_that_python_does_not_write_is_refused(digits):
    for value in (10**digits, -(10**digits), Fraction(1, 10**digits)):
        with pytest.raises(ClaimError, match="an integer that is too long to be written"):
            codec.encode(value)
    assert codec.encode(10**4299)["int"] == "1" + "0" * 4299


@pytest.mark.parametrize(
    "shape",
    [
        [int("9" * 4000)] * 20_000,  # whose product would take minutes
        [1] * 100,
        [2**62, 0],
        [2**25, 0],
        [True],
        [0.0],
    ],
)
def test_a_shape_that_no_array_has_is_refused_at_once(shape):
    started = time.process_time()
    for name in ("float64", "int64", "bool"):
        with pytest.raises(FileError, match="does not have the size that it states"):
            codec.decode({name: shape, "values": []}, np.ndarray)
        assert codec.decode({name: [1] * 32, "values": ["1"]}, np.ndarray).ndim == 32
    assert time.process_time() - started < 5.0
