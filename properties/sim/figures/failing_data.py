"""sim/failing-data: how often descent from zero misses the optimal tokens, against n, T and d.

Data sets have unit-norm Gaussian tokens, queries and head with random labels. Plain descent starts
at X(0) = 0, on the decreasing loss g(-b <f, h>), with step 1/L_X. From an iterate that floats
reached, a certificate in balls decides the limit of every descent with a step of at most 1/L_X
(`attsvm.exact.limit_certificate`). Such descent tends to X^mm, as theorem 3.14 says, or selects
other tokens than the optimal ones for ever, which is a failure.

If no certificate closes within `STEPS` steps, floats follow the curve of gradient flow from there
to a thousand times the norm. A run that has settled by `attsvm.limits.settled` over the last decade
of the norm is `astray`, a failure by this rule, or `arrives`. Other runs are unsettled. Data sets
without X^mm are counted apart. The exact binomial 95% interval is for the probability of a failure,
by certificate or rule, given that X^mm exists. Its upper end counts unsettled runs as failures.
"""

import itertools
from collections import Counter
from collections.abc import Sequence

import numpy as np
from flint import ctx

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData, limit_certificate, rationals, separate
from attsvm.limits.settled import unsettled
from attsvm.lipschitz import risk_smoothness
from attsvm.losses import LOSSES
from attsvm.plots import Table, token_weights
from attsvm.primitives.counts import interval
from attsvm.reproduce import Numbers, Reproduction
from attsvm.tokens import target_tokens
from attsvm.training import descend_w, follow_w
from properties._support.experiments import Curves
from properties._support.published_data import gaussian_protocol
from properties.sim import REPAIRED, SOURCE

SIZES = tuple(itertools.product((1, 2, 4, 8), (2, 4), (2, 4, 8, 16)))
RECORD = (100, 3000, 30_000)
STEPS = RECORD[-1]
RISK, BITS = 0.025, 128
OUTCOMES = ("converges", "arrives", "fails", "astray", "unsettled", "no_solution")


def outcome(data: AttentionData, iterates: Sequence[Array]) -> str:
    """Return the true one of `OUTCOMES`: by the first certificate that closes, else by floats."""
    exact = ExactData.of(data)
    solved = separate(exact, [rows[0] for rows in exact.optimal])
    if solved is not None and solved.status == "unseparable":
        return "no_solution"
    with ctx.workprec(BITS):
        for W in iterates:
            certificate = limit_certificate(exact, rationals(W), REPAIRED, None, 0)
            if certificate is not None and certificate.converges:
                return "converges"
            pairs = zip(certificate.selected, exact.optimal, strict=True) if certificate else ()
            if any(token not in best for token, best in pairs):
                return "fails"
    size, loss = float(np.linalg.norm(iterates[-1])), LOSSES[REPAIRED]
    path = follow_w(data, iterates[-1], loss, [100.0 * size, 1000.0 * size]).W[0]
    if len(path) < 3 or unsettled(data, path[1], path[2], loss) is not None:
        return "unsettled"
    optimal = token_weights(data, path[2]).argmax(axis=-1) == target_tokens(data)
    return "arrives" if optimal.all() else "astray"


def numbers(seed: int, sets: int = 50, sizes: Sequence[tuple[int, int, int]] = SIZES) -> Numbers:
    """Return counts of outcomes by size, with the interval of the share that fails."""
    rows = []
    for n, T, d in sizes:
        generator = np.random.default_rng([seed, n, T, d])
        data = [gaussian_protocol(generator, n, T, d) for _ in range(sets)]
        steps = [1.0 / risk_smoothness(one, LOSSES[REPAIRED]) for one in data]
        run = descend_w(
            data, np.zeros((d, d)), REPAIRED, step=np.array(steps), steps=STEPS, record=RECORD
        )
        counts = Counter(outcome(one, W[1:]) for one, W in zip(data, run.W, strict=True))
        usable = sets - counts["no_solution"]
        failed = counts["fails"] + counts["astray"]
        low, _ = interval(failed, usable, RISK)
        _, high = interval(failed + counts["unsettled"], usable, RISK)
        counted = {name: counts[name] for name in OUTCOMES}
        share = {"mean": failed / max(usable, 1), "low": low, "high": high}
        rows.append(Table.of(n=[n], T=T, d=d, sets=sets, **counted, **share))
    facts = {"loss": REPAIRED, "steps": STEPS, "confidence": 1 - 2 * RISK, "data_sets": sets}
    return Numbers({"frequencies": Table.join(rows)}, facts)


SHARES = Curves(
    "frequencies", "d", "T", "n", "dimension d", "share that fails",
    scales={"xscale": "log", "ylim": (-0.03, 1.03)},
)  # fmt: skip

figure = Reproduction(
    "sim/failing-data",
    source=SOURCE,
    place="Theorem 3.14 from X(0) = 0",
    shows="how often descent from zero misses the optimal tokens, against n, T and d",
    numbers=numbers,
    pictures={"": SHARES},
    sets=50,
)
