"""A claim that changes an instance, answers at random or raises is an error, never a refutation."""

import itertools
import random
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import strategies as st
from toy_pack import Point, constant, says, square, square_ball
from toy_pack import toy as build

from attsvm import AttentionData
from attsvm._files import dump
from attsvm.errors import ClaimError, DataError
from attsvm.theory import (
    PROFILES,
    Defined,
    Hypothesis,
    Integer,
    Matrix,
    Reading,
    Real,
    Records,
    Slack,
    Statement,
    Vector,
    changed,
    ensure_true,
)
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.arithmetic.traces import TRACES
from attsvm.theory.declaration import batches
from attsvm.theory.declaration.batches import relaxed
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import Pack
from attsvm.theory.record.counterexample import KIND, SCHEMA, replay
from attsvm.theory.run.asking import frozen
from attsvm.theory.search.hunt import hunt
from attsvm.theory.search.turn import Turn, take
from attsvm.theory.verification.check import check_part
from tests.late import Late

torch = Late("torch")

QUICK = replace(PROFILES["quick"], examples=50, guided=100)
POINTS = st.tuples(*[st.integers(1, 8)] * 2).map(lambda p: Point(np.array(p, dtype=float)))
MEANT = Point(np.array([1.0, 1.0]))


def check(claim, part="", profile=QUICK):
    return check_part(claim, claim.part(part), profile, 0)


# changed instances


def by_array(p):
    p.at[0] = -1.0


def by_assignment(p):
    p.at = np.array([-1.0, 1.0])


def by_flags(p):
    p.at.setflags(write=True)
    p.at[0] = -1.0


def by_field(p):
    object.__setattr__(p, "at", np.array([-1.0, 1.0]))


def by_list(p):
    object.__setattr__(p, "at", [-1.0, 1.0])


STOPPED = dict.fromkeys(
    (by_array, by_assignment),
    r"\(test_unsound_claims\.py, line \d+\) tried to change its instance, or another value that is "
    "read-only",
)
"""What is said of changes that are stopped where they are made."""

FOUND_OUT = dict.fromkeys((by_flags, by_field, by_list), "changed its instance")
"""What is said of others."""

ROLES = {
    "a hypothesis": "(a hypothesis|hypothesis 'x > 0') of toy/changing:literal ",
    "the conclusion": "the conclusion of toy/changing:literal ",
    "the certificate": "the certificate of toy/changing:literal ",
    "the evaluation in higher precision": "the (evaluation in .* precision|certificate) of toy/",
}
"""Who changes the instance, and how messages begin."""

CHANGES = STOPPED | FOUND_OUT

LATE = (
    r"toy/changing:literal (\(.*\) tried to change|changed) its instance"
    r"|an instance holds a value of an unsupported type \(got list\)"
)
"""What is said of a change that shows where a violation is to be confirmed."""


def changing(role, change, spared=0, **rest):
    """x >= 0 of points with x > 0, which holds unless somebody changes a point to x = -1.

    Who does spares the first instances that it is asked about.
    """
    calls = itertools.count()

    def act(who, p):
        if who == role and next(calls) >= spared:
            change(p)

    def positive(p):
        answer = bool(p.at[0] > 0.0)
        act("a hypothesis", p)
        return answer

    def conclusion(p: Point, shift: float = 0.0) -> Slack:
        act("the conclusion", p)
        return Slack(float(p.at[0]) - shift, 0.0)

    def certify(p: Point, shift: float = 0.0) -> arb:
        act("the certificate", p)
        return arb(float(p.at[0]) - shift)

    def rerun(p: Point, shift: float = 0.0) -> Slack:
        act("the evaluation in higher precision", p)
        return Slack(float(p.at[0]) - shift, 0.0)

    confirms = (
        {"rerun": rerun} if role == "the evaluation in higher precision" else {"certify": certify}
    )
    hypotheses = {"x > 0": positive}
    return build("changing", conclusion, data=POINTS, hypotheses=hypotheses, **confirms, **rest)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_of_an_instance_is_the_error_of_who_made_it(role, change):
    # asked of violations alone
    part = "shift 100" if role == "the evaluation in higher precision" else ""
    outcome = check(changing(role, change), part)
    assert outcome.refuted is None
    assert re.match(ROLES[role], outcome.error)
    assert re.search(CHANGES[change], outcome.error)
    assert "copy an array before changing it" in outcome.error


