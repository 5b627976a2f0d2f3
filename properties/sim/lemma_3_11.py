"""Lemma 3.11: the gradient of one entry of the loss in closed form.

With f = softmax(A x), d = <f, h> and L(x) = g(b d), as printed

    dL/dx_i = g(d) (1 - g(d)) b (<f o A_i, h> - <f, h> <f, A_i>).

The chain rule puts b inside g as well; as printed the formula is right for b in {-1, 0, 1} only,
because g' is even. Smallest counterexample: A = (1, 0), x = 0, h = (1, 0), b = 2, where the
derivative is g'(1)/2 and the formula gives g'(1/2)/2. The same slip is in step 2 of section 3.4.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from flint import arb

from attsvm.attention import softmax
from attsvm.exact import dot, entry_gradient, rational, rationals
from attsvm.exact import softmax as exact_softmax
from attsvm.exact.attention import logistic_slope as exact_slope
from attsvm.losses import logistic_slope
from attsvm.risk import covariance
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE, relaxed
from properties.sim.entries import Entry, entries, rounding


def derivative(case: Entry) -> np.ndarray:
    """dL/dx by the complex step, which no closed form enters and nothing cancels in."""
    h = 1e-100
    gradient = []
    for i in range(case.x.size):
        x = case.x.astype(complex)
        x[i] += 1j * h
        logits = case.A @ x
        powers = np.exp(logits - logits.real.max())
        d = (powers @ case.h) / powers.sum() * case.b
        e = np.exp(-d) if d.real >= 0 else np.exp(d)
        value = 1 / (1 + e) if d.real >= 0 else e / (1 + e)
        gradient.append(value.imag / h)
    return np.array(gradient)


def formula(case: Entry, inside: bool, outside: bool, sign: float) -> np.ndarray:
    """The closed form, with b inside g', b in front, and the sign of its second term."""
    f = softmax(case.A @ case.x)
    d = float(f @ case.h)
    slope = float(logistic_slope(np.array([case.b * d if inside else d]))[0])
    return closed_form(case.A, f, case.h, slope * (case.b if outside else 1.0), sign)


def closed_form(A: np.ndarray, f: np.ndarray, h: np.ndarray, slope: Any, sign: float) -> np.ndarray:
    """The slope times <f o A_i, h> + sign <f, h> <f, A_i>, for numbers and symbols alike."""
    pull = covariance(f, h) if sign == -1.0 else f * (h + sign * (f * h).sum())
    result: np.ndarray = slope * (A.T @ pull)
    return result


def _slack(case: Entry, inside: bool, outside: bool, sign: float) -> Slack:
    residual = float(np.abs(derivative(case) - formula(case, inside, outside, sign)).max())
    size = 1.0 if outside or case.b == 0 else max(1.0, 1.0 / abs(case.b))
    return Slack.equal(residual, rounding(case) * size)


def certify(case: Entry, inside: bool = True, outside: bool = True, sign: float = -1.0) -> arb:
    """Minus the largest residual, the derivative by power series in ball arithmetic."""
    A, x, h, b = rationals(case.A), rationals(case.x), rationals(case.h), rational(case.b)
    f = exact_softmax([dot(row, x) for row in A])
    d = dot(f, h)
    slope = exact_slope(b * d if inside else d) * (b if outside else 1)
    worst = arb(0)
    for i, true in enumerate(entry_gradient(A, x, h, b)):
        column = [row[i] for row in A]
        both = dot([p * a for p, a in zip(f, column, strict=True)], h)
        printed = slope * (both + arb(rational(sign)) * d * dot(f, column))
        worst = worst.max(abs(true - printed))
    return -worst


def certify_literal(case: Entry, outside: bool = True, sign: float = -1.0) -> arb:
    """The certificate with b left out of g'."""
    return certify(case, False, outside, sign)


SMALLEST = Entry(np.array([[1.0], [0.0]]), np.array([0.0]), np.array([1.0, 0.0]), 2.0)
ONE_TOKEN = Entry(np.array([[1.0]]), np.array([1.0]), np.array([1.0]), 1.0)
LEMMA: dict[str, Any] = {"source": SOURCE, "place": "Lemma 3.11"}
SIBLINGS = {
    "second term with a plus": sibling(sign=1.0),
    "second term left out": sibling(sign=0.0),
    "no factor b in front": sibling(outside=False),
}


@claim(
    "sim/lemma-3.11:literal",
    **LEMMA,
    statement="dL/dx_i = g(d)(1 - g(d)) b (<f o A_i, h> - <f, h><f, A_i>), d = <f, h>, "
    "for every real b",
    data=entries(),
    examples=[ONE_TOKEN, SMALLEST],
    relaxed=partial(relaxed.gradient_formula, inside=False),
    certify=certify_literal,
    expected="refuted",
    siblings=SIBLINGS,
)
def literal(case: Entry, outside: bool = True, sign: float = -1.0) -> Slack:
    """As printed, g without b in its argument."""
    return _slack(case, False, outside, sign)


@claim(
    "sim/lemma-3.11:amended-1",
    **LEMMA,
    statement="the printed formula holds for labels b in {-1, 0, 1}",
    data=entries().map(lambda e: Entry(e.A, e.x, e.h, float(np.sign(e.b)))),
    hypotheses={"b is -1, 0 or 1": lambda case: abs(case.b) in (0.0, 1.0)},
    examples=[ONE_TOKEN],
    relaxed=partial(relaxed.gradient_formula, inside=False),
    certify=certify_literal,
    expected="proved",
    proof="symbolic.sim.lemma_3_11:prove_labels",
    depends_on=["sim/lemma-3.11:amended-2"],
    siblings={
        "any b": sibling(drop=["b is -1, 0 or 1"], data=entries()),
        "second term with a plus": sibling(sign=1.0),
    },
)
def amended_labels(case: Entry, outside: bool = True, sign: float = -1.0) -> Slack:
    """As printed, for labels of size at most 1."""
    return _slack(case, False, outside, sign)


@claim(
    "sim/lemma-3.11:amended-2",
    **LEMMA,
    statement="dL/dx_i = g(b d)(1 - g(b d)) b (<f o A_i, h> - <f, h><f, A_i>), d = <f, h>, "
    "for every real b",
    data=entries(),
    examples=[ONE_TOKEN, SMALLEST],
    relaxed=relaxed.gradient_formula,
    certify=certify,
    expected="proved",
    proof="symbolic.sim.lemma_3_11:prove",
    siblings={**SIBLINGS, "b left out of g'": sibling(inside=False)},
)
def amended_formula(
    case: Entry, inside: bool = True, outside: bool = True, sign: float = -1.0
) -> Slack:
    """With b inside g as well."""
    return _slack(case, inside, outside, sign)
