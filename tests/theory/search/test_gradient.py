"""The gradient finds thin violations that others miss, and leaves the process as it was."""

import itertools
import random
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import strategies as st
from toy_pack import build, stated

from attsvm.errors import ClaimError
from attsvm.exact import rational
from attsvm.theory import PROFILES, Real, Slack, changed
from attsvm.theory.instance import codec
from attsvm.theory.instance.document import leaves, value_at
from attsvm.theory.run.examining import examine_case
from attsvm.theory.run.tally import Tally
from attsvm.theory.search import GUIDED, Scout, Spent
from attsvm.theory.search.float_coordinates import starts
from attsvm.theory.search.float_frame import Frame, frame_key
from attsvm.theory.search.gradient import gradient
from attsvm.theory.search.hunt import hunt
from attsvm.theory.search.turn import searchers_of
from attsvm.theory.verification import check
from benchmarks.power.regions import shapiro
from tests.late import Late
from tests.theory.search.scouting import scouted

torch = Late("torch")

WIDTH = 2.0**-12


@dataclass(frozen=True, slots=True)
class Tied:
    """A vector whose entries at both ends are equal, a sign, and what no gradient moves."""

    at: Any
    sign: float
    name: str = "here"
    count: int = 2


@dataclass(frozen=True, slots=True)
class Line:
    """A vector."""

    at: Any


def valley(a):
    """0 along no more than the point (5/4, 25/16, 625/256) of a curved valley."""
    bends = sum(20 * (y - x * x) * (y - x * x) for x, y in itertools.pairwise(a))
    return bends + (a[0] - type(a[0])(5) / 4) ** 2


def thin_conclusion(case: Line, shift: float = 0.0) -> Slack:
    value = valley([float(x) for x in case.at])
    return Slack(value - WIDTH - shift, 1e-12 * (1 + value))


def thin_ball(case: Line, shift: float = 0.0) -> arb:
    return arb(valley([rational(float(x)) for x in case.at]) - rational(WIDTH) - rational(shift))


def thin_relaxed(case, shift: float = 0.0):
    a = case.at
    return -20 * ((a[:, 1:] - a[:, :-1] ** 2) ** 2).sum(1) - (a[:, 0] - 1.25) ** 2


EIGHTHS = st.lists(st.integers(-24, 24), min_size=3, max_size=3)
thin = build(
    "thin",
    thin_conclusion,
    thin_ball,
    data=EIGHTHS.map(lambda row: Line(np.array(row) / 8)),
    relaxed=thin_relaxed,
    expected="refuted",
)
STARTS = [Line(np.array([k / 4, 1.0, -k / 2])) for k in range(-3, 4)]


def small(case: Line, shift: float = 0.0) -> Slack:
    return Slack(1.0 - shift, 0.0)


