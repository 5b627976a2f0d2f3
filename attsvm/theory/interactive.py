"""Functions `verify`, `hunt`, `ask` and `show` in one process, also for claims typed at a prompt.

Each takes ids, prefixes, statements or claims. It returns a result whose `repr` is a text for
people. Nothing is written to disk.
"""

import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from attsvm._live import Live
from attsvm._words import counted
from attsvm.errors import UsageError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.question import Related, asked_at, ensure_no_variable
from attsvm.theory.declaration.statement import Statement
from attsvm.theory.declaration.variables import Variable
from attsvm.theory.packs.packs import NO_CLAIMS, Pack, find_claims, load_packs, premises
from attsvm.theory.record.counterexample import in_python, shown
from attsvm.theory.record.errata import Source, find_source
from attsvm.theory.report.answer import Answer, answered
from attsvm.theory.report.hunt_text import hunt_line, hunt_text
from attsvm.theory.report.screen import screen
from attsvm.theory.report.terminal import outcome, table_text
from attsvm.theory.report.view import StatementView, statement_of, statement_view
from attsvm.theory.search.account import Hunt
from attsvm.theory.search.hunt import hunt as _hunt
from attsvm.theory.verification.verdicts import Checked, Report
from attsvm.theory.verification.verify import verify as _verify

_QUIET = 10.0
"""Seconds between progress messages on standard error if that is not a terminal."""

What = str | Statement | Claim
"""An id or a prefix, a statement, or a claim."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The result of `verify`.

    Attributes:
        report: the run, with `checked` for each claim.
    """

    report: Report

    @property
    def as_expected(self) -> bool:
        """Whether every verdict is the expected one, and curated counterexamples stand."""
        return self.report.matched

    def __getitem__(self, id: str) -> Checked:
        """Return the result of one claim.

        Raises:
            KeyError: the run did not check the claim.
        """
        return {checked.claim.id: checked for checked in self.report.checked}[id]

    def _lines(self) -> Iterator[str]:
        """Yield unexpected refutations with their counterexamples, and the result of the run."""
        for checked in self.report.checked:
            if not checked.as_expected and checked.reading.refuted is not None:
                yield f"{checked.claim.id} is refuted by"
                yield from (f"  {n}" for n in shown(checked.claim, "", checked.reading.refuted))
        wrong = sum(not checked.as_expected for checked in self.report.checked)
        fallen = sum(not replay.confirmed for replay in self.report.replayed)
        yield f"{counted(len(self.report.checked), 'claim')}: {outcome(wrong, fallen)}"

    def __repr__(self) -> str:
        text = StringIO()
        table_text([checked.json() for checked in self.report.checked], text)
        return text.getvalue() + "\n".join(self._lines())


@dataclass(frozen=True, slots=True)
class Hunted:
    """The result of `hunt`.

    Attributes:
        account: the hunt, with its `smallest` and `worst` counterexamples, None if it found none.
        seconds: its time limit; None without one.
    """

    account: Hunt
    seconds: float | None = None

    @property
    def found(self) -> bool:
        """Whether a counterexample was confirmed."""
        return self.account.smallest is not None

    def __repr__(self) -> str:
        account, smallest = self.account, self.account.smallest
        lines: list[str] = []
        if smallest is not None:
            lines = list(shown(account.claim, account.part, smallest))
        elif account.closest is not None:
            lines = in_python(account.claim, account.part, account.closest.document)
        document = account.json() | {"sibling": account.part or None, "counterexample": None}
        document |= {"kept": False, "worst": None}
        document["unfinished"] = account.unfinished(self.seconds)
        efforts = document["searchers"].items()  # without times, to be the same in every run
        document["searchers"] = {name: effort | {"seconds": None} for name, effort in efforts}
        return "\n".join(hunt_text(document, shown=lines))


@dataclass(frozen=True, slots=True)
class Shown:
    """The result of `show`.

    Attributes:
        view: the statement with its readings.
    """

    view: StatementView

    def __repr__(self) -> str:
        return "\n".join(screen(self.view))


def verify(*what: What, profile: str = "quick", seed: int = 0, progress: bool = True) -> Verdicts:
    """Return the verdicts on claims and their siblings, or on all known claims if none is named.

    Args:
        what: ids, prefixes, statements or claims.
        profile: the amount of checking, "quick" or "deep".
        seed: base seed.
        progress: whether to report progress on standard error if a check takes over ten seconds;
            switch it off in a notebook whose output should always be the same.

    Raises:
        UnknownClaimError: no claim has that id.
        UsageError: there is no such profile, or there is no claim at all.
    """
    claims = _claims(what)
    if not claims:
        raise UsageError("there is no claim to check", remedy=NO_CLAIMS)
    packs = load_packs(ids=[c.id for c in claims] if what else ())
    known = {id(c) for pack in packs for c in pack.claims}
    typed = tuple(c for c in claims if id(c) not in known)
    if typed:  # a claim without a file has no stored counterexample
        packs = (Pack("typed", typed, Path("typed at a prompt")), *packs)
    started = time.monotonic()
    with _live(progress) as live:

        def tell(done: int, total: int, checked: Checked | None) -> None:
            text = f": {checked.claim.id}" if checked else ""
            long = time.monotonic() - started > _QUIET
            live.update(lambda: f"[{done}/{total}]{text}", long and checked is not None)

        wanted = [c.id for c in claims]
        return Verdicts(_verify(packs, wanted, profile=profile, seed=int(seed), progress=tell))


