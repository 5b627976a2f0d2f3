"""Instances, norms and a hypothesis shared by the statements on the stability of attention."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from attsvm.theory import Defined, Hypothesis, stated
from attsvm.theory.declaration.variables import Variable
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.sim._support.entry_loss import gradient, gradient_change, loss, loss_change

SENTENCE = (
    "By computing the Lipschitz of different loss functions (logistic loss and l2-loss) with "
    "softmax attention and linear attention, we show that the training of softmax attention is "
    "more stable than linear attention."
)

NEAR = {"x": Fraction(-1, 256), "y": Fraction(1, 256)}


def around(at: Fraction) -> dict[str, Fraction]:
    """Return two points: 1/512 below and 1/512 above a number."""
    return {"x": at - Fraction(1, 512), "y": at + Fraction(1, 512)}


def known(*values: Fraction | int) -> Defined:
    """Return a variable whose value is a fixed vector."""
    return Defined(lambda m, v: m.array([m.exact(value) for value in values]))


def two_tokens(at: Fraction) -> dict[str, Variable | None]:
    """Return the variables of a reading with the tokens 1 and -1 and two points around `at`."""
    points = {name: known(value) for name, value in around(at).items()}
    A = Defined(lambda m, v: m.array([[m.exact(1)], [m.exact(-1)]]))
    return {"n": None, "D": None, "A": A, **points}


def linear_loss(m: Namespace, A: Numbers, x: Numbers, h: Numbers, b: Number) -> Numbers:
    """Return M(x) = g(b <A x, h>), the loss with linear attention."""
    return m.logistic(b * m.dot(A @ x, h))


def linear_constant(m: Namespace, size: Number, of: str) -> Numbers:
    """Return the Lipschitz constant of M or of its gradient, for |b| ||A^T h|| = size."""
    return size / 4 if of == "loss" else size * size / (6 * m.sqrt(m.exact(3)))


def score_norm(m: Namespace, v: Values, data: str) -> Number:
    """Return ||A^T h|| of the same data, or its largest value over data with these norms."""
    return m.norm(v.A.T @ v.h) if data == "same" else m.spectral(v.A) * m.norm(v.h)


def change(
    m: Namespace, v: Values, of: str, attention: str, entry: Mapping[str, Callable[..., Numbers]]
) -> Number:
    """Return the change of the loss with softmax or linear attention, or of its gradient.

    The gradient is that of softmax attention.
    """
    if of == "gradient" and attention == "softmax":
        return gradient_change(m, v, entry["gradient"])
    return loss_change(m, v, entry["loss" if attention == "softmax" else "linear"])


def compared(
    m: Namespace,
    v: Values,
    of: str,
    data: str = "norms",
    share: Number = 1,
    attention: str = "softmax",
) -> Comparison:
    """Return that the loss or its gradient changes at most as linear attention allows.

    The bound is `share` times the Lipschitz constant with linear attention.
    """
    left = change(m, v, of, attention, {"loss": loss, "gradient": gradient, "linear": linear_loss})
    constant = linear_constant(m, m.abs(v.b) * score_norm(m, v, data), of)
    return m.at_most(left, share * constant * m.norm(v.x - v.y))


def than_linear(loss: str) -> dict[tuple[str, str], dict[str, str]]:
    """Return the senses of "more stable" by (loss or gradient, data compared)."""
    data = {"same": "on the same data", "norms": "over all A and h of these norms"}
    return {
        (of, name): {
            "more stable": f"that the {of} has at most the Lipschitz constant of the {of} of "
            f"linear attention, with the loss {loss}, {words}"
        }
        for of in ("loss", "gradient")
        for name, words in data.items()
    }


def exceeds(compared: Callable[..., Comparison]) -> Callable[[Namespace, Values], Comparison]:
    """Return the conclusion that grad L changes by more than linear attention's constant allows."""

    @stated("", where="A is the column (1, -1)")
    def exceeded(m: Namespace, v: Values) -> Comparison:
        within = compared(m, v, "gradient")
        return m.below(within.right, within.left)

    return exceeded


def spread_at_least(part: Fraction, text: str) -> Hypothesis:
    """Return the hypothesis ||A^T h|| >= part osc(h) diam(A)."""
    return Hypothesis(
        f"||A^T h|| >= osc(h) diam(A)/{text}",
        lambda m, v: m.at_least(
            m.norm(v.A.T @ v.h), m.exact(part) * m.oscillation(v.h) * m.diameter(v.A)
        ),
    )


SPREAD = spread_at_least(Fraction(1, 4), "4")
