"""Hyperplanes of decisions between tokens, and conditions that they differ."""

import itertools
from dataclasses import dataclass, replace

import numpy as np
from flint import fmpq
from hypothesis import strategies as st

from attsvm.errors import NotExpressible
from attsvm.exact import ExactData, dot
from attsvm.exact.numbers import Vector, subtract
from attsvm.primitives import programme_letters as letters
from attsvm.primitives import run_programs
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent import Descent
from attsvm.strategies import arrays, composite, sizes
from attsvm.theory import concludes, stated
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation
from properties.sim._support.telling_sentences import on_sentences


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision of a sub-sequence of at least two tokens: <w, x> > c for its optimal token x."""

    w: Vector
    c: fmpq
    optimal: Vector
    query: Vector


def decisions(case: Descent) -> list[Decision] | None:
    """Return the decisions of all sub-sequences of at least two tokens; None without X^mm."""
    exact, svm = ExactData.of(case.data), exact_att_svm(case.data)
    if svm is None:
        return None
    made = []
    for i, (tokens, z, tied) in enumerate(zip(exact.X, exact.Z, exact.optimal, strict=True)):
        margins = [margin for (j, _), margin in svm.margins.items() if j == i]
        if margins:
            w, best = [dot(row, z) for row in svm.W], tokens[tied[0]]
            made.append(Decision(w, dot(w, best) - min(margins) / 2, best, z))
    return made


def pairs(case: Descent) -> list[tuple[Decision, Decision]] | None:
    """Return the pairs of decisions with different optimal tokens; None without X^mm."""
    made = decisions(case)
    if made is None:
        return None
    return [(p, q) for p, q in itertools.combinations(made, 2) if p.optimal != q.optimal]


DECIDED = (
    "w_i = X^mm z_i for the query z_i of sub-sequence i, and c_i is the mean of <w_i, x> at its "
    "optimal token x and of the largest <w_i, x> at another token x"
)


@stated(
    "any two sub-sequences of at least two tokens have different optimal tokens, that is $formula",
    r"\|x_{opt,i} - x_{opt,j}\| > $least",
    checked=lambda m, case: run_programs.on_data(m, case, "fact(optima_differ(data))"),
)
def all_different(m: Namespace, case: Descent, least: Number = 0) -> Comparison:
    exact = ExactData.of(case.data)
    inputs = zip(exact.X, exact.optimal, strict=True)
    optima = [tokens[tied[0]] for tokens, tied in inputs if len(tokens) > 1]
    apart = [subtract(x, y) for x, y in itertools.combinations(optima, 2)]
    if not apart:
        return m.below(m.exact(0), m.exact(1))  # there are no two
    return m.below(least, m.min(m.array([m.norm(m.values(x)) for x in apart])))


def _parallel(m: Namespace, u: Vector, v: Vector) -> Numbers:
    """Return |u|^2 |v|^2 - <u, v>^2, which is 0 exactly if the vectors are parallel."""
    return m.values(dot(u, u) * dot(v, v) - dot(u, v) ** 2)


def _decisions_differ(
    m: Programs, case: Descent, of: str = "half-spaces", sign: int = 1
) -> Proposition:
    """Return the same in the words of the checker.

    Raises:
        NotExpressible: it is said of queries, or with another sign.
    """
    if of == "queries" or sign != 1:
        raise NotExpressible("the conclusion that queries differ")
    differ = f"decisions_differ(data, target, turned={of == 'half-spaces'})"
    return run_programs.on_data(m, case, f"fact(target is not None and {differ})")


@concludes(letters.differ)
@stated(
    "X^mm exists, and sub-sequences i and j with different optimal tokens have $formula",
    "$of",
    {
        "of": {
            "hyperplanes": r"(w_i, c_i) \ne k (w_j, c_j) \text{ for every } k",
            "half-spaces": r"(w_i, c_i) \ne k (w_j, c_j) \text{ for every } k > 0",
            "queries": r"z_i \ne ${sign}k z_j \text{ for every } k > 0",
        },
        "sign": {1: "", -1: "-"},
    },
    where=DECIDED,
    checked=_decisions_differ,
)
def differ(m: Namespace, case: Descent, of: str = "half-spaces", sign: int = 1) -> Relation:
    couples = pairs(case)
    if couples is None:
        return m.below(m.exact(0), m.exact(0))  # there is no X^mm
    parts = []
    for p, q in couples:
        u, v = (p.query, q.query) if of == "queries" else ([*p.w, p.c], [*q.w, q.c])
        apart = m.above(_parallel(m, u, v), 0)
        turned = m.below(sign * m.values(dot(u, v)), 0)
        parts.append(apart if of == "hyperplanes" else m.any_of(apart, turned))
    return m.all_of(*parts) if parts else m.below(m.exact(0), m.exact(1))


@concludes(letters.far_apart)
@stated(
    "X^mm exists, and sub-sequences i and j with different optimal tokens have $formula",
    r"\|w_i - w_j\|^2 \|x_{opt,i} - x_{opt,j}\|^2 \ge $squared",
    where=DECIDED,
)
def far_apart(m: Namespace, case: Descent, squared: Number = 4) -> Comparison:
    couples = pairs(case)
    if couples is None:
        return m.below(m.exact(1), m.exact(0))  # there is no X^mm
    if not couples:
        return m.at_most(m.exact(0), m.exact(0))  # all optimal tokens are the same
    products = [
        apart(m.values(subtract(p.w, q.w)), m.values(subtract(p.optimal, q.optimal)))
        for p, q in couples
    ]
    return m.at_most(squared, m.min(m.array(products)))


def apart(w: Numbers, x: Numbers) -> Number:
    """Return ||w||^2 ||x||^2."""
    return (w @ w) * (x @ x)


@composite
def one_successor(draw: st.DrawFn) -> Descent:
    """Draw sentences of up to three tokens in up to three dimensions, each with one successor."""
    V, d, whole = draw(sizes(2, 3)), draw(sizes(1, 3)), draw(st.booleans())
    after = draw(st.lists(sizes(0, V - 1), min_size=V, max_size=V))
    words = [draw(st.lists(sizes(0, V - 1), min_size=1, max_size=3))]
    for _ in range(draw(sizes(1 if whole else 2, 3))):
        words.append([after[t] for t in words[-1]])
    return on_sentences(draw(arrays(V, d)), np.array(words).T, np.zeros((d, d)), whole)


def still(case: Descent) -> Descent:
    """Return the same data with X(0) = 0; the start does not matter to hyperplanes."""
    return replace(case, start=np.zeros_like(case.start))
