"""A run from a cone as a model of the letters of `properties._support.cone_letters`, in floats."""

from dataclasses import replace
from itertools import product

import numpy as np
from flint import arb

from attsvm.exact import ExactData, rational
from attsvm.exact.cones import bounds, largest_at_start
from attsvm.losses import LOSSES
from attsvm.primitives import descent_letters as letters
from attsvm.primitives.descent import Descent
from attsvm.primitives.limit_certificates import short_step
from attsvm.primitives.programme_letters import WEIGHT
from attsvm.theory.proof.terms import IS_ZERO, VECTOR
from properties._support import cone_letters as cone
from properties._support.cone_radius import WIDER, Pairs, radius, wider
from properties._support.cones import tangent
from tests.theory.proof.descent_model import model_of

NEAR = 1e-9
"""Relative distance of bounds of values to their extremes on a grid."""


def at_radius(case):
    """The pairs of a case, its radius, a frame, the part of 1 - s, and Q that meet the conditions.

    The radius is that of these weights and this width, so that the conditions hold at it.
    """
    pairs = Pairs.of(case.data, case.alpha)
    step, share = short_step(case.data, case.loss, case.step), rational(case.share)
    sigma = radius(pairs, case.loss, step, share)
    unit = sigma / arb(pairs.slope).sqrt() if pairs.slope else arb(1)
    for ray, part in product(pairs.frames, WIDER):
        frame = replace(ray, along=(sigma * ray.norm).lower())
        Q = (wider(share, part) * unit).upper()
        minor = [term for j in frame.anchors for term in frame.minor(j)]
        if all(frame.along * c - r * Q >= 1 for _, c, r in minor):
            found = bounds(frame, Q, case.loss, step)
            if found is not None and largest_at_start(found.bends, Q, found.spread):
                return pairs, float(arb(sigma)), frame, float(arb(part)), float(Q)
    raise AssertionError("no conditions hold at the radius")


