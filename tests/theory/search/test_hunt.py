"""A hunt goes on until it finds or its time is up, and comes to the same with any workers."""

import itertools
import json
import math
import multiprocessing
import os
import re
import signal
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import toy_pack
from flint import arb
from hypothesis import strategies as st
from toy_pack import build, constant, says, square, square_ball

from attsvm import Choice, Integer, Real, Vector, question
from attsvm.cli.__main__ import run
from attsvm.errors import UsageError, WorkerError
from attsvm.exact import rational
from attsvm.theory import Slack, load_packs
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import find_claims
from attsvm.theory.report.hunt_text import hunt_text
from attsvm.theory.run import workers
from attsvm.theory.run.confirm import confirm
from attsvm.theory.run.tally import Elite
from attsvm.theory.run.workers import processes
from attsvm.theory.search import NEEDS, fits
from attsvm.theory.search.hunt import hunt
from attsvm.theory.search.turn import Turn, take, written
from benchmarks.kills import PACK as FORMULAS
from tests.forks import Forked

PACK = str(Path(toy_pack.__file__))


@dataclass(frozen=True, slots=True)
class Odd:
    """An odd number."""

    n: int


def chase(claim, rounds=2, **rest):
    return hunt(claim, seconds=None, rounds=rounds, **rest)


def account(result):
    """All of a hunt but its times."""
    document = {**result.json(), "seconds": None, "per_second": None}
    for each in (*document["searchers"].values(), *document["growth"]):
        del each["seconds"]
    found = [repr(r) for r in (result.smallest, result.worst, result.closest)]
    return json.dumps([document, *found, result.seen.undecided_note], sort_keys=True)


def toy(name):
    (claim,) = find_claims(load_packs(only=[PACK]), [f"toy/{name}:literal"])
    return claim


@pytest.fixture(scope="module")
def packs(tmp_path_factory):
    """The toys, and a claim that is a formula."""
    written = tmp_path_factory.mktemp("packs") / "formulas.py"
    written.write_text(FORMULAS)
    return PACK, str(written)


@pytest.fixture(scope="module")
def two(packs, elsewhere):
    """Two workers, which load these packs alone, as this process does then."""
    with pytest.MonkeyPatch.context() as patch:
        here = {c.id: c for pack in load_packs(only=packs) for c in pack.claims}
        patch.setitem(workers._claims, packs, here)
        with processes(2, packs) as crew:
            yield crew


@pytest.mark.parametrize("name", ["false", "sampled", "unequal"])
def test_a_false_claim_is_hunted_down_and_its_finds_are_confirmed(name):
    claim = getattr(toy_pack, name)
    result = chase(claim)
    for found in (result.smallest, result.worst):
        case = codec.decode(found.instance, claim.instance_type)
        assert confirm(claim, {}, case, found.slack["kind"]).refuted is True
    assert (result.minimal, result.error, result.interrupted) == (True, None, False)
    assert sum(effort.found for effort in result.efforts.values()) == 1


def test_draws_that_are_mostly_rejected_do_not_hold_up_the_others():
    rare = build("rare", square, square_ball, hypotheses={"large": lambda x: x > 120}, cost=4)
    effort = chase(rare, rounds=2, searchers=["drawn"]).efforts["drawn"]
    assert effort.turns > 1
    assert 0 < 9 * effort.accepted < effort.rejected
    assert effort.accepted + effort.rejected == effort.turns * 3 * 24


def test_a_sibling_is_hunted_like_a_reading():
    result = chase(toy_pack.true, part="shift 100")
    assert result.smallest is not None
    assert result.json()["sibling"] == "shift 100"


def test_a_true_claim_survives_every_round():
    result = chase(toy_pack.true, rounds=3)
    assert (result.smallest, result.rounds, result.error) == (None, 3, None)
    assert result.examples == sum(e.accepted for e in result.efforts.values()) > 0
    # before something was drawn, the others have nothing to start from
    assert sum(e.turns for n, e in result.efforts.items() if n != "explicit") == 1 + 8 + 8


