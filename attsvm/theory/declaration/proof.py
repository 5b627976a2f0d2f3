"""The steps of a symbolic proof: each is a call that raises unless the step is decided.

A claim names its proof by `proof="package.module:function"`. The function takes its steps through
the calls below and returns a sentence that says what it proved:

    ensure_equal(sp.diff(sp.sin(x), x), sp.cos(x), "the derivative of sin is cos")

A textbook theorem is cited as a `Lemma`. Each hypothesis of the lemma must be met by a step that
passed, by an earlier citation, or by a supposition of the reading. If different facts passed under
one name, this name meets nothing, because it is ambiguous.

A supposition is a `Hypothesis`, the very object that readings list. A proof counts for a reading
only if the reading lists this object or a hypothesis that implies it. A fact that a reading states
by its conclusion, a variable or a constant is `Supposed`; so is what different hypotheses imply.

A step that fails raises a `ProofError` with its name. A proof that catches the error proves
nothing. A step passes only if sympy decides it, or flint for fractions of polynomials. Open
inequalities, NaN, infinity and empty lists of identities fail. Floats in an expression fail as
well, because an identity between rounded numbers proves nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attsvm.errors import ClaimError, ProofError
from attsvm.theory.declaration.hypotheses import Hypothesis, Supposed

if TYPE_CHECKING:
    import sympy as sp

    from attsvm.theory.arithmetic.symbols import Fraction
    from attsvm.theory.declaration.formula import Formula

# sympy, imported later, caches 1000 results of each function by default; a long proof needs more,
# and takes a fifth longer if it computes them again
os.environ.setdefault("SYMPY_CACHE_SIZE", "20000")

Normal = Callable[["sp.Expr"], "sp.Expr"]
"""A function that returns a normal form, such as `sympy.cancel`: it is 0 only for the number 0."""


Supposition = Hypothesis | Supposed
"""A fact that a proof may suppose."""


def grants(formula: Formula, what: Supposition) -> bool:
    """Return whether a reading of this formula has or implies a supposition of a proof."""
    listed = formula.hypotheses.values()
    implied = [weaker for hypothesis in listed for weaker in hypothesis.consequences()]
    if any(what is one for hypothesis in implied for one in hypothesis.implies):
        return True
    lines = [*implied, formula.conclusion, *formula.variables.values()]
    constants = formula.known_constants
    return any(
        constants.get(one[0]) == one[1] and one[0] in constants
        if isinstance(one, tuple)
        else any(one is other for other in lines)
        for one in ((what,) if isinstance(what, Hypothesis) else what.by)
    )


class Steps(list[str]):
    """The names of steps that passed, and their suppositions.

    Attributes:
        supposed: the suppositions, in the order of the steps.
        signs: the suppositions that give the sign of a number.
        failed: the messages of steps that failed, even if the proof went on afterwards.
        about: the facts that passed, by name; a name with several facts is ambiguous.
        linked: the proofs among the steps that are chains of facts; see `attsvm.theory.proof`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.supposed: list[Hypothesis | Supposed] = []
        self.signs: list[Hypothesis | Supposed] = []
        self.failed: list[str] = []
        self.about: dict[str, set[object]] = {}
        self.linked: list[Any] = []

    def name(self, what: str, about: object) -> None:
        """Note a fact that passed under a name."""
        self.about.setdefault(what, set()).add(about)

    def take(self, others: Steps) -> None:
        """Add other steps after these."""
        self += others
        self.supposed += others.supposed
        self.signs += others.signs
        self.failed += others.failed
        self.linked += others.linked
        for name, about in others.about.items():
            self.about.setdefault(name, set()).update(about)


_STEPS: ContextVar[Steps | None] = ContextVar("steps", default=None)


@contextmanager
def recorded() -> Iterator[Steps]:
    """Yield the list of the steps that pass inside the block, in order."""
    steps = Steps()
    token = _STEPS.set(steps)
    try:
        yield steps
    finally:
        _STEPS.reset(token)


CHAIN = "a chain"
"""Prefix of the name of a step that is a chain of facts."""


def record_linked(whole: object, supposed: Iterable[Supposition], facts: int) -> None:
    """Record a proof that is a chain of facts as one step, with its suppositions."""
    suppose(*supposed)
    if (steps := _STEPS.get()) is not None:
        steps.append(f"{CHAIN} of {facts} facts")
        steps.linked.append(whole)


_EXECUTED: dict[Callable[[], object], tuple[object, Steps]] = {}
"""Cache of proofs that passed: result and steps. A proof that failed is run again."""


def executed(prove: Callable[[], object]) -> object:
    """Return the result of a proof, and record its steps, even those before a failure.

    Several readings may name one proof. A proof that passed runs once per process; later calls
    record the same steps. A proof that failed runs again, so that its error is raised again.
    """
    whose, (text, steps) = _STEPS.get(), _EXECUTED.get(prove, (None, Steps()))
    try:
        if prove not in _EXECUTED:
            with recorded() as steps:
                text = prove()
            _EXECUTED[prove] = text, steps
        return text
    finally:
        if whose is not None:
            whose.take(steps)


