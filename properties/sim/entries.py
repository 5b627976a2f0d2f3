"""The instance of section 3: one entry g(b <softmax(A x), h>) of the loss, at one or two points.

The paper's A is the block A_{l0,j0} of A_1 kron A_2, with d^2 columns; x = vec(X), h = h(y), b is a
label. Here A has any number D of columns: what stands does so for all of them, and the printed
lemma 3.13 asks for a block.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb, fmpq
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.exact import dot, entry_gradient, norm, rational, rationals
from attsvm.exact.numbers import Matrix, Number, Vector, spectral_norm, subtract
from attsvm.lipschitz import entry_gradient as float_gradient
from attsvm.strategies import arrays, scaled, sizes
from properties.sim.basics import moves, softmax_rounding

__all__ = [
    "Entry",
    "EntryPair",
    "ExactPair",
    "adversarial",
    "change",
    "entries",
    "exact_change",
    "exact_pair",
    "pairs",
    "rounding",
    "spare",
]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the loss at one point."""

    A: Array
    x: Array
    h: Array
    b: float


@dataclass(frozen=True, slots=True)
class EntryPair:
    """One entry of the loss at two points x and y."""

    A: Array
    x: Array
    y: Array
    h: Array
    b: float

    @property
    def oscillation(self) -> float:
        """|b| (max h - min h)."""
        return abs(self.b) * float(self.h.max() - self.h.min())


@dataclass(frozen=True, slots=True)
class ExactPair:
    """The exact values of a pair, with the norms that the bounds speak of."""

    A: Matrix
    x: Vector
    y: Vector
    h: Vector
    b: Number

    @property
    def norm_A(self) -> Number:
        """Spectral norm of A."""
        return spectral_norm(self.A)

    @property
    def oscillation(self) -> Number:
        """|b| (max h - min h)."""
        return abs(self.b) * (max(self.h) - min(self.h))

    @property
    def moved(self) -> Vector:
        """A (x - y)."""
        step = subtract(self.x, self.y)
        return [dot(row, step) for row in self.A]

    @property
    def still(self) -> bool:
        """Whether loss and gradient are exactly the same at x and y.

        So it is where the logits move by a common constant, or where attention has no effect.
        """
        return len(set(self.moved)) == 1 or self.oscillation == 0


def exact_pair(case: EntryPair) -> ExactPair:
    """The exact values of a pair."""
    return ExactPair(
        rationals(case.A),
        rationals(case.x),
        rationals(case.y),
        rationals(case.h),
        rational(case.b),
    )


def rounding(case: Entry | EntryPair) -> float:
    """Bound on the rounding error of any entry of the gradient and of the loss, of size 1 at least.

    Logits of size S carry an error of (D + 1) eps S, softmax a relative one of that plus n eps,
    <f, h> and its multiple by b the same times |h| and |b h|; all of it enters g' once and the
    covariance twice. The constant 16 covers the operations between.
    """
    points = [case.x] if isinstance(case, Entry) else [case.x, case.y]
    relative = softmax_rounding(case.A, *points)
    reach = abs(case.b) * float(np.abs(case.h).max())
    scale = max(float(np.abs(case.A).max()), 1.0)
    return float(relative * (1.0 + reach) * reach * scale + 1e-300)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """Entries of all small sizes, one token and zero vectors included."""
    n, D = draw(sizes(1, 4)), draw(sizes(1, 4))
    return Entry(draw(arrays(n, D)), draw(arrays(D)), draw(arrays(n)), draw(scaled(0, 1, -1)))


@st.composite
def pairs(draw: st.DrawFn, *label_powers: int, blocks: bool = False) -> EntryPair:
    """Pairs near and far apart; labels by the powers of two given.

    In half of them some weight moves, h is not constant and b is not 0, so that the loss changes.
    A is a block of a Kronecker product where asked for.
    """
    moving = draw(st.booleans())
    A, x, y = draw(moves(moving, blocks))
    h, b = draw(arrays(len(A))), draw(scaled(*(label_powers or (0,))))
    if moving:
        h[0] += np.ptp(h) == 0.0
        b = b or 2.0 ** (label_powers or (0,))[0]
    return EntryPair(A, x, y, h, b)


def adversarial(generator: np.random.Generator) -> EntryPair:
    """Two to four tokens, a nearby pair, any offset of h: where extremals live."""
    n, D = int(generator.integers(2, 5)), int(generator.integers(1, 3))
    x = generator.integers(-96, 97, size=D) / 32
    y = x + generator.choice([-1.0, 1.0], size=D) / 256
    h = generator.integers(-64, 65, size=n) / 32
    return EntryPair(
        generator.choice([-1.0, 0.0, 1.0], size=(n, D)), x, y, h, float(generator.integers(1, 5))
    )


def change(case: EntryPair) -> tuple[float, float]:
    """||grad L(x) - grad L(y)|| and a bound on its rounding error."""
    left = float_gradient(case.A, case.x, case.h, case.b)
    right = float_gradient(case.A, case.y, case.h, case.b)
    return math.hypot(*(left - right)), rounding(case) * 2 * math.sqrt(case.x.size) * len(case.h)


def spare(right: arb, left: arb) -> arb | fmpq:
    """Right minus left; rational where both are exactly 0, which no ball could tell."""
    return fmpq(0) if right.is_zero() and left.is_zero() else arb(right - left)


def exact_change(case: EntryPair) -> arb:
    """The same as a ball, the gradients by power series."""
    e = exact_pair(case)
    if e.still:
        return arb(0)
    return norm(subtract(entry_gradient(e.A, e.x, e.h, e.b), entry_gradient(e.A, e.y, e.h, e.b)))
