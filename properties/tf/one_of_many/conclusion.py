"""Changes of logits in a step, for three tokens, and data that meet the hypotheses."""

from collections.abc import Mapping

import numpy as np

from attsvm._types import Array
from attsvm.theory import definition, gradient
from attsvm.theory.types import Namespace, Number, Numbers, Relation, Values


@definition("u({p})")
def output(m: Namespace, v: Values, p: Numbers) -> Number:
    """Return <v, X^T softmax(X p)> for the tokens x, y, 0."""
    first, second = m.exp(m.dot(v.x, p)), m.exp(m.dot(v.y, p))
    return (m.dot(v.v, v.x) * first + m.dot(v.v, v.y) * second) / (1 + first + second)


def slope(m: Namespace, v: Values) -> Numbers:
    """Return grad u at p."""
    return gradient(m, lambda m, p: output(m, v, p), v.p)


def first_wins(m: Namespace, v: Values) -> Relation:
    """Return that a step raises the margins of x over 0 and over y."""
    gain = slope(m, v)
    return m.all_of(m.above(m.dot(gain, v.x), 0), m.above(m.dot(gain, v.x - v.y), 0))


def second_wins(m: Namespace, v: Values) -> Relation:
    """Return that a step raises the margins of y over 0, and lowers the logit of x."""
    gain = slope(m, v)
    return m.all_of(m.above(m.dot(gain, v.y), 0), m.below(m.dot(gain, v.x), 0))


def near_threshold(m: Namespace, v: Values, share: Number = 1) -> Relation:
    """Return that u is at most delta below <v, y>, and that a step selects y as above."""
    close = m.at_least(output(m, v, v.p) + share * v.delta, m.dot(v.v, v.y))
    return m.all_of(close, second_wins(m, v))


def placed(x: Array, known: Mapping[str, Array], first: Array, second: Array) -> Array:
    """Return a vector, moved in the plane of the tokens until its products with them are given."""
    a, b = known["x"], known["y"]
    aa, ab, bb = (a * a).sum(0), (a * b).sum(0), (b * b).sum(0)
    det = aa * bb - ab * ab
    safe = np.where(det > 1e-6, det, np.inf)
    up, along = first - (x * a).sum(0), second - (x * b).sum(0)
    return x + ((bb * up - ab * along) * a + (aa * along - ab * up) * b) / safe


def turned(y: Array, known: Mapping[str, Array]) -> Array:
    """Return the token y, moved along x until <x, y> <= -||x||^2/2."""
    x = known["x"]
    square, r = (x * x).sum(0), (x * y).sum(0)
    step = np.where(2 * r > -square, r + 0.625 * square, 0.0) / np.where(square > 0, square, 1.0)
    return y - step * x


def ranked(v: Array, known: Mapping[str, Array]) -> Array:
    """Return the head, moved until 0 < <v, y> < <v, x>."""
    first, second = ((v * known[token]).sum(0) for token in "xy")
    low = np.where(second > 0.125, second, 0.25)
    return placed(v, known, np.where(first > low + 0.125, first, low + 0.25), low)


def logit_of_threshold(known: Mapping[str, Array], more: float, less: float) -> Array:
    """Return ln(Y/(more X - less Y)) for the scores X and Y of x and y."""
    X, Y = ((known["v"] * known[token]).sum(0) for token in "xy")
    ratio = Y / np.where(more * X > less * Y, more * X - less * Y, 1.0)
    return np.log(np.where(ratio > 0, ratio, 1.0))


def risen(p: Array, known: Mapping[str, Array]) -> Array:
    """Return p, moved until the output is at least <v, y>."""
    first, second = ((p * known[token]).sum(0) for token in "xy")
    least = logit_of_threshold(known, 1, 1)
    return placed(p, known, np.where(first >= least, first, least + 0.125), second)


def fallen(p: Array, known: Mapping[str, Array]) -> Array:
    """Return p, moved until y is ahead of 0 and x far behind."""
    first, second = ((p * known[token]).sum(0) for token in "xy")
    most = logit_of_threshold(known, 5, 3)
    first = np.where(first < most, first, most - 0.125)
    return placed(p, known, first, np.where(second >= 0, second, 0.125))


def enough(delta: Array, known: Mapping[str, Array]) -> Array:
    """Return delta, raised until Y <= delta exp(<y, p>)."""
    Y, logit = ((known[one] * known["y"]).sum(0) for one in "vp")
    least = Y * np.exp(-np.clip(logit, -50, 50))
    return np.where(delta < least, 1.125 * least, delta)
