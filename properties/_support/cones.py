"""Starts near a locally-optimal direction: the cones that the talk leaves undefined.

Pairs j = (i, t), A_j, W* = W^mm(alpha), m_j, r_j and c_j are as in `cone_radius`.
Write a start as W_0 = sigma W* + E with <E, W*> = 0: pair j has margin sigma m_j + <A_j, E>, where
|<A_j, E>| <= r_j ||E||.

The cone: ||E|| r_j < sigma c_j for all pairs j. In it every margin is positive. Tokens beyond the
margin that do not score below alpha have margins above sigma. With w = max r_j/c_j the cone is the
set of all W_0 with w ||E|| < sigma. As c_j > 0, it contains all W_0 within some angle of W*.
"""

from dataclasses import dataclass, replace

import numpy as np
from flint import arb, fmpq

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError, NotExpressible
from attsvm.exact import ExactData, cone_at, dot, rational, rationals
from attsvm.exact.attention import logits
from attsvm.exact.numbers import Matrix
from attsvm.exact.traps import moves_along_margins
from attsvm.limits import direction_converges
from attsvm.losses import LOSSES
from attsvm.primitives import run_programs
from attsvm.primitives.att_svm import exact_att_svm, flat
from attsvm.primitives.descent_runs import or_more_bits
from attsvm.primitives.gradients import loss_slope
from attsvm.primitives.limit_certificates import agreement, certified_direction, short_step
from attsvm.primitives.loss_hypotheses import SMOOTH_LOSS
from attsvm.primitives.steps import (
    TARGET,
    W_K,
    Stepped,
    by_gradient_flow,
    converges_in_direction,
    solutions,
)
from attsvm.theory import Hypothesis, Slack, changed
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs
from attsvm.theory.declaration.siblings import Changed
from properties._support import cone_letters
from properties._support.cone_radius import Pairs, closes


@dataclass(frozen=True, slots=True)
class Local(Stepped):
    """A data set, the selected tokens alpha_i, a start, a loss by name, and the share s."""

    data: AttentionData
    alpha: Array
    start: Array
    loss: str
    share: float = 0.5

    def __post_init__(self) -> None:
        Stepped.__post_init__(self)
        present, d = self.data.present, self.data.d
        fits = self.alpha.shape == (self.data.n,) and self.start.shape == (d, d)
        fits = fits and bool(((self.alpha >= 0) & (self.alpha < self.data.T)).all())
        if not fits or self.loss not in LOSSES:
            raise DataError("the parts of a start do not fit together", value=self.start.shape)
        if not present[np.arange(self.data.n), self.alpha].all():
            raise DataError("a chosen token is absent", value=self.alpha.tolist())


def is_locally_optimal(case: Local) -> bool:
    """Return whether W^mm(alpha) exists and tokens of margin 1 score below alpha (definition 2)."""
    pairs = Pairs.of(case.data, case.alpha)
    return pairs is not None and pairs.locally_optimal


def selects(case: Local) -> bool:
    """Return whether at the start every alpha_i alone has the largest logit."""
    exact = ExactData.of(case.data)
    for i, kept in enumerate(exact.kept):
        values = logits(exact.X[i], rationals(case.start), exact.Z[i])
        own = values[kept.index(int(case.alpha[i]))]
        if sum(value >= own for value in values) != 1:
            return False
    return True


def is_far(case: Local) -> bool:
    """Return whether ||W_0|| >= 1024 ||W^mm(alpha)||."""
    pairs, W0 = Pairs.of(case.data, case.alpha), flat(rationals(case.start))
    return pairs is not None and bool(dot(W0, W0) >= 2**20 * pairs.square)


def parts(case: Local, pairs: Pairs) -> tuple[fmpq, fmpq]:
    """Return sigma and ||E||^2 of the start."""
    W0 = flat(rationals(case.start))
    sigma = dot(W0, flat(pairs.W)) / pairs.square
    return sigma, dot(W0, W0) - sigma * sigma * pairs.square


def within(case: Local, factor: float = 1.0) -> bool:
    """Return whether sigma > 0 and ||E|| r_j <= factor share sigma c_j for all pairs j."""
    pairs = Pairs.of(case.data, case.alpha)
    if pairs is None:
        return False
    sigma, away = parts(case, pairs)
    width = rational(factor) * rational(case.share) * sigma
    return bool(sigma > 0 and away * pairs.slope <= width * width)


