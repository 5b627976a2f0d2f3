"""The rank of W^mm = sum_j w_j D_j z_j^T: at most that of the factors D_j or z_j with w_j > 0.

A matrix has a rank of at most r if it is a sum of r matrices w q^T.
"""

from collections.abc import Iterable

from attsvm.errors import present
from attsvm.primitives.descent_letters import OWNER, QUERY, M, V, X, i, j, q, w
from attsvm.primitives.hypotheses import FEASIBLE
from attsvm.primitives.programme_letters import WEIGHT, a
from attsvm.theory.proof.facts import Fact, eq, ge
from attsvm.theory.proof.lemmas import LENGTH
from attsvm.theory.proof.linked import Said, linked, setting, suppose
from attsvm.theory.proof.rules import add_up, at, cite, decide, exchange, regroup, scale
from attsvm.theory.proof.terms import NORM, Letter, Over, Term, total
from properties.tf.svm_rank import rank_letters as letters
from properties.tf.svm_rank.rank_estimates import RANK_ONE
from properties.tf.svm_rank.rank_letters import (
    ASKED,
    IMAGE,
    LEAD,
    LEAD_UNIT,
    OF_RANK_ONE,
    QUERY_UNIT,
    TURNED,
    UNIT,
    b,
    c,
)
from symbolic.facts import conclude_each


def _settings(claim: Said, *places: int) -> list[Fact]:
    """Return facts of the setting by their places."""
    return [setting(claim.setting, [*claim.setting][place]) for place in places]


@linked
def prove_by_size() -> str:
    """Prove that W^mm is a sum of n matrices w q^T, and of d such matrices."""
    claim = present(letters.by_size(), "a claim")
    (exists, _) = suppose(FEASIBLE)
    image, turned, outer, sums, rows = _settings(claim, *range(5))
    own = total(WEIGHT(j) * LEAD(j), j, Over(OWNER, i.term))
    each = add_up(at(image, {w: own, q: QUERY(i)}), i)
    of = at(image, {w: LEAD(j), q: ASKED})
    of = decide(eq(outer.proposition.term + of.proposition.term, 0), outer, of)
    of_rival = add_up(scale(of, WEIGHT(j)), j)
    body = WEIGHT(j) * (LEAD(j) @ IMAGE(X, ASKED))
    by_inputs = decide(claim.sequents[1].proposition, each, of_rival, sums, regroup(body, j, OWNER))
    by_axes = decide(
        claim.sequents[2].proposition,
        at(rows, {M: V}),
        add_up(at(turned, {w: UNIT(a), q: TURNED(V, UNIT(a))}), a),
    )
    conclude_each(claim, exists, by_inputs, by_axes)
    return "for any n, T, d: one matrix for each input, or one for each row"


def _spanned(
    known: Iterable[Fact],
    span: Fact,
    of: tuple[Letter, Letter],
    unit: Term,
    factors: tuple[Term, Term],
    to: Term,
) -> list[Fact]:
    """Return facts by which W^mm is a sum over a basis of the span of one factor of the A_j.

    Args:
        known: two facts on products with w q^T, of which the first has this factor outside, and
            those on the A_j and on X^mm.
        span: that the factor is in the span of the basis.
        of: the letter that stands for the factor, and that for the other one.
        unit: an element of the basis.
        factors: the factor, and the other one.
        to: the product of X with the other one.
    """
    near, far, outer, sums = known
    mine, theirs = of
    factor, other = factors
    (place,) = unit.letters
    own = at(near, {mine: factor, theirs: other})
    own = decide(eq(outer.proposition.term + own.proposition.term, 0), outer, own)
    one, two = (at(fact, {mine: unit, theirs: other}) for fact in (near, far))
    turn = decide(eq(one.proposition.term - two.proposition.term, 0), one, two)
    share = WEIGHT(j) * (factor @ unit)
    return [
        sums,
        add_up(scale(own, WEIGHT(j)), j),
        add_up(at(span, {w: to}), j),
        exchange(share * (unit @ to), j, place),
        add_up(add_up(scale(turn, share), j), place),
        add_up(at(far, {mine: unit, theirs: total(share * other, j)}), place),
    ]


@linked
def prove() -> str:
    """Prove that W^mm is a sum of r matrices w q^T.

    The number r is the rank of the queries, or that of the differences, of positive multiplier.
    """
    claim = present(letters.by_carriers(), "a claim")
    (exists, _) = suppose(FEASIBLE)
    image, turned, outer, sums, *spans = _settings(claim, *range(6))
    row, column = TURNED(X, LEAD(j)), IMAGE(X, ASKED)
    parts = (
        _spanned(
            (turned, image, outer, sums), spans[0], (q, w), QUERY_UNIT(b), (ASKED, LEAD(j)), row
        ),
        _spanned(
            (image, turned, outer, sums), spans[1], (w, q), LEAD_UNIT(c), (LEAD(j), ASKED), column
        ),
    )
    results = (
        decide(goal.proposition, *facts, degree=1)
        for goal, facts in zip(claim.sequents[1:], parts, strict=True)
    )
    conclude_each(claim, exists, *results)
    return "for any n, T, d: with rows w_j D_j and z_j, or their sums by the products with a basis"


@linked
def prove_rank_one() -> str:
    """Prove that no matrix with the margins of W^mm has a lesser nuclear norm, if its rank is 1."""
    claim = present(letters.no_larger(), "a claim")
    exists, shortest = suppose(RANK_ONE)
    longer, same = _settings(claim, 0, 1)
    (some, square), of_least = cite(LENGTH, (), X.term), cite(LENGTH, (), OF_RANK_ONE)
    norms = decide(ge(NORM(X), NORM(OF_RANK_ONE)), some, square, of_least[1], shortest)
    own = at(same, {w: letters.LEFT, q: letters.RIGHT})
    conclude_each(claim, exists, decide(claim.sequents[1].proposition, norms, longer, own))
    return "for any n, T, d: ||V||_* >= ||V||_F >= ||W^mm||_F = ||W^mm||_* for every feasible V"
