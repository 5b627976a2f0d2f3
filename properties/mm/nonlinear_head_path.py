"""The regularisation path of a prompt is max-margin for some nonlinear heads.

"We also provide a broader regularization path analysis that establishes the margin maximizing
nature of attention even for nonlinear prediction heads." (abstract; the talk has no theorem on it.)

The path is p_R = argmin L(p) over ||p|| <= R, and p(alpha) the least prompt that separates the
tokens alpha_i, which are numbered 1 here. Below h_i stands for Y_i h, with b_i = Y_i b for one
hidden layer, h_i(x) = sum_k b_ik phi(<a_k, x>), and q_i for the attention of input i to other
tokens than the first. If p_R/R tends to p(alpha)/||p(alpha)||, then all margins along the path tend
to infinity and L(p_R) to the risk at the tokens alpha, which is at least that at the best ones: no
prompt may be better than these. `literal-1` falls for h(x) = -x^2 and tokens 1, -2: p = 0 is better
than both, and (ln 2)/3, whose output is 0, is the best prompt at every R from there on. Nor does it
do that tokens are best and alone so: where h leaves its best token with slope 0, L - L_* falls like
the square of q (`literal-2`), and inputs with and without such a token share the ball in another
way, as for l(u) = -u^3 in `tf/theorem-2`.

What the analysis needs is that L - L_* is of the order of q: then -ln(L - L_*) is the least margin
up to a constant, as for linear heads, and the path is that of the p-SVM. So it is for convex h_i
whose best tokens are alone so, as there h falls from the best token towards each other one, and for
concave h_i that fall so (`amended-2`): a convex head, such as ReLU with b_k >= 0, has h_i of the
first kind for the label 1 and of the second for -1. The scores of tokens are h_i(x_it). Its bounds
are what is evaluated, the limit is proved from them as in `tf/theorem-2`. Of heads that are neither
nothing is shown beyond these two counterexamples.
"""

from types import SimpleNamespace
from typing import Any

from attsvm.primitives.heads import ACTIVATIONS, change, derivative_along, head
from attsvm.primitives.losses import LOSSES, SLOPED
from attsvm.theory import (
    Choice,
    Defined,
    Hypothesis,
    Integer,
    Matrix,
    Reading,
    Statement,
    Tensor,
    Vector,
    changed,
    stated,
)
from attsvm.theory.types import Comparison, Namespace, Nested, Number, Relation, Values
from properties._support.formulas import CONVEX_PHI, SEVERAL
from properties.mm import SOURCE


def inputs(m: Namespace, v: Values) -> list[Any]:
    """Each input with its head, its best value, and the attention q to other tokens."""
    found = []
    for X, b, s in zip(v.X, v.b, v.s, strict=True):
        own = SimpleNamespace(phi=v.phi, A=v.A, b=b, X=X, s=s)
        own.best = head(m, own, X[0])
        own.q = m.sum(m.array([m.exact(0), *s[1:]]))
        found.append(own)
    return found


def gap(m: Namespace, v: Values) -> Number:
    """The number n (L(p) - L_*), with L_* the risk at the first tokens."""
    drops = [m.exact(0)]
    for own in inputs(m, v):
        if len(own.X) == 1:
            continue  # it adds exactly 0
        moved = own.s @ (own.X - own.X[0])
        drops.append(v.loss.drop(m, own.best, -change(m, own, own.X[0], moved)))
    return m.sum(m.array(drops))


def falls(m: Namespace, own: Any) -> list[Any]:
    """The gaps of h at the other tokens from its value at the first one."""
    return [-change(m, own, own.X[0], x - own.X[0]) for x in own.X[1:]]


def slopes(m: Namespace, own: Any) -> list[Any]:
    """The slopes at which h falls from the first token towards the others."""
    return [-derivative_along(m, own, own.X[0], x - own.X[0]) for x in own.X[1:]]


def least(m: Namespace, v: Values, share: Number = 1, steep: bool = False) -> Number:
    """The sum of l(best - d q) - l(best), d the least gap of h, or of these and the slopes."""
    drops = [m.exact(0)]
    for own in inputs(m, v):
        found = falls(m, own) + (slopes(m, own) if steep else [])
        if found:  # else there is no other token
            drops.append(v.loss.drop(m, own.best, share * m.min(m.array(found)) * own.q))
    return m.sum(m.array(drops))


