"""Definition 3.3 for all sizes: f is a probability vector, <f, h> an entry of the attention.

The logits of f are entries of (A1 kron A2) vec(X), those of the attention entries of A1 X A2^T:
both are one double sum over the entries of X.
"""

from attsvm.theory.proof.arrays import LETTERS, number
from attsvm.theory.proof.facts import Fact, eq, ge, note
from attsvm.theory.proof.linked import conclusion_of, linked, suppose
from attsvm.theory.proof.rules import add_up, at, bounds, conclude, decide, exchange, inside, scale
from attsvm.theory.proof.terms import EXP, INV, Letter, Term, total
from attsvm.theory.types import Values
from properties.sim._support.attention import block_logits
from properties.sim.definition_3_3 import DEFINITION, SHARED
from symbolic.facts import end, formula_of, index, letters_in, softmax, some_of
from symbolic.sim.tensor_trick import turned

j, t = index("n", "n"), index("t", "n")
r, c, e = index("r", "d"), index("c", "d"), index("d1", "d")


def logits(v: Values) -> Term:
    """Return the logit of token t in row j."""
    return number(block_logits(LETTERS, v.n, v.A1, v.A2, v.X)).entry((j.term,), (t.term,))


@linked
def prove_vector() -> str:
    """Prove that each row of f has entries of at least 0 and the sum 1."""
    v = letters_in(DEFINITION, "literal-1")
    some = some_of(DEFINITION, "literal-1", "n")
    f = softmax(logits(v), t, some)
    least = bounds(decide(ge(f.weight, 0), f.positive), "least", f.weight, t, some)
    lowest = least.proposition.term
    end(
        *(DEFINITION, "literal-1"),
        by=[bounds(least, "least", lowest, j, some), f.one(t)],
    )
    return "f > 0 has sum 1, for any n and d"


def same_weights(v: Values) -> tuple[Term, Fact]:
    """Return the logits of the attention, and that each power of f is one of the attention."""
    fact, own = turned(v, j, t, r, c), logits(v)
    theirs = (v.A1 @ v.X @ v.A2.T).entry((j.term,), (t.term,))
    hole = Letter("hole")
    same = decide(eq(own, theirs), fact)
    return theirs, inside(same, own, theirs, EXP(hole.term), hole)


def entries(reading: str, values: Values, shared: Fact | None = None) -> None:
    """Prove that <f_j, A3 y_e> is entry (j, e) of the attention with these values.

    Args:
        reading: a reading of the definition.
        values: A3, or what is equal to it.
        shared: that an entry of A3 is one of the values, if they have another name.
    """
    v = letters_in(DEFINITION, reading)
    theirs, same = same_weights(v)
    hole, powers = Letter("hole"), (EXP(logits(v)), EXP(theirs))
    own_sum, their_sum = (total(one, t) for one in powers)
    inverse = inside(add_up(same, t), own_sum, their_sum, INV(hole.term), hole)
    V, Y = values.entry((t.term,), (c.term,)), v.Y.entry((c.term,), (e.term,))
    h = total(v.A3.entry((t.term,), (c.term,)) * Y, c)
    whole = add_up(scale(same, h), t)
    parts = [scale(whole, INV(own_sum)), scale(inverse, total(powers[1] * h, t))]
    if shared is not None:
        each = add_up(add_up(scale(shared, powers[1] * Y), c), t)
        parts.append(scale(each, INV(their_sum)))
    parts.append(scale(exchange(powers[1] * V * Y, c, t), INV(their_sum)))
    (conclusion,) = conclusion_of(formula_of(DEFINITION, reading)).sequents
    conclude(note("entries of the attention", decide(conclusion.proposition, *parts)), conclusion)


@linked
def prove() -> str:
    """Prove the entries of the attention."""
    entries("literal-2", letters_in(DEFINITION, "literal-2").A3)
    return "<f_j, A3 y_i> is entry (j, i) of D^-1 exp(A1 X A2^T) A3 Y, for any n and d"


@linked
def prove_shared() -> str:
    """Prove the statement for Att(X, Y), whose values are its keys: A_3 = A_2."""
    (shared,) = suppose(SHARED, formula_of(DEFINITION, "amended"))
    letters = {x.sort.name: x for x in shared.letters}
    shared = at(shared, {letters["n"]: t, letters["d"]: c})
    entries("amended", letters_in(DEFINITION, "amended").A2, shared)
    return "<f_j, A3 y_i> is entry (j, i) of D^-1 exp(A1 X A2^T) A2 Y; A3 is A2"
