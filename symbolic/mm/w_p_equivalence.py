"""Equivalence of descent on W, with p fixed, to rescaled descent on the prompt q = W p.

Logits are x_t^T W p, so that the gradient in the prompt is a function g of W p alone. The two
prompts W_k p and q_k start at W_0 p, and a step moves a prompt q by -eta ||p||^2 g(q). So they are
equal for every k, by induction over the steps. The first step of the compared runs is evaluated on
symbols. Along W_rc the logit of token t has the slope x_tr p_c, so that u_t = exp(logit_t) has
u_t' = x_tr p_c u_t. The slope l' is a symbol for each input, whatever the loss.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import sympy as sp

from attsvm._types import Array
from attsvm.theory import cite, ensure_nonzero, ensure_true, ensure_zero
from attsvm.theory.arithmetic import entries
from attsvm.theory.arithmetic.symbols import SYMBOLS, Symbols
from attsvm.theory.declaration.proof import cancelled, simplified, suppose
from properties.mm import w_p_equivalence as statement
from properties.mm._support.prompt_descent import logit_gradient
from properties.mm.w_p_equivalence.conclusion import partner_run, weights_run
from symbolic import softmax
from symbolic.sums import LENGTHS, entry, entry_of, total, vector
from symbolic.textbook import FIRST, INDUCTION, NEXT

STEP = sp.Symbol("eta", positive=True)
SIZES = ((1, 3, 2), (2, 2, 1), (1, 2, 1))
"""Sizes (n, T, d) for which the runs are evaluated on symbols: two steps for the last, one for the
others. More inputs only add terms."""


def _symbols(name: str, *shape: int) -> Array:
    entries = [
        sp.Symbol(name + "_".join(map(str, index)), real=True) for index in np.ndindex(shape)
    ]
    return np.array(entries, dtype=object).reshape(shape)


def _gradients(n: int, T: int, d: int) -> tuple[Array, Array, Array, Array]:
    """Return W, p, the gradient in W by differentiation, and that in q by the formula that runs."""
    X, gamma, slope = _symbols("x", n, T, d), _symbols("g", n, T), _symbols("l", n)
    W, p, u = _symbols("w", d, d), _symbols("p", d), _symbols("u", n, T)
    in_w = np.array([[sp.Integer(0)] * d for _ in range(d)], dtype=object)
    in_q = np.array([sp.Integer(0)] * d, dtype=object)
    for i in range(n):
        mean = sum(u[i] * gamma[i]) / sum(u[i])
        moved = [sp.diff(mean, u[i, t]) * u[i, t] for t in range(T)]
        weights = entries(u[i] / sum(u[i]))
        slopes = list(logit_gradient(SYMBOLS, weights, entries(gamma[i]), slope[i]))
        for r in range(d):
            in_q[r] += sum(X[i, :, r] * slopes) / n
            for c in range(d):
                in_w[r, c] += slope[i] / n * sum(X[i, t, r] * p[c] * moved[t] for t in range(T))
    return W, p, in_w, in_q


def chain_residual(n: int, T: int, d: int) -> list[sp.Expr]:
    """Return entries of grad_W L - (grad_q L) p^T."""
    _, p, in_w, in_q = _gradients(n, T, d)
    return [cancelled(x) for x in (in_w - np.outer(in_q, p)).ravel()]


def step_residual(n: int, T: int, d: int, *, power: int = 2) -> list[sp.Expr]:
    """Return entries of (W - eta grad_W L) p - [W p - eta ||p||^power grad_q L], not cancelled."""
    W, p, in_w, in_q = _gradients(n, T, d)
    scale = sp.sqrt(sum(p * p)) ** power
    return list((W - STEP * in_w) @ p - (W @ p - STEP * scale * in_q))


def differs(residual: list[sp.Expr]) -> bool:
    """Return whether some entry is not zero when the symbols, in order, are 2, 3, 4, ..."""
    symbols = sorted(set().union(*(x.free_symbols for x in residual)), key=str)
    point = {symbol: sp.Integer(k) for k, symbol in enumerate(symbols, start=2)}
    return any(sp.expand(x.subs(point)) != 0 for x in residual)


def structural_residual() -> sp.Expr:
    """Return row r of (W - eta g p^T) p minus that of W p - eta ||p||^2 g, for symbolic d.

    The chain rule for any number of tokens is that of `symbolic.softmax`; inputs only add up.
    """
    d = sp.Symbol("d", integer=True, positive=True)
    c, g = sp.Symbol("c", integer=True), sp.Symbol("g", real=True)
    w, p = (sp.IndexedBase(name, real=True) for name in "wp")

    def along(term: sp.Expr) -> sp.Expr:
        return sp.Sum(term, (c, 1, d))

    moved = along(sp.expand((w[c] - STEP * g * p[c]) * p[c]))
    return simplified(moved - (along(w[c] * p[c]) - STEP * g * along(p[c] ** 2)))


def pairwise_residual() -> sp.Expr:
    """Return the logits' gradient that runs, by pairs, less l' s_t (gamma_t - u), for any T."""
    slope = sp.Symbol("slope", real=True)
    s, gamma = entry("s"), entry("gamma")
    gradient = entry_of(logit_gradient(LENGTHS, vector(s), vector(gamma), slope))
    return sp.expand(gradient - slope * s * (gamma * total(s) - total(s * gamma)))


def factored_residual() -> sp.Expr:
    """Return the slope along W_rc, sum_t c_t x_tr p_c, less that along q_r times p_c.

    W_rc moves logit t by x_tr p_c, and q_r by x_tr; c_t is the gradient in logit t of both.
    """
    c, x, p = entry("c"), entry("x"), sp.Symbol("p_c", real=True)
    return total(c * x * p) - p * total(c * x)


def fixed_weights_residual(*, scaled: bool = True) -> sp.MatrixExpr:
    """Return the residual W_0 p' - (W_0 p - eta s g) of one step of p, for any d.

    The step is p' = p - (eta s / c) W_0^T g, with W_0 W_0^T = c I and s = ||p_0||^2. If `scaled` is
    false, the step is not divided by c.
    """
    d = sp.Symbol("d", integer=True, positive=True)
    W, p, g = sp.MatrixSymbol("W", d, d), sp.MatrixSymbol("p", d, 1), sp.MatrixSymbol("g", d, 1)
    c, s = sp.symbols("c s", positive=True)
    step = STEP * s / c if scaled else STEP * s
    moved = (W * (p - step * W.T * g)).expand().doit()
    moved = moved.subs(W * W.T * g, c * g)
    return (moved - (W * p - STEP * s * g)).expand().doit()


class _Letters(Symbols):
    """The arithmetic of symbols, in which a number may already be an expression."""

    def _literal(self, number: sp.Expr) -> sp.Expr:
        return number if isinstance(number, sp.Expr) else super()._literal(number)


def ensure_first_step(*, power: int = 2) -> None:
    """Prove that W_0 p = q_0 and W_1 p = q_1 in the compared runs, from any W_0.

    For the last of `SIZES` also W_2 p = q_2 is proved.

    Args:
        power: the step on q is eta times this power of ||p||.
    """
    for n, T, d in SIZES:
        X, scores = _symbols("x", n, T, d), _symbols("g", n, T)
        W, p = _symbols("w", d, d), _symbols("p", d)
        case: Any = SimpleNamespace(X=X, scores=scores, W=W, p=p, step=STEP, loss="exponential")
        own = weights_run(_Letters(), case, 1)
        prompt = partner_run(_Letters(), case, 1, sp.sqrt(p @ p) ** power, "q")
        at = f"in the runs for n = {n}, T = {T}, d = {d}"
        ensure_zero(own[0] - prompt[0], f"W_0 p is q_0 {at}")
        ensure_zero(own[1] - prompt[1], f"from any W with W p = q a step leaves them equal {at}")
    twice = weights_run(_Letters(), case, 2)[2], partner_run(_Letters(), case, 2, p @ p, "q")[2]
    ensure_zero(
        twice[0] - twice[1],
        f"the next step of these runs leaves them equal {at}",
        normal=cancelled,
    )


def ensure_first_step_of_prompt(*, scaled: bool = True) -> None:
    """Prove that W_1 p_0 = W_0 p_1 in the compared runs, for W_0 with W_0 W_0^T = c I.

    Args:
        scaled: whether the step on p is divided by c.
    """
    a, b = sp.symbols("a b", real=True, nonzero=True)
    for W, square in (([[a]], a**2), ([[a, -b], [b, a]], a**2 + b**2)):
        d = len(W)
        X, scores, p = _symbols("x", 1, 2, d), _symbols("g", 1, 2), _symbols("p", d)
        case: Any = SimpleNamespace(
            X=X, scores=scores, W=np.array(W, dtype=object), p=p, step=STEP, loss="exponential"
        )
        own = weights_run(_Letters(), case, 1)
        fixed = partner_run(_Letters(), case, 1, (p @ p) / (square if scaled else 1), "p")
        ensure_zero(
            own[1] - fixed[1],
            f"a step of W p_0 and one of W_0 p leave them equal in the runs for d = {d}",
            normal=cancelled,
        )


class _AsGiven(Symbols):
    """The arithmetic of symbols that accepts matrices of symbolic size as values."""

    def values(self, value: object) -> Any:
        """Return the values unchanged."""
        return value


def follows(one: sp.Expr, other: sp.Expr) -> sp.Expr:
    """Return the difference of two symbolic prompts after each moves by -eta ||p||^2 g of itself.

    g is any function: an entry of the gradient of the risk in the prompt.
    """
    g, square = sp.Function("g", real=True), sp.Symbol("||p||^2", nonnegative=True)
    return (one - STEP * square * g(one)) - (other - STEP * square * g(other))


def ensure_for_every_k(one: str, other: str, trained: str) -> None:
    """Prove by induction that W_k p is its partner for every k.

    Both move by -eta ||p||^2 g of themselves.

    Args:
        one: the name of W_k p.
        other: the name of its partner.
        trained: the partner's name in `partner_run`. A run of no steps does not use the inputs.
    """
    d = sp.Symbol("d", integer=True, positive=True)
    W, p = sp.MatrixSymbol("W_0", d, d), sp.MatrixSymbol("p", d, 1)
    case: Any = SimpleNamespace(X=(), scores=(), W=W, p=p, step=STEP, loss="exponential")
    (start,) = weights_run(_AsGiven(), case, 0)
    (partner,) = partner_run(_AsGiven(), case, 0, sp.Integer(1), trained)
    first = f"{one} is {other} for k = 0: the runs that are compared start at W_0 p, for any d"
    gap: sp.MatrixExpr = start - partner
    ensure_true(gap.doit().is_ZeroMatrix, first)
    u, v = sp.symbols("u v", real=True)
    following = (
        f"where {one} is {other}, so is what a step makes of them, as each moves by -eta ||p||^2 g "
        "of itself"
    )
    ensure_zero(follows(u, v).subs(u, v), following)
    ensure_nonzero(follows(u, v), f"where {one} is not {other} a step need not make them equal")
    cite(INDUCTION, met={FIRST: first, NEXT: following}, of=f"{one} is {other} for every k")


def prove() -> str:
    """Prove that W_k p = q_k for every k, with steps eta on W and eta ||p||^2 on q.

    With ||p||^0, ||p|| or ||p||^4 in place of ||p||^2 the first steps differ.
    """
    ensure_zero(
        pairwise_residual(), "the gradient in logit t that runs is l' s_t (gamma_t - u), for any T"
    )
    ensure_zero(
        softmax.structural_residual(),
        "s_t (gamma_t - u) is the slope of <s, gamma> in logit t, for any T",
    )
    ensure_zero(
        structural_residual(), "(W - eta g p^T) p is W p - eta ||p||^2 g, row by row, for any d"
    )
    ensure_zero(factored_residual(), "the gradient in W is that in q times p^T, for any T and d")
    for n, T, d in SIZES:
        at = f"for n = {n}, T = {T}, d = {d}"
        ensure_zero(chain_residual(n, T, d), f"the gradient in W is that in q times p^T {at}")
        step = step_residual(n, T, d)
        ensure_zero(step, f"the step on W moves W p by eta ||p||^2 grad_q L {at}", normal=cancelled)
    ensure_first_step()
    for power in (0, 1, 4):
        ensure_true(
            differs(step_residual(1, 2, 2, power=power)),
            f"with ||p||^{power} in place of ||p||^2 the steps differ",
        )
    ensure_for_every_k("W_k p", "q_k", "q")
    return (
        "W_k p = q_k for every k, by induction: both start at W_0 p and move by -eta ||p||^2 times "
        "the gradient of the risk in the prompt, for every loss and all n, T, d"
    )


def prove_fixed_weights() -> str:
    """Prove that W_k p_0 = W_0 p_k for every k if W_0 W_0^T = c I.

    The steps are eta on W and eta ||p_0||^2/c on p. Both prompts start at W_0 p_0, and a step moves
    each like descent on q with the step eta ||p_0||^2.
    """
    prove()
    suppose(statement.ISOTROPIC)
    ensure_zero(
        factored_residual(),
        "the gradient in p of logits x_t^T W_0 p is W_0^T times that in W_0 p, entry by entry of "
        "W_0, for any T and d",
    )
    zero = fixed_weights_residual()
    ensure_true(zero.is_ZeroMatrix, "W_0 p' = W_0 p - eta ||p_0||^2 g where W_0 W_0^T = c I, any d")
    other = fixed_weights_residual(scaled=False)
    ensure_true(
        other.is_ZeroMatrix is False,
        "W_0 p' is not W_0 p - eta ||p_0||^2 g where the step is not divided by c",
    )
    ensure_first_step_of_prompt()
    ensure_for_every_k("W_k p_0", "W_0 p_k", "p")
    return (
        "W_k p_0 = W_0 p_k for every k, by induction: both start at W_0 p_0 and move by "
        "-eta ||p_0||^2 times the gradient of the risk in the prompt, for steps eta and "
        "eta ||p_0||^2 / c, every loss and all n, T, d"
    )
