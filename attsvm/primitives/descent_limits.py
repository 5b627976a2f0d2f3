"""Limits of descent, each declared once with all its forms: its direction, its norm, its rate.

A source gives its letters, and a limit says what has one. Where a sentence speaks of another
descent than that of an instance, such as one from a start that it names, `Beginning` says which.
Floats follow gradient flow and propose. Balls take the steps of the instance and decide; they ask
for more bits as long as nothing is proved, since long runs need many, and so do runs where
attention lingers. Tensors say where to look.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from attsvm.exact import ExactData, dot, rationals
from attsvm.exact.traps import is_stationary_start, moves_along_margins
from attsvm.limits import norm_diverges, norm_grows_like_log
from attsvm.losses import LOSSES
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import certified_limit, max_margin, or_more_bits, reaches
from attsvm.primitives.growth_rates import arrives, diverges, rate_error
from attsvm.primitives.hypotheses import feasible, unique_optimum
from attsvm.primitives.losses import SLOPED
from attsvm.primitives.steps import (
    FLOW,
    INFINITY,
    LN_K,
    TARGET,
    along,
    by_gradient_flow,
    norm,
    over,
)
from attsvm.primitives.torch_objectives import descent_at_rest, elsewhere, not_selecting
from attsvm.theory import Measured, Slack
from attsvm.theory.arithmetic.plain import in_plain

SOME = "some"
"""The constant `start` of a limit that is said of some start: the one that is tried may not do."""


@dataclass(frozen=True, slots=True)
class Letters:
    """The notation of a source for descent.

    Attributes:
        start: where it starts.
        iterate: an iterate, in LaTeX.
        targets: its max-margin solutions in LaTeX, by the names that `max_margin` has for them.
        says: a clause with `$formula`, which may name fixed fields, such as `$loss`.
        symbols: how values of fixed fields are written, in LaTeX.
    """

    start: str
    iterate: str
    targets: Mapping[str, str] = field(hash=False)
    says: str = ""
    symbols: Mapping[str, Mapping[Any, str]] = field(default_factory=dict, hash=False)

    def meaning(self, limit: str, more: str) -> str:
        """Return what the letters of a limit mean, with those of a start that it names."""
        parts = [f"{self.iterate} are the iterates from {self.start}"]
        if limit != INFINITY:
            optimal = in_plain(self.targets["optimal"])
            parts.append(f"{optimal} is the max-margin solution of the optimal tokens")
        return ", ".join([*parts, more]) if more else " and ".join(parts)


@dataclass(frozen=True, slots=True)
class Beginning:
    """The descent of a limit, if it is not the descent of the instance.

    Attributes:
        of: returns it for an instance and the constants; None where it is not known.
        constants: those that it takes, with their defaults.
        says: what has the limit, a clause with `$formula`; that of the letters unless given.
        condition: what follows the limit in its formula.
        where: what letters of the start mean.
        symbols: how values of its constants are written.
    """

    of: Callable[..., Descent | None]
    constants: Mapping[str, Any] = field(default_factory=dict, hash=False)
    says: str = ""
    condition: str = ""
    symbols: Mapping[str, Mapping[Any, str]] = field(default_factory=dict, hash=False)
    where: str = ""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity with a limit, and its forms for a descent and constants.

    Attributes:
        writes: returns it and its limit in the letters of a source.
        constants: those that its forms take, with their defaults.
        floats, balls, tensors: see `Measured`.
    """

    writes: Callable[[Letters], tuple[str, str]]
    floats: Callable[..., Slack]
    balls: Callable[..., arb]
    tensors: Callable[..., Any]
    constants: Mapping[str, Any] = field(default_factory=dict, hash=False)


def _certainly_reaches(case: Descent, towards: str) -> arb:
    """Return the same by proof. Tokens may be tied in inputs whose gradient is 0."""
    target = max_margin(case.data, towards)
    if target is not None and not unique_optimum(case):
        return or_more_bits(arrives(case.data, case.W, case.loss, target, case.step))
    return or_more_bits(certified_limit(case, towards))


def _grows(case: Descent) -> Slack:
    """Return whether the norm diverges; how long the steps are does not matter to the flow."""
    return norm_diverges(case.data, case.W, LOSSES[case.loss])


def _certainly_grows(case: Descent) -> arb:
    """Return 1 if the run is proved to settle, -1 if it rests or ends at a finite norm."""
    if is_stationary_start(ExactData.of(case.data), rationals(case.W), case.loss):
        return arb(-1)
    proved = diverges(case.data, case.W, case.loss, case.step)
    return arb(1) if proved is None and _leaves_balls(case) else or_more_bits(proved)


