"""The message of an error is one line of printable text, whatever the value that it shows."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attsvm._words import printable
from attsvm.errors import AttsvmError, FileError


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@given(st.text())
def test_a_text_is_made_printable_and_nothing_of_it_is_lost(text):
    shown = printable(text)
    kept = [c for c in text if c.isprintable() or c.isspace()]
    assert len(shown) >= len(text)
    assert all(c in shown for c in kept if c.isprintable())
    assert not set(shown) & set("\n\r\t\x1b\x9b\u2028\u202e")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b\xa0c é ≤ 🙂", "a b\xa0c é ≤ 🙂"),
        ("\x1b[2J\n", "\\x1b[2J\\n"),
        ("\u202e\ufeff\ud800\x9b", "\\u202e\\ufeff\\ud800\\x9b"),
    ],
)
def test_only_what_is_no_letter_or_sign_is_escaped(text, shown):
    assert printable(text) == shown
    assert str(FileError("x", value=text)) == f"x (got {shown})."
    assert str(FileError(text)) == f"{shown}."


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x" * 10**6, "x" * 119 + "…"),
        (10**4299, f"an integer of {(10**4299).bit_length()} bits"),
        (10**5000, f"an integer of {(10**5000).bit_length()} bits"),  # which Python does not write
        ([1, "a", {"b": None}], "[1, 'a', {'b': None}]"),
        (list(range(10**5)), str(list(range(10**5)))[:119] + "…"),
        (-7, "-7"),
        (0.1, "0.1"),
    ],
    ids=["long", "digits", "more digits", "nested", "list", "integer", "float"],
)
def test_a_value_is_shown_in_few_letters(value, shown):
    assert str(AttsvmError("x", value=value)) == f"x (got {shown})."


def test_a_value_of_any_depth_can_be_shown():
    error = AttsvmError("x", value=nested(100_000))
    assert len(str(error)) < 200
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301


def test_all_parts_of_an_error_cross_a_process_boundary():
    error = pickle.loads(pickle.dumps(AttsvmError("x", value=3, remedy="Do y.")))  # noqa: S301
    assert (error.cause, error.value, error.remedy) == ("x", "3", "Do y.")
