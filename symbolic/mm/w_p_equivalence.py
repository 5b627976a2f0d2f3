"""Equivalence of descent on W, with p fixed, to rescaled descent on the prompt q = W p, or on p.

Attention depends on W by the prompt W p alone. The two prompts W_k p and r_k start at W_0 p, and a
step moves both by -e ||p||^2 times one function of the prompt. So they are equal for every k, by
induction over the steps. Letters are those of `properties.mm.w_p_equivalence.run_letters`.
"""

from attsvm.errors import present
from attsvm.primitives.descent_letters import BEST, FALL, GAMMA, NUMBER, OWNER, RATE, M, W, i, j
from attsvm.theory.proof.facts import Fact, K, Proposition, eq
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    conclude,
    decide,
    induction,
    inside,
    one_of_sum,
    regroup,
    scale,
    square,
)
from attsvm.theory.proof.terms import EXP, INV, Letter, Operand, Over, Term, as_term, total
from properties.mm import w_p_equivalence as statement
from properties.mm.w_p_equivalence import run_letters as letters
from properties.mm.w_p_equivalence.run_letters import (
    OF_Q,
    OTHER,
    OTHER_RATE,
    PACE,
    SCALE,
    SETTING,
    D,
    F,
    G,
    of_prompt,
    of_weights,
    y,
    z,
)

HOLE, THEIRS = Letter("hole"), Over(OWNER, i.term)
OWN = OWNER(j)


def apart(x: Term, k: Operand) -> Term:
    """Return <F(x), W_k> - <G(x), b(k)>."""
    return F(x) @ W(k) - G(x) @ OTHER(k)


def equal(k: Operand) -> Proposition:
    """Return in one equation that both prompts are equal along y and along all D_j."""
    return eq(total(apart(D(j), k) ** 2, j) + apart(y.term, k) ** 2, 0)


def along_each(same: Fact) -> Fact:
    """Return that both prompts are equal along each D_j."""
    each = one_of_sum(square(apart(D(j), K)), j)
    return decide(eq(apart(D(j), K), 0), same, each, square(apart(y.term, K)))


def along_any(same: Fact) -> Fact:
    """Return that both prompts are equal along y."""
    return decide(eq(apart(y.term, K), 0), same, add_up(square(apart(D(j), K)), j))


def pulls(along: Fact) -> Fact:
    """Return that the gradients of both runs have the same coefficients, as margins are equal."""
    a, b = of_weights(W(K)), of_prompt(OTHER(K))
    power = inside(along, a(j), b(j), EXP(-HOLE.term), HOLE)
    one, other = (1 + total(EXP(-m(j)), j, THEIRS) for m in (a, b))
    share = inside(add_up(power, j, THEIRS), one, other, INV(HOLE), HOLE)
    scores = add_up(scale(power, GAMMA(j)), j, THEIRS)
    (s_a, s_b), (u_a, u_b) = ([f(m, i.term) for m in (a, b)] for f in (letters.share, letters.mean))
    of_scores = BEST(i) + total(EXP(-a(j)) * GAMMA(j), j, THEIRS)
    mean = decide(eq(u_a, u_b), scale(share, of_scores), scale(scores, s_b), degree=1)
    fall = inside(mean, u_a, u_b, FALL(HOLE), HOLE)
    share, mean, fall = (at(fact, {i: OWN}) for fact in (share, mean, fall))
    s_b, u_a, u_b = (
        f(m, OWN) for f, m in ((letters.share, b), (letters.mean, a), (letters.mean, b))
    )
    s_a, behind = letters.share(a, OWN), u_a - GAMMA(j)
    changes = (
        scale(fall, s_a * EXP(-a(j)) * behind * INV(NUMBER)),
        scale(share, FALL(u_b) * EXP(-a(j)) * behind * INV(NUMBER)),
        scale(power, FALL(u_b) * s_b * behind * INV(NUMBER)),
        scale(mean, FALL(u_b) * s_b * EXP(-b(j)) * INV(NUMBER)),
    )
    return decide(eq(letters.pull(a, j), letters.pull(b, j)), *changes, degree=1)


@linked
def prove() -> str:
    """Prove that W_k p = q_k for every k, with steps e on W and e ||p||^2 on q."""
    _prove("q", setting(present(letters.one_prompt(), "a claim").setting, OF_Q))
    return "for every loss and all n, T, d, by induction over k"


@linked
def prove_fixed_weights() -> str:
    """Prove that W_k p_0 = W_0 p_k for every k if W_0 W_0^T = c I.

    The steps are e on W and e ||p_0||^2/c on p.
    """
    _prove("p", *suppose(statement.ISOTROPIC))
    return "for every loss and all n, T, d, by induction over k"


def _prove(trained: str, paced: Fact) -> None:
    step, other_step, scaled, start, rates = (setting(SETTING, words) for words in SETTING)
    now, after = K.term, K.term + 1
    assumed = assume(equal(now))
    along_j, along_y = along_each(assumed), along_any(assumed)
    # both gradients are sums of the D_j with the same coefficients
    moved = []
    for lift, fact, run, rate, size, margins in (
        (F, step, W, RATE, scaled, of_weights),
        (G, other_step, OTHER, OTHER_RATE, paced, of_prompt),
    ):
        x, p = lift(z), letters.pull(margins(run(K)), j)
        moves = regroup(p * (lift(D(j)) @ x), j, OWNER)
        each = add_up(scale(at(size, {y: D(j)}), p), j)
        constant = SCALE if run is W else PACE
        goal = eq(run(after) @ x, run(now) @ x + rate * constant * total(p * (D(j) @ z.term), j))
        moved.append(
            decide(goal, at(fact, {M: x}), scale(moves, rate), scale(each, rate), degree=1)
        )
    same = add_up(scale(pulls(along_j), D(j) @ z.term), j)
    pull = total(letters.pull(of_prompt(OTHER(K)), j) * (D(j) @ z.term), j)
    kept = decide(
        eq(apart(z.term, after), apart(z.term, now)),
        *moved,
        *(scale(same, RATE * SCALE), scale(rates, pull)),
        degree=1,
    )
    last_j = decide(eq(apart(D(j), after), 0), at(kept, {z: D(j)}), along_j)
    last_y = decide(eq(apart(y.term, after), 0), at(kept, {z: y}), along_y)
    squares = [decide(eq(fact.proposition.term**2, 0), fact) for fact in (last_j, last_y)]
    later = decide(equal(after), add_up(squares[0], j), squares[1])
    zeros = [
        decide(eq(apart(x, 0) ** 2, 0), fact)
        for x, fact in ((D(j), at(start, {y: D(j)})), (y.term, start))
    ]
    first = decide(equal(as_term(0)), add_up(zeros[0], j), zeros[1])
    always = along_any(induction(equal(now), first, later))
    conclude(always, *present(letters.one_prompt(trained), "a claim").sequents)