class Listing:
    """Workers that do the work in this process, and list the searchers in the order of turns."""

    def __init__(self, claim):
        self.claim, self.searchers = claim, []

    def submit(self, job, text, *named):
        turn = Turn(**json.loads(text))
        self.searchers.append(turn.searcher)
        return Done(Pile(), lambda: written(take(self.claim, turn)))


def distinct_fractions(m, v):
    """1/a + 1/b + 1/c + 1/d = 1 with a < b < c < d."""
    a, b, c, d = v.a, v.b, v.c, v.d
    left = b * c * d + a * c * d + a * b * d + a * b * c
    return m.all_of(m.equal(left, a * b * c * d), m.below(a, b), m.below(b, c), m.below(c, d))


EGYPTIAN = question(
    lambda m, v: m.at_most(v.d, 40), distinct_fractions, **{name: Integer(1) for name in "abcd"}
).claim
FIFTH_POWERS = question(
    lambda m, v: m.at_least(
        m.abs(sum(m.power(x, 5) for x in (v.a, v.b, v.c, v.d)) - m.power(v.e, 5)), 1
    ),
    **{name: Integer(1) for name in "abcde"},
).claim


@pytest.mark.parametrize(("claim", "cost"), [(FIFTH_POWERS, 6), (toy_pack.true, 25)])
def test_each_searcher_has_its_first_turn_before_any_has_its_second(claim, cost):
    claim = replace(claim, cost=cost)
    crew = Listing(claim)
    result = chase(claim, crew=crew)
    begun = list(dict.fromkeys(crew.searchers))
    assert crew.searchers[: len(begun)] == begun
    assert len(crew.searchers) > len(begun) >= 3
    assert result.no_turn == []


@pytest.mark.parametrize("claim", [EGYPTIAN, FIFTH_POWERS])
def test_of_integers_alone_their_searcher_comes_first(claim):
    claim = replace(claim, cost=6)
    crew = Listing(claim)
    chase(claim, rounds=1, crew=crew, known=False, searchers=["drawn", "screen", "integers"])
    assert crew.searchers[0] == "integers"


def test_the_time_is_kept_within_a_tenth(monkeypatch):
    """By a clock that moves with every evaluation, so that no load of the machine matters."""
    clock = 1e9

    def conclusion(x: float, shift: float = 0.0) -> Slack:
        nonlocal clock
        clock += 0.003
        return square(x, shift)

    monkeypatch.setattr(time, "time", lambda: clock)
    result = hunt(build("timed", conclusion, square_ball), seconds=2.0)
    taken = clock - 1e9
    assert result.smallest is None
    assert result.rounds > 1
    assert 1.8 <= taken <= 2.2
    assert abs(result.seconds - taken) < 0.1


def test_a_round_is_begun_however_short_the_time():
    result = hunt(toy_pack.true, seconds=1e-9)
    assert result.rounds > 0


def test_a_hunt_needs_an_end_and_searchers_that_there_are():
    with pytest.raises(UsageError, match="a hunt needs an end"):
        hunt(toy_pack.true, seconds=None)
    with pytest.raises(UsageError, match="there is no such searcher"):
        chase(toy_pack.true, searchers=["drawn", "guessed"])


@pytest.mark.parametrize("name", ["gradient", "ensemble"])
def test_a_searcher_that_the_claim_has_nothing_for_is_refused_by_name(name):
    with pytest.raises(UsageError, match=f"got {name}.*{name} needs .*{NEEDS[name][-5:-2]}"):
        chase(toy_pack.true, searchers=["drawn", name])


DIGITS = {"k": Integer(1, 6), "l": Integer(1, 7), "unit": Choice({"one": 1, "two": 2})}


