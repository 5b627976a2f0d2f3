"""Questions: half-believed statements, written as one relation and its hypotheses.

A question needs no source, no expected verdict and no sibling. Hunts examine it like any claim.
"""

import dataclasses
import functools
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from attsvm.errors import ClaimError
from attsvm.theory.arithmetic.namespace import Relation
from attsvm.theory.arithmetic.naming import body_of
from attsvm.theory.declaration.arguments import ensure_takes
from attsvm.theory.declaration.batches import relaxed, strategy
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.hypotheses import Hypothesis
from attsvm.theory.declaration.instances import domains, instance_type
from attsvm.theory.declaration.judge import slack_of
from attsvm.theory.declaration.siblings import hypothesis_of
from attsvm.theory.declaration.typesetting import sentence, typeset
from attsvm.theory.declaration.variables import Integer, Variable, ensure_drawable, ordered
from attsvm.theory.declaration.verdict import Evidence, Expected, Truth

Related = Callable[..., Relation]
"""A function of (m, v) that returns a relation."""

OPEN = "open"
"""The expected answer of a question whose author does not know it."""

EXPECTED = (OPEN, "holds", "refuted")
"""The answers that an author may expect."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, made by `question`.

    Attributes:
        claim: the claim that a hunt tries to refute; it has no siblings.
        expected: the answer that the author expects: "holds", "refuted", or "open".
    """

    claim: Claim = field(repr=False)
    expected: str = OPEN

    @property
    def text(self) -> str:
        """The question as a sentence, composed from its formula."""
        return self.claim.statement

    def __repr__(self) -> str:
        return f"Question({self.text})"


def question(
    conclusion: Related | None = None,
    /,
    *hypotheses: Related,
    expected: str | None = None,
    **variables: Variable,
) -> Question:
    """Return the question whether a relation holds for all values of its variables.

    Args:
        conclusion: a function of (m, v) that returns a relation, such as `m.at_most(left, right)`.
        hypotheses: functions of (m, v) that return relations, which an instance must meet.
        expected: "holds" or "refuted" if the author knows the answer; None or "open" if not.
        variables: the domain of each variable, in any order. An axis without an `Integer` of its
            name has lengths from 1 to 4, and longer ones in a hunt.

    Raises:
        ClaimError: a part has another type, or the variables do not fit together.
    """
    ensure_no_variable(expected=expected)
    caller = sys._getframe(1)
    place = caller.f_code.co_filename, caller.f_lineno
    options = "The only option of question is expected=; `attsvm ask` has --seconds and --seed."
    return asked_at(place, conclusion, hypotheses, variables, options, expected=expected)


def ensure_no_variable(**arguments: object) -> None:
    """Raise if a domain was given to an argument that is no variable.

    Raises:
        ClaimError: one of the arguments is a domain.
    """
    for name, value in arguments.items():
        if isinstance(value, Variable):
            raise ClaimError(
                f"a variable cannot be called {name}, as an argument has this name",
                remedy="Give the variable another name.",
            )


def asked_at(
    place: tuple[str, int],
    conclusion: Related | None,
    hypotheses: tuple[Related, ...],
    variables: Mapping[str, Variable],
    options: str,
    *,
    expected: str | None = None,
) -> Question:
    """Return the question that is asked at this file and line; see `question`.

    `options` says in a sentence which options there are besides variables.

    Raises:
        ClaimError: a part has another type, or the variables do not fit together.
    """
    file, line = place
    answer = OPEN if expected is None else expected
    if answer not in EXPECTED:
        raise ClaimError(
            "there is no such answer", value=repr(expected), remedy=f"Of {', '.join(EXPECTED)}."
        )
    holds = _function("conclusion", conclusion)
    under = tuple(_function("hypothesis", hypothesis) for hypothesis in hypotheses)
    formula = _named(_formula(holds, under, _completed(variables, options)))
    claim = Claim(
        id=f"question/{_stem(file)}-{line}:literal",
        source="",
        place="",
        compose=functools.cache(functools.partial(sentence, formula, {}, tight=False)),
        hypotheses=tuple(hypothesis_of(formula, name) for name in formula.hypotheses),
        data=strategy(formula),
        conclusion=functools.partial(slack_of, formula),
        expected=Expected(Truth.HOLDS, Evidence.CERTIFIED),
        siblings=(),
        examples=(),
        ensemble=None,
        relaxed=functools.partial(relaxed, formula) if formula.continuous else None,
        proof=None,
        depends_on=(),
        cost=1,
        file=file,
        line=line,
        formula=formula,
        printed="",
        rests_on=(),
    )
    return Question(claim, answer)


def _function(name: str, function: Related | None) -> Related:
    """Return a part of a question.

    Raises:
        ClaimError: it is no function of m and v.
    """
    if not callable(function):
        raise ClaimError(
            f"the {name} of a question is no function",
            value=repr(function),
            remedy="Write lambda m, v: m.at_most(left, right).",
        )
    ensure_takes(f"the {name} of a question", function, "m, v")
    return function


def _stem(file: str) -> str:
    """Return the name of a file as a part of an id."""
    words = re.findall("[a-z0-9]+", Path(file).stem.lower())
    return "-".join(words) or "prompt"


def _completed(variables: Mapping[str, object], options: str) -> dict[str, Variable]:
    """Return the variables in an order in which they can be drawn, with all lengths.

    Raises:
        ClaimError: there is no variable, one has no domain, or they do not fit together.
    """
    if not variables:
        raise ClaimError(
            "a question has no variable", remedy='Give some by name, such as x=Vector("n").'
        )
    known: dict[str, Variable] = {}
    for name, variable in variables.items():
        if not isinstance(variable, Variable):
            raise ClaimError(
                f"the variable {name} of a question has no domain",
                value=repr(variable),
                remedy=f'Write {name}=Real(), {name}=Vector("n") or {name}=Integer(1). {options}',
            )
        known[name] = variable
    axes = [axis for variable in known.values() for axis in variable.axes if isinstance(axis, str)]
    lengths: dict[str, Variable] = {}
    for axis in axes:
        variable = known.get(axis, Integer(1, 4))
        if isinstance(variable, Integer) and axis in known:  # the author of the question limits it
            variable = dataclasses.replace(variable, closed=variable.ends[1] is not None)
        lengths[axis] = variable
    new = {axis: length for axis, length in lengths.items() if axis not in known}
    placed = ordered({**new, **known, **lengths})
    ensure_drawable(placed)
    return placed


def _formula(
    conclusion: Related, hypotheses: tuple[Related, ...], variables: Mapping[str, Variable]
) -> Formula:
    numbered = {
        f"hypothesis {k}": Hypothesis(f"hypothesis {k}", holds)
        for k, holds in enumerate(hypotheses, 1)
    }
    under = {**domains(variables), **numbered}
    return Formula(variables, under, conclusion, {}, instance_type(variables))


def _named(formula: Formula) -> Formula:
    """Return a formula whose hypotheses have their own text as names.

    A hypothesis that cannot be written down is shown by its code, or keeps its number.
    """
    texts = typeset(formula).hypotheses
    own = domains(formula.variables)  # sentences say these with the variables
    named: dict[str, Hypothesis] = {}
    for name, hypothesis in formula.hypotheses.items():
        text = texts[name].plain if name in texts and name not in own else name
        text = (body_of(hypothesis.holds) or name) if text == name and name not in own else text
        text = f"{text} (again)" if text in named else text
        named[text] = Hypothesis(text, hypothesis.holds)
    return dataclasses.replace(formula, hypotheses=named)
