"""The step of descent, a variable of every record of a run, in units of 1/L.

L is the smoothness of the risk (`attsvm.exact.descent.smoothness`), and a run of step s is descent
with the constant step s/L. Proofs in balls take these steps one after the other and decide. Floats
follow gradient flow instead, which has no step. They propose the limit of a run of short steps, and
propose nothing for steps longer than 1/L. Conclusions name the flow as their stand-in, so that
balls evaluate every counted instance.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, Unpack, cast

import numpy as np
from hypothesis import strategies as st

from attsvm._dyadic import arrays, composite
from attsvm._types import Array, Record
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.losses import CUBIC
from attsvm.primitives import descent_letters as letters
from attsvm.theory import Hypothesis, Measured, Records, Slack
from attsvm.theory.declaration.conclusions import Forms
from attsvm.theory.types import Values

FLOW = "gradient flow"
"""Name of the dynamics that floats follow in place of descent with the step of an instance."""

SHARES = (1.0, 0.5, 0.25)
"""Steps that are drawn, in units of 1/L, if a sentence allows steps in (0, 1].

Shorter steps would make proofs slower."""

ANY = (1.0, 0.25, 16.0, 256.0)
"""Steps that are drawn, in units of 1/L, if a sentence allows any step."""


_Run = TypeVar("_Run", bound="Stepped")
"""A record of descent."""

_Record = TypeVar("_Record", bound="Record")
"""A record with a loss."""


_Scored = TypeVar("_Scored")
"""A data set, or a record of one."""


@dataclass(frozen=True, slots=True)
class Stepped:
    """The common field of all records of descent: the step, in units of 1/L.

    Raises:
        DataError: the step is not positive, or not finite.
    """

    step: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        if not 0.0 < self.step < np.inf:
            raise DataError("the step of a run is not a positive number", value=self.step)

    @property
    def W(self) -> Array:
        """The matrix at the start, for logits x_t^T W z.

        The start itself unless a record overrides it.
        """
        case: Any = self
        return case.start


def is_short(case: Values) -> bool:
    """Return whether the step is at most 1/L."""
    return bool(case.step <= 1.0)


SHORT_STEPS = "at most one over a Lipschitz constant of the gradient"
"""Words for "at most 1/L" without a letter."""

SHORT = Hypothesis(
    "the step is at most 1/L",
    is_short,
    says=f"the step is {SHORT_STEPS}",
    proposition=letters.short,
    checked="at_most(step * smoothness(data, loss), 1)",
)

ITERATED = "gradient descent run from a start, with a constant step"
"""The quantifier of a reading on descent: any start and step that meet its hypotheses."""


def stepped(
    kind: type[_Run],
    drawn: st.SearchStrategy[_Run],
    ensemble: Callable[[np.random.Generator], _Run] | None = None,
    fixed: tuple[str, ...] = (),
    steps: tuple[float, ...] = SHARES,
) -> Records:
    """Return the variable of records of descent of a kind, each with a step drawn from `steps`."""
    both = st.builds(_with_step, drawn, st.sampled_from(steps))
    if ensemble is None:
        return Records(kind, both, None, fixed, lets=ITERATED)
    draw = ensemble

    def larger(generator: np.random.Generator) -> _Run:
        return replace(draw(generator), step=float(generator.choice(steps)))

    return Records(kind, both, larger, fixed, lets=ITERATED)


def flattened(drawn: st.SearchStrategy[_Record]) -> st.SearchStrategy[_Record]:
    """Return a strategy of these records; one in four has the loss -u^3, which is flat at 0."""
    on_cubic: dict[str, Any] = {"loss": CUBIC.name}  # a field of each record that is drawn here
    flat = drawn.map(lambda case: replace(case, **on_cubic))
    return st.one_of(drawn, drawn, drawn, flat)


@composite
def headed(draw: st.DrawFn, drawn: st.SearchStrategy[_Scored]) -> _Scored:
    """Draw data sets or records of one; three in four get labels and a head in place of scores."""
    case = draw(drawn)
    data: AttentionData = getattr(case, "data", None) or cast("AttentionData", case)
    kind, y, v = draw(st.integers(0, 3)), draw(arrays(data.n)), draw(arrays(data.d))
    if kind == 0:
        return case
    labels = np.where(y < 0.0, -1.0, 1.0)
    labelled = AttentionData(data.X, data.Z, y=labels, v=v, mask=data.mask)
    if isinstance(case, AttentionData):
        return cast("_Scored", labelled)
    name = "inputs" if hasattr(case, "inputs") else "data"
    return cast("_Scored", replace(cast("Record", case), **{name: labelled}))


def _with_step(case: _Run, step: float) -> _Run:
    return replace(case, step=step)


def norm(of: str) -> str:
    """Return LaTeX for a norm."""
    return rf"\left\|{of}\right\|"


def over(above: str, below: str) -> str:
    """Return LaTeX for a quotient."""
    return rf"\frac{{{above}}}{{{below}}}"


def tends(
    says: str, of: str, to: str, *, stand_in: str = "", where: str = "", **forms: Unpack[Forms]
) -> Measured:
    """Return the conclusion that `of` tends to `to`.

    Args:
        says: the meaning of the letters, with constants as `$name`; may be empty.
        of: the quantity in LaTeX, with constants as `$share`.
        to: the limit.
        stand_in: what floats follow in place of descent, see `Measured`.
        where: what the letters are.
        forms: its forms, see `Measured`.
    """
    notation = rf"{of} \to {to}"
    return Measured(says, notation=notation, stand_in=stand_in, where=where, **forms)


def converges_in_direction(
    says: str, of: str, to: str, *, where: str = "", **forms: Unpack[Forms]
) -> Measured:
    """Return the conclusion that `of` converges in direction to `to`, by gradient flow."""
    return tends(says, along(of), along(to), stand_in=FLOW, where=where, **forms)


def along(of: str) -> str:
    """Return LaTeX for the direction `of` over its norm."""
    return over(of, norm(of))


W_K, X_K = "W_k", "X(k)"
"""Iterates in LaTeX."""

TARGET = "$towards"
"""The target of a run in LaTeX: one of `solutions`."""


def solutions(letter: str) -> dict[str, dict[str, str]]:
    """Return LaTeX for the targets of `attsvm.primitives.descent_runs.max_margin`."""
    names = {"optimal": "mm", "worst": "low", "mean": "mean", "turned": "turned"}
    lines = {k: rf"{letter}^{{{name}}}" for k, name in names.items()}
    return {"towards": {**lines, "opposite": f"-{lines['optimal']}"}}


INFINITY, ZERO, LN_K = r"\infty", "0", r"\ln k"
"""Limits, and the growth of norms, in LaTeX."""


def by_gradient_flow(floats: Callable[..., Slack]) -> Callable[..., Slack]:
    """Return the float form with the result unknown for steps above 1/L.

    It follows gradient flow, near which only short steps stay.
    """

    @functools.wraps(floats)
    def form(case: Values, *arguments: object, **constants: object) -> Slack:
        if not is_short(case):
            return Slack.unknown("the steps are longer than 1/L")
        return floats(case, *arguments, **constants)

    return form
