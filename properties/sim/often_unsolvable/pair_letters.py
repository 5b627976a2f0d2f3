"""The letters of the proof about sentences of two words: sets of sentences, and their chances.

A pair is a sentence of two words, drawn with probability p. A set is a set of pairs in which no
word has two successors. For a set s let a(s) be the sum of its p. The sentences that are drawn are
the pairs of s with probability CHANCE(k, s), if k are drawn. SIGN(s, t) is (-1)^|s - t| if t is a
part of s, else 0.

The generating function is the product of 1 + sum (exp(p z) - 1), one factor for each word, the sum
over its pairs. Multiplied out it is sum_s sum_t SIGN(s, t) exp(a(t) z), the second conclusion.
The sentence of the reading says that j! [z^j] puts a(t)^j in place of exp(a(t) z), which gives the
right side of the first. (The coefficient of z^j in exp(a z), times j!, is a^j.)
"""

from attsvm.theory.proof.facts import K, Sequent, eq, ge, gt
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import EXP, REAL, STEP, Function, Letter, Sort, Term, same, total

PAIR, SET = Sort("pair", index=True), Sort("set of pairs", index=True)
q, other, _each = (Letter(name, PAIR) for name in ("q", "other pair", "each pair"))
s, t, rest = Letter("s", SET), Letter("t", SET), Letter("rest", SET)
z = Letter("z")
P, IN = Function("p", (PAIR,)), Function("in", (SET, PAIR))
LESS = Function("without", (SET, PAIR), SET)
"""The probability of a pair, whether it is in a set (1 or 0), and the set without it."""
SIGN, EMPTY = Function("sign", (SET, SET)), Function("empty", (SET,))
CHANCE, POWER = Function("chance", (STEP, SET)), Function("a^k", (STEP, SET))
NEW, EARLY = Function("new", (STEP, PAIR)), Function("early", (STEP, SET))
"""Whether word number k begins a pair, and whether words before word number k begin all pairs of a
set (1 or 0)."""
PRODUCT, WORDS = Function("product", (STEP, REAL)), Function("V", (), STEP)()
"""The product of the factors of the first k words at z, and the number of words."""


def sum_of(one: Term) -> Term:
    """Return the sum of the probabilities of the pairs of a set."""
    return total(IN(one, _each) * P(_each), _each)


def power(one: Term) -> Term:
    """Return exp(a z) for the sum a of a set."""
    return EXP(sum_of(one) * z.term)


SETS = {
    "a pair is in a set or not": Sequent(eq(IN(s, q) * IN(s, q), IN(s, q))),
    "the set without a pair has the other ones": Sequent(
        eq(IN(LESS(s, q), other), IN(s, other) * (1 - same(other, q)))
    ),
    "pairs of a part are pairs of the set": Sequent(eq(SIGN(s, t) * IN(t, q) * (1 - IN(s, q)), 0)),
    "in the set without the pair, a part has minus its sign if it lacks the pair, else 0": (
        Sequent(eq(IN(s, q) * (SIGN(LESS(s, q), t) + SIGN(s, t) * (1 - IN(t, q))), 0))
    ),
    "each part of the set without a pair is one part of the set, less this pair": Sequent(
        eq(
            IN(s, q) * total(SIGN(s, t) * IN(t, q) * same(rest, LESS(t, q)), t),
            IN(s, q) * SIGN(LESS(s, q), rest),
        )
    ),
}
"""Facts about finite sets."""
DRAWN = {
    "a set that is not empty has a pair": Sequent(
        gt(total(IN(s, q), q), 0), frozenset({ge(0, EMPTY(s))})
    ),
    "no sentence is drawn at first": Sequent(eq(CHANCE(0, s), EMPTY(s))),
    "the last sentence is a pair of the set, and the others have all pairs, or all but it": Sequent(
        eq(
            CHANCE(K.term + 1, s),
            total(IN(s, q) * P(q) * (CHANCE(K, s) + CHANCE(K, LESS(s, q))), q),
        )
    ),
    "a^0 is 1": Sequent(eq(POWER(0, t), 1)),
    "a^(k + 1) is a^k a": Sequent(eq(POWER(K.term + 1, t), POWER(K, t) * sum_of(t.term))),
}
MULTIPLIED = {
    "the product of no factors is 1": Sequent(eq(PRODUCT(0, z), 1)),
    "a word adds its factor": Sequent(
        eq(
            PRODUCT(K.term + 1, z),
            PRODUCT(K, z) * (1 + total(NEW(K, q) * (EXP(P(q) * z.term) - 1), q)),
        )
    ),
    "before the first word there is the empty set": Sequent(eq(EARLY(0, s), EMPTY(s))),
    "a set of one more word has no pair of it, or one": Sequent(
        eq(
            EARLY(K.term + 1, s),
            EARLY(K, s) + total(NEW(K, q) * IN(s, q) * EARLY(K, LESS(s, q)), q),
        )
    ),
    "a set without pairs of a word takes each of them in one way": Sequent(
        eq(
            NEW(K, q) * EARLY(K, rest) * total(IN(s, q) * same(rest, LESS(s, q)), s),
            NEW(K, q) * EARLY(K, rest),
        )
    ),
    "a set is empty or not": Sequent(eq(EMPTY(s) * EMPTY(s), EMPTY(s))),
    "one set is empty": Sequent(eq(total(EMPTY(s), s), 1)),
    "the empty set has no pair": Sequent(eq(EMPTY(s) * IN(s, q), 0)),
    "it is the only part of itself": Sequent(eq(EMPTY(s) * SIGN(s, t), EMPTY(s) * same(t, s))),
    "all words are the first V ones": Sequent(eq(EARLY(WORDS, s), 1)),
}


def series(strict: bool = True, more: int = 0) -> Said | None:
    """Return the claim on the chance that no word has two successors, and on the product."""
    signs = total(SIGN(s, t) * POWER(K, t), t)
    chance = eq(total(CHANCE(K, s), s), total(signs, s))
    product = eq(PRODUCT(WORDS, z), total(total(SIGN(s, t) * power(t.term), t), s))
    claims = Sequent(chance), Sequent(product)
    return Said(claims, SETS | DRAWN | MULTIPLIED) if strict and more == 0 else None
