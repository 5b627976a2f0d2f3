"""Evaluations end after counted steps: the same in every process, and tracing is as it was."""

import fractions
import functools
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest
import sympy
from sympy import ZZ
from sympy.polys import densearith

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


def halved(depth):
    """As many calls as 2^depth, and no loop."""
    return 1 if depth == 0 else halved(depth - 1) + halved(depth - 1)


def test_calls_count_where_nothing_loops():
    with bounded(1000, __file__):
        assert within_bound(lambda: halved(8)) == 2**8
        with pytest.raises(TooLong):
            within_bound(lambda: halved(9))


def test_compiled_code_is_not_counted():
    with bounded(100, __file__):
        assert within_bound(lambda: sum(range(10**5))) == 10**5 * (10**5 - 1) // 2


def many_fractions():
    """Python's own module in Python, many times."""
    return sum(map(Fraction, range(1000)))


def long_product():
    """Loops of an installed module."""
    return densearith.dup_mul([1] * 64, [1] * 64, ZZ)[63]


def many_dataclass_calls():
    """Code that lies in no file, many times."""
    return sum(map(bool, map(Generated, range(1000))))


@dataclass
class Generated:
    """Its `__init__` is code made from text."""

    number: int


@pytest.mark.parametrize("evaluate", [many_fractions, long_product, many_dataclass_calls])
@pytest.mark.parametrize("module", [fractions, sympy])
def test_modules_beside_the_claim_are_not_counted(evaluate, module):
    """A claim may be installed itself, and a project may hold its virtual environment."""
    lies = Path(module.__file__)
    folder = lies.parents[lies.name == "__init__.py"]
    expected = evaluate()
    with bounded(100, str(folder / "claim.py")):
        assert within_bound(evaluate) == expected


def test_an_environment_inside_the_project_is_not_counted(tmp_path):
    installed = tmp_path / ".venv" / "lib" / "site-packages" / "slow.py"
    text = "def slow():\n    for k in range(1000):\n        pass\n    return 7\n"
    names, own = {}, {}
    exec(compile(text, str(installed), "exec"), names)
    exec(compile(text, str(tmp_path / "claim.py"), "exec"), own)
    with bounded(100, str(tmp_path / "claim.py")):
        assert within_bound(names["slow"]) == 7
        with pytest.raises(TooLong):
            within_bound(own["slow"])


def test_an_installed_claim_and_its_package_are_counted(tmp_path):
    base = tmp_path / "site-packages"
    (base / "pack").mkdir(parents=True)
    (base / "pack" / "__init__.py").touch()
    names = {}
    text = "def slow():\n    for k in range(1000):\n        pass\n"
    exec(compile(text, str(base / "pack" / "helper.py"), "exec"), names)
    with bounded(100, str(base / "pack" / "claim.py")), pytest.raises(TooLong):
        within_bound(names["slow"])


@pytest.mark.parametrize("name", ["<stdin>", "<ipython-input-3-abc>", "<python-input-4>"])
def test_what_is_typed_is_counted(name):
    names = {}
    text = "def slow():\n    for k in range(1000):\n        pass\n"
    exec(compile(text, name, "exec"), names)
    with bounded(100, "<stdin>"), pytest.raises(TooLong):
        within_bound(names["slow"])


def test_an_end_that_the_claim_catches_is_one():
    def catches(other):
        try:
            return counted(600)
        except BaseException:
            if other:
                raise ValueError from None
            return 0

    with bounded(1000, __file__):
        for other in (False, True):
            with pytest.raises(TooLong):
                within_bound(lambda other=other: catches(other))
        with pytest.raises(ZeroDivisionError):
            within_bound(lambda: 1 // 0)


def test_the_end_may_fall_where_a_generator_is_closed(monkeypatch):
    def halted():
        for k in (k for k in range(10**6)):
            if k:
                break
        return counted(10)

    ignored, ended = [], []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    for steps in range(40):
        with bounded(steps, __file__):
            try:
                within_bound(halted)
            except TooLong:
                ended.append(steps)
            with pytest.raises(TooLong):
                within_bound(lambda: sum(k for k in range(10**6)))
    assert not ignored
    assert ended == list(range(len(ended)))
    assert 20 < len(ended) < 40


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
