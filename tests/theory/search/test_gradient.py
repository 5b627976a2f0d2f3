"""The gradient finds thin violations that others miss, and leaves the process as it was."""

import random
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from toy_pack import stated

from attsvm import Integer, Real, Vector, question
from attsvm.errors import ClaimError
from attsvm.theory import PROFILES, Labels, changed
from attsvm.theory.instance import codec
from attsvm.theory.run.confirm import confirm
from attsvm.theory.run.examining import examine_case
from attsvm.theory.run.tally import Tally
from attsvm.theory.search import GUIDED, Scout, Spent
from attsvm.theory.search.float_coordinates import coordinates
from attsvm.theory.search.float_frame import Frame, frame_key
from attsvm.theory.search.gradient import gradient
from attsvm.theory.search.hunt import hunt
from attsvm.theory.search.turn import searchers_of
from attsvm.theory.verification import check
from benchmarks.power.regions import shapiro
from tests.late import Late
from tests.theory.search.scouting import scouted

torch = Late("torch")


def valley(m, v, c):
    """The right side is 0 at x = 11/7 alone, and grows 10^4 times as fast across the valley."""
    across = m.square(v.y - v.x * v.x) + m.square(v.z - v.y * v.y)
    return m.at_most(c, 10**4 * across + m.square(v.x - m.exact("11/7")))


THIN = stated(
    "valley",
    {name: Real() for name in "xyz"},
    valley,
    constants={"c": "1/1000000"},
    siblings={"more": changed(c=1)},
)
STARTS = [THIN.formula.build(x=0.0, y=0.0, z=0.0)]
found_in_one_turn = partial(scouted, THIN, "gradient", STARTS, 100)


def test_along_a_narrow_valley_ratios_far_below_1_still_have_a_slope():
    scout = next(scout for scout in map(found_in_one_turn, range(8)) if scout.found)
    assert scout.spent <= 100
    case = codec.decode(scout.found.instance, THIN.instance_type)
    assert confirm(THIN, {}, case, scout.found.slack["kind"]).refuted is True


def test_logarithms_reach_what_lies_off_entries_of_one_size():
    """At equal entries the cyclic sum is 7, and it is least near there; others are below 7."""
    case = shapiro.formula.build(a=np.ones(14))
    assert scouted(shapiro, "gradient", [case], budget=400).found is not None


def test_a_hunt_uses_it_and_answers_the_same_again():
    accounts, claim = [], replace(THIN, cost=8)
    for _ in range(2):
        account = hunt(claim, seconds=None, rounds=2, seed=1, searchers=["drawn", "gradient"])
        assert account.efforts["gradient"].accepted
        accounts.append((account.smallest, account.worst, account.examples, account.rounds))
    assert accounts[0] == accounts[1]


def numberless(case, **_):
    return torch.full((len(case.x),), float("nan"), dtype=torch.float64)


def test_nothing_global_changes():
    numpy_state = np.random.get_state
    before = torch.random.get_rng_state(), random.getstate(), numpy_state()[1].tolist()
    threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
    torch.set_num_threads(threads + 1)
    try:
        with torch.no_grad():
            scouted(THIN, "gradient", STARTS, budget=8)
            assert not torch.is_grad_enabled()
        with pytest.raises(ClaimError, match="NaN or infinite on every"):
            scouted(replace(THIN, relaxed=numberless), "gradient", STARTS, budget=8)
        assert torch.get_num_threads() == threads + 1
    finally:
        torch.set_num_threads(threads)
    assert torch.get_default_dtype() == dtype
    assert (torch.random.get_rng_state() == before[0]).all()
    assert random.getstate() == before[1]
    assert numpy_state()[1].tolist() == before[2]


def test_siblings_pass_what_they_change():
    constants = []

    def relaxed(case, c):
        constants.append(c)
        return case.x

    tally = Tally(replace(THIN, relaxed=relaxed), THIN.part("more"), 0)
    tally.pool.offer(0.0, STARTS[0])
    GUIDED["gradient"].guide(Scout(tally, "gradient", 8), np.random.default_rng(0))
    assert set(constants) == {1}


