"""The tensor trick, (A1 kron A2) vec(X) = vec(A1 X A2^T) with row-major vec, block by block.

Both sides sum over the entries of X. The place of X_rc in vec(X), and that of A1_jr A2_tc in row
(j, t) of the Kronecker product, are those of section 3.1.
"""

from attsvm.theory.proof.facts import Fact, note
from attsvm.theory.proof.linked import conclusion_of, linked
from attsvm.theory.proof.rules import at, conclude, decide, exchange
from attsvm.theory.proof.terms import Letter
from attsvm.theory.types import Values
from properties.sim.orientation import MARGINS
from properties.sim.tensor_trick import TRICK
from symbolic.facts import formula_of, index, letters_in


def turned(v: Values, j: Letter, t: Letter, r: Letter, c: Letter) -> Fact:
    """Return that entry t of block j of (A1 kron A2) vec(X) is entry (j, t) of A1 X A2^T.

    Args:
        v: letters for A1, A2 and X.
        j: a row of A1.
        t: a row of A2.
        r: a column of A1.
        c: a column of A2.
    """
    J, T, row, column = ((one.term,) for one in (j, t, r, c))
    body = v.A1.entry(J, row) * v.X.entry(row, column) * v.A2.entry(T, column)
    return note("both orders of summing over rows and columns of X agree", exchange(body, r, c))


def conclude_trick(reading: str, axes: str) -> None:
    """Conclude a reading: both sides sum over the entries of X, in two orders.

    Args:
        reading: a reading of the trick.
        axes: those of rows of A1 and A2, and of columns of A1 and A2.
    """
    fact = turned(letters_in(TRICK, reading), *map(index, "jtrc", axes))
    (conclusion,) = conclusion_of(formula_of(TRICK, reading)).sequents
    places = sorted(conclusion.proposition.letters, key=lambda x: x.name[1:])
    conclude(at(fact, dict(zip(map(index, "jt", axes), places, strict=False))), conclusion)


@linked
def prove() -> str:
    """Prove the trick for matrices of the same size, for all sizes."""
    conclude_trick("literal", "nndd")
    return "(A1 kron A2) vec(X) = vec(A1 X A2^T) for all sizes, block j giving row j"


@linked
def prove_of_two_sizes() -> str:
    """Prove the trick for matrices of any two sizes."""
    conclude_trick("sharp", "nkdl")
    return "(A1 kron A2) vec(X) = vec(A1 X A2^T) for all sizes, block j giving row j"


@linked
def prove_orientation() -> str:
    """Prove that the logits of definition 3.3 at X are key-query features at X^T."""
    (conclusion,) = conclusion_of(formula_of(MARGINS, "amended-1")).sequents
    fact = decide(conclusion.proposition)
    conclude(note("both sides are one sum over the entries of X", fact), conclusion)
    return "(A_j vec(X))_o - (A_j vec(X))_t = (a_o - a_t)^T X^T a_j, by the trick for all sizes"
