"""Effects of leaving tokens out: on X^mm by their margins, and on the output by their scores.

On `sim/token-sparsity:literal-3` and `sim/low-score-tokens`, readings amended-1 and literal-3. Near
X^mm only rivals of margin 1 restrict, so that X^mm + t (X' - X^mm) meets all constraints for a
small t > 0.
"""

from dataclasses import dataclass

from attsvm.errors import present
from attsvm.primitives import programme_letters as letters
from attsvm.primitives.descent_letters import (
    BEST,
    GAMMA,
    LEAST_SCORE,
    OWNER,
    A,
    V,
    W,
    X,
    i,
    j,
    margin,
)
from attsvm.primitives.hypotheses import FEASIBLE
from attsvm.primitives.programme_letters import DROPPED, REST
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt, some
from attsvm.theory.proof.lemmas import EXPONENTIAL, INDICATOR, RECIPROCAL, SIZE
from attsvm.theory.proof.linked import Said, linked, setting, suppose
from attsvm.theory.proof.rules import add_up, assume, at, cases, cite, conclude, cut, decide, scale
from attsvm.theory.proof.terms import ABS, EXP, INV, IS_ZERO, Over, Term, as_term, total
from properties.mm._support.programme_letters import Programme, by_one
from properties.sim.low_score_tokens import NO_LOW_SUPPORT
from symbolic.attention_facts import meets
from symbolic.facts import conclude_each, no_shorter, product
from symbolic.tight_rows import between

SOLUTION = Programme(j, A, V, by_one, "X^mm")
_, LEAST, EITHER, LEFT, SHORTEST = letters.LEFT_OUT


def _reached(kept: Fact, either: Fact, beyond: Fact) -> Fact:
    """Return that X' meets each constraint of margin 1, as only others are left out."""
    slack = margin(j.term, V) - 1
    spare = IS_ZERO(slack) * (margin(j.term, REST) - 1)
    _, if_loose, _, positive, _ = cite(INDICATOR, (), slack)
    stays = assume(gt(DROPPED(j), 0).denied())
    loose = cut(if_loose, decide(gt(slack, 0), beyond))
    gone = decide(ge(spare, 0), scale(loose, margin(j.term, REST) - 1))
    zero = decide(eq(DROPPED(j), 0), either, stays)
    left = decide(ge(margin(j.term, REST) - 1, 0), kept, scale(zero, margin(j.term, REST) - 1))
    return cases(gone, product(positive, left), gt(DROPPED(j), 0))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Facts on X^mm and X', as X^mm meets all constraints."""

    exists: Fact  # X^mm meets them
    least: Fact  # X^mm is no longer than any matrix that meets them
    either: Fact  # a rival is left out or not
    kept: Fact  # X' meets the constraints of rivals that are not left out
    no_longer: Fact  # X' is no longer than X^mm


def without_some(exists: Fact) -> LeftOut:
    """Return facts on X^mm and X', as X^mm meets all constraints."""
    least, either, left, shortest = (
        setting(letters.LEFT_OUT, words) for words in (LEAST, EITHER, LEFT, SHORTEST)
    )
    m = margin(j.term, V)
    size, size_square = cite(SIZE, (), 1 - m)
    each = scale(decide(eq(ABS(1 - m) + 1 - m, 0), exists, size, size_square), 1 - DROPPED(j))
    no_longer = cut(at(shortest, {X: V}), add_up(each, j))
    return LeftOut(exists, least, either, cut(left, meets(exists, V)), no_longer)


