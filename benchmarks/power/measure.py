"""One attempt at one claim: the quick check, the hunt, and plain Hypothesis as the rival."""

import functools
import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import Unsatisfiable

from attsvm.errors import DataError
from attsvm.theory import Slack
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.instance import codec
from attsvm.theory.record.counterexample import document
from attsvm.theory.run.asking import describe
from attsvm.theory.run.confirm import confirm
from attsvm.theory.run.examining import examine_case
from attsvm.theory.run.sampling import PROFILES, derive_seed, sample
from attsvm.theory.run.tally import Tally
from attsvm.theory.run.workers import known_claim
from attsvm.theory.search import DRAWN, GUIDED, Elite, Pool
from attsvm.theory.search.account import Hunt
from attsvm.theory.search.hunt import hunt
from attsvm.theory.search.turn import Turn, searchers_of, take
from attsvm.theory.verification.check import check_part

PACK = "benchmarks.power"
RIVAL = "plain Hypothesis"


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of an attempt.

    Attributes:
        refuted: whether a refutation was confirmed.
        seconds: seconds until then, or until the attempt ended.
        examples: number of evaluated instances.
        tightness, min_slack: how close the attempt came.
        by: the successful searcher.
        error: the error of the attempt.
    """

    refuted: bool
    seconds: float
    examples: int
    tightness: float | None = None
    min_slack: float | None = None
    by: str = ""
    error: str = ""

    @property
    def closest(self) -> str:
        """The closest approach to a refutation, in words."""
        if self.error:
            return f"broke: {self.error}"
        if self.tightness is not None:
            return f"ratio {self.tightness:.6g}"
        return "nothing to tell" if self.min_slack is None else f"slack {self.min_slack:.6g}"


def quick(claim: Claim, seed: int) -> Attempt:
    """Make the check of `attsvm verify` until a refutation is confirmed; return the attempt."""
    started = time.perf_counter()

    @functools.wraps(claim.conclusion)
    def conclusion(case: Any) -> Slack:
        slack = claim.conclusion(case)
        meant = not slack.holds and all(h.holds(case) for h in claim.hypotheses)
        if meant and confirm(claim, {}, case, slack.kind).refuted:
            raise KeyboardInterrupt
        return slack

    stopping = replace(claim, conclusion=conclusion)
    try:
        o = check_part(stopping, stopping.part(""), PROFILES["quick"], seed)
    except KeyboardInterrupt:
        return Attempt(True, time.perf_counter() - started, 0, by="quick check")
    seconds = time.perf_counter() - started
    return Attempt(False, seconds, o.examples, o.tightness, o.min_slack, error=o.error or "")


def hunt_one(claim: Claim, seconds: float, seed: int, rounds: int | None = None) -> Attempt:
    """Hunt until a refutation, for `rounds` if given, otherwise for seconds; return the attempt.

    A hunt of a given number of rounds has the same result at any load of the machine.
    """
    started = time.perf_counter()

    def stop(account: Hunt) -> None:
        if account.smallest is not None:
            raise KeyboardInterrupt  # the counterexample is not shrunk

    limit = seconds if rounds is None else None
    h = hunt(claim, seconds=limit, rounds=rounds, seed=seed, known=False, progress=stop)
    return Attempt(
        h.smallest is not None,
        time.perf_counter() - started,
        h.examples,
        h.seen.tightness,
        h.seen.min_slack,
        "" if h.smallest is None else h.smallest.found_by,
        h.error or "",
    )


def searchers_alone(claim: Claim) -> tuple[str, ...]:
    """Return the searchers that can work on a claim."""
    return searchers_of(claim, known=False)


_SPARED, _TURN = 48, 96
"""Number of drawn instances before a guided searcher, and budget of its turns in instances times
cost."""


def alone(claim: Claim, searcher: str, seconds: float, seed: int) -> Attempt:
    """Run turns of one searcher, for this processor time or until it has nothing more to propose.

    Guided searchers start from drawn instances. Drawn instances that refute are left out, so that a
    find is the searcher's own.
    """
    started = time.process_time()
    tally = Tally(claim, claim.part(""), 0)
    for case in sample(claim.data, _SPARED)[0] if searcher in GUIDED else ():
        try:
            examine_case(tally, codec.decode(case, claim.instance_type), DRAWN)
        except Exception as problem:  # the claim may raise any exception
            used = time.process_time() - started
            return Attempt(False, used, tally.seen.examples, error=describe(problem))
    pool = Pool(e for e in tally.pool.elites() if not _refutes(claim, e.document))
    used, examples, number, gain = 0.0, 0, 0, None
    while used < seconds and (gain is None or not (gain.found or gain.error or gain.idle)):
        turn = Turn(
            claim=claim.id,
            part="",
            searcher=searcher,
            number=number,
            seed=seed,
            budget=max(_TURN // claim.cost, 8),
            deadline=time.time() + 4 * (seconds - used),
            pool=pool.text(),
        )
        gain = take(claim, turn)
        for entry in gain.pool:
            pool.add(Elite.read(entry))
        number, examples = number + 1, examples + gain.evaluated
        used = time.process_time() - started
    by = gain.found["found_by"] if gain and gain.found else ""
    return Attempt(bool(by), used, examples, by=by, error=(gain and gain.error) or "")


def _refutes(claim: Claim, document: Any) -> bool:
    """Return whether a drawn instance, which meets the hypotheses, is a counterexample."""
    case = codec.decode(document, claim.instance_type)
    slack = claim.conclusion(case)
    return not slack.holds and confirm(claim, {}, case, slack.kind).refuted is not False


class _Over(BaseException):
    """The time is over; Hypothesis does not catch this."""


class _Found(BaseException):
    """A confirmed refutation; Hypothesis does not catch this."""


def rival(claim: Claim, seconds: float, seed: int) -> Attempt:
    """Run a plain `@given` test of the conclusion with ever more examples; return the attempt.

    A failure counts if the certificate confirms it, as for the other methods. Equality in a strict
    inequality counts as well, which the test could not see by its floats alone.
    """
    started = time.perf_counter()
    examples, rounds, ratios, slacks = 0, 0, [0.0], [float("inf")]
    result = False
    while not result and time.perf_counter() < started + seconds:

        @hypothesis.seed(derive_seed(claim.id, rounds, seed))
        @hypothesis.settings(
            max_examples=100 * 4**rounds,
            database=None,
            deadline=None,
            verbosity=Verbosity.quiet,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @hypothesis.given(claim.data)
        def test(case: Any) -> None:
            nonlocal examples
            if time.perf_counter() > started + seconds:
                raise _Over
            hypothesis.assume(all(h.holds(case) for h in claim.hypotheses))
            try:
                slack = claim.conclusion(case)
            except DataError:
                hypothesis.reject()
            examples += 1
            if slack.kind == "unknown":
                return
            slacks.append(slack.value)
            ratios.append(slack.ratio or 0.0)
            suspect = slack.violated or (slack.kind == "strict" and not slack.holds)
            if suspect and confirm(claim, {}, case, slack.kind).refuted:
                raise _Found

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                test()
        except _Found:
            result = True
        except _Over:
            break
        except Unsatisfiable:
            pass
        rounds += 1
    used = time.perf_counter() - started
    least = None if len(slacks) == 1 else min(slacks)
    return Attempt(result, used, examples, max(ratios) or None, least, RIVAL if result else "")


_ROUNDS, _SHARE = 4, 0.1
"""Number of rounds of all searchers, and their share of the time, before batches are screened."""


def examine(claim: Claim, instances: int, seed: int, seconds: float) -> list[Hunt]:
    """Hunt a true claim until this number of instances is evaluated; return the hunts.

    First, all searchers take some rounds. If batches can be screened, screening alone follows from
    the known instances, and only screened instances count.
    """
    hunts: list[Hunt] = []
    screened = claim.formula.batches
    phases = [(None, _ROUNDS, _SHARE * seconds), (["screen"], None, seconds)]
    for searchers, rounds, until in phases if screened else [(None, None, seconds)]:
        if hunts and unmoved(hunts):
            searchers, screened = None, False
        known = sum(looked(h, screened) for h in hunts)
        left = until - sum(h.seconds for h in hunts)

        def stop(account: Hunt, known: int = known, by: bool = screened) -> None:
            if account.smallest is not None or known + looked(account, by) >= instances:
                raise KeyboardInterrupt

        pool = hunts[-1].pool if hunts else None
        hunts.append(
            hunt(
                claim,
                seconds=left,
                rounds=rounds,
                seed=seed,
                searchers=searchers,
                pool=pool,
                progress=stop,
            )
        )
        if hunts[-1].interrupted or hunts[-1].smallest or hunts[-1].error:
            break
    return hunts


def unmoved(hunts: Sequence[Hunt]) -> bool:
    """Return whether screening had turns, but could change no instance within the hypotheses."""
    turns = sum(h.efforts["screen"].turns for h in hunts if "screen" in h.efforts)
    return turns > 0 and not any(h.seen.screened for h in hunts)


def looked(account: Hunt, screened: bool) -> int:
    """Return the number of screened instances of a hunt, or of examined ones without screening."""
    return account.seen.screened if screened else account.examples


def attempt_job(claim: str, method: str, seconds: str, seed: str, rounds: str, *named: str) -> str:
    """Make an attempt; return it as JSON.

    The method is `quick`, `hunt`, `rival` or the name of a searcher. `rounds` may be empty.
    """
    made, limit, base = known_claim(claim, named), float(seconds), int(seed)
    if method == "quick":
        result = quick(made, base)
    elif method == "rival":
        result = rival(made, limit, base)
    elif method == "hunt":
        result = hunt_one(made, limit, base, int(rounds) if rounds else None)
    else:
        result = alone(made, method, limit, base)
    return json.dumps(asdict(result))


def true_job(claim: str, instances: str, seed: str, seconds: str, *named: str) -> str:
    """Examine a true claim; return the results as JSON."""
    made = known_claim(claim, named)
    hunts = examine(made, int(instances), int(seed), float(seconds))
    last = hunts[-1]
    return json.dumps(
        {
            "claim": claim,
            "screened": sum(h.seen.screened for h in hunts),
            "examined": sum(h.examples for h in hunts),
            "seconds": round(sum(h.seconds for h in hunts), 1),
            "batches": made.formula.batches and not unmoved(hunts),
            "refuted": last.smallest is not None,
            "found": None if last.smallest is None else document(made, last.smallest),
            "undecided": sum(h.seen.undecided for h in hunts),
            "note": next((h.seen.undecided_note for h in hunts if h.seen.undecided_note), ""),
            "error": last.error or "",
        }
    )