def test_a_hunt_ends_once_all_instances_were_examined_and_says_so():
    claim = question(lambda m, v: m.at_most(v.k * v.l, 42), **DIGITS).claim
    found = hunt(claim, seconds=600.0)
    document = found.json()
    assert found.smallest is None
    assert document["settled"] == document["searchers"]["every"]["accepted"] == 6 * 7 * 2
    assert document["rounds"] <= 2
    assert document["no_turn"] == []
    said = " ".join(hunt_text({**document, "unfinished": None}))
    assert "all 84 instances of the domain were evaluated exactly" in said
    assert "that is no proof" not in said


def test_the_last_of_all_instances_refutes():
    claim = question(lambda m, v: m.below(v.k * v.l * v.unit, 84), **DIGITS).claim
    found = chase(claim, 1, searchers=["every"])
    assert found.smallest.found_by == "enumeration of the domain"
    assert found.seen.settled == 0


@pytest.mark.parametrize(
    ("variables", "conclusion"),
    [
        ({"k": Integer(1, 4), "x": Real()}, lambda m, v: m.at_most(v.k, 42)),
        ({"k": Integer(1)}, lambda m, v: m.at_least(v.k, -41)),
        ({"k": Integer(1, 10**9)}, lambda m, v: m.at_most(v.k, 42 * 10**9)),
        ({"k": Integer(1, 4)}, lambda m, v: m.at_most(1 / (m.exact(v.k) - 2), 42)),
    ],
    ids=["real", "endless", "many", "undecided"],
)
def test_a_hunt_goes_on_where_not_all_instances_are_decided(variables, conclusion):
    claim = replace(question(conclusion, **variables).claim, cost=8)
    found = chase(claim, searchers=[n for n in ("drawn", "every", "integers") if fits(claim, n)])
    assert found.smallest is None
    assert found.rounds == 2
    assert found.json()["settled"] == 0


def test_what_was_left_open_and_unexamined_is_in_the_account():
    def touching(case: Odd, shift: float = 0.0) -> Slack:
        return Slack.at_most(1.0 + shift, 1.0, 1e-9)

    data = st.integers(0, 9).map(Odd)
    claim = build("touching", touching, lambda case, shift=0.0: None, data=data, cost=4)
    result = chase(claim, rounds=4)
    assert 0 < result.seen.unexamined < result.seen.open
    assert result.json()["unexamined"] == result.seen.unexamined


@pytest.mark.parametrize("searchers", [["explicit"], ["integers"], ["explicit", "integers"]])
def test_searchers_that_have_nothing_to_start_from_end_the_hunt(searchers):
    result = hunt(toy_pack.true, seconds=600.0, searchers=searchers)
    assert (result.smallest, result.examples) == (None, 0)
    assert result.error.startswith("no instance was examined")
    assert result.idle


def test_a_hunt_whose_drawn_instances_all_miss_a_hypothesis_says_how_many():
    data = st.just(np.ones(2))
    claim = toy_pack.build(
        "none", lambda case, shift=0.0: Slack(1.0, 0.0), lambda case, shift=0.0: arb(1),
        data=data, hypotheses={"negative": lambda case: bool(case.max() < 0.0)},
    )  # fmt: skip
    result = hunt(claim, seconds=None, rounds=2)
    assert result.examples == 0
    assert re.match(r"none of the \d+ drawn instances is proved to meet", result.error)
    assert not result.idle


@pytest.mark.parametrize("cost", [8, 30])
def test_shrinking_goes_on_from_turn_to_turn_until_it_is_done(cost):
    """A turn has 30 or 8 examinations; proving that the find is minimal takes more."""
    rows = st.integers(2, 4).map(lambda n: (np.full(n, 50.0), np.full(n, 7.0)))

    def conclusion(case: tuple, shift: float = 0.0) -> Slack:
        return Slack(2.5 - float(case[0].sum()) - shift, 1e-9)

    def ball(case, shift=0.0):
        return arb(2.5) - sum(rational(float(x)) for x in case[0]) - arb(shift)

    claim = build("turns", conclusion, ball, data=rows, cost=cost, expected="refuted")
    result = hunt(claim, seconds=None, rounds=2)
    small = codec.decode(result.smallest.instance, claim.instance_type)
    assert result.minimal
    assert (small[0].tolist(), small[1].tolist()) == ([3.0], [0.0])


