"""The output x^att of attention and the tokens x_t, compared along a vector u, for any n tokens.

The numbers compared are a_t = <u, x_t>, and the weights s_t of softmax are positive with sum 1.
"""

from attsvm.theory.proof.facts import eq, ge, gt
from attsvm.theory.proof.lemmas import RECIPROCAL
from attsvm.theory.proof.linked import conclusion_of, linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    at,
    attained,
    beyond,
    cite,
    decide,
    exchange,
    one_of_sum,
    scale,
    split,
    square,
)
from attsvm.theory.proof.terms import EXP, INV, SQRT, as_term, least, most, substituted, total
from properties._support.risk_formulas import SEVERAL
from properties.tf import convex_combination as statement
from properties.tf.convex_combination import COMBINATION
from symbolic.attended import best_gap
from symbolic.facts import (
    cauchy,
    end,
    formula_of,
    index,
    letters_in,
    powers_rise,
    product,
    root,
    softmax,
    some_of,
    squares,
)
from symbolic.tf.softmax_range import AFTER, FIRST, mean_odds, odds_of, t
from symbolic.tf.softmax_range import u as other

k, column = index("k", "d"), index("l", "d")


@linked
def prove_hull() -> str:
    """Prove that <u, x^att> is at most the largest a_t."""
    v = letters_in(COMBINATION, "literal-1")
    a, logit = (v.X @ v.u).entry((t.term,)), (v.X @ (v.W @ v.z)).entry((t.term,))
    weights = softmax(logit, t, some_of(COMBINATION, "literal-1", "T"))
    short = add_up(product(weights.positive, best_gap(a, t)), t)
    entry = v.X.entry((t.term,), (k.term,)) * v.u.entry((k.term,)) * EXP(logit)
    swapped = scale(exchange(entry, k, t), INV(weights.sum))
    (conclusion,) = conclusion_of(formula_of(COMBINATION, "literal-1")).sequents
    one = scale(weights.one(t), most(a, t))
    end(COMBINATION, "literal-1", by=[decide(conclusion.proposition, short, swapped, one)])
    return "for any T, d and W: softmax of one token is 1, and of more it is positive with sum 1"


@linked
def prove_inside() -> str:
    """Prove that <u, x^att> is below the largest a_t if two differ."""
    v, formula = letters_in(COMBINATION, "sharp-1"), formula_of(COMBINATION, "sharp-1")
    a, logit = (v.X @ v.u).entry((t.term,)), (v.X @ (v.W @ v.z)).entry((t.term,))
    (apart,) = suppose(statement.APART, formula)
    some = some_of(COMBINATION, "sharp-1", "T")
    weights, gap = softmax(logit, t, some), best_gap(a, t)
    worst, is_worst = attained("worst", least(a, t), some)
    places = {t: worst()}
    each = at(one_of_sum(product(weights.positive, gap), t), places)
    end(
        COMBINATION,
        "sharp-1",
        by=[
            decide(
                gt(total(weights.weight * (most(a, t) - a), t), 0),
                *(each, at(weights.positive, places), apart, is_worst),
            )
        ],
    )
    return "for any T, d and W"


@linked
def prove_short() -> str:
    """Prove that <u, x_1 - x^att>/(1 - s_1) lies between the least gap and the largest one.

    A gap is <u, x_1 - x_t> for another token x_t.
    """
    reading = "amended"
    v, formula = letters_in(COMBINATION, reading), formula_of(COMBINATION, reading)
    settings = conclusion_of(formula).setting
    axis = (
        setting(settings, "the first index of the axis T has the position 0"),
        setting(settings, "the other indices of the axis T have later positions"),
    )
    (ahead,), (two,) = (suppose(x, formula) for x in (statement.EXPOSED, SEVERAL))
    a, logit = (v.X @ v.u).entry, (v.X @ (v.W @ v.z)).entry
    weights = softmax(logit((t.term,)), t, decide(gt(total(1, t), 0), two))
    weight = substituted(weights.weight, {t: AFTER(other)})
    gap = a((FIRST,)) - a((AFTER(other),))
    positive = at(weights.positive, {t: AFTER(other)})
    low, high = beyond("least", gap, other), beyond("most", gap, other)
    count = split(as_term(1), t, *axis)
    some = decide(gt(total(1, other), 0), count, two)
    sums = (
        add_up(decide(gt(weight * gap, 0), positive, ahead, low), other, None, some),
        add_up(product(positive, low), other),
        add_up(product(positive, high), other),
    )
    goals = conclusion_of(formula).sequents
    facts = [decide(goal.proposition, fact) for goal, fact in zip(goals, sums, strict=True)]
    end(COMBINATION, reading, by=facts)
    return "for any T >= 2, d and W"


@linked
def prove_far() -> str:
    """Prove that (1 - s_1)/s_1 >= (T - 1) exp(-||x_1 - mean|| ||z|| ||W||).

    `mean` is the mean of the other tokens. The mean of the logits of others less that of x_1 is
    -<x_1 - mean, W z>.
    """
    reading = "sharp-2"
    v, formula = letters_in(COMBINATION, reading), formula_of(COMBINATION, reading)
    Wz, X = (v.W @ v.z).entry((k.term,)), v.X.entry
    odds = odds_of(COMBINATION, reading, lambda place: (v.X @ (v.W @ v.z)).entry((place,)))
    (two,) = suppose(SEVERAL, formula)
    unit, _ = cite(RECIPROCAL, [decide(gt(odds.number, 0), two)], odds.number)
    others = total(X((AFTER(other),), (k.term,)), other)
    y = X((FIRST,), (k.term,)) - others * INV(odds.number)
    a = -total(y * Wz, k)
    swapped = exchange(X((AFTER(other),), (k.term,)) * Wz, k, other)
    mean = decide(
        eq(total(odds.other - odds.first, other), odds.number * a),
        *(swapped, scale(odds.count, odds.first), scale(unit, total(others * Wz, k))),
        degree=1,
    )
    low = mean_odds(odds, a, mean)
    # <y, W z>^2 is at most ||y||^2 ||z||^2 ||W||^2
    entry, z = v.W.entry((k.term,), (column.term,)), v.z.entry((column.term,))
    rows = add_up(cauchy(entry, z, column), k)
    length, size = squares(y, k), cauchy(y, Wz, k)
    matrix, query = total(total(entry**2, column), k), total(z**2, column)
    s = total(y**2, k) * query * matrix
    bound = decide(ge(s, a**2), size, length, rows)
    root_, root_square = root(s, decide(ge(s, 0), bound, square(a)))
    order = decide(ge(a, -SQRT(s)), bound, root_, root_square)
    (goal,) = conclusion_of(formula).sequents
    end(
        COMBINATION,
        reading,
        by=[decide(goal.proposition, low, two, powers_rise(-SQRT(s), a, order), odds.equal)],
    )
    return "for any T >= 2, d and W"
