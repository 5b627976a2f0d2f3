"""The letters of linked proofs about the joint path of heads and prompts.

Rivals j are all tokens of input i but the selected one. Vectors are tokens times the label Y_i.
"""

from __future__ import annotations

from flint import fmpq

from attsvm.primitives.descent_letters import INPUT, OWNER, RIVAL, M, i, j
from attsvm.theory.proof.facts import Sequent, eq, ge, gt
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    NORM,
    SQRT,
    VECTOR,
    Function,
    Letter,
    Over,
    Term,
    least,
    most,
    total,
)
from properties.mm._support import choice_letters as choices
from properties.mm._support.choice_letters import (
    BEST,
    GAMMA,
    HEAD,
    LONGEST,
    MARGIN,
    OFF,
    OTHER,
    SELECTED,
    SHARE,
    H,
)
from properties.mm._support.choice_letters import Z as Z_ALPHA
from properties.mm._support.programme_letters import PROMPT, Programme, number

MULTIPLIER, COUNTED, DULL = (Function(x, (INPUT,)) for x in ("multiplier", "counted", "dull"))
"""A multiplier w_i of v(alpha), positive unless the input is idle. Then 1 if the input is not idle,
else 0, and 1 if it is tight and idle, else 0."""
LOWER, FAR, RIVALS, R = (Function(name)() for name in ("lower", "D", "T-1", "R"))
"""The largest label margin gamma of another choice, and the largest distance of a token from the
selected one. Then the number of other tokens of an input, and the norm of the prompt."""
U = Function("u", (), VECTOR)()
"""A vector orthogonal to v(alpha) that scores at least 1 in all inputs that are tight and idle."""
THEN, SPENT = Function("attention then", (INPUT,)), Function("weight then", (RIVAL,))
"""The attention to the selected token and to a rival at the prompt of norm R along p'."""
REACHED, LEFT = Function("attention reached", (INPUT,)), Function("weight left", (RIVAL,))
"""The attention to the selected token and to a rival at the prompt t p(alpha)."""
TIME = Function("t")()
Z = total(MULTIPLIER(i) * SELECTED(i), i)
LEVEL = Letter("level")
SHORT = NORM(H) * GAMMA - MARGIN
"""||h|| Gamma less the label margin."""


def _by_flags(p: Programme, x: Term, row: Letter) -> Term:
    return p.rows(row) @ x - COUNTED(OWNER(row)) - DULL(OWNER(row)) * fmpq(1, 2)


LIMIT = Programme(j, PROMPT.rows, Function("p'", (), VECTOR)(), _by_flags, "p'")
"""The programme of p': margins of 1, of 1/2 in inputs that are tight and idle, else of 0."""
LENGTH = R * INV(NORM(LIMIT.solution))
"""||p||/||p'||."""
TURNED = HEAD + RIVALS * FAR * NORM(HEAD) * EXP(LENGTH * fmpq(-1, 2)) * U
"""The head v(alpha) + a exp(-||p||/(2 ||p'||)) u with a = (T - 1) D ||v(alpha)||."""
MEAN_THEN = THEN(i) * SELECTED(i) + total(SPENT(j) * OTHER(j), j, Over(OWNER, i.term))
"""The attended token at the prompt of norm R along p'."""


def several() -> list[Sequent]:
    """Return the fact that each input has another token."""
    return [Sequent(gt(total(1, j, Over(OWNER, i.term)), 0))]


def positive() -> list[Sequent]:
    """Return the fact that nu, which is Gamma less the longest mean of another choice, is above 0.

    By `mm/assumption-b:amended`, Assumption B holds with this nu.
    """
    return [Sequent(gt(GAMMA, LONGEST))]


def alone() -> list[Sequent]:
    """Return the fact that every choice but alpha has a smaller label margin."""
    return [Sequent(gt(GAMMA, LOWER))]


_DISTANCES = {
    "no longest mean is below 0": Sequent(ge(LONGEST, 0)),
    "D is at least 0": Sequent(ge(FAR, 0)),
    "no token is farther from the selected one than D": Sequent(
        ge(FAR, NORM(SELECTED(OWNER(j)) - OTHER(j)))
    ),
    "an input has T - 1 other tokens": Sequent(eq(total(1, j, Over(OWNER, i.term)), RIVALS)),
    "v(alpha) meets each row": Sequent(ge(HEAD @ SELECTED(i), 1), frozenset({gt(GAMMA, 0)})),
}
_COMMON = (
    "there is an input",
    "attention is at least 0",
    "so is that to the selected token",
    "attention adds up to 1",
    "Gamma is 1/||v(alpha)||, or 0 if there is none",
    "no selected token has a larger margin than the best",
    "no other token has",
)