def expanded(expression: sp.Expr) -> sp.Expr:
    """Return 0 if flint finds that the expression is 0 as a polynomial, else sympy's expansion."""
    return _normal(expression, "expand", divide=False)


def cancelled(expression: sp.Expr) -> sp.Expr:
    """Return the expression as one reduced fraction, like `sympy.cancel`."""
    return _normal(expression, "cancel", lambda fraction: fraction.cancelled())


def factored(expression: sp.Expr) -> sp.Expr:
    """Return the expression as a product, like `sympy.factor`."""
    return _normal(expression, "factor", lambda fraction: fraction.factored())


def simplified(expression: sp.Expr) -> sp.Expr:
    """Return the expression as one reduced fraction if flint can reduce it, else sympy's result."""
    return _normal(expression, "simplify", lambda fraction: fraction.cancelled())


def _normal(
    expression: sp.Expr,
    by: str,
    form: Callable[[Fraction], sp.Expr] | None = None,
    *,
    divide: bool = True,
) -> sp.Expr:
    """Return 0 or the form of a fraction if flint can compute it, else the result of sympy's `by`.

    Args:
        expression: the expression.
        by: the name of sympy's function.
        form: returns the normal form of a fraction whose symbols are independent; None for sympy's.
        divide: whether flint may cancel denominators.
    """
    import sympy as sp  # only proofs need sympy, and its import is slow

    from attsvm.theory.arithmetic.symbols import fraction

    expression = sp.sympify(expression)
    result = fraction(expression, divide=divide)
    if result is not None and result.is_zero:
        return sp.Integer(0)
    # A fraction other than 0 is another number than 0 only if its generators are independent.
    # Otherwise flint's form could show the number 0 as something else, so sympy decides.
    if result is not None and result.independent and form is not None:
        return form(result)
    return getattr(sp, by)(expression)


def unchanged(expression: sp.Expr) -> sp.Expr:
    """Return the expression unchanged."""
    return expression


def ensure_zero(tree: object, what: str, *, normal: Normal = expanded) -> None:
    """Raise unless the expression, or each expression in a list or array, is 0 in normal form.

    Raises:
        ProofError: an expression is not 0, or holds a float, NaN or infinity; or the list is
            empty.
    """
    _ensure_zero(values := _expressions(tree, what), what, normal, ("zero", *values))