def model_of_local(case, steps=6):
    """The model of descent from a start in a cone."""
    data, exact, loss = case.data, ExactData.of(case.data), LOSSES[case.loss]
    pairs, radius_, frame, part, Q = at_radius(case)
    model = model_of(Descent(data, case.start, case.loss, step=case.step), steps, best=case.alpha)
    rivals = [(i, exact.kept[i][t]) for i, t in frame.selection.pairs]
    at = {j: k for k, j in enumerate(rivals)}
    A = np.array([model.functions[letters.A](j) for j in rivals])
    V = np.array([[float(arb(x)) for x in row] for row in pairs.W]).ravel()
    square = float(V @ V)
    M = A @ V
    M = np.where([m == 1 for m in pairs.margin], 1.0, M)
    lead = np.array([float(arb(x)) for x in pairs.lead])
    good = (lead > 0).astype(float)

    def across(rows):
        return np.linalg.norm(rows - np.outer(rows @ V, V) / square, axis=1)

    duals = np.array([float(arb(x)) for x in frame.answer.duals])
    mu = np.array([duals / duals.sum()] * len(rivals))
    for j, (weights, _) in frame.anchors.items():
        own = np.array([float(arb(x)) for x in weights])
        mu[j] = own / own.sum()
    reach, lean = across(A), across(A - mu @ A)
    reach = np.where([x == 0 for x in pairs.across], 0.0, reach)
    top = np.exp(reach * Q - radius_ * M)
    owner = np.array([i for i, _ in rivals])
    low, high, steepest = (np.zeros(len(rivals)) for _ in range(3))
    for j, i in enumerate(owner):
        own = owner == i
        ends = -np.maximum(-lead[own], 0) @ top[own], np.maximum(lead[own], 0) @ top[own]
        u = np.linspace(*ends, 401)
        best = float(data.gamma[i, case.alpha[i]])
        slope = -loss.slope(best - u) / data.n
        values = np.outer([1.0, 1 / (1 + top[own].sum())], slope * (lead[j] - u))
        slack = NEAR * np.abs(values).max()
        low[j], high[j] = values.min() - slack, np.abs(values).max() + slack
        steepest[j] = np.abs(slope).max() * (1 + NEAR)
    near = (M == 1).astype(float)
    logs = {
        k: np.log(low / np.where(w > 0, w, 1.0), where=w > 0, out=np.zeros(len(w)))
        for k, w in [("own", duals), *enumerate(mu)]
    }
    mean = float(duals @ logs["own"]) / square
    kappa = square * np.exp(mean)
    kappas = np.array([np.exp(mu[j] @ logs[j]) for j in range(len(rivals))])
    lost = np.array([(np.abs(lead) * top)[owner == i].sum() for i in owner])
    factor = np.where(lead == 0, steepest * lost, high)
    minor = factor * np.exp(lean * Q - radius_ * (M - 1)) / kappas
    bad = 1 - good
    room, back = 1 - (bad * minor * M).sum(), (bad * minor * reach).sum()
    whole = (good * near * high).sum()
    parts = {}
    for kind in (0.0, 1.0):
        loose = (reach > 0) * (1 - kind * near)
        alone = (good * loose * high * np.exp(-radius_ * (M - 1) - 1)).sum()
        parts[kind] = (kind * np.log(whole / kappa), alone)
    kind = min(parts, key=lambda k: parts[k][0] + parts[k][1] / kappa)
    tight, alone = parts[kind]
    turn = (tight + alone / kappa + back * Q) / room
    ratio = float((good * reach / M).max())
    side = (ratio + back) / room
    (rate,) = letters.RATE.atoms
    most = model.functions[rate.function]() * (high * top * M).sum()
    constants = {
        cone.SHARE: case.share,
        cone.WIDER: case.share + part * (1 - case.share),
        cone.RADIUS: radius_,
        cone.WIDTH: Q,
        cone.NARROW: float(tangent(pairs)) ** 0.5,
        cone.PART: part,
        cone.KIND: kind,
        cone.MEAN: mean,
        cone.KAPPA: kappa,
        cone.ROOM: room,
        cone.BACK: back,
        cone.ALONE: alone,
        cone.TIGHT: tight,
        cone.TURN: turn,
        cone.RATIO: ratio,
        cone.SIDE: side,
        cone.MOST: most,
        cone.SUM: whole,
        cone.SPREAD: square * (2 * turn + side**2 * most),
        letters.V: V,
    }

    def coefficient(j, k):
        f, W, i = model.functions, model.functions[letters.W](k), j[0]
        own = [t for t in rivals if t[0] == i]
        powers = np.exp([-f[letters.A](t) @ W for t in own])
        share = 1 / (1 + powers.sum())
        u = share * (f[letters.BEST](i) + powers @ [f[letters.GAMMA](t) for t in own])
        own_power = np.exp(-f[letters.A](j) @ W)
        return f[letters.FALL](u) * share * own_power * (u - f[letters.GAMMA](j)) / data.n

    functions = {
        **model.functions,
        **{
            f: lambda j, x=x: float(x[at[j]])
            for f, x in (
                (cone.GOOD, good),
                (cone.REACH, reach),
                (cone.LEAN, lean),
                (cone.LOW, low),
                (cone.HIGH, high),
                (cone.STEEPEST, steepest),
                (cone.FACTOR, factor),
                (cone.MINOR, minor),
                (WEIGHT, duals),
            )
        },
        cone.MU: lambda j, t: float(mu[at[j], at[t]]),
        cone.P_J: coefficient,
        cone.STEPS: lambda k: float(model.functions[letters.W](k) @ V) / square,
        IS_ZERO: lambda x: float(abs(x) < 1e-12),
    }
    for term, value in constants.items():
        (atom,) = term.atoms
        functions[atom.function] = lambda value=value: value
    samples = {**model.samples, VECTOR: [*model.samples[VECTOR][:4], V, *A[:2]]}
    values = {**model.letters, "x": [0.0, *np.linspace(-1, 1, 5)], "y": [1.0, 0.999, 0.5]}
    # the floor is the rounding of an r_j that is 0
    return replace(model, functions=functions, samples=samples, letters=values, floor=1e-13)