def hunt(
    what: What,
    *,
    sibling: str = "",
    seconds: float | None = 60.0,
    rounds: int | None = None,
    seed: int = 0,
    fresh: bool = False,
    progress: bool = True,
) -> Hunted:
    """Return the result of a search for a counterexample of one claim, confirmed and shrunk.

    Args:
        what: the claim; for a statement with several readings, the id of a reading.
        sibling: the name of a sibling to hunt instead.
        seconds: maximum wall time in seconds; None only together with `rounds`.
        rounds: maximum number of rounds of search.
        seed: base seed.
        fresh: whether to ignore the claim's own instances and its stored counterexample.
        progress: whether to report progress on standard error if a hunt takes over ten seconds.

    Raises:
        UsageError: there are several claims, there is no limit, or a limit is not positive.
        UnknownClaimError, ClaimError: there is no such claim, or no such sibling.
    """
    for name, limit in (("seconds", seconds), ("rounds", rounds)):
        if limit is not None and not 0 < limit < math.inf:
            raise UsageError(
                f"{name} must be positive and finite", value=limit, remedy="Give a positive number."
            )
    claims = _claims([what])
    if len(claims) > 1:
        raise UsageError(
            "a hunt is for one claim",
            value=", ".join(c.id for c in claims),
            remedy="Name one of them, such as statement.claim('literal').",
        )
    (claim,) = claims
    claim.part(sibling)
    with _hunting(seconds, progress) as tell:
        return Hunted(
            _hunt(
                claim,
                part=sibling,
                seconds=seconds,
                rounds=rounds,
                seed=int(seed),
                known=not fresh,
                progress=tell,
            ),
            seconds,
        )


def ask(
    conclusion: Related | None = None,
    /,
    *hypotheses: Related,
    seconds: float = 10.0,
    seed: int = 0,
    progress: bool = True,
    **variables: Variable,
) -> Answer:
    """Ask whether a relation holds for all values of its variables; see `question`.

    For example::

        ask(lambda m, v: m.at_most(m.norm(v.x + v.y), m.norm(v.x)), x=Vector("n"), y=Near("x"))

    Args:
        conclusion: a function of (m, v) that returns a relation.
        hypotheses: functions of (m, v) that return relations, which an instance must meet.
        seconds: maximum wall time of the search in seconds; a question that no instance refutes
            uses all of it.
        seed: base seed.
        progress: whether to report progress on standard error after ten seconds.
        variables: the domain of each variable, in any order.

    Raises:
        ClaimError: the question cannot be asked in this form.
        UsageError: the time limit is not positive.
    """
    ensure_no_variable(seconds=seconds, seed=seed, progress=progress)
    caller = sys._getframe(1)
    place = caller.f_code.co_filename, caller.f_lineno
    options = "The options of ask are seconds=, seed= and progress=."
    asked = asked_at(place, conclusion, hypotheses, variables, options)
    with _hunting(seconds, progress) as tell:
        return answered(asked, seconds, tell, seed=seed)


def show(what: What) -> Shown:
    """Return one statement: its printed sentence, its formula, its readings.

    Raises:
        UnknownClaimError: there is no statement of that id.
        UsageError: the word is a prefix of several statements.
    """
    claims = _claims([what])
    id = statement_of(claims, claims[0].statement_id)
    source = Source(id.partition("/")[0])
    if isinstance(what, str):
        packs = load_packs(ids=[what])
        source = find_source(packs, source.name)
        claims = list(find_claims(packs))
    rests = premises() if isinstance(what, str) else None
    return Shown(statement_view(id, claims, source, premises=rests))


@contextlib.contextmanager
def _hunting(seconds: float | None, wanted: bool) -> Iterator[Callable[[Hunt], None]]:
    """Yield a function that reports the progress of a hunt."""
    started = time.monotonic()
    with _live(wanted) as live:

        def tell(account: Hunt) -> None:
            elapsed = time.monotonic() - started
            live.update(lambda: hunt_line(account, elapsed, seconds), elapsed > _QUIET)

        yield tell


def _live(wanted: bool) -> Live:
    """Return the progress display, which stays hidden unless wanted."""
    return Live(_QUIET, sys.stderr if wanted else StringIO())


def _claims(what: Iterable[What]) -> list[Claim]:
    """Return the chosen claims, in the order of their ids; all claims if nothing is chosen."""
    words = [w for w in what if isinstance(w, str)]
    others = [w for w in what if not isinstance(w, str)]
    results = list(find_claims(load_packs(ids=words), words)) if words or not others else []
    for one in others:
        results += one.claims if isinstance(one, Statement) else [one]
    return sorted({c.id: c for c in results}.values(), key=lambda c: c.id)
