"""The tensor trick: with row-major vec, (A1 kron A2) vec(X) = vec(A1 X A2^T).

"We first convert the matrix representation into a vector representation by employing the well-known
tensor trick" (section 1). vec and kron are as in the notations of section 3.1. A = A1 kron A2 is in
R^{n^2 x d^2}; its j0-th block of n rows is A_{j0} (definition 3.1).

Entry t of block j0 is the sum over r and c of A1[j0, r] A2[t, c] X[r, c]. So the block is row j0 of
A1 X A2^T: A1 acts on the rows of X, A2 on its columns. With the columns of X stacked, or with X
transposed, the two sides differ from d = 2 on. Proof: `symbolic.sim.tensor_trick`.
"""

from attsvm.theory import Integer, Matrix, Reading, Statement, changed
from attsvm.theory.types import Comparison, Namespace, Values
from properties.sim import SOURCE


def trick(
    m: Namespace, v: Values, stacked: str = "rows", transposed: bool = False, swapped: bool = False
) -> Comparison:
    """Return that the blocks of (A1 kron A2) vec(X) are the rows of A1 X A2^T."""
    x = m.vec(v.X.T if stacked == "columns" else v.X)
    product = v.A1 @ (v.X.T if transposed else v.X) @ v.A2.T
    return m.equal(m.kron(v.A1, v.A2) @ x, m.vec(product.T if swapped else product))


ONE = {"A1": [[1]], "A2": [[1]], "X": [[1]]}
TURNED = {"A1": [[1, 0], [0, 1]], "A2": [[1, 0], [0, 1]], "X": [[0, 1], [0, 0]]}
OTHERS = {
    "vec of columns": changed(stacked="columns"),
    "block j0 is column j0": changed(swapped=True),
}

TRICK = Statement(
    "sim/tensor-trick",
    source=SOURCE,
    place="Section 1; notations and definition 3.1",
    printed="We first convert the matrix representation into a vector representation by employing "
    "the well-known tensor trick",
    variables={
        "n": Integer(1, 4),
        "d": Integer(1, 3),
        "k": Integer(1, 4),
        "l": Integer(1, 3),
        "A1": Matrix("n", "d"),
        "A2": Matrix("k", "l"),
        "X": Matrix("d", "l"),
    },
    conclusion=trick,
    readings={
        "literal": Reading(
            "proved",
            proof="symbolic.sim.tensor_trick:prove",
            variables={"k": None, "l": None, "A2": Matrix("n", "d"), "X": Matrix("d", "d")},
            examples=(ONE, TURNED),
            siblings={"X transposed": changed(transposed=True), **OTHERS},
        ),
        "sharp": Reading(
            "proved",
            strength="exact",
            proof="symbolic.sim.tensor_trick:prove_of_two_sizes",
            examples=(ONE, {"A1": [[1]], "A2": [[1, 2]], "X": [[1, 1]]}),
            siblings=OTHERS,
        ),
    },
)