def guided(relaxed: Any, **rest: Any) -> Any:
    return build(
        "guided", small, lambda case, shift=0.0: arb(1), relaxed=relaxed,
        data=st.just(STARTS[0]), **rest,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_a_turn_finds_a_thin_violation_in_few_looks(seed):
    found = scouted(thin, "gradient", STARTS, budget=24, seed=seed)
    assert found.found is not None
    assert found.spent <= 24
    case = codec.decode(found.found.instance, Line)
    assert thin_ball(case) < 0


def test_logarithms_reach_what_lies_off_entries_of_one_size():
    """At equal entries the cyclic sum is 7, and it is least near there; others are below 7."""
    case = shapiro.formula.build(a=np.ones(14))
    assert scouted(shapiro, "gradient", [case], budget=400).found is not None


def test_along_a_narrow_valley_ratios_far_below_1_still_have_a_slope():
    """The right side is 0 at x = 11/7 alone, and grows 10^4 times as fast across the valley."""

    def valley(m, v, c):
        across = m.square(v.y - v.x * v.x) + m.square(v.z - v.y * v.y)
        return m.at_most(c, 10**4 * across + m.square(v.x - m.exact("11/7")))

    claim = stated(
        "valley",
        {name: Real() for name in "xyz"},
        valley,
        constants={"c": "1/1000000"},
        siblings={"more": changed(c=1)},
    )
    case = claim.formula.build(x=0.0, y=0.0, z=0.0)
    assert any(scouted(claim, "gradient", [case], 100, seed).found for seed in range(8))


def test_a_hunt_uses_it_and_answers_the_same_again():
    drawing = replace(thin, ensemble=lambda generator: STARTS[int(generator.integers(7))])
    accounts = []
    for _ in range(2):
        account = hunt(drawing, seconds=None, rounds=3, seed=1, searchers=["ensemble", "gradient"])
        assert account.efforts["gradient"].found
        accounts.append((account.smallest, account.worst, account.examples, account.rounds))
    assert accounts[0] == accounts[1]


def test_nothing_global_changes():
    numpy_state = np.random.get_state
    before = torch.random.get_rng_state(), random.getstate(), numpy_state()[1].tolist()
    threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
    torch.set_num_threads(threads + 1)
    try:
        with torch.no_grad():
            assert scouted(thin, "gradient", STARTS, budget=8).found is not None
            assert not torch.is_grad_enabled()
        with pytest.raises(ClaimError):
            scouted(guided(lambda case, shift=0.0: None), "gradient", STARTS[:1], budget=8)
        assert torch.get_num_threads() == threads + 1
    finally:
        torch.set_num_threads(threads)
    assert torch.get_default_dtype() == dtype
    assert (torch.random.get_rng_state() == before[0]).all()
    assert random.getstate() == before[1]
    assert numpy_state()[1].tolist() == before[2]


def test_it_works_on_one_thread_in_double_precision_with_a_batch_axis():
    seen = []

    def relaxed(case, shift: float = 0.0):
        seen.append((torch.get_num_threads(), case.at.dtype, case.at.shape[1:], case.name))
        assert case.sign.shape == case.at.shape[:1]
        assert (case.name, case.count) == ("here", 2)
        return case.at.sum((1, 2))

    def conclude(case: Tied, shift: float = 0.0) -> Slack:
        return Slack(1.0 - shift, 0.0)

    claim = build("kinds", conclude, lambda case, shift=0.0: arb(1), relaxed=relaxed)
    scouted(claim, "gradient", [Tied(np.ones((2, 3)), 1.0)], budget=8)
    assert set(seen) == {(1, torch.float64, (2, 3), "here")}


@pytest.mark.parametrize(
    ("relaxed", "message"),
    [
        (lambda case, shift=0.0: case.at.sum(1) * float("nan"), "NaN or infinite on every"),
        (lambda case, shift=0.0: case.at.sum(), "not a tensor"),
        (lambda case, shift=0.0: 1.0, "not a tensor"),
        (lambda case, shift=0.0: case.nowhere, "AttributeError"),
    ],
)
def test_a_broken_objective_is_told(relaxed, message):
    with pytest.raises(ClaimError, match=message):
        scouted(guided(relaxed), "gradient", STARTS[:1], budget=8)


def test_an_objective_that_is_a_number_here_and_there_is_climbed_where_it_is():
    def half(case, shift: float = 0.0):
        return thin_relaxed(case).where(case.at[:, 0] > 0, float("nan") * case.at[:, 0])

    scout = scouted(replace(thin, relaxed=half), "gradient", STARTS, budget=48)
    assert max(-thin_conclusion(case).value for case in STARTS) < -1.0
    assert scout.pool.height > -0.1


def test_an_objective_without_gradient_is_searched_at_random():
    scout = scouted(guided(lambda case, shift=0.0: torch.zeros(len(case.at))), "gradient", STARTS)
    assert scout.spent == scout.budget


def test_siblings_pass_what_they_change():
    shifts = []

    def relaxed(case, shift: float = 0.0):
        shifts.append(shift)
        return case.at.sum(1)

    claim = guided(relaxed)
    tally = Tally(claim, claim.part("shift 100"), 0)
    tally.pool.offer(0.0, STARTS[0])
    GUIDED["gradient"].guide(Scout(tally, "gradient", 8), np.random.default_rng(0))
    assert set(shifts) == {100.0}


def test_it_fits_claims_with_an_objective_where_torch_is(monkeypatch):
    plain = replace(thin, relaxed=None)
    assert "gradient" in searchers_of(thin)
    assert "gradient" not in searchers_of(plain)
    assert "gradient" not in hunt(plain, seconds=None, rounds=1, searchers=["sizes"]).absent
    absent = replace(GUIDED["gradient"], there=lambda: False)
    monkeypatch.setitem(GUIDED, "gradient", absent)
    assert "gradient" not in searchers_of(thin)
    account = hunt(thin, seconds=None, rounds=1, searchers=["drawn", "sizes"])
    assert "gradient" in account.absent
    assert account.json()["absent"] == account.absent
    assert account.error is None


def test_quick_checks_do_without_whether_or_not_torch_is_loaded(monkeypatch):
    calls = []

    def count(scout, generator):
        calls.append(scout.budget)

    monkeypatch.setitem(GUIDED, "gradient", replace(GUIDED["gradient"], search=count))
    for name in ("quick", "deep"):
        profile = replace(PROFILES[name], examples=5, guided=10)
        check.search(Tally(thin, thin.part(""), 0), profile, 0, explicit=False)
    assert len(calls) == 1


def test_time_is_kept_between_steps():
    late = []

    def slow(case, shift: float = 0.0):
        late.append(time.time() > deadline)
        time.sleep(0.05)
        return thin_relaxed(case)

    claim = replace(thin, relaxed=slow)
    tally = Tally(claim, claim.part(""), 0)
    examine_case(tally, STARTS[0], "test")
    deadline = time.time() + 0.5
    scout = Scout(tally, "gradient", 1000, deadline=deadline)
    with pytest.raises(Spent):
        gradient(scout, np.random.default_rng(0))
    assert sum(late) <= 1
    assert len(late) > 1
    assert scout.spent == 0


def equal_ends(case: Tied) -> bool:
    return bool(case.at[0] == case.at[-1]) and case.sign in (-1.0, 1.0)


def above_three(case: Tied, shift: float = 0.0) -> Slack:
    return Slack(100.0 - float(case.at[0]) - float(case.at[1]) - shift, 1e-9)


def test_hypotheses_are_kept_on_the_way():
    """Ties that a hypothesis asks for stay, signs stay, and what leaves the hypotheses returns."""
    inside = lambda case: bool(np.abs(case.at).max() <= 9)  # noqa: E731
    claim = build(
        "ties",
        above_three,
        lambda case, shift=0.0: arb(1),
        relaxed=lambda case, shift=0.0: case.at[:, 0] + case.at[:, 1],
        hypotheses={"ends are equal": equal_ends, "inside": inside},
    )
    scout = scouted(claim, "gradient", [Tied(np.array([1.0, 2.0, 1.0]), 1.0)], budget=200)
    best = codec.decode(scout.pool.closest[0].document, Tied)
    assert equal_ends(best)
    assert best.sign == 1.0
    assert 17.0 < best.at[0] + best.at[1] <= 18.0


DOCUMENT = codec.encode((Tied(np.arange(3.0), 1.0), 2.5, np.arange(4).reshape(2, 2), None, True))


def test_a_frame_takes_floats_out_and_puts_them_back():
    frame = Frame.of(DOCUMENT)
    row = frame.row(DOCUMENT)
    assert row.tolist() == [value_at(DOCUMENT, path) for path, _ in leaves(DOCUMENT)]
    assert frame.filled(row) == DOCUMENT
    moved = frame.filled(row + 0.1)
    assert frame.row(moved).tolist() == (row + 0.1).tolist()
    assert frame_key(moved) == frame_key(DOCUMENT)
    assert frame_key(codec.encode((Tied(np.arange(4.0), 1.0), 2.5))) != frame_key(DOCUMENT)
    record, number, table, nothing, flag = frame.tensors(torch.tensor(np.stack([row, 2 * row])))
    assert record.at.tolist() == [[0.0, 1.0, 2.0], [0.0, 2.0, 4.0]]
    assert number.tolist() == [2.5, 5.0]
    assert table.tolist() == [[0, 1], [2, 3]]
    assert (nothing, flag, record.name, record.count) == (None, True, "here", 2)


def test_starts_hold_what_may_not_move():
    known = np.array([[1.0, 2.0, 1.0, 5.0, -1.0]])
    frame = Frame(None, (slice(0, 3), slice(3, 4), slice(4, 5)))

    def admits(row):
        return row[0] == row[2] and row[4] == -1.0

    found = starts(frame, known, admits, 64, np.random.default_rng(0))
    assert (found.rows[:, 0] == found.rows[:, 2]).all()
    assert (found.rows[:, 4] == -1.0).all()
    assert (found.size[:, 4] == 0).all()
    assert (found.rows[0] == known[0]).all()
    assert len(np.unique(found.rows[:, 3])) > 32
    assert (found.group[:, 2] == 0).all()
    assert starts(frame, known, lambda row: False, 8, np.random.default_rng(0)) is None