def _setting() -> dict[str, Sequent]:
    """Return what the letters of the claim about idle inputs mean."""
    counted, dull = (frozenset({gt(flag(i), 0)}) for flag in (COUNTED, DULL))
    scores = frozenset({ge(H @ OTHER(j), LEVEL), ge(least(H @ BEST(i), i), LEVEL)})
    return {
        **{words: choices.SETTING[words] for words in _COMMON},
        "multipliers are at least 0": Sequent(ge(MULTIPLIER(i), 0)),
        "multipliers add up to 1": Sequent(eq(total(MULTIPLIER(i), i), 1)),
        "v(alpha) is a multiple of its mean": Sequent(
            eq(HEAD @ M.term, (HEAD @ HEAD) * (Z @ M.term))
        ),
        "gamma is at least 0": Sequent(ge(LOWER, 0)),
        "no other choice has a larger label margin": Sequent(ge(NORM(H) * LOWER, LEVEL), scores),
        "an input counts or not": Sequent(eq(COUNTED(i) * (1 - COUNTED(i)), 0)),
        "an input is dull or not": Sequent(eq(DULL(i) * (1 - DULL(i)), 0)),
        "no input is both": Sequent(ge(1, COUNTED(i) + DULL(i))),
        "an idle input has the multiplier 0": Sequent(eq(MULTIPLIER(i) * (1 - COUNTED(i)), 0)),
        "a dull input is tight": Sequent(eq(HEAD @ SELECTED(i), 1), dull),
        **LIMIT.setting(),
        **_DISTANCES,
        "u is orthogonal to v(alpha)": Sequent(eq(U @ HEAD, 0)),
        "u does not lower an input that counts": Sequent(ge(U @ SELECTED(i), 0), counted),
        "u raises a dull input": Sequent(ge(U @ SELECTED(i), 1), dull),
        "R is at least 0": Sequent(ge(R, 0)),
        **_prompts(THEN, SPENT, LENGTH * (LIMIT.rows(j) @ LIMIT.solution), "p'"),
    }


def _prompts(kept: Function, weight: Function, logit: Term, at: str) -> dict[str, Sequent]:
    """Return that attention at a prompt is the softmax of its logits."""
    return {
        f"attention at {at} is at least 0": Sequent(ge(kept(i), 0)),
        f"attention at {at} is softmax": Sequent(eq(weight(j), kept(OWNER(j)) * EXP(-logit))),
        f"attention at {at} adds up to 1": Sequent(
            eq(kept(i) + total(weight(j), j, Over(OWNER, i.term)), 1)
        ),
    }


MEAN_REACHED = REACHED(i) * SELECTED(i) + total(LEFT(j) * OTHER(j), j, Over(OWNER, i.term))
"""The attended token at the prompt t p(alpha)."""


def turned_and_reached(share: object = 1, spread: object = 1) -> Said:
    """Return the claims that nu > 0, that p(alpha) exists, of the head, and of t p(alpha)."""
    nu, size = GAMMA - LONGEST, NORM(H) * GAMMA
    near = SHORT * (1 + FAR * number(spread) * INV(nu)) * number(share)
    left = NORM(HEAD) * FAR * RIVALS * EXP(-TIME) * number(share)
    claims = (
        gt(nu, 0),
        ge(PROMPT.at(PROMPT.solution), 0),
        ge(near, size - GAMMA**2 * (H @ HEAD)),
        ge(left, 1 - least(HEAD @ MEAN_REACHED, i)),
    )
    logit = TIME * (PROMPT.rows(j) @ PROMPT.solution)
    known = {
        "t is at least 0": Sequent(ge(TIME, 0)),
        **_prompts(REACHED, LEFT, logit, "t p(alpha)"),
    }
    return Said(tuple(map(Sequent, claims)), {**choices.SETTING, **_DISTANCES, **known})


_TOP = most(HEAD @ OTHER(j), j)
"""The largest score of another token under v(alpha), which is 1 - delta/Gamma."""
MISSED = total(SHARE(i) * OFF, i)
"""Q, the mean of the attention to other tokens."""


def to_second_order(lead: object = 1, bend: object = 1) -> Said:
    """Return the claims that v(alpha) and p(alpha) exist and are not 0, and of the label margin."""
    fall = (1 - _TOP) * MISSED * number(lead)
    rise = FAR**2 * MISSED**2 * INV(GAMMA) ** 2 * number(bend) * fmpq(1, 2)
    claims = (
        gt(GAMMA, 0),
        gt(NORM(PROMPT.solution), 0),
        gt(1, HEAD @ OTHER(j)),
        ge(NORM(H) * GAMMA * (1 - fall + rise), MARGIN),
    )
    changed = Z_ALPHA + SHARE(OWNER(j)) * (OTHER(j) - SELECTED(OWNER(j)))
    known = {
        "no Z_beta that differs in one input is longer than the longest": Sequent(
            ge(LONGEST, NORM(changed))
        )
    }
    return Said(tuple(map(Sequent, claims)), {**choices.SETTING, **_DISTANCES, **known})


def by_multipliers(share: object = 1, root: object = 1, part: object = 2) -> Said | None:
    """Return the claims about the mean, about dull inputs, about p', and about the turned head."""
    if part != 2:
        return None
    rest = (MARGIN - NORM(H) * LOWER) * number(share)
    near = NORM(SELECTED(i)) * SQRT(2 * NORM(H) * SHORT * INV(GAMMA)) * number(root)
    a, b = RIVALS * FAR * NORM(HEAD), RIVALS * FAR * NORM(U)
    lost = (a + a * b + b**2 * fmpq(1, 2)) * EXP(-LENGTH)
    reached = ge(TURNED @ MEAN_THEN, NORM(TURNED) * GAMMA - lost)
    claims = (
        Sequent(ge(SHORT, rest * total(MULTIPLIER(i) * OFF, i))),
        Sequent(ge(SHORT + near, rest * OFF), frozenset({gt(DULL(i), 0)})),
        Sequent(gt(NORM(LIMIT.solution), 0)),
        *(Sequent(reached, frozenset({gt(flag(i), 0)})) for flag in (COUNTED, DULL)),
    )
    return Said(claims, _setting())