def is_large(case: Local, fraction: fmpq = fmpq(1)) -> bool:  # noqa: B008
    """Return whether 0 < share < 1 and sigma is at least `fraction` of the radius of the share."""
    pairs = Pairs.of(case.data, case.alpha)
    if pairs is None or not 0.0 < case.share < 1.0:
        return False
    sigma, step = parts(case, pairs)[0] / fraction, short_step(case.data, case.loss, case.step)
    return bool(sigma > 0) and closes(pairs, case.loss, step, rational(case.share), sigma)


def tangent(pairs: Pairs) -> fmpq:
    """Return q^2 with q = min(1/w, N)/2: half of the cone, within an angle of arctan(1/2) of W*."""
    wide = pairs.slope
    return (min(1 / wide, pairs.square) if wide > 0 else pairs.square) / 4


def is_near(case: Local) -> bool:
    """Return whether W_0 has an angle of at most arctan(q/N) to W*: sigma > 0, ||E|| <= sigma q."""
    pairs = Pairs.of(case.data, case.alpha)
    if pairs is None:
        return False
    sigma, away = parts(case, pairs)
    return bool(sigma > 0 and away <= sigma * sigma * tangent(pairs))


def is_long(case: Local, fraction: fmpq = fmpq(1)) -> bool:  # noqa: B008
    """Return whether ||W_0|| >= fraction sqrt(N^2 + q^2) times the radius for half of the cone.

    For starts that are near, sigma is then at least that radius.
    """
    pairs, W0 = Pairs.of(case.data, case.alpha), flat(rationals(case.start))
    if pairs is None:
        return False
    sigma = arb(dot(W0, W0) / (pairs.square + tangent(pairs))).sqrt().lower() / fraction
    step = short_step(case.data, case.loss, case.step)
    return bool(sigma > 0) and closes(pairs, case.loss, step, fmpq(1, 2), sigma)


def _programme(m: Programs, case: Local) -> None:
    """Add a record, its tokens `alpha`, and their Local-SVM as `own` to a program."""
    exact = ExactData.of(case.data)
    chosen = [kept.index(t) for kept, t in zip(exact.kept, case.alpha.tolist(), strict=True)]
    run_programs.write(m, case)
    m.lines["alpha"], m.lines["own"] = str(chosen), run_programs.least("alpha", exact, chosen)


def _follows(m: Programs, case: Local, towards: str = "alpha") -> Proposition:
    """Return the checker's claim that descent converges in direction to the solution of alpha.

    Raises:
        NotExpressible: the target is another one, or the limit is not proved.
    """
    if towards != "alpha":
        raise NotExpressible(f"the target {towards}")
    _programme(m, case)
    m.lines["limit"] = run_programs.limit(case)
    return Proposition("along(limit, own)", run_programs.CHECKER)


def falls_at_alpha(case: Local) -> bool:
    """Return whether l' < 0 at the scores of alpha."""
    exact = ExactData.of(case.data)
    chosen = zip(exact.gamma, exact.kept, case.alpha.tolist(), strict=True)
    scores = [gamma[kept.index(t)] for gamma, kept, t in chosen]
    return all(bool(loss_slope(BALLS, case.loss, score) < 0) for score in scores)


def target(case: Local, towards: str) -> Matrix | None:
    """Return the direction that `towards` names; None if it does not exist.

    "optimal" is W^mm of the optimal tokens. "turned" is W^mm(alpha) with its last row's first entry
    increased by a 64th of the sum of the absolute values of all entries. Any other word is
    W^mm(alpha).
    """
    if towards == "optimal":
        best = exact_att_svm(case.data)
        return None if best is None or not best.A else best.W
    pairs = Pairs.of(case.data, case.alpha)
    if pairs is None:
        return None
    if towards == "turned":
        size = sum((abs(x) for x in flat(pairs.W)), fmpq(0))
        return [*pairs.W[:-1], [pairs.W[-1][0] + size / 64, *pairs.W[-1][1:]]]
    return pairs.W


def never_converges_to(case: Local, limit: Matrix) -> bool:
    """Return whether it is proved that descent from no start converges in direction to the limit.

    Suppose that in each input the optimal token is unique and all others share a score. Then <W_k,
    X^mm> increases at every step, by amounts with a positive lower bound on bounded sets. So the
    norm is unbounded. As <W_k, X^mm> >= <W_0, X^mm>, no limit L of the direction has <L, X^mm> < 0.
    """
    exact, best = ExactData.of(case.data), exact_att_svm(case.data)
    if not moves_along_margins(exact) or best is None:
        return False
    return bool(dot(flat(limit), flat(best.W)) < 0)


