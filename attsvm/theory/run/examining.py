"""The evaluation of instances, of three kinds.

- Ordinary instances are those of the author's strategy, ensemble and examples. They decide whether
  a check was thorough, and any of them may refute the claim.
- Made-up instances are those of guided searchers; they are counted apart.
- Changed counterexamples are evaluated to shrink or worsen them; the counts stay unchanged.
"""

import contextlib
import functools
from collections.abc import Iterable

from attsvm._types import Case, Json
from attsvm.errors import ClaimError, DataError
from attsvm.theory.declaration.hypotheses import Hypothesis
from attsvm.theory.declaration.judge import PRECISIONS, misses
from attsvm.theory.declaration.records import RecordFormula
from attsvm.theory.declaration.slack import Slack
from attsvm.theory.declaration.verdict import Evidence
from attsvm.theory.instance import codec
from attsvm.theory.run.asking import agree, frozen, in_words
from attsvm.theory.run.bounded import TooLong, within_bound
from attsvm.theory.run.confirm import Refuted
from attsvm.theory.run.sampling import DRAWN, EXPLICIT
from attsvm.theory.run.tally import Tally

_WATCHED = 16
"""Re-evaluated instances are drawn from the first 16 accepted ones (number of instances)."""

_IMPLIED = 25
"""Number of accepted instances of a reading on which implications of hypotheses are tested."""

_AUDIT = PRECISIONS[1]
"""Maximum number of bits for the exact evaluation of an instance that floats accept, unless floats
follow a stand-in."""


def examine_case(tally: Tally, case: Case, searcher: str) -> tuple[bool, Refuted | None]:
    """Return whether an ordinary instance was accepted, and a confirmed refutation.

    An instance that takes too many steps is counted as skipped.
    """
    case = frozen(case)
    try:
        return _examined(tally, case, searcher)
    except TooLong:
        tally.give_up(case)
        return False, None


def _examined(tally: Tally, case: Case, searcher: str) -> tuple[bool, Refuted | None]:
    seen, evaluation = tally.seen, tally.evaluation
    tally.likeness.see(case, searcher)
    # The first instances are encoded before and after each call, to detect code that changes its
    # instance, and their conclusions are evaluated again later. For all instances this would take
    # longer than the evaluation itself.
    watched = len(tally.first) < tally.repeats and seen.examples < _WATCHED
    before = codec.encode(case) if watched else None
    accepted = _accepts(tally, case)
    if watched:
        evaluation.ensure_unchanged("a hypothesis", case, before)
    if not accepted:
        return False, None
    if tally.part.name == "" and seen.examples <= _IMPLIED:
        _ensure_implied(tally, case)
    tally.variety.see(case)
    slack = evaluation.slack(case)
    if searcher != EXPLICIT:
        tally.count(case, slack)
    seen.drawn += searcher == DRAWN
    seen.describe(case)
    if searcher != EXPLICIT:  # explicit instances say nothing about how the strategy varies
        tally.variety.see_drawn(case)
    if watched:
        evaluation.ensure_unchanged("the conclusion", case, before)
        if all(slack.value != other.value for _, _, other in tally.first):
            tally.first.append((case, before, slack))
    if slack.holds:
        tally.record(slack, case, searcher, refuted=False)
        if not (_stands_in(tally) or tally.audits > 0):
            return True, None
        tally.audits -= 1
        audited = seen.audited
        try:
            refutation = _audited(case, tally, slack, searcher)
        finally:
            if watched:
                evaluation.ensure_unchanged("the certificate", case, before)
        seen.decided += refutation is not None or seen.audited > audited
        return True, refutation
    answer, document = evaluation.confirmed(case, slack)
    if tally.part.formula.measured is not None:
        seen.decided += answer.evidence is Evidence.CERTIFIED
    # if the exact evaluation contradicts the floats, the float height must not attract the search
    if answer.refuted is not False or not slack.violated:
        tally.record(slack, case, searcher, refuted=answer.refuted is True)
    if answer.refuted:
        return True, tally.refutation(document, slack, answer, searcher)
    if answer.refuted is None or slack.violated:
        tally.leave_undecided(case, slack, answer)
    return True, None


def _accepts(tally: Tally, case: Case) -> bool:
    """Return whether the instance meets every hypothesis; count each by name.

    Raises:
        ClaimError: a hypothesis is not decided, or raised.
    """
    verdicts = {h.name: tally.evaluation.named(h, case) for h in tally.part.hypotheses}
    accepted = all(verdicts.values())
    for name, answer in verdicts.items():
        tally.seen.hypotheses[name] += answer
    tally.seen.examples += accepted
    tally.seen.rejected += not accepted
    return accepted


