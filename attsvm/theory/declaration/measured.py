"""Conclusions without a closed form, such as limits of runs, with code for each arithmetic."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Required, TypedDict

from flint import arb, fmpq

from attsvm._types import Tensor
from attsvm.errors import ClaimError
from attsvm.theory.arithmetic.relations import Relation
from attsvm.theory.declaration.notation import Notation, Symbols
from attsvm.theory.declaration.slack import Slack

signature = functools.lru_cache(maxsize=4096)(inspect.signature)
"""Cached `inspect.signature`; all readings and siblings of a statement use it."""


class Forms(TypedDict, total=False):
    """Keyword arguments that a function passes on to `Measured`, which explains them."""

    floats: Required[Callable[..., Slack]]
    balls: Callable[..., arb | fmpq | None] | None
    tensors: Callable[..., Tensor] | None
    again: Callable[..., Slack] | None
    strict: bool
    symbols: Symbols
    constants: Mapping[str, object] | None
    proposition: Callable[..., Any] | None


@dataclass(frozen=True, slots=True)
class Measured:
    """A conclusion without a closed form, with one implementation for each arithmetic.

    Floats measure it and bound their error, for instance by the rate of a run. Balls or
    rationals decide it, for instance by a basin that the run cannot leave. They are evaluated
    whenever floats see a violation, and on some instances without one. If floats follow a
    stand-in, balls are evaluated on every ordinary instance. Each implementation takes an
    instance and the named constants of a reading.

    Attributes:
        says, notation, symbols, where: the notation; see `Notation`.
        floats: the slack of an instance.
        balls: the slack from exact values: a ball at the working precision, `OPEN` if more bits are
            needed, a rational, or None if no precision decides.
        tensors: the heights (batch,) of many instances, from tensors (batch, ...). A height says
            how close an instance comes to violation; it guides a search and decides nothing.
        again: the slack by other code in higher precision, if there is no enclosure.
        stand_in: the dynamics that floats follow in place of the claim's own, such as gradient flow
            in place of descent; empty if floats follow the claim's own.
        strict: whether a slack of exactly 0 violates the conclusion, as for `<`.
        constants: the named constants with their defaults; by default the constants of the floats.
        proposition: takes the constants of a reading and returns the conclusion in the letters of
            linked proofs, a `Said` of `attsvm.theory.proof.formulas`; None if no linked proof
            concludes it.
    """

    says: str
    floats: Callable[..., Slack]
    balls: Callable[..., arb | fmpq | None] | None = None
    tensors: Callable[..., Tensor] | None = None
    again: Callable[..., Slack] | None = None
    stand_in: str = ""
    strict: bool = False
    notation: str = ""
    symbols: Symbols = field(default_factory=dict, hash=False)
    constants: Mapping[str, object] | None = field(default=None, hash=False)
    where: str = ""
    proposition: Callable[..., Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse a conclusion whose refutations could not be confirmed.

        Raises:
            ClaimError: the forms that would confirm a refutation are missing.
        """
        shown = self.says or self.notation
        if self.balls is None and self.again is None:
            raise ClaimError(
                f"no form could confirm a refutation of this: {shown}",
                remedy="Give balls (an enclosure) or again (higher precision).",
            )
        if self.stand_in and self.balls is None:
            raise ClaimError(
                f"the floats follow {self.stand_in}, and no form follows the claim's own dynamics: "
                f"{shown}",
                remedy="Give balls=; they are evaluated on every ordinary instance.",
            )

    @property
    def stated(self) -> Notation:
        """The notation of the conclusion."""
        return Notation(self.says, self.notation, self.symbols, self.where)

    def ensure_takes(self, whose: str, names: Iterable[str]) -> None:
        """Raise unless all forms accept the named constants that the floats take.

        Raises:
            ClaimError: a form does not take them.
        """
        for form in ("balls", "tensors", "again"):
            function = getattr(self, form)
            try:
                if function is not None:
                    signature(function).bind(None, **dict.fromkeys(names))
            except TypeError as problem:
                raise ClaimError(
                    f"the form for {form} of the conclusion of {whose} does not take its "
                    f"constants: {problem}",
                    remedy="Give every form the same named constants.",
                ) from problem


Conclusion = Callable[..., Relation] | Measured
"""A function of (m, v) and of named constants that returns a comparison; or `Measured`."""
