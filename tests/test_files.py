"""Files are written whole or not at all, and reading survives anything."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attsvm import _files as files
from attsvm._files import dump, write_json
from attsvm.errors import FileError
from attsvm.theory.record import forms

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def test_what_is_written_is_read_back(tmp_path):
    path = tmp_path / "deep" / "er" / "a.json"
    write_json(str(path), {"b": 1, "a": [None, "é"]})
    assert files.read_json(path) == {"b": 1, "a": [None, "é"]}
    assert list(files.read_json(path)) == ["b", "a"]


def test_a_dash_is_standard_output(capsys):
    write_json("-", {"schema": 1})
    assert json.loads(capsys.readouterr().out) == {"schema": 1}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_no_json_are_refused(value):
    with pytest.raises(ValueError, match="JSON compliant"):
        dump({"x": value})


@given(st.binary(max_size=200))
def test_random_bytes_are_json_or_a_file_error(tmp_path_factory, raw):
    path = tmp_path_factory.getbasetemp() / "random.json"
    path.write_bytes(raw)
    try:
        expected = repr(files.parse(raw))
    except ValueError:
        with pytest.raises(FileError, match="not a readable JSON file"):
            files.read_json(path)
    else:
        assert repr(files.read_json(path)) == expected


def test_a_missing_file_a_folder_and_endless_brackets_are_file_errors(tmp_path):
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 200_000)
    for path in (tmp_path / "none", tmp_path, deep):
        with pytest.raises(FileError):
            files.read_json(path)
    with pytest.raises(FileError):
        files.read_json("a\0b")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b'{"a": 1, "b": 2, "a": 1}', "has a key twice"),
        (b'[{"x": {"a": 1, "a": 2}}]', "has a key twice"),
        *((text, "no float can hold") for text in (b"NaN", b"[-Infinity]", b"1e999", b"-1e999")),
        (b'"\\ud800"', "surrogates not allowed"),
        (b'{"\\uDFFF": 1}', "surrogates not allowed"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"9" * 5000, "4300 digits"),
        (b"\xff\xfe1\x00", "codec can't decode"),
        (b'{"a": 1}}', "Extra data"),
    ],
)
def test_what_goes_beyond_json_is_refused(raw, words):
    with pytest.raises(ValueError, match=words):
        files.parse(raw)


@given(JSON)
def test_what_is_json_is_read_as_python_reads_it(document):
    raw = json.dumps(document).encode()
    assert files.parse(raw) == json.loads(raw) == document


def test_a_pair_of_code_units_is_one_letter():
    assert files.parse(b'"\\ud83d\\ude42 \\\\ud800"') == "\U0001f642 \\ud800"


@pytest.mark.parametrize("endless", ["/dev/zero", "/dev/urandom"])
def test_a_file_without_end_is_refused(endless):
    with pytest.raises(FileError, match="it is larger than 1 MiB"):
        files.read_json(endless, most=1 << 20)


def test_a_giant_file_is_refused_unread(tmp_path):
    giant = tmp_path / "giant.json"
    with giant.open("wb") as handle:
        handle.truncate((1 << 26) + 1)
    with pytest.raises(FileError, match="larger than 64 MiB"):
        files.read_json(giant)


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), float("nan"), 10**400, -(10**400)])
def test_what_no_float_holds_is_no_number_of_a_record(value):
    assert not forms.number(value)
    assert forms.number(1.7e308 if value > 0 else -1.7e308)
