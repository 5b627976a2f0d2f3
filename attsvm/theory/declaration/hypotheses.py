"""Hypotheses: conditions with a name, a sentence and a predicate, each defined once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from attsvm.errors import ClaimError


@dataclass(frozen=True, slots=True)
class Supposed:
    """A fact that a proof supposes and that readings state in different ways.

    A reading states it by one of the alternatives below, or by a hypothesis that lists this object
    in `implies`.

    Attributes:
        says: the fact, in one sentence.
        by: alternatives. Each is a hypothesis, a conclusion or a variable, compared by identity, or
            a constant as a pair of name and value, such as `("loss", "logistic")`.
        proposition: returns what linked proofs may take from it, as for a `Hypothesis`.
    """

    says: str
    by: tuple[object, ...] = ()
    proposition: Callable[[], Iterable[Any]] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """A condition on an instance; it is decided exactly, because refutations depend on it.

    Two hypotheses are the same only if they are one object: statements list the object, siblings
    leave it out, and proofs suppose it.

    Attributes:
        name: its name in tables, ledgers and names of siblings.
        holds: the predicate. For records it is a function of the record that returns True or False;
            for variables it is a function of (m, v) that returns a comparison.
        says: a clause that reads well after "Suppose that"; the name unless given.
        implies: weaker hypotheses, and facts that proofs suppose. A proof may suppose any of them
            in place of this one, and takes this one if it supposes all of them.
        setting: whether it fixes the subject, such as one loss; then no sibling leaves it out.
        proposition: returns what the hypothesis says in the letters of linked proofs, as sequents
            of `attsvm.theory.proof`; None if no linked proof takes it.
        checked: the condition on a record in the words of the checker, or a function of the
            program and the record that returns it; empty if it has none. For variables the
            predicate itself is written down.
    """

    name: str
    holds: Callable[..., object] = field(repr=False)
    says: str = field(default="", repr=False)
    implies: tuple[Hypothesis | Supposed, ...] = field(default=(), repr=False)
    setting: bool = field(default=False, repr=False)
    proposition: Callable[[], Iterable[Any]] | None = field(default=None, repr=False)
    checked: str | Callable[..., str] = field(default="", repr=False)

    def __post_init__(self) -> None:
        """Use the name as the sentence unless a sentence is given.

        Raises:
            ClaimError: a field has another type.
        """
        weaker = isinstance(self.implies, tuple)
        for field_name, fits, form in (
            (
                "name",
                isinstance(self.name, str) and bool(self.name.strip()),
                "a text that is not empty",
            ),
            ("holds", callable(self.holds), "a function that decides it"),
            ("says", isinstance(self.says, str), "a clause, as text"),
            (
                "implies",
                weaker and all(isinstance(one, Hypothesis | Supposed) for one in self.implies),
                "a tuple of weaker hypotheses or of facts that proofs suppose, such as (UNIQUE,)",
            ),
            ("setting", isinstance(self.setting, bool), "True or False"),
        ):
            if not fits:
                raise ClaimError(
                    f"`{field_name}` of the hypothesis {self.name!r} has another type",
                    value=repr(getattr(self, field_name)),
                    remedy=f"Give {form}.",
                )
        if not self.says:
            object.__setattr__(self, "says", self.name)

    def consequences(self) -> Iterator[Hypothesis]:
        """Yield this hypothesis and all hypotheses that it implies, directly or not."""
        yield self
        for weaker in self.implies:
            if isinstance(weaker, Hypothesis):
                yield from weaker.consequences()


def by_name(hypotheses: tuple[Hypothesis, ...], whose: str) -> Mapping[str, Hypothesis]:
    """Return hypotheses by name, in their order; `whose` is their owner in messages.

    Raises:
        ClaimError: two hypotheses have one name.
    """
    named = {hypothesis.name: hypothesis for hypothesis in hypotheses}
    if len(named) < len(hypotheses):
        raise ClaimError(
            f"two hypotheses of {whose} have one name",
            value=", ".join(h.name for h in hypotheses),
            remedy="List each hypothesis once, and give different hypotheses different names.",
        )
    return named


def ensure_same(whose: str, passed: Iterable[object], known: Iterable[Hypothesis]) -> None:
    """Raise if a passed hypothesis has the name of a known one, but is another object.

    Hypotheses are the same only if they are one object. The message begins with `whose`, a subject
    with its verb, such as "a proof supposes".

    Raises:
        ClaimError: two objects share a name.
    """
    names = {hypothesis.name: hypothesis for hypothesis in known}
    for one in passed:
        if isinstance(one, Hypothesis) and names.get(one.name, one) is not one:
            raise ClaimError(
                f"{whose} another object with the same name",
                value=one.name,
                remedy="Define each hypothesis once, and import that object wherever it is used.",
            )