def _ensure_implied(tally: Tally, case: Case) -> None:
    """Raise unless an accepted instance meets the hypotheses that others are declared to imply.

    Proofs may suppose implied hypotheses, so a false implication would prove too much.

    Raises:
        ClaimError: the instance is proved to miss an implied hypothesis.
    """
    for hypothesis in tally.part.hypotheses:
        for weaker in [*hypothesis.consequences()][1:]:
            if _missed(tally, weaker, case):
                raise ClaimError(
                    f"hypothesis {hypothesis.name!r} of {tally.claim.id} does not imply "
                    f"{weaker.name!r}",
                    value=in_words(case),
                    remedy="Leave it out of `implies`, or make the hypothesis stronger.",
                )


def _missed(tally: Tally, weaker: Hypothesis, case: Case) -> bool:
    """Return whether an instance is proved to miss a hypothesis that others imply."""
    formula = tally.part.formula
    if isinstance(formula, RecordFormula):
        return not tally.evaluation.decided(weaker, case)
    return within_bound(lambda: misses(weaker.holds, formula, case))


def _stands_in(tally: Tally) -> bool:
    """Return whether floats follow a stand-in, so that each instance is evaluated exactly."""
    measured = tally.part.formula.measured
    return bool(tally.part.name == "" and measured is not None and measured.stand_in)


def _audited(case: Case, tally: Tally, slack: Slack, searcher: str) -> Refuted | None:
    """Evaluate exactly an instance that floats accept; return the refutation, if any."""
    measured = tally.part.formula.measured
    if measured is None or measured.balls is None:
        return None
    bits = PRECISIONS[-1] if _stands_in(tally) else _AUDIT
    answer, document = tally.evaluation.confirmed(case, slack, bits)
    tally.seen.audited += answer.refuted is False
    return tally.refutation(document, slack, answer, searcher) if answer.refuted else None


def audit_closest(tally: Tally) -> Refuted | None:
    """Evaluate exactly the instance with the largest height; return its refutation, if any.

    An instance on which floats already do not accept the conclusion was evaluated exactly before.
    """
    if tally.best is None or not tally.best[2].holds:
        return None
    _, case, slack = tally.best
    audited = functools.partial(_audited, tally=tally, slack=slack, searcher=tally.best_by)
    excused = Exception if tally.best_made_up else ()
    return tally.answer(audited, case, "the certificate", tally.best_by, excused)


def repeat(tally: Tally) -> None:
    """Raise unless repeated evaluations of the conclusion return the same slacks.

    The conclusion is evaluated again on the first instances with different slacks, and several
    times on the last of them, to detect a conclusion that alternates.

    Raises:
        ClaimError: the conclusion returns another slack, or changes an instance.
    """
    for case, before, slack in (*tally.first, *tally.first[-1:] * (2 * tally.repeats - 1)):
        agree(tally.claim.id, slack, tally.evaluation.slack(case), exactly=True)
        tally.evaluation.ensure_unchanged("the conclusion", case, before)


def see_dropped(tally: Tally, documents: Iterable[Json]) -> None:
    """Record which hypotheses dropped by the part are violated by some of the encoded instances.

    Instances that violate a remaining hypothesis do not count. Every hypothesis is decided exactly.
    """
    missed, decided = tally.seen.missed, tally.evaluation.decided
    for document in documents:
        if all(missed.values()):
            return
        case = frozen(codec.decode(document, tally.claim.instance_type))
        with contextlib.suppress(TooLong):
            if all(decided(h, case) for h in tally.part.hypotheses):
                for hypothesis in tally.part.dropped:
                    missed[hypothesis.name] |= not decided(hypothesis, case)


_TOUCHING = 12
"""Maximum number of exact evaluations per turn for instances that floats accept."""


def admits(tally: Tally, case: Case, searcher: str, *, reshaped: bool) -> bool:
    """Return whether a made-up instance meets every hypothesis; False if a hypothesis raises.

    The exception is counted as broken. If the searcher kept the form of the instance, only a
    `DataError` is excused in this way: another exception is a mistake of the claim, and passes
    through.
    """
    excused = Exception if reshaped else DataError
    for each in tally.part.hypotheses:
        decided = functools.partial(tally.evaluation.decided, each)
        if not tally.answer(decided, case, f"hypothesis {each.name!r}", searcher, excused):
            return False
    return True


def probe(
    tally: Tally, case: Case, searcher: str, *, reshaped: bool, progress: float = 1.0
) -> tuple[float | None, Refuted | None]:
    """Evaluate a made-up instance; return its height and, if confirmed, a refutation.

    Such instances go beyond the author's strategy. An undecided one is counted as open and leaves
    the verdict unchanged, unless floats see a violation. One on which the exact evaluation raises
    is counted as broken.

    Args:
        tally: the tally of the part; it counts the instance.
        case: the instance.
        searcher: the name of the searcher.
        reshaped: whether the searcher changed the form of the instance; then an exception is not
            held against the claim.
        progress: the share of the searcher's turn that has passed. Exact evaluations of instances
            that floats cannot decide are limited, and spread over the turn.

    Returns:
        The height, None if the instance is not admissible or was not evaluated; and the confirmed
        refutation, if any.

    Raises:
        TooLong: the evaluation of a record takes too many steps.
    """
    case = frozen(case)
    try:
        return _probed(tally, case, searcher, reshaped=reshaped, progress=progress)
    except TooLong:
        tally.give_up(case)
        return None, None