@by_gradient_flow
def follows(case: Local, towards: str = "alpha") -> Slack:
    """Return the slack of "descent from the start converges in direction to the target"."""
    direction = target(case, towards)
    if direction is None:
        return Slack(-1.0, 0.0)  # there is nothing to converge to
    W = np.array([[float(arb(x)) for x in row] for row in direction])
    return direction_converges(case.data, case.start, LOSSES[case.loss], W)


def decided(case: Local, towards: str = "alpha") -> arb:
    """Return 1 if descent provably converges to the target, a negative number if provably not.

    The result is an undecided ball if neither is known.
    """
    limit, start = target(case, towards), rationals(case.start)
    if limit is not None and never_converges_to(case, limit):
        return arb(-1)
    step = short_step(case.data, case.loss, case.step)
    cone = cone_at(ExactData.of(case.data), start, case.loss, step)  # of any loss
    if limit is not None and cone is not None:
        return agreement(limit, cone.limit.W)
    return or_more_bits(certified_direction(case.data, start, case.loss, limit, case.step))


DIRECTION = converges_in_direction(
    "",
    W_K,
    TARGET,
    floats=follows,
    balls=decided,
    checked=_follows,
    proposition=cone_letters.converges_nearby,
    symbols={
        "towards": {
            **solutions("W")["towards"],
            "alpha": r"W^{mm}(\alpha)",
            "opposite": r"-W^{mm}(\alpha)",
        }
    },
    where="W_k are the iterates from W_0 and W^mm(alpha) is the max-margin solution of alpha",
)
IN_OWN_CONE = replace(
    DIRECTION,
    proposition=cone_letters.converges,
    where=f"{DIRECTION.where}, "
    "W_0 = sigma W^mm(alpha) + E with <E, W^mm(alpha)> = 0, N is ||W^mm(alpha)||, c_j is the "
    "margin of j under W^mm(alpha), less 1 if j does not score below the token x of alpha of its "
    "input, r_j is the norm of A_j = (x - x_j) z^T less its part along W^mm(alpha), and the "
    "radius of s is the least sigma at which conditions 1 to 4 of docs/proofs/cones.md hold",
)
"""The same limit, with the letters of the cone and its radius explained."""

OTHER: dict[str, Changed] = {
    "towards the optimal tokens": changed(towards="optimal"),
    "W^mm(alpha) turned by about a 64th": changed(towards="turned"),
}
"""Siblings of both readings, with another limit."""


FALLING_AT_ALPHA = Hypothesis("l' < 0 at the scores of alpha", falls_at_alpha)

RADIUS = Hypothesis(
    "0 < s < 1 and sigma is at least the radius of s",
    is_large,
    implies=(SMOOTH_LOSS,),
    proposition=cone_letters.large,
)

LENGTH = Hypothesis(
    "||W_0|| is at least sqrt(N^2 + q^2) times the radius of s = 1/2",
    is_long,
    implies=(SMOOTH_LOSS,),
    proposition=cone_letters.long,
)

OPTIMAL = Hypothesis(
    "alpha is locally optimal",
    is_locally_optimal,
    says="some input has two tokens, and alpha is locally optimal, that is W^mm(alpha) exists, and "
    "alpha scores above each other token of margin 1 under it",
    proposition=cone_letters.optimal,
    checked="fact(any(len(row) > 1 for row in data.scores) and locally_optimal(data, alpha, own))",
)

NEAR = Hypothesis(
    "W_0 is at an angle of at most arctan(q/N) to W^mm(alpha)",
    is_near,
    says="W_0 is within some angle of W^mm(alpha) that depends on the data and alpha",
    proposition=cone_letters.near,
)

LONG = Hypothesis(
    "||W_0|| is at least the radius, which exists where l' < 0 at the scores of alpha",
    lambda case: is_long(case) and falls_at_alpha(case),
    says="||W_0|| is at least some radius that depends on the data, alpha, the loss and the step, "
    "and exists if the loss l has an l' that is continuous and below 0 at the scores of alpha",
    implies=(LENGTH, FALLING_AT_ALPHA),
)

CONE = Hypothesis(
    "||E|| r_j <= s sigma c_j",
    within,
    says="||E|| r_j <= s sigma c_j for every token j that is not in alpha",
    proposition=cone_letters.in_cone,
)

LARGE = Hypothesis(
    "0 < s < 1, l' < 0 at the scores of alpha, and sigma is at least the radius of s",
    lambda case: is_large(case) and falls_at_alpha(case),
    says="0 < s < 1, the loss l has an l' that is continuous and below 0 at the scores of alpha, "
    "and sigma is at least the radius of s",
    implies=(RADIUS, FALLING_AT_ALPHA),
)