def most(m: Namespace, v: Values, share: Number = 1) -> Number:
    """The sum of l(best - D q) - l(best), D the largest gap or slope of h."""
    drops = [m.exact(0)]
    for own in inputs(m, v):
        found = falls(m, own) + slopes(m, own)
        if found:
            drops.append(v.loss.drop(m, own.best, share * m.max(m.array(found)) * own.q))
    return m.sum(m.array(drops))


HEADS = (
    "h_i(x) = sum_k b_ik phi(<a_k, x>), b_ik for Y_i b_k, L(p) is the mean of l(h_i(X_i^T s_i)), "
    "s_i = softmax(X_i W^T p) is the attention"
)


@stated(
    "",
    r"n (L(p) - L_*) \ge $share \sum_i [l(h_i - d_i q_i) - l(h_i)]",
    where=f"{HEADS}, L_* is the risk at the first tokens, h_i alone is its value at the first "
    "token of input i, d_i the least gap to another token, and q_i the attention to the others",
)
def no_better(m: Namespace, v: Values, share: Number = 0) -> Comparison:
    return m.at_most(share * least(m, v), gap(m, v))


@stated(
    "",
    r"\sum_i [l(h_i - $low d_i q_i) - l(h_i)] \le n (L(p) - L_*) \le \sum_i [l(h_i - $high "
    r"D_i q_i) - l(h_i)] \text{ and } 0 < L(p) - L_*",
    where=f"{HEADS}, L_* is the risk at the first tokens, h_i alone is its value at the first "
    "token x_1, d_i and D_i are the least and the largest of the gaps h_i(x_1) - h_i(x_t) and the "
    "slopes <h_i'(x_1), x_1 - x_t>, and q_i is the attention to the other tokens",
)
def between(m: Namespace, v: Values, low: Number = 1, high: Number = 1) -> Relation:
    return m.all_of(
        m.at_most(least(m, v, low, steep=True), gap(m, v)),
        m.below(m.exact(0), gap(m, v)),
        m.at_most(gap(m, v), most(m, v, high)),
    )


def leads(m: Namespace, v: Values) -> Relation:
    """The first token of each input alone has the largest value of its head, which falls there."""
    found = [x for own in inputs(m, v) for x in falls(m, own) + slopes(m, own)]
    return m.all_of(*(m.above(x, m.exact(0)) for x in found or [m.exact(1)]))


def best(m: Namespace, v: Values) -> Relation:
    """No token of an input has a larger value of its head than the first one."""
    found = [x for own in inputs(m, v) for x in falls(m, own)]
    return m.all_of(*(m.at_least(x, m.exact(0)) for x in found or [m.exact(0)]))


def one_sign(m: Namespace, v: Values) -> Relation:
    """Each input has no b_ik below 0 or none above it, or phi is the identity."""
    linear, zero = m.exact(int(v.phi is ACTIVATIONS["identity"])), m.exact(0)
    rows = (m.any_of(m.at_least(m.min(b), zero), m.at_most(m.max(b), zero)) for b in v.b)
    return m.any_of(m.all_of(*rows), m.equal(linear, m.exact(1)))


def rising(m: Namespace, v: Values) -> Relation:
    """No b_ik is negative, or phi is the identity."""
    linear = m.exact(int(v.phi is ACTIVATIONS["identity"]))
    return m.any_of(m.at_least(m.min(m.vec(v.b)), m.exact(0)), m.equal(linear, m.exact(1)))


def example(X: Nested, A: Nested, b: Nested, phi: str, p: Nested) -> dict[str, Any]:
    """Tokens that are keys, a head, a prompt and the correlation loss."""
    d = len(p)
    W = [[int(r == c) for c in range(d)] for r in range(d)]
    return {"X": X, "A": A, "b": b, "phi": phi, "p": p, "W": W, "loss": "correlation"}


DECREASING = {name: loss for name, loss in LOSSES.items() if loss.decreasing}

INSIDE = example([[[1], [-2]]], [[1]], [[-1]], "square", [0])
"""Values -1 and -4 of -x^2, whose best point 0 lies between."""
LEVEL = example([[[0], [1]]], [[1]], [[-1]], "square", [0])
"""The best token 0 of -x^2 is left with slope 0."""
TIED = example([[[1, 0], [1, 1]]], [[1, 0]], [[1]], "identity", [0, 0])
"""Both tokens have the value 1, and so have their means: no prompt is worse than another."""
ONE_SIDED = example([[[2], [1], [-1]]], [[1]], [[1]], "relu", [1])
BOTH_LABELS = example(
    [[[1, 0], [0, 0]], [[-1, 1], [0, 0]]], [[1, 0]], [[1], [-1]], "identity", [1, 2]
)
"""A linear head, and labels 1 and -1."""
BENT = example([[[4, 0], [0, 3]]], [[1, 0], [0, 1]], [[1, 1]], "logistic", [0, 0])
"""Of a sum of logistic functions the mean of both tokens is better than either."""