def _probed(
    tally: Tally, case: Case, searcher: str, *, reshaped: bool, progress: float
) -> tuple[float | None, Refuted | None]:
    seen, evaluation = tally.seen, tally.evaluation
    broke = seen.broke
    if not admits(tally, case, searcher, reshaped=reshaped):
        seen.refused += seen.broke == broke
        return None, None
    excused = Exception if reshaped else DataError
    slack = tally.answer(evaluation.slack, case, "the conclusion", searcher, excused)
    if slack is None:
        return None, None
    answer, document = None, None
    if slack.violated or (not slack.holds and _touches(tally, searcher, progress)):
        confirmed = functools.partial(evaluation.confirmed, slack=slack)
        settled = tally.answer(confirmed, case, "the certificate", searcher, Exception)
        if settled is None:
            return None, None
        answer, document = settled
    seen.probed += 1
    tally.count(case, slack)
    tally.variety.see(case)
    refuted = answer is not None and answer.refuted is True
    contradicted = answer is not None and answer.refuted is False and slack.violated
    if not contradicted:  # its height would attract the search to float errors
        tally.record(slack, case, searcher, refuted=refuted, made_up=True)
    height = None if slack.kind == "unknown" or contradicted else slack.height
    if answer is not None and refuted:
        return height, tally.refutation(document, slack, answer, searcher)
    if answer is not None and slack.violated:
        tally.leave_undecided(case, slack, answer)
    elif not slack.holds and (answer is None or answer.refuted is None):
        seen.open += 1
    return height, None


def _touches(tally: Tally, searcher: str, progress: float) -> bool:
    """Count an instance that floats leave open; return whether to evaluate it exactly.

    The budget of exact evaluations grows with the progress of the turn.
    """
    touched = tally.touched.get(searcher, 0)
    if touched >= _TOUCHING * progress:
        tally.seen.unexamined += 1
        return False
    tally.touched[searcher] = touched + 1
    return True


def examine_again(
    tally: Tally, case: Case, searcher: str, *, exactly: bool
) -> tuple[bool, Refuted | None]:
    """Return whether a changed instance is accepted, and a confirmed refutation; count neither.

    Args:
        tally: the tally of the part. It keeps the latest refutation, and counts evaluations that
            are stopped after too many steps.
        case: the instance.
        searcher: the searcher that found the counterexample.
        exactly: whether to evaluate exactly an instance that floats accept.
    """
    case, evaluation = frozen(case), tally.evaluation
    try:
        if not all(evaluation.decided(h, case) for h in tally.part.hypotheses):  # domains first
            return False, None
        slack = evaluation.slack(case)
        if slack.holds and not exactly:
            return True, None
        answer, document = evaluation.confirmed(case, slack, anew=False)
    except TooLong:
        tally.give_up(case)
        return False, None
    return True, tally.refutation(document, slack, answer, searcher) if answer.refuted else None


def holds_in_floats(tally: Tally, refuted: Refuted) -> bool:
    """Return whether floats accept the instance of a counterexample."""
    case = codec.decode(refuted.instance, tally.claim.instance_type)
    return tally.evaluation.slack(frozen(case)).holds


def height(tally: Tally, case: Case) -> float | None:
    """Return how close an instance comes to a violation in floats; None if it is not admissible."""
    case = frozen(case)
    try:
        if not all(tally.evaluation.decided(h, case) for h in tally.part.hypotheses):
            return None
        slack = tally.evaluation.slack(case)
    except TooLong:
        tally.give_up(case)
        return None
    return None if slack.kind == "unknown" else slack.height


def ensure_stands(tally: Tally, refuted: Refuted) -> None:
    """Raise unless a second evaluation, from the stored values, confirms a counterexample.

    Raises:
        ClaimError: the result differs from the stored one.
    """
    case = frozen(codec.decode(refuted.instance, tally.claim.instance_type))
    value, error, kind = refuted.slack["value"], refuted.slack["error"], refuted.slack["kind"]
    slack = Slack(float(value), float(error), kind)  # type: ignore[arg-type]
    tally.latest = None
    answer, _ = tally.evaluation.confirmed(case, slack)
    if not answer.refuted:
        agree(tally.claim.id, slack, tally.evaluation.slack(case), exactly=False)
        raise ClaimError(
            f"the certificate of {tally.claim.id} gave two answers on one instance",
            value=answer.method,
            remedy="Let it depend on the instance alone: seed every random generator.",
        )
    tally.latest = refuted
