"""A strict lower bound of the risk: softmax is positive, so a worse token lowers the output."""

from collections.abc import Callable
from typing import Any

from attsvm.theory import Statement
from attsvm.theory.proof.facts import Fact, gt
from attsvm.theory.proof.linked import linked, suppose
from attsvm.theory.proof.rules import at, attained, cut, decide, one_of_sum
from attsvm.theory.proof.terms import Letter, least, most, substituted
from attsvm.theory.types import Values
from properties._support.risk_formulas import DECREASES, DECREASING, TWO_SCORES
from properties.mm import optimal_tokens
from properties.tf.lemma_2 import LEMMA
from symbolic.attended import LOSS, Input, attends, falls, i, mean_above, mean_positive, t
from symbolic.facts import end, formula_of, letters_in, product, some_of


def attention_in(statement: Statement, reading: str, logits: Callable[[Any], Any]) -> Input:
    """Return attention in the inputs of a reading, by the logits of its letters."""
    v = letters_in(statement, reading)
    some = some_of(statement, reading, "T")
    return attends(v.gamma.entry((i.term,), (t.term,)), logits(v).entry((t.term,)), some)


def by_prompt(v: Values) -> Any:
    """Return the logits of input i by the prompt p."""
    return v.X.row((i.term,)) @ (v.W.T @ v.p)


def by_query(v: Values) -> Any:
    """Return the logits of input i by its query."""
    return v.X.row((i.term,)) @ (v.W @ v.Z.row((i.term,)))


def each_drop(one: Input, decreases: Fact) -> Fact:
    """Return that the loss of an input is at least that of its best score."""
    return falls(decreases, LOSS, one.best - one.deficit, one.best, one.short())


@linked
def prove_not_below() -> str:
    """Prove that L(p) >= L_* for every prompt."""
    statement, reading = optimal_tokens.TOKENS, "literal-1"
    one = attention_in(statement, reading, by_prompt)
    (decreases,) = suppose(DECREASES, formula_of(statement, reading))
    mean = mean_above(each_drop(one, decreases), some_of(statement, reading, "n"))
    end(statement, reading, by=[mean])
    return "for every decreasing loss and any n, T, d: l(best - delta) >= l(best)"


def above(statement: Statement, reading: str, logits: Callable[[Any], Any]) -> None:
    """Prove that the risk is above L_*, as some input has two tokens of different scores.

    It attends to its worst token, which has a gap.
    """
    one = attention_in(statement, reading, logits)
    formula = formula_of(statement, reading)
    (decreases,), (differ,) = suppose(DECREASING, formula), suppose(TWO_SCORES, formula)
    some_input, some_token = (some_of(statement, reading, axis) for axis in "nT")
    spread = one.best - least(one.score, t)
    widest, is_widest = attained("widest", most(spread, i), some_input)
    worst, is_worst = attained("worst", least(one.score, t), some_token)
    each = one_of_sum(product(one.weight_positive, one.gap), t)
    places = {i: widest(), t: worst(widest())}
    weight, apart = at(one.weight_positive, places), at(is_worst, {i: widest()})
    short = decide(
        gt(substituted(one.deficit, places), 0), at(each, places), weight, differ, is_widest, apart
    )
    best = substituted(one.best, places)
    values = {Letter("a"): best - substituted(one.deficit, places), Letter("b"): best}
    drop = cut(at(decreases, values), short)
    mean = mean_positive(each_drop(one, decreases), drop, widest(), some_input)
    end(statement, reading, by=[mean])


@linked
def prove() -> str:
    """Prove that L(W) > L_* for every W if some input has two tokens of different scores."""
    above(LEMMA, "amended", by_query)
    return "for every strictly decreasing loss and any n, T, d: l(best - delta) > l(best)"


@linked
def prove_by_prompt() -> str:
    """Prove that L(p) > L_* for every prompt p if some input has two different scores."""
    above(optimal_tokens.TOKENS, "amended-1", by_prompt)
    return "for every strictly decreasing loss and any n, T, d: l(best - delta) > l(best)"
