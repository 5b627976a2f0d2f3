"""Instances and false neighbours that lemma 3.13 and its Hessian share."""

from collections.abc import Mapping
from fractions import Fraction

from attsvm.theory import Hypothesis, Matrix, Real, changed
from attsvm.theory.declaration.siblings import Changed
from properties.sim._support import bounds
from properties.sim._support.entry import HEAD, LABEL, LISTED_RADIUS, MATRIX, SIZES, on_line

BLOCK = {**bounds.BLOCK, "tokens": Matrix("n", "d"), "b": Real((0, 64, 160, 512))}
"""A is a block of A_1 kron A_2; labels may be large."""

SMALL = Fraction(1, 2**161)

LARGE_LABEL = on_line([4, 0], x=0, y=SMALL, h=[1, -1], b=2**161, R=4)

CLOSE = on_line(
    [1, -1], x=Fraction(21, 32), y=Fraction(85, 128), h=[Fraction(1, 64), Fraction(-1, 64)], b=1
)
"""Two tokens, and two points at which L has its largest curvature."""

HUGE, TINY = 2**332, Fraction(1, 2**6)

HALF = TINY / 2

ONE_MISSED = {
    LISTED_RADIUS: on_line([HALF, -HALF], x=0, y=1, h=[HALF, -HALF], b=TINY, R=TINY),
    MATRIX: on_line([HUGE, 0], x=0, y=Fraction(1, HUGE), h=[1, -1], b=1, R=4),
    LABEL: on_line([1, 0], x=0, y=1, h=[1, -1], b=HUGE, R=4),
    HEAD: on_line([1, 0], x=0, y=1, h=[HUGE, -HUGE], b=1, R=4),
}
"""Instances that miss one condition of the amended reading and break its bound."""

LARGE_BLOCK = {
    **{name: LARGE_LABEL[name] for name in ("h", "b", "R")},
    "a": [1],
    "tokens": [[4], [0]],
    "X": [[0]],
    "Y": [[SMALL]],
}

ONE_BLOCK = {"a": [1], "tokens": [[1]], "X": [[0]], "Y": [[1]], "h": [1], "b": 1, "R": 4}

CONSTANT = {
    "1e-100 of the constant": changed(tightened="1e-100"),
    "1 as the constant": changed(constant="one"),
}


def missing(
    large_label: Mapping[str, object], one_missed: Mapping[Hypothesis, Mapping[str, object]]
) -> dict[str, Changed]:
    """Return siblings of the amended readings: without one condition, and without both sizes."""
    siblings = {"b and h of any size": changed(drop=SIZES, examples=[large_label])}
    for hypothesis, case in one_missed.items():
        siblings[f"without {hypothesis.name}"] = changed(drop=[hypothesis], examples=[case])
    return siblings