def test_what_breaks_while_a_find_is_shrunk_loses_no_find_and_is_told():
    def conclusion(x: float, shift: float = 0.0) -> Slack:
        if x == 3.0:
            raise ArithmeticError("at 3")
        return Slack.below(x, 3.0, 0.0)

    claim = build("at-three", conclusion, lambda x, shift=0.0: arb(3) - arb(x), expected="refuted")
    for seed in range(3):
        result = hunt(claim, seconds=None, rounds=3, seed=seed, searchers=["drawn"])
        assert result.smallest is not None
        assert result.error.startswith("ArithmeticError: at 3")


def test_a_check_that_keeps_breaking_ends_the_hunt():
    result = chase(toy_pack.raises, rounds=50)
    assert result.smallest is None
    assert result.rounds < 50
    assert result.error.startswith("ArithmeticError: no value above 50")
    number = re.search(r"\(toy_pack\.py:\d+\), on x = (.*)", result.error)
    assert number
    assert Fraction(number[1]) > 50


def test_an_interruption_is_one_even_if_other_code_raised_something_on_its_way():
    def stopped(x: float, shift: float = 0.0) -> Slack:
        try:
            raise KeyboardInterrupt
        finally:
            raise AssertionError("cleaning up")

    result = chase(build("stopped", stopped, square_ball))
    assert (result.interrupted, result.error, result.examples) == (True, None, 0)


def test_a_violation_that_exact_evaluation_contradicts_is_not_the_closest():
    claim = build("wrong-floats", constant(-1.0, 0.0), says(arb(1)))
    result = chase(claim, rounds=1, searchers=["drawn"])
    assert result.seen.undecided > 0
    assert (result.closest, result.growth, result.seen.min_slack) == (None, [], None)
    note = "the float slack -1.0 with error 0.0 is contradicted by ball"
    assert note in result.seen.undecided_note


def test_open_instances_are_counted_but_are_no_find():
    result = chase(toy_pack.rounding_open, searchers=["drawn"])
    assert result.smallest is None
    assert result.seen.undecided == result.examples > 0


def test_turns_draw_other_instances_and_explicit_ones_come_first_and_once():
    seen = []
    claim = toy_pack.recording(seen, examples=[2000.0], cost=12)
    chase(claim, searchers=["explicit", "drawn"])
    assert seen[0] == 2000.0
    assert 2000.0 not in seen[1:]
    assert len(set(seen)) > 12  # more than any one turn looks at
    seen.clear()
    chase(claim, searchers=["explicit", "drawn"], known=False)
    assert 2000.0 not in seen


def test_the_same_seed_draws_the_same_instances_and_another_one_others():
    def drawn(seed):
        seen = []
        chase(toy_pack.recording(seen, cost=12), rounds=1, seed=seed)
        return seen

    assert drawn(1) == drawn(1) != drawn(2)


@pytest.mark.parametrize("height", [-math.inf, 0.5])
def test_an_elite_comes_back_from_plain_data(height):
    elite = Elite.of(height, codec.encode(2.0), 0.25, 0.5)
    assert Elite.read(json.loads(json.dumps(elite.json()))) == elite


def test_the_closest_that_a_hunt_came_is_kept_with_who_came_there():
    def conclusion(x: float, shift: float = 0.0) -> Slack:
        return Slack.at_most(abs(x), 2e6, 0.0)

    claim = build("close", conclusion, says(None), examples=[1e6], cost=12)
    result = chase(claim, searchers=["explicit", "drawn"])
    assert (result.seen.tightness, result.seen.min_slack, result.closest_by) == (
        0.5,
        1e6,
        "explicit",
    )
    assert result.closest.document == codec.encode(1e6)
    assert (result.closest.ratio, result.closest.slack) == (0.5, 1e6)


