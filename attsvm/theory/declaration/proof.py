"""The steps of a symbolic proof: each is a call that raises unless the step is decided.

A claim names its proof by `proof="package.module:function"`. The function takes its steps through
the calls below and returns a sentence that says what it proved:

    ensure_equal(sp.diff(sp.sin(x), x), sp.cos(x), "the derivative of sin is cos")

What a textbook proves is cited as a `Lemma`, whose hypotheses are met one by one: by steps that
have passed, by what lemmas were cited of before, or by what the reading supposes. A name under
which two different things have passed meets nothing, as it does not say which of them is meant.
What the reading supposes is a `Hypothesis`, the very object that readings list: a proof does not
count for a reading that neither lists it nor a hypothesis that implies it. What a reading says by
its conclusion, a variable or a constant is `Supposed`.

A step that fails raises a `ProofError` that says which one it was; a proof that catches it proves
nothing. A step passes only if sympy has decided it, or flint where an expression is a fraction of
polynomials: an inequality that stays open, NaN or infinity in place of a number, and an empty list
of identities are failures. Floats are refused wherever they stand in an expression, as an identity
between rounded numbers proves nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm.errors import ClaimError, ProofError
from attsvm.theory.declaration.hypotheses import Hypothesis

if TYPE_CHECKING:
    import sympy as sp

    from attsvm.theory.arithmetic.rational_functions import Fraction

# sympy, imported after this, remembers 1000 results of each function unless told: a long proof asks
# for more, and takes a fifth longer where it computes them again
os.environ.setdefault("SYMPY_CACHE_SIZE", "20000")

Normal = Callable[["sp.Expr"], "sp.Expr"]
"""What brings an expression to a form in which it can be told from 0, as `sympy.cancel` does."""


@dataclass(frozen=True, slots=True)
class Supposed:
    """A fact that a proof supposes and that readings state in different ways.

    Attributes:
        says: what that is, in one sentence.
        by: the alternatives, one of which a reading must have: a hypothesis, its conclusion or a
            variable, each compared by identity; or a constant, given as a pair of name and value
            such as `("loss", "logistic")`.
    """

    says: str
    by: tuple[Any, ...]


Supposition = Hypothesis | Supposed
"""What a proof may suppose."""


def grants(formula: Any, what: Supposition) -> bool:
    """Return whether a reading of this formula has what a proof supposes, or implies it."""
    listed = formula.hypotheses.values()
    said = [weaker for hypothesis in listed for weaker in hypothesis.consequences()]
    said += [formula.conclusion, *formula.variables.values()]
    constants = formula.known_constants
    return any(
        constants.get(one[0]) == one[1] and one[0] in constants
        if isinstance(one, tuple)
        else any(one is other for other in said)
        for one in ((what,) if isinstance(what, Hypothesis) else what.by)
    )


class Steps(list[str]):
    """The names of steps that have passed, and what they take from the reading.

    Attributes:
        supposed: that, in the order of the steps.
        signs: what of this says the sign of a number.
        failed: what the steps that failed have said, also where the proof went on after that.
        about: by name, what has passed under it: one thing, unless the name is given to several.
    """

    def __init__(self) -> None:
        super().__init__()
        self.supposed: list[Hypothesis | Supposed] = []
        self.signs: list[Hypothesis | Supposed] = []
        self.failed: list[str] = []
        self.about: dict[str, set[object]] = {}

    def name(self, what: str, about: object) -> None:
        """Note what has passed under a name."""
        self.about.setdefault(what, set()).add(about)

    def take(self, others: Steps) -> None:
        """Add other steps after these."""
        self += others
        self.supposed += others.supposed
        self.signs += others.signs
        self.failed += others.failed
        for name, about in others.about.items():
            self.about.setdefault(name, set()).update(about)


_STEPS: ContextVar[Steps | None] = ContextVar("steps", default=None)


@contextmanager
def recorded() -> Iterator[Steps]:
    """The list of the steps that pass inside the block, by name and in their order."""
    steps = Steps()
    token = _STEPS.set(steps)
    try:
        yield steps
    finally:
        _STEPS.reset(token)


_EXECUTED: dict[Callable[[], object], tuple[object, Steps]] = {}


def executed(prove: Callable[[], Any]) -> Any:
    """What a proof returns; its steps are recorded, also those before one that fails.

    Several readings may name one proof: one that passed runs once a process, and whoever asks for
    it again gets the same steps.
    """
    whose, (said, steps) = _STEPS.get(), _EXECUTED.get(prove, (None, Steps()))
    try:
        if prove not in _EXECUTED:
            with recorded() as steps:
                said = prove()
            _EXECUTED[prove] = said, steps
        return said
    finally:
        if whose is not None:
            whose.take(steps)


def expanded(expression: sp.Expr) -> sp.Expr:
    """The expression, expanded: by flint if it is 0 as a polynomial, else by sympy."""
    return _normal(expression, "expand", divide=False)


def cancelled(expression: sp.Expr) -> sp.Expr:
    """The expression as one reduced fraction, as `sympy.cancel` has it."""
    return _normal(expression, "cancel", lambda found: found.cancelled())


def factored(expression: sp.Expr) -> sp.Expr:
    """The expression as a product, as `sympy.factor` has it."""
    return _normal(expression, "factor", lambda found: found.factored())


def simplified(expression: sp.Expr) -> sp.Expr:
    """The expression as one reduced fraction where that is decided, else as sympy simplifies it."""
    return _normal(expression, "simplify", lambda found: found.cancelled())


def _normal(
    expression: sp.Expr,
    by: str,
    form: Callable[[Fraction], sp.Expr] | None = None,
    *,
    divide: bool = True,
) -> sp.Expr:
    """0, or the form of a fraction of polynomials in symbols, or what sympy makes of it."""
    import sympy as sp  # only proofs need it, and importing it takes long

    from attsvm.theory.arithmetic.rational_functions import fraction

    expression = sp.sympify(expression)
    found = fraction(expression, divide=divide)
    if found is not None and found.is_zero:
        return sp.Integer(0)
    if found is not None and found.independent and form is not None:
        return form(found)
    return getattr(sp, by)(expression)


def unchanged(expression: sp.Expr) -> sp.Expr:
    """The expression as it is."""
    return expression


def ensure_zero(found: object, what: str, *, normal: Normal = expanded) -> None:
    """Go on only if the expression, or each of those in a list or array, is 0 in normal form.

    Raises:
        ProofError: one is not, there are none, or one holds a float, NaN or infinity.
    """
    _ensure_zero(values := _expressions(found, what), what, normal, ("zero", *values))


def ensure_equal(left: object, right: object, what: str, *, normal: Normal = expanded) -> None:
    """Go on only if both sides are the same, entry by entry, in the normal form of the difference.

    Raises:
        ProofError: they are not, their lengths differ or are 0, or one holds a float, NaN or
            infinity.
    """
    sides = _expressions(left, what), _expressions(right, what)
    if len(sides[0]) != len(sides[1]):
        raise _failed(what, "the two sides have different lengths", tuple(map(len, sides)))
    apart = _expressions([a - b for a, b in zip(*sides, strict=True)], what)
    _ensure_zero(apart, what, normal, ("equal", *sides[0], *sides[1]))


def _ensure_zero(values: list[sp.Expr], what: str, normal: Normal, about: object) -> None:
    for value in _in_normal_form(values, what, normal):
        if value != 0:
            raise _failed(what, "an expression that should be 0 is not", value)
    _passed(what, about)


def ensure_nonzero(
    found: object, what: str, *, normal: Normal = expanded, some: bool = False
) -> None:
    """Go on only if each expression, or with `some` at least one, is not 0 in normal form.

    This is for false neighbours, which a proof must be able to tell from what it proves. The
    normal form has to be one in which only 0 reads 0.

    Raises:
        ProofError: one is 0 (with `some`: all are), there are none, or one holds a float, NaN or
            infinity.
    """
    given = _expressions(found, what)
    values = [*_in_normal_form(given, what, normal)]
    differs = [bool(value != 0) for value in values]
    if not (any(differs) if some else all(differs)):
        raise _failed(what, "an expression that should not be 0 is 0", values)
    _passed(what, ("not zero", *given))


def ensure_positive(found: object, what: str, *, normal: Normal = unchanged) -> None:
    """Go on only if each expression is known to be above 0, by sympy or by the signs of its terms.

    Raises:
        ProofError: one is not known to be, there are none, or one holds a float, NaN or infinity.
    """
    _ensure_sign(found, what, normal, "positive")


def ensure_nonnegative(found: object, what: str, *, normal: Normal = unchanged) -> None:
    """Go on only if each expression is known to be at least 0, by sympy or by its terms' signs.

    Raises:
        ProofError: one is not known to be, there are none, or one holds a float, NaN or infinity.
    """
    _ensure_sign(found, what, normal, "nonnegative")


def _ensure_sign(found: object, what: str, normal: Normal, sign: str) -> None:
    given = _expressions(found, what)
    open_ = [x for x in given if not (normal in _BY_TERMS and _sign_of_terms(x, normal, sign))]
    for value in _in_normal_form(open_, what, normal):
        if getattr(value, f"is_{sign}") is not True:
            raise _failed(what, f"an expression is not known to be {sign}", value)
    _passed(what, (sign, *given))


_BY_TERMS = (expanded, cancelled, factored)
"""The normal forms that a sign is read from without sympy, where the terms have it."""


def _sign_of_terms(value: object, normal: Normal, sign: str) -> bool:
    """Whether the expression has the sign as its terms, or those of its factors, have theirs.

    To expand is not to cancel: (x^2 - 1)/(x - 1) is no number at 1.
    """
    from attsvm.theory.arithmetic.rational_functions import fraction

    found = fraction(value, divide=normal is not expanded)
    return found is not None and found.is_known(sign)


def ensure_true(found: object, what: str, *, about: object = None) -> None:
    """Go on only if the condition, or each of those in a list, is True or `sympy.true` itself.

    Args:
        found: the condition.
        what: the name of the step.
        about: what the condition was asked of, hashable, if the name does not tell it.

    Raises:
        ProofError: one is anything else, as an open inequality, None or 1; or there are none.
    """
    import sympy as sp

    for value in _leaves(found, what):
        if not (value is True or value is sp.true):
            raise _failed(what, "a condition is not decided to be true", value)
    _passed(what, ("true", about))


@dataclass(frozen=True, slots=True)
class Lemma:
    """What a textbook proves.

    Attributes:
        name: how it is called.
        source: where it is proved.
        hypotheses: what it supposes, one sentence each.
        says: its conclusion.
    """

    name: str
    source: str
    hypotheses: tuple[str, ...]
    says: str


def cite(
    lemma: Lemma, *, met: Mapping[str, str | Hypothesis | Supposed] | None = None, of: str = ""
) -> None:
    """Take a step by a lemma, each of whose hypotheses is met.

    Args:
        lemma: what is cited.
        met: by hypothesis, what meets it: the name of a step of this proof that has passed, what a
            lemma has been cited of, or what the reading supposes. A name under which different
            things have passed meets nothing.
        of: what the lemma is cited of, in a sentence by which it can meet hypotheses of others.

    Raises:
        ProofError: a hypothesis is not met, or none of the lemma's; or the step that should meet it
            has not passed, or is one of several of its name.
    """
    met = dict(met or {})
    what = f"cited, {lemma.name}"
    if sorted(met) != sorted(lemma.hypotheses):
        raise _failed(what, "the hypotheses of the lemma are not met one by one", [*met])
    steps = _STEPS.get()
    for hypothesis, by in met.items():
        if isinstance(by, Hypothesis | Supposed):
            suppose(by)
            continue
        about = steps.about.get(by, set()) if steps is not None else set()
        if not about:
            remedy = "" if steps is not None else "Run the proof inside `recorded()`."
            raise _failed(what, f"no step has passed that meets: {hypothesis}", by, remedy)
        if len(about) > 1:
            why = f"different things have passed under the name that should meet: {hypothesis}"
            raise _failed(what, why, by, "Name in each step what it is about.")
    ways = [f"{h}: {_way(by)}" for h, by in met.items()]
    citation = f"cited, {lemma.name} ({lemma.source}): {lemma.says}"
    if steps is not None:
        steps.append("; ".join([f"{of}: {citation}" if of else citation, *ways]))
        if of:
            steps.name(of, (lemma, *ways))


def suppose(*what: Supposition) -> None:
    """Take hypotheses from the reading: a reading that does not have them is refused this proof.

    Raises:
        ClaimError: one is no hypothesis.
    """
    for one in what:
        if not isinstance(one, Supposition):
            raise ClaimError(
                "a proof supposes what is no hypothesis",
                value=repr(one),
                remedy="Import the Hypothesis that the statement lists, and write suppose(UNIQUE).",
            )
    steps = _STEPS.get()
    if steps is not None:
        steps.supposed += what


def supposed_number(what: Supposition | None, name: str, **sign: bool) -> sp.Expr:
    """A number of whose sign the reading says something, such as how far a point is inside a set.

    A step that takes it fails where the sign is not known: so that step needs what is supposed.

    Args:
        what: what the reading supposes, from which the sign follows; None where steps have shown
            it, or where it is a case that is told apart.
        name: how the number is called.
        sign: what `sympy.Symbol` is told of it, such as `positive=True`.
    """
    import sympy as sp

    if what is None:
        return sp.Symbol(name, **sign)
    suppose(what)
    if (steps := _STEPS.get()) is not None:
        steps.signs.append(what)
    return sp.Symbol(name, **_sign_of(what, sign))


def _sign_of(what: Supposition, sign: Mapping[str, bool]) -> dict[str, bool]:
    """What a number is known to be by what is supposed: tests leave out that it is."""
    return {**sign}


def _way(by: str | Hypothesis | Supposed) -> str:
    """How a hypothesis of a lemma is met, in words."""
    return f"supposed, {by.says}" if isinstance(by, Hypothesis | Supposed) else by


def _passed(what: str, about: object = None) -> None:
    steps = _STEPS.get()
    if steps is not None:
        steps.append(what)
        steps.name(what, about)


def _failed(what: str, why: str, value: object, remedy: str = "") -> ProofError:
    steps = _STEPS.get()
    number = "" if steps is None else f" step {len(steps) + 1}"
    cause = f"the proof failed at{number}: {what}; {why}"
    if steps is not None:
        steps.failed.append(cause)
    return ProofError(cause, value=repr(value), remedy=remedy)


def _leaves(found: object, what: str) -> list[Any]:
    """The values in a list, array or generator, nested or not; a single one alone."""
    import sympy as sp

    if isinstance(found, np.ndarray):
        found = list(found.flat)
    if isinstance(found, sp.MatrixBase):
        found = found.flat()
    if not hasattr(found, "__iter__") or isinstance(found, str | bytes | Mapping):
        return [found]
    values = [leaf for part in found for leaf in _leaves(part, what)]
    if not values:
        raise _failed(what, "there is nothing to check", [])
    return values


def _expressions(found: object, what: str) -> list[sp.Expr]:
    """The values as exact expressions of sympy."""
    return [_exact(value, what) for value in _leaves(found, what)]


def _in_normal_form(values: list[sp.Expr], what: str, normal: Normal) -> Iterator[sp.Expr]:
    """The expressions in normal form, as exact ones."""
    return (_exact(normal(value), what) for value in values)


def _exact(value: object, what: str) -> sp.Expr:
    import sympy as sp

    try:
        expression = sp.sympify(value, strict=True)
    except sp.SympifyError:
        raise _failed(what, "a value is no expression of sympy", value) from None
    if not isinstance(expression, sp.Expr) or expression.is_Matrix:
        raise _failed(what, "a value is no expression of sympy", value)
    if expression.has(sp.Float):
        remedy = "Write numbers as rationals, like sympy.Rational(1, 2)."
        raise _failed(what, "a float stands in an expression", value, remedy)
    if expression.has(sp.nan, sp.zoo, sp.oo, -sp.oo, sp.AccumBounds):
        raise _failed(what, "a value is not a finite number", value)
    return expression
