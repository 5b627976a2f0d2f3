"""If an input's other tokens share one score, its risk falls as they lose attention."""

from attsvm.theory.proof.facts import ge, gt
from attsvm.theory.proof.linked import linked, suppose
from attsvm.theory.proof.rules import assume, at, beyond, decide
from attsvm.theory.proof.terms import Letter, least
from properties._support.risk_formulas import DECREASES
from properties.mm.optimal_tokens import MORE, ONE_RIVAL, TOKENS
from symbolic.attended import LOSS, attends, falls, i, mean_above, off_bound, t
from symbolic.facts import end, formula_of, letters_in, some_of


@linked
def prove() -> str:
    """Prove that the deficit is the gap times the weight off the optimal tokens."""
    v, formula = letters_in(TOKENS, "amended-2"), formula_of(TOKENS, "amended-2")
    (decreases,) = suppose(DECREASES, formula)
    each_input = Letter("each n", i.sort)
    (more,), (rival,) = (suppose(one, formula) for one in (MORE, ONE_RIVAL))
    some = some_of(TOKENS, "amended-2", "T")
    score = v.gamma.entry((i.term,), (t.term,))
    p, q = (
        attends(score, (v.X.row((i.term,)) @ (v.W.T @ prompt)).entry((t.term,)), some)
        for prompt in (v.p, v.q)
    )
    gap, wide = p.best - score, p.best - least(score, t)
    letter = {one: {"n": i, "T": t}[one.sort.name] for one in rival.letters}
    low = decide(ge(gap, wide), at(rival, letter), assume(gt(gap, 0)))
    wide_at_least = decide(ge(wide, gap), beyond("least", score, t))
    at_least = off_bound(p.gap, p.weight_positive, t, low, 1)
    at_most = off_bound(q.gap, q.weight_positive, t, wide_at_least, -1)
    wide_positive = decide(ge(wide, 0), wide_at_least, p.gap, some)
    order = decide(
        ge(p.deficit, q.deficit), at_least, at_most, wide_positive, at(more, {each_input: i})
    )
    drop = falls(decreases, LOSS, p.best - p.deficit, p.best - q.deficit, order)
    end(TOKENS, "amended-2", by=[mean_above(drop, some_of(TOKENS, "amended-2", "n"))])
    return "for every decreasing loss, where l is no higher, in each input, any n, T and d"
