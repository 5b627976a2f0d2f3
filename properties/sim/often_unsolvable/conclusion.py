"""Conditions under which X^mm exists, and the probability that it does not."""

import numpy as np
from flint import fmpq, fmpq_mat
from hypothesis import strategies as st

from attsvm.exact import rationals
from attsvm.primitives import programme_letters, run_programs
from attsvm.primitives.counts import HALF, probability
from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import feasible
from attsvm.strategies import composite, sizes
from attsvm.theory import Records, Slack, changed, concludes, stated
from attsvm.theory.types import Comparison, Namespace
from properties.sim._support.telling_sentences import one_successor, sentence_run, sentences_of
from properties.sim.often_unsolvable import contradictions
from properties.sim.often_unsolvable.contradictions import Draws, Table, consistent
from properties.sim.often_unsolvable.pair_letters import series

IN_A_CIRCLE = (
    "a query asks for a before b if a is optimal and b another token of a sub-sequence that it "
    "ends, and in a circle if it asks for a before b, b before c, ..., and the last of them before "
    "a, or for a before a, as if a sub-sequence holds its optimal token twice"
)


@stated(
    "X^mm exists",
    checked=run_programs.target_is_there,
)
def exists(m: Namespace, case: Descent) -> Comparison:
    return m.equal(m.exact(int(feasible(case))), m.exact(1))


@stated(
    "X^mm exists exactly if $by",
    symbols={
        "by": {"circles": "no query asks in a circle", "successors": "each word has one successor"}
    },
    where=IN_A_CIRCLE,
)
def exists_exactly_if(m: Namespace, case: Descent, by: str = "circles") -> Comparison:
    known = consistent(case) if by == "circles" else one_successor(case)
    return m.equal(m.exact(int(feasible(case))), m.exact(int(known)))


@concludes(programme_letters.no_circle)
@stated(
    "X^mm exists only if $by",
    symbols={
        "by": {
            "circles": "no query asks in a circle",
            "successors": "some word has several successors",
        }
    },
    where=IN_A_CIRCLE,
)
def refused(m: Namespace, case: Descent, by: str = "circles") -> Comparison:
    known = consistent(case) if by == "circles" else not one_successor(case)
    return m.at_most(m.exact(int(feasible(case))), m.exact(int(known)))


def gap(case: Table, strict: bool = True, more: int = 0) -> fmpq:
    """Return minus the distance between the formula and the sum over all sentences."""
    other = Table(case.first, case.follow, case.m + more)
    return -abs(contradictions.probability(other) - contradictions.enumerated(case, strict))


def gap_in_floats(case: Table, strict: bool = True, more: int = 0) -> Slack:
    """Return the slack of `gap`, in floats."""
    return Slack(float(gap(case, strict, more)), 0.0)


COUNTED = probability(
    "that there is no X^mm over the $over for m = $m, n = $n, d = $d",
    HALF,
    floats=contradictions.often,
    again=contradictions.often_again,
)
EXPONENTIAL_SERIES = probability(
    "that no $strict of m sentences of two words has two successors, and j! [z^j] puts a^j in "
    "place of each e^(a z) of the product multiplied out",
    r"j! [z^j] \prod_q \left(1 + \sum_s \left(e^{p_{qs} z} - 1\right)\right), j = m + $more",
    "=",
    floats=gap_in_floats,
    balls=gap,
    symbols={"strict": {True: "word", False: "word of two neighbouring ones"}},
    proposition=series,
)
FEWER = {
    "for one sentence of two words": changed(m=1, n=2),
    "for two sentences of two words": changed(m=2, n=2),
}


@composite
def tables(draw: st.DrawFn) -> Table:
    """Draw weights of one or two words, and a number of sentences up to four."""
    V, m = draw(sizes(1, 2)), draw(sizes(1, 4))
    first = [draw(sizes(1, 3)) for _ in range(V)]
    follow = [[draw(sizes(0 if b else 1, 3)) for b in range(V)] for _ in range(V)]
    return Table(np.array(first), np.array(follow), m)


TWO = sentence_run(np.eye(2), [[0, 0], [0, 1]])
ONE = sentence_run(np.eye(2), [[0, 1], [0, 1]])
OPPOSITE = sentence_run([[1.0], [-1.0]], [[0, 0], [1, 0]])
"""Opposite queries both ask for the token 1: no query asks in a circle, and there is no X^mm."""
CIRCLE = sentence_run(np.eye(3), [[0, 1, 2, 2], [1, 0, 2, 0], [0, 2, 1, 1]], whole=False)
REPEATED = sentence_run(np.eye(2), [[0, 1, 0, 1], [0, 0, 0, 1]], whole=False)
ELSEWHERE = sentence_run(np.eye(2), [[0, 1, 1], [1, 0, 1]], whole=False)
"""A word with two successors; at the place before its second successor, attention has a single
token."""
DEFAULT = {"m": 10, "n": 5, "d": 100}


DRAWS = Records(
    Draws,
    st.builds(Draws, st.integers(0, 2**16)),
    lets="m sentences of n tokens be drawn from a random language: 20 Gaussian tokens divided by "
    "their norms, 3 random successors for each token, with independent weights uniform in 1, ..., "
    "9, and a first token that is uniform among the 20",
)


def independent(case: Descent) -> bool:
    """Return whether the embeddings are linearly independent."""
    E = fmpq_mat(rationals(sentences_of(case).embeddings))
    return bool(E.rank() == len(sentences_of(case).embeddings))
