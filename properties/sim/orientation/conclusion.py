"""Margins of X and of its transpose, and the limit of descent from a transposed start."""

from dataclasses import replace

from flint import arb

from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_letters import transposed
from attsvm.primitives.hypotheses import SEVERAL_TOKENS, starts_in_basin
from attsvm.primitives.steps import TARGET, by_gradient_flow, converges_in_direction, solutions
from attsvm.theory import Hypothesis, Slack, stated
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs, nested
from attsvm.theory.types import Comparison, Namespace, Values
from properties._support.suppositions import IN_BASIN
from properties.sim import LOSS_NAMES
from properties.sim._support import self_attention
from properties.sim._support.attention import block_logits
from properties.sim._support.self_attention import converges, goals, proved

TURNED = {"turned": {False: "", True: "^T"}}


@stated(
    "differences of logits are the margins of X$turned, that is $formula",
    symbols=TURNED,
    where="A vec(X) = mat((A kron A) vec(X))",
)
def margins(m: Namespace, v: Values, turned: bool = False, sign: int = 1) -> Comparison:
    """The differences of logits are the left sides of the constraints, for all tokens."""
    logits = block_logits(m, v.n, v.A, v.A, v.X)
    features = sign * (v.A @ (v.X.T if turned else v.X) @ v.A.T).T
    # it is enough to compare the difference of each token from the first one
    return m.equal(logits - logits[:, :1], features - features[:, :1])


def cost_of_turning(m: Namespace, v: Values, of: str = "difference") -> Comparison:
    """Return that |z^T X D - D^T X z| <= ||X - X^T||_2 ||z|| ||D||, or the same with ||X||_2."""
    S = v.X - v.X.T if of == "difference" else v.X
    left = m.abs(m.dot(v.z, v.X @ v.D) - m.dot(v.D, v.X @ v.z))
    # a single root of the product of squares: for d <= 3 it is rational if both sides are equal
    squares = m.spectral(S.T @ S) * m.dot(v.z, v.z) * m.dot(v.D, v.D)
    return m.at_most(left, m.sqrt(squares))


def turned(run: Descent) -> Descent:
    """Return the same data from the transposed start.

    Descent on X with logits z^T X x_t is descent on W = X^T with logits x_t^T W z, which the rest
    of the package follows.
    """
    return replace(run, start=run.start.T)


@by_gradient_flow
def trained(run: Descent, towards: str = "optimal", side: str = "X(k)") -> Slack:
    """Return the slack of "the named side of X(k) converges in direction to the target"."""
    return converges(turned(run), goals(run.data, towards, side))


def arrives_turned(run: Descent, towards: str = "optimal", side: str = "X(k)") -> arb | None:
    """Return 1 if the run of `trained` provably converges, a negative number if not, else None."""
    return proved(turned(run), goals(run.data, towards, side))


def checked(m: Programs, run: Descent, **constants: str) -> Proposition:
    """Return the claim in the words of the checker, about the run of W = X^T."""
    result = self_attention.checked(m, turned(run), **{"side": "X(k)", **constants})
    m.lines["start"] = nested(run.start.tolist())
    if "limit" in m.lines:
        m.lines["limit"] = m.lines["limit"].replace("start", "transposed(start)", 1)
    return result


DIRECTION = converges_in_direction(
    "under descent on $loss, with logits z^T X x_t, $formula",
    "$side",
    TARGET,
    floats=trained,
    balls=arrives_turned,
    checked=checked,
    proposition=transposed,
    symbols={**solutions("X"), **LOSS_NAMES},
    where="X(k) are the iterates and X^mm is the max-margin solution of the optimal tokens",
)


TOLD_APART = {"A": [[1, 0], [0, 1]], "X": [[0, 1], [0, 0]]}
ACROSS = {"X": [[0, 1], [0, 0]], "z": [1, 0], "D": [0, 1]}


SIDEWAYS = Descent.of([[[1, 1], [1, 0]]], [[1, 0]], scores=[[1, 0]])
"""The second token equals the query, and differs from the first one orthogonally to it."""


BASIN = Hypothesis(
    "risk gap of the start below the threshold, for logits z^T X x_t",
    lambda run: starts_in_basin(turned(run)),
    says="some input has two different scores, and the risk of the start for logits z^T X x_t, the "
    "mean of l = g(-u) over attended scores u, is above the mean of l(b_i) by less than min_i "
    "[l(c_i) - l(b_i)]/n over such inputs, b_i the highest and c_i the next lower score",
    implies=(SEVERAL_TOKENS, IN_BASIN),
    checked="fact(loss in LOSSES and starts_low(data, transposed(start), loss))",
)
