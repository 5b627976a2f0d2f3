"""The searchers find what they should, make it small, and depend on nothing but the seed."""

import contextlib
import math
import random
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import toy_pack
from flint import arb
from hypothesis import strategies as st
from toy_pack import build, constant, says, square, square_ball

from attsvm.exact import rational
from attsvm.theory import PROFILES, Slack
from attsvm.theory.instance import codec
from attsvm.theory.run.confirm import confirm
from attsvm.theory.run.tally import Tally
from attsvm.theory.search import ordinary
from attsvm.theory.search.hunt import hunt
from attsvm.theory.verification.check import check_part
from tests.theory.search.scouting import scouted, witnessed

QUICK = PROFILES["quick"]


def check(claim, seed=0):
    return check_part(claim, claim.part(""), QUICK, seed)


def confirmed(claim, outcome):
    """Whether the values of a find, read back, still refute."""
    case = codec.decode(outcome.refuted.instance, claim.instance_type)
    assert all(h.holds(case) for h in claim.hypotheses)
    return confirm(claim, {}, case, claim.conclusion(case).kind).refuted


@dataclass(frozen=True, slots=True)
class Table:
    """A matrix."""

    a: Any


def total(case: Table, shift: float = 0.0) -> Slack:
    return Slack(10.0 - float(case.a.sum()) - shift, 1e-6)


def total_ball(case: Table, shift: float = 0.0) -> arb:
    return arb(10 - sum(rational(float(x)) for x in case.a.ravel()) - rational(shift))


def tables(generator: np.random.Generator) -> Table:
    return Table(generator.normal(size=(2, 3)) * 8)


sums = build("sums", total, total_ball, data=st.just(Table(np.zeros((1, 1)))), expected="refuted")


@pytest.mark.parametrize("seed", range(3))
def test_a_find_of_the_ensemble_is_made_simple_without_losing_its_confirmation(seed):
    claim = replace(sums, ensemble=tables)
    outcome = check(claim, seed)
    assert outcome.refuted.found_by == "seeded ensemble"
    found = codec.decode(outcome.refuted.instance, Table).a
    assert confirmed(claim, outcome)
    assert (found == np.round(found)).all()
    assert 10 < found.sum() < 26
    assert found.size < 6


@pytest.mark.parametrize("action", ["error", "ignore", "default"])
def test_no_verdict_hangs_on_what_becomes_of_warnings(action):
    def conclusion(x: float, shift: float = 0.0) -> Slack:
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)
        return square(x, shift)

    with warnings.catch_warnings():
        warnings.simplefilter(action)
        claim = build("warning", conclusion, square_ball, cost=12)
        outcome = check(claim)
        assert hunt(claim, seconds=None, rounds=1).error is None
    assert (outcome.error, outcome.examples) == (None, QUICK.scaled(12).examples)


def test_a_find_of_hypothesis_is_shrunk_to_the_simplest_number():
    for seed in range(3):
        outcome = check(toy_pack.false, seed)
        assert outcome.refuted.instance == {"float": "6"}


def test_infinite_entries_neither_break_nor_join_the_climb():
    claim = build("infinite", constant(1.0, 0.0), says(arb(1)), data=st.just(math.inf))
    outcome = check(claim)
    assert (outcome.error, outcome.examples) == (None, 1)


def test_an_instance_without_numbers_is_not_climbed():
    def conclusion(word: str, shift: float = 0.0) -> Slack:
        return Slack(10.0 - len(word), 0.0)

    claim = build(
        "words", conclusion, lambda w, shift=0.0: arb(10 - len(w)), data=st.text("ab", max_size=9)
    )
    outcome = check(claim)
    assert (outcome.error, outcome.refuted) == (None, None)
    assert outcome.min_slack == 1.0


def drawn(monkeypatch, tmp_path, guard):
    """What is drawn before and after an unrelated module full of odd numbers was imported."""
    if not guard:
        monkeypatch.setattr(ordinary, "same_pool", contextlib.nullcontext)
    values = []

    def conclusion(x: float, shift: float = 0.0) -> Slack:
        values.append(x)
        return square(0.0)

    claim = build(
        "drawn",
        conclusion,
        square_ball,
        data=st.floats(allow_nan=False, allow_infinity=False),
    )
    check(claim)
    before = list(values)
    name = f"unrelated_{guard}".lower()
    constants = [1e6 * (2 + guard) + 89 * k + 0.125 for k in range(500)]
    (tmp_path / f"{name}.py").write_text(f"ODD = {constants!r}\n")
    monkeypatch.syspath_prepend(tmp_path)
    __import__(name)
    values.clear()
    check(claim)
    return before, values, set(constants)


@pytest.fixture
def folder(tmp_path_factory):
    """A folder whose name Hypothesis does not take for that of tests."""
    return tmp_path_factory.mktemp("plain")


@pytest.mark.parametrize("guard", [True, False])
def test_constants_of_loaded_modules_enter_the_instances_without_the_guard_alone(
    monkeypatch, folder, guard
):
    before, after, constants = drawn(monkeypatch, folder, guard)
    assert (before == after) is guard
    assert constants.isdisjoint(after) is guard


def test_the_guard_leaves_hypothesis_as_it_was():
    from hypothesis.internal.conjecture import providers

    def constants():
        return providers._get_local_constants

    original = constants()
    with ordinary.same_pool():
        assert constants() is not original
    assert constants() is original
    with contextlib.suppress(KeyError), ordinary.same_pool():
        raise KeyError
    assert constants() is original


def test_generators_that_all_share_begin_anew_for_every_instance_and_go_on_as_they_were():
    """Those of Python and numpy, which a claim may use."""

    def states():
        return random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002

    def conclusion(x: float, shift: float = 0.0) -> Slack:
        seen.append((random.random(), float(np.random.random())))  # noqa: NPY002
        return Slack(1.0, 0.0)

    seen, before = [], states()
    claim = build("shared", conclusion, says(None))
    ordinary.draw(Tally(claim, claim.part(""), 0), 20, 0, 0)
    assert len(seen) > 10
    assert len(set(seen)) == 1
    assert states() == before


def test_unsatisfiable_strategies_leave_no_instance_and_no_error():
    outcome = check(build("nothing", square, square_ball, data=st.nothing()))
    assert (outcome.examples, outcome.refuted) == (0, None)


def seen(name, case, seed=0):
    """What a searcher looks at from an instance, as texts, and its scout."""
    witness, claim = witnessed("seen", type(case))
    scout = scouted(claim, name, [case], seed=seed)
    return witness.keys(), scout


@pytest.mark.parametrize("case", [math.inf, "word", np.zeros((0, 2))])
def test_where_there_is_no_finite_number_nothing_is_proposed(case):
    assert seen("integers", case)[1].proposed == 0
