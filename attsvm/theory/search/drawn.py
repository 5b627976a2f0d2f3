"""The searcher that draws from the author's own strategy by Hypothesis.

Heights steer the draws towards a violation, and Hypothesis shrinks what refutes the claim.
"""

from __future__ import annotations

import json
import math
import time
from typing import TYPE_CHECKING

import hypothesis
from hypothesis import Phase
from hypothesis.errors import Unsatisfiable, UnsatisfiedAssumption

from attsvm._types import Case
from attsvm.errors import ClaimError
from attsvm.theory.instance import codec
from attsvm.theory.run.asking import frozen
from attsvm.theory.run.ordinary import examine_case
from attsvm.theory.run.retrial import examine_again
from attsvm.theory.run.sampling import DRAWN, drawing, same_pool
from attsvm.theory.search.scout import Spent

if TYPE_CHECKING:
    from attsvm.theory.run.confirm import Refuted
    from attsvm.theory.run.tally import Tally


class _FoundError(Exception):
    """An error that tells Hypothesis that an instance refutes the claim, so that it shrinks it."""


class _Broken(BaseException):
    """A carrier of a claim's exception past Hypothesis, which would otherwise shrink it."""

    def __init__(self, problem: BaseException) -> None:
        self.problem = problem


def draw(
    tally: Tally,
    examples: int,
    shrinks: int,
    seed: int,
    deadline: float | None = None,
    looks: int | None = None,
) -> Refuted | None:
    """Return a confirmed refutation among instances that Hypothesis draws and shrinks, or None.

    Only a confirmed refutation counts as a failure for Hypothesis.

    Args:
        tally: the tally that counts the instances.
        examples: number of instances that the strategy draws.
        shrinks: maximum number of examinations while shrinking; with 0 the instance stays as drawn.
        seed: seed of the draws.
        deadline: wall-clock time (`time.time`) at which to stop.
        looks: maximum number of instances, admissible or not. None sets no limit: Hypothesis may
            then try many times `examples` instances if most are rejected.
    """
    last: list[Refuted] = []
    seen: dict[str, tuple[bool, Refuted | None]] = {}
    shrinking, spent, looked = False, 0, 0

    def examined(case: Case) -> tuple[bool, Refuted | None]:
        try:
            if shrinking:
                return examine_again(tally, case, DRAWN, exactly=False)
            return examine_case(tally, case, DRAWN)
        except UnsatisfiedAssumption as problem:
            cause = f"{tally.claim.id} calls `assume` or `reject` while it evaluates an instance"
            remedy = "State a hypothesis, or filter in the strategy."
            raise _Broken(ClaimError(cause, value=str(problem), remedy=remedy)) from problem
        except (Exception, SystemExit) as problem:
            raise _Broken(problem) from problem

    phases = [Phase.generate, Phase.target, *([Phase.shrink] if shrinks else [])]

    @drawing(tally.part.data, seed, examples, *phases)
    def body(case: Case) -> None:
        nonlocal shrinking, spent, looked
        if deadline is not None and time.time() > deadline:
            raise Spent
        key = ""
        if looks is not None and not shrinking:
            if looked >= looks:
                raise Spent
            looked += 1
        try:
            case = frozen(case)
        except ClaimError as problem:
            raise _Broken(problem) from problem
        if shrinking:  # cache answers, and stop exploring when the budget is spent
            key = json.dumps(codec.encode(case), sort_keys=True)
            if key not in seen and spent >= shrinks:
                return
            spent += 1
        if key in seen:
            accepted, result = seen[key]
        else:
            accepted, result = examined(case)
        if key:
            seen[key] = accepted, result
        if result:
            if not shrinking:
                shrinking = True
                seen[json.dumps(codec.encode(case), sort_keys=True)] = True, result
            last.append(result)
            raise _FoundError
        if not accepted:
            hypothesis.reject()
        if not shrinking and tally.best is not None and tally.best[1] is case:
            height = tally.best[0]
            if math.isfinite(height):
                hypothesis.target(height)

    broken: BaseException | None = None
    try:
        with same_pool():
            body()
    except _FoundError:
        return last[-1]
    except _Broken as stop:
        broken = stop.problem
    except (Unsatisfiable, Spent):
        return last[-1] if last else None
    if broken is not None:
        raise broken  # outside Hypothesis, which would replace the context of the exception
    return None
