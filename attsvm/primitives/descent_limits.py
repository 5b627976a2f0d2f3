"""Limits of descent, each declared once with all its forms: of the direction, the norm, the rate.

A source supplies its letters, and a limit supplies the quantity. A sentence may be about another
descent than that of the instance, for example from a start that the sentence names: then
`Beginning` defines that descent. Floats follow gradient flow and propose. Balls take the steps of
the instance and decide. If nothing is proved, they are evaluated again with more bits, as long runs
and runs with slowly changing attention need. Tensors guide the search.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from attsvm._words import in_plain
from attsvm.errors import present
from attsvm.exact import ExactData, dot, rationals
from attsvm.exact.traps import is_stationary_start, moves_along_margins
from attsvm.limits import norm_diverges, norm_grows_like_log
from attsvm.losses import LOSSES
from attsvm.primitives import run_programs
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_letters import direction, divergence, rate
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
from attsvm.theory import Measured, Slack
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs
from attsvm.theory.declaration.conclusions import Symbols
from attsvm.theory.proof.facts import Sequent
from attsvm.theory.proof.linked import Said

SOME = "some"
"""Value of the constant `start` if the limit is claimed for some start: then one start at which it
fails refutes nothing."""


@dataclass(frozen=True, slots=True)
class Letters:
    """The notation of a source for descent.

    Attributes:
        start: the letter of the start.
        iterate: an iterate, in LaTeX.
        targets: max-margin solutions in LaTeX, by their names in `max_margin`.
        says: a clause of a sentence with `$formula`, which may name fixed fields, such as `$loss`.
        symbols: LaTeX for values of fixed fields.
    """

    start: str
    iterate: str
    targets: Mapping[str, str] = field(hash=False)
    says: str = ""
    symbols: Symbols = field(default_factory=dict, hash=False)

    def meaning(self, limit: str, more: str) -> str:
        """Return the meaning of the letters of a limit, including letters of a named start."""
        parts = [f"{self.iterate} are the iterates from {self.start}"]
        if limit != INFINITY:
            optimal = in_plain(self.targets["optimal"])
            parts.append(f"{optimal} is the max-margin solution of the optimal tokens")
        return ", ".join([*parts, more]) if more else " and ".join(parts)


@dataclass(frozen=True, slots=True)
class Beginning:
    """The descent of a limit, if it is not the descent of the instance.

    Attributes:
        of: returns the descent for an instance and the constants; None if it is unknown.
        constants: its constants, with their defaults.
        says: a clause with `$formula` about the descent; by default that of the letters.
        condition: the text after the limit in its formula.
        where: the meaning of letters of the start.
        symbols: LaTeX for values of its constants.
        known: facts of linked proofs about this start, for the default constants; none by default.
    """

    of: Callable[..., Descent | None]
    constants: Mapping[str, object] = field(default_factory=dict, hash=False)
    says: str = ""
    condition: str = ""
    symbols: Symbols = field(default_factory=dict, hash=False)
    where: str = ""
    known: Mapping[str, Sequent] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity with a limit, and its forms for a descent and constants.

    Attributes:
        writes: returns the quantity and its limit in the letters of a source.
        constants: the constants of its forms, with their defaults.
        floats, balls: see `Measured`.
        proposition, checked: the limit for linked proofs and for the checker, see `Measured`.
    """

    writes: Callable[[Letters], tuple[str, str]]
    floats: Callable[..., Slack]
    balls: Callable[..., arb]
    constants: Mapping[str, object] = field(default_factory=dict, hash=False)
    proposition: Callable[..., Any] | None = None
    checked: Callable[..., Any] | None = None


def _certainly_reaches(case: Descent, towards: str) -> arb:
    """Return a proved slack of convergence; tokens may be tied in inputs whose gradient is 0."""
    target = max_margin(case.data, towards)
    if target is not None and not unique_optimum(case):
        return or_more_bits(arrives(case.data, case.W, case.loss, target, case.step))
    return or_more_bits(certified_limit(case, towards))


def _grows(case: Descent) -> Slack:
    """Return the slack of "the norm diverges"; gradient flow does not depend on the step."""
    return norm_diverges(case.data, case.W, LOSSES[case.loss])


def _certainly_grows(case: Descent) -> arb:
    """Return 1 if the run provably settles, -1 if it provably rests or ends at a finite norm."""
    if is_stationary_start(ExactData.of(case.data), rationals(case.W), case.loss):
        return arb(-1)
    proved = diverges(case.data, case.W, case.loss, case.step)
    return arb(1) if proved is None and _leaves_balls(case) else or_more_bits(proved)


