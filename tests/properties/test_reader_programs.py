"""Programs that a reader writes from a sentence alone, in numpy, and the verdicts they come to.

They share no code with the package. Each yields what a sentence compares, left and right, on data
that meet its hypotheses: drawn by the program, or by hand. A reading falls if left exceeds right;
a strict one falls if left is no less. The words beside an id are from its sentence, so that a
program has to follow an edit.
"""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).parents[2] / "properties/expectations.json"
REVIEWED = json.loads(FILE.read_text(encoding="utf-8"))["claims"]
PROGRAMS = {}
DRAWS, ROUNDING = 300, 1e-9


def reads(claim, words, *, strict=False):
    """Register a program for a reading, with words of its sentence."""

    def register(program):
        PROGRAMS[claim] = (words, strict, program)
        return program

    return register


def g(t):
    return 1 / (1 + np.exp(-t))


def softmax(s):
    e = np.exp(s - s.max())
    return e / e.sum()


@reads("sim/lemma-3.12:sharp", "||g''||_inf = 1/(6 sqrt(3))")
def _(draw):
    steepest = math.log(2 + math.sqrt(3))
    pairs = [(steepest, steepest + 1e-4), *draw.normal(0, 3, (DRAWS, 2))]
    for x, y in pairs:
        slopes = [g(t) * (1 - g(t)) for t in (x, y)]
        yield abs(slopes[0] - slopes[1]), abs(x - y) / (6 * math.sqrt(3))


@reads("sim/logistic-lipschitz:sharp", "|g(x) - g(y)| <= 0.25 |x - y|")
def _(draw):
    for x, y in [(-1e-3, 1e-3), *draw.normal(0, 3, (DRAWS, 2))]:
        yield abs(g(x) - g(y)), abs(x - y) / 4


@reads("sim/tensor-trick:literal", "(A1 kron A2) vec(X) = vec(A1 X A2^T)")
def _(draw):
    for _ in range(DRAWS):
        A1, A2, X = draw.normal(size=(4, 3)), draw.normal(size=(4, 3)), draw.normal(size=(3, 3))
        yield abs(np.kron(A1, A2) @ X.ravel() - (A1 @ X @ A2.T).ravel()).max(), 0.0


def slope_of_entry(A, x, h):
    """A^T (f o h) - <f, h> A^T f with f = softmax(A x), and <f, h>."""
    f = softmax(A @ x)
    return A.T @ (f * h) - (f @ h) * (A.T @ f), f @ h


@reads("sim/lemma-3.11:literal", "(1 - g(<softmax(A x), h>)) b (A^T (softmax(A x) o h)")
def _(draw):
    for _ in range(DRAWS):
        A, x, h, b = draw.normal(size=(3, 2)), draw.normal(size=2), draw.normal(size=3), 2.0
        part, u = slope_of_entry(A, x, h)
        true, printed = g(b * u) * (1 - g(b * u)) * b * part, g(u) * (1 - g(u)) * b * part
        yield abs(true - printed).max(), 0.0


@reads("sim/lemma-3.13:literal", "R >= 4, ||A x|| <= R, ||A y|| <= R, and ||A||_op <= R")
def _(draw):
    A, h, R = np.array([[1.0], [0.0]]), np.array([1e120, -1e120]), 4.0
    slopes = []
    for x in (0.0, 1.0):
        part, u = slope_of_entry(A, np.array([x]), h)
        with np.errstate(over="ignore"):
            slopes.append(g(u) * (1 - g(u)) * part)
    yield np.linalg.norm(slopes[0] - slopes[1]), 3 * 2**3 * R**7 * math.exp(13 * R**2)


def losses(draw, low):
    for _ in range(DRAWS):
        A, x, h, b = *(draw.normal(0, 2, s) for s in ((4, 2), 2, 4)), draw.normal()
        yield g(low(b * h)), g(b * (softmax(A @ x) @ h))


