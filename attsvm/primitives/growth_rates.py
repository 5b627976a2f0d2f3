"""The direction and the rate of a run: X(k) = (1 + o(1)) X* ln k with X* known exactly.

Suppose that descent with a constant step provably settles (`attsvm.exact.limit_certificate`). Then
the direction of X(k) converges to that of X*, the matrix of least norm with margins of at least 1
for the selected tokens. By the same proof, -grad L = sum_j p_j A_j. Let m be the least margin and P
the sum of the p_j of positive lead. Then c exp(-m) <= P <= C exp(-m), ||grad L|| = O(P), and -<grad
L, X*> >= (1 - o(1)) P. The least margin of X* is 1, hence m = (1 + o(1)) a with a = ||X|| / ||X*||.
A step therefore adds exp(-(1 + o(1)) a) to a, so that a = (1 + o(1)) ln k.

Inputs whose tokens all have the same score have no gradient, and their selection does not matter.
If n' of the n inputs remain, the run equals descent on these alone with n'/n times the step.
"""

from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactAnswer, ExactData, limit_certificate, rational, rationals, separate
from attsvm.exact.descent import LimitCertificate
from attsvm.exact.numbers import Matrix
from attsvm.exact.traps import is_stationary_start
from attsvm.primitives.limit_certificates import agreement, ends_at, short_step

STEPS = 256
"""Maximum number of steps after which a limit must be proved."""


@dataclass(frozen=True, slots=True)
class ProvedLimit:
    """A proved limit of a run.

    Attributes:
        data: the inputs with a gradient, whose optimum the run approaches; for an increasing loss
            the scores are negated.
        inputs: their indices in the data set.
        certificate: the certificate of `attsvm.exact.limit_certificate` for these inputs.
    """

    data: ExactData
    inputs: list[int]
    certificate: LimitCertificate

    @property
    def limit(self) -> ExactAnswer | None:
        """The limit X* of the module's docstring; None if the run does not provably settle."""
        return separate(self.data, self.certificate.selected) if self.certificate.settles else None


def proved_limit(
    data: AttentionData, start: Array, loss: str, step: float = 1.0
) -> ProvedLimit | None:
    """Return the limit of descent with step size step/L, if it is proved within `STEPS` steps.

    Descent on g equals descent on g(-u) for the negated scores.
    """
    exact = ExactData.of(data)
    inputs = [i for i, row in enumerate(exact.gamma) if len(set(row)) > 1]
    if not inputs:
        return None
    sign, pursued = (-1, "logistic-loss") if loss == "logistic" else (1, loss)
    moving = ExactData(
        [exact.X[i] for i in inputs],
        [exact.Z[i] for i in inputs],
        [[sign * g for g in exact.gamma[i]] for i in inputs],
        [exact.kept[i] for i in inputs],
    )
    size = short_step(data, loss, step) * fmpq(len(inputs), len(exact.X))
    certificate = limit_certificate(moving, rationals(start), pursued, size, STEPS)
    return None if certificate is None else ProvedLimit(moving, inputs, certificate)


def diverges(data: AttentionData, start: Array, loss: str, step: float) -> arb | None:
    """Return 1 if the norm of the run provably grows like ln k, -1 if it ends at a finite norm.

    None without a proof.
    """
    path = proved_limit(data, start, loss, step)
    if path is not None and path.limit is not None:
        return arb(1)
    return None if ends_at(data, rationals(start), loss, step) is None else arb(-1)


def arrives(
    data: AttentionData, start: Array, loss: str, target: Matrix, step: float = 1.0
) -> arb | None:
    """Return 1 if the run provably converges in direction to the target, a negative number if not.

    None without a proof. Unlike `limit_certificates.certified_direction`, inputs without a gradient
    are left out, so that their tokens may be tied.
    """
    W0 = rationals(start)
    if is_stationary_start(ExactData.of(data), W0, loss):
        return agreement(target, W0) if start.any() else arb(-1)
    path = proved_limit(data, start, loss, step)
    if path is None:
        end = ends_at(data, W0, loss, step)
        return None if end is None else end.apart(target)
    return None if path.limit is None else agreement(target, path.limit.W)


def rate_error(
    data: AttentionData,
    start: Array,
    loss: str,
    square: fmpq,
    share: float | Fraction,
    step: float = 1.0,
) -> arb | None:
    """Return minus the distance of `share` from lim ||X(k)|| / (R ln k), R^2 = square.

    None without a proof. The limit is 0 if the run ends at a finite norm, else ||X*|| / R. Equality
    of lengths is decided by their squares, in rationals.
    """
    claimed, W0 = rational(share), rationals(start)
    if is_stationary_start(ExactData.of(data), W0, loss):
        return arb(-abs(claimed))
    path = proved_limit(data, start, loss, step)
    if path is None:
        return None if ends_at(data, W0, loss, step) is None else arb(-abs(claimed))
    limit = path.limit
    if limit is None or square == 0:
        return None
    if limit.square == claimed * claimed * square:
        return arb(0)
    return -abs(claimed - arb(limit.square / square).sqrt())
