"""Theorems of analysis that linked proofs cite, in the form of `attsvm.theory.proof.lemmas`.

They are trusted like the lemmas of the core. Each is a theorem of a textbook, stated in full: its
hypotheses are facts that a citation gives.
"""

from attsvm.errors import ProofError
from attsvm.theory.proof.facts import Sequent, ge, gt
from attsvm.theory.proof.lemmas import Instance, Named, Needed, continuous, lemma
from attsvm.theory.proof.terms import REAL, Function, Letter, Term, letters_of


@lemma("continuity at a point", "Rudin, Principles of Mathematical Analysis, definition 4.5")
def CONTINUITY(named: Named, name: str, f: Function, x: Letter, point: Term, off: Term) -> Instance:
    """If f is continuous and off > 0, some d > 0 has |f(x) - f(a)| <= off where |x - a| <= d.

    The number d is a function of the letters of the point a and of off.
    """
    own = sorted(letters_of([point, off]), key=repr)
    if x.sort != REAL or x in own:
        raise ProofError("a letter of a continuous function is no free real", value=repr(x))
    d = named(name, own)(*own)
    near = frozenset({ge(x, point - d), ge(point + d, x)})
    change = f(x) - f(point)
    return Instance(
        (Needed(continuous(f)), Needed(gt(off, 0))),
        (
            Sequent(gt(d, 0)),
            *(Sequent(ge(off, sign * change), near) for sign in (1, -1)),
        ),
    )