@reads("sim/definition-3.9:literal-1", "g(max(gamma)) <= L(x)")
def _(draw):
    yield from losses(draw, np.max)


@reads("sim/definition-3.9:amended-1", "g(min(gamma)) <= L(x)")
def _(draw):
    one = g(np.array([-1.0]))[0]
    yield one, one  # a single token
    yield from losses(draw, np.min)


def cross_entropy(margins):
    return np.log1p(np.exp(-margins).sum())


@reads("sim/cross-entropy:literal", "L_best is the least cross-entropy of a single token")
def _(draw):
    for _ in range(DRAWS):
        M = draw.normal(0, 3, (3, 2))
        yield min(map(cross_entropy, M)), cross_entropy(softmax(draw.normal(size=3)) @ M)


@reads("sim/cross-entropy:sharp", "M_best is the largest margin of all tokens against each class")
def _(draw):
    yield cross_entropy(np.ones(2)), cross_entropy(np.ones(2))  # a single token
    for _ in range(DRAWS):
        M = draw.normal(0, 3, (3, 2))
        yield cross_entropy(M.max(0)), cross_entropy(softmax(draw.normal(size=3)) @ M)


@reads("sim/cross-entropy:amended-3", "(2 M_c - N_c) ||a||^2 < -(2 N_c - M_c) <a, b>", strict=True)
def _(draw):
    for _ in range(DRAWS):
        N = draw.uniform(0.5, 2, 2)
        M, a = N * draw.uniform(1.05, 1.5, 2), draw.normal(size=2)
        need = ((2 * M - N) / (2 * N - M)).max() * (a @ a) + 0.1
        b = np.array([-a[1], a[0]]) * draw.uniform(0.5, 2) - need / (a @ a) * a
        dual = np.linalg.inv(np.array([a, b]))  # x with <a, x> <= 0 <= <b, x>
        x = dual @ np.array([-draw.exponential(), draw.exponential()])
        tokens, margins = np.array([a, b, 0 * a]), np.array([M, N, 0 * M])
        f = softmax(tokens @ x)
        u = f @ margins
        slope = -sum(
            math.exp(-u[c]) * ((f * (margins[:, c] - u[c])) @ tokens) for c in range(len(M))
        )
        yield -(slope @ a), 0.0
        yield slope @ b, 0.0


@reads("sim/squared-loss:literal-1", "min((h - b)^2) <= L(x)")
def _(draw):
    for _ in range(DRAWS):
        h, b = draw.normal(size=3), draw.normal()
        yield ((h - b) ** 2).min(), (softmax(draw.normal(size=3)) @ h - b) ** 2


@reads("sim/squared-loss:amended-2", "2 gap^2 s (1 - s)^2 <= -<grad_x L(x), V>")
def _(draw):
    for kind in range(DRAWS):
        V = draw.normal(size=2)
        far = 1 + draw.exponential(size=3) * (kind > 0)
        B = -np.outer(far, V) / (V @ V)
        x, beta, gap = draw.normal(size=2), draw.normal(), draw.exponential()
        b = beta + draw.exponential() * (kind > 0)
        e = np.exp(B @ x)
        s = 1 / (1 + e.sum())
        slope_of_s = -(s**2) * (e @ B)
        slope = 2 * (beta - gap * (1 - s) - b) * gap * slope_of_s
        yield 2 * gap**2 * s * (1 - s) ** 2, -(slope @ V)


def gains(B, x, gap, c):
    """The gradient of F(x) = -sum_i c_i gap_i (1 - s_i), and the sum of c_i gap_i s_i (1 - s_i)."""
    slope, total = np.zeros(len(x)), 0.0
    for rows, gap_i, c_i in zip(B, gap, c, strict=True):
        e = np.exp(rows @ x)
        s = 1 / (1 + e.sum())
        slope += c_i * gap_i * -(s**2) * (e @ rows)
        total += c_i * gap_i * s * (1 - s)
    return slope, total


