"""The risk of a linear head falls along v q^T, if Y_i <z_i, q> > 0 for all inputs.

The scores gamma_it = Y_i <v, x_it> change along v q^T by the logits <x_it, v> <z_i, q>. So the
attended score of input i changes by Y_i <z_i, q> times the variance of <v, x_it> by attention.
docs/proofs/linear_head_landscape.md has consequences, and proves that such a q is necessary.
"""

from dataclasses import dataclass

from attsvm.theory.proof.arrays import LETTERS, falling
from attsvm.theory.proof.facts import Fact, eq, gt
from attsvm.theory.proof.lemmas import RECIPROCAL
from attsvm.theory.proof.linked import Said, conclusion_of, linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    at,
    attained,
    cite,
    conclude,
    decide,
    one_of_sum,
    scale,
    square,
)
from attsvm.theory.proof.terms import EXP, INV, Letter, Term, least, most, substituted, total
from properties._support.risk_formulas import TWO_SCORES
from properties.tf.linear_head_landscape import SLOPE
from properties.tf.linear_head_landscape.slopes import SIDE, SLOPED
from symbolic.attended import i, mean_positive, t
from symbolic.facts import formula_of, letters_in, power, product


@dataclass(frozen=True, slots=True)
class Tokens:
    """An input under attention."""

    value: Term  # <v, x_it>
    score: Term  # Y_i <v, x_it>
    label: Term  # Y_i
    along: Term  # <z_i, q>
    logit: Term  # the logit of a token
    weight: Term  # its attention
    unit: Fact  # that the sum of all exponentials of logits, times its inverse, is 1
    inverse: Fact  # that this inverse is above 0
    apart: Term  # <v, x_it> less its mean
    variance: Term  # the variance of <v, x_it>
    fall: Term  # -l' at the attended score

    @property
    def part(self) -> Term:
        """The summand of the input in n <-grad L(W), v q^T>."""
        return self.fall * self.label * self.along * self.variance

    def weight_positive(self) -> Fact:
        """Return that attention is above 0."""
        return decide(gt(self.weight, 0), power(self.logit), self.inverse)


def some(concluded: Said, axis: str) -> Fact:
    """Return that there is an input, or a token."""
    return setting(concluded.setting, f"there is an index of the axis {axis}")


def tokens_of(reading: str, concluded: Said) -> Tokens:
    """Return input i of a reading with its conclusion."""
    v = letters_in(SLOPE, reading)
    rows, query = v.X.row((i.term,)), v.Z.row((i.term,))
    logit = (rows @ (v.W @ query)).entry((t.term,))
    value, score = (rows @ v.v).entry((t.term,)), v.gamma.entry((i.term,), (t.term,))
    whole = total(EXP(logit), t)
    whole_positive = add_up(power(logit), t, None, some(concluded, "T"))
    unit, inverse = cite(RECIPROCAL, [whole_positive], whole)
    weight = EXP(logit) * INV(whole)
    apart = value - total(weight * value, t)
    return Tokens(
        value,
        score,
        v.Y.entry((i.term,)),
        LETTERS.dot(query, v.q).term,
        logit,
        weight,
        unit,
        inverse,
        apart,
        total(weight * apart**2, t),
        falling("loss")(total(weight * score, t)),
    )


def slope_by_spread(one: Tokens) -> Fact:
    """Return that <-grad L(W), v q^T> is the mean of the parts, as attention adds up to 1."""
    mean = one.value - one.apart
    second = total(one.weight * one.value**2, t)
    factor = one.fall * one.label * one.along
    each = decide(eq(factor * (second - mean**2), one.part), scale(one.unit, factor * mean**2))
    return scale(add_up(each, i), INV(total(1, i)))


@linked
def prove_slope() -> str:
    """Prove that <-grad L(W), v q^T> is the mean of -l' Y_i <z_i, q> v^T C_i v."""
    concluded = conclusion_of(formula_of(SLOPE, "sharp-1"))
    (conclusion,) = concluded.sequents
    fact = decide(conclusion.proposition, slope_by_spread(tokens_of("sharp-1", concluded)))
    conclude(fact, conclusion)
    return "for every differentiable loss, any n, T, d, W and q, and any numbers Y_i"


def varies(one: Tokens, weight: Fact, pick: Term, apart: Fact, best: Term, worst: Term) -> Fact:
    """Return that the variance in one input is above 0, as two of its scores are different.

    Args:
        one: input i.
        weight: that attention is above 0.
        pick: the input.
        apart: that the score of the best token is above that of the worst one.
        best: the best token.
        worst: the worst token.
    """
    spread = product(square(one.apart), weight)
    each = one_of_sum(spread, t)
    places = [{i: pick, t: token} for token in (best, worst)]
    x, y = (substituted(one.apart, place) for place in places)
    label = substituted(one.label, {i: pick})
    parts = [at(each, place) for place in places]
    weights = [at(weight, place) for place in places]
    sizes = decide(gt(x**2 + y**2, 0), apart, square(label), square(x + y))
    s, r = (fact.proposition.term for fact in weights)
    both = decide(gt(s * r, 0), *weights)
    variance = substituted(one.variance, {i: pick})
    return decide(gt(variance, 0), both, sizes, *parts, *weights)


@linked
def prove() -> str:
    """Prove that <-grad L(W), v q^T> > 0 if Y_i <z_i, q> > 0 and two scores of an input differ."""
    reading, formula = "amended", formula_of(SLOPE, "amended")
    concluded = conclusion_of(formula)
    one = tokens_of(reading, concluded)
    (falls,), (differ,), (side,) = (suppose(h, formula) for h in (SLOPED, TWO_SCORES, SIDE))
    some_input, some_token = (some(concluded, axis) for axis in "nT")
    range_ = most(one.score, t) - least(one.score, t)
    widest, is_widest = attained("widest", most(range_, i), some_input)
    best, is_best = attained("best", most(one.score, t), some_token)
    worst, is_worst = attained("worst", least(one.score, t), some_token)
    pick = widest()
    high, low = (substituted(one.score, {i: pick, t: f(pick)}) for f in (best, worst))
    apart = decide(
        gt(high - low, 0), differ, is_widest, at(is_best, {i: pick}), at(is_worst, {i: pick})
    )
    (each_input,) = side.letters
    on_side = at(side, {each_input: i.term})
    fall = at(falls, {Letter("a"): total(one.weight * one.score, t)})
    weight = one.weight_positive()
    variance = add_up(product(square(one.apart), weight), t)
    forward = decide(gt(one.fall * one.label * one.along, 0), fall, on_side)
    drop = product(forward, variance)
    spread = varies(one, weight, pick, apart, best(pick), worst(pick))
    positive = decide(gt(substituted(one.part, {i: pick}), 0), at(forward, {i: pick}), spread)
    mean = mean_positive(drop, positive, pick, some_input)
    (conclusion,) = concluded.sequents
    conclude(decide(conclusion.proposition, mean, slope_by_spread(one)), conclusion)
    return "for every loss with l' < 0 and any n, T, d and W; the Y_i may be any numbers"