def _leaves_balls(case: Descent) -> bool:
    """Return whether the norm provably diverges from any start and with any constant step.

    It does under four conditions. The loss has a slope of one sign that is never 0. The Att-SVM is
    feasible. Some input has two scores. The rivals of each input share one score. Inputs of one
    score have no gradient. The others have unique optimal tokens.

    Proof. A step of size eta on a loss l(u) adds to <W, W^mm>

      -eta sum_it l'(u_i) c_it m_it(W^mm) / n,   c_it = s_opt s_t (gamma_opt - gamma_t) >= 0

    for t != opt_i, with margins m >= 1, because the rivals have equal scores. All terms have the
    sign of -l', and some term is not 0. On a ball, attention and |l'| are bounded below. As long as
    W_k stays in a ball, every step therefore adds more than a constant, so that W_k leaves every
    ball. Steps are bounded and <W, W^mm> is monotone, so it has no finite limit. Then |<W, W^mm>|
    <= ||W|| ||W^mm|| shows that the norm diverges.
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
    result = max_margin(case.data, "optimal")
    return None if result is None else sum((dot(row, row) for row in result), fmpq(0))


@by_gradient_flow
def _grows_like(case: Descent, share: int) -> Slack:
    """Return the slack of "norm / ln k tends to a share of the length of the solution"."""
    square = _square(case)
    if square is None:
        return Slack(-1.0, 0.0)
    claimed = float(Fraction(share)) * float(arb(square).sqrt())
    return norm_grows_like_log(case.data, case.W, LOSSES[case.loss], claimed)


def _certainly_grows_like(case: Descent, share: int) -> arb:
    """Return minus the distance between the claimed share and the proved one."""
    square = _square(case)
    if square is None:
        return arb(-1)
    claimed = Fraction(share)
    return or_more_bits(rate_error(case.data, case.W, case.loss, square, claimed, case.step))


DIRECTION = Quantity(
    lambda letters: (along(letters.iterate), along(TARGET)),
    reaches,
    _certainly_reaches,
    {"towards": "optimal"},
    direction,
    run_programs.converges,
)
NORM = Quantity(
    lambda letters: (norm(letters.iterate), INFINITY),
    _grows,
    _certainly_grows,
    proposition=divergence,
    checked=run_programs.diverges,
)
RATE = Quantity(
    lambda letters: (
        over(norm(letters.iterate), LN_K),
        f"$share {norm(letters.targets['optimal'])}",
    ),
    _grows_like,
    _certainly_grows_like,
    {"share": 1},
    rate,
)


@dataclass(frozen=True, slots=True)
class _Begun:
    """The float and ball forms of a quantity, for the descent of a limit."""

    quantity: Quantity
    begins: Beginning
    never: Callable[..., bool]

    def parts(
        self, constants: Mapping[str, object]
    ) -> tuple[dict[str, object], dict[str, object], bool]:
        """Return constants of the beginning and of the quantity, and whether a start suffices."""
        own = {**self.begins.constants, **constants}
        own = {name: own[name] for name in self.begins.constants}
        others = {**self.quantity.constants, **constants}
        others = {name: others[name] for name in self.quantity.constants}
        return own, others, own.get("start") == SOME

    def floats(self, case: Descent, **constants: object) -> Slack:
        """Return the slack of the descent; unknown if another start may satisfy the limit."""
        own, others, some = self.parts(constants)
        if self.never(case, **others):
            return Slack(-1.0, 0.0)
        if case.loss not in LOSSES:
            return Slack.unknown("gradient flow on this loss is not implemented")
        run = self.begins.of(case, **own)
        if run is None:
            return Slack.unknown("no start with this property is known")
        result = self.quantity.floats(run, **others)
        if some and result.violated:
            return Slack.unknown("another start may have this limit")
        return result

    def balls(self, case: Descent, **constants: object) -> arb | None:
        """Return the proved slack.

        None if this start fails and another one may satisfy the limit.
        """
        own, others, some = self.parts(constants)
        if self.never(case, **others):
            return arb(-1)
        if case.loss not in LOSSES:
            return None
        run = self.begins.of(case, **own)
        if run is None:
            return None
        result = self.quantity.balls(run, **others)
        return None if some and result <= 0 else result

    def proposition(self, **constants: object) -> Said | None:
        """Return the limit for linked proofs; None for another start than the default one."""
        own, others, _ = self.parts(constants)
        says = self.quantity.proposition
        if says is None or self.begins.known is None or own != self.begins.constants:
            return None
        loss = {name: constants[name] for name in ("loss",) if name in constants}
        result: Said | None = says(**others, **loss)
        return result and replace(result, setting={**result.setting, **self.begins.known})

    def checked(self, m: Programs, case: Descent, **constants: object) -> Proposition:
        """Return the limit in the words of the checker."""
        _, others, _ = self.parts(constants)
        write = present(self.quantity.checked, "a form for the checker")
        result: Proposition = write(m, case, own=self.begins.of is _as_it_is, **others)
        return result


def _as_it_is(case: Descent) -> Descent:
    return case


def _not_known(case: Descent, **_: object) -> bool:
    return False


def limit(
    quantity: Quantity,
    letters: Letters,
    begins: Beginning | None = None,
    never: Callable[..., bool] = _not_known,
) -> Measured:
    """Return the conclusion that a quantity of descent tends to its limit.

    Args:
        quantity: the quantity.
        letters: the letters of the source.
        begins: the descent, unless it is the descent of the instance.
        never: whether no start of an instance can satisfy the limit, by the quantity's constants.
    """
    forms = _Begun(quantity, begins or Beginning(_as_it_is, known={}), never)
    of, to = quantity.writes(letters)
    return Measured(
        forms.begins.says or letters.says,
        floats=forms.floats,
        balls=forms.balls,
        stand_in=FLOW,
        notation=rf"{of} \to {to}{forms.begins.condition}",
        symbols={"towards": letters.targets, **letters.symbols, **forms.begins.symbols},
        constants={**forms.begins.constants, **quantity.constants},
        where=letters.meaning(to, forms.begins.where),
        proposition=forms.proposition,
        checked=None if quantity.checked is None else forms.checked,
    )
