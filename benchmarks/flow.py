"""Curves of gradient flow to large norms: `python -m benchmarks.flow [--json FILE]`.

Data are those of the sources' protocol (n, T, d) = (6, 8, 10), log-loss, from zero, or from one
Gaussian (K, Q). The rival is what was done before errors were controlled: normalised steps in the
log domain, halved and repeated where the direction turns by more than 8 degrees, grown by 1.3
where it turns by less than 2.6, written over the same compiled direction and run in the same
process. It knows neither implicit steps nor errors; it makes one run where ours makes two, the
second to measure the error. Every row says how many sets reached the norm and the largest error
reported.
"""

from __future__ import annotations

from attsvm._threads import single_threaded

single_threaded()

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from attsvm.data import AttentionData
from attsvm.kernels import compiled
from attsvm.kernels.field import Field, direction, inner, room
from attsvm.losses import LOG_LOSS
from attsvm.training.flow import follow, follow_kq
from benchmarks.timing import Row, asked, keep, seconds, shown
from properties._support.published_data import gaussian_protocol


@compiled
def explicit(field: Field, norm: float, unit: float, limit: int) -> int:
    """Steps from zero to a norm, or -1 where they run out."""
    work = room(field)
    y, g, ahead, ahead_g = (
        np.zeros(field.start.shape), np.zeros(field.start.shape),
        np.zeros(field.start.shape), np.zeros(field.start.shape),
    )  # fmt: skip
    direction(field, work, y, False, g)
    step, ceiling, size = unit, np.inf, 0.0
    for k in range(1, limit + 1):
        step = min(step, max(2.0 * unit, 0.01 * size))
        for a in range(y.shape[0]):
            for b in range(y.shape[1]):
                ahead[a, b] = y[a, b] + step * g[a, b]
        direction(field, work, ahead, False, ahead_g)
        cosine = inner(g, ahead_g)
        if cosine < 0.99 and step > 1e-4 * unit:
            ceiling, step = 0.7 * step, 0.5 * step
            continue
        for a in range(y.shape[0]):
            for b in range(y.shape[1]):
                y[a, b], g[a, b] = ahead[a, b], ahead_g[a, b]
        ceiling *= 1.001
        if cosine > 0.999:
            step = min(1.3 * step, ceiling)
        size = np.sqrt(inner(y, y))
        if size >= norm:
            return k
    return -1


def rival(sets: Sequence[AttentionData], norm: float) -> int:
    """How many sets explicit steps bring to the norm within 200000 directions."""
    done = 0
    for data in sets:
        tokens = np.ascontiguousarray(np.swapaxes(data.X, 1, 2))
        none = np.empty((0, 0))
        q, p = data.d, data.d
        queries, basis = data.Z, np.linalg.qr(data.Z.T)[0]
        if data.n < q:
            q, queries = data.n, np.ascontiguousarray(data.Z @ basis)
        field = Field(
            tokens, data.X.copy(), queries.copy(), data.gamma.copy(), np.zeros((data.n, data.T)),
            0, False, np.zeros((q, p)), 0.0, none, none,
        )  # fmt: skip
        done += explicit(field, norm, 0.25, 200000) > 0
    return done


def row(what: str, took: float, runs: Any, note: str = "") -> Row:
    """One line of the table."""
    reached = [run for run in runs if len(run.steps) == 2]
    worst = max((float(run.error[-1]) for run in reached), default=float("nan"))
    return {"what": what, "seconds": took, "reached": len(reached), "error": worst, "note": note}


def rows(options: Any) -> Iterator[Row]:
    """Curves of W with one thread and with two, and of (K, Q)."""
    sets = [gaussian_protocol(np.random.default_rng(s)) for s in range(options.sets)]
    d = sets[0].d
    zero = np.zeros((d, d))
    K, Q = np.random.default_rng(0).normal(size=(2, d, d)) / d
    follow(sets[:1], zero, LOG_LOSS, [10.0])
    rival(sets[:1], 10.0)
    for norm in (1e4, 1e6):
        one, runs = seconds(lambda norm=norm: follow(sets, zero, LOG_LOSS, [norm]), options.runs)
        note = ""
        if norm == 1e4:
            old, done = seconds(lambda: rival(sets, 1e4), options.runs)
            note = f"explicit steps {old:.2f} s, {done} reached it"
        yield row(f"W, {len(sets)} sets to norm {norm:.0e}", one, runs, note)
        two, runs = seconds(
            lambda norm=norm: follow(sets, zero, LOG_LOSS, [norm], threads=2), options.runs
        )
        faster = f"{one / two:.2f} times faster"
        yield row(f"W, to norm {norm:.0e}, two threads", two, runs, faster)
    some = sets[: options.factor_sets]
    for norm in (1e2, 1e4, 1e6):
        took, runs = seconds(lambda norm=norm: follow_kq(some, K, Q, LOG_LOSS, [norm]))
        yield row(f"(K, Q), {len(some)} sets to norm {norm:.0e}", took, runs)


def main() -> None:
    """Measure, print a table, write JSON where asked."""
    options = asked(__doc__, sets=100, factor_sets=10, runs=3)
    columns = {"what": "<36", "seconds": ">9.3f", "reached": ">9", "error": ">10.1e", "note": "<"}
    keep(options.json, rows=shown(columns, rows(options)))


if __name__ == "__main__":
    main()
