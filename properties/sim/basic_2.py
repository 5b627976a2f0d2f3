"""Section 3.3, second bound: alpha is a sum of the exponentials.

In print A has lost its indices on the right. So it is read as the block (literal-1) and as the
whole matrix of n^2 rows (literal-2). The norm over the whole is at least that over a block. The
first block stands for all, because rows of A_1 may be exchanged.

All readings hold on the whole space, for any n and without any condition.

Proof (`symbolic.sim.basic_2`). With w = exp(A x) - exp(A y) Lagrange's identity reads n ||w||^2 -
(sum w)^2 = sum over pairs of (w_t - w_r)^2 >= 0. So sqrt(n) is attained exactly if all entries of w
are equal: by equal tokens, for every n and every pair of points. Other tokens attain it as well: A
= [[1, 0], [1, 1]], x = (1, 0), y = 0.
"""

from attsvm.theory import Reading, Statement, changed
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.sim import SOURCE
from properties.sim._support.bounds import BLOCKS, ONE_TOKEN, POINTS
from properties.sim._support.entry import on_line

EQUAL = on_line([1, 1, 1], x=0, y=1)
MIXED = on_line([1, -1], x=0, y=1)


def change(m: Namespace, A: Numbers, v: Values) -> Numbers:
    """Return exp(A x) - exp(A y)."""
    return m.exp(A @ v.x) - m.exp(A @ v.y)


def sum_bound(m: Namespace, n: Number, left: Numbers, right: Numbers) -> Comparison:
    """Return that |sum of the changes of n tokens| <= sqrt(n) ||changes||.

    The changes on the right are of the same tokens, or of more tokens.
    """
    return m.at_most(m.abs(m.sum(left)), m.sqrt(m.exact(n)) * m.norm(right))


def lagrange(m: Namespace, n: Number, w: Numbers, share: Number) -> Comparison:
    """Return that n ||w||^2 - (sum w)^2 = share * sum over pairs of (w_t - w_r)^2."""
    missed = n * m.sum(m.square(w)) - m.square(m.sum(w))
    return m.equal(missed, share * m.sum(m.square(m.differences(w))) / 2)


BOUND = Statement(
    "sim/basic-2",
    source=SOURCE,
    place="Section 3.3, second bound",
    printed="|alpha(x) - alpha(y)| <= sqrt(n) ||exp(A x) - exp(A y)||_2",
    variables=POINTS,
    conclusion=lambda m, v: sum_bound(m, v.n, change(m, v.A, v), change(m, v.A, v)),
    readings={
        "literal-1": Reading(
            "proved",
            read={"A": "the block A_{l0,j0}"},
            proof="symbolic.sim.basic_2:prove",
            tight=True,
            examples=(ONE_TOKEN, MIXED, EQUAL),
        ),
        "literal-2": Reading(
            "proved",
            read={"A": "the whole A_{l0} of n^2 rows on the right"},
            proof="symbolic.sim.basic_2:prove_blocks",
            variables=BLOCKS,
            conclusion=lambda m, v: sum_bound(m, v.n, change(m, v.A, v), change(m, v.whole, v)),
            tight=True,
            examples=({"A_1": [[1], [0]], "A_2": [[1], [1]], "X": [[0]], "Y": [[1]]},),
        ),
        "sharp": Reading(
            "proved",
            strength="exact",
            proof="symbolic.sim.basic_2:prove",
            constants={"share": 1},
            conclusion=lambda m, v, share: lagrange(m, v.n, change(m, v.A, v), share),
            examples=(ONE_TOKEN, EQUAL, MIXED),
            siblings={
                "95% of the sum over pairs": changed(share="0.95"),
                "5% more than it": changed(share="1.05"),
                "equality for any tokens": changed(share=0),
            },
        ),
    },
)
