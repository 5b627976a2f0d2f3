"""Attention shape: the printed formula and the printed size of D(X) fit together.

Att(X, Y) = D(X)^-1 exp(A1 X A2^T) A2 Y with A1, A2 in R^{n x d} and X, Y in R^{d x d}. The parts
fit if each matrix has the size that its formula gives. In every product, one factor must have as
many columns as the next has rows.

D(X) has a row for each row of exp(A1 X A2^T), which is n x n. The block A_{l0,j0} of A1 kron A2 has
d^2 columns (definition 3.1). So literal-1 is true only for n = d, and literal-2 only for d = 1. The
sentence speaks of sizes alone, so an instance is n and d. In letters for n and d both sizes of each
pair are one polynomial (`symbolic.sim.attention_shape`).
"""

from itertools import pairwise

from attsvm.theory import Integer, Reading, Statement, changed, stated
from attsvm.theory.types import Namespace, Relation, Values
from properties.sim import SOURCE


@stated("D(X) is $rows x $columns, and D(X)^-1 exp(A1 X A2^T) A2 Y fits and is n x d")
def attention_fits(
    m: Namespace, v: Values, rows: str, columns: str, of: str = "logits", values: str = "A2"
) -> Relation:
    """D(X) has the stated size, and D(X)^-1 exp(A1 X A2^T) A2 Y fits and is n x d."""
    one = m.exact(1)
    n, d = one * v.n, one * v.d
    size = {"n": n, "d": d}
    D = size[rows], size[columns]
    summed = n if of == "logits" else d  # D(X) has an entry for each row of exp(A1 X A2^T)
    between = {"A2": [(n, d)], "A2^T": [(d, n)], "none": []}[values]
    factors = [(D[1], D[0]), (n, n), *between, (d, d)]  # D(X)^-1, exp(A1 X A2^T), A2, Y
    pairs = [(D[0], summed), (D[1], summed), (factors[0][0], n), (factors[-1][1], d)]
    pairs += [(left[1], right[0]) for left, right in pairwise(factors)]
    return m.all_of(*(m.equal(a, b) for a, b in pairs))


@stated(
    "A_{l0,j0} x is defined for x in R^{$length}$listed",
    symbols={"listed": {None: "", "d^2": ", as vec(X) is"}},
)
def block_fits(m: Namespace, v: Values, length: str, listed: str | None = None) -> Relation:
    """A block of A1 kron A2 times x of the stated length; and vec(X) is as long as listed."""
    one = m.exact(1)
    n, d = one * v.n, one * v.d
    size = {"d": d, "n": n, "d^2": d * d, "n d": n * d}
    columns = m.equal(d * d, size[length])
    return columns if listed is None else m.all_of(columns, m.equal(d * d, size[listed]))


WIDER, LONGER = {"n": 1, "d": 2}, {"n": 2, "d": 1}
OTHER_SIZES = {"n x d": changed(rows="n", columns="d"), "d x n": changed(rows="d", columns="n")}

SHAPE = Statement(
    "sim/attention-shape",
    source=SOURCE,
    place="Section 1, formula of the attention; definition 3.1 and lemma 3.13",
    printed="D(X) := diag(exp(A1 X A2^T) 1_n) in R^{d x d}",
    variables={"n": Integer(1, 32, beyond=True), "d": Integer(1, 32, beyond=True)},
    conclusion=attention_fits,
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            constants={"rows": "d", "columns": "d"},
            examples=(LONGER,),
            siblings=OTHER_SIZES,
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.sim.attention_shape:prove",
            constants={"rows": "n", "columns": "n"},
            examples=(WIDER, LONGER),
            siblings={
                "d x d": changed(rows="d", columns="d"),
                **OTHER_SIZES,
                "D(X) = diag(exp(X) 1_d)": changed(of="X"),
                "the product without A2": changed(values="none"),
                "the product with A2^T": changed(values="A2^T"),
            },
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            conclusion=block_fits,
            constants={"length": "d"},
            examples=(WIDER,),
            siblings={"x in R^n": changed(length="n"), "x in R^{nd}": changed(length="n d")},
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.sim.attention_shape:prove_vector",
            conclusion=block_fits,
            constants={"length": "d^2", "listed": "d^2"},
            examples=(WIDER, LONGER),
            siblings={
                "x in R^d": changed(length="d"),
                "x in R^{nd}": changed(length="n d"),
                "vec(X) in R^d": changed(listed="d"),
            },
        ),
    },
)
