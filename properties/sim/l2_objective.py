"""The l2 objective of the introduction and its rewritten form are the same function.

"we give ... the optimization problem of l2 loss as min_X ||D(X)^-1 exp(A1 X A2^T) A3 Y - B||_2^2
... We first convert the matrix representation into a vector representation ... Then, we have the
simplified optimization problem min_x ||max(D(x)^-1 exp(A x)) A3 Y - B||_2^2" with A = A1 kron A2, x
= vec(X).

mat(v) is the matrix with the entries of v row by row. `literal-1`: with n = 2, d = 1, A1, A2, X and
B zero, A3 = (1, 0), Y = 1 the objectives are ||(1/2, 1/2)||^2 = 1/2 and ||(1/2, 0)||^2 = 1/4; so
max is a misprint of mat. `literal-2`: D(X) has n columns, or d as printed, and exp(A x) has n^2
entries: they fit only if n = 1. `amended`: D(X) kron I_n divides entry (j, t) by the sum of row j.
So the matrices inside both norms are equal, and the objectives with them, whether ||.||_2 is the
Frobenius or the spectral norm. Only the Frobenius norm makes it a "single regression" in a vector.

Proof (`symbolic.sim.l2_objective`): entry (j, t) of vec is divided by the j-th sum, which n entries
share.
"""

from attsvm.theory import Integer, Matrix, Reading, Statement, changed, definition, stated
from attsvm.theory.types import Comparison, Namespace, Numbers, Values
from properties.sim import SOURCE
from properties.sim._support.attention import SENTENCE, attention


@definition(r"D(x)^{{-1}} \exp(\mathrm{{A}} x)")
def divided_powers(
    m: Namespace, n: int, A1: Numbers, A2: Numbers, X: Numbers, divided: str
) -> Numbers:
    """Return D(x)^-1 exp(A x) for D(x) = D(X) kron I_n, or for the sum of all entries as D(x)."""
    powers = m.exp(m.kron(A1, A2) @ m.vec(X))
    if divided == "whole":
        return powers / m.sum(powers)
    D = m.kron(m.diagonal(m.sums(m.exp(A1 @ X @ A2.T))), m.identity(n))
    return powers / m.sums(D)  # D is diagonal: its row sums are its diagonal


def rewritten(m: Namespace, v: Values, read: str, divided: str) -> Numbers:
    """Return mat(D(x)^-1 exp(A x)) A3 Y; mat works by rows or columns, or is the largest entry."""
    x = divided_powers(m, v.n, v.A1, v.A2, v.X, divided)
    if read == "max":
        return m.max(x) * (v.A3 @ v.Y)
    weights = m.mat(x, v.n)
    return (weights.T if read == "columns" else weights) @ v.A3 @ v.Y


def same_objective(
    m: Namespace, v: Values, read: str = "rows", divided: str = "rows"
) -> Comparison:
    """Return that both objectives are equal.

    ||D(X)^-1 exp(A1 X A2^T) A3 Y - B||_F^2 = ||mat(D(x)^-1 exp(A x)) A3 Y - B||_F^2
    """
    left = attention(m, v.A1, v.A2, v.X, v.A3, v.Y) - v.B
    right = rewritten(m, v, read, divided) - v.B
    return m.equal(m.sum(m.square(left)), m.sum(m.square(right)))


@stated("D(x)^-1 exp((A1 kron A2) x) is defined, that is $formula")
def divisor_fits(m: Namespace, v: Values, divisor: str) -> Comparison:
    """D(x) has as many columns as exp((A1 kron A2) x) has entries."""
    columns = {"D(X)": v.n, "printed": v.d, "D(X) kron X": v.n * v.d}[divisor]
    return m.equal(m.exact(1) * columns, m.exact(1) * v.n * v.n)


ZERO = [[0], [0]]
HALVED = {"A1": ZERO, "A2": ZERO, "A3": [[1], [0]], "X": [[0]], "Y": [[1]], "B": ZERO}
"""Attention is 1/2 each, the values are 1 and 0."""
TOLD = {"A1": [[1], [0]], "A2": [[1], [0]], "A3": [[1], [0]], "X": [[1]], "Y": [[1]], "B": ZERO}
"""The first query tells the tokens apart; the second one does not."""
OTHER_FORMS = {
    "mat of columns": changed(read="columns", examples=[TOLD]),
    "divided by the sum of all": changed(divided="whole", examples=[TOLD]),
}

OBJECTIVE = Statement(
    "sim/l2-objective",
    rests_on=("sim/attention-shape", "sim/tensor-trick"),
    source=SOURCE,
    place="Section 1, l2 loss",
    printed="min_x ||max(D(x)^-1 exp(A x)) A3 Y - B||_2^2",
    variables={**SENTENCE, "B": Matrix("n", "d")},
    conclusion=same_objective,
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            read={"max": "the largest entry", "D(x)": "D(X) kron I_n"},
            constants={"read": "max"},
            examples=(HALVED,),
            siblings=OTHER_FORMS,
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            read={"D(x)": "D(X)"},
            variables={
                **dict.fromkeys(("A1", "A2", "A3", "X", "Y", "B")),
                "n": Integer(1, 4, beyond=True),
                "d": Integer(1, 4, beyond=True),
            },
            conclusion=divisor_fits,
            constants={"divisor": "D(X)"},
            examples=({"n": 2, "d": 1},),
            siblings={
                "D(X) of the printed size d x d": changed(divisor="printed"),
                "D(X) kron X": changed(divisor="D(X) kron X"),
            },
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.sim.l2_objective:prove",
            depends_on=("sim/tensor-trick:literal",),
            examples=(HALVED, TOLD),
            siblings={**OTHER_FORMS, "max": changed(read="max", examples=[HALVED])},
        ),
    },
)
