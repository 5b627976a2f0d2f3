"""Shrinking: make a counterexample smaller and simpler while it still refutes.

Every move makes the instance smaller, so shrinking ends. It is complete when every move has failed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from attsvm._types import Case, Json
from attsvm.errors import ClaimError, DataError
from attsvm.theory.run.examining import examine_again, holds_in_floats
from attsvm.theory.run.sampling import sample
from attsvm.theory.search.axes import unnamed
from attsvm.theory.search.shrink_moves import RENEWED, STAGES, Space, smallness

if TYPE_CHECKING:
    from attsvm.theory.run.confirm import Refuted
    from attsvm.theory.run.tally import Tally

_Answer = TypeVar("_Answer")

_SAMPLES = 16
"""Number of instances of the strategy used to find axes that share an index."""


@dataclass(frozen=True, slots=True)
class Polished:
    """The result of shrinking or worsening a counterexample.

    Attributes:
        refuted: the refutation reached.
        minimal: whether every move was tried and failed.
        spent: number of re-evaluations.
        resume: the position to continue from: the number of the stage, and an index in it.
    """

    refuted: Refuted
    minimal: bool
    spent: int
    resume: tuple[int, int] = (0, 0)


def shrink(
    tally: Tally,
    smallest: Refuted,
    budget: int,
    deadline: float | None = None,
    resume: tuple[int, int] = (0, 0),
) -> Polished:
    """Return a counterexample made smaller and simpler, as long as it still refutes.

    Args:
        tally: the tally of the refuted part.
        smallest: the counterexample.
        budget: maximum number of examinations.
        deadline: wall-clock time (`time.time`) at which to stop.
        resume: the position at which an earlier call on the same counterexample stopped.

    Raises:
        ClaimError: the claim's own code is at fault, such as an answer that changes.
    """
    tally.likeness.learn(smallest)
    exactly = holds_in_floats(tally, smallest)
    hint = tally.claim.instance_type
    asked = _SAMPLES if unnamed(smallest.instance, hint) else 0
    samples, problem = sample(tally.part.data, asked)
    if problem is not None:
        tally.leave_broken("the strategy", None, problem)
    space = Space(hint, samples)
    code, index = resume
    improved, stage = divmod(code, len(STAGES))
    spent = 0
    refuted: dict[str, Refuted | None] = {}  # stages repeat trials, and each costs an evaluation
    now = smallness(smallest.instance)
    while True:
        slots = STAGES[stage](smallest.instance, space)
        while index < len(slots):
            better = None
            for trial in slots[index](smallest.instance):
                key = json.dumps(trial, sort_keys=True)
                if smallness(trial) >= now:
                    continue
                if key not in refuted:
                    if spent >= budget or (deadline is not None and time.time() > deadline):
                        return Polished(
                            smallest, False, spent, (improved * len(STAGES) + stage, index)
                        )
                    spent += 1
                    refuted[key] = still_refuted(tally, trial, smallest.found_by, exactly=exactly)
                    tally.latest = smallest  # the result so far, if the claim raises
                better = refuted[key]
                if better is not None and smallness(better.instance) < now:
                    break
                better = None
            if better is None:
                index += 1
                continue
            smallest, improved, now = better, True, smallness(better.instance)
            slots = STAGES[stage](smallest.instance, space)  # a later call starts the same way
            if STAGES[stage] in RENEWED:
                index = 0
        stage, index = stage + 1, 0
        # a success in a late stage may open moves of an early one, so all stages run again; the
        # result is minimal if every move of a whole pass fails
        if stage == len(STAGES):
            if not improved:
                return Polished(smallest, True, spent)
            stage, improved = 0, False


def still_refuted(
    tally: Tally, trial: Json, found_by: str, *, exactly: bool = False
) -> Refuted | None:
    """Return the confirmed refutation by a changed instance; None if there is none.

    If `exactly`, the instance is confirmed even if floats accept it.

    Raises:
        ClaimError: the check itself is at fault.
    """

    def refuted(case: Case) -> Refuted | None:
        return examine_again(tally, case, found_by, exactly=exactly)[1]

    return changed(tally, trial, refuted, "shrinking")


def changed(
    tally: Tally, trial: Json, asked: Callable[[Case], _Answer | None], who: str
) -> _Answer | None:
    """Return the answer of `asked` for a changed instance; None if it is no instance, or it raised.

    Raises:
        ClaimError: the check itself is at fault.
    """
    case = tally.likeness.made_up(trial)
    try:
        return None if case is None else asked(case)
    except ClaimError:
        raise
    except DataError:  # the changed document is not an instance
        return None
    except Exception as problem:
        tally.leave_broken("a changed counterexample", case, problem, who)
        return None