@reads("sim/landscape:literal", "||grad_x F(x)|| > 0", strict=True)
def _(draw):
    opposed = np.array([[[1.0]], [[-1.0]]])
    yield 0.0, np.linalg.norm(gains(opposed, np.zeros(1), [1, 1], [1, 1])[0])


@reads("sim/landscape:amended", "c_i gap_i s_i (1 - s_i) over the inputs")
def _(draw):
    for kind in range(DRAWS):
        V = draw.normal(size=2)
        far = 1 + draw.exponential(size=(3, 2)) * (kind > 0)
        B = -far[:, :, None] * V / (V @ V)
        slope, total = gains(B, draw.normal(size=2), *draw.exponential(size=(2, 3)))
        yield total, slope @ V


@reads("sim/normalised-linear:literal-1", "A^T 1 is not 0, so that M is defined at some x")
def _(draw):
    A, h = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([1.0, 1.0, 0.0])
    first, second = A.T @ h, A.T @ np.ones(3)
    assert (first @ first) * (second @ second) - (first @ second) ** 2 == 0
    L = [g(softmax(A @ np.array(x)) @ h) for x in ((1.0, 0.0), (0.0, 2.0))]
    yield abs(L[0] - L[1]), 0.0


@reads("sim/often-unsolvable:sharp", "P = j! [z^j] prod_q (1 + sum_s (e^(p_qs z) - 1)), j = m")
def _(draw):
    p, m = np.array([[0.1, 0.3], [0.4, 0.2]]), 3  # by first and second word
    pairs = list(itertools.product(range(2), repeat=2))
    true = sum(
        math.prod(p[w] for w in words)
        for words in itertools.product(pairs, repeat=m)
        if all(a[1] == b[1] for a in words for b in words if a[0] == b[0])
    )
    series = np.zeros(m + 1)
    series[0] = 1.0
    for row in p:
        factor = [1.0, *(sum(x**k for x in row) / math.factorial(k) for k in range(1, m + 1))]
        series = np.convolve(series, factor)[: m + 1]
    yield abs(true - math.factorial(m) * series[m]), 0.0


@reads("tf/softmax-range:literal-1", "1 - max(softmax(v)) > 0", strict=True)
def _(draw):
    yield 0.0, 1 - softmax(np.array([draw.normal()])).max()  # T = 1


@reads("tf/wrong-side-suppressed:literal", "max(exp(-c M) s_o) <= 0")
def _(draw):
    M = 1 + draw.exponential(size=3)
    yield (np.exp(-M) / (1 + np.exp(-M).sum())).max(), 0.0


@reads("tf/wrong-side-suppressed:amended-1", "max(exp(-c M) s_o) <= (exp(-c)/(1 + exp(-c)))")
def _(draw):
    for kind in range(DRAWS):
        M, c = 1 + draw.exponential(size=1 + 2 * (kind > 0)) * (kind > 0), draw.exponential()
        e = np.exp(-c * M)
        yield (e / (1 + e.sum())).max(), math.exp(-c) / (1 + math.exp(-c))


@reads("tf/unique-solution:sharp", "<(u + w)/2, (u + w)/2> + <u - w, u - w>/4 <= <u, u>")
def _(draw):
    yield 1.0, 1.0  # u = (1, 0) and w = (0, 1): 1/2 + 1/2 and 1
    for _ in range(DRAWS):
        u, w = draw.normal(size=(2, 3))
        u, w = (u, w) if u @ u >= w @ w else (w, u)
        yield (u + w) @ (u + w) / 4 + (u - w) @ (u - w) / 4, u @ u


@reads("tf/unlike-svm:literal", "max(2 x u + 1 - 2 <o, u>) > -1", strict=True)
def _(draw):
    u, o, x = 1.0, 1.0, 0.0
    assert (o - x) * u >= 1
    yield -1.0, 2 * x * u + 1 - 2 * o * u