@pytest.mark.parametrize("value", [math.inf, 1.0])
def test_the_document_is_plain_json(value):
    result = chase(build("plain", constant(value, 0.0), says(arb(1)), cost=12), rounds=1)
    document = json.loads(json.dumps(result.json(), allow_nan=False))
    assert document["min_slack"] == (None if value == math.inf else value)
    assert (document["schema"], document["found"], document["claim"]) == (
        1,
        False,
        "toy/plain:literal",
    )


class Pile:
    """Workers that have done everything when something goes wrong at the first result."""

    count = 9

    def __init__(self, *problems: BaseException) -> None:
        self.problems = [*problems]

    def submit(self, job, *arguments):
        return Done(self, job(*arguments))

    def completed(self, jobs):
        yield from jobs


class Done:
    def __init__(self, pile, text):
        self._pile, self._text = pile, text

    def result(self, timeout=None):
        if self._pile.problems:
            raise self._pile.problems.pop()
        return self._text() if callable(self._text) else self._text

    def done(self):
        return True

    def cancel(self):
        return None


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), WorkerError("gone"), TimeoutError()])
def test_a_find_that_was_not_yet_looked_at_is_kept_whatever_ends_the_hunt(problem):
    crew = Pile(problem)
    result = hunt(toy("sampled"), rounds=1, seconds=600.0, crew=crew, named=[PACK])
    assert result.smallest is not None
    assert result.interrupted == isinstance(problem, KeyboardInterrupt)
    assert (result.error is not None) == isinstance(problem, WorkerError)


class Dying(Pile):
    """Workers of which one dies of each job and is replaced, until there is no time left."""

    def submit(self, job, *arguments):
        done = Done(self, "")
        done.deaths, done.done = ["ended with exit code 9"], lambda: False
        return done


def test_a_worker_that_died_is_told_where_there_is_no_time_to_try_again():
    result = hunt(toy("true"), seconds=600.0, crew=Dying(TimeoutError()), named=[PACK])
    assert "a worker process ended with exit code 9 during a turn of explicit" in result.error


CASES = ["true", "sampled", "raises", "guarded"]


@pytest.fixture(scope="module")
def alone():
    return {name: account(chase(toy(name))) for name in CASES}


@pytest.mark.parametrize("name", CASES)
def test_two_workers_come_to_what_one_comes_to(name, alone, two, packs):
    assert account(chase(toy(name), crew=two, named=packs)) == alone[name]


def test_a_worker_that_is_killed_during_a_hunt_changes_nothing(alone, two, packs):
    """On toys and then on a formula."""
    killed = []

    def kill(_):
        if not killed:
            victim = multiprocessing.active_children()[0]
            killed.append(victim.pid)
            os.kill(victim.pid, signal.SIGKILL)

    (claim,) = find_claims(load_packs(only=packs), ["toys/a:literal"])
    for name in ("true", "sampled"):
        result = chase(toy(name), crew=two, named=packs, progress=kill)
        assert account(result) == alone[name]
    some = {"named": packs, "searchers": ["drawn", "screen"]}
    together = chase(claim, crew=two, **some)
    assert account(together) == account(chase(claim, **some))
    assert together.seen.screened > 1000
    assert len(killed) == 1


SLOW = """
import time
from flint import arb
from hypothesis import strategies as st
from toy_pack import build

def slow(x: float, shift: float = 0.0):
    from attsvm.theory import Slack
    time.sleep(0.02)
    return Slack({value} - shift, 0.0)

slow_claim = build("slow", slow, lambda x, shift=0.0: arb({value}) - arb(shift), cost=12)
"""