@pytest.mark.parametrize("role", ["a hypothesis", "the conclusion"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_after_many_instances_refutes_nothing(role, change):
    outcome = check(changing(role, change, spared=40, cost=1))
    assert outcome.examples >= 40
    assert outcome.refuted is None
    assert re.search(LATE, outcome.error)


@pytest.mark.parametrize("role", ["a hypothesis", "the conclusion"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_hunt_finds_nothing_in_a_changed_instance(role, change):
    claim = changing(role, change)
    gain = take(claim, Turn(claim.id, "", "drawn", 0, 0, 20))
    assert gain.found is None
    assert re.search(LATE, gain.error)


def replayed(claim, tmp_path):
    """The result of a stored file of that claim."""
    stored = {"schema": SCHEMA, "kind": KIND, "claim": claim.id, "instance": codec.encode(MEANT)}
    path = tmp_path / "file.json"
    path.write_text(dump({**stored, "witness": {}}))
    return replay(path, (Pack("toys", (claim,), tmp_path),))


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_replay_does_not_ask_the_floats_of_a_conclusion(change, tmp_path):
    assert replayed(changing("the conclusion", change), tmp_path).result == "NOT CONFIRMED"


@pytest.mark.parametrize("role", ["a hypothesis", "the certificate"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_no_file_is_confirmed_on_a_changed_instance(role, change, tmp_path):
    result = replayed(changing(role, change), tmp_path)
    assert result.result == "ERROR"
    assert re.match(ROLES[role], result.reason)
    assert re.search(CHANGES[change], result.reason)


# what instances are made of


@dataclass
class Loose:
    """A point that can be changed."""

    at: float


CONTAINERS = {
    "list": (Point([1.0, 2.0]), r"a value of an unsupported type \(got list\)"),
    "dictionary": ({"x": 1.0}, r"a value of an unsupported type \(got dict\)"),
    "list in a tuple": ((1.0, [2.0]), r"a value of an unsupported type \(got list\)"),
    "dataclass": (Loose(1.0), r"a dataclass that is not frozen \(got Loose\).*frozen=True"),
}


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("source", ["data", "examples", "ensemble"])
def test_an_instance_that_can_be_changed_is_refused_when_it_is_first_seen(kind, source):
    case, said = CONTAINERS[kind]
    asked = []

    def conclusion(x: Any, shift: float = 0.0) -> Slack:
        asked.append(x)
        return Slack(1.0 - shift, 0.0)

    given = {"data": st.just(case), "examples": [case], "ensemble": lambda generator: case}
    outcome = check(build("loose", conclusion, says(arb(1)), **{source: given[source]}))
    assert re.search(said, outcome.error)
    assert case not in asked


def test_a_read_only_instance_leaves_writeable_bases_behind():
    base = np.arange(6.0)
    case = (Point(base[2:4]), base, 3.0)
    kept = frozen(case)
    base[:] = 7.0
    assert kept[0].at.tolist() == [2.0, 3.0]
    assert kept[1].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    for array in (kept[0].at, kept[1]):
        assert not array.flags.writeable
        assert array.flags.owndata
    assert case[0].at.tolist() == [7.0, 7.0]
    assert base.flags.writeable


def test_what_is_read_only_is_not_copied():
    case = (AttentionData.of([[[1.0], [2.0]]], [[1.0]], scores=[[1.0, 2.0]]), frozen(MEANT))
    assert frozen(case) is case


def test_a_type_is_no_instance():
    with pytest.raises(ClaimError, match="holds a value of an unsupported type"):
        frozen(Point)


# random conclusions


def drifting(*values):
    """A conclusion that comes to these slacks in turn, whatever the instance."""
    turns = itertools.cycle(values)

    def conclusion(x: float, shift: float = 0.0) -> Slack:
        return Slack(next(turns), 0.0)

    return conclusion


def test_a_random_conclusion_is_found_out_though_it_holds():
    generator = np.random.default_rng(0)

    def conclusion(x: float, shift: float = 0.0) -> Slack:
        return Slack(1.0 + generator.random() - shift, 0.0)

    outcome = check(build("random", conclusion, rerun=constant(1.0, 0.0)))
    assert outcome.error.startswith(
        "the conclusion of toy/random:literal returned two different slacks on one instance"
    )
    assert "seed every random generator" in outcome.error


@pytest.mark.parametrize("kind", ["inequality", "strict", "equality"])
@pytest.mark.parametrize("agreeing", [(), (-1.0, -1.0)])
def test_a_violation_that_is_gone_when_it_is_looked_at_again_refutes_nothing(kind, agreeing):
    claim = build("random", drifting(-1.0, *agreeing, 1.0), rerun=constant(-1.0, 0.0, kind))
    outcome = check(claim)
    assert outcome.refuted is None
    assert "returned two different slacks on one instance (got -1.0 within" in outcome.error
    gain = take(claim, Turn(claim.id, "", "drawn", 0, 0, 20))
    assert gain.found is None


def at_random():
    """It fails on what is drawn, and by chance on what is smaller."""
    generator = random.Random(0)

    def conclusion(x: float, shift: float = 0.0) -> Slack:
        return Slack(generator.randint(-3, 3) - x - shift, 0.0)

    def certify(x, shift=0.0):
        return arb(generator.randint(-3, 3)) - arb(x) - arb(shift)

    return build("at-random", conclusion, certify, data=st.just(2.0**60))


def test_a_find_that_is_made_smaller_by_chance_is_an_error_of_the_claim():
    outcome = check(at_random())
    result = hunt(at_random(), seconds=None, rounds=1, searchers=["drawn"])
    assert (outcome.refuted, result.smallest, result.worst) == (None, None, None)
    assert " on one instance" in outcome.error
    assert " on one instance" in result.error


def test_a_hypothesis_that_says_something_else_of_a_copy_refutes_nothing():
    answers = itertools.cycle([True, False])
    claim = build(
        "fickle", constant(-1.0, 0.0), says(arb(-1)), hypotheses={"odd": lambda x: next(answers)}
    )
    outcome = check(claim)
    assert outcome.refuted is None
    assert outcome.error.startswith(
        "hypothesis 'odd' of toy/fickle:literal gave two answers on one instance."
    )


def test_a_copy_in_another_order_of_memory_may_come_to_another_rounding():
    def conclusion(p: Point, shift: float = 0.0) -> Slack:
        return Slack(-1.0 - 1e-12 * p.at.flags.f_contiguous, 1e-11)

    grid = Point(np.asfortranarray(np.arange(4.0).reshape(2, 2)))
    claim = build("order", conclusion, lambda p, shift=0.0: arb(-1), data=st.just(grid))
    assert check(claim).error is None
    assert check(claim).refuted is not None


# raising hypotheses


@pytest.mark.parametrize("kind", [ZeroDivisionError, ValueError, DataError, SystemExit])
@pytest.mark.parametrize("explicit", [(), (1.0,)])
def test_a_hypothesis_that_raises_is_named_with_its_claim(kind, explicit):
    def raising(x):
        raise kind("no answer")

    claim = build("raising", square, square_ball, hypotheses={"h": raising}, examples=explicit)
    error = check(claim).error
    assert error.startswith("hypothesis 'h' of toy/raising:literal raised ")
    assert "no answer" in error
    assert kind is DataError or f"{kind.__name__}: no answer (test_unsound_claims.py:" in error
    assert check(replace(claim, hypotheses=())).error is None


# implications


def implying(least, kind):
    """A true claim about x >= 1; the hypothesis is said to imply x >= `least`."""
    if kind == "records":
        weaker = Hypothesis("weaker", lambda x: x >= least)
        claim = build("implying", square, square_ball, hypotheses={"h": lambda x: x >= 1})
        (own,) = claim.hypotheses
        return replace(claim, hypotheses=(replace(own, implies=(weaker,)),))
    middle = Hypothesis(
        "middle",
        lambda m, v: m.at_least(v.x, m.exact(0)),
        implies=(Hypothesis("weaker", lambda m, v: m.at_least(v.x, m.exact(least))),),
    )
    return Statement(
        "toy/implying",
        source="s",
        place="p",
        printed="t",
        variables={"x": Real()},
        hypotheses=(Hypothesis("h", lambda m, v: m.at_least(v.x, m.exact(1)), implies=(middle,)),),
        conclusion=lambda m, v, c=1: m.at_most(m.abs(v.x), c * v.x),
        readings={"literal": Reading("holds", siblings={"half": changed(c=Fraction(1, 2))})},
    ).claims[0]


@pytest.mark.parametrize("kind", ["records", "variables"])
def test_a_false_implication_is_an_error_of_the_claim(kind):
    assert check(implying(1, kind)).error is None
    told = check(implying(40, kind)).error
    assert told.startswith("hypothesis 'h' of toy/implying:literal does not imply 'weaker'")


# formulas

V = {"n": Integer(1, 3), "d": Integer(1, 2), "x": Vector("n"), "A": Matrix("n", "d"), "t": Real()}


def write_entry(m, v):
    v.x[0] = m.exact(3)


def write_row(m, v):
    v.A[0] = 0 * v.A[0]


def write_through_a_view(m, v):
    v.A.reshape(-1)[:1].T[0] = m.exact(3)


def write_flat(m, v):
    v.x.flat[0] = m.exact(3)


def unlock(m, v):
    v.x.flags.writeable = True


def sort(m, v):
    v.x.sort()


def fill(m, v):
    v.x.fill(m.exact(1))


def reshape(m, v):
    v.A.shape = (-1,)


def rebind(m, v):
    v.x = 0 * v.x


def delete(m, v):
    del v.x


def double(m, v):
    x = v.x
    x *= 2


WRITES = (
    *(write_entry, write_row, write_through_a_view, write_flat, unlock, sort, fill, reshape),
    *(rebind, delete, double),
)
"""What a formula may not do to its variables."""


def writing(write, *, late=False, where="the conclusion"):
    """A true claim one of whose formulas writes into its variables first, perhaps at size 1 alone.

    Where variables are two of each axis nothing is written late: the rehearsal misses it.
    """

    def act(who, m, v):
        if who == where and (not late or v.n == 1):
            write(m, v)

    def conclusion(m, v, c=1):
        act("the conclusion", m, v)
        return m.at_most(m.norm(v.x), c * m.norm(v.x) + m.abs(v.t) + m.norm(v.A))

    def positive(m, v):
        act("hypothesis 'h'", m, v)
        return m.at_least(m.norm(v.x), m.exact(0))

    def size(m, v):
        act("the variable s", m, v)
        return m.norm(v.x)

    return Statement(
        "toy/writing",
        source="s",
        place="p",
        printed="t",
        variables={**V, "s": Defined(size)},
        hypotheses=(Hypothesis("h", positive),),
        conclusion=conclusion,
        readings={"literal": Reading("holds", siblings={"half": changed(c=Fraction(1, 2))})},
    ).claims[0]


@pytest.mark.parametrize("where", ["the conclusion", "hypothesis 'h'", "the variable s"])
def test_a_formula_that_writes_into_its_variables_is_an_error_with_its_line(where):
    for write in WRITES:
        outcome = check(writing(write, where=where))
        line = write.__code__.co_firstlineno + (2 if write is double else 1)
        at = rf"{where} of toy/writing:literal \(test_unsound_claims.py, line {line}\) "
        assert re.match(at, outcome.error), outcome.error
        said = "changes an array in place" if write is double else "tried to change its instance, "
        assert said in outcome.error
        assert "nstances are read-only" in outcome.error or "a name of its own" in outcome.error
        assert outcome.examples == 0


@pytest.mark.parametrize("where", ["the conclusion", "hypothesis 'h'"])
def test_what_a_formula_writes_at_one_size_alone_is_told_in_the_same_way(where):
    for write in WRITES:
        outcome = check(writing(write, late=True, where=where))
        assert outcome.refuted is None, write
        at = rf"{where} of toy/writing:literal \(test_unsound_claims.py, "
        assert re.match(at, outcome.error), outcome.error
        assert "tried to change its instance" in outcome.error or "in place" in outcome.error


RUNS = {
    "balls": lambda formula, case, raw: formula.relation(BALLS, formula.exact(case), {}),
    "traces": lambda formula, case, raw: formula.relation(TRACES, formula.known(TRACES, case), {}),
    "floats": lambda formula, case, raw: batches.fit_screened(
        formula, {k: np.moveaxis(x, 0, -1) for k, x in raw.items()}, {"n": 2, "d": 1}, 1, {}
    ),
    "tensors": lambda formula, case, raw: relaxed(
        formula, SimpleNamespace(**{k: torch.as_tensor(x) for k, x in raw.items()})
    ),
}


@pytest.mark.parametrize("arithmetic", RUNS)
def test_no_arithmetic_lets_a_formula_write(arithmetic):
    def stopped(write):
        formula = writing(write).formula
        case = formula.build(x=[1, 2], A=[[1], [2]], t=1)
        raw = {"x": np.ones((1, 2)), "A": np.ones((1, 2, 1)), "t": np.ones(1)}
        try:
            RUNS[arithmetic](formula, case, raw)
        except (ClaimError, ValueError) as error:
            return re.search("read-only|in place|set WRITEABLE", str(error)) is not None
        return False

    assert [write.__name__ for write in WRITES if not stopped(write)] == []


def test_a_formula_may_change_a_copy():
    def copied(m, v):
        x = v.x.copy()
        x[0] = m.exact(3)

    assert check(writing(copied)).error is None


@dataclass(frozen=True)
class Pair:
    """A record."""

    at: Any


@pytest.mark.parametrize("change", [by_array, by_assignment])
def test_a_formula_over_records_that_writes_into_one_is_told_in_the_same_way(change):
    def conclusion(m, p, c=1):
        change(p)
        return m.at_most(m.norm(m.values(p.at)), c * m.norm(m.values(p.at)))

    half = {"half": changed(c=Fraction(1, 2))}
    (claim,) = Statement(
        "toy/records",
        source="s",
        place="p",
        printed="t",
        variables=Records(Pair, st.builds(Pair, st.just(np.array([1.0, 2.0])))),
        conclusion=conclusion,
        readings={"literal": Reading("holds", siblings=half)},
    ).claims
    error = check(claim).error
    assert re.match(
        r"the conclusion of toy/records:literal \(test_unsound_claims.py, line \d+\) tried to "
        r"change its instance, or another value that is read-only\. Instances are read-only; copy "
        r"an array before changing it, by x\.copy\(\)\.$",
        error,
    )


def test_a_conclusion_that_alternates_is_found_out():
    calls = itertools.count()

    def conclusion(m, v, c=1):
        return m.at_most(c * m.norm(v.x) * (next(calls) % 2), m.norm(v.x))

    (claim,) = Statement(
        "toy/alternating",
        source="s",
        place="p",
        printed="t",
        variables={"n": Integer(1, 3), "x": Vector("n")},
        conclusion=conclusion,
        readings={"literal": Reading("holds", siblings={"twice": changed(c=2)})},
    ).claims
    outcome = check(claim, profile=PROFILES["quick"])
    assert outcome.refuted is None
    assert "returned two different slacks on one instance" in outcome.error


# proofs


def prove_in_words():
    """A proof that takes no step."""
    return "x^2 >= 0"


def prove_by_a_step():
    """A proof that takes one."""
    ensure_true(True, "a step")
    return "x^2 >= 0"


def checked_with(proof):
    return check(
        replace(build("proved", square, square_ball), proof=f"{__name__}:{proof.__name__}")
    )


def test_a_proof_that_takes_a_step_lists_it():
    outcome = checked_with(prove_by_a_step)
    assert (outcome.error, outcome.proof, outcome.steps) == (None, "x^2 >= 0", ["a step"])
    assert not outcome.linked


def test_a_proof_that_takes_no_step_proves_nothing():
    outcome = checked_with(prove_in_words)
    assert outcome.proof is None
    assert outcome.error.startswith(
        "the proof of toy/proved:literal took no step, so it proves nothing (got "
    )