@reads("tf/unlike-svm-several:literal", "the token (o + q)/2 of an input", strict=True)
def _(draw):
    for _ in range(DRAWS):
        u, o, q = draw.normal(size=(3, 2))
        if o @ u > (o + q) @ u / 2:
            yield q @ u, (o + q) @ u / 2


def three_tokens(draw, reach):
    """Tokens x, y with 2 <x, y> <= -||x||^2, scores X > Y > 0 by a head, and p by its logits."""
    for _ in range(DRAWS):
        x = draw.normal(size=2)
        y = np.array([-x[1], x[0]]) * draw.uniform(0.5, 2) - draw.uniform(0.5, 2) * x
        Y = draw.uniform(0.2, 2)
        X = Y + draw.uniform(0.2, 2)
        solve = np.linalg.inv(np.array([x, y]))
        tokens, scores = np.array([x, y, 0 * x]), np.array([X, Y, 0.0])
        f = softmax(tokens @ (solve @ np.array(reach(draw, X, Y))))
        u = f @ scores
        yield x, y, u, Y, (f * (scores - u)) @ tokens


@reads("tf/one-of-many:literal-1", "the output at p is at least <v, y>", strict=True)
def _(draw):
    for x, y, u, Y, slope in three_tokens(draw, lambda draw, X, Y: draw.normal(0, 2, 2)):
        if u >= Y:
            yield 0.0, slope @ x
            yield 0.0, slope @ (x - y)


@reads("tf/one-of-many:literal-2", "(5 <v, x> - 3 <v, y>) exp(<x, p>) < <v, y>", strict=True)
def _(draw):
    def reach(draw, X, Y):
        return math.log(Y / (5 * X - 3 * Y)) - draw.exponential(), draw.exponential()

    for x, y, _, _, slope in three_tokens(draw, reach):
        yield 0.0, slope @ y
        yield slope @ x, 0.0


def mean_risk(u):
    return np.log1p(np.exp(-u)).mean()


@reads("mm/logistic-joint-path:sharp", "exp(-min(u)) <= exp(n ln(1 + exp(-min(w)))) - 1")
def _(draw):
    yield 1.0, math.expm1(math.log1p(1.0))  # n = 1 and u = w = 0
    for _ in range(DRAWS):
        u, w = draw.normal(0, 3, (2, 3))
        u, w = (u, w) if mean_risk(u) <= mean_risk(w) else (w, u)
        yield math.exp(-u.min()), math.expm1(3 * math.log1p(math.exp(-w.min())))


@reads("mm/support-geometry:literal", "the logit margin p/2 + s q >= 1 in the third input")
def _(draw):
    for kind in range(DRAWS):
        s = 1 + draw.exponential()
        q = draw.normal() if kind else 1 / (1 + 2 * s)
        p = max(1 + q, 2 - 2 * s * q) + draw.exponential() * (kind > 1)
        yield (2 + 2 * s) ** 2 + 1, (1 + 2 * s) ** 2 * (p * p + q * q)


@reads("mm/assumption-a:literal-2", "|g(-x) - g(-y)| <= (|y - x|/4) and g(-x) < 1")
def _(draw):
    for x, y in np.sort(draw.normal(0, 2, (DRAWS, 2))):
        yield math.log1p(math.exp(-y)), math.log1p(math.exp(-x)) - 1e-15
        yield abs(g(-x) - g(-y)), abs(y - x) / 4
        yield g(-x), 1.0


@reads("mm/theorem-1-norm:literal-1", "||p(k)|| -> infinity, where p(k) are the iterates from p(0)")
def _(draw):
    left = np.array([[2.0, 1.0], [1.0, -2.0], [-3.0, 0.0]])
    inputs = (left, left[:, 0]), (left * [-1, 1], left[:, 0])  # keys, and scores by the head (1, 0)
    p = np.zeros(2)
    for _ in range(1000):  # on the loss -u; for any other both parts have one factor
        parts = [slope_of_entry(keys, p, h)[0] for keys, h in inputs]
        p = p + 0.01 * sum(parts) / 2
    yield 1.0, np.linalg.norm(p)