@pytest.fixture
def hunted(here, monkeypatch):
    """Start a hunt, send a signal once it is under way, and return its exit code and output."""
    monkeypatch.setenv("PYTHONPATH", str(Path(PACK).parent))  # of workers

    def start(value, workers, blow):
        (here / "slow.py").write_text(SLOW.format(value=value))
        words = ["hunt", "toy/slow:literal", "--pack", "slow.py", "--seconds", "600"]
        words += ["--out", "finds", "-n", str(workers), "--searchers", "drawn"]
        process = Forked(*words, run=lambda: (os.setsid(), run()))
        while b" instance" not in process.error_so_far():
            assert process.runs()
            time.sleep(0.02)
        (os.killpg if blow == signal.SIGINT else os.kill)(process.pid, blow)
        done = process.done()
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout

    return start


@pytest.mark.usefixtures("only_named_packs")
def test_a_hunt_that_is_interrupted_says_how_far_it_came(hunted):
    code, out = hunted(1.0, 2, signal.SIGINT)
    assert code == 130
    assert out.startswith("interrupted; results so far are kept\nnot refuted: toy/slow:literal")


def test_a_hunt_that_is_interrupted_keeps_what_it_found(hunted, tmp_path):
    code, out = hunted(-1.0, 1, signal.SIGTERM)
    assert code == 1
    assert "refuted, certified: toy/slow:literal" in out
    assert (tmp_path / "finds" / "toy--slow--literal.json").is_file()


def test_a_record_of_integers_is_moved_by_those_who_move_integers():
    """Nobody who moves floats has a turn, and instances that are drawn again are told."""

    def odd(case: Odd, shift: float = 0.0) -> Slack:
        return Slack(1.0 if case.n % 2 else -1.0, 0.0)

    data = st.integers(0, 9).map(lambda k: Odd(2 * k + 1))
    hypotheses = {"odd": lambda case: case.n % 2 == 1}
    ball = lambda case, shift=0.0: arb(odd(case).value)  # noqa: E731
    claim = build("odd", odd, ball, data=data, hypotheses=hypotheses, cost=4)
    result = chase(claim, 4)
    assert set(result.efforts) <= {"explicit", "drawn", "sizes", "integers"}
    assert result.no_turn == []
    assert "integers" in result.moved["n"]
    drawn = result.efforts["drawn"].accepted
    assert drawn - 10 <= result.repeated < drawn
    rest = {"unfinished": None, "kept": False, "counterexample": None, "worst": None}
    told = "\n".join(hunt_text(result.json() | rest))
    assert f"{result.repeated} drawn instances equal one that was drawn before" in told
    assert "no further turn, as they had nothing more to propose: " in told
    still = chase(replace(toy("true"), cost=12))
    assert still.nothing_to_move == ["integers"]
    told = "\n".join(hunt_text(still.json() | rest))
    assert "not run, as no instance has a variable that they can change: integers" in told
    unsaid = build("odd", odd, ball, data=data, cost=4)  # that n is odd is no hypothesis
    assert chase(unsaid, 6).smallest.found_by == "integer enumeration"


def test_a_hunt_tells_how_it_came_closer_and_who_varied_what():
    """A variable that no searcher varies is named; each step is closer than the one before."""
    claim = question(
        lambda m, v: m.at_most(m.abs(v.x - v.y), m.abs(v.x) + m.abs(v.y) + 1),
        x=Real(),
        y=Real(),
        n=Integer(2, 2),
        z=Vector("n"),
    ).claim
    still = replace(claim, cost=25, data=claim.data.map(lambda case: replace(case, y=1.0)))
    result = chase(still, 2, searchers=["drawn", "screen"])
    told = result.json()
    assert told["growth"][-1]["height"] == told["closest"]["height"] == pytest.approx(1, abs=0.5)
    for one, other in itertools.pairwise(told["growth"]):
        assert one["height"] < other["height"]
        assert one["examined"] + one["screened"] < other["examined"] + other["screened"]
        assert one["seconds"] <= other["seconds"]
    assert told["moved"]["n"] == []
    assert "drawn" in told["moved"]["x"]
    assert "drawn" not in told["moved"]["y"]
    assert "screen" in told["moved"]["y"]
