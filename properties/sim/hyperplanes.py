"""The decision hyperplanes of sub-sequences: how far different optimal tokens make them differ.

Problem i, a sub-sequence with query z_i, decides by <w_i, x> with w_i = X^mm z_i. Its hyperplane is
{x : <w_i, x> = c_i}, halfway between its optimal token and the nearest rival, and its half-space
the side {x : <w_i, x> > c_i} of the optimal token. "Fundamentally different" is not defined and is
read as weakly as it can be: not the same set.

literal-1: in `REPEATED` the next word is twice the same. literal-2: `EXCHANGED` has X^mm = -1/2 and
the one hyperplane {0}, with its sides exchanged. literal-3: both problems of `ONE_QUERY` ask from
the query a, so that w is the same, and the line x_2 = 1/2 divides b from a and c from a.

Hyperplanes are those of X^mm, which section 4 calls "often unsolvable": of data without one the
sentence says nothing. Where optimal tokens are tied X^mm is that of the first one.

Over the whole vocabulary the optimal token of one problem is a rival in the other, so that
<w_i - w_j, x_opt_i - x_opt_j> is the sum of two margins, at least 2. Hence sharp-1, by Cauchy and
Schwarz, and w_j = t w_i, t > 0, is impossible; and so is z_j = t z_i: X^mm exists only if
sub-sequences that end in the same token have the same optimal one. That is less than one successor
for each token: a longer token in the direction of two successors is optimal for both.
"""

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import fmpq
from hypothesis import strategies as st

from attsvm.exact import ExactData, dot
from attsvm.exact.numbers import Vector, subtract
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import FEASIBLE
from attsvm.strategies import arrays, composite, sizes
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed, stated
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation
from properties.sim import SOURCE
from properties.sim._support.telling_sentences import said
from properties.sim._support.token_sequences import drawn_sequences, followed, on_sentences

REPEATED = said([[1.0], [0.0]], [[0, 0, 0]])
EXCHANGED = said([[1.0], [-1.0]], [[0, 1, 0]])
ONE_QUERY = said([[1, 0], [1, 1], [2, 1]], [[1, 0, 1], [2, 0, 2]], whole=False)
CONFLICT = said(np.eye(2), [[0, 0], [0, 1]])
"""A token with two successors: there is no X^mm."""


@dataclass(frozen=True, slots=True)
class Decision:
    """How a sub-sequence of two tokens at least decides: <w, x> > c for its optimal token."""

    w: Vector
    c: fmpq
    optimal: Vector
    query: Vector


def decisions(case: Descent) -> list[Decision] | None:
    """The decisions of all sub-sequences of two tokens at least; None where X^mm does not exist."""
    exact, found = ExactData.of(case.data), exact_att_svm(case.data)
    if found is None:
        return None
    made = []
    for i, (tokens, z, tied) in enumerate(zip(exact.X, exact.Z, exact.optimal, strict=True)):
        margins = [margin for (j, _), margin in found.margins.items() if j == i]
        if margins:
            w, best = [dot(row, z) for row in found.W], tokens[tied[0]]
            made.append(Decision(w, dot(w, best) - min(margins) / 2, best, z))
    return made


def pairs(case: Descent) -> list[tuple[Decision, Decision]] | None:
    """Pairs of decisions for different optimal tokens."""
    made = decisions(case)
    if made is None:
        return None
    return [(p, q) for p, q in itertools.combinations(made, 2) if p.optimal != q.optimal]


DECIDED = (
    "w_i = X^mm z_i for the query z_i of sub-sequence i, and c_i is halfway between its optimal "
    "token and the nearest other one in <w_i, x>"
)


@stated(
    "any two sub-sequences of at least two tokens have different optimal tokens, that is $formula",
    r"\|x_{opt,i} - x_{opt,j}\| > $least",
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
    """|u|^2 |v|^2 - <u, v>^2, which is 0 exactly where one vector is a multiple of the other."""
    return m.values(dot(u, u) * dot(v, v) - dot(u, v) ** 2)


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
)
def differ(m: Namespace, case: Descent, of: str = "half-spaces", sign: int = 1) -> Relation:
    found = pairs(case)
    if found is None:
        return m.below(m.exact(0), m.exact(0))  # there is no X^mm
    parts = []
    for p, q in found:
        u, v = (p.query, q.query) if of == "queries" else ([*p.w, p.c], [*q.w, q.c])
        apart = m.above(_parallel(m, u, v), 0)
        turned = m.below(sign * m.values(dot(u, v)), 0)
        parts.append(apart if of == "hyperplanes" else m.any_of(apart, turned))
    return m.all_of(*parts) if parts else m.below(m.exact(0), m.exact(1))


