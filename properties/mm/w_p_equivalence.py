"""Descent on W and descent on p are one trajectory after rescaling the step.

"... running gradient descent on p, or equivalently W ..." (abstract); the model is
<X v, softmax(X W p)>, and what attention sees of (W, p) is the prompt W p. Below g is the gradient
of the risk in the prompt, and q a prompt that is trained itself, on keys X from q(0) = W p.

`literal-1` compares the two as the model has them, from one (W, p). The first moves W p along
-||p||^2 g, the second along -W W^T g: tokens (1, 0), (0, 1), 0 of scores 1, 1, 0, with W =
diag(1, 2) and p = (1, 0), go along (1, 1) and along (1, 4). `literal-2` fails at p = 0, where only
q moves.

`amended-1` holds for every loss, as W_k = W_0 + (q_k - q_0) p^T / ||p||^2. At p = 0 neither moves,
with a step of 0. For W that do not meet the condition of `amended-2` no factor will do, as
`literal-1` shows. The proofs are in `symbolic.mm.w_p_equivalence`.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.errors import DataError
from attsvm.exact import rationals
from attsvm.losses import LOSSES
from attsvm.primitives.losses import SLOPED
from attsvm.primitives.steps import ANY
from attsvm.strategies import arrays, composite, sizes
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed, stated
from attsvm.theory.types import Namespace, Number, Relation
from properties.mm import SOURCE
from properties.mm._support.prompt_descent import descent, logit_gradients

STEPS = 4
ANY_LOSS = (*SLOPED, *(name for name in LOSSES if name not in SLOPED))


@dataclass(frozen=True, slots=True)
class Weighted:
    """Tokens X (n, T, d), scores (n, T), weights W (d, d), a prompt p (d,), a step and a loss."""

    X: Array
    scores: Array
    W: Array
    p: Array
    step: float
    loss: str

    def __post_init__(self) -> None:
        n, T, d = self.X.shape
        fits = self.scores.shape == (n, T) and self.W.shape == (d, d) and self.p.shape == (d,)
        if not fits or 0 in self.X.shape or not self.step > 0.0 or self.loss not in LOSSES:
            raise DataError("the parts of a model do not fit together", value=self.X.shape)


def weighting(X: object, scores: object, W: object, p: object) -> Weighted:
    """A model from anything that numpy reads, with step 1, trained on the correlation."""
    tokens, gamma, weights, prompt = (np.array(a, dtype=np.float64) for a in (X, scores, W, p))
    return Weighted(tokens, gamma, weights, prompt, 1.0, "correlation")


SKEWED = weighting([[[1, 0], [0, 1], [0, 0]]], [[1, 1, 0]], [[1, 0], [0, 2]], [1, 0])
NO_PROMPT = weighting([[[1], [0]]], [[1, 0]], [[1]], [0])


@composite
def weighted(draw: st.DrawFn) -> Weighted:
    """Models of all small sizes; p and W may be zero."""
    n, T, d = draw(sizes(1, 2)), draw(sizes(1, 3)), draw(sizes(1, 3))
    X, scores, W, p = (draw(arrays(*shape)) for shape in ((n, T, d), (n, T), (d, d), (d,)))
    step, loss = st.sampled_from(ANY), st.sampled_from(ANY_LOSS)
    return Weighted(X, scores, W, p, draw(step), draw(loss))


@composite
def isotropically(draw: st.DrawFn) -> Weighted:
    """The same with W a multiple of a signed permutation, or of a rotation by (3, 4)."""
    case = draw(weighted())
    d = len(case.p)
    W = np.eye(d)[draw(st.permutations(range(d)))] * np.where(draw(arrays(d)) < 0, -1.0, 1.0)
    if d > 1 and draw(st.booleans()):
        W[:, :2] = W[:, :2] @ np.array([[3.0, -4.0], [4.0, 3.0]])
        W[:, 2:] = 5.0 * W[:, 2:]
    return replace(case, W=draw(st.sampled_from([1.0, 2.0, 0.5])) * W)


def larger(generator: np.random.Generator) -> Weighted:
    """Up to (4, 5, 5), entries to 1/8."""
    n, T, d = (int(generator.integers(1, top + 1)) for top in (4, 5, 5))

    def part(*shape: int) -> Array:
        return generator.integers(-8, 9, size=shape) / 8.0

    loss, step = str(generator.choice(ANY_LOSS)), float(generator.choice(ANY))
    return Weighted(part(n, T, d), part(n, T), part(d, d), part(d), step, loss)


def isotropic(case: Weighted) -> bool:
    """Whether W W^T = c I for some c > 0, in rationals."""
    W = np.array(rationals(case.W), dtype=object)
    gram = W @ W.T
    c = gram[0, 0]
    return bool(c > 0 and (gram == np.diag([c] * len(W))).all())


def weights_run(m: Namespace, case: Weighted, steps: int) -> list[Any]:
    """W_0 p, ..., W_steps p, where W descends with p fixed."""
    X, scores, W, p, eta = map(m.values, (case.X, case.scores, case.W, case.p, case.step))
    found = [W @ p]
    for _ in range(steps):
        slopes = logit_gradients(m, X, scores, found[-1], case.loss)
        W = W - eta * sum(m.outer(c @ x, p) for c, x in zip(slopes, X, strict=True))
        found.append(W @ p)
    return found


def partner_run(
    m: Namespace, case: Weighted, steps: int, factor: Number, trained: str
) -> list[Any]:
    """What W_k p is compared with: W p_k, or q_k, with `factor` times the step on W."""
    X, scores, W, p, eta = map(m.values, (case.X, case.scores, case.W, case.p, case.step))
    if trained == "q":
        return descent(m, X, scores, W @ p, case.loss, factor * eta, steps)
    keys = [x @ W for x in X]
    return [W @ q for q in descent(m, keys, scores, p, case.loss, factor * eta, steps)]


@stated(
    "",
    "$factor",
    {
        "factor": {
            None: r"a = c b \text{ for some } c > 0\text{, or } a = b = 0",
            1: "a = b",
            2: "a = 2 b",
        },
        "trained": {"p": "p, with W fixed,", "q": "q, from q = W p with keys X,"},
    },
    where="a and b are what one step on W, with p fixed, and one on $trained add to the logits",
)
def moves_alike(m: Namespace, case: Weighted, trained: str = "p", factor: Any = None) -> Relation:
    X = m.values(case.X)
    left = weights_run(m, case, 1)
    right = partner_run(m, case, 1, 1 if factor is None else factor, trained)
    a, b = (m.array([x @ (run[1] - run[0]) for x in X]).ravel() for run in (left, right))
    if factor is not None:
        return m.equal(a, b)
    still = m.all_of(m.equal(a, 0 * a), m.equal(b, 0 * b))
    along = m.all_of(m.above(a @ b, m.exact(0)), m.equal((b @ b) * a, (a @ b) * b))
    return m.any_of(still, along)


def one_trajectory(
    m: Namespace, case: Weighted, trained: str, factor: Any, ahead: int = 0
) -> Relation:
    """W_(k + ahead) p is its partner of step k as far as both are followed."""
    left = weights_run(m, case, STEPS)
    right = partner_run(m, case, STEPS, factor, trained)
    pairs = zip(left[ahead:], right, strict=False)
    return m.all_of(*(m.equal(a, b) for a, b in pairs))


@stated(
    "$formula for k = 1, ..., 4",
    "W_k p = r_k",
    {
        "trained": {
            "q": "q_k, which descends on keys X from q_0 = W p, c = 1",
            "p": "W p_k, where p_k descends with W fixed, c = sum_ij W_ij^2/d",
        },
        "by": {"square": r"\|p\|^2", "length": r"\|p\|", "one": "1"},
        "share": {1: ""},
    },
    where="W_k descends with p fixed, and r_k, with $share $by/c times the step, is $trained",
)
def rescaled(
    m: Namespace, case: Weighted, trained: str = "q", by: str = "square", share: Number = 1
) -> Relation:
    p, c = m.values(case.p), m.exact(1)
    if trained == "p" and case.W.any():
        W = m.values(case.W)
        c = m.sum(m.square(W)) / len(W)
    factor = {"square": p @ p, "length": m.norm(p), "one": m.exact(1)}[by]
    return one_trajectory(m, case, trained, share * factor / c)


FACTORS = {"c = 1": changed(factor=1), "c = 2": changed(factor=2)}
OTHER_FACTORS = {
    "the step is not rescaled": changed(by="one"),
    "rescaled by ||p||": changed(by="length"),
    "rescaled by 1.05 ||p||^2": changed(share="1.05"),
}

ISOTROPIC = Hypothesis("W W^T is a multiple of I", isotropic, says="W W^T = c I for some c > 0")
ANYTHING = "tokens X, scores, weights W, a prompt p, a step and a differentiable loss be arbitrary"
"""What a model is, for the sentence of a reading."""

EQUIVALENCE = Statement(
    "mm/w-p-equivalence",
    source=SOURCE,
    place="Abstract",
    printed="running gradient descent on p, or equivalently W",
    variables=Records(Weighted, weighted(), larger, climbed=True, lets=ANYTHING),
    conclusion=moves_alike,
    cost=6,
    readings={
        "literal-1": Reading(
            "refuted, certified",
            read={"equivalently": "that both move the logits alike"},
            constants={"trained": "p"},
            under=(),
            examples=(SKEWED,),
            siblings=FACTORS,
        ),
        "literal-2": Reading(
            "refuted, certified",
            read={"equivalently": "that both move the logits alike"},
            constants={"trained": "q"},
            under=(),
            variables=Records(Weighted, weighted(), lets=ANYTHING),
            examples=(NO_PROMPT,),
            siblings=FACTORS,
        ),
        "amended-1": Reading(
            "proved",
            constants={"trained": "q"},
            under=(),
            conclusion=rescaled,
            examples=(SKEWED, NO_PROMPT),
            siblings=OTHER_FACTORS,
            proof="symbolic.mm.w_p_equivalence:prove",
        ),
        "amended-2": Reading(
            "proved",
            constants={"trained": "p"},
            under=(ISOTROPIC,),
            variables=Records(Weighted, isotropically(), climbed=True, lets=ANYTHING),
            conclusion=rescaled,
            siblings={
                "any W": changed(
                    drop=[ISOTROPIC],
                    variables=Records(Weighted, weighted(), climbed=True),
                    examples=[SKEWED],
                ),
                **OTHER_FACTORS,
            },
            proof="symbolic.mm.w_p_equivalence:prove_fixed_weights",
            depends_on=("mm/w-p-equivalence:amended-1",),
        ),
    },
)
