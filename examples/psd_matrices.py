"""Inequalities for positive semidefinite matrices, written as B B^T; <= is the Loewner order.

The three claims show three cases: always true, false from two rows on, false from four rows on.
"""

from typing import Any

from attsvm.theory import Defined, Hypothesis, Integer, Matrix, Reading, Statement, Vector, changed

SQUARES: dict[str, Any] = {"n": Integer(1, 4), "B": Matrix("n", "n"), "C": Matrix("n", "n")}
SOURCE = "Positive semidefinite matrices"

TRACE = Statement(
    "psd/trace-of-product", source=SOURCE, place="Claim 1",
    printed="tr(P Q) <= tr(P) tr(Q)",
    variables={**SQUARES, "P": Defined(lambda m, v: v.B @ v.B.T),
               "Q": Defined(lambda m, v: v.C @ v.C.T)},
    conclusion=lambda m, v: m.at_most(m.trace(v.P @ v.Q), m.trace(v.P) * m.trace(v.Q)),
    readings={"literal": Reading("holds", tight=True)},
)  # fmt: skip

POWERS = Statement(
    "psd/order-of-squares", source=SOURCE, place="Claim 2",
    printed="P <= Q implies P^2 <= Q^2",
    variables={**SQUARES, "u": Vector("n"), "P": Defined(lambda m, v: v.B @ v.B.T),
               "Q": Defined(lambda m, v: v.P + v.C @ v.C.T)},
    conclusion=lambda m, v, share: m.at_most(m.norm(v.P @ v.u), share * m.norm(v.Q @ v.u)),
    readings={
        "literal": Reading("refuted",
            constants={"share": 1}, siblings={"1.01 of the norm": changed(share="1.01")}),
        "amended": Reading("holds", constants={"share": 1},
            tight=True, variables={"B": None, "C": None, "b": Vector("n"), "c": Vector("n"),
                "P": Defined(lambda m, v: m.diagonal(m.square(v.b))),
                "Q": Defined(lambda m, v: v.P + m.diagonal(m.square(v.c)))}),
    },
)  # fmt: skip

ABSOLUTE = Statement(
    "psd/absolute-values", source=SOURCE, place="Claim 3",
    printed="the matrix of the |P_ij| is positive semidefinite where P is",
    variables={"n": Integer(1, 4), "B": Matrix("n", "n"), "u": Vector("n"),
               "P": Defined(lambda m, v: v.B @ v.B.T)},
    hypotheses=(Hypothesis("n <= 3", lambda m, v: m.at_most(v.n, 3)),),
    # 0 <= u^T |P| u, with tr(P) |u|^2 on both sides: a search sees how close their ratio is to 1
    conclusion=lambda m, v: m.at_most(
        m.trace(v.P) * m.dot(v.u, v.u) - m.dot(v.u, m.abs(v.P) @ v.u),
        m.trace(v.P) * m.dot(v.u, v.u)),
    readings={
        "literal": Reading("refuted", under=(),
            siblings={"a hundredth more": changed(tightened="0.99")}),
        "amended": Reading("holds", tight=True),
    },
)  # fmt: skip
