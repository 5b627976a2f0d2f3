"""Cross-entropy over several classes: its bounds by the margins of tokens."""

from attsvm.theory.proof.facts import Fact, ge, gt
from attsvm.theory.proof.linked import conclusion_of, linked, suppose
from attsvm.theory.proof.rules import add_up, at, attained, beyond, conclude, decide, scale
from attsvm.theory.proof.terms import EXP, LOG, Term, least, most, substituted, total
from attsvm.theory.types import Values
from properties.sim.cross_entropy import LOSS
from properties.sim.cross_entropy.hypotheses import WINS
from symbolic.facts import (
    end,
    formula_of,
    index,
    letters_in,
    logs_rise,
    power,
    powers_rise,
    product,
    softmax,
    some_of,
)

t, c = index("t", "n"), index("c", "C")


def margin(v: Values) -> Term:
    """Return the margin of token t against class c."""
    return v.M.entry((t.term,), (c.term,))


def loss(margins: Term) -> Term:
    """Return the cross-entropy of margins against the classes."""
    return LOG(1 + total(EXP(-margins), c))


def falls(low: Term, high: Term, order: Fact) -> Fact:
    """Return that the loss at `low` is at least that at `high`, as low <= high."""
    more = add_up(powers_rise(-high, -low, decide(ge(-low, -high), order)), c)
    positive = decide(gt(1 + total(EXP(-high), c), 0), add_up(power(-high), c))
    first, second = (1 + total(EXP(-margins), c) for margins in (high, low))
    return logs_rise(first, second, positive, decide(ge(second, first), more))


def bound(v: Values, reading: str) -> Fact:
    """Return that the loss is at least that of the best margins."""
    some = some_of(LOSS, reading, "n")
    weights = softmax((v.A @ v.x).entry((t.term,)), t, some)
    best = most(margin(v), t)
    each = add_up(product(weights.positive, beyond("most", margin(v), t)), t)
    mean = total(weights.weight * margin(v), t)
    return falls(mean, best, decide(ge(best, mean), each, scale(weights.one(t), best)))


@linked
def prove_margins() -> str:
    """Prove that the loss is at least that of the best margins."""
    end(LOSS, "sharp", by=[bound(letters_in(LOSS, "sharp"), "sharp")])
    return "margins of an output are means of those of its tokens, for any n, D and C"


@linked
def prove_token() -> str:
    """Prove that the loss is at least that of the best token, if one token has all best margins."""
    reading = "amended-1"
    v, some = letters_in(LOSS, reading), some_of(LOSS, reading, "n")
    (wins,) = suppose(WINS, formula_of(LOSS, reading))
    best = most(margin(v), t)
    short = most(best - margin(v), c)
    winner, is_winner = attained("winner", least(short, t), some)
    place = {t: winner()}
    own = substituted(margin(v), place)
    none = decide(ge(own, best), wins, is_winner, at(beyond("most", best - margin(v), c), place))
    better = falls(best, own, none)
    token = at(beyond("least", loss(margin(v)), t), place)
    (conclusion,) = conclusion_of(formula_of(LOSS, reading)).sequents
    conclude(decide(conclusion.proposition, bound(v, reading), better, token), conclusion)
    return "a token with the best margins bounds the loss from below, for any n, D and C"
