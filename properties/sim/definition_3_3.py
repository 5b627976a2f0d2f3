"""Definition 3.3: f(x)_{j0} = u / <u, 1>, u = exp(A_{j0} x), is a row of the attention matrix.

h(y)_{i0} = A_3 y_{i0}, with y_{i0} the i0-th column of the value matrix (definition 3.4). A_{j0} is
block j0 of A1 kron A2 and x = vec(X).

Nothing says that A_3 = A_2, and the data set of section 1 has no A_3: with n = d = 1, A_2 = 0 and
A_3 = Y = 1, <f, h> is 1 and Att is 0. Row j0 of A1 is the query and stands left of X, see
`sim/orientation`. No later token is masked, as a causal model would.

The proofs in `symbolic.sim.definition_3_3` are for all sizes, and run the formulas below on symbols
for small n and d. Softmax divides positive numbers by their sum, so that it is positive with sum 1.
And sum_t f_t (sum_c V_tc y_c) is sum_c (sum_t f_t V_tc) y_c, where f is row j0 of D(X)^-1 exp(A1 X
A2^T) by the tensor trick.
"""

from attsvm.theory import Hypothesis, Matrix, Meeting, Reading, Statement, changed
from attsvm.theory.types import Comparison, Namespace, Relation, Values
from properties.sim import SOURCE
from properties.sim._support.attention import SENTENCE, attention, block_attention


def entry(m: Namespace, v: Values, values: str = "A3", transposed: bool = False) -> Comparison:
    """Return that <f_{j0}, h_{i0}> is entry (j0, i0) of the attention with these values."""
    f = block_attention(m, v.n, v.A1, v.A2, v.X)
    products = (f.T if transposed else f) @ (v.A3 @ v.Y)
    return m.equal(products, attention(m, v.A1, v.A2, v.X, v.A3 if values == "A3" else v.A2, v.Y))


def probability(m: Namespace, v: Values, along: str = "rows", power: int = 1) -> Relation:
    """Return that no entry of f is below 0, and that every row of f has sum 1.

    With `along` = "columns" the columns are summed, with `power` the powers of the entries.
    """
    f = block_attention(m, v.n, v.A1, v.A2, v.X)
    added = m.power(f if along == "rows" else f.T, power)
    return m.all_of(m.at_least(m.min(f), m.exact(0)), m.equal(m.sums(added), m.exact(1)))


OTHER_VALUES = {"A1": [[0]], "A2": [[0]], "A3": [[1]], "X": [[0]], "Y": [[1]]}
"""The key is 0, the value is 1."""
TWO = {"A1": [[1], [0]], "A2": [[1], [0]], "A3": [[1], [0]], "X": [[1]], "Y": [[1]]}
"""Two tokens; the first one, as a query, tells them apart."""
TRANSPOSED = changed(transposed=True, examples=[TWO])

SHARED = Hypothesis("A_3 = A_2", lambda m, v: m.equal(v.A3, v.A2), says="A3 = A2")

DEFINITION = Statement(
    "sim/definition-3.3",
    rests_on=("sim/tensor-trick",),
    source=SOURCE,
    place="Definition 3.3 with definition 3.4",
    printed="By using the above definitions, we formulate the attention as "
    "<f(x)_{l0,j0}, h(y)_{l0,i0}>",
    variables=SENTENCE,
    hypotheses=(SHARED,),
    conclusion=entry,
    readings={
        "literal-1": Reading(
            "proved",
            proof="symbolic.sim.definition_3_3:prove_vector",
            under=(),
            variables={"A3": None, "Y": None},
            conclusion=probability,
            examples=({"A1": [[0]], "A2": [[0]], "X": [[0]]},),
            siblings={
                "the weights that a token gets have sum 1": changed(along="columns"),
                "squares have sum 1": changed(power=2),
            },
        ),
        "literal-2": Reading(
            "proved",
            proof="symbolic.sim.definition_3_3:prove",
            depends_on=("sim/tensor-trick:literal",),
            under=(),
            examples=(OTHER_VALUES, TWO),
            siblings={"f as a column": TRANSPOSED, "values A2": changed(values="A2")},
        ),
        "literal-3": Reading(
            "refuted",
            fairness="strained",
            constants={"values": "A2"},
            under=(),
            examples=(OTHER_VALUES,),
            siblings={
                "f as a column": TRANSPOSED,
                "f as a column, values A3": changed(values="A3", transposed=True, examples=[TWO]),
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.sim.definition_3_3:prove_shared",
            depends_on=("sim/tensor-trick:literal",),
            constants={"values": "A2"},
            variables={
                "A3": Meeting(SHARED, Matrix("n", "d"), lambda A3, known: known["A2"].copy())
            },
            examples=(TWO,),
            siblings={"f as a column": TRANSPOSED},
        ),
    },
)