@reads("tf/global-equal-scores:amended-1", "all rivals of an optimal token score the same")
def _(draw):
    inputs = [(np.array([1.0, 0.0]), 4.0), (np.array([-2.0, 1.0]), 1.0)]  # x_opt - 0 and its gap
    w = np.zeros(2)  # the first column of W, on the loss -u
    for _ in range(20_000):
        w = w + 0.05 * sum(gap * g(a @ w) * g(-(a @ w)) * a for a, gap in inputs) / 2
    best = np.array([1.0, 3.0]) / math.sqrt(10)  # the least w of margins 1 in both
    assert inputs[1][0] @ w < -5  # the second input keeps its worse token
    yield 0.99, best @ w / np.linalg.norm(w)


def rows(logits):
    return np.array([softmax(row) for row in logits])


@reads("tf/self-attention-layer:literal", "softmax(X Q (X K)^T) X V")
def _(draw):
    for _ in range(DRAWS):
        X, (K, Q, V) = draw.normal(size=(4, 3)), draw.normal(size=(3, 3, 3))
        left, right = rows((X @ Q) @ (X @ K).T) @ (X @ V), rows(X @ Q @ K.T @ X.T) @ X @ V
        yield abs(left - right).max(), 0.0


@reads("tf/classification-model:literal", "X K Q^T")
def _(draw):
    for _ in range(DRAWS):
        X, (K, Q), v = draw.normal(size=(4, 3)), draw.normal(size=(2, 3, 3)), draw.normal(size=3)
        first = (rows(X @ Q @ K.T @ X.T) @ (X @ v))[0]
        yield abs(first - v @ (X.T @ softmax(X @ K @ Q.T @ X[0]))), 0.0


@reads("mm/prompt-model:literal", "(K Q^T)^T")
def _(draw):
    for _ in range(DRAWS):
        X, (K, Q), p, v = (
            draw.normal(size=(4, 3)),
            draw.normal(size=(2, 3, 2)),
            *draw.normal(size=(2, 3)),
        )
        first = softmax(X @ Q @ K.T @ p) @ (X @ v)
        yield abs(first - v @ (X.T @ softmax(X @ (K @ Q.T).T @ p))), 0.0


@reads("tf/nonconvex-risk:literal", "the gap is above 0", strict=True)
def _(draw):
    for a, gap in draw.exponential(size=(DRAWS, 2)) + 0.01:
        risk = [-gap * g(x) for x in (0, -a, -2 * a)]
        yield (risk[0] + risk[2]) / 2, risk[1]


@reads("sim/step-3:literal", "g(<softmax(A x), h>)")
def _(draw):
    for _ in range(DRAWS):
        A, x, h, b = draw.normal(size=(3, 2)), draw.normal(size=2), draw.normal(size=3), 1.5
        part, u = slope_of_entry(A, x, h)
        e = np.exp(-u)
        yield abs(g(u) * (1 - g(u)) * b * part - e / (1 + e) ** 2 * b * part).max(), 0.0


@reads("tf/convergence-rates:sharp-2", "D_k is the squared distance of W_k from the line")
def _(draw):
    keys, scores = np.array([[0.0, 0], [-1, 2], [-1, -0.25]]), np.array([0.0, -32, -1])
    V = np.array([1.0, 0])  # one query e_1, so that the first column of W is a prompt; loss -u
    leads, J, gap, widest, eta = keys[0] - keys[1:], 2, 1.0, 32.0, 2.0**-8
    start = p = np.array([3.0, -1.5])
    G = -(softmax(keys @ p) @ scores)
    assert gap / 2 > G
    K = 8 * (J - 1) * widest / (math.e * gap)
    for k in range(2000):
        yield p[1] ** 2, start[1] ** 2 + 2 * eta * G + K * (p - start) @ V
        yield gap / 2 * (1 / G + eta * k / 8), np.exp((leads @ p).min())
        p = p + eta * slope_of_entry(keys, p, scores)[0]