def _leaves_balls(case: Descent) -> bool:
    """Return whether the norm is proved to diverge from any start and with any constant step.

    It is so on every loss whose slope has one sign and is never 0, where the Att-SVM is feasible,
    some input has two different scores, and the rivals of each input share one score. Inputs of one
    score have no gradient; the others have unique optimal tokens. A step of size eta on a loss l(u)
    adds to <W, W^mm>

        -eta sum_it l'(u_i) c_it m_it(W^mm) / n,   c_it = s_opt s_t (gamma_opt - gamma_t) >= 0

    for t != opt_i where the rivals score the same, with margins m >= 1. All terms have the sign of
    -l', and some term is not 0. On a ball attention is bounded below and so is |l'|: while W_k
    stays in one, every step adds more than a constant. So no ball holds the run; as the steps are
    bounded too and <W, W^mm> is monotone, it has no limit, and |<W, W^mm>| <= ||W|| ||W^mm||
    diverges.
    """
    data = ExactData.of(case.data)
    inputs = [i for i, gamma in enumerate(data.gamma) if len(set(gamma)) > 1]
    moving = ExactData(
        [data.X[i] for i in inputs],
        [data.Z[i] for i in inputs],
        [data.gamma[i] for i in inputs],
        [data.kept[i] for i in inputs],
    )
    sloped = case.loss in (*SLOPED, "logistic")
    return sloped and feasible(case) and moves_along_margins(moving)


def _square(case: Descent) -> fmpq | None:
    """Return the squared length of the solution for the optimal tokens; None without one."""
    found = max_margin(case.data, "optimal")
    return None if found is None else sum((dot(row, row) for row in found), fmpq(0))


@by_gradient_flow
def _grows_like(case: Descent, share: int) -> Slack:
    """Return whether norm / ln k tends to a share of the length of the solution."""
    square = _square(case)
    if square is None:
        return Slack(-1.0, 0.0)
    claimed = float(Fraction(share)) * float(arb(square).sqrt())
    return norm_grows_like_log(case.data, case.W, LOSSES[case.loss], claimed)


def _certainly_grows_like(case: Descent, share: int) -> arb:
    """Return minus the distance of the share from the one that is proved."""
    square = _square(case)
    if square is None:
        return arb(-1)
    claimed = Fraction(share)
    return or_more_bits(rate_error(case.data, case.W, case.loss, square, claimed, case.step))


DIRECTION = Quantity(
    lambda letters: (along(letters.iterate), along(TARGET)),
    reaches,
    _certainly_reaches,
    elsewhere,
    {"towards": "optimal"},
)
NORM = Quantity(
    lambda letters: (norm(letters.iterate), INFINITY), _grows, _certainly_grows, descent_at_rest
)
RATE = Quantity(
    lambda letters: (
        over(norm(letters.iterate), LN_K),
        f"$share {norm(letters.targets['optimal'])}",
    ),
    _grows_like,
    _certainly_grows_like,
    not_selecting,
    {"share": 1},
)


@dataclass(frozen=True, slots=True)
class _Begun:
    """The forms of a quantity for the descent that a limit speaks of."""

    quantity: Quantity
    begins: Beginning
    never: Callable[..., bool]

    def parts(self, constants: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], bool]:
        """Return the constants of the beginning, the others, and whether some start is meant."""
        own = {**self.begins.constants, **constants}
        own = {name: own[name] for name in self.begins.constants}
        others = {**self.quantity.constants, **constants}
        others = {name: others[name] for name in self.quantity.constants}
        return own, others, own.get("start") == SOME

    def floats(self, case: Descent, **constants: Any) -> Slack:
        """Return the slack of the descent; unknown where another start may do."""
        own, others, some = self.parts(constants)
        if self.never(case, **others):
            return Slack(-1.0, 0.0)
        if case.loss not in LOSSES:
            return Slack.unknown("runs on this loss are not followed")
        run = self.begins.of(case, **own)
        if run is None:
            return Slack.unknown("no start is known that is asked for")
        found = self.quantity.floats(run, **others)
        return Slack.unknown("another start may do") if some and found.violated else found

    def balls(self, case: Descent, **constants: Any) -> arb | None:
        """Return its proof; None where a start fails and another one may do."""
        own, others, some = self.parts(constants)
        if self.never(case, **others):
            return arb(-1)
        if case.loss not in LOSSES:
            return None
        run = self.begins.of(case, **own)
        if run is None:
            return None
        found = self.quantity.balls(run, **others)
        return None if some and found <= 0 else found


def _as_it_is(case: Descent) -> Descent:
    return case


def _not_known(case: Descent, **_: Any) -> bool:
    return False


def limit(
    quantity: Quantity,
    letters: Letters,
    begins: Beginning | None = None,
    never: Callable[..., bool] = _not_known,
) -> Measured:
    """Return the conclusion that a quantity of descent tends to its limit.

    Args:
        quantity: what has the limit.
        letters: those of the source.
        begins: which descent is meant, unless it is that of the instance.
        never: whether no start of an instance will do, for the constants of the quantity.
    """
    forms = _Begun(quantity, begins or Beginning(_as_it_is), never)
    of, to = quantity.writes(letters)
    return Measured(
        forms.begins.says or letters.says,
        floats=forms.floats,
        balls=forms.balls,
        tensors=quantity.tensors if begins is None else None,
        stand_in=FLOW,
        notation=rf"{of} \to {to}{forms.begins.condition}",
        symbols={"towards": letters.targets, **letters.symbols, **forms.begins.symbols},
        constants={**forms.begins.constants, **quantity.constants},
        where=letters.meaning(to, forms.begins.where),
    )
