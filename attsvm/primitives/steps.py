"""The step of descent: a variable of every record of a run, in units of 1/L.

L is the smoothness of the risk (`attsvm.exact.descent.smoothness`), and a run of step s is descent
with the constant step s/L. Proofs in balls take these steps, one after the other, and decide.
Floats follow the curve of gradient flow instead, which knows no step: they propose where a run of
short steps goes, and say nothing of one whose steps are longer than 1/L. Conclusions name the flow
as the stand-in that it is, so that balls are asked on every instance that is counted.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.errors import DataError
from attsvm.losses import CUBIC
from attsvm.theory import Hypothesis, Measured, Records, Slack

FLOW = "gradient flow"
"""What floats follow in place of descent with the step of an instance."""

SHARES = (1.0, 0.5, 0.25)
"""Steps that are drawn. Sentences say (0, 1]; a proof takes a run of short steps the longer."""

ANY = (1.0, 0.25, 16.0, 256.0)
"""Steps that are drawn where a sentence allows any."""


@dataclass(frozen=True, slots=True)
class Stepped:
    """What a record of descent has beside its own fields: the step, in units of 1/L.

    Raises:
        DataError: a step that is not positive, or not finite.
    """

    step: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        if not 0.0 < self.step < np.inf:
            raise DataError("the step of a run is not a positive number", value=self.step)

    @property
    def W(self) -> Array:
        """The matrix at the start, for logits x_t^T W z: the start, unless a record says more."""
        case: Any = self
        return case.start


def is_short(case: Any) -> bool:
    """The step is at most 1/L."""
    return bool(case.step <= 1.0)


SHORT_STEPS = "at most one over a Lipschitz constant of the gradient"
"""The words for 1/L that need no letter."""

SHORT = Hypothesis("the step is at most 1/L", is_short, says=f"the step is {SHORT_STEPS}")

ITERATED = "gradient descent run from a start, with a constant step"
"""The quantifier of a reading on descent: any start and step that meet its hypotheses."""


def stepped(
    kind: Any,
    drawn: Any,
    ensemble: Any = None,
    fixed: tuple[str, ...] = (),
    steps: tuple[float, ...] = SHARES,
) -> Records:
    """Records of descent whose step is drawn as well."""

    def larger(generator: np.random.Generator) -> Any:
        return replace(ensemble(generator), step=float(generator.choice(steps)))

    both = st.builds(_with_step, drawn, st.sampled_from(steps))
    return Records(kind, both, larger if ensemble else None, fixed, lets=ITERATED)


def flattened(drawn: Any) -> st.SearchStrategy[Any]:
    """The same records, some of them on -u^3, which decreases strictly and is flat at 0."""
    flat = drawn.map(lambda case: replace(case, loss=CUBIC.name))
    return st.one_of(drawn, drawn, drawn, flat)


def _with_step(case: Any, step: float) -> Any:
    return replace(case, step=step)


def norm(of: str) -> str:
    """How a norm is written."""
    return rf"\left\|{of}\right\|"


def over(above: str, below: str) -> str:
    """How a quotient is written."""
    return rf"\frac{{{above}}}{{{below}}}"


def tends(says: str, of: str, to: str, **forms: Any) -> Measured:
    """That `of` tends to `to`.

    Args:
        says: what of, and what the letters are, constants as `$name`; may be empty.
        of: what has a limit, in LaTeX, constants as `$share`.
        to: the limit.
        forms: its forms, see `Measured`.
    """
    return Measured(says, notation=rf"{of} \to {to}", **forms)


def converges_in_direction(says: str, of: str, to: str, **forms: Any) -> Measured:
    """That `of` over its norm tends to `to` over its norm, where floats follow gradient flow."""
    return tends(says, along(of), along(to), stand_in=FLOW, **forms)


def along(of: str) -> str:
    """How a direction is written."""
    return over(of, norm(of))


W_K, X_K = "W_k", "X(k)"
"""Iterates as they are written."""

TARGET = "$towards"
"""The target of a run as it is written: one of `solutions`."""


def solutions(letter: str) -> dict[str, dict[str, str]]:
    """How the targets of `attsvm.primitives.descent_runs.max_margin` are written."""
    names = {"optimal": "mm", "worst": "low", "mean": "mean", "turned": "turned"}
    said = {k: rf"{letter}^{{{name}}}" for k, name in names.items()}
    return {"towards": {**said, "opposite": f"-{said['optimal']}"}}


INFINITY, ZERO, LN_K = r"\infty", "0", r"\ln k"
"""Limits, and what norms grow like, as they are written."""


def by_gradient_flow(floats: Callable[..., Slack]) -> Callable[..., Slack]:
    """A form for floats that follows gradient flow; of steps above 1/L its answer is unknown."""

    @functools.wraps(floats)
    def form(case: Any, *arguments: Any, **constants: Any) -> Slack:
        if not is_short(case):
            return Slack.unknown("the steps are longer than 1/L")
        return floats(case, *arguments, **constants)

    return form