def unchanged(of: LeftOut, beyond: Fact) -> Fact:
    """Return that ||X' - X^mm||^2 = 0, as a rival that is left out has a margin above 1."""
    shift, condition = REST - V, some(j)
    rows, empty = assume(condition), assume(condition.denied())
    reached = _reached(of.kept, of.either, beyond)
    t, part, less, toward = between(SOLUTION, of.exists, reached, shift, rows)
    stays = cut(at(of.least, {X: V + t * shift}), meets(toward, V + t * shift))
    gain = decide(ge(t * (shift @ shift) + 2 * (V @ shift), 0), stays, part)
    alike = decide(eq(shift @ shift, 0), gain, of.no_longer, no_shorter(shift), less)
    gone = _without_rivals(of.least, empty, of.no_longer, shift)
    return cases(alike, gone, condition)


def _end(claim: Said | None, beyond: Fact) -> None:
    """Conclude that X' is X^mm, as a rival that is left out has a margin above 1 under an X^mm."""
    exists, _ = suppose(FEASIBLE)
    same = unchanged(without_some(exists), cut(beyond, meets(exists, V)))
    conclude_each(claim, exists, same)


def _without_rivals(least: Fact, empty: Fact, no_longer: Fact, shift: Term) -> Fact:
    """Return that X' - X^mm is 0 if there are no rivals: both are no longer than 0."""
    none = decide(eq(total(1, j), 0), add_up(decide(ge(1, 0)), j), empty)
    short = cut(at(least, {X: as_term(0)}), scale(none, letters.short_by(j.term, as_term(0))))
    return decide(eq(shift @ shift, 0), short, no_longer, no_shorter(shift), no_shorter(REST + V))


@linked
def prove_others() -> str:
    """Prove that X^mm is the least matrix for the rivals of margin 1 alone."""
    claim = letters.same_without_others()
    *_, words = present(claim, "a claim").setting
    _end(claim, setting(present(claim, "a claim").setting, words))
    return "in any dimension: near X^mm only support vectors restrict"


@linked
def prove_low() -> str:
    """Prove that X^mm is the same without the tokens of least score if their margins exceed 1."""
    (beyond,) = suppose(NO_LOW_SUPPORT)
    _end(letters.same_without(), beyond)
    return "in any dimension: near X^mm only support vectors restrict"


@linked
def prove_no_lower() -> str:
    """Prove that the output of an input is no lower without its tokens of least score l.

    With the sums S of exp(-m) over all tokens and K over those that stay, and G the sum of exp(-m)
    times the score over the latter, the outputs are G/K and (G + l (S - K))/S. Their difference is
    (S - K)(G - l K)/(S K).
    """
    claim = present(letters.no_lower(), "a claim")
    some_out, at_most, lowest, rivals, best = (setting(claim.setting, x) for x in claim.setting)
    own, least = Over(OWNER, i.term), LEAST_SCORE(i)
    e, d = EXP(-margin(j.term, W(K))), DROPPED(j)
    power = cite(EXPONENTIAL, (), -margin(j.term, W(K)))[0]
    stays, out = product(at_most, power), product(some_out, power)
    kept, lost = total((1 - d) * e, j, own), total(d * e, j, own)
    above_kept = decide(gt(1 + kept, 0), add_up(stays, j, own))
    above = decide(gt(1 + kept + lost, 0), above_kept, add_up(out, j, own))
    unit_kept, over_kept = cite(RECIPROCAL, [above_kept], 1 + kept)
    unit, over = cite(RECIPROCAL, [above], 1 + kept + lost)
    gathered = BEST(i) + total((1 - d) * e * GAMMA(j), j, own)
    spare = add_up(product(stays, rivals), j, own)
    ahead = decide(ge(gathered, least * (1 + kept)), spare, best)
    gone = add_up(scale(lowest, e), j, own)
    parts = product(over, over_kept, add_up(out, j, own), ahead)
    units = (
        scale(unit, INV(1 + kept) * gathered),
        scale(unit_kept, INV(1 + kept + lost) * (gathered + least * lost)),
    )
    (sequent,) = claim.sequents
    goal = sequent.proposition
    whole = scale(gone, INV(1 + kept + lost))
    conclude(decide(goal, parts, *units, whole, degree=1), sequent)
    return "at every X, for any number of inputs and tokens"