BOTH_BENT = example([[[2], [1]], [[1], [2]]], [[1]], [[1], [-1]], "square", [0])
"""The head x^2 with labels 1 and -1: h_1 is convex, and h_2 concave."""
SADDLE = example([[[0, 1], [1, 0], [-1, 0]]], [[1, 0], [0, 1]], [[-1, 1]], "square", [0, -8])
"""The mean of the other tokens is nearer to the best one than they are."""
SIGMOID = example([[[8], [-8]]], [[1]], [[1]], "logistic", [-0.03125])
ONE_TOKEN = example([[[1]]], [[1]], [[1]], "identity", [0])
"""Nothing can be attended to beside the best token."""


RISING = Hypothesis("every Y_i b_k >= 0, or phi is linear", rising)
BEST = Hypothesis("the first token of each input is a best one", best)
SIGN = Hypothesis("of each input all Y_i b_k are >= 0, or all are <= 0, or phi is linear", one_sign)
STEEP = Hypothesis(
    "the head of each input is less at other tokens than at the first and falls towards them",
    leads,
    implies=(BEST,),
)

PATH = Statement(
    "mm/nonlinear-head-path",
    rests_on=("mm/optimal-tokens", "mm/p-svm"),
    source=SOURCE,
    place="Abstract",
    printed="a broader regularization path analysis that establishes the margin maximizing nature "
    "of attention even for nonlinear prediction heads",
    variables={
        "n": Integer(1, 2),
        "T": Integer(1, 4),
        "d": Integer(1, 3),
        "K": Integer(1, 2),
        "X": Tensor(("n", "T", "d")),
        "W": Matrix("d", "d"),
        "p": Vector("d", (0, 2)),
        "A": Matrix("K", "d"),
        "b": Matrix("n", "K"),
        "phi": Choice(ACTIVATIONS),
        "loss": Choice({name: LOSSES[name] for name in SLOPED}),
        "s": Defined(lambda m, v: m.array([m.softmax(X @ (v.W.T @ v.p)) for X in v.X])),
    },
    conclusion=no_better,
    cost=4,
    violating={SEVERAL: [ONE_TOKEN]},
    readings={
        "literal-1": Reading(
            "refuted, certified",
            under=(BEST,),
            variables={"loss": Choice(DECREASING)},
            examples=(INSIDE,),
            siblings={"and worse by half of what the gaps tell": changed(share="0.5")},
        ),
        "literal-2": Reading(
            "refuted, certified",
            read={"regularization path analysis": "the analysis of linear heads"},
            constants={"share": 1},
            under=(BEST,),
            variables={"loss": Choice(DECREASING)},
            examples=(LEVEL,),
            siblings={"twice of it": changed(share=2, examples=[ONE_SIDED])},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.mm.nonlinear_head_path:prove_no_better",
            under=(CONVEX_PHI, RISING, BEST),
            variables={"loss": Choice(DECREASING)},
            examples=(ONE_SIDED, BOTH_LABELS, ONE_TOKEN, TIED),
            siblings={
                "worse by what twice the gaps tell": changed(share=2, examples=[ONE_SIDED]),
                "b_k of any sign": changed(drop=[RISING], examples=[INSIDE]),
                "phi need not be convex": changed(drop=[CONVEX_PHI], examples=[BENT]),
            },
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.mm.nonlinear_head_path:prove_path",
            under=(CONVEX_PHI, SIGN, STEEP, SEVERAL),
            conclusion=between,
            examples=(ONE_SIDED, BOTH_LABELS, BOTH_BENT),
            siblings={
                "1.05 d in place of d": changed(low="1.05"),
                "0.95 D in place of D": changed(high="0.95"),
                "b_k of any sign": changed(drop=[SIGN], examples=[SADDLE]),
                "phi need not be convex": changed(drop=[CONVEX_PHI], examples=[SIGMOID]),
                "another token may be as good": changed(drop=[STEEP], examples=[TIED]),
            },
        ),
    },
)
