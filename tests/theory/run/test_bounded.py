"""Evaluations end after counted steps: the same in every process, and tracing is as it was."""

import functools
import sys

import pytest

from attsvm.theory.run.bounded import TooLong, bounded, within_bound


def counted(number):
    """A loop of about twice so many steps."""
    total = 0
    for k in range(number):
        total += k
    return total


def test_steps_end_an_evaluation_and_nothing_else_does():
    with bounded(1000, __file__):
        assert within_bound(lambda: counted(400)) == 400 * 399 // 2
        with pytest.raises(TooLong):
            within_bound(lambda: counted(600))
    assert within_bound(lambda: counted(10**4)) == 10**4 * (10**4 - 1) // 2


def test_compiled_code_and_installed_modules_are_not_counted():
    with bounded(100, __file__):
        assert within_bound(lambda: sum(range(10**5))) == 10**5 * (10**5 - 1) // 2


def test_what_was_remembered_before_makes_no_difference():
    remembered = functools.cache(counted)
    with bounded(1000, __file__):
        first = within_bound(lambda: remembered(300) + counted(300))
        assert within_bound(lambda: remembered(300) + counted(300)) == first


def test_a_trace_of_others_is_there_again_after_it():
    before = sys.gettrace()

    def other(*_):
        return None

    sys.settrace(other)
    try:
        with bounded(10, __file__), pytest.raises(TooLong):
            within_bound(lambda: counted(100))
        assert sys.gettrace() is other
    finally:
        sys.settrace(before)