@stated(
    "X^mm exists, and sub-sequences i and j with different optimal tokens have $formula",
    r"\|w_i - w_j\|^2 \|x_{opt,i} - x_{opt,j}\|^2 \ge $squared",
    where=DECIDED,
)
def far_apart(m: Namespace, case: Descent, squared: Number = 4) -> Comparison:
    found = pairs(case)
    if found is None:
        return m.below(m.exact(1), m.exact(0))  # there is no X^mm
    if not found:
        return m.at_most(m.exact(0), m.exact(0))  # all optimal tokens are the same
    products = [
        apart(m.values(subtract(p.w, q.w)), m.values(subtract(p.optimal, q.optimal)))
        for p, q in found
    ]
    return m.at_most(squared, m.min(m.array(products)))


def apart(w: Numbers, x: Numbers) -> Any:
    """||w||^2 ||x||^2."""
    return (w @ w) * (x @ x)


@composite
def one_successor(draw: st.DrawFn) -> Descent:
    """Up to three tokens in up to three dimensions, each with one successor."""
    V, d, whole = draw(sizes(2, 3)), draw(sizes(1, 3)), draw(st.booleans())
    after = draw(st.lists(sizes(0, V - 1), min_size=V, max_size=V))
    words = [draw(st.lists(sizes(0, V - 1), min_size=1, max_size=3))]
    for _ in range(draw(sizes(1 if whole else 2, 3))):
        words.append([after[t] for t in words[-1]])
    return on_sentences(draw(arrays(V, d)), np.array(words).T, np.zeros((d, d)), whole)


def still(case: Descent) -> Descent:
    """The same from X(0) = 0, which plays no part here."""
    return replace(case, start=np.zeros_like(case.start))


LANGUAGE = st.one_of(one_successor(), followed().map(still), drawn_sequences(from_zero=True))
OF_VOCABULARY = Records(Descent, LANGUAGE, fixed=("start", "step", "inputs.whole", "loss"))

WHOLE = Hypothesis("tokens are the whole vocabulary", lambda case: case.inputs.whole)

HYPERPLANES = Statement(
    "sim/hyperplanes",
    rests_on=("sim/definition-3.8",),
    source=SOURCE,
    place="Section 1, token separation",
    printed="For each subsequent in language modeling task, the decision hyperplane are "
    "fundamentally different as the optimal tokens are different for each next work prediction",
    variables=Records(Descent, LANGUAGE, fixed=("start", "step", "loss")),
    conclusion=differ,
    cost=2,
    violating={WHOLE: [ONE_QUERY], FEASIBLE: [CONFLICT]},
    readings={
        "literal-1": Reading(
            "refuted",
            under=(),
            conclusion=all_different,
            examples=(REPEATED,),
            siblings={"they are more than 1/2 apart": changed(least="1/2")},
        ),
        "literal-2": Reading(
            "refuted",
            read={"decision hyperplane": "{x : <w_i, x> = c_i}"},
            constants={"of": "hyperplanes"},
            under=(FEASIBLE,),
            examples=(EXCHANGED,),
            siblings={"they have different queries": changed(of="queries", examples=[ONE_QUERY])},
        ),
        "literal-3": Reading(
            "refuted",
            read={"decision hyperplane": "the half-space {x : <w_i, x> > c_i}"},
            under=(FEASIBLE,),
            examples=(ONE_QUERY,),
            siblings={
                "different, also turned round": changed(of="hyperplanes", examples=[EXCHANGED])
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.sim.hyperplanes:prove_half_spaces",
            under=(WHOLE, FEASIBLE),
            variables=OF_VOCABULARY,
            examples=(EXCHANGED,),
            siblings={"different hyperplanes": changed(of="hyperplanes", examples=[EXCHANGED])},
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.sim.hyperplanes:prove_apart",
            under=(WHOLE, FEASIBLE),
            variables=OF_VOCABULARY,
            conclusion=far_apart,
            tight=True,
            examples=(EXCHANGED,),
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.sim.hyperplanes:prove_queries",
            constants={"of": "queries"},
            under=(WHOLE, FEASIBLE),
            variables=OF_VOCABULARY,
            examples=(EXCHANGED,),
            siblings={"nor negative ones": changed(sign=-1, examples=[EXCHANGED])},
        ),
    },
)