def ensure_equal(left: object, right: object, what: str, *, normal: Normal = expanded) -> None:
    """Raise unless both sides are equal: the normal form of each entry's difference is 0.

    Raises:
        ProofError: the sides differ, their lengths differ or are 0, or a side holds a float, NaN
            or infinity.
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
    tree: object, what: str, *, normal: Normal = expanded, some: bool = False
) -> None:
    """Raise unless each expression, or with `some` at least one, is not 0 in normal form.

    This is for deliberately false variants, which a proof must distinguish from its theorem. The
    normal form of a number other than 0 must not be 0.

    Raises:
        ProofError: an expression is 0 (with `some`: all are 0), there is no expression, or an
            expression holds a float, NaN or infinity.
    """
    inputs = _expressions(tree, what)
    values = [*_in_normal_form(inputs, what, normal)]
    differs = [bool(value != 0) for value in values]
    if not (any(differs) if some else all(differs)):
        raise _failed(what, "an expression that should not be 0 is 0", values)
    _passed(what, ("not zero", *inputs))


def ensure_positive(tree: object, what: str, *, normal: Normal = unchanged) -> None:
    """Raise unless each expression is known to be above 0, by sympy or by the signs of its terms.

    Raises:
        ProofError: an expression is not known to be above 0, or holds a float, NaN or infinity;
            or there is no expression.
    """
    _ensure_sign(tree, what, normal, "positive")


def ensure_nonnegative(tree: object, what: str, *, normal: Normal = unchanged) -> None:
    """Raise unless each expression is known to be at least 0, by sympy or by its terms' signs.

    Raises:
        ProofError: an expression is not known to be at least 0, or holds a float, NaN or
            infinity; or there is no expression.
    """
    _ensure_sign(tree, what, normal, "nonnegative")


def _ensure_sign(tree: object, what: str, normal: Normal, sign: str) -> None:
    values = _expressions(tree, what)
    open_ = [x for x in values if not (normal in _BY_TERMS and _sign_of_terms(x, normal, sign))]
    for value in _in_normal_form(open_, what, normal):
        if getattr(value, f"is_{sign}") is not True:
            raise _failed(what, f"an expression is not known to be {sign}", value)
    _passed(what, (sign, *values))


_BY_TERMS = (expanded, cancelled, factored)
"""Normal forms for which the signs of the terms are tried before sympy."""


def _sign_of_terms(value: object, normal: Normal, sign: str) -> bool:
    """Return whether all terms, or all terms of all factors, have signs that imply the sign.

    `expanded` must not cancel a denominator: (x^2 - 1)/(x - 1) is undefined at 1.
    """
    from attsvm.theory.arithmetic.symbols import fraction

    result = fraction(value, divide=normal is not expanded)
    return result is not None and result.is_known(sign)


def ensure_true(tree: object, what: str, *, about: object = None) -> None:
    """Raise unless the condition, or each condition in a list, is True or `sympy.true` itself.

    Args:
        tree: the condition, or a list of conditions.
        what: the name of the step.
        about: the subject of the condition, hashable, if the name does not identify it.

    Raises:
        ProofError: a condition is another value, such as an open inequality, None or 1; or there
            is no condition.
    """
    import sympy as sp

    for value in _leaves(tree, what):
        if not (value is True or value is sp.true):
            raise _failed(what, "a condition is not decided to be true", value)
    _passed(what, ("true", about))


@dataclass(frozen=True, slots=True)
class Lemma:
    """A theorem of a textbook.

    Attributes:
        name: its name.
        source: the book, with the place.
        hypotheses: its hypotheses, one sentence each.
        says: its conclusion.
    """

    name: str
    source: str
    hypotheses: tuple[str, ...]
    says: str


def cite(
    lemma: Lemma, *, met: Mapping[str, str | Hypothesis | Supposed] | None = None, of: str = ""
) -> None:
    """Record a step by a textbook lemma; raise unless all hypotheses of the lemma are met.

    Args:
        lemma: the cited lemma.
        met: for each hypothesis, the name of a step of this proof that passed, the `of` of an
            earlier citation, or a supposition of the reading. A name with different facts meets
            nothing.
        of: the subject of the citation, a sentence by which it can meet hypotheses of later
            citations.

    Raises:
        ProofError: a hypothesis is not met, or the lemma has no such hypothesis; or the step that
            should meet it did not pass, or its name is ambiguous.
    """
    met = dict(met or {})
    what = f"cited, {lemma.name}"
    if sorted(met) != sorted(lemma.hypotheses):
        why = "the citation does not meet exactly the hypotheses of the lemma"
        raise _failed(what, why, [*met], f"Meet each of: {'; '.join(lemma.hypotheses)}.")
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
            why = f"several facts have passed under the name that should meet: {hypothesis}"
            raise _failed(what, why, by, "Give each step its own name.")
    ways = [f"{h}: {_evidence(by)}" for h, by in met.items()]
    citation = f"cited, {lemma.name} ({lemma.source}): {lemma.says}"
    if steps is not None:
        steps.append("; ".join([f"{of}: {citation}" if of else citation, *ways]))
        if of:
            steps.name(of, (lemma, *ways))


def suppose(*what: Supposition) -> None:
    """Record suppositions; the proof does not count for a reading without them.

    Raises:
        ClaimError: an argument is no hypothesis.
    """
    for one in what:
        if not isinstance(one, Supposition):
            raise ClaimError(
                "a proof supposes a value that is no hypothesis",
                value=repr(one),
                remedy="Import the Hypothesis that the statement lists, and write suppose(UNIQUE).",
            )
    steps = _STEPS.get()
    if steps is not None:
        steps.supposed += what


def supposed_number(what: Supposition | None, name: str, **sign: bool) -> sp.Expr:
    """Return a symbol for a number whose sign follows from the reading.

    Steps that use the sign fail without it. Tests check this by a patch of `_sign_of` that drops
    the sign.

    Args:
        what: the supposition of the reading that gives the sign; None if steps have shown the
            sign, or if it is one of several cases.
        name: the name of the symbol.
        sign: the assumptions of `sympy.Symbol`, such as `positive=True`.
    """
    import sympy as sp

    if what is None:
        return sp.Symbol(name, **sign)
    suppose(what)
    if (steps := _STEPS.get()) is not None:
        steps.signs.append(what)
    return sp.Symbol(name, **_sign_of(what, sign))


def _sign_of(what: Supposition, sign: Mapping[str, bool]) -> dict[str, bool]:
    """Return the sign assumptions of a supposed number; tests patch this to drop them."""
    return {**sign}


def _evidence(by: str | Hypothesis | Supposed) -> str:
    """Return how a hypothesis of a lemma is met, in words."""
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


def _leaves(tree: object, what: str) -> list[object]:
    """Return the values in a list, array or generator, nested or not, or the single value."""
    import sympy as sp

    if isinstance(tree, np.ndarray):
        tree = list(tree.flat)
    if isinstance(tree, sp.MatrixBase):
        tree = tree.flat()
    if not hasattr(tree, "__iter__") or isinstance(tree, str | bytes | Mapping):
        return [tree]
    values = [leaf for part in tree for leaf in _leaves(part, what)]
    if not values:
        raise _failed(what, "there is nothing to check", [])
    return values


def _expressions(tree: object, what: str) -> list[sp.Expr]:
    """Return the values as exact expressions of sympy."""
    return [_exact(value, what) for value in _leaves(tree, what)]


def _in_normal_form(values: list[sp.Expr], what: str, normal: Normal) -> Iterator[sp.Expr]:
    """Return the normal forms of the expressions, which must be exact as well."""
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
        raise _failed(what, "an expression contains a float", value, remedy)
    if expression.has(sp.nan, sp.zoo, sp.oo, -sp.oo, sp.AccumBounds):
        raise _failed(what, "a value is not a finite number", value)
    return expression
