"""Planted mistakes in closed forms: softmax, tensor trick, sim's lemmas 3.11 to 3.13, stability."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from attsvm.theory import (
    Fitted,
    Hypothesis,
    Integer,
    Matrix,
    Near,
    Reading,
    Real,
    Statement,
    Vector,
    changed,
    gradient,
)
from attsvm.theory.declaration.claim import Claim
from benchmarks.power.planting import PLANTED, Planted, kind_of
from properties.sim._support import entry_loss
from properties.sim._support.entry import PAIR
from properties.sim._support.entry_loss import K, gradient_change, loss_change, published
from properties.sim.lemma_3_12 import steepest


def plant(
    mistake: str,
    variables: Mapping[str, Any],
    conclusion: Callable[[Any, Any], Any],
    *,
    says: str,
    why: str,
    hypotheses: Mapping[str, Callable[[Any, Any], Any]] | None = None,
    witness: Mapping[str, Any] | None = None,
    source: str = "",
) -> Claim:
    """Return a claim with a false formula, and add it to `PLANTED`.

    Args:
        mistake: its family, kind and name, separated by spaces.
        variables: the variables of the statement.
        conclusion: the false formula.
        says: the false sentence.
        why: why it is false.
        hypotheses: hypotheses by name.
        witness: variables of a counterexample, if one is known.
        source: the place of the true statement, if outside the sources.
    """
    family, _, rest = mistake.partition(" ")
    kind, name = kind_of(rest)
    statement = Statement(
        f"planted/{family.replace('/', '-')}-{kind}-{name}",
        source="planted",
        place=family,
        printed=says,
        variables=variables,
        conclusion=conclusion,
        hypotheses=tuple(Hypothesis(n, holds) for n, holds in (hypotheses or {}).items()),
        readings={
            "literal": Reading(
                # a statement needs a sibling; it is left out below
                "refuted",
                siblings={"half": changed(tightened="0.5")},
                says=says,
            ),
        },
    )
    claim = replace(statement.claims[0], siblings=())
    PLANTED[claim.id] = Planted(claim, kind, family, why, witness, source)
    return claim


NUMBERS = {"x": Real((0, 3)), "y": Near("x", ())}
LOGITS = {"T": Integer(1, 4), "a": Vector("T"), "b": Near("a", ("T",))}
SEVERAL = {**LOGITS, "T": Integer(2, 4)}
SQUARES = {"d": Integer(1, 3), **dict.fromkeys(("A", "X", "B"), Matrix("d", "d"))}
ENTRY = {name: PAIR[name] for name in ("n", "D", "A", "x", "h", "b")}


def softmax_moves(m: Any, v: Any) -> Any:
    """Return s(a) - s(b)."""
    return m.softmax(v.a) - m.softmax(v.b)


softmax_constant = plant(
    "plain/softmax constant lipschitz",
    LOGITS,
    lambda m, v: m.at_most(m.norm(softmax_moves(m, v)), m.exact("0.475") * m.norm(v.a - v.b)),
    says="||s(a) - s(b)||_2 <= 0.475 ||a - b||_2 for the softmax s",
    why="1/2 is the least constant, approached by two tokens near equal logits",
)
softmax_norm = plant(
    "plain/softmax norm lipschitz",
    LOGITS,
    lambda m, v: m.at_most(m.sum(m.abs(softmax_moves(m, v))), m.norm(v.a - v.b) / 2),
    says="||s(a) - s(b)||_1 <= ||a - b||_2 / 2 for the softmax s",
    why="1/2 is for one norm on both sides; here the least constant is 1/sqrt 2",
)
mean_strict = plant(
    "plain/softmax strict uniform",
    SEVERAL,
    lambda m, v: m.above(m.max(m.softmax(v.a)), m.exact(1) / v.T),
    says="some one of T >= 2 tokens gets more attention than 1/T",
    why="none does where all logits are equal",
)
log_sum_index = plant(
    "plain/softmax index others",
    SEVERAL,
    lambda m, v: m.at_most(m.log(m.sum(m.exp(v.a - m.max(v.a)))), m.log(m.exact(v.T - 1))),
    says="ln sum_t exp a_t <= max a + ln(T - 1) for T >= 2",
    why="ln T: all terms may be as large as the largest",
)
tensor_role = plant(
    "plain/tensor-trick role tensor-trick",
    SQUARES,
    lambda m, v: m.equal(m.kron(v.A, v.B) @ m.vec(v.X), m.vec(v.A.T @ v.X @ v.B.T)),
    says="(A kron B) vec(X) = vec(A^T X B^T), vec by rows",
    why="vec(A X B^T): A must not be transposed",
)


def steep(m: Any, v: Any) -> Any:
    """Return the comparison |dL/dx_1| <= 0.95/16 |b| osc(h) osc(A_1)."""
    slope = entry_loss.gradient(m, v.A, v.x, v.h, v.b)[0]
    reach = m.abs(v.b) * m.oscillation(v.h) * m.oscillation(v.A[:, 0])
    return m.at_most(m.abs(slope), m.exact("0.95") / 16 * reach)


entries_steep = plant(
    "sim/lemma-3.11 constant steepness",
    ENTRY,
    steep,
    says="|dL/dx_1| <= 0.95/16 |b| (max h - min h) (max A_1 - min A_1)",
    why="1/16 is attained in the limit b -> 0 by two tokens of equal attention",
)


def true_gradient(m: Any, v: Any) -> Any:
    """Return the gradient of L by the rules of calculus."""
    return gradient(m, lambda k, x: entry_loss.loss(k, v.A, x, v.h, v.b), v.x)


def sum_for_product(m: Any, v: Any) -> Any:
    """Return the equation of dL/dx with its closed form, with g (1 + g) for g (1 - g)."""
    f = m.softmax(v.A @ v.x)
    g = m.logistic(v.b * m.dot(f, v.h))
    return m.equal(true_gradient(m, v), g * (1 + g) * v.b * (v.A.T @ m.covariance(f, v.h)))


entries_sign = plant(
    "sim/lemma-3.11 sign slope",
    ENTRY,
    sum_for_product,
    says="dL/dx_i = g(b d)(1 + g(b d)) b (<f o A_i, h> - <f, h><f, A_i>), d = <f, h>",
    why="g' = g (1 - g): the formula is wrong wherever the derivative is not 0",
)


def next_column(m: Any, v: Any) -> Any:
    """Return the equation of dL/dx with its closed form, with columns shifted by one."""
    results = list(entry_loss.gradient(m, v.A, v.x, v.h, v.b))
    return m.equal(true_gradient(m, v), m.array([*results[1:], results[0]]))


entries_index = plant(
    "sim/lemma-3.11 index column",
    ENTRY,
    next_column,
    says="dL/dx_i is the closed form with column A_(i+1), the last followed by the first",
    why="derivatives by different coordinates differ",
)


def slope_moves(m: Any, v: Any) -> Any:
    """Return |g'(x) - g'(y)|."""
    return m.abs(m.logistic_slope(v.x) - m.logistic_slope(v.y))


curved_constant = plant(
    "sim/lemma-3.12 constant two-percent",
    NUMBERS,
    lambda m, v: m.at_most(slope_moves(m, v), m.exact("0.98") * steepest(m) * m.abs(v.x - v.y)),
    says="|g'(x) - g'(y)| <= 0.98 |x - y| / (6 sqrt 3)",
    why="1/(6 sqrt 3) is the least constant, approached near log(2 + sqrt 3)",
)
curved_strict = plant(
    "sim/lemma-3.12 strict equal-points",
    NUMBERS,
    lambda m, v: m.below(slope_moves(m, v), steepest(m) * m.abs(v.x - v.y)),
    says="|g'(x) - g'(y)| < |x - y| / (6 sqrt 3) for all x and y",
    why="both sides are 0 for x = y",
)
curved_sign = plant(
    "sim/lemma-3.12 sign monotone",
    NUMBERS,
    lambda m, v: m.at_least(
        m.logistic_slope(m.minimum(v.x, v.y)), m.logistic_slope(m.maximum(v.x, v.y))
    ),
    says="g'(x) >= g'(y) for x <= y",
    why="g' is even: it rises up to 0",
)


def reach(m: Any, v: Any) -> Any:
    """Return K(|b| osc(h)) ||x - y||."""
    return K(m, m.abs(v.b) * m.oscillation(v.h)) * m.norm(v.x - v.y)


gradient_constant = plant(
    "sim/lemma-3.13 constant two-percent",
    PAIR,
    lambda m, v: m.at_most(
        gradient_change(m, v), m.exact("0.98") * m.square(m.spectral(v.A)) * reach(m, v)
    ),
    says="||grad L(x) - grad L(y)|| <= 0.98 ||A||^2 K(|b| (max h - min h)) ||x - y||",
    why="K is attained by two tokens",
)
gradient_norm = plant(
    "sim/lemma-3.13 norm longest-row",
    PAIR,
    lambda m, v: m.at_most(gradient_change(m, v), m.max(m.sums(v.A * v.A)) * reach(m, v)),
    says="||grad L(x) - grad L(y)|| <= max_t ||A_t||^2 K(|b| (max h - min h)) ||x - y||",
    why="the rows 1, -1 have length 1, and the spectral norm is sqrt 2",
)
gradient_hypothesis = plant(
    "sim/lemma-3.13 hypothesis head-of-any-size",
    {**PAIR, "h": Vector("n", (0, 64, 160, 512)), "R": Fitted()},
    lambda m, v: m.at_most(gradient_change(m, v), published(m, v.n, v.R) * m.norm(v.x - v.y)),
    hypotheses={
        "R >= 4": lambda m, v: m.at_least(v.R, m.exact(4)),
        "||A x|| <= R": lambda m, v: m.at_most(m.norm(v.A @ v.x), v.R),
        "||A y|| <= R": lambda m, v: m.at_most(m.norm(v.A @ v.y), v.R),
        "||A|| <= R": lambda m, v: m.at_most(m.spectral(v.A), v.R),
        "|b| <= R": lambda m, v: m.at_most(m.abs(v.b), v.R),
    },
    says="the printed bound of lemma 3.13 holds where also |b| <= R",
    why="the gradient is proportional to h near <f, h> = 0, and nothing bounds h",
)


def lever(m: Any, v: Any) -> Any:
    """Return |b| ||A|| ||x - y||."""
    return m.abs(v.b) * m.spectral(v.A) * m.norm(v.x - v.y)


stable_constant = plant(
    "sim/stability-logistic constant two-percent",
    PAIR,
    lambda m, v: m.at_most(loss_change(m, v), m.exact("0.98") * m.norm(v.h) / 8 * lever(m, v)),
    says="|L(x) - L(y)| <= 0.98 |b| ||A|| ||h||/8 ||x - y||",
    why="1/8 is attained in the limit by A = (1, -1), h = (1, -1)",
)
stable_norm = plant(
    "sim/stability-logistic norm largest-entry",
    PAIR,
    lambda m, v: m.at_most(loss_change(m, v), m.largest(v.h) / 8 * lever(m, v)),
    says="|L(x) - L(y)| <= |b| ||A|| max_t |h_t|/8 ||x - y||",
    why="h = (1, -1) has length sqrt 2",
)


def linear_gradient(m: Any, v: Any) -> Any:
    """Return the comparison of the gradient's change with the constant of linear attention."""
    size = m.abs(v.b) * m.spectral(v.A) * m.norm(v.h)
    return m.at_most(gradient_change(m, v), size * size * steepest(m) * m.norm(v.x - v.y))


stable_threshold = plant(
    "sim/stability-logistic constant threshold",
    PAIR,
    linear_gradient,
    hypotheses={
        "|b| ||h|| >= 1/sqrt 2": lambda m, v: m.at_least(2 * v.b * v.b * (v.h @ v.h), m.exact(1))
    },
    says="for |b| ||h|| >= 1/sqrt 2 the gradient of L changes by at most "
    "b^2 ||A||^2 ||h||^2/(6 sqrt 3) ||x - y||",
    why="1/sqrt 2 compares K to first order, and its second order adds 2% there",
)