@reads("tf/tokens-interact:literal", "<v, x> and <v, y> differ", strict=True)
def _(draw):
    for x, y, v, p in draw.normal(size=(DRAWS, 4, 3)):
        own, other = np.exp(x @ p), np.exp(y @ p)
        yield 0.0, ((own * (v @ x) + other * (v @ y)) / (own + other) - v @ x) ** 2


@reads("mm/optimal-tokens:literal-3", "q attends at least as much to the optimal tokens")
def _(draw):
    gamma = np.array([8.0, 7.0, 0.0])
    for _ in range(DRAWS):
        p, q = sorted((softmax(draw.normal(0, 2, 3)) for _ in range(2)), key=lambda s: s[0])
        yield -(q @ gamma), -(p @ gamma)


@reads("sim/normalised-linear:literal-3", "|b| (||A||_op ||h||/16) ||x - y||")
def _(draw):
    h = np.array([1.0, -1.0])
    for x, y in [(0.0, 1.0), *draw.normal(size=(DRAWS, 2))]:
        values = [g(softmax(np.array([t, 0.0])) @ h) for t in (x, y)]
        yield abs(values[0] - values[1]), math.sqrt(2) / 16 * abs(x - y)


@reads("mm/assumption-a:literal-1", "exp(-x) - exp(-y) <= exp(R) (y - x)")
def _(draw):
    for x, y in np.sort(draw.normal(0, 2, (DRAWS, 2))):
        R = max(abs(x), abs(y)) + draw.exponential()
        yield math.exp(-y), math.exp(-x) - 1e-15
        yield math.exp(-x) - math.exp(-y), math.exp(R) * (y - x)
        yield math.exp(-x), math.exp(R)


@reads("tf/few-tokens:literal-1", "W and W_+ come before and after the first step of descent")
def _(draw):
    for W in [-1.0, *draw.normal(size=DRAWS)]:  # the tokens 1 and 0 of scores 1 and 0, the loss -u
        yield abs(W), abs(W + g(W) * g(-W))


@reads("sim/stability-l2:sharp-1", "L(x) = (<softmax(A x), h> - b)^2; and R = 1")
def _(draw):
    cases = [(np.array([[1.0], [-1.0]]), np.zeros(1), np.full(1, 1e-6), np.array([1.0, -1.0]), 1e5)]
    for _ in range(DRAWS):
        A, h, (x, y), b = *draw.normal(size=(2, 3, 1)), draw.normal(size=(2, 1)), draw.normal()
        cases.append((A, x, y, h[:, 0], b))
    for A, x, y, h, b in cases:
        losses = [(softmax(A @ t) @ h - b) ** 2 for t in (x, y)]
        bound = np.linalg.norm(A, 2) * np.linalg.norm(h) * (np.linalg.norm(h) + abs(b))
        yield abs(losses[0] - losses[1]), bound * np.linalg.norm(x - y)


@pytest.mark.parametrize("claim", PROGRAMS)
def test_a_readers_program_comes_to_the_verdict(claim):
    words, strict, program = PROGRAMS[claim]
    sentence = REVIEWED[claim]["reviewed"]["statement"]
    assert words in sentence
    left, right = np.array(list(program(np.random.default_rng(0)))).T
    fell = (left >= right) if strict else (left - right > ROUNDING * (1 + abs(right)))
    assert fell.any() == (REVIEWED[claim]["truth"] == "refuted")
    if "No smaller constant will do." in sentence:
        assert (left / right).max() > 0.999


def test_twenty_readings_have_a_program():
    assert len(PROGRAMS) >= 20
    verdicts = [REVIEWED[claim]["truth"] for claim in PROGRAMS]
    assert verdicts.count("refuted") >= 10 <= len(verdicts) - verdicts.count("refuted")
