"""Claims about a head of self-attention on n tokens: Lipschitz on balls, not on the whole space."""

from typing import Any

from attsvm import Fitted, Hypothesis, Integer, Matrix, Near, Reading, Statement, changed
from attsvm.theory import definition
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values


@definition(r"f({X})")
def attention(m: Namespace, X: Numbers, A: Numbers) -> Numbers:
    """Return the matrix whose row i is X^T softmax(X A x_i), for the rows x_i of X."""
    return m.array([m.softmax(X @ (A @ x)) @ X for x in X])


@definition(r"\mathrm{{radius}}({X})")
def radius(m: Namespace, X: Numbers) -> Number:
    """Return the largest norm of a row."""
    return m.max(m.array([m.norm(x) for x in X]))


def on_balls(m: Namespace, v: Values) -> Numbers:
    """Return a Lipschitz constant on n tokens of norm at most R."""
    return m.sqrt(3 * m.square(m.spectral(v.A) * v.R * v.R) * (4 * v.n + 1) + 3 * v.n)


def lipschitz(m: Namespace, v: Values, constant: Any) -> Comparison:
    """Return the comparison ||f(X) - f(Y)|| <= constant * ||X - Y||."""
    bound = constant(m, v) if callable(constant) else constant
    change = attention(m, v.X, v.A) - attention(m, v.Y, v.A)
    return m.at_most(m.norm(change), bound * m.norm(v.X - v.Y))


SOURCE = "Self-attention with keys and queries A"
HEAD: dict[str, Any] = {"n": Integer(1, 4), "d": Integer(1, 2), "A": Matrix("d", "d"),
                        "X": Matrix("n", "d")}  # fmt: skip

HULL = Statement(
    "attention/hull", source=SOURCE, place="Claim 1",
    printed="attention leads no token out of the ball that holds them all",
    variables=HEAD,
    conclusion=lambda m, v: m.at_most(radius(m, attention(m, v.X, v.A)), radius(m, v.X)),
    readings={"literal": Reading("holds", tight=True)},
)  # fmt: skip

LIPSCHITZ = Statement(
    "attention/lipschitz", source=SOURCE, place="Claim 2",
    printed="self-attention is 50-Lipschitz",
    variables={**HEAD, "Y": Near("X", ("n", "d")), "R": Fitted()},
    hypotheses=(Hypothesis("radius(X) <= R", lambda m, v: m.at_most(radius(m, v.X), v.R)),
                Hypothesis("radius(Y) <= R", lambda m, v: m.at_most(radius(m, v.Y), v.R))),
    conclusion=lipschitz,
    readings={
        "literal": Reading("refuted", under=(),
            constants={"constant": 50}, variables={"R": None, "X": Matrix("n", "d", (0, 2, 4))},
            siblings={"40-Lipschitz": changed(constant=40)}),
        "amended": Reading("holds",
            constants={"constant": on_balls}, siblings={"half of it": changed(tightened="0.5")}),
    },
)  # fmt: skip
