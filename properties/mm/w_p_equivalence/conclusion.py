"""Conclusions about descent on W beside descent on p and on q."""

from attsvm.primitives import run_programs
from attsvm.theory import concludes, stated
from attsvm.theory.arithmetic.programs import Programs
from attsvm.theory.types import Namespace, Number, Numbers, Relation
from properties.mm._support.prompt_descent import descent, logit_gradients
from properties.mm.w_p_equivalence.models import Weighted
from properties.mm.w_p_equivalence.run_letters import one_prompt

STEPS = 4


def weights_run(m: Namespace, case: Weighted, steps: int) -> list[Numbers]:
    """Return W_0 p, ..., W_steps p for W that descends with p fixed."""
    X, scores, W, p, eta = map(m.values, (case.X, case.scores, case.W, case.p, case.step))
    prompts = [W @ p]
    for _ in range(steps):
        slopes = logit_gradients(m, X, scores, prompts[-1], case.loss)
        W = W - eta * sum(m.outer(c @ x, p) for c, x in zip(slopes, X, strict=True))
        prompts.append(W @ p)
    return prompts


def partner_run(
    m: Namespace, case: Weighted, steps: int, factor: Number, trained: str
) -> list[Numbers]:
    """Return the run to compare W_k p with: W p_k, or q_k, with `factor` times the step on W."""
    X, scores, W, p, eta = map(m.values, (case.X, case.scores, case.W, case.p, case.step))
    if trained == "q":
        return descent(m, X, scores, W @ p, case.loss, factor * eta, steps)
    keys = [x @ W for x in X]
    return [W @ q for q in descent(m, keys, scores, p, case.loss, factor * eta, steps)]


def _moves_alike(m: Programs, case: Weighted, **constants: object) -> Relation:
    """Return the claim of `moves_alike` for the checker."""
    return run_programs.computed(m, case, ("X", "scores", "W", "p"), moves_alike, **constants)


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
    checked=_moves_alike,
)
def moves_alike(
    m: Namespace, case: Weighted, trained: str = "p", factor: Number | None = None
) -> Relation:
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
    m: Namespace, case: Weighted, trained: str, factor: Number, ahead: int = 0
) -> Relation:
    """Return that W_(k + ahead) p equals its partner of step k over all evaluated steps."""
    left = weights_run(m, case, STEPS)
    right = partner_run(m, case, STEPS, factor, trained)
    pairs = zip(left[ahead:], right, strict=False)
    return m.all_of(*(m.equal(a, b) for a, b in pairs))


@concludes(one_prompt)
@stated(
    "$formula for k = 1, ..., 4",
    "W_k p = r_k",
    {
        "trained": {
            "q": "q_k those on q with the keys X from q_0 = W p (c = 1)",
            "p": "W p_k, p_k those on p with W fixed (c = sum_ij W_ij^2/d)",
        },
        "by": {"square": r"\|p\|^2", "length": r"\|p\|", "one": "1"},
        "share": {1: ""},
    },
    where="W_k are the iterates of descent on W with p fixed, and r_k = $trained, with $share "
    "$by/c times the step",
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