def test_it_fits_claims_with_an_objective_where_torch_is(monkeypatch):
    plain = replace(THIN, relaxed=None)
    assert "gradient" in searchers_of(THIN)
    assert "gradient" not in searchers_of(plain)
    assert "gradient" not in hunt(plain, seconds=None, rounds=1, searchers=["drawn"]).absent
    absent = replace(GUIDED["gradient"], there=lambda: False)
    monkeypatch.setitem(GUIDED, "gradient", absent)
    assert "gradient" not in searchers_of(THIN)
    account = hunt(THIN, seconds=None, rounds=1, searchers=["drawn"])
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
        check.search(Tally(THIN, THIN.part(""), 0), profile, 0, explicit=False)
    assert len(calls) == 1


def test_time_is_kept_between_steps():
    late = []

    def slow(case, **constants):
        late.append(time.time() > deadline)
        time.sleep(0.05)
        return THIN.relaxed(case, **constants)

    claim = replace(THIN, relaxed=slow)
    tally = Tally(claim, claim.part(""), 0)
    examine_case(tally, STARTS[0], "test")
    deadline = time.time() + 0.5
    scout = Scout(tally, "gradient", 1000, deadline=deadline)
    with pytest.raises(Spent):
        gradient(scout, np.random.default_rng(0))
    assert sum(late) <= 1
    assert len(late) > 1
    assert scout.spent == 0


TIED = question(
    lambda m, v: m.at_most(v.a[0] + v.a[1], 100),
    lambda m, v: m.equal(v.a[0], v.a[2]),
    lambda m, v: m.at_most(m.largest(v.a), 9),
    lambda m, v: m.equal(m.square(v.sign), 1),
    n=Integer(3, 3),
    a=Vector("n"),
    sign=Labels("n"),
    x=Real(),
).claim
CASE = TIED.formula.build(a=[1.0, 2.0, 1.0], sign=[1.0, -1.0, 1.0], x=0.5)


def test_hypotheses_are_kept_on_the_way():
    """Ties that a hypothesis asks for stay, signs stay, and what leaves the hypotheses returns."""
    scout = scouted(TIED, "gradient", [CASE], budget=200)
    best = codec.decode(scout.pool.closest[0].document, TIED.instance_type)
    assert best.a[0] == best.a[2]
    assert best.sign.tolist() == [1.0, -1.0, 1.0]
    assert 17.0 < best.a[0] + best.a[1] <= 18.0


def test_a_frame_takes_floats_out_and_puts_them_back():
    frame = Frame.of(CASE)
    row = frame.row(CASE)
    assert row.tolist() == [1, 2, 1, 1, -1, 1, 0.5]
    moved = frame.record(row + 0.25)
    assert (moved.a.tolist(), moved.x) == ([1.25, 2.25, 1.25], 0.75)
    assert not moved.a.flags.writeable
    assert frame_key(moved) == frame_key(CASE)
    assert frame.record(row * np.inf) is None
    batch = frame.tensors(torch.tensor(np.stack([row, 2 * row])))
    assert batch.a.tolist() == [[1, 2, 1], [2, 4, 2]]
    assert batch.x.tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("row", "far"),
    [([1.0, 2.0**16], True), ([2.0**-20, 1.0], True), ([0.0, 2.0**15], False)],
)
def test_half_of_the_starts_from_numbers_of_unusual_size_are_at_usual_size(row, far):
    claim = question(lambda m, v: m.at_most(v.x, v.x + 1), x=Real(), y=Real()).claim
    tally = Tally(claim, claim.part(""), 0)
    examine_case(tally, claim.formula.build(x=row[0], y=row[1]), "test")
    scout = Scout(tally, "gradient", 10**6)
    bases = [at.base.tolist() for at in coordinates(scout, 1, 32, np.random.default_rng(0))]
    moved = [base for base in bases if base != row]
    assert len(bases) == 32
    assert 8 < len(moved) < 24 if far else not moved
    assert all(np.abs(np.frexp(base)[1]).max() <= 4 for base in moved)
